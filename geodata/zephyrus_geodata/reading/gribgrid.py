"""The grids of GRIB messages: places, and the order in which values follow one another."""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.gribmessage import Message, handle_of, reason

_GRID = (
    "Ni", "Nj", "Nx", "Ny", "N", "numberOfPoints", "numberOfDataPoints", "scanningMode",
    "iScansNegatively", "jScansPositively", "jPointsAreConsecutive", "alternativeRowScanning",
    "iDirectionIncrementInDegrees", "jDirectionIncrementInDegrees", "DxInMetres", "DyInMetres",
    "latitudeOfFirstGridPointInDegrees", "longitudeOfFirstGridPointInDegrees",
    "latitudeOfLastGridPointInDegrees", "longitudeOfLastGridPointInDegrees", "LoVInDegrees",
    "LaDInDegrees", "Latin1InDegrees", "Latin2InDegrees", "projectionCentreFlag",
    "orientationOfTheGridInDegrees", "latitudeOfSouthernPoleInDegrees",
    "longitudeOfSouthernPoleInDegrees", "angleOfRotationInDegrees", "shapeOfTheEarth", "radius",
    "Nside", "orderingConvention", "gridName",
)  # fmt: skip


@dataclass(frozen=True)
class Scan:
    """How the values of a message lie in (y, x)."""

    shape: tuple[int, ...]
    transposed: bool = False  # columns follow one another
    zigzag: bool = False  # every other row (or column) runs backwards

    def lay(self, values: NDArray[np.float64]) -> NDArray[np.float64]:
        """Put values in the order of the message into the cube's shape."""
        if len(self.shape) == 1:
            return values
        rows = values.reshape(self.shape[::-1] if self.transposed else self.shape)
        if self.zigzag:
            rows = rows.copy()
            rows[1::2] = rows[1::2, ::-1]
        return rows.T if self.transposed else rows


_ROTATED = ("regular_ll", "regular_gg", "rotated_ll", "rotated_gg", "stretched_ll")


def places_of(message: Message) -> tuple[tuple[str, ...], dict[str, Any], Scan]:
    """Return the dimensions, coordinates and scanning of a message's grid.

    ecCodes gives the places of latitude-longitude grids in the order of the values, but never
    turns every other row, and those of projected grids eastward and northward from the first
    point whatever the scanning mode is: then only the values may be turned, and a grid that
    scans the other way has wrong places and is refused.
    """
    import eccodes

    with handle_of(message) as handle:

        def get(key: str) -> Any:
            try:
                return eccodes.codes_get(handle, key)
            except (eccodes.CodesInternalError, ValueError):
                return None

        attrs = {f"GRIB_{key}": value for key in _GRID if (value := get(key)) is not None}
        attrs["GRIB_gridType"] = kind = str(get("gridType"))
        try:
            latitude = np.asarray(eccodes.codes_get_array(handle, "latitudes"))
            longitude = np.asarray(eccodes.codes_get_array(handle, "longitudes"))
        except eccodes.CodesInternalError as error:
            raise UnsuitableData(
                f"{message.path.name}: ecCodes can't give the places of its {kind!r} grid "
                f"({reason(error)}); convert it, for example with "
                "'cdo -f nc4 remapbil,r360x180 IN OUT.nc'."
            ) from error
        ni, nj = (get("Ni") or get("Nx")), (get("Nj") or get("Ny"))
    size = latitude.size
    if not (isinstance(ni, int) and isinstance(nj, int) and ni * nj == size):
        return ("values",), _coords(("values",), latitude, longitude, attrs), Scan((size,))
    columns, zigzag, backward, upward = (
        bool(attrs.get(f"GRIB_{key}"))
        for key in (
            "jPointsAreConsecutive", "alternativeRowScanning", "iScansNegatively",
            "jScansPositively",
        )
    )  # fmt: skip
    projected = kind not in _ROTATED
    if projected and (backward or not upward):
        raise UnsuitableData(
            f"{message.path.name}: its {kind} grid scans westward or southward, where ecCodes "
            "gives wrong places; turn it first, for example with 'cdo invertlat IN OUT'."
        )
    straight = Scan((nj, ni), columns and not projected)
    lat, lon = straight.lay(latitude), straight.lay(longitude)
    scan = Scan((nj, ni), columns, zigzag)
    if kind in ("regular_ll", "regular_gg") and _separable(lat, lon):
        coords = {
            "latitude": ("latitude", lat[:, 0].copy(), {**attrs, "units": "degrees_north"}),
            "longitude": ("longitude", lon[0].copy(), {"units": "degrees_east"}),
        }
        return ("latitude", "longitude"), coords, scan
    return ("y", "x"), _coords(("y", "x"), lat, lon, attrs), scan


def _separable(lat: NDArray[np.float64], lon: NDArray[np.float64]) -> bool:
    return bool(np.ptp(lat, axis=1).max() < 1e-9 and np.ptp(lon, axis=0).max() < 1e-9)


def _coords(
    dims: tuple[str, ...],
    lat: NDArray[np.float64],
    lon: NDArray[np.float64],
    attrs: dict[str, Any],
) -> dict[str, Any]:
    return {
        "latitude": (dims, lat, {**attrs, "units": "degrees_north"}),
        "longitude": (dims, lon, {"units": "degrees_east"}),
    }
