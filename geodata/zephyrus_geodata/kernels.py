"""Zonal statistics compiled by numba; only imported where they are worth its import.

Values are (cell, time) float32 in C order; zones are in CSR form (``Zones``). Sums are float64
and run over the cells of a zone in their order, without reassociation or fused multiply-adds, so
that ``zonal_numpy`` gives the same numbers bit for bit. Four cells are taken at a time, so that
the running sums of all times go through memory once for four rows.

Every kernel returns False where a cell is outside ``values``, which numba would not notice; what
it has written is then of no use. Kernels release the GIL and share nothing.
"""

from collections.abc import Callable
from functools import cache
from typing import Any, TypeVar, cast

import numpy as np
from numba import njit, types
from numpy.typing import NDArray

_TILE = 16  # columns whose values are gathered together for medians: one cache line
_ROUNDS = 64  # of narrowing; a median that takes more is sorted for
_ROUNDING = 1e-15  # relative error of a sum for each weight in it, with room

Values = NDArray[np.float32]
Starts = NDArray[np.int64]
Cells = NDArray[np.int32]
Floats = NDArray[np.float64]
Kernel = Callable[..., bool]


_Function = TypeVar("_Function", bound=Callable[..., Any])
# In numpy's error model x / 0 is NaN or inf.
_part = cast(Callable[[_Function], _Function], njit(nogil=True, error_model="numpy"))
"""Compile what kernels are made of, when they are."""


@cache
def folds() -> Kernel:
    """Return ``_folds``, compiled."""
    return _compiled(_folds, *_ZONES, *[_array(types.float64, 2)] * 3)


@cache
def mean_of_one() -> Kernel:
    """Return ``_mean_of_one``, compiled."""
    return _compiled(_mean_of_one, _ZONES[0], *_ZONES[2:], _array(types.float64, 1))


@cache
def medians() -> Kernel:
    """Return ``_medians``, compiled."""
    return _compiled(_medians, *_ZONES, _array(types.float64, 2), _array(types.boolean, 2))


@cache
def shares() -> Kernel:
    """Return ``_shares``, compiled."""
    limits, columns = _array(types.float32, 2, readonly=True), _array(types.int64, 1, readonly=True)
    out = _array(types.float64, 2)
    return _compiled(_shares, *_ZONES, limits, columns, types.boolean, out)


def _array(dtype: Any, ndim: int, *, readonly: bool = False) -> Any:
    return types.Array(dtype, ndim, "C", readonly=readonly)


_ZONES = (
    _array(types.float32, 2, readonly=True),  # values
    _array(types.int64, 1, readonly=True),  # starts
    _array(types.int32, 1, readonly=True),  # cells
    _array(types.float64, 1, readonly=True),  # weights
)


def _compiled(function: Kernel, *arguments: Any) -> Kernel:
    """Compile for one signature, or take that from numba's cache on disk.

    numba keeps it beside this file or, where it can't write there, in the user's cache folder.
    """
    signature = types.boolean(*arguments)
    try:
        compiled: Kernel = njit(signature, cache=True, nogil=True, error_model="numpy")(function)
    except Exception:  # of a cache that is damaged, full or not writable, numba raises anything
        compiled = njit(signature, nogil=True, error_model="numpy")(function)
    return compiled


def _folds(
    values: Values,
    starts: Starts,
    cells: Cells,
    weights: Floats,
    mean: Floats,
    low: Floats,
    high: Floats,
) -> bool:
    """Fill mean, and low and high: (zone, time), or without rows where they are not wanted."""
    for i in range(starts.size - 1):
        first, last = starts[i], starts[i + 1]
        if _outside(values, cells, first, last):
            return False
        if mean.shape[0]:
            _mean(values, cells, weights, first, last, mean[i])
        if low.shape[0]:  # the rows are still in the cache
            _extremes(values, cells, first, last, low[i], high[i])
    return True


def _mean_of_one(values: Values, cells: Cells, weights: Floats, mean: Floats) -> bool:
    """Fill mean (time,) for one zone."""
    if _outside(values, cells, 0, cells.size):
        return False
    _mean(values, cells, weights, 0, cells.size, mean)
    return True


def _medians(
    values: Values,
    starts: Starts,
    cells: Cells,
    weights: Floats,
    out: Floats,
    unsure: NDArray[np.bool_],
) -> bool:
    """Fill out (zone, time); unsure where rounding decides and values have to be sorted."""
    most = 0
    for i in range(starts.size - 1):
        most = max(most, starts[i + 1] - starts[i])
        if _outside(values, cells, starts[i], starts[i + 1]):
            return False
    gathered = np.empty((_TILE, most), np.float32)
    rooms = np.empty((2, most), np.float32), np.empty((2, most), np.float64)
    columns = values.shape[1]
    for i in range(starts.size - 1):
        first, count = starts[i], starts[i + 1] - starts[i]
        for begin in range(0, columns, _TILE):
            width = min(_TILE, columns - begin)
            for p in range(count):
                cell = np.uint64(cells[first + p])
                for j in range(width):
                    gathered[j, p] = values[cell, begin + j]
            for j in range(width):
                found, sure = _median(
                    gathered[j, :count], weights[first : first + count], rooms[0], rooms[1]
                )
                out[i, begin + j] = found + 0.0
                unsure[i, begin + j] = not sure
    return True


