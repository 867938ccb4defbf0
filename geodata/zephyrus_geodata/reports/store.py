"""A folder of reports: ``reports.jsonl``, made of the raw answers, and how it is read."""

from __future__ import annotations

import hashlib
import json
import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, Literal

from zephyrus_geodata.errors import ReportError
from zephyrus_geodata.reports import iem
from zephyrus_geodata.reports.manifest import ArchiveError, Entry, Manifest, write_whole
from zephyrus_geodata.reports.parse import parse_product
from zephyrus_geodata.reports.product import Product
from zephyrus_geodata.reports.spans import Span
from zephyrus_geodata.web.words import decode, version

REPORTS = "reports.jsonl"
REFUSED = "refused.jsonl"
INDEX = "index.json"

Policy = Literal["all", "first", "latest"]
"""Of an original and its corrections: keep all, the first issued, or the latest."""

# "FXUS61 KOKX 201125": an LDM number may stand on a line before.
_HEADING = re.compile(r"^[A-Z]{4}\d{1,2}[ ]+[A-Z]{4}[ ]+(\d{6})\b", re.MULTILINE)
_SLACK = timedelta(days=2)  # between a report's own time and when the archive got it


@dataclass(frozen=True, slots=True)
class Report:
    """One issued text.

    Attributes:
        id: "202408201125-KOKX-FXUS61-AFDOKX", with "-BBB" for a correction, as IEM names them.
        product: The PIL, "AFDOKX" or "PMDSPD".
        office: Four letters, "KOKX".
        issued: UTC, as the text says.
        bulletin: Day, hour and minute of the heading, "201125": corrections repeat it.
        correction: "CCA", "AAA" or "COR"; "" for an original.
        url: The request that gave it.
        text: All of it, with headings.
    """

    id: str
    product: str
    office: str
    issued: datetime
    bulletin: str
    correction: str
    url: str
    text: str

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "id": self.id,
            "product": self.product,
            "office": self.office,
            "issued": self.issued.isoformat(),
            "bulletin": self.bulletin,
            "correction": self.correction,
            "url": self.url,
            "text": self.text,
        }

    @classmethod
    def from_dict(cls, value: dict[str, Any]) -> Report:
        """The inverse of `to_dict`."""
        issued = datetime.fromisoformat(value["issued"]).astimezone(UTC)
        return cls(**{**value, "issued": issued})

    def parsed(self) -> Product:
        """Its parts.

        Raises:
            ReportError: If the text can't be parsed.
        """
        return parse_product(self.text, near=self.issued)


@dataclass(slots=True)
class Index:
    """What `write_index` found.

    Attributes:
        reports: How many are in ``reports.jsonl``.
        duplicates: Products left out because their text was there already.
        refused: How many texts could not be read as a product, by reason.
    """

    reports: int = 0
    duplicates: int = 0
    refused: Counter[str] = field(default_factory=Counter)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "reports": self.reports,
            "duplicates": self.duplicates,
            "refused": dict(self.refused),
        }


def write_index(folder: Path, manifest: Manifest) -> Index:
    """Make ``reports.jsonl`` and ``refused.jsonl`` of the raw files, in order of issue.

    The same raw files give the same bytes; if they were made of the same files, by the same
    version of Zephyrus, they are left as they are.

    Args:
        folder: The archive.
        manifest: Its finished requests.

    Raises:
        ArchiveError: If a raw file can't be read or the index not be written.
    """
    source = _source(manifest)
    index = _made(folder, source)
    if index is not None:
        return index
    index = Index()
    found: dict[bytes, Report] = {}  # by digest
    refused = []
    for entry in manifest.entries():
        for number, text in enumerate(_texts(folder, entry)):
            digest = _digest(text)
            if digest in found:
                index.duplicates += 1
                continue
            try:
                found[digest] = _report(text, entry)
            except ReportError as error:
                reason = str(error)
                index.refused[reason] += 1
                refused.append({"file": entry.file, "number": number, "reason": reason})
    reports = sorted(found.values(), key=lambda r: (r.issued, r.id, r.text))
    index.reports = len(reports)
    _write_lines(folder / REPORTS, (r.to_dict() for r in _with_unique_ids(reports)))
    _write_lines(folder / REFUSED, refused)
    _write_lines(folder / INDEX, [{"source": source, **index.to_dict()}])  # last: all is there
    return index


