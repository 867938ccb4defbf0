"""Events whose reference is a real report of the National Weather Service.

The reports come from an archive's folder (``zephyrus data reports fetch``), the forecasts from a
dataset of the same time. Each report is paired with the latest forecast that its writers could
have had (`zephyrus_geodata.reports.pairing`); the splits follow each other in time, and no
event's span, from its initial time to the end of its valid period, reaches into a later split.
"""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from zephyrus.errors import UserError
from zephyrus.task import SPLITS, Task, TaskSet
from zephyrus_geodata import Dataset, Feature, GeodataError, load_dataset
from zephyrus_geodata.reports.pairing import ForecastTimes, Issued, Keep, Pair, pair_reports
from zephyrus_geodata.reports.product import Product
from zephyrus_geodata.reports.scored import discussion_text
from zephyrus_geodata.reports.store import Policy, Report, ReportArchive
from zephyrus_report.prompts import event_prompt

SHARES: Mapping[str, float] = {"train": 0.6, "validation": 0.15, "test": 0.25}
"""Of the events in order of time, where no sizes are asked for."""

LEAST_WORDS = 40
"""A discussion of fewer words is no reference."""

_OFFICE_KIND = "nws_cwa"


@dataclass(frozen=True, slots=True)
class Written:
    """How a product is asked for.

    Attributes:
        style: One of `prompts.STYLES`.
        words: The word budget: real discussions are longer than the composed ones.
        region: Name of its region; "" is the area of the office that issued it.
        kind: Kind of that feature.
        areas: What of the region it is about, if not all of it.
    """

    style: str
    words: int
    region: str = "United States"
    kind: str = "country"
    areas: tuple[str, ...] = ("the 48 contiguous states",)


PRODUCTS: Mapping[str, Written] = {
    "PMDSPD": Written("short_range", 500),
    "PMDEPD": Written("extended", 500),
    "PMDHMD": Written("short_range", 300),
    "PMDHI": Written("extended", 300, "Hawaii", "us_state", ()),
    "PMDAK": Written("extended", 500, "Alaska", "us_state", ()),
    "QPFPFD": Written("short_range", 400),
    "QPFERD": Written("short_range", 400),
    "SWODY1": Written("outlook", 300),
    "SWODY2": Written("outlook", 300),
    "SWODY3": Written("outlook", 300),
    "AFD": Written("extended", 400, "", _OFFICE_KIND, ()),
    "HWO": Written("outlook", 200, "", _OFFICE_KIND, ()),
}
"""The products that make events, by PIL or its first three letters."""


def archive_events(
    dataset: Dataset | str,
    archive: ReportArchive | Path | str,
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    *,
    corrections: Policy = "latest",
    latency_hours: float = 6.0,
    max_age_hours: float = 24.0,
    keep: Keep = "nearest",
    words: int | None = None,
) -> TaskSet:
    """Turn an archive's reports into events of a dataset's forecasts.

    Args:
        dataset: The dataset, or its name or folder.
        archive: The reports, or their folder.
        sizes: The most events of each split, and its share of the time; by default all that
            there are, shared by `SHARES`.
        seed: Of the draw, where a split has more events than are asked for.
        corrections: Of an original and its corrections, which is the reference.
        latency_hours: How long after its initial time a forecast is in the writers' hands.
        max_age_hours: The oldest that a forecast may be when the report is issued.
        keep: "nearest" takes one report of a product and office for each forecast, "all" every.
        words: The word budget of every event; by default by product (`PRODUCTS`).

    Raises:
        UserError: If dataset or archive can't be read, or they give no event for a split that is
            asked for; the reasons why reports were left out are named.
    """
    wanted = _checked(sizes)
    try:
        source = load_dataset(dataset) if isinstance(dataset, str) else dataset
        reports = archive if isinstance(archive, ReportArchive) else ReportArchive(archive)
        times = [_times(source, name) for name in source.forecasts]
        near = reports.filter(
            start=min(forecast.initial for forecast in times),
            end=max(forecast.initial for forecast in times) + timedelta(hours=max_age_hours + 1),
        )
        maker = _Maker(source, near.corrections(corrections), words)
        maker.refused["no forecast is of its time"] += len(reports) - len(near)
        pairing = pair_reports(
            maker.usable(),
            times,
            valid=maker.valid,
            latency_hours=latency_hours,
            max_age_hours=max_age_hours,
            keep=keep,
        )
    except GeodataError as error:
        raise UserError(str(error)) from error
    left_out = maker.refused + pairing.reasons()
    parts = split_by_time(pairing.pairs, wanted or SHARES)
    left_out["too near to a later split"] += len(pairing.pairs) - sum(map(len, parts.values()))
    if not pairing.pairs:
        raise UserError(
            f"no report of {len(reports)} goes with a forecast of {source.name!r}"
            f"{_reasons(left_out)}"
        )
    tasks = []
    for split in SPLITS:
        pairs = parts[split]
        if wanted is not None:
            size = wanted.get(split, 0)
            if size and not pairs:
                raise UserError(
                    f"the archive gives no {split} event for {source.name!r}{_reasons(left_out)}. "
                    "Fetch more reports, or ask for none"
                )
            pairs = random.Random(f"{seed}/{split}").sample(pairs, min(size, len(pairs)))
        ordered = sorted(pairs, key=lambda pair: (pair.issued, pair.report))
        tasks += [maker.task(pair, split) for pair in ordered]
    return TaskSet(tasks, source.name)


