"""What a report is: a Product of Sections of Paragraphs."""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Literal, get_args

from zephyrus_geodata.errors import ReportError

__all__ = ["KINDS", "Kind", "Paragraph", "Product", "Refusal", "ReportError", "Section"]

Kind = Literal[
    "discussion",
    "key_messages",
    "update",
    "previous",
    "hydrology",
    "aviation",
    "marine",
    "fire",
    "tides",
    "climate",
    "watches",
    "spotter",
    "table",
    "other",
]
"""What a section is about. ``previous`` is an earlier discussion, repeated; ``other`` is what no
forecast is in: notes, addresses, coordinates."""

KINDS: tuple[Kind, ...] = get_args(Kind)

ParagraphKind = Literal["prose", "item", "heading", "headline", "table", "note"]
"""``item`` is one bullet, ``heading`` a title inside a section, ``headline`` a statement framed
by dots, ``table`` lines kept as they are, ``note`` an address or a hint where to find more."""

IssuedFrom = Literal["text", "header", "api"]
"""Where the time of issue was read: the text's own time line (`1145 AM CST SAT JAN 5 2013`), the
day and time of the WMO header with a date near it, or the API's ``issuanceTime``."""


@dataclass(frozen=True)
class Paragraph:
    """One paragraph, unwrapped: its line breaks are gone, its words and units are not."""

    kind: ParagraphKind
    text: str


@dataclass(frozen=True)
class Section:
    """A titled part of a product.

    Attributes:
        name: the title without dots and period, as written (``NEAR TERM``, ``Carolinas``);
            empty for text that has no title.
        header: the title line as written, dots and all; empty without one.
        kind: what it is about.
        paragraphs: its text.
        period: the words that the title gives for the time (``UNTIL 6 AM TUESDAY MORNING``).
        parent: the name of the section it stands in (``.UPDATE`` under ``.NEAR TERM``), if any.
        issued: when this section was written (UTC), if it says so itself.
        valid: start and end of its own valid period (UTC), if stated.
        zones: the UGC codes of its segment (``VAZ010``), expanded.
    """

    name: str
    header: str
    kind: Kind
    paragraphs: tuple[Paragraph, ...]
    period: str = ""
    parent: str | None = None
    issued: datetime | None = None
    valid: tuple[datetime, datetime] | None = None
    zones: tuple[str, ...] = ()

    @property
    def words(self) -> int:
        """The number of words in its paragraphs."""
        return sum(len(paragraph.text.split()) for paragraph in self.paragraphs)


@dataclass(frozen=True)
class Product:
    """One issuance of a National Weather Service text product.

    Attributes:
        product: ``AFD``, ``HWO``, … for a forecast office's products; the whole identifier for
            those of national centres (``PMDSPD``, ``SWODY1``, ``SWOMCD``, ``FFGMPD``).
        awips: the AWIPS identifier (``AFDBOX``); empty if the bulletin has none.
        wmo: the WMO heading (``FXUS61``); empty if the bulletin has none.
        office: the four letters of the issuing office (``KBOX``); empty if not told.
        office_name: as the text names it (``National Weather Service Taunton MA``).
        title: as the text names the product (``Area Forecast Discussion``).
        correction: the BBB group (``AAA``, ``CCA``, ``RRA``) or ``COR``; empty for the first issue.
        issued: the time of issue, UTC.
        issued_from: where that time was read.
        zone: the zone name of the text's time line (``EST``); empty without a time line.
        valid: start and end of the valid period (UTC), if the text states one.
        sections: the parts in their order.
        headlines: statements framed by dots above the first section.
        forecasters: who wrote it, as signed; not part of any section.
        notes: what was mended or doubtful, in words.
        raw: the bulletin as it was read.
    """

    product: str
    awips: str
    wmo: str
    office: str
    office_name: str
    title: str
    correction: str
    issued: datetime
    issued_from: IssuedFrom
    zone: str
    valid: tuple[datetime, datetime] | None
    sections: tuple[Section, ...]
    headlines: tuple[str, ...]
    forecasters: tuple[str, ...]
    notes: tuple[str, ...]
    raw: str

    @property
    def product_id(self) -> str:
        """The identifier in IEM's style: ``201211270001-KBOX-FXUS61-AFDBOX[-BBB]``."""
        parts = [f"{self.issued:%Y%m%d%H%M}", self.office, self.wmo, self.awips or self.product]
        return "-".join([*parts, self.correction] if self.correction else parts)

    def section(self, name: str) -> Section | None:
        """The first section of this name (upper or lower case), or None."""
        wanted = name.casefold()
        return next((s for s in self.sections if s.name.casefold() == wanted), None)

    def to_dict(self) -> dict[str, Any]:
        """Plain values for JSON; times are ISO 8601 with offset."""
        record: dict[str, Any] = _plain(dataclasses.asdict(self))
        return {"id": self.product_id} | record


@dataclass(frozen=True)
class Refusal:
    """A text that is not taken for a report, and why.

    Attributes:
        reason: a sentence for people, without a full stop.
        text: what was refused.
    """

    reason: str
    text: str


def _plain(value: Any) -> Any:
    if isinstance(value, datetime):
        return value.isoformat()
    if isinstance(value, dict):
        return {key: _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value
