"""A file, or parts of it, on its way to the disk.

It lies in ``.NAME.DIGEST.part`` until it is whole.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from zephyrus_geodata.web.answer import Again
from zephyrus_geodata.web.errors import FetchFailed
from zephyrus_geodata.web.words import host, shown

if TYPE_CHECKING:
    import aiohttp

    from zephyrus_geodata.web.http import Http

Span = tuple[int, int | None]
"""Bytes [start, stop) of a file; to its end if stop is None."""

_BLOCK = 1 << 18
_WHOLE: tuple[Span, ...] = ((0, None),)


class Download:
    """One file; ``step`` asks for the next part, and says whether all is there.

    Attributes:
        have: the bytes that are there.
    """

    def __init__(
        self,
        http: Http,
        url: str,
        path: Path,
        spans: Sequence[Span],
        heard: Callable[[int], None],
    ) -> None:
        self._http, self._url, self._path, self._heard = http, url, path, heard
        self._spans = tuple(spans) or _WHOLE
        digest = hashlib.blake2b(f"{url}{list(spans)}".encode(), digest_size=6).hexdigest()
        # The part's own suffix is short and hidden: folders are read while parts lie in them.
        self._part = path.with_name(f".{path.name[:80]}.{digest}.part")
        self._tag_file = self._part.with_suffix(".tag")
        self.have = self._part.stat().st_size if self._part.exists() else 0
        self._is_done = False
        heard(self.have)

    async def step(self) -> bool:
        """Ask for the next part that is not whole.

        Raises:
            Again: if it is worth another try.
            FetchFailed: if the file is shorter than the parts, or the server gives none.
        """
        span = self._next()
        if span is None:
            return True
        start, stop = span
        headers = {"Accept-Encoding": "identity"}
        is_part = bool(start) or stop is not None
        if is_part:
            headers["Range"] = f"bytes={start}-{'' if stop is None else stop - 1}"
            if self.have and (tag := self._tag()):
                headers["If-Range"] = tag
        async with self._http.open("GET", self._url, headers) as response:
            if response.status == 416:
                self._past_the_end(response, start, stop)
                return True
            if is_part and response.status != 206:
                self._start_over()
                if self._spans != _WHOLE:
                    raise FetchFailed(
                        f"{host(self._url)} sent all of {shown(self._url)} for a part of it: the "
                        "file changed while it was fetched (then run the same command again), or "
                        "the server can't give parts of files (then choose another with "
                        "--base-url)."
                    )
            elif is_part:
                self._check_part(response, start)
            if not self.have:
                self._keep_tag(response)
            await self._take(response, None if stop is None else stop - start)
        if stop is None:
            self._is_done = True
        elif self._next() == span:
            raise Again("an empty answer")
        return self._next() is None

    def finish(self) -> None:
        """Give the whole file its name."""
        self._part.replace(self._path)
        self._tag_file.unlink(missing_ok=True)

    async def _take(self, response: aiohttp.ClientResponse, room: int | None) -> None:
        """Keep what comes, and no more than ``room`` bytes of it."""
        with self._part.open("ab") as file:
            async for block in response.content.iter_chunked(_BLOCK):
                kept = block if room is None else block[:room]
                file.write(kept)
                file.flush()
                self.have += len(kept)
                self._heard(len(kept))
                if len(kept) < len(block):
                    return
                if room is not None:
                    room -= len(kept)

    def _next(self) -> Span | None:
        """What is not there yet of the first part that is not whole."""
        if self._is_done:
            return None
        left = self.have
        for start, stop in self._spans:
            if stop is None:
                return start + left, None
            if left < stop - start:
                return start + left, stop
            left -= stop - start
        return None

    def _check_part(self, response: aiohttp.ClientResponse, start: int) -> None:
        if first_byte(response.headers.get("Content-Range", "")) != start:
            raise FetchFailed(
                f"{host(self._url)} sent another part of {shown(self._url)} than was asked for: "
                "it can't give parts of files; choose another with --base-url."
            )

    def _past_the_end(self, response: aiohttp.ClientResponse, start: int, stop: int | None) -> None:
        size = re.fullmatch(r"bytes \*/(\d+)", response.headers.get("Content-Range", ""))
        if stop is None and self.have and size and int(size[1]) == start:
            return  # killed between the last byte and the renaming
        self._start_over()
        raise FetchFailed(
            f"{shown(self._url)} is shorter than expected (there is no byte {start:,}): it may "
            "still be on its way to the server; try again later."
        )

    def _start_over(self) -> None:
        self._heard(-self.have)
        self.have = 0
        self._part.unlink(missing_ok=True)
        self._tag_file.unlink(missing_ok=True)

    def _tag(self) -> str:
        with suppress(OSError):
            return self._tag_file.read_text("latin-1")
        return ""

    def _keep_tag(self, response: aiohttp.ClientResponse) -> None:
        tag = response.headers.get("ETag", "")
        if not tag or tag.startswith("W/"):
            tag = response.headers.get("Last-Modified", "")
        if tag:
            self._tag_file.write_text(tag, "latin-1")


def is_there(path: Path) -> bool:
    """Say whether a file is there; its folder is made."""
    path.parent.mkdir(parents=True, exist_ok=True)
    return path.exists()


def first_byte(content_range: str) -> int | None:
    """The first byte that a ``Content-Range`` speaks of; None if it speaks of none."""
    found = re.match(r"bytes (\d+)-\d+/", content_range)
    return int(found[1]) if found else None
