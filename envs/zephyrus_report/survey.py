"""What the scripted reporter asks the tools about an event, and how it reads the answers."""

from __future__ import annotations

import math
from collections.abc import Collection, Generator, Iterator, Sequence

from zephyrus.limits import Limits
from zephyrus.messages import Message
from zephyrus_report.compose.findings import Place, compass
from zephyrus_report.compose.sphere import distance
from zephyrus_report.event import STEP, Atlas, Event
from zephyrus_report.evidence import Box, Evidence, Request, Spot, mean, peak

MOST_AREAS = 5
"""Parts of the region that are looked at; each costs three to eight calls."""

MOST_WET = 3
"""Of them, how many are asked for their heaviest rain."""

T2M, WIND, RAIN = "2m_temperature", "10m_wind_speed", "total_precipitation_6hr"
PRESSURE, HEIGHT, T850 = "mean_sea_level_pressure", "geopotential_500", "temperature_850"
CLOUD = "total_cloud_cover"

DEPARTURE = 2.5
"""K from the climatological mean that are worth telling."""

TROPICS = 22.0
"""Degrees of latitude: nearer the equator heights and fronts say little."""

_STORY = 1500.0  # km from the middle of an area: a centre beyond is no part of its story
_POLE = 78.0  # degrees of latitude: nearer the pole, none is told
_MARGIN = 10.0  # degrees: how far beyond the region's own map systems are looked for
_MAPS = 3


