"""Keeping memory between steps, on CPU.

A step of a small model with a large vocabulary makes some blocks of hundreds of megabytes (the logits)
and frees them. glibc gives such blocks back to the system and has each page zeroed anew when the next
comes: more than half of a step's time. Here they stay with the process while it does one thing. Before
it does another they are given back: sampling makes blocks of other sizes than training, and the memory
of both, in pieces too small for either, would grow from step to step.
"""

from __future__ import annotations

import ctypes
import os
import platform

_TRIM_THRESHOLD, _TOP_PAD, _MMAP_MAX = -1, -2, -4  # of malloc.h
_NEVER = -1  # as a size, the largest there is
_kept = False


def keep_memory() -> bool:
    """Have malloc keep what is freed; says whether it does.

    Only glibc is told, and only if nothing in the environment (``MALLOC_…_``) says how it should be.
    """
    if platform.libc_ver()[0] != "glibc" or any(key.startswith("MALLOC_") for key in os.environ):
        return False
    libc = ctypes.CDLL(None)
    options = ((_MMAP_MAX, 0), (_TRIM_THRESHOLD, _NEVER), (_TOP_PAD, 64 * 2**20))
    global _kept
    _kept = all(libc.mallopt(option, value) == 1 for option, value in options)
    return _kept


def release_memory() -> None:
    """Give the system back what is free, if malloc was told to keep it."""
    if _kept:
        ctypes.CDLL(None).malloc_trim(0)
