"""Grids that are not rectilinear: rows and columns of quadrilaterals.

A Lambert, polar stereographic, rotated or otherwise bent grid keeps its own cells; nothing is
interpolated. All geometry is done in a plane that keeps areas (Lambert's azimuthal projection of
the sphere around the middle of the grid), and the share of a cell that a polygon covers is found
in the plane of the grid's own rows and columns, where every cell is a unit square: the polygon's
outline is carried there vertex by vertex, and the exact rasteriser of ``coverage`` does the rest.
Within one cell the bending of the grid is neglected.
"""

from collections.abc import Callable, Mapping
from functools import cached_property
from math import isfinite
from typing import Any, ClassVar

import numpy as np
import shapely
from numpy.typing import ArrayLike, NDArray
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata.coverage import planar_coverage
from zephyrus_geodata.errors import OutsideGrid, UnsuitableData
from zephyrus_geodata.grid import EARTH_RADIUS, Grid
from zephyrus_geodata.quadrilaterals import Quadrilaterals, every_few
from zephyrus_geodata.sphere import AzimuthalPlane, places_key, unit_vectors, wrapped
from zephyrus_geodata.stations import StationList

__all__ = ["AnyGrid", "CellGrid", "StationList", "rectilinear"]

Floats = NDArray[np.float64]
Cells = NDArray[np.intp]

REGRID = "Regrid the file first, for example: cdo remapcon,global_0.25 IN OUT."
"""What to do with a grid that can't be read."""

_WIDEST = 130.0  # degrees from the middle of a grid to its furthest point
_MARGIN = 1.0  # degrees around the grid in which outlines are kept


