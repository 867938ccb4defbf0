"""The indices beside GRIB files: which message of a file is what, and where it begins and ends.

Two kinds: wgrib2's inventory (``.idx``: ``4:1234:d=2024010100:TMP:2 m above ground:6 hour fcst:``,
NOAA) and ECMWF's (``.index``: a JSON object a line with MARS keys, ``_offset`` and ``_length``).
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise

from zephyrus_geodata.fetching.catalogue import Source, components
from zephyrus_geodata.variables import level_of
from zephyrus_geodata.web.errors import FetchFailed

_INSTANT = re.compile(r"anl|\d+ (hour|day|min) fcst")
_SINCE_START = re.compile(r"0-\d+ (hour|day) acc fcst")
_SURFACE = ("sfc", "")


@dataclass(frozen=True)
class Message:
    """One message of a GRIB file.

    Attributes:
        start: its first byte.
        stop: the byte after its last; None if the index doesn't tell (the last of a file).
        name: parameter, and level as the index writes it (wgrib2: ``TMP:2 m above ground``).
        time: lead time in words (wgrib2), or the step.
        keys: MARS keys (ECMWF).
    """

    start: int
    stop: int | None
    name: str
    time: str
    keys: Mapping[str, str] = field(default_factory=dict)


def parse_index(kind: str, data: bytes, url: str) -> list[Message]:
    """Read an index.

    Args:
        kind: wgrib2 or ecmwf.
        data: its bytes.
        url: for messages.

    Raises:
        FetchFailed: if it is none.
    """
    text = data.decode("utf-8", "replace")
    try:
        found = _wgrib2(text) if kind == "wgrib2" else _ecmwf(text)
        if any(message.start < 0 for message in found):
            raise ValueError("a message begins before the file")
    except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
        raise FetchFailed(
            f"{url} is no index of a GRIB file ({type(error).__name__}: {error})."
        ) from error
    if not found:
        raise FetchFailed(f"{url} is empty: the file may still be on its way; try again later.")
    return found


def _wgrib2(text: str) -> list[Message]:
    rows = []
    for line in text.splitlines():
        if not line.strip():
            continue
        fields = line.split(":")
        rows.append((int(fields[1]), f"{fields[3]}:{fields[4]}", fields[5]))
    # Submessages ("12.1", "12.2") share a start: their end is the next other start.
    starts = sorted({start for start, _, _ in rows})
    ends = {start: stop for start, stop in pairwise([*starts, None]) if start is not None}
    return [Message(start, ends[start], name, time) for start, name, time in rows]


def _ecmwf(text: str) -> list[Message]:
    found = []
    for line in text.splitlines():
        if not line.strip():
            continue
        entry = json.loads(line)
        start, length = int(entry["_offset"]), int(entry["_length"])
        keys = {str(k): str(v) for k, v in entry.items() if not k.startswith("_")}
        found.append(Message(start, start + length, keys["param"], keys.get("step", ""), keys))
    return found


@dataclass(frozen=True)
class Choice:
    """What a file has of the variables asked for.

    Attributes:
        messages: in the order of the file; none twice.
        missing: canonical names that it hasn't got.
    """

    messages: tuple[Message, ...]
    missing: tuple[str, ...]


def choose(
    source: Source, messages: Sequence[Message], names: Sequence[str], members: Sequence[str] = ()
) -> Choice:
    """Pick the messages of variables.

    Args:
        source: knows what variables are called.
        messages: all of the file.
        names: canonical names.
        members: names of members; none for all.
    """
    taken: dict[int, Message] = {}
    missing = []
    for name in names:
        found = _messages(source, messages, name)
        if not found and (parts := components(name)):
            several = [_messages(source, messages, part) for part in parts]
            found = [m for part in several for m in part] if all(several) else []
        if members:
            found = [m for m in found if member(m) in members]
        if not found:
            missing.append(name)
        taken |= {message.start: message for message in found}
    return Choice(tuple(taken[start] for start in sorted(taken)), tuple(missing))


def _messages(source: Source, messages: Sequence[Message], name: str) -> list[Message]:
    leveled = level_of(name)
    base = leveled[0] if leveled else name
    if base not in source.variables:
        return []
    raw = source.raw(name)
    if source.index == "ecmwf":
        level = f"{leveled[1]:g}" if leveled else None
        return [
            m
            for m in messages
            if m.keys["param"] == raw
            and (
                m.keys.get("levelist") == level and m.keys.get("levtype") == "pl"
                if level
                else m.keys.get("levtype", "") in _SURFACE
            )
        ]
    pattern = _SINCE_START if raw.startswith("APCP") else _INSTANT
    found = [m for m in messages if m.name == raw and pattern.fullmatch(m.time)]
    # Where the bucket of six hours is the whole run so far, the same amount is there twice.
    return found[:1]


def member(message: Message) -> str:
    """Return the member that a message belongs to; an index names the perturbed ones only."""
    return message.keys.get("number", "control")
