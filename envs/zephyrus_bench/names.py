"""Reading a place, or a list of names, from what a model wrote."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from zephyrus_bench.numbers import (
    DEPTH,
    HOUR_KEYS,
    LABEL_KEYS,
    NUMBER_KEYS,
    finite,
    number_in,
    number_of,
    words_of,
)

PLACE_KEYS = (
    *("place", "name", "location", "feature", "sublocation", "winner", "answer"),
    *("city", "us state", "state", "nws cwa", "lake", "sea", "desert", "island", "basin"),
    *("mountain range", "peninsula", "plateau", "plain", "ocean", "country"),
    *("subregion", "region", "continent"),
)
"""Keys of the place, from the one that is meant to those that only say where it lies."""

LIST_KEYS = ("names", "places", "features", "list", "answer", "result", "value")

_EMPTY = {"no", "none", "nothing", "empty", "null", "nil", "n a", "0", "zero"}
_KIND_WORDS = (
    *("country", "city", "island", "lake", "sea", "ocean", "desert", "range", "mountain", "basin"),
    *("peninsula", "plateau", "plain", "continent", "subregion", "region", "area", "state"),
    *("territory", "feature", "place", "name", "candidate"),
)
_FILLING = frozenset(
    (
        *("there", "are", "is", "were", "of", "the", "them", "these", "those", "list", "any"),
        *("at", "all", "such", "in", "set", "us"),
        *(form for word in _KIND_WORDS for form in (word, f"{word}s", f"{word[:-1]}ies")),
    )
)
_COUNT = re.compile(r"\A\d{1,4} of \d{1,4}\b[^:\n]{0,80}(?:: ?|\Z)")
_BULLET = re.compile(r"^ ?(?:[-*•]|\d{1,3}[.)]) ")
_TAIL = re.compile(r" ?(?:[:=(]| - ) ?[-+]? ?\.?\d.*$", re.DOTALL)


@dataclass(frozen=True)
class Place:
    """A location answer.

    Attributes:
        names: The names given; an answer names one place, so several are a list of guesses.
        value: The value given with it, or None.
    """

    names: tuple[str, ...]
    value: float | None = None


def place_in(text: str) -> Place | None:
    """The place of a plain text, whole; `zephyrus_bench.matching` finds the name in it."""
    text = text.strip().strip("\"'“”").strip()
    if not any(letter.isalpha() for letter in text):
        return None
    return Place((text,), number_in(text))


def place_of(value: Any, depth: int = 0) -> Place | None:
    """The place of a JSON value."""
    if isinstance(value, str):
        return place_in(value)
    if depth > DEPTH:
        return None
    if isinstance(value, list):
        return _place_of_list(value, depth)
    if not isinstance(value, dict):
        return None
    named = {key: v for key in PLACE_KEYS for k, v in value.items() if words_of(k) == key}
    rest = {k: v for k, v in value.items() if words_of(k) not in PLACE_KEYS}
    if named:
        inner = [place_of(v, depth + 1) for v in named.values()]
        found = [place for place in inner if place is not None]
        number = number_of(rest, NUMBER_KEYS)
        return _together(found, number) if found else None
    labels = LABEL_KEYS | set(HOUR_KEYS)
    rest = {k: v for k, v in rest.items() if words_of(k) not in labels}
    if len(rest) == 1:  # {"Kenya": 24.3}, or a wrapper such as {"output": {...}}
        ((key, inside),) = rest.items()
        number = None if isinstance(inside, dict | list) else number_of(inside, NUMBER_KEYS)
        if number is None:
            return place_of(inside, depth + 1)
        return None if words_of(key) in NUMBER_KEYS else Place((str(key),), number)
    texts = [v for v in rest.values() if isinstance(v, str) and number_in(v) is None]
    if len(texts) == 1:
        others = {k: v for k, v in rest.items() if v is not texts[0]}
        return Place((texts[0],), number_of(others, NUMBER_KEYS))
    return None


def _together(found: list[Place], number: float | None) -> Place:
    """One place from the places under several keys.

    They read as one text, "Paris, France": a region after the place is no second guess, and
    another candidate is.
    """
    value = next((v for v in (number, *(place.value for place in found)) if v is not None), None)
    if any(len(place.names) > 1 for place in found):
        return Place(tuple(name for place in found for name in place.names), value)
    return Place((", ".join(place.names[0] for place in found),), value)


def _place_of_list(value: list[Any], depth: int) -> Place | None:
    numbers = [finite(item) for item in value if finite(item) is not None]
    places = [place_of(item, depth + 1) for item in value if finite(item) is None]
    found = [place for place in places if place is not None]
    if not found:
        return None
    if len(found) == 1:
        number = numbers[0] if len(numbers) == 1 else None
        return Place(found[0].names, number if found[0].value is None else found[0].value)
    return Place(tuple(name for place in found for name in place.names))


def names_in(text: str, known: Iterable[str] = ()) -> list[str] | None:
    """The names of a plain text; see `zephyrus_bench.answers.read_names`."""
    text = text.strip()
    if not text:
        return None
    if counted := _COUNT.match(text):  # as the tools say it: "0 of 12 above January p90: none"
        text = text[counted.end() :] or ("none" if text.startswith("0 ") else "")
    if _says_none(text):
        return []
    whole = [name for name in known if "," in name and name in text]
    for name in whole:
        text = text.replace(name, ",")
    parts = [
        part for line in text.splitlines() for part in re.split(r"[,;]", _BULLET.sub("", line))
    ]
    names = [_name(part) for part in parts]
    return [name for name in (*whole, *names) if name] or None


def names_of(value: Any, known: Iterable[str] = (), depth: int = 0) -> list[str] | None:
    """The names of a JSON value."""
    if value is None or value == {}:
        return []
    if isinstance(value, str):
        return names_in(value, known)
    if depth > DEPTH:
        return None
    if isinstance(value, list):
        names = [_name_of(item) for item in value]
        if len(names) == 1 and _says_none(names[0]):
            return []
        return [name for name in names if name]
    if isinstance(value, dict):
        named = [v for k, v in value.items() if words_of(k) in LIST_KEYS]
        lists = [v for v in value.values() if isinstance(v, list)]
        if not named and all(v is None or finite(v) is not None for v in value.values()):
            return [str(key) for key in value]  # {"Kenya": 3.2, "Chad": 1.2}
        if len(value) == 1 or len(named) == 1:
            only = named[0] if len(named) == 1 else next(iter(value.values()))
            return names_of(only, known, depth + 1)
        if len(lists) == 1:
            return names_of(lists[0], known, depth + 1)
    return None


def _says_none(text: str) -> bool:
    """Whether a text says that there are no names: "none", "No countries", "there are none"."""
    if "," in text or ";" in text:
        return False
    words = [word for word in words_of(text).split() if word not in _FILLING]
    return " ".join(words) in _EMPTY or text.strip() in ("∅", "[]", "{}")


def _name_of(item: Any) -> str:
    if isinstance(item, str):
        return _name(item)
    place = place_of(item)
    return _name(place.names[0]) if place else str(item)[:200]


def _name(text: str) -> str:
    """A name without quotes, bullet and the value that follows it."""
    bare = _TAIL.sub("", _BULLET.sub("", " ".join(text.split()) + " ")).strip()
    return bare.strip("\"'“”`*[]").strip().rstrip(".").strip()
