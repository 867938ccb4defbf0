import asyncio
import json
import threading
import time
import warnings
from enum import Enum
from typing import Annotated, Any, Literal, Optional

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import Field

import zephyrus
from zephyrus import registry
from zephyrus.errors import UserError
from zephyrus.messages import Image, ToolResult
from zephyrus.tools import ERROR_KINDS, Tool, ToolError, is_world_type

PNG = b"\x89PNG\r\n\x1a\n"


class Sky(Enum):
    CLEAR = "clear"
    OVERCAST = "overcast"


class Atlas:
    """A world type."""

    __zephyrus_world__ = True

    def __init__(self, places):
        self.places = places


class Subatlas(Atlas):
    """A world type by inheritance."""


def call(tool, arguments, world=None, seconds=None) -> ToolResult:
    return asyncio.run(tool.call(arguments, world or {}, seconds))


def made(function, doc="Do it.", **options):
    """A tool of a function that has no docstring of its own."""
    function.__doc__ = doc
    try:
        return Tool(function, **options)
    finally:
        function.__doc__ = None


# The schema ---------------------------------------------------------------------------------


def takes_float(a: float): ...
def takes_default(a: int = 3): ...
def takes_literal(a: Literal["mean", "max"]): ...
def takes_literal_default(a: Literal["mean", "max"] = "mean"): ...
def takes_one_literal(a: Literal["mean"]): ...
def takes_optional(a: Optional[str] = None): ...  # noqa: UP045 -- the old spelling is the point
def takes_union_none(a: str | None = None): ...
def takes_required_none(a: str | None): ...
def takes_optional_literal(a: Literal["x", "y"] | None = None): ...
def takes_union(a: int | str): ...
def takes_list(a: list[float]): ...
def takes_list_default(a: list[str] = []): ...  # noqa: B006 -- a shared default must not leak
def takes_dict(a: dict[str, int]): ...
def takes_bool(a: bool = False): ...
def takes_bounds(a: Annotated[int, Field(ge=1, le=12)]): ...
def takes_described(a: Annotated[int, Field(description="Month.")]): ...


@pytest.mark.parametrize(
    ("function", "schema", "required"),
    [
        (takes_float, {"type": "number"}, True),
        (takes_default, {"type": "integer", "default": 3}, False),
        (takes_literal, {"enum": ["mean", "max"]}, True),
        (takes_literal_default, {"enum": ["mean", "max"], "default": "mean"}, False),
        (takes_one_literal, {"const": "mean", "type": "string"}, True),
        (takes_optional, {"type": "string"}, False),
        (takes_union_none, {"type": "string"}, False),
        (takes_required_none, {"type": "string"}, True),
        (takes_optional_literal, {"enum": ["x", "y"]}, False),
        (takes_union, {"anyOf": [{"type": "integer"}, {"type": "string"}]}, True),
        (takes_list, {"type": "array", "items": {"type": "number"}}, True),
        (takes_list_default, {"type": "array", "items": {"type": "string"}, "default": []}, False),
        (takes_dict, {"type": "object", "additionalProperties": {"type": "integer"}}, True),
        (takes_bool, {"type": "boolean", "default": False}, False),
        (takes_bounds, {"type": "integer", "minimum": 1, "maximum": 12}, True),
        (takes_described, {"type": "integer", "description": "Month."}, True),
    ],
)
def test_the_schema_of_an_annotation(function, schema, required):
    parameters = made(function).parameters
    assert parameters.pop("required", []) == (["a"] if required else [])
    assert parameters == {"type": "object", "properties": {"a": schema}}


def test_an_enum_is_a_choice_of_its_values():
    def sky(a: Sky = Sky.CLEAR) -> str:
        """Sky.

        Args:
            a: The sky.
        """
        return repr(a)

    tool = Tool(sky)
    text = json.dumps(tool.parameters)
    assert '["clear", "overcast"]' in text
    assert call(tool, '{"a": "overcast"}').text == repr(Sky.OVERCAST)
    assert call(tool, "{}").text == repr(Sky.CLEAR)
    assert call(tool, '{"a": "misty"}').error == "invalid_arguments"


