"""The folder that keeps the zones of a feature set on a grid, so that they are built once.

Its arrays are memory-mapped: processes share their pages, and opening them copies nothing.
"""

import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.zones import Zones

VERSION = 2
"""Raise this when zones are computed or kept differently: other versions are not read."""

_ARRAYS = {"starts": np.int64, "cells": np.int32, "weights": np.float64, "fallback": np.bool_}
_SEAL = "seal.npy"


def default_dir() -> Path:
    """The user's cache folder for zones."""
    import platformdirs

    return Path(platformdirs.user_cache_dir("zephyrus", appauthor=False)) / "zones"


def read(folder: Path, count: int, size: int) -> Zones | None:
    """Map the zones of ``count`` features on a grid of ``size`` cells; read-only.

    Returns:
        The zones, or None if the folder is missing, damaged or does not fit.
    """
    try:
        arrays = {
            # asarray: arithmetic on numpy.memmap objects is several times slower.
            name: np.asarray(np.load(folder / f"{name}.npy", mmap_mode="r", allow_pickle=False))
            for name in _ARRAYS
        }
        seal = np.load(folder / _SEAL, allow_pickle=False)
    except (OSError, EOFError, ValueError):
        return None
    if any(
        arrays[name].dtype != dtype or arrays[name].ndim != 1 for name, dtype in _ARRAYS.items()
    ):
        return None
    zones = Zones(**arrays)
    sound = (
        zones.starts.size == count + 1
        and zones.fallback.size == count
        and zones.cells.size == zones.weights.size == zones.starts[-1]
        and zones.starts[0] == 0
        and bool((np.diff(zones.starts) >= 0).all())
        and np.array_equal(_seal(zones, size), seal)
    )
    return zones if sound else None


def write(folder: Path, zones: Zones, size: int) -> None:
    """Write the zones of a grid of ``size`` cells, whole or not at all; a place that can't be written is passed over."""
    with suppress(OSError):
        folder.parent.mkdir(parents=True, exist_ok=True)
        made = Path(tempfile.mkdtemp(dir=folder.parent, suffix=".tmp"))
        try:
            for name in _ARRAYS:
                np.save(made / f"{name}.npy", getattr(zones, name), allow_pickle=False)
            np.save(made / _SEAL, _seal(zones, size), allow_pickle=False)
            if folder.is_dir() and not folder.is_symlink():
                # What lies there was refused. Another process may have just put a good one in
                # its place, or be about to: then the rename fails, and that one is as good.
                shutil.rmtree(folder, ignore_errors=True)
            else:
                folder.unlink(missing_ok=True)
            made.rename(folder)
        finally:
            shutil.rmtree(made, ignore_errors=True)


def _seal(zones: Zones, size: int) -> NDArray[np.uint64]:
    """Return a sum over the bits of each array, at the speed of memory: any flipped bit shows."""
    sums = [_bits(getattr(zones, name)) for name in _ARRAYS]
    return np.array([*sums, size], dtype=np.uint64)


def _bits(array: NDArray[Any]) -> np.uint64:
    raw = array.view(np.uint8)
    whole = raw.size // 8 * 8
    rest = raw[whole:].sum(dtype=np.uint64)
    summed: np.uint64 = raw[:whole].view(np.uint64).sum(dtype=np.uint64) + rest
    return summed
