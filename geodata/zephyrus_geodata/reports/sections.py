"""Sections of the forecast offices' products, titled `.NEAR TERM /UNTIL 6 AM TUESDAY/...`."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime

from zephyrus_geodata.reports import names, signatures, times, ugc
from zephyrus_geodata.reports.paragraphs import blocks, framed, paragraphs, unwrap, watch_list
from zephyrus_geodata.reports.product import Kind, Section

_TITLE = re.compile(
    r" ?\.(?P<name>[A-Za-z][^.]{0,90}?|\d{1,4} ?[AP]M[^.]{0,60}?)\s?\.{2,4}(?P<rest>.*)"
)
_OPEN_TITLE = re.compile(r" ?\.[A-Z][A-Z /]{2,40}[/(][^/().]{0,80}")
_PERIOD = re.compile(
    r"(?P<name>.*?\S)(?:\s*\((?P<brackets>[^()]*)\)|\s+/(?P<slashes>[^/].*)/)\s*/?"
)
_PERIOD_LINE = re.compile(r"\((?P<a>[^()]{2,80})\)|/(?P<b>[^/][^\n]{1,78})/")
_TAF_TIME = re.compile(r"/?\d{2}/?\d{0,2}Z( TAFS?)?/?( ISSUANCE)?", re.IGNORECASE)
_ISSUED = re.compile(r"(?:ISSUED|UPDATED)(?: AT)?\b.{0,60}", re.IGNORECASE)
_HWO_DAY = re.compile(r"DAYS? (ONE|TWO|THREE|\d)\b")


@dataclass
class _Draft:
    name: str
    header: str
    period: str = ""
    parent: _Draft | None = None
    zones: tuple[str, ...] = ()
    untitled: Kind | None = None
    lines: list[str] = field(default_factory=list)


@dataclass
class Parts:
    """What the text below the head consists of."""

    sections: list[Section] = field(default_factory=list)
    headlines: list[str] = field(default_factory=list)
    forecasters: list[str] = field(default_factory=list)


def read_sections(body: Iterable[str], product: str) -> Parts:
    """Cut the text below the head into sections.

    `$$` ends a part; one that has neither zones nor a title is the trailer, of which only the
    names of the forecasters are kept. `&&` closes a section: what follows without a title is a
    note. Text above the first title is a section without name, statements between dots there
    are headlines.

    Args:
        body: the lines below the head.
        product: as `Product.product`.
    """
    parts = Parts()
    for number, chunk in enumerate(_chunks(body)):
        drafts = _drafts(chunk, product)
        titled = any(draft.header or draft.zones for draft in drafts)
        if number and not titled:
            parts.forecasters += signatures.trailer_names(chunk)
            continue
        for draft in drafts:
            _finish(draft, product, parts)
    return parts


def _chunks(body: Iterable[str]) -> list[list[str]]:
    chunks: list[list[str]] = [[]]
    for line in body:
        if line.strip() == "$$":
            chunks.append([])
        else:
            chunks[-1].append(line)
    return chunks


def _drafts(lines: list[str], product: str) -> list[_Draft]:
    drafts = [_Draft("", "")]
    top: _Draft | None = None  # the open section that others may stand in
    zones: tuple[str, ...] = ()
    closed = False
    at = 0
    while at < len(lines):
        line = lines[at]
        if line.strip() == "&&":
            closed, top = True, None
            at += 1
            continue
        if product != "AFD" and (segment := ugc.segment_at(lines, at)):
            zones, closed, top = segment.zones, False, None
            drafts.append(_Draft("", "", zones=zones))
            at = segment.body
            continue
        if title := _title(lines, at):
            draft, used = title
            draft.zones = zones
            if top is not None and names.is_nested(draft.name):
                draft.parent = top
            else:
                top = draft
            drafts.append(draft)
            closed = False
            at += used
            continue
        if closed and line.strip():
            drafts.append(_Draft("", "", zones=zones, untitled="other"))
            closed = False
        drafts[-1].lines.append(line)
        at += 1
    return drafts


def _title(lines: list[str], at: int) -> tuple[_Draft, int] | None:
    """The section that this line opens and the number of lines its title takes, or None."""
    line, used = lines[at].rstrip(), 1
    if line.lstrip()[:1] != ".":
        return None
    match = _TITLE.fullmatch(line)
    if not match and _OPEN_TITLE.fullmatch(line) and at + 1 < len(lines):
        # A title may be wrapped inside its period
        line, used = f"{line} {lines[at + 1].strip()}", 2
        match = _TITLE.fullmatch(line)
    if not match:
        return None
    name, rest = " ".join(match["name"].split()), match["rest"].strip()
    draft = _Draft(name, line.strip())
    if period := _PERIOD.fullmatch(name):
        draft.name = period["name"].strip()
        draft.period = (period["brackets"] or period["slashes"] or "").strip()
    period_line = _PERIOD_LINE.fullmatch(rest)
    if period_line or _TAF_TIME.fullmatch(rest):
        draft.period = (period_line["a"] or period_line["b"]) if period_line else rest.strip("/ ")
    elif _HWO_DAY.match(name.upper()) and rest.endswith(".") and ". " not in rest:
        draft.period = rest.rstrip(".")
    elif rest:
        draft.header = line.strip()[: -len(rest)].strip()
        draft.lines.append(rest)
    return draft, used


def _finish(draft: _Draft, product: str, parts: Parts) -> None:
    lines = draft.lines
    if not draft.header and not draft.zones and not draft.untitled:
        lines = _take_headlines(lines, parts)
    lines, period = _take_period(lines)
    kind = draft.untitled or names.section_kind(draft.name, product, draft.zones)
    if draft.parent:
        above = names.section_kind(draft.parent.name, product, draft.zones)
        kind = kind if above in ("discussion", "update", "key_messages") else above
    lines, issued = _take_issued(lines)
    lines, signed = signatures.take_signature(lines)
    found = watch_list(lines) if kind == "watches" else paragraphs(lines, table=kind == "table")
    parts.forecasters += [name for name in signed if name not in parts.forecasters]
    if not found and not draft.header:
        return
    parts.sections.append(
        Section(
            name=draft.name,
            header=draft.header,
            kind=kind,
            paragraphs=found,
            period=draft.period or period,
            parent=draft.parent.name if draft.parent else None,
            issued=issued[0] if issued else None,
            zones=draft.zones,
        )
    )


def _take_headlines(lines: list[str], parts: Parts) -> list[str]:
    rest: list[str] = []
    for block in blocks(lines):
        while frame := framed(block):
            parts.headlines.append(frame[0])
            block = block[frame[1] :]
        rest += [*block, ""]
    return rest


def _take_period(lines: list[str]) -> tuple[list[str], str]:
    """Take `(Through Thursday)` off the top."""
    for at, line in enumerate(lines[:3]):
        if line.strip():
            if match := _PERIOD_LINE.fullmatch(line.strip()):
                return lines[at + 1 :], match["a"] or match["b"]
            break
    return lines, ""


def _take_issued(lines: list[str]) -> tuple[list[str], tuple[datetime, str] | None]:
    """Take `Issued at 321 AM EDT Tue Aug 20 2024` off the top."""
    for at, line in enumerate(lines[:3]):
        if line.strip():
            if _ISSUED.fullmatch(line.strip()) and (found := times.local_time(unwrap([line]))):
                return lines[at + 1 :], found
            break
    return lines, None
