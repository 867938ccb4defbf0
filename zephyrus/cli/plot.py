"""``zephyrus env plot``: figures of runs."""

from __future__ import annotations

from pathlib import Path

import click


@click.command(short_help="Draw figures of runs.")
@click.argument("runs", metavar="RUN…", nargs=-1, required=True)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the files go [default: plots in the run's folder; of several, plots].",
)
def plot(runs: tuple[str, ...], output: Path | None) -> None:
    """Draw accuracy by template, reward by turn, tool use and the errors of numeric answers.

    \b
    zephyrus env plot runs/qwen
    zephyrus env plot runs/base runs/rsft runs/rl --output plots

    PNGs and one offline page, with 95 % intervals. Of several runs the first is what the others
    are compared with, on the tasks that both have.
    """
    from zephyrus.run import find
    from zephyrus.view.plots import plot_runs

    found = [find(run) for run in runs]
    for path in plot_runs(found, output, lambda text: click.echo(text, err=True)):
        click.echo(f"wrote {path}")
