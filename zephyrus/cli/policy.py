"""``zephyrus policy``: list the named policies, serve one."""

from __future__ import annotations

import json

import click


@click.group()
def group() -> None:
    """The policies that can be rolled out."""


@group.command("list")
@click.option("--json", "as_json", is_flag=True, help="The whole table.")
def list_(as_json: bool) -> None:
    """Every named policy; also: replay:RUN and openai:MODEL@URL."""
    from rich.console import Console
    from rich.table import Table

    from zephyrus import registry
    from zephyrus.policy.table import policy_table

    entries = policy_table()
    if as_json:
        click.echo(json.dumps({k: v.model_dump() for k, v in entries.items()}, indent=1))
        return
    table = Table("policy", "model", "base URL", "tool-call parser")
    for name in registry.names("policies"):
        table.add_row(name, "built in", "", "")
    for name, entry in entries.items():
        table.add_row(name, entry.model, entry.base_url, entry.tool_call_parser or "")
    table.add_row("replay:RUN", "the messages of a saved run", "", "")
    table.add_row("openai:MODEL@URL", "any OpenAI-compatible endpoint", "", "")
    Console().print(table)


@group.command(context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
@click.option("--dry-run", is_flag=True, help="Print the command instead of running it.")
def serve(name: str, flags: tuple[str, ...], dry_run: bool) -> None:
    """Serve the policy NAME with vLLM; FLAGS go to vLLM as they are.

    Needs a GPU and: pip install "zephyrus[serve]"
    """
    from zephyrus.policy.serve import serve as run

    run(name, list(flags), dry_run=dry_run)
