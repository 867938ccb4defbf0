"""Universal Geographic Codes: the zones at the head of a segment, `NCZ002-VAZ010>014-022115-`."""

from __future__ import annotations

import re
from dataclasses import dataclass

from zephyrus_geodata.reports import times

_START = re.compile(r"[A-Z]{2}[CZ](\d{3}|ALL)([->]|$)")
_LINE = re.compile(r"[A-Z0-9>-]+-?")
_END = re.compile(r"(?:.*-)?\d{6}-")
_MOST_LINES = 20
_MOST_NAMES = 80
_MOST_ZONES = 500


@dataclass(frozen=True)
class Segment:
    """The head of a segment.

    Attributes:
        zones: its codes, ranges expanded, in their order (``VAZ010``).
        end: the number of the line below the codes.
        body: the number of the line below codes, zone names and time line.
    """

    zones: tuple[str, ...]
    end: int
    body: int


def segment_at(lines: list[str], at: int) -> Segment | None:
    """The segment whose codes start on this line, or None.

    The codes run, over as many lines as they need, to a time of expiry (`DDHHMM-`).
    """
    if not _START.match(lines[at].strip()):
        return None
    codes = ""
    for end in range(at, min(len(lines), at + _MOST_LINES)):
        line = lines[end].strip()
        if not _LINE.fullmatch(line):
            return None
        codes += line
        if _END.fullmatch(line):
            zones = _expand(codes)
            if len(zones) > _MOST_ZONES:
                return None
            return Segment(zones, end + 1, _below_names(lines, end + 1))
    return None


def _below_names(lines: list[str], at: int) -> int:
    """Skip the names of the zones: they run to a time line or a blank one."""
    for below in range(at, min(len(lines), at + _MOST_NAMES)):
        if not lines[below].strip():
            return below
        if times.local_time(lines[below]):
            return below + 1
    return at


def _expand(codes: str) -> tuple[str, ...]:
    zones: list[str] = []
    prefix = ""
    for part in codes.split("-")[:-2]:
        first, _, last = part.partition(">")
        if len(first) == 6:
            prefix, first = first[:3], first[3:]
        last = last[3:] if len(last) == 6 else last
        if first.isdecimal() and last.isdecimal() and len(first) == len(last) == 3:
            zones += [f"{prefix}{number:03}" for number in range(int(first), int(last) + 1)]
        elif first:
            zones.append(prefix + first)
    return tuple(zones)
