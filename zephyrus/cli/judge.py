"""``zephyrus judge``: the judges, and how far they agree with experts."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from zephyrus.cli.evaluate import split_names
from zephyrus.cli.options import JSON
from zephyrus.errors import UserError, WorkError

LABELS = click.argument(
    "files",
    nargs=-1,
    required=True,
    metavar="FILE...",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
)
OUTPUT = click.Path(dir_okay=False, path_type=Path)


@click.group()
def group() -> None:
    """Judges, and their audit by experts.

    \b
    The audit of Table 1 of Zephyrus-R1, on a run of yours:
      zephyrus env evaluate RUN --judges gpt-oss-120b
      zephyrus judge export RUN --output claims.html     one page for each expert
      zephyrus judge import "Expert 1.csv" "Expert 2.csv" --run RUN --output labels.csv
      zephyrus judge agreement labels.csv
    """


@group.command("list", short_help="The judges that can be named.")
@JSON
def list_(as_json: bool) -> None:
    """Every named judge: what it is, and where it is asked."""
    from zephyrus import registry
    from zephyrus.judge.table import judge_table, user_table_path

    entries = judge_table()
    plug_ins = registry.names("judges")
    if as_json:
        rows: dict[str, Any] = {name: {"plug_in": True} for name in plug_ins}
        rows |= {k: v.model_dump() for k, v in entries.items() if k not in rows}
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    known = {"rules": "typed claims by rules: no model, offline, always the same"}
    about = {name: known.get(name, "a plug-in") for name in plug_ins}
    for name, entry in entries.items():
        about.setdefault(name, f"{entry.model} at {entry.base_url}")
    about["openai:MODEL@URL"] = "any OpenAI-compatible endpoint"
    width = max(map(len, about))
    for name, what in about.items():
        click.echo(f"{name:{width}}  {what}")
    click.echo(f"Your own table: {user_table_path()}")


@group.command(short_help="Accuracy, Cohen's kappa and Within-1 between raters.")
@LABELS
@click.option(
    "--majority",
    "experts",
    multiple=True,
    metavar="A,B,C",
    help='Whose votes make the majority [default: every rater but "judge:…"].',
)
@click.option("--confusion", is_flag=True, help="Also show which label met which, for each pair.")
@click.option(
    "--resamples",
    default=10_000,
    show_default=True,
    type=click.IntRange(min=100),
    metavar="N",
    help="Of the bootstrap behind the intervals.",
)
@click.option("--seed", default=0, show_default=True, metavar="N", help="Of the resampling.")
@JSON
def agreement(
    files: tuple[Path, ...],
    experts: tuple[str, ...],
    confusion: bool,
    resamples: int,
    seed: int,
    as_json: bool,
) -> None:
    """How far raters agree on claim labels: Table 1 of Zephyrus-R1, with 95 % intervals.

    FILE is CSV (commas, semicolons or tabs) or JSON lines, in one of these forms; several files
    make one table:

    \b
      item,report,judge:gpt-oss,Expert 1,Expert 2     a column for each rater
      c1,r1,SUPPORTED,S,NEUTRAL
    \b
      item,rater,label                                a line for each label
      c1,Expert 1,S
    \b
      item,label                                      the rater is the file's name
      c1,REFUTED

    Labels are SUPPORTED, REFUTED, NEUTRAL or S, R, N; an empty one is left out, pair by pair.
    Within-1 counts all but reversals between SUPPORTED and REFUTED. Ties of the majority are
    NEUTRAL; it is there where more than half of the experts voted. With a column report (or
    event) the intervals come from resampling reports, else from items.
    """
    from rich.console import Console

    from zephyrus.judge.agreement import agreement as compare
    from zephyrus.judge.agreement import render
    from zephyrus.judge.labels import read_labels

    voters = [name for part in experts for name in part.split(",") if name.strip()]
    found = compare(read_labels(files), voters or None, resamples=resamples, seed=seed)
    if as_json:
        click.echo(json.dumps(found.to_dict(), indent=1, ensure_ascii=False))
        return
    Console().print(render(found, confusion=confusion))


@group.command(short_help="Claims for experts to label, blind.")
@click.argument("run", metavar="RUN")
@click.option(
    "--output",
    required=True,
    type=OUTPUT,
    help="Where to write: FILE.html, FILE.csv, FILE.tsv or FILE.jsonl.",
)
@click.option(
    "-n",
    "n",
    default=100,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="How many claims; fewer where the run has fewer.",
)
@click.option("--seed", default=0, show_default=True, metavar="N", help="Same seed, same claims.")
@click.option(
    "--judge", metavar="NAME", help="Only claims that this judge extracted [default: all judges']."
)
@click.option(
    "--claims",
    "whose",
    type=click.Choice(["both", "report", "reference"]),
    default="both",
    show_default=True,
    help="Whose claims: each is held against the other text.",
)
@click.option("--balanced", is_flag=True, help="Equally many of each label of --judge.")
@click.option(
    "--semicolons", is_flag=True, help="Separate a CSV by ';', as some spreadsheets want it."
)
def export(
    run: str,
    output: Path,
    n: int,
    seed: int,
    judge: str | None,
    whose: str,
    balanced: bool,
    semicolons: bool,
) -> None:
    """Draw claims of the evaluated run RUN for experts to label, without the judges' labels.

    FILE.html is a page that works offline: 1, 2, 3 label a claim, what is done stays in the
    browser, and the labels are downloaded as CSV. FILE.csv is for a spreadsheet: the column label
    takes S, R or N. Give every expert the same file, and name what comes back after the expert.
    """
    from zephyrus.judge.annotate import DIRECTIONS, pairs_of, read_judged, sample
    from zephyrus.judge.annotate import export as write
    from zephyrus.run import find

    pairs = pairs_of(read_judged(find(run), [judge] if judge else None))
    directions = DIRECTIONS if whose == "both" else (whose,)
    chosen = sample(
        pairs.values(), n, seed=seed, judge=judge, directions=directions, balanced=balanced
    )
    write(chosen, output, delimiter=";" if semicolons else ",")
    events = len({pair.event for pair in chosen})
    click.echo(f"wrote {output}: {len(chosen)} claims of {events} events, without any label")
    click.echo(
        f'when they are labelled: zephyrus judge import "Expert 1.csv" … --run {run} '
        "--output labels.csv"
    )


@group.command(short_help="Let further judges label exported claims.")
@LABELS
@click.option("--judges", required=True, metavar="A,B,C", help="Who labels.")
@click.option("--output", required=True, type=OUTPUT, help="Where to write the table: a CSV file.")
@click.option("--base-url", metavar="URL", help="The judges' endpoint, instead of their table's.")
@click.option("--judge-cache", type=OUTPUT, metavar="FILE", help="Where judgements are kept.")
def label(
    files: tuple[Path, ...],
    judges: str,
    output: Path,
    base_url: str | None,
    judge_cache: Path | None,
) -> None:
    """Let JUDGES label the claims of FILEs of `judge export` (CSV, TSV or JSON lines).

    Experts and any number of judges then meet over the same claims, whoever extracted them:

    \b
      zephyrus judge export RUN --output claims.jsonl
      zephyrus judge label claims.jsonl --judges gpt-oss-120b,gemma-3-27b-it --output judges.csv
      zephyrus judge agreement judges.csv "Expert 1.csv" "Expert 2.csv"
    """
    from zephyrus import registry
    from zephyrus.judge import make_judge
    from zephyrus.judge.labelling import label_items, read_items
    from zephyrus.judge.labels import write_labels
    from zephyrus.loops import run_sync

    if output.suffix.casefold() != ".csv":
        raise UserError(f"--output is a .csv file, not {output.name}")
    names = list(dict.fromkeys(split_names(judges)))
    items = read_items(files)
    asked = [
        make_judge(
            name,
            base_url=None if name in registry.names("judges") else base_url,
            cache=judge_cache,
        )
        for name in names
    ]

    async def work() -> Any:
        try:
            for judge in asked:
                await judge.check()
            return await label_items(items, asked)
        finally:
            for judge in asked:
                await judge.close()

    done = run_sync(work())
    write_labels(done.table, output)
    click.echo(f"wrote {output}: {len(items)} claims, labelled by {', '.join(names)}")
    if done.missing:
        name, reasons = next(iter(done.missing.items()))
        raise WorkError(
            f"labels of {', '.join(done.missing)} are missing, since no judgement could be had "
            f"({name}: {reasons[0]}); once it answers, run the same again: what is there is kept"
        )


@group.command("import", short_help="Join experts' labels with the judges'.")
@LABELS
@click.option("--run", required=True, metavar="RUN", help="The run that was exported from.")
@click.option("--output", required=True, type=OUTPUT, help="Where to write the table: a CSV file.")
def import_(files: tuple[Path, ...], run: str, output: Path) -> None:
    """Read filled FILEs of `judge export`, wholly or half filled, and join the judges' labels.

    The rater is named by the page's "Your name", a column rater, or else the file's name. The
    table has a column for each judge ("judge:NAME") and each expert: it is what `judge agreement`
    reads, and a spreadsheet too.
    """
    from zephyrus.judge.annotate import import_labels, pairs_of, read_judged
    from zephyrus.judge.labels import JUDGE_PREFIX, write_labels
    from zephyrus.run import find
    from zephyrus.view.plain import plain

    if output.suffix.casefold() != ".csv":
        raise UserError(f"--output is a .csv file, not {output.name}")
    table = import_labels(files, pairs_of(read_judged(find(run))))
    write_labels(table, output)
    click.echo(f"wrote {output}: {len(table.items)} claims")
    for rater, given in table.labels.items():
        kind = "" if rater.startswith(JUDGE_PREFIX) else f" of {len(table.items)}"
        click.echo(f"  {plain(rater)}: {len(given)}{kind} labelled")
    click.echo(f"next: zephyrus judge agreement {output}")