class Survey:
    """One look at a forecast."""

    def __init__(self, event: Event, atlas: Atlas, limits: Limits, tools: Collection[str]) -> None:
        """Get ready.

        Args:
            event: What is asked for.
            atlas: Where things are.
            limits: The budgets of the episode.
            tools: Names of the tools that there are; the others are not asked.
        """
        self.event = event
        self.atlas = atlas
        self.areas = atlas.areas[:MOST_AREAS]
        self._tools = tools
        self._known = Evidence(limits)
        self._start, self._end = event.window

    def look(self) -> Generator[Message, list[Message], None]:
        """Ask in rounds: each looks closer at what those before have shown."""
        for ask in (self._first_round, self._second_round, self._third_round):
            yield from self._known.gather(each for each in ask() if each.tool in self._tools)

    # What is known ------------------------------------------------------------------------------

    def steps(self, place: Place, variable: str, statistic: str = "mean") -> dict[int, float]:
        """A statistic over a place by lead time; empty if it is not known."""
        return self._known.series(self._series(place, variable, statistic))

    def over_all(self, place: Place, variable: str, statistic: str) -> tuple[float, int] | None:
        """An extreme over all cells and steps, and its lead time."""
        request = self._over(place, variable, statistic=statistic)
        value, hour = self._known.value(request), self._known.hour(request)
        return None if value is None else (value, self._start if hour is None else hour)

    def mean_over_all(self, place: Place, variable: str) -> float | None:
        """The mean over all cells and steps."""
        return self._known.value(self._over(place, variable))

    def normal(self, place: Place, variable: str, statistic: str = "mean") -> float | None:
        """A climatological statistic of the month."""
        return self._known.value(self._normal(place, variable, statistic))

    def departure(self, place: Place, variable: str = T2M) -> tuple[float, float] | None:
        """The mean of the period, and how much it is above the climatological mean."""
        now = mean(self.steps(place, variable), self._start, self._end)
        usual = self.normal(place, variable)
        return None if now is None or usual is None else (now, now - usual)

    def strongest_wind(self, place: Place) -> tuple[int, float] | None:
        """Lead time and value of the strongest 10 m wind of any cell."""
        return peak(self.steps(place, WIND, "max"), self._start, self._end)

    def blows_from(self, place: Place, hour: int) -> str:
        """Where the mean wind of a place comes from; "" if it is weak or not known."""
        u, v = (self._known.value(request) for request in self._components(place, hour))
        if u is None or v is None or math.hypot(u, v) < 3.0:
            return ""
        return compass(math.degrees(math.atan2(-u, -v)) % 360.0)

    def centres(self, *, lows: bool) -> dict[int, list[Spot]]:
        """By lead time, the lowest or highest pressure of each map, if it is a centre.

        It is none at an edge of the map, in the deep tropics, or far from every part of the region.
        """
        read = self._known.lowest if lows else self._known.highest
        found: dict[int, list[Spot]] = {}
        for hour, request in self._pressure_maps():
            spot = read(request)
            here = found.setdefault(hour, [])
            if spot is not None and spot.inside and spot not in here and self._concerns(spot):
                here.append(spot)
        return found

    def _concerns(self, spot: Spot) -> bool:
        middles = [self.atlas.middle(area) for area in self.areas]
        away = min(float(distance(spot.latitude, spot.longitude, *middle)) for middle in middles)
        return away <= _STORY and TROPICS <= abs(spot.latitude) <= _POLE

    # What is asked ------------------------------------------------------------------------------

    def _first_round(self) -> Iterator[Request]:
        """The lie of the land: pressure, rain, temperature and wind."""
        region = self.atlas.region
        if abs(self.atlas.latitude) >= TROPICS:
            yield self._series(region, HEIGHT)
            yield self._normal(region, HEIGHT)
        yield self._region_map(self._start)
        for area in self.areas:
            yield self._series(area, RAIN)
            yield self._series(area, T2M)
            yield self._series(area, WIND, "max")

    def _second_round(self) -> Iterator[Request]:
        """Where the systems are, and what is unusual or severe."""
        yield from (request for _, request in self._pressure_maps())
        for area in self._wettest()[:MOST_WET]:
            yield self._series(area, RAIN, "max")
        yield from (self._normal(area, T2M) for area in self.areas)
        yield from self._spread(self.areas[0])
        yield from self._winds(self.event.days()[:2])

    def _third_round(self) -> Iterator[Request]:
        """The whole region where there is no system to tell of; ranks, fronts, extremes."""
        region = self.atlas.region
        if not any(spots for lows in (True, False) for spots in self.centres(lows=lows).values()):
            yield self._over(region, CLOUD)
            yield self._series(region, RAIN)
            yield self._series(region, RAIN, "max")
        unusual = []
        for area in self.areas:
            found = self.departure(area)
            if found is not None and abs(found[1]) >= DEPARTURE:
                unusual.append((abs(found[1]), self._normal(area, T2M, _rank(found[1]))))
        yield from (request for _, request in sorted(unusual, key=lambda each: -each[0])[:2])
        if abs(self.atlas.latitude) >= TROPICS:
            yield from (self._series(area, T850) for area in self.areas)
        yield from self._winds(self.event.days())
        for area in self.areas:
            yield from self._spread(area)

    def _spread(self, area: Place) -> list[Request]:
        return [self._over(area, T2M, statistic=statistic) for statistic in ("min", "max")]

    def _winds(self, days: Sequence[tuple[int, int, int]]) -> Iterator[Request]:
        """Where the strongest wind of each day comes from."""
        for _, start, end in days:
            winds = [(peak(self.steps(a, WIND, "max"), start, end), a) for a in self.areas]
            known = [(top[1], top[0], area) for top, area in winds if top is not None]
            for _, hour, area in sorted(known, key=lambda wind: -wind[0])[:1]:
                yield from self._components(area, hour)

    def _wettest(self) -> list[Place]:
        sums = {area: sum(self.steps(area, RAIN).values()) for area in self.areas}
        return sorted(self.areas, key=lambda area: -sums[area])

    def _over(self, place: Place, variable: str, **more: object) -> Request:
        where = {"feature": place.name, "kind": place.kind}
        window = {"start": self._start, "end": self._end}
        return Request.of("dataset", variable=variable, **where, **more, **window)

    def _series(self, place: Place, variable: str, statistic: str = "mean") -> Request:
        return self._over(place, variable, statistic=statistic, time="series")

    def _normal(self, place: Place, variable: str, statistic: str = "mean") -> Request:
        where = {"feature": place.name, "kind": place.kind}
        month = {"statistic": statistic, "month": self.event.month}
        return Request.of("climatology", variable=variable, **where, **month)

    def _components(self, place: Place, hour: int) -> list[Request]:
        where = {"feature": place.name, "kind": place.kind, "hour": hour}
        names = ("10m_u_component_of_wind", "10m_v_component_of_wind")
        return [Request.of("dataset", variable=name, **where) for name in names]

    def _region_map(self, hour: int) -> Request:
        region = self.atlas.region
        where = {"feature": region.name, "kind": region.kind, "hour": hour}
        return Request.of("map", variable=PRESSURE, **where)

    def _pressure_maps(self) -> Iterator[tuple[int, Request]]:
        """Maps of the region, and with its surroundings, spread over the period.

        A map tells its lowest and highest value alone: on the smaller one a centre shows that
        isn't the strongest of the larger one.
        """
        box = self._known.box(self._region_map(self._start))
        if box is None:
            return
        edges = _widened(box, _MARGIN)
        for hour in self._map_hours():
            yield hour, Request.of("map", variable=PRESSURE, hour=hour, **edges)
            yield hour, self._region_map(hour)

    def _map_hours(self) -> list[int]:
        length = self._end - self._start
        hours = (self._start + round(length * i / (_MAPS - 1) / STEP) * STEP for i in range(_MAPS))
        return sorted(set(hours))


def _rank(departure: float) -> str:
    return "p90" if departure > 0 else "p10"


def _widened(box: Box, margin: float) -> dict[str, float]:
    """The edges of a larger box, as arguments of the map tool."""

    def wrap(longitude: float) -> float:
        return round((longitude + 180.0) % 360.0 - 180.0, 1)

    edges = {"south": max(-90.0, box.south - margin), "north": min(90.0, box.north + margin)}
    if (box.east - box.west) % 360.0 + 2 * margin >= 350.0:
        return {"west": -180.0, **edges, "east": 180.0}
    return {"west": wrap(box.west - margin), **edges, "east": wrap(box.east + margin)}
