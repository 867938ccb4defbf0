"""One variable, from a reader to a file, in bounded memory.

The reader is asked for as many steps at a time as fit. Where all fit, a forecast's file is written
at once. Else the blocks go to a scratch file as they come, and the file is put together from them,
some cells at a time, because (cell, step) order needs all steps of a cell together.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import ensemble
from zephyrus_geodata.store import arrays

if TYPE_CHECKING:
    from zephyrus_geodata.reading.understood import Reader

BUDGET = 256 * 1024**2
"""Bytes asked of a reader at a time; twice that is held, and what the reader needs itself."""

STEP_AMOUNTS = ("total_precipitation",)
"""Amounts since the step before: where steps are left out, theirs are added to the next."""

Block = NDArray[np.float32]
"""(cell, some steps) or (member, cell, some steps)."""


Tell = Callable[[int], None]


@dataclass(frozen=True, eq=False)
class Cut:
    """What to take of the axes of a reader.

    Attributes:
        steps: (step,) indices, ascending.
        cells: (cell,) indices, or None for all.
        members: (member,) indices, or None if there are no members.
        size: number of cells taken.
        step_size: numbers that the reader gives for one step, with all its cells and members.
    """

    steps: NDArray[np.intp]
    cells: NDArray[np.intp] | None
    members: NDArray[np.intp] | None
    size: int
    step_size: int

    @property
    def shape(self) -> tuple[int, ...]:
        """Of the file: (cell, step) or (member, cell, step)."""
        lead = () if self.members is None else (self.members.size,)
        return (*lead, self.size, self.steps.size)

    @property
    def bytes(self) -> int:
        """Size of the file's numbers, and of an ensemble's mean."""
        whole = int(np.prod(self.shape, dtype=np.int64)) * 4
        return whole if self.members is None else whole + self.size * self.steps.size * 4

    def take(self, values: NDArray[np.float32]) -> NDArray[np.float32]:
        """Take members and cells of what a reader gave."""
        if self.members is not None and self.members.size < values.shape[0]:
            values = values[self.members]
        return values if self.cells is None else values[..., self.cells, :]


def write_forecast(
    path: Path,
    reader: "Reader",
    init: int,
    cut: Cut,
    lead_hours: NDArray[np.int64],
    tell: Tell | None = None,
) -> None:
    """Write a variable as (cell, step) or (member, cell, step), and an ensemble's mean.

    Args:
        path: ``…/VARIABLE.npy``; the mean goes to ``VARIABLE.mean.npy``.
        reader: gives the variable.
        init: index of the initial time.
        cut: what to take.
        lead_hours: of all steps of the reader.
        tell: hears of the bytes that were read.

    Raises:
        OSError: if the disk is full; then there is no file.
    """
    if path.stem in STEP_AMOUNTS and cut.steps[-1] >= cut.steps.size:  # some are left out
        blocks = _summed(reader, init, cut, lead_hours)
    else:
        blocks = _blocks(reader, init, cut)
    blocks = _told(blocks, tell)
    if cut.bytes <= BUDGET:
        values = list(blocks)
        whole = values[0] if len(values) == 1 else np.concatenate(values, axis=-1)
        arrays.write(path, cut.shape, [whole])
    else:
        _write_by_scratch(path, cut, blocks)
    if cut.members is not None:
        arrays.write(mean_path(path), cut.shape[1:], _means(path, cut))


def write_series(path: Path, reader: "Reader", cut: Cut, tell: Tell | None = None) -> None:
    """Write a variable as (step, cell) or (step, member, cell), a block at a time."""
    moved = (np.moveaxis(block, -1, 0) for block in _told(_blocks(reader, 0, cut), tell))
    arrays.write(path, series_shape(cut), moved)


def series_shape(cut: Cut) -> tuple[int, ...]:
    """(step, cell) or (step, member, cell)."""
    return (cut.steps.size, *cut.shape[:-1])


def mean_path(path: Path) -> Path:
    """Where the mean of an ensemble lies, beside its members."""
    return path.with_suffix(".mean.npy")


def field_path(path: Path, members: Sequence[str]) -> Path:
    """Where the (cell, step) field of a variable lies: its own array, or an ensemble's mean."""
    return mean_path(path) if members else path


