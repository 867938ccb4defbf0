"""The part of the world that a map shows; it may cross longitude 180."""

from dataclasses import dataclass

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from zephyrus import ToolError
from zephyrus_geodata import Grid
from zephyrus_geodata.cells import AnyGrid, CellGrid, StationList
from zephyrus_tools import text

SMALLEST = 1.0
"""Least width and height of a box in degrees."""

_MARGIN = 0.12  # of the feature's larger side
_LEAST_MARGIN, _MOST_MARGIN = 3.0, 8.0  # degrees
_NEARLY_ALL = 330.0  # degrees of longitude: a feature this wide is shown on the whole circle


Edges = tuple[float, float, float, float]
"""West, south, east, north in degrees; east may be beyond 180."""


@dataclass(frozen=True)
class Region:
    """A box in degrees.

    Attributes:
        west: Western edge, -180 to 180.
        south: Southern edge.
        east: Eastern edge, greater than west: beyond 180 if the region crosses it.
        north: Northern edge.
        title: What it shows, "Kenya (country)".
    """

    west: float
    south: float
    east: float
    north: float
    title: str

    @property
    def edges(self) -> Edges:
        """West, south, east, north."""
        return self.west, self.south, self.east, self.north

    @property
    def text(self) -> str:
        """The edges in words."""
        lat = f"{text.latitude(self.south, 1)} to {text.latitude(self.north, 1)}"
        if self.east - self.west >= 360.0:
            return f"{lat}, all longitudes"
        return f"{lat}, {text.longitude(self.west, 1)} to {text.longitude(self.east, 1)}"


@dataclass(frozen=True)
class Point:
    """A value (SI) and the centre of its cell."""

    value: float
    latitude: float
    longitude: float


def whole(grid: AnyGrid) -> Region:
    """All that a grid covers: the whole world, or its own part of it.

    Raises:
        ToolError: If it is a list of stations, which covers nothing.
    """
    if isinstance(grid, StationList):
        raise ToolError("this dataset is a list of stations, of which there is no map.")
    if isinstance(grid, CellGrid):
        south, north, west, east = grid.bounds
        return Region(west, south, east, north, "whole grid")
    if grid.periodic:
        return Region(-180.0, -90.0, 180.0, 90.0, "world")
    west, east = float(grid.lon_edges[0]), float(grid.lon_edges[-1])
    return Region(west, float(grid.lat_edges[0]), east, float(grid.lat_edges[-1]), "whole grid")


def box(west: float, south: float, east: float, north: float) -> Region:
    """A box from its edges, longitudes from -180 to 360; it runs eastward from its west.

    Raises:
        ToolError: If an edge is out of range or the box is too small.
    """
    for name, edge, least, most in (
        ("south", south, -90, 90),
        ("north", north, -90, 90),
        ("west", west, -180, 360),
        ("east", east, -180, 360),
    ):
        if not least <= edge <= most:
            raise ToolError(f"{name} must be {least} to {most} degrees, not {edge:g}.")
    if north - south < SMALLEST:
        raise ToolError(f"north must be at least {SMALLEST:g} degree greater than south.")
    if east - west > 360.0:
        raise ToolError("east must be at most 360 degrees east of west.")
    width = 360.0 if east - west == 360.0 else (east - west) % 360.0
    if width < SMALLEST:
        raise ToolError(f"east must be at least {SMALLEST:g} degree east of west.")
    start = west if west <= 180.0 else west - 360.0
    return Region(start, south, start + width, north, "box")


def around(geometry: BaseGeometry, title: str) -> Region:
    """A feature with a margin, across 180 where that is the shorter way round its parts."""
    bounds = shapely.bounds(shapely.get_parts(geometry)) if geometry.area else geometry.bounds
    parts = np.atleast_2d(np.asarray(bounds, dtype=np.float64))
    west, east = _span(parts)
    south, north = float(parts[:, 1].min()), float(parts[:, 3].max())
    margin = float(np.clip(_MARGIN * max(east - west, north - south), _LEAST_MARGIN, _MOST_MARGIN))
    south, north = max(south - margin, -90.0), min(north + margin, 90.0)
    west, east = west - margin, east + margin
    if east - west >= _NEARLY_ALL:
        return Region(-180.0, south, 180.0, north, title)
    start = (west + 180.0) % 360.0 - 180.0
    return Region(start, south, start + east - west, north, title)


