"""Reading one number, or one number of hours, from what a model wrote.

Numbers that say when, where or how a value was found are set aside where another number remains;
numbers that differ are a list of guesses and read as none.
"""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from typing import Any

NUMBER_KEYS = ("value", "answer", "result", "number", "gold")
HOUR_KEYS = ("hours", "hour", "lead time", "lead hours", "lead hour", "lead", "time", "h")
LABEL_KEYS = frozenset(
    (
        *("unit", "units", "kind", "parent", "variable", "statistic", "dataset", "forecast"),
        *("month", "date", "valid", "valid time", "valid at", "initial time", "init time"),
        *("latitude", "longitude", "lat", "lon"),
    )
)
"""Keys of what a value is about: neither its number nor a place."""

Reader = Callable[[str], float | None]

DEPTH = 4  # how far answers nested in answers are followed

_PLAIN = r"\d+(?:\.\d+)?"
_UNIT_OF_TIME = r"(?:h|hrs?|hours?)\b"
_SIGNS = str.maketrans({"−": "-", "–": "-", "—": "-", "‒": "-", "﹣": "-", "－": "-", "＋": "+"})
_REWRITTEN = (  # one way to write what is written in many
    (re.compile(r"\b(?:minus|negative) (?=\.?\d)", re.IGNORECASE), "-"),
    (re.compile(rf"({_PLAIN}) ?[×x*·] ?10 ?(?:\^|\*\*) ?[({{]?([-+]?\d+)[)}}]?"), r"\1e\2"),
    (re.compile(r"(?<=\d)·(?=\d)"), "."),
    (re.compile(r"\bm(?:\^?2)? ?[·.*]? ?s ?\^? ?[({]? ?- ?[12] ?[)}]?", re.IGNORECASE), " "),
)
_BLANKS = re.compile(r"([-+]? ?\d{1,3}(?: \d{3})+(?:\.\d+)?)( ?[^\d\s]\S{0,8})?")
_DECIMAL_COMMA = re.compile(r"(?<![\d.,])(?:(\d+),(\d{1,2})|(0),(\d+))(?![\d.,])")
_NUMBER = re.compile(
    r"(?<![\w.])(?:[-+] ?)?"
    r"(?:\d{1,3}(?:[,'’\u00a0\u202f\u2009]\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)"
    r"(?:[eE][-+]?\d+)?"
)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_MOMENTS = (
    re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[ T]\d{1,2}(?::\d{2}){0,2})?(?: ?(?:UTC|Z)\b)?"),
    re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}\b(?:,? \d{{4}})?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?", re.IGNORECASE),
    re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?: ?(?:UTC|Z)\b)?"),
    re.compile(r"\b\d{1,2} ?(?:UTC|Z)\b"),
)
_WINDOWS = (
    re.compile(rf"\b\d+ ?- ?\d+ ?{_UNIT_OF_TIME}", re.IGNORECASE),
    re.compile(rf"\bof (?:the )?\d+ ?-? ?{_UNIT_OF_TIME}", re.IGNORECASE),
)
_CONTEXT = (  # numbers that say what or when, not how much
    *_MOMENTS,
    *_WINDOWS,
    re.compile(rf"\b\d+ ?-? ?{_UNIT_OF_TIME}", re.IGNORECASE),
    re.compile(r"\b(?:2|10)[ -]?m(?:et(?:er|re)s?)?\b(?! ?[/·]| ?s\b| ?s-)", re.IGNORECASE),
    re.compile(r"\b(?:500|850)[ -]?hPa\b", re.IGNORECASE),
    re.compile(r"\b\d{1,2}(?:st|nd|rd|th) percentile", re.IGNORECASE),
    re.compile(r"\b\d+ (?:grid )?(?:cells?|points?|steps?)\b", re.IGNORECASE),
    re.compile(rf"(?:±|\+/-|\bplus or minus) ?{_PLAIN}", re.IGNORECASE),
    re.compile(  # the same value in another unit
        rf"\( ?[-+]?{_PLAIN} ?(?:°? ?F|K|k?Pa|kts?|knots?|mph|km/h|c?m|in|inches|ft|dam) ?\)"
    ),
)
_OTHER_UNITS = re.compile(rf"[-+]? ?{_PLAIN} ?(?:°|deg|m/s|hPa|mm\b|%|gpm|K\b)", re.IGNORECASE)
_HOURS = re.compile(rf"(?<![\w.])([-+]?{_PLAIN}) ?-? ?{_UNIT_OF_TIME}", re.IGNORECASE)
_DAYS = re.compile(
    rf"(?<![\w.])({_PLAIN}) ?-? ?(?:d|days?)\b(?:,? ?(?:and )?({_PLAIN}) ?-? ?{_UNIT_OF_TIME})?",
    re.IGNORECASE,
)


