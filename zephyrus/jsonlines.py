"""Files that survive a killed process: appended whole lines, and whole replacements."""

from __future__ import annotations

import json
import logging
import os
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

from zephyrus.errors import UserError

T = TypeVar("T")
_log = logging.getLogger(__name__)


def lines(path: Path) -> Iterator[bytes]:
    """The whole lines of a file, none if it is missing.

    A last line without its newline is being written, or was cut off, and is left out.
    """
    if path.exists():
        with path.open("rb") as file:
            yield from (line for line in file if line.endswith(b"\n"))


def mend(path: Path, read: Callable[[Any], T]) -> list[T]:
    """Read every line, and put the end right if the last writer was killed in a write.

    Nobody else may write at the time. A last line that was cut off is dropped from the file; one
    that lacks nothing but its newline gets it.

    Args:
        path: The file; it may be missing.
        read: Picks out of each line's JSON value what is wanted; a ValueError means damage.

    Raises:
        UserError: If a line before the last is damaged, which no killed process leaves behind.
    """
    found: list[T] = []
    if not path.exists():
        return found
    start, size = 0, path.stat().st_size
    with path.open("r+b") as file:
        for number, line in enumerate(iter(file.readline, b""), 1):
            end = start + len(line)
            try:
                found.append(read(json.loads(line)))
            except ValueError as error:
                if end < size:
                    raise UserError(f"{path} is damaged in line {number}: {error}") from error
                _log.warning("%s: dropped a half-written last line of %d bytes", path, len(line))
                file.truncate(start)
                break
            if not line.endswith(b"\n"):
                file.seek(0, os.SEEK_END)
                file.write(b"\n")
                break
            start = end
        file.flush()
        os.fsync(file.fileno())
    return found


def open_to_append(path: Path) -> int:
    """A file descriptor for `append`; the file is made if missing."""
    flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | getattr(os, "O_BINARY", 0)
    handle = os.open(path, flags, 0o644)
    _sync_folder(path.parent)
    return handle


def append(handle: int, data: bytes) -> None:
    """Add whole lines and return when they are on the disk; after an OSError none of them is."""
    before = os.fstat(handle).st_size
    try:
        view = memoryview(data)
        while view:
            view = view[os.write(handle, view) :]
        os.fsync(handle)
    except OSError:
        os.ftruncate(handle, before)  # a full disk must not leave half a line
        raise


def write_whole(path: Path, text: str | Iterable[str]) -> None:
    """Write a text file, complete or not at all, over one that may exist."""
    part = path.with_name(path.name + ".part")
    with part.open("w", encoding="utf-8", newline="\n") as file:
        file.writelines([text] if isinstance(text, str) else text)
        file.flush()
        os.fsync(file.fileno())
    part.replace(path)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # elsewhere a folder can't be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
