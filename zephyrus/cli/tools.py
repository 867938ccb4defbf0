"""``zephyrus tools``: list the tools, call one, serve them all over MCP."""

from __future__ import annotations

import asyncio
import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zephyrus.cli.options import TOOLS
from zephyrus.errors import UserError, WorkError
from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from zephyrus.integrations.mcp.toolbox import Toolbox


@click.group()
def group() -> None:
    """The tools that an agent can call."""


@group.command("list")
@TOOLS
@click.option("--json", "as_json", is_flag=True, help="The schemas, as a model is sent them.")
def list_(extra: tuple[str, ...], as_json: bool) -> None:
    """Every registered tool with its arguments."""
    from zephyrus import registry
    from zephyrus.cli.plugins import load_all_tools

    load_all_tools(extra)
    found = []
    for name in registry.names("tools"):
        try:
            found.append(registry.get("tools", name))
        except UserError as error:
            click.echo(f"zephyrus: {error}", err=True)
    if as_json:
        click.echo(json.dumps([tool.to_openai() for tool in found], indent=1, ensure_ascii=False))
        return
    for tool in found:
        click.echo(
            click.style(f"{tool.name}({', '.join(tool.parameters['properties'])})", bold=True)
        )
        click.echo(f"  {tool.description}")


@group.command()
@click.argument("name", metavar="TOOL")
@click.argument("arguments", metavar="[JSON]", default="{}")
@click.option("--env", "env_name", default="bench", show_default=True, help="Whose world to use.")
@click.option("--dataset", help="The dataset [default: the environment's].")
@click.option("--forecast", help="The forecast's name [default: the first].")
@TOOLS
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where to save an image."
)
def call(
    name: str,
    arguments: str,
    env_name: str,
    dataset: str | None,
    forecast: str | None,
    extra: tuple[str, ...],
    output: Path | None,
) -> None:
    """Call TOOL as an agent would, with JSON arguments.

    \b
    zephyrus tools call dataset '{"variable": "2m_temperature", "feature": "Kenya"}'
    zephyrus tools call map '{"variable": "10m_wind_speed", "hour": 48, "feature": "Europe"}' \\
        --output map.png
    """
    from zephyrus import registry
    from zephyrus.cli.plugins import load_all_tools
    from zephyrus.task import Task

    load_all_tools(extra)
    tool = registry.get("tools", name)
    if output is not None and not output.parent.is_dir():
        raise UserError(f"--output: there is no folder {output.parent}")
    given = {"dataset": dataset, "forecast": forecast}
    scene = {key: value for key, value in given.items() if value is not None}
    env = registry.make(env_name, **({"dataset": dataset} if dataset else {}))
    tool = env.tools.get(name, tool)  # the environment's own may know more of the dataset
    world = env.world(Task("call", "", None, world=scene))
    result = asyncio.run(tool.call(arguments, world))
    click.echo(result.text)
    if result.images and output is None:
        raise UserError("the tool drew an image: pass --output FILE.png to keep it")
    for index, image in enumerate(result.images):
        assert output is not None
        path = output if index == 0 else output.with_stem(f"{output.stem}-{index + 1}")
        path.write_bytes(image.png)
        click.echo(f"saved {path}")
    if result.error == "malformed_json":
        raise WorkError("the call was refused (malformed_json); in a shell, quote it: '{…}'")
    if result.error:
        raise WorkError(f"the call was refused ({result.error})")


@group.command()
@click.option("--env", "env_name", default="bench", show_default=True, help="Whose world to use.")
@click.option("--dataset", help="The dataset [default: the environment's].")
@click.option("--forecast", help="The forecast of a call that names none [default: the first].")
@TOOLS
@click.option("--http", is_flag=True, help="Serve over streamable HTTP, not standard input/output.")
@click.option("--host", help="The address to listen on [default: 127.0.0.1].")
@click.option("--port", type=click.IntRange(0, 65535), help="Its port, 0 for a free one [8765].")
@click.option(
    "--allow-host",
    "names",
    metavar="NAME",
    multiple=True,
    help="A further host name under which clients reach the server.",
)
def serve(
    env_name: str,
    dataset: str | None,
    forecast: str | None,
    extra: tuple[str, ...],
    http: bool,
    host: str | None,
    port: int | None,
    names: tuple[str, ...],
) -> None:
    """Offer all tools to MCP clients, over standard input and output or HTTP.

    An MCP client starts the first form itself. Over HTTP, any host but this machine's own asks for
    a bearer token, which is read from $ZEPHYRUS_MCP_TOKEN.

    \b
    zephyrus tools serve
    zephyrus tools serve --dataset my-forecasts --tools my_tools.py --http --port 8765
    """
    from zephyrus.integrations.mcp import check_extra

    if not http and (host is not None or port is not None or names):
        raise UserError("--host, --port and --allow-host are for --http")
    check_extra()
    from zephyrus.integrations.mcp.over_stdio import private_streams, serve_stdio
    from zephyrus.integrations.mcp.server import make_server

    if not http:
        with private_streams() as streams:  # before any code of the user can print
            box = _toolbox(env_name, dataset, forecast, extra)
            _say(f"serving {len(box.tools)} tools to the MCP client on standard input and output")
            serve_stdio(make_server(box), streams)
            box.close()
        return
    from zephyrus.integrations.mcp.over_http import TOKEN_VARIABLE, serve_http

    box = _toolbox(env_name, dataset, forecast, extra)
    serve_http(
        make_server(box),
        "127.0.0.1" if host is None else host,
        8765 if port is None else port,
        os.environ.get(TOKEN_VARIABLE),
        names,
        lambda url: _say(f"serving {len(box.tools)} tools at {url} (Ctrl-C stops)"),
    )
    box.close()


def _toolbox(
    env_name: str, dataset: str | None, forecast: str | None, extra: tuple[str, ...]
) -> Toolbox:
    from zephyrus import registry
    from zephyrus.cli.plugins import load_all_tools
    from zephyrus.integrations.mcp.toolbox import Toolbox

    load_all_tools(extra)
    env = registry.make(env_name, **({"dataset": dataset} if dataset else {}))
    box = Toolbox(env, forecast)
    for note in box.notes:
        _say(f"note: {note}")
    return box


def _say(text: str) -> None:
    click.echo(f"zephyrus: {plain(text)}", err=True)
