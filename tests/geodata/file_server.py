"""A server of files on 127.0.0.1 that can fail: connections that break, busy answers, web pages."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


@dataclass
class FileServer:
    """Files below ``root`` by address.

    Attributes:
        root: the folder.
        url: where it is served.
        break_after: path -> bytes after which the connection is cut, for the first answers.
        breaks: path -> how many answers are cut.
        busy: path -> how many answers are 503.
        pages: paths answered with a web page and 200.
        refused: paths answered with 403.
        ranges: whether Range is honoured.
        asked: how often each path was asked for.
    """

    root: Path
    url: str = ""
    break_after: dict[str, int] = field(default_factory=dict)
    breaks: dict[str, int] = field(default_factory=dict)
    busy: dict[str, int] = field(default_factory=dict)
    pages: set[str] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    ranges: bool = True
    asked: Counter[str] = field(default_factory=Counter)


@contextmanager
def serve(root: Path) -> Iterator[FileServer]:
    """Serve a folder until the end of the block."""
    files = FileServer(root)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def log_message(self, *_: object) -> None:
            pass

        def do_HEAD(self) -> None:
            self.answer(body=False)

        def do_GET(self) -> None:
            self.answer(body=True)

        def answer(self, body: bool) -> None:
            name = self.path.split("?")[0].lstrip("/")
            files.asked[name] += 1
            if files.busy.get(name, 0) > 0:
                files.busy[name] -= 1
                return self.send_error(503)
            if name in files.refused:
                return self.send_error(403)
            if name in files.pages:
                page = b"<!DOCTYPE html><html><body>Please log in</body></html>"
                return self.send(200, page, body, kind="text/html")
            path = files.root / name
            if not path.is_file():
                return self.send_error(404)
            data, start = path.read_bytes(), 0
            asked = self.headers.get("Range")
            if asked and files.ranges:
                first, _, last = asked.removeprefix("bytes=").partition("-")
                start = int(first) if first else len(data) - int(last)
                stop = int(last) + 1 if first and last else len(data)
                if start >= len(data):
                    return self.send_error(416)
                return self.send(206, data[start:stop], body, name=name)
            return self.send(200, data, body, name=name)

        def send(
            self, status: int, data: bytes, body: bool, kind: str = "application/octet-stream",
            name: str = "",
        ) -> None:  # fmt: skip
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(data)))
            self.send_header("ETag", '"one"')
            self.end_headers()
            if not body:
                return
            if files.breaks.get(name, 0) > 0 and len(data) > files.break_after.get(name, 0):
                files.breaks[name] -= 1
                self.wfile.write(data[: files.break_after.get(name, 0)])
                self.wfile.flush()
                self.close_connection = True
                self.connection.shutdown(2)
                return
            self.wfile.write(data)

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    files.url = f"http://127.0.0.1:{server.server_address[1]}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield files
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
