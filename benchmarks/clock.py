"""Timing: interleaved rounds, medians."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Mapping

import numpy as np

Work = Callable[[], object]

_LEAST = 0.02  # seconds: what is quicker is repeated within a round
_SLOW = 1.0  # seconds: what takes longer has three rounds
_VERY_SLOW = 8.0  # seconds: what takes longer is called once


def interleaved(
    works: Mapping[str, Work],
    rounds: int,
    *,
    before: Work | None = None,
    clock: Callable[[], float] = time.perf_counter,
) -> dict[str, float]:
    """Time several works by turns.

    Each is called once beforehand, to warm up; that is all for what takes more than eight seconds.
    What takes more than one has three rounds, and what takes less than twenty milliseconds is repeated
    within a round, unless something has to happen before every call.

    Args:
        works: what to time, by name.
        rounds: the most rounds.
        before: is called, untimed, before every call.
        clock: seconds.

    Returns:
        Median seconds a call, by name.
    """
    once = {name: _timed(work, 1, clock) for name, work in works.items()}
    times: dict[str, list[float]] = {name: [] for name in works}
    for number in range(rounds):
        for name, work in works.items():
            if once[name] > _VERY_SLOW or (once[name] > _SLOW and number >= 3):
                continue
            if before is not None:
                before()
                times[name].append(_timed(work, 1, clock))
            else:
                if number == 0:  # the first call may have imported or compiled something
                    once[name] = min(once[name], _timed(work, 1, clock))
                calls = max(1, min(1000, round(_LEAST / max(once[name], 1e-9))))
                times[name].append(_timed(work, calls, clock))
    return {name: statistics.median(found or [once[name]]) for name, found in times.items()}


def _timed(work: Work, calls: int, clock: Callable[[], float]) -> float:
    start = clock()
    for _ in range(calls):
        work()
    return (clock() - start) / calls


class Sweep:
    """Pushes other data out of the processor's caches by writing through a large buffer."""

    def __init__(self, size: int = 64 * 1024**2) -> None:
        """Make the buffer.

        Args:
            size: bytes; more than the caches of a core.
        """
        self._buffer = np.zeros(size // 8)

    def __call__(self) -> None:
        """Write through the buffer."""
        self._buffer += 1.0
