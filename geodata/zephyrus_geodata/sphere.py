"""Places on the sphere: as vectors, in a plane that keeps areas, and as a key."""

from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.grid import EARTH_RADIUS

Floats = NDArray[np.float64]


class AzimuthalPlane:
    """Lambert's azimuthal equal-area projection of the sphere; m (Snyder 1987, eq. 24-2 to 24-4).

    Attributes:
        latitude: of the middle, degrees.
        longitude: of the middle, degrees.
    """

    def __init__(self, latitude: float, longitude: float) -> None:
        self.latitude = latitude
        self.longitude = longitude

    def __call__(self, latitude: Floats, longitude: Floats) -> Floats:
        """Project points: (..., 2) x east and y north of the middle, m."""
        phi, lam = np.deg2rad(latitude), np.deg2rad(longitude - self.longitude)
        phi1 = np.deg2rad(self.latitude)
        cos_c = np.sin(phi1) * np.sin(phi) + np.cos(phi1) * np.cos(phi) * np.cos(lam)
        k = EARTH_RADIUS * np.sqrt(2.0 / np.maximum(1.0 + cos_c, 1e-12))
        x = k * np.cos(phi) * np.sin(lam)
        y = k * (np.cos(phi1) * np.sin(phi) - np.sin(phi1) * np.cos(phi) * np.cos(lam))
        return np.stack([x, y], axis=-1)


def unit_vectors(latitude: Floats, longitude: Floats) -> Floats:
    """Return places on the unit sphere, (..., 3)."""
    phi, lam = np.deg2rad(latitude), np.deg2rad(longitude)
    return np.stack([np.cos(phi) * np.cos(lam), np.cos(phi) * np.sin(lam), np.sin(phi)], axis=-1)


def wrapped(longitude: Floats) -> Floats:
    """Return longitudes from -180 (included) to 180."""
    within: Floats = (longitude + 180.0) % 360.0 - 180.0
    return within


def places_key(prefix: str, latitude: Floats, longitude: Floats) -> str:
    """Return a string that is the same for the same places (to 1e-5 degrees)."""
    digest = blake2b(digest_size=12)
    for axis in (latitude, longitude):
        # Rounding may put -180 and 179.999999 apart, which costs a cached file and no more.
        digest.update(str(axis.size).encode() + (np.round(axis, 5) + 0.0).tobytes())
    return f"{prefix}-{digest.hexdigest()}"
