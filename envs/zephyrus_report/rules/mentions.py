"""One sentence taken apart: subjects, numbers, places, times and what is said, with positions."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field

from zephyrus_report.rules import lexicon, places, quantities
from zephyrus_report.rules.hazards import HAZARDS, none_told
from zephyrus_report.rules.lexicon import Term
from zephyrus_report.rules.text import Sentence, Text, Word
from zephyrus_report.rules.times import Calendar
from zephyrus_report.rules.times import Found as FoundTime

_CLAUSE = re.compile(
    r";|,?\s\b(?:while|whereas|but|although|though|however)\b|,\s(?=(?:with|and then|then|where|before|locally)\b)"
    r"|,\s(?=and\b)"
)
_BARE = re.compile(r"\b(lows?|highs?)\b")
_NOT_A_SYSTEM = re.compile(
    r"[\s-]*(?:levels?|lvl|clouds?|temperatures?|temps?|\d+'?s\b|teens|confidence|chances?|end\b|stratus|humidit|"
    r"rh\b|elevations?|terrain|lying|as\b|enough|side|resolution|probabilit|winds?|mid\b|to mid|risk|"
    r"impact|pops?|qpf|amounts?|values?|ceilings?|visib|cape|shear|dewpoints?|dew|snow|water|tide|plains|country|"
    r"res\b|surf|based|moisture|and mid|or\b|latitude|potential|likelihood|uncertain)"
)
_SYSTEM_BEFORE = re.compile(
    r"(?:\b(?:the|a|an|this|that|its|another|new|second|parent|hpa|mb|surface|upper|aloft|atlantic|pacific|weak|strong|deep|broad|"
    r"shallow|filling|deepening|stationary|blocking|cutoff|northern|southern|eastern|western|icelandic|aleutian|"
    r"azores|bermuda|siberian|canadian|greenland|complex|building|large)\s)$"
)
_TEMPERATURE_AFTER = re.compile(
    r"\s*(?:(?:temperatures?|today|tonight|tomorrow|will|should|are|were|may|again|mainly|mostly|generally|on \w+|"
    r"\w+day|between|range|ranging|warm|cool|near|around|about|only|reach|climb|drop|fall|bottom|into|in|from|to|of|over|across|still|well|a few|"
    r"the|above|below)\b|[,.]|\d)"
)
_DIRECTION = r"(?:(?:north|south)(?:[\s-]?(?:east|west))?|east|west|nne|ene|ese|sse|ssw|wsw|wnw|nnw|ne|nw|se|sw)"
_MOVES = re.compile(
    rf"\s*(?:\w+ly\s+)?(?:off\s+|out\s+|in\s+|away\s+)?(?:to(?:ward)?s?\s+the\s+|due\s+)?({_DIRECTION})(?:ward)?s?(?:erly)?\b(?!\s+of\b)"
)
_FROM = re.compile(
    rf"\b(?:from the|out of the)\s+({_DIRECTION})\b|\b({_DIRECTION})(?:erly|\s+to\s+{_DIRECTION}erly)?\s+(?:10 m\s+)?(?:winds?|flow|breezes?|gales?|gusts?)\b|\b({_DIRECTION})erly\b|\bwinds?\s+({_DIRECTION})\b"
)
_HAZARDOUS = re.compile(
    r"\s+(?:\w+ly\s+)?(?:hazardous|significant|notable|major|organi[sz]ed|widespread|other|further|impactful)\b"
)
_OUT_OF_REACH = re.compile(
    r"[,;]|\b(?:despite|with|from|as|but|while|until|before|after|by|although|due|because|than)\b"
)
_SHORT = {"ne": "north-east", "nw": "north-west", "se": "south-east", "sw": "south-west", "nne": "north-east", "ene": "north-east", "ese": "south-east", "sse": "south-east", "ssw": "south-west", "wsw": "south-west", "wnw": "north-west", "nnw": "north-west"}  # fmt: skip


@dataclass(slots=True)
class Mention:
    """A subject in a sentence."""

    subject: str
    start: int
    end: int
    clause: int
    absent: bool = False
    word: str = ""


@dataclass(slots=True)
class Number:
    """A quantity in a sentence."""

    value: quantities.Quantity
    start: int
    end: int
    clause: int
    bracket: tuple[int, int] | None = None


@dataclass(slots=True)
class Parts:
    """A sentence taken apart."""

    sentence: Sentence
    clauses: list[int]
    mentions: list[Mention]
    numbers: list[Number]
    places: list[places.Found]
    times: list[FoundTime]
    terms: list[Term]
    moves: list[tuple[int, str]] = field(default_factory=list)
    winds: list[tuple[int, str]] = field(default_factory=list)

    def of(self, family: str) -> list[Term]:
        """The terms of a family."""
        return [t for t in self.terms if t.family == family]

    def clause(self, position: int) -> int:
        """The index of the clause that a position is in."""
        return sum(position >= at for at in self.clauses)


def direction(words: str) -> str:
    """A compass point as claims call it: "north-east"."""
    words = re.sub(r"[\s-]", "", words)
    if words in _SHORT:
        return _SHORT[words]
    for point in ("north", "south"):
        if words.startswith(point) and len(words) > len(point):
            return f"{point}-{words[len(point) :]}"
    return words


def take_apart(text: Text, sentence: Sentence, calendar: Calendar, *, celsius: bool) -> Parts:
    """Take a sentence apart."""
    start, end = sentence.start, sentence.end
    low = text.lower
    words = text.words(start, end)
    clauses = [m.end() for m in _CLAUSE.finditer(low, start, end)]
    found_times = calendar.find(low, text.plain, start, end)
    numbers = quantities.find(low, start, end, celsius=celsius)
    numbers = [
        q for q in numbers if not any(t.start < q.end and q.start < t.end for t in found_times)
    ]
    found_places = places.find(text, words)
    terms = lexicon.find(words)
    terms = [t for t in terms if not _covered(t.start, t.end, found_places)]
    parts = Parts(sentence, clauses, [], [], found_places, list(found_times), terms)
    parts.terms = [
        t for t in terms if not any(q.start < t.end and t.start < q.end for q in numbers)
    ]
    parts.numbers = [
        Number(q.quantity, q.start, q.end, parts.clause(q.start), _bracket(low, q.start, sentence))
        for q in numbers
    ]
    _mentions(text, parts, words)
    _directions(text, parts)
    return parts


def _bracket(low: str, position: int, sentence: Sentence) -> tuple[int, int] | None:
    """The brackets that a position is in."""
    start = low.rfind("(", sentence.start, position)
    if start < 0 or ")" in low[start:position]:
        return None
    end = low.find(")", position, sentence.end)
    return (start, end) if end > 0 else None


def _covered(start: int, end: int, found: Sequence[places.Found]) -> bool:
    return any(f.start <= start and end <= f.end and (f.place.name or f.place.point) for f in found)


def _mentions(text: Text, parts: Parts, words: Sequence[Word]) -> None:
    low, sentence = text.lower, parts.sentence
    for t in parts.of("subject"):
        parts.mentions.append(
            Mention(t.key, t.start, t.end, parts.clause(t.start), word=low[t.start : t.end])
        )
    taken = [(t.start, t.end) for t in parts.of("subject") + parts.of("likelihood")]
    for m in _BARE.finditer(low, sentence.start, sentence.end):
        if any(a <= m.start() < b for a, b in taken) or _covered(m.start(), m.end(), parts.places):
            continue
        key = _bare(low, m, parts)
        if key:
            parts.mentions.append(
                Mention(key, m.start(), m.end(), parts.clause(m.start()), word=m.group())
            )
    for t in parts.of("dry"):
        parts.mentions.append(
            Mention("precipitation", t.start, t.end, parts.clause(t.start), absent=True, word="dry")
        )
    parts.mentions.sort(key=lambda m: m.start)
    _negate(low, parts)


def _bare(low: str, m: re.Match[str], parts: Parts) -> str:
    """Whether a bare "low" or "high" is a pressure system, a temperature, or neither."""
    word, limit = m.group(), parts.sentence.end
    system = "low" if word.startswith("low") else "high"
    warm = "temperature_min" if system == "low" else "temperature_max"
    tail = low[m.end() : min(limit, m.end() + 40)]
    if re.match(r"\s*(?:\(?(?:of|near|at|around)?\s*\(?\d{3,4}\s*(?:hpa|mb))", tail):
        return system
    if word.endswith("s"):
        return warm if _TEMPERATURE_AFTER.match(tail) or not tail.strip() else system
    if re.match(
        r"\s*(?:of|near|around|at|will be|in the)\s+(?:the\s+)?(?:-?\d{1,2}\b(?!(?:\.\d+)?\s?°?\s?[ns]\b)|low|mid|upper)(?!\s*hpa)",
        tail,
    ):
        return warm
    if _NOT_A_SYSTEM.match(tail):
        return ""
    return system if _SYSTEM_BEFORE.search(low[max(0, m.start() - 16) : m.start()]) else ""


def _negate(low: str, parts: Parts) -> None:
    none = none_told(low, parts.sentence.start, parts.sentence.end)
    if none is not None:
        # What is not there is the hazard, no matter of which kinds.
        parts.mentions[:] = [m for m in parts.mentions if not none[0] <= m.start < none[1]]
        parts.mentions.append(Mention(HAZARDS, *none, parts.clause(none[0]), absent=True))
        parts.mentions.sort(key=lambda m: m.start)
    for t in parts.of("negation"):
        if none is not None and none[0] <= t.start < none[1]:
            continue
        if t.key == "before":
            if _HAZARDOUS.match(low, t.end):
                # "No hazardous wind or precipitation": what is not there is the hazard.
                parts.mentions[:] = [m for m in parts.mentions if m.start < t.end]
                continue
            reach = 5
            for m in parts.mentions:
                between = low[t.end : m.start]
                if (
                    m.start >= t.end
                    and not _OUT_OF_REACH.search(between)
                    and len(between.split()) < reach
                ):
                    m.absent = m.word != "dry" or not m.absent
                    reach += 3  # "no rain or snow"
                elif m.start > t.end:
                    break
        else:
            before = [
                m for m in parts.mentions if m.end <= t.start and m.clause == parts.clause(t.start)
            ]
            if before and "," not in low[before[-1].end : t.start]:
                for m in before:
                    joined = low[m.end : t.start]
                    m.absent = m.word != "dry" if "," not in joined else m.absent


def _directions(text: Text, parts: Parts) -> None:
    low, limit = text.lower, parts.sentence.end
    taken: list[int] = []
    for t in parts.of("movement"):
        m = _MOVES.match(low, t.end, limit)
        if m:
            parts.moves.append((t.start, direction(m.group(1))))
            taken.append(m.start(1))
    for t in parts.of("stationary"):
        parts.moves.append((t.start, "stationary"))
    for m in _FROM.finditer(low, parts.sentence.start, limit):
        if not any(m.start() <= at < m.end() for at in taken):
            point = next(g for g in m.groups() if g)
            parts.winds.append((m.start(), direction(point)))
