"""``zephyrus env rollout`` and ``rescore``: making a run, and scoring one anew."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import click

from zephyrus.cli.options import COUNT, DATASET, FILE, JSON, OPTION, RUN, TOOLS
from zephyrus.cli.policy import POLICY_OPTION
from zephyrus.cli.run import print_summary, say_unscored
from zephyrus.errors import WorkError


@click.command(short_help="Let a policy work on tasks, and score it.")
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
    from zephyrus.cli.plugins import load_all_tools, make_env, read_pairs
    from zephyrus.policy import make_policy
    from zephyrus.rollouts import rollout as roll

    asked = {"turns": max_turns, "calls": max_calls, "seconds": max_seconds}
    given = {name: value for name, value in asked.items() if value is not None}
    factory = registry.get("envs", registry.env_name(env_name))
    limits = replace(factory.default_limits, **given) if given else None
    options = {"base_url": base_url, "temperature": temperature, "max_tokens": max_tokens}
    policy = make_policy(policy_spec, **options | read_pairs("-p", policy_pairs))
    env = make_env(
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
    print_summary(run, as_json)
    if broken := run.summary["infrastructure"]["errors"]:
        raise WorkError(
            f"{broken} rollouts broke and are not scored (zephyrus env show {run.path}); "
            f"to try them again, run the same with --output {run.path}"
        )
    say_unscored(run)


@click.command(short_help="Score a saved run again, without the policy.")
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
    from zephyrus.cli.plugins import make_env
    from zephyrus.rollouts import rescore as again
    from zephyrus.run import find

    opened = find(run)
    known = dict(opened.config["env"])
    name = known.pop("name")
    options = {k: v for k, v in known.items() if k not in ("tools", "prompt_sha256")}
    if bank is not None:
        options["bank"] = bank
    again(opened, make_env(name, pairs, **options), missing=missing)
    print_summary(opened, as_json)
    say_unscored(opened)
