"""GRIB over HTTP: of each lead time's file, the messages that are asked for and no others."""

import asyncio
import hashlib
from collections.abc import Callable, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import StoreError
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.fetching.grib_index import Choice, Message, choose, member, parse_index
from zephyrus_geodata.fetching.plan import Piece, Plan, hours_in_words, not_there, times_in_words
from zephyrus_geodata.fetching.request import LATEST, Request
from zephyrus_geodata.reading.extras import need
from zephyrus_geodata.reading.opened import Opened, open_source
from zephyrus_geodata.web.download import Span
from zephyrus_geodata.web.errors import FetchFailed, NotThere
from zephyrus_geodata.web.http import Http

_BACK = 20  # runs that are looked for when the latest is wanted: five days
_AMOUNTS = "total_precipitation"


class GribFiles:
    """Runs of a model as GRIB files with indices.

    Attributes:
        request: what is wanted.
        folder: where the files go.
        now: the time that "latest" starts from, UTC.
    """

    def __init__(self, request: Request, cache: Path, now: datetime | None = None) -> None:
        self.request = request
        self.now = now or datetime.now(UTC)
        self._cache = cache
        self.folder = cache

    async def plan(self, http: Http) -> Plan:
        """Fetch the indices, and choose messages.

        Raises:
            FetchError: if the request asks for what the files haven't got.
            FetchFailed: if a run isn't there (yet); the message names the latest that is.
        """
        need("eccodes", "GRIB files")  # before anything is fetched in vain
        request, source = self.request, self.request.source
        runs = await self._runs(http)
        wanted = [(run, lead) for run in runs for lead in self._leads(run)]
        choices = await asyncio.gather(*(self._choose(http, run, lead) for run, lead in wanted))
        missing = self._missing(wanted, choices)
        urls = [self.url(run, lead) for run, lead in wanted]
        named = repr((urls, [c.messages for c in choices])).encode()
        digest = hashlib.blake2b(named, digest_size=8).hexdigest()
        self.folder = self._cache / f"{source.dataset_name}-{digest}"
        pieces = await asyncio.gather(
            *(self._piece(http, url, choice) for url, choice in zip(urls, choices, strict=True))
        )
        pieces = [piece for piece in pieces if piece.spans]
        if not pieces:
            raise FetchError(f"{source.name} has none of {', '.join(request.variables)}.")
        hours = sorted({lead for _, lead in wanted})
        names = tuple(name for name in request.variables if name not in missing)
        shown = [f"{run:%Y-%m-%dT%H}" for run in runs]
        where = urls[0].rpartition("/")[0] if len(runs) == 1 else request.base
        return Plan(
            request, where, tuple(pieces), sum(p.size or 0 for p in pieces), True, 0,
            times_in_words(shown, "initial time"), hours_in_words(hours),
            names, tuple(dict.fromkeys(m.name for c in choices for m in c.messages)), (),
            (*not_there(source.name, missing), *self._box_note()),
        )  # fmt: skip

    async def fetch(self, http: Http, plan: Plan, heard: Callable[[int], None]) -> None:
        """Bring the messages.

        Raises:
            FetchFailed: if they can't be had, or are no GRIB; what came whole is kept.
        """

        async def bring(piece: Piece) -> None:
            await http.download(piece.url, piece.path, piece.spans, heard)
            _check_messages(piece)

        try:
            async with asyncio.TaskGroup() as group:
                for piece in plan.pieces:
                    group.create_task(bring(piece))
        except BaseExceptionGroup as several:
            raise several.exceptions[0] from several

    def opened(self) -> Opened:
        """Open what was fetched."""
        return open_source(self.folder)

    def drop_damaged(self, plan: Plan) -> int:
        """Delete the files that are not whole GRIB messages, and return how many there were."""
        damaged = 0
        for piece in plan.pieces:
            if piece.path.exists():
                try:
                    _check_messages(piece)
                except FetchFailed:
                    damaged += 1
        return damaged

    def url(self, run: datetime, lead: int) -> str:
        """Return the address of a file."""
        source = self.request.source
        layout = next(
            layout
            for layout in source.layouts
            if not (layout.until and run >= _moment(layout.until))
            and (not layout.hours or run.hour in layout.hours)
        )
        path = layout.path.format(
            date=f"{run:%Y%m%d}",
            hour=f"{run:%H}",
            lead=lead,
            grid=source.resolutions.get(self.request.resolution, ""),
        )
        return f"{self.request.base}/{path}"

    def index_url(self, run: datetime, lead: int) -> str:
        """Return the address of a file's index."""
        url = self.url(run, lead)
        if self.request.source.index == "wgrib2":
            return f"{url}.idx"
        return url.removesuffix(".grib2") + ".index"

    async def _runs(self, http: Http) -> list[datetime]:
        if self.request.times == LATEST:
            run = await self._latest(http)
            if run is None:
                raise FetchFailed(
                    f"{self.request.source.name}: no run of the last {_BACK * 6 // 24} days has "
                    f"{self._shown_leads()} at {self.request.base}."
                )
            return [run]
        cycle = self.request.source.cycle
        first = np.datetime64(_moment(self.request.source.since).replace(tzinfo=None), "s")
        last = np.datetime64(self.now.replace(tzinfo=None), "s")
        times = np.arange(first, last + 1, np.timedelta64(cycle, "h"))
        chosen = times[self.request.moments(times)]
        return [datetime.fromisoformat(str(time)).replace(tzinfo=UTC) for time in chosen]

    def _leads(self, run: datetime) -> list[int]:
        hours = self._hours(run)
        return [int(hour) for hour in hours[self.request.leads(hours)]]

    def _hours(self, run: datetime) -> NDArray[np.int64]:
        """Return the lead times that a run has."""
        spans = next(text for hours, text in self.request.source.leads if run.hour in hours)
        found: set[int] = set()
        for piece in spans.split():
            span, _, step = piece.partition("/")
            first, _, last = span.partition("..")
            found |= set(range(int(first), int(last or first) + 1, int(step or 1)))
        return np.array(sorted(found))

    def _shown_leads(self) -> str:
        return f"lead times {self.request.lead or 'all'}"

    async def _latest(self, http: Http) -> datetime | None:
        """Return the last run that has all its lead times; None if there is none."""
        cycle = self.request.source.cycle
        run = self.now.replace(minute=0, second=0, microsecond=0)
        run -= timedelta(hours=run.hour % cycle)
        for _ in range(_BACK):
            with suppress(NotThere, StoreError, FetchError):
                await http.size(self.index_url(run, self._leads(run)[-1]))
                return run
            run -= timedelta(hours=cycle)
        return None

    async def _choose(self, http: Http, run: datetime, lead: int) -> Choice:
        url = self.index_url(run, lead)
        try:
            data = await http.get(url)
        except NotThere as error:
            raise await self._not_yet(http, run, lead, error) from error
        source, request = self.request.source, self.request
        messages = parse_index(str(source.index), data, url)
        if request.members:
            self._check_members(messages, url)
        return choose(source, messages, request.variables, request.members)

    def _check_members(self, messages: Sequence[Message], url: str) -> None:
        source = self.request.source
        if not source.has_members:
            raise FetchError(f"{source.name} has no members (--members).")
        there = {member(message) for message in messages}
        if lost := [name for name in self.request.members if name not in there]:
            shown = sorted(there, key=lambda name: (len(name), name))
            raise FetchError(
                f"--members {','.join(lost)}: {url} has {', '.join(shown)} ({source.lacks})."
            )

    async def _not_yet(self, http: Http, run: datetime, lead: int, error: NotThere) -> FetchFailed:
        """Say what there is instead of a run that isn't there."""
        said = f"{self.request.source.name} has no {run:%Y-%m-%dT%H} run with {lead} h"
        latest = await self._latest(http)
        if latest is None:
            found = "and none of the last days either"
        else:
            found = f"the latest that is there is --init {latest:%Y-%m-%dT%H}"
        return FetchFailed(
            f"{said} ({error.status} at {error.url}): {found}. Runs appear some hours after their "
            f"initial time, lead time by lead time; old ones are kept: {self.request.source.covers}."
        )

    def _missing(
        self, wanted: Sequence[tuple[datetime, int]], choices: Sequence[Choice]
    ) -> list[str]:
        """Return the names that no file has; refuse those that the user named."""
        missing = set(self.request.variables)
        for choice in choices:
            missing &= set(choice.missing)
        if self.request.is_named and missing:
            run, lead = wanted[0]
            raise FetchError(
                f"{self.request.source.name} hasn't got {', '.join(sorted(missing))} "
                f"({self.index_url(run, lead)} lists what there is)."
            )
        for (run, lead), choice in zip(wanted, choices, strict=True):
            lost = [n for n in choice.missing if n not in missing and not n.startswith(_AMOUNTS)]
            if lost:
                raise FetchFailed(
                    f"{self.request.source.name} has no {', '.join(lost)} at {lead} h of "
                    f"{run:%Y-%m-%dT%H}, though at other lead times: leave out the variable or "
                    "the lead time."
                )
        return [name for name in self.request.variables if name in missing]

    async def _piece(self, http: Http, url: str, choice: Choice) -> Piece:
        name = hashlib.blake2b(url.encode(), digest_size=4).hexdigest()
        path = self.folder / f"{url.rpartition('/')[2]}-{name}.grib2"
        messages = choice.messages
        if messages and messages[-1].stop is None:
            size = await http.size(url)
            if size is None or size <= messages[-1].start:
                raise FetchFailed(f"{url} is shorter than its index says: try again later.")
            last = messages[-1]
            messages = (*messages[:-1], Message(last.start, size, last.name, last.time))
        sizes = tuple((m.stop or 0) - m.start for m in messages)
        if any(size <= 0 for size in sizes):
            raise FetchFailed(f"The index of {url} is damaged: a message ends before it begins.")
        return Piece(url, path, _joined(messages), sum(sizes), sizes)

    def _box_note(self) -> tuple[str, ...]:
        if not self.request.bbox:
            return ()
        return ("a GRIB message is the whole grid: the box is cut out when it is here",)


def _joined(messages: Sequence[Message]) -> tuple[Span, ...]:
    """Join messages that follow one another, so that they are one request."""
    spans: list[Span] = []
    for message in messages:
        if spans and spans[-1][1] == message.start:
            spans[-1] = (spans[-1][0], message.stop)
        else:
            spans.append((message.start, message.stop))
    return tuple(spans)


def _check_messages(piece: Piece) -> None:
    """See that a file is made of whole GRIB messages, or delete it."""
    with piece.path.open("rb") as file:
        place = 0
        for size in piece.messages:
            file.seek(place)
            first = file.read(4)
            file.seek(place + size - 4)
            if first != b"GRIB" or file.read(4) != b"7777":
                break
            place += size
        else:
            file.seek(0, 2)
            if file.tell() == place:
                return
    piece.path.unlink()
    raise FetchFailed(
        f"{piece.url} doesn't have its messages where its index says: it may have changed or be "
        "damaged. Run the same command again, or choose another server with --base-url."
    )


def _moment(text: str) -> datetime:
    moment = np.datetime64(text, "s").astype(datetime)
    assert isinstance(moment, datetime)
    return moment.replace(tzinfo=UTC)
