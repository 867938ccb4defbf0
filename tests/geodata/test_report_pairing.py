"""Pairing: no report ever gets a forecast that is newer than its writers could have had."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_geodata.reports.pairing import ForecastTimes, Pairing, pair_reports

START = datetime(2024, 1, 1, tzinfo=UTC)
LEADS = tuple(range(6, 241, 6))


@dataclass(frozen=True)
class Text:
    id: str
    issued: datetime
    product: str = "PMDSPD"
    office: str = "KWBC"


def hour(value: float) -> datetime:
    return START + timedelta(hours=value)


def forecasts(*hours: float, leads: tuple[int, ...] = LEADS) -> list[ForecastTimes]:
    return [ForecastTimes(f"f{h:g}", hour(h), leads) for h in hours]


def stated(report: Text) -> tuple[datetime, datetime]:
    """Valid from 4 to 52 h after issue."""
    return report.issued + timedelta(hours=4), report.issued + timedelta(hours=52)


def paired(result: Pairing) -> dict[str, str]:
    return {pair.report: pair.forecast for pair in result.pairs}


def test_by_hand():
    texts = [Text("a", hour(8)), Text("b", hour(20)), Text("c", hour(32))]
    result = pair_reports(texts, forecasts(0, 12, 24), valid=stated)
    assert paired(result) == {"a": "f0", "b": "f12", "c": "f24"}
    pair = result.pairs[0]
    assert (pair.initial, pair.issued, pair.age_hours) == (hour(0), hour(8), 8.0)
    assert pair.valid == (hour(12), hour(60)) and pair.stated
    assert (pair.start, pair.end) == (12, 60)
    assert pair.to_dict()["initial"] == "2024-01-01T00:00:00+00:00"
    assert pair.to_dict()["valid"] == ["2024-01-01T12:00:00+00:00", "2024-01-03T12:00:00+00:00"]


def test_the_steps_enclose_the_period():
    result = pair_reports([Text("a", hour(9))], forecasts(0), valid=stated)
    # Valid 13 to 61 h after the initial time: steps 12 to 66.
    assert (result.pairs[0].start, result.pairs[0].end) == (12, 66)


def test_latency_on_its_edge():
    on_time, early = Text("a", hour(18)), Text("b", hour(18) - timedelta(minutes=1), office="KLOX")
    result = pair_reports([on_time, early], forecasts(0, 12), valid=stated, latency_hours=6)
    assert paired(result) == {"a": "f12", "b": "f0"}


def test_a_forecast_of_the_future_is_never_taken():
    result = pair_reports([Text("a", hour(8))], forecasts(9, 12), valid=stated, latency_hours=0)
    assert result.pairs == [] and result.refused == {"a": "no forecast starts before it"}


def test_too_old():
    texts = [Text("a", hour(24)), Text("b", hour(24.5), office="KLOX")]
    result = pair_reports(texts, forecasts(0), valid=stated, max_age_hours=24)
    assert paired(result) == {"a": "f0"}
    assert result.refused == {"b": "the latest forecast before it is too old"}


def test_a_period_that_the_leads_do_not_cover():
    text = Text("a", hour(8))
    reason = {"a": "the forecast's lead times don't cover its valid period"}
    short = pair_reports([text], forecasts(0, leads=(6, 12, 54)), valid=stated)
    assert short.refused == reason
    late = pair_reports([text], forecasts(0, leads=(18, 60, 72)), valid=stated)
    assert late.refused == reason
    exact = pair_reports([text], forecasts(0, leads=(12, 60)), valid=stated)
    assert paired(exact) == {"a": "f0"}
    # An older forecast that would cover it is no substitute for the latest one.
    two = [*forecasts(0), *forecasts(1, leads=(6, 12))]
    assert pair_reports([text], two, valid=stated).refused == reason


def test_nominal_periods():
    texts = [Text("a", hour(8)), Text("b", hour(8), "AFDLOX", "KLOX"), Text("c", hour(8), "XYZ")]
    result = pair_reports(texts, forecasts(0))
    spans = {pair.report: (pair.valid, pair.stated) for pair in result.pairs}
    assert spans == {
        "a": ((hour(8), hour(56)), False),
        "b": ((hour(8), hour(8 + 168)), False),
    }
    assert result.refused == {"c": "its valid period is not known"}
    mine = pair_reports(texts[2:], forecasts(0), nominal={"XYZ": (1, 10)})
    assert (mine.pairs[0].start, mine.pairs[0].end) == (6, 18)


def test_one_report_for_each_forecast_product_and_office():
    texts = [
        Text("late", hour(11)),
        Text("first", hour(7)),
        Text("other", hour(9), "AFDLOX", "KLOX"),
    ]
    result = pair_reports(texts, forecasts(0), valid=stated)
    assert [pair.report for pair in result.pairs] == ["first", "other"]
    assert result.refused == {"late": "an earlier report goes with the same forecast"}
    assert result.reasons() == {"an earlier report goes with the same forecast": 1}
    every = pair_reports(texts, forecasts(0), valid=stated, keep="all")
    assert [pair.report for pair in every.pairs] == ["first", "other", "late"]


def test_what_is_wrong_with_the_arguments():
    with pytest.raises(ValueError, match="two forecasts have one initial time"):
        pair_reports([], forecasts(0, 0))
    with pytest.raises(ValueError, match="two reports have the id a"):
        pair_reports([Text("a", hour(8)), Text("a", hour(9))], forecasts(0))
    with pytest.raises(ValueError, match="hours of 0 or more"):
        pair_reports([], [], latency_hours=-1)


TEXTS = st.lists(
    st.builds(
        lambda minutes, product, office: (minutes, product, office),
        st.integers(0, 60 * 24 * 12),
        st.sampled_from(["PMDSPD", "AFD"]),
        st.sampled_from(["KWBC", "KLOX"]),
    ),
    max_size=12,
).map(
    lambda rows: [
        Text(f"t{i}", START + timedelta(minutes=m), product, office)
        for i, (m, product, office) in enumerate(rows)
    ]
)
INITIALS = st.lists(st.integers(-24, 24 * 12), max_size=8, unique=True)


@given(
    TEXTS,
    INITIALS,
    st.integers(0, 24),
    st.integers(0, 72),
    st.sampled_from(["nearest", "all"]),
    st.randoms(),
)
def test_properties(texts, initials, latency, age, keep, rng):
    options = {"latency_hours": latency, "max_age_hours": age, "keep": keep}
    times = forecasts(*initials)
    result = pair_reports(texts, times, valid=stated, **options)
    by_id = {text.id: text for text in texts}
    # Each report is paired or refused, once.
    assert sorted([*paired(result), *result.refused]) == sorted(by_id)
    for pair in result.pairs:
        text = by_id[pair.report]
        assert pair.issued == text.issued
        assert pair.initial + timedelta(hours=latency) <= pair.issued  # nothing from the future
        assert timedelta(0) <= pair.issued - pair.initial <= timedelta(hours=age)
        closer = [
            t.initial
            for t in times
            if pair.initial < t.initial <= text.issued - timedelta(hours=latency)
        ]
        assert closer == []
        assert pair.valid == stated(text)
        assert pair.initial + timedelta(hours=pair.start) <= pair.valid[0]
        assert pair.initial + timedelta(hours=pair.end) >= pair.valid[1]
        assert pair.start in LEADS and pair.end in LEADS
    if keep == "nearest":
        kept = [(pair.product, pair.office, pair.forecast) for pair in result.pairs]
        assert len(kept) == len(set(kept))
    # The order of what comes in doesn't matter.
    rng.shuffle(texts)
    rng.shuffle(times)
    assert pair_reports(texts, times, valid=stated, **options) == result
