"""What a report is worth that knows little.

Each is an honest text of the right form. "climatology" knows only what is usual in the month,
"persistence" only the first lead time of the forecast, and "text-only" only the prompt and the
region's latitude.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from zephyrus.env import Script
from zephyrus.limits import Limits
from zephyrus.messages import Message
from zephyrus_report.compose.calendar import Calendar
from zephyrus_report.compose.findings import Finding, Kind, Place, Quantity
from zephyrus_report.compose.places import in_words
from zephyrus_report.compose.wording import Wording, celsius, listed
from zephyrus_report.event import STEP, Atlas, Event
from zephyrus_report.evidence import Evidence, Request
from zephyrus_report.report_text import count_words
from zephyrus_report.shown import falls_as
from zephyrus_tools.text import MONTHS

_MOST_PLACES = 5
_T2M, _WIND, _RAIN = "2m_temperature", "10m_wind_speed", "total_precipitation_6hr"
_CLOUD = "total_cloud_cover"
_TROPIC = 23.4  # degrees of latitude

Baseline = Callable[[Event, Atlas, Limits], Script]


def climatology(event: Event, atlas: Atlas, limits: Limits) -> Script:
    """The climatological means of the month, said of the whole period."""
    known = Evidence(limits)
    places = atlas.places(_MOST_PLACES)

    def usual(place: Place, variable: str, statistic: str = "mean") -> Request:
        where = {"feature": place.name, "kind": place.kind}
        month = {"statistic": statistic, "month": event.month}
        return Request.of("climatology", variable=variable, **where, **month)

    yield from known.gather(
        [
            *(usual(place, variable) for place in places for variable in (_T2M, _RAIN)),
            *(usual(atlas.region, _T2M, rank) for rank in ("p10", "p90")),
            *(usual(atlas.region, variable) for variable in (_WIND, _CLOUD)),
        ]
    )
    month = MONTHS[event.month - 1]
    lines = [f"The weather over {in_words(atlas.region)} is expected to be normal for {month}."]
    words = Wording(Calendar(event.initial), event.key)
    low, high = (known.value(usual(atlas.region, _T2M, rank)) for rank in ("p10", "p90"))
    steps = (event.window[1] - event.window[0]) // STEP + 1
    wet = []
    for place in places:
        water = known.value(usual(place, _RAIN))
        if water is not None:
            wet.append(_wet(place, event, water * steps, known.value(usual(place, _T2M))))
    lines += _grouped(words, wet)
    wind, cover = known.value(usual(atlas.region, _WIND)), known.value(usual(atlas.region, _CLOUD))
    if wind is not None:
        lines.append(f"10 m winds over {in_words(atlas.region)} average {round(wind)} m/s.")
    if cover is not None:
        lines.append(words.sentence(_finding(Kind.CLOUD, atlas.region, event, cover=(cover, "%"))))
    warmths = [(place, known.value(usual(place, _T2M))) for place in places]
    lines += _grouped(words, [_warm(place, event, t) for place, t in warmths if t is not None])
    if low is not None and high is not None:
        lines.append(
            f"Temperatures over {in_words(atlas.region)} are near the climatological mean, mostly "
            f"between {celsius(low)} and {celsius(high)}."
        )
    yield _told(lines, event)


def persistence(event: Event, atlas: Atlas, limits: Limits) -> Script:
    """The first lead time of the forecast, said to persist through the period."""
    known = Evidence(limits)
    places = atlas.places(_MOST_PLACES)

    def first(place: Place, variable: str, statistic: str = "mean") -> Request:
        where = {"feature": place.name, "kind": place.kind}
        now = {"statistic": statistic, "hour": STEP}
        return Request.of("dataset", variable=variable, **where, **now)

    yield from known.gather(
        [
            *(first(place, variable) for place in places for variable in (_T2M, _RAIN)),
            *(first(place, _WIND, "max") for place in places),
            *(first(atlas.region, _T2M, statistic) for statistic in ("min", "max")),
            first(atlas.region, _CLOUD),
        ]
    )
    words = Wording(Calendar(event.initial), event.key)
    lines = [
        f"Little change is expected over {in_words(atlas.region)}: conditions at the beginning of "
        "the forecast persist."
    ]
    steps = (event.window[1] - event.window[0]) // STEP + 1
    wet, winds, warm = [], [], []
    for place in places:
        water, speed = known.value(first(place, _RAIN)), known.value(first(place, _WIND, "max"))
        warmth = known.value(first(place, _T2M))
        low, high = (known.value(first(place, _T2M, statistic)) for statistic in ("min", "max"))
        if water is not None:
            wet.append(_wet(place, event, water * steps, warmth))
        if speed is not None:
            winds.append(f"{round(speed)} m/s over {in_words(place)}")
        if warmth is not None:
            warm.append(_warm(place, event, warmth, low, high))
    lines += _grouped(words, wet)
    lines += [f"10 m winds stay up to {listed(winds)}."] if winds else []
    lines += _grouped(words, warm)
    cover = known.value(first(atlas.region, _CLOUD))
    if cover is not None:
        lines.append(words.sentence(_finding(Kind.CLOUD, atlas.region, event, cover=(cover, "%"))))
    yield _told(lines, event)


def text_only(event: Event, atlas: Atlas, limits: Limits) -> Script:
    """What latitude and season alone make likely; no tool is called.

    The numbers are textbook ones: zonal means and their yearly course, in round figures.
    """
    calendar = Calendar(event.initial)
    words = Wording(calendar, event.key)
    season = "tropics" if abs(atlas.latitude) < _TROPIC else _season(atlas.latitude, event.month)
    month = MONTHS[event.month - 1]
    when = calendar.window(*event.window)
    where = in_words(atlas.region)
    lines = [line.format(where=where, when=when, month=month) for line in _LIKELY[season]]
    wet, warm = [], []
    for place in atlas.places(_MOST_PLACES):
        latitude = atlas.middle(place)[0]
        warmth = _zonal_warmth(latitude, event.month)
        water = _zonal_rain(latitude) * len(event.days())
        wet.append(_wet(place, event, water, warmth))
        warm.append(_warm(place, event, warmth))
    lines += [*_grouped(words, wet), *_grouped(words, warm)]
    yield _told(lines, event)


def _zonal_warmth(latitude: float, month: int) -> float:
    """About the zonal mean 2 m temperature in °C: colder and more seasonal toward the poles."""
    summer = math.cos((month - (7.5 if latitude >= 0 else 1.5)) * math.pi / 6.0)
    return 27.0 - 0.0077 * latitude**2 + 0.25 * abs(latitude) * summer


def _zonal_rain(latitude: float) -> float:
    """About the zonal mean precipitation in mm a day: wet near the equator, dry near 25°."""
    away = abs(latitude)
    return 6.0 if away < 12 else 1.5 if away < 32 else 2.5 if away < 60 else 1.0


BASELINES: Mapping[str, Baseline] = {
    "climatology": climatology,
    "persistence": persistence,
    "text-only": text_only,
}
"""The baselines by name, for the policy ``baseline:NAME``."""


_LIKELY: Mapping[str, tuple[str, ...]] = {
    "winter": (
        "Seasonably cold weather is likely over {where} {when}, with temperatures near the {month} "
        "climatological mean.",
        "Low pressure systems are likely to cross from the west with rain, and snow is possible "
        "where it is cold enough.",
        "Periods of strong winds are possible with the passing fronts.",
        "Skies are often cloudy, with short drier and colder spells in between.",
        "The main hazards are strong winds and wintry precipitation, where fronts pass.",
    ),
    "spring": (
        "Changeable spring weather is likely over {where} {when}, with temperatures near the "
        "{month} climatological mean.",
        "Passing low pressure systems may bring rain at times, with drier spells in between.",
        "Winds are mostly moderate, and gusty showers are possible behind fronts.",
        "No significant hazard stands out.",
    ),
    "summer": (
        "Warm summer weather is likely over {where} {when}, with temperatures near the {month} "
        "climatological mean.",
        "High pressure is likely to keep much of the region mostly dry, with isolated showers or "
        "thunderstorms possible.",
        "Winds are mostly light to moderate.",
        "The main hazards are heat, and locally heavy rain in thunderstorms.",
    ),
    "autumn": (
        "Changeable autumn weather is likely over {where} {when}, with temperatures near the "
        "{month} climatological mean.",
        "Low pressure systems are likely to bring rain and periods of strong winds.",
        "Drier spells are possible under ridges of high pressure in between.",
        "The main hazards are strong winds and heavy rain, where fronts pass.",
    ),
    "tropics": (
        "Warm and humid weather is likely over {where} {when}, with temperatures near the {month} "
        "climatological mean.",
        "Showers and thunderstorms are likely in the afternoons, with locally heavy rain possible.",
        "Winds are mostly light to moderate, and skies partly to mostly cloudy.",
        "The main hazard is locally heavy rain.",
    ),
}


def _season(latitude: float, month: int) -> str:
    """The meteorological season of a month: winter is December to February in the north."""
    seasons = ("winter", "spring", "summer", "autumn")
    return seasons[(month % 12 // 3 + (0 if latitude >= 0 else 2)) % 4]


def _grouped(words: Wording, findings: Sequence[Finding]) -> list[str]:
    """A sentence for the places of each kind; one with a range of its own stands alone."""
    alone = [f for f in findings if "lowest" in f.values]
    kinds = dict.fromkeys(f.kind for f in findings if f not in alone)
    rest = [[f for f in findings if f.kind is kind and f not in alone] for kind in kinds]
    return [*(words.sentence(f) for f in alone), *map(words.together, rest)]


def _finding(kind: Kind, place: Place, event: Event, **values: tuple[float, str]) -> Finding:
    numbers = {name: Quantity(*value) for name, value in values.items()}
    return Finding(kind, place, *event.window, numbers)


def _wet(place: Place, event: Event, amount: float, warmth: float | None) -> Finding:
    days = len(event.days())
    kind = Kind.DRY if amount < days else Kind.PRECIPITATION
    return replace(_finding(kind, place, event, total=(amount, "mm")), detail=falls_as(warmth))


def _warm(
    place: Place, event: Event, now: float, low: float | None = None, high: float | None = None
) -> Finding:
    spread = {} if low is None or high is None else {"lowest": (low, "°C"), "highest": (high, "°C")}
    return _finding(Kind.TEMPERATURE, place, event, mean=(now, "°C"), **spread)


def _told(lines: list[str], event: Event) -> Message:
    return Message("assistant", f"<report>\n{within_budget(lines, event.words)}\n</report>")


def within_budget(lines: list[str], words: int) -> str:
    """As many of the lines, from the first, as the word budget has room for; at least one."""
    kept = lines[:1]
    for line in lines[1:]:
        if count_words(" ".join([*kept, line])) <= words:
            kept.append(line)
    return " ".join(kept)
