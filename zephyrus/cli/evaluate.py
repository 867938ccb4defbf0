"""``zephyrus env evaluate``: judges over the reports of a saved run."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zephyrus.cli.options import COUNT, FILE, JSON
from zephyrus.errors import UserError, WorkError

if TYPE_CHECKING:
    from rich.console import Console

    from zephyrus.evaluation import Evaluation
    from zephyrus.run import Run

PIPE_COLUMNS = 200


def read_neutral(_: Any, __: Any, value: str) -> str | float:
    """The weight of neutral claims: a name, or a number."""
    try:
        return float(value)
    except ValueError:
        return value


NEUTRAL = click.option(
    "--neutral",
    default="exclude",
    show_default=True,
    metavar="W",
    callback=read_neutral,
    help="Weight of neutral claims in the precision: exclude (0), penalize (1), or a number.",
)


@click.command(short_help="Judge a saved run's reports: rubric and F1 per judge.")
@click.argument("run", metavar="RUN")
@click.option(
    "--judges",
    default="rules",
    show_default=True,
    metavar="A,B,C",
    help="Names of `zephyrus judge list`, or openai:MODEL@URL.",
)
@click.option(
    "--passes", default=3, show_default=True, type=COUNT, metavar="N", help="Scoring passes."
)
@click.option("--base", metavar="RUN", help="Compare with this run, judged in the same way.")
@NEUTRAL
@click.option(
    "--max-claims",
    default=40,
    show_default=True,
    type=click.IntRange(min=0),
    metavar="N",
    help="Claims of a report that count; 0 for all.",
)
@click.option(
    "--only",
    type=click.Choice(["rubric", "claims"]),
    help="Ask for the rubric or the claims alone [default: both].",
)
@click.option("-n", "n", type=COUNT, metavar="N", help="Only so many events [default: all].")
@click.option(
    "--concurrency",
    default=32,
    show_default=True,
    type=COUNT,
    metavar="C",
    help="Reports that one judge works on at once.",
)
@click.option("--base-url", metavar="URL", help="The judges' endpoint, instead of the table's.")
@click.option(
    "--judge-cache",
    type=click.Path(path_type=Path),
    metavar="PATH",
    help="Where the judges' answers are kept [default: the user's cache].",
)
@click.option("--bank", type=FILE, help="Another bank with the same questions.")
@click.option("--html", type=FILE, metavar="FILE", help="Write the claims as a page.")
@JSON
def evaluate(
    run: str,
    judges: str,
    passes: int,
    base: str | None,
    neutral: str | float,
    max_claims: int,
    only: str | None,
    n: int | None,
    concurrency: int,
    base_url: str | None,
    judge_cache: Path | None,
    bank: Path | None,
    html: Path | None,
    as_json: bool,
) -> None:
    """Have judges score the reports of a saved run, in several passes, and average.

    \b
    zephyrus env evaluate RUN
    zephyrus env evaluate RUN --judges gpt-oss-120b,gemma-3-27b-it --passes 3 --base OTHER
    zephyrus env evaluate RUN --html claims.html

    Every judgement is kept in the run folder; the same command goes on after an interruption and
    asks again for what is missing. Exit code 1 if something is: it counts in no mean.
    """
    from zephyrus.evaluation import evaluate as judge_run
    from zephyrus.evaluation.evaluations import write_evaluation
    from zephyrus.evaluation.texts import env_of
    from zephyrus.judge.assess import PARTS
    from zephyrus.judge.discussion import ClaimOptions
    from zephyrus.run import find

    opened = find(run)
    compared = find(base) if base else None
    names = split_names(judges)
    options = ClaimOptions(neutral=neutral, max_claims=max_claims or None)
    env = env_of(opened, **({"bank": bank} if bank else {}))
    evaluation = judge_run(
        opened,
        env,
        names,
        passes=passes,
        options=options,
        parts=(only,) if only else PARTS,
        n=n,
        concurrency=concurrency,
        base_url=base_url,
        cache=judge_cache,
    )
    if compared is not None:
        evaluation = evaluation.against(_base(compared, evaluation, passes, n))
        write_evaluation(evaluation)
    if html is not None:
        from zephyrus.view.claims import write_claim_view

        write_claim_view(html, opened, env, evaluation)
    _print(evaluation, as_json, html)
    if evaluation.missing:
        raise WorkError(missing_text(evaluation))


def missing_text(evaluation: Evaluation) -> str:
    """What is missing, and how to go on."""
    whose = ", ".join(f"{r.missing} of {r.judge}" for r in evaluation.judges.values() if r.missing)
    return (
        f"{evaluation.missing} judgements could not be had ({whose}): they count in no mean; once "
        "the judge answers, the same command asks for them and for nothing else"
    )


def split_names(names: str) -> list[str]:
    """The names in a list with commas.

    Raises:
        UserError: If there is none.
    """
    found = [name.strip() for name in names.split(",") if name.strip()]
    if not found:
        raise UserError("--judges takes names with commas between them; see: zephyrus judge list")
    return found


def _base(base: Run, evaluation: Evaluation, passes: int, n: int | None) -> Evaluation:
    """The base run's evaluation with the same settings of every judge."""
    from zephyrus.evaluation.evaluations import evaluated

    settings = {name: result.settings.id for name, result in evaluation.judges.items()}
    return evaluated(
        base,
        list(settings),
        passes=passes,
        options=evaluation.options,
        parts=evaluation.parts,
        settings=settings,
        n=n,
    )


def wide_console() -> Console:
    """A console for tables; in a pipe, which has no width, they are not squeezed into 80."""
    from rich.console import Console

    console = Console()
    if not console.is_terminal and "COLUMNS" not in os.environ:
        console.width = PIPE_COLUMNS
    return console


def _print(evaluation: Evaluation, as_json: bool, html: Path | None) -> None:
    if as_json:
        click.echo(json.dumps(evaluation.to_dict(), indent=1, ensure_ascii=False))
        return
    from zephyrus.evaluation.evaluations import EVALUATION
    from zephyrus.evaluation.tables import render

    wide_console().print(render(evaluation))
    click.echo(f"numbers: {Path(evaluation.path) / EVALUATION}")
    if html is not None:
        click.echo(f"claims: {html}")
