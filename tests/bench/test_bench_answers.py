import json
import time

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus_bench.answers import (
    Place,
    find_answer,
    read_hours,
    read_names,
    read_number,
    read_place,
)


@pytest.mark.parametrize(
    ("text", "answer"),
    [
        ("<answer>24.3</answer>", "24.3"),
        ("It is warm.\n<answer>\n 24.3 °C \n</answer> Done.", "24.3 °C"),
        ("<ANSWER>24.3</ANSWER>", "24.3"),
        ("<answer>1</answer> no, wait: <answer>2</answer>", "2"),
        ("<answer>24.3", "24.3"),  # a server that stops at </answer>
        ("<answer></answer>", None),  # a placeholder
        ("<answer>5</answer> (in the format <answer>…</answer>)", "5"),
        ("The format is <answer>...</answer>. <answer>5</answer>", "5"),
        ("<answer>24.3</answer>\nThe final answer is in the <answer> tags above.", "24.3"),
        ("I will put it in <answer> tags later", None),
        ("I will put it in <answer>…</answer> tags", None),
        ('<answer type="number">24.3</answer >', "24.3"),
        ("<answer >24.3</answer>", "24.3"),
        ('Here: <answer>{"place": "Kenya"', '{"place": "Kenya"'),
        ("<answer>Kenya", "Kenya"),
        ("<answer>1<answer>2</answer>", "2"),
        ("<think>maybe <answer>1</answer></think><answer>2</answer>", "2"),
        ("perhaps <answer>1</answer></think><answer>2</answer>", "2"),
        ("<think>maybe <answer>1</answer></think> I do not know", None),
        ("<think>maybe <answer>1</answer> and so on", None),
        ("answer: 24.3", None),
        ("", None),
    ],
)
def test_finds_the_answer(text, answer):
    assert find_answer(text) == answer


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("24.3", 24.3),
        ("-4", -4.0),
        ("+4.50", 4.5),
        ("−12.5", -12.5),  # U+2212
        ("1,013.2", 1013.2),
        ("1,013.2 hPa", 1013.2),
        ("12.3 °C", 12.3),
        ("12.3°C", 12.3),
        ("45%", 45.0),
        ("5.2 m/s", 5.2),
        ("5.2 m s-1", 5.2),
        ("5.2 m·s^-1", 5.2),
        ("1.2e-3", 1.2e-3),
        (".5", 0.5),
        ("$24.3$", 24.3),
        (r"\boxed{24.3}", 24.3),
        ("**24.3**", 24.3),
        ("```json\n24.3\n```", 24.3),
        ('```\n{"value": 24.3}\n```', 24.3),
        ('"24.3 °C"', 24.3),
        ('{"value": 24.3}', 24.3),
        ("{'value': 24.3}", 24.3),
        ('{"answer": 24.3}', 24.3),
        ('{"answer": {"value": "24.3", "unit": "°C"}}', 24.3),
        ('{"mean_temperature": 24.3}', 24.3),
        ('{"value": 24.3, "hour": 132}', 24.3),
        ('The value is {"value": 24.3}.', 24.3),
        ("[24.3]", 24.3),
        ("The mean is 24.3 °C over Kenya.", 24.3),
        ("2 m temperature: 24.3 °C", 24.3),
        ("The 500 hPa temperature is -12.5 °C on 1959-01-07 12:00 UTC", -12.5),
        ("24.3 °C (7 January 1959)", 24.3),
        # numbers that say when or where, as the tools print them
        ("24.3 °C at 132 h (valid 1959-01-07 12:00 UTC)", 24.3),
        ("2 m temperature, mean over Kenya (country), 6-240 h: 24.31 °C", 24.31),
        ("24.3 degC at 132 h", 24.3),
        ("24.3 mm in 6 h", 24.3),
        ("5.1 mm/6 h", 5.1),
        ("5.1 mm per 6 h", 5.1),
        ("6-hour precipitation: 24.3 mm", 24.3),
        ("5820.0 gpm (500 hPa)", 5820.0),
        ("24.3 m/s at 10 m", 24.3),
        ("24.3 (mean over 12 cells)", 24.3),
        ('{"mean": 24.3, "hour": 132}', 24.3),
        ('{"feature": "Kenya", "hour": 24, "mean": 24.3}', 24.3),
        ('{"mean": 24.3, "variable": "2m_temperature", "latitude": 1.5}', 24.3),
        ('[24.3, "°C"]', 24.3),
        # other ways to write a number
        ("2.43 × 10^1", 24.3),
        ("2.43x10^1", 24.3),
        ("24,3", 24.3),
        ("24,3 °C", 24.3),
        ('{"value": "24,3"}', 24.3),
        ("0,125", 0.125),
        ("1,013", 1013.0),
        ("1 013.2", 1013.2),
        ("1 013.2 hPa", 1013.2),
        ("24·3", 24.3),
        ("minus 24.3", -24.3),
        ("negative 24.3 °C", -24.3),
        # the same value again
        ("24.3 ± 0.1", 24.3),
        ("24.3 °C (75.7 °F)", 24.3),
        ("1013.2 hPa (101320 Pa)", 1013.2),
        ("24.31 °C (24.3)", 24.31),
        ("10", 10.0),
        ("10 m/s", 10.0),
        ("500 hPa", 500.0),
        ("6 h", 6.0),
        ("0", 0.0),
    ],
)
def test_reads_numbers_as_models_write_them(text, number):
    assert read_number(text) == pytest.approx(number, abs=1e-12)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "unknown",
        "null",
        "true",
        "NaN",
        "Infinity",
        "1e999",
        "[24.3, 25.1]",
        "24.3, 25.1",
        "24.3 or 25.1",
        "24.3 25.1",
        "12-13",
        "12–13 °C",
        '{"low": 24.3, "high": 25.1}',
        '{"value": [24.3, 25.1]}',
        '{"value": 24.3, "answer": 25.1}',
        '{"value": 24.3} {"value": 25.1}',
        "24.3 (25.1)",
        "20 (or 30)",
        "500 hPa, 850 hPa",
        "24.3 °C or 25.1 °C at 132 h",
        "10,20,30",
        "[[24.3, 25.1]]",
        "[" * 5000,
        "9" * 5000,
        '{"a":' * 3000,
        "{}",
        "[]",
    ],
)
def test_a_list_of_guesses_is_no_number(text):
    assert read_number(text) is None


