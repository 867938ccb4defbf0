"""``zephyrus tools``: list the tools, call one."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

import click

from zephyrus.errors import UserError, WorkError


@click.group()
def group() -> None:
    """The tools that an agent can call."""


@group.command("list")
@click.option("--tools", "extra", metavar="FILE|MODULE", help="Your own tools as well.")
@click.option("--json", "as_json", is_flag=True, help="The schemas, as a model is sent them.")
def list_(extra: str | None, as_json: bool) -> None:
    """Every registered tool with its arguments."""
    from zephyrus import registry
    from zephyrus.cli.plugins import load_tools

    if extra:
        load_tools(extra)
    found = [registry.get("tools", name) for name in registry.names("tools")]
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
@click.argument("arguments", metavar="JSON", default="{}")
@click.option("--env", "env_name", default="bench", show_default=True, help="Whose world to use.")
@click.option("--dataset", default="demo", show_default=True, help="The dataset.")
@click.option("--forecast", default=None, help="The forecast's initial date [default: the first].")
@click.option("--tools", "extra", metavar="FILE|MODULE", help="Your own tools as well.")
@click.option(
    "--output", type=click.Path(dir_okay=False, path_type=Path), help="Where to save an image."
)
def call(
    name: str,
    arguments: str,
    env_name: str,
    dataset: str,
    forecast: str | None,
    extra: str | None,
    output: Path | None,
) -> None:
    """Call TOOL as an agent would, with JSON arguments.

    \b
    zephyrus tools call dataset '{"variable": "2m_temperature", "feature": "Kenya"}'
    zephyrus tools call map '{"variable": "10m_wind_speed", "hour": 48, "feature": "Europe"}' \\
        --output map.png
    """
    from zephyrus import registry
    from zephyrus.cli.plugins import load_tools
    from zephyrus.task import Task

    if extra:
        load_tools(extra)
    tool = registry.get("tools", name)
    world = {"dataset": dataset} | ({"forecast": forecast} if forecast else {})
    env = registry.make(env_name, dataset=dataset)
    result = asyncio.run(tool.call(arguments, env.world(Task("call", "", None, world=world))))
    click.echo(result.text)
    if result.images and output is None:
        raise UserError("the tool drew an image: pass --output FILE.png to keep it")
    for index, image in enumerate(result.images):
        assert output is not None
        path = output if index == 0 else output.with_stem(f"{output.stem}-{index + 1}")
        path.write_bytes(image.png)
        click.echo(f"saved {path}")
    if result.error:
        raise WorkError(f"the call was refused ({result.error})")
