"""A lock on a run folder, so that two processes never write one run.

The operating system holds it for us: it goes away with its process, also one that was killed, so
that there is no stale lock to clear by hand.
"""

from __future__ import annotations

import contextlib
import errno
import logging
import os
import socket
import sys
from pathlib import Path

if sys.platform == "win32":
    import msvcrt

    def _claim(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _claim(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


_HELD = {errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK}
_log = logging.getLogger(__name__)
_LENGTH = 200
_OWNER = 1  # byte 0 is what is locked; the owner's name follows, readable for others on any system


class LockHeldError(Exception):
    """Somebody else has the lock; the message names the owner ("process 123 on host")."""


class FileLock:
    """An exclusive lock, taken on construction and given back by `release`.

    Args:
        path: The lock file; it stays behind, empty of meaning, when the lock is released.

    Raises:
        LockHeldError: If another `FileLock`, here or in another process, holds it.
        OSError: If the file can't be made.
    """

    def __init__(self, path: Path) -> None:
        self._handle: int | None = None
        handle = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
        try:
            _claim(handle)
        except OSError as error:
            if error.errno not in _HELD:  # some cluster file systems are mounted without locks
                _log.warning("%s: this file system has no locks (%s)", path, error)
            else:
                os.lseek(handle, _OWNER, os.SEEK_SET)
                owner = os.read(handle, _LENGTH).decode("utf-8", "replace").strip()
                os.close(handle)
                raise LockHeldError(owner or "another process") from error
        owner = f"process {os.getpid()} on {socket.gethostname()}"
        with contextlib.suppress(OSError):  # a full disk: the name is a courtesy, the lock holds
            os.write(handle, b"\n" + owner.encode().ljust(_LENGTH - 1)[: _LENGTH - 1])
        self._handle = handle

    def release(self) -> None:
        """Give the lock back; harmless when that is done already."""
        if self._handle is not None:
            os.close(self._handle)
            self._handle = None
