"""``zephyrus tools``: list the tools, call one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click

from zephyrus.cli.env import TOOLS
from zephyrus.errors import UserError, WorkError


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
