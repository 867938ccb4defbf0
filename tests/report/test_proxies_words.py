"""The proxies that only look at words: the keyword taxonomy and the style."""

import json
import statistics
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_report.proxies.style import style_proxy
from zephyrus_report.proxies.taxonomy import keywords, taxonomy_f1

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "nws"

REFERENCE = "A cold front brings showers and gusty winds; snow over the hills. Colder behind it."


def test_keywords_are_found_as_words_in_any_case_and_across_lines():
    assert keywords("COLD\nFRONT") == {("airmass", "cold_front"), ("temperature", "cold")}
    assert keywords("Scold the showerhead; he snowboards") == {("winter", "snow")}
    assert keywords("no measurable\nprecipitation") == {("precipitation", "dry")}
    assert keywords("") == set()


def test_a_score_by_hand():
    # Reference: shower 1/3, strong_wind 1/2, snow 1/2, cold 1/2, cold_front 1/2 = 14/6.
    assert keywords(REFERENCE) == {
        ("precipitation", "shower"),
        ("wind", "strong_wind"),
        ("winter", "snow"),
        ("temperature", "cold"),
        ("airmass", "cold_front"),
    }
    # Report: shower 1/3 and snow 1/2 right, severe 1/2 and cloud 1/2 invented.
    score = taxonomy_f1("Showers, snow, hail, overcast.", REFERENCE)
    hit = 1 / 3 + 1 / 2
    assert score.precision == pytest.approx(hit / (hit + 1))
    assert score.recall == pytest.approx(hit / (14 / 6))
    expected = 2 * score.precision * score.recall / (score.precision + score.recall)
    assert score.f1 == pytest.approx(expected)
    assert score.invented == ("convection", "sky")
    assert score.omitted == ("airmass", "temperature", "wind")


def test_inventing_another_group_costs():
    honest = taxonomy_f1(REFERENCE, REFERENCE)
    assert (honest.precision, honest.recall, honest.f1) == (1, 1, 1)
    assert taxonomy_f1(REFERENCE + " Tornadoes and hail.", REFERENCE).f1 < 1


def test_the_ends_of_the_scale():
    assert taxonomy_f1("", REFERENCE).f1 == 0
    assert taxonomy_f1("Nothing to say.", REFERENCE).f1 == 0
    assert taxonomy_f1("Snow.", "Nothing to say.") is None


@given(st.text(), st.text())
def test_scores_stay_in_range(report, reference):
    score = taxonomy_f1(report, reference)
    assert score is None or 0 <= score.f1 <= 1
    assert 0 <= style_proxy(report) <= 1


def test_professional_words_sound_professional():
    plain = "It will be nice on Monday. It will be nice on Tuesday. People can go out. " * 5
    trade = (
        "A shortwave trough digs into the lee of the divide with height falls and differential "
        "vorticity advection; isentropic ascent over the baroclinic zone supports QPF above "
        "climatology, while subsidence under the longwave ridge keeps lapse rates poor. "
    )
    assert style_proxy(plain) < 0.1
    assert style_proxy(trade) > 0.9
    assert style_proxy("") == 0
    assert style_proxy("QPF " * 200) < style_proxy(trade) / 3, "one term over and over"


def test_headings_that_nobody_uses_cost():
    body = (
        "A shortwave trough and its cold front cross with height falls and vorticity advection.\n"
    )
    with_known = ".SHORT TERM /TODAY/...\n" + body
    with_unknown = ".MY THOUGHTS...\n" + body
    assert style_proxy(with_known) > style_proxy(with_unknown)
    capitals = body.upper() + "STORM FOR TOMORROW...THEN DRY\n"
    assert style_proxy(capitals) == pytest.approx(style_proxy(body), abs=0.1), "no heading at all"


def test_real_discussions_score_high():
    files = sorted(SAMPLES.glob("weather_gov_api__testing_products_*.json"))
    if not files:
        pytest.skip("the sample texts are not here")
    scores = [style_proxy(json.loads(file.read_text())["productText"]) for file in files]
    assert statistics.median(scores) > 0.85
    assert min(scores) > 0.4
