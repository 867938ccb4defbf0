"""Sections of the national centres' products, titled `...Overview...` or `SUMMARY...`.

The Weather Prediction Center's discussions, the Storm Prediction Center's outlooks and the
mesoscale discussions of both. A statement between dots is a section's title if text follows it,
and a headline if it says something itself: `...There is a Slight Risk of excessive rainfall over
the Central Plains on Thursday...`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from zephyrus_geodata.reports import names, signatures, times
from zephyrus_geodata.reports.paragraphs import blocks, framed, paragraphs, unwrap
from zephyrus_geodata.reports.product import Paragraph, Section
from zephyrus_geodata.reports.sections import Parts

_DAYS = re.compile(r"(?P<name>DAYS? \d(?: ?(?:-|AND|TO) ?\d)?)(?:\.{3})?", re.IGNORECASE)
_VALID = re.compile(r"(\.{3})?\s*VALID\b", re.IGNORECASE)
_LABEL = re.compile(
    r"(?P<name>AREAS? AFFECTED|CONCERNING|PROBABILITY OF WATCH ISSUANCE|SUMMARY|DISCUSSION|"
    r"SYNOPSIS|UPDATE)\.\.\.\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_TRAILER = re.compile(
    r"(\.{3})?(ATTN\.\.\.|LAT\.\.\.LON|(PLEASE )?SEE WWW|PLEASE SEE|SEE NOUS\d|GRAPHICS AVAILABLE|CLICK TO GET|"
    r"NOTE: THE NEXT|CLICK HERE|DAYS? \d.{0,12} THREAT AREA:|MOST PROBABLE PEAK|"
    r"REFERENCE AWIPS GRAPHIC)",
    re.IGNORECASE,
)
_SHORT = ("AREA AFFECTED", "AREAS AFFECTED", "CONCERNING", "PROBABILITY OF WATCH ISSUANCE")
_STATEMENT = re.compile(
    r"\b(THERE (IS|ARE)|IS|ARE|WILL|WAS|REMAINS?|CONTINUES?|EXPECTED|FORECAST|POSSIBLE|LIKELY|"
    r"(SLIGHT|MARGINAL|MODERATE|HIGH|ENHANCED|SLGT|MDT) RISK|TODAY|TONIGHT|THROUGH|"
    r"TO (BRING|IMPACT|AFFECT|SPREAD|PERSIST|CONTINUE|PRODUCE|LINGER|EXPAND|FOCUS))\b",
    re.IGNORECASE,
)
_REVISION = re.compile(r"\b(UPDATE|PREV(IOUS)? DISC(USSION)?)\b", re.IGNORECASE)
"""Titles inside a section: `...Central Gulf Coast...`, then `...16Z Update...`."""

_WINDOW = 10
"""Lines that are looked at together: as many as a statement between dots may have, and more."""

_HEADLINE_ONLY = "PMDSPD"
"""Its statements between dots, above the text, are all headlines."""


@dataclass
class _Draft:
    name: str = ""
    header: str = ""
    parent: str | None = None
    valid: times.Period | None = None
    headlines: list[str] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)

    @property
    def empty(self) -> bool:
        return not any(line.strip() for line in self.lines)


def read_center_sections(body: Iterable[str], product: str, issued: datetime) -> Parts:
    """Cut the text below the head of a national centre's product into sections.

    Args:
        body: the lines below the head.
        product: as `Product.product`.
        issued: completes the valid periods of days (`Day 2`).
    """
    parts = Parts()
    drafts = [_Draft()]
    day: str | None = None
    for block in blocks(_up_to_end(body)):
        at = 0
        while at < len(block):
            window = block[at : at + _WINDOW]
            used, day = _read(window, drafts, day, product, issued, parts)
            at = at + used if used else len(block)
        if drafts[-1].lines:
            drafts[-1].lines.append("")
    parents = {draft.parent for draft in drafts}
    for draft in drafts:
        _finish(draft, product, parts, draft.name in parents)
    return parts


def _up_to_end(body: Iterable[str]) -> list[str]:
    """The lines up to `$$` or a signature; `&&` marks nothing here."""
    lines: list[str] = []
    for line in body:
        if line.strip() == "$$":
            break
        lines.append("" if line.strip() == "&&" else line)
        if signatures.centre_signature(line):
            break
    return lines


def _read(
    block: list[str],
    drafts: list[_Draft],
    day: str | None,
    product: str,
    issued: datetime,
    parts: Parts,
) -> tuple[int, str | None]:
    """Read the top of a block into the drafts: (lines used, the day that is open).

    No lines used means that the rest of the block is of no use.
    """
    first = block[0].strip()
    last = drafts[-1]
    if _TRAILER.match(first):
        return 0, day
    if who := signatures.centre_signature(first):
        if who.upper() != "FORECASTER":  # archives put this word in place of a name
            parts.forecasters.append(who)
        return 1, day
    if _DAYS.fullmatch(first) and (len(block) == 1 or _VALID.match(block[1])):
        name = first.rstrip(".")
        drafts.append(_Draft(name=name, header=first))
        return 1, name
    if _VALID.match(first):
        if last.name == day:
            last.valid = times.valid_period(unwrap(block[:2]), issued)
        return 1, day
    if frame := framed(block):
        text, used = frame
        if _REVISION.search(text) and last.name not in ("", day):
            region = last.parent if _REVISION.search(last.name) else last.name
            drafts.append(_Draft(text, unwrap(block[:used]), parent=region))
        elif _is_headline(text, last, product):
            last.headlines.append(text)
        else:
            drafts.append(_Draft(text, unwrap(block[:used]), parent=day))
        return used, day
    if label := _LABEL.fullmatch(first):
        name = label["name"]
        drafts.append(_Draft(name, f"{name}...", parent=day, lines=[label["rest"]]))
        return 1, day
    if last.name.upper() in _SHORT and not last.empty and not last.lines[-1]:
        # They are one paragraph long; what follows has no title
        last = _Draft()
        drafts.append(last)
    last.lines.append(block[0])
    return 1, day


def _is_headline(text: str, last: _Draft, product: str) -> bool:
    top = last.empty and (not last.name or last.name.upper().startswith("DAY"))
    if not top:
        return False
    return product == _HEADLINE_ONLY or _STATEMENT.search(text) is not None


def _finish(draft: _Draft, product: str, parts: Parts, is_parent: bool) -> None:
    lines, signed = signatures.take_signature(draft.lines)
    if draft.name.upper() in _SHORT:
        found: tuple[Paragraph, ...] = (Paragraph("prose", unwrap(lines)),)
    else:
        found = paragraphs(lines)
    parts.forecasters += [name for name in signed if name not in parts.forecasters]
    if not draft.name:
        parts.headlines += draft.headlines
    else:
        found = (*(Paragraph("headline", text) for text in draft.headlines), *found)
    if not draft.name and not found:
        return
    if draft.name and not found and not draft.valid and not is_parent:
        # No text followed: it was a statement, not a title
        parts.headlines.append(draft.name)
        return
    kind = names.section_kind(draft.name, product)
    parts.sections.append(
        Section(
            name=draft.name,
            header=draft.header,
            kind=kind if kind in ("key_messages", "update") else "discussion",
            paragraphs=found,
            parent=draft.parent,
            valid=draft.valid,
        )
    )
