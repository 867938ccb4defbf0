"""What the evidence shows: findings made of the tools' numbers.

The thresholds are those that `zephyrus_report.compose` has for fields. Two things no tool tells:
gradients, so that a front is a fast change of the 850 hPa temperature alone, and pressure between
the few maps.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

from zephyrus_report.compose.findings import Finding, Kind, Place, Quantity, compass, day_of
from zephyrus_report.compose.sphere import bearing, distance
from zephyrus_report.compose.wording import STATIONARY
from zephyrus_report.evidence import Spot, mean, peak, total
from zephyrus_report.survey import CLOUD, DEPARTURE, HEIGHT, RAIN, T2M, T850, TROPICS, WIND, Survey

Show = Callable[[Survey, Place, int, int], Finding | None]

_FASTEST = 80.0  # km/h: what moves faster from map to map is another system
_SUBTROPICS = 30.0  # degrees of latitude: nearer the equator, and westward, a third of that
_LOW, _HIGH = 1010.0, 1016.0  # hPa: a centre that is weaker on every map is not worth telling
_POLES = 72.0
_RIDGE = 40.0  # gpm from the climatological mean that make a ridge or trough
_BUILDS = 30.0  # gpm between the first and last day
_FRONT, _SHARP = 6.0, 0.6  # K within a day at 850 hPa, and how much of it within half a day
_DRY = 1.0  # mm a day
_TREND = 3.0  # K between the first and last day
_COLD, _HOT = -20.0, 38.0  # °C that are a hazard of themselves
_NEAR, _REACH, _UNDER = 450.0, 1100.0, 800.0  # km from a low; still its weather; from a high
_AHEAD, _BEHIND = 12, 6  # h before and after a front's passage that its precipitation falls


def systems(survey: Survey) -> Iterator[Finding]:
    """The deepest low and the strongest high around the region, if the maps can follow them."""
    for kind in (Kind.LOW, Kind.HIGH):
        track = _track(survey.centres(lows=kind is Kind.LOW))
        pressures = [spot.value for _, spot in track]
        if len(track) < 2:
            continue
        weak = min(pressures) > _LOW if kind is Kind.LOW else max(pressures) < _HIGH
        if weak:
            continue
        (start, first), (end, last) = track[0], track[-1]
        speed = _far(first, last) / (end - start)
        moves = speed >= STATIONARY
        way = bearing(first.latitude, first.longitude, last.latitude, last.longitude)
        depth = 1013.0 - min(pressures) if kind is Kind.LOW else max(pressures) - 1013.0
        yield Finding(
            kind,
            survey.atlas.point(first.latitude, first.longitude),
            start,
            end,
            _in("hPa", pressure=first.value, before=first.value, after=last.value)
            | _in("km/h", speed=speed),
            hour=start,
            direction=compass(way) if moves else "",
            target=survey.atlas.point(last.latitude, last.longitude) if moves else None,
            importance=depth / 25.0,
        )


def pattern(survey: Survey) -> Iterator[Finding]:
    """A ridge or trough over the region."""
    region = survey.atlas.region
    known = survey.departure(region, HEIGHT)
    if known is None or abs(known[1]) < _RIDGE or abs(survey.atlas.latitude) < TROPICS:
        return
    height, departure = known
    days = survey.event.days()
    steps = survey.steps(region, HEIGHT)
    before, after = mean(steps, *days[0][1:]), mean(steps, *days[-1][1:])
    change = 0.0 if before is None or after is None else after - before
    ridge = departure > 0
    detail = "persisting"
    if abs(change) >= _BUILDS:
        grows = (change > 0) == ridge
        words = ("building", "weakening") if ridge else ("deepening", "filling")
        detail = words[0] if grows else words[1]
    yield Finding(
        Kind.RIDGE if ridge else Kind.TROUGH,
        region,
        *survey.event.window,
        _in("gpm", height=height, departure=departure),
        detail=detail,
        importance=abs(departure) / 60.0,
    )


def fronts(survey: Survey) -> list[Finding]:
    """Passages of cold and warm fronts, the sharpest first, one of a kind and area."""
    found = []
    for area in survey.areas:
        if not TROPICS <= abs(survey.atlas.middle(area)[0]) <= _POLES:
            continue
        steps = sorted(survey.steps(area, T850).items())
        for kind, sign in ((Kind.COLD_FRONT, -1), (Kind.WARM_FRONT, 1)):
            passages = [
                (sign * (after - before), start, end, before, after)
                for i, (start, before) in enumerate(steps)
                for end, after in steps[i + 1 :]
                if end - start <= 24
            ]
            change, start, end, before, after = max(passages, default=(0.0, 0, 0, 0.0, 0.0))
            inside = [p[0] for p in passages if start <= p[1] and p[2] <= end and p[2] - p[1] <= 12]
            if change < _FRONT or max(inside, default=0.0) < _SHARP * change:
                continue
            values = _in("°C", before=before, after=after, change=after - before)
            found.append(Finding(kind, area, start, end, values, importance=change / 6.0 + 0.5))
    return sorted(found, key=lambda f: -f.importance)


def cloud(survey: Survey) -> Iterator[Finding]:
    """The sky over the region, which is only asked for where there is no system to tell of."""
    cover = survey.mean_over_all(survey.atlas.region, CLOUD)
    if cover is not None:
        region, window = survey.atlas.region, survey.event.window
        yield Finding(Kind.CLOUD, region, *window, _in("%", cover=cover), importance=0.2)


def rain(survey: Survey, area: Place, start: int, end: int) -> Finding | None:
    """Precipitation over an area, or that it is dry there."""
    amount = total(survey.steps(area, RAIN), start, end)
    if amount is None:
        return None
    days = (day_of(end) - day_of(start)) + 1
    values = _in("mm", total=amount)
    if amount < _DRY * days:
        return Finding(Kind.DRY, area, start, end, values, importance=0.3 * min(days, 5))
    most = peak(survey.steps(area, RAIN, "max"), start, end)
    if most is not None:
        values |= _in("mm", heaviest=most[1])
    local = 0.0 if most is None else most[1] / 15.0
    return Finding(
        Kind.PRECIPITATION,
        area,
        start,
        end,
        values,
        hour=None if most is None else most[0],
        detail=falls_as(mean(survey.steps(area, T2M), start, end)),
        importance=amount / days / 8.0 + local,
    )


def wettest_day(survey: Survey, finding: Finding) -> Finding | None:
    """The day on which the place of a finding gets most, if any is wet."""
    days = [rain(survey, finding.place, *day[1:]) for day in survey.event.days()]
    wet = [f for f in days if f is not None and f.kind is Kind.PRECIPITATION]
    return max(wet, key=lambda f: f.number("total"), default=None)


def wind(survey: Survey, area: Place, start: int, end: int) -> Finding | None:
    """The strongest 10 m wind over an area."""
    top = peak(survey.steps(area, WIND, "max"), start, end)
    if top is None:
        return None
    hour, speed = top
    return Finding(
        Kind.WIND,
        area,
        start,
        end,
        _in("m/s", speed=speed),
        hour=hour,
        direction=survey.blows_from(area, hour),
        importance=(speed / 14.0) ** 2,
    )


def temperature(survey: Survey, area: Place) -> Finding | None:
    """Mean 2 m temperature, with the lowest and highest if they are known."""
    window = survey.event.window
    now = mean(survey.steps(area, T2M), *window)
    if now is None:
        return None
    low, high = survey.over_all(area, T2M, "min"), survey.over_all(area, T2M, "max")
    values = _in("°C", mean=now)
    if low is not None and high is not None:
        values |= _in("°C", lowest=low[0], highest=high[0])
    return Finding(Kind.TEMPERATURE, area, *window, values, importance=0.5)


def extreme(survey: Survey, area: Place, start: int, end: int) -> Finding | None:
    """Severe cold or great heat anywhere in an area."""
    low, high = survey.over_all(area, T2M, "min"), survey.over_all(area, T2M, "max")
    if low is not None and low[0] <= _COLD:
        values, weight = _in("°C", lowest=low[0]), (_COLD - low[0]) / 10.0 + 1.5
        return Finding(Kind.COLD_EXTREME, area, start, end, values, low[1], importance=weight)
    if high is not None and high[0] >= _HOT:
        values, weight = _in("°C", highest=high[0]), (high[0] - _HOT) / 4.0 + 1.5
        return Finding(Kind.HEAT_EXTREME, area, start, end, values, high[1], importance=weight)
    return None


def anomaly(survey: Survey, area: Place, start: int, end: int) -> Finding | None:
    """2 m temperature well above or below the climatological mean of the month."""
    known = survey.departure(area)
    if known is None or abs(known[1]) < DEPARTURE:
        return None
    now, departure = known
    warm = departure > 0
    rank = "p90" if warm else "p10"
    limit = survey.normal(area, T2M, rank)
    beyond = limit is not None and (now > limit if warm else now < limit)
    return Finding(
        Kind.WARM_ANOMALY if warm else Kind.COLD_ANOMALY,
        area,
        start,
        end,
        _in("°C", mean=now, normal=now - departure, departure=departure),
        detail=rank if beyond else "",
        importance=abs(departure) / 4.0 + 0.5 * beyond,
    )


def trend(survey: Survey, area: Place, start: int, end: int) -> Finding | None:
    """Warming or cooling between the daily means of the first and last day."""
    days = survey.event.days()
    steps = survey.steps(area, T2M)
    before, after = mean(steps, *days[0][1:]), mean(steps, *days[-1][1:])
    if len(days) < 2 or before is None or after is None or abs(after - before) < _TREND:
        return None
    return Finding(
        Kind.WARMING if after > before else Kind.COOLING,
        area,
        start,
        end,
        _in("°C", before=before, after=after, change=after - before),
        importance=abs(after - before) / 4.0,
    )


def cause(
    survey: Survey, finding: Finding, systems: Sequence[Finding], fronts: Sequence[Finding]
) -> str:
    """Words that lead in: the told front, low or high that a finding goes with; else ""."""
    hour = (finding.start + finding.end) // 2 if finding.hour is None else finding.hour
    for front in fronts:
        there = front.place == finding.place
        if there and front.start - _AHEAD <= hour <= front.end + _BEHIND:
            return f"along the {'cold' if front.kind is Kind.COLD_FRONT else 'warm'} front"
    dry = finding.kind is Kind.DRY
    kind = Kind.HIGH if dry else Kind.LOW
    system = next((f for f in systems if f.kind is kind), None)
    if system is None or not system.start - 6 <= hour <= system.end + 6:
        return ""
    centre = _position(system, hour)
    middle = survey.atlas.middle(finding.place)
    away = float(distance(*centre, *middle))
    if dry:
        return "under the high" if away <= _UNDER else ""
    if away > _REACH:
        return ""
    return "near the low" if away <= _NEAR else f"{compass(bearing(*centre, *middle))} of the low"


def _position(system: Finding, hour: int) -> tuple[float, float]:
    """Where a system is at a lead time, if it moves evenly."""
    a, b = system.place, system.target or system.place
    lat, lon = a.latitude or 0.0, a.longitude or 0.0
    share = min(max((hour - system.start) / max(system.end - system.start, 1), 0.0), 1.0)
    north = (b.latitude or 0.0) - lat
    east = ((b.longitude or 0.0) - lon + 180.0) % 360.0 - 180.0
    return lat + share * north, (lon + share * east + 180.0) % 360.0 - 180.0


def _track(centres: Mapping[int, Sequence[Spot]]) -> list[tuple[int, Spot]]:
    """The longest run of centres that can be one system; of several the nearest are joined."""
    best: list[tuple[int, Spot]] = []
    hours = sorted(centres)
    for i, hour in enumerate(hours):
        for first in centres[hour]:
            run = [(hour, first)]
            for later in hours[i + 1 :]:
                then, spot = run[-1]
                near = min(centres[later], key=partial(_far, spot), default=None)
                if near is None or not _can_move(spot, near, later - then):
                    break
                run.append((later, near))
            best = max(best, run, key=len)
    return best


def _can_move(first: Spot, last: Spot, hours: int) -> bool:
    """Whether a system can get from one point to another: in middle latitudes not far westward."""
    speed = _far(first, last) / hours
    if speed < STATIONARY:
        return True
    way = bearing(first.latitude, first.longitude, last.latitude, last.longitude)
    slow = abs(first.latitude) < _SUBTROPICS or 180.0 < way < 360.0
    return speed <= (_FASTEST / 3.0 if slow else _FASTEST)


def _far(first: Spot, last: Spot) -> float:
    """Distance in km."""
    return float(distance(first.latitude, first.longitude, last.latitude, last.longitude))


def falls_as(warmth: float | None) -> str:
    """What falls at a 2 m temperature in °C."""
    if warmth is None or warmth >= 2.0:
        return "rain"
    return "snow" if warmth <= -1.0 else "rain and snow"


def _in(unit: str, **values: float) -> dict[str, Quantity]:
    return {name: Quantity(value, unit) for name, value in values.items()}
