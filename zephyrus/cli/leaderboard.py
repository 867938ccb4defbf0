"""``zephyrus leaderboard``: judged runs in one table."""

from __future__ import annotations

import json
from pathlib import Path

import click

from zephyrus.cli.evaluate import NEUTRAL, split_names, wide_console
from zephyrus.cli.options import COUNT, FILE, JSON
from zephyrus.errors import UserError

FORMS = {".md": "markdown", ".csv": "csv", ".html": "html", ".htm": "html"}


@click.command(short_help="Order judged runs by their average score.")
@click.argument("runs", metavar="RUN…", nargs=-1, required=True)
@click.option(
    "--judges", metavar="A,B", help="Whose scores [default: those that have judged every run]."
)
@click.option(
    "--passes", type=COUNT, metavar="N", help="Scoring passes [default: all that were made]."
)
@click.option("--base", metavar="RUN", help="Show relative changes against this run.")
@NEUTRAL
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv", "html"]),
    help="[default: by the ending of --output, else table]",
)
@click.option("--output", type=FILE, metavar="FILE", help="Write it there [default: print it].")
@JSON
def group(
    runs: tuple[str, ...],
    judges: str | None,
    passes: int | None,
    base: str | None,
    neutral: str | float,
    form: str | None,
    output: Path | None,
    as_json: bool,
) -> None:
    """Order judged runs by the mean of their judges' rubric and F1 scores.

    \b
    zephyrus leaderboard RUN RUN RUN
    zephyrus leaderboard RUN RUN --base RUN --output table.md

    The runs must be judged before (zephyrus env evaluate), all in the same way; only the rules
    judge, which costs nothing, is asked here where it is wanted and missing.
    """
    from zephyrus.evaluation import formats
    from zephyrus.evaluation.leaderboard import make_leaderboard
    from zephyrus.jsonlines import write_whole
    from zephyrus.judge.discussion import ClaimOptions
    from zephyrus.run import find

    if form is None:
        form = "table" if output is None else FORMS.get(output.suffix.casefold(), "table")
    if form == "table" and output is not None and not as_json:
        raise UserError(
            f"a table is for the terminal: end {output.name} in .md, .csv or .html, or give --format"
        )
    board = make_leaderboard(
        [find(run) for run in runs],
        split_names(judges) if judges is not None else None,
        passes=passes,
        base=find(base) if base else None,
        options=ClaimOptions(neutral=neutral),
    )
    if as_json:
        text = json.dumps(board.to_dict(), indent=1, ensure_ascii=False) + "\n"
    elif form == "table":
        wide_console().print(formats.to_terminal(board))
        return
    else:
        write = {
            "markdown": formats.to_markdown,
            "csv": formats.to_csv,
            "html": formats.to_html,
        }[form]
        text = write(board)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)
        click.echo(f"wrote {output}")
