"""The cells of features: of one, and of many in one piece of memory."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, TypeVar, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

_Array = TypeVar("_Array", bound=NDArray[Any])


@dataclass(frozen=True, eq=False)
class Zone:
    """The cells of one feature.

    Attributes:
        cells: (n,) cell indices, ascending.
        weights: (n,) covered fraction x spherical cell area, m2, all positive.
        fallback: True if the feature is a polygon smaller than the grid cell it lies in, so that
            the cells say little about the feature itself.
    """

    cells: NDArray[np.integer[Any]]
    weights: NDArray[np.float64]
    fallback: bool


@dataclass(frozen=True, eq=False)
class Zones(Sequence[Zone]):
    """The cells of many features, one behind the other (a sparse matrix in CSR form).

    Zone ``i`` has the cells ``cells[starts[i] : starts[i + 1]]``; one without cells belongs to a
    feature outside the grid.

    Attributes:
        starts: (zone + 1,) int64.
        cells: (n,) int32 cell indices, ascending within a zone.
        weights: (n,) float64, m2, all positive.
        fallback: (zone,) bool, see ``Zone``.
    """

    starts: NDArray[np.int64]
    cells: NDArray[np.int32]
    weights: NDArray[np.float64]
    fallback: NDArray[np.bool_]

    @classmethod
    def of(cls, zones: Iterable[Zone]) -> "Zones":
        """Join zones, in their order."""
        if isinstance(zones, Zones):
            return zones
        rows = list(zones)
        sizes = [zone.cells.size for zone in rows]
        starts = np.zeros(len(rows) + 1, dtype=np.int64)
        np.cumsum(sizes, out=starts[1:])
        cells = np.empty(starts[-1], dtype=np.int32)
        weights = np.empty(starts[-1])
        if rows:
            np.concatenate([zone.cells for zone in rows], out=cells, casting="same_kind")
            np.concatenate([zone.weights for zone in rows], out=weights)
        fallback = np.array([zone.fallback for zone in rows], dtype=bool)
        return cls(frozen(starts), frozen(cells), frozen(weights), frozen(fallback))

    def take(self, rows: ArrayLike) -> "Zones":
        """Return the zones of these rows, in this order."""
        index = np.asarray(rows, dtype=np.int64)
        first, sizes = self.starts[index], self.sizes[index]
        starts = np.zeros(index.size + 1, dtype=np.int64)
        np.cumsum(sizes, out=starts[1:])
        at = np.arange(starts[-1]) + np.repeat(first - starts[:-1], sizes)
        return Zones(
            frozen(starts),
            frozen(self.cells[at]),
            frozen(self.weights[at]),
            frozen(self.fallback[index]),
        )

    @cached_property
    def sizes(self) -> NDArray[np.int64]:
        """(zone,) how many cells each has."""
        return frozen(np.diff(self.starts))

    def __len__(self) -> int:
        return self.fallback.size

    @overload
    def __getitem__(self, index: int) -> Zone: ...
    @overload
    def __getitem__(self, index: slice) -> "Zones": ...
    def __getitem__(self, index: int | slice) -> "Zone | Zones":
        """Return one zone, or those of a slice; the arrays are views where they can be."""
        if isinstance(index, slice):
            return self.take(np.arange(len(self))[index])
        row = range(len(self))[index]  # counts from the end too, and raises IndexError
        span = slice(self.starts[row], self.starts[row + 1])
        return Zone(self.cells[span], self.weights[span], bool(self.fallback[row]))

    def __iter__(self) -> Iterator[Zone]:
        starts, fallback = self.starts.tolist(), self.fallback.tolist()
        for first, last, small in zip(starts[:-1], starts[1:], fallback, strict=True):
            yield Zone(self.cells[first:last], self.weights[first:last], small)

    def __repr__(self) -> str:
        return f"Zones({len(self)} zones of {self.cells.size} cells)"


def frozen(array: _Array) -> _Array:
    """Return the same array, from now on read-only."""
    array.setflags(write=False)
    return array