def test_a_tool_without_arguments():
    def now():
        """Now."""
        return "noon"

    tool = Tool(now)
    assert tool.parameters == {"type": "object", "properties": {}}
    assert [call(tool, text).text for text in ("", "  ", "{}")] == ["noon"] * 3
    assert repr(tool) == "Tool('now', no arguments)"


def test_descriptions_come_from_the_docstring():
    def mean(variable: str, hour: int = 6):
        """Mean of a variable.

        Over land only;
        never over sea.

        Args:
            variable: What to average,
                by name.
            hour: Lead time, h.

        Returns:
            Text.
        """

    assert Tool(mean).to_openai() == {
        "type": "function",
        "function": {
            "name": "mean",
            "description": "Mean of a variable. Over land only; never over sea.",
            "parameters": {
                "type": "object",
                "properties": {
                    "variable": {"type": "string", "description": "What to average, by name."},
                    "hour": {"type": "integer", "description": "Lead time, h.", "default": 6},
                },
                "required": ["variable"],
            },
        },
    }


AWKWARD = ("schema", "json", "copy", "validate", "model_config", "model_fields", "_x", "__y", "title",
           "properties", "default", "name", "self", "argument_0", "class_", "enum")  # fmt: skip


@pytest.mark.parametrize("name", AWKWARD)
def test_any_argument_name_will_do(name):
    namespace: dict[str, Any] = {}
    exec(f"def f({name}: int, other: int = 2):\n    return {name} + other", namespace)
    with warnings.catch_warnings():
        warnings.simplefilter("error", UserWarning)  # what pydantic gives
        tool = made(namespace["f"])
    assert tool.parameters == {
        "type": "object",
        "properties": {name: {"type": "integer"}, "other": {"type": "integer", "default": 2}},
        "required": [name],
    }
    assert call(tool, json.dumps({name: 5})).text == "7"
    assert f"needs the argument '{name}'" in call(tool, "{}").text


def test_a_default_is_kept_as_it_is_written():
    def f(a: dict[str, int] = {"title": 1, "type": 2}): ...  # noqa: B006

    assert made(f).parameters["properties"]["a"]["default"] == {"title": 1, "type": 2}


def no_annotation(a): ...
def star(*args: int): ...
def double_star(**options: int): ...
def positional(a: int, /): ...
def no_schema(a: asyncio.Lock): ...
def wrong_default(a: int = "three"): ...
def none_default(a: float = None): ...  # noqa: RUF013 -- a user's slip
def unknown_type(a: "Nowhere"): ...  # noqa: F821 -- a user's slip


@pytest.mark.parametrize(
    ("function", "says"),
    [
        (no_annotation, "'no_annotation' needs a type for its argument 'a'"),
        (star, r"'star' can't take \*args"),
        (double_star, r"'double_star' can't take \*options"),
        (positional, "'positional' .* remove the / after 'a'"),
        (no_schema, "'no_schema': no JSON schema for its argument 'a'"),
        (wrong_default, "'wrong_default': the default 'three' of its argument 'a'"),
        (none_default, "'none_default': the default None of its argument 'a'"),
        (unknown_type, "'unknown_type' has a type that can't be read .*Nowhere"),
    ],
)
def test_a_function_that_makes_no_tool(function, says):
    with pytest.raises(UserError, match=says):
        made(function)


@pytest.mark.parametrize("doc", [None, "", "   \n "])
def test_a_tool_needs_a_docstring(doc):
    with pytest.raises(UserError, match="'takes_float' needs a docstring"):
        made(takes_float, doc)


# The world ----------------------------------------------------------------------------------


def where(place: str, atlas: Atlas) -> str:
    """Where a place is.

    Args:
        place: Its name.
        atlas: The atlas.
    """
    return atlas.places[place]


