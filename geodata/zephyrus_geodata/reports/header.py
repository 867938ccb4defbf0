"""The head of a bulletin: LDM number, WMO header, AWIPS identifier, title, office and time.

The layout, of which any line but the text may be missing::

    000                                LDM sequence number, or ZCZC …
    FXUS61 KBOX 270001 AAA             WMO: TTAAII CCCC DDHHMM [BBB]
    AFDBOX                             AWIPS identifier
    SPC AC 080035 / NCZ002-022115-     a centre's own number, zones
    AREA FORECAST DISCUSSION           title
    NATIONAL WEATHER SERVICE TAUNTON MA
    701 PM EST MON NOV 26 2012
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import datetime

from zephyrus_geodata.reports import names, times, ugc

WMO = re.compile(
    r"(?P<ttaaii>[A-Z]{4}\d{0,2}) (?P<cccc>[A-Z][A-Z0-9]{3}) (?P<ddhhmm>\d{6})(?: (?P<bbb>[A-Z]{3}))?"
)
_AWIPS = re.compile(r"[A-Z][A-Z0-9]{2}[A-Z0-9]{1,3}")
_KNOWN_AWIPS = re.compile(r"(AFD|HWO|PMD|SWO|QPF|SPS|CWF|RFD|FFGMPD)[A-Z0-9]{0,3}")
_NUMBER = re.compile(r"\d{3}")
_LENGTH = re.compile(r"####\d{6,12}####")
_NO_TEXT = re.compile(r"^\s*(\d{3}|####\d{6,12}####)\s*$", re.MULTILINE)
_OFFICE = re.compile(
    r"(NATIONAL WEATHER SERVICE|NWS|ISSUED BY|[A-Z]{0,22} ?PREDICTION CENTER)\b", re.IGNORECASE
)
_CHANGED = re.compile(r"\s*-{1,2} ?(END )?CHANGED DISCUSSION ?-{0,2}", re.IGNORECASE)
"""Marks that some offices set around what is new: no part of the text."""
_CENTRE = re.compile(r"(SPC (AC|MCD|FWDY\d)|WPC MPD) \d{6}(?: (?P<cor>COR))?", re.I)
_FILLER = re.compile(r"ZCZC\b.*|NNNN|[BU]ULLETIN.*|URGENT.*", re.I)
_MND_LINES = 14
"""The time line stands within this many lines of the top."""


@dataclass(frozen=True)
class Header:
    """What the head of a bulletin says; empty strings for what it doesn't.

    Attributes:
        ddhhmm: day, hour and minute of the WMO header.
        issued: the text's own time (UTC) and the name of its zone, if it has a time line.
        body: the lines below the head.
    """

    wmo: str
    office: str
    ddhhmm: str
    correction: str
    awips: str
    title: str
    office_name: str
    issued: tuple[datetime, str] | None
    body: tuple[str, ...]


def clean(text: str) -> str:
    r"""The text with `\n` line ends, without control characters and blanks at line ends."""
    text = text.replace("\r\r\n", "\n").replace("\r\n", "\n").replace("\r", "\n")
    text = text.replace("\t", "    ").replace("\xa0", " ")
    text = "".join(char for char in text if char == "\n" or char.isprintable())
    return "\n".join(line.rstrip() for line in text.split("\n"))


def split_bulletins(text: str) -> list[str]:
    r"""Cut a file into its bulletins: at \x01 and \x03, NNNN, and before each WMO header.

    The gateway's files put `####018001767####`, the length, above each bulletin.

    A WMO header opens a bulletin only if an AWIPS identifier follows, so that one quoted in a
    text cuts nothing. Pieces without a letter or digit other than an LDM number are dropped.
    """
    pieces = []
    for chunk in re.split(r"[\x01\x03]|^NNNN\s*$", text, flags=re.MULTILINE):
        lines = chunk.split("\n")
        plain = [line.strip() for line in lines]
        cuts = [0]
        for at, line in enumerate(plain[:-1]):
            if not WMO.fullmatch(line) or not _AWIPS.fullmatch(plain[at + 1]):
                continue
            while at > cuts[-1] and (not plain[at - 1] or _opens(plain[at - 1])):
                at -= 1
            if at > cuts[-1]:
                cuts.append(at)
        pieces += ["\n".join(lines[a:b]) for a, b in zip(cuts, [*cuts[1:], None], strict=True)]
    return [piece for piece in pieces if re.search(r"\w", _NO_TEXT.sub("", piece))]


def _opens(line: str) -> bool:
    return bool(_NUMBER.fullmatch(line) or _LENGTH.fullmatch(line)) or line.startswith("ZCZC")


def read_header(text: str) -> Header:
    """Read the head of one cleaned bulletin. Nothing in it is required."""
    lines = text.split("\n")
    at, wmo, bbb = _wmo(lines)
    at, awips = _awips(lines, at, bool(wmo))
    title = office_name = ""
    correction = bbb
    issued = None
    body = at
    limit = min(len(lines), at + _MND_LINES)
    while at < limit:
        line = lines[at].strip()
        if zones := ugc.segment_at(lines, at):
            # Zones above the title (a mesoscale discussion) are the head's, below it the body's
            if title:
                break
            at = body = zones.end
            limit = min(len(lines), at + _MND_LINES)
            continue
        if line and (found := times.local_time(line)) and not line.startswith("."):
            issued, body = found, at + 1
            break
        if centre := _CENTRE.fullmatch(line):
            correction = correction or (centre["cor"] or "").upper()
            body = at + 1
        elif not office_name and _OFFICE.match(line):
            office_name, body = line, at + 1
        elif not title and names.titled_product(line):
            title, body = line, at + 1
        elif line.startswith((".", "*", "&&", "$$")):
            break
        elif line and not title and not office_name and _mnd_follows(lines, at):
            title, body = line, at + 1
        elif _FILLER.fullmatch(line):
            body = at + 1
        at += 1
    return Header(
        wmo=wmo["ttaaii"] if wmo else "",
        office=wmo["cccc"] if wmo else _office(office_name),
        ddhhmm=wmo["ddhhmm"] if wmo else "",
        correction=correction,
        awips=awips,
        title=title,
        office_name=office_name,
        issued=issued,
        body=tuple(line for line in lines[body:] if not _CHANGED.fullmatch(line)),
    )


def _wmo(lines: list[str]) -> tuple[int, re.Match[str] | None, str]:
    for at, line in enumerate(lines[:10]):
        # Some archives run the LDM number into the header: `523 FXUS65 KPSR 211216`
        line = re.sub(r"^\d{3} (?=[A-Z]{4})", "", line.strip())
        if match := WMO.fullmatch(" ".join(line.split())):
            return at + 1, match, match["bbb"] or ""
    return 0, None, ""


def _awips(lines: list[str], at: int, has_wmo: bool) -> tuple[int, str]:
    pattern = _AWIPS if has_wmo else _KNOWN_AWIPS
    for offset, line in enumerate(lines[at : at + (2 if has_wmo else 6)]):
        if pattern.fullmatch(line.strip()):
            return at + offset + 1, line.strip()
    return at, ""


def _mnd_follows(lines: list[str], at: int) -> bool:
    """Whether an office or a time line follows within two lines: then this line is a title."""
    following = [line.strip() for line in lines[at + 1 : at + 3]]
    return any(_OFFICE.match(line) or times.local_time(line) for line in following)


def _office(office_name: str) -> str:
    name = office_name.upper()
    return next((code for centre, code in names.OFFICES.items() if centre in name), "")
