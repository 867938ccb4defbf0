"""``zephyrus data add``, ``index`` and ``remove``."""

from __future__ import annotations

import contextlib
import json
import sys
import warnings
from collections.abc import Iterator
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

import click

from zephyrus_geodata.reading.options import answer_options, read_answers

if TYPE_CHECKING:
    from zephyrus_geodata.store.index import Indexed
    from zephyrus_geodata.store.ingest import Added, Mode, Progress

_EXAMPLES = """\b
zephyrus data add blizzard storm.grib
zephyrus data add hres gs://weatherbench2/datasets/hres/2016-2022-0012-64x32_equiangular_conservative.zarr \\
    --select init=2020-01..2020-03,lead=0..240/12,variables=2m_temperature
zephyrus data add pacific run.nc --select bbox=160,-30,-120,30
"""


@click.command(epilog=_EXAMPLES)
@click.argument("name")
@click.argument("source", nargs=-1, required=True)
@click.option(
    "--select",
    "selects",
    multiple=True,
    metavar="KEY=VALUE,…",
    help="What to take: init=2020-01-01, 2020-01..2020-03 or latest; lead=6,12, 0..240, 0..240/12 "
    "or every:2 (hours); variables=2m_temperature,geopotential_*; members=control,1; "
    "bbox=WEST,SOUTH,EAST,NORTH (across the antimeridian: 170,-20,-170,0); time=2020-01 of "
    "analyses. Repeatable.",
)
@click.option("--replace", "mode", flag_value="replace", help="Put it in the place of NAME.")
@click.option("--append", "mode", flag_value="append", help="Add initial times to NAME.")
@click.option("--label", default="", metavar="TEXT", help="Short origin, shown with every value.")
@answer_options
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def add(
    name: str,
    source: tuple[str, ...],
    selects: tuple[str, ...],
    mode: Mode | None,
    label: str,
    as_json: bool,
    **answers: Any,
) -> None:
    """Read SOURCE into the store, as the dataset NAME.

    SOURCE is a file, a folder, a pattern or an address of NetCDF, GRIB or Zarr; see
    'zephyrus data inspect' for how it is understood. The dataset goes to $ZEPHYRUS_DATA, or to
    the user's data folder, and can be named wherever a dataset is asked for. When this is
    interrupted, the store is as it was, and the same command goes on where it stopped.
    """
    from zephyrus_geodata.errors import GeodataError, StoreFailure
    from zephyrus_geodata.reading.opened import open_source
    from zephyrus_geodata.reading.understand import understand
    from zephyrus_geodata.store.ingest import add_dataset
    from zephyrus_geodata.store.names import checked_name
    from zephyrus_geodata.store.select import Selection

    try:
        checked_name(name)
        selection = Selection.parse(selects)
        with warnings.catch_warnings(), byte_bar(name, quiet=as_json) as progress:
            warnings.simplefilter("ignore")
            where = source[0] if len(source) == 1 else source
            opened = open_source(where, in_pieces=bool(selects))
            understood = understand(opened, read_answers(answers))
            added = add_dataset(
                name,
                understood,
                selection=selection,
                label=label,
                mode=mode or "new",
                progress=progress,
                inputs=source,
            )
    except StoreFailure as error:
        click.echo(f"zephyrus: {plain(str(error))}", err=True)
        sys.exit(1)
    except GeodataError as error:
        raise click.UsageError(plain(str(error))) from error
    except KeyboardInterrupt:
        click.echo(
            "zephyrus: interrupted; the store is as it was, and the same command goes on here",
            err=True,
        )
        sys.exit(1)
    _print_added(added, as_json)


@contextlib.contextmanager
def byte_bar(title: str, *, quiet: bool) -> Iterator[Progress | None]:
    """A bar on standard error, if somebody watches."""
    if quiet or not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import BarColumn, DownloadColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichBar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[what]}"),
    )
    with RichBar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(escape(title), total=None, what="")
        yield lambda done, total, what: bar.update(
            task, completed=done, total=total, what=escape(what)
        )


