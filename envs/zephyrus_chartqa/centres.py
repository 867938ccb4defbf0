"""Highs and lows: those that a chart marks are those that facts are about.

A centre is a cell that is the extreme of a closed contour: the connected cells whose smoothed value
is within some depth of its own hold none that is more extreme, and don't reach the edge of what is
known. The depth goes to the next line of the chart, if that is nearer than half of the interval
between lines, but is at least 0.5 hPa or 5 gpm. Fine grids are smoothed to some 100 km first, on
large regions more, by means over blocks of cells; the value told is that of the extreme cell
itself. Centres too near to another to be marked apart are left out, the ones less far from the
region's median first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from zephyrus_chartqa.fields import ChartData
from zephyrus_chartqa.levels import contour_step
from zephyrus_geodata.grid import EARTH_RADIUS
from zephyrus_geodata.sphere import unit_vectors

_MARKED = ("geopotential_500", "mean_sea_level_pressure")
_SMOOTH, _SHARE = 100_000.0, 0.125  # m, and of that: cells are put together up to this
_APART = 0.085  # of the root of the region's area: how far centres are apart
_BLOCKS = 2.0  # two centres are apart by more than this many blocks
_LEAST = {"gpm": 5.0, "hPa": 0.5}  # the depth of a closed contour
_REACH = 2  # blocks each way of which a centre is the extreme, if so many can't be told apart
_MOST = 0.35  # of all blocks: a closed contour around more is the flat rest of the world
_NEIGHBOURS = np.ones((3, 3), dtype=int)  # cells that touch at a corner are connected
_POLE = 89.0  # degrees: rows that reach it have no edge there

Kind = Literal["high", "low"]
Floats = NDArray[np.float64]

_SIGNS: dict[Kind, float] = {"high": 1.0, "low": -1.0}


@dataclass(frozen=True)
class Centre:
    """A high or a low.

    Attributes:
        kind: "high" or "low".
        latitude: Of the centre of its extreme cell, degrees north.
        longitude: Degrees east, as in the chart's data: may be beyond 180.
        value: There, in the chart's units.
        row: Of the cell in the chart's arrays.
        column: Likewise.
    """

    kind: Kind
    latitude: float
    longitude: float
    value: float
    row: int
    column: int


def centres(data: ChartData) -> tuple[Centre, ...]:
    """Return the highs and lows of a chart of pressure or height, the most extreme first.

    Args:
        data: Any chart; those of other elements, and of surface pressure, have none.
    """
    if data.way.variables[0] not in _MARKED:
        return ()
    apart = _APART * float(np.sqrt(data.area[data.inside].sum()))
    cell = float(np.sqrt(np.median(data.area)))
    size = round(max(_SMOOTH, _SHARE * apart) / cell)
    size = max(1, min(size, *(n // 4 for n in data.values.shape)))
    apart = max(apart, _BLOCKS * size * cell)
    reach = int(np.clip(apart / (size * cell), 1, _REACH))
    smooth = _smoothed(data.values, size)
    step, least = contour_step(data), _LEAST[data.units]
    edge = _edge(smooth, data)
    middle = float(np.nanmedian(data.values[data.inside]))
    kept: list[Centre] = []
    for kind, row, column in _candidates(smooth, middle, reach, edge, around=data.around):
        centre = _at_extreme(data, size, (row, column), kind)
        if not data.inside[centre.row, centre.column] or _near(centre, kept, apart):
            continue
        sign = 1.0 if kind == "high" else -1.0
        if _closed(sign * smooth, (row, column), step, least, edge, around=data.around):
            kept.append(centre)
    return tuple(sorted(kept, key=lambda centre: -abs(centre.value - middle)))


def _smoothed(values: Floats, size: int) -> Floats:
    """Means over square blocks of some cells; of those that have data."""
    if size == 1:
        return values
    there = np.isfinite(values)
    sums, counts = np.where(there, values, 0.0), there.astype(np.float64)
    for axis, count in enumerate(values.shape):
        starts = np.arange(0, count, size)
        sums = np.add.reduceat(sums, starts, axis=axis)
        counts = np.add.reduceat(counts, starts, axis=axis)
    means: Floats = np.divide(sums, counts, out=np.full(sums.shape, np.nan), where=counts > 0)
    return means


def _candidates(
    field: Floats, middle: float, reach: int, edge: NDArray[np.bool_], *, around: bool
) -> list[tuple[Kind, int, int]]:
    """Blocks that are the extreme of those near them, one of each plateau, the extreme first."""
    found: list[tuple[float, Kind, int, int]] = []
    for kind, sign in _SIGNS.items():
        known = np.where(np.isfinite(field), sign * field, -np.inf)
        mode = ("nearest", "wrap" if around else "nearest")
        top = known >= ndimage.maximum_filter(known, size=2 * reach + 1, mode=mode)
        plateaus, _ = ndimage.label(top & ~edge, _NEIGHBOURS)
        _, first = np.unique(plateaus, return_index=True)
        for row, column in zip(*np.unravel_index(first, field.shape), strict=True):
            if plateaus[row, column]:
                far = abs(float(field[row, column]) - middle)
                found.append((-far, kind, int(row), int(column)))
    return [(kind, row, column) for _, kind, row, column in sorted(found)]


def _closed(
    field: Floats,
    cell: tuple[int, int],
    step: float,
    least: float,
    edge: NDArray[np.bool_],
    *,
    around: bool,
) -> bool:
    """Whether a closed contour is around the highest block of some.

    Args:
        field: (row, column) of blocks.
        cell: Row and column of the block.
        step: Between the chart's lines, at multiples of it.
        least: The least depth.
        edge: (row, column) where the known ends.
        around: Whether the first column follows the last.
    """
    row, column = cell
    top, columns = float(field[row, column]), field.shape[1]
    depth = max(min(0.5 * step, top % step), least)
    turn = columns // 2 - column if around else 0  # the seam is far from the centre
    turned = np.roll(np.where(np.isfinite(field), field, -np.inf), turn, axis=1)
    labels, _ = ndimage.label(turned > top - depth, _NEIGHBOURS)
    own = labels == labels[row, (column + turn) % columns]
    if np.roll(edge, turn, axis=1)[own].any() or turned[own].max() > top:
        return False
    return bool(np.count_nonzero(own) <= _MOST * own.size)


def _edge(field: Floats, data: ChartData) -> NDArray[np.bool_]:
    """Blocks beyond which nothing is known: at the outer rows and columns, and beside holes."""
    edge: NDArray[np.bool_] = ndimage.binary_dilation(np.isnan(field), _NEIGHBOURS)
    spacing = np.abs(np.diff(data.latitude[:, 0])).max()
    for row, latitude in ((0, data.latitude[0]), (-1, data.latitude[-1])):
        edge[row] |= not (data.around and bool((np.abs(latitude) + spacing >= _POLE).all()))
    if not data.around:
        edge[:, (0, -1)] = True
    return edge


def _at_extreme(data: ChartData, size: int, cell: tuple[int, int], kind: Kind) -> Centre:
    """Go from a block to the most extreme cell of it and the blocks beside it."""
    row, column = cell
    if size > 1:
        reach = np.arange(-size, 2 * size)
        rows = np.clip(row * size + reach, 0, data.values.shape[0] - 1)
        columns = column * size + reach
        count = data.values.shape[1]
        columns = columns % count if data.around else np.clip(columns, 0, count - 1)
        near = data.values[np.ix_(rows, columns)]
        best = np.nanargmax(near) if kind == "high" else np.nanargmin(near)
        i, j = np.unravel_index(int(best), near.shape)
        row, column = int(rows[i]), int(columns[j])
    return Centre(
        kind,
        float(data.latitude[row, column]),
        float(data.longitude[row, column]),
        float(data.values[row, column]),
        row,
        column,
    )


def _near(centre: Centre, others: list[Centre], least: float) -> bool:
    """Whether a centre is less than some m from one of others."""
    if not others:
        return False
    here = unit_vectors(np.array(centre.latitude), np.array(centre.longitude))
    there = unit_vectors(
        np.array([one.latitude for one in others]), np.array([one.longitude for one in others])
    )
    chord = np.linalg.norm(there - here, axis=-1)
    return bool((2.0 * EARTH_RADIUS * np.arcsin(np.clip(0.5 * chord, 0.0, 1.0)) < least).any())
