"""How much of each grid cell a polygon covers, exactly and at the speed of NumPy.

The method is that of anti-aliased font rasterisers (FreeType's smooth renderer): walk the
outline once, cut it where it crosses grid lines, and let every piece say how much area lies to
its right in its own cell and, through a running sum along the row, in all cells further right.
Pieces of an outline walked counter-clockwise add up to the covered area; holes are walked
clockwise and take their area away. The result is exact for valid polygons up to rounding, on any
rectilinear grid (exactextract needs equal spacing, which a Gaussian grid has not), and costs one
pass over the vertices, where intersecting each cell with the polygon costs one pass per cell.
"""

from typing import Protocol

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata.grid import Grid

SLIVER = 1e-9
"""Fractions below this are rounding noise (a cell touched along its edge) and count as none."""

Floats = NDArray[np.float64]
Cells = NDArray[np.intp]


class CoversItself(Protocol):
    """A grid that isn't rectilinear and says itself what a polygon covers."""

    def coverage(self, geometry: BaseGeometry) -> tuple[Cells, Floats]:
        """Return cells, ascending, and fractions in (0, 1]."""


def coverage(grid: Grid | CoversItself, geometry: BaseGeometry) -> tuple[Cells, Floats]:
    """Return the cells a polygon covers and the covered fraction of each.

    On a rectilinear grid the fraction is an area in the longitude-latitude plane, as in
    exactextract: inside one cell the narrowing of meridians is neglected.

    Args:
        grid: the grid.
        geometry: a valid Polygon or MultiPolygon in degrees; of other collections the polygons
            are used. Longitudes may be in any convention: what lies beyond the edges of the grid
            is also looked for 360 degrees further east and west.

    Returns:
        ``(cells, fractions)``: cell indices, ascending, and fractions in (0, 1].
    """
    if not isinstance(grid, Grid):
        return grid.coverage(geometry)
    start, end = _segments(geometry)
    if not start.size:
        return np.empty(0, dtype=np.intp), np.empty(0)
    west, east = float(start[:, 0].min()), float(start[:, 0].max())  # outlines are closed
    nlon = grid.shape[1]
    first_turn = int(np.floor((grid.lon_edges[0] - east) / 360.0))
    last_turn = int(np.ceil((grid.lon_edges[-1] - west) / 360.0))
    found_cells, found_fractions = [], []
    for turn in range(first_turn, last_turn + 1):
        shift = np.array([360.0 * turn, 0.0])
        row, column, covered = _place(start + shift, end + shift, grid.lon_edges, grid.lat_edges)
        if row.size:
            found_cells.append(row * nlon + column)
            found_fractions.append(covered)
    if not found_cells:
        return np.empty(0, dtype=np.intp), np.empty(0)
    if len(found_cells) == 1:
        return found_cells[0], found_fractions[0]
    # The two sides of the antimeridian may meet in one cell: add them up. Each side is in order,
    # and a stable sort only has to merge them.
    cells = np.concatenate(found_cells)
    order = np.argsort(cells, kind="stable")
    cells = cells[order]
    first = np.flatnonzero(np.diff(cells, prepend=-1))
    fractions = np.add.reduceat(np.concatenate(found_fractions)[order], first)
    return cells[first], np.minimum(fractions, 1.0)


def planar_coverage(
    geometry: BaseGeometry, x_edges: Floats, y_edges: Floats
) -> tuple[Cells, Floats]:
    """Return the cells of a plane's rectilinear grid that a polygon covers, and the fractions.

    Args:
        geometry: as in ``coverage``, in the coordinates of the edges.
        x_edges: (column + 1,) ascending.
        y_edges: (row + 1,) ascending.

    Returns:
        Cells (row * columns + column), ascending, and fractions in (0, 1].
    """
    start, end = _segments(geometry)
    if not start.size:
        return np.empty(0, dtype=np.intp), np.empty(0)
    row, column, fractions = _place(start, end, x_edges, y_edges)
    return row * (x_edges.size - 1) + column, fractions


def _place(
    start: Floats, end: Floats, x_edges: Floats, y_edges: Floats
) -> tuple[Cells, Cells, Floats]:
    """Return rows, columns and fractions of the cells that an outline covers."""
    west, south = np.minimum(start, end).min(axis=0)
    east, north = np.maximum(start, end).max(axis=0)
    rows = _overlap(y_edges, south, north)
    columns = _overlap(x_edges, west, east)
    if rows.start >= rows.stop or columns.start >= columns.stop:
        none = np.empty(0, dtype=np.intp)
        return none, none, np.empty(0)
    block = _block(
        start,
        end,
        x_edges[columns.start : columns.stop + 1],
        y_edges[rows.start : rows.stop + 1],
    )
    row, column = np.nonzero(block > SLIVER)
    return row + rows.start, column + columns.start, block[row, column]