class CellGrid:
    """Quadrilateral cells in rows and columns; cell = row * columns + column.

    The corner that four cells share is the middle of their centres; the outermost corners lie
    half a cell outside the outermost centres.

    Attributes:
        cell_latitude: (cell,) centres in degrees north.
        cell_longitude: (cell,) centres in degrees east, -180 (included) to 180.
        shape: (rows, columns).
    """

    has_areas: ClassVar[bool] = True
    periodic: ClassVar[bool] = False

    def __init__(self, latitude: ArrayLike, longitude: ArrayLike) -> None:
        """Make a grid of its centres.

        Args:
            latitude: (row, column) degrees north.
            longitude: (row, column) degrees east in any convention.

        Raises:
            UnsuitableData: if there are too few, or some are missing. ``check`` finds more.
        """
        lat = np.array(latitude, dtype=np.float64)
        lon = wrapped(np.array(longitude, dtype=np.float64))
        if lat.ndim != 2 or lat.shape != lon.shape or min(lat.shape) < 2:
            raise UnsuitableData(
                "A grid of cells needs latitudes and longitudes in at least two rows and columns."
            )
        if not (np.isfinite(lat).all() and np.isfinite(lon).all() and np.abs(lat).max() <= 90.0):
            raise UnsuitableData("The latitudes or longitudes of the grid are missing in places.")
        self.shape: tuple[int, int] = (lat.shape[0], lat.shape[1])
        self.cell_latitude, self.cell_longitude = lat.ravel(), lon.ravel()
        for array in (self.cell_latitude, self.cell_longitude):
            array.setflags(write=False)

    def check(self) -> "CellGrid":
        """Check that the cells are those of one region; returns the grid itself.

        Raises:
            UnsuitableData: if they are not: folded, overlapping, or round the whole Earth.
        """
        area = self._signed_area
        if not ((area > 0.0).all() or (area < 0.0).all()):
            raise UnsuitableData(
                "The cells of the grid overlap or fold over (as those of ocean grids with three "
                f"poles do). {REGRID}"
            )
        return self

    @cached_property
    def plane(self) -> AzimuthalPlane:
        """The plane around the middle of the grid.

        Raises:
            UnsuitableData: if the grid goes round the whole Earth.
        """
        some = np.ix_(*(every_few(n) for n in self.shape))
        lat, lon = (
            axis.reshape(self.shape)[some] for axis in (self.cell_latitude, self.cell_longitude)
        )
        return _plane_around(lat, lon)

    @cached_property
    def corners(self) -> Floats:
        """(rows + 1, columns + 1, 2) corners in the plane, m."""
        c = self.plane(self.cell_latitude, self.cell_longitude).reshape(*self.shape, 2)
        c = np.concatenate([2.0 * c[:1] - c[1:2], c, 2.0 * c[-1:] - c[-2:-1]])
        c = np.concatenate([2.0 * c[:, :1] - c[:, 1:2], c, 2.0 * c[:, -1:] - c[:, -2:-1]], axis=1)
        corners: Floats = 0.25 * (c[:-1, :-1] + c[:-1, 1:] + c[1:, :-1] + c[1:, 1:])
        corners.setflags(write=False)
        return corners

    @cached_property
    def cell_area(self) -> Floats:
        """(cell,) area in m2 on the sphere."""
        area = np.abs(self._signed_area).ravel()
        area.setflags(write=False)
        return area

    @cached_property
    def _signed_area(self) -> Floats:
        """(row, column) half the product of the diagonals, m2."""
        one = self.corners[1:, 1:] - self.corners[:-1, :-1]
        two = self.corners[1:, :-1] - self.corners[:-1, 1:]
        area: Floats = 0.5 * (one[..., 0] * two[..., 1] - one[..., 1] * two[..., 0])
        return area

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.shape[0] * self.shape[1]

    @cached_property
    def key(self) -> str:
        """A string that two grids share exactly when their cells are the same (to 1e-5 deg)."""
        return places_key(
            f"cells-{self.shape[0]}x{self.shape[1]}", self.cell_latitude, self.cell_longitude
        )

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """Return what ``from_arrays`` makes the grid of again, to be stored."""
        return {
            "cell_latitude": self.cell_latitude.reshape(self.shape),
            "cell_longitude": self.cell_longitude.reshape(self.shape),
            "cell_key": np.array([self.key]),
        }

    @classmethod
    def from_arrays(cls, arrays: Mapping[str, NDArray[Any]]) -> "CellGrid":
        """Make a grid of what ``to_arrays`` returned, without a look at millions of numbers.

        Raises:
            UnsuitableData: if something is missing.
        """
        try:
            latitude, longitude = arrays["cell_latitude"], arrays["cell_longitude"]
            key = str(arrays["cell_key"][0])
        except KeyError as error:
            raise UnsuitableData(f"The stored grid lacks its {error.args[0]}.") from None
        grid = cls.__new__(cls)
        grid.shape = (latitude.shape[0], latitude.shape[1])
        grid.cell_latitude, grid.cell_longitude = latitude.ravel(), longitude.ravel()
        grid.__dict__["key"] = key
        return grid

    @cached_property
    def outline(self) -> BaseGeometry:
        """The edge of the grid in the plane."""
        c = self.corners
        ring = np.concatenate([c[0, :-1], c[:-1, -1], c[-1, :0:-1], c[:0:-1, 0]])
        outline: BaseGeometry = shapely.Polygon(ring)
        if not outline.is_valid:
            outline = shapely.make_valid(outline, method="structure", keep_collapsed=False)
        shapely.prepare(outline)
        return outline

    def coverage(self, geometry: BaseGeometry) -> tuple[Cells, Floats]:
        """Return the cells a polygon covers and the covered fraction of each.

        Args:
            geometry: a valid Polygon or MultiPolygon in degrees, longitudes in any convention.

        Returns:
            ``(cells, fractions)``: cell indices, ascending, and fractions in (0, 1].
        """
        flat = self._on_plane(geometry)
        if flat is None or not shapely.intersects(self.outline, flat):
            return np.empty(0, dtype=np.intp), np.empty(0)
        if not shapely.contains_properly(self.outline, flat):
            flat = shapely.intersection(flat, self.outline)
        rows, columns = self.shape
        inside = shapely.transform(flat, self._index)
        return planar_coverage(inside, np.arange(columns + 1.0), np.arange(rows + 1.0))

    def nearest(self, latitude: float, longitude: float) -> int:
        """Return the cell in which a point lies.

        Raises:
            OutsideGrid: if the point is in no cell.
        """
        if isfinite(latitude) and isfinite(longitude) and -90.0 <= latitude <= 90.0:
            cell = int(self.lookup(np.array([latitude]), np.array([longitude]))[0])
            if cell >= 0:
                return cell
        raise OutsideGrid(
            f"The point ({latitude:g}, {longitude:g}) lies outside the grid: {self!r}."
        )

    def lookup(self, latitude: Floats, longitude: Floats) -> Cells:
        """Return the cells in which points lie; -1 where in none.

        Args:
            latitude: (point,) degrees north.
            longitude: (point,) degrees east, in any convention.
        """
        position = self.positions(latitude, longitude)
        inside = ~np.isnan(position[:, 0])
        rows, columns = self.shape
        found = np.full(latitude.shape, -1, dtype=np.intp)
        column = np.clip(position[inside, 0].astype(np.intp), 0, columns - 1)
        row = np.clip(position[inside, 1].astype(np.intp), 0, rows - 1)
        found[inside] = row * columns + column
        return found

    def positions(self, latitude: Floats, longitude: Floats) -> Floats:
        """Return (point, 2) column and row of points, fractional; NaN where in no cell.

        The cell in row r and column c has its corners at (c, r) and (c + 1, r + 1).

        Args:
            latitude: (point,) degrees north.
            longitude: (point,) degrees east, in any convention.
        """
        points = self.plane(latitude, longitude)
        found: Floats = np.full(points.shape, np.nan)
        inside = shapely.intersects_xy(self.outline, points[:, 0], points[:, 1])
        if inside.any():
            found[inside] = self._index(points[inside])
        return found

    @cached_property
    def bounds(self) -> tuple[float, float, float, float]:
        """South, north, west, east in degrees; longitudes around that of the plane's middle."""
        lat = self.cell_latitude
        middle = self.plane.longitude
        lon = (self.cell_longitude - middle + 180.0) % 360.0 - 180.0 + middle
        south, north, west, east = lat.min(), lat.max(), lon.min(), lon.max()
        for pole in (-90.0, 90.0):
            there = self.plane(np.array([pole]), np.array([0.0]))[0]
            if abs(pole - self.plane.latitude) > _WIDEST:
                continue  # near the antipode the plane has no place for it
            if shapely.intersects_xy(self.outline, there[0], there[1]):
                south, north = min(south, pole), max(north, pole)
                west, east = middle - 180.0, middle + 180.0
        return float(south), float(north), float(west), float(east)

    def _on_plane(self, geometry: BaseGeometry) -> BaseGeometry | None:
        """Carry the polygons of a geometry that are near the grid to the plane, densely."""
        south, north, west, east = self.bounds
        middle = self.plane.longitude
        south, north = max(south - _MARGIN, -90.0), min(north + _MARGIN, 90.0)
        west, east = max(west - _MARGIN, middle - 180.0), min(east + _MARGIN, middle + 180.0)
        x0, y0, x1, y1 = shapely.bounds(geometry)
        if not (y1 >= south and y0 <= north):
            return None
        first, last = np.ceil((west - x1) / 360.0), np.floor((east - x0) / 360.0)
        # Half a cell, so that an edge hardly bends between two of its points.
        step = 0.5 * float(np.sqrt(self.cell_area.min())) / EARTH_RADIUS * 180.0 / np.pi
        parts: list[Any] = []
        for turn in range(int(first), int(last) + 1):
            moved = shapely.transform(geometry, _shift(360.0 * turn)) if turn else geometry
            near = shapely.clip_by_rect(moved, west, south, east, north)
            pieces = shapely.get_parts(shapely.get_parts(near))
            parts.extend(piece for piece in pieces if piece.geom_type == "Polygon")
        if not parts:
            return None
        dense = shapely.segmentize(shapely.MultiPolygon(parts), step)
        flat: BaseGeometry = shapely.transform(dense, lambda p: self.plane(p[:, 1], p[:, 0]))
        if not shapely.is_valid(flat):  # parts that met at the edge of the map, or at a pole
            flat = shapely.make_valid(flat, method="structure", keep_collapsed=False)
        return flat

    def _index(self, points: Floats) -> Floats:
        """Carry points of the plane to the grid's own coordinates, (point, 2): column, row."""
        return self._quadrilaterals.index(points)

    @cached_property
    def _quadrilaterals(self) -> Quadrilaterals:
        return Quadrilaterals(self.corners)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, CellGrid) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        south, north, west, east = self.bounds
        return (
            f"CellGrid({self.shape[0]} x {self.shape[1]} cells, latitude {south:.1f} to "
            f"{north:.1f}, longitude {west:.1f} to {east:.1f})"
        )


