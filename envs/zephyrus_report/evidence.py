"""Evidence: tool calls made in batches, and numbers read off the texts that come back.

The scripted reporter knows a forecast by nothing else. What a tool refuses, or the budget of calls
cuts off, is simply not known (None), as it is for an agent.
"""

from __future__ import annotations

import json
import re
from collections.abc import Generator, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from zephyrus.limits import Limits
from zephyrus.messages import Message, ToolCall

_NUMBER = r"(-?\d+(?:\.\d+)?)"
_STEP = re.compile(rf"^(\d+) h \([^()]*\): {_NUMBER} ", re.MULTILINE)
_VALUE = re.compile(rf": {_NUMBER} \S+$", re.MULTILINE)
_REACHED = re.compile(r", reached at (\d+) h:")
_ROW = re.compile(rf"^\d+\. (.+): {_NUMBER} \S+$", re.MULTILINE)
_BOX = re.compile(
    r", (\d+\.\d)°([NS]) to (\d+\.\d)°([NS]), (\d+\.\d)°([EW]) to (\d+\.\d)°([EW]), at \d+ h"
)
_POINT = rf"imum {_NUMBER} \S+ near (\d+\.\d)°([NS]) (\d+\.\d)°([EW])"
_LOWEST, _HIGHEST = re.compile("min" + _POINT), re.compile("max" + _POINT)


@dataclass(frozen=True, slots=True)
class Spot:
    """A value and where on a map it is.

    Attributes:
        value: In display units.
        latitude: Degrees north.
        longitude: Degrees east, -180 to 180.
        inside: Whether it is away from the edges of the map, and so a centre of its own.
    """

    value: float
    latitude: float
    longitude: float
    inside: bool


@dataclass(frozen=True, slots=True)
class Box:
    """The edges of a map in degrees; east may be less than west, across longitude 180."""

    west: float
    south: float
    east: float
    north: float


@dataclass(frozen=True, slots=True)
class Request:
    """One tool call, as a key of what it answered."""

    tool: str
    arguments: str

    @classmethod
    def of(cls, tool: str, **arguments: Any) -> Request:
        """Make one; arguments that are None or "" are left out."""
        given = {key: value for key, value in arguments.items() if value not in (None, "")}
        return cls(tool, json.dumps(given, ensure_ascii=False))


@dataclass
class Evidence:
    """What the tools have answered so far.

    Attributes:
        limits: The budgets of the episode; no more is asked than they allow.
        spare: Turns that must be left for what comes after.
        texts: The text of each call that went through.
        asked: How many calls were made.
        turns: How many messages they took.
    """

    limits: Limits
    spare: int = 1
    texts: dict[Request, str] = field(default_factory=dict)
    asked: int = 0
    turns: int = 0

    def gather(self, requests: Iterable[Request]) -> Generator[Message, list[Message], None]:
        """Make calls, the most important first, as many in a message as the limits allow."""
        todo = [each for each in dict.fromkeys(requests) if each not in self.texts]
        left = len(todo) if self.limits.calls is None else self.limits.calls - self.asked
        todo = todo[: max(0, left)]
        most = self.limits.calls_per_turn or max(1, len(todo))
        while todo and self.turns < self.limits.turns - self.spare:
            batch, todo = todo[:most], todo[most:]
            self.asked += len(batch)
            self.turns += 1
            calls = tuple(ToolCall(each.tool, each.arguments) for each in batch)
            seen = yield Message("assistant", tool_calls=calls)
            answers = [message.content for message in seen if message.role == "tool"]
            for request, text in zip(batch, answers, strict=False):
                if not text.startswith("Error:"):
                    self.texts[request] = text

    def series(self, request: Request) -> dict[int, float]:
        """Value by lead time; empty if it is not known."""
        return {int(h): float(x) for h, x in _STEP.findall(self.texts.get(request, ""))}

    def value(self, request: Request) -> float | None:
        """The one value of an answer."""
        found = _VALUE.search(self.texts.get(request, ""))
        return float(found[1]) if found else None

    def hour(self, request: Request) -> int | None:
        """The lead time at which an extreme was reached."""
        found = _REACHED.search(self.texts.get(request, ""))
        return int(found[1]) if found else None

    def rows(self, request: Request) -> dict[str, float]:
        """Value by name, in the order of a ranked table."""
        return {name: float(x) for name, x in _ROW.findall(self.texts.get(request, ""))}

    def box(self, request: Request) -> Box | None:
        """The edges of a map that isn't the whole world."""
        found = _BOX.search(self.texts.get(request, ""))
        if found is None:
            return None
        south, north, west, east = (_signed(found[i], found[i + 1]) for i in (1, 3, 5, 7))
        return Box(west, south, east, north)

    def lowest(self, request: Request, edge: float = 3.0) -> Spot | None:
        """The least value of a map; `Spot.inside` if it is ``edge`` degrees from its edges."""
        return self._spot(_LOWEST, request, edge)

    def highest(self, request: Request, edge: float = 3.0) -> Spot | None:
        """The greatest value of a map."""
        return self._spot(_HIGHEST, request, edge)

    def _spot(self, pattern: re.Pattern[str], request: Request, edge: float) -> Spot | None:
        found = pattern.search(self.texts.get(request, ""))
        if found is None:
            return None
        latitude, longitude = _signed(found[2], found[3]), _signed(found[4], found[5])
        box = self.box(request)
        inside = box is not None and within(box, latitude, longitude, edge)
        return Spot(float(found[1]), latitude, longitude, inside)


def within(box: Box, latitude: float, longitude: float, edge: float = 0.0) -> bool:
    """Whether a point is in a box and at least ``edge`` degrees from its edges."""
    wide = (box.east - box.west) % 360.0
    east = (longitude - box.west) % 360.0
    return edge <= east <= wide - edge and box.south + edge <= latitude <= box.north - edge


def mean(series: Mapping[int, float], start: int, end: int) -> float | None:
    """The mean of the steps from ``start`` to ``end``; None without any."""
    found = [value for hour, value in series.items() if start <= hour <= end]
    return sum(found) / len(found) if found else None


def total(series: Mapping[int, float], start: int, end: int) -> float | None:
    """The sum of the steps from ``start`` to ``end``; None without any."""
    found = [value for hour, value in series.items() if start <= hour <= end]
    return sum(found) if found else None


def peak(series: Mapping[int, float], start: int, end: int) -> tuple[int, float] | None:
    """Lead time and value of the greatest step from ``start`` to ``end``, the first on ties."""
    found = [(hour, value) for hour, value in series.items() if start <= hour <= end]
    return max(found, key=lambda step: (step[1], -step[0])) if found else None


def _signed(degrees: str, side: str) -> float:
    return float(degrees) * (-1.0 if side in "SW" else 1.0)
