r"""From a bulletin, an API answer or a file to Products.

`parse_product` reads one text and raises `ReportError` with the reason where it is none;
`parse_products` reads many and keeps what it refused; `read_products` reads a file. Accepted
are plain bulletins, IEM's joined ones (\x01 … \x03), the product JSON of api.weather.gov, and
recorded answers of either (VCR cassettes, YAML).
"""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

from zephyrus_geodata.reports import names, times
from zephyrus_geodata.reports.centers import read_center_sections
from zephyrus_geodata.reports.header import Header, clean, read_header, split_bulletins
from zephyrus_geodata.reports.product import (
    IssuedFrom,
    Product,
    Refusal,
    ReportError,
    Section,
)
from zephyrus_geodata.reports.sections import read_sections

Source = str | bytes | Mapping[str, Any]

LEAST_WORDS = 12
"""A product with fewer words below its head is a stub."""

MOST_CHARACTERS = 200_000
"""No bulletin is longer; the longest discussions have some 30,000."""

_TEST = re.compile(
    r"\s*(\.{3})?\s*(THIS IS (ONLY )?A TEST\b|TEST MESSAGE|TEST\.{3}|.{0,30}\bTHIS MESSAGE IS FOR TEST)",
    re.IGNORECASE,
)
_NIL = re.compile(
    r"\W*(NIL|NONE|NO (DISCUSSION|PRODUCT) (ISSUED|AVAILABLE).{0,30})\W*", re.IGNORECASE
)
_FLIP = timedelta(hours=12)
_SLACK = timedelta(minutes=30)


@dataclass(frozen=True)
class Parsed:
    """What a text or file holds: the products in it, and what was refused."""

    products: tuple[Product, ...]
    refused: tuple[Refusal, ...]


def parse_product(source: Source, *, near: datetime | None = None) -> Product:
    """Read one product.

    Args:
        source: a bulletin as text or bytes, or a product of api.weather.gov as JSON text or dict.
        near: a date near the time of issue (UTC unless it has a zone). Needed only for a
            bulletin without a time line, whose WMO header gives the day of the month alone; it
            never moves a time that the text states in full.

    Raises:
        ReportError: the text is no product, a stub, a test, a listing, or can't be dated.
    """
    text, record = _text(source)
    bulletins = split_bulletins(text)
    if len(bulletins) > 1:
        raise ReportError(f"the text holds {len(bulletins)} bulletins: use parse_products")
    if not bulletins:
        raise ReportError("the text is empty")
    return _parse(bulletins[0], record, near)


def parse_products(source: Source | Iterable[Source], *, near: datetime | None = None) -> Parsed:
    """Read every product of a text; what is none is refused with its reason, not raised.

    The same bulletin twice is read once.

    Args:
        source: as for `parse_product`, with any number of bulletins; or several such.
        near: as for `parse_product`.
    """
    sources = [source] if isinstance(source, (str, bytes, Mapping)) else list(source)
    products: list[Product] = []
    refused: list[Refusal] = []
    seen: set[str] = set()
    for one in sources:
        try:
            text, record = _text(one)
        except ReportError as error:
            refused.append(Refusal(str(error), _shown(one)))
            continue
        bulletins = split_bulletins(text)
        if not bulletins:
            refused.append(Refusal("the text is empty", text))
        for bulletin in bulletins:
            if bulletin in seen:
                continue
            seen.add(bulletin)
            try:
                products.append(_parse(bulletin, record, near))
            except ReportError as error:
                refused.append(Refusal(str(error), bulletin))
    return Parsed(tuple(products), tuple(refused))


def read_products(
    path: Path | str,
    *,
    near: datetime | None = None,
    on_refused: Callable[[Refusal], None] | None = None,
) -> list[Product]:
    """Read every product of a file.

    Args:
        path: a file ("-" is standard input) of bulletins, a product's JSON, an archive's `reports.jsonl`, or a cassette
            (`.yaml`).
        near: as for `parse_product`.
        on_refused: is told of each text that is refused; without it the first one is raised.

    Raises:
        ReportError: the file can't be read, or a text in it is refused and `on_refused` is None.
    """
    parsed = parse_products(_sources(Path(path)), near=near)
    for refusal in parsed.refused:
        if on_refused is None:
            raise ReportError(f"{path}: {refusal.reason}")
        on_refused(refusal)
    return list(parsed.products)


def _sources(path: Path) -> list[Source]:
    try:
        data = sys.stdin.buffer.read() if str(path) == "-" else path.read_bytes()
    except OSError as error:
        raise ReportError(f"{path} can't be read: {error.strerror or error}") from None
    if b"\0" in data:
        raise ReportError(f"{path} is no text: it holds zero bytes, as pictures and archives do")
    if path.suffix.lower() == ".jsonl":
        return [_archived(path, line) for line in data.splitlines() if line.strip()]
    if path.suffix.lower() not in (".yaml", ".yml"):
        return [data]
    import yaml

    try:
        cassette = yaml.load(data, Loader=getattr(yaml, "CSafeLoader", yaml.SafeLoader))
        return [
            interaction["response"]["body"]["string"] for interaction in cassette["interactions"]
        ]
    except (yaml.YAMLError, KeyError, TypeError, ValueError):
        raise ReportError(f"{path} is YAML, but not a cassette of recorded answers") from None


def _archived(path: Path, line: bytes) -> Source:
    """One line of an archive's `reports.jsonl`, as the API's record."""
    try:
        record = json.loads(line)
        return {"productText": record["text"], "issuanceTime": record["issued"]}
    except (ValueError, KeyError, TypeError, RecursionError):
        raise ReportError(f"{path} is not an archive of reports: a line has no text") from None


