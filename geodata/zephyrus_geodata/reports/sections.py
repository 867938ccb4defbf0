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
    r"(?P<name>.*?\S)(?:\s*(?:\((?P<brackets>[^()]*)\)|\[(?P<square>[^\[\]]*)\])"
    r"|\s+/(?P<slashes>[^/].*)/)\s*/?"
)
_PERIOD_LINE = re.compile(
    r"(?:\((?P<a>[^()]{2,80})\)|/(?P<b>[^/][^\n]{1,78})/|\[(?P<c>[^\[\]]{2,80})\])\.{0,3}"
    r"(?:UPDATED?)?",
    re.IGNORECASE,
)
_TAF_TIME = re.compile(r"/?\d{2}/?\d{0,2}Z( TAFS?)?/?( ISSUANCE)?", re.IGNORECASE)
_ISSUED = re.compile(r"(?:UPDATE )?(?:ISSUED|UPDATED)(?: AT)?\b.{0,60}", re.IGNORECASE)
_WHEN = (
    r"(?:(?:THE )?(?:REST OF|REMAINDER OF|LATE|EARLY|LATER)? ?(?:TODAY|TONIGHT|TOMORROW|OVERNIGHT|"
    r"(?:THIS |THE |NEXT )?(?:MORNING|AFTERNOON|EVENING|WEEKEND|WEEK)|"
    r"(?:NEXT )?(?:SUN|MON|TUES|WEDNES|THURS|FRI|SATUR)DAY)"
    r"(?: NIGHT| MORNING| AFTERNOON| EVENING)?)"
)
_PERIOD_PHRASE = re.compile(
    rf"{_WHEN}(?:(?: (?:THROUGH|THRU|AND|INTO|TO|UNTIL) | ?[/-] ?){_WHEN})*\s?\.{{0,4}}",
    re.IGNORECASE,
)
"""`Today through Sunday`, without brackets or slashes behind a title."""
_PERIOD_WIDTH = 60
_ISSUED_AT = re.compile(r"^(?:(?:UPDATE |ISSUED |UPDATED |AT )+)", re.IGNORECASE)

_PREVIOUS = re.compile(r"PREV(IOUS)? DISC(USSION)?\b", re.IGNORECASE)
_BARE_TITLE = re.compile(
    r"(SYNOPSIS|NEAR TERM|SHORT TERM|LONG TERM|EXTENDED|DISCUSSION|UPDATE|KEY MESSAGES|HYDROLOGY|"
    r"AVIATION|MARINE|BEACH(ES)?|FIRE WEATHER|TROPICAL|CLIMATE|TIDES)\b[^.]{0,60}\.{3}.*",
)
"""A title in an earlier discussion that is repeated: its dot is taken off."""
_FROM_PREVIOUS = re.compile(r"\s*/\s*from prev\w*\.? disc\w*$", re.IGNORECASE)


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


def read_sections(
    body: Iterable[str], product: str, stated: tuple[datetime, str] | None = None
) -> Parts:
    """Cut the text below the head into sections.

    `$$` ends a part; one that has neither zones nor a title is the trailer, of which only the
    names of the forecasters are kept. `&&` closes a section: what follows without a title is a
    note. Text above the first title is a section without name, statements between dots there
    are headlines.

    Args:
        body: the lines below the head.
        product: as `Product.product`.
        stated: the text's own time (UTC) and the name of its zone; completes the times of
            sections (`07/819 PM`).
    """
    parts = Parts()
    for number, chunk in enumerate(_chunks(body)):
        drafts = _drafts(chunk, product)
        titled = any(draft.header or draft.zones for draft in drafts)
        if number and not titled:
            parts.forecasters += signatures.trailer_names(chunk)
            continue
        for draft in drafts:
            _finish(draft, product, parts, stated)
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
        repeated = not closed and top is not None and _PREVIOUS.match(top.name)
        if (
            repeated
            and _BARE_TITLE.fullmatch(line)
            and (title := _title([f".{line}", *lines[at + 1 :]], 0))
        ):
            draft, used = title
            draft.header, draft.parent = draft.header[1:], top
            drafts.append(draft)
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
    name = _FROM_PREVIOUS.sub("", name)
    draft = _Draft(name, line.strip())
    if period := _PERIOD.fullmatch(name):
        draft.name = period["name"].strip()
        draft.period = next((found for found in period.groups()[1:] if found), "").strip()
    below = lines[at + used : at + used + 1]
    period_line = _PERIOD_LINE.fullmatch(rest)
    if period_line or _TAF_TIME.fullmatch(rest):
        draft.period = _inside(period_line) if period_line else rest.strip("/ ")
    elif _is_period(rest, below) and len(line) < _PERIOD_WIDTH:
        draft.period = rest.rstrip(". ")
    elif below and below[0].endswith("...") and _is_period(f"{rest} {below[0].strip()}", []):
        draft.period, used = f"{rest} {below[0].strip()}".rstrip(". "), used + 1
    elif rest:
        draft.header = line.strip()[: -len(rest)].strip()
        draft.lines.append(rest)
    return draft, used


def _inside(match: re.Match[str]) -> str:
    """What the brackets or slashes hold."""
    return next(found for found in match.groups() if found)


def _is_period(rest: str, below: list[str]) -> bool:
    """Whether the words behind a title are its period, and not the start of a sentence."""
    if not _PERIOD_PHRASE.fullmatch(rest):
        return False
    following = below[0].split() if below else []
    # The line was ended on purpose if the next word would have had room
    return rest.endswith(".") or not following or not following[0][0].islower()


def _finish(draft: _Draft, product: str, parts: Parts, stated: tuple[datetime, str] | None) -> None:
    lines = draft.lines
    if not draft.header and not draft.zones and not draft.untitled:
        lines = _take_headlines(lines, parts)
    lines, period = _take_period(lines)
    kind = draft.untitled or names.section_kind(draft.name, product, draft.zones)
    if draft.parent:
        above = names.section_kind(draft.parent.name, product, draft.zones)
        whole = ("discussion", "update", "key_messages", "previous")
        kind = kind if above in whole else above
    lines, issued = _take_issued(lines, stated)
    lines = [line for line in lines if not _is_issued(line)]
    period = draft.period or period
    if _is_issued(f"ISSUED {period}") and (told := times.local_time(period)):
        issued, period = told[0], ""  # `/300 AM MST Tue Jun 27 2017/` below a title
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
            period=period,
            parent=draft.parent.name if draft.parent else None,
            issued=issued,
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
                return lines[at + 1 :], _inside(match)
            break
    return lines, ""


def _is_issued(line: str) -> bool:
    """Whether a line only tells when its text was written: `UPDATE ISSUED AT 819 AM EDT …`."""
    line = line.strip()
    return _ISSUED.fullmatch(line) is not None and times.is_local_time(_ISSUED_AT.sub("", line))


def _take_issued(
    lines: list[str], stated: tuple[datetime, str] | None
) -> tuple[list[str], datetime | None]:
    """Take `Issued at 321 AM EDT Tue Aug 20 2024` or `20/321 AM.` off the top."""
    for at, line in enumerate(lines[:3]):
        if line.strip():
            if _ISSUED.fullmatch(line.strip()) and (found := times.local_time(unwrap([line]))):
                return lines[at + 1 :], found[0]
            if times.is_day_and_clock(line.strip()):
                return lines[at + 1 :], times.day_and_clock(line.strip(), stated)
            break
    return lines, None
