"""Confidence intervals by resampling events: one seeded set of resamples for every score at once.

Events are drawn with replacement, each with all its rollouts, passes and judges, so that what
belongs together stays together: the mean over judges and the difference from another run on the
same events get intervals from the same resamples.

The interval is the *expanded percentile* interval of Hesterberg (arXiv:1411.5279, also the default
of his R package ``resample``): the percentiles Φ(±√(n/(n−1)) · t) of the resampled statistic, with
t Student's quantile at n−1 degrees of freedom. The plain percentile interval is too short on few
events, by the factor √((n−1)/n) and by taking z for t, and BCa mends the skewness but not that;
a split of twenty events would feel it (on 8 beta(2, 5) scores this one covers the true mean 94.6 %
of the time, the plain one 89.3 %; on 60, 94.4 and 93.7 %). With many events it is the plain one,
and it never leaves the range of the statistic.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray

RESAMPLES = 10_000
SEED = 0
LEVEL = 0.95

_CHUNK = 2**22
"""Weights that are held at one time."""


def resampled_means(
    values: NDArray[np.float64], *, resamples: int = RESAMPLES, seed: int = SEED
) -> NDArray[np.float64]:
    """Column means over resampled rows.

    Args:
        values: (events, scores); NaN where an event has no such score: it counts in no mean.
        resamples: How many.
        seed: Same seed and same number of events, same draws.

    Returns:
        (resamples, scores); NaN where a resample drew no event with that score.
    """
    events = len(values)
    known = ~np.isnan(values)
    filled = np.where(known, values, 0.0)
    rng = np.random.default_rng(seed)
    means = np.full((resamples, values.shape[1]), np.nan)
    rows = max(1, _CHUNK // max(events, 1))
    for start in range(0, resamples if events else 0, rows):
        some = min(rows, resamples - start)
        drawn = rng.multinomial(events, np.full(events, 1 / events), size=some).astype(np.float64)
        counts = drawn @ known
        with np.errstate(invalid="ignore"):
            means[start : start + some] = (drawn @ filled) / counts
    return means


def interval(
    samples: NDArray[np.float64], events: int, level: float = LEVEL
) -> tuple[float, float] | None:
    """The expanded percentile interval of one resampled statistic.

    Args:
        samples: (resamples,); NaN ones are left out.
        events: How many events the statistic rests on.
        level: Coverage.

    Returns:
        (low, high), or None where fewer than two events leave nothing to resample.
    """
    samples = samples[np.isfinite(samples)]
    if events < 2 or not len(samples):
        return None
    low = expanded(events, level)
    ends = np.quantile(samples, [low, 1 - low])
    return float(ends[0]), float(ends[1])


def expanded(events: int, level: float = LEVEL) -> float:
    """The lower percentile, as a fraction, that stands for (1 − level)/2 on so many events."""
    from scipy.special import ndtr, stdtrit

    t = stdtrit(events - 1, (1 - level) / 2)
    return float(ndtr(t * np.sqrt(events / (events - 1))))
