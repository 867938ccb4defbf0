"""``zephyrus env``: environments, banks, rollouts and the runs they leave."""

from __future__ import annotations

import inspect
import json
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

import click

from zephyrus.cli.evaluate import evaluate
from zephyrus.cli.export import export
from zephyrus.cli.plot import plot
from zephyrus.cli.policy import POLICY_OPTION
from zephyrus.cli.traces import import_
from zephyrus.errors import UserError, WorkError

RUN = click.argument("run", metavar="RUN")
JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
OPTION = click.option(
    "-o",
    "--option",
    "pairs",
    multiple=True,
    metavar="KEY=VALUE",
    help="An option of the environment, e.g. turn_cost=0.05; may be repeated. They are listed by "
    "`zephyrus env describe ENV`.",
)
DATASET = click.option("--dataset", help="The world's data [default: the environment's].")
TOOLS = click.option(
    "--tools", "extra", metavar="FILE|MODULE", multiple=True, help="Your own tools as well."
)
COUNT = click.IntRange(min=1)
FILE = click.Path(dir_okay=False, path_type=Path)


@click.group()
def group() -> None:
    """Environments, question banks, rollouts and runs."""


group.add_command(evaluate)
group.add_command(plot)
group.add_command(export)
group.add_command(import_)


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
    from zephyrus.cli.plugins import print_options

    made = _make(env, pairs, dataset=dataset, compact=compact or None)
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


@group.command(short_help="Let a policy work on tasks, and score it.")
@click.option("--env", "env_name", default="bench", show_default=True, help="Environment.")
@click.option(
    "--policy",
    "policy_spec",
    default="scripted",
    show_default=True,
    metavar="P",
    help="Who acts: a name of `zephyrus policy list`, replay:RUN, baseline:NAME, openai:MODEL@URL, "
    "local:MODEL, or the folder of a trained model.",
)
@DATASET
@click.option("--bank", type=FILE, help="Your own bank [default: the dataset's].")
@click.option(
    "--split",
    default="test",
    show_default=True,
    type=click.Choice(["train", "validation", "test"]),
    help="Which tasks.",
)
@click.option("-n", "n", type=COUNT, metavar="N", help="Tasks [default: the whole split].")
@click.option(
    "--repeats", default=1, show_default=True, type=COUNT, metavar="K", help="Rollouts per task."
)
@click.option(
    "--seed", default=0, show_default=True, metavar="S", help="Orders the tasks, seeds the policy."
)
@TOOLS
@click.option(
    "--concurrency",
    default=32,
    show_default=True,
    type=COUNT,
    metavar="C",
    help="Rollouts at once.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Run folder; an unfinished one is resumed [default: runs/ENV-POLICY-TIME].",
)
@click.option("--base-url", metavar="URL", help="The endpoint, instead of the policy table's.")
@click.option("--temperature", type=float, metavar="T", help="Instead of the policy table's.")
@click.option("--max-tokens", type=COUNT, metavar="N", help="Completion tokens per turn.")
@POLICY_OPTION
@click.option(
    "--compact/--full",
    default=None,
    help="Short or full prompt and schemas [default: full, and what a trained policy knows].",
)
@click.option(
    "--max-turns", type=COUNT, metavar="N", help="Per episode [default: the environment's]."
)
@click.option("--max-calls", type=COUNT, metavar="N", help="Per episode, likewise.")
@click.option(
    "--max-seconds",
    type=click.FloatRange(min=0, min_open=True),
    metavar="S",
    help="Wall-clock time of one episode.",
)
@OPTION
@JSON
def rollout(
    env_name: str,
    policy_spec: str,
    dataset: str | None,
    bank: Path | None,
    split: str,
    n: int | None,
    repeats: int,
    seed: int,
    extra: tuple[str, ...],
    concurrency: int,
    output: Path | None,
    base_url: str | None,
    temperature: float | None,
    max_tokens: int | None,
    policy_pairs: tuple[str, ...],
    compact: bool | None,
    max_turns: int | None,
    max_calls: int | None,
    max_seconds: float | None,
    pairs: tuple[str, ...],
    as_json: bool,
) -> None:
    """Let a policy work on tasks, score it, and keep everything in a run folder.

    \b
    zephyrus env rollout --policy scripted -n 16
    zephyrus env rollout --policy qwen3.5-4b --split validation --repeats 3
    zephyrus env rollout --policy openai:my-model@http://127.0.0.1:8000/v1 -n 50
    zephyrus env rollout --policy ./runs/curriculum -p batch=32

    A killed run goes on with the same command and --output. Exit code 1 if a rollout could not
    be finished (an endpoint or a tool broke): those are not scored, and tried again next time.
    """
    from zephyrus import registry
    from zephyrus.cli.plugins import load_all_tools, read_pairs
    from zephyrus.policy import make_policy
    from zephyrus.rollouts import rollout as roll

    asked = {"turns": max_turns, "calls": max_calls, "seconds": max_seconds}
    given = {name: value for name, value in asked.items() if value is not None}
    factory = registry.get("envs", registry.env_name(env_name))
    limits = replace(factory.default_limits, **given) if given else None
    options = {"base_url": base_url, "temperature": temperature, "max_tokens": max_tokens}
    policy = make_policy(policy_spec, **options | read_pairs("-p", policy_pairs))
    env = _make(
        env_name,
        pairs,
        dataset=dataset,
        bank=bank,
        split=split,
        tools=load_all_tools(extra) or None,
        limits=limits,
        compact=(policy.compact or None) if compact is None else compact,
    )
    run = roll(env, policy, n=n, repeats=repeats, seed=seed, concurrency=concurrency, output=output)
    _print_summary(run, as_json)
    if broken := run.summary["infrastructure"]["errors"]:
        raise WorkError(
            f"{broken} rollouts broke and are not scored (zephyrus env show {run.path}); "
            f"to try them again, run the same with --output {run.path}"
        )
    _say_unscored(run)


