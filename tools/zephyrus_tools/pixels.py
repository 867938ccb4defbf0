"""A field at the pixels of a picture: bilinear between the centres of cells.

Which cells a pixel lies between, and how near to each, depends on the grid, the region and the
size of the picture alone; it is kept for the regions that were drawn last. On a latitude-longitude
grid it is one short list along each, also where a region runs through longitude 180; on a bent grid
it is found for every pixel, which takes some 0.1 s once.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import Grid
from zephyrus_geodata.cells import CellGrid
from zephyrus_tools.regions import Edges, Region

Floats = NDArray[np.float32]
Size = tuple[int, int]
"""Width and height in pixels."""

_KNOT = 4  # pixels


@dataclass(frozen=True)
class _Axis:
    """Where the pixels of a row or a column lie among the centres of cells.

    Attributes:
        cells: (cell,) the rows or columns of the grid that are needed, ascending.
        before: (pixel,) index into ``cells`` of the centre at or before each pixel.
        after: (pixel,) likewise of the one after it.
        weight: (pixel,) how far it is from the one to the other, 0 to 1.
        outside: (pixel,) whether it is off the grid; None if none is.
    """

    cells: NDArray[np.intp]
    before: NDArray[np.intp]
    after: NDArray[np.intp]
    weight: Floats
    outside: NDArray[np.bool_] | None

    @property
    def nearest(self) -> NDArray[np.intp]:
        """(pixel,) index into ``cells`` of the nearest centre."""
        return np.where(self.weight < 0.5, self.before, self.after)


@dataclass(frozen=True)
class _Bent:
    """Where the pixels of a picture lie among the centres of a bent grid's cells.

    Attributes:
        first: (height, width) the cell of lower row and column of the four around a pixel.
        columns: How many the grid has.
        right: (height, width) how far the pixel is from it to the next column, 0 to 1.
        up: Likewise to the next row.
        outside: (height, width) whether it is off the grid.
    """

    first: NDArray[np.int32]
    columns: int
    right: Floats
    up: Floats
    outside: NDArray[np.bool_]


def pixels(
    grid: Grid | CellGrid, field: NDArray[np.float32], region: Region, size: Size
) -> NDArray[np.float32]:
    """Return a field at the centres of the pixels of a region's picture.

    Between centres of cells with data it is bilinear. A pixel whose own cell lacks data, or that
    is off the grid, is NaN; one whose own cell has some is interpolated from those around it that
    have, so that a hole is as large as its cells.

    Args:
        grid: The field's grid.
        field: (latitude, longitude), or (row, column) of a bent grid, in any units.
        region: What to show; its northern edge is the picture's upper one.
        size: Width and height of the picture.

    Returns:
        (height, width) in the units of the field.
    """
    if isinstance(grid, Grid):
        return _straight(field, *_axes(grid, region.edges, size))
    return _bent(field.ravel(), _places(grid, region.edges, size))


def _straight(field: Floats, rows: _Axis, columns: _Axis) -> Floats:
    near = field[rows.cells[:, None], columns.cells]
    missing = np.isnan(near)
    if not missing.any():
        shown = _between(near, rows, columns)
    else:
        there = _between((~missing).astype(np.float32), rows, columns)
        total = _between(np.where(missing, np.float32(0.0), near), rows, columns)
        there[missing[rows.nearest[:, None], columns.nearest]] = np.nan  # else at least 1/4
        shown = total / there
    if rows.outside is not None:
        shown[rows.outside] = np.nan
    if columns.outside is not None:
        shown[:, columns.outside] = np.nan
    return shown


def _between(near: Floats, rows: _Axis, columns: _Axis) -> Floats:
    """Interpolate (row, column) of cells to (row, column) of pixels."""
    across = _mix(near[:, columns.before], near[:, columns.after], columns.weight)
    return _mix(across[rows.before], across[rows.after], rows.weight[:, None])


def _bent(field: Floats, at: _Bent) -> Floats:
    steps = (0, 1, at.columns, at.columns + 1)
    around = [field[at.first + step] for step in steps]
    missing = [np.isnan(corner) for corner in around]
    if not any(hole.any() for hole in missing):
        shown = _between_four(around, at)
    else:
        there = _between_four([(~hole).astype(np.float32) for hole in missing], at)
        filled = [
            np.where(hole, np.float32(0.0), corner)
            for hole, corner in zip(missing, around, strict=True)
        ]
        total = _between_four(filled, at)
        nearest = np.where(at.right < 0.5, 0, 1) + np.where(at.up < 0.5, 0, at.columns)
        there[np.isnan(field[at.first + nearest])] = np.nan
        shown = total / there
    shown[at.outside] = np.nan
    return shown


def _between_four(around: list[Floats], at: _Bent) -> Floats:
    low, low_right, high, high_right = around
    return _mix(_mix(low, low_right, at.right), _mix(high, high_right, at.right), at.up)


def _mix(one: Floats, other: Floats, weight: Floats) -> Floats:
    """Return what lies between two new arrays, of which the second is used up."""
    other -= one
    other *= weight
    other += one
    return other


@lru_cache(maxsize=128)
def _axes(grid: Grid, edges: Edges, size: Size) -> tuple[_Axis, _Axis]:
    """Place the rows and the columns of a picture."""
    x, y = _centres(edges, size)
    lon, lon_edges = grid.longitude, grid.lon_edges
    if not grid.periodic:
        x = (x - lon_edges[0]) % 360.0 + lon_edges[0]
        return _place(y, grid.latitude, grid.lat_edges), _place(x, lon, lon_edges)
    count = lon.size
    round_ = np.concatenate([[lon[-1] - 360.0], lon, [lon[0] + 360.0]])
    x = (x - lon[0]) % 360.0 + lon[0]
    return (
        _place(y, grid.latitude, grid.lat_edges),
        _place(x, round_, round_[[0, -1]], (np.arange(count + 2) - 1) % count),
    )


@lru_cache(maxsize=16)  # some 4 MB each
def _places(grid: CellGrid, edges: Edges, size: Size) -> _Bent:
    """Place every pixel of a picture among the cells of a bent grid."""
    x, y = _centres(edges, size)
    position = _positions(grid, x, y)
    outside = np.isnan(position[:, 0])
    position[outside] = 0.5
    rows, columns = grid.shape
    column = np.clip(np.floor(position[:, 0] - 0.5), 0, columns - 2)
    row = np.clip(np.floor(position[:, 1] - 0.5), 0, rows - 2)
    shape = (y.size, x.size)
    return _Bent(
        (row * columns + column).astype(np.int32).reshape(shape),
        columns,
        np.clip(position[:, 0] - 0.5 - column, 0.0, 1.0).astype(np.float32).reshape(shape),
        np.clip(position[:, 1] - 0.5 - row, 0.0, 1.0).astype(np.float32).reshape(shape),
        outside.reshape(shape),
    )


def _positions(
    grid: CellGrid, x: NDArray[np.float64], y: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return (pixel, 2) column and row of the pixels of a picture; NaN off the grid.

    They are found for a pixel in sixteen. In between they are linear to a hundredth of a cell,
    but for the pixels near the grid's edge, which are looked up each.
    """
    (before_x, after_x, weight_x), (before_y, after_y, weight_y) = _knots(x.size), _knots(y.size)
    knots_x, knots_y = np.unique([before_x, after_x]), np.unique([before_y, after_y])
    found = grid.positions(np.repeat(y[knots_y], knots_x.size), np.tile(x[knots_x], knots_y.size))
    found = found.reshape(knots_y.size, knots_x.size, 2)
    left, right = (found[:, np.searchsorted(knots_x, at)] for at in (before_x, after_x))
    across = left + (right - left) * weight_x[:, None]
    below, above = (across[np.searchsorted(knots_y, at)] for at in (before_y, after_y))
    position: NDArray[np.float64] = below + (above - below) * weight_y[:, None, None]
    position = position.reshape(-1, 2)
    rest = np.flatnonzero(np.isnan(position[:, 0]))
    row, column = np.divmod(rest, x.size)
    position[rest] = grid.positions(y[row], x[column])
    return position


