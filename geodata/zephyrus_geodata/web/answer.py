"""One request and its answer; what goes wrong becomes one of our exceptions."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

from zephyrus_geodata.web.errors import FetchFailed, NotThere, Refused, TooLarge
from zephyrus_geodata.web.words import clean, decode, host, shown

if TYPE_CHECKING:
    from types import TracebackType

    import aiohttp

_AGAIN = (408, 425, 429)  # and every 5xx
ABSENT = (404, 410)
"""What a server answers where there is nothing; others may be a refusal."""
_CLOSED = (401, 403)
_BLOCK = 1 << 18
_START = 1000  # bytes of a refusal that are read for its reason


class Garbled(Exception):
    """A reader of `Http.ask` raises it: the body isn't what it should be; ask again."""


class Again(Exception):
    """Worth another try, ``wait`` seconds later or more; ``is_far``: no server was reached."""

    def __init__(self, reason: str, *, wait: float = 0.0, is_far: bool = False) -> None:
        super().__init__(reason)
        self.wait = wait
        self.is_far = is_far


@dataclass(frozen=True, slots=True)
class Answer:
    """A whole response.

    Attributes:
        url: where it came from, after redirects.
        content_type: such as "text/plain", lower case.
        body: all of it, decompressed.
        status: below 300; or 416 if a part was asked for that lies past the end.
        headers: of the response, in any case.
    """

    url: str
    content_type: str
    body: bytes
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def is_html(self) -> bool:
        """Whether it is a web page, whatever its content type says."""
        start = self.body[:200].lstrip().lower()
        return "html" in self.content_type or start.startswith((b"<!doctype", b"<html"))


class Exchange:
    """A request as a context manager that gives the response.

    Args:
        session: an open one.
        method: GET or HEAD.
        url: the address.
        headers: to send. If there is a Range or an Accept-Encoding among them, the bytes come as
            they are; if there is a Range, a status 416 is let through.
        params: the query.
        total: seconds for all of it.

    Raises:
        FetchFailed: if the address is none.
    """

    def __init__(
        self,
        session: aiohttp.ClientSession,
        method: str,
        url: str,
        headers: Mapping[str, str],
        *,
        params: Mapping[str, str] | None = None,
        total: float | None = None,
    ) -> None:
        import aiohttp
        import yarl

        self._url = url
        self._has_range = "Range" in headers
        if self._has_range:  # it counts the bytes of the file, which must come as they are
            headers = {"Accept-Encoding": "identity", **headers}
        try:
            address = yarl.URL(url)
            # What is well-formed is sent as it is: another spelling may not fit its signature.
            if url.isascii() and url.isprintable() and " " not in url:
                address = yarl.URL(url, encoded=True)
        except ValueError as error:
            raise no_address(url) from error
        self._manager = session.request(
            method,
            address,
            params=params,
            headers=headers,
            max_redirects=5,  # archives redirect to another spelling at most
            auto_decompress="Accept-Encoding" not in headers,
            timeout=aiohttp.ClientTimeout(
                total=total, connect=30, sock_read=session.timeout.sock_read
            ),
        )

    async def __aenter__(self) -> aiohttp.ClientResponse:
        try:
            response = await self._manager.__aenter__()
        except Exception as error:
            raise self._translated(error, is_ours=False) from error
        try:
            await self._check(response)
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
        if (
            isinstance(error, Exception)
            and (other := self._translated(error, is_ours=True)) is not error
        ):
            raise other from error

    def _translated(self, error: Exception, *, is_ours: bool) -> Exception:
        """Tell what a failure means; an OSError of our own disk (``is_ours``) stays what it is."""
        import aiohttp

        said = clean(str(error)) or type(error).__name__
        if isinstance(error, aiohttp.InvalidURL):
            return no_address(self._url)
        if isinstance(error, aiohttp.ClientConnectorError):
            return Again(clean(str(getattr(error, "os_error", ""))) or said, is_far=True)
        if isinstance(error, TimeoutError):
            return Again("it does not answer")
        if isinstance(error, aiohttp.TooManyRedirects):
            return Again("it redirects in a circle")
        if isinstance(error, aiohttp.ClientError | ConnectionError):
            return Again(f"the connection broke ({said})")
        if isinstance(error, OSError) and not is_ours:
            return Again(f"the connection broke ({said})")
        return error

    async def _check(self, response: aiohttp.ClientResponse) -> None:
        status = response.status
        if status < 300 or (status == 416 and self._has_range):
            return
        if status in _AGAIN or status >= 500:
            raise Again(f"it answers {status}", wait=retry_after(response.headers))
        where, url = host(self._url), shown(self._url)
        if status in ABSENT:
            raise NotThere(f"{where} has nothing at {url} ({status}).", url, status)
        if status in _CLOSED:
            raise NotThere(
                f"{where} refuses {url} ({status}): it is not public, or no longer, or there "
                "is no such file (some buckets answer so).",
                url,
                status,
            )
        reason = await self._reason(response)
        raise Refused(
            f"{where} answers {status} to {url}{f': {reason}' if reason else ''}.", url, status
        )

    async def _reason(self, response: aiohttp.ClientResponse) -> str:
        """The server's own words for a refusal; "" if it sends a page, or none."""
        import aiohttp

        try:
            async with asyncio.timeout(5):
                start = await response.content.read(_START)
        except (aiohttp.ClientError, OSError):
            return ""
        answer = Answer("", response.content_type.lower(), start)
        return "" if answer.is_html else clean(decode(start)).rstrip(".")


async def whole(response: aiohttp.ClientResponse, url: str, limit: int) -> bytes:
    """Return the body of a response that is not larger than ``limit`` bytes.

    Raises:
        TooLarge: if it is.
    """
    came = bytearray()
    # aiohttp raises if the body is shorter than its Content-Length, or a chunk lacks.
    async for block in response.content.iter_chunked(_BLOCK):
        came += block
        if len(came) > limit:
            raise TooLarge(
                f"{shown(url)} sends more than {limit >> 20:,} MiB where a small file was due."
            )
    return bytes(came)


def no_address(url: str) -> FetchFailed:
    """What is said about an address that is none."""
    return FetchFailed(f"{clean(url)!r} is no address; it should start with https://.")


def retry_after(headers: Mapping[str, str]) -> float:
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
