"""Typed claims out of a discussion."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from zephyrus_report.rules import places as places_module
from zephyrus_report.rules.binding import hull
from zephyrus_report.rules.gazetteer import known
from zephyrus_report.rules.hazards import HAZARDS, period
from zephyrus_report.rules.mentions import Parts, take_apart
from zephyrus_report.rules.places import Place
from zephyrus_report.rules.quantities import Quantity
from zephyrus_report.rules.statements import (
    causes,
    family,
    is_cause,
    movements,
    presence,
    signs,
    values,
)
from zephyrus_report.rules.text import Sentence, Text, lower, read, shortened
from zephyrus_report.rules.time_words import on_the_minute
from zephyrus_report.rules.times import Calendar, Time
from zephyrus_report.rules.typed import TypedClaim, parse

_CELSIUS = re.compile(r"\d\s?°?\s?c\b|celsius|\bk\b|m/s|\bmm\b|hpa")
_FAHRENHEIT = re.compile(r"\d\s?°?\s?f\b|fahrenheit|\bmph\b|\bkts?\b|\binch(?:es)?\b")


@lru_cache(maxsize=2048)
def extract(text: str, context: str = "") -> tuple[TypedClaim, ...]:
    """The typed claims of a discussion, in its order, none of them twice.

    A claim needs a place or a time, or a number: "showers possible" makes none. That no hazard is
    expected is said of the whole period that the text tells of, where it names no time.

    Args:
        text: Any text, of which the beginning is read (`shortened`); what is no weather, or
            addresses a judge, makes no claims.
        context: What is known beside it, such as its initial time.
    """
    text = shortened(text)
    told = [(parse(line), line) for line in text.splitlines()] if ": " in text[:40] else []
    if told and all(claim for claim, _ in told):
        return _listed(text, [(claim, line) for claim, line in told if claim])
    ready = read(text)
    calendar = Calendar(lower(text), context)  # a header knows the issue time
    celsius = bool(_CELSIUS.search(ready.lower)) and not _FAHRENHEIT.search(ready.lower)
    made: list[TypedClaim] = []
    for sentence in ready.sentences:
        parts = take_apart(ready, sentence, calendar, celsius=celsius)
        if not (parts.mentions or parts.numbers or parts.terms):
            continue
        where, when = _inherited(ready, sentence, calendar)
        made += _claims(parts, ready, where, when)
    whole = on_the_minute(period([c.time for c in made if c.time is not None]))
    found: dict[TypedClaim, None] = {}
    for claim in made:
        if claim.subject == HAZARDS and claim.time is None:
            claim = replace(claim, time=whole)
        if _is_tied(claim):
            found.setdefault(claim)
    return tuple(found)


def _is_tied(claim: TypedClaim) -> bool:
    """Whether a claim says more than that something is there, somewhere, some day."""
    return claim.place is not None or claim.time is not None or claim.value is not None


def _listed(text: str, told: Sequence[tuple[TypedClaim, str]]) -> tuple[TypedClaim, ...]:
    """The claims of a text that is a list of claims in canonical words."""
    found: dict[TypedClaim, None] = {}
    position = 0
    for claim, line in told:
        start = text.index(line, position)
        position = start + len(line)
        if _is_tied(claim):
            found.setdefault(replace(claim, start=start, end=position))
    return tuple(found)


def _inherited(
    text: Text, sentence: Sentence, calendar: Calendar
) -> tuple[Place | None, Time | None]:
    """The place and time of the innermost heading that has one."""
    where, when = None, None
    for heading in sentence.headings:
        small = lower(heading)
        times = calendar.find(small, heading, 0, len(small))
        if times:
            when = times[-1].time if len(times) == 1 else hull([t.time for t in times])
        ready = Text(heading, heading, small, heading.isupper(), ())
        named = [f for f in places_module.find(ready, ready.words(0, len(small))) if f.place.name]
        if len(named) == 1:
            where = named[0].place
    return where, when


def _claims(
    parts: Parts, text: Text, where: Place | None, when: Time | None
) -> Iterator[TypedClaim]:
    valued: set[int] = set()
    made: list[TypedClaim] = []
    for number in parts.numbers:
        made += values(parts, text, number, valued)
    made += signs(parts, text)
    made += movements(parts)
    told = {(c.subject, c.place) for c in made if c.aspect in ("trend", "movement")}
    for mention in parts.mentions:
        if (mention.start not in valued or mention.absent) and not is_cause(parts, text, mention):
            made += [
                c
                for c in presence(parts, mention)
                if c.aspect == "absence" or (c.subject, c.place) not in told
            ]
    why = causes(parts, text)
    for claim in made:
        yield replace(
            claim,
            place=_canonical(claim.place or where),
            time=on_the_minute(claim.time or when),
            value=_rounded(claim.value),
            causes=tuple(c for c in why.get(family(claim.subject), ()) if c != claim.subject),
            start=parts.sentence.start,
            end=parts.sentence.end,
        )


def _canonical(place: Place | None) -> Place | None:
    """A place whose name alone finds it again."""
    if place is None or not place.name or known(place.name) == place.key:
        return place
    longer = f"{place.name}, United States"
    if known(longer) == place.key:
        return replace(place, name=longer)
    return replace(place, key=known(place.name))


def _rounded(value: Quantity | None) -> Quantity | None:
    if value is None:
        return None
    low, high = value.low, value.high
    if value.unit in ("°C", "K", "m/s"):  # 20 °F is no -6.667 °C
        low, high = round(low, 1), round(high, 1)
    return Quantity(float(f"{low:.4g}"), float(f"{high:.4g}"), value.unit)
