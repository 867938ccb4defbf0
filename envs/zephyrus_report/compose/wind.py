"""The direction of the mean wind over an area."""

from __future__ import annotations

import math

import numpy as np

from zephyrus_geodata import Feature
from zephyrus_report.compose.findings import compass
from zephyrus_report.compose.scene import Scene
from zephyrus_report.compose.sphere import blowing_from

U10, V10, SPEED10 = "10m_u_component_of_wind", "10m_v_component_of_wind", "10m_wind_speed"
U500, V500 = "u_component_of_wind_500", "v_component_of_wind_500"

_STEADY = 0.75  # mean vector over mean speed: less, and the wind has no one direction
_PREVAILING = 0.6  # the same over a window, in which the wind turns
_CALM = 2.5  # m/s: a weaker mean wind has no direction worth telling


def direction(scene: Scene, area: Feature, hour: int) -> str:
    """Where the area-mean 10 m wind blows from at a lead time, "" if it is weak or varies."""
    if not scene.has(U10, V10):
        return ""
    u, v = (scene.quantity(name, area, "mean", "at", hour, hour).value for name in (U10, V10))
    strength = math.hypot(u, v)
    if strength < _CALM:
        return ""
    if scene.has(SPEED10):
        mean = scene.quantity(SPEED10, area, "mean", "at", hour, hour).value
        if strength < _STEADY * mean:
            return ""
    return compass(blowing_from(u, v))


def direction_at_peak(scene: Scene, area: Feature, hour: int) -> str:
    """Where the 10 m wind of an area's windiest cell blows from at a lead time.

    Over a large area, or around a low, it says more than a mean of winds from all sides.
    """
    if not scene.has(U10, V10):
        return ""
    cells, step = scene.dataset.zones.weights(area).cells, scene.steps(hour, hour)
    u, v = (scene.forecast.cells(name)[cells][:, step][:, 0] for name in (U10, V10))
    speed = np.hypot(u.astype(np.float64), v)
    if np.isnan(speed).all():
        return ""
    peak = int(np.nanargmax(speed))
    return compass(blowing_from(float(u[peak]), float(v[peak])))


def mean_direction(scene: Scene, area: Feature, start: int, end: int) -> str:
    """Where the area's 10 m wind blows from on average over a window, "" if it varies."""
    if not scene.has(U10, V10, SPEED10):
        return ""
    u, v, speed = (
        scene.quantity(name, area, "mean", "mean", start, end).value for name in (U10, V10, SPEED10)
    )
    strength = math.hypot(u, v)
    if strength < _CALM or strength < _PREVAILING * speed:
        return ""
    return compass(blowing_from(u, v))
