"""Which layout a file has that Zephyrus wrote, and how files of other releases are read.

Every JSON or YAML file, and every line of a JSON-lines file, says under ``format`` since which
release of Zephyrus its kind of file is laid out like that. The rule:

* a file of an earlier layout is migrated when it is read, in memory; it is written in the layout
  of today when it is written anyway, never before;
* a file without ``format`` was written before there were formats, and is the earliest layout;
* a file of a later layout is refused, and its ``format`` is the release to install.

So a JSON-lines file that several releases have appended to may hold lines of several layouts.
`zephyrus.schemas` has a JSON Schema of each kind of file, as it is today.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zephyrus.errors import UserError

KEY = "format"
"""Where a file says its layout."""

Migration = tuple[str, Callable[[dict[str, Any]], dict[str, Any]]]
"""A release, and what makes the layout that it brought of the one before; it may change its argument."""

_RELEASE = re.compile(r"\d{1,6}(\.\d{1,6})*")


class LaterFormatError(UserError):
    """A file that a later release wrote, in a layout that this one doesn't know."""


@dataclass(frozen=True)
class FileFormat:
    """One kind of file.

    Attributes:
        name: Of its schema; see `zephyrus.schemas`.
        version: The release since which it is laid out as it is.
        migrations: From the earliest layout to today's, in order.
    """

    name: str
    version: str
    migrations: tuple[Migration, ...] = ()

    def stamp(self, data: Mapping[str, Any]) -> dict[str, Any]:
        """What is written for some data: the layout first."""
        return {KEY: self.version, **data}

    def read(self, data: Any, where: str | Path) -> dict[str, Any]:
        """What was written, in the layout of today and without its ``format``.

        Args:
            data: The file's, or line's, value; it is not changed.
            where: What to call it.

        Raises:
            LaterFormatError: If it is of a later layout; the release to install is named.
            ValueError: If it is nothing that was ever written.
        """
        if not isinstance(data, dict):
            raise ValueError("it is no object")
        found = str(data.get(KEY, "0"))
        if not _RELEASE.fullmatch(found):
            raise ValueError(f"{found!r} is no format")
        if _order(found) > _order(self.version):
            from zephyrus import __version__

            raise LaterFormatError(
                f"{where} was written by a later zephyrus (its format is {found}, and zephyrus "
                f"{__version__} reads up to {self.version}); install that release or a later one: "
                f"pip install 'zephyrus>={found}'"
            )
        migrated = {key: value for key, value in data.items() if key != KEY}
        for release, migrate in self.migrations:
            if _order(found) < _order(release):
                migrated = migrate(migrated)
        return migrated


def _order(release: str) -> tuple[int, ...]:
    numbers = [int(number) for number in release.split(".")]
    while numbers and not numbers[-1]:
        numbers.pop()
    return tuple(numbers)
