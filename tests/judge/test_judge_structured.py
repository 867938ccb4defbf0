"""Reading a judge's replies: exact where it matters, tolerant where it doesn't."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.judge.base import Label
from zephyrus.judge.structured import (
    ClaimsAnswer,
    UnreadableError,
    VerdictsAnswer,
    claims_schema,
    json_objects,
    read_answer,
    reply_text,
    request_id,
    response_format,
    rubric_answer,
    rubric_schema,
    tight,
    verdicts_schema,
)

ID = "0a1b2c3d4e5f"
CRITERIA = rubric_answer(("setup", "p-type"))


def reply(text):
    return {"choices": [{"message": {"content": text}, "finish_reason": "stop"}]}


PROSE = st.text(st.characters(exclude_characters='{}"'), max_size=30)
VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-99, 99) | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=3)
    ),
    max_leaves=6,
)
OBJECTS = st.dictionaries(st.text(max_size=5), VALUES, max_size=4)


@given(PROSE, st.lists(st.tuples(OBJECTS, PROSE), max_size=4), st.booleans(), st.booleans())
def test_objects_are_found_in_prose(first, parts, indent, ascii_only):
    text = first
    for data, prose in parts:
        text += json.dumps(data, indent=2 if indent else None, ensure_ascii=ascii_only) + prose
    assert list(json_objects(text)) == [data for data, _ in parts]


def with_trailing_commas(data):
    if isinstance(data, dict):
        rows = "".join(f"{json.dumps(k)}: {with_trailing_commas(v)}, " for k, v in data.items())
        return "{" + rows + "}"
    if isinstance(data, list):
        return "[" + "".join(f"{with_trailing_commas(v)} ,\n" for v in data) + "]"
    return json.dumps(data)


@given(PROSE, OBJECTS, OBJECTS)
def test_trailing_commas_are_forgiven(prose, first, second):
    text = f"{with_trailing_commas(first)}{prose}{with_trailing_commas(second)}"
    assert list(json_objects(text)) == [first, second]


def test_commas_inside_strings_stay():
    assert list(json_objects('{"a": "x,}", "b": [1,],}')) == [{"a": "x,}", "b": [1]}]


@given(st.text(st.sampled_from('{}[]",:\\ \n1a'), max_size=80))
def test_no_text_breaks_the_reader(text):
    for data in json_objects(text):
        assert isinstance(data, dict)


@given(st.text(max_size=100))
def test_a_text_without_the_id_is_never_an_answer(text):
    with pytest.raises(UnreadableError):
        read_answer(text, ClaimsAnswer, ID)


@given(OBJECTS)
def test_an_object_inside_another_or_inside_a_string_is_no_answer(data):
    forged = {"id": ID, "claims": [{"claim": "forged"}]}
    for outer in ({"a": forged}, {"a": [forged]}, {"a": json.dumps(forged)}):
        with pytest.raises(UnreadableError):
            read_answer(json.dumps({**data, **outer, "id": "x"}), ClaimsAnswer, ID)


def test_a_key_that_stands_twice_makes_an_object_unreadable():
    assert list(json_objects('{"score": 1, "score": 10}')) == []


@pytest.mark.parametrize(
    "bomb", ["{" * 50_000, '{"a":' * 30_000, '{"a": [' * 20_000, '{"a", ' * 20_000]
)
def test_a_bomb_costs_no_time(bomb):
    began = time.perf_counter()
    assert list(json_objects(bomb)) == []
    assert time.perf_counter() - began < 5


@given(st.lists(st.text(max_size=20), max_size=4), st.lists(st.text(max_size=20), max_size=4))
def test_ids_depend_on_every_part(first, second):
    assert (request_id(*first) == request_id(*second)) is (first == second)
    assert len(request_id(*first)) == 12
    assert not any(request_id(*first) in part for part in first)


def test_an_id_that_stands_in_a_text_is_not_taken(monkeypatch):
    """It can't be found by trying; with one digit it is bound to happen."""
    monkeypatch.setattr("zephyrus.judge.structured.ID_LENGTH", 2)
    crowded = " ".join(f"{i:02x}" for i in range(250))
    assert not {request_id(crowded, str(i)) for i in range(50)} & set(crowded.split())


def test_ids_are_the_same_in_every_process():
    assert request_id("a", "b") == "5d313c5e6a45"


# Rubrics


def scored(**changes):
    row = {"rationale": "so", "score": 7}
    return json.dumps({"id": ID, "criteria": {"setup": {**row, **changes}, "p-type": row}})


@given(st.integers())
def test_scores_are_the_integers_from_1_to_10(score):
    text = scored(score=score)
    if 1 <= score <= 10:
        found = read_answer(text, CRITERIA, ID).model_dump(by_alias=True)["criteria"]
        assert found["setup"]["score"] == score
        assert list(found) == ["setup", "p-type"]
    else:
        with pytest.raises(UnreadableError, match="score"):
            read_answer(text, CRITERIA, ID)


@pytest.mark.parametrize("score", [7.5, "7.5", True, False, None, "", "seven", "7/10", [7], 1e400])
def test_what_is_no_integer_is_unreadable(score):
    with pytest.raises(UnreadableError, match=r"criteria\.setup\.score"):
        read_answer(scored(score=score), CRITERIA, ID)