class ReportArchive:
    """Reports in order of issue, from an archive's folder or a list.

    Args:
        source: The folder, its ``reports.jsonl``, or reports.

    Raises:
        ArchiveError: If there is no archive, or a line of it is damaged.
    """

    def __init__(self, source: Path | str | Iterable[Report]) -> None:
        if isinstance(source, str | Path):
            self._reports = tuple(_read(Path(source).expanduser()))
        else:
            self._reports = tuple(sorted(source, key=lambda r: (r.issued, r.id)))

    def __len__(self) -> int:
        return len(self._reports)

    def __iter__(self) -> Iterator[Report]:
        return iter(self._reports)

    def __repr__(self) -> str:
        return f"ReportArchive({len(self)} reports)"

    def filter(
        self,
        product: str | None = None,
        office: str | None = None,
        start: datetime | None = None,
        end: datetime | None = None,
        keep: Callable[[Report], bool] | None = None,
    ) -> ReportArchive:
        """The reports that meet every condition given.

        Args:
            product: A PIL, or its first letters ("AFD").
            office: Three or four letters, "OKX" or "KOKX".
            start: Issued at this time or later.
            end: Issued before this time.
            keep: Any other condition.
        """
        return ReportArchive(
            report
            for report in self
            if (product is None or report.product.startswith(product.upper()))
            and (office is None or report.office.endswith(office.upper()))
            and (start is None or report.issued >= start)
            and (end is None or report.issued < end)
            and (keep is None or keep(report))
        )

    def corrections(self, policy: Policy = "latest") -> ReportArchive:
        """One report of each group of an original and its corrections.

        A correction repeats the PIL, the office and the heading's time of its original.

        Args:
            policy: Which of a group to keep.
        """
        if policy == "all":
            return self
        groups: dict[tuple[str, ...], Report] = {}
        for report in self:
            key = (report.product, report.office, report.bulletin, f"{report.issued:%Y-%m}")
            kept = groups.get(key)
            if kept is None or (_rank(report) > _rank(kept)) == (policy == "latest"):
                groups[key] = report
        return ReportArchive(groups.values())

    def counts(self) -> Counter[tuple[str, str]]:
        """How many reports there are of each (product, office)."""
        return Counter((report.product, report.office) for report in self)


def _rank(report: Report) -> tuple[str, datetime, str]:
    """Order within a group: original (or delayed, RRx), amendments (AAx), corrections (CCx, COR)."""
    group = report.correction
    return ("" if group.startswith("RR") else group, report.issued, report.id)


def _source(manifest: Manifest) -> str:
    """Changes with the raw files and with the version that reads them."""
    files = [(entry.file, entry.sha256) for entry in manifest.entries()]
    return hashlib.sha256(json.dumps([version(), files]).encode()).hexdigest()


def _made(folder: Path, source: str) -> Index | None:
    """What is there already, if it was made of this source."""
    if not (folder / REPORTS).is_file() or not (folder / INDEX).is_file():
        return None
    try:
        value = json.loads((folder / INDEX).read_bytes())
        if value.pop("source") != source:
            return None
        return Index(**{**value, "refused": Counter(value["refused"])})
    except (ValueError, TypeError, KeyError, AttributeError):
        return None


def _texts(folder: Path, entry: Entry) -> list[str]:
    try:
        data = (folder / entry.file).read_bytes()
    except OSError as error:
        raise ArchiveError(f"{folder / entry.file} can't be read: {error}") from error
    if entry.source == "iem":
        return iem.split(data)
    try:
        return [json.loads(decode(data))["productText"]]
    except (ValueError, TypeError, KeyError):
        raise ArchiveError(
            f"{folder / entry.file} is damaged: delete it, and fetch again"
        ) from None


def _report(text: str, entry: Entry) -> Report:
    """Read a product's headings.

    Raises:
        ReportError: If it is no product.
    """
    product = _nearest(text, entry.span)
    heading = _HEADING.search(text)
    return Report(
        id=product.product_id,
        product=product.awips or product.product,
        office=product.office,
        issued=product.issued.astimezone(UTC),
        bulletin=heading[1] if heading else f"{product.issued:%d%H%M}",
        correction=product.correction,
        url=entry.url,
        text=text,
    )


def _nearest(text: str, span: Span) -> Product:
    """Parse a product that was issued in or about a span.

    A heading gives the day of the month alone; in a span of a month its middle is as near to the
    first as to the next month's first, so the ends are tried as well.
    """
    product = parse_product(text, near=span.middle)
    for near in (span.start, span.end):
        if span.start - _SLACK <= product.issued <= span.end + _SLACK:
            break
        product = parse_product(text, near=near)
    return product


def _digest(text: str) -> bytes:
    """Of the text from its heading on: an LDM number and blanks make no other product."""
    heading = _HEADING.search(text)
    body = text[heading.start() :] if heading else text
    return hashlib.sha256(" ".join(body.split()).encode()).digest()


def _with_unique_ids(reports: list[Report]) -> Iterator[Report]:
    """Two texts may share an id; the later ones get "-2", "-3" and so on."""
    seen: Counter[str] = Counter()
    for report in reports:
        seen[report.id] += 1
        if seen[report.id] == 1:
            yield report
        else:
            yield Report.from_dict({**report.to_dict(), "id": f"{report.id}-{seen[report.id]}"})


def _write_lines(path: Path, values: Iterable[dict[str, Any]]) -> None:
    write_whole(path, (json.dumps(value).encode() + b"\n" for value in values))


def _read(path: Path) -> Iterator[Report]:
    file = path / REPORTS if path.is_dir() else path
    if not file.is_file():
        raise ArchiveError(
            f"there are no reports at {path}; fetch some with: zephyrus data reports fetch"
        )
    for number, line in enumerate(file.read_bytes().split(b"\n"), 1):
        if line.strip():
            try:
                yield Report.from_dict(json.loads(line))
            except (ValueError, TypeError, KeyError, AttributeError) as error:
                raise ArchiveError(f"{file}, line {number}: not a report ({error})") from error