@pytest.mark.parametrize(
    ("text", "hours"),
    [
        ("132", 132.0),
        ("132 h", 132.0),
        ("132 hours", 132.0),
        ('{"hours": 132}', 132.0),
        ('{"value": 27.4, "hour": 132}', 132.0),
        ('{"value": 132}', 132.0),
        ('{"lead_time": "132 h"}', 132.0),
        ("maximum 27.42 °C at 132 h (valid 1959-01-07 12:00 UTC)", 132.0),
        ("T+132", 132.0),
        ("132 hours (5.5 days)", 132.0),
        ("5.5 days", 132.0),
        ("5 days 12 hours", 132.0),
        ("5 days and 12 h", 132.0),
        ("132 hours (of 240 h)", 132.0),
        ("6-240 h: maximum 27.42 °C at 132 h", 132.0),
    ],
)
def test_reads_hours(text, hours):
    assert read_hours(text) == hours


@pytest.mark.parametrize(
    "text",
    [
        *("126 h or 132 h", "[126, 132]", "126, 132", "", "soon"),
        *("6 h, 12 18 24", "6 h or 132", '{"hours": 6, "time": 132}', "5 days or 6 h"),
    ],
)
def test_a_list_of_hours_is_no_answer(text):
    assert read_hours(text) is None


@pytest.mark.parametrize(
    ("text", "place"),
    [
        ('{"place": "Kenya", "value": 24.3}', Place(("Kenya",), 24.3)),
        ('{"name": "Kenya", "value": "24.3 °C"}', Place(("Kenya",), 24.3)),
        ('{"location": "Kenya", "temperature": 24.3}', Place(("Kenya",), 24.3)),
        ('{"country": "Kenya", "max": 24.3}', Place(("Kenya",), 24.3)),
        ('{"Kenya": 24.3}', Place(("Kenya",), 24.3)),
        ('{"answer": {"place": "Kenya", "value": 24.3}}', Place(("Kenya",), 24.3)),
        ('[{"place": "Kenya", "value": 24.3}]', Place(("Kenya",), 24.3)),
        ('["Kenya", 24.3]', Place(("Kenya",), 24.3)),
        ('"Kenya"', Place(("Kenya",), None)),
        ("Kenya", Place(("Kenya",), None)),
        ("Kenya, 24.3 °C", Place(("Kenya, 24.3 °C",), 24.3)),
        ('{"place": "Kenya"}', Place(("Kenya",), None)),
        ('{"country": "Kenya", "value": 3, "unit": "°C"}', Place(("Kenya",), 3.0)),
        ('{"sea": "Kara Sea", "value": 3, "time": "132 h"}', Place(("Kara Sea",), 3.0)),
        ('{"winner": "Kenya", "value": 3}', Place(("Kenya",), 3.0)),
        ('{"city": "Paris", "country": "France", "value": 2}', Place(("Paris, France",), 2.0)),
        ('{"name": "Kenya", "parent": "Africa", "value": 2}', Place(("Kenya",), 2.0)),
        ('{"Kenya": 24.3, "unit": "°C"}', Place(("Kenya",), 24.3)),
        ('{"place": "Kenya", "name": "Chad"}', Place(("Kenya, Chad",), None)),
        ('{"place": "Kenya", "location": ["Chad", "Mali"]}', Place(("Kenya", "Chad", "Mali"))),
        ('{"place": ["Kenya", "Chad"], "value": 24.3}', Place(("Kenya", "Chad"), 24.3)),
        ('["Kenya", "Chad"]', Place(("Kenya", "Chad"), None)),
        ('{"place": "Kenya", "value": [1, 2]}', Place(("Kenya",), None)),
        ("24.3", None),
        ('{"value": 24.3}', None),
        ("", None),
        ("[]", None),
        ("{}", None),
    ],
)
def test_reads_places(text, place):
    assert read_place(text) == place


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ('["Kenya", "Chad"]', ["Kenya", "Chad"]),
        ("['Kenya', 'Chad']", ["Kenya", "Chad"]),
        ('```json\n["Kenya"]\n```', ["Kenya"]),
        ("Kenya, Chad", ["Kenya", "Chad"]),
        ("Kenya; Chad", ["Kenya", "Chad"]),
        ("- Kenya\n- Chad", ["Kenya", "Chad"]),
        ("1. Kenya: 24.3 °C\n2. Chad: 22.0 °C", ["Kenya", "Chad"]),
        ('{"names": ["Kenya", "Chad"]}', ["Kenya", "Chad"]),
        ('{"above_p90": ["Kenya"]}', ["Kenya"]),
        ('[{"name": "Kenya", "value": 24.3}, {"name": "Chad"}]', ["Kenya", "Chad"]),
        ('{"count": 1, "countries": ["Kenya"]}', ["Kenya"]),
        ("[]", []),
        ("none", []),
        ("None", []),
        ('"none"', []),
        ('["none"]', []),
        ("null", []),
        ('{"names": []}', []),
        ("Kenya", ["Kenya"]),
        ("No countries", []),
        ("There are none.", []),
        ("None of the countries", []),
        ("0 of 12", []),
        ("0 of 12 above January p90: none", []),
        ("2 of 12 above January p90: Kenya; Chad", ["Kenya", "Chad"]),
        ("N/A", []),
        ("∅", []),
        ("empty list", []),
        ("{}", []),
        ('{"Kenya": 3.2, "Chad": 1.2}', ["Kenya", "Chad"]),
        ('{"Kenya": 3.2}', ["Kenya"]),
        ('{"value": 3.2}', None),
        ("3 of 12", None),
        ("", None),
    ],
)
def test_reads_lists(text, names):
    assert read_names(text) == names


