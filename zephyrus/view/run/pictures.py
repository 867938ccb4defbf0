"""The images of a page: each one once, as many as fit."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Iterator
from hashlib import sha256

_SIGNATURE = b"\x89PNG\r\n\x1a\n"


class Pictures:
    """Images by number, each kept once however many rollouts show it."""

    def __init__(self, room: int) -> None:
        """Keep images.

        Args:
            room: Bytes that all of them may take up in the page.
        """
        self._room = room
        self._numbers: dict[bytes, int | None] = {}
        self._kept: list[str] = []

    def __len__(self) -> int:
        return len(self._kept)

    def __iter__(self) -> Iterator[str]:
        """The images in the order of their numbers, as Base64."""
        return iter(self._kept)

    @property
    def left_out(self) -> int:
        """How many different images had no room, or are no PNG."""
        return len(self._numbers) - len(self._kept)

    def add(self, png: bytes) -> int | None:
        """The number of an image, or None if it has no room or is no PNG."""
        digest = sha256(png).digest()
        if digest not in self._numbers:
            self._numbers[digest] = self._keep(png)
        return self._numbers[digest]

    def _keep(self, png: bytes) -> int | None:
        size = 4 * -(-len(png) // 3)
        if size > self._room or not png.startswith(_SIGNATURE):
            return None
        self._room -= size
        self._kept.append(b64encode(png).decode())
        return len(self._kept) - 1