def _knots(count: int) -> tuple[NDArray[np.intp], NDArray[np.intp], NDArray[np.float64]]:
    """Return the pixels of a line between which each lies, and how far from one to the other."""
    knots = np.unique(np.append(np.arange(0, count, _KNOT), count - 1))
    pixel = np.arange(count)
    before = np.clip(np.searchsorted(knots, pixel, side="right") - 1, 0, max(knots.size - 2, 0))
    after = np.minimum(before + 1, knots.size - 1)
    apart = np.maximum(knots[after] - knots[before], 1)
    return knots[before], knots[after], (pixel - knots[before]) / apart


def _centres(edges: Edges, size: Size) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Longitudes (width,) and latitudes (height,) of the pixels' centres."""
    west, south, east, north = edges
    width, height = size
    x = np.arange(0.5, width, dtype=np.float64) * ((east - west) / width) + west
    y = north - np.arange(0.5, height, dtype=np.float64) * ((north - south) / height)
    return x, y


def _place(
    at: NDArray[np.float64],
    centres: NDArray[np.float64],
    edges: NDArray[np.float64],
    cell: NDArray[np.intp] | None = None,
) -> _Axis:
    """Place pixels among centres; beyond the outermost ones the nearest is taken.

    Args:
        at: (pixel,) degrees.
        centres: (n,) degrees, ascending.
        edges: Degrees; the first and the last bound the grid.
        cell: (n,) the row or column that each centre stands for.
    """
    before = np.clip(np.searchsorted(centres, at, side="right") - 1, 0, centres.size - 2)
    weight = (at - centres[before]) / (centres[before + 1] - centres[before])
    both = np.concatenate([before, before + 1])
    cells, index = np.unique(both if cell is None else cell[both], return_inverse=True)
    outside = (at < edges[0]) | (at > edges[-1])
    return _Axis(
        cells,
        index[: at.size],
        index[at.size :],
        np.clip(weight, 0.0, 1.0).astype(np.float32),
        outside if outside.any() else None,
    )
