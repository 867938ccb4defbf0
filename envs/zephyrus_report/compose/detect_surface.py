"""Wind, precipitation, cloud and temperature over the areas of a region."""

from __future__ import annotations

import numpy as np

from zephyrus_geodata import Feature
from zephyrus_report.compose.findings import Finding, Kind, Quantity
from zephyrus_report.compose.scene import Scene
from zephyrus_report.compose.wind import SPEED10, direction, direction_at_peak

RAIN = "total_precipitation_6hr"
T2M = "2m_temperature"
CLOUD = "total_cloud_cover"

DRY = 1.0
"""mm a day of area-mean precipitation: below, a place is dry."""

_AMOUNT = 6.0  # h that each amount is of
_SNOW, _RAIN = -1.0, 2.0  # °C at 2 m, weighted by precipitation: snow below, rain above
_ALOFT = -4.0  # °C at 850 hPa: warmer than this, snow turns to rain whatever the ground is
_DEPARTURE = 2.5  # K from the climatological mean that is worth telling
_TREND = 3.0  # K between the first and last day
_COLD, _HOT = -20.0, 38.0  # °C that are a hazard of themselves


def wind(scene: Scene, area: Feature, start: int, end: int) -> Finding | None:
    """The strongest 10 m wind over an area in a window."""
    if not scene.there(SPEED10, area, start, end):
        return None
    found = scene.extreme(SPEED10, area, "max", start, end)
    if found is None:
        return None
    speed, hour, place = found
    blows = direction(scene, area, hour) or direction_at_peak(scene, area, hour)
    return Finding(
        Kind.WIND,
        place,
        start,
        end,
        {"speed": speed},
        hour=hour,
        direction=blows,
        importance=round((speed.value / 14.0) ** 2, 3),
    )


def precipitation(scene: Scene, area: Feature, start: int, end: int) -> Finding | None:
    """Precipitation over an area in a window, or that it is dry there.

    None of a forecast whose steps are not 6 h apart: its 6-h amounts don't add up to a total.
    """
    if _step(scene) != _AMOUNT or not scene.there(RAIN, area, start, end):
        return None
    total = scene.quantity(RAIN, area, "mean", "sum", start, end)
    days = max(len(scene.lead_times(start, end)) * _step(scene) / 24.0, 0.25)
    if total.value < DRY * days:
        weight = 0.3 * min(days, 5.0)
        return Finding(Kind.DRY, scene.place(area), start, end, {"total": total}, importance=weight)
    values = {"total": total}
    importance, hour, there = total.value / days / 8.0, None, None
    if found := scene.extreme(RAIN, area, "max", start, end):
        values["heaviest"], hour = found[0], found[1]
        there = found[2] if found[2].part else None
        importance += found[0].value / 15.0
    return Finding(
        Kind.PRECIPITATION,
        scene.place(area),
        start,
        end,
        values,
        hour=hour,
        detail=precipitation_type(scene, area, start, end),
        target=there,
        importance=round(importance, 3),
    )


def precipitation_type(scene: Scene, area: Feature, start: int, end: int) -> str:
    """What falls: "rain", "snow" or "rain and snow".

    It goes by the area's 2 m and 850 hPa temperature, each step weighted by its precipitation; a
    variable that the forecast lacks is left out.
    """
    steps = scene.steps(start, end)
    weights = np.fmax(scene.series(RAIN, area)[steps], 1e-6)

    def mean(name: str) -> float | None:
        if not scene.there(name, area, start, end):
            return None
        values = scene.series(name, area)[steps]
        known = ~np.isnan(values)
        return float(np.average(values[known], weights=weights[known]))

    ground, aloft = mean(T2M), mean("temperature_850")
    if ground is None:
        return "rain" if aloft is None or aloft > _ALOFT else "snow"
    if ground >= _RAIN:
        return "rain"
    if ground <= _SNOW and (aloft is None or aloft <= _ALOFT):
        return "snow"
    return "rain and snow"


