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
from zephyrus_geodata.reports.product import Kind, Paragraph, Section
from zephyrus_geodata.reports.sections import Parts

_DAYS = re.compile(r"(?P<name>DAYS? \d(?: ?(?:-|AND|TO) ?\d)?)(?P<dots>\.{3})?", re.IGNORECASE)
_LONG_RANGE = re.compile(
    r"(?P<name>\d{1,2} ?(?:-|TO) ?\d{1,2}[- ]DAY OUTLOOK|WEEKS? \d(?: ?(?:-|AND) ?\d)? OUTLOOK)"
    r"(?: VALID)? FOR (?P<period>[A-Z]{3}[\w ,-]{5,40}?\d)[ .]*",
    re.IGNORECASE,
)
"""`6-10 DAY OUTLOOK FOR SEP 21 - 25 2008` of the Climate Prediction Center."""
_VALID = re.compile(r"(\.{3})?\s*VALID\b", re.IGNORECASE)
_LABEL = re.compile(
    r"(?P<name>AREAS? AFFECTED|CONCERNING|PROBABILITY OF WATCH ISSUANCE|SUMMARY|DISCUSSION|"
    r"SYNOPSIS|UPDATE)\.\.\.\s*(?P<rest>.*)",
    re.IGNORECASE,
)
_HAZARDS = re.compile(r"HAZARDS?:", re.IGNORECASE)
"""The list that stands below the name in an extended discussion."""
_PREVIOUS = re.compile(
    r"[.*~ -]{0,4}(?P<name>PREV(?:IOUS)?\.? DISC(?:USSION)?)\b[.*~: -]{0,5}(?P<rest>/.{0,60}/)?",
    re.IGNORECASE,
)
"""`..Previous Discussion..`; `.PREV DISCUSSION... /ISSUED 1128 AM CDT MON JUN 3 2024/`."""
_RULE = re.compile(r"[~=_-]{6,}")
"""Lines above it are titles, `Lower 48 and vicinity` for example."""
_RULED_LINES, _RULED_WIDTH = 6, 66
_TRAILER = re.compile(
    r"(\.{3})?(ATTN\.\.\.|LAT\.\.\.LON|(PLEASE )?SEE WWW|PLEASE SEE|SEE NOUS\d|GRAPHICS AVAILABLE|CLICK TO GET|"
    r"NOTE: THE NEXT|CLICK HERE|DAYS? \d.{0,12} THREAT AREA:|MOST PROBABLE PEAK|"
    r"REFERENCE AWIPS GRAPHIC|MODEL TRENDS AT|500 MB FORECASTS AT|LAST UPDATED:|"
    r"ADDITIONAL 3-7 DAY HAZARD|WPC MEDIUM RANGE 500 ?MB HEIGHTS|"
    r"(FINAL|PRELIM(INARY)?)\.? DAY 1\b.{0,30} DISCUSSION$)",
    re.IGNORECASE,
)
_SHORT = ("AREA AFFECTED", "AREAS AFFECTED", "CONCERNING", "PROBABILITY OF WATCH ISSUANCE")
_STATEMENT = re.compile(
    r"\b(THERE (IS|ARE)|IS|ARE|WILL|WAS|REMAINS?|CONTINUES?|EXPECTED|FORECAST|POSSIBLE|LIKELY|"
    r"(SLIGHT|MARGINAL|MODERATE|HIGH|ENHANCED|SLGT|MDT) RISK|TODAY|TONIGHT|"
    r"THROUGH (THIS|LATE|EARLY|TOMORROW|THE (DAY|NIGHT|WEEK|PERIOD|MORNING|AFTERNOON|EVENING)|"
    r"(SUN|MON|TUES?|WED|THU|FRI|SAT))\w*|"
    r"TO (BRING|IMPACT|AFFECT|SPREAD|PERSIST|CONTINUE|PRODUCE|LINGER|EXPAND|FOCUS))\b",
    re.IGNORECASE,
)
_END = re.compile(r"NOTES?:|[\w -]{1,20}OUTLOOK TABLE", re.IGNORECASE)
"""Nothing below is text of the Climate Prediction Center's discussions but notes and tables."""
_SIGNED = re.compile(r"FORECASTER: (?P<who>.{2,40})", re.IGNORECASE)
_REVISION = re.compile(r"\b(UPDATE|PREV(IOUS)? DISC(USSION)?)\b", re.IGNORECASE)
"""Titles inside a section: `...Central Gulf Coast...`, then `...16Z Update...`."""

_WINDOW = 10
"""Lines that are looked at together: as many as a statement between dots may have, and more."""

