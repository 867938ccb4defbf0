"""Each report with the forecast that its writers could have had, and no newer one.

An agent that is judged against a report must not know more than the report's writer did: the
forecast that it reads starts at or before the time of issue, less the hours that a forecast takes
to arrive (`latency`). Of those the latest is taken. Initial time, time of issue and valid period
are all recorded. A report is refused, with a reason, if there is no such forecast, if that one is
too old, or if its lead times don't cover the report's valid period.
"""

from __future__ import annotations

import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, Literal, Protocol

Period = tuple[datetime, datetime]

Keep = Literal["nearest", "all"]
"""Of the reports of one product and office that go with one forecast: the first after its initial
time, or every one."""

NOMINAL_HOURS: Mapping[str, tuple[int, int]] = {
    "PMDSPD": (0, 48),
    "PMDEPD": (48, 168),
    "PMDHMD": (0, 84),
    "PMDHI": (0, 168),
    "PMDAK": (72, 192),
    "QPFPFD": (0, 72),
    "QPFERD": (0, 24),
    "SWODY1": (0, 24),
    "SWODY2": (24, 48),
    "SWODY3": (48, 72),
    "AFD": (0, 168),
    "HWO": (0, 168),
}
"""The hours after its issue that a product is written for, where its text does not say."""


class Issued(Protocol):
    """What `pair_reports` needs of a report."""

    @property
    def id(self) -> str:
        """Unique name."""

    @property
    def product(self) -> str:
        """The PIL."""

    @property
    def office(self) -> str:
        """The issuing office."""

    @property
    def issued(self) -> datetime:
        """Time of issue, with a zone."""


@dataclass(frozen=True, slots=True)
class ForecastTimes:
    """What of a forecast matters here.

    Attributes:
        name: Its name in its dataset.
        initial: Initial time, UTC.
        leads: Lead times in hours, ascending.
    """

    name: str
    initial: datetime
    leads: tuple[int, ...]


@dataclass(frozen=True, slots=True)
class Pair:
    """A report and its forecast.

    Attributes:
        report: The report's id.
        product: Its PIL.
        office: Its office.
        forecast: The forecast's name.
        issued: When the report was issued, UTC.
        initial: The forecast's initial time, UTC; never after ``issued``.
        valid: Start and end of the report's valid period, UTC.
        stated: Whether the text states the period; else it is the product's nominal one.
        start: Lead time of the last step at or before the period's start, in hours.
        end: Lead time of the first step at or after the period's end, in hours.
    """

    report: str
    product: str
    office: str
    forecast: str
    issued: datetime
    initial: datetime
    valid: Period
    stated: bool
    start: int
    end: int

    @property
    def age_hours(self) -> float:
        """How old the forecast was when the report was issued."""
        return (self.issued - self.initial) / timedelta(hours=1)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; times as ISO text with their zone."""
        return {
            "report": self.report,
            "product": self.product,
            "office": self.office,
            "forecast": self.forecast,
            "issued": self.issued.isoformat(),
            "initial": self.initial.isoformat(),
            "valid": [moment.isoformat() for moment in self.valid],
            "stated": self.stated,
            "start": self.start,
            "end": self.end,
        }


@dataclass(slots=True)
class Pairing:
    """What `pair_reports` made.

    Attributes:
        pairs: In order of issue.
        refused: Why each other report has no pair, by its id.
    """

    pairs: list[Pair] = field(default_factory=list)
    refused: dict[str, str] = field(default_factory=dict)

    def reasons(self) -> Counter[str]:
        """How many reports were refused, by reason."""
        return Counter(self.refused.values())


def pair_reports(
    reports: Iterable[Issued],
    forecasts: Sequence[ForecastTimes],
    *,
    valid: Callable[[Issued], Period | None] = lambda report: None,
    nominal: Mapping[str, tuple[int, int]] = NOMINAL_HOURS,
    latency_hours: float = 6.0,
    max_age_hours: float = 24.0,
    keep: Keep = "nearest",
) -> Pairing:
    """Pair each report with the latest forecast that its writers could have had.

    Args:
        reports: In any order; ids must be unique.
        forecasts: In any order; initial times must be unique.
        valid: The valid period that a report states (UTC), or None; it is asked only of reports
            that have a forecast.
        nominal: First and last hour after issue by PIL, or by its first three letters, where
            none is stated.
        latency_hours: How long after its initial time a forecast is in the writers' hands.
        max_age_hours: The oldest that a forecast may be at the time of issue.
        keep: What to do with several reports of one product and office for one forecast.

    Raises:
        ValueError: If an hour is negative, or ids or initial times are not unique.
    """
    if latency_hours < 0 or max_age_hours < 0:
        raise ValueError("latency and age are hours of 0 or more")
    ordered = sorted(forecasts, key=lambda forecast: forecast.initial)
    initials = [forecast.initial for forecast in ordered]
    if len(set(initials)) != len(initials):
        raise ValueError("two forecasts have one initial time")
    result = Pairing()
    taken: set[tuple[str, str, str]] = set()
    seen: set[str] = set()
    for report in sorted(reports, key=lambda report: (report.issued, report.id)):
        if report.id in seen:
            raise ValueError(f"two reports have the id {report.id}")
        seen.add(report.id)
        found = bisect.bisect_right(initials, report.issued - timedelta(hours=latency_hours))
        if not found:
            result.refused[report.id] = "no forecast starts before it"
            continue
        forecast = ordered[found - 1]
        if report.issued - forecast.initial > timedelta(hours=max_age_hours):
            result.refused[report.id] = "the latest forecast before it is too old"
        elif keep == "nearest" and (report.product, report.office, forecast.name) in taken:
            result.refused[report.id] = "an earlier report goes with the same forecast"
        else:
            stated = valid(report)
            pair = _pair(report, forecast, stated, stated or _nominal(report, nominal))
            if isinstance(pair, str):
                result.refused[report.id] = pair
            else:
                taken.add((report.product, report.office, forecast.name))
                result.pairs.append(pair)
    return result


def _nominal(report: Issued, nominal: Mapping[str, tuple[int, int]]) -> Period | None:
    hours = nominal.get(report.product) or nominal.get(report.product[:3])
    if hours is None:
        return None
    start, end = (report.issued + timedelta(hours=hour) for hour in hours)
    return start, end


def _pair(
    report: Issued, forecast: ForecastTimes, stated: Period | None, period: Period | None
) -> Pair | str:
    """The pair, or why it is none."""
    if period is None:
        return "its valid period is not known"
    first, last = ((moment - forecast.initial) / timedelta(hours=1) for moment in period)
    starts = [lead for lead in forecast.leads if lead <= first]
    ends = [lead for lead in forecast.leads if lead >= last]
    if not starts or not ends or last <= first:
        return "the forecast's lead times don't cover its valid period"
    return Pair(
        report=report.id,
        product=report.product,
        office=report.office,
        forecast=forecast.name,
        issued=report.issued.astimezone(UTC),
        initial=forecast.initial.astimezone(UTC),
        valid=(period[0].astimezone(UTC), period[1].astimezone(UTC)),
        stated=stated is not None,
        start=max(starts),
        end=min(ends),
    )
