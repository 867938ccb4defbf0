"""``zephyrus data fetch``."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from zephyrus_geodata.reading.options import answer_options, read_answers

if TYPE_CHECKING:
    from zephyrus_geodata.fetching.fetch import Fetch
    from zephyrus_geodata.fetching.plan import Plan
    from zephyrus_geodata.store.ingest import Added, Mode

_MUCH = 2_000_000_000  # bytes; more is asked about
_EXAMPLES = """\b
zephyrus data fetch --list
zephyrus data fetch gfs --dry-run
zephyrus data fetch wb2:hres --from 2020-01-01 --to 2020-01-31 --lead 0..240/12
zephyrus data fetch ecmwf-open --init latest --bbox -15,35,35,62 europe
zephyrus data fetch wb2:era5 --from 2020-01 --to 2020-03 --resolution 0.25 --variables 2m_temperature
"""


@click.command(epilog=_EXAMPLES)
@click.argument("source", required=False)
@click.argument("name", required=False)
@click.option("--list", "show_list", is_flag=True, help="List the sources, and fetch nothing.")
@click.option(
    "--init", metavar="TIME", help="Initial times, UTC: 2020-01-01T12, 2020-01, several, or latest."
)
@click.option("--from", "start", metavar="TIME", help="First (initial) time, UTC.")
@click.option(
    "--to", "end", metavar="TIME", help="Last (initial) time, UTC; all of a day or month."
)
@click.option(
    "--every",
    type=click.IntRange(1, 24),
    metavar="HOURS",
    help="Only times at a multiple of HOURS after 00 UTC.",
)
@click.option("--lead", metavar="HOURS", help="Lead times: 24, 6,12,24, 0..240, 0..240/12, or all.")
@click.option(
    "--variables",
    metavar="NAMES",
    help="WeatherBench 2 names, with commas: 2m_temperature,geopotential_500.",
)
@click.option("--members", metavar="NAMES", help="Members of an ensemble, with commas.")
@click.option("--bbox", metavar="W,S,E,N", help="Degrees; from 170 to -170 is across 180.")
@click.option("--resolution", metavar="DEGREES", help="Where a source has several: 0.25, 1.5, …")
@click.option(
    "--base-url",
    metavar="URL|MIRROR",
    help="Another address of the same files, or the name of a mirror (aws, google, …).",
)
@click.option("--replace", "mode", flag_value="replace", help="Put it in the place of NAME.")
@click.option("--append", "mode", flag_value="append", help="Add to NAME.")
@click.option("--label", default="", metavar="TEXT", help="Short origin, shown with every value.")
@click.option(
    "--connections",
    type=click.IntRange(1, 64),
    default=8,
    show_default=True,
    help="Requests at once.",
)
@click.option(
    "--cache",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where what comes is kept until it is in the store.",
)
@click.option("--keep", is_flag=True, help="Leave it there afterwards.")
@click.option("--dry-run", is_flag=True, help="Say what would be fetched, its size and licence.")
@click.option("--yes", is_flag=True, help="Don't ask before much is fetched.")
@answer_options
@click.option("--json", "as_json", is_flag=True, help="For scripts.")
def fetch(
    source: str | None,
    name: str | None,
    show_list: bool,
    mode: Mode | None,
    label: str,
    connections: int,
    cache: Path | None,
    keep: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
    **asked: Any,
) -> None:
    """Fetch forecasts or analyses from SOURCE, and store them as the dataset NAME.

    Only the bytes that are needed are fetched. When this is interrupted, the same command goes on
    where it stopped. The data keep their licence: --dry-run and 'zephyrus data list' show it.
    """  # fmt: skip
    from zephyrus_geodata.errors import GeodataError, StoreFailure
    from zephyrus_geodata.web.errors import FetchFailed

    if show_list or source is None:
        if source is None and not show_list:
            raise click.UsageError("Name a SOURCE; --list shows them.")
        _print_sources(as_json)
        return
    flags = ("init", "start", "end", "every", "lead", "bbox", "resolution", "base_url")
    wanted = {flag: asked.pop(flag) for flag in flags}
    for flag in ("variables", "members"):
        wanted[flag] = tuple(t.strip() for t in (asked.pop(flag) or "").split(",") if t.strip())
    try:
        with contextlib.ExitStack() as stack:
            _fetch(
                stack, source, name, wanted, asked, mode or "new", label, connections, cache,
                keep=keep, dry_run=dry_run, yes=yes, as_json=as_json,
            )  # fmt: skip
    except (FetchFailed, StoreFailure) as error:
        click.echo(f"zephyrus: {error}", err=True)
        sys.exit(1)
    except GeodataError as error:
        raise click.UsageError(str(error)) from error
    except KeyboardInterrupt:
        click.echo("zephyrus: interrupted; the same command goes on where it stopped", err=True)
        sys.exit(1)


def _fetch(
    stack: contextlib.ExitStack,
    source: str,
    name: str | None,
    wanted: dict[str, Any],
    answers: dict[str, Any],
    mode: Mode,
    label: str,
    connections: int,
    cache: Path | None,
    *,
    keep: bool,
    dry_run: bool,
    yes: bool,
    as_json: bool,
) -> None:
    from zephyrus_geodata.fetching import catalogue
    from zephyrus_geodata.fetching.fetch import Fetch, in_use
    from zephyrus_geodata.fetching.request import make_request
    from zephyrus_geodata.store.names import checked_name
    from zephyrus_geodata.web.http import Http

    request = make_request(catalogue.source(source), **wanted)
    name = checked_name(name or request.source.dataset_name)
    given = read_answers(answers)

    def client() -> Http:
        return Http(connections=connections, tell=lambda line: click.echo(line, err=True))

    this = Fetch(request, cache=cache, http=client)
    if not dry_run:
        stack.enter_context(in_use(this, name, mode))
    plan = this.plan()
    if dry_run:
        _print_plan(plan, name, as_json)
        return
    _ask(plan, yes)
    with _bytes_bar(name, plan.size, quiet=as_json) as heard:
        this.download(heard)
    added = _store(this, name, given, label, mode, as_json)
    if not keep:
        this.tidy()
    _print_added(plan, added, as_json)


def _store(this: Fetch, name: str, answers: Any, label: str, mode: Mode, as_json: bool) -> Added:
    with _bytes_bar(f"{name} (store)", 0, quiet=as_json) as heard:
        before = 0

        def progress(done: int, total: int, what: str) -> None:
            nonlocal before
            heard(done - before, total)
            before = done

        return this.store(name, answers=answers, label=label, mode=mode, progress=progress)


def _ask(plan: Plan, yes: bool) -> None:
    if plan.size <= _MUCH or yes:
        return
    question = f"Fetch {_size(plan)} from {plan.request.source.name}?"
    if not sys.stdin.isatty():
        raise click.UsageError(
            f"{question} Give --yes, or take less with --variables, --lead, --bbox or fewer times."
        )
    click.confirm(question, abort=True, err=True)


@contextlib.contextmanager
def _bytes_bar(title: str, total: int, *, quiet: bool) -> Iterator[Callable[..., None]]:
    """A bar on standard error, if somebody watches; it is told how many bytes came."""
    if quiet or not sys.stderr.isatty():
        yield lambda count, total=0: None
        return
    from rich.console import Console
    from rich.markup import escape
    from rich.progress import (
        BarColumn,
        DownloadColumn,
        Progress,
        TextColumn,
        TimeRemainingColumn,
        TransferSpeedColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        DownloadColumn(),
        TransferSpeedColumn(),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=Console(stderr=True)) as bar:
        task = bar.add_task(escape(title), total=total or None)

        def heard(count: int, total: int = 0) -> None:
            bar.update(task, advance=count, total=total or None)

        yield heard


def _size(plan: Plan) -> str:
    if plan.is_exact:
        return _bytes(plan.size)
    if plan.bound and plan.size == plan.bound:
        return f"at most {_bytes(plan.size)}"
    return f"about {_bytes(plan.size)}"


def _bytes(size: int) -> str:
    return f"{size / 1e9:,.1f} GB" if size >= 1e9 else f"{size / 1e6:,.1f} MB"


def _print_plan(plan: Plan, name: str, as_json: bool) -> None:
    if as_json:
        click.echo(json.dumps({**plan.to_dict(), "name": name}, indent=1))
        return
    request, source = plan.request, plan.request.source
    files = f"{len(plan.pieces)} ({plan.there} in the cache), " if plan.pieces else ""
    rows = [
        ("address", plan.where),
        ("times", plan.times),
        ("lead times", plan.leads),
        ("variables", ", ".join(plan.variables)),
        ("box", request.bbox),
        ("resolution", request.resolution),
        ("files", f"{files}{_size(plan)}"),
        ("licence", source.licence),
        ("attribution", source.attribution),
        ("lacks", source.lacks),
        *(("note", note) for note in plan.notes),
    ]
    click.echo(click.style(f"{source.name}: {source.title}", bold=True))
    for key, value in rows:
        if value:
            click.echo(f"  {key:<11}  {_plain(value)}")
    click.echo(f"Without --dry-run this is fetched and stored as the dataset {name!r}.")


def _print_added(plan: Plan, added: Added, as_json: bool) -> None:
    source = plan.request.source
    if as_json:
        value = {**plan.to_dict(), "name": added.name, "folder": str(added.folder)}
        value |= {"forecasts": list(added.forecasts), "present": list(added.present)}
        click.echo(json.dumps(value, indent=1))
        return
    for note in (*plan.notes, *added.notes):
        click.echo(f"  {_plain(note)}")
    there = f"; {len(added.present)} were there already" if added.present else ""
    what = f"{len(added.forecasts)} forecasts" if added.kind == "forecast" else added.kind
    click.echo(f"added to {added.name}: {what}, {_bytes(added.bytes)}{there}")
    click.echo(f"licence: {source.licence}\nattribution: {source.attribution}")


def _print_sources(as_json: bool) -> None:
    from zephyrus_geodata.fetching.catalogue import sources

    if as_json:
        rows = [
            {
                "name": s.name, "title": s.title, "kind": s.kind, "covers": s.covers,
                "resolutions": list(s.paths or s.resolutions or [s.resolution]),
                "lacks": s.lacks, "licence": s.licence, "attribution": s.attribution,
                "base_url": s.base, "mirrors": dict(s.mirrors),
            }
            for s in sources()
        ]  # fmt: skip
        click.echo(json.dumps(rows, indent=1))
        return
    for s in sources():
        click.echo(click.style(f"{s.name}: {s.title}", bold=True))
        click.echo(f"  covers     {s.covers}")
        click.echo(f"  degrees    {', '.join(s.paths or s.resolutions or [s.resolution])}")
        if s.lacks:
            click.echo(f"  lacks      {s.lacks}")
        click.echo(f"  licence    {s.licence}")


def _plain(text: str) -> str:
    return "".join(c if c.isprintable() else "�" for c in text)
