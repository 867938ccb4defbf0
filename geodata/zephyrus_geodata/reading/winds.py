"""Wind components along a grid's own axes, turned to point east and north."""

import re
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.reading.understood import Horizontal, RawField

Floats = NDArray[np.float64]

_ENSEMBLE_MEAN = re.compile(r"\b(realization|realisation|ensemble|number|member)\s*:\s*mean", re.I)


def axes_of(
    each: RawField, said: str, answer: Literal["earth", "grid"] | None
) -> Literal["earth", "grid"] | None:
    """Say what the wind component of a field points along.

    GRIB has a flag for it. A standard name that says "eastward" is believed unless it comes from
    GRIB, whose names say so of components along the grid too.

    Args:
        each: the field.
        said: "grid" or "earth" where its name says so, else empty.
        answer: what the user says.

    Returns:
        None if nobody says.
    """
    if each.horizontal.kind != "curvilinear":
        return "earth"  # rows and columns are parallels and meridians, or there are none
    if answer is not None:
        return answer
    key = "GRIB_uvRelativeToGrid"
    flag = each.attrs.get(key, each.horizontal.attrs.get(key))
    if flag is not None:
        return "grid" if int(flag) else "earth"
    if said == "grid":
        return "grid"
    return "earth" if said == "earth" and "GRIB_shortName" not in each.attrs else None


def is_ensemble_mean(each: RawField) -> bool:
    """Say whether a field is the mean of an ensemble."""
    attrs = each.attrs
    return (
        str(attrs.get("GRIB_dataType", "")) == "em"
        or str(attrs.get("GRIB_derivedForecast", "")) in ("0", "1", "6")
        or bool(_ENSEMBLE_MEAN.search(str(attrs.get("cell_methods", ""))))
        or "ensemble mean" in str(attrs.get("long_name", "")).lower().replace("_", " ")
    )


def is_mean(each: RawField) -> bool:
    """Say whether a field is a mean over time or over an ensemble, which shortens winds."""
    return each.step_type.startswith("avg") or is_ensemble_mean(each)


def grid_angle(horizontal: Horizontal) -> Floats:
    """Return the direction of a grid's x axis at each of its points.

    Taken from the points themselves, as the direction from each point's western to its eastern
    neighbour in the row, so that it holds for any projection.

    Returns:
        (y, x) radians, anticlockwise from east.
    """
    lat, lon = np.deg2rad(horizontal.latitude), np.deg2rad(horizontal.longitude)
    place = np.stack([np.cos(lat) * np.cos(lon), np.cos(lat) * np.sin(lon), np.sin(lat)])
    along = np.gradient(place, axis=2)
    east = -np.sin(lon) * along[0] + np.cos(lon) * along[1]
    north = (
        -np.sin(lat) * np.cos(lon) * along[0]
        - np.sin(lat) * np.sin(lon) * along[1]
        + np.cos(lat) * along[2]
    )
    if _backwards(horizontal):
        east, north = -east, -north
    angle: Floats = np.arctan2(north, east)
    return angle


def rotate(
    u: NDArray[np.float32], v: NDArray[np.float32], angle: Floats
) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
    """Turn components along x and y into components towards east and north.

    Args:
        u: (..., y, x) along the x axis.
        v: (..., y, x) along the y axis, a quarter turn anticlockwise from it.
        angle: (y, x) of the x axis, anticlockwise from east.
    """
    cos, sin = np.cos(angle).astype(np.float32), np.sin(angle).astype(np.float32)
    return u * cos - v * sin, u * sin + v * cos


def _backwards(horizontal: Horizontal) -> bool:
    """Say whether x falls along the row."""
    if horizontal.x is not None and horizontal.x.size > 1:
        return bool(horizontal.x[0] > horizontal.x[-1])
    return bool(int(horizontal.attrs.get("GRIB_iScansNegatively", 0)))