def _segments(geometry: BaseGeometry) -> tuple[Floats, Floats]:
    """Return the outline as (n, 2) starts and ends, the interior always on the left."""
    # Twice: the parts of a GeometryCollection may be MultiPolygons.
    parts = shapely.get_parts(shapely.get_parts(geometry))
    polygons = parts[shapely.get_type_id(parts) == shapely.GeometryType.POLYGON]
    rings = shapely.get_rings(shapely.orient_polygons(polygons))
    points, ring = shapely.get_coordinates(rings, return_index=True)
    same = ring[1:] == ring[:-1]
    return points[:-1][same], points[1:][same]


def _overlap(edges: Floats, low: float, high: float) -> slice:
    """Return the span of cells that [low, high] overlaps; empty if it is outside."""
    first = np.searchsorted(edges, low, side="right") - 1
    last = np.searchsorted(edges, high, side="left")
    return slice(max(int(first), 0), min(int(last), edges.size - 1))


def _block(start: Floats, end: Floats, x_edges: Floats, y_edges: Floats) -> Floats:
    """Return the covered fraction of every cell in a block of cells, (row, column)."""
    x0, y0, x1, y1 = _cut(start, end, x_edges, y_edges)
    ncol, nrow = x_edges.size - 1, y_edges.size - 1
    # What is above or below the block has no height in it; what is to the left covers whole
    # rows and so moves to the left edge; what is to the right moves off the last column.
    column = np.searchsorted(x_edges, 0.5 * (x0 + x1), side="right") - 1
    row = np.searchsorted(y_edges, 0.5 * (y0 + y1), side="right") - 1
    inside = (row >= 0) & (row < nrow) & (column < ncol)
    x0, y0, x1, y1 = x0[inside], y0[inside], x1[inside], y1[inside]
    column, row = np.maximum(column[inside], 0), row[inside]
    left, width = x_edges[column], np.diff(x_edges)[column]
    bottom, height = y_edges[row], np.diff(y_edges)[row]
    u0, u1 = (np.clip((x - left) / width, 0.0, 1.0) for x in (x0, x1))
    v0, v1 = (np.clip((y - bottom) / height, 0.0, 1.0) for y in (y0, y1))
    # A piece walked downwards has the interior on its right.
    drop = v0 - v1
    cell = row * ncol + column
    own = np.bincount(cell, weights=drop * (1.0 - 0.5 * (u0 + u1)), minlength=nrow * ncol)
    beyond = np.bincount(cell, weights=drop, minlength=nrow * ncol).reshape(nrow, ncol)
    fraction = own.reshape(nrow, ncol)
    fraction[:, 1:] += np.cumsum(beyond[:, :-1], axis=1)
    covered: Floats = np.clip(fraction, 0.0, 1.0)
    return covered


def _cut(
    start: Floats, end: Floats, x_edges: Floats, y_edges: Floats
) -> tuple[Floats, Floats, Floats, Floats]:
    """Cut segments at all grid lines; returns x0, y0, x1, y1 of the pieces."""
    segments, positions = [np.arange(len(start))], [np.zeros(len(start))]
    for axis, edges in ((0, x_edges), (1, y_edges)):
        a, b = start[:, axis], end[:, axis]
        first = np.searchsorted(edges, np.minimum(a, b), side="right")
        count = np.maximum(np.searchsorted(edges, np.maximum(a, b), side="left") - first, 0)
        owner = np.repeat(np.arange(len(start)), count)
        # 0, 1, 2, ... within each segment, from the first line it crosses.
        step = np.arange(owner.size) - np.repeat(np.cumsum(count) - count, count)
        line = edges[first[owner] + step]
        segments.append(owner)
        positions.append((line - a[owner]) / (b[owner] - a[owner]))
    segment, t = np.concatenate(segments), np.concatenate(positions)
    order = np.lexsort((t, segment))
    segment, t = segment[order], np.clip(t[order], 0.0, 1.0)
    following = np.append(t[1:], 1.0)
    following[np.append(segment[1:] != segment[:-1], True)] = 1.0
    a, b = start[segment], end[segment]
    # (1 - t) a + t b gives both ends exactly, so that a closed outline stays closed.
    p = (1.0 - t)[:, None] * a + t[:, None] * b
    q = (1.0 - following)[:, None] * a + following[:, None] * b
    return p[:, 0], p[:, 1], q[:, 0], q[:, 1]
