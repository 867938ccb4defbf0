"""Reading reasoning and answer, and what they are worth: tables of near misses, and properties."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.consistency.question import ChoiceQuestion
from zephyrus.consistency.response import final_answer, last_said, read_response
from zephyrus.consistency.rewards import (
    LOCO,
    RFT,
    LocoWeights,
    accuracy_reward,
    format_reward,
    logic_reward,
    read_weights,
)
from zephyrus.errors import UserError
from zephyrus.messages import Message, ToolCall
from zephyrus.policy.wire import read_reply
from zephyrus.trajectory import Key, Trajectory

QUESTION = ChoiceQuestion(
    "How much rain falls?",
    {"A": "Light rain", "B": "Moderate rain", "C": "Heavy rain", "D": "10–25 mm"},
    "B",
)


def said(text, reasoning=""):
    return read_response(Message("assistant", text, reasoning))


FORMS = [
    # text, reasoning field, strict, graded
    ("<think>so</think><answer>B</answer>", "", 1, 1.0),
    ("  <think>so</think>\n\n<answer>\nB\n</answer>\n", "", 1, 1.0),
    ("<answer>B</answer>", "so", 1, 1.0),  # a server's parser has taken the reasoning out
    ("<think>so</think><answer>anything at all</answer>", "", 1, 1.0),
    ("<answer>B</answer>", "", 0, 0.25),
    ("<think>so</think>B", "", 0, 0.25),
    ("<think>so</think>", "", 0, 0.25),
    ("so<answer>B</answer>", "", 0, 0.25),
    ("<answer>B</answer><think>so</think>", "", 0, 0.5),
    ("Well. <think>so</think><answer>B</answer>", "", 0, 0.5),
    ("<think>so</think><answer>B</answer> Done.", "", 0, 0.5),
    ("<think>so</think> thus <answer>B</answer>", "", 0, 0.5),
    ("<think>a</think><think>b</think><answer>B</answer>", "", 0, 0.5),
    ("<think>so</think><answer>B</answer><answer>B</answer>", "", 0, 0.5),
    ("<think>so</think><answer>B</answer><answer>C</answer>", "", 0, 0.25),
    ("<think>so</think><answer></answer>", "", 0, 0.5),
    ("<think> </think><answer>B</answer>", "", 0, 0.5),
    ("<think>so <answer>C</answer></think><answer>B</answer>", "", 0, 0.5),
    ("<think>so<answer>B</answer>", "", 0, 0.25),  # never closed
    ("<think>so</think><answer>B", "", 0, 0.25),
    ("Hm. <answer>B</answer>", "so", 0, 0.5),
    ("<think>more</think><answer>B</answer>", "so", 0, 0.5),
    ("", "", 0, 0.0),
    ("", "so", 0, 0.25),
    ("B", "", 0, 0.0),
]


@pytest.mark.parametrize(("text", "reasoning", "strict", "graded"), FORMS)
def test_the_format(text, reasoning, strict, graded):
    response = said(text, reasoning)
    assert format_reward(response) == strict
    assert format_reward(response, "graded") == graded


def test_what_an_endpoint_sends_is_read_alike():
    """With tags in its text, or with a parser's field of either name."""

    def over_the_wire(**message):
        data = {"choices": [{"message": {"role": "assistant", **message}, "finish_reason": "stop"}]}
        return read_response(read_reply(data, [], 0.0).message)

    whole = "<think>It rains.</think><answer>B</answer>"
    for message in (
        {"content": whole},
        {"content": "It rains.</think><answer>B</answer>"},  # the template began the reasoning
        {"content": "<answer>B</answer>", "reasoning_content": "It rains."},
        {"content": "<answer>B</answer>", "reasoning": "It rains."},
    ):
        response = over_the_wire(**message)
        assert (response.reasoning, response.answer) == ("It rains.", "B")
        assert response.well_formed
    assert not over_the_wire(content=f"Sure! {whole}").well_formed
    assert not over_the_wire(content="<answer>B</answer>").well_formed
    assert not over_the_wire(content="<think>It rains. <answer>B</answer>").well_formed


def test_a_message_that_calls_a_tool_is_no_answer():
    message = Message("assistant", "<answer>B</answer>", "so", (ToolCall("map", "{}"),))
    assert not read_response(message).well_formed


def test_the_last_message_of_the_policy_counts():
    words = [Message("user", "?"), Message("assistant", "a"), Message("user", "no")]
    assert last_said(Trajectory(Key("t", 0, 0), words)).content == "a"
    assert last_said(Trajectory(Key("t", 0, 0), words[:1])) is None
    assert not read_response(None).well_formed


