"""The proxies that look at numbers: agreement with the reference, and grounding in the tools."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_report.proxies import NAMES, proxies
from zephyrus_report.proxies.grounding import grounding_proxy
from zephyrus_report.proxies.quantities import quantities_proxy

REFERENCE = (
    "Temperatures average 14 °C over France on day 1. Rain totals reach 12 mm in Spain on day 2. "
    "Winds peak at 15 m/s over Portugal on day 1."
)


def test_all_three_agree_within_their_tolerances():
    report = (
        "Temperatures average 15.5 °C over France on day 1. Rain totals reach 14 mm in Spain on "
        "day 2. Winds peak at 16 m/s over Portugal on day 1."
    )
    score = quantities_proxy(report, REFERENCE)
    assert (score.matched, score.report, score.reference) == (3, 3, 3)
    assert score.f1 == 1


@pytest.mark.parametrize(
    "report",
    [
        "Temperatures average 24 °C over France on day 1.",  # too warm
        "Temperatures average 14 °C over Kenya on day 1.",  # elsewhere
        "Temperatures average 14 °C over France on day 4.",  # another day
        "Pressure averages 1014 hPa over France on day 1.",  # another variable
    ],
)
def test_what_does_not_agree(report):
    score = quantities_proxy(report, REFERENCE)
    assert (score.matched, score.report, score.reference) == (0, 1, 3)
    assert score.f1 == 0


def test_units_are_converted():
    report = "Temperatures average 57 °F over France on day 1."
    score = quantities_proxy(report, REFERENCE)
    assert (score.precision, score.recall) == (1, 1 / 3)
    assert score.f1 == pytest.approx(2 * (1 / 3) / (4 / 3))


def test_one_number_of_the_reference_is_matched_once():
    report = " ".join(
        f"Temperatures average {t} °C over France on day 1." for t in (13, 13.5, 14, 14.5, 15)
    )
    score = quantities_proxy(report, REFERENCE)
    assert (score.matched, score.report) == (1, 5)


def test_the_matching_is_a_maximum():
    # 12 fits 13 only, 14 fits 13 and 15: greedy pairing of 14 with 13 would lose one.
    reference = (
        "Temperatures average 13 °C over France on day 1. Temperatures average 15.9 °C over France "
        "on day 1."
    )
    for order in itertools.permutations((11.5, 14)):
        report = " ".join(f"Temperatures average {t} °C over France on day 1." for t in order)
        assert quantities_proxy(report, reference).matched == 2


def test_without_quantities():
    assert quantities_proxy("Rain of 3 mm in Spain on day 1.", "Fair.") is None
    assert quantities_proxy("", REFERENCE).f1 == 0


def test_grounded_within_rounding_and_units():
    seen = ["2 m temperature, mean over France: 13.62 °C", "maximum 11.33 m/s at 36 h"]
    assert grounding_proxy("Near 14 °C with winds to 11.3 m/s.", seen) == 1
    assert grounding_proxy("Near 13.6 °C.", seen) == 1
    assert grounding_proxy("Near 13 °C.", seen) == 0
    assert grounding_proxy("Near 57 °F.", seen) == 1, "13.62 °C is 56.5 °F"
    assert grounding_proxy("Near 55 °F.", seen) == 0
    assert grounding_proxy("Winds to 22 kt.", seen) == 1, "11.33 m/s is 22.02 kt"
    assert grounding_proxy("Winds to 41 km/h.", seen) == 1, "11.33 m/s is 40.8 km/h"
    assert grounding_proxy("Winds of 5 to 11 m/s.", seen) == 0.5, "of a range both ends count"
    assert grounding_proxy("Mild with 13.6 mm.", seen) == 0, "the unit must be the same"
    assert grounding_proxy("Mild.", seen) is None
    assert grounding_proxy("Near 14 °C.", []) == 0


def test_a_departure_of_kelvins_is_one_of_degrees():
    assert grounding_proxy("Some 3 K above normal.", ["departure of Kenya: 2.9 °C"]) == 1


@given(st.lists(st.floats(-40, 40).map(lambda x: round(x, 2)), min_size=1, max_size=8))
def test_what_was_seen_is_grounded(values):
    seen = [f"mean over a place: {v} °C" for v in values]
    assert grounding_proxy(" ".join(f"It is {v} °C there." for v in values), seen) == 1


@given(st.text(), st.text())
def test_any_text_can_be_scored(report, reference):
    found = proxies(report, reference, [reference])
    assert set(found) <= set(NAMES)
    assert all(0 <= value <= 1 for value in found.values())


def test_together():
    found = proxies(REFERENCE, REFERENCE, [REFERENCE])
    assert set(found) == set(NAMES)
    assert found["quantities_proxy"] == found["grounding_proxy"] == found["keywords_f1"] == 1
    assert proxies("", REFERENCE, []) == {
        "quantities_proxy": 0,
        "style_proxy": 0,
        "keywords_f1": 0,
    }
