"""``zephyrus data reports fetch``."""

from __future__ import annotations

import asyncio
import contextlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

if TYPE_CHECKING:
    from zephyrus_geodata.reports.archive import Fetched, Progress
    from zephyrus_geodata.reports.query import Query


_EXAMPLES = """\b
zephyrus data reports fetch --product PMDSPD --from 2024-01-01 --to 2024-02-01
zephyrus data reports fetch --product AFD --office LOX --from 2024-01-01 --to 2024-02-01
"""


@click.command(epilog=_EXAMPLES)
@click.option("--product", required=True, metavar="PIL", help="PMDSPD, AFDLOX, or AFD for all.")
@click.option("--from", "start", required=True, metavar="DATE", help="First time of issue, UTC.")
@click.option("--to", "end", metavar="DATE", help="Time of issue to stop before; by default now.")
@click.option(
    "--source",
    type=click.Choice(["iem", "nws"]),
    default="iem",
    show_default=True,
    help="iem: since the 1990s; nws: api.weather.gov, the last days.",
)
@click.option(
    "--office", "offices", multiple=True, metavar="XXX", help="Of a product like AFD; repeatable."
)
@click.option(
    "--output",
    type=click.Path(file_okay=False, path_type=Path),
    default=Path("reports"),
    show_default=True,
    help="The archive's folder.",
)
@click.option("--base-url", default="", metavar="URL", help="Another address of the service.")
@click.option(
    "--rate",
    type=click.FloatRange(0, 100, min_open=True),
    default=1.0,
    show_default=True,
    help="Requests a second, at most.",
)
@click.option(
    "--contact",
    default="",
    envvar="ZEPHYRUS_CONTACT",
    metavar="ADDRESS",
    help="Sent along, so that the service can reach you [$ZEPHYRUS_CONTACT].",
)
@click.option("--dry-run", is_flag=True, help="Print the requests and make none.")
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def fetch(
    product: str,
    start: str,
    end: str | None,
    source: str,
    offices: tuple[str, ...],
    output: Path,
    base_url: str,
    rate: float,
    contact: str,
    dry_run: bool,
    as_json: bool,
) -> None:
    """Fetch reports into a folder that can be read again and again.

    The texts come from the AFOS archive of the Iowa Environmental Mesonet, or from
    api.weather.gov. Both are free services: keep the rate low. What is fetched already is never
    asked for again, and a fetch that was interrupted goes on with the same command.
    """
    from zephyrus_geodata.errors import GeodataError
    from zephyrus_geodata.reports.archive import describe
    from zephyrus_geodata.reports.query import Query
    from zephyrus_geodata.web.errors import FetchFailed

    try:
        query = Query.of(product, start, end, source=source, offices=offices, base_url=base_url)
        if dry_run:
            _print_plan(query, describe(query, output), as_json)
            return
        done = _run(query, output, 1.0 / rate, contact)
    except FetchFailed as error:
        click.echo(f"zephyrus: {error}", err=True)
        sys.exit(1)
    except GeodataError as error:
        raise click.UsageError(str(error)) from error
    _print(query, done, output, as_json)


def _run(query: Query, output: Path, interval: float, contact: str) -> Fetched:
    from zephyrus_geodata.reports.archive import fetch as fetch_reports
    from zephyrus_geodata.reports.archive import polite

    async def work(progress: Progress | None) -> Fetched:
        async with polite(
            interval=interval, contact=contact, tell=lambda line: click.echo(line, err=True)
        ) as client:
            return await fetch_reports(query, output, client, progress=progress)

    with _bar(query.product) as progress:
        return asyncio.run(work(progress))


@contextlib.contextmanager
def _bar(title: str) -> Iterator[Progress | None]:
    """A bar on standard error, if somebody watches."""
    if not sys.stderr.isatty():
        yield None
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as RichBar

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TextColumn("{task.fields[what]}"),
        TimeRemainingColumn(),
    )
    with RichBar(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(title, total=None, what="")
        yield lambda finished, total, what: bar.update(
            task, completed=finished, total=total, what=what
        )


def _print_plan(query: Query, urls: list[str], as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({"requests": urls}, indent=1))
        return
    for url in urls:
        click.echo(url)
    more = ", then one for each listed product" if query.source == "nws" else ""
    click.echo(f"{len(urls)} to ask for{more}; nothing was asked", err=True)


def _print(query: Query, done: Fetched, output: Path, as_json: bool) -> None:
    from zephyrus_geodata.reports.store import REFUSED, REPORTS, ReportArchive
    from zephyrus_geodata.web.words import clean

    archive = ReportArchive(output)
    asked = archive.filter(start=query.span.start, end=query.span.end, product=query.product)
    times = [report.issued for report in asked]
    facts: dict[str, Any] = {
        "product": query.product,
        "reports": len(asked),
        "first": min(times).isoformat() if times else None,
        "last": max(times).isoformat() if times else None,
        "requests": done.requested,
        "cached": done.cached,
        "refused": dict(done.index.refused),
        "duplicates": done.index.duplicates,
        "file": str(output / REPORTS),
        "notes": done.notes,
    }
    if as_json:
        click.echo(json.dumps(facts, indent=1))
        return
    span = f", {min(times):%Y-%m-%d %H:%M} to {max(times):%Y-%m-%d %H:%M} UTC" if times else ""
    click.echo(f"{query.product}: {len(asked)} reports issued {query.span}{span}")
    click.echo(f"  requests    {done.requested} made and kept, {done.cached} had been before")
    if done.index.refused:
        click.echo(f"  refused     {done.index.refused.total()}, see {output / REFUSED}")
        for reason, count in done.index.refused.most_common(5):
            click.echo(f"              {count} × {clean(reason)}")
    if done.index.duplicates:
        click.echo(f"  duplicates  {done.index.duplicates} left out")
    for note in done.notes:
        click.echo(f"  note        {note}")
    click.echo(f"  archive     {output / REPORTS} ({len(archive)} reports)")