def extremes(
    grid: AnyGrid, field: NDArray[np.float32], region: Region
) -> tuple[Point | None, Point | None]:
    """Return the least and greatest value of the cells whose centre is in the region.

    Where no centre is, the cell in the middle has both. None where there are no data.

    Raises:
        OutsideGrid: If no centre is in the region, and its middle is outside the grid.
    """
    if not isinstance(grid, Grid):
        return _cell_extremes(grid, field.ravel(), region)
    lat, lon = grid.latitude, grid.longitude
    rows = np.flatnonzero((lat >= region.south) & (lat <= region.north))
    columns = np.flatnonzero((lon - region.west) % 360.0 <= region.east - region.west)
    if not (rows.size and columns.size):
        middle = grid.nearest(
            0.5 * (region.south + region.north), 0.5 * (region.west + region.east)
        )
        rows, columns = (np.array([i]) for i in divmod(middle, lon.size))
    part = field[np.ix_(rows, columns)].astype(np.float64)
    if np.isnan(part).all():
        return None, None

    def point(flat: np.intp) -> Point:
        row, column = divmod(int(flat), columns.size)
        return Point(float(part[row, column]), float(lat[rows[row]]), float(lon[columns[column]]))

    return point(np.nanargmin(part)), point(np.nanargmax(part))


def near(grid: AnyGrid, region: Region) -> NDArray[np.intp]:
    """Return the cells that a map of a region may show: those in it, and those beside them."""
    if not isinstance(grid, Grid):
        return np.arange(grid.size)
    lat, lon = grid.latitude, grid.longitude
    tall, wide = float(np.diff(lat).max()), float(np.diff(lon).max())
    rows = np.flatnonzero((lat >= region.south - tall) & (lat <= region.north + tall))
    width = min(region.east - region.west + 2.0 * wide, 360.0)
    columns = np.flatnonzero((lon - region.west + wide) % 360.0 <= width)
    return (rows[:, None] * lon.size + columns).ravel()


def _cell_extremes(
    grid: CellGrid | StationList, values: NDArray[np.float32], region: Region
) -> tuple[Point | None, Point | None]:
    """Return ``extremes`` of cells that are not in rows of one latitude."""
    lat, lon = grid.cell_latitude, grid.cell_longitude
    inside = (lat >= region.south) & (lat <= region.north)
    inside &= (lon - region.west) % 360.0 <= region.east - region.west
    cells = np.flatnonzero(inside)
    if not cells.size:
        middle = 0.5 * (region.south + region.north), 0.5 * (region.west + region.east)
        cells = np.array([grid.nearest(*middle)])
    part = values[cells].astype(np.float64)
    if np.isnan(part).all():
        return None, None
    low, high = (int(cells[f(part)]) for f in (np.nanargmin, np.nanargmax))
    return (
        Point(float(values[low]), float(lat[low]), float(lon[low])),
        Point(float(values[high]), float(lat[high]), float(lon[high])),
    )


def _span(parts: NDArray[np.float64]) -> tuple[float, float]:
    """The shortest arc of longitude that holds all parts, as (west, east) with east > west."""
    spans = sorted((float(west), float(east)) for west, _, east, _ in parts)
    merged = [spans[0]]
    for west, east in spans[1:]:
        if west <= merged[-1][1]:
            merged[-1] = (merged[-1][0], max(merged[-1][1], east))
        else:
            merged.append((west, east))
    gaps = [(merged[(i + 1) % len(merged)][0] - merged[i][1]) % 360.0 for i in range(len(merged))]
    if len(merged) == 1:
        return merged[0]
    after = int(np.argmax(gaps))
    west, east = merged[(after + 1) % len(merged)][0], merged[after][1]
    return west, east if east > west else east + 360.0
