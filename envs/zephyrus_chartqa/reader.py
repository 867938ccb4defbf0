"""A program that answers chart questions from the text view alone: it proves that they can be.

It knows the questions' forms and what their words mean, and of the chart nothing but the text.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from zephyrus_chartqa.facts.scales import POINTS, point_of, wind_word
from zephyrus_chartqa.facts.systems import kilometres
from zephyrus_chartqa.item import LETTERS
from zephyrus_chartqa.questions.wave import WAVES

_AREA = re.compile(
    r"^- (?P<name>[^:]+?)(?: \((?P<place>\d+[NS] \d+[EW])\))?: (?P<told>.+)$", re.MULTILINE
)
_PLACE = re.compile(r"(\d+)([NS]) (\d+)([EW])")
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_CENTRE = re.compile(r"(-?\d+(?:\.\d+)?) at (\d+[NS] \d+[EW])")
_RANGE = re.compile(r"(?P<below>below )?(?P<low>-?\d+(?:\.\d+)?)(?: to -?\d+(?:\.\d+)?)? ")
_QUARTER = re.compile(r"divided at (\S+) and (\S+), is the (highest|lowest)")
_SYSTEM = re.compile(r"the (high|low) of (\d+)")
_FLANKS = re.compile(r"(\d+) / (\d+) / (\d+)")
_WIND = re.compile(r"(?:from |; )(\d+)(?=;|$)")
_LEAST = re.compile(r"\b(?:lowest|least|weakest)\b")


@dataclass(frozen=True)
class Answer:
    """What was read.

    Attributes:
        letter: Of the choice.
        because: In a sentence or two, from which numbers.
    """

    letter: str
    because: str


class Unreadable(ValueError):
    """The text doesn't say it, or the question has no form that is known."""


@dataclass(frozen=True)
class _Page:
    """A text view taken apart.

    Attributes:
        text: The text.
        areas: By name: the middle (latitude, longitude), if it is told, and what else is.
        centres: Kind, value, latitude and longitude of each high and low.
    """

    text: str
    areas: dict[str, tuple[tuple[float, float] | None, str]]
    centres: list[tuple[str, float, float, float]]

    def value(self, name: str) -> float:
        """The first number told of an area."""
        return float(_found(_NUMBER, self._told(name))[0])

    def _told(self, name: str) -> str:
        if name not in self.areas:
            raise Unreadable(f"the text says nothing of {name}")
        return self.areas[name][1]

    def middle(self, name: str) -> tuple[float, float]:
        """The middle of an area."""
        middle = self.areas[name][0] if name in self.areas else None
        if middle is None:
            raise Unreadable(f"the text says not where {name} is")
        return middle

    def named_in(self, question: str) -> str:
        """The area that a question names: the longest name in it."""
        names = [n for n in self.areas if re.search(rf"(?<!\w){re.escape(n)}(?!\w)", question)]
        if not names:
            raise Unreadable("the question names no area of the text")
        return max(names, key=len)


def answer(text: str, question: str, choices: Sequence[str]) -> Answer:
    """Answer a question from a text view.

    Args:
        text: The text view of the chart.
        question: The question.
        choices: The texts of its choices, in the order of their letters.

    Raises:
        Unreadable: If it can't be.
    """
    page = _page(text)
    rule = next((rule for form, rule in _RULES if form in question), _in_class)
    index, because = rule(page, question, list(choices))
    return Answer(LETTERS[index], f"{because} That is: {choices[index]}.")


def _page(text: str) -> _Page:
    areas = {
        m["name"]: (_degrees(m["place"]) if m["place"] else None, m["told"])
        for m in _AREA.finditer(text)
    }
    marked = []
    for line in text.splitlines():
        kind = {"Lows": "low", "Highs": "high"}.get(line.partition(":")[0])
        if kind is not None:
            for value, place in _CENTRE.findall(line):
                marked.append((kind, float(value), *_degrees(place)))
    return _Page(text, areas, marked)


def _in_class(page: _Page, question: str, choices: list[str]) -> tuple[int, str]:
    name = page.named_in(question)
    value = page.value(name)
    told = f"Over {name} the text has {value:g}"
    if "oktas" in choices[0]:
        value = math.floor(value / 12.5 + 0.5)
        told = f"{told} % of cloud, {value:g} oktas"
    lowest = []
    for choice in choices:
        found = _found(_RANGE, choice)
        lowest.append(-math.inf if found["below"] else float(found["low"]))
    fits = [i for i, low in enumerate(lowest) if low <= value]
    if not fits:
        raise Unreadable("no choice has the value")
    return max(fits, key=lambda i: lowest[i]), f"{told}."


