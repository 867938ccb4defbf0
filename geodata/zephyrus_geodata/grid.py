"""A rectilinear latitude-longitude grid: cells, their edges and their areas."""

from functools import cached_property
from hashlib import blake2b
from math import isfinite
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zephyrus_geodata.errors import OutsideGrid, UnsuitableData

EARTH_RADIUS = 6_371_008.8
"""Mean radius of the Earth in m (IUGG)."""

_SAME = 1e-6  # degrees: coordinates closer than this are the same place
_GAP = 1.5  # neighbours further apart than this many median spacings have a gap between them


class Grid:
    """Cell centres with latitude and longitude ascending; cell = ilat * nlon + ilon.

    Edges lie half way between neighbouring centres. Longitudes run from -180 (included) to 180;
    only a regional grid that crosses 180 runs on beyond it, to stay in one piece. A grid that
    goes round the Earth is periodic: its first and last edge are 360 degrees apart. The
    outermost latitude edge is the pole if the last row sits on the pole (a half cell) or within
    one spacing of it (Gaussian and cell-centred grids); else it is half a spacing outside.

    Attributes:
        latitude: (nlat,) centres in degrees north, ascending.
        longitude: (nlon,) centres in degrees east, ascending.
        lat_edges: (nlat + 1,) degrees.
        lon_edges: (nlon + 1,) degrees; may start below -180.
        periodic: whether the grid goes round the Earth.
    """

    has_areas: ClassVar[bool] = True
    """Whether a polygon has cells; a list of stations has only points."""

    def __init__(self, latitude: ArrayLike, longitude: ArrayLike) -> None:
        self.latitude = _coordinate(latitude, "latitude")
        self.longitude = _coordinate(longitude, "longitude")
        lat, lon = self.latitude, self.longitude
        if lat[0] < -90.0 - _SAME or lat[-1] > 90.0 + _SAME:
            raise UnsuitableData(
                f"The latitudes run from {lat[0]:g} to {lat[-1]:g}, beyond the poles."
            )
        if lon[-1] - lon[0] >= 360.0 - _SAME:
            raise UnsuitableData("The longitudes go round the Earth more than once.")
        self.periodic = bool(lon[0] + 360.0 - lon[-1] <= _GAP * _median(np.diff(lon)))
        self.lat_edges = _lat_edges(lat)
        self.lon_edges = _lon_edges(lon, self.periodic)
        for array in (self.latitude, self.longitude, self.lat_edges, self.lon_edges):
            array.setflags(write=False)

    @classmethod
    def from_coords(
        cls, latitude: ArrayLike, longitude: ArrayLike
    ) -> "tuple[Grid, NDArray[np.intp], NDArray[np.intp]]":
        """Make the grid of any latitude order and either longitude convention.

        Returns:
            ``(grid, ilat, ilon)``: ``data[..., ilat, :][..., ilon]`` is ``data`` on the grid. A
            longitude given twice (0 and 360) is taken once.

        Raises:
            UnsuitableData: for coordinates that are not one-dimensional, finite and distinct.
        """
        lat = np.asarray(latitude, dtype=np.float64)
        lon = np.asarray(longitude, dtype=np.float64)
        if lat.ndim != 1 or lon.ndim != 1:
            raise UnsuitableData(
                "Latitude and longitude must each have one dimension (a rectilinear grid)."
            )
        ilat = np.argsort(lat, kind="stable")
        # Rounding keeps 179.9999999 and -180 from ending up at opposite ends of the grid.
        wrapped = np.round((lon + 180.0) % 360.0, 9) % 360.0 - 180.0
        ilon = np.argsort(wrapped, kind="stable")
        wrapped = wrapped[ilon]
        keep = np.diff(wrapped, prepend=-np.inf) > _SAME
        wrapped, ilon = wrapped[keep], ilon[keep]
        if wrapped.size > 2:
            steps = np.diff(wrapped)
            widest = int(np.argmax(steps))
            around = wrapped[0] + 360.0 - wrapped[-1]
            if steps[widest] > _GAP * _median(steps) and steps[widest] > around:
                # A region across 180: start after the gap and run on beyond 180.
                turn = widest + 1
                wrapped = np.concatenate([wrapped[turn:], wrapped[:turn] + 360.0])
                ilon = np.concatenate([ilon[turn:], ilon[:turn]])
        return cls(lat[ilat], wrapped), ilat, ilon

    @property
    def shape(self) -> tuple[int, int]:
        """(nlat, nlon)."""
        return self.latitude.size, self.longitude.size

    @property
    def size(self) -> int:
        """Number of cells."""
        return self.latitude.size * self.longitude.size

    @cached_property
    def cell_latitude(self) -> NDArray[np.float64]:
        """(cell,) centres in degrees north."""
        return np.repeat(self.latitude, self.longitude.size)

    @cached_property
    def cell_longitude(self) -> NDArray[np.float64]:
        """(cell,) centres in degrees east."""
        return np.tile(self.longitude, self.latitude.size)

    @cached_property
    def cell_area(self) -> NDArray[np.float64]:
        """(cell,) area in m2 on the sphere: R2 x (sin of the edges' difference) x width."""
        band = np.diff(np.sin(np.deg2rad(self.lat_edges)))
        width = np.deg2rad(np.diff(self.lon_edges))
        area: NDArray[np.float64] = (EARTH_RADIUS**2 * np.outer(band, width)).ravel()
        area.setflags(write=False)
        return area

    @cached_property
    def key(self) -> str:
        """A string that two grids share exactly when their cells are the same (to 1e-5 deg)."""
        digest = blake2b(digest_size=12)
        for axis in (self.latitude, self.longitude):
            # Adding zero turns -0.0 into 0.0.
            digest.update(str(axis.size).encode() + (np.round(axis, 5) + 0.0).tobytes())
        return f"{self.shape[0]}x{self.shape[1]}-{digest.hexdigest()}"

    def nearest(self, latitude: float, longitude: float) -> int:
        """Return the cell whose centre is nearest in latitude and longitude.

        Args:
            latitude: degrees north, -90 to 90.
            longitude: degrees east, in any convention (-170 and 190 are the same).

        Raises:
            OutsideGrid: if the point is not inside the grid's edges, or not on the Earth.
        """
        start, stop = self.lon_edges[0], self.lon_edges[-1]
        lon = (longitude - start) % 360.0 + start if isfinite(longitude) else longitude
        south, north = self.lat_edges[0], self.lat_edges[-1]
        # NaN fails every comparison and so is outside too.
        if not (south <= latitude <= north and start <= lon <= stop):
            raise OutsideGrid(
                f"The point ({latitude:g}, {longitude:g}) lies outside the grid, which covers "
                f"latitude {south:g} to {north:g} and longitude {start:g} to {stop:g}."
            )
        row = int(np.searchsorted(self.lat_edges, latitude, side="right")) - 1
        column = int(np.searchsorted(self.lon_edges, lon, side="right")) - 1
        nlat, nlon = self.shape
        return min(row, nlat - 1) * nlon + min(column, nlon - 1)

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, Grid) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        nlat, nlon = self.shape
        return (
            f"Grid({nlat} x {nlon}, latitude {self.latitude[0]:g} to {self.latitude[-1]:g}, "
            f"longitude {self.longitude[0]:g} to {self.longitude[-1]:g})"
        )


