"""The years of analyses that a climatology is built from, read a stretch of time after another."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.cells import AnyGrid
from zephyrus_geodata.errors import StoreError, UnsuitableData
from zephyrus_geodata.store.plan import plain_address, stamp

if TYPE_CHECKING:
    from zephyrus_geodata.reading.opened import Opened
    from zephyrus_geodata.reading.understood import Understood
    from zephyrus_geodata.store.opened import Series as Stored
    from zephyrus_geodata.store.opened import StoredDataset

Read = Callable[[str, slice], NDArray[np.float32]]
"""``read(variable, span)`` gives (step, cell) in SI units, for a slice of a piece's own steps."""

_AT_ONCE = 10
"""Chunks that zarr decodes at a time."""


@dataclass(frozen=True, eq=False)
class Piece:
    """A part of the series that is read by itself.

    Attributes:
        times: (step,) of all steps it has.
        steps: indices of those that count.
        variables: names.
        read: reads steps.
        copies: how many times the size of what ``read`` gives it holds on the way.
    """

    times: NDArray[np.datetime64]
    steps: NDArray[np.intp]
    variables: tuple[str, ...]
    read: Read
    copies: int


@dataclass(frozen=True, eq=False)
class Analyses:
    """A series of analyses.

    Attributes:
        where: what it was called.
        label: short origin.
        grid: the cells.
        variables: names that every piece has.
        pieces: together, every time once.
        identity: text that changes when the data do.
        chunks: variable -> (steps, bytes) of a storage chunk, where that is known.
        source: what is told of the origin.
    """

    where: str
    label: str
    grid: AnyGrid
    variables: tuple[str, ...]
    pieces: tuple[Piece, ...]
    identity: str
    chunks: dict[str, tuple[int, int]] = field(default_factory=dict)
    source: dict[str, Any] = field(default_factory=dict)

    @property
    def times(self) -> NDArray[np.datetime64]:
        """(time,) in the order in which ``spans`` gives them."""
        return np.concatenate([piece.times[piece.steps] for piece in self.pieces])

    def within(self, first: int, last: int) -> "Analyses":
        """Return the years first to last (included) of it.

        Raises:
            UnsuitableData: if it has no time in one of them.
        """
        have = np.unique(_years(self.times))
        missing = [str(year) for year in range(first, last + 1) if year not in have]
        if missing:
            told = ", ".join(missing[:3]) + (" …" if len(missing) > 3 else "")
            raise UnsuitableData(
                f"{self.where} has {have[0]} to {have[-1]}, and nothing of {told}: give a period "
                "of years that it has."
            )
        pieces = []
        for piece in self.pieces:
            years = _years(piece.times[piece.steps])
            steps = piece.steps[(years >= first) & (years <= last)]
            if steps.size:
                pieces.append(replace(piece, steps=steps))
        return replace(self, pieces=tuple(pieces))

    def held(self, variable: str, steps: int) -> int:
        """Return the bytes that are held at most while so many steps are read at once."""
        chunk_steps, chunk = self.chunks.get(variable, (1, 0))
        copies = max(piece.copies for piece in self.pieces)
        # A chunk is decoded and then copied, several at a time.
        decoded = 2 * chunk * min(_AT_ONCE, -(-steps // chunk_steps) + 1)
        return copies * 4 * steps * self.grid.size + decoded

    def spans(self, variable: str, most: int) -> Iterator[tuple[int, NDArray[np.float32]]]:
        """Read a variable: give the place in ``times`` and (step, cell), at most so many steps."""
        chunk = self.chunks.get(variable, (1, 0))[0]
        place = 0
        for piece in self.pieces:
            cuts = np.flatnonzero(np.diff(piece.steps) != 1) + 1
            for run in np.split(piece.steps, cuts):
                start, end = int(run[0]), int(run[-1]) + 1
                while start < end:
                    stop = min(end, start + most)
                    if stop < end and most >= chunk:  # stop where a chunk does
                        stop -= stop % chunk
                    yield place, piece.read(variable, slice(start, stop))
                    place += stop - start
                    start = stop


def _years(times: NDArray[np.datetime64]) -> NDArray[np.int64]:
    return times.astype("datetime64[Y]").astype(np.int64) + 1970


def of_source(
    source: "Understood", opened: "Opened | None" = None, inputs: Sequence[str] = ()
) -> Analyses:
    """Take the series of a source.

    Raises:
        UnsuitableData: if questions are open, or it is no series of analyses.
    """
    if source.questions:
        raise UnsuitableData(
            f"{source.where} can't be used yet: {' '.join(str(q) for q in source.questions)}"
        )
    if source.kind not in ("analyses", "stations"):
        raise UnsuitableData(
            f"{source.where} holds a {source.kind}; a climatology is built from years of analyses."
        )
    if source.members:
        raise UnsuitableData(
            f"{source.where} has {len(source.members)} members: name one with --member."
        )

    def read(variable: str, span: slice) -> NDArray[np.float32]:
        return source.variables[variable](0, span).T

    times = source.times.astype("datetime64[s]")
    names = tuple(source.variables)
    piece = Piece(times, np.arange(times.size), names, read, 8)
    marks = [stamp(where) for where in inputs or [source.where]]
    return Analyses(
        where=plain_address(source.where),
        label=str(source.attrs.get("label", "")) or plain_address(source.where),
        grid=source.grid,
        variables=names,
        pieces=(piece,),
        identity=repr((source.where, marks, times.size, str(times[:1]), str(times[-1:]))),
        chunks=_chunks(source, opened),
        source={"where": plain_address(source.where), "format": source.format,
                "notes": [str(note) for note in source.notes]},
    )  # fmt: skip


def _chunks(source: "Understood", opened: "Opened | None") -> dict[str, tuple[int, int]]:
    """Return how each variable is cut in storage: along its first dimension, and in bytes."""
    found: dict[str, tuple[int, int]] = {}
    for name, taken in source.taken.items():
        for raw in taken.raw:
            for cube in opened.cubes if opened else ():
                var = cube.variables.get(raw)
                sizes = dict(var.encoding.get("preferred_chunks") or {}) if var is not None else {}
                if var is None or not sizes or not var.dims:
                    continue
                cells = [min(sizes.get(d, var.sizes[d]), var.sizes[d]) for d in var.dims]
                size = int(np.prod(cells, dtype=np.int64)) * var.dtype.itemsize
                steps, most = found.get(name, (1, 0))
                found[name] = max(steps, int(cells[0])), max(most, size)
    return found


def of_dataset(stored: "StoredDataset") -> Analyses:
    """Take the analyses of a dataset in the store; where two have a time, the later added counts.

    Raises:
        UnsuitableData: if it has none.
    """
    series = [s for s in stored.series if s.kind in ("analyses", "stations")]
    if not series:
        raise UnsuitableData(
            f"The dataset {stored.name!r} holds no analyses; a climatology is built from years of "
            "them."
        )
    if any(s.part.members for s in series):
        raise UnsuitableData(
            f"The analyses of {stored.name!r} have members: add one with --member."
        )
    grid, seen, pieces = stored.grid, np.empty(0, "datetime64[s]"), []
    variables = [v for v in series[0].variables if all(v in s.variables for s in series)]
    for one in reversed(series):
        times = one.axis("times")
        steps = np.flatnonzero(~np.isin(times, seen))
        seen = np.union1d(seen, times)
        if steps.size:
            pieces.append(Piece(times, steps, one.variables, _file_reader(one, grid.size), 1))
    return Analyses(
        where=f"the dataset {stored.name!r}",
        label=stored.manifest.label,
        grid=grid,
        variables=tuple(variables),
        pieces=tuple(reversed(pieces)),
        identity=repr((str(stored.folder), [s.part.id for s in series])),
        source={"where": stored.name, "parts": [dict(s.part.source) for s in series]},
    )


def _file_reader(stored: "Stored", cells: int) -> Read:
    def read(variable: str, span: slice) -> NDArray[np.float32]:
        # Read, not mapped: the pages of a map would count as memory of this process.
        path: Path = stored.folder / "series" / f"{variable}.npy"
        rows = span.stop - span.start
        with path.open("rb") as file:
            begin = path.stat().st_size - 4 * cells * stored.part.steps
            file.seek(begin + 4 * cells * span.start)
            return np.fromfile(file, dtype="<f4", count=rows * cells).reshape(rows, cells)

    return read


def matching(source: AnyGrid, target: AnyGrid) -> NDArray[np.intp] | None:
    """Return the source's cell of each of the target's cells; None if they are the same grid.

    Raises:
        StoreError: if the target has a cell whose centre is none of the source's.
    """
    if source == target:
        return None
    from scipy.spatial import cKDTree

    def points(grid: AnyGrid) -> NDArray[np.float64]:
        lat, lon = np.deg2rad(grid.cell_latitude), np.deg2rad(grid.cell_longitude)
        return np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)], 1)

    away, index = cKDTree(points(source)).query(points(target), workers=1)
    if away.max() > 5e-6:  # radians: half a thousandth of a degree
        raise StoreError(
            f"The analyses are on {source!r} and the dataset on {target!r}: take analyses that "
            "have the dataset's cells."
        )
    found: NDArray[np.intp] = index
    return found
