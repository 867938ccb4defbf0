"""The text view: what it holds, and the reader that knows nothing else."""

import re

import numpy as np
import pytest

from zephyrus_chartqa.facts.areas import chart_areas
from zephyrus_chartqa.facts.reading import Reading
from zephyrus_chartqa.fields import chart_data
from zephyrus_chartqa.modality import MODALITIES
from zephyrus_chartqa.reader import Unreadable, answer
from zephyrus_chartqa.region import REGIONS
from zephyrus_chartqa.text_view import text_view
from zephyrus_geodata import load_dataset

PRESSURE = """\
Mean sea level pressure in hPa, Europe (33N to 72N, 25W to 45E); valid 1959-10-21 00 UTC; made up
Means over areas (with their middle):
- the North Sea (56N 3E): 985
- Germany (51N 10E): 991
- France (46N 3E): 1005
- Spain (40N 3W): 1019
- northern Italy (45N 10E): 1012
On the chart: highest 1028 at 38N 22W, lowest 979 at 54N 8E
Highs: 1028 at 38N 12W
Lows: 979 at 54N 8E; 1001 at 60N 40E"""
WIND = """\
850 hPa wind in m/s, Europe (33N to 72N, 25W to 45E); valid 1959-10-21 00 UTC; made up
- France: 9 from 240
- Spain: 4, variable"""


@pytest.fixture(scope="module")
def demo():
    return load_dataset("demo")


def europe(demo, modality, lead=48):
    return chart_data(demo, "1959-10-19", modality, REGIONS["Europe"], lead)


@pytest.mark.parametrize("modality", MODALITIES)
def test_it_tells_element_units_region_time_and_origin_and_a_number_for_each_area(demo, modality):
    chart = europe(demo, modality)
    lines = text_view(chart, demo).splitlines()
    assert lines[0].startswith(chart.element)
    for told in ("Europe (33N to 72N, 25W to 45E)", "1959-10-21 00 UTC", "simulated (jcm T42)"):
        assert told in lines[0]
    assert ("dagpm" if chart.units == "gpm" else chart.units) in lines[0]
    assert chart.remark in lines[0]
    names = [area.name for area in chart_areas(demo, chart.region)]
    told = [re.match(r"- ([^:(]+?)(?: \(\d+[NS] \d+[EW]\))?: (-?\d+)", line) for line in lines]
    assert [match[1] for match in told if match] == names
    assert any(line.startswith("On the chart: highest") for line in lines)


def test_its_numbers_are_those_of_the_chart_rounded(demo):
    chart = europe(demo, "land_situation")
    reading = Reading.of(chart, chart_areas(demo, chart.region))
    text = text_view(chart, demo)
    for area in reading.areas:
        line = next(line for line in text.splitlines() if line.startswith(f"- {area.name} ("))
        assert abs(float(line.rsplit(" ", 1)[1]) - reading.values[area.key]) <= 0.5
    inside = chart.values[chart.inside]
    assert f"highest {np.nanmax(inside):.0f} at" in text
    assert f"lowest {np.nanmin(inside):.0f} at" in text
    for centre in reading.centres:
        line = next(x for x in text.splitlines() if x.startswith(f"{centre.kind.title()}s:"))
        assert f"{centre.value:.0f} at" in line


def test_it_is_short(demo):
    for modality in MODALITIES:
        text = text_view(europe(demo, modality), demo)
        assert len(text.splitlines()) <= 17
        # Words, numbers and signs: about what a tokenizer makes of it.
        assert len(re.findall(r"\w+|[^\w\s]", text)) < 420


def test_a_missing_area_is_left_out(demo):
    chart = europe(demo, "max_temp")
    areas = chart_areas(demo, chart.region)
    values = chart.values.copy()
    flat = values.ravel()
    flat[np.isin(chart.cells.ravel(), areas[0].cells)] = np.nan
    object.__setattr__(chart, "values", values)  # a chart with a hole
    reading = Reading.of(chart, areas)
    assert areas[0].name not in [area.name for area in reading.areas]
    assert areas[0].name not in text_view(chart, demo)


@pytest.mark.parametrize(
    ("text", "question", "choices", "letter"),
    [
        (PRESSURE, "What is the sea level pressure over France on average?",
         ("1000 to 1005 hPa", "1005 to 1010 hPa", "995 to 1000 hPa", "below 930 hPa"), "B"),
        (PRESSURE, "Which of these areas has the lowest area-average sea level pressure?",
         ("Spain", "Germany", "the North Sea", "France"), "C"),
        (PRESSURE, "Which of these areas has the highest area-average sea level pressure?",
         ("Spain", "Germany", "the North Sea", "France"), "A"),
        (PRESSURE, "Which pressure system is centred nearest to Germany?",
         ("a low of 1001 hPa", "a high of 1028 hPa", "a low of 979 hPa", "a high of 1040 hPa"), "C"),
        (PRESSURE, "Near which of these areas is the high of 1028 hPa centred?",
         ("Germany", "Spain", "the North Sea", "northern Italy"), "B"),
        (PRESSURE, "In which quarter of the chart, divided at 52°N and 10°E, is the lowest sea level pressure?",
         ("the northeast", "the northwest", "the southeast", "the southwest"), "B"),
        (WIND, "What is the prevailing 850 hPa flow over France?",
         ("northwesterly", "northeasterly", "southwesterly", "southeasterly"), "C"),
        (WIND, "How strong is the 850 hPa wind over Spain on average?",
         ("8 to 12 m/s", "below 4 m/s", "4 to 8 m/s", "12 to 16 m/s"), "C"),
    ],
)  # fmt: skip
def test_the_reader_reads(text, question, choices, letter):
    found = answer(text, question, choices)
    assert found.letter == letter
    assert choices["ABCD".index(letter)] in found.because


@pytest.mark.parametrize(
    ("text", "question", "choices"),
    [
        (
            PRESSURE,
            "What is the sea level pressure over Iceland on average?",
            ("1 to 2 hPa", "x y"),
        ),
        (PRESSURE, "What is the prevailing 850 hPa flow over France?", ("westerly", "easterly")),
        (WIND, "What is the prevailing 850 hPa flow over Spain?", ("westerly", "easterly")),
        (
            WIND,
            "Which pressure system is centred nearest to France?",
            ("a low of 1", "a high of 2"),
        ),
        (WIND, "Which of these areas has the lowest area-average wind?", ("Spain", "Peru")),
        ("", "Why?", ("a", "b")),
    ],
)
def test_what_the_text_does_not_say_is_not_guessed(text, question, choices):
    with pytest.raises(Unreadable):
        answer(text, question, choices)
