"""``zephyrus data climatology``: percentiles by the day of the year, from years of analyses."""

from __future__ import annotations

import json
import re
import sys
import warnings
from fnmatch import fnmatchcase
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zephyrus_geodata.reading.options import answer_options, read_answers
from zephyrus_geodata.store.cli import byte_bar, plain

if TYPE_CHECKING:
    from collections.abc import Sequence

    from zephyrus_geodata.climate.build import Plan, Target
    from zephyrus_geodata.climate.recipe import Recipe
    from zephyrus_geodata.climate.series import Analyses

_PERIOD = re.compile(r"^\s*(\d{4})(?:\s*(?:-|\.\.)\s*(\d{4}))?\s*$")

_EXAMPLES = """\b
zephyrus data climatology era5.zarr --period 1990-2019 --hours --name hres
zephyrus data climatology gs://weatherbench2/datasets/era5/1959-2023_01_10-6h-64x32_equiangular_conservative.zarr \\
    --period 1990-2019 --variables 2m_temperature --window 31 --hours --output era5.nc
zephyrus data climatology era5 --by month --quantiles 10,50,90 --name hres
"""


@click.command(epilog=_EXAMPLES)
@click.argument("source", nargs=-1, required=True)
@click.option(
    "--name",
    "dataset",
    metavar="NAME",
    help="The dataset that gets it: its tools use it from then on.",
)
@click.option(
    "--output",
    type=click.Path(path_type=Path, dir_okay=False),
    metavar="FILE",
    help="Write a NetCDF file instead.",
)
@click.option("--period", metavar="YEARS", help="1990-2019; by default all years there are.")
@click.option(
    "--window",
    type=click.IntRange(1, 365),
    default=61,
    show_default=True,
    help="Days in the window around each day of the year; an odd number.",
)
@click.option(
    "--quantiles",
    default="5,10,25,50,75,90,95",
    show_default=True,
    metavar="LIST",
    help="Percentiles, 0 to 100. Mean and standard deviation come with them.",
)
@click.option("--hours", is_flag=True, help="Keep the hours of the day apart.")
@click.option(
    "--by",
    type=click.Choice(["dayofyear", "month"]),
    default="dayofyear",
    show_default=True,
    help="By day there are months as well.",
)
@click.option(
    "--every",
    type=click.IntRange(1, 61),
    default=1,
    show_default=True,
    metavar="DAYS",
    help="Only every so many days of the year; a time takes the nearest.",
)
@click.option(
    "--variables",
    metavar="LIST",
    help="Which variables (temperature_* takes all such); by default those of the "
    "dataset's forecasts, or all.",
)
@click.option(
    "--memory",
    default="2GB",
    show_default=True,
    metavar="SIZE",
    help="Most memory to use, besides Python and its libraries.",
)
@click.option("--scheduler", metavar="ADDRESS", help="Compute on a dask.distributed cluster.")
@answer_options
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def climatology(
    source: tuple[str, ...],
    dataset: str | None,
    output: Path | None,
    memory: str,
    scheduler: str | None,
    as_json: bool,
    **given: Any,
) -> None:
    """Build percentiles, mean and standard deviation from the analyses SOURCE.

    SOURCE is a dataset that holds analyses, or a file, folder, pattern or address of them. The
    statistics are exact, of every cell by itself, over all days in a window around each day of
    the year, in all years of the period. Days are counted by their date, so that 1 March is the
    same day in every year, and windows go across the turn of the year; 29 February has the window
    around it as other days have, and never less than its two neighbours. When this is
    interrupted nothing has changed, and the same command goes on where it stopped.
    """
    from zephyrus_geodata.climate import build, crew
    from zephyrus_geodata.climate.budget import parse_size
    from zephyrus_geodata.errors import GeodataError, StoreError, StoreFailure

    try:
        if (dataset is None) == (output is None):
            raise StoreError("Say where it goes: --name NAME of a dataset, or --output FILE.")
        room, target = parse_size(memory), _target(dataset, output)
        with warnings.catch_warnings(), crew.crew(scheduler) as hands:
            warnings.simplefilter("ignore")
            analyses = _years(_open(source, given), given["period"])
            plan = build.make_plan(
                analyses,
                _variables(analyses, given["variables"], dataset),
                _recipe(given, analyses),
                target,
                memory=room,
                workers=hands.workers,
            )
            if not as_json:
                click.echo(plain(str(plan)), err=True)
            with byte_bar(dataset or str(output), quiet=as_json) as progress:
                resumed = build.build(plan, hands, progress)
    except StoreFailure as error:
        click.echo(f"zephyrus: {plain(str(error))}", err=True)
        sys.exit(1)
    except GeodataError as error:
        raise click.UsageError(plain(str(error))) from error
    except KeyboardInterrupt:
        click.echo(
            "zephyrus: interrupted; nothing has changed, and the same command goes on here",
            err=True,
        )
        sys.exit(1)
    _tell(plan, resumed, as_json)


for _option in climatology.params:
    # --name says here which dataset gets the result.
    if _option.name == "names":
        _option.opts = ["--names"]


