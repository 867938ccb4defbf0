"""The tools without a task: what is offered, which world a call is about, and how errors are told."""

import asyncio
import importlib.metadata
import importlib.util
import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from zephyrus import registry
from zephyrus.episode import Episode
from zephyrus.errors import UserError
from zephyrus.integrations.mcp.toolbox import Toolbox
from zephyrus.limits import Limits
from zephyrus.messages import Message, Reply, ToolCall
from zephyrus.reporting import listening, report_progress
from zephyrus.scenes import Scenes
from zephyrus.task import Task
from zephyrus.tools import Tool, ToolError
from zephyrus_bench.env import BenchEnv

NAMES = ("1959-01-02", "1959-04-07", "1959-07-16", "1959-10-19")
TOOLS = Path(__file__).with_name("mcp_tools.py")


@pytest.fixture(scope="module")
def env():
    return BenchEnv()


@pytest.fixture(scope="module")
def box(env):
    return Toolbox(env)


@pytest.fixture
def custom(monkeypatch):
    """The tools of the file beside this one, registered for one test."""
    monkeypatch.setattr(
        registry, "_registered", {k: {**v} for k, v in registry._registered.items()}
    )
    spec = importlib.util.spec_from_file_location("mcp_tools", TOOLS)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


async def test_all_registered_tools_are_offered(box):
    assert list(box.tools)[:5] == ["forecasts", "features", "dataset", "climatology", "map"]
    assert set(registry.names("tools")) <= set(box.tools)
    assert box.notes == []


def test_schemas_are_our_own_but_for_the_choice_of_the_forecast(box, env):
    for name in ("dataset", "climatology", "map"):
        schema = box.schema(name)
        choice = (
            schema["properties"].pop("forecast") if "forecast" in schema["properties"] else None
        )
        assert choice["type"] == "string"
        assert all(each in choice["description"] for each in NAMES)
        assert schema == env.tools[name].parameters
        assert "forecast" not in env.tools[name].parameters["properties"]
    # It works on the dataset alone: a choice would change nothing.
    assert box.schema("features") is env.tools["features"].parameters


async def test_each_forecast_can_be_chosen(box, env):
    arguments = {"variable": "2m_temperature", "feature": "France", "hour": 24}
    texts = []
    for name in NAMES:
        world = env.world(Task("t", "", None, world={"forecast": name}))
        expected = await env.tools["dataset"].call(arguments, world)
        got = await box.call("dataset", {**arguments, "forecast": name})
        assert got == expected
        texts.append(got.text)
    assert len(set(texts)) == 4
    assert (await box.call("dataset", arguments)).text == texts[0]
    later = Toolbox(env, NAMES[2])
    assert (await later.call("dataset", arguments)).text == texts[2]
    assert f"without it a call is about {NAMES[2]}" in later.introduction()


async def test_a_client_that_knows_nothing_can_begin(box):
    listed = box.tools["forecasts"].description
    for text in (box.introduction(), listed):
        assert "not of today" in text
        assert "2m_temperature" in text
    result = await box.call("forecasts", {})
    assert result.error is None
    head, *lines = result.text.splitlines()
    assert head.startswith("4 forecasts. The dataset demo (simulated (jcm T42)) has 4 forecasts")
    assert [line.partition(":")[0] for line in lines] == list(NAMES)
    assert "initialised 1959-07-16 00:00 UTC, lead times 6 to 240 h every 6 h" in lines[2]
    few = (await box.call("forecasts", {"containing": "1959-0", "limit": 2})).text.splitlines()
    assert few[0].startswith("3 forecasts with '1959-0' in the name (2 shown; raise limit")
    assert len(few) == 3


@pytest.mark.parametrize(
    ("given", "says"),
    [
        ("1959-07-61", "there is no forecast '1959-07-61'; did you mean 1959-07-16"),
        ("tomorrow", "there are 1959-01-02, 1959-04-07, 1959-07-16, 1959-10-19."),
        (3, "forecast must be a name"),
        ("x" * 5000, "there is no forecast 'xxx"),
    ],
)
async def test_a_wrong_forecast_is_an_observation(box, given, says):
    result = await box.call("dataset", {"variable": "2m_temperature", "forecast": given})
    assert result.error == "invalid_arguments"
    assert result.text.startswith("Error: ")
    assert says in result.text
    assert len(result.text) < 300


JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-5, 300) | st.floats() | st.text(max_size=8),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner, max_size=2)
    ),
    max_leaves=4,
)
VALUES = st.sampled_from(
    ["2m_temperature", "France", "country", "Narnia", "max", "series", "highest", "\ud800", ""]
)
KEYS = st.sampled_from(
    [
        "variable",
        "feature",
        "kind",
        "statistic",
        "time",
        "hour",
        "order",
        "limit",
        "query",
        "parent",
    ]
)


@settings(max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    name=st.sampled_from(["dataset", "climatology", "features", "nothing"]),
    arguments=st.dictionaries(KEYS | st.text(max_size=5), VALUES | JSON, max_size=5),
)
def test_a_call_is_answered_as_in_an_episode(box, env, name, arguments):
    arguments.pop("forecast", None)  # the choice is the toolbox's own
    tools = {key: tool for key, tool in box.tools.items() if key != "forecasts"}
    task = Task("t", "", None, world={"forecast": NAMES[0]})
    episode = Episode(env, task, tools, env.world(task), Limits(turns=2))
    call = ToolCall(name, json.dumps(arguments))

    async def both():
        observed = await episode.step(Reply(Message("assistant", tool_calls=(call,))))
        # What arrives over MCP was JSON as well: NaN and lone surrogates as Python reads them.
        return observed, await box.call(name, json.loads(call.arguments))

    observed, result = asyncio.run(both())
    assert result.error == episode.trajectory.calls[0].error
    if name == "nothing":
        assert result.text.replace("forecasts, ", "") == observed[0].content
    else:
        assert result.text == observed[0].content


