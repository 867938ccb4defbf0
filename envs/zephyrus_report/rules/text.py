"""A text made ready for rules: what is no weather blanked out, blocks, sentences and words found.

Every step keeps the length of the text, so that a position in what the rules read is a position in
the original, and a quote is a literal piece of it.
"""

from __future__ import annotations

import itertools
import re
import unicodedata
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

MOST_WORDS = 4_000
"""What lies beyond is not read: the longest real discussions have 1,800 words."""

MOST_CHARACTERS = 30_000
"""The same of characters, for texts that have no blanks."""

MOST_IN_A_SENTENCE = 600
"""A longer one is cut at blanks: the rules look at all pairs of words in a sentence."""

_HIDDEN = re.compile(
    r"[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u206f\ufeff]"
)
_MARKUP = re.compile(
    r"```.*?(?:```|\Z)|<!--.*?(?:-->|\Z)|<[/!?a-zA-Z][^<>\n]{0,80}>|\{[^{}]*\}|https?:\S+|[*_#`~]{1,3}",
    re.DOTALL,
)
_ADDRESSES_JUDGE = re.compile(
    r"\b(?:judges?|graders?|rubrics?|verdicts?|refuted|json)\b|\b10 ?/ ?10\b", re.IGNORECASE
)
_OFFICE = re.compile(
    r"^(?:\d{3}\s*|[A-Z]{4}\d{2} [A-Z]{4} \d{6}.*|[A-Z][A-Z0-9]{3,5}\s*|ZCZC.*|NNNN\s*|"
    r"(?i:area forecast|mesoscale|(?:\w+ ){1,4}forecast|\w+ convective) (?i:discussion|outlook)\b.*|"
    r"(?i:(?:us )?national weather service .*|nws [a-z]+ .*\b[a-z]{2}\s*|hazardous weather outlook.*)|"
    r"\d{3,4} ?(?i:am|pm|utc|z)\b.*\b(?:19|20)\d\d\s*|"
    r"(?:[A-Z]{2}[CZ]\d{3}|\d{3})[-0-9A-Z>]*-\s*)$"
)
_SIGNATURE = re.compile(r"^(?:\.\..+\.\..*|[A-Z][A-Za-z]*(?:/[A-Z][A-Za-z]*)+)\s*$")
_SECTION = re.compile(r"^\.(?!\.)\s?([A-Z][^\n]{0,120}?)\.{3}[ \t]*")
_HEADLINE = re.compile(r"^\.\.\.\s?(\S[^\n]{0,140}?)\.{2,3}\s*$")
_LEAD = re.compile(r"^\s*(?:[-*•+]\s*)?([A-Z0-9][^\n:.!?]{1,60}?)(?::(?=\s|$)|\.{3}$)")
_BULLET = re.compile(r"^\s*(?:[-*•+]|\d{1,2}[.)])\s+\S")
_NO_WEATHER = re.compile(
    r"watches/warnings|watches, warnings|^(?:aviation|tides|fire weather|equipment|climate|"
    r"preliminary point temps|public information|spotter)|point temps", re.IGNORECASE
)  # fmt: skip
_END = re.compile(r"[.!?]+[\"”')]*(?=\s+[\"“(]?[A-Z0-9•-]|\s*$)|;(?=\s)")
_ABBREVIATION = re.compile(
    r"\b(?:st|mt|ft|dr|vs|approx|e\.g|i\.e|u\.s|u\.k|a\.m|p\.m|jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec|no|ca)\.$",
    re.IGNORECASE,
)
_WORD = re.compile(r"[a-z]+(?:['’][a-z]+)*|\d+(?:[.,]\d+)*|[^\s\w]")


