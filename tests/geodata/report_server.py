"""A small real server on 127.0.0.1 that speaks IEM's AFOS service and api.weather.gov.

It runs on its own thread and event loop, so that sync tests, async tests and child processes can
all use it. Faults are served first, in their order. The AFOS side behaves as the real source does:
``edate`` is documented as exclusive and yet included, and nothing is said about a reached limit.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
import uuid
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

from aiohttp import web

from zephyrus_geodata.reports import iem
from zephyrus_geodata.reports.archive import Fetched, fetch, polite
from zephyrus_geodata.reports.manifest import NAME
from zephyrus_geodata.reports.query import Query
from zephyrus_geodata.reports.store import ReportArchive

JANUARY = ("2024-01-01", "2024-02-01")
NOW = datetime(2024, 6, 1, 15, 30, tzinfo=UTC)


@dataclass
class Fault:
    """One request that goes wrong."""

    kind: str
    """status, drop, cut, chunk, html, half, loop, moved, raw; ok is no fault at all."""
    status: int = 500
    headers: dict[str, str] = field(default_factory=dict)
    text: str = ""
    delay: float = 0.0


@dataclass(frozen=True)
class Held:
    """A product that the archive holds."""

    entered: datetime
    pil: str
    text: str
    office: str = "KWBC"

    @property
    def id(self) -> str:
        return str(uuid.uuid5(uuid.NAMESPACE_URL, f"{self.entered}{self.pil}{self.text}"))


def bulletin(
    issued: datetime,
    pil: str = "PMDSPD",
    *,
    heading: str = "FXUS01",
    office: str = "KWBC",
    bbb: str = "",
    word: str = "rain",
) -> str:
    """A made-up short range discussion in the form of the real ones."""
    first = issued.replace(hour=0) + timedelta(hours=12 if issued.hour < 12 else 24)
    last = first + timedelta(hours=48)
    group = f" {bbb}" if bbb else ""
    return (
        f"123 \n{heading} {office} {issued:%d%H%M}{group}\n{pil}\n\n"
        "Short Range Forecast Discussion\n"
        "NWS Weather Prediction Center College Park MD\n"
        f"{issued.hour:02d}{issued:%M} UTC {issued:%a %b %d %Y}\n\n"
        f"Valid {first:%HZ %a %b %d %Y} - {last:%HZ %a %b %d %Y}\n\n"
        f"...A front brings {word} to the eastern United States through the weekend...\n\n"
        f"A cold front over the Plains will move east with {word} ahead of it, heaviest from\n"
        "the Lower Mississippi Valley to the Tennessee Valley, where 2 to 4 inches may fall.\n"
        "High pressure behind the front brings dry and cold weather, with highs 10 to 15\n"
        "degrees below average over the northern Plains and the Upper Midwest. Winds of 20 to\n"
        "30 mph are likely over the Great Lakes, and light snow is possible downwind of them.\n\n"
        "Over the West, an upper trough reaches the coast with showers from Washington to\n"
        f"northern California. This text is number {issued:%Y%m%d%H%M} of a test.\n\n"
        "Doe\n\n$$\n"
    )


def month_of_bulletins(year: int = 2024, month: int = 1, days: int = 31) -> list[Held]:
    """Two a day, at 0801 and 2001 UTC."""
    held = []
    for day in range(1, days + 1):
        for hour in (8, 20):
            moment = datetime(year, month, day, hour, 1, tzinfo=UTC)
            held.append(Held(moment, "PMDSPD", bulletin(moment)))
    return held


class ReportServer:
    """The server. ``requests`` has (path, query) and ``times`` the moment of each."""

    def __init__(self, held: Iterable[Held] = (), limit: int = 9999) -> None:
        self.held = sorted(held, key=lambda item: item.entered)
        self.limit = limit
        self.faults: list[Fault] = []
        self.delay = 0.0
        self.requests: list[tuple[str, dict[str, str]]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.url = ""

    @contextlib.contextmanager
    def running(self) -> Iterator[ReportServer]:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        runner = asyncio.run_coroutine_threadsafe(self._start(), loop).result(10)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    def spans(self) -> list[tuple[str, str, str]]:
        """(pil, sdate, edate) of every request for texts."""
        return [(q["pil"], q["sdate"], q["edate"]) for path, q in self.requests if "pil" in q]

    async def _start(self) -> web.AppRunner:
        app = web.Application()
        app.router.add_get("/cgi-bin/afos/retrieve.py", self._afos)
        app.router.add_get("/moved", self._afos)
        app.router.add_get("/products/types/{type}", self._list)
        app.router.add_get("/products/types/{type}/locations/{place}", self._list)
        app.router.add_get("/products/{id}", self._product)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}"
        return runner

    async def _note(self, request: web.Request) -> web.StreamResponse | None:
        self.times.append(asyncio.get_running_loop().time())
        self.requests.append((request.path, dict(request.query)))
        self.headers.append(dict(request.headers))
        fault = self.faults.pop(0) if self.faults else None
        if self.delay:
            await asyncio.sleep(self.delay)
        return await self._fail(request, fault) if fault and fault.kind != "ok" else None

    async def _afos(self, request: web.Request) -> web.StreamResponse:
        if wrong := await self._note(request):
            return wrong
        query = request.query
        pil = query["pil"]
        start, end = (
            datetime.strptime(query[name], "%Y-%m-%dT%H:%MZ").replace(tzinfo=UTC)
            for name in ("sdate", "edate")
        )
        found = [
            item
            for item in self.held
            if (item.pil.startswith(pil) if len(pil) == 3 else item.pil == pil)
            and start <= item.entered <= end  # included, whatever the documentation says
        ]
        found = found[: min(int(query["limit"]), self.limit)]
        text = "".join(f"\x01\n{item.text}\n\x03\n" for item in found)
        return web.Response(text=text or f"ERROR: Could not Find: {pil}")

    async def _list(self, request: web.Request) -> web.StreamResponse:
        if wrong := await self._note(request):
            return wrong
        pil = request.match_info["type"] + request.match_info.get("place", "")
        found = [item for item in reversed(self.held) if item.pil.startswith(pil)]
        if not found:
            return web.json_response({"title": "Not Found", "status": 404}, status=404)
        rows = [self._row(item) for item in found]
        return web.json_response({"@context": {"@version": "1.1"}, "@graph": rows})

    async def _product(self, request: web.Request) -> web.StreamResponse:
        if wrong := await self._note(request):
            return wrong
        wanted = request.match_info["id"]
        for item in self.held:
            if item.id == wanted:
                # As on the real service: another number on top, blanks at the ends of lines.
                text = "\n000\n" + item.text.split("\n", 1)[1].replace("\n", " \n")
                return web.json_response({**self._row(item), "productText": text})
        return web.json_response({"status": 404}, status=404)

    def _row(self, item: Held) -> dict[str, Any]:
        return {
            "@id": f"{self.url}/products/{item.id}",
            "id": item.id,
            "wmoCollectiveId": "FXUS01",
            "issuingOffice": item.office,
            "issuanceTime": item.entered.isoformat(),
            "productCode": item.pil[:3],
            "productName": "Discussion",
        }

    async def _fail(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        transport = request.transport
        assert transport is not None
        if fault.delay:
            await asyncio.sleep(fault.delay)
        if fault.kind == "drop":
            transport.abort()
            return web.Response()
        if fault.kind in ("cut", "chunk"):  # fewer bytes than promised; a last chunk that lacks
            response = web.StreamResponse(headers={"Content-Type": "text/plain"})
            if fault.kind == "cut":
                response.content_length = 4000
            else:
                response.enable_chunked_encoding()
            await response.prepare(request)
            await response.write(b"\x01\nhalf a product\n\x03\n")
            transport.close()
            return response
        if fault.kind == "half":  # a well-formed response whose text stops in a product
            return web.Response(text="\x01\n123 \nFXUS01 KWBC 010801\nPMDSPD\n\nShort Range")
        if fault.kind == "html":
            page = "<!DOCTYPE html><html><body>We are down for maintenance</body></html>"
            return web.Response(text=page, content_type="text/html")
        if fault.kind == "loop":
            raise web.HTTPFound(request.path_qs)
        if fault.kind == "moved":
            raise web.HTTPFound("/moved?" + request.query_string)
        if fault.kind == "raw":
            return web.Response(text=fault.text)
        return web.Response(text=fault.text, status=fault.status, headers=fault.headers)


def at(text: str) -> datetime:
    """A UTC time of ISO text."""
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def run(
    server: ReportServer,
    folder: Path,
    start: str = JANUARY[0],
    end: str | None = JANUARY[1],
    product: str = "PMDSPD",
    *,
    now: datetime = NOW,
    source: str = "iem",
    offices: tuple[str, ...] = (),
    limit: int = iem.LIMIT,
    **client: float,
) -> Fetched:
    """Fetch quickly."""
    found = Query.of(
        product, start, end, source=source, offices=offices, base_url=server.url, now=now
    )
    query = Query(found.product, found.span, source, found.offices, found.base_url, limit)
    asked = polite(interval=client.pop("interval", 0.0))
    asked.pause = 0.01
    asked.timeout = asked.total = client.pop("timeout", 5.0)
    asked.tries = int(client.pop("tries", asked.tries))
    assert not client

    async def work() -> Fetched:
        async with asked:
            return await fetch(query, folder, asked, now=now)

    return asyncio.run(work())


def issued(folder: Path) -> list[datetime]:
    """The times of issue in an archive, in its order."""
    return [report.issued for report in ReportArchive(folder)]


def files(folder: Path) -> dict[str, bytes]:
    """Every file of a folder but the manifest, which has times."""
    return {
        str(path.relative_to(folder)): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and path.name != NAME
    }