def _text(source: Source) -> tuple[str, Mapping[str, Any]]:
    """The bulletins' text, and the API's record if they came in one."""
    if isinstance(source, Mapping):
        record: Any = source
    else:
        text = _decoded(source) if isinstance(source, bytes) else source
        if not text.lstrip().startswith("{"):
            return text, {}
        try:
            record = json.loads(text)
        except (ValueError, RecursionError):
            raise ReportError("the text starts as JSON but can't be read as JSON") from None
    product_text = record.get("productText")
    if isinstance(product_text, str) and product_text.strip():
        return product_text, record
    if isinstance(listing := record.get("@graph"), list):
        raise ReportError(
            f"this is a listing of {len(listing)} products without their texts: fetch each by its id"
        )
    if "productText" in record:
        raise ReportError("the API's productText is empty")
    raise ReportError("this JSON is not a product of api.weather.gov: it has no productText")


def _decoded(data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("latin-1")


def _shown(source: Source) -> str:
    if isinstance(source, bytes):
        return source.decode("utf-8", "replace")
    return source if isinstance(source, str) else json.dumps(source, default=str)


def _parse(bulletin: str, record: Mapping[str, Any], near: datetime | None) -> Product:
    if len(bulletin) > MOST_CHARACTERS:
        raise ReportError(f"it has {len(bulletin)} characters, too many for a bulletin")
    header = read_header(clean(bulletin))
    product = _product(header, record)
    body = [line for line in header.body if line.strip()]
    words = sum(len(line.split()) for line in body)
    opening = next((line for line in body if line.strip(". &$")), "")
    if _TEST.match(opening):
        raise ReportError("it is a test message")
    if _NIL.fullmatch(" ".join(" ".join(body).split())):
        raise ReportError("it is nil: the office had nothing to issue")
    if words < LEAST_WORDS:
        raise ReportError(f"it is a stub: only {words} words below its head")
    if not product:
        raise ReportError("it names no product: neither AWIPS identifier nor a known title")
    notes: list[str] = []
    issued, issued_from = _issued(header, record, near, notes)
    if names.is_framed(product):
        parts = read_center_sections(header.body, product, issued)
        days = [section.valid for section in parts.sections if section.valid]
        valid = times.valid_period("\n".join(header.body), issued)
        if days:  # of a product for several days: the first's start to the last's end
            valid = days[0][0], max(end for _, end in days)
    else:
        parts = read_sections(header.body, product, header.issued)
        valid = None
    if not any(section.words for section in parts.sections):
        raise ReportError("it has no text in any section")
    return Product(
        product=product,
        awips=header.awips,
        wmo=header.wmo or _string(record, "wmoCollectiveId"),
        office=header.office or _string(record, "issuingOffice"),
        office_name=header.office_name,
        title=header.title or _string(record, "productName"),
        correction=header.correction,
        issued=issued,
        issued_from=issued_from,
        zone=header.issued[1] if header.issued else "",
        valid=valid,
        sections=tuple(_unique(parts.sections)),
        headlines=tuple(parts.headlines),
        forecasters=tuple(dict.fromkeys(parts.forecasters)),
        notes=tuple(notes),
        raw=bulletin,
    )


def _product(header: Header, record: Mapping[str, Any]) -> str:
    named = names.titled_product(header.title)
    if header.awips:
        return names.product_name(header.awips)
    code = _string(record, "productCode").upper()
    if named and (not code or named.startswith(code)):
        return named
    return code or named or ""


def _issued(
    header: Header, record: Mapping[str, Any], near: datetime | None, notes: list[str]
) -> tuple[datetime, IssuedFrom]:
    """The time of issue: of the text, else of the API, else of the WMO header near a date."""
    api = _api_time(record)
    if header.issued:
        stated = header.issued[0]
        sent = _header_time(header, stated)
        if sent and abs(abs(stated - sent) - _FLIP) <= _SLACK:
            # AM for PM, or the reverse: a known slip, and the header is made by a machine
            notes.append(
                f"the text says {stated:%H%M} UTC, the header {sent:%H%M}: taken the header's"
            )
            return sent, "header"
        if sent and abs(stated - sent) > timedelta(hours=24):
            notes.append(f"the header's day, {header.ddhhmm[:2]}, is not near the text's date")
        return stated, "text"
    if api:
        return api, "api"
    if not header.ddhhmm:
        raise ReportError("it can't be dated: neither a time line nor a WMO header")
    if near is None:
        raise ReportError(
            f"it can't be dated: its header gives the day of the month ({header.ddhhmm[:2]}) alone; "
            "say what date it is near"
        )
    sent = _header_time(header, near)
    if sent is None:
        raise ReportError(f"it can't be dated: its header's time, {header.ddhhmm}, is none")
    return sent, "header"


def _header_time(header: Header, near: datetime) -> datetime | None:
    return times.near_day(header.ddhhmm, near) if header.ddhhmm else None


def _api_time(record: Mapping[str, Any]) -> datetime | None:
    try:
        return times.utc(datetime.fromisoformat(_string(record, "issuanceTime")))
    except (ValueError, OverflowError):
        return None


def _string(record: Mapping[str, Any], key: str) -> str:
    value = record.get(key)
    return clean(value[:200]).strip() if isinstance(value, str) else ""


def _unique(sections: list[Section]) -> list[Section]:
    """Without sections that have neither title nor text."""
    return [section for section in sections if section.name or section.paragraphs]