async def test_long_observations_are_cut_as_in_an_episode(custom):
    box = Toolbox(BenchEnv(limits=Limits(observation_chars=100)))
    result = await box.call("long_text", {"length": 130})
    assert result.text == "x" * 100 + "\n[cut: 30 more characters; ask for less]"
    assert (await box.call("surrogate", {})).text == "half \ufffd of a pair"


async def test_plain_tools_run_off_the_loop_and_one_after_the_other(custom, env):
    box = Toolbox(env)
    # Were `waiting` on the loop, `releasing` could never run.
    waited = asyncio.create_task(box.call("waiting", {}))
    assert (await box.call("releasing", {})).text == "done"
    assert (await waited).text == "released"
    results = await asyncio.gather(*(box.call("alone", {}) for _ in range(5)))
    assert {result.text for result in results} == {"1 inside"}
    met = await asyncio.gather(box.call("meeting", {}), box.call("meeting", {}))
    assert [result.text for result in met] == ["met", "met"]


async def test_a_slow_threaded_tool_is_cut_off(custom):
    box = Toolbox(BenchEnv(limits=Limits(tool_seconds=0.01)))
    result = await box.call("working", {"steps": 10})
    assert result.error == "timeout"
    assert "working took longer than 0.01 s" in result.text


@pytest.mark.parametrize(
    ("tool", "error"),
    [
        ("broken", FileNotFoundError),
        ("leaving", SystemExit),
        ("quitting", SystemExit),
        ("confused", asyncio.CancelledError),
    ],
)
async def test_a_broken_world_is_raised_and_the_next_call_is_answered(custom, env, tool, error):
    box = Toolbox(env)
    with pytest.raises(error):
        await box.call(tool, {})
    assert (await box.call("add", {"a": 1})).text == "2"
    box.close()


async def test_a_tool_keeps_an_argument_that_is_called_like_the_choice(custom, env):
    box = Toolbox(env, NAMES[1])
    assert box.schema("start") == box.tools["start"].parameters
    assert (await box.call("start", {"forecast": NAMES[3]})).text == f"{NAMES[3]}, {NAMES[1]}"
    assert any("'start' has an argument 'forecast' of its own" in note for note in box.notes)


def test_a_tool_may_not_be_called_like_the_list(env, monkeypatch):
    def forecasts() -> str:
        """Be in the way."""
        return ""

    monkeypatch.setitem(registry._registered["tools"], "forecasts", Tool(forecasts))
    with pytest.raises(UserError, match="the tool name 'forecasts' is needed"):
        Toolbox(env)


def test_a_plug_in_that_does_not_load_is_a_note(env, monkeypatch):
    point = importlib.metadata.EntryPoint("sun", "nowhere_at_all:sun", "zephyrus.tools")
    known = {**registry.entry_points("tools"), "sun": point}
    monkeypatch.setattr(registry, "entry_points", lambda kind: known)
    box = Toolbox(env)
    assert "sun" not in box.tools
    assert any("nowhere_at_all" in note for note in box.notes)


@pytest.mark.parametrize(
    ("options", "forecast", "says"),
    [
        ({"dataset": "moon"}, None, "There is no dataset 'moon'"),
        ({}, "1959-01-20", "there is no forecast '1959-01-20'; did you mean 1959-01-02"),
    ],
)
def test_what_is_not_there_is_refused_before_anything_is_served(options, forecast, says):
    with pytest.raises(UserError, match=says):
        Toolbox(BenchEnv(**options), forecast)


class _OneWorld(BenchEnv):
    """An environment without a choice."""

    name = "one"

    def scenes(self):
        return None


async def test_an_environment_of_one_world():
    box = Toolbox(_OneWorld())
    assert next(iter(box.tools)) == "features"
    assert "forecast" not in box.schema("dataset")["properties"]
    assert (await box.call("dataset", {"variable": "2m_temperature", "forecast": "x"})).error
    with pytest.raises(UserError, match="has one world only"):
        Toolbox(_OneWorld(), "1959-01-02")


@pytest.mark.parametrize(
    ("count", "says"),
    [(1, "the only one is n0"), (2, "there are n0, n1"), (13, "are 13, n0 to n12")],
)
def test_the_span_of_names_is_short(count, says):
    names = tuple(f"n{i}" for i in range(count))
    scenes = Scenes("forecast", names, frozenset(), "", str)
    assert says in scenes.span()
    assert len(scenes.span()) < 100


def test_progress_reaches_the_listener_and_nobody_else():
    heard = []
    report_progress(1.0)
    with listening(lambda *report: heard.append(report)):
        report_progress(2.0, 3.0, "two")
    report_progress(3.0)
    assert heard == [(2.0, 3.0, "two")]


def test_tool_errors_are_the_tools_own_sentence(env):
    def refuse() -> str:
        """Refuse."""
        raise ToolError("send something else.")

    box = Toolbox(env)
    box.tools["refuse"] = Tool(refuse)
    result = asyncio.run(box.call("refuse", {}))
    assert (result.text, result.error) == ("Error: send something else.", "tool_error")
