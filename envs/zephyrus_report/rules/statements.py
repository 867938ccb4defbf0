"""What the parts of a sentence state: values, departures, trends, movements, presence, causes."""

from __future__ import annotations

import re

from zephyrus_report.rules.binding import (
    SYSTEMS,
    likelihood_of,
    nearest,
    places_of,
    role_of,
    spread,
    subject_of,
    time_of,
)
from zephyrus_report.rules.lexicon import lineage, subjects
from zephyrus_report.rules.mentions import Mention, Number, Parts
from zephyrus_report.rules.places import Place
from zephyrus_report.rules.quantities import Quantity, as_difference, as_speed, as_temperature
from zephyrus_report.rules.text import Text
from zephyrus_report.rules.times import Time
from zephyrus_report.rules.typed import TypedClaim

_ADJACENT = 25  # characters between "strengthening" and the system that it tells of
_MOVED = frozenset({"begin", "end"})


def values(parts: Parts, text: Text, number: Number, valued: set[int]) -> list[TypedClaim]:
    """The values and departures that a number states; its mention is added to ``valued``."""
    sign = next(
        (
            t
            for t in parts.of("anomaly")
            if 0 <= t.start - number.end <= 18
            and t.key != "near"
            and not any(number.end <= n.start < t.start for n in parts.numbers)
        ),
        None,
    )
    unit = number.value.unit
    mention = subject_of(parts, number, difference=sign is not None or unit == "K")
    if mention is None:
        return []
    subject = mention.subject
    following = [n.start for n in parts.numbers if n.start > number.start]
    until = min([*following[:1], parts.sentence.end])
    value = _bounded(text, number)
    before = text.lower[max(0, number.start - 12) : number.start]
    role = "range" if before.endswith("from ") else role_of(parts, number)
    if unit == "km/h" and subject in SYSTEMS:
        return []  # the speed of a movement makes no claim
    if unit == "%" and subject in ("rain", "snow", "thunderstorm", "rain_and_snow"):
        subject = "precipitation"
    if sign is None and unit != "mm" and _BY.search(before):
        return []  # "falls by 6 °C": a change, which the trend tells
    valued.add(mention.start)
    if unit == "km/h":
        value = as_speed(value)
    aspect, detail = "value", ""
    if sign is not None:
        aspect, role = "departure", ""
        if value.unit in ("deg", "°C"):
            value = as_difference(value)
        if sign.key == "below":
            value = Quantity(-value.high, -value.low, value.unit)
    elif value.unit == "deg":
        value = as_temperature(value)
    elif value.unit == "K" and subject.startswith("temperature"):
        return []  # a change, which the trend tells
    likelihood = likelihood_of(parts, number.clause)
    if number.bracket is None:
        when = time_of(parts, number.end, until)
        places = places_of(parts, number.end, until)
    else:
        when, places = _bracketed(parts, number.bracket)
    # Two points of one system follow each other: each number has the first place behind it.
    if subject in ("low", "high"):
        behind = any(number.end <= f.start < until for f in parts.places)
        places = places[:1] if behind or number.bracket else places[-1:]
    ends = [(role, value)]
    if role == "range":
        low, high = value.low, value.high
        ends = [("min", Quantity(low, low, value.unit)), ("max", Quantity(high, high, value.unit))]
        ends = ends if low < high else [("", value)]
    return [
        TypedClaim(subject, aspect, detail, place, when, end, each, "", likelihood)
        for place in places
        for each, end in ends
    ]


def _bracketed(parts: Parts, bracket: tuple[int, int]) -> tuple[Time | None, list[Place | None]]:
    """Time and places of a number in brackets: those of the item of a list that it stands behind.

    "Gales over Spain (up to 24 m/s around 18 UTC Saturday) and heavy rain over Italy (…)."
    """
    opening, closing = bracket
    about = [m.start for m in parts.mentions if m.start < opening]
    first = about[-1] if about else parts.sentence.start
    following = [m.start for m in parts.mentions if m.start > closing]
    until = min([*following[:1], parts.sentence.end])
    inside = [t.time for t in parts.times if opening < t.start < closing]
    beside = [t.time for t in parts.times if first <= t.start < until]
    named: list[Place | None] = [f.place for f in parts.places if first <= f.start < opening]
    told = inside or beside
    if not told and sum(n.bracket is not None for n in parts.numbers) == 1:
        return time_of(parts, closing, until), named or places_of(parts, opening, until)
    return (told[0] if told else None), named or places_of(parts, opening, opening)