@group.command(short_help="A run's scores, or one rollout in full.")
@RUN
@click.option("--task", "task_id", metavar="ID", help="Show this task's rollout in full.")
@click.option("--first", is_flag=True, help="Show the first rollout in full.")
@click.option(
    "--repeat", type=int, metavar="K", help="Which of its repeats [default: 0; the first's own]."
)
@click.option("--worst", is_flag=True, help="List the worst rollouts first.")
@click.option("-n", "n", default=12, show_default=True, type=COUNT, metavar="N", help="How many.")
@JSON
def show(
    run: str,
    task_id: str | None,
    first: bool,
    repeat: int | None,
    worst: bool,
    n: int,
    as_json: bool,
) -> None:
    """A run's scores and rollouts; with --task or --first, one rollout turn by turn.

    RUN is a run folder, or the name of one in runs/.
    """
    from zephyrus.run import find
    from zephyrus.view.terminal import print_listing, print_trajectory

    opened = find(run)
    every = [*opened, *opened.errors()]
    if first and task_id is None and every:
        task_id = every[0].key.task
        repeat = every[0].key.repeat if repeat is None else repeat
    if task_id is None:
        _print_summary(opened, as_json)
        if not as_json:
            print_listing(every, n, worst=worst)
        return
    found = {t.key.repeat: t for t in every if t.key.task == task_id}
    if not found:
        raise UserError(f"{run} has no rollout of {task_id!r}; list them: zephyrus env show {run}")
    repeat = repeat or 0
    if repeat not in found:
        known = ", ".join(map(str, sorted(found)))
        raise UserError(f"{task_id!r} has no repeat {repeat}; it has {known}")
    if as_json:
        click.echo(found[repeat].to_json())
    else:
        print_trajectory(found[repeat])


