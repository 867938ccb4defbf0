"""Booleans are no numbers, in whatever type the number stands."""

from typing import Annotated, Literal

import pytest
from pydantic import Field, TypeAdapter, ValidationError

from zephyrus.arguments import without_booleans
from zephyrus.tools import Tool

NUMBERS = [
    (int, True),
    (float, False),
    (int | None, True),
    (Annotated[int, Field(ge=0)], True),
    (Annotated[float | None, Field(ge=0)], True),
    (list[int], [1, True]),
    (dict[str, float], {"a": False}),
    (tuple[int, ...], [True]),
    (int | str, True),
]


@pytest.mark.parametrize(("hint", "value"), NUMBERS)
def test_a_boolean_is_no_number(hint, value):
    with pytest.raises(ValidationError, match="give a number, not true or false"):
        TypeAdapter(without_booleans(hint)).validate_python(value)
    assert TypeAdapter(without_booleans(hint)).json_schema() == TypeAdapter(hint).json_schema()


@pytest.mark.parametrize(
    ("hint", "value", "taken"),
    [
        (int, "5", 5),
        (int | None, "5", 5),
        (float, "1.5", 1.5),
        (float, 2, 2.0),
        (int | None, None, None),
        (list[int], ["5", 6], [5, 6]),
        (bool, True, True),
        (bool | int, True, True),
        (Literal["a", "b"] | None, "a", "a"),
        (int | float, 1.5, 1.5),
    ],
)
def test_everything_else_is_taken_as_before(hint, value, taken):
    assert TypeAdapter(without_booleans(hint)).validate_python(value) == taken
    assert TypeAdapter(hint).validate_python(value) == taken


@pytest.mark.parametrize("hint", [str, bool | None, Literal["a", 1], list[str], dict[str, bool]])
def test_a_type_without_numbers_is_left_as_it_is(hint):
    assert without_booleans(hint) is hint


def test_a_tool_refuses_it():
    def add(hour: int, many: int | None = None) -> str:
        """Add."""
        return str(hour)

    made = Tool(add)

    def call(arguments):
        coroutine = made.call(arguments, {})
        with pytest.raises(StopIteration) as done:
            coroutine.send(None)
        return done.value.value

    assert call('{"hour": true}').error == "invalid_arguments"
    assert call('{"hour": 1, "many": true}').text == (
        "Error: many: give a number, not true or false (got True)."
    )
    assert call('{"hour": "5"}').text == "5"
    assert len(call('{"hour": 1, "' + "x" * 20_000 + '": 1}').text) < 300