def cloud(scene: Scene, area: Feature, start: int, end: int) -> Finding | None:
    """Mean total cloud cover over an area and window."""
    if not scene.there(CLOUD, area, start, end):
        return None
    cover = scene.quantity(CLOUD, area, "mean", "mean", start, end)
    return Finding(Kind.CLOUD, scene.place(area), start, end, {"cover": cover}, importance=0.2)


def temperature(scene: Scene, area: Feature, start: int, end: int) -> Finding | None:
    """Mean 2 m temperature of an area and window, with the lowest and highest of any cell."""
    if not scene.there(T2M, area, start, end):
        return None
    values = {"mean": scene.quantity(T2M, area, "mean", "mean", start, end)}
    lowest = scene.extreme(T2M, area, "min", start, end)
    highest = scene.extreme(T2M, area, "max", start, end)
    if lowest and highest:
        values |= {"lowest": lowest[0], "highest": highest[0]}
    return Finding(Kind.TEMPERATURE, scene.place(area), start, end, values, importance=0.5)


def extreme(scene: Scene, area: Feature, start: int, end: int) -> Finding | None:
    """Severe cold or great heat anywhere in an area."""
    if not scene.there(T2M, area, start, end):
        return None
    lowest = scene.extreme(T2M, area, "min", start, end)
    if lowest and lowest[0].value <= _COLD:
        value, hour, place = lowest
        weight = round((_COLD - value.value) / 10.0 + 1.5, 3)
        values = {"lowest": value}
        return Finding(Kind.COLD_EXTREME, place, start, end, values, hour, importance=weight)
    highest = scene.extreme(T2M, area, "max", start, end)
    if highest and highest[0].value >= _HOT:
        value, hour, place = highest
        weight = round((value.value - _HOT) / 4.0 + 1.5, 3)
        values = {"highest": value}
        return Finding(Kind.HEAT_EXTREME, place, start, end, values, hour, importance=weight)
    return None


def anomaly(scene: Scene, area: Feature, start: int, end: int) -> Finding | None:
    """2 m temperature well above or below the climatological mean of the month."""
    if not (scene.there(T2M, area, start, end) and scene.knows(T2M)):
        return None
    departure = scene.quantity(T2M, area, "mean", "departure", start, end)
    if not abs(departure.value) >= _DEPARTURE:
        return None
    mean = scene.quantity(T2M, area, "mean", "mean", start, end)
    warm = departure.value > 0
    limit = scene.percentile(T2M, 90 if warm else 10, start, area)
    beyond = mean.value > limit if warm else mean.value < limit
    return Finding(
        Kind.WARM_ANOMALY if warm else Kind.COLD_ANOMALY,
        scene.place(area),
        start,
        end,
        {
            "mean": mean,
            "normal": scene.quantity(T2M, area, "mean", "climate", start, end),
            "departure": departure,
        },
        detail=("p90" if warm else "p10") if beyond else "",
        importance=round(abs(departure.value) / 4.0 + 0.5 * beyond, 3),
    )


def trend(scene: Scene, area: Feature) -> Finding | None:
    """Warming or cooling between the daily means of the window's first and last day."""
    days = scene.days
    if len(days) < 2:
        return None
    first, last = scene.hours(days[0]), scene.hours(days[-1])
    if not (scene.there(T2M, area, *first) and scene.there(T2M, area, *last)):
        return None
    before = scene.quantity(T2M, area, "mean", "mean", *first)
    after = scene.quantity(T2M, area, "mean", "mean", *last)
    change = after.value - before.value
    if not abs(change) >= _TREND:
        return None
    return Finding(
        Kind.WARMING if change > 0 else Kind.COOLING,
        scene.place(area),
        first[0],
        last[1],
        {"before": before, "after": after, "change": Quantity(change, "°C")},
        importance=round(abs(change) / 4.0, 3),
    )


def _step(scene: Scene) -> float:
    """Hours between lead times."""
    hours = scene.forecast.lead_hours
    return float(np.median(np.diff(hours))) if hours.size > 1 else 24.0
