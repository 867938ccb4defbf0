"""``zephyrus env``: environments and their banks; the commands over runs join in here."""

from __future__ import annotations

import inspect
import json
from pathlib import Path

import click

from zephyrus.cli.consistency import cross_task, self_contra
from zephyrus.cli.evaluate import evaluate
from zephyrus.cli.export import export
from zephyrus.cli.options import DATASET, FILE, JSON, OPTION
from zephyrus.cli.plot import plot
from zephyrus.cli.rollout import rescore, rollout
from zephyrus.cli.run import show, view
from zephyrus.cli.traces import import_
from zephyrus.errors import UserError


@click.group()
def group() -> None:
    """Environments, question banks, rollouts and runs."""


for command in (
    rollout,
    show,
    view,
    rescore,
    evaluate,
    plot,
    export,
    import_,
    self_contra,
    cross_task,
):
    group.add_command(command)


@group.command("list", short_help="Every installed environment.")
@JSON
def list_(as_json: bool) -> None:
    """Every installed environment."""
    from zephyrus import registry

    names = registry.names("envs")
    if as_json:
        click.echo(json.dumps(names))
        return
    for name in names:
        try:
            about = inspect.getdoc(registry.get("envs", name)) or "(says nothing about itself)"
        except UserError as error:
            about = f"(broken: {error})"
        click.echo(f"{click.style(name, bold=True)}  {about.splitlines()[0]}")


@group.command(short_help="What an environment asks, with its tools and prompt.")
@click.argument("env")
@DATASET
@click.option("--compact", is_flag=True, help="The short prompt for very small models.")
@OPTION
@JSON
def describe(
    env: str, dataset: str | None, compact: bool, pairs: tuple[str, ...], as_json: bool
) -> None:
    """What the environment ENV asks, its tools, and the system prompt as the agent sees it."""
    from zephyrus.cli.plugins import make_env, print_options

    made = make_env(env, pairs, dataset=dataset, compact=compact or None)
    splits = {split: len(made.tasks(split)) for split in ("train", "validation", "test")}
    if as_json:
        prompt = made.system_prompt()
        facts = {"env": env, "splits": splits, "system": prompt, "tools": made.tool_schemas()}
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
        return
    click.echo(inspect.getdoc(type(made)) or "")
    click.echo(f"\nTasks: {', '.join(f'{n} {split}' for split, n in splits.items())}")
    click.echo(f"Limits: {', '.join(f'{k}={v}' for k, v in made.limits.to_dict().items())}")
    click.echo(f"\n{made.system_prompt()}\n")
    for tool in made.tools.values():
        click.echo(f"{tool.name}({', '.join(tool.parameters['properties'])}): {tool.description}")
    if task := next(iter(made.tasks()), None):
        click.echo(f"\nFor example ({task.id}):\n{task.prompt}")
    print_options("Options (-o NAME=VALUE of rollout and rescore)", type(made))
    if build := getattr(type(made), "build_bank", None):
        print_options(f"Options of: zephyrus env build-bank --env {env}", build)


@group.command("build-bank", short_help="Make a question bank from a dataset.")
@click.option("--env", "env_name", default="bench", show_default=True, help="Whose questions.")
@click.option("--dataset", default="demo", show_default=True, help="What to ask about.")
@click.option("--train", type=int, metavar="N", help="Training tasks [default: the builder's].")
@click.option("--validation", type=int, metavar="N", help="Held-out ones.")
@click.option("--test", type=int, metavar="N", help="Test tasks.")
@click.option("--seed", default=0, show_default=True, metavar="N", help="Same seed, same bank.")
@click.option(
    "--output", required=True, type=FILE, help="Where to write it: FILE.jsonl or FILE.jsonl.gz."
)
@click.option(
    "-o",
    "--option",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the builder; may be repeated.",
)
@JSON
def build_bank(
    env_name: str,
    dataset: str,
    train: int | None,
    validation: int | None,
    test: int | None,
    seed: int,
    output: Path,
    pairs: tuple[str, ...],
    as_json: bool,
) -> None:
    """Make a bank of tasks from a dataset; for Bench, measure that nothing can be guessed.

    \b
    zephyrus env build-bank --output bank.jsonl.gz
    zephyrus env build-bank --dataset MINE --output bank.jsonl -o strict=false
    zephyrus env build-bank --env report --output events.jsonl -o regions=Germany,France
    zephyrus env build-bank --env report --dataset MINE --output events.jsonl -o reports=FOLDER

    The builders' options: zephyrus env describe ENV
    """
    from rich.console import Console

    from zephyrus import registry
    from zephyrus.cli.plugins import known_options, read_options

    factory = registry.get("envs", registry.env_name(env_name))
    build = getattr(factory, "build_bank", None)
    if build is None:
        raise UserError(f"the environment {env_name!r} builds no bank")
    options = read_options(build, pairs)
    if unknown := options.keys() - known_options(build).keys():
        known = ", ".join(known_options(build)) or "none"
        raise UserError(
            f"the builder of {env_name!r} has no option {', '.join(sorted(unknown))}; "
            f"its options: {known}"
        )
    asked = {"train": train, "validation": validation, "test": test}
    given = {split: size for split, size in asked.items() if size is not None}
    sizes = {**factory.bank_sizes, **given} if given else None
    report = build(dataset=dataset, sizes=sizes, seed=seed, output=output, **options)
    if as_json:
        click.echo(json.dumps(report.to_dict(), indent=1, ensure_ascii=False))
        return
    Console().print(report)
    more = "" if env_name == "bench" else f" --env {env_name}"
    more += "" if dataset == "demo" else f" --dataset {dataset}"
    click.echo(f"wrote {output}; use it with: zephyrus env rollout{more} --bank {output}")
