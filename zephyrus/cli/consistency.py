"""``zephyrus env self-contra`` and ``cross-task``: Weather-R1's analyses over saved runs."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zephyrus.cli.evaluate import wide_console
from zephyrus.cli.options import COUNT, FILE, JSON
from zephyrus.errors import UserError, WorkError

if TYPE_CHECKING:
    from zephyrus.consistency.judge import ConsistencyJudge
    from zephyrus.consistency.selfcontra import Reading, SelfContra
    from zephyrus.run import Run


@click.command("self-contra", short_help="How often reasoning and answer differ, and how.")
@click.argument("runs", metavar="RUN…", nargs=-1, required=True)
@click.option(
    "--judge",
    "judge_name",
    default="rules",
    show_default=True,
    help="Who reads the reasonings: rules, a model of `zephyrus judge list`, openai:MODEL@URL.",
)
@click.option("--base-url", metavar="URL", help="The judge's endpoint, instead of the table's.")
@click.option("--bank", type=FILE, help="Another bank with the same questions.")
@click.option(
    "--labels",
    type=FILE,
    multiple=True,
    help="People's labels (item, label): how far the judge agrees with them, by Cohen's kappa.",
)
@click.option("--export", "sheet", type=FILE, help="Write a sheet for people to label instead.")
@click.option(
    "-n", "n", default=300, show_default=True, type=COUNT, metavar="N", help="Rows of the sheet."
)
@click.option("--seed", default=0, show_default=True, metavar="S", help="Draws them.")
@click.option(
    "--concurrency",
    default=256,
    show_default=True,
    type=COUNT,
    metavar="C",
    help="Reasonings that are read at once.",
)
@click.option("--output", type=FILE, help="Write every response with what it is, as JSON.")
@JSON
def self_contra(
    runs: tuple[str, ...],
    judge_name: str,
    base_url: str | None,
    bank: Path | None,
    labels: tuple[Path, ...],
    sheet: Path | None,
    n: int,
    seed: int,
    concurrency: int,
    output: Path | None,
    as_json: bool,
) -> None:
    """How often a policy's reasoning supports another choice than it answers, by type and task.

    \b
    zephyrus env self-contra runs/rft runs/loco --judge gpt-oss-20b
    zephyrus env self-contra runs/loco --export sheet.csv -n 300     for people to fill in
    zephyrus env self-contra runs/loco --judge gpt-oss-20b --labels sheet.csv

    Type 1: a right reasoning, a wrong answer. Type 2: a wrong reasoning, a right answer. Type 3:
    both wrong and different, or a reasoning without a conclusion. Responses that are not
    well-formed are counted apart. Judgements are kept; exit code 1 if one is missing: it then counts
    in no proportion, and the same command asks for it again.
    """
    from zephyrus.consistency.judge import make_consistency_judge
    from zephyrus.consistency.selfcontra import read_run
    from zephyrus.evaluation.texts import env_of
    from zephyrus.run import find

    if (labels or sheet) and len(runs) > 1:
        raise UserError("--labels and --export are for one run: their items are its rollouts")
    read = []
    for name in runs:
        run = find(name)
        env = env_of(run, **({"bank": bank} if bank else {}))
        read.append((run, read_run(run, env)))
    if sheet is not None:
        _write_sheet(read[0][1], sheet, n, seed)
        return
    judge = make_consistency_judge(judge_name, base_url=base_url)
    found = asyncio.run(_judge(read, judge, concurrency))
    compared = None
    if labels:
        from zephyrus.consistency.labels import agreement, read_conclusions

        compared = agreement(read_conclusions(labels), found[0].conclusions(), seed=seed)
        if not compared.items:
            raise UserError(f"no item of the labels is a rollout of {found[0].run}")
    told: dict[str, Any] = {"runs": [one.to_dict() for one in found]}
    if compared is not None:
        told["agreement"] = compared.to_dict()
    if output is not None:
        from zephyrus.jsonlines import write_whole

        write_whole(output, json.dumps(told, indent=1, ensure_ascii=False) + "\n")
    if as_json:
        click.echo(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        from zephyrus.consistency.selfcontra import render, render_agreement

        wide_console().print(render(found))
        if compared is not None:
            click.echo(render_agreement(compared))
    if missing := sum(one.missing for one in found):
        reasons = {j.missing for one in found for j in one.judged if j.missing}
        raise WorkError(
            f"{missing} judgements could not be had ({sorted(reasons)[0]}): they count in no "
            "proportion; once the judge answers, the same command asks for them"
        )


@click.command("cross-task", short_help="Train on one task, test on all: the matrix of change.")
@click.argument("pairs", metavar="TASK=RUN…", nargs=-1, required=True)
@click.option(
    "--base", "bases", multiple=True, required=True, metavar="RUN", help="The base model's run."
)
@click.option(
    "--change",
    type=click.Choice(["percent", "points"]),
    default="percent",
    show_default=True,
    help="In percent of the base's accuracy, or in percentage points.",
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("cross-task"),
    show_default=True,
    help="Where the heat map and its numbers go.",
)
@JSON
def cross_task(
    pairs: tuple[str, ...], bases: tuple[str, ...], change: str, output: Path, as_json: bool
) -> None:
    """The cross-task protocol over saved runs: how models trained on one task do on all.

    \b
    zephyrus env cross-task --base runs/base rain=runs/rain max_temp=runs/max_temp

    Each TASK=RUN is the run of a model, tested on all tasks, under the name of the one that it was
    trained on; a task may be given several runs, and so may the base. Prints the change of accuracy
    against the base and the averages over models, and writes them as a heat map, CSV and JSON.
    Cells that are missing are gaps, and said.
    """
    from zephyrus.consistency.crosstask import cross_task as compare
    from zephyrus.consistency.crosstask import named_runs, read_scores, render
    from zephyrus.run import find
    from zephyrus.view.plots.crosstask import write_cross_task

    base = read_scores(find(name) for name in bases)
    models = {
        task: read_scores(find(name) for name in names) for task, names in named_runs(pairs).items()
    }
    found = compare(base, models)
    files = write_cross_task(found, output, change)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1, ensure_ascii=False))
        return
    wide_console().print(render(found, change))
    for file in files:
        click.echo(f"wrote {file}")


async def _judge(
    read: list[tuple[Run, list[Reading]]], judge: ConsistencyJudge, concurrency: int
) -> list[SelfContra]:
    from zephyrus.consistency.selfcontra import SelfContra, judge_readings

    try:
        await judge.check()
        return [
            SelfContra(
                run.name,
                judge.name,
                tuple(await judge_readings(readings, judge, concurrency=concurrency)),
            )
            for run, readings in read
        ]
    finally:
        await judge.close()


def _write_sheet(readings: list[Reading], sheet: Path, n: int, seed: int) -> None:
    from zephyrus.consistency.labels import sample_items, write_sheet
    from zephyrus.consistency.selfcontra import sheet_rows

    known = {str(r.key): r.task for r in readings if r.response.well_formed and r.final}
    if not known:
        raise UserError("the run has no well-formed response to label")
    drawn = sample_items(known, n, seed)
    write_sheet(sheet_rows(readings, drawn), sheet)
    click.echo(f"wrote {sheet}: {len(drawn)} reasonings; fill in the column label")