def words_of(name: object) -> str:
    """A key or phrase in lower case, its words parted by single blanks."""
    return " ".join(re.split(r"[\W_]+", str(name).lower())).strip()


def finite(value: Any) -> float | None:
    """A JSON number as a float; None for anything else, and for what is not finite."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def number_in(text: str) -> float | None:
    """The one number of a text, in any common way to write it."""
    text = _rewrite(text)
    if whole := _BLANKS.fullmatch(text.strip()):
        text = whole[1].replace(" ", "")
    elif text.count(",") == 1:
        text = _DECIMAL_COMMA.sub(lambda m: ".".join(part for part in m.groups() if part), text)
    return _only(_numbers(_set_aside(text, _CONTEXT)))


def hours_in(text: str) -> float | None:
    """The one number of hours of a text; days count as 24."""
    text = _set_aside(_rewrite(text), (*_MOMENTS, *_WINDOWS))
    named = [24.0 * float(days) + float(hours or 0.0) for days, hours in _DAYS.findall(text)]
    text = _DAYS.sub(" ", text)
    named += [float(hours) for hours in _HOURS.findall(text)]
    text = _HOURS.sub(" ", text)
    if not named:
        return _only(_numbers(text))
    return _only([*named, *_numbers(_OTHER_UNITS.sub(" ", text))])


def number_of(
    value: Any, keys: tuple[str, ...], *, reader: Reader = number_in, depth: int = 0
) -> float | None:
    """The one number of a JSON value.

    Args:
        value: The value.
        keys: The keys of an object that are meant; where it has none, any other but labels.
        reader: How a text is read.
        depth: How deep this value lies in the answer.
    """
    if isinstance(value, str):
        return reader(value)
    if depth > DEPTH:
        return None
    if isinstance(value, list):
        items = [v for v in value if not isinstance(v, str) or any(c.isdigit() for c in v)]
        only = items[0] if len(items) == 1 else None
        return number_of(only, keys, reader=reader, depth=depth + 1)
    if isinstance(value, dict):
        named = [v for k, v in value.items() if words_of(k) in keys]
        labels = LABEL_KEYS | set(HOUR_KEYS)
        rest = [v for k, v in value.items() if words_of(k) not in labels]
        read = [number_of(v, keys, reader=reader, depth=depth + 1) for v in named or rest]
        if named and None in read:  # a list of guesses under the right key
            return None
        numbers = {number for number in read if number is not None}
        return numbers.pop() if len(numbers) == 1 else None
    return finite(value)


def _rewrite(text: str) -> str:
    text = text.translate(_SIGNS)
    for pattern, plain in _REWRITTEN:
        text = pattern.sub(plain, text)
    return text


def _set_aside(text: str, patterns: tuple[re.Pattern[str], ...]) -> str:
    """Take out what the patterns find, as long as another number remains."""
    for pattern in patterns:
        without = pattern.sub(" ", text)
        if _NUMBER.search(without):
            text = without
    return text


def _numbers(text: str) -> list[float]:
    """The numbers of a text; one that only repeats the one before it, rounded, is left out."""
    found: list[float] = []
    for match in _NUMBER.findall(text):
        number = float(re.sub(r"[,'’\s]", "", match))
        decimals = len(match.partition(".")[2])
        rounded = bool(found) and decimals > 0 and round(found[-1], decimals) == number
        if math.isfinite(number) and not rounded:
            found.append(number)
    return found


def _only(numbers: list[float]) -> float | None:
    return numbers[0] if len(set(numbers)) == 1 and math.isfinite(numbers[0]) else None
