"""Where a statement holds: named places, parts of them and points in a text.

Names are those of the feature store, their aliases, and the regions of ``zones.yaml``. In mixed
case a name must begin with a capital; a name that is also an everyday word is left alone where
that can't be told.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from zephyrus_report.rules.gazetteer import CODES, WORDS_TOO, Node, known, names
from zephyrus_report.rules.text import Text, Word

_POINTS = {
    "north": "north", "northern": "north", "nrn": "north", "n": "north", "northward": "",
    "south": "south", "southern": "south", "srn": "south", "s": "south",
    "east": "east", "eastern": "east", "ern": "east", "e": "east",
    "west": "west", "western": "west", "wrn": "west", "w": "west",
    "northeast": "north-east", "northeastern": "north-east", "nern": "north-east", "ne": "north-east",
    "northwest": "north-west", "northwestern": "north-west", "nwrn": "north-west", "nw": "north-west",
    "southeast": "south-east", "southeastern": "south-east", "sern": "south-east", "se": "south-east",
    "southwest": "south-west", "southwestern": "south-west", "swrn": "south-west", "sw": "south-west",
    "central": "centre", "centre": "centre", "center": "centre", "middle": "centre",
    "interior": "interior", "inland": "interior", "coastal": "coast",
}  # fmt: skip
_COMPASS_ZONES = frozenset({"zone:Northwest", "zone:Northeast", "zone:Southwest", "zone:Southeast"})
_PIECES = frozenset(
    [
        "part",
        "parts",
        "portion",
        "portions",
        "half",
        "third",
        "quarter",
        "section",
        "sections",
        "side",
        "areas",
        "end",
        "tip",
        "reaches",
    ]
)
_REGION = frozenset(["region", "area", "state", "cwa", "domain", "country", "territory", "county"])
_COORDINATES = re.compile(
    r"\(?\s*(\d{1,2}(?:\.\d+)?)\s?°?\s?([ns])\b[\s,;/]{0,3}(\d{1,3}(?:\.\d+)?)\s?°?\s?([ew])\b\s*\)?"
)
PARTS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west", "centre", "interior", "coast")  # fmt: skip


@dataclass(frozen=True, slots=True)
class Place:
    """A place of a statement.

    Attributes:
        name: The feature or zone as it is called, "" for a part of the region spoken of.
        key: Its key, ``kind:name`` or ``zone:name``; "" if there is no name.
        part: Which part of it, one of `PARTS`; "" for all of it.
        point: (latitude, longitude) of a point that is meant.
    """

    name: str
    key: str = ""
    part: str = ""
    point: tuple[float, float] | None = None

    def render(self) -> str:
        """The place as a claim has it; `parse` reads it back."""
        where = self.name or "the region"
        words = f"the {self.part} of {where}" if self.part else where
        if self.point is None:
            return words
        lat, lon = self.point
        north, east = "N" if lat >= 0 else "S", "E" if lon >= 0 else "W"
        spot = f"({abs(lat):.10g}°{north}, {abs(lon):.10g}°{east})"
        return f"{words} {spot}" if self.name or self.part else spot


@dataclass(frozen=True, slots=True)
class Found:
    """A place and where its words stand in the text."""

    place: Place
    start: int
    end: int


def find(text: Text, words: Sequence[Word]) -> list[Found]:
    """The places that some words of a text name, in order.

    Args:
        text: The text.
        words: The words of a sentence or heading.
    """
    root = names()
    kept = [w for w in words if w.text not in "-'"]
    found: list[Found] = []
    i = 0
    while i < len(kept):
        coordinates = _coordinates(text, kept, i)
        if coordinates is not None:
            point, end, until = coordinates
            if found and kept[i].start - found[-1].end <= 2:
                last = found.pop()
                place = Place(last.place.name, last.place.key, last.place.part, point)
                found.append(Found(place, last.start, until))
            else:
                found.append(Found(Place("", point=point), kept[i].start, until))
            i = end
            continue
        length, name, key = _longest(root, text, kept, i)
        if not length:
            i += 1
            continue
        first, parts = _part_before(text, kept, i)
        start, end = kept[first].start, kept[i + length - 1].end
        if found and found[-1].end > start:
            start = kept[i].start
        found.extend(Found(Place(name, key, part), start, end) for part in parts)
        i += length
    return _with_regions(text, kept, found)


def _longest(root: Node, text: Text, words: Sequence[Word], i: int) -> tuple[int, str, str]:
    """The longest name from a word on, as (number of words, name, key)."""
    word = words[i]
    code = text.plain[word.start : word.end]
    if code in CODES and (len(code) > 2 or not text.capitals or word.text not in WORDS_TOO):
        before = text.plain[word.start - 1] if word.start else " "
        if before in " /-(,":
            return 1, CODES[code].partition(":")[2], CODES[code]
    node, best, j = root, (0, "", ""), i
    while j < len(words) and words[j].text in node:
        node = node[words[j].text]
        j += 1
        if node.key:
            best = (j - i, node.name, node.key)
    if not best[0] or text.capitals:
        return best if best[2] not in _COMPASS_ZONES else (0, "", "")
    last = words[i + best[0] - 1]
    if best[2] in _COMPASS_ZONES and (i == 0 or words[i - 1].text != "the" or _outside(words, i)):
        return 0, "", ""
    capital = text.plain[word.start].isupper() or word.text in ("the",)
    # A name must be written as one: its last word too, unless it is a small word of a long name.
    if not capital or not (text.plain[last.start].isupper() or best[0] > 2):
        if best[2].startswith("zone:") and text.plain[last.start].isupper():
            return best
        return 0, "", ""
    return best


def _outside(words: Sequence[Word], i: int) -> bool:
    """Whether a direction is meant: "to the northeast", "the northwest flow"."""
    before = words[i - 2].text if i >= 2 else ""
    after = words[i + 1].text if i + 1 < len(words) else ""
    return before in ("to", "from", "toward", "towards") or after in (
        "flow", "wind", "winds", "of", "half", "part", "parts", "corner", "side", "gradient", "quadrant"
    )  # fmt: skip


def _part_before(text: Text, words: Sequence[Word], i: int) -> tuple[int, list[str]]:
    """Where the words of a part begin before a name, and the parts: "northern and western"."""
    j, parts = i, [""]
    if j and words[j - 1].text == "the":
        j -= 1
    if j >= 2 and words[j - 1].text == "of":
        k = j - 2
        while k > 0 and words[k].text in _PIECES:
            k -= 1
        point, k = _point(words, k)
        pieces = k + 2 <= j - 1 and words[j - 2].text in _PIECES
        the = (k >= 0 and words[k].text == "the") or (
            k >= 0 and words[k].text in ("far", "extreme")
        )
        outside = k >= 1 and words[k - 1].text in ("from", "to", "toward", "towards")
        if point and (pieces or (the and not outside)):
            return max(k, 0), [point]
        return i, [""]
    point, k = _point(words, j - 1)
    if not point or (len(words[j - 1].text) == 1 and not _is_code(text, words[i])):
        return i, [""]
    parts = [point]
    while k >= 1 and words[k].text in ("and", "/", "to"):
        other, below = _point(words, k - 1)
        if not other:
            break
        parts.append(other)
        k = below
    return k + 1, parts


def _is_code(text: Text, word: Word) -> bool:
    return text.plain[word.start : word.end] in CODES


def _point(words: Sequence[Word], k: int) -> tuple[str, int]:
    """The compass point that ends at a word, and the index before it; "" if there is none."""
    if k < 0 or words[k].text not in _POINTS:
        return "", k
    point = _POINTS[words[k].text]
    if k and words[k - 1].text in ("north", "south") and point in ("east", "west", "centre"):
        first = words[k - 1].text
        return (first if point == "centre" else f"{first}-{point}"), k - 2
    return point, k - 1


def _coordinates(
    text: Text, words: Sequence[Word], i: int
) -> tuple[tuple[float, float], int, int] | None:
    word = words[i]
    if not (word.text[0].isdigit() or word.text == "("):
        return None
    m = _COORDINATES.match(text.lower, word.start, words[-1].end)
    if m is None:
        return None
    lat = float(m.group(1)) * (1 if m.group(2) == "n" else -1)
    lon = float(m.group(3)) * (1 if m.group(4) == "e" else -1)
    if abs(lat) > 90 or abs(lon) > 180:
        return None
    end = i
    while end < len(words) and words[end].start < m.end():
        end += 1
    return (lat, lon), end, m.end()


def _with_regions(text: Text, words: Sequence[Word], found: list[Found]) -> list[Found]:
    """Add parts of the region spoken of: "in the northwest", "western parts of the area"."""
    more: list[Found] = []
    for k, word in enumerate(words):
        if (
            word.text not in _POINTS
            or len(word.text) < 2
            or any(f.start <= word.start < f.end for f in found)
        ):
            continue
        point, below = _point(words, k)
        if not point or (
            k + 1 < len(words) and words[k + 1].text in _POINTS and _point(words, k + 1)[1] < k
        ):
            continue
        after = [w.text for w in words[k + 1 : k + 6]]
        before = [w.text for w in words[max(0, below - 1) : below + 1]]
        pieces = bool(after) and after[0] in (
            _PIECES | {"locations", "zones", "counties", "communities", "terrain"}
        )
        of_region = "of" in after[:3] and bool(_REGION & set(after[1:5]))
        inside = (
            bool(before) and before[-1] == "the" and before[0] in ("in", "over", "across", "for")
        )
        direct = bool(before) and before[-1] in ("in", "over", "across") and not text.capitals
        the = bool(before) and before[-1] == "the" and before[0] not in ("to", "from", "toward")
        if after[:1] == ["side"] and not of_region:
            continue
        if (
            pieces
            or (of_region and the)
            or ((inside or direct) and not (after and after[0] == "of"))
        ):
            following = after[0] if after else ""
            if following in ("flow", "wind", "winds", "breeze", "gusts", "swell", "ward"):
                continue
            if (
                inside
                and following.isalpha()
                and following
                not in (
                    "and",
                    "or",
                    "with",
                    "where",
                    "on",
                    "by",
                    "today",
                    "tonight",
                    "of",
                    "while",
                    "as",
                    "through",
                    "during",
                )
                and not pieces
            ):
                continue
            more.append(Found(Place("", "", point), word.start, word.end))
    return sorted([*found, *more], key=lambda f: f.start)


def parse(words: str) -> Place | None:
    """Read what `Place.render` wrote; None if it names no place."""
    point = None
    spot = re.search(r"\s?\(([\d.]+)°([NS]), ([\d.]+)°([EW])\)$", words)
    if spot:
        lat = float(spot.group(1)) * (1 if spot.group(2) == "N" else -1)
        lon = float(spot.group(3)) * (1 if spot.group(4) == "E" else -1)
        point, words = (lat, lon), words[: spot.start()]
    part = ""
    m = re.match(r"the ([a-z-]+) of (.+)$", words)
    if m and m.group(1) in PARTS:
        part, words = m.group(1), m.group(2)
    if words in ("", "the region"):
        return Place("", "", part, point) if part or point else None
    key = known(words)
    return Place(words, key, part, point) if key else None