def _ordered(page: _Page, question: str, choices: list[str]) -> tuple[int, str]:
    values = [page.value(name) for name in choices]
    sign = -1.0 if _LEAST.search(question) else 1.0
    told = ", ".join(f"{n} {v:g}" for n, v in zip(choices, values, strict=True))
    return max(range(len(values)), key=lambda i: sign * values[i]), f"The text has {told}."


def _quarter(page: _Page, question: str, choices: list[str]) -> tuple[int, str]:
    asked = _found(_QUARTER, question)
    parallel, meridian = _coordinate(asked[1]), _coordinate(asked[2])
    value, place = _found(re.compile(rf"{asked[3]} (\S+) at (\d+[NS] \d+[EW])"), page.text).groups()
    latitude, longitude = _degrees(place)
    east = (longitude - meridian + 180.0) % 360.0 - 180.0 > 0.0
    name = f"the {'north' if latitude > parallel else 'south'}{'east' if east else 'west'}"
    return _index(choices, name), f"The {asked[3]} value, {value}, is at {place}."


def _flow(page: _Page, question: str, choices: list[str]) -> tuple[int, str]:
    name = page.named_in(question)
    found = _found(_WIND, page.areas[name][1])
    point = point_of(float(found[1]))
    return (
        _index(choices, wind_word(point)),
        f"Over {name} the wind blows from {found[1]} degrees, the {POINTS[point]}.",
    )


def _wave(page: _Page, question: str, choices: list[str]) -> tuple[int, str]:
    name = page.named_in(question)
    found = _found(_FLANKS, page.areas[name][1])
    west, middle, east = (int(height) for height in found.groups())
    because = f"Around {name} heights are {west} in the west, {middle} there, {east} in the east."
    return _index(choices, WAVES[west > middle, east > middle]), because


def _nearest_system(page: _Page, question: str, choices: list[str]) -> tuple[int, str]:
    name = page.named_in(question)
    middle = page.middle(name)
    if not page.centres:
        raise Unreadable("the text has neither highs nor lows")
    kind, value, *place = min(page.centres, key=lambda c: kilometres(*middle, c[2], c[3]))
    fits = [i for i, choice in enumerate(choices) if f" {kind} " in choice]
    if not fits:
        raise Unreadable(f"no choice is a {kind}")
    best = min(fits, key=lambda i: abs(float(_found(_NUMBER, choices[i])[0]) - value))
    return best, f"The centre nearest to {name} is a {kind} of {value:g} at {place}."


def _nearest_area(page: _Page, question: str, choices: list[str]) -> tuple[int, str]:
    kind, value = _found(_SYSTEM, question).groups()
    alike = [c for c in page.centres if c[0] == kind]
    if not alike:
        raise Unreadable(f"the text has no {kind}")
    centre = min(alike, key=lambda c: abs(c[1] - float(value)))
    far = [kilometres(*page.middle(n), centre[2], centre[3]) for n in choices]
    best = min(range(len(far)), key=far.__getitem__)
    return best, f"The {kind} is at {centre[2]:g}, {centre[3]:g}, {far[best]:.0f} km from there."


_Rule = Callable[[_Page, str, list[str]], tuple[int, str]]
_RULES: tuple[tuple[str, _Rule], ...] = (
    ("quarter of the chart", _quarter),
    ("hPa centred", _nearest_area),
    ("gpm centred", _nearest_area),
    ("nearest to the centre of", _nearest_area),
    ("pressure system", _nearest_system),
    ("Compare the 500 hPa height", _wave),
    (" flow ", _flow),
    ("of these areas", _ordered),
)


def _found(pattern: re.Pattern[str], text: str) -> re.Match[str]:
    found = pattern.search(text)
    if found is None:
        raise Unreadable(f"there is no {pattern.pattern!r} in {text!r}")
    return found


def _index(choices: list[str], text: str) -> int:
    if text not in choices:
        raise Unreadable(f"no choice is {text!r}")
    return choices.index(text)


def _degrees(place: str) -> tuple[float, float]:
    latitude, ns, longitude, ew = _found(_PLACE, place).groups()
    return (
        float(latitude) * (-1.0 if ns == "S" else 1.0),
        float(longitude) * (-1.0 if ew == "W" else 1.0),
    )


def _coordinate(text: str) -> float:
    """Read "28°S" or "142°E" as signed degrees."""
    number, _, side = text.partition("°")
    return float(number) * (-1.0 if side in ("S", "W") else 1.0)
