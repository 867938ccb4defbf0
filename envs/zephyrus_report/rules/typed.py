"""A typed claim: one checkable statement of a discussion, and its canonical words.

The words can be read back without loss (`parse`), so that a claim can be labelled from its text
alone: ``Rain: mean 14 mm; over northern France; time Sat 0 UTC for 24 h / 3 Jan 0 UTC for 24 h.``
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from zephyrus_report.rules import places
from zephyrus_report.rules.lexicon import Subject, subject_named, subjects
from zephyrus_report.rules.places import Place
from zephyrus_report.rules.quantities import Quantity
from zephyrus_report.rules.times import (
    DAYS,
    FIRST,
    MONTHS,
    Time,
    day_number,
    hour_of_year,
    month_number,
)

ASPECTS = ("presence", "absence", "value", "departure", "anomaly", "trend", "movement", "wind_from")
ROLES = ("", "mean", "max", "min")
TRENDS = ("rising", "falling", "strengthening", "weakening", "steady", "begin", "end")
LIKELIHOODS = ("", "unlikely", "possible", "likely", "certain")


@dataclass(frozen=True, slots=True)
class TypedClaim:
    """One statement.

    Attributes:
        subject: Key of what it is about.
        aspect: One of `ASPECTS`: that it is there or not, a value, a departure from normal in the
            value's unit, the sign of one ("above", "below", "near"), one of `TRENDS`, where it
            moves ("" and "stationary" included), where a wind comes from.
        detail: The sign, trend or direction.
        place: Where, None if not said.
        time: When, None if not said.
        value: The number, in display units.
        role: Of a value: "mean", "max", "min" or "".
        intensity: "heavy", "light" or "".
        likelihood: One of `LIKELIHOODS`.
        causes: Subjects that the text gives as causes; no part of the words.
        start: Where its sentence begins in the text.
        end: Where its sentence ends.
    """

    subject: str
    aspect: str
    detail: str = ""
    place: Place | None = None
    time: Time | None = None
    value: Quantity | None = None
    role: str = ""
    intensity: str = ""
    likelihood: str = ""
    causes: tuple[str, ...] = field(default=(), compare=False)
    start: int = field(default=0, compare=False)
    end: int = field(default=0, compare=False)

    @property
    def about(self) -> Subject:
        """What it is about."""
        return subjects()[self.subject]

    def text(self) -> str:
        """The canonical words."""
        said = self.aspect
        if self.aspect in ("value", "departure"):
            said = " ".join(w for w in (self.role, _amount(self.value)) if w)
            if self.aspect == "departure":
                said = f"departure {said}"
        elif self.aspect == "anomaly":
            said = f"{self.detail} normal"
        elif self.aspect == "trend":
            said = self.detail
        elif self.aspect == "movement":
            said = self.detail if self.detail == "stationary" else f"moving {self.detail}"
        elif self.aspect == "wind_from":
            said = f"from {self.detail}"
        said = ", ".join(w for w in (said, self.intensity, self.likelihood) if w)
        parts = [f"{self.about.name}: {said}"]
        if self.place is not None:
            parts.append(f"over {self.place.render()}")
        if self.time is not None:
            parts.append(f"time {time_words(self.time)}")
        return "; ".join(parts) + "."


def _amount(value: Quantity | None) -> str:
    if value is None:
        return ""
    low, high = f"{value.low:.4g}", f"{value.high:.4g}"
    return f"{low} {value.unit}" if low == high else f"{low} to {high} {value.unit}"


_VALUE = re.compile(
    r"(?P<departure>departure )?(?:(?P<role>mean|max|min) )?(?P<a>-?[\d.e+-]+)(?: to (?P<b>-?[\d.e+-]+))? (?P<unit>\S+)"
)


def parse(words: str) -> TypedClaim | None:
    """Read what `TypedClaim.text` wrote; None if it did not: a report may hold anything like it."""
    try:
        return _parsed(words)
    except ValueError:  # "1.2.3 mm", "12 Xyz"
        return None


def _parsed(words: str) -> TypedClaim | None:
    head, *rest = words.strip().removesuffix(".").split("; ")
    name, colon, said = head.partition(": ")
    subject = subject_named(name)
    if not colon or subject is None:
        return None
    place = time = None
    for part in rest:
        if part.startswith("over "):
            place = places.parse(part[5:])
            if place is None:
                return None
        elif part.startswith("time "):
            time = read_time(part[5:])
            if time is None:
                return None
        else:
            return None
    statement, *more = said.split(", ")
    intensity = next((m for m in more if m in ("heavy", "light")), "")
    likelihood = next((m for m in more if m in LIKELIHOODS), "")
    aspect, detail, value, role = "", "", None, ""
    number = _VALUE.fullmatch(statement)
    if statement in ("presence", "absence"):
        aspect = statement
    elif number:
        aspect = "departure" if number["departure"] else "value"
        role = number["role"] or ""
        low = float(number["a"])
        high = float(number["b"] or low)
        if not (low <= high < math.inf and low > -math.inf):
            return None
        value = Quantity(low, high, number["unit"])
    elif statement.endswith(" normal"):
        aspect, detail = "anomaly", statement.removesuffix(" normal")
    elif statement in TRENDS:
        aspect, detail = "trend", statement
    elif statement == "stationary" or statement.startswith("moving "):
        aspect, detail = "movement", statement.removeprefix("moving ")
    elif statement.startswith("from "):
        aspect, detail = "wind_from", statement.removeprefix("from ")
    else:
        return None
    return TypedClaim(subject.key, aspect, detail, place, time, value, role, intensity, likelihood)


_AXES = re.compile(
    r"(?:hours (?P<a>-?[\d.]+) to (?P<b>-?[\d.]+))?(?: / )?"
    r"(?:(?P<w1>[A-Z][a-z]{2}) (?P<wh>[\d.]+) UTC for (?P<wl>[\d.]+) h)?(?: / )?"
    r"(?:(?P<dd>\d+) (?P<dm>[A-Z][a-z]{2}) (?P<dh>[\d.]+) UTC for (?P<dl>[\d.]+) h)?"
)


def time_words(time: Time) -> str:
    """A time as a claim has it; `read_time` reads it back."""
    parts = []
    if time.lead:
        parts.append(f"hours {time.lead[0]:g} to {time.lead[1]:g}")
    if time.week:
        day, hour = divmod(time.week[0], 24)
        parts.append(
            f"{DAYS[int(day)][:3].title()} {hour:g} UTC for {time.week[1] - time.week[0]:g} h"
        )
    if time.date:
        day, hour = divmod(time.date[0], 24)
        month = max(i for i, first in enumerate(FIRST) if first <= day)
        parts.append(
            f"{int(day) - FIRST[month] + 1} {MONTHS[month][:3].title()} {hour:g} UTC"
            f" for {time.date[1] - time.date[0]:g} h"
        )
    return " / ".join(parts)


def read_time(words: str) -> Time | None:
    """Read what `time_words` wrote; None if it did not.

    Raises:
        ValueError: If it only looks like it: "Xyz 0 UTC for 1.2.3 h".
    """
    m = _AXES.fullmatch(words)
    if m is None or not words:
        return None
    lead = week = date = None
    if m["a"]:
        lead = (float(m["a"]), float(m["b"]))
    if m["w1"]:
        start = 24.0 * day_number(m["w1"].lower()) + float(m["wh"])
        week = (start, start + float(m["wl"]))
    if m["dd"]:
        start = hour_of_year(month_number(m["dm"].lower()), int(m["dd"])) + float(m["dh"])
        date = (start, start + float(m["dl"]))
    return Time(lead, week, date)
