"""Reading the answers that models really give.

The system prompt asks for JSON inside ``<answer>…</answer>``. Models add code fences, units,
thousands separators and prose; all of that is read. A list of guesses is not: where one number
or one place is asked for, several of them read as no answer.
"""

from __future__ import annotations

import ast
import json
import math
import re
import warnings
from dataclasses import dataclass
from typing import Any

NUMBER_KEYS = ("value", "answer", "result", "number", "gold")
HOUR_KEYS = ("hours", "hour", "lead time", "lead hours", "lead hour", "lead", "time", "h")
PLACE_KEYS = ("place", "name", "location", "feature", "sublocation", "region", "answer")
LIST_KEYS = ("names", "places", "features", "list", "answer", "result", "value")
EMPTY_WORDS = {"none", "[]", "nothing", "empty", "no features", "none of them", "no places", "null"}

_MISSING = object()
_DEPTH = 4  # how far answers nested in answers are followed
_LONGEST = 20_000  # characters; more is no answer

_BLOCK = re.compile(r"<answer>(.*?)(?:</answer>|(?=<answer>)|\Z)", re.DOTALL | re.IGNORECASE)
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_FENCE = re.compile(r"\A```[\w-]*\s*(.*?)\s*(?:```)?\Z", re.DOTALL)
_SIGNS = str.maketrans({"−": "-", "–": "-", "—": "-", "‒": "-", "﹣": "-", "－": "-", "＋": "+"})
_NUMBER = re.compile(
    r"(?<![\w.])(?:[-+] ?)?"
    r"(?:\d{1,3}(?:[,'’\u00a0\u202f\u2009]\d{3})+(?![\d])(?:\.\d+)?|\d+(?:\.\d*)?|\.\d+)"
    r"(?:[eE][-+]?\d+)?"
)
_HOURS = re.compile(
    r"(?<![\w.])([-+]?\d+(?:\.\d+)?)\s*-?\s*(?:h|hr|hrs|hour|hours)\b", re.IGNORECASE
)
_SPEED = re.compile(r"\bm(?:\^?2)?\s*[·.*]?\s*s\s*\^?\s*[({]?\s*-\s*[12]\s*[)}]?", re.IGNORECASE)
_MONTH = (
    r"(?:jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may|june?|july?|aug(?:ust)?"
    r"|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)"
)
_CONTEXT = (  # numbers that say what or when, not how much
    re.compile(r"\b\d{4}-\d{2}-\d{2}(?:[ T]\d{1,2}(?::\d{2}){0,2})?(?:\s*(?:UTC|Z)\b)?"),
    re.compile(rf"\b\d{{1,2}}(?:st|nd|rd|th)? {_MONTH}\b(?:,? \d{{4}})?", re.IGNORECASE),
    re.compile(rf"\b{_MONTH} \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}})?", re.IGNORECASE),
    re.compile(r"\b\d{1,2}:\d{2}(?::\d{2})?(?:\s*(?:UTC|Z)\b)?"),
    re.compile(r"\b\d{1,2}\s*(?:UTC|Z)\b"),
    re.compile(r"\b(?:2|10)[ -]?m(?:et(?:er|re)s?)?(?= )(?! ?[/·]| ?s\b| ?s-)", re.IGNORECASE),
    re.compile(r"\b(?:500|850)[ -]?hPa(?= )", re.IGNORECASE),
    re.compile(r"\b\d{1,2}(?:st|nd|rd|th) percentile", re.IGNORECASE),
)
_BULLET = re.compile(r"^\s*(?:[-*•]|\d{1,3}[.)])\s+")
_TAIL = re.compile(r"\s*(?:[:=(]|\s-\s)\s*[-+]?\s*\.?\d.*$", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A location answer.

    Attributes:
        names: The names given; an answer names one place, so several are a list of guesses.
        value: The value given with it, or None.
    """

    names: tuple[str, ...]
    value: float | None = None


def find_answer(text: str) -> str | None:
    """The content of the last answer block of a message, or None if there is none.

    Thinking between ``<think>`` tags is left out. A last block that was not closed, as when a
    server stops at ``</answer>``, reaches to the end.
    """
    head, closed, tail = text.rpartition("</think>")
    spoken = tail if closed and "<think>" not in head else text
    blocks = _BLOCK.findall(_THINKING.sub("", spoken))
    return blocks[-1].strip() if blocks else None


def read_number(answer: str) -> float | None:
    """The one number of a numerical answer, or None if there is none or more than one."""
    value = _structure(answer)
    return _number_in(_clean(answer)) if value is _MISSING else _number_of(value, NUMBER_KEYS)


def read_hours(answer: str) -> float | None:
    """The one number of hours of a time answer, or None if there is none or more than one."""
    value = _structure(answer)
    if value is _MISSING:
        return _hours_in(_clean(answer))
    hours = _number_of(value, HOUR_KEYS, reader=_hours_in)
    return hours if hours is not None else _number_of(value, NUMBER_KEYS, reader=_hours_in)


def read_place(answer: str) -> Place | None:
    """The place, and the value if there is one, of a location answer; None if it names none."""
    value = _structure(answer)
    if value is _MISSING:
        return _place_in(_clean(answer))
    return _place_of(value)


def read_names(answer: str) -> list[str] | None:
    """The names of a list answer in order, [] for "none", or None if it is no list.

    Args:
        answer: A JSON list, or names parted by commas, semicolons or lines.
    """
    value = _structure(answer)
    return _names_in(_clean(answer)) if value is _MISSING else _names_of(value)


# Structure ------------------------------------------------------------------------------------


def _clean(answer: str) -> str:
    text = answer.strip()
    fenced = _FENCE.match(text)
    return (fenced.group(1) if fenced else text).translate(_SIGNS).strip()


def _structure(answer: str) -> Any:
    """The JSON value (or Python literal) in an answer, or _MISSING if it is plain text.

    Several objects in a row come back as a list, so that they read as several guesses.
    """
    text = _clean(answer)
    if not text or len(text) > _LONGEST:
        return _MISSING
    whole = _load(text)
    if whole is not _MISSING:
        return whole
    found: list[Any] = []
    position = 0
    decoder = json.JSONDecoder()
    while (start := _next_bracket(text, position)) >= 0:
        try:
            value, position = decoder.raw_decode(text, start)
            found.append(value)
        except (ValueError, RecursionError):
            position = start + 1
        if len(found) > 8:
            break
    objects = [value for value in found if value]
    if not objects:
        return _MISSING
    return objects[0] if len(objects) == 1 else objects


def _load(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        pass
    if text[0] not in "{[('\"" and text != "None":
        return _MISSING
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", SyntaxWarning)  # a model's "\\d" is not our business
            value = ast.literal_eval(text)
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
        return _MISSING
    return list(value) if isinstance(value, tuple | set | frozenset) else value


def _next_bracket(text: str, position: int) -> int:
    places = [i for i in (text.find("{", position), text.find("[", position)) if i >= 0]
    return min(places, default=-1)


def _key(name: object) -> str:
    return " ".join(re.split(r"[\W_]+", str(name).strip().lower()))


# Numbers --------------------------------------------------------------------------------------


def _finite(value: Any) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        number = float(value)
    except OverflowError:
        return None
    return number if math.isfinite(number) else None


def _number_in(text: str) -> float | None:
    """The one number of a text, with numbers that are dates, levels or units set aside."""
    text = _SPEED.sub(" ", text.translate(_SIGNS))
    numbers = _numbers(text)
    if len(numbers) > 1:
        for pattern in _CONTEXT:
            text = pattern.sub(" ", text)
        numbers = _numbers(text)
    return numbers.pop() if len(numbers) == 1 else None


def _numbers(text: str) -> set[float]:
    found = set()
    for match in _NUMBER.findall(text):
        number = float(re.sub(r"[,'’\s]", "", match))
        if math.isfinite(number):
            found.add(number)
    return found


def _hours_in(text: str) -> float | None:
    text = text.translate(_SIGNS)
    with_unit = {float(number) for number in _HOURS.findall(text)}
    if len(with_unit) == 1:
        number = with_unit.pop()
        return number if math.isfinite(number) else None
    return None if with_unit else _number_in(text)


def _number_of(
    value: Any, keys: tuple[str, ...], *, reader: Any = _number_in, depth: int = 0
) -> float | None:
    """The one number of a JSON value."""
    if isinstance(value, str):
        number: float | None = reader(value[:_LONGEST])
        return number
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        only = value[0] if len(value) == 1 else None
        return _number_of(only, keys, reader=reader, depth=depth + 1)
    if isinstance(value, dict):
        named = [v for k, v in value.items() if _key(k) in keys]
        read = [
            _number_of(v, keys, reader=reader, depth=depth + 1) for v in named or value.values()
        ]
        if named and None in read:  # a list of guesses under the right key
            return None
        numbers = {number for number in read if number is not None}
        return numbers.pop() if len(numbers) == 1 else None
    return _finite(value)


# Places ---------------------------------------------------------------------------------------


def _place_in(text: str) -> Place | None:
    text = text.strip().strip("\"'“”").strip()[:_LONGEST]
    if not any(letter.isalpha() for letter in text):
        return None
    return Place((text,), _number_in(text))


def _place_of(value: Any, depth: int = 0) -> Place | None:
    if isinstance(value, str):
        return _place_in(value)
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        return _place_of_list(value, depth)
    if not isinstance(value, dict):
        return None
    named = next((v for key in PLACE_KEYS for k, v in value.items() if _key(k) == key), _MISSING)
    rest = {k: v for k, v in value.items() if v is not named}
    if isinstance(named, dict):
        return _place_of(named, depth + 1)
    if isinstance(named, list):
        inner = _place_of_list(named, depth)
        return inner and Place(inner.names, _first(inner.value, _number_of(rest, NUMBER_KEYS)))
    if isinstance(named, str):
        inner = _place_in(named)
        return inner and Place(inner.names, _first(_number_of(rest, NUMBER_KEYS), inner.value))
    if len(value) == 1:  # {"Kenya": 24.3}, or a wrapper such as {"output": {...}}
        ((key, inside),) = value.items()
        number = _number_of(inside, NUMBER_KEYS) if not isinstance(inside, dict | list) else None
        if number is None:
            return _place_of(inside, depth + 1)
        return None if _key(key) in NUMBER_KEYS else Place((str(key),), number)
    texts = [v for v in value.values() if isinstance(v, str) and _number_in(v) is None]
    if len(texts) == 1:
        others = {k: v for k, v in value.items() if v is not texts[0]}
        return Place((texts[0],), _number_of(others, NUMBER_KEYS))
    return None


def _place_of_list(value: list[Any], depth: int) -> Place | None:
    numbers = [_finite(item) for item in value if _finite(item) is not None]
    places = [_place_of(item, depth + 1) for item in value if _finite(item) is None]
    found = [place for place in places if place is not None]
    if not found:
        return None
    if len(found) == 1:
        number = numbers[0] if len(numbers) == 1 else None
        return Place(found[0].names, _first(found[0].value, number))
    return Place(tuple(name for place in found for name in place.names))


def _first(*numbers: float | None) -> float | None:
    return next((number for number in numbers if number is not None), None)


# Lists ----------------------------------------------------------------------------------------


def _names_in(text: str) -> list[str] | None:
    text = text.strip()
    if not text or len(text) > _LONGEST:
        return None
    if _key(text) in EMPTY_WORDS or text == "[]":
        return []
    parts = [
        part for line in text.splitlines() for part in re.split(r"[,;]", _BULLET.sub("", line))
    ]
    names = [_name(part) for part in parts]
    return [name for name in names if name] or None


def _names_of(value: Any, depth: int = 0) -> list[str] | None:
    if value is None:
        return []
    if isinstance(value, str):
        return _names_in(value)
    if depth > _DEPTH:
        return None
    if isinstance(value, list):
        names = [_name_of(item) for item in value]
        if len(names) == 1 and _key(names[0]) in EMPTY_WORDS:
            return []
        return [name for name in names if name]
    if isinstance(value, dict) and value:
        named = [v for k, v in value.items() if _key(k) in LIST_KEYS]
        lists = [v for v in value.values() if isinstance(v, list)]
        if len(value) == 1 or len(named) == 1:
            return _names_of(named[0] if len(named) == 1 else next(iter(value.values())), depth + 1)
        if len(lists) == 1:
            return _names_of(lists[0], depth + 1)
    return None


def _name_of(item: Any) -> str:
    if isinstance(item, str):
        return _name(item)
    place = _place_of(item)
    return _name(place.names[0]) if place else str(item)[:200]


def _name(text: str) -> str:
    """A name without quotes, bullet and the value that follows it."""
    bare = _TAIL.sub("", _BULLET.sub("", text)).strip()
    return bare.strip("\"'“”`*[]").strip().rstrip(".").strip()
