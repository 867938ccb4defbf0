"""What of an archive's folder is fetched already: one JSON line for each finished request.

A line is added when its file is whole on the disk, so a process may be killed at any moment: the
worst that is left is half a line at the end, which is passed over, and its request is made again.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sys
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from zephyrus_geodata.errors import GeodataError
from zephyrus_geodata.reports.spans import Span, missing

if sys.platform != "win32":
    import fcntl

NAME = "manifest.jsonl"

_log = logging.getLogger(__name__)


class ArchiveError(GeodataError):
    """A request for reports that can't be met as it stands, or a folder that is no archive."""


@dataclass(frozen=True, slots=True)
class Entry:
    """One finished request.

    Attributes:
        source: "iem" or "nws".
        pil: What was asked for, "PMDSPD" or "AFD".
        key: Of a file with one product, the product's id; else "".
        start: ISO time, UTC: first of the span that the file covers; of one product its time.
        end: ISO time, UTC, exclusive; of one product its time.
        open: Whether later products may still come into the span, so that it is asked again.
        file: Path below the archive's folder, with "/".
        url: What was asked.
        products: How many the file holds.
        sha256: Of the file.
        fetched: ISO time, UTC.
    """

    source: str
    pil: str
    key: str
    start: str
    end: str
    open: bool
    file: str
    url: str
    products: int
    sha256: str
    fetched: str

    @property
    def span(self) -> Span:
        """The span that the file covers."""
        return Span(datetime.fromisoformat(self.start), datetime.fromisoformat(self.end))


class Manifest:
    """The finished requests of an archive's folder.

    Args:
        folder: The archive; it may be missing or empty.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._entries: dict[str, Entry] = {}  # by file: a later line replaces an earlier one
        path = folder / NAME
        if path.exists():
            for line in path.read_bytes().split(b"\n"):
                entry = _entry(line)
                if entry is not None and (folder / entry.file).is_file():
                    self._entries[entry.file] = entry

    def entries(self) -> list[Entry]:
        """All whose file is there, ordered by file."""
        return [self._entries[name] for name in sorted(self._entries)]

    def closed(self, source: str, pil: str) -> list[Span]:
        """The spans that need not be asked again."""
        return [
            e.span
            for e in self._entries.values()
            if (e.source, e.pil) == (source, pil) and not e.open and not e.key
        ]

    def keys(self, source: str) -> set[str]:
        """The ids of the single products that are there."""
        return {e.key for e in self._entries.values() if e.source == source and e.key}

    def add(self, entry: Entry, data: bytes) -> Entry:
        """Keep a request's answer: first its file, then its line.

        Args:
            entry: What to record; its ``sha256`` is filled in.
            data: The file's content.

        Raises:
            ArchiveError: If it can't be written.
        """
        made = Entry(**{**asdict(entry), "sha256": hashlib.sha256(data).hexdigest()})
        write_whole(self.folder / made.file, data)
        line = json.dumps(asdict(made)).encode() + b"\n"
        try:
            _append(self.folder / NAME, line)
        except OSError as error:
            raise _refusal(self.folder / NAME, error) from error
        self._entries[made.file] = made
        return made

    def discard_open(self, source: str, pil: str) -> None:
        """Remove the files of open spans that closed ones have since replaced."""
        closed = self.closed(source, pil)
        for entry in list(self._entries.values()):
            mine = (entry.source, entry.pil) == (source, pil) and entry.open
            if mine and not missing(entry.span, closed):
                (self.folder / entry.file).unlink(missing_ok=True)
                del self._entries[entry.file]


@contextlib.contextmanager
def alone(folder: Path) -> Iterator[None]:
    """Keep other processes from fetching into a folder; a killed one leaves no lock behind.

    Raises:
        ArchiveError: If another process fetches into it, or it can't be made.
    """
    path = folder / ".lock"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        file = path.open("ab")
    except OSError as error:
        raise _refusal(path, error) from error
    with file:
        if sys.platform != "win32":
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise ArchiveError(
                    f"another process fetches into {folder}: wait for it, or use another --output"
                ) from error
            except OSError:  # some cluster file systems are mounted without locks
                _log.warning("%s: this file system has no locks", folder)
        yield


def write_whole(path: Path, data: bytes | Iterable[bytes]) -> None:
    """Write a file, complete or not at all, over one that may exist; its folder is made.

    Args:
        path: The file.
        data: All of it, or pieces of it.

    Raises:
        ArchiveError: If it can't be written.
    """
    part = path.with_name(path.name + ".part")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        with part.open("wb") as file:
            file.writelines([data] if isinstance(data, bytes) else data)
            file.flush()
            os.fsync(file.fileno())
        part.replace(path)
    except OSError as error:
        raise _refusal(path, error) from error


def _append(path: Path, line: bytes) -> None:
    with path.open("a+b") as file:
        file.seek(0, os.SEEK_END)
        if file.tell():
            file.seek(-1, os.SEEK_END)
            if file.read(1) != b"\n":  # a killed writer left half a line: end it
                line = b"\n" + line
        file.write(line)
        file.flush()
        os.fsync(file.fileno())


def _entry(line: bytes) -> Entry | None:
    try:
        value: Any = json.loads(line)
        entry = Entry(**value)
        _ = entry.span
        if not entry.file.startswith("raw/") or ".." in entry.file:
            return None  # a folder from elsewhere must not lead out of itself
    except (ValueError, TypeError, AttributeError):
        return None
    return entry


def _refusal(path: Path, error: OSError) -> ArchiveError:
    return ArchiveError(f"{path} can't be written: {error.strerror or error}")
