"""Statistics over the steps of a window. A step without data (NaN) is left out."""

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import Zone, zonal_statistic
from zephyrus_geodata.zonal import Stat

Extreme = Literal["min", "max"]


def over_steps(series: NDArray[np.float64], stat: Stat) -> NDArray[np.float64]:
    """Return the mean, min or max over steps of (place, step): (place,); NaN if all are NaN.

    Raises:
        ValueError: For the median, which is not a statistic of the steps' statistics.
    """
    result: NDArray[np.float64]
    if stat == "mean":
        lost = np.isnan(series)
        if not lost.any():
            result = series.sum(axis=1) / series.shape[1]
            return result
        there = ~lost
        count = there.sum(axis=1)
        total = np.where(there, series, 0.0).sum(axis=1)
        result = np.divide(total, count, out=np.full(count.size, np.nan), where=count > 0)
    elif stat in ("min", "max"):
        result = (np.minimum if stat == "min" else np.maximum).reduce(series, axis=1)
        if np.isnan(result).any():  # fmin and fmax pass NaN over unless there is nothing else
            result = (np.fmin if stat == "min" else np.fmax).reduce(series, axis=1)
    else:
        raise ValueError(f"no statistic over steps: {stat!r}")
    return result


def step_of_extreme(series: NDArray[np.float64], extreme: Extreme) -> int:
    """Return the first step at which (step,) has its extreme; 0 if all are NaN."""
    step = int(series.argmax() if extreme == "max" else series.argmin())
    if np.isnan(series[step]):  # NaN counts as the extreme of all
        filled = np.where(np.isnan(series), -np.inf if extreme == "max" else np.inf, series)
        return step_of_extreme(filled, extreme)
    return step


def pooled_median(values: NDArray[np.float32], zone: Zone) -> float:
    """Return the weighted median over cells and steps together.

    Args:
        values: (cell, step) of the whole grid.
        zone: The cells; each counts with its weight at every step.
    """
    pooled = values[zone.cells].reshape(-1, 1)
    weights = np.repeat(zone.weights, values.shape[1])
    every = Zone(np.arange(weights.size), weights, fallback=False)
    return float(zonal_statistic(pooled, every, "median")[0])
