"""``zephyrus env export``: data sets for other trainers."""

from __future__ import annotations

import json
from pathlib import Path

import click

from zephyrus.cli.options import JSON, TOOLS


@click.command(short_help="A run or a bank as a data set for other trainers.")
@click.argument("source", metavar="RUN_OR_BANK")
@click.option(
    "--format",
    "form",
    type=click.Choice(["parquet", "jsonl", "hf"]),
    default="parquet",
    show_default=True,
    help="hf: a folder of Hugging Face datasets, which must be installed.",
)
@click.option(
    "--output",
    required=True,
    type=click.Path(path_type=Path),
    help="One file (.parquet, .jsonl), or a folder with a file for each split.",
)
@click.option("--at-least", type=float, metavar="R", help="Only rollouts with this reward or more.")
@click.option("--no-tools", is_flag=True, help="Leave a run's tool schemas out.")
@click.option("--env", "env_name", default="bench", show_default=True, help="Who asks the bank.")
@click.option("--dataset", help="The world's data of a bank [default: the environment's].")
@click.option("--split", type=click.Choice(["train", "validation", "test"]), help="Of a bank.")
@click.option("--compact", is_flag=True, help="A bank with the short prompt and schemas.")
@TOOLS
@click.option(
    "-o",
    "--option",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of a bank's environment; may be repeated.",
)
@JSON
def export(
    source: str,
    form: str,
    output: Path,
    at_least: float | None,
    no_tools: bool,
    env_name: str,
    dataset: str | None,
    split: str | None,
    compact: bool,
    extra: tuple[str, ...],
    pairs: tuple[str, ...],
    as_json: bool,
) -> None:
    """Write a run as conversations to fine-tune on, or a bank as prompts for RL.

    \b
    zephyrus env export runs/qwen --at-least 1 --output sft.parquet
    zephyrus env export bank.jsonl.gz --output prompts
    zephyrus env export bench --split train --format jsonl --output prompts.jsonl

    RUN_OR_BANK is a run, a bank's file, or an environment for its own bank. The columns
    `messages` (of a bank `prompt`) and `tools` are those of chat templates and of TRL.
    """
    from zephyrus import registry
    from zephyrus.cli.plugins import load_all_tools, read_options
    from zephyrus.export.export import export_bank, export_run
    from zephyrus.run import find
    from zephyrus.task import TaskSet

    tools = load_all_tools(extra) or None
    is_bank = source.endswith((".jsonl", ".jsonl.gz"))
    if is_bank or (source in registry.names("envs") and not Path(source).is_dir()):
        name = registry.env_name(env_name if is_bank else source)
        asked = {"dataset": dataset, "tools": tools, "compact": compact or None}
        given = {key: value for key, value in asked.items() if value is not None}
        options = read_options(registry.get("envs", name), pairs)
        env = registry.make(name, **given | options)
        tasks = TaskSet.load(Path(source)) if is_bank else None
        done = export_bank(env, output, form=form, tasks=tasks, split=split)
    else:
        done = export_run(
            find(source), output, form=form, given=tools, tools=not no_tools, at_least=at_least
        )
    if as_json:
        click.echo(json.dumps({"files": [str(file) for file in done.files], "rows": done.rows}))
        return
    for split_name, n in done.rows.items():
        click.echo(f"{split_name}: {n:,} rows")
    for file in done.files:
        click.echo(f"wrote {file}")
