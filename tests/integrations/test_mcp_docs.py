"""The configurations that docs/mcp.md shows: they are JSON, and start what they say."""

import json
import re
import sys
from pathlib import Path

import click
import pytest
from click.testing import CliRunner

from zephyrus.cli import tools as commands

ROOT = Path(__file__).parents[2]
PAGE = (ROOT / "docs" / "mcp.md").read_text(encoding="utf-8")
CONFIGURATIONS = [json.loads(text) for text in re.findall(r"```json\n(.*?)```", PAGE, re.S)]
SERVERS = [
    server
    for each in CONFIGURATIONS
    for server in (each.get("mcpServers") or each["servers"]).values()
]


def test_there_are_both_kinds():
    assert len(CONFIGURATIONS) == len(SERVERS) == 5
    assert sum("url" in server for server in SERVERS) == 2


@pytest.mark.parametrize("server", [each for each in SERVERS if "args" in each])
def test_the_arguments_are_those_of_the_command(server):
    group, command, *arguments = server["args"]
    assert (group, command) == ("tools", "serve")
    with commands.serve.make_context("serve", list(arguments)) as context:
        assert context.params["http"] is False


@pytest.mark.slow
async def test_the_longest_one_starts():
    mcp = pytest.importorskip("mcp", reason="needs the extra mcp")
    server = max((each for each in SERVERS if "args" in each), key=lambda each: len(each["args"]))
    arguments = [each.replace("/path/to/zephyrus", str(ROOT)) for each in server["args"]]
    parameters = mcp.StdioServerParameters(
        command=sys.executable, args=["-m", "zephyrus", *arguments]
    )
    async with mcp.Client(mcp.stdio_client(parameters)) as client:
        chill = await client.call_tool("wind_chill", {"place": "Antarctica", "hour": 24})
    assert "wind chill over Antarctica at 24 h" in chill.content[0].text


def test_every_option_is_told():
    told = set(re.findall(r"--[a-z-]+", PAGE))
    known = {o for p in commands.serve.params if isinstance(p, click.Option) for o in p.opts}
    assert {option for option in known if option.startswith("--")} <= told
    help_ = CliRunner().invoke(commands.group, ["serve", "--help"]).output
    assert all(option in help_ for option in known)
