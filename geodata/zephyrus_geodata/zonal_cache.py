"""The file that keeps the zones of a feature set on a grid, so that they are built once."""

import os
import tempfile
import zipfile
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from hashlib import blake2b
from pathlib import Path
from typing import Any

import numpy as np
import platformdirs
from numpy.typing import NDArray

from zephyrus_geodata.cells import AnyGrid
from zephyrus_geodata.features import Feature

VERSION = 1
"""Raise this when zones are computed differently: files of another version are not read."""

Row = tuple[NDArray[np.intp], NDArray[np.float64], bool]
"""Cells, weights and fallback of one feature."""


def default_dir() -> Path:
    """The user's cache folder for zones."""
    return Path(platformdirs.user_cache_dir("zephyrus", appauthor=False)) / "zones"


def digest(features: Iterable[Feature], grid: AnyGrid) -> str:
    """Name of the file: a hash of keys and shapes, the grid and the version."""
    hasher = blake2b(f"{VERSION} {grid.key}".encode(), digest_size=16)
    for feature in features:
        hasher.update(f"\n{feature.key} {len(feature.wkb)} ".encode() + feature.wkb)
    return hasher.hexdigest()


def read(path: Path, count: int, size: int) -> list[Row] | None:
    """Read the zones of ``count`` features on a grid of ``size`` cells.

    Returns:
        One row per feature, or None if the file is missing, damaged or does not fit.
    """
    try:
        with np.load(path, allow_pickle=False) as file:
            starts, cells, weights, fallback = (
                file[name] for name in ("starts", "cells", "weights", "fallback")
            )
    except (OSError, EOFError, KeyError, ValueError, zipfile.BadZipFile):
        return None
    sound = (
        starts.shape == (count + 1,)
        and fallback.shape == (count,)
        and cells.shape == weights.shape == (starts[-1],)
        and starts[0] == 0
        and bool((np.diff(starts) >= 0).all())
        and bool(((cells >= 0) & (cells < size) & (weights > 0.0)).all())
    )
    if not sound:
        return None
    cells = cells.astype(np.intp)
    for array in (cells, weights):
        array.setflags(write=False)
    return list(_rows(starts.tolist(), cells, weights, fallback.tolist()))


def write(path: Path, rows: Sequence[Row]) -> None:
    """Write whole or not at all; a folder that can't be written is passed over."""
    sizes = [cells.size for cells, _, _ in rows]
    with suppress(OSError):
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(dir=path.parent, suffix=".tmp")
        try:
            with os.fdopen(handle, "wb") as file:
                np.savez(
                    file,
                    starts=np.cumsum([0, *sizes]),
                    cells=_joined([cells for cells, _, _ in rows]).astype(np.int32),
                    weights=_joined([weights for _, weights, _ in rows]).astype(np.float64),
                    fallback=np.array([fallback for _, _, fallback in rows], dtype=bool),
                )
            Path(name).replace(path)
        finally:
            Path(name).unlink(missing_ok=True)


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    return np.concatenate(arrays) if arrays else np.empty(0)


def _rows(
    starts: list[int],
    cells: NDArray[np.intp],
    weights: NDArray[np.float64],
    fallback: list[bool],
) -> Iterator[Row]:
    for i, small in enumerate(fallback):
        span = slice(starts[i], starts[i + 1])
        yield cells[span], weights[span], small