_BARE = re.compile(
    r".*\b(DISCUSSION|SUMMARY|SYNOPSIS|OVERVIEW|UPDATE|GUIDANCE|EVALUATION|ASSESSMENT|PREFERENCES?|"
    r"HIGHLIGHTS|CONFIDENCE)\b.*",
    re.IGNORECASE,
)
"""Titles by their words: no headlines, even where a day's or a region's titles follow at once."""

_HEADLINE_ONLY = "PMDSPD"
"""Its statements between dots, above the text, are all headlines."""


@dataclass
class _Draft:
    name: str = ""
    header: str = ""
    parent: str | None = None
    period: str = ""
    issued: datetime | None = None
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
    """The lines up to `$$` or the last signature; `&&` marks nothing here.

    Below a signature only an earlier discussion is text, if the product repeats it.
    """
    lines: list[str] = []
    signed = False
    for line in body:
        if line.strip() == "$$" or _END.fullmatch(line.strip()):
            break
        signed = signed and not _PREVIOUS.fullmatch(line.strip())
        if not signed:
            lines.append("" if line.strip() == "&&" else line)
            signed = signatures.centre_signature(line) is not None
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
    if match := _SIGNED.fullmatch(first):
        parts.forecasters.append(match["who"].strip())
        return 1, day
    if previous := _PREVIOUS.fullmatch(first):
        drafts.append(_previous(previous, last, day))
        return 1, drafts[-1].name if drafts[-1].issued else day
    if used := _ruled(block, drafts, day):
        return used, day
    if not any(char.isalnum() for char in first):
        return 1, day
    days = _DAYS.fullmatch(first)
    if days and days["dots"] and last.name not in ("", day) and last.empty:
        last.period = days["name"]  # `...Southern Rockies...`, then `Days 1-3...`
        return 1, day
    if days and (days["dots"] or len(block) == 1 or _VALID.match(block[1])):
        drafts.append(_Draft(name=days["name"], header=first))
        return 1, days["name"]
    if outlook := _LONG_RANGE.fullmatch(first):
        drafts.append(_Draft(outlook["name"], first, period=outlook["period"]))
        return 1, day
    if _HAZARDS.fullmatch(first):
        drafts.append(_Draft(first.rstrip(":"), first, parent=day))
        return 1, day
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


def _previous(match: re.Match[str], last: _Draft, day: str | None) -> _Draft:
    """The section of an earlier discussion that is repeated, in the region that is open."""
    region = last.parent if _REVISION.search(last.name) else last.name
    issued = times.local_time(match["rest"] or "")
    if issued:  # it covers the whole product
        region, day = None, None
    return _Draft(
        match["name"],
        match.group().strip(),
        parent=region or day,
        issued=issued[0] if issued else None,
    )


def _ruled(block: list[str], drafts: list[_Draft], day: str | None) -> int:
    """Read titles with a rule of `~` below them: the lines used, 0 without one."""
    rule = next((at for at, line in enumerate(block) if _RULE.fullmatch(line.strip())), -1)
    if not 0 <= rule <= _RULED_LINES or any(
        line.rstrip().endswith(".") for line in block[:rule] if not line.rstrip().endswith("...")
    ):
        return 0
    names: list[str] = []
    at = 0
    while at < rule:
        text, used = framed(block[at:rule]) or (block[at].strip(), 1)
        room = _RULED_WIDTH - len(block[at - 1].rstrip()) if at else 0
        # A title goes on with a small letter, or below a line that was full
        if names and (text[:1].islower() or len(text.split()[0]) >= room):
            names[-1] += f" {text}"
        else:
            names.append(text)
        at += used
    if names:
        drafts.append(_Draft("; ".join(names), unwrap(block[:rule]), parent=day))
    return rule + 1


def _is_headline(text: str, last: _Draft, product: str) -> bool:
    top = last.empty and (not last.name or last.name.upper().startswith("DAY"))
    if not top or (_BARE.fullmatch(text) and product != _HEADLINE_ONLY):
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
        if not _BARE.fullmatch(draft.name):
            parts.headlines.append(draft.name)
        return
    kind = names.section_kind(draft.name, product)
    other: Kind = "fire" if product.startswith("FWD") else "discussion"
    parts.sections.append(
        Section(
            name=draft.name,
            header=draft.header,
            kind=kind if kind in ("key_messages", "update") else other,
            paragraphs=found,
            period=draft.period,
            parent=draft.parent,
            issued=draft.issued,
            valid=draft.valid,
        )
    )
