"""Lines of a bulletin become paragraphs: line breaks go, words, units and lists stay."""

from __future__ import annotations

import re
from collections.abc import Iterable

from zephyrus_geodata.reports.product import Paragraph, ParagraphKind
from zephyrus_geodata.reports.signatures import ADDRESS

BULLET = re.compile(r"\s{0,8}(?:[*•·o+]|-{1,2}|>|\(?\d{1,2}[.)]+)\s+(?=\S)")
_DAYS = (
    r"(?:(?:Sun|Mon|Tues|Wednes|Thurs|Fri|Satur)day|Today|Tonight|This \w+|Rest of \w+|Overnight)"
)
_DAY_LABEL = re.compile(
    rf"(?:{_DAYS}[\w /&,-]{{0,40}}?|(?:Forecast )?Confidence|Preference) ?:(?= |$)", re.IGNORECASE
)
"""`Monday:`, and the two labels of a discussion of models: each opens a line of its own."""

_INNER_LABEL = re.compile(r"\s+[A-Z][\w /]{0,24}\.\.\.")
_COORDINATES = re.compile(r"(LAT\.\.\.LON|TIME\.\.\.MOT\.\.\.LOC)\b", re.IGNORECASE)
_FRAME = re.compile(r"(?P<dots>\.{2,4}|\*{2,4})\s*[^.*\s]")
_ABBREVIATION = re.compile(r"\b(?:[A-Za-z]|St|Mt|Ft|vs)\.")
_CUT_ABBREVIATION = re.compile(r"\b[A-Z]\.[A-Z]$")
_NUMBER = re.compile(r"[-+]?\d+(?:\.\d+)?[%\"']?")
_COLUMN = re.compile(r"\S {3,}\S")
_HYPHENED = re.compile(r"\w\+?-$")
_SIGN = re.compile(r"[A-Za-z,(] -$")
_SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z\d])")
_HEADING_WORDS = 8
_FRAMED_LINES = 8


def unwrap(lines: Iterable[str]) -> str:
    """Join wrapped lines: every character but white space is kept, in order.

    A hyphen that ends a line belongs to its word, `low-` + `level` is `low-level`, and a sign
    to its number, `to -` + `15C` is `to -15C`.
    """
    parts: list[str] = []
    for line in lines:
        line = " ".join(line.split())
        if not line:
            continue
        hyphened = parts and _HYPHENED.search(parts[-1][-3:]) and line[0].isalnum()
        signed = parts and _SIGN.search(parts[-1][-4:]) and line[0].isdigit()
        if parts and not hyphened and not signed:
            parts.append(" ")
        parts.append(line)
    return "".join(parts)


def framed(lines: list[str]) -> tuple[str, int] | None:
    """The statement between dots at the top, `...WIND ADVISORY...`: (its text, lines used).

    It may run over several lines, and ends with the line that ends with dots. Asterisks may
    stand in their place: `***Rain for the coast***`.
    """
    if not lines or not (frame := _FRAME.match(lines[0].strip())):
        return None
    ends = frame["dots"][0] * 3
    for count in range(1, min(len(lines), _FRAMED_LINES) + 1):
        if count > 1 and lines[count - 1].lstrip().startswith(ends):
            return None
        if lines[count - 1].rstrip().endswith(ends):
            text = unwrap(lines[:count]).strip(".* ")
            if _CUT_ABBREVIATION.search(text):
                text += "."  # `...Eastern U.S...`: the abbreviation's dot is one of the frame's
            return (text, count) if text and not has_sentences(text) else None
    return None


def has_sentences(text: str) -> bool:
    """Whether a sentence ends inside a text: the dot of `U.S.` or `St.` ends none."""
    return ". " in _ABBREVIATION.sub("", text)


def blocks(lines: Iterable[str]) -> list[list[str]]:
    """Cut lines into runs without blank lines."""
    found: list[list[str]] = [[]]
    for line in lines:
        if line.strip():
            found[-1].append(line)
        elif found[-1]:
            found.append([])
    return [block for block in found if block]


def paragraphs(lines: Iterable[str], *, table: bool = False) -> tuple[Paragraph, ...]:
    """The paragraphs of a section's lines.

    Args:
        lines: the text below the title.
        table: keep every line as it is.
    """
    if table:
        kept = [line.rstrip() for line in lines if line.strip()]
        return (Paragraph("table", "\n".join(kept)),) if kept else ()
    return tuple(p for block in blocks(lines) for p in _block(block))


