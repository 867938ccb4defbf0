"""One process at a time may change a dataset; reading needs no lock.

The operating system holds the lock, so it goes away with its process, also one that was killed.
"""

import errno
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from zephyrus_geodata.errors import StoreFailure

if sys.platform == "win32":
    import msvcrt

    def _claim(handle: int) -> None:
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
else:
    import fcntl

    def _claim(handle: int) -> None:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)


_HELD = (errno.EAGAIN, errno.EWOULDBLOCK, errno.EACCES, errno.EDEADLK)


@contextmanager
def locked(root: Path, name: str) -> Iterator[None]:
    """Hold the lock of the dataset ``name`` below ``root``.

    Raises:
        StoreFailure: if another process holds it.
    """
    folder = root / ".locks"
    folder.mkdir(parents=True, exist_ok=True)
    handle = os.open(folder / name, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        try:
            _claim(handle)
        except OSError as error:
            if error.errno in _HELD:
                os.lseek(handle, 1, os.SEEK_SET)  # byte 0 is what is locked
                owner = os.read(handle, 20).decode("ascii", "replace").strip()
                raise StoreFailure(
                    f"The dataset {name!r} is being changed by process {owner or '?'}: "
                    "wait for it, and try again."
                ) from None
            # Some cluster file systems have no locks; that is no reason to refuse the work.
        with suppress(OSError):  # a full disk: the number is a courtesy, the lock holds
            os.lseek(handle, 1, os.SEEK_SET)
            os.write(handle, str(os.getpid()).ljust(20).encode())
        yield
    finally:
        os.close(handle)
