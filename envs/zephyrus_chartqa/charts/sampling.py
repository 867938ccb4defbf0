"""A chart's fields at the pixels of its map, and winds at a lattice of points.

Where pixels lie among the centres of cells depends on the cells and the view alone, and is kept.
Fields that are drawn with contour lines go through a cubic (Catmull-Rom) on a refined grid of the
same rows and columns first, so that lines are smooth on coarse grids; it keeps the values at the
centres of cells. Between refined cells all is bilinear.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from zephyrus_chartqa.charts.view import View
from zephyrus_chartqa.fields import ChartData
from zephyrus_geodata.cells import CellGrid
from zephyrus_geodata.sphere import places_key

Floats = NDArray[np.float64]
Field = NDArray[np.float32]

_FINEST, _FINE = 8, 3.0  # cells are divided until they have this many pixels, and into this many
_KNOT = 4  # pixels between those that are looked up on a bent grid
_POLE = 90.0
_ONE_AND_A_BIT = 1.01  # spacings from the pole within which the outermost row owns it


@dataclass(frozen=True, eq=False)
class Sampler:
    """Where the pixels of a view are among a chart's cells.

    Attributes:
        rows: (height, width) fractional row, rim and added pole rows included; 0 where unknown.
        columns: Likewise column.
        known: (height, width) whether a pixel is in a cell.
        south: Whether a row for the South Pole is added to the fields.
        north: Likewise North.
        around: Whether the first column follows the last.
        divided: Into how many a cell is refined, each way.
    """

    rows: Field
    columns: Field
    known: NDArray[np.bool_]
    south: bool
    north: bool
    around: bool
    divided: int

    def pixels(self, values: Floats, *, smooth: bool) -> Field:
        """Return a field at the pixels: (height, width); NaN where unknown or missing.

        Args:
            values: (row, column) of the chart's data.
            smooth: Whether through a cubic.
        """
        cells = self._poles(values)
        missing = np.isnan(cells)
        holes = bool(missing.any())
        if holes:
            nearest = ndimage.distance_transform_edt(
                missing, return_distances=False, return_indices=True
            )
            cells = cells[tuple(nearest)]
        times = self.divided if smooth else 1
        if times > 1:
            cells = _refined(cells, times, self.around)
        elif self.around:
            cells = np.concatenate([cells, cells[:, :1]], axis=1)
        shown = ndimage.map_coordinates(
            cells,
            (
                self.rows[self.known] * np.float32(times),
                self.columns[self.known] * np.float32(times),
            ),
            output=np.float32,
            order=1,
            mode="nearest",
        )
        if holes:
            count = missing.shape[1]
            near = np.rint(self.columns[self.known]).astype(np.intp)
            near = near % count if self.around else np.minimum(near, count - 1)
            shown[missing[np.rint(self.rows[self.known]).astype(np.intp), near]] = np.nan
        picture = np.full(self.known.shape, np.nan, dtype=np.float32)
        picture[self.known] = shown
        return picture

    def at(self, values: Floats, x: NDArray[np.intp], y: NDArray[np.intp]) -> Floats:
        """Return (point,) a field at some pixels, bilinear; NaN beside missing cells."""
        rows, columns = self.rows[y, x].astype(np.float64), self.columns[y, x].astype(np.float64)
        tall, wide = len(values) + self.south + self.north, values.shape[1] + self.around
        row = np.clip(np.floor(rows), 0, tall - 2).astype(np.intp)
        column = np.clip(np.floor(columns), 0, wide - 2).astype(np.intp)
        up, right = rows - row, columns - column
        low, high = (
            self._taken(values, beside, column) * (1.0 - right)
            + self._taken(values, beside, column + 1) * right
            for beside in (row, row + 1)
        )
        found: Floats = low * (1.0 - up) + high * up
        found[~self.known[y, x]] = np.nan
        return found

    def _taken(self, values: Floats, row: NDArray[np.intp], column: NDArray[np.intp]) -> Field:
        """Some of the cells that `_poles` makes: (point,), without making all of them."""
        last = len(values) - 1
        inner = row - self.south
        taken: Field = values[np.clip(inner, 0, last), column % values.shape[1]].astype(np.float32)
        for there, end in ((inner < 0, 0), (inner > last, last)):
            if there.any():
                taken[there] = values[end].mean()
        return taken

    def _poles(self, values: Floats) -> Field:
        """Add the rows of the poles: the mean of the outermost row."""
        parts = [values]
        if self.south:
            parts.insert(0, np.full((1, values.shape[1]), values[0].mean()))
        if self.north:
            parts.append(np.full((1, values.shape[1]), values[-1].mean()))
        return np.concatenate(parts).astype(np.float32)


@dataclass(frozen=True)
class _Cells:
    """Centres of cells, known by a key.

    Attributes:
        key: The same for the same centres.
        around: Whether the first column follows the last.
        straight: Whether rows have one latitude and columns one longitude.
        latitude: Degrees north: (row,) if straight, else (row, column).
        longitude: Degrees east: (column,) if straight, else (row, column).
    """

    key: str
    around: bool
    straight: bool
    latitude: Floats = field(compare=False)
    longitude: Floats = field(compare=False)


def sampler(data: ChartData, shown: View) -> Sampler:
    """Place the pixels of a view among the cells of a chart."""
    lat, lon = data.latitude, data.longitude
    straight = bool((lat == lat[:, :1]).all() and (lon == lon[:1]).all())
    axes = (lat[:, 0], lon[0]) if straight else (lat, lon)
    key = places_key("straight" if straight else "bent", *axes)
    return _sampler(_Cells(key, data.around, straight, *axes), shown)


@lru_cache(maxsize=32)  # some 2 MB each
def _sampler(cells: _Cells, shown: View) -> Sampler:
    if cells.straight:
        south, north, rows, columns = _straight(cells, shown)
    else:
        south = north = False
        rows, columns = _bent(cells, shown)
    known = np.isfinite(rows) & np.isfinite(columns) & shown.sampled
    row, column = (np.where(known, axis, 0.0).astype(np.float32) for axis in (rows, columns))
    return Sampler(row, column, known, south, north, cells.around, _division(row, known))


def _division(rows: Field, known: NDArray[np.bool_]) -> int:
    """Into how many parts cells are refined: by their height on the map, in pixels."""
    steps = np.abs(np.diff(rows, axis=0))[known[1:] & known[:-1]]
    if not steps.size:
        return 1
    tall = 1.0 / max(float(np.median(steps)), 1e-3)
    return int(np.clip(round(tall / _FINE), 1, _FINEST))


def _straight(cells: _Cells, shown: View) -> tuple[bool, bool, Floats, Floats]:
    lat, lon = cells.latitude, cells.longitude
    x, y = shown.places
    south, north = (
        cells.around and bool(abs(end) + _ONE_AND_A_BIT * abs(end - beside) >= _POLE > abs(end))
        for end, beside in ((lat[0], lat[1]), (lat[-1], lat[-2]))
    )
    tall = np.concatenate([[-_POLE] * south, lat, [_POLE] * north])
    rows = _between(y, tall)
    if cells.around:
        turned = (x - lon[0]) % 360.0
        columns = np.interp(turned, np.append(lon - lon[0], 360.0), np.arange(lon.size + 1.0))
        columns[np.isnan(x)] = np.nan
    else:
        middle = 0.5 * (lon[0] + lon[-1])
        columns = _between((x - middle + 180.0) % 360.0 - 180.0 + middle, lon)
    return south, north, rows, columns


def _between(at: Floats, centres: Floats) -> Floats:
    """Fractional indices among ascending centres; NaN beyond half a cell outside them."""
    found: Floats = np.interp(at, centres, np.arange(float(centres.size)))
    low, high = 0.5 * (centres[1] - centres[0]), 0.5 * (centres[-1] - centres[-2])
    found[~((at >= centres[0] - low) & (at <= centres[-1] + high))] = np.nan
    return found


def _bent(cells: _Cells, shown: View) -> tuple[Floats, Floats]:
    """Look pixels up on a bent grid, every fourth; those between are bilinear."""
    grid = CellGrid(cells.latitude, cells.longitude)
    x, y = shown.places
    height, width = x.shape
    down = np.unique(np.append(np.arange(0, height, _KNOT), height - 1))
    along = np.unique(np.append(np.arange(0, width, _KNOT), width - 1))
    knots = np.ix_(down, along)
    there = np.isfinite(x[knots])
    found = np.full((*there.shape, 2), np.nan)
    found[there] = grid.positions(y[knots][there], x[knots][there]) - 0.5
    place = np.meshgrid(
        np.interp(np.arange(height), down, np.arange(down.size)),
        np.interp(np.arange(width), along, np.arange(along.size)),
        indexing="ij",
    )
    columns, rows = (
        ndimage.map_coordinates(found[..., axis], place, order=1, mode="nearest") for axis in (0, 1)
    )
    rest = np.isnan(rows) & np.isfinite(x) & shown.sampled  # beside the grid's edge
    edge = grid.positions(y[rest], x[rest]) - 0.5
    columns[rest], rows[rest] = edge[:, 0], edge[:, 1]
    count = cells.latitude.shape
    return np.clip(rows, 0, count[0] - 1), np.clip(columns, 0, count[1] - 1)


def _refined(values: Field, times: int, around: bool) -> Field:
    """Divide the rows and columns of a field by a Catmull-Rom cubic, which keeps its values."""
    rows = _cubic(values.shape[0], times, False)
    columns = _cubic(values.shape[1], times, around)
    refined = rows @ values @ columns.T
    return refined.astype(np.float32, copy=False)


@lru_cache(maxsize=32)
def _cubic(count: int, times: int, around: bool) -> Field:
    """Weights of the values of an axis in those of the refined one: (fine, count).

    Keys (1981), a = -1/2; beyond an end the end's value is repeated. An axis that goes round has
    its first value once more at its end.
    """
    fine = (np.arange((count if around else count - 1) * times + 1) / times).astype(np.float64)
    first = np.minimum(np.floor(fine), count - 1 if around else count - 2).astype(np.intp)
    t = fine - first
    parts = (
        -0.5 * t**3 + t**2 - 0.5 * t,
        1.5 * t**3 - 2.5 * t**2 + 1.0,
        -1.5 * t**3 + 2.0 * t**2 + 0.5 * t,
        0.5 * t**3 - 0.5 * t**2,
    )
    weights = np.zeros((fine.size, count))
    for shift, part in zip((-1, 0, 1, 2), parts, strict=True):
        at = (first + shift) % count if around else np.clip(first + shift, 0, count - 1)
        np.add.at(weights, (np.arange(fine.size), at), part)
    return weights.astype(np.float32)