def watch_list(lines: Iterable[str]) -> tuple[Paragraph, ...]:
    """A list of watches: an entry starts at the margin, what is indented goes on with it.

    Zones go on below a hyphen: `for IAZ004-005-`, then `015-016.`
    """
    entries: list[list[str]] = []
    for line in lines:
        goes_on = entries and (line[:1].isspace() or entries[-1][-1].rstrip().endswith("-"))
        if line.strip() and not goes_on:
            entries.append([line])
        elif line.strip():
            entries[-1].append(line)
    return tuple(Paragraph("item", unwrap(entry)) for entry in entries)


def _block(lines: list[str]) -> list[Paragraph]:
    if _is_table(lines):
        return [Paragraph("table", "\n".join(line.rstrip() for line in lines))]
    found: list[Paragraph] = []
    # A block that is indented as a whole is prose, a part of it may be a list
    margin = min(len(line) - len(line.lstrip()) for line in lines)
    while frame := framed(lines):
        text, used = frame
        # A short one is the title of what follows; a longer one says something itself
        kind: ParagraphKind = "headline" if len(text.split()) > 5 else "heading"
        found.append(Paragraph(kind, text))
        lines = lines[used:]
    if lines and _is_heading(lines):
        found.append(Paragraph("heading", lines[0].strip().rstrip(".:").strip()))
        lines = lines[1:]
    for item, run in _runs([line[margin:] for line in lines]):
        text = unwrap(run)
        if not item and len(run) == 1 and found and found[-1].kind == "item" and _is_heading(run):
            found.append(Paragraph("heading", text.rstrip(".:").strip()))
            continue
        if item:
            text = text[match.end() :] if (match := BULLET.match(text)) else text
        found += _without_addresses("item" if item else "prose", text)
    return found


def _without_addresses(kind: ParagraphKind, text: str) -> list[Paragraph]:
    """The text, and its sentences with web addresses as a note of their own."""
    if not ADDRESS.search(text):
        return [Paragraph(kind, text)] if text else []
    sentences = _SENTENCE.split(text)
    kept = " ".join(s for s in sentences if not ADDRESS.search(s))
    notes = " ".join(s for s in sentences if ADDRESS.search(s))
    return [*([Paragraph(kind, kept)] if kept else []), Paragraph("note", notes)]


def _runs(lines: list[str]) -> list[tuple[bool, list[str]]]:
    """Cut a block into prose and items: (is it an item, its lines)."""
    runs: list[tuple[bool, list[str]]] = []
    for line in lines:
        last = runs[-1] if runs else None
        if BULLET.match(line):
            runs.append((True, [line]))
        elif last is None:
            runs.append((line[0].isspace(), [line]))
        elif _DAY_LABEL.match(line):
            runs.append((False, [line]))
        elif line[0].isspace() and _opens_item(last[1][-1], line, BULLET.match(last[1][0])):
            runs.append((True, [line]))
        elif last[0] and not line[0].isspace() and not BULLET.match(last[1][0]):
            runs.append((False, [line]))  # back at the margin after an indented list
        else:
            last[1].append(line)
    return runs


def _opens_item(above: str, line: str, bullet: re.Match[str] | None) -> bool:
    if bullet:
        return False
    return above.rstrip().endswith((".", ":")) or _INNER_LABEL.match(line) is not None


def _is_heading(lines: list[str]) -> bool:
    """Whether the first line is a title: `HAZARDS...`, `Key Points:`, alone or above its text."""
    first = lines[0].strip()
    if BULLET.match(first) or not first.endswith((":", "...")):
        return False
    bare = first.rstrip(".:").strip()
    if not bare or len(bare.split()) > _HEADING_WORDS or "..." in bare or has_sentences(bare):
        return False
    if ADDRESS.search(bare):
        return False
    if not (bare[0].isupper() or bare[0].isdigit()):
        return False
    if len(lines) == 1 or lines[1][0].isspace() or BULLET.match(lines[1]):
        return True
    # The line was ended on purpose if the next word would have had room
    width = max(56, *(len(line.rstrip()) for line in lines[1:]))
    return len(first) + 1 + len(lines[1].split()[0]) < width


def _is_table(lines: list[str]) -> bool:
    if _COORDINATES.match(lines[0].strip()):
        return True
    if len(lines) < 2:
        return False
    rows = 0
    for line in lines:
        cells = line.replace("/", " ").split()
        numbers = sum(_NUMBER.fullmatch(cell) is not None for cell in cells)
        rows += (numbers >= 3 and numbers >= 0.4 * len(cells)) or _COLUMN.search(line) is not None
    return rows >= 2 and rows >= 0.6 * len(lines)