def _target(dataset: str | None, output: Path | None) -> Target:
    from zephyrus_geodata.climate.build import Target
    from zephyrus_geodata.errors import StoreError
    from zephyrus_geodata.folders import dataset_folders, shipped_datasets
    from zephyrus_geodata.loading import load_dataset

    if output is not None:
        if not output.parent.is_dir():
            raise StoreError(f"There is no folder {output.parent}.")
        return Target(output)
    assert dataset is not None
    if dataset in shipped_datasets():
        raise StoreError(f"{dataset!r} ships with zephyrus and can't be changed.")
    # Its forecasts say on which cells the climatology has to be.
    grid = load_dataset(dataset).grid
    return Target(dataset_folders().get(dataset, Path(dataset).expanduser()).resolve(), grid)


def _open(source: tuple[str, ...], given: dict[str, Any]) -> Analyses:
    from zephyrus_geodata.climate.series import of_dataset, of_source
    from zephyrus_geodata.folders import dataset_folders
    from zephyrus_geodata.reading.opened import open_source
    from zephyrus_geodata.reading.understand import understand
    from zephyrus_geodata.store.opened import open_stored

    known = dataset_folders()
    if len(source) == 1 and source[0] in known:
        stored = open_stored(known[source[0]], source[0])
        if stored is not None:
            return of_dataset(stored)
    opened = open_source(source[0] if len(source) == 1 else source)
    return of_source(understand(opened, read_answers(given)), opened, source)


def _years(analyses: Analyses, period: str | None) -> Analyses:
    from zephyrus_geodata.errors import StoreError

    if period is None:
        return analyses
    match = _PERIOD.match(period)
    if match is None or int(match[2] or match[1]) < int(match[1]):
        raise StoreError(f"--period {period}: give years, such as 1990-2019.")
    return analyses.within(int(match[1]), int(match[2] or match[1]))


def _variables(analyses: Analyses, text: str | None, dataset: str | None) -> tuple[str, ...]:
    from zephyrus_geodata.errors import StoreError
    from zephyrus_geodata.loading import load_dataset

    there = analyses.variables
    if text is None:
        wanted: Sequence[str] = there
        if dataset is not None:
            opened = load_dataset(dataset)
            wanted = opened.forecast(opened.forecasts[0]).variables
        found = tuple(name for name in there if name in wanted)
        if not found:
            raise StoreError(
                f"{analyses.where} has none of the dataset's variables ({', '.join(wanted)}); it "
                f"has {', '.join(there)}."
            )
        return found
    chosen: set[str] = set()
    for pattern in (piece.strip() for piece in text.split(",")):
        names = {name for name in there if fnmatchcase(name, pattern)}
        if not names:
            raise StoreError(
                f"--variables: there is no {pattern!r}; there are {', '.join(there) or 'none'}."
            )
        chosen |= names
    return tuple(name for name in there if name in chosen)


def _recipe(given: dict[str, Any], analyses: Analyses) -> Recipe:
    from zephyrus_geodata.climate.recipe import DAYS, Recipe, hour_of
    from zephyrus_geodata.errors import StoreError

    try:
        wanted = sorted({float(piece) for piece in given["quantiles"].split(",")})
    except ValueError:
        wanted = [-1.0]
    if not 0.0 <= wanted[0] <= wanted[-1] <= 100.0:
        raise StoreError(
            f"--quantiles {given['quantiles']}: give percentiles from 0 to 100, such as 10,50,90."
        )
    if given["by"] == "month":
        if given["hours"]:
            raise StoreError("--hours goes with --by dayofyear: months have all hours together.")
        return Recipe(tuple(wanted))
    if given["window"] % 2 == 0:
        raise StoreError(
            f"--window {given['window']}: give an odd number of days, as many before as after."
        )
    hours: tuple[int, ...] = ()
    if given["hours"]:
        import numpy as np

        hours = tuple(np.unique(hour_of(analyses.times)).tolist())
    return Recipe(tuple(wanted), tuple(range(1, DAYS + 1, given["every"])), given["window"], hours)


def _tell(plan: Plan, resumed: int, as_json: bool) -> None:
    recipe, target = plan.recipe, plan.target
    if as_json:
        value = {
            "path": str(target.path),
            "period": plan.period,
            "variables": list(plan.variables),
            "statistics": list(recipe.statistics),
            "days": len(recipe.days),
            "window": recipe.window,
            "hours": list(recipe.hours),
            "samples": int(plan.times.size),
            "bytes": plan.result_bytes * len(plan.variables),
            "memory": plan.budget.memory,
            "resumed": resumed,
        }
        click.echo(json.dumps(value, indent=1))
        return
    if resumed:
        click.echo(f"went on after {resumed} variables of an interrupted build")
    by = f"by day of the year ({recipe.window} days) and month" if recipe.days else "by month"
    hours = f", at {', '.join(f'{h:02}' for h in recipe.hours)} UTC" if recipe.hours else ""
    click.echo(
        f"climatology of {plan.period} {by}{hours}: {', '.join(plan.variables)} → {target.path}"
    )