@dataclass(frozen=True, slots=True)
class Word:
    """A word, number or sign: its text in small letters without accents, and where it stands."""

    text: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence of a text.

    Attributes:
        start: Where it begins in the text.
        end: Where it ends.
        headings: The headings above it and the lead-in before it, outermost first.
    """

    start: int
    end: int
    headings: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Text:
    """A text made ready.

    Attributes:
        original: As it was given.
        plain: Same length, with blanks for line ends, markup, headers and what is no weather.
        lower: ``plain`` in small letters without accents, same length.
        capitals: Whether it is written in capitals only, as old bulletins are.
        sentences: In order.
    """

    original: str
    plain: str
    lower: str
    capitals: bool
    sentences: tuple[Sentence, ...]

    def words(self, start: int, end: int) -> list[Word]:
        """The words between two positions."""
        return [Word(m.group(), m.start(), m.end()) for m in _WORD.finditer(self.lower, start, end)]


def shortened(text: str) -> str:
    """The beginning of a text: what is read of it, `MOST_WORDS` and `MOST_CHARACTERS` at most."""
    text = text[:MOST_CHARACTERS]
    last = next(itertools.islice(re.finditer(r"\S+", text), MOST_WORDS - 1, None), None)
    return text if last is None else text[: last.end()]


def _same_length(found: re.Match[str]) -> str:
    return "".join("\n" if c == "\n" else " " for c in found.group())


@lru_cache(maxsize=4096)
def _letter(c: str) -> str:
    for small in (unicodedata.normalize("NFKD", c.lower())[:1].lower(), c.lower()):
        if len(small) == 1:
            return small
    return c


def lower(text: str) -> str:
    """Small letters without accents, same length."""
    if text.isascii():
        return text.lower()
    return "".join(c.lower() if c.isascii() else _letter(c) for c in text)


@lru_cache(maxsize=512)
def read(text: str) -> Text:
    """Make the beginning of a text ready (`shortened`); what lies beyond is blank."""
    original = text
    text = shortened(text).replace("’", "'").replace("–", "-").replace("—", ";").replace("−", "-")
    text = _HIDDEN.sub(" ", text)
    text = _MARKUP.sub(_same_length, text)
    letters = [c for c in text if c.isalpha()]
    capitals = bool(letters) and sum(c.isupper() for c in letters) > 0.8 * len(letters)
    plain = list(" " * len(text))
    sentences: list[Sentence] = []
    for start, end, headings in _blocks(text):
        # Three dots are a comma in old bulletins, not the end of a sentence.
        piece = re.sub(r"\.{2,}", lambda m: "," + " " * (len(m.group()) - 1), text[start:end])
        piece = piece.replace("\n", " ").replace("\t", " ")
        for first, last in _sentences(piece):
            if _ADDRESSES_JUDGE.search(piece, first, last):
                continue
            plain[start + first : start + last] = piece[first:last]
            sentences.append(Sentence(start + first, start + last, headings))
    joined = "".join(plain)
    return Text(original, joined, lower(joined), capitals, tuple(sentences))


def _sentences(piece: str) -> Iterator[tuple[int, int]]:
    start = 0
    for found in _END.finditer(piece):
        if _ABBREVIATION.search(piece, max(0, start, found.start() - 8), found.start() + 1):
            continue
        yield from _stripped(piece, start, found.end())
        start = found.end()
    yield from _stripped(piece, start, len(piece))


def _stripped(piece: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    while start < end and piece[start] in " -*•+,;":
        start += 1
    while end > start and piece[end - 1].isspace():
        end -= 1
    while end - start > MOST_IN_A_SENTENCE:
        blank = piece.rfind(" ", start + 1, start + MOST_IN_A_SENTENCE)
        cut = blank if blank > 0 else start + MOST_IN_A_SENTENCE
        yield start, cut
        start = cut
    if end > start:
        yield start, end


def _blocks(text: str) -> Iterator[tuple[int, int, tuple[str, ...]]]:
    """Paragraphs and list items as (start, end, headings); headers and signatures are left out."""
    section, heading = "", ""
    skipped = False
    begin = end = -1
    position = 0

    def flush() -> Iterator[tuple[int, int, tuple[str, ...]]]:
        if begin >= 0 and not skipped:
            yield begin, end, tuple(h for h in (section, heading) if h)

    for line in text.splitlines(keepends=True):
        here, position = position, position + len(line)
        bare = line.strip()
        if bare.startswith("$$"):
            break
        found = _SECTION.match(bare)
        title = _HEADLINE.match(bare)
        lead = _LEAD.match(line)
        alone = lead is not None and lead.end() >= len(line.rstrip())
        breaks = not bare or bare == "&&" or found or title or alone or _BULLET.match(line)
        if breaks or _OFFICE.match(bare) or _SIGNATURE.match(bare):
            yield from flush()
            begin = -1
        if found:
            section, heading = found.group(1), ""
            skipped = bool(_NO_WEATHER.search(section))
            rest = here + line.index(bare) + found.end()
            if rest < here + len(line.rstrip()):
                begin, end = rest, position
        elif title:
            heading = title.group(1)
            skipped = bool(_NO_WEATHER.search(heading)) or skipped
            # A headline is a statement too: "NO SEVERE THUNDERSTORM AREAS FORECAST".
            if not skipped:
                first = here + line.index(bare) + 3
                yield first, first + len(title.group(1)), ((section,) if section else ())
        elif alone and lead:
            heading = lead.group(1)
        elif not bare or bare == "&&" or _OFFICE.match(bare) or _SIGNATURE.match(bare):
            continue
        else:
            begin, end = (here, position) if begin < 0 else (begin, position)
    yield from flush()
