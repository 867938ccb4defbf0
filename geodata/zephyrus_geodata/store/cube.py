"""The feature cube of a variable: its statistics over every named feature at every lead time.

It lies beside the variable's array, in a folder that is named by feature set, grid and version of
the weights, so that what was computed for others is not found::

    forecasts/DATE/VARIABLE.npy
    forecasts/DATE/cube-KEY/VARIABLE.npy    float64 (statistic, feature, time)

The statistics are mean, min, max and, unless it would take too long, median. Of an ensemble they
are those of its mean field. A feature outside the grid is NaN.
"""

import shutil
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import acceleration, zonal_cache
from zephyrus_geodata.cells import AnyGrid
from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.features import FeatureStore
from zephyrus_geodata.store import arrays
from zephyrus_geodata.store.fill import BUDGET
from zephyrus_geodata.zonal import Stat, ZonalIndex, Zones, zonal_tables

STATISTICS: tuple[Stat, ...] = ("mean", "min", "max", "median")

LEAST_CELLS = 40_000
"""Coarser grids have no cubes: those of 2,500 features would take more than half as much room as the
fields that they are of, and what is not there is computed in a moment."""

_SLOW_MEDIANS = 10_000_000
"""Numbers that medians are taken of without numba, at most: a second's work. The shipped features
have 95 million at 0.25 degrees and 41 lead times, which is a second with numba and ten without."""

_PREFIX = "cube-"

Load = Callable[[], FeatureStore]


def read(folder: Path, variable: str, key: str) -> Mapping[str, NDArray[np.float64]]:
    """Return statistic -> (feature, time) of a variable; empty if that was not computed.

    Args:
        folder: of the forecast.
        variable: its name.
        key: of the ``ZonalIndex``.
    """
    try:
        cube = np.asarray(np.load(_path(folder, variable, key), mmap_mode="r"))
    except (OSError, ValueError, EOFError):  # none, or a damaged one: the fields say it all
        return {}
    if cube.ndim != 3 or cube.dtype != np.float64:
        return {}
    return dict(zip(STATISTICS, cube, strict=False))


class CubeMaker:
    """Makes the cubes of one grid for the named features."""

    def __init__(self, grid: AnyGrid, steps: int, load: Load = FeatureStore.load) -> None:
        """Nothing is loaded or computed until it is needed.

        Args:
            grid: the cells of all forecasts.
            steps: lead times of each.
            load: returns the features.
        """
        self._grid, self._steps, self._load = grid, steps, load

    @property
    def is_worthwhile(self) -> bool:
        """Whether forecasts on this grid should have cubes."""
        return self._grid.has_areas and self._grid.size >= LEAST_CELLS

    @property
    def bytes(self) -> int:
        """Size of one cube."""
        return 8 * len(STATISTICS) * len(self.features) * self._steps

    @cached_property
    def features(self) -> FeatureStore:
        """The features, in the order of the cubes."""
        return self._load()

    @cached_property
    def index(self) -> ZonalIndex:
        """The features on the grid."""
        return ZonalIndex(self._grid, self.features, cache_dir=zonal_cache.default_dir())

    @cached_property
    def _zones(self) -> Zones:
        return self.index.build()

    @cached_property
    def _statistics(self) -> tuple[Stat, ...]:
        return STATISTICS if _has_medians(self._zones, self._steps) else STATISTICS[:-1]

    def make(self, path: Path) -> bool:
        """Make the cube of a variable, if it is not there; return whether it was made.

        Cubes of the forecast for other features or weights are deleted: only an older or a newer
        zephyrus could use them.

        Args:
            path: the variable's (cell, time) array, float32.

        Raises:
            UnsuitableData: if the array is gone or damaged.
            OSError: if the disk is full; then there is no cube.
        """
        folder, variable = path.parent, path.name.split(".", 1)[0]
        target = _path(folder, variable, self.index.key)
        if self.is_there(path):
            return False
        if not target.parent.is_dir():
            for other in folder.glob(f"{_PREFIX}*"):
                shutil.rmtree(other, ignore_errors=True)
            target.parent.mkdir()
        shape = (len(self._statistics), len(self.features), self._steps)
        cube = np.empty(shape)
        for span, values in _spans(path, (self._grid.size, self._steps)):
            found = zonal_tables(values, self._zones, self._statistics)
            for layer, stat in enumerate(self._statistics):
                cube[layer, :, span] = found[stat]
            del values  # before the next are read
        arrays.write(target, shape, [cube], "<f8")
        return True

    def is_there(self, path: Path) -> bool:
        """Say whether the cube of an array is there and whole, with all that would be made."""
        folder, variable = path.parent, path.name.split(".", 1)[0]
        with suppress(OSError, ValueError, EOFError):
            cube = np.load(_path(folder, variable, self.index.key), mmap_mode="r")
            there: tuple[int, ...] = cube.shape
            return (
                cube.dtype == np.float64
                and there[1:] == (len(self.features), self._steps)
                and (there[0] == len(STATISTICS) or there[0] == len(self._statistics))
            )
        return False


def _path(folder: Path, variable: str, key: str) -> Path:
    return folder / f"{_PREFIX}{key}" / f"{variable}.npy"


def _spans(path: Path, shape: tuple[int, int]) -> Iterator[tuple[slice, NDArray[np.float32]]]:
    """Give an array some steps at a time, as many as may be held: (cell, some steps).

    It is read, not mapped: the pages of a map would all count as memory of this process.
    """
    cells, steps = shape
    some = min(steps, max(1, BUDGET // (4 * cells)))
    rows = max(1, BUDGET // (16 * steps))
    if arrays.read(path).shape != shape:
        raise UnsuitableData(f"{path} is damaged: add the dataset again.")
    begin = path.stat().st_size - 4 * cells * steps
    for start in range(0, steps, some):
        span = slice(start, min(start + some, steps))
        values = np.empty((cells, span.stop - start), dtype=np.float32)
        with path.open("rb") as file:
            file.seek(begin)
            for row in range(0, cells, rows):
                count = min(rows, cells - row)
                block = np.fromfile(file, dtype="<f4", count=count * steps)
                values[row : row + count] = block.reshape(count, steps)[:, span]
                del block
        yield span, values
        del values


def _has_medians(zones: Zones, steps: int) -> bool:
    """Whether medians don't hold an ingest up; else they are taken when they are asked for."""
    numbers = zones.cells.size * steps
    return numbers <= _SLOW_MEDIANS or acceleration.kernels(2 * numbers) is not None
