"""What the tools cost a prompt.

Counted once with two real vocabularies: the four schemas are 677 tokens of Qwen's and 713 of
SmolLM2's (3.3 characters a token at worst), the compact ones 341 and 361 (3.5), and 276 and 295
without the map. The tests hold the texts to those lengths without needing a vocabulary.
"""

import inspect
import json

import pytest

from zephyrus.env import compact_schema
from zephyrus.registry import get
from zephyrus.tools import Tool, tool
from zephyrus_tools.arguments import OptionalText, Text

NAMES = {
    "features": "query kind parent limit",
    "dataset": "variable feature kind parent latitude longitude statistic time hour start end "
    "order limit",
    "climatology": "variable feature kind parent latitude longitude statistic month hour compare "
    "order limit",
    "map": "variable hour feature kind west south east north",
}


def written(schemas):
    """As a chat template writes them."""
    return "\n".join(json.dumps(schema, ensure_ascii=False) for schema in schemas)


@pytest.fixture(scope="module")
def tools():
    return {name: get("tools", name) for name in NAMES}


@pytest.mark.parametrize("name", NAMES)
def test_the_arguments_have_their_names(tools, name):
    made = tools[name]
    assert isinstance(made, Tool)
    assert list(made.parameters["properties"]) == NAMES[name].split()
    assert set(made.injected) <= {"dataset", "forecast"}


def test_what_is_required(tools):
    required = {name: made.parameters.get("required", []) for name, made in tools.items()}
    assert required == {
        "features": [],
        "dataset": ["variable"],
        "climatology": ["variable"],
        "map": ["variable", "hour"],
    }


def test_only_the_map_is_run_in_a_thread(tools):
    assert {name for name, made in tools.items() if made.thread} == {"map"}
    assert not any(made.is_async for made in tools.values())


def test_the_schemas_are_short(tools):
    assert len(written(made.to_openai() for made in tools.values())) <= 2350


def test_the_compact_schemas_are_very_short(tools):
    compact = {name: compact_schema(made.to_openai()) for name, made in tools.items()}
    assert len(written(compact.values())) <= 1250
    del compact["map"]
    assert len(written(compact.values())) <= 1010


def test_the_compact_schema_still_names_every_argument_and_choice(tools):
    for name, made in tools.items():
        function = compact_schema(made.to_openai())["function"]
        words = function["description"].replace(",", " ").replace(".", " ").replace("=", " ")
        assert set(NAMES[name].split()) <= set(words.split())
        for node in made.parameters["properties"].values():
            assert "|".join(node.get("enum", [])) in function["description"]


def test_a_compact_schema():
    def greet(name: Text, times: int = 1, tone: OptionalText = None) -> str:
        """Greet. Loudly."""
        return name

    made = compact_schema(Tool(greet).to_openai())
    assert made == {
        "type": "function",
        "function": {
            "name": "greet",
            "description": "Greet. Needs name. Optional: times, tone.",
            "parameters": {"type": "object", "additionalProperties": True},
        },
    }


def test_a_text_argument_is_checked_though_its_type_is_not_shown(call):
    result = call("dataset", variable=7, feature="Kenya")
    assert result.error == "invalid_arguments"
    assert "variable: input should be a valid string (got 7)" in result.text


def test_the_tools_are_made_with_the_public_decorator(tools):
    for made in tools.values():
        source = inspect.getsource(inspect.getmodule(made.function))
        assert "from zephyrus import" in source
        assert "from zephyrus." not in source
    assert tool.__module__ == "zephyrus.tools"
