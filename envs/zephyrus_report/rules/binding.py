"""What belongs to what in a sentence: the place, time and subject of a number or a statement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from zephyrus_report.rules.lexicon import subjects
from zephyrus_report.rules.mentions import Mention, Number, Parts
from zephyrus_report.rules.places import Place
from zephyrus_report.rules.times import WEEK, Span, Time
from zephyrus_report.rules.typed import LIKELIHOODS, TypedClaim

_DEFAULT = {
    "°C": "temperature", "K": "temperature", "deg": "temperature", "m/s": "wind", "km/h": "wind",
    "mm": "precipitation", "hPa": "pressure", "gpm": "height", "J/kg": "instability",
}  # fmt: skip
SYSTEMS = frozenset(
    [
        "low",
        "high",
        "trough",
        "ridge",
        "upper_low",
        "shortwave",
        "front",
        "cold_front",
        "warm_front",
        "stationary_front",
        "occluded_front",
        "tropical_cyclone",
        "dryline",
        "atmospheric_river",
        "thunderstorm",
    ]
)
"""What moves, builds and decays."""


def hull(times: Sequence[Time]) -> Time | None:
    """From the first to the last of some times, on the axes that all know."""
    axes: list[Span | None] = []
    for axis in ("lead", "week", "date"):
        spans: list[Span | None] = [getattr(t, axis) for t in times]
        first, last = spans[0], spans[-1]
        if first is None or last is None or None in spans:
            axes.append(None)
        else:
            axes.append((first[0], last[1] if last[1] > first[0] else last[1] + WEEK))
    return Time(*axes) if any(axes) else None


def places_of(parts: Parts, position: int, until: int) -> list[Place | None]:
    """The places of what stands at a position: those up to ``until``, else the nearest before."""
    clause = parts.clause(position)
    after = [f for f in parts.places if position <= f.start < until]
    if after:
        return [f.place for f in after]
    before = [f for f in parts.places if f.end <= position]
    same = [f for f in before if parts.clause(f.start) == clause]
    last = (same or before)[-1:]
    if last:
        # "Germany and Poland stay dry": the places that are listed together.
        listed = [
            f
            for f in before
            if f.start >= last[0].start - 60
            and parts.clause(f.start) == parts.clause(last[0].start)
        ]
        blocked = max((m.end for m in parts.mentions if m.end <= last[0].start), default=0)
        blocked = max(
            blocked, max((n.end for n in parts.numbers if n.end <= last[0].start), default=0)
        )
        return [f.place for f in listed if f.start >= blocked] or [last[0].place]
    later = [f for f in parts.places if f.start >= until]
    return [later[0].place] if later else [None]


def time_of(parts: Parts, position: int, until: int) -> Time | None:
    """The time of what stands at a position: the first up to ``until``, else the nearest."""
    after = [t for t in parts.times if position <= t.start < until]
    if after:
        return after[0].time
    before = [t for t in parts.times if t.end <= position]
    clause = parts.clause(position)
    same = [t for t in before if parts.clause(t.start) == clause]
    if same:
        return same[-1].time
    later = [t for t in parts.times if t.start >= until]
    in_clause = [t for t in later if parts.clause(t.start) == clause]
    for choice in (in_clause[:1], before[-1:], later[:1]):
        if choice:
            return choice[0].time
    return None


def subject_of(parts: Parts, number: Number, *, difference: bool) -> Mention | None:
    """The subject that a number is a value of: the nearest that can have its unit.

    Args:
        parts: The sentence.
        number: The number.
        difference: Whether it is a departure or a change; of degrees then only temperature has one.
    """
    unit = number.value.unit
    fits = [m for m in parts.mentions if unit in subjects()[m.subject].units]
    if difference and unit in ("°C", "K", "deg"):
        fits = [m for m in fits if m.subject.startswith("temperature")]
    before = [m for m in fits if m.start <= number.start]
    same = [m for m in before if m.clause == number.clause]
    after = [m for m in fits if m.start > number.start and m.clause == number.clause]
    if after and after[0].start - number.end <= len(" of "):
        return after[0]  # "9 mm of snow", whatever went before
    # "14 mm falls as rain", "70 degree highs", but not where the number belongs to what went before.
    if after and after[0].start - number.end <= 16:
        others = same and any(same[-1].end < n.start < number.start for n in parts.numbers)
        closer = not same or after[0].start - number.end < number.start - same[-1].end
        if closer and not others:
            return after[0]
    for choice in (same[-1:], before[-1:], after[:1]):
        if choice:
            return choice[0]
    default = _DEFAULT.get(unit)
    if default is None:
        return None
    return Mention(default, number.start, number.end, number.clause)


def role_of(parts: Parts, number: Number) -> str:
    """Whether a number is a mean, maximum or minimum, or the ends of a range; "" if not said."""
    near = [
        t
        for t in parts.of("role")
        if -40 <= t.start - number.start <= 0
        or (t.key == "mean" and 0 < t.start - number.end <= 24)
    ]
    earlier = [t for t in near if t.start <= number.start]
    blocked = [n.end for n in parts.numbers if n.end <= number.start]
    limit = blocked[-1] if blocked else 0
    kept = [t for t in earlier if t.start >= limit] or [t for t in near if t.start > number.end]
    if kept:
        return kept[-1].key
    # "Rain averages 14 mm over A, 9 mm over B": the role of a list is that of its first number.
    listed = [
        t
        for t in parts.of("role")
        if t.start < number.start and parts.clause(t.start) == number.clause
    ]
    if listed and blocked:
        return listed[-1].key
    spread = [t for t in parts.of("role") if t.start < number.start and not blocked]
    return spread[-1].key if spread and number.start - spread[-1].end < 70 else ""


def likelihood_of(parts: Parts, clause: int) -> str:
    """The least likelihood that a clause names, "" if none."""
    said = [t for t in parts.of("likelihood") if parts.clause(t.start) == clause]
    return LIKELIHOODS[min(int(t.key) for t in said)] if said else ""


def nearest(parts: Parts, position: int, allowed: Sequence[Mention]) -> Mention | None:
    """The mention that what stands at a position tells of: before it, else in its clause."""
    before = [m for m in allowed if m.start <= position]
    same = [m for m in before if m.clause == parts.clause(position)]
    after = [m for m in allowed if m.start > position and m.clause == parts.clause(position)]
    for choice in (same[-1:], before[-1:], after[:1]):
        if choice:
            return choice[0]
    return None


def spread(
    parts: Parts, mention: Mention, claim: TypedClaim, position: int | None = None
) -> list[TypedClaim]:
    """A claim at each of the places of a mention."""
    at = mention.end if position is None else position
    following = [m.start for m in parts.mentions if m.start > at and not _joined(parts, mention, m)]
    until = min([*following[:1], parts.sentence.end])
    when = time_of(parts, at, until)
    if claim.aspect in ("trend", "movement") and mention.end > mention.start:
        when = _course(parts, mention) or when
    found = [replace(claim, place=place, time=when) for place in places_of(parts, at, until)]
    return found[:1] if claim.subject in ("low", "high") and claim.aspect != "presence" else found


def _course(parts: Parts, mention: Mention) -> Time | None:
    """The whole time of what moves or changes: from the first to the last time told of it."""
    others = [m.start for m in parts.mentions if m.start > mention.end and m.subject in SYSTEMS]
    until = min([*others[:1], parts.sentence.end])
    told = [t.time for t in parts.times if mention.start <= t.start < until]
    return hull(told) if len(told) > 1 else None


def _joined(parts: Parts, first: Mention, second: Mention) -> bool:
    """Whether two mentions follow each other with nothing between: "rain and snow over"."""
    between = [f.start for f in parts.places] + [t.start for t in parts.times]
    return second.start - first.end < 25 and not any(
        first.end <= at < second.start for at in between
    )
