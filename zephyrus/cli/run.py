"""``zephyrus env show`` and ``view``: a saved run in the terminal and in the browser."""

from __future__ import annotations

import json
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zephyrus.cli.options import COUNT, FILE, JSON, RUN
from zephyrus.errors import UserError, WorkError

if TYPE_CHECKING:
    from zephyrus.run import Run


@click.command(short_help="A run's scores, or one rollout in full.")
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
        print_summary(opened, as_json)
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


@click.command(short_help="A run as one page for the browser, or two runs side by side.")
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


def print_summary(run: Run, as_json: bool) -> None:
    """Print a run's scores, where it lies, and how to go on if it is unfinished."""
    from rich.console import Console

    from zephyrus.view.summary import render

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


def say_unscored(run: Run) -> None:
    """Fail with a sentence that says how to score what no judgement could be had for, if any."""
    if unscored := run.summary["unscored"]["rollouts"]:
        raise WorkError(
            f"{unscored} rollouts are kept but not scored, since no judgement could be had; "
            f"once the judge answers: zephyrus env rescore {run.path} --missing"
        )
