"""MCP over standard input and output, for a client that starts the server itself."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager, suppress
from io import TextIOWrapper
from typing import Any, cast

import anyio
from mcp.server.lowlevel import Server
from mcp.server.stdio import stdio_server

_CHUNK = 65536


@contextmanager
def private_streams() -> Iterator[tuple[int, int]]:
    """Keep standard input and output for the protocol, from here on.

    What anything else writes to standard output (a tool's ``print``, a library, a child process)
    goes to standard error, and whoever reads standard input finds it empty.

    Yields:
        The file descriptors of the true input and output.
    """
    sys.stdout.flush()
    kept = os.dup(0), os.dup(1)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    os.dup2(2, 1)
    try:
        yield kept
    finally:
        sys.stdout.flush()
        for own, fd in zip(kept, (0, 1), strict=True):
            os.dup2(own, fd)
            os.close(own)


def serve_stdio(server: Server[Any], streams: tuple[int, int]) -> None:
    """Serve one client until it closes its end, or until SIGINT or SIGTERM.

    Args:
        server: The server.
        streams: The descriptors to read from and to write to, see `private_streams`.
    """
    with suppress(asyncio.CancelledError, KeyboardInterrupt):  # asked to stop
        asyncio.run(_serve(server, streams))


async def _serve(server: Server[Any], streams: tuple[int, int]) -> None:
    task, loop = asyncio.current_task(), asyncio.get_running_loop()
    assert task is not None
    for number in (signal.SIGINT, signal.SIGTERM):
        with suppress(NotImplementedError, RuntimeError):  # Windows; not in the main thread
            loop.add_signal_handler(number, task.cancel)
    source, target = streams
    with os.fdopen(target, "wb", closefd=False) as raw:
        output = anyio.wrap_file(TextIOWrapper(raw, encoding="utf-8", newline="\n"))
        lines = cast("anyio.AsyncFile[str]", _lines(source))  # only iterated over
        async with stdio_server(lines, output) as (reads, writes):
            await server.run(reads, writes, server.create_initialization_options())


async def _lines(fd: int) -> AsyncIterator[str]:
    """The lines of a file descriptor.

    A daemon thread reads it: one that is waited for would hold the end of the process up until the
    client sends something.
    """
    loop = asyncio.get_running_loop()
    chunks: asyncio.Queue[bytes] = asyncio.Queue()

    def read() -> None:
        with suppress(OSError, RuntimeError):  # closed, or the loop is
            while chunk := os.read(fd, _CHUNK):
                loop.call_soon_threadsafe(chunks.put_nowait, chunk)
        with suppress(RuntimeError):
            loop.call_soon_threadsafe(chunks.put_nowait, b"")

    threading.Thread(target=read, name="zephyrus-stdin", daemon=True).start()
    rest = b""
    while chunk := await chunks.get():
        *whole, rest = (rest + chunk).split(b"\n")
        for line in whole:
            yield line.decode("utf-8", "replace")
    if rest:
        yield rest.decode("utf-8", "replace")