def _shares(
    values: Values,
    starts: Starts,
    cells: Cells,
    weights: Floats,
    thresholds: Values,
    columns: Starts,
    above: bool,
    out: Floats,
) -> bool:
    """Fill out (zone, time) with the share of weight beyond thresholds (cell, k)."""
    times = values.shape[1]
    straight = thresholds.shape[1] == times
    for j in range(times):
        straight = straight and columns[j] == j
    picked = np.empty((4, times), np.float32)
    check = np.empty(times, np.float32)
    for i in range(starts.size - 1):
        first, last = starts[i], starts[i + 1]
        if _outside(values, cells, first, last) or _outside(thresholds, cells, first, last):
            return False
        some, their = cells[first:last], weights[first:last]
        if not _share(
            values, some, their, thresholds, columns, straight, above, picked, check, out[i]
        ):
            _share_of_present(values, some, their, thresholds, columns, above, out[i])
    return True


@_part
def _share(
    values: Values,
    cells: Cells,
    weights: Floats,
    thresholds: Values,
    columns: Starts,
    straight: bool,
    above: bool,
    picked: Values,
    check: Values,
    out: Floats,
) -> bool:
    """Fill one zone's row; False if something may be missing, and the row is of no use."""
    limits = thresholds if straight else picked
    sign = np.float32(1.0 if above else -1.0)
    out[:] = 0.0
    check[:] = 0.0  # becomes NaN with any value or threshold, and where infinities meet
    total = 0.0
    p = 0
    while p < cells.size:
        four = p + 4 <= cells.size
        if not straight:
            for k in range(4 if four else 1):
                cell = np.uint64(cells[p + k])
                if thresholds.shape[1] == 1:
                    picked[k, :] = thresholds[cell, 0]
                else:
                    for j in range(out.size):
                        picked[k, j] = thresholds[cell, np.uint64(columns[j])]
        a, wa = np.uint64(cells[p]), weights[p]
        la = a if straight else np.uint64(0)
        total += wa
        if four:
            b, c, d = np.uint64(cells[p + 1]), np.uint64(cells[p + 2]), np.uint64(cells[p + 3])
            lb = b if straight else np.uint64(1)
            lc = c if straight else np.uint64(2)
            ld = d if straight else np.uint64(3)
            wb, wc, wd = weights[p + 1], weights[p + 2], weights[p + 3]
            total = ((total + wb) + wc) + wd
            for j in range(out.size):
                ea = (values[a, j] - limits[la, j]) * sign
                eb = (values[b, j] - limits[lb, j]) * sign
                ec = (values[c, j] - limits[lc, j]) * sign
                ed = (values[d, j] - limits[ld, j]) * sign
                beyond = out[j] + (wa if ea > 0.0 else 0.0)
                beyond += wb if eb > 0.0 else 0.0
                beyond += wc if ec > 0.0 else 0.0
                out[j] = beyond + (wd if ed > 0.0 else 0.0)
                check[j] += (ea + eb) + (ec + ed)
            p += 4
        else:
            for j in range(out.size):
                ea = (values[a, j] - limits[la, j]) * sign
                out[j] += wa if ea > 0.0 else 0.0
                check[j] += ea
            p += 1
    known = True
    for j in range(out.size):
        known &= not np.isnan(check[j])
        out[j] /= total
    return known


@_part
def _share_of_present(
    values: Values,
    cells: Cells,
    weights: Floats,
    thresholds: Values,
    columns: Starts,
    above: bool,
    out: Floats,
) -> None:
    out[:] = 0.0
    present = np.zeros(out.size)
    for p in range(cells.size):
        cell, weight = np.uint64(cells[p]), weights[p]
        for j in range(out.size):
            value, limit = values[cell, j], thresholds[cell, np.uint64(columns[j])]
            out[j] += weight if (value > limit if above else value < limit) else 0.0
            present[j] += weight if value >= limit or value < limit else 0.0
    for j in range(out.size):
        out[j] /= present[j]


@_part
def _outside(values: Values, cells: Cells, first: int, last: int) -> bool:
    highest = np.uint32(0)
    for p in range(first, last):
        highest = max(highest, np.uint32(cells[p]))  # a negative one is large without its sign
    return last > first and highest >= values.shape[0]