_EITHER_BEFORE = re.compile(r"\b(?:above|below|warmer|cooler|colder)(?:\s[a-z]+)?\sor\s$")
_EITHER_AFTER = re.compile(r",?\sor\s(?:perhaps\s|even\s)?(?:above|below|warmer|cooler|colder)\b")
_BY = re.compile(r"\bby (?:about |around |up to )?$")
_AT_MOST = re.compile(r"(?:no more than|less than|at most|under|below|not more than)\s+$")


def _bounded(text: Text, number: Number) -> Quantity:
    """The number, or the range from none to it where it is an upper bound of an amount."""
    value = number.value
    if value.unit == "mm" and _AT_MOST.search(text.lower[max(0, number.start - 16) : number.start]):
        return Quantity(0.0, value.high, "mm")
    return value


def signs(parts: Parts, text: Text) -> list[TypedClaim]:
    """Anomalies and trends in words, and the state of the sky."""
    made: list[TypedClaim] = []
    warm = [m for m in parts.mentions if subjects()[m.subject].units or m.subject in SYSTEMS]
    numbers = [n.end for n in parts.numbers]
    for t in parts.of("anomaly"):
        if any(0 <= t.start - end <= 18 for end in numbers) and t.key != "near":
            continue  # a departure with its number
        if _EITHER_BEFORE.search(text.lower, max(0, t.start - 32), t.start) or (
            t.key != "near" and _EITHER_AFTER.match(text.lower, t.end)
        ):
            continue  # "above or below normal" says nothing
        about = [
            m
            for m in warm
            if m.subject.split("_")[0]
            in ("temperature", "height", "precipitation", "rain", "dewpoint", "pressure")
        ]
        mention = nearest(parts, t.start, about) or Mention(
            "temperature", t.start, t.end, parts.clause(t.start)
        )
        subject = (
            "temperature"
            if re.search(r"warm|mild|hot|cold|cool|chilly", text.lower[t.start : t.end])
            else mention.subject
        )
        made += spread(
            parts,
            mention,
            TypedClaim(
                subject, "anomaly", t.key, likelihood=likelihood_of(parts, parts.clause(t.start))
            ),
            t.end,
        )
    for family, detail in (("warmer", "rising"), ("cooler", "falling")):
        for t in parts.of(family):
            mention = Mention("temperature", t.start, t.end, parts.clause(t.start))
            made += spread(parts, mention, TypedClaim("temperature", "trend", detail))
    return made + _trends(parts, text) + _skies(parts)


def _trends(parts: Parts, text: Text) -> list[TypedClaim]:
    made: list[TypedClaim] = []
    for t in parts.of("trend"):
        near = [m for m in parts.mentions if m.word != "dry" and m.start - t.end < _ADJACENT]
        adjacent = [m for m in near if 0 <= m.start - t.end <= 1]  # "dropping temperatures"
        mention = adjacent[0] if adjacent else nearest(parts, t.start, near)
        if mention is None or mention.absent:
            continue
        detail = _trend_of(mention.subject, t.key)
        if not detail or (
            subjects()[mention.subject].group in ("weather", "hazard")
            and text.lower.startswith("fall", t.start)
        ):
            continue  # snow falls
        likelihood = likelihood_of(parts, parts.clause(t.start))
        claim = TypedClaim(mention.subject, "trend", detail, likelihood=likelihood)
        made += spread(parts, mention, claim)
    return made