def _print_added(added: Added, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({**asdict(added), "folder": str(added.folder)}, indent=1))
        return
    for note in added.notes:
        click.echo(f"  {plain(note)}")
    if added.present:
        click.echo(f"there already, left as they are: {_few(added.present)}")
    if added.resumed:
        click.echo(f"went on after {added.resumed} files of an interrupted ingest")
    if added.kind == "forecast":
        what = f"forecasts {_few(added.forecasts)}" if added.forecasts else "nothing new"
        more = f"; try: zephyrus data list, zephyrus tools call … --dataset {added.name!r}"
    else:
        what, more = added.kind, " (kept for verification and climatology; no forecast)"
    click.echo(f"added to {added.name}: {what}, {added.bytes / 1e6:,.1f} MB{more}")


@click.command()
@click.argument("names", metavar="NAME...", nargs=-1, required=True)
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def index(names: tuple[str, ...], as_json: bool) -> None:
    """Compute the mean, min, max and median of every named feature ahead.

    'add' and 'fetch' do so themselves, for grids of about 1 degree or finer. This is for datasets
    that were added by a zephyrus that did not, or had other features: they work without it, but
    compute what is asked for from the fields, which takes longer. Each variable of each forecast
    takes a few MB. When this is interrupted, the same command goes on where it stopped.
    """
    from zephyrus_geodata.errors import GeodataError, StoreError, StoreFailure
    from zephyrus_geodata.folders import dataset_folders, shipped_datasets
    from zephyrus_geodata.store.index import index_dataset

    done = []
    try:
        known = dataset_folders()
        for name in names:
            if name not in known:
                raise StoreError(f"There is no dataset {name!r}; see 'zephyrus data list'.")
            if name in shipped_datasets():
                raise StoreError(f"{name!r} ships with zephyrus, and is small: it needs no index.")
        for name in names:
            with byte_bar(name, quiet=as_json) as progress:
                indexed = index_dataset(known[name], progress=progress)
            done.append(asdict(indexed))
            if not as_json:
                click.echo(_told(indexed))
    except StoreFailure as error:
        click.echo(f"zephyrus: {plain(str(error))}", err=True)
        sys.exit(1)
    except GeodataError as error:
        raise click.UsageError(plain(str(error))) from error
    except KeyboardInterrupt:
        click.echo("zephyrus: interrupted; the same command goes on here", err=True)
        sys.exit(1)
    if as_json:
        click.echo(json.dumps(done, indent=1))


def _told(indexed: Indexed) -> str:
    if not indexed.is_worthwhile:
        return f"{indexed.name}: coarse, or without areas, so it needs no index"
    there = f" ({indexed.present} were there)" if indexed.present else ""
    return (
        f"{indexed.name}: {indexed.features:,} features of {indexed.made} fields computed{there}, "
        f"{indexed.bytes / 1e6:,.1f} MB"
    )


@click.command()
@click.argument("name")
@click.option("--yes", is_flag=True, help="Don't ask.")
def remove(name: str, yes: bool) -> None:
    """Delete the dataset NAME that was added; never one that ships with zephyrus."""
    from zephyrus_geodata.errors import StoreError, StoreFailure
    from zephyrus_geodata.folders import dataset_folders, shipped_datasets
    from zephyrus_geodata.store.names import checked_name, home, user_home
    from zephyrus_geodata.store.tidy import remove_dataset, size_of, unfinished

    try:
        name = checked_name(name)
        if name in shipped_datasets():
            raise StoreError(f"{name!r} ships with zephyrus and can't be removed.")
        folder = dataset_folders().get(name)
        root = folder.parent if folder else home()
        if folder is None and name not in unfinished(root):
            root = user_home()
        if not yes:
            size = size_of(root, name)
            if not size:
                raise StoreError(f"There is no dataset {name!r}; see 'zephyrus data list'.")
            where = root / name
            if not click.confirm(f"Delete {where} ({size / 1e6:,.1f} MB)?", err=True):
                click.echo("nothing was deleted", err=True)
                sys.exit(1)
        remove_dataset(root, name)
    except StoreFailure as error:
        click.echo(f"zephyrus: {plain(str(error))}", err=True)
        sys.exit(1)
    except StoreError as error:
        raise click.UsageError(plain(str(error))) from error
    click.echo(f"removed {name}")


def _few(names: tuple[str, ...]) -> str:
    if len(names) <= 6:
        return ", ".join(names)
    return f"{names[0]}, {names[1]} … {names[-1]} ({len(names)})"


def plain(text: str) -> str:
    """A file's own words, harmless for the terminal."""
    return "".join(c if c.isprintable() else "�" for c in text)
