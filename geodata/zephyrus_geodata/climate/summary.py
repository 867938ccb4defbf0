"""The statistics of a block of cells: exact, with numpy's "linear" percentiles.

A window is a contiguous stretch once the samples are in the order of their day of the year, so
each is copied, sorted and read off. Missing values (NaN) sort to the end and are not counted.
"""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.climate.recipe import DAYS, Recipe, day_of, hour_of, month_of

_CHUNK = 2 * 1024**2
"""Bytes of samples that are worked on at a time: they stay in the cache."""

SCRATCH = 10 * _CHUNK
"""Bytes that ``summarise`` needs besides its block and its result, for series up to ``_CHUNK``."""


@dataclass(frozen=True, eq=False)
class Summary:
    """Statistics of a block of cells.

    Attributes:
        month: (month, statistic, cell) float32.
        day: (day, hour, statistic, cell) float32; no days where only months are wanted.
    """

    month: NDArray[np.float32]
    day: NDArray[np.float32]


def scratch(samples: int) -> int:
    """Return the bytes that ``summarise`` needs besides its block and its result."""
    return max(SCRATCH, 10 * 4 * samples)


def summarise(block: NDArray[np.float32], times: NDArray[np.datetime64], recipe: Recipe) -> Summary:
    """Compute all statistics of some cells.

    Args:
        block: (time, cell); missing is NaN.
        times: (time,) in any order.
        recipe: what to compute.

    Returns:
        The statistics; NaN where there is no sample. ``std`` is that of the sample itself
        (divided by its size), as in the monthly climatologies that ship.
    """
    samples, cells = block.shape
    month = np.full((*recipe.month_shape, cells), np.nan, dtype=np.float32)
    day = np.full((*recipe.day_shape, cells), np.nan, dtype=np.float32)
    months = [np.flatnonzero(month_of(times) == m) for m in range(1, 13)]
    orders = list(_orders(times, recipe))
    rows = max(1, _CHUNK // (4 * max(1, samples)))
    for start in range(0, cells, rows):
        some = slice(start, start + rows)
        part = np.ascontiguousarray(block[:, some].T)
        for m, index in enumerate(months):
            month[m, :, some] = describe(part[:, index], recipe.percentiles)
        for h, (order, windows) in enumerate(orders):
            values = part[:, order]
            for d, pieces in enumerate(windows):
                sample = np.concatenate([values[:, piece] for piece in pieces], axis=1)
                day[d, h, :, some] = describe(sample, recipe.percentiles)
    return Summary(month, day)


def _orders(
    times: NDArray[np.datetime64], recipe: Recipe
) -> Iterator[tuple[NDArray[np.intp], list[tuple[slice, ...]]]]:
    """For each hour: the samples in the order of their day, and the stretches of each window."""
    if not recipe.days:
        return
    hours, days = hour_of(times), day_of(times)
    for hour in recipe.hours or (None,):
        chosen = np.flatnonzero(hours == hour) if hour is not None else np.arange(times.size)
        order = chosen[np.argsort(days[chosen], kind="stable")]
        yield order, [_stretches(days[order], day, recipe.half(day)) for day in recipe.days]


def _stretches(days: NDArray[np.int64], centre: int, half: int) -> tuple[slice, ...]:
    """Return where the days around a centre lie among ascending ones, across the turn of the year."""
    if 2 * half + 1 >= DAYS:
        return (slice(0, days.size),)
    low, high = centre - half, centre + half
    pieces = [(max(low, 1), min(high, DAYS))]
    if low < 1:
        pieces.append((low + DAYS, DAYS))
    if high > DAYS:
        pieces.append((1, high - DAYS))
    return tuple(
        slice(*np.searchsorted(days, [first, last + 1], side="left").tolist())
        for first, last in pieces
    )


def describe(sample: NDArray[np.float32], percentiles: tuple[float, ...]) -> NDArray[np.float64]:
    """Return percentiles, mean and standard deviation of each row: (statistic, row).

    Args:
        sample: (row, value); is sorted in place.
        percentiles: 0 to 100.
    """
    rows, size = sample.shape
    out = np.full((len(percentiles) + 2, rows), np.nan)
    if not size:
        return out
    sample.sort(axis=1)
    share = np.array(percentiles) / 100.0
    if np.isnan(sample[:, -1]).any():
        counts = size - np.isnan(sample).sum(axis=1)
        some = counts > 0
        if some.any():
            out[:, some] = _with_gaps(sample[some], counts[some], share)
        return out
    position = share * (size - 1)
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, size - 1)
    low, high = sample[:, below].astype(np.float64), sample[:, above].astype(np.float64)
    out[:-2] = (low + (high - low) * (position - below)).T
    wide = sample.astype(np.float64)
    out[-2] = wide.mean(axis=1)
    wide -= out[-2][:, None]
    out[-1] = np.sqrt(np.einsum("ij,ij->i", wide, wide) / size)
    return out


def _with_gaps(
    sample: NDArray[np.float32], counts: NDArray[np.intp], share: NDArray[np.float64]
) -> NDArray[np.float64]:
    position = (counts[:, None] - 1) * share
    below = np.floor(position).astype(np.intp)
    above = np.minimum(below + 1, counts[:, None] - 1)
    low = np.take_along_axis(sample, below, axis=1).astype(np.float64)
    high = np.take_along_axis(sample, above, axis=1).astype(np.float64)
    wide = sample.astype(np.float64)
    there = np.arange(sample.shape[1]) < counts[:, None]
    wide[~there] = 0.0
    mean = wide.sum(axis=1) / counts
    wide -= mean[:, None]
    wide[~there] = 0.0
    std = np.sqrt(np.einsum("ij,ij->i", wide, wide) / counts)
    return np.vstack([(low + (high - low) * (position - below)).T, mean, std])
