"""That nothing hazardous is expected: the claim, the period it is about, and what speaks against it.

"No significant wind, precipitation or temperature hazards are expected" is one claim, about all the
hazards of the period that its text covers. It is borne out by the same statement alone, not by
silence, and contradicted by a hazard that is told as expected: a warning says what it is of.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from zephyrus_report.rules.times import WEEK, YEAR, Span, Time
from zephyrus_report.rules.typed import TypedClaim

HAZARDS = "hazards"
"""The subject of the claim."""

_GALE = 17.2  # m/s, Beaufort 8
_HEAVY = {"rain": 50.0, "precipitation": 50.0, "snow": 25.0}  # mm
_HEDGED = ("unlikely", "possible")

_KIND = r"(?:winds?|precipitation|temperatures?|weather|rain(?:fall)?|snow(?:fall)?|cold|heat)"
_NONE = re.compile(
    r"\bno\s+(?:(?:significant|notable|major|widespread|impactful|hazardous|particular)\s+)?"
    rf"(?:(?:hazardous|{_KIND})(?:\s*,\s*|\s+or\s+|\s+and\s+|\s+))*(?:hazards?\b|(?P<kind>{_KIND})\b)"
)


def none_told(lower: str, start: int, end: int) -> tuple[int, int] | None:
    """Where a sentence says that there is no hazard of any kind, None if it does not.

    That wind alone, or rain alone, is no hazard makes no such claim.
    """
    for m in _NONE.finditer(lower, start, end):
        words = m.group()
        if m["kind"] and "hazardous" not in words:
            continue
        kinds = set(re.findall(_KIND, words)) - {"weather"}
        every = any(k.startswith("wind") for k in kinds) and any(
            k.startswith(("precip", "rain", "snow")) for k in kinds
        )
        if not kinds or every:
            return m.span()
    return None


def contradicts(other: TypedClaim) -> bool:
    """Whether a claim tells of a hazard that warnings are issued for, and does so without a hedge."""
    if other.aspect == "absence" or other.likelihood in _HEDGED:
        return False
    if other.about.group == "hazard":
        return other.aspect == "presence"
    if other.aspect == "presence":
        return other.intensity == "heavy" and other.about.group == "weather"
    value = other.value
    if value is None or other.aspect != "value":
        return False
    if other.subject in ("wind", "gust"):
        return value.unit == "m/s" and value.low >= _GALE
    return value.unit == "mm" and value.low >= _HEAVY.get(other.subject, float("inf"))


def period(times: Sequence[Time]) -> Time | None:
    """The whole time that a text tells of, on the axes on which all its times are known."""
    lead = week = date = None
    leads = [t.lead for t in times if t.lead]
    if not times:
        return None
    if len(leads) == len(times):
        lead = (min(a for a, _ in leads), max(b for _, b in leads))
        first = min(times, key=lambda t: t.lead or (0.0, 0.0))
        length = lead[1] - lead[0]
        if all(t.week for t in times) and first.week:
            week = (first.week[0], first.week[0] + length)
        if all(t.date for t in times) and first.date:
            date = (first.date[0], first.date[0] + length)
        return Time(lead, week, date)
    week = _arc([t.week for t in times], WEEK)
    date = _arc([t.date for t in times], YEAR)
    return Time(None, week, date) if week or date else None


def _arc(spans: Sequence[Span | None], turn: float) -> Span | None:
    """The shortest span of a round that holds all of some spans; None if one is not known."""
    known = [s for s in spans if s]
    if len(known) < len(spans):
        return None
    arcs = [
        (max((a - start) % turn + (b - a) for a, b in known), start)
        for start in sorted({a for a, _ in known})
    ]
    length, start = min(arcs)
    return (start, start + length)
