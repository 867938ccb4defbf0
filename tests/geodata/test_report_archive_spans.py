"""Spans of time: nothing is asked twice, nothing is left out."""

import sys
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from zephyrus_geodata.reports.spans import Span, cut, missing, settled_until

sys.path.insert(0, str(Path(__file__).parent))  # for the server beside the tests

from report_server import at

MINUTES = st.integers(0, 60 * 24 * 90)
START = at("2024-01-15")


def span_of(pair: tuple[int, int]) -> Span:
    first, last = sorted(pair)
    return Span(START + timedelta(minutes=first), START + timedelta(minutes=last + 1))


SPANS = st.tuples(MINUTES, MINUTES).map(span_of)


@given(SPANS, st.lists(SPANS, max_size=6))
def test_missing_is_the_set_difference(wanted, have):
    left = missing(wanted, have)
    assert left == sorted(left)
    for a, b in pairwise(left):
        assert a.end < b.start
    edges = {t for s in (wanted, *have, *left) for t in (s.start, s.end)}
    for edge in edges:
        for moment in (edge - timedelta(minutes=1), edge):
            inside = wanted.start <= moment < wanted.end and not any(
                s.start <= moment < s.end for s in have
            )
            assert inside == any(s.start <= moment < s.end for s in left)


@given(SPANS, st.integers(-3, 100), st.booleans())
def test_cut_covers_without_overlap(span, day, daily):
    now = START + timedelta(days=day, hours=5)
    pieces = list(cut(span, now, daily=daily))
    assert pieces[0].start == span.start and pieces[-1].end == span.end
    for a, b in pairwise(pieces):
        assert a.end == b.start
    edge = settled_until(now)
    for piece in pieces:
        assert piece.start < piece.end
        assert not piece.start < edge < piece.end  # closed or open, never both
        last = piece.end - timedelta(minutes=1)
        assert (piece.start.year, piece.start.month) == (last.year, last.month)
        assert not daily or piece.start.date() == last.date()


@given(SPANS)
def test_halves(span):
    halves = span.halves()
    if halves is None:
        assert span.end - span.start == timedelta(minutes=1)
    else:
        first, second = halves
        assert (first.start, second.end) == (span.start, span.end)
        assert first.start < first.end == second.start < second.end
