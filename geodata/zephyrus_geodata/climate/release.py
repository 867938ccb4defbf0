"""Giving memory back: what was freed in one phase of a build must not count in the next."""

import ctypes
import gc
import sys
from contextlib import suppress


def release() -> None:
    """Return freed memory to the system.

    Dask's graphs are cycles that only the collector frees, and glibc keeps what each thread freed
    for that thread: reading and computing would add up.
    """
    gc.collect()
    if sys.platform == "linux":
        with suppress(OSError, AttributeError):  # another C library
            ctypes.CDLL(None).malloc_trim(0)