def test_a_world_parameter_is_hidden_and_filled():
    tool = Tool(where)
    assert list(tool.parameters["properties"]) == ["place"]
    assert "atlas" not in json.dumps(tool.parameters)
    assert tool.injected == {"atlas": Atlas}
    world = {Atlas: Atlas({"Rome": "Italy"}), int: 3}
    assert call(tool, '{"place": "Rome"}', world).text == "Italy"
    assert is_world_type(Atlas)
    assert is_world_type(Subatlas)
    assert not is_world_type(str)
    assert not is_world_type(Atlas({}))


def test_the_model_cannot_fill_a_world_parameter():
    answer = call(Tool(where), '{"place": "Rome", "atlas": {}}', {Atlas: Atlas({"Rome": "I"})})
    assert answer.error == "invalid_arguments"
    assert answer.text == "Error: where has no argument 'atlas'; it takes: place."


def test_an_episode_without_that_world():
    answer = call(Tool(where), '{"place": "Rome"}')
    assert answer.error == "tool_error"
    assert "where needs" in answer.text
    assert "atlas" in answer.text
    assert "this episode has none" in answer.text


# The arguments ------------------------------------------------------------------------------


def product(a: float, b: int = 1, how: Literal["plain", "round"] = "plain") -> str:
    """Product."""
    return f"{a * b:g} {how}"


PRODUCT = Tool(product)


@pytest.mark.parametrize(
    ("arguments", "kind", "says"),
    [
        ('{"a": 1', "malformed_json", "the arguments of product are not valid JSON"),
        ("a=1", "malformed_json", 'Send one JSON object, for example {"a": 1.0}.'),
        ("[" * 100_000, "malformed_json", "not valid JSON"),
        ('{"a": ' + "9" * 5000 + "}", "malformed_json", "not valid JSON"),
        ("[1]", "malformed_json", "must be a JSON object"),
        ("null", "malformed_json", "must be a JSON object"),
        ('"text"', "malformed_json", "must be a JSON object"),
        ("{}", "invalid_arguments", "product needs the argument 'a'."),
        (
            '{"a": 1, "c": 2}',
            "invalid_arguments",
            "product has no argument 'c'; it takes: a, b, how.",
        ),
        ('{"a": "warm"}', "invalid_arguments", "a: input should be a valid number"),
        ('{"a": "warm"}', "invalid_arguments", "(got 'warm')."),
        ('{"a": NaN}', "invalid_arguments", "a: input should be a finite number"),
        ('{"a": 1e999}', "invalid_arguments", "a: input should be a finite number"),
        ('{"a": null}', "invalid_arguments", "a: "),
        ('{"a": 1, "b": 1.5}', "invalid_arguments", "b: input should be a valid integer"),
        ('{"a": 1, "how": "fast"}', "invalid_arguments", "'plain' or 'round'"),
        ('{"a": 1, "argument_1": 2}', "invalid_arguments", "no argument 'argument_1'"),
        (json.dumps({"a": "x" * 999}), "invalid_arguments", "xxx..."),
    ],
)
def test_what_is_wrong_with_the_arguments_is_said(arguments, kind, says):
    answer = call(PRODUCT, arguments)
    assert answer.error == kind
    assert kind in ERROR_KINDS
    assert answer.text.startswith("Error: ")
    assert says in answer.text
    assert len(answer.text) < 400


def test_everything_wrong_is_said_at_once():
    text = call(PRODUCT, '{"b": "x", "c": 1}').text
    assert "needs the argument 'a'" in text
    assert "b: input should be a valid integer" in text
    assert "no argument 'c'" in text


@pytest.mark.parametrize(
    ("arguments", "text"),
    [
        ('{"a": "5"}', "5 plain"),
        ('{"a": 5, "b": "3"}', "15 plain"),
        ('{"a": 5, "b": 3.0}', "15 plain"),
        ('{"a": 1e-3}', "0.001 plain"),
        ({"a": 2, "how": "round"}, "2 round"),
        (' \n{"a": 2} ', "2 plain"),
    ],
)
def test_arguments_that_are_meant_right_are_taken(arguments, text):
    assert call(PRODUCT, arguments) == ToolResult(text)