@_part
def _mean(
    values: Values, cells: Cells, weights: Floats, first: int, last: int, out: Floats
) -> None:
    columns = values.shape[1]
    out[:] = 0.0
    total = 0.0
    p = first
    while p + 4 <= last:
        # Without a sign, an index needs no look at whether it counts from the end.
        a, b = np.uint64(cells[p]), np.uint64(cells[p + 1])
        c, d = np.uint64(cells[p + 2]), np.uint64(cells[p + 3])
        wa, wb, wc, wd = weights[p], weights[p + 1], weights[p + 2], weights[p + 3]
        total = (((total + wa) + wb) + wc) + wd
        for j in range(columns):
            three = ((out[j] + values[a, j] * wa) + values[b, j] * wb) + values[c, j] * wc
            out[j] = three + values[d, j] * wd
        p += 4
    while p < last:
        a, wa = np.uint64(cells[p]), weights[p]
        total += wa
        for j in range(columns):
            out[j] += values[a, j] * wa
        p += 1
    missing = False
    for j in range(columns):
        out[j] /= total  # 0 / 0 is NaN: no cells
        missing |= np.isnan(out[j])
    if missing and last > first:
        _mean_of_present(values, cells, weights, first, last, out)


@_part
def _mean_of_present(
    values: Values, cells: Cells, weights: Floats, first: int, last: int, out: Floats
) -> None:
    out[:] = 0.0
    total = np.zeros(out.size)
    for p in range(first, last):
        cell, weight = np.uint64(cells[p]), weights[p]
        for j in range(out.size):
            value = values[cell, j]
            there = value == value
            out[j] += value * weight if there else 0.0
            total[j] += weight if there else 0.0
    for j in range(out.size):
        out[j] /= total[j]


@_part
def _extremes(
    values: Values, cells: Cells, first: int, last: int, low: Floats, high: Floats
) -> None:
    low[:] = np.inf
    high[:] = -np.inf
    p = first
    while p + 4 <= last:
        a, b = np.uint64(cells[p]), np.uint64(cells[p + 1])
        c, d = np.uint64(cells[p + 2]), np.uint64(cells[p + 3])
        for j in range(low.size):
            least, most = low[j], high[j]
            x = np.float64(values[a, j])  # NaN is neither less nor more
            least, most = x if x < least else least, x if x > most else most
            x = np.float64(values[b, j])
            least, most = x if x < least else least, x if x > most else most
            x = np.float64(values[c, j])
            least, most = x if x < least else least, x if x > most else most
            x = np.float64(values[d, j])
            low[j], high[j] = x if x < least else least, x if x > most else most
        p += 4
    while p < last:
        a = np.uint64(cells[p])
        for j in range(low.size):
            x = np.float64(values[a, j])
            low[j] = x if x < low[j] else low[j]
            high[j] = x if x > high[j] else high[j]
        p += 1
    for j in range(low.size):
        if low[j] > high[j]:  # there was no number
            low[j] = high[j] = np.nan
        low[j] += 0.0  # no -0.0, of which it depends on the machine whether it is below 0.0
        high[j] += 0.0


@_part
def _median(
    values: Values, weights: Floats, value_rooms: NDArray[np.float32], weight_rooms: Floats
) -> tuple[float, bool]:
    """Return the weighted median and whether rounding leaves it certain; NaN of nothing."""
    room, other = 0, 1
    count, total = 0, 0.0
    for p in range(values.size):
        if values[p] == values[p]:
            value_rooms[0, count], weight_rooms[0, count] = values[p], weights[p]
            total += weights[p]
            count += 1
    if count == 0:
        return np.nan, True
    half, slack = 0.5 * total, _ROUNDING * count * total
    below = 0.0  # weight of what was found to be smaller than all that is left
    start = 0
    for _ in range(_ROUNDS):
        v, w = value_rooms[room, start:], weight_rooms[room, start:]
        a, b, c = v[count // 4], v[count // 2], v[count - 1 - count // 4]
        pivot = max(min(a, b), min(max(a, b), c))
        # Smaller ones go to the front of the other room and larger ones to its back: each is
        # written to both ends, of which one moves or none. Branches would be guessed wrongly.
        lv, lw = value_rooms[other], weight_rooms[other]
        front, back = 0, count - 1
        less, equal = 0.0, 0.0
        for p in range(count):
            value, weight = v[p], w[p]
            smaller, larger = value < pivot, value > pivot
            lv[front], lw[front] = value, weight
            lv[back], lw[back] = value, weight
            front += smaller
            back -= larger
            less += weight if smaller else 0.0
            equal += 0.0 if smaller or larger else weight
        if abs(below + less - half) <= slack or abs(below + less + equal - half) <= slack:
            break
        if below + less > half:
            start, count = 0, front
        elif below + less + equal > half:
            return pivot, True
        else:
            below += less + equal
            start, count = back + 1, count - 1 - back
        if count == 0:
            break
        room, other = other, room
    return np.nan, False
