"""``zephyrus curriculum``: recipes, their runs, and what came of them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import click

from zephyrus.errors import UserError, WorkError

if TYPE_CHECKING:
    from zephyrus.curriculum.recipe import Recipe

JSON = click.option("--json", "as_json", is_flag=True, help="Print JSON, for scripts.")
CHANGES = click.option(
    "-s",
    "--set",
    "changes",
    multiple=True,
    metavar="KEY=VALUE",
    help="Change a key of the recipe, e.g. stages.rl.optimiser.learning_rate=1e-6; may be repeated.",
)
STAGES = click.option(
    "--stages", metavar="A,B", help="Only these stages, for an ablation [default: all]."
)
CONCURRENCY = click.option(
    "--concurrency",
    default=16,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="C",
    help="Episodes that are open at one time.",
)
FILE = click.Path(dir_okay=False, path_type=Path)
FOLDER = click.Path(file_okay=False, path_type=Path)
FORMS = {".md": "markdown", ".csv": "csv"}


@click.group()
def group() -> None:
    """Train a policy stage by stage, as a recipe says: RSFT, RL on questions, RL on reports.

    \b
    zephyrus curriculum list                        the recipes
    zephyrus curriculum show zephyrus-r1-4b         what one would do, and what it needs
    zephyrus curriculum run                         run the smallest, on a CPU
    zephyrus curriculum status runs/curriculum-…    where a run is
    """


@group.command("list", short_help="The recipes.")
@JSON
def list_(as_json: bool) -> None:
    """The recipes that are installed, a line each. A YAML file of your own works everywhere too."""
    from zephyrus.curriculum.read import DEFAULT, load, recipe_path
    from zephyrus.registry import names
    from zephyrus.view.plain import plain

    rows = []
    for name in names("curricula"):
        try:
            raw = load(recipe_path(name))
            stages = [str(stage.get("stage")) for stage in raw.get("stages", [])]
            about = str(raw.get("description", "")).strip().partition("\n")[0]
        except (UserError, AttributeError) as error:
            stages, about = [], f"(broken: {error})"
        rows.append({"name": name, "about": about, "stages": stages, "default": name == DEFAULT})
    if as_json:
        click.echo(json.dumps(rows, indent=1, ensure_ascii=False))
        return
    width = max((len(str(row["name"])) for row in rows), default=0)
    for row in rows:
        name = f"{row['name']:{width}}"
        click.echo(f"{click.style(name, bold=True)}  {plain(str(row['about']))}")


@group.command(short_help="What a recipe would do, and what it needs.")
@click.argument("recipe", required=False)
@CHANGES
@STAGES
@CONCURRENCY
@click.option("--formula", is_flag=True, help="Add how the memory was estimated.")
@click.option(
    "--check",
    "checked",
    is_flag=True,
    help="Also try what can be tried: make the environments, look for the rewards, build TRL's "
    "arguments. Exit code 1 if something is wrong.",
)
@click.option("--yaml", "as_yaml", is_flag=True, help="Print the recipe with every default.")
@JSON
def show(
    recipe: str | None,
    changes: tuple[str, ...],
    stages: str | None,
    concurrency: int,
    formula: bool,
    checked: bool,
    as_yaml: bool,
    as_json: bool,
) -> None:
    """What RECIPE would do, stage by stage, and what it needs: nothing is run or loaded.

    \b
    zephyrus curriculum show zephyrus-r1-4b
    zephyrus curriculum show my.yaml --check
    zephyrus curriculum show tiny -s stages.rl.until.steps=20 -s seed=1
    zephyrus curriculum show tiny --yaml > mine.yaml

    RECIPE is a name of `zephyrus curriculum list`, a YAML file, or the folder of a run.
    """
    from zephyrus.cli.evaluate import wide_console
    from zephyrus.curriculum.plan import make_plan
    from zephyrus.curriculum.show import render, render_findings

    read = _read(recipe, changes, stages)
    if as_yaml:
        import yaml

        dumped = read.model_dump(mode="json")
        click.echo(yaml.safe_dump(dumped, sort_keys=False, allow_unicode=True), nl=False)
        return
    plan = make_plan(read, concurrency)
    findings = []
    if checked:
        from zephyrus.curriculum.preflight import check

        findings = check(read)
    if as_json:
        found = [vars(finding) for finding in findings]
        told = {**plan.to_dict(), **({"checks": found} if checked else {})}
        click.echo(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        console = wide_console()
        console.print(render(plan, formula=formula), soft_wrap=False)
        if checked:
            console.print(render_findings(findings))
    if wrong := [finding for finding in findings if finding.ok is False]:
        raise WorkError(f"{wrong[0].what}: {wrong[0].note}")


@group.command(short_help="Run a recipe, or go on with a run.")
@click.argument("recipe", required=False)
@click.option(
    "--output",
    type=FOLDER,
    help="Folder of the run; an unfinished one goes on [default: runs/curriculum-RECIPE-TIME].",
)
@CHANGES
@STAGES
@CONCURRENCY
@click.option(
    "--save-every",
    default=1,
    show_default=True,
    type=click.IntRange(min=1),
    metavar="N",
    help="Steps between checkpoints to go on from; fewer cost less disk and lose more.",
)
@click.option(
    "--patience",
    default=24.0,
    show_default=True,
    type=click.FloatRange(min=0),
    metavar="HOURS",
    help="How long a judge or an endpoint that is away is waited for.",
)
@click.option(
    "--report-to",
    metavar="A,B",
    help="Also log to these trackers of TRL's: tensorboard, wandb.",
)
@click.option(
    "--vllm-url",
    metavar="URL",
    help="Where the server of the backend vllm-server is [default: TRL's own].",
)
def run(
    recipe: str | None,
    output: Path | None,
    changes: tuple[str, ...],
    stages: str | None,
    concurrency: int,
    save_every: int,
    patience: float,
    report_to: str | None,
    vllm_url: str | None,
) -> None:
    """Run RECIPE (by default tiny, on a CPU), and leave the policy in the run's folder.

    \b
    zephyrus curriculum run
    zephyrus curriculum run tiny -s seed=1 --output runs/tiny-1
    zephyrus curriculum run tiny --stages rl --output runs/rl-only
    zephyrus curriculum run --output runs/tiny-1          goes on with that run
    zephyrus env rollout --policy runs/tiny-1/policy    lets the result act

    Killed at any moment, it goes on from its last step. While a judge or an endpoint is away it
    waits; nothing is ever trained on a score that could not be had. Exit code 1 if it stayed away.
    """
    from zephyrus.curriculum.history import read_history
    from zephyrus.curriculum.read import FILE as RECIPE
    from zephyrus.curriculum.scheduler import STATE
    from zephyrus.curriculum.start import check_possible, new_folder, start
    from zephyrus.curriculum.status import is_done

    if recipe is None and output is not None and (output / RECIPE).is_file():
        recipe = str(output)
    read = _read(recipe, changes, stages)
    folder = output or new_folder(read.name)
    begun = (folder / STATE).is_file() and (folder / RECIPE).is_file()
    if not (begun and is_done(read_history(folder))):
        check_possible(read)
    start(
        read,
        folder,
        hours=patience,
        concurrency=concurrency,
        save_every=save_every,
        report_to=_names(report_to),
        vllm_url=vllm_url,
    )
    _print_result(folder)


@group.command(short_help="Where a run is.")
@click.argument("run", metavar="RUN")
@JSON
def status(run: str, as_json: bool) -> None:
    """Where RUN is: its stages, their evaluations, and the checkpoints that were chosen.

    RUN is the folder of a run, or the name of one in runs/. A value with a star is of a subset.
    """
    from zephyrus.cli.evaluate import wide_console
    from zephyrus.curriculum.history import read_history
    from zephyrus.curriculum.status import find_run, render
    from zephyrus.curriculum.status import status as tell

    folder = find_run(run)
    told = tell(read_history(folder), folder)
    if as_json:
        click.echo(json.dumps(told, indent=1, ensure_ascii=False))
    else:
        wide_console().print(render(told))


@group.command(short_help="Routes side by side, as in the paper's Table B.3.")
@click.argument("runs", metavar="RUN…", nargs=-1, required=True)
@click.option(
    "--format",
    "form",
    type=click.Choice(["table", "markdown", "csv"]),
    help="[default: by the ending of --output, else table]",
)
@click.option("--output", type=FILE, metavar="FILE", help="Write it there [default: print it].")
@JSON
def table(runs: tuple[str, ...], form: str | None, output: Path | None, as_json: bool) -> None:
    """What each route's checkpoints scored on all held-out tasks: the paper's Table B.3.

    \b
    zephyrus curriculum run tiny --output runs/both
    zephyrus curriculum run tiny --stages rsft --output runs/rsft
    zephyrus curriculum run tiny --stages rl --output runs/rl
    zephyrus curriculum table runs/rsft runs/rl runs/both --output table.md

    A run of several stages has a row for each. Nothing is evaluated anew.
    """
    from zephyrus.cli.evaluate import wide_console
    from zephyrus.curriculum import ablation
    from zephyrus.curriculum.history import read_histories
    from zephyrus.curriculum.status import find_run
    from zephyrus.jsonlines import write_whole

    if form is None:
        form = "table" if output is None else FORMS.get(output.suffix.casefold(), "table")
    if form == "table" and output is not None and not as_json:
        raise UserError(
            f"a table is for the terminal: end {output.name} in .md or .csv, or give --format"
        )
    rows = ablation.rows(read_histories([find_run(run) for run in runs]))
    if not rows:
        raise UserError("nothing to compare yet: no evaluation on all held-out tasks is finished")
    if as_json:
        text = json.dumps([row.to_dict() for row in rows], indent=1, ensure_ascii=False) + "\n"
    elif form == "table":
        wide_console().print(ablation.to_terminal(rows))
        return
    else:
        text = ablation.to_csv(rows) if form == "csv" else ablation.to_markdown(rows)
    if output is None:
        click.echo(text, nl=False)
    else:
        write_whole(output, text)
        click.echo(f"wrote {output}")


@group.command(short_help="Draw the paper's figures of runs.")
@click.argument("runs", metavar="RUN…", nargs=-1, required=True)
@click.option(
    "--output", type=FOLDER, help="Where the files go [default: plots in the run's folder]."
)
def plot(runs: tuple[str, ...], output: Path | None) -> None:
    """Draw the paper's figures of one run or several side by side, as PNGs and one offline page.

    \b
    zephyrus curriculum plot runs/tiny-1
    zephyrus curriculum plot runs/rsft runs/rl runs/both --output plots
    """
    from zephyrus.curriculum.plots import plot_run
    from zephyrus.curriculum.status import find_run

    folders = [find_run(run) for run in runs]
    for path in plot_run(folders, output, lambda text: click.echo(text, err=True)):
        click.echo(f"wrote {path}")


def _read(recipe: str | None, changes: tuple[str, ...], stages: str | None) -> Recipe:
    from zephyrus.curriculum.read import DEFAULT, read_recipe

    return read_recipe(recipe or DEFAULT, changes, _names(stages))


def _names(given: str | None) -> list[str]:
    """The names in "A,B"."""
    return [name.strip() for name in given.split(",")] if given else []


def _print_result(folder: Path) -> None:
    from zephyrus.cli.evaluate import wide_console
    from zephyrus.curriculum.history import read_history
    from zephyrus.curriculum.status import render, status

    told = status(read_history(folder), folder)
    wide_console().print(render(told))
    if told["policy"]:
        click.echo(f"Let it act: zephyrus env rollout --policy {told['policy']} -n 16")