def _median(values: NDArray[np.float64]) -> float:
    """Return the median; np.median would load numpy.ma, which takes longer than a whole query."""
    ranked = np.sort(values)
    return float(0.5 * (ranked[(ranked.size - 1) // 2] + ranked[ranked.size // 2]))


def _coordinate(values: ArrayLike, name: str) -> NDArray[np.float64]:
    """Check one axis: at least two finite numbers, strictly ascending. Returns a copy."""
    axis: NDArray[np.float64] = np.array(values, dtype=np.float64)
    if axis.ndim != 1 or axis.size < 2:
        raise UnsuitableData(f"A grid needs at least two {name}s in one dimension.")
    if not (np.isfinite(axis).all() and (np.diff(axis) > 0.0).all()):
        raise UnsuitableData(f"Every {name} must be a finite number, and none may repeat.")
    return axis


def _lat_edges(lat: NDArray[np.float64]) -> NDArray[np.float64]:
    """Midpoints, with the outermost edges at the pole or half a spacing outside."""
    below, above = lat[1] - lat[0], lat[-1] - lat[-2]
    # 1.01: a row exactly one spacing away (its pole row was dropped) still owns the cap.
    first = -90.0 if lat[0] + 90.0 <= 1.01 * below else lat[0] - 0.5 * below
    last = 90.0 if 90.0 - lat[-1] <= 1.01 * above else lat[-1] + 0.5 * above
    edges: NDArray[Any] = np.concatenate([[first], 0.5 * (lat[1:] + lat[:-1]), [last]])
    return edges


def _lon_edges(lon: NDArray[np.float64], periodic: bool) -> NDArray[np.float64]:
    """Midpoints; round the Earth where periodic, else half a spacing outside."""
    if periodic:
        first = 0.5 * (lon[0] + lon[-1] - 360.0)
        last = first + 360.0
    else:
        first = 1.5 * lon[0] - 0.5 * lon[1]
        last = 1.5 * lon[-1] - 0.5 * lon[-2]
    edges: NDArray[Any] = np.concatenate([[first], 0.5 * (lon[1:] + lon[:-1]), [last]])
    return edges