AnyGrid = Grid | CellGrid | StationList
"""What the cells of a dataset may be."""


def rectilinear(grid: AnyGrid, whose: str) -> Grid:
    """Return a grid whose cells are in rows of one latitude, as code that walks rows needs it.

    Args:
        grid: any grid.
        whose: what has it, for the message.

    Raises:
        UnsuitableData: if it is another.
    """
    if not isinstance(grid, Grid):
        raise UnsuitableData(f"{whose} has no latitude and longitude axes: {grid!r}.")
    return grid


def _plane_around(lat: Floats, lon: Floats) -> AzimuthalPlane:
    """Return the plane around the middle of places.

    Raises:
        UnsuitableData: if the grid goes round the Earth, and so has no middle.
    """
    places = unit_vectors(lat, lon)
    middle = places.reshape(-1, 3).mean(axis=0)
    length = float(np.linalg.norm(middle))
    middle = middle / max(length, 1e-12)
    if length < 0.05 or float((places @ middle).min()) < np.cos(np.deg2rad(_WIDEST)):
        raise UnsuitableData(
            "The grid is bent and goes round the Earth, which can't be cut into cells here. "
            f"{REGRID}"
        )
    latitude = float(np.rad2deg(np.arcsin(np.clip(middle[2], -1.0, 1.0))))
    return AzimuthalPlane(latitude, float(np.rad2deg(np.arctan2(middle[1], middle[0]))))


def _shift(degrees: float) -> Callable[[Floats], Floats]:
    return lambda points: points + np.array([degrees, 0.0])
