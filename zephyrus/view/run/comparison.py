"""Two runs held against each other, task by task."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

Row = Mapping[str, Any]
Pair = tuple[int | None, int | None]
"""The numbers of two rows, one of each run; None where a run has no such rollout."""


def pair(first: Sequence[Row], second: Sequence[Row]) -> list[Pair]:
    """The n-th rollout of a task in one run beside the n-th in the other.

    By seed and repeat: runs of one bank with different seeds are comparable too.

    Args:
        first: Rows of a run.
        second: Rows of the other.

    Returns:
        Pairs in the first run's order of tasks, then tasks that only the second has.
    """
    mine, theirs = _by_task(first), _by_task(second)
    return [
        both
        for task in dict.fromkeys([*mine, *theirs])
        for both in zip_longest(mine.get(task, ()), theirs.get(task, ()))
    ]


def difference(
    first: Sequence[Row], second: Sequence[Row], pairs: Sequence[Pair]
) -> dict[str, Any] | None:
    """How much higher the second run scores than the first, where both were scored.

    Args:
        first: Rows of a run.
        second: Rows of the other.
        pairs: What `pair` returned for them.

    Returns:
        ``mean`` over tasks, its 95 % interval ``ci95`` by resampling tasks (None for a single
        one), and how many ``tasks``; None if no pair was scored on both sides.
    """
    changes: defaultdict[str, list[float]] = defaultdict(list)
    for i, j in pairs:
        if i is None or j is None:
            continue
        before, after = first[i]["score"], second[j]["score"]
        if before is not None and after is not None:
            changes[first[i]["task"]].append(after - before)
    if not changes:
        return None
    import numpy as np

    from zephyrus.evaluation.bootstrap import interval, resampled_means

    means = np.array([[sum(some) / len(some)] for some in changes.values()])
    found = interval(resampled_means(means)[:, 0], len(means)) if len(means) > 1 else None
    return {
        "mean": float(means.mean()),
        "ci95": list(map(float, found)) if found else None,
        "tasks": len(means),
    }


def _by_task(rows: Sequence[Row]) -> dict[str, list[int]]:
    found: defaultdict[str, list[int]] = defaultdict(list)
    for number in sorted(range(len(rows)), key=lambda n: (rows[n]["seed"], rows[n]["repeat"])):
        found[rows[number]["task"]].append(number)
    first = {task: min(numbers) for task, numbers in found.items()}
    return {task: found[task] for task in sorted(found, key=first.__getitem__)}