def split_by_time(pairs: Sequence[Pair], shares: Mapping[str, float]) -> dict[str, list[Pair]]:
    """Split pairs so that a later split is later in time, with a gap.

    Args:
        pairs: The pairs.
        shares: Relative number of pairs by split, in any scale.

    Returns:
        Pairs by split in order of issue. A pair whose valid period ends after the first initial
        time of a later split is in none.
    """
    ordered = sorted(pairs, key=lambda pair: (pair.issued, pair.report))
    total = sum(shares.values())
    parts: dict[str, list[Pair]] = {}
    first, passed = 0, 0.0
    for split in SPLITS:
        passed += shares.get(split, 0.0)
        last = round(len(ordered) * passed / total) if total else 0
        parts[split] = ordered[first:last]
        first = last
    edge: datetime | None = None
    for split in reversed(SPLITS):
        if edge is not None:
            parts[split] = [pair for pair in parts[split] if pair.valid[1] <= edge]
        starts = [pair.initial for pair in parts[split]]
        edge = min([*starts, *([edge] if edge else [])], default=None)
    return parts


class _Maker:
    """Reads each report once, and makes tasks of pairs."""

    def __init__(self, dataset: Dataset, reports: ReportArchive, words: int | None) -> None:
        self.dataset = dataset
        self.words = words
        self.refused: Counter[str] = Counter()
        self._reports = {report.id: report for report in reports}
        self._products: dict[str, Product] = {}
        self._regions: dict[str, Feature] = {}

    def usable(self) -> list[Report]:
        """The reports of known products with a region and a text; the others are counted."""
        found = []
        for report in self._reports.values():
            written = _written(report.product)
            if written is None:
                self.refused[f"{report.product} makes no events"] += 1
                continue
            try:
                self._regions[report.id] = self._region(report, written)
                self._products[report.id] = product = report.parsed()
            except GeodataError as error:
                self.refused[str(error)] += 1
                continue
            if len(discussion_text(product).split()) < LEAST_WORDS:
                self.refused[f"its discussion has fewer than {LEAST_WORDS} words"] += 1
                continue
            found.append(report)
        return found

    def valid(self, report: Issued) -> tuple[datetime, datetime] | None:
        """The valid period that a report states."""
        return self._products[report.id].valid

    def task(self, pair: Pair, split: str) -> Task:
        """The event of a pair."""
        report, region = self._reports[pair.report], self._regions[pair.report]
        forecast = self.dataset.forecast(pair.forecast)
        written = _written(report.product)
        if written is None:
            raise ValueError(f"{report.product} makes no events")
        prompt = event_prompt(
            region=region.name,
            kind=region.kind,
            initial=forecast.init_time,
            start=pair.start,
            end=pair.end,
            style=written.style,
            words=self.words or written.words,
            areas=written.areas,
        )
        return Task(
            id=f"report-{self.dataset.name}-{report.id.lower()}",
            prompt=prompt,
            gold=discussion_text(self._products[pair.report]),
            answer_type="report",
            template=written.style,
            split=split,
            required_tools=("dataset",),
            world={"dataset": self.dataset.name, "forecast": pair.forecast},
            program={
                "region": region.name,
                "kind": region.kind,
                "parent": region.parent,
                "start": pair.start,
                "end": pair.end,
                "style": written.style,
            },
            provenance=self._provenance(pair, report, forecast.label),
        )

    def _provenance(self, pair: Pair, report: Report, data: str) -> dict[str, Any]:
        return {
            "reference": "nws",
            "label": f"National Weather Service {report.product} of {report.office}",
            "product_id": report.id,
            "product": report.product,
            "office": report.office,
            "correction": report.correction,
            "issued": pair.issued.isoformat(),
            "initial": pair.initial.isoformat(),
            "age_hours": round(pair.age_hours, 2),
            "valid": [moment.isoformat() for moment in pair.valid],
            "valid_stated": pair.stated,
            "url": report.url,
            "data": data,
        }

    def _region(self, report: Report, written: Written) -> Feature:
        features = self.dataset.features
        if written.region:
            return features.get(written.region, written.kind)
        # AFDLOX of KLOX; but AFDSJU comes from TJSJ, and AFDPQ of PGUM covers Guam.
        names = [report.product[3:], report.office[1:]]
        for name in names:
            try:
                return features.get(name, written.kind)
            except GeodataError:
                continue
        raise GeodataError(f"no forecast area is known of the office {report.office}")


def _written(product: str) -> Written | None:
    return PRODUCTS.get(product) or PRODUCTS.get(product[:3])


def _times(dataset: Dataset, name: str) -> ForecastTimes:
    forecast = dataset.forecast(name)
    initial = datetime.fromisoformat(str(forecast.init_time)).replace(tzinfo=UTC)
    return ForecastTimes(name, initial, tuple(int(hour) for hour in forecast.lead_hours))


def _checked(sizes: Mapping[str, int] | None) -> dict[str, int] | None:
    if sizes is None:
        return None
    if unknown := set(sizes) - set(SPLITS):
        raise UserError(f"no split {sorted(unknown)[0]!r}; the splits are {', '.join(SPLITS)}")
    if any(size < 0 for size in sizes.values()) or not any(sizes.values()):
        raise UserError("a bank needs at least one event: give sizes above 0")
    return dict(sizes)


def _reasons(left_out: Counter[str]) -> str:
    """Why reports were left out, the most frequent reasons first."""
    told = [f"{count} × {reason}" for reason, count in left_out.most_common(4) if count]
    return f" (left out: {'; '.join(told)})" if told else ""