def _told(blocks: Iterator[Block], tell: Tell | None) -> Iterator[Block]:
    for block in blocks:
        if tell is not None:
            tell(block.nbytes)
        yield block


def _most(cut: Cut) -> int:
    """How many steps may be asked for at once."""
    return max(1, BUDGET // max(1, 4 * cut.step_size))


def _blocks(reader: "Reader", init: int, cut: Cut) -> Iterator[Block]:
    """Give the steps in order, those that follow one another in the source together."""
    most = _most(cut)
    for run in np.split(cut.steps, np.flatnonzero(np.diff(cut.steps) != 1) + 1):
        stop = int(run[-1]) + 1
        for start in range(int(run[0]), stop, most):
            yield cut.take(reader(init, slice(start, min(start + most, stop))))


def _summed(
    reader: "Reader", init: int, cut: Cut, lead_hours: NDArray[np.int64]
) -> Iterator[Block]:
    """Give each step as the sum of itself and the steps left out before it."""
    most, before = _most(cut), 0
    for step in cut.steps.tolist():
        total: NDArray[np.float64] | None = None
        for start in range(before, step + 1, most):
            stop = min(start + most, step + 1)
            # At lead time zero nothing has fallen yet, whatever the source writes there.
            counted = [i for i in range(start, stop) if lead_hours[i] > 0 or i == step]
            if counted:
                block = cut.take(reader(init, slice(start, stop)))
                part = block[..., np.array(counted) - start].sum(axis=-1, dtype=np.float64)
                total = part if total is None else total + part
        before = step + 1
        assert total is not None  # the step itself is always counted
        yield total.astype(np.float32)[..., None]


def _write_by_scratch(path: Path, cut: Cut, blocks: Iterator[Block]) -> None:
    scratch = path.with_suffix(".scratch")
    steps: list[int] = []
    try:
        with scratch.open("w+b") as file:
            for block in blocks:
                file.write(np.ascontiguousarray(block, dtype="<f4").data)
                steps.append(block.shape[-1])
            file.flush()
            arrays.write(path, cut.shape, _together(file, steps, cut))
    finally:
        scratch.unlink(missing_ok=True)


def _together(file: IO[bytes], steps: Sequence[int], cut: Cut) -> Iterator[Block]:
    """Give (cell, step), some cells at a time, of blocks that lie in a file one after another."""
    members = 1 if cut.members is None else cut.members.size
    some = max(1, BUDGET // (8 * sum(steps)))
    for member in range(members):
        for start in range(0, cut.size, some):
            rows, before, pieces = min(some, cut.size - start), 0, []
            for count in steps:
                skipped = before * members * cut.size + (member * cut.size + start) * count
                file.seek(4 * skipped)
                pieces.append(_numbers(file, rows, count))
                before += count
            yield np.concatenate(pieces, axis=-1)


def _means(path: Path, cut: Cut) -> Iterator[Block]:
    """Give the mean of a written ensemble, some cells at a time.

    The file is read, not mapped: the pages of a map would all count as memory of this process.
    """
    members, steps = cut.shape[0], cut.steps.size
    some = max(1, BUDGET // (16 * members * steps))
    with path.open("rb") as file:
        begin = path.stat().st_size - 4 * members * cut.size * steps
        for start in range(0, cut.size, some):
            rows = min(some, cut.size - start)
            block = np.empty((members, rows, steps), dtype=np.float32)
            for member in range(members):
                file.seek(begin + 4 * (member * cut.size + start) * steps)
                block[member] = _numbers(file, rows, steps)
            yield ensemble.mean(block)


def _numbers(file: IO[bytes], rows: int, columns: int) -> NDArray[np.float32]:
    return np.fromfile(file, dtype="<f4", count=rows * columns).reshape(rows, columns)
