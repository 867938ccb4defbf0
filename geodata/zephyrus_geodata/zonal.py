"""Statistics over the cells of features, for each lead time.

Where numba is there, ``kernels`` computes them at the speed of memory; ``zonal_numpy`` gives the
same numbers bit for bit without it.
"""

from collections.abc import Sequence
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import acceleration, zonal_numpy
from zephyrus_geodata.zonal_index import ZonalIndex, build_zone
from zephyrus_geodata.zones import Zone, Zones

__all__ = [
    "STATS",
    "Stat",
    "ZonalIndex",
    "Zone",
    "Zones",
    "build_zone",
    "zonal_share",
    "zonal_statistic",
    "zonal_table",
    "zonal_tables",
]

Stat = Literal["mean", "min", "max", "median"]
STATS: tuple[Stat, ...] = get_args(Stat)

_Floats = NDArray[np.float64]

_SORTING = 8
"""How many times longer NumPy takes to sort numbers than to sum them."""

_NO = np.zeros(1, dtype=bool)  # the fallback of one zone, of which statistics know nothing
_UNWANTED = np.empty((0, 0))


def zonal_statistic(values: NDArray[Any], zone: Zone, stat: Stat = "mean") -> _Floats:
    """Return a statistic over the cells of a zone, for each column.

    ``mean`` is weighted; ``min`` and ``max`` are over all cells the feature touches, unweighted;
    ``median`` is the smallest value at which the summed weight reaches half. Cells that are NaN
    are left out and the weights of the others renormalised; where all are NaN, so is the result.

    Args:
        values: (cell, time), any real dtype; sums are in float64.
        zone: the cells; at least one.
        stat: mean, min, max or median.

    Returns:
        (time,) float64, in the units of ``values``.

    Raises:
        ValueError: for another ``stat``.
    """
    cells = np.ascontiguousarray(zone.cells, dtype=np.int32)
    weights = np.ascontiguousarray(zone.weights, dtype=np.float64)
    if stat == "mean" and _suits(values):  # the shortest way, for the commonest question
        kernels = acceleration.kernels(0)
        if kernels is not None:
            mean = np.empty(values.shape[1])
            if kernels.mean_of_one()(values, cells, weights, mean):
                return mean
    one = Zones(np.array((0, cells.size), dtype=np.int64), cells, weights, _NO)
    row: _Floats = _tables(values, one, (stat,))[stat][0]
    return row


def zonal_table(
    values: NDArray[Any], zones: Zones | Sequence[Zone], stat: Stat = "mean"
) -> _Floats:
    """Return ``zonal_statistic`` of many zones: (zone, time) float64; NaN where one is empty."""
    return _tables(values, Zones.of(zones), (stat,))[stat]


def zonal_tables(
    values: NDArray[Any], zones: Zones | Sequence[Zone], stats: Sequence[Stat]
) -> dict[Stat, _Floats]:
    """Return ``zonal_table`` of several statistics; mean, min and max take one pass together."""
    return _tables(values, Zones.of(zones), stats)


def _tables(values: NDArray[Any], zones: Zones, stats: Sequence[Stat]) -> dict[Stat, _Floats]:
    for stat in stats:
        if stat not in STATS:
            raise ValueError(f"There is no statistic {stat!r}; use one of {', '.join(STATS)}.")
    work = zones.cells.size * values.shape[1]
    if "median" in stats:
        work *= _SORTING
    tables = _compiled_tables(values, zones, stats, work)
    return _plain_tables(values, zones, stats) if tables is None else tables


def _compiled_tables(
    values: NDArray[Any], zones: Zones, stats: Sequence[Stat], work: int
) -> dict[Stat, _Floats] | None:
    """Return the tables, or None where that is for NumPy."""
    if not _suits(values):
        return None
    kernels = acceleration.kernels(work)
    if kernels is None:
        return None
    shape = zones.starts.size - 1, values.shape[1]
    data = values, zones.starts, zones.cells, zones.weights
    tables: dict[Stat, _Floats] = {}
    low = high = _UNWANTED
    if "min" in stats or "max" in stats:
        low, high = np.empty(shape), np.empty(shape)
        tables["min"], tables["max"] = low, high
    mean = np.empty(shape) if "mean" in stats else _UNWANTED
    tables["mean"] = mean
    if (low is not _UNWANTED or mean is not _UNWANTED) and not kernels.folds()(
        *data, mean, low, high
    ):
        return None
    if "median" in stats:
        table, unsure = np.empty(shape), np.empty(shape, dtype=bool)
        if not kernels.medians()(*data, table, unsure):
            return None
        for row in np.flatnonzero(unsure.any(axis=1)).tolist():
            columns = np.flatnonzero(unsure[row])
            zone = zones[row]
            some = values[zone.cells[:, None], columns]
            table[row, columns] = zonal_numpy.column_median(some.T, zone.weights) + 0.0
        tables["median"] = table
    return {stat: tables[stat] for stat in stats}


def _plain_tables(values: NDArray[Any], zones: Zones, stats: Sequence[Stat]) -> dict[Stat, _Floats]:
    tables: dict[Stat, _Floats] = {}
    for stat in stats:
        if stat == "mean":
            tables[stat] = zonal_numpy.mean(values, zones)
        elif stat == "median":
            tables[stat] = zonal_numpy.median(values, zones)
        else:
            tables[stat] = zonal_numpy.extreme(values, zones, largest=stat == "max")
    return tables


def _suits(values: NDArray[Any]) -> bool:
    """Say whether the kernels are made for the layout of these values."""
    flags = values.flags
    return bool(values.dtype == np.float32 and flags.c_contiguous and flags.aligned)


def zonal_share(
    values: NDArray[Any],
    thresholds: NDArray[Any],
    zones: Zones | Sequence[Zone],
    *,
    above: bool,
    columns: NDArray[np.integer[Any]] | None = None,
) -> _Floats:
    """Return the share of the area of each zone where values are beyond thresholds.

    Beyond is strictly above or strictly below. Cells without a value or threshold are left out.

    Args:
        values: (cell, time).
        thresholds: (cell,), or (cell, k), in the units of ``values``.
        zones: the zones.
        above: whether larger values are beyond; else smaller ones.
        columns: (time,) which of the k thresholds belongs to each time; by default k is as long
            as time (or 1).

    Returns:
        (zone, time) float64, 0 to 1; NaN where a zone has no cell with data.

    Raises:
        ValueError: if the shapes don't belong together.
    """
    limits = thresholds[:, None] if thresholds.ndim == 1 else thresholds
    times, most = values.shape[1], limits.shape[1]
    if columns is None:
        columns = np.zeros(times, np.int64) if most == 1 else np.arange(most)
    index = np.ascontiguousarray(columns, dtype=np.int64)
    if limits.shape[0] != values.shape[0] or index.shape != (times,):
        raise ValueError(
            f"Thresholds of shape {thresholds.shape} do not go with values of shape {values.shape}."
        )
    if times and not 0 <= index.min() <= index.max() < most:
        raise ValueError(f"The columns of thresholds are 0 to {most - 1}.")
    every = Zones.of(zones)
    if _suits(values) and _suits(limits):
        kernels = acceleration.kernels(2 * every.cells.size * times)
        if kernels is not None:
            out = np.empty((len(every), times))
            data = values, every.starts, every.cells, every.weights
            if kernels.shares()(*data, limits, index, above, out):
                return out
    return zonal_numpy.share(values, limits, index, every, above)
