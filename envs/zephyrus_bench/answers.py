"""Reading the answers that models really give.

The system prompt asks for JSON inside ``<answer>…</answer>``. Models add code fences, units,
thousands separators and prose; all of that is read. A list of guesses is not: where one number
or one place is asked for, several of them read as no answer. Every pattern is bounded, so that
reading takes time in proportion to the length of an answer.
"""

from __future__ import annotations

import ast
import json
import re
import warnings
from collections.abc import Iterable
from itertools import pairwise
from typing import Any

from zephyrus_bench.names import Place, names_in, names_of, place_in, place_of
from zephyrus_bench.numbers import HOUR_KEYS, NUMBER_KEYS, hours_in, number_in, number_of

__all__ = ["Place", "find_answer", "read_hours", "read_names", "read_number", "read_place"]

LONGEST = 4000
"""Characters; a longer answer is no answer."""

_MISSING = object()
_BAD_STARTS = 20  # brackets that begin no JSON, before the search for it ends
_OBJECTS = 8

_TAG = re.compile(r"<(/?)answer(?:\s[^<>]*)?>", re.IGNORECASE)
_THINKING = re.compile(r"<think>.*?(?:</think>|\Z)", re.DOTALL | re.IGNORECASE)
_PLACEHOLDER = re.compile(r"[\s.…]*")
_BEGINS_AN_ANSWER = re.compile(r"[\d\[{(\"'`$*+.−-]|[^\W\d_]")
_LANGUAGE = re.compile(r"```(?:[\w-]*(?=\n))?")


def find_answer(text: str) -> str | None:
    """The content of the last answer block of a message, or None if there is none.

    Thinking between ``<think>`` tags is left out, and so are the placeholders of a format
    ("<answer>…</answer>"). A block that was not closed, as when a server stops at ``</answer>``,
    counts if no other does and what follows it begins like an answer.
    """
    head, closed, tail = text.rpartition("</think>")
    spoken = tail if closed and "<think>" not in head else text
    spoken = _THINKING.sub("", spoken)
    tags = list(_TAG.finditer(spoken))
    blocks = [
        spoken[tag.end() : end.start()] for tag, end in pairwise(tags) if not tag[1] and end[1]
    ]
    given = [block.strip() for block in blocks if not _PLACEHOLDER.fullmatch(block)]
    if given:
        return given[-1]
    if blocks or not tags or tags[-1][1]:
        return None
    rest = spoken[tags[-1].end() :].strip()
    # "I will put it in <answer> tags later" goes on in lower case
    begins = _BEGINS_AN_ANSWER.match(rest) and not (rest[0].islower() and " " in rest)
    return rest if begins and not _PLACEHOLDER.fullmatch(rest) else None


def read_number(answer: str) -> float | None:
    """The one number of a numerical answer, or None if there is none or more than one."""
    text = _clean(answer)
    value = _structure(text)
    return number_in(text) if value is _MISSING else number_of(value, NUMBER_KEYS)


def read_hours(answer: str) -> float | None:
    """The one number of hours of a time answer, or None if there is none or more than one."""
    text = _clean(answer)
    value = _structure(text)
    if value is _MISSING:
        return hours_in(text)
    hours = number_of(value, HOUR_KEYS, reader=hours_in)
    return hours if hours is not None else number_of(value, NUMBER_KEYS, reader=hours_in)


def read_place(answer: str) -> Place | None:
    """The place, and the value if there is one, of a location answer; None if it names none."""
    text = _clean(answer)
    value = _structure(text)
    return place_in(text) if value is _MISSING else place_of(value)


def read_names(answer: str, known: Iterable[str] = ()) -> list[str] | None:
    """The names of a list answer in order, [] for "none", or None if it is no list.

    Args:
        answer: A JSON list, or names parted by commas, semicolons or lines.
        known: Names that may be meant; those with a comma ("Washington, D.C.") stay whole.
    """
    text = _clean(answer)
    value = _structure(text)
    return names_in(text, known) if value is _MISSING else names_of(value, known)


def _clean(answer: str) -> str:
    """The answer without code fence and runs of blanks; empty if it is too long."""
    if len(answer) > LONGEST:
        return ""
    text = re.sub(r"\s+", _one_blank, answer).strip()
    if text.startswith("```"):
        text = _LANGUAGE.sub("", text.rstrip("`"), count=1)
    return text.strip()


def _one_blank(run: re.Match[str]) -> str:
    """A blank or a line's end for a run of blanks; a lone one may be a thousands separator."""
    if len(run[0]) == 1:
        return run[0]
    return "\n" if "\n" in run[0] else " "


def _structure(text: str) -> Any:
    """The JSON value (or Python literal) in a text, or _MISSING if it is plain text.

    Several objects in a row come back as a list, so that they read as several guesses.
    """
    if not text:
        return _MISSING
    whole = _load(text)
    if whole is not _MISSING:
        return whole
    found: list[Any] = []
    position = failed = 0
    decoder = json.JSONDecoder()
    while (start := _next_bracket(text, position)) >= 0:
        try:
            value, position = decoder.raw_decode(text, start)
            found.append(value)
        except (ValueError, RecursionError):
            position = start + 1
            failed += 1
        if len(found) > _OBJECTS or failed > _BAD_STARTS:
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
