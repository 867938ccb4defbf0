"""Spans of time [start, end): what is asked for, less what is there, cut into requests."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

SETTLED = timedelta(days=1)
"""A span is closed once it ended so long ago: late products have arrived by then."""

_MINUTE = timedelta(minutes=1)


@dataclass(frozen=True, slots=True, order=True)
class Span:
    """The times t with start ≤ t < end, both UTC and on whole minutes."""

    start: datetime
    end: datetime

    def __str__(self) -> str:
        return f"{self.start:%Y-%m-%dT%H:%MZ} to {self.end:%Y-%m-%dT%H:%MZ}"

    @property
    def middle(self) -> datetime:
        """Half way."""
        return self.start + (self.end - self.start) / 2

    def halves(self) -> tuple[Span, Span] | None:
        """Two spans that make up this one; None if it is a single minute."""
        minutes = (self.end - self.start) // _MINUTE
        if minutes < 2:
            return None
        cut = self.start + minutes // 2 * _MINUTE
        return Span(self.start, cut), Span(cut, self.end)


def missing(wanted: Span, have: Iterable[Span]) -> list[Span]:
    """What of ``wanted`` lies in none of ``have``, in order."""
    left, at = [], wanted.start
    for span in sorted(have):
        if span.start > at:
            left.append(Span(at, min(span.start, wanted.end)))
        at = max(at, span.end)
        if at >= wanted.end:
            break
    if at < wanted.end:
        left.append(Span(at, wanted.end))
    return [span for span in left if span.start < span.end]


def cut(span: Span, now: datetime, *, daily: bool) -> Iterator[Span]:
    """Cut a span at the starts of months (or days), and where the settled past ends.

    Args:
        span: What is to be cut.
        now: The present, UTC.
        daily: Whether to cut at days.
    """
    edge = settled_until(now)
    at = span.start
    while at < span.end:
        day = at.replace(hour=0, minute=0)
        step = day if daily else day.replace(day=1)
        step = step + timedelta(days=1) if daily else _next_month(step)
        stops = [step, span.end, *([edge] if at < edge else [])]
        yield Span(at, min(stops))
        at = min(stops)


def settled_until(now: datetime) -> datetime:
    """The last midnight that lies `SETTLED` in the past: a span that ends by it is closed."""
    return (now.astimezone(UTC) - SETTLED).replace(hour=0, minute=0, second=0, microsecond=0)


def _next_month(first: datetime) -> datetime:
    return (first + timedelta(days=32)).replace(day=1)
