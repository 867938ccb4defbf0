"""``zephyrus policy``: list the named policies, serve one."""

from __future__ import annotations

import inspect
import json

import click

from zephyrus.errors import UserError

POLICY_OPTION = click.option(
    "-p",
    "--policy-option",
    "policy_pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the policy, e.g. top_p=0.9 or, in this process, batch=32; may be repeated. "
    "They are the keys of the policy table and of its sampling.",
)
_NEEDS = 'needs: pip install ".[local]"'


@click.group()
def group() -> None:
    """The policies that can be rolled out."""


@group.command("list")
@click.option("--json", "as_json", is_flag=True, help="The whole table.")
def list_(as_json: bool) -> None:
    """Every named policy, and the forms that name others."""
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
    rows = {name: builtin.get(name) or _about(name) for name in registry.names("policies")}
    for name, entry in entries.items():
        if entry.local:
            rows[name] = f"{entry.model} in this process ({_NEEDS})"
            continue
        parser = entry.tool_call_parser or "tools in the prompt"
        rows[name] = f"{entry.model} at {entry.base_url} ({parser})"
    rows["replay:RUN"] = "the messages of a saved run"
    rows["openai:MODEL@URL"] = "any OpenAI-compatible endpoint"
    rows["local:MODEL"] = f"a model of the hub, or local:smollm2-135m, in this process ({_NEEDS})"
    rows["FOLDER"] = f"a model, an adapter or a curriculum's run, likewise ({_NEEDS})"
    width = max(map(len, rows))
    for name, about in rows.items():
        click.echo(f"{name:{width}}  {about}")
    click.echo(f"Your own table: {user_table_path()}")


def _about(name: str) -> str:
    """The first line that a plug-in says about itself."""
    from zephyrus import registry

    try:
        about = inspect.getdoc(registry.get("policies", name))
    except UserError as error:
        return f"(broken: {error})"
    return about.splitlines()[0] if about else "a plug-in"


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
