"""Fetching reports into a folder: what is missing is asked for, whole files are kept.

A folder holds ``raw/`` (answers as they came), ``manifest.jsonl`` (which requests are finished)
and ``reports.jsonl`` (one line a report, made anew from ``raw/`` after every fetch). A fetch that
was interrupted, even killed, goes on with the same command: nothing finished is asked again, and
``reports.jsonl`` comes out the same.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from urllib.parse import urlencode

from zephyrus_geodata.reports import iem, nws_api
from zephyrus_geodata.reports.manifest import ArchiveError, Entry, Manifest, alone
from zephyrus_geodata.reports.query import Query
from zephyrus_geodata.reports.spans import Span, cut, missing, settled_until
from zephyrus_geodata.reports.store import Index, write_index
from zephyrus_geodata.web.answer import Answer
from zephyrus_geodata.web.errors import Refused
from zephyrus_geodata.web.http import Http

_STAMP = "%Y%m%dT%H%MZ"

Progress = Callable[[int, int, str], None]
"""Hears (requests finished, requests in all as far as known, what was last done)."""


def polite(
    *, interval: float = 1.0, contact: str = "", tell: Callable[[str], None] | None = None
) -> Http:
    """A client for free services: one request at a time, and a rest after each.

    Args:
        interval: Seconds from the end of one request to the start of the next.
        contact: An address that the service can write to.
        tell: Hears one line about each try that failed.
    """
    return Http(
        purpose="weather report archive",
        contact=contact,
        interval=interval,
        pause=1.0,
        timeout=120.0,
        total=120.0,
        tell=tell,
    )


@dataclass(slots=True)
class Fetched:
    """What a fetch did.

    Attributes:
        requested: Requests that were finished and kept.
        cached: Finished before, and so not made again: spans (IEM) or products (NWS).
        index: What the folder holds now.
        notes: What the user should know.
    """

    requested: int = 0
    cached: int = 0
    index: Index = field(default_factory=Index)
    notes: list[str] = field(default_factory=list)


def plan(query: Query, manifest: Manifest, now: datetime) -> list[tuple[str, Span]]:
    """The requests that an IEM query still needs, as (PIL, span).

    A six-character PIL is asked for by months, a prefix (every office) by days.
    """
    return [
        (pil, piece)
        for pil in query.pils
        for gap in missing(query.span, manifest.closed("iem", pil))
        for piece in cut(gap, now, daily=len(pil) == 3)
    ]


def describe(query: Query, folder: Path, now: datetime | None = None) -> list[str]:
    """The addresses that `fetch` would ask first, for a dry run."""
    present = now or datetime.now(UTC)
    if query.source == "nws":
        return [f"{query.base}{nws_api.list_path(pil)}" for pil in query.pils]
    return [_address(query, pil, span) for pil, span in plan(query, Manifest(folder), present)]


async def fetch(
    query: Query,
    folder: Path,
    client: Http,
    *,
    progress: Progress | None = None,
    now: datetime | None = None,
) -> Fetched:
    """Fetch what is missing and make ``reports.jsonl`` anew.

    Args:
        query: What to fetch.
        folder: The archive; it is made if missing.
        client: An entered client.
        progress: Hears of every finished request.
        now: The present, for tests.

    Raises:
        ArchiveError: If the service knows no such product, or the folder can't be written.
        FetchFailed: If the service can't be asked; what was fetched stays, and is indexed.
    """
    present = (now or datetime.now(UTC)).astimezone(UTC)
    hear = progress or (lambda finished, total, what: None)
    done = Fetched()
    work = _fetch_iem if query.source == "iem" else _fetch_nws
    with alone(folder):
        manifest = Manifest(folder)
        try:
            await work(query, manifest, client, done, hear, present)
        finally:
            if manifest.entries():
                done.index = write_index(folder, manifest)
    return done


async def _fetch_iem(
    query: Query,
    manifest: Manifest,
    client: Http,
    done: Fetched,
    hear: Progress,
    now: datetime,
) -> None:
    waiting = plan(query, manifest, now)
    done.cached = sum(
        span.start < query.span.end and query.span.start < span.end
        for pil in query.pils
        for span in manifest.closed("iem", pil)
    )
    total = len(waiting)
    while waiting:
        pil, span = waiting.pop(0)
        parameters = iem.parameters(pil, span.start, span.end, query.limit)
        try:
            answer = await client.ask(query.base + iem.PATH, iem.checked, params=parameters)
        except Refused as refused:
            raise ArchiveError(str(refused)) from refused
        count = len(iem.split(answer.body))
        if count >= query.limit:  # there may be more, and the service would not say so
            halves = span.halves()
            if halves is None:
                raise ArchiveError(
                    f"{pil} has {count} products in the minute of {span.start:%Y-%m-%d %H:%M} "
                    "UTC, more than one answer holds; ask for single offices"
                )
            waiting[:0] = [(pil, half) for half in halves]
            total += 2
        else:
            still_open = span.end > settled_until(now)
            _keep_iem(manifest, query, pil, span, answer, count, still_open)
            done.requested += 1
        hear(total - len(waiting), total, f"{pil} {span.start:%Y-%m-%d}")
    for pil in query.pils:
        manifest.discard_open("iem", pil)
    if not any(e.products for e in manifest.entries() if e.source == "iem" and e.pil in query.pils):
        raise ArchiveError(
            f"the archive has no {' or '.join(query.pils)} from {query.span}; check the product "
            "and the range"
        )


def _keep_iem(
    manifest: Manifest,
    query: Query,
    pil: str,
    span: Span,
    answer: Answer,
    count: int,
    still_open: bool,
) -> None:
    name = f"{span.start:{_STAMP}}-" + ("open" if still_open else f"{span.end:{_STAMP}}")
    manifest.add(
        Entry(
            source="iem",
            pil=pil,
            key="",
            start=span.start.isoformat(),
            end=span.end.isoformat(),
            open=still_open,
            file=f"raw/iem/{pil}/{name}.txt",
            url=_address(query, pil, span),
            products=count,
            sha256="",
            fetched=datetime.now(UTC).isoformat(timespec="seconds"),
        ),
        answer.body,
    )


async def _fetch_nws(
    query: Query,
    manifest: Manifest,
    client: Http,
    done: Fetched,
    hear: Progress,
    now: datetime,
) -> None:
    have = manifest.keys("nws")
    waiting: list[tuple[str, nws_api.Listed]] = []
    oldest: datetime | None = None
    for pil in query.pils:
        listed = await _list(query, pil, client)
        if listed:
            oldest = min(oldest or listed[0].issued, listed[0].issued)
        wanted = [x for x in listed if query.span.start <= x.issued < query.span.end]
        done.cached += sum(item.id in have for item in wanted)
        waiting += [(pil, item) for item in wanted if item.id not in have]
    if oldest is None or oldest > query.span.start:
        since = f"{oldest:%Y-%m-%d %H:%M} UTC" if oldest else "no time at all"
        done.notes.append(
            f"{query.base} lists {query.product} since {since}; earlier reports: --source iem"
        )
    for number, (pil, item) in enumerate(waiting, 1):
        url = query.base + nws_api.product_path(item.id)
        try:
            answer = await client.ask(
                url, partial(nws_api.checked, identifier=item.id), headers=nws_api.HEADERS
            )
        except Refused as refused:
            if refused.status != 404:
                raise ArchiveError(str(refused)) from refused
            done.notes.append(f"{item.id} of {item.issued:%Y-%m-%d %H:%M} UTC is gone")
            continue
        moment = item.issued.isoformat()
        manifest.add(
            Entry(
                source="nws",
                pil=pil,
                key=item.id,
                start=moment,
                end=moment,
                open=False,
                file=f"raw/nws/{pil}/{item.id}.json",
                url=url,
                products=1,
                sha256="",
                fetched=datetime.now(UTC).isoformat(timespec="seconds"),
            ),
            answer.body,
        )
        done.requested += 1
        hear(number, len(waiting), f"{pil} {item.issued:%Y-%m-%d %H:%M}")
    if not done.requested and not done.cached:
        raise ArchiveError(
            f"{query.base} lists no {query.product} from {query.span} (it keeps about "
            f"{nws_api.DAYS} days); for earlier reports use --source iem"
        )


async def _list(query: Query, pil: str, client: Http) -> list[nws_api.Listed]:
    url = query.base + nws_api.list_path(pil)
    try:
        return await client.ask(url, nws_api.read_list, headers=nws_api.HEADERS)
    except Refused as refused:
        if refused.status == 404:
            raise ArchiveError(f"{query.base} knows no product {pil}") from refused
        raise ArchiveError(str(refused)) from refused


def _address(query: Query, pil: str, span: Span) -> str:
    parameters = iem.parameters(pil, span.start, span.end, query.limit)
    return f"{query.base}{iem.PATH}?{urlencode(parameters, safe=':')}"
