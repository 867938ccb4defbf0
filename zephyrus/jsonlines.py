"""Files that survive a killed process: appended whole lines, and whole replacements."""

from __future__ import annotations

import contextlib
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

    Nobody else may write at the time. A last line that was cut off, and so has no newline, is
    dropped from the file; one that lacks nothing but its newline gets it.

    Args:
        path: The file; it may be missing.
        read: Picks out of each line's JSON value what is wanted; a ValueError means damage.

    Raises:
        UserError: If a whole line is damaged, which no killed process leaves behind, or the file
            can't be written.
    """
    found: list[T] = []
    if not path.exists():
        return found
    start = 0
    with refusals(path), path.open("r+b") as file:
        for number, line in enumerate(iter(file.readline, b""), 1):
            try:
                found.append(read(json.loads(line)))
            except ValueError as error:
                if line.endswith(b"\n"):
                    raise damaged(path, number, error) from error
                _log.warning("%s: dropped a half-written last line of %d bytes", path, len(line))
                file.truncate(start)
                break
            if not line.endswith(b"\n"):
                file.seek(0, os.SEEK_END)
                file.write(b"\n")
                break
            start += len(line)
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


def write_whole(path: Path, content: str | bytes | Iterable[str]) -> None:
    """Write a file, complete or not at all, over one that may exist; its folder is made.

    Args:
        path: The file.
        content: All of it, or pieces of it; text is written as UTF-8.

    Raises:
        UserError: If it can't be written. What the pieces raise comes through as it is.
    """
    part = path.with_name(path.name + ".part")
    with refusals(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = part.open("wb")
    with file:
        for piece in [content] if isinstance(content, str | bytes) else content:
            data = piece if isinstance(piece, bytes) else piece.encode()
            with refusals(path):
                file.write(data)
        with refusals(path):
            file.flush()
            os.fsync(file.fileno())
    with refusals(path):
        part.replace(path)
        _sync_folder(path.parent)


def damaged(path: Path, number: int, error: ValueError) -> UserError:
    """A whole line that can't be read: somebody's edit, or a bad disk."""
    return UserError(
        f"{path} is damaged in line {number}: {error}; take that line out, and the same command "
        "does again what it held"
    )


@contextlib.contextmanager
def refusals(path: Path) -> Iterator[None]:
    """Tell a file that can't be written (no permission, no space) as the user's to mend."""
    try:
        yield
    except OSError as error:
        raise UserError(f"{path} can't be written: {error.strerror or error}") from error


def _sync_folder(folder: Path) -> None:
    if os.name == "posix":  # elsewhere a folder can't be opened
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
