"""``--select``: which initial times, lead times, variables, members and places to ingest.

``init=2020-01-01..2020-01-31,lead=0..240/12,variables=2m_temperature,bbox=-10,35,30,60``: keys
may follow one another or be given apart; a value goes on to the next ``KEY=``.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from fnmatch import fnmatchcase
from math import isfinite
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.cells import AnyGrid, CellGrid, StationList
from zephyrus_geodata.errors import StoreError
from zephyrus_geodata.grid import Grid

Taken = tuple[AnyGrid, NDArray[np.intp] | None]

KEYS = ("init", "lead", "time", "variables", "members", "bbox")

_KEY = re.compile(r"(?:^|,)\s*([A-Za-z_]+)\s*=")
_LEAD = re.compile(r"^(?:(\d*)\.\.(\d*)|(\d+))?(?:/(\d+))?$")
_EVERY = re.compile(r"^every:(\d+)$")
_MOMENT = re.compile(r"^\d{4}(?:-\d{2}(?:-\d{2}(?:[T ]\d{2}(?::?\d{2})?)?)?)?Z?$")


@dataclass(frozen=True)
class Selection:
    """What to take of a source; what is not said is taken whole.

    Attributes:
        given: the text of each key.
    """

    given: Mapping[str, str] = field(default_factory=dict)

    @classmethod
    def parse(cls, texts: Sequence[str]) -> "Selection":
        """Read ``KEY=VALUE,KEY=VALUE`` texts.

        Raises:
            StoreError: for a text without a key, an unknown key, or one given twice.
        """
        given: dict[str, str] = {}
        for text in texts:
            found = list(_KEY.finditer(text))
            if not found or found[0].start():
                raise StoreError(
                    f"--select {text!r}: begin with one of {', '.join(f'{k}=' for k in KEYS)}."
                )
            ends = [*(match.start() for match in found[1:]), len(text)]
            for match, end in zip(found, ends, strict=True):
                key, value = match[1], text[match.end() : end].strip()
                if key not in KEYS:
                    raise StoreError(f"--select {key}=: there are {', '.join(KEYS)}.")
                if key in given or not value:
                    why = "is given twice" if key in given else "has no value"
                    raise StoreError(f"--select {key}= {why}.")
                given[key] = value
        return cls(given)

    def __str__(self) -> str:
        return ",".join(f"{key}={value}" for key, value in self.given.items())

    def moments(self, key: str, times: NDArray[Any]) -> NDArray[np.intp]:
        """Return the indices of the initial (``init``) or valid (``time``) times asked for.

        ``2020`` or ``2020-01`` or ``2020-01-01`` takes all of that year, month or day, ``A..B``
        all from A to the end of B, ``latest`` the last; several with commas.

        Raises:
            StoreError: if a text can't be read, or takes none.
        """
        text = self.given.get(key)
        if text is None:
            return np.arange(times.size)
        taken = np.zeros(times.size, dtype=bool)
        for piece in text.split(","):
            chosen = self._moments(key, piece.strip(), times.astype("datetime64[s]"))
            if not chosen.any():
                raise StoreError(f"--select {key}={piece.strip()} takes nothing: {_span(times)}.")
            taken |= chosen
        return np.flatnonzero(taken)

    def _moments(self, key: str, text: str, times: NDArray[Any]) -> NDArray[np.bool_]:
        chosen = np.ones(times.shape, dtype=bool)
        if text == "latest":
            return chosen if not times.size else np.asarray(times == times.max())
        first, dots, last = (piece.strip() for piece in text.partition(".."))
        if first:
            chosen &= times >= _period(key, first)[0]
        if last or not dots:
            chosen &= times < _period(key, last or first)[1]
        return chosen

    def leads(self, hours: NDArray[np.int64]) -> NDArray[np.intp]:
        """Return the indices of the lead times asked for.

        ``24`` or ``6,12,24`` names hours, ``0..240`` a range, ``0..240/12`` those of it that are
        a multiple of 12 h after its first, ``every:2`` every second one there is.

        Raises:
            StoreError: if a text can't be read, or a lead time is not there.
        """
        text = self.given.get("lead")
        taken = np.ones(hours.size, dtype=bool)
        if text is None:
            return np.flatnonzero(taken)
        if every := _EVERY.match(text):
            if int(every[1]) < 1:
                raise StoreError(f"--select lead={text}: give at least 1.")
            return np.arange(0, hours.size, int(every[1]))
        taken[:] = False
        for piece in text.split(","):
            match = _LEAD.match(piece.strip())
            if match is None or not piece.strip():
                raise StoreError(
                    f"--select lead={text}: give hours as 24, 6,12,24, 0..240, 0..240/12 or every:2."
                )
            start, stop, alone, step = match.groups()
            low = int(alone or start or hours[0])
            high = int(alone or stop or hours[-1])
            inside = (hours >= low) & (hours <= high)
            if step is not None and alone is None:
                inside &= (hours - low) % max(1, int(step)) == 0
            if not inside.any():
                raise StoreError(
                    f"--select lead={piece.strip()} takes nothing: there are "
                    f"{', '.join(map(str, hours[:60]))}{' …' if hours.size > 60 else ''} h."
                )
            taken |= inside
        return np.flatnonzero(taken)

    def names(self, key: str, there: Sequence[str]) -> list[str]:
        """Return the ``variables`` or ``members`` asked for; ``temperature_*`` takes all such.

        Raises:
            StoreError: if one is not there.
        """
        text = self.given.get(key)
        if text is None:
            return list(there)
        taken: set[str] = set()
        for pattern in (piece.strip() for piece in text.split(",")):
            found = {name for name in there if fnmatchcase(name, pattern)}
            if not found:
                raise StoreError(
                    f"--select {key}: there is no {pattern!r}; there are "
                    f"{', '.join(there) or 'none'}."
                )
            taken |= found
        return [name for name in there if name in taken]

    def cells(self, grid: AnyGrid) -> "Taken":
        """Return the grid of the box asked for, and which cells of the old one are its own.

        ``bbox=WEST,SOUTH,EAST,NORTH`` in degrees takes the cells whose centre is inside; from
        170 to -170 goes across the antimeridian. Of a bent grid (Lambert, …) it takes the rows
        and columns that have such cells. None instead of indices means all.

        Raises:
            StoreError: if the box can't be read, or holds too few cells.
        """
        text = self.given.get("bbox")
        if text is None:
            return grid, None
        west, south, east, north = _box(text)
        # All the way round if the two are a whole turn apart, else eastward from west to east.
        width = 360.0 if abs(east - west) >= 360.0 - 1e-9 else (east - west) % 360.0
        try:
            if isinstance(grid, Grid):
                return _subgrid(grid, west, width, south, north)
            lat, lon = grid.cell_latitude, grid.cell_longitude
            inside = (lat >= south) & (lat <= north) & ((lon - west) % 360.0 <= width)
            if not inside.any():
                raise ValueError("0")
            if isinstance(grid, StationList):
                return _substations(grid, inside)
            return _subcells(grid, inside.reshape(grid.shape))
        except ValueError as error:
            raise StoreError(
                f"--select bbox={text} holds too few cells of the grid ({error}): make it larger."
            ) from error


def _substations(grid: StationList, inside: NDArray[np.bool_]) -> "Taken":
    cells = np.flatnonzero(inside)
    names = tuple(grid.names[i] for i in cells.tolist()) if grid.names else ()
    return StationList(grid.cell_latitude[cells], grid.cell_longitude[cells], names), cells


def _subcells(grid: CellGrid, inside: NDArray[np.bool_]) -> "Taken":
    """Take the rows and columns that have a cell inside: the rest of them comes along."""
    row, column = np.nonzero(inside)
    rows, columns = np.arange(row.min(), row.max() + 1), np.arange(column.min(), column.max() + 1)
    cells = (rows[:, None] * grid.shape[1] + columns).ravel()
    shape = rows.size, columns.size
    if min(shape) < 2:
        raise ValueError(f"{shape[0]} x {shape[1]}")
    lat, lon = (a[cells].reshape(shape) for a in (grid.cell_latitude, grid.cell_longitude))
    return CellGrid(lat, lon), cells


def _subgrid(grid: Grid, west: float, width: float, south: float, north: float) -> "Taken":
    slack = 1e-9
    lat, lon = grid.latitude, grid.longitude
    rows = np.flatnonzero((lat >= south - slack) & (lat <= north + slack))
    away = (lon - west) % 360.0
    away[away > 360.0 - slack] = 0.0
    columns = np.flatnonzero(away <= width + slack)
    if width >= 360.0:
        columns = np.arange(lon.size)
        away = lon - lon[0]
    columns = columns[np.argsort(away[columns], kind="stable")]
    if rows.size < 2 or columns.size < 2:
        raise ValueError(f"{rows.size} x {columns.size}")
    if rows.size == lat.size and columns.size == lon.size:
        return grid, None
    # A grid takes its outermost row to own the pole if it is a spacing away from it: a row that
    # has a neighbour nearer to the pole must not lose it.
    if rows[0] == 1 and grid.lat_edges[0] == -90.0:
        rows = np.concatenate([[0], rows])
    if rows[-1] == lat.size - 2 and grid.lat_edges[-1] == 90.0:
        rows = np.append(rows, lat.size - 1)
    chosen = lon[columns]
    chosen = chosen[0] + (chosen - chosen[0]) % 360.0
    # Grids start in -180..180 and may run on beyond 180.
    chosen -= 360.0 * np.floor((chosen[0] + 180.0) / 360.0)
    cells = rows[:, None] * lon.size + columns[None, :]
    return Grid(lat[rows], chosen), cells.ravel()


def _box(text: str) -> tuple[float, float, float, float]:
    try:
        west, south, east, north = (float(piece) for piece in text.split(","))
    except ValueError:
        raise StoreError(
            f"--select bbox={text}: give west,south,east,north in degrees, such as -10,35,30,60."
        ) from None
    if not (all(map(isfinite, (west, east))) and -90.0 <= south < north <= 90.0) or west == east:
        raise StoreError(
            f"--select bbox={text}: the south must be below the north, both within -90 and 90, "
            "and the west another than the east."
        )
    return west, south, east, north


def _period(key: str, text: str) -> tuple[np.datetime64, np.datetime64]:
    """Return the start and the end (excluded) of a year, month, day, hour or minute."""
    text = text.strip()
    if not _MOMENT.match(text):
        raise StoreError(
            f"--select {key}={text}: give a UTC time such as 2020-01-01, 2020-01-01T12 or "
            "2020-01-01..2020-02-15."
        )
    digits = re.sub(r"\D", "", text)
    pattern, unit = {
        4: ("%Y", "Y"),
        6: ("%Y%m", "M"),
        8: ("%Y%m%d", "D"),
        10: ("%Y%m%d%H", "h"),
        12: ("%Y%m%d%H%M", "m"),
    }[len(digits)]
    try:
        moment = datetime.strptime(digits, pattern)
        start = np.datetime64(moment, "s").astype(f"datetime64[{unit}]")
        return start.astype("datetime64[s]"), (start + 1).astype("datetime64[s]")
    except (ValueError, OverflowError) as error:
        raise StoreError(f"--select {key}={text}: there is no such time.") from error


def _span(times: NDArray[Any]) -> str:
    if not times.size:
        return "the source has none"
    shown = np.datetime_as_string(times.astype("datetime64[m]"))
    if times.size == 1:
        return f"the source has {shown[0]} alone"
    return f"the source has {times.size} from {min(shown)} to {max(shown)}"
