"""Latitudes and longitudes of a grid around another pole, from CF's description of it."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData

Floats = NDArray[np.float64]


def unrotated(y: Floats, x: Floats, attrs: Mapping[str, Any]) -> tuple[Floats, Floats]:
    """Turn rotated into true coordinates (CF conventions, appendix F).

    Args:
        y: (y,) rotated latitudes in degrees.
        x: (x,) rotated longitudes in degrees.
        attrs: of the grid mapping: where the rotated north pole lies, and the rotated longitude
            of the true one.

    Returns:
        (y, x) latitudes and longitudes in degrees.

    Raises:
        UnsuitableData: if the pole isn't given.
    """
    try:
        pole_lat = float(attrs["grid_north_pole_latitude"])
        pole_lon = float(attrs["grid_north_pole_longitude"])
        turn = float(attrs.get("north_pole_grid_longitude", 0.0))
    except (KeyError, TypeError, ValueError) as error:
        raise UnsuitableData(
            "The grid is rotated, and its mapping doesn't say where its pole lies "
            "(grid_north_pole_latitude and grid_north_pole_longitude)."
        ) from error
    lon, lat = np.meshgrid(np.deg2rad(x - turn), np.deg2rad(y))
    pole = np.deg2rad(pole_lat)
    # The rotated prime meridian runs from the rotated pole through the true south pole's side.
    up = np.sin(lat) * np.sin(pole) + np.cos(lat) * np.cos(lon) * np.cos(pole)
    east = np.cos(lat) * np.sin(lon)
    along = np.cos(lat) * np.cos(lon) * np.sin(pole) - np.sin(lat) * np.cos(pole)
    latitude: Floats = np.rad2deg(np.arcsin(np.clip(up, -1.0, 1.0)))
    longitude: Floats = (np.rad2deg(np.arctan2(east, along)) + pole_lon + 180.0) % 360.0
    return latitude, (longitude + 180.0) % 360.0 - 180.0
