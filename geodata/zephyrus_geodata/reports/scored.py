"""The text that is scored: a product's forecast, without what no forecast is in."""

from __future__ import annotations

import re
from collections.abc import Iterable

from zephyrus_geodata.reports.product import KINDS, Kind, Paragraph, Product, ReportError, Section

SCORED: tuple[Kind, ...] = ("discussion", "key_messages", "update", "hydrology")
"""The kinds of section that are scored unless others are asked for."""

_ADMINISTRATIVE = re.compile(
    r"(NEW|UPDATED?|CORRECTED|FIXED|AMENDED|RESENT|ISSUED|ADDED)\b[^.]*"
    r"(DISCUSSION|AVIATION|MARINE|TERM|UPDATE|SYNOPSIS|SECTION|HYDROLOGY|FIRE WEATHER|TAFS?|"
    r"KEY MESSAGES|FORECAST|HEADLINES?|CLIMATE|TIDES)[A-Z /,]*\.?|"
    r"\d\dZ (AVIATION|TAFS?)\b[A-Z /,]{0,30}|CORRECTED (FOR|TO) .{3,60}",
    re.IGNORECASE,
)
_LABEL = re.compile(
    r"(?P<label>(?:(?:SUN|MON|TUES|WEDNES|THURS|FRI|SATUR)DAY|TODAY|TONIGHT|OUTLOOK|OVERVIEW|WHAT|"
    r"WHERE|WHEN|IMPACTS?|SUMMARY|DISCUSSION|UPDATE|ADDITIONAL DETAILS)"
    r"(?:[ /](?:NIGHT|MORNING|AFTERNOON|EVENING|THROUGH|INTO|AND|TO|"
    r"(?:SUN|MON|TUES|WEDNES|THURS|FRI|SATUR)DAY|TONIGHT))*)\.{3}\s*(?=\S)",
    re.IGNORECASE,
)


def discussion_text(
    product: Product, *, keep: Iterable[str] = (), headers: bool = True, headlines: bool = True
) -> str:
    """The text of a product that claims are taken from and rubrics look at.

    Sections of `SCORED` kinds are kept; an earlier discussion that is repeated, aviation, marine, fire weather, tides, climate records,
    lists of watches, spotter statements, tables, addresses and signatures are left out. Line
    breaks inside paragraphs are gone. A `...` between words, which old texts in capitals use for
    a comma, becomes one, so that no reader takes it for the end of a sentence; letters keep
    their case. Paragraphs are separated by a blank line, items start with `- `, and the title of
    a section stands on a line of its own, `NEAR TERM (UNTIL 6 AM TUESDAY MORNING):`, and that of a
    nested one with its parent's, `Day 1, Southern High Plains:`.

    Args:
        product: the parsed product.
        keep: further kinds to keep (``aviation``, ``table``, …), or ``all``.
        headers: whether the titles of sections are kept.
        headlines: whether statements framed by dots are kept; those that only tell what was
            updated never are.

    Returns:
        The text; empty if nothing in the product is scored, as in an update of aviation alone.

    Raises:
        ReportError: `keep` names an unknown kind.
    """
    kinds = kept_kinds(keep)
    parts: list[str] = []
    if headlines and "discussion" in kinds:
        parts += [_sentence(text) for text in product.headlines if not _is_administrative(text)]
    titles: dict[str, str] = {}
    earlier = {section.name for section in product.sections if section.kind == "previous"}
    for section in product.sections:
        name = pauses(section.name)
        title = f"{name} ({section.period})" if section.period else name
        if section.parent:
            title = f"{titles.get(section.parent, section.parent)}, {title}"
        titles[section.name] = title
        repeated = section.parent in earlier and "previous" not in kinds
        if section.kind in kinds and not repeated:
            parts += _section(section, title if headers else "", kinds, headlines)
    return "\n\n".join(parts)


def kept_kinds(keep: Iterable[str]) -> frozenset[str]:
    """The kinds that are kept: `SCORED` and those named.

    Raises:
        ReportError: a name is no kind of section.
    """
    named = frozenset(keep)
    if unknown := sorted(named - {"all", *KINDS}):
        raise ReportError(f"{unknown[0]!r} is no kind of section: use all, {', '.join(KINDS)}")
    return frozenset(KINDS) if "all" in named else named.union(SCORED)


def pauses(text: str) -> str:
    """Old texts' `...` as the pause that it is.

    `TOMORROW...LATEST TRENDS` becomes `TOMORROW, LATEST TRENDS`, at the end it goes, and after
    a day or a known label at the start it is a colon: `WEDNESDAY...MVFR` is `WEDNESDAY: MVFR`.
    """
    if label := _LABEL.match(text):
        text = f"{label['label']}: {text[label.end() :]}"
    text = re.sub(r"^\.{3,}\s*", "", text)
    if text.endswith("..."):
        text = text.rstrip(". ")
    # D.C....CENTRAL: the abbreviation keeps its dot
    text = re.sub(r"(?<=[A-Z]\.[A-Z]\.)\.{3}\s*", ", ", text)
    text = re.sub(r"(?<=\b[A-Z]\.[A-Z])\.{3}\s*(?=\S)", "., ", text)
    text = re.sub(r"(?<=[,;:!?\]])\s*\.{3}\s*", " ", text)
    text = re.sub(r"\s*\.{4}\s*(?=\S)", ". ", text)
    return re.sub(r"\s*\.{3,}\s*", ", ", text)


def _section(section: Section, title: str, kinds: frozenset[str], headlines: bool) -> list[str]:
    parts: list[str] = []
    titled = False  # the last paragraph was the title of the next
    for paragraph in section.paragraphs:
        text = _paragraph(paragraph, kinds, headlines)
        if not text:
            continue
        if parts and (titled or (paragraph.kind == "item" and _in_list(parts[-1]))):
            parts[-1] += f"\n{text}"
        else:
            parts.append(text)
        titled = paragraph.kind == "heading"
    if not parts or (len(parts) == 1 and _is_administrative(parts[0])):
        return []
    if title:
        parts[0] = f"{title}:\n{parts[0]}"
    return parts


def _in_list(part: str) -> bool:
    return part.rpartition("\n")[2].startswith("- ")


def _paragraph(paragraph: Paragraph, kinds: frozenset[str], headlines: bool) -> str:
    if paragraph.kind == "table":
        return paragraph.text if "table" in kinds or "watches" in kinds else ""
    if paragraph.kind == "note":
        return paragraph.text if "other" in kinds else ""
    if paragraph.kind == "headline":
        return (
            _sentence(paragraph.text)
            if headlines and not _is_administrative(paragraph.text)
            else ""
        )
    text = pauses(paragraph.text)
    if paragraph.kind == "heading":
        return f"{text}:"
    return f"- {text}" if paragraph.kind == "item" and text else text


def _sentence(text: str) -> str:
    text = pauses(text)
    return text if text.endswith((".", "!", "?", ":")) else f"{text}."


def _is_administrative(text: str) -> bool:
    return len(text) < 200 and _ADMINISTRATIVE.fullmatch(text.strip().rstrip(".")) is not None
