"""Distances, bearings and gradients on the sphere, vectorised."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from zephyrus_geodata import Grid
from zephyrus_geodata.grid import EARTH_RADIUS

RADIUS = EARTH_RADIUS / 1000.0
"""km."""


def distance(
    lat1: ArrayLike, lon1: ArrayLike, lat2: ArrayLike, lon2: ArrayLike
) -> NDArray[np.float64]:
    """Great-circle distance in km between points in degrees (haversine)."""
    phi1, phi2 = np.deg2rad(lat1), np.deg2rad(lat2)
    half = np.sin((phi2 - phi1) / 2.0) ** 2
    half = half + np.cos(phi1) * np.cos(phi2) * np.sin(np.deg2rad(np.subtract(lon2, lon1)) / 2) ** 2
    result: NDArray[np.float64] = 2.0 * RADIUS * np.arcsin(np.sqrt(np.clip(half, 0.0, 1.0)))
    return result


def bearing(lat1: float, lon1: float, lat2: float, lon2: float) -> float:
    """Bearing in degrees clockwise from north, from the first point to the second.

    It is that of the rhumb line: a system that keeps its latitude moves east or west.
    """
    middle = np.deg2rad((lat1 + lat2) / 2.0)
    east = ((lon2 - lon1 + 180.0) % 360.0 - 180.0) * np.cos(middle)
    return float(np.rad2deg(np.arctan2(east, lat2 - lat1)) % 360.0)


def blowing_from(u: float, v: float) -> float:
    """Bearing in degrees from which a wind with these components blows."""
    return float(np.rad2deg(np.arctan2(-u, -v)) % 360.0)


def gradient(grid: Grid, values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Magnitude of the horizontal gradient of (cell, time), per 100 km.

    Differences are centred, and one-sided at the edge of a regional grid; across 180 degrees and
    at the seam of a periodic grid they are as elsewhere. At the outermost rows of latitude only
    the east-west part of the meridional difference is one-sided.
    """
    nlat, nlon = grid.shape
    field = values.reshape(nlat, nlon, -1).astype(np.float64)
    y = np.deg2rad(grid.latitude) * RADIUS / 100.0
    north = np.gradient(field, y, axis=0)
    x = np.deg2rad(grid.longitude) * RADIUS / 100.0
    if grid.periodic:
        turn = 2.0 * np.pi * RADIUS / 100.0
        padded = np.concatenate([field[:, -1:], field, field[:, :1]], axis=1)
        at = np.concatenate([[x[-1] - turn], x, [x[0] + turn]])
        east = np.gradient(padded, at, axis=1)[:, 1:-1]
    else:
        east = np.gradient(field, x, axis=1)
    east = east / np.maximum(np.cos(np.deg2rad(grid.latitude)), 0.05)[:, None, None]
    result: NDArray[np.float64] = np.hypot(north, east).reshape(values.shape)
    return result
