"""How far the highs and lows that a chart marks are from its areas."""

from __future__ import annotations

import math

from zephyrus_chartqa.centres import Centre
from zephyrus_chartqa.facts.areas import Area
from zephyrus_geodata.grid import EARTH_RADIUS

ALIKE = {"hPa": 10.0, "gpm": 100.0}
"""By units: centres of a kind whose values are nearer than this are not told apart by them."""


def kilometres(latitude: float, longitude: float, other: float, east: float) -> float:
    """Great-circle distance in km of two places in degrees (haversine)."""
    phi, psi = math.radians(latitude), math.radians(other)
    half = math.sin(0.5 * (psi - phi)) ** 2
    half += math.cos(phi) * math.cos(psi) * math.sin(0.5 * math.radians(east - longitude)) ** 2
    return 2.0 * EARTH_RADIUS / 1000.0 * math.asin(math.sqrt(min(1.0, half)))


def away(area: Area, centre: Centre) -> float:
    """How far a centre is from the middle of an area, km."""
    return kilometres(area.latitude, area.longitude, centre.latitude, centre.longitude)
