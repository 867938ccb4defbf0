"""``zephyrus env``: environments, banks, rollouts and the runs they leave."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from zephyrus.errors import UserError

RUN = click.argument("run", type=click.Path(file_okay=False, path_type=Path))
OPTION = click.option(
    "-o",
    "--option",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the environment, e.g. turn_cost=0.05; may be repeated.",
)
JSON = click.option("--json", "as_json", is_flag=True, help="For scripts.")


@click.group()
def group() -> None:
    """Environments, question banks, rollouts and runs."""


@group.command("list")
@JSON
def list_(as_json: bool) -> None:
    """Every installed environment."""
    from zephyrus import registry

    names = registry.names("envs")
    if as_json:
        click.echo(json.dumps(names))
        return
    for name in names:
        first = (registry.get("envs", name).__doc__ or "").strip().splitlines()[0]
        click.echo(f"{click.style(name, bold=True)}  {first}")


@group.command()
@click.argument("env")
@click.option("--dataset", default="demo", show_default=True)
@click.option("--compact", is_flag=True, help="The short prompt for very small models.")
@JSON
def describe(env: str, dataset: str, compact: bool, as_json: bool) -> None:
    """What the environment ENV asks, its tools, and the system prompt as the agent sees it."""
    from zephyrus import registry

    made = registry.make(env, dataset=dataset, compact=compact)
    splits = {split: len(made.tasks(split)) for split in ("train", "validation", "test")}
    if as_json:
        prompt = made.system_prompt()
        facts = {"env": env, "splits": splits, "system": prompt, "tools": made.tool_schemas()}
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
        return
    click.echo((type(made).__doc__ or "").strip())
    click.echo(f"\nTasks: {', '.join(f'{n} {split}' for split, n in splits.items())}")
    click.echo(f"Limits: {', '.join(f'{k}={v}' for k, v in made.limits.to_dict().items())}")
    click.echo(f"\n{made.system_prompt()}\n")
    for tool in made.tools.values():
        click.echo(f"{tool.name}({', '.join(tool.parameters['properties'])}): {tool.description}")
    task = made.tasks()[0]
    click.echo(f"\nFor example ({task.id}):\n{task.prompt}")


@group.command("build-bank")
@click.option("--env", "env_name", default="bench", show_default=True)
@click.option("--dataset", default="demo", show_default=True, help="What to ask about.")
@click.option("--train", default=1000, show_default=True, help="Questions in the training split.")
@click.option("--validation", default=125, show_default=True)
@click.option("--test", default=500, show_default=True)
@click.option("--seed", default=0, show_default=True)
@click.option(
    "--output",
    required=True,
    type=click.Path(dir_okay=False, path_type=Path),
    help="Where to write it: FILE.jsonl or FILE.jsonl.gz.",
)
def build_bank(
    env_name: str,
    dataset: str,
    train: int,
    validation: int,
    test: int,
    seed: int,
    output: Path,
) -> None:
    """Make a question bank from a dataset, and measure that nothing in it can be guessed."""
    from rich.console import Console

    from zephyrus import registry

    build = getattr(registry.get("envs", env_name), "build_bank", None)
    if build is None:
        raise UserError(f"the environment {env_name!r} builds no bank")
    sizes = {"train": train, "validation": validation, "test": test}
    report = build(dataset=dataset, sizes=sizes, seed=seed, output=output)
    Console().print(report)
    click.echo(f"wrote {output}; roll out on it with: zephyrus env rollout --bank {output}")


@group.command()
@click.option("--env", "env_name", default="bench", show_default=True, help="Environment.")
@click.option(
    "--policy",
    "policy_spec",
    default="scripted",
    show_default=True,
    help="Who acts: scripted, random, replay:RUN, openai:MODEL@URL, or a name of `zephyrus policy list`.",
)
@click.option("--dataset", default="demo", show_default=True, help="The world's data.")
@click.option(
    "--bank",
    type=click.Path(dir_okay=False, path_type=Path),
    help="Your own bank [default: the dataset's].",
)
@click.option(
    "--split", default="test", show_default=True, type=click.Choice(["train", "validation", "test"])
)
@click.option("-n", "n", type=click.IntRange(min=1), help="Tasks [default: the whole split].")
@click.option(
    "--repeats", default=1, show_default=True, type=click.IntRange(min=1), help="Rollouts per task."
)
@click.option("--seed", default=0, show_default=True, help="Orders the tasks and seeds the policy.")
@click.option("--tools", "extra", metavar="FILE|MODULE", help="Your own tools as well.")
@click.option(
    "--concurrency",
    default=32,
    show_default=True,
    type=click.IntRange(min=1),
    help="Rollouts at once.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Run folder; an unfinished one is resumed [default: runs/ENV-POLICY-TIME].",
)
@click.option("--base-url", help="The endpoint, instead of the policy table's.")
@click.option("--temperature", type=float, help="Sampling temperature, instead of the table's.")
@click.option("--max-tokens", type=click.IntRange(min=1), help="Completion tokens per turn.")
@click.option("--compact", is_flag=True, help="Short prompt and schemas, for very small models.")
@click.option("--max-turns", default=10, show_default=True, type=click.IntRange(min=1))
@click.option("--max-calls", default=24, show_default=True, type=click.IntRange(min=1))
@click.option("--max-seconds", type=float, help="Wall-clock time of one episode.")
@OPTION
@JSON
def rollout(  # one parameter per option
    env_name: str,
    policy_spec: str,
    dataset: str,
    bank: Path | None,
    split: str,
    n: int | None,
    repeats: int,
    seed: int,
    extra: str | None,
    concurrency: int,
    output: Path | None,
    base_url: str | None,
    temperature: float | None,
    max_tokens: int | None,
    compact: bool,
    max_turns: int,
    max_calls: int,
    max_seconds: float | None,
    pairs: tuple[str, ...],
    as_json: bool,
) -> None:
    """Let a policy work on tasks, score it, and keep everything in a run folder.

    \b
    zephyrus env rollout --policy scripted -n 16
    zephyrus env rollout --policy qwen3.5-4b --split validation --repeats 3
    zephyrus env rollout --policy openai:my-model@http://127.0.0.1:8000/v1 -n 50
    """
    from zephyrus import registry
    from zephyrus.cli.plugins import load_tools
    from zephyrus.limits import Limits
    from zephyrus.policy import make_policy
    from zephyrus.rollouts import rollout as roll

    tools = load_tools(extra) if extra else []
    limits = Limits(turns=max_turns, calls=max_calls, seconds=max_seconds)
    options: dict[str, Any] = {"split": split, "tools": tools, "limits": limits, "compact": compact}
    if bank is not None:
        options["bank"] = bank
    env = registry.make(env_name, dataset=dataset, **options | _options(pairs))
    policy = make_policy(
        policy_spec, base_url=base_url, temperature=temperature, max_tokens=max_tokens
    )
    run = roll(env, policy, n=n, repeats=repeats, seed=seed, concurrency=concurrency, output=output)
    _print_summary(run, as_json)


@group.command()
@RUN
@click.option("--task", "task_id", help="Show this task's rollout in full.")
@click.option("--first", is_flag=True, help="Show the first rollout in full.")
@click.option("--repeat", default=0, show_default=True, help="Which of its repeats.")
@click.option("--worst", is_flag=True, help="List the worst rollouts first.")
@click.option("-n", "n", default=12, show_default=True, help="How many rollouts to list.")
@JSON
def show(
    run: Path,
    task_id: str | None,
    first: bool,
    repeat: int,
    worst: bool,
    n: int,
    as_json: bool,
) -> None:
    """A run's scores and rollouts; with --task, one rollout turn by turn."""
    from zephyrus.run import Run
    from zephyrus.view.terminal import print_listing, print_trajectory

    opened = Run.open(run)
    if first and task_id is None:
        task_id = next((t.key.task for t in opened), None)
    if task_id is None:
        _print_summary(opened, as_json)
        if not as_json:
            print_listing(opened, n, worst=worst)
        return
    found = [t for t in opened if t.key.task == task_id]
    if not found:
        raise UserError(f"{run} has no rollout of {task_id!r}; list them: zephyrus env show {run}")
    chosen = [t for t in found if t.key.repeat == repeat]
    if not chosen:
        known = ", ".join(str(t.key.repeat) for t in found)
        raise UserError(f"{task_id!r} has no repeat {repeat}; it has {known}")
    if as_json:
        click.echo(chosen[0].to_json())
    else:
        print_trajectory(chosen[0])


