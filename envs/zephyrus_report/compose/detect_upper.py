"""The 500 hPa pattern over the region: ridge or trough, and the jet."""

from __future__ import annotations

import numpy as np

from zephyrus_report.compose.findings import Finding, Kind, Quantity, compass
from zephyrus_report.compose.scene import Scene
from zephyrus_report.compose.sphere import blowing_from
from zephyrus_report.compose.wind import U500, V500

HEIGHT = "geopotential_500"

_TROPICS = 22.0  # degrees of latitude: nearer the equator heights hardly vary
_DEPARTURE = 40.0  # gpm from the climatological mean that make a ridge or trough
_CHANGE = 30.0  # gpm between the first and last day that make it build or weaken
_JET = 35.0  # m/s


def pattern(scene: Scene) -> Finding | None:
    """A ridge or trough over the region: its mean height well above or below the climate's."""
    start, end = scene.start, scene.end
    known = scene.there(HEIGHT, scene.region, start, end) and scene.knows(HEIGHT)
    if abs(scene.latitude) < _TROPICS or not known:
        return None
    departure = scene.quantity(HEIGHT, scene.region, "mean", "departure", start, end)
    if not abs(departure.value) >= _DEPARTURE:
        return None
    days = scene.days
    first, last = scene.hours(days[0]), scene.hours(days[-1])
    before = scene.quantity(HEIGHT, scene.region, "mean", "mean", *first).value
    after = scene.quantity(HEIGHT, scene.region, "mean", "mean", *last).value
    ridge = departure.value > 0
    detail = "persisting"
    if abs(after - before) >= _CHANGE:
        grows = (after > before) == ridge
        words = ("building", "weakening") if ridge else ("deepening", "filling")
        detail = words[0] if grows else words[1]
    return Finding(
        Kind.RIDGE if ridge else Kind.TROUGH,
        scene.place(scene.region),
        start,
        end,
        {
            "height": scene.quantity(HEIGHT, scene.region, "mean", "mean", start, end),
            "departure": departure,
        },
        detail=detail,
        importance=round(abs(departure.value) / 60.0, 3),
    )


def jet(scene: Scene) -> Finding | None:
    """The strongest 500 hPa wind of any cell of the region, if it is strong."""
    if not scene.has(U500, V500):
        return None
    zone, steps = scene.zone, scene.steps(scene.start, scene.end)
    u, v = (scene.forecast.cells(name)[zone.cells][:, steps] for name in (U500, V500))
    speed = np.hypot(u.astype(np.float64), v)
    if not speed.size or np.isnan(speed).all() or np.nanmax(speed) < _JET:
        return None
    cell, step = np.unravel_index(int(np.nanargmax(speed)), speed.shape)
    hour = int(scene.lead_times(scene.start, scene.end)[step])
    grid, index = scene.forecast.rectilinear, int(zone.cells[cell])
    lat = float(grid.latitude[index // grid.shape[1]])
    lon = float(grid.longitude[index % grid.shape[1]])
    place = scene.gazetteer.part(scene.region, lat, lon)
    whole = scene.place(scene.region)
    return Finding(
        Kind.JET,
        type(whole)(whole.name, whole.key, place, lat, lon),
        scene.start,
        scene.end,
        {"speed": Quantity(float(speed[cell, step]), "m/s")},
        hour=hour,
        direction=compass(blowing_from(float(u[cell, step]), float(v[cell, step]))),
        importance=round(float(speed[cell, step]) / 60.0, 3),
    )