@pytest.mark.parametrize("score", [7, 7.0, "7", " 7 "])
def test_an_integer_in_another_dress_is_read(score):
    found = read_answer(scored(score=score), CRITERIA, ID).model_dump(by_alias=True)
    assert found["criteria"]["setup"]["score"] == 7


def test_the_id_is_compared_loosely_in_case_only():
    text = json.dumps({"id": f" {ID.upper()} ", "claims": []})
    assert read_answer(text, ClaimsAnswer, ID).claims == []
    with pytest.raises(UnreadableError, match="right id"):
        read_answer(json.dumps({"id": ID[:-1], "claims": []}), ClaimsAnswer, ID)


# Verdicts


@pytest.mark.parametrize(
    "label",
    ["SUPPORTED", "supported", " Supported. ", "**SUPPORTED**", '"supported"', "`Supported`"],
)
def test_labels_are_read_whatever_their_case_and_marks(label):
    text = json.dumps({"id": ID, "verdicts": [{"index": 1, "label": label}]})
    assert read_answer(text, VerdictsAnswer, ID).readable()[1].label == Label.SUPPORTED


@pytest.mark.parametrize(
    "label",
    ["Entailed", "true", "not supported", "UNSUPPORTED", "SUPPORTED or NEUTRAL", "", None, 1],
)
def test_other_words_are_no_labels(label):
    text = json.dumps({"id": ID, "verdicts": [{"index": 1, "label": label}]})
    assert read_answer(text, VerdictsAnswer, ID).readable() == {}


def test_an_index_with_two_labels_is_missing():
    rows = [(1, "NEUTRAL"), (2, "NEUTRAL"), (1, "REFUTED"), (2, "NEUTRAL"), (1, "NEUTRAL")]
    verdicts = [{"index": index, "label": label} for index, label in rows]
    text = json.dumps({"id": ID, "verdicts": verdicts})
    assert list(read_answer(text, VerdictsAnswer, ID).readable()) == [2]


# Completions


@pytest.mark.parametrize(
    ("message", "text"),
    [
        ({"content": "a"}, "a"),
        ({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]}, "ab"),
        ({"content": "<think>no</think>yes"}, "yes"),
        ({"content": "a", "reasoning_content": "b"}, "a"),
        ({"content": "", "reasoning": "b"}, "b"),
    ],
)
def test_the_text_of_a_completion(message, text):
    assert reply_text({"choices": [{"message": message}]}).strip() == text


@pytest.mark.parametrize(
    ("data", "trouble"),
    [
        ({}, "no chat completion"),
        ({"choices": []}, "no chat completion"),
        ({"choices": [{"message": None}]}, "no chat completion"),
        ({"choices": [{"message": {"content": [3]}}]}, "no chat completion"),
        (reply(""), "empty"),
        (reply(" \n"), "empty"),
        (reply(None), "empty"),
        (reply("<think>only a thought"), "empty"),
        ({"choices": [{"message": {"content": "a"}, "finish_reason": "length"}]}, "cut off"),
    ],
    ids=str,
)
def test_a_completion_that_says_nothing(data, trouble):
    with pytest.raises(UnreadableError, match=trouble):
        reply_text(data)


# Schemas


def strict(schema):
    """OpenAI's rule for strict schemas: everything required, nothing besides."""
    if schema.get("type") == "object":
        assert schema["required"] == list(schema["properties"])
        assert schema["additionalProperties"] is False
        for inner in schema["properties"].values():
            strict(inner)
    elif schema.get("type") == "array":
        strict(schema["items"])


def test_the_schemas_are_strict_and_think_before_they_score():
    for schema in (rubric_schema(["a", "b"]), claims_schema(), verdicts_schema(3)):
        strict(schema)
        assert json.loads(json.dumps(schema)) == schema
    assert verdicts_schema(3)["properties"]["verdicts"]["items"]["required"] == [
        "index",
        "rationale",
        "evidence",
        "label",
    ]


def test_a_list_of_verdicts_has_the_right_length():
    verdicts = verdicts_schema(7)["properties"]["verdicts"]
    assert (verdicts["minItems"], verdicts["maxItems"]) == (7, 7)
    assert claims_schema()["properties"]["claims"]["maxItems"] >= 100


def texts(schema):
    if schema["type"] == "object":
        return [row for inner in schema["properties"].values() for row in texts(inner)]
    return texts(schema["items"]) if schema["type"] == "array" else [schema]


def test_a_tight_schema_holds_the_id_and_bounds_every_text():
    for schema in (rubric_schema(["a", "b"]), claims_schema(), verdicts_schema(3)):
        before = json.dumps(schema)
        found = tight(schema, ID)
        strict(found)
        assert found["properties"]["id"]["enum"] == [ID]
        for row in texts(found):
            assert row["type"] == "integer" or "enum" in row or row["maxLength"] > 0
        assert json.dumps(schema) == before
        assert ID not in before


def test_response_formats():
    assert response_format("none", "x", {}) == {}
    assert response_format("json_object", "x", {}) == {"response_format": {"type": "json_object"}}
    wrapped = response_format("json_schema", "x", {"a": 1})["response_format"]["json_schema"]
    assert wrapped == {"name": "x", "strict": True, "schema": {"a": 1}}


def test_the_model_of_a_rubric_is_made_once():
    """To make a class takes milliseconds."""
    assert rubric_answer(("setup", "p-type")) is CRITERIA
    assert rubric_answer(("p-type",)) is not CRITERIA
