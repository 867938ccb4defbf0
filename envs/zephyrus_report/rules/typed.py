"""A typed claim: one checkable statement of a discussion, and its canonical words.

A forecaster understands the words at once, and they can be read back without loss (`parse`), so
that a claim can be labelled from its text alone: ``Rain: mean 14 mm over the north of France, Sat 3
Jan 00 UTC to Sun 4 Jan 00 UTC (24 to 48 h).``
"""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field

from zephyrus_report.rules import places, time_words
from zephyrus_report.rules.lexicon import Subject, subject_named, subjects
from zephyrus_report.rules.places import Place
from zephyrus_report.rules.quantities import Quantity
from zephyrus_report.rules.times import Time

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
        qualities = [w for w in (self.intensity, self.likelihood) if w]
        if self.aspect == "presence":
            there = "present" if self.about.group == "feature" else "expected"
            said = [w for w in (self.intensity, self.likelihood or there) if w]
        elif self.aspect == "value":
            said = [f"{_role(self.role)}{_amount(self.value)}", *qualities]
        elif self.aspect == "departure":
            said = [f"{_role(self.role)}{_departure(self.value)}", *qualities]
        elif self.aspect == "anomaly":
            said = [f"{self.detail} normal", *qualities]
        elif self.aspect == "movement" and self.detail != "stationary":
            said = [f"moving {self.detail}".rstrip(), *qualities]
        elif self.aspect == "wind_from":
            said = [f"from the {self.detail}", *qualities]
        elif self.aspect == "absence":
            # "Mostly dry" is said where some millimetres fall, too.
            little = "little or " if self.subject == "precipitation" else ""
            said = [f"{little}none expected", *qualities]
        else:
            said = [_TREND_WORDS.get(self.detail, self.detail), *qualities]
        where = f" over {self.place.render()}" if self.place is not None else ""
        when = f", {time_words.render(self.time)}" if self.time is not None else ""
        return f"{self.about.name}: {', '.join(said)}{where}{when}."


_ROLE_WORDS = {"": "", "mean": "mean", "max": "maximum", "min": "minimum"}
_TREND_WORDS = {"begin": "beginning", "end": "ending"}


def _role(role: str) -> str:
    return f"{_ROLE_WORDS[role]} " if role else ""


def _amount(value: Quantity | None) -> str:
    return "" if value is None else f"{_ends(value.low, value.high)} {value.unit}"


def _ends(low: float, high: float) -> str:
    return " to ".join(dict.fromkeys((f"{low:.4g}", f"{high:.4g}")))


def _departure(value: Quantity | None) -> str:
    if value is None:
        return ""
    if value.low > 0:
        return f"{_amount(value)} above normal"
    if value.high < 0:
        return f"{_ends(-value.high, -value.low)} {value.unit} below normal"
    return f"{_amount(value)} from normal"


_CLAIM = re.compile(
    rf"(?P<name>[^:]+): (?P<said>.+?)(?: over (?P<place>.+?))?(?:, (?P<time>{time_words.WORDS}))?\."
)
_VALUE = re.compile(
    r"(?:(?P<role>mean|maximum|minimum) )?(?P<a>-?[\d.]+(?:e[+-]?\d+)?)(?: to (?P<b>-?[\d.]+(?:e[+-]?\d+)?))? "
    r"(?P<unit>\S+)(?: (?P<side>above|below|from) normal)?"
)


def parse(words: str) -> TypedClaim | None:
    """Read what `TypedClaim.text` wrote; None if it did not: a report may hold anything like it."""
    m = _CLAIM.fullmatch(words.strip()[:_LONGEST])
    subject = subject_named(m["name"]) if m else None
    if m is None or subject is None:
        return None
    try:
        place = places.parse(m["place"]) if m["place"] else None
        time = time_words.parse(m["time"]) if m["time"] else None
        claim = _said(subject.key, m["said"].split(", "), place, time)
    except ValueError:  # "1.2.3 mm"
        return None
    # Only what would be written so: nothing is left out, and there is one way to write it.
    return claim if claim is not None and claim.text() == words.strip() else None


_LONGEST = 400  # characters; claims have up to 150


def _said(
    subject: str, said: list[str], place: Place | None, time: Time | None
) -> TypedClaim | None:
    """The claim of a subject, of the words after it, a place and a time."""
    intensity = next((w for w in said if w in ("heavy", "light")), "")
    likelihood = next((w for w in said if w in LIKELIHOODS), "")
    first = said[0]
    aspect, detail, value, role = "", "", None, ""
    number = _VALUE.fullmatch(first)
    trend = next((t for t in TRENDS if first == _TREND_WORDS.get(t, t)), "")
    if number:
        aspect = "departure" if number["side"] else "value"
        role = next((r for r, word in _ROLE_WORDS.items() if word == (number["role"] or "")), "")
        low = float(number["a"])
        high = float(number["b"] or low)
        if number["side"] == "below":
            low, high = -high, -low
        if not (low <= high < math.inf and low > -math.inf):
            return None
        value = Quantity(low, high, number["unit"])
    elif first in ("none expected", "little or none expected"):
        aspect = "absence"
    elif first in ("above normal", "below normal", "near normal"):
        aspect, detail = "anomaly", first.removesuffix(" normal")
    elif trend:
        aspect, detail = "trend", trend
    elif first == "stationary" or first.split()[:1] == ["moving"]:
        aspect, detail = "movement", first.removeprefix("moving").strip()
    elif first.startswith("from the "):
        aspect, detail = "wind_from", first.removeprefix("from the ")
    elif first in ("expected", "present", "heavy", "light", *LIKELIHOODS[1:]):
        aspect = "presence"
    else:
        return None
    return TypedClaim(subject, aspect, detail, place, time, value, role, intensity, likelihood)
