"""Who wrote it: names are kept apart from the text that is scored."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

CENTRE = re.compile(r"\.\.(?!\.)\s*(?P<name>[^.\n]{2,60}?)\s*\.\.\s*(?P<date>\d\d/\d\d/\d{4})?")
"""`..Mead.. 05/08/2026`, as the Storm Prediction Center signs."""

ADDRESS = re.compile(r"https?:/|\bwww\.|\w\.(?:gov|com|org)\b", re.IGNORECASE)
"""A web address, written as forecasters write them."""

_NO_SIGNATURE = re.compile(r"DISCUSSION|UPDATE|OUTLOOK|SUMMARY|SYNOPSIS", re.IGNORECASE)
"""`..Previous Discussion..` is a title."""

_CREDIT = re.compile(r"(?P<part>[A-Za-z][A-Za-z /&]{1,60}?)\.{2,4}\s*(?P<who>[^.]*(?:\.[^.]+)*)")
_NAME = r"(?:[A-Z]\.? ?)?[A-Z][A-Za-z'’-]{1,20}"
_CAPS = r"[A-Z][A-Z'’-]{0,20}"
_SIGNED = re.compile(
    rf"(?:\d{{1,3}}|{_NAME})(?:[/&]{_NAME}|[/&]\d{{1,3}})*(?:,? {_NAME}(?:/{_NAME})*)?"
    rf"|{_CAPS}(?:[/&]{_CAPS})*"
    r"|.{2,30}\.\.\.\s?[A-Z]{2,4} \(.{2,20}\)"
)
_INLINE = re.compile(
    r"(?P<text>.*[a-zA-Z0-9)](?<!\b[A-Za-z])(?<!\b[SMF]t)[.!?])\s+(?P<who>(?:\d{1,3}/)?[A-Z][A-Za-z'’-]{2,15}(?:/[A-Z][A-Za-z'’-]{2,15})*)"
)
"""`Highs will be in the low 60s. Burke`, as Seattle signs the end of a section."""
_NO_NAMES = re.compile(
    r"\b(DRY|WET|NONE|NIL|FAIR|CLEAR|CLOUDY|SUNNY|MOSTLY|PARTLY|RAIN|SNOW|SHOWERS?|STORMS?|WINDS?|"
    r"[VI]FR|MVFR|HAZARDS?|OUTLOOK|NO|LOW|HIGH|QUIET|COLD|WARM|HOT|UPDATED?|DAY|NIGHT|TODAY|TONIGHT|"
    r"\w+DAY|ADVISORY|WARNING|WATCH|DISCUSSION|EXPECTED|CHANGES?|SAME|UNCHANGED|"
    r"(COOL|WARM|COLD|WETT?|DRI|HOTT?|WIND|BREEZ|FOGG|CLOUD|SUNN|QUIET|WINDI|BREEZI)(ER|Y)|MILD|"
    r"MARINE|AVIATION)\b",
    re.IGNORECASE,
)


def is_signature(text: str) -> bool:
    """Whether a line of its own is a name: `Ungar`, `DUNTEN/SIPPRELL`, `25/Owen`."""
    text = text.strip()
    if len(text) > 40 or _NO_NAMES.search(text):
        return False
    return _SIGNED.fullmatch(text) is not None


def centre_signature(line: str) -> str | None:
    """The name in `..Mead.. 05/08/2026`, or None."""
    match = CENTRE.fullmatch(line.strip())
    if not match or _NO_SIGNATURE.search(match["name"]):
        return None
    return match["name"].strip()


def trailer_names(lines: Iterable[str]) -> list[str]:
    """The names below the last `$$`, each with its part if told: `AVIATION: COGIL`."""
    found = []
    for line in lines:
        line = line.strip()
        if credit := _CREDIT.fullmatch(line):
            who = credit["who"].strip()
            if who and "/" * 2 not in who and len(who) <= 60:
                found.append(f"{credit['part'].strip()}: {who}")
        elif is_signature(line):
            found.append(line)
    return found


def take_signature(lines: Sequence[str]) -> tuple[list[str], list[str]]:
    """Take the names that end a section off it: (the rest, names).

    Notes (addresses) may follow the names, and the last line of text may end with one. A
    section that is nothing but a name keeps it.
    """
    kept = list(lines)
    names: list[str] = []
    top = next((at for at, line in enumerate(kept) if line.strip()), 0)
    end = len(kept)
    while end:
        start = end
        while start and kept[start - 1].strip():
            start -= 1
        block = [line.strip() for line in kept[start:end]]
        if start > top and block and all(is_signature(line) for line in block):
            names[:0] = block
            del kept[start:end]
        elif block and not any(ADDRESS.search(line) for line in block):
            signed = _INLINE.fullmatch(kept[end - 1].rstrip())
            if signed and is_signature(signed["who"]):
                kept[end - 1] = signed["text"]
                names.insert(0, signed["who"])
            break
        if start <= top:
            break
        end = start - 1 if start else 0
    return kept, names
