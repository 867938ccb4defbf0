"""The client: waits its turn, says who it is, and asks again, later and later.

What is worth another try (a busy or broken server, a lost connection, half a body) is tried again;
what is not (an unknown name, a refused request) is told at once.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager, nullcontext
from typing import TYPE_CHECKING, Self, TypeVar

from zephyrus_geodata.web.answer import Again, Answer, Exchange, Garbled, no_address, whole
from zephyrus_geodata.web.download import Download, Span, is_there
from zephyrus_geodata.web.errors import FetchFailed
from zephyrus_geodata.web.words import clean, host, shown, user_agent

if TYPE_CHECKING:
    from pathlib import Path
    from types import TracebackType

    import aiohttp

T = TypeVar("T")

LIMIT = 1 << 28
"""Bytes that an answer kept in memory may have."""
_FAR_TRIES = 3
_IDENTITY = {"Accept-Encoding": "identity"}


class Http:
    """A client that waits and retries, to be used in ``async with``.

    Proxies come from the environment (``HTTPS_PROXY``, ``NO_PROXY``).

    Attributes:
        requests: how many were made.
    """

    def __init__(
        self,
        *,
        purpose: str = "data fetch",
        contact: str = "",
        headers: Mapping[str, str] | None = None,
        connections: int = 8,
        interval: float = 0.0,
        tries: int = 6,
        pause: float = 0.5,
        timeout: float = 60.0,
        total: float | None = None,
        max_wait: float = 600.0,
        goes_on: bool = True,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """Make a client.

        Args:
            purpose: what for, as servers are told.
            contact: an address for the User-Agent, so that a service can reach you.
            headers: to send with every request.
            connections: how many requests run at once.
            interval: seconds from the end of one request to the start of the next to the same
                host, which then run one at a time; 0 for none.
            tries: how often a thing is asked for without a byte of progress.
            pause: seconds before the second try; doubled for each further one.
            timeout: seconds without a byte after which a connection counts as broken.
            total: seconds that an answer kept in memory may take in all.
            max_wait: the longest wait in seconds that a server may ask for (``Retry-After``).
            goes_on: whether the user's command, run again, goes on where it stopped and has
                --base-url; errors say so.
            tell: hears one line about each try that failed.
        """
        self.connections = connections
        self.interval = interval
        self.tries = tries
        self.pause = pause
        self.timeout = timeout
        self.total = total
        self.max_wait = max_wait
        self.goes_on = goes_on
        self.requests = 0
        self._headers = {"User-Agent": user_agent(purpose, contact)} | dict(headers or {})
        self._tell = tell or (lambda line: None)
        self._session: aiohttp.ClientSession | None = None
        self._free_at: dict[str, float] = {}

    async def __aenter__(self) -> Self:
        import aiohttp

        self._turns = asyncio.Semaphore(self.connections)
        self._alone: dict[str, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._session = aiohttp.ClientSession(
            headers=self._headers,
            timeout=aiohttp.ClientTimeout(total=None, connect=30, sock_read=self.timeout),
            trust_env=True,  # proxies
        )
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        if self._session is not None:
            await self._session.close()
            self._session = None

    async def get(self, url: str) -> bytes:
        """Return a small file.

        Raises:
            NotThere: if there is none.
            FetchFailed: after all tries.
        """
        return await self.ask(url, lambda answer: answer.body)

    async def ask(
        self,
        url: str,
        read: Callable[[Answer], T],
        *,
        params: Mapping[str, str] | None = None,
        headers: Mapping[str, str] | None = None,
        limit: int = LIMIT,
    ) -> T:
        """Ask until ``read`` accepts the answer.

        Args:
            url: address; without a query, if there are ``params``.
            read: turns the answer into what is wanted; it raises `Garbled` to ask again.
            params: the query.
            headers: for this request.
            limit: the most bytes of an answer.

        Raises:
            NotThere: if there is nothing.
            Refused: at another 4xx status that no retry mends.
            TooLarge: if the answer is larger than ``limit``.
            FetchFailed: after all tries, or if the server asks to wait longer than ``max_wait``.
        """

        async def ask() -> T:
            async with self.open("GET", url, headers, params=params, total=self.total) as response:
                body = await whole(response, url, limit)
            answer = Answer(
                str(response.url),
                response.content_type.lower(),
                body,
                response.status,
                response.headers,
            )
            try:
                return read(answer)
            except Garbled as garbled:
                raise Again(clean(str(garbled))) from garbled

        return await self._until_it_works(url, ask)

    async def size(self, url: str) -> int | None:
        """Return the size of a file in bytes, None if the server doesn't tell.

        Raises:
            NotThere: if there is none.
            FetchFailed: after all tries.
        """

        async def ask() -> int | None:
            async with self.open("HEAD", url, _IDENTITY) as response:
                length = response.headers.get("Content-Length")
                return int(length) if length is not None and length.isdecimal() else None

        return await self._until_it_works(url, ask)

    async def download(
        self,
        url: str,
        path: Path,
        spans: Sequence[Span] = (),
        heard: Callable[[int], None] = lambda count: None,
    ) -> None:
        """Bring a file, or parts of it one after another, to ``path``; whole or not at all.

        What came before a broken connection, or before the process was killed, is not asked for
        again.

        Args:
            url: of the file.
            path: where it goes.
            spans: the parts; none for the whole file.
            heard: is told the number of bytes that came (negative: that were thrown away).

        Raises:
            NotThere: if there is no such file.
            FetchFailed: after all tries, or if the file is shorter than the parts asked for.
        """
        if is_there(path):
            return
        download = Download(self, url, path, spans, heard)
        while not await self._until_it_works(url, download.step, lambda: download.have):
            pass
        download.finish()

    def open(
        self,
        method: str,
        url: str,
        headers: Mapping[str, str] | None = None,
        *,
        params: Mapping[str, str] | None = None,
        total: float | None = None,
    ) -> Exchange:
        """Begin one request, which is not tried again; bytes come as they are if asked so.

        Raises:
            FetchFailed: if the address is none.
        """
        if self._session is None:
            raise RuntimeError("use Http in `async with`")
        if not url.lower().startswith(("https://", "http://")) or not host(url):
            raise no_address(url)
        return Exchange(self._session, method, url, headers or {}, params=params, total=total)

    @asynccontextmanager
    async def _turn(self, where: str) -> AsyncIterator[None]:
        """Wait until a host may be asked."""
        async with self._alone[where] if self.interval else nullcontext():
            await asyncio.sleep(max(0.0, self._free_at.get(where, 0.0) - time.monotonic()))
            async with self._turns:
                self.requests += 1
                try:
                    yield
                finally:
                    self._rest(where, self.interval)

    def _rest(self, where: str, seconds: float) -> None:
        """Leave a host alone for some seconds from now, whoever asks."""
        self._free_at[where] = max(self._free_at.get(where, 0.0), time.monotonic() + seconds)

    async def _until_it_works(
        self, url: str, ask: Callable[[], Awaitable[T]], have: Callable[[], int] = lambda: 0
    ) -> T:
        failures, where = 0, host(url)
        while True:
            before = have()
            async with self._turn(where):
                try:
                    return await ask()
                except Again as again:
                    problem = again
            failures = 1 if have() > before else failures + 1
            if problem.wait > self.max_wait:
                raise FetchFailed(
                    f"{where} asks to wait for {problem.wait:.0f} s: run the same command after "
                    f"that{'; it goes on where it stopped' if self.goes_on else ''}."
                )
            if failures >= (min(self.tries, _FAR_TRIES) if problem.is_far else self.tries):
                raise FetchFailed(self._sentence(url, problem, failures))
            wait = max(problem.wait, self.pause * 2 ** (failures - 1) * random.uniform(1.0, 1.25))
            self._tell(f"{where}: {problem}; again in {wait:.1f} s")
            self._rest(where, problem.wait)
            await asyncio.sleep(wait)

    def _sentence(self, url: str, problem: Again, tries: int) -> str:
        if problem.is_far:
            return (
                f"{host(url)} can't be reached from this machine ({problem}): check its network "
                f"and proxy (HTTPS_PROXY)"
                f"{', or name a mirror with --base-url' if self.goes_on else ''}."
            )
        return f"{shown(url)} can't be fetched: {problem} ({tries} tries in a row)" + (
            "; what came is kept, and the same command goes on from there." if self.goes_on else "."
        )
