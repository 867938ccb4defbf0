"""Fronts: places where 850 hPa temperature changes fast while its gradient is strong."""

from __future__ import annotations

import weakref

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import Feature, Forecast
from zephyrus_geodata.zonal import zonal_statistic
from zephyrus_report.compose.findings import Finding, Kind, Quantity
from zephyrus_report.compose.scene import Scene
from zephyrus_report.compose.sphere import gradient
from zephyrus_report.compose.wind import direction

TEMPERATURE = "temperature_850"

_TROPICS, _POLES = 25.0, 72.0  # degrees of latitude between which fronts are told
_WITHIN = 24  # h: the longest that a passage takes
_CHANGE = 5.0  # K within that time
_SHARP = 0.6  # of the change that must come within half of that time
_GRADIENT = 1.6  # K per 100 km, somewhere in the area during the passage
_LARGE = 2.5e12  # m2: one front does not cross so large an area in a day

_gradients: weakref.WeakKeyDictionary[Forecast, NDArray[np.float64]] = weakref.WeakKeyDictionary()


def detect(scene: Scene) -> list[Finding]:
    """The sharpest front of each kind over each area of the region, the sharpest first.

    A passage is the time of at most a day in which the area-mean 850 hPa temperature changes most.
    """
    if not scene.has(TEMPERATURE):
        return []
    found: list[Finding] = []
    for area in scene.areas:
        middle = abs(scene.gazetteer.middle(area)[0])
        size = float(scene.dataset.zones.weights(area).weights.sum())
        if _TROPICS <= middle <= _POLES and size <= _LARGE:
            found += [f for f in (_passage(scene, area, sign) for sign in (-1, 1)) if f]
    return sorted(found, key=lambda f: (-f.importance, f.start, f.place.key))


def _passage(scene: Scene, area: Feature, sign: int) -> Finding | None:
    """The strongest fall (-1) or rise (+1) over an area, if it is a front."""
    hours = scene.lead_times(scene.start, scene.end)
    window = scene.series(TEMPERATURE, area)[scene.steps(scene.start, scene.end)]
    change = sign * (window[None, :] - window[:, None])  # of a step (row) to a later one
    length = hours[None, :] - hours[:, None]
    change[(length <= 0) | (length > _WITHIN) | np.isnan(change)] = -np.inf
    if not change.size or change.max() < _CHANGE:
        return None
    first, last = np.unravel_index(int(np.argmax(change)), change.shape)
    half = (length > 0) & (length <= _WITHIN // 2)
    inside = np.where(half, change, -np.inf)[first : last + 1, first : last + 1]
    strongest = _gradient(scene, area, int(hours[first]), int(hours[last]))
    if inside.max() < _SHARP * change.max() or strongest < _GRADIENT:
        return None
    start, end = int(hours[first]), int(hours[last])

    def temperature(hour: int) -> Quantity:
        return scene.quantity(TEMPERATURE, area, "mean", "at", hour, hour)

    return Finding(
        Kind.COLD_FRONT if sign < 0 else Kind.WARM_FRONT,
        scene.place(area),
        start,
        end,
        {
            "before": temperature(start),
            "after": temperature(end),
            "change": scene.quantity(TEMPERATURE, area, "mean", "change", start, end),
            "gradient": Quantity(strongest, "K per 100 km"),
        },
        direction=direction(scene, area, end),
        importance=round(float(change.max()) / 6.0 + strongest / 3.0, 3),
    )


def _gradient(scene: Scene, area: Feature, start: int, end: int) -> float:
    """The strongest gradient of any cell of an area in a window, K per 100 km."""
    field = _gradients.get(scene.forecast)
    if field is None:
        field = gradient(scene.forecast.rectilinear, scene.forecast.cells(TEMPERATURE))
        _gradients[scene.forecast] = field
    zone = scene.dataset.zones.weights(area)
    return float(np.nanmax(zonal_statistic(field[:, scene.steps(start, end)], zone, "max")))
