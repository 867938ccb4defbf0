"""Where points lie among quadrilaterals in rows and columns that share their corners."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from scipy.spatial import cKDTree

Floats = NDArray[np.float64]

_COARSE = 8  # corners between those where the search for a place starts
_ROUNDS = 40
_DONE = 1e-9  # cells


class Quadrilaterals:
    """Carries points of a plane to the coordinates of rows and columns.

    The corner between rows r-1, r and columns c-1, c is at (c, r), and each cell is bilinear
    between its corners, so that neighbours agree on the edge between them.
    """

    def __init__(self, corners: Floats) -> None:
        """Take the (rows + 1, columns + 1, 2) corners."""
        self.corners = corners

    def index(self, points: Floats) -> Floats:
        """Return (point, 2) column and row, fractional, of points of the plane.

        Newton's method, started at the nearest of some corners. A point on the outer edge may
        come out a rounding error outside and is put back.

        Args:
            points: (point, 2) in or on the edge of the quadrilaterals.
        """
        tree, places = self._starts
        index = places[tree.query(points)[1]].copy()
        last = np.array([self.corners.shape[1] - 2, self.corners.shape[0] - 2])
        active = np.arange(len(points))
        for _ in range(_ROUNDS):
            move = self._step(points[active], index[active], last)
            index[active] = np.clip(index[active] + move, -1.0, last + 2.0)
            active = active[np.abs(move).max(axis=1) > _DONE]
            if not active.size:
                break
        found: Floats = np.clip(index, 0.0, last + 1.0)
        return found

    def _step(self, points: Floats, at: Floats, last: NDArray[np.intp]) -> Floats:
        """Return how far to go in columns and rows from where the search is."""
        cell = np.clip(np.floor(at), 0, last).astype(np.intp)
        c, r = cell[:, 0], cell[:, 1]
        a, b = self.corners[r, c], self.corners[r, c + 1]
        d, e = self.corners[r + 1, c], self.corners[r + 1, c + 1]
        u, v = (at - cell)[:, :1], (at - cell)[:, 1:]
        du = (1.0 - v) * (b - a) + v * (e - d)
        dv = (1.0 - u) * (d - a) + u * (e - b)
        miss = points - (a + u * (b - a) + v * (d - a) + u * v * (a - b - d + e))
        determinant = du[:, 0] * dv[:, 1] - du[:, 1] * dv[:, 0]
        columns = (miss[:, 0] * dv[:, 1] - miss[:, 1] * dv[:, 0]) / determinant
        rows = (du[:, 0] * miss[:, 1] - du[:, 1] * miss[:, 0]) / determinant
        move: Floats = np.stack([columns, rows], axis=-1)
        return np.clip(move, -2.0 * _COARSE, 2.0 * _COARSE)

    @cached_property
    def _starts(self) -> "tuple[cKDTree, Floats]":
        """A tree of some corners, and their places among rows and columns."""
        from scipy.spatial import cKDTree

        rows, columns = (every_few(n) for n in self.corners.shape[:2])
        points = self.corners[np.ix_(rows, columns)].reshape(-1, 2)
        row, column = np.meshgrid(rows, columns, indexing="ij")
        places = np.stack([column.ravel(), row.ravel()], axis=-1).astype(np.float64)
        return cKDTree(points), places


def every_few(count: int) -> NDArray[np.intp]:
    """Return some of ``count`` indices, evenly, the first and last included."""
    return np.unique(np.append(np.arange(0, count, _COARSE), count - 1))
