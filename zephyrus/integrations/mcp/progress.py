"""What a client that waits for a call is told meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress

from zephyrus.messages import clean_text
from zephyrus.reporting import listening

Send = Callable[[float, float | None, str | None], Awaitable[None]]
"""Sends one progress notification: what is done, the total, a message."""

BEAT = 5.0
"""Seconds between two signs of life of a tool that says nothing itself. Clients give a call up after
60 s or less without any, unless they are set to wait longer."""


@asynccontextmanager
async def progress_of(tool: str, send: Send, beat: float = BEAT) -> AsyncIterator[None]:
    """Tell a client of the call made inside this block.

    It hears that the call has begun, then what the tool reports, or every few seconds how many
    have gone by. As MCP demands, what is done grows with every notification.

    Args:
        tool: The tool's name.
        send: Reaches the client; does nothing if it did not ask for progress.
        beat: Seconds between two signs of life.
    """
    reports = _Reports(tool, send, beat)
    await send(0.0, None, f"{tool}: started")
    sender = asyncio.create_task(reports.run())
    try:
        with listening(reports.take):
            yield
    finally:
        sender.cancel()
        with suppress(asyncio.CancelledError):
            await sender
    await reports.flush()


class _Reports:
    """The latest report of a tool, and who carries it to the client."""

    def __init__(self, tool: str, send: Send, beat: float) -> None:
        self._tool = tool
        self._send = send
        self._beat = beat
        self._began = time.monotonic()
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._latest: tuple[float, float | None, str] | None = None
        self._told = 0.0
        self._reporting = False

    def take(self, done: float, total: float | None, message: str) -> None:
        """Hear the tool, in whatever thread it runs; of many reports in a row the last counts."""
        with suppress(RuntimeError):  # the loop is closed: a tool outlived the server
            self._loop.call_soon_threadsafe(self._note, (done, total, message))

    async def run(self) -> None:
        """Pass reports on as they come, and signs of life as long as there are none."""
        while True:
            try:
                async with asyncio.timeout(self._beat):
                    await self._news.wait()
            except TimeoutError:
                if not self._reporting:
                    self._told = time.monotonic() - self._began
                    await self._send(self._told, None, f"{self._tool}: {self._told:.0f} s")
                continue
            await self.flush()

    async def flush(self) -> None:
        """Pass the latest report on, unless that was done or it is behind the one before."""
        self._news.clear()
        latest, self._latest = self._latest, None
        if latest is not None and latest[0] > self._told:
            self._told = latest[0]
            await self._send(*latest)

    def _note(self, report: tuple[float, float | None, str]) -> None:
        done, total, message = report
        self._latest = (float(done), total, clean_text(message))
        self._reporting = True
        self._news.set()
