import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from zephyrus.messages import ToolResult
from zephyrus.tools import Tool, World
from zephyrus_geodata import Dataset, Forecast
from zephyrus_geodata.reading.extras import settle
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_tools.climatology import climatology
from zephyrus_tools.dataset import dataset
from zephyrus_tools.features import features
from zephyrus_tools.map import map_image

settle()  # ecCodes may not be imported before pyproj
sys.path.insert(0, str(Path(__file__).parent))  # for the helpers beside the tests

Call = Callable[..., ToolResult]

TOOLS = {tool.name: tool for tool in (features, dataset, climatology, map_image)}


def call_inline(tool: Tool, arguments: str, world: World) -> ToolResult:
    """Run a call that never waits, without an event loop."""
    coroutine = tool.call(arguments, world)
    try:
        coroutine.send(None)
    except StopIteration as done:
        return done.value
    raise AssertionError(f"{tool.name} waited")


@pytest.fixture(scope="session")
def analytic() -> Dataset:
    return analytic_dataset()


@pytest.fixture(scope="session")
def forecast(analytic: Dataset) -> Forecast:
    return analytic.forecast("2001-01-05")


@pytest.fixture(scope="session")
def world(analytic: Dataset, forecast: Forecast) -> World:
    return {Dataset: analytic, Forecast: forecast}


@pytest.fixture(scope="session")
def inline() -> Callable[[Tool, str, World], ToolResult]:
    return call_inline


@pytest.fixture(scope="session")
def call(world: World) -> Call:
    """``call("dataset", variable=…)`` gives the tool's result; map is run without its thread."""

    def run(name: str, **arguments: Any) -> ToolResult:
        tool = TOOLS[name]
        if tool.thread:
            tool = Tool(tool.function, name=name)
        return call_inline(tool, json.dumps(arguments), world)

    return run


@pytest.fixture(scope="session")
def text(call: Call) -> Callable[..., str]:
    """The same, for calls that succeed."""

    def run(name: str, **arguments: Any) -> str:
        result = call(name, **arguments)
        assert result.error is None, result.text
        return result.text

    return run


@pytest.fixture(scope="session")
def refusal(call: Call) -> Callable[..., str]:
    """The same, for calls that are refused."""

    def run(name: str, **arguments: Any) -> str:
        result = call(name, **arguments)
        assert result.error == "tool_error", result.text
        return result.text

    return run
