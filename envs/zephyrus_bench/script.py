"""Answering by the tools alone: a task's program is called, and its texts are read.

This is what the scripted policy does, and what proves that every question can be solved.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Sequence
from typing import Any

from zephyrus.env import Script
from zephyrus.messages import Message, ToolCall
from zephyrus.task import Task

_VALUE = re.compile(r": (-?\d+(?:\.\d+)?) \S+$", re.MULTILINE)
_HOUR = re.compile(r"imum -?\d+(?:\.\d+)? \S+ at (\d+) h\b")
_FIRST = re.compile(r"^1\. (.+): (-?\d+(?:\.\d+)?) \S+$", re.MULTILINE)
_NAMES = re.compile(r"^\d+ of \d+ (?:above|below) [^:]*: (.+)$", re.MULTILINE)


class UnreadableError(Exception):
    """A tool's text does not hold what the program reads from it: a bug in one of the two."""


def run_program(task: Task) -> Script:
    """Yield the messages of a solution: one tool call a turn, then the answer."""
    text = ""
    for step in task.program["calls"]:
        call = ToolCall(step["tool"], json.dumps(step["arguments"], ensure_ascii=False))
        observations = yield Message("assistant", tool_calls=(call,))
        text = observations[0].content if observations else ""
    try:
        answer = READERS[task.program["read"]](text)
    except UnreadableError:
        answer = None  # scores 0, and the trace shows the text that could not be read
    yield Message("assistant", f"<answer>{json.dumps(answer, ensure_ascii=False)}</answer>")


def _value(text: str) -> float:
    return float(_find(_VALUE, text)[0])


def _hour(text: str) -> int:
    return int(_find(_HOUR, text)[0])


def _first(text: str) -> dict[str, Any]:
    place, value = _find(_FIRST, text)
    return {"place": place, "value": float(value)}


def _names(text: str) -> list[str]:
    listed = _find(_NAMES, text)[0]
    return [] if listed == "none" else listed.split("; ")


def _find(pattern: re.Pattern[str], text: str) -> Sequence[str]:
    match = pattern.search(text)
    if match is None:
        raise UnreadableError(text)
    return match.groups()


READERS: dict[str, Callable[[str], Any]] = {
    "value": _value,
    "hour": _hour,
    "first": _first,
    "names": _names,
}
"""How each kind of program reads its answer off the text of its last tool call."""
