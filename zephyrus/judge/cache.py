"""Judgements that were paid for, on disk and shared between processes.

A SQLite file. What is put in is synced to disk before `JudgeCache.put` returns, so that neither a
killed process nor a power cut loses an answer; a killed writer leaves the file whole (write-ahead
log). Any number of processes of one machine may use one file at once. On a network file system
that several machines write to, give every machine a file of its own ($ZEPHYRUS_JUDGE_CACHE):
SQLite's log needs memory that the machines would have to share.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import logging
import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

import platformdirs

from zephyrus.errors import UserError
from zephyrus.lock import FileLock, LockHeldError

CACHE_VARIABLE = "ZEPHYRUS_JUDGE_CACHE"
BUSY_SECONDS = 60.0
"""How long to wait while another process writes."""

_log = logging.getLogger(__name__)
_SCHEMA = """
CREATE TABLE IF NOT EXISTS judgements (
    key TEXT PRIMARY KEY, value TEXT NOT NULL, made REAL NOT NULL
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS unreadable (
    key TEXT PRIMARY KEY, times INTEGER NOT NULL
) WITHOUT ROWID;
"""


def cache_path() -> Path:
    """Where judgements are kept unless another file is named.

    That is $ZEPHYRUS_JUDGE_CACHE, or ``judgements.sqlite`` in the user's cache folder.
    """
    named = os.environ.get(CACHE_VARIABLE)
    return Path(named) if named else platformdirs.user_cache_path("zephyrus") / "judgements.sqlite"


def cache_key(**parts: Any) -> str:
    """A key: a hash of plain values by name, the same in every process."""
    text = json.dumps(parts, sort_keys=True, ensure_ascii=True, separators=(",", ":"))
    return hashlib.blake2b(text.encode("ascii"), digest_size=20).hexdigest()


class JudgeCache:
    """Values (plain, as JSON) by key. One object serves any number of threads.

    A file that is damaged is set aside under another name with a warning, and a new one begun.
    Trouble with writing (a full disk) is a warning, too: a judgement is worth more than its copy.
    """

    def __init__(self, path: Path | None = None) -> None:
        """Open it, and make it if it isn't there.

        Args:
            path: The file; by default `cache_path`.

        Raises:
            UserError: If it can't be opened.
        """
        self.path = path or cache_path()
        self._lock = threading.RLock()
        self._connection: sqlite3.Connection | None = None
        self._process = 0
        self._warned = False
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            with self._lock:
                self._mended(lambda connection: connection.execute("SELECT 1 FROM judgements"))
        except (OSError, sqlite3.Error) as error:
            raise UserError(
                f"the judge cache {self.path} can't be opened ({error}): set ${CACHE_VARIABLE} to "
                "a file in a folder of yours"
            ) from None

    def get(self, key: str) -> Any | None:
        """The value under a key, None if there is none."""
        rows = self._run("SELECT value FROM judgements WHERE key = ?", (key,))
        if not rows:
            return None
        try:
            return json.loads(rows[0][0])
        except ValueError:
            return None

    def put(self, values: dict[str, Any]) -> None:
        """Keep values by key, all or none of them; they are on disk when this returns.

        A key that is there already keeps its value: the first judgement counts, in every process.
        """
        now = time.time()
        rows = [(key, json.dumps(value), now) for key, value in values.items()]
        self._run("INSERT OR IGNORE INTO judgements VALUES (?, ?, ?)", rows, many=True)

    def drop(self, keys: list[str]) -> None:
        """Forget what is under some keys."""
        self._run("DELETE FROM judgements WHERE key = ?", [(key,) for key in keys], many=True)

    def unreadable(self, key: str) -> int:
        """How many unreadable answers there have been under a key."""
        rows = self._run("SELECT times FROM unreadable WHERE key = ?", (key,))
        return int(rows[0][0]) if rows else 0

    def count_unreadable(self, key: str) -> None:
        """Note an unreadable answer: the next ask, also in another process, uses another seed."""
        self._run(
            "INSERT INTO unreadable VALUES (?, 1) ON CONFLICT (key) DO UPDATE SET times = times + 1",
            [(key,)],
            many=True,
        )

    def __len__(self) -> int:
        rows = self._run("SELECT count(*) FROM judgements", ())
        return int(rows[0][0]) if rows else 0

    def close(self) -> None:
        """Close the file; another call opens it again."""
        with self._lock:
            connection, self._connection = self._connection, None
            if connection is not None and self._process == os.getpid():
                connection.close()

    def _run(self, statement: str, values: Any, *, many: bool = False) -> list[Any]:
        def work(connection: sqlite3.Connection) -> list[Any]:
            if not many:
                return connection.execute(statement, values).fetchall()
            with connection:
                connection.executemany(statement, values)
            return []

        with self._lock:
            try:
                done: list[Any] = self._mended(work)
            except (sqlite3.Error, OSError) as error:
                if not self._warned:
                    self._warned = True
                    _log.warning(
                        "the judge cache %s can't be used (%s): judgements are not kept",
                        self.path,
                        error,
                    )
                return []
            return done

    def _mended(self, work: Any) -> Any:
        """Do something with the file; if that shows it to be damaged, with a new one."""
        try:
            return work(self._open())
        except sqlite3.DatabaseError as error:
            if not _is_damage(error):
                raise
            self._set_aside(error)
            return work(self._open())

    def _open(self) -> sqlite3.Connection:
        if self._connection is not None and self._process == os.getpid():
            return self._connection
        # A connection must not be used, nor closed, by a forked child.
        until = time.monotonic() + BUSY_SECONDS
        while True:
            try:
                connection = self._connect()
                break
            except sqlite3.OperationalError as error:
                if not _is(error, sqlite3.SQLITE_BUSY) or time.monotonic() > until:
                    raise
                time.sleep(0.01)
        self._connection, self._process = connection, os.getpid()
        return connection

    def _connect(self) -> sqlite3.Connection:
        """A new connection, to a file that is set up.

        Where several processes set up one new file, SQLite tells some of them at once, in spite of
        the time they would wait, that it is busy: each holds what another waits for.
        """
        connection = sqlite3.connect(self.path, timeout=BUSY_SECONDS, check_same_thread=False)
        try:
            connection.execute("PRAGMA journal_mode = WAL")
            connection.execute("PRAGMA synchronous = FULL")
            connection.executescript(_SCHEMA)
        except BaseException:
            connection.close()
            raise
        return connection

    def _set_aside(self, error: sqlite3.DatabaseError) -> None:
        """Give the damaged file another name, unless another process has just done so."""
        self.close()
        with _locked(self.path.with_name(self.path.name + ".lock")):
            if not _damaged(self.path):
                return
            aside = self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}")
            for suffix in ("-wal", "-shm", ""):
                part = self.path.with_name(self.path.name + suffix)
                with contextlib.suppress(FileNotFoundError):
                    part.rename(aside.with_name(aside.name + suffix))
        _log.warning(
            "the judge cache %s is damaged (%s): it is now %s, and a new one begins",
            self.path,
            error,
            aside.name,
        )


def _is(error: sqlite3.Error, *codes: int) -> bool:
    code = getattr(error, "sqlite_errorcode", None)
    return code is not None and code & 0xFF in codes


def _is_damage(error: sqlite3.DatabaseError) -> bool:
    return _is(error, sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB)


def _damaged(path: Path) -> bool:
    connection = sqlite3.connect(path, timeout=BUSY_SECONDS)
    try:
        return bool(connection.execute("PRAGMA quick_check").fetchone()[0] != "ok")
    except sqlite3.DatabaseError as error:
        return _is_damage(error)
    finally:
        connection.close()


@contextlib.contextmanager
def _locked(path: Path) -> Any:
    until = time.monotonic() + BUSY_SECONDS
    while True:
        try:
            lock = FileLock(path)
            break
        except LockHeldError:
            if time.monotonic() > until:
                raise OSError(f"{path} stays locked") from None
            time.sleep(0.05)
    try:
        yield
    finally:
        lock.release()