def test_names_with_a_comma_stay_whole():
    assert read_names("Washington, D.C., Kenya", ["Washington, D.C."]) == [
        "Washington, D.C.",
        "Kenya",
    ]
    assert read_names("Washington, D.C., Kenya") == ["Washington", "D.C", "Kenya"]


READERS = (find_answer, read_number, read_hours, read_place, read_names)
HOSTILE = [
    '["x{0}:{0}y"]'.format(" " * 1990),
    "```" + " " * 20000 + "a" + " " * 20000 + "b",
    "1" + " " * 30000 + "x",
    "x" + " " * 20000 + "y",
    json.dumps(["x" + "\t" * 1500 + ":" + "\t" * 400 + "y"]),
    *(unit * (length // len(unit)) for length in (3999, 40000) for unit in (
        *(" ", "[", "{", "(", "-", "1", "1 ", "1,", "0.", "1e", ": ", "( 1", '{"a":', '"', "'", "\\"),
        *("1 x 10", "m s ", "m s (", "- 1", "1 h", "1 day ", "not ", "<answer", "<answer>"),
        *("<think>", "May 1 ", "of 1", "Kenya ", "Kenya, ", "the ", "± ", "1 of 1", "\n", "A.B. "),
    )),
]  # fmt: skip


@pytest.mark.parametrize("text", HOSTILE, ids=range(len(HOSTILE)))
def test_reading_takes_no_longer_than_a_blink(text):
    for read in READERS:
        began = time.thread_time()  # of this thread alone, however busy the machine is
        read(text)
        assert time.thread_time() - began < 0.5, read.__name__


def test_a_very_long_answer_is_none():
    assert read_number("24.3" + " " * 3000) == 24.3
    assert read_number("24.3" + " " * 5000) is None


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(
            st.sampled_from(["value", "place", "names", "hours", "answer"]) | st.text(max_size=6),
            inner,
            max_size=4,
        )
    ),
    max_leaves=12,
)


@settings(max_examples=400, deadline=None)
@given(st.one_of(st.text(), st.text("0123456789.,-+eE[]{}\":' \n°%hmsA"), JSON.map(json.dumps)))
def test_nothing_a_model_writes_raises(text):
    for read in READERS:
        read(text)


@given(st.floats(allow_nan=False, allow_infinity=False))
def test_a_number_survives_json(number):
    assert read_number(json.dumps(number)) == number


@given(st.integers(0, 1000))
def test_hours_survive_json(hours):
    assert read_hours(json.dumps(hours)) == hours


NAMES = st.text(st.characters(categories=["L"]), min_size=1, max_size=12).filter(
    lambda name: name.lower() not in ("none", "nothing", "empty", "null")
)


@given(NAMES, st.floats(-1e6, 1e6))
def test_a_place_survives_json(name, value):
    assert read_place(json.dumps({"place": name, "value": value})) == Place((name,), value)


@given(st.lists(NAMES, max_size=6))
def test_a_list_survives_json(names):
    assert read_names(json.dumps(names)) == names