@group.command(short_help="A run as one page for the browser, or two runs side by side.")
@click.argument("runs", metavar="RUN [RUN2]", nargs=-1, required=True)
@click.option("--output", type=FILE, help="The page [default: view.html in the run's folder].")
@click.option(
    "--images",
    "images_mb",
    default=200.0,
    show_default=True,
    type=click.FloatRange(min=0),
    metavar="MB",
    help="How much of the page images may take up; 0 leaves them out.",
)
@click.option("--open", "show_it", is_flag=True, help="Open it in the browser.")
@JSON
def view(
    runs: tuple[str, ...], output: Path | None, images_mb: float, show_it: bool, as_json: bool
) -> None:
    """Write a run as one HTML file that needs no network: every rollout with its trace.

    \b
    zephyrus env view runs/mine --open
    zephyrus env view runs/before runs/after

    With two runs, the same tasks stand side by side; the page is then view-RUN2.html in the folder
    of RUN. Links into the page name the rollout and the filters.
    """
    from zephyrus.run import find
    from zephyrus.view.run import write_run_view

    if len(runs) > 2:
        raise UserError(f"a page shows one run or compares two, not {len(runs)}")
    found = [find(run) for run in runs]
    if len({run.path.resolve() for run in found}) < len(found):
        raise UserError(f"both runs are {found[0].path}; give two, or one alone")
    name = f"view-{found[1].name}.html" if len(found) == 2 else "view.html"
    file = output or found[0].path / name
    written = write_run_view(file, found, images_mb=images_mb)
    if as_json:
        click.echo(json.dumps({"file": str(file), **asdict(written)}, indent=1))
    else:
        several = "" if written.rollouts == 1 else "s"
        click.echo(f"{written.rollouts:,} rollout{several}, {written.bytes / 1e6:.1f} MB: {file}")
        if written.left_out:
            click.echo(f"{written.left_out:,} images had no room; --images MB gives more")
    if show_it:
        import webbrowser

        if not webbrowser.open(file.resolve().as_uri()):
            click.echo(f"no browser could be started: open {file} yourself", err=True)


@group.command(short_help="Score a saved run again, without the policy.")
@RUN
@click.option("--bank", type=FILE, help="Another bank with the same questions.")
@click.option("--missing", is_flag=True, help="Only what a judge could not be had for.")
@OPTION
@JSON
def rescore(
    run: str, bank: Path | None, missing: bool, pairs: tuple[str, ...], as_json: bool
) -> None:
    """Score a saved run again with today's verifiers and rewards, without the policy.

    With other reward options, for instance: -o turn_cost=0.05 -o free_turns=4
    """
    from zephyrus.rollouts import rescore as again
    from zephyrus.run import find

    opened = find(run)
    known = dict(opened.config["env"])
    name = known.pop("name")
    options = {k: v for k, v in known.items() if k not in ("tools", "prompt_sha256")}
    if bank is not None:
        options["bank"] = bank
    again(opened, _make(name, pairs, **options), missing=missing)
    _print_summary(opened, as_json)
    _say_unscored(opened)


def _make(env_name: str, pairs: tuple[str, ...], **options: Any) -> Any:
    """The environment with the options that were given (None means not given)."""
    from zephyrus import registry
    from zephyrus.cli.plugins import read_options

    given = {key: value for key, value in options.items() if value is not None}
    factory = registry.get("envs", registry.env_name(env_name))
    return registry.make(env_name, **given | read_options(factory, pairs))


def _say_unscored(run: Any) -> None:
    if unscored := run.summary["unscored"]["rollouts"]:
        raise WorkError(
            f"{unscored} rollouts are kept but not scored, since no judgement could be had; "
            f"once the judge answers: zephyrus env rescore {run.path} --missing"
        )


def _print_summary(run: Any, as_json: bool) -> None:
    from rich.console import Console

    from zephyrus.summary import render

    summary = run.summary
    done, wanted = summary["rollouts"], run.config.get("n", 0) * run.config.get("repeats", 1)
    if as_json:
        facts = {"run": str(run.path), "wanted": wanted, **summary}
        click.echo(json.dumps(facts, indent=1, ensure_ascii=False))
        return
    Console().print(render(summary))
    click.echo(f"run: {run.path}")
    if done < wanted:
        click.echo(
            f"unfinished: {done} of {wanted}; go on with the same rollout command and "
            f"--output {run.path}"
        )