@group.command()
@RUN
@click.option("--bank", type=click.Path(dir_okay=False, path_type=Path), help="The bank, if moved.")
@OPTION
@JSON
def rescore(run: Path, bank: Path | None, pairs: tuple[str, ...], as_json: bool) -> None:
    """Score a saved run again with today's verifiers and rewards, without the policy.

    With other reward options, for instance: -o turn_cost=0.05 -o free_turns=4
    """
    from zephyrus import registry
    from zephyrus.rollouts import rescore as again
    from zephyrus.run import Run

    opened = Run.open(run)
    known = dict(opened.config["env"])
    name = known.pop("name")
    options = {k: v for k, v in known.items() if k not in ("tools", "prompt_sha256")}
    if bank is not None:
        options["bank"] = bank
    again(opened, registry.make(name, **options | _options(pairs)))
    _print_summary(opened, as_json)


def _print_summary(run: Any, as_json: bool) -> None:
    from rich.console import Console

    from zephyrus.summary import render

    if as_json:
        click.echo(json.dumps(run.summary, indent=1, ensure_ascii=False))
    else:
        Console().print(render(run.summary))
        click.echo(f"run: {run.path}")


def _options(pairs: tuple[str, ...]) -> dict[str, Any]:
    import yaml

    options = {}
    for pair in pairs:
        key, equals, value = pair.partition("=")
        if not (key and equals):
            raise UserError(f"-o takes KEY=VALUE, not {pair!r}")
        options[key] = yaml.safe_load(value)
    return options
