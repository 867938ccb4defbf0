import json

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
        ("<answer></answer>", ""),
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
        ("10", 10.0),
        ("10 m/s", 10.0),
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
    ],
)
def test_reads_hours(text, hours):
    assert read_hours(text) == hours


@pytest.mark.parametrize("text", ["126 h or 132 h", "[126, 132]", "126, 132", "", "soon"])
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
        ("", None),
        ("{}", None),
    ],
)
def test_reads_lists(text, names):
    assert read_names(text) == names


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
READERS = (find_answer, read_number, read_hours, read_place, read_names)


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
