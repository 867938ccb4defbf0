"""Which lead time comes before each in the runs that have a field.

The step axis is common to all fields and runs, so the entry before on it may be a lead time that
a field doesn't have: hourly temperatures beside 6-hourly rain, a run every 6 h beside one every
12 h.
"""

import numpy as np
from numpy.typing import NDArray


def before_in(
    hours: NDArray[np.float64], inits: NDArray[np.intp], steps: NDArray[np.intp]
) -> NDArray[np.float64]:
    """Find the lead time before each.

    Args:
        hours: (step,) lead times in hours, ascending.
        inits: (n,) index of the run of each moment that a field has.
        steps: (n,) index of its lead time.

    Returns:
        (step,) hours: 0 before the first lead time of a run; NaN where there is no such step,
        where runs disagree, and before a first lead time that is later than the steps are wide:
        a run that was cut (24, 30, 36 h) doesn't say where its first interval starts.
    """
    out = np.full(hours.shape, np.nan)
    if not steps.size:
        return out
    run, step = np.divmod(np.unique(inits * hours.size + steps), hours.size)
    at = hours[step]
    first = np.diff(run, prepend=-1) != 0
    previous = np.where(first, 0.0, np.roll(at, 1))
    starts = np.flatnonzero(first)
    widths = np.where(first, -np.inf, at - previous)
    widest = np.maximum.reduceat(widths, starts)
    cut = at[starts] > widest + 1e-6
    previous[starts[cut & np.isfinite(widest)]] = np.nan
    order = np.argsort(step, kind="stable")
    rows, begin = np.unique(step[order], return_index=True)
    least = np.minimum.reduceat(previous[order], begin)  # NaN stays NaN
    most = np.maximum.reduceat(previous[order], begin)
    out[rows] = np.where(most - least <= 1e-6, least, np.nan)
    return out
