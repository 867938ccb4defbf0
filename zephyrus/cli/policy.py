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
    from zephyrus import registry
    from zephyrus.policy.table import policy_table, user_table_path

    entries = policy_table()
    if as_json:
        click.echo(json.dumps({k: v.model_dump() for k, v in entries.items()}, indent=1))
        return
    builtin = {
        "scripted": "solves every task with the tools",
        "random": "calls and answers at random",
    }
    rows = {name: builtin.get(name, "a plug-in") for name in registry.names("policies")}
    for name, entry in entries.items():
        parser = entry.tool_call_parser or "tools in the prompt"
        rows[name] = f"{entry.model} at {entry.base_url} ({parser})"
    rows["replay:RUN"] = "the messages of a saved run"
    rows["openai:MODEL@URL"] = "any OpenAI-compatible endpoint"
    width = max(map(len, rows))
    for name, about in rows.items():
        click.echo(f"{name:{width}}  {about}")
    click.echo(f"Your own table: {user_table_path()}")


@group.command(context_settings={"ignore_unknown_options": True})
@click.argument("name")
@click.argument("flags", nargs=-1, type=click.UNPROCESSED)
@click.option("--dry-run", is_flag=True, help="Print the command instead of running it.")
def serve(name: str, flags: tuple[str, ...], dry_run: bool) -> None:
    """Serve the policy NAME with vLLM; FLAGS go to vLLM as they are.

    Needs a GPU and: pip install ".[serve]" in a clone
    """
    from zephyrus.policy.serve import serve as run

    run(name, list(flags), dry_run=dry_run)
