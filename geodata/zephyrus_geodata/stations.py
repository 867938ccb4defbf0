"""Lists of stations: places that have values, and no areas."""

from functools import cached_property
from typing import ClassVar

import numpy as np
from numpy.typing import ArrayLike, NDArray
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata.errors import OutsideGrid, UnsuitableData
from zephyrus_geodata.grid import EARTH_RADIUS
from zephyrus_geodata.sphere import places_key, unit_vectors, wrapped

Floats = NDArray[np.float64]
Cells = NDArray[np.intp]

STATION_RANGE = 50_000.0
"""m: a place further from every station than this has none."""


class StationList:
    """Places in a list, each a cell without an area; only points have a value.

    Attributes:
        cell_latitude: (station,) degrees north.
        cell_longitude: (station,) degrees east, -180 (included) to 180.
        names: of the stations; empty if they have none.
        cell_area: (station,) ones: every station counts alike.
    """

    has_areas: ClassVar[bool] = False
    periodic: ClassVar[bool] = False

    def __init__(
        self, latitude: ArrayLike, longitude: ArrayLike, names: tuple[str, ...] = ()
    ) -> None:
        lat = np.array(latitude, dtype=np.float64)
        lon = wrapped(np.array(longitude, dtype=np.float64))
        if lat.ndim != 1 or lat.shape != lon.shape or not lat.size:
            raise UnsuitableData("A list of stations needs one latitude and longitude for each.")
        if not (np.isfinite(lat).all() and np.isfinite(lon).all() and np.abs(lat).max() <= 90.0):
            raise UnsuitableData("Some stations have no place.")
        self.cell_latitude, self.cell_longitude, self.names = lat, lon, names
        self.cell_area: Floats = np.ones(lat.size)
        for array in (self.cell_latitude, self.cell_longitude, self.cell_area):
            array.setflags(write=False)

    @property
    def shape(self) -> tuple[int]:
        """(stations,)."""
        return (self.cell_latitude.size,)

    @property
    def size(self) -> int:
        """Number of stations."""
        return self.cell_latitude.size

    @cached_property
    def key(self) -> str:
        """A string that two lists share exactly when their places are the same (to 1e-5 deg)."""
        return places_key(f"stations-{self.size}", self.cell_latitude, self.cell_longitude)

    def coverage(self, geometry: BaseGeometry) -> tuple[Cells, Floats]:
        """Return no cells: a few stations are not the mean of an area."""
        del geometry
        return np.empty(0, dtype=np.intp), np.empty(0)

    def nearest(self, latitude: float, longitude: float) -> int:
        """Return the station nearest to a point, on the sphere.

        Raises:
            OutsideGrid: if none is within ``STATION_RANGE``.
        """
        places = unit_vectors(self.cell_latitude, self.cell_longitude)
        here = unit_vectors(np.array([latitude]), np.array([longitude]))[0]
        chord = np.sqrt(((places - here) ** 2).sum(axis=1))
        away = 2.0 * EARTH_RADIUS * np.arcsin(np.minimum(0.5 * chord, 1.0))
        if not np.nanmin(away, initial=np.inf) <= STATION_RANGE:
            raise OutsideGrid(
                f"No station is within {STATION_RANGE / 1000.0:.0f} km of "
                f"({latitude:g}, {longitude:g})."
            )
        return int(np.argmin(away))

    def __eq__(self, other: object) -> bool:
        return self.key == other.key if isinstance(other, StationList) else NotImplemented

    def __hash__(self) -> int:
        return hash(self.key)

    def __repr__(self) -> str:
        return f"StationList({self.size} stations; areas have no value)"