def _trend_of(subject: str, detail: str) -> str:
    """A trend in the words that fit the subject: systems strengthen, temperatures rise."""
    group = subjects()[subject].group
    if group == "pattern" or (group == "variable" and detail in _MOVED):
        return ""
    if subject in ("wind", "gust") or group == "feature":
        return {"rising": "strengthening", "falling": "weakening"}.get(detail, detail)
    if group == "variable":
        return {"strengthening": "rising", "weakening": "falling"}.get(detail, detail)
    return detail


def _skies(parts: Parts) -> list[TypedClaim]:
    made: list[TypedClaim] = []
    for t in parts.of("sky"):
        middle = float(t.key)
        mention = Mention("cloud", t.start, t.end, parts.clause(t.start))
        if not any(n.value.unit == "%" for n in parts.numbers):
            value = Quantity(max(0.0, middle - 12), min(100.0, middle + 12), "%")
            made += spread(parts, mention, TypedClaim("cloud", "value", value=value, role="mean"))
    return made


def movements(parts: Parts) -> list[TypedClaim]:
    """Where systems move to, and where winds come from."""
    made: list[TypedClaim] = []
    systems = [m for m in parts.mentions if m.subject in SYSTEMS]
    for at, point in parts.moves:
        mention = nearest(parts, at, systems)
        if mention is not None and not mention.absent:
            made += spread(parts, mention, TypedClaim(mention.subject, "movement", point))
    winds = [
        m
        for m in parts.mentions
        if m.subject in ("wind", "gust", "jet", "low_level_jet", "high_wind")
    ]
    for at, point in parts.winds:
        mention = nearest(parts, at, [m for m in winds if m.subject != "high_wind"] or winds)
        if mention is not None:
            made += spread(parts, mention, TypedClaim(mention.subject, "wind_from", point))
    return made


def presence(parts: Parts, mention: Mention) -> list[TypedClaim]:
    """That something is there, or is not; a variable alone states nothing."""
    about = subjects()[mention.subject]
    if about.group == "variable" or mention.word.startswith("near"):
        return []  # a near gale is none
    aspect = "absence" if mention.absent else "presence"
    said = [
        t
        for t in parts.of("intensity")
        if 0 <= mention.start - t.end <= 14 or (t.start >= mention.start and t.end <= mention.end)
    ]
    intensity = said[-1].key if said and not mention.absent else ""
    likelihood = "" if mention.absent else likelihood_of(parts, mention.clause)
    claim = TypedClaim(mention.subject, aspect, intensity=intensity, likelihood=likelihood)
    return spread(parts, mention, claim)


def is_cause(parts: Parts, text: Text, mention: Mention) -> bool:
    """Whether a mention is only a cause, without a place of its own: "ahead of the front, …"."""
    for t in parts.of("cause"):
        stop = text.lower.find(",", t.end, parts.sentence.end)
        if t.end <= mention.start < stop and mention.start - t.end < 40:
            return not any(t.end <= f.start < stop for f in parts.places)
    return False


def causes(parts: Parts, text: Text) -> dict[str, tuple[str, ...]]:
    """What the sentence gives as causes, by family of the subject that they explain."""
    found: dict[str, tuple[str, ...]] = {}
    features = [m for m in parts.mentions if subjects()[m.subject].group in ("feature", "pattern")]
    for t in parts.of("cause"):
        stop = text.lower.find(",", t.end, parts.sentence.end)
        stop = parts.sentence.end if stop < 0 else stop
        causes = tuple(m.subject for m in features if t.end <= m.start < stop)
        for m in parts.mentions:
            if causes and not t.end <= m.start < stop:
                found[family(m.subject)] = (*found.get(family(m.subject), ()), *causes)
    for t in parts.of("effect"):
        causes = tuple(m.subject for m in features if m.end <= t.start)
        for m in parts.mentions:
            if causes and m.start >= t.end:
                found[family(m.subject)] = (*found.get(family(m.subject), ()), *causes)
    return found


def family(subject: str) -> str:
    """The most general subject that a subject belongs to."""
    return lineage(subject)[-1]
