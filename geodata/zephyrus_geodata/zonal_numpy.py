"""Zonal statistics in NumPy, for every real dtype.

Sums run over the cells of a zone in their order, one after the other, as in ``kernels``: both
give the same numbers bit for bit. Small zones take a step together, each with its next cell;
large ones go alone, in blocks of cells that stay in the processor's cache.
"""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.zones import Zones

Floats = NDArray[np.float64]
Cells = NDArray[np.int32]
Terms = Callable[[Cells, Floats], tuple[Floats, ...]]
"""Of cells (m,) and weights (m, 1), arrays (m, time) to be summed."""

_FEW = 48
"""Zones of up to so many cells take their steps together."""

_COMPANY = 16
"""Of fewer zones than that, each goes alone."""

_BLOCK = 65_536
"""Numbers of a block, 0.5 MB in float64."""


def mean(values: NDArray[Any], zones: Zones) -> Floats:
    """Weighted mean: (zone, time), NaN where there is no number."""
    columns = values.shape[1]

    def fast(cells: Cells, weights: Floats) -> tuple[Floats, ...]:
        return (_rows(values, cells) * weights,)

    def careful(cells: Cells, weights: Floats) -> tuple[Floats, ...]:
        found = _rows(values, cells)
        missing = np.isnan(found)
        return (
            np.where(missing, 0.0, found * weights),
            np.where(missing, 0.0, np.broadcast_to(weights, found.shape)),
        )

    with np.errstate(invalid="ignore", over="ignore"):
        (result,) = ordered_sums(fast, zones, columns, 1)
        result /= _totals(zones)[:, None]
        missing = np.isnan(result)
        if missing.any():
            again = np.flatnonzero(missing.any(axis=1) & (zones.sizes > 0))
            summed, total = ordered_sums(careful, zones.take(again), columns, 2)
            result[again] = summed / total
    return result


def share(
    values: NDArray[Any],
    thresholds: NDArray[Any],
    columns: NDArray[np.int64],
    zones: Zones,
    above: bool,
) -> Floats:
    """Share of the weight where a value is beyond its threshold: (zone, time)."""
    compare = np.greater if above else np.less
    plain = columns.size == thresholds.shape[1] and bool((columns == np.arange(columns.size)).all())

    def terms(cells: Cells, weights: Floats) -> tuple[Floats, ...]:
        found, limit = _rows(values, cells), _rows(thresholds, cells)
        if not plain:
            limit = limit[:, columns]
        missing = np.isnan(found) | np.isnan(limit)
        return (
            np.where(compare(found, limit), weights, 0.0),
            np.where(missing, 0.0, weights),
        )

    with np.errstate(invalid="ignore"):
        summed, total = ordered_sums(terms, zones, values.shape[1], 2)
        result: Floats = summed / total
    return result


def extreme(values: NDArray[Any], zones: Zones, *, largest: bool) -> Floats:
    """Smallest or largest value: (zone, time), NaN where there is no number."""
    # fmin and fmax pass NaN over unless there is nothing else.
    pick = np.fmax if largest else np.fmin
    columns = values.shape[1]
    result = np.full((len(zones), columns), np.nan)
    for i, first, last in _alone(zones):
        for span in _blocks(first, last, columns):
            result[i] = pick(result[i], pick.reduce(_rows(values, zones.cells[span]), axis=0))
    for rows, cells, _ in _together(zones):
        result[rows] = pick(result[rows], _rows(values, cells))
    result += 0.0  # no -0.0, of which it depends on the machine whether it is below 0.0
    return result


def median(values: NDArray[Any], zones: Zones) -> Floats:
    """The smallest value at which the summed weight reaches half: (zone, time)."""
    result = np.full((len(zones), values.shape[1]), np.nan)
    for i, zone in enumerate(zones):
        if zone.cells.size:
            result[i] = column_median(values[zone.cells].T, zone.weights)
    result += 0.0
    return result


def column_median(values: NDArray[Any], weights: Floats) -> NDArray[Any]:
    """The median of each row of (time, cell)."""
    values = np.ascontiguousarray(values)
    order = np.argsort(values, axis=1, kind="stable")  # NaN last
    ranked = np.take_along_axis(values, order, axis=1)
    mass = np.where(np.isnan(ranked), 0.0, weights[order]).cumsum(axis=1)
    reached = (mass >= 0.5 * mass[:, -1:]).argmax(axis=1)
    result: NDArray[Any] = ranked[np.arange(len(ranked)), reached]
    return result


def ordered_sums(terms: Terms, zones: Zones, columns: int, count: int) -> tuple[Floats, ...]:
    """Sum ``count`` terms over the cells of each zone: arrays (zone, time)."""
    sums = tuple(np.zeros((len(zones), columns)) for _ in range(count))
    for i, first, last in _alone(zones):
        for span in _blocks(first, last, columns):
            for total, term in zip(
                sums, terms(zones.cells[span], zones.weights[span, None]), strict=True
            ):
                term[0] += total[i]
                total[i] = _down(term)
    for rows, cells, weights in _together(zones):
        for total, term in zip(sums, terms(cells, weights[:, None]), strict=True):
            total[rows] += term
    return sums


def _totals(zones: Zones) -> Floats:
    """(zone,) summed weights, in the order of the cells; NaN without cells."""
    totals = np.where(zones.sizes > 0, 0.0, np.nan)
    for i, first, last in _alone(zones):
        totals[i] = np.add.accumulate(zones.weights[first:last])[-1]
    for rows, _, weights in _together(zones):
        totals[rows] += weights
    return totals


def _down(term: Floats) -> Floats:
    """Sum (m, time) over its rows, from the first to the last."""
    if term.shape[1] == 1:  # add.reduce would sum a single column pairwise
        last: Floats = np.add.accumulate(term, axis=0)[-1]
        return last
    summed: Floats = np.add.reduce(term, axis=0)
    return summed


def _rows(values: NDArray[Any], cells: Cells) -> NDArray[Any]:
    """Return ``values[cells]``; take is twice as fast, but copies all of a strided array first."""
    rows: NDArray[Any] = values.take(cells, axis=0) if values.flags.c_contiguous else values[cells]
    return rows


def _alone(zones: Zones) -> Iterator[tuple[int, int, int]]:
    """The zones that go alone: row, and where their cells begin and end."""
    least = _FEW if len(zones) >= _COMPANY else 0
    for i in np.flatnonzero(zones.sizes > least).tolist():
        yield i, int(zones.starts[i]), int(zones.starts[i + 1])


def _blocks(first: int, last: int, columns: int) -> Iterator[slice]:
    step = max(_BLOCK // max(columns, 1), 1)
    for start in range(first, last, step):
        yield slice(start, min(start + step, last))


def _together(zones: Zones) -> Iterator[tuple[NDArray[np.intp], Cells, Floats]]:
    """The small zones, a cell of each at a time: rows, cells and weights."""
    if len(zones) < _COMPANY:
        return
    sizes = zones.sizes
    rows = np.flatnonzero((sizes > 0) & (sizes <= _FEW))
    step = 0
    while rows.size:
        at = zones.starts[rows] + step
        yield rows, zones.cells[at], zones.weights[at]
        step += 1
        rows = rows[sizes[rows] > step]
