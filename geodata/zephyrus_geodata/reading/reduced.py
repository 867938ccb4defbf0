"""Reduced Gaussian grids, whose rows have fewer points towards the poles, made full.

Each row keeps its latitude and gets as many equal cells as the longest row has. A new cell has
the mean of the old cells that it overlaps, weighted by the overlap, so that the mean of every row
and with it of the globe stays the same. At the equator nothing changes; near the poles a value is
repeated. No value is invented: minima and maxima stay.
"""

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.grid import Grid

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

Floats = NDArray[np.float64]


class ReducedGrid:
    """The full grid of a reduced one, and what carries values to it.

    Attributes:
        grid: the full grid.
        weights: (cell, point) share of each point in each cell; rows add up to 1.
    """

    grid: Grid
    weights: "csr_matrix"

    def __init__(self, latitude: Floats, longitude: Floats) -> None:
        """Find the rows among points.

        Args:
            latitude: (point,) degrees north; the points of a row follow one another.
            longitude: (point,) degrees east.

        Raises:
            UnsuitableData: if the points are not in rows that go round the Earth evenly.
        """
        starts = np.flatnonzero(np.append(True, np.abs(np.diff(latitude)) > 1e-6))
        lengths = np.diff(np.append(starts, latitude.size))
        rows = latitude[starts]
        count = int(lengths.max())
        if starts.size < 2 or np.unique(np.round(rows, 6)).size != rows.size:
            raise UnsuitableData("The points of the reduced grid are not in rows of one latitude.")
        columns = np.arange(count) * (360.0 / count)
        cells, points, shares = [], [], []
        for row, (start, length) in enumerate(zip(starts, lengths, strict=True)):
            lon = longitude[start : start + length]
            if length < 2 or not _even(lon):
                raise UnsuitableData(
                    "The rows of the reduced grid don't go round the Earth evenly, so it is part "
                    "of one; convert it first, for example: cdo setgridtype,regular IN OUT."
                )
            cell, point, share = _overlaps(float(lon[0]), int(length), count)
            cells.append(row * count + cell)
            points.append(start + point)
            shares.append(share)
        from scipy.sparse import csr_matrix

        weights = csr_matrix(
            (np.concatenate(shares), (np.concatenate(cells), np.concatenate(points))),
            shape=(rows.size * count, latitude.size),
        )
        self.grid, ilat, ilon = Grid.from_coords(rows, columns)
        order = (ilat[:, None] * count + ilon).ravel()
        self.weights = weights[order]

    def gather(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Carry (..., point) to (..., cell); missing points count for nothing."""
        flat = values.reshape(-1, values.shape[-1]).T.astype(np.float64)
        there = np.isfinite(flat)
        if there.all():
            full = self.weights @ flat
        else:
            share = self.weights @ there.astype(np.float64)
            summed = self.weights @ np.where(there, flat, 0.0)
            full = np.divide(summed, share, out=np.full_like(summed, np.nan), where=share > 1e-9)
        carried: NDArray[np.float32] = full.T.astype(np.float32)
        return carried.reshape(*values.shape[:-1], -1)


def _even(longitude: Floats) -> bool:
    steps = np.diff(np.append(longitude, longitude[0] + 360.0)) % 360.0
    return bool(np.abs(steps - 360.0 / longitude.size).max() < 1e-2)


def _overlaps(first: float, length: int, count: int) -> tuple[Any, Any, Floats]:
    """Return new cells, old cells and shares of a row; new cells are centred on 0, 360/count, …."""
    old, new = 360.0 / length, 360.0 / count
    start = -0.5 * new
    # All edges of both in one turn, from the western edge of the first new cell.
    old_edges = (first - 0.5 * old + old * np.arange(length) - start) % 360.0
    edges = np.sort(np.concatenate([old_edges, new * np.arange(count), [360.0]]))
    middle, width = 0.5 * (edges[1:] + edges[:-1]), np.diff(edges)
    wide = width > 1e-9
    middle, width = middle[wide], width[wide]
    cell = np.minimum((middle / new).astype(np.intp), count - 1)
    point = ((middle + start - first + 0.5 * old) // old).astype(np.intp) % length
    return cell, point, width / new