ANSWERS = [
    # text, letter, score when B is right: strict, graded
    ("B", "B", 1, 1),
    (" b ", "B", 1, 1),
    ("(B)", "B", 1, 1),
    ("B.", "B", 1, 1),
    ("**B**", "B", 1, 1),
    (r"\boxed{B}", "B", 1, 1),
    (r"$\boxed{\text{B}}$", "B", 1, 1),
    ("B. Moderate rain", "B", 1, 0.5),
    ("B: moderate rain.", "B", 1, 0.5),
    ("(B) Moderate rain", "B", 1, 0.5),
    ("B, since it is wet", "B", 0, 0.5),
    ("Option B", "B", 0, 0.5),
    ("The answer is B.", "B", 0, 0.5),
    ("A", "A", 0, 0),
    ("C. Heavy rain", "C", 0, 0),
    ("B. Heavy rain", None, 0, 0),  # whose choice is that?
    ("B or C", None, 0, 0),
    ("A, B", None, 0, 0),
    ("B and D", None, 0, 0),
    ("Moderate rain", None, 0, 0),
    ("Cannot be determined", None, 0, 0),
    ("cannot be determined", None, 0, 0),
    ("C", "C", 0, 0),
    ("E", None, 0, 0),
    ("ABCD", None, 0, 0),
    ("", None, 0, 0),
    ("none of them", None, 0, 0),
    ("a lot of rain", None, 0, 0),
    ("A lot of rain", None, 0, 0),
    ("B is wet", None, 0, 0),
    ("Be wise", None, 0, 0),
    (None, None, 0, 0),
]


@pytest.mark.parametrize(("text", "letter", "strict", "graded"), ANSWERS)
def test_the_answer(text, letter, strict, graded):
    final = final_answer(text, QUESTION)
    assert (final.letter if final else None) == letter
    body = "" if text is None else f"<answer>{text}</answer>"
    response = said(f"<think>so</think>{body}")
    assert accuracy_reward(response, final, QUESTION) == strict
    assert accuracy_reward(response, final, QUESTION, "graded") == graded


def test_cannot_be_determined_is_no_letter_though_it_begins_with_one():
    for text in ("Cannot be determined", "CANNOT BE DETERMINED", "Cannot", "C annot", "Cbd"):
        assert final_answer(text, QUESTION) is None, text
    # Neither side can be determined: that is no agreement.
    assert logic_reward(None, None, said("<think>so</think><answer>?</answer>")) == 0


def test_equation_2():
    good, bad = said("<think>so</think><answer>B</answer>"), said("so<answer>B</answer>")
    final = final_answer("B", QUESTION)
    assert logic_reward("B", final, good) == 1
    assert logic_reward("C", final, good) == 0
    assert logic_reward(None, final, good) == 0
    assert logic_reward("B", final, bad) == 0
    # A wrong answer that its reasoning supports is consistent.
    assert logic_reward("C", final_answer("C", QUESTION), good) == 1


def test_the_weights():
    assert (LOCO.format, LOCO.logic, LOCO.accuracy) == (0.1, 0.3, 0.6)
    assert (RFT.format, RFT.logic, RFT.accuracy) == (0.1, 0.0, 0.9)
    assert LOCO.total(1, 0, 1) == pytest.approx(0.7)
    assert read_weights({"logic": 0.5, "accuracy": 0.4, "format": 0.1}) == (0.1, 0.5, 0.4)
    for wrong, why in (
        ({"format": 0.1, "logic": 0.3, "accuracy": 0.7}, "sum to one"),
        ({"format": 0.1, "logic": 0.9}, "keys format, logic, accuracy"),
        ({"format": -0.1, "logic": 0.5, "accuracy": 0.6}, "0 or more"),
        ({"format": True, "logic": 0.0, "accuracy": 0.0}, "0 or more"),
        ({"format": float("nan"), "logic": 0.5, "accuracy": 0.5}, "0 or more"),
        ({}, "none"),
    ):
        with pytest.raises(UserError, match=why):
            read_weights(wrong)


@given(st.floats(0, 1), st.floats(0, 1), *[st.floats(0, 1)] * 3)
def test_the_reward_lies_between_its_parts(a, b, format_, logic, accuracy):
    low, high = sorted((a, b))
    weights = LocoWeights(low, high - low, 1 - high)
    total = weights.total(format_, logic, accuracy)
    slack = 1e-9
    assert min(format_, logic, accuracy) - slack <= total <= max(format_, logic, accuracy) + slack
    assert math.isclose(weights.total(1, 1, 1), 1)


TEXTS = st.text() | st.lists(
    st.sampled_from(["<think>", "</think>", "<answer>", "</answer>", "B", "C", " so ", "\n"])
).map("".join)


@given(TEXTS, st.sampled_from(["", "so", "<answer>B</answer>"]))
def test_no_text_breaks_the_reader_and_strict_is_stricter(text, reasoning):
    response = said(text, reasoning)
    final = final_answer(response.answer, QUESTION)
    assert format_reward(response) in (0, 1)
    assert format_reward(response) <= format_reward(response, "graded") <= 1
    assert accuracy_reward(response, final, QUESTION) in (0, 1)
    if response.well_formed:
        assert response.reasoning
        assert "<answer>" not in response.reasoning
        assert response.answer
