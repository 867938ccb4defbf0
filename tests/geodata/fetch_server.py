"""A server on 127.0.0.1 that keeps count of every byte, and fails when it is told to."""

import asyncio
import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from aiohttp import web


@dataclass
class FetchServer:
    """Files below ``root``.

    Attributes:
        root: the folder.
        url: where it is served.
        cuts: path -> after how many bytes the next answers break off.
        answers: path -> (status, headers) of the next answers.
        stalls: path -> after how many bytes answers hang.
        refused: parts of paths that are answered with 403.
        pages: paths that are answered with a web page and 200.
        has_ranges: whether Range is honoured.
        shift: bytes by which a part lies behind the one that was asked for.
        encoding: path -> Content-Encoding that the file has.
        headers: of every request.
        queries: path and query of every request, as it came.
        asked: (method, path) -> how often.
        sent: path -> bytes sent by GET.
        hook: called with the path of every GET.
    """

    root: Path
    url: str = ""
    cuts: dict[str, list[int]] = field(default_factory=dict)
    answers: dict[str, list[tuple[int, dict[str, str]]]] = field(default_factory=dict)
    stalls: dict[str, int] = field(default_factory=dict)
    refused: set[str] = field(default_factory=set)
    pages: set[str] = field(default_factory=set)
    has_ranges: bool = True
    shift: int = 0
    encoding: dict[str, str] = field(default_factory=dict)
    headers: list[dict[str, str]] = field(default_factory=list)
    queries: list[tuple[str, str]] = field(default_factory=list)
    has_stalled: threading.Event = field(default_factory=threading.Event)
    asked: Counter[tuple[str, str]] = field(default_factory=Counter)
    sent: Counter[str] = field(default_factory=Counter)

    def gets(self, part: str) -> int:
        """Count the GETs of paths with ``part`` in them."""
        return sum(
            n for (method, path), n in self.asked.items() if method == "GET" and part in path
        )

    def bytes(self, part: str) -> int:
        """Count the bytes sent of paths with ``part`` in them."""
        return sum(n for path, n in self.sent.items() if part in path)

    async def answer(self, request: web.Request) -> web.StreamResponse:
        name = request.path.lstrip("/")
        self.asked[request.method, name] += 1
        self.headers.append(dict(request.headers))
        self.queries.append((name, request.rel_url.raw_query_string))
        if self.answers.get(name):
            status, headers = self.answers[name].pop(0)
            return web.Response(status=status, headers=headers)
        if any(part in name for part in self.refused):
            return web.Response(status=403)
        if name in self.pages:
            page = "<!DOCTYPE html><html><body>Please log in</body></html>"
            return web.Response(text=page, content_type="text/html")
        path = self.root / name
        if not path.is_file():
            return web.Response(status=404, text="<html>nothing here</html>")
        data = path.read_bytes()
        start, stop, status = 0, len(data), 200
        headers = {"ETag": f'"{hash(data)}"'}
        if name in self.encoding:
            headers["Content-Encoding"] = self.encoding[name]
        asked = request.headers.get("Range")
        changed = request.headers.get("If-Range", headers["ETag"]) != headers["ETag"]
        if asked and self.has_ranges and not changed:
            first, _, last = asked.removeprefix("bytes=").partition("-")
            start, stop, status = (
                int(first) + self.shift,
                min(int(last) + 1 if last else stop, stop),
                206,
            )
            if start >= len(data):
                headers["Content-Range"] = f"bytes */{len(data)}"
                return web.Response(status=416, headers=headers)
            headers["Content-Range"] = f"bytes {start}-{stop - 1}/{len(data)}"
        response = web.StreamResponse(status=status, headers=headers)
        response.content_length = stop - start
        await response.prepare(request)
        if request.method == "HEAD":
            return response
        body = data[start:stop]
        if name in self.stalls:
            self.sent[name] += len(body[: self.stalls[name]])
            await response.write(body[: self.stalls[name]])
            self.has_stalled.set()
            await asyncio.sleep(60)
            return response
        cut = self.cuts[name].pop(0) if self.cuts.get(name) else len(body)
        self.sent[name] += len(body[:cut])
        await response.write(body[:cut])
        if cut < len(body):
            await asyncio.sleep(0.02)  # what was written is on its way
            assert request.transport is not None
            request.transport.close()
            return response
        await response.write_eof()
        return response


@contextmanager
def serving(root: Path) -> Iterator[FetchServer]:
    """Serve a folder until the end of the block."""
    server, loop, ready = FetchServer(root), asyncio.new_event_loop(), threading.Event()
    stop = asyncio.Event()

    async def main() -> None:
        app = web.Application()
        app.router.add_route("*", "/{path:.*}", server.answer)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        server.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
        ready.set()
        await stop.wait()
        await runner.cleanup()

    thread = threading.Thread(target=lambda: loop.run_until_complete(main()), daemon=True)
    thread.start()
    assert ready.wait(10)
    try:
        yield server
    finally:
        loop.call_soon_threadsafe(stop.set)
        thread.join(10)
        loop.close()