def test_a_list_default_is_not_shared_between_calls():
    def grow(a: list[int] = []) -> str:  # noqa: B006
        a.append(1)
        return str(len(a))

    tool = made(grow)
    assert [call(tool, "{}").text for _ in range(3)] == ["1", "1", "1"]


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def pure(
    a: float,
    b: int | None = None,
    c: list[str] | None = None,
    d: Literal["x"] = "x",
    e: bool = False,
    f: dict[str, int] | None = None,
) -> dict[str, Any]:
    """Give back what came."""
    return {"a": a, "b": b, "c": c, "d": d, "e": e, "f": f}


PURE = Tool(pure)
LIKELY = st.fixed_dictionaries(
    {"a": st.floats() | json_values}, optional=dict.fromkeys("bcdefg", json_values)
)


@settings(max_examples=400, deadline=None)
@given(LIKELY.map(json.dumps) | json_values.map(json.dumps) | st.text())
def test_no_text_a_model_writes_gets_out_of_a_call_as_an_exception(text):
    answer = call(PURE, text)
    assert isinstance(answer.text, str)
    assert answer.error in (None, "malformed_json", "invalid_arguments")
    if answer.error is None:
        got = json.loads(answer.text)
        assert isinstance(got["a"], float)
        assert got["b"] is None or type(got["b"]) is int
        assert got["d"] == "x"
    else:
        assert answer.text.startswith("Error: ")


@settings(max_examples=100, deadline=None)
@given(
    st.floats(allow_nan=False, allow_infinity=False),
    st.integers(),
    st.lists(st.text(st.characters(exclude_categories=["Cs"]))),
)
def test_right_arguments_arrive_unchanged(a, b, c):
    answer = call(PURE, json.dumps({"a": a, "b": b, "c": c}))
    assert answer.error is None
    assert json.loads(answer.text) == {"a": a, "b": b, "c": c, "d": "x", "e": False, "f": None}


# Running ------------------------------------------------------------------------------------


def where_am_i(thread: bool) -> Tool:
    def f() -> str:
        return threading.current_thread().name

    return made(f, thread=thread)


def test_a_thread_tool_runs_in_a_thread_and_a_plain_one_does_not():
    main = threading.current_thread().name
    assert call(where_am_i(False), "{}").text == main
    assert call(where_am_i(True), "{}").text != main


def test_an_async_tool():
    async def f(a: int, atlas: Atlas) -> str:
        await asyncio.sleep(0)
        return f"{a} {atlas.places}"

    tool = made(f)
    assert tool.is_async
    assert call(tool, '{"a": 4}', {Atlas: Atlas("world")}).text == "4 world"


def test_async_tools_run_side_by_side():
    async def all_four():
        everybody = asyncio.Barrier(4)  # opens only when four calls wait at it together

        async def f() -> str:
            await everybody.wait()
            return "done"

        return await asyncio.gather(*(made(f).call("{}", {}, 20) for _ in range(4)))

    assert [result.text for result in asyncio.run(all_four())] == ["done"] * 4


def test_thread_tools_run_side_by_side_and_hold_nothing_up():
    everybody = threading.Barrier(4)

    def f() -> str:
        everybody.wait(20)
        return "done"

    async def all_four():
        tool = made(f, thread=True)
        return await asyncio.gather(*(tool.call("{}", {}) for _ in range(4)))

    assert [result.text for result in asyncio.run(all_four())] == ["done"] * 4


@pytest.mark.parametrize("kind", ["async", "thread"])
def test_a_tool_that_takes_too_long(kind):
    over = threading.Event()

    async def slow() -> str:
        await asyncio.sleep(30)
        return "late"

    def heavy() -> str:
        over.wait(30)
        return "late"

    tool = made(slow) if kind == "async" else made(heavy, thread=True)

    async def timed():
        began = time.monotonic()
        answer = await tool.call("{}", {}, 0.1)
        took = time.monotonic() - began
        over.set()  # lets the thread go
        return answer, took

    answer, took = asyncio.run(timed())
    assert answer.error == "timeout"
    assert answer.text == f"Error: {tool.name} took longer than 0.1 s; ask for less at a time."
    assert 0.09 < took < 5


