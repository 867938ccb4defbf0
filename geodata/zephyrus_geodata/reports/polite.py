"""Asking a public archive politely: spaced requests, honest name, patient retries.

One `PoliteClient` asks one thing at a time. What is worth another try (a busy or broken server, a
lost connection, half a body, a page of HTML where text was due) is tried again, later and later;
what is not (an unknown name, a refused request) is told at once.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from importlib import metadata
from types import TracebackType
from typing import TYPE_CHECKING, TypeVar
from urllib.parse import urlsplit

from zephyrus_geodata.errors import GeodataError

if TYPE_CHECKING:
    import aiohttp

T = TypeVar("T")

_AGAIN = {408, 425, 429}  # and every 5xx
_QUOTE = 120  # characters of a server's own words in an error


class FetchFailed(GeodataError):
    """The archive could not be asked, after all retries; what is done stays done."""


class Refused(GeodataError):
    """The archive refuses the request, and would again.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


class Garbled(Exception):
    """A `PoliteClient.get` reader raises it: the body isn't what it should be; ask again."""


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response with a status below 300.

    Attributes:
        url: Where it came from, after redirects.
        content_type: Such as "text/plain", lower case; "" if the server named none.
        body: All of it, decompressed.
    """

    url: str
    content_type: str
    body: bytes

    @property
    def is_html(self) -> bool:
        """Whether it is a web page, whatever its content type says."""
        start = self.body[:200].lstrip().lower()
        return "html" in self.content_type or start.startswith((b"<!doctype", b"<html"))


class PoliteClient:
    """Asks over HTTP, one request at a time; use it in ``async with``.

    Args:
        interval: Seconds from the end of one request to the start of the next to the same host.
        timeout: Seconds that one request may take in all.
        tries: How often one thing is asked before `FetchFailed`.
        backoff: Seconds before the second try; doubled for each further one.
        max_wait: The longest wait in seconds that a server may ask for (``Retry-After``).
        contact: An address to put into the User-Agent, so that the archive can reach you.
        tell: Hears one line about each try that failed.
    """

    def __init__(
        self,
        *,
        interval: float = 1.0,
        timeout: float = 120.0,
        tries: int = 6,
        backoff: float = 1.0,
        max_wait: float = 600.0,
        contact: str = "",
        tell: Callable[[str], None] | None = None,
    ) -> None:
        self.interval = interval
        self.timeout = timeout
        self.tries = tries
        self.backoff = backoff
        self.max_wait = max_wait
        self.contact = contact
        self.requests = 0
        self._tell = tell or (lambda line: None)
        self._session: aiohttp.ClientSession | None = None
        self._free_at: dict[str, float] = {}

    async def __aenter__(self) -> PoliteClient:
        import aiohttp

        self._session = aiohttp.ClientSession(
            headers={"User-Agent": user_agent(self.contact)},
            timeout=aiohttp.ClientTimeout(total=self.timeout, connect=30),
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

    async def get(
        self,
        url: str,
        read: Callable[[Answer], T],
        *,
        params: Mapping[str, str] | None = None,
        accept: str = "*/*",
    ) -> T:
        """Ask until ``read`` accepts the answer.

        Args:
            url: Address without a query.
            read: Turns the answer into what is wanted; it raises `Garbled` to ask again.
            params: The query.
            accept: Content types that are wanted.

        Raises:
            Refused: At a 4xx status that no retry mends.
            FetchFailed: After all tries, or if the server asks to wait longer than ``max_wait``.
        """
        host = urlsplit(url).netloc
        for attempt in range(1, self.tries + 1):
            try:
                return read(await self._once(host, url, params or {}, accept))
            except Garbled as garbled:
                problem, asked = clean(str(garbled)), 0.0
            except _Busy as busy:
                problem, asked = str(busy), busy.wait
            if asked > self.max_wait:
                raise FetchFailed(
                    f"{host} asks to wait for {asked:.0f} s; run the same command again after that"
                )
            if attempt < self.tries:
                wait = max(asked, self.backoff * 2 ** (attempt - 1) * random.uniform(1.0, 1.25))
                self._tell(f"{host}: {problem}; again in {wait:.1f} s")
                await asyncio.sleep(wait)
        raise FetchFailed(
            f"{host} could not be asked in {self.tries} tries ({problem}); what was fetched is "
            "kept, and the same command goes on from there"
        )

    async def _once(self, host: str, url: str, params: Mapping[str, str], accept: str) -> Answer:
        """Ask once, when the host's turn has come."""
        import aiohttp

        if self._session is None:
            raise RuntimeError("use PoliteClient in `async with`")
        await asyncio.sleep(max(0.0, self._free_at.get(host, 0.0) - time.monotonic()))
        self.requests += 1
        try:
            # A redirect is followed at once; archives redirect to another spelling at most.
            async with self._session.get(
                url, params=dict(params), headers={"Accept": accept}, max_redirects=5
            ) as response:
                # aiohttp raises if the body is shorter than its Content-Length, or a chunk lacks.
                body = await response.read()
        except aiohttp.InvalidURL as error:
            raise Refused(f"{url!r} is no address; it should start with https://", 0) from error
        except TimeoutError as error:
            raise _Busy(f"no whole answer within {self.timeout:.0f} s") from error
        except aiohttp.TooManyRedirects as error:
            raise _Busy("redirected in a circle") from error
        except (aiohttp.ClientError, OSError) as error:
            raise _Busy(clean(str(error)) or type(error).__name__) from error
        finally:
            self._free_at[host] = time.monotonic() + self.interval
        if response.status in _AGAIN or response.status >= 500:
            raise _Busy(f"status {response.status}", _retry_after(response.headers))
        answer = Answer(str(response.url), response.content_type.lower(), body)
        if response.status >= 300:
            said = "" if answer.is_html else clean(decode(answer.body))
            raise Refused(
                f"{host} refuses the request with status {response.status}"
                + (f": {said}" if said else ""),
                response.status,
            )
        return answer


class _Busy(Exception):
    """Worth another try, ``wait`` seconds later or more."""

    def __init__(self, reason: str, wait: float = 0.0) -> None:
        super().__init__(reason)
        self.wait = wait


def decode(body: bytes) -> str:
    """Text of bytes; those that are no UTF-8 (old products have some) are read as Latin-1."""
    try:
        return body.decode()
    except UnicodeDecodeError:
        return body.decode("latin-1")


def version() -> str:
    """The installed version of Zephyrus."""
    try:
        return metadata.version("zephyrus")
    except metadata.PackageNotFoundError:  # run from a checkout
        return "unknown"


def user_agent(contact: str = "") -> str:
    """Who asks: the program, its version and, if given, whom to write to."""
    said = f"; contact: {clean(contact)}" if contact else ""
    return f"zephyrus/{version()} (weather report archive{said})"


def _retry_after(headers: Mapping[str, str]) -> float:
    """The seconds that ``Retry-After`` asks for: a number, or a date; 0 if there is none."""
    value = headers.get("Retry-After", "").strip()
    if value.isdecimal():
        return float(value)
    try:
        moment = parsedate_to_datetime(value)
    except ValueError:
        return 0.0
    moment = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    return max(0.0, (moment - datetime.now(UTC)).total_seconds())


def clean(text: str) -> str:
    """The start of a stranger's words on one line, fit for a terminal and a header."""
    line = " ".join("".join(c if " " <= c <= "~" else " " for c in text).split())
    return line if len(line) <= _QUOTE else line[:_QUOTE] + "…"
