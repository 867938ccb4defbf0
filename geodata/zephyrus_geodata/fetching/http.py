"""Asking servers for files and parts of files, again and again if need be.

A download lies in ``.NAME.DIGEST.part`` until it is whole. What came before a broken connection,
or before the process was killed, is not asked for again.
"""

from __future__ import annotations

import asyncio
import hashlib
import random
import re
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from zephyrus_geodata.fetching.errors import FetchFailed, NotThere

if TYPE_CHECKING:
    from types import TracebackType

    import aiohttp

T = TypeVar("T")
Span = tuple[int, int | None]
"""Bytes [start, stop) of a file; to its end if stop is None."""

_BLOCK = 1 << 18
_AGAIN = (408, 425, 429)
ABSENT = (404, 410)
"""What a server answers where there is nothing; others may be a refusal."""
_REFUSED = (401, 403)


class Http:
    """A client that waits and retries, to be used in ``async with``.

    Attributes:
        requests: how many were made.
    """

    def __init__(
        self,
        *,
        connections: int = 8,
        tries: int = 6,
        pause: float = 0.5,
        timeout: float = 60.0,
        max_wait: float = 600.0,
        tell: Callable[[str], None] | None = None,
    ) -> None:
        """Make a client.

        Args:
            connections: how many requests run at once.
            tries: how often a thing is asked for without a byte of progress.
            pause: seconds before the second try; doubled for each further one.
            timeout: seconds without a byte after which a connection counts as broken.
            max_wait: the longest wait in seconds that a server may ask for (``Retry-After``).
            tell: hears one line about each try that failed.
        """
        self.connections = connections
        self.tries = tries
        self.pause = pause
        self.timeout = timeout
        self.max_wait = max_wait
        self.requests = 0
        self._tell = tell or (lambda line: None)
        self._session: aiohttp.ClientSession | None = None

    async def __aenter__(self) -> Http:
        import aiohttp

        self._turn = asyncio.Semaphore(self.connections)
        self._session = aiohttp.ClientSession(
            headers={"User-Agent": "zephyrus (data fetch)", "Accept-Encoding": "identity"},
            timeout=aiohttp.ClientTimeout(total=None, connect=30, sock_read=self.timeout),
            auto_decompress=False,
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

        async def ask() -> bytes:
            async with self._open("GET", url) as response:
                return await response.read()

        return await self._until_it_works(url, ask)

    async def size(self, url: str) -> int | None:
        """Return the size of a file in bytes, None if the server doesn't tell.

        Raises:
            NotThere: if there is none.
            FetchFailed: after all tries.
        """

        async def ask() -> int | None:
            async with self._open("HEAD", url) as response:
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

        Args:
            url: of the file.
            path: where it goes.
            spans: the parts; none for the whole file.
            heard: is told the number of bytes that came (negative: that were thrown away).

        Raises:
            NotThere: if there is no such file.
            FetchFailed: after all tries, or if the file is shorter than the parts asked for.
        """
        if _is_there(path):
            return
        digest = hashlib.blake2b(f"{url}{list(spans)}".encode(), digest_size=6).hexdigest()
        # The part's own suffix is short and hidden: folders are read while parts lie in them.
        part = path.with_name(f".{path.name[:80]}.{digest}.part")
        download = _Download(self, url, part, tuple(spans) or ((0, None),), heard)
        while not await self._until_it_works(url, download.step, lambda: download.have):
            pass
        part.replace(path)
        download.tag_file.unlink(missing_ok=True)

    def _open(self, method: str, url: str, headers: dict[str, str] | None = None) -> _Answer:
        if self._session is None:
            raise RuntimeError("use Http in `async with`")
        return _Answer(self, self._session, method, url, headers or {})

    async def _until_it_works(
        self, url: str, ask: Callable[[], Awaitable[T]], have: Callable[[], int] = lambda: 0
    ) -> T:
        failures = 0
        while True:
            before = have()
            async with self._turn:
                try:
                    return await ask()
                except _Again as again:
                    problem = again
            failures = 1 if have() > before else failures + 1
            if problem.wait > self.max_wait:
                raise FetchFailed(
                    f"{host(url)} asks to wait for {problem.wait:.0f} s: run the same command "
                    "after that; it goes on where it stopped."
                )
            if failures >= (min(self.tries, 3) if problem.is_far else self.tries):
                raise FetchFailed(problem.sentence(url, failures))
            wait = max(problem.wait, self.pause * 2 ** (failures - 1) * random.uniform(1.0, 1.25))
            self._tell(f"{host(url)}: {problem}; again in {wait:.1f} s")
            await asyncio.sleep(wait)


class _Again(Exception):
    """Worth another try, ``wait`` seconds later or more; ``is_far``: no server was reached."""

    def __init__(self, reason: str, *, wait: float = 0.0, is_far: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        self.is_far = is_far

    def sentence(self, url: str, tries: int) -> str:
        if self.is_far:
            return (
                f"{host(url)} can't be reached from this machine ({self}): check its network and "
                "proxy (HTTPS_PROXY), or name a mirror with --base-url."
            )
        return (
            f"{url} can't be fetched: {self} ({tries} tries in a row); what came is kept, and the "
            "same command goes on from there."
        )


class _Answer:
    """A request as a context manager; what went wrong becomes one of our exceptions."""

    def __init__(
        self,
        http: Http,
        session: aiohttp.ClientSession,
        method: str,
        url: str,
        headers: dict[str, str],
    ) -> None:
        http.requests += 1
        self._url = url
        self._manager = session.request(method, url, headers=headers, max_redirects=5)

    async def __aenter__(self) -> aiohttp.ClientResponse:
        try:
            response = await self._manager.__aenter__()
        except Exception as error:
            raise self._translated(error) from error
        try:
            self._check(response)
        except BaseException:
            response.close()
            raise
        return response

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self._manager.__aexit__(kind, error, trace)
        if isinstance(error, Exception) and (other := self._translated(error)) is not error:
            raise other from error

    def _translated(self, error: Exception) -> Exception:
        import aiohttp

        said = clean(str(error)) or type(error).__name__
        if isinstance(error, aiohttp.InvalidURL | aiohttp.NonHttpUrlClientError):
            return FetchFailed(f"{self._url!r} is no address; it should start with https://.")
        if isinstance(error, aiohttp.ClientConnectorError):
            return _Again(clean(str(getattr(error, "os_error", ""))) or said, is_far=True)
        if isinstance(error, TimeoutError):
            return _Again("it does not answer")
        if isinstance(error, aiohttp.ClientError | ConnectionError):
            return _Again(f"the connection broke ({said})")
        return error

    def _check(self, response: aiohttp.ClientResponse) -> None:
        status = response.status
        if status < 300 or status == 416:
            return
        where = host(self._url)
        if status in ABSENT:
            raise NotThere(f"{where} has nothing at {self._url} ({status}).", self._url, status)
        if status in _REFUSED:
            raise NotThere(
                f"{where} refuses {self._url} ({status}): it is not public, or no longer, or there "
                "is no such file (some buckets answer so).",
                self._url,
                status,
            )
        if status in _AGAIN or status >= 500:
            raise _Again(f"it answers {status}", wait=_retry_after(response.headers))
        raise FetchFailed(f"{where} answers {status} to {self._url}.")


class _Download:
    """One file on its way; ``step`` asks for the next part, and says whether all is there."""

    def __init__(
        self,
        http: Http,
        url: str,
        part: Path,
        spans: tuple[Span, ...],
        heard: Callable[[int], None],
    ) -> None:
        self.http, self.url, self.part, self.spans, self.heard = http, url, part, spans, heard
        self.tag_file = part.with_suffix(".tag")
        self.have = part.stat().st_size if part.exists() else 0
        self.is_done = False
        heard(self.have)

    async def step(self) -> bool:
        span = self._next()
        if span is None:
            return True
        start, stop = span
        headers = {}
        if start or stop is not None:
            headers["Range"] = f"bytes={start}-{'' if stop is None else stop - 1}"
            if self.have and (tag := self._tag()):
                headers["If-Range"] = tag
        async with self.http._open("GET", self.url, headers) as response:
            if response.status == 416:
                self._past_the_end(response, start, stop)
                return True
            if headers and response.status != 206:
                self._start_over()
                if self.spans != ((0, None),):
                    raise FetchFailed(
                        f"{host(self.url)} sent all of {self.url} for a part of it: the file "
                        "changed while it was fetched (then run the same command again), or the "
                        "server can't give parts of files (then choose another with --base-url)."
                    )
            if not self.have:
                self._keep_tag(response)
            with self.part.open("ab") as file:
                async for block in response.content.iter_chunked(_BLOCK):
                    file.write(block)
                    file.flush()
                    self.have += len(block)
                    self.heard(len(block))
        if stop is None:
            self.is_done = True
        elif self._next() == span:
            raise _Again("an empty answer")
        return self._next() is None

    def _next(self) -> Span | None:
        """What is not there yet of the first part that is not whole."""
        if self.is_done:
            return None
        left = self.have
        for start, stop in self.spans:
            if stop is None:
                return start + left, None
            if left < stop - start:
                return start + left, stop
            left -= stop - start
        return None

    def _past_the_end(self, response: aiohttp.ClientResponse, start: int, stop: int | None) -> None:
        size = re.fullmatch(r"bytes \*/(\d+)", response.headers.get("Content-Range", ""))
        if stop is None and self.have and size and int(size[1]) == start:
            return  # killed between the last byte and the renaming
        self._start_over()
        raise FetchFailed(
            f"{self.url} is shorter than expected (there is no byte {start:,}): it may still be "
            "on its way to the server; try again later."
        )

    def _start_over(self) -> None:
        self.heard(-self.have)
        self.have = 0
        self.part.unlink(missing_ok=True)
        self.tag_file.unlink(missing_ok=True)

    def _tag(self) -> str:
        with suppress(OSError):
            return self.tag_file.read_text("latin-1")
        return ""

    def _keep_tag(self, response: aiohttp.ClientResponse) -> None:
        tag = response.headers.get("ETag", "")
        if not tag or tag.startswith("W/"):
            tag = response.headers.get("Last-Modified", "")
        if tag:
            self.tag_file.write_text(tag, "latin-1")


def _is_there(path: Path) -> bool:
    """Say whether a file is there; if not, its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.exists()


def host(url: str) -> str:
    """Return the name of the server in an address."""
    return urlsplit(url).netloc.rpartition("@")[2] or url


def clean(text: str) -> str:
    """A stranger's words on one short line, harmless for a terminal."""
    line = " ".join("".join(c if c.isprintable() else " " for c in text).split())
    return line if len(line) <= 200 else line[:200] + "…"


def _retry_after(headers: object) -> float:
    value = str(getattr(headers, "get", lambda *_: "")("Retry-After", "")).strip()
    if value.isdecimal():
        return float(value)
    try:
        from datetime import UTC, datetime

        moment = parsedate_to_datetime(value)
        moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
        return max(0.0, (moment - datetime.now(UTC)).total_seconds())
    except ValueError:
        return 0.0