def test_a_time_limit_that_is_kept_changes_nothing():
    async def quick() -> str:
        await asyncio.sleep(0.01)
        return "in time"

    assert call(made(quick), "{}", seconds=20) == ToolResult("in time")


def test_a_timeout_inside_a_tool_is_a_broken_world():
    async def f() -> str:
        raise TimeoutError("the data server")

    with pytest.raises(TimeoutError, match="data server"):
        call(made(f), "{}", seconds=20)


@pytest.mark.parametrize("thread", [False, True])
def test_a_refusal_is_told_and_any_other_exception_gets_out(thread):
    def refuse() -> str:
        raise ToolError("send a smaller number.")

    def explode() -> str:
        raise KeyError("gone")

    answer = call(made(refuse, thread=thread), "{}")
    assert answer == ToolResult("Error: send a smaller number.", error="tool_error")
    with pytest.raises(KeyError, match="gone"):
        call(made(explode, thread=thread), "{}")


# Results ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "result"),
    [
        ("24 °C", ToolResult("24 °C")),
        (24.5, ToolResult("24.5")),
        (None, ToolResult("null")),
        (True, ToolResult("true")),
        ([1, 2], ToolResult("[1, 2]")),
        ({"t": "é"}, ToolResult('{"t": "é"}')),
        ({"t": float("nan"), "u": [float("inf"), 1.5]}, ToolResult('{"t": null, "u": [null, 1.5]}')),
        (float("nan"), ToolResult("null")),
        ({1: (2, 3)}, ToolResult('{"1": [2, 3]}')),
        (np.float64(1.5), ToolResult("1.5")),
        ({"t": np.float32("nan")}, ToolResult('{"t": null}')),
        (np.array([[1.0, np.nan]]), ToolResult("[[1.0, null]]")),
        ({"when": np.int64(6)}, ToolResult('{"when": 6}')),
        (Image(PNG, "a map"), ToolResult("a map", (Image(PNG, "a map"),))),
        (Image(PNG), ToolResult("(image)", (Image(PNG),))),
        (("see", Image(PNG), "this"), ToolResult("see\nthis", (Image(PNG),))),
        (ToolResult("as it is", error="tool_error"), ToolResult("as it is", error="tool_error")),
    ],
)  # fmt: skip
def test_what_a_tool_returns(value, result):
    def f() -> Any:
        return value

    assert call(made(f), "{}") == result


def test_other_objects_are_written_as_text():
    def f() -> Any:
        return {"path": Sky.CLEAR}

    assert call(made(f), "{}").text == '{"path": "Sky.CLEAR"}'


# Registration -------------------------------------------------------------------------------


@pytest.fixture
def fresh_registry(monkeypatch):
    monkeypatch.setitem(registry._registered, "tools", {})


@pytest.mark.usefixtures("fresh_registry")
def test_the_decorator_registers_and_keeps_the_function():
    @zephyrus.tool
    def test_twice(a: float) -> float:
        """Twice."""
        return 2 * a

    assert isinstance(test_twice, Tool)
    assert registry.get("tools", "test_twice") is test_twice
    assert test_twice(4.0) == 8.0
    assert test_twice.__doc__ == "Twice."


@pytest.mark.usefixtures("fresh_registry")
def test_the_decorator_with_options():
    @zephyrus.tool(name="test_nap", thread=True)
    def sleep() -> str:
        """Sleep."""
        return "z"

    assert registry.get("tools", "test_nap") is sleep
    assert (sleep.name, sleep.thread) == ("test_nap", True)
    assert "sleep" not in registry.names("tools")


@pytest.mark.usefixtures("fresh_registry")
def test_a_function_that_makes_no_tool_is_not_registered():
    with pytest.raises(UserError, match="'takes_float' needs a docstring"):
        zephyrus.tool(takes_float)
    assert registry._registered["tools"] == {}
