"""What to fetch: a product, a span of issue times, a source."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from urllib.parse import urlsplit

from zephyrus_geodata.reports import iem, nws_api
from zephyrus_geodata.reports.manifest import ArchiveError
from zephyrus_geodata.reports.spans import Span

SOURCES = ("iem", "nws")
_BASES = {"iem": iem.BASE_URL, "nws": nws_api.BASE_URL}
_PIL = re.compile(r"[A-Z0-9]{3,6}")
_OLDEST = datetime(1980, 1, 1, tzinfo=UTC)
_OFFICE = re.compile(r"[A-Z0-9]{3,4}")


@dataclass(frozen=True, slots=True)
class Query:
    """What to fetch.

    Attributes:
        product: A PIL of 3 to 6 characters: "PMDSPD", "AFDLOX", or "AFD" for every office.
        span: Issue times, UTC.
        source: "iem" (since the 1990s) or "nws" (the last days).
        offices: Offices of a three-letter product, "LOX" or "KLOX"; none means all.
        base_url: Another address of the service, such as a mirror's; "" for its own.
        limit: The most products that one IEM answer may hold.
    """

    product: str
    span: Span
    source: str = "iem"
    offices: tuple[str, ...] = ()
    base_url: str = ""
    limit: int = iem.LIMIT

    @classmethod
    def of(
        cls,
        product: str,
        start: str,
        end: str | None = None,
        *,
        source: str = "iem",
        offices: Sequence[str] = (),
        base_url: str = "",
        now: datetime | None = None,
    ) -> Query:
        """Make a query of what a user types.

        Args:
            product: In upper or lower case.
            start: ISO date or time; without an offset it is UTC.
            end: The same, exclusive; by default now.
            source: "iem" or "nws".
            offices: In upper or lower case.
            base_url: See the class.
            now: The present, for tests.

        Raises:
            ArchiveError: One sentence about what is wrong.
        """
        present = (now or datetime.now(UTC)).astimezone(UTC).replace(second=0, microsecond=0)
        first = _time(start, "--from")
        last = _time(end, "--to") if end is not None else present
        name = product.strip().upper()
        if source not in SOURCES:
            raise ArchiveError(f"no source {source!r}; the sources are {', '.join(SOURCES)}")
        if not _PIL.fullmatch(name):
            raise ArchiveError(
                f"{product!r} is no product: give three to six letters, such as PMDSPD or AFD"
            )
        if base_url and not _is_address(base_url):
            raise ArchiveError(
                f"the base URL {base_url!r} is no address: it should look like https://example.org"
            )
        if first >= last:
            raise ArchiveError(
                f"the range is empty: --from {first:%Y-%m-%d %H:%M} is not before "
                f"--to {last:%Y-%m-%d %H:%M} UTC"
            )
        if first > present:
            raise ArchiveError(f"--from {start} lies in the future: no report is issued yet")
        if first < _OLDEST:
            raise ArchiveError(f"--from {start} is too early: no archive goes back before 1980")
        last = min(last, present)  # nothing is issued after now
        places = tuple(dict.fromkeys(_office(name, office) for office in offices))
        return cls(name, Span(first, last), source, places, base_url.rstrip("/"))

    @property
    def base(self) -> str:
        """The service's address."""
        return self.base_url or _BASES[self.source]

    @property
    def pils(self) -> tuple[str, ...]:
        """The PILs to ask for, one after the other."""
        return tuple(self.product + office for office in self.offices) or (self.product,)


def _time(text: str, what: str) -> datetime:
    try:
        moment = datetime.fromisoformat(text.strip())
    except ValueError as error:
        raise ArchiveError(
            f"{what} {text!r} is no date: write 2024-01-31, or 2024-01-31T12:00Z"
        ) from error
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return moment.astimezone(UTC).replace(second=0, microsecond=0)
    except OverflowError as error:  # year 1 or 9999, and an offset that leads out of the calendar
        raise ArchiveError(f"{what} {text!r} is no date of the calendar") from error


def _is_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:  # a port that is none, half an IPv6 address
        return False


def _office(product: str, office: str) -> str:
    """The three letters that follow the product's in a PIL."""
    name = office.strip().upper()
    if not _OFFICE.fullmatch(name):
        raise ArchiveError(f"{office!r} is no office: give three or four letters, such as LOX")
    if len(product) != 3:
        raise ArchiveError(
            f"{product} names one office's product already; offices go with three letters (AFD)"
        )
    return name[-3:]
