"""Precipitation as amounts per step, from whatever a source gives.

Sources give the amount since the start of the run (ECMWF), amounts in windows of a fixed length
(ERA5), in windows that grow and start anew (GFS: 0-1 h, ..., 0-6 h, 6-7 h), or mean rates in any
of these. Each value is an amount in an interval (start, end]; what is wanted is the amount in
(previous step, step]. It is the value itself where the intervals agree, and the difference of two
values where both intervals start at the same time. A difference across a start anew is never
taken: its two intervals start at different times.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.variables import PRECIPITATION_HOURS

Floats = NDArray[np.float64]

NOISE = 5e-4
"""m: a fall of an accumulated amount that packing and regridding can make; it is clipped to 0."""

_SHARE = 5e-3  # or this share of the greatest amount

_RISES, _RESTS = 200, 20  # changes that tell a sum from amounts


@dataclass(frozen=True, eq=False)
class Amounts:
    """How the amount of each step comes from the values of the source.

    Attributes:
        variable: ``total_precipitation_6hr`` and the like where all intervals are that long,
            else ``total_precipitation``, the amount since the lead time before.
        minus: (step,) the step whose value is subtracted; -1 for none.
        usable: (step,) whether the amount can be had at all; NaN otherwise.
        hours: (step,) length of the source's own intervals, which turns mean rates into amounts.
        how: what is done, in words.
    """

    variable: str
    minus: NDArray[np.intp]
    usable: NDArray[np.bool_]
    hours: Floats
    how: str

    def read(
        self,
        values: Callable[[slice], NDArray[np.float32]],
        span: slice,
        axis: int,
        *,
        rate: bool,
        raw: str = "precipitation",
    ) -> NDArray[np.float32]:
        """Return the amounts of a span of steps in m, never negative.

        Args:
            values: gives the source's values of a slice of steps, in m or m s-1.
            span: the steps that are wanted.
            axis: the axis of the steps.
            rate: whether values are mean rates.
            raw: the source's name, for messages.

        Raises:
            UnsuitableData: if an accumulated amount falls by more than noise.
        """
        steps = np.arange(self.usable.size)[span]
        if not steps.size:
            return values(slice(0, 0))
        minus = self.minus[steps]
        taken = minus >= 0
        first = int(min(steps.min(), minus[taken].min(initial=steps.min())))
        last = int(steps.max())
        source = np.moveaxis(values(slice(first, last + 1)), axis, 0)
        if rate:
            seconds = (3600.0 * self.hours[first : last + 1]).astype(np.float32)
            source = source * seconds.reshape(-1, *[1] * (source.ndim - 1))
        result = source[steps - first].copy()
        result[taken] -= source[minus[taken] - first]
        result[~self.usable[steps]] = np.nan
        self._check(result, source, raw)
        return np.moveaxis(np.maximum(result, 0.0), 0, axis)  # NaN stays NaN

    def _check(self, result: NDArray[np.float32], source: NDArray[np.float32], raw: str) -> None:
        least = float(np.nanmin(result, initial=0.0))
        most = float(np.nanmax(source, initial=0.0))
        if least < -max(NOISE, _SHARE * most):
            raise UnsuitableData(
                f"{raw}: an amount of {least * 1000.0:.3g} mm comes out, so it is not what it is "
                f"taken for ({self.how}); say --precipitation accumulated|window|rate."
            )


def plan(
    starts: Floats, ends: Floats, steps: Floats | None, present: NDArray[np.bool_]
) -> Amounts | str:
    """Decide how amounts per step come from values in intervals.

    Args:
        starts: (step,) start of each value's interval in hours.
        ends: (step,) its end.
        steps: (step,) lead times in hours, ascending; None if the steps are no lead times but
            each a time of its own, and starts and ends are relative to it.
        present: (step,) whether the source has the value.

    Returns:
        The way, or a reason why there is none, a clause.
    """
    hours = np.asarray(ends - starts, dtype=np.float64)
    there = present & np.isfinite(hours) & (hours > 0.0)
    none = np.full(present.shape, -1, dtype=np.intp)
    if not there.any():
        return "none of its intervals has a length"
    at = np.zeros_like(hours) if steps is None else np.asarray(steps, dtype=np.float64)
    if (np.abs(ends - at)[there] > 1e-6).any():
        return "its intervals don't end at the times that it is given for"
    length = _only(hours[there])
    if length in PRECIPITATION_HOURS:
        name = f"total_precipitation_{length}hr"
        return Amounts(name, none, there, hours, f"amounts in windows of {length} h")
    if steps is None:
        return "its intervals are not 1, 3, 6, 12 or 24 h long"
    before = np.concatenate([[0.0], at[:-1]])
    own = before.copy()  # the step before that the field has
    minus, usable = none, np.zeros_like(there)
    last = -1
    for i in np.flatnonzero(present).tolist():
        own[i] = at[last] if last >= 0 else 0.0
        if there[i] and abs(starts[i] - own[i]) <= 1e-6:
            usable[i] = True
        elif there[i] and last >= 0 and there[last] and abs(starts[i] - starts[last]) <= 1e-6:
            minus[i], usable[i] = last, True
        last = i
    if not usable.any():
        return "no two of its intervals start at the same time"
    step = _only((at - own)[usable])
    if step in PRECIPITATION_HOURS:
        name = f"total_precipitation_{step}hr"
    else:
        # That variable is since the step before on the axis that all fields share.
        usable &= np.abs(own - before) <= 1e-6
        if not usable.any():
            return "its steps are uneven and others than those of the other fields"
        name = "total_precipitation"
    differences = np.count_nonzero(minus >= 0)
    how = "amounts since the step before"
    if differences:
        anew = np.count_nonzero(np.diff(starts[there]) > 0)
        how = f"differences of amounts since {'a start that is set anew' if anew else 'the start'}"
    return Amounts(name, minus, usable, hours, how)


def since_start(steps: Floats) -> tuple[Floats, Floats]:
    """Return starts and ends of intervals that all begin at the initial time."""
    return np.zeros_like(steps, dtype=np.float64), steps.astype(np.float64)


def since_step_before(steps: Floats, before: Floats | None = None) -> tuple[Floats, Floats]:
    """Return starts and ends of intervals from one step to the next, the first from 0 h.

    Args:
        steps: (step,) lead times in hours.
        before: (step,) the lead time before each, where that isn't the entry before.
    """
    ends = steps.astype(np.float64)
    return np.concatenate([[0.0], ends[:-1]]) if before is None else before, ends


def looks_accumulated(values: NDArray[Any]) -> bool | None:
    """Say whether amounts at successive steps can be amounts since the start of a run.

    Args:
        values: (step, ...) at least two steps.

    Returns:
        False if any falls by more than noise; True if none does, enough of them rise that
        chance can't have done it, and enough stay where they are when they aren't dry, which
        only a sum does while no rain falls: rain that grows everywhere isn't one. None if that
        can't be told (dry, few places, or rain without a break).
    """
    flat = np.asarray(values, dtype=np.float64).reshape(len(values), -1)
    flat = flat[:, np.isfinite(flat).all(axis=0)]
    if len(flat) < 2 or not flat.size:
        return None
    change = np.diff(flat, axis=0)
    noise = 1e-3 * float(np.abs(flat).max()) + 1e-9
    if (change < -noise).any():
        return False
    # In separate windows about as many places have less than before as have more.
    rises = np.count_nonzero(change > noise)
    rests = np.count_nonzero((change == 0.0) & (flat[1:] > noise))
    return True if rises >= _RISES and rests >= _RESTS else None


def _only(values: Floats) -> int | None:
    """Return the whole number that all values are, or None."""
    first = round(float(values[0]))
    return first if (np.abs(values - first) <= 1e-6).all() else None
