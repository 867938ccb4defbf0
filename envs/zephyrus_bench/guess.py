"""The best constant answer: what a policy scores that never looks.

For numbers, hours and places the search is exact; for lists, where it is not feasible, it is
greedy from many starts. An answer is "constant" over a set of tasks of one answer type.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus.task import Task
from zephyrus_bench.verifiers import STEP_HOURS, full_band, half_band
from zephyrus_geodata.names import lookup_key

_STARTS = 6  # lists from which the greedy search sets out


@dataclass(frozen=True)
class Guess:
    """A constant answer.

    Attributes:
        answer: The answer, a JSON value.
        total: Its summed score over the tasks.
        count: How many tasks.
    """

    answer: Any
    total: float
    count: int

    @property
    def score(self) -> float:
        """Its mean score, 0 to 1."""
        return self.total / self.count if self.count else 0.0


def best_constant(tasks: Sequence[Task]) -> Guess:
    """The constant answer with the highest mean score over tasks of one answer type.

    Raises:
        ValueError: If the tasks are of several types.
    """
    types = {task.answer_type for task in tasks}
    if not tasks:
        return Guess(None, 0.0, 0)
    if len(types) > 1:
        raise ValueError(f"one answer cannot be of the types {sorted(types)}")
    finders: dict[str, Callable[[list[Any]], tuple[Any, float]]] = {
        "numerical": _best_number,
        "time": _best_hour,
        "location": _best_place,
        "anomaly": _best_list,
    }
    answer, total = finders[types.pop()]([task.gold for task in tasks])
    return Guess(answer, float(total), len(tasks))


def _bands(
    golds: Sequence[float], width: Callable[[float], float]
) -> tuple[NDArray[Any], NDArray[Any]]:
    """Lower and upper ends of the bands around the golds: (task,) each."""
    center = np.asarray(golds, dtype=float)
    half = np.array([width(gold) for gold in golds])
    return center - half, center + half


def inside(points: NDArray[Any], low: NDArray[Any], high: NDArray[Any]) -> NDArray[np.float64]:
    """1.0 where a point is in a band, its ends included: (point, band)."""
    slack = 1e-9 * np.maximum(1.0, np.abs(low) + np.abs(high))
    column = points[:, None]
    inside: NDArray[np.bool_] = (column >= low - slack) & (column <= high + slack)
    return inside.astype(np.float64)


def _best_number(golds: list[float]) -> tuple[float, float]:
    """Exact: the summed score only changes at the ends of bands."""
    full, half = _bands(golds, full_band), _bands(golds, half_band)
    points = np.unique(np.concatenate([*full, *half, golds]))
    scores = 0.5 * (inside(points, *full) + inside(points, *half)).sum(axis=1)
    best = int(scores.argmax())
    return float(points[best]), float(scores[best])


def _best_hour(golds: list[float]) -> tuple[float, float]:
    hours = np.asarray(golds, dtype=float)
    points = np.unique(np.concatenate([hours, hours - STEP_HOURS, hours + STEP_HOURS]))
    error = np.abs(points[:, None] - hours)
    scores = (0.5 * (error <= STEP_HOURS) + 0.5 * (error == 0)).sum(axis=1)
    best = int(scores.argmax())
    return float(points[best]), float(scores[best])


def _best_place(golds: list[dict[str, Any]]) -> tuple[dict[str, Any], float]:
    """Exact: a place earns 1 where it is right, and its value one half where it is not."""
    places = [lookup_key(gold["place"]) for gold in golds]
    known = list(dict.fromkeys(places))
    named = np.array([[place == name for place in places] for name in known], dtype=float)
    values = [float(gold["value"]) for gold in golds]
    low, high = _bands(values, full_band)
    points = np.unique(np.concatenate([low, high, values]))
    valued = inside(points, low, high)
    scores = named.sum(axis=1)[:, None] + 0.5 * (valued.sum(axis=1)[None] - named @ valued.T)
    name, point = np.unravel_index(int(scores.argmax()), scores.shape)
    spelt = golds[places.index(known[name])]["place"]
    return {"place": spelt, "value": float(points[point])}, float(scores[name, point])


def _best_list(golds: list[list[str]]) -> tuple[list[str], float]:
    """Greedy: from the empty list, the best golds and the best single names, add what helps."""
    names = list(dict.fromkeys(name for gold in golds for name in gold))
    index = {name: i for i, name in enumerate(names)}
    member = np.zeros((len(golds), len(names)))
    for row, gold in enumerate(golds):
        member[row, [index[name] for name in gold]] = 1.0
    sizes = member.sum(axis=1)
    best = (frozenset[int](), float((sizes == 0).sum()))
    if not names:
        return [], best[1]

    def total(chosen: frozenset[int]) -> float:
        both = member[:, sorted(chosen)].sum(axis=1)
        return float((2.0 * both / np.maximum(sizes + len(chosen), 1.0)).sum())

    whole = {frozenset(index[name] for name in gold) for gold in golds if gold}
    starts = sorted(whole, key=lambda s: (-total(s), sorted(s)))[:_STARTS]
    starts += [
        frozenset([int(i)]) for i in np.argsort(-member.sum(axis=0), kind="stable")[:_STARTS]
    ]
    for start in starts:
        chosen, score = start, total(start)
        while True:
            both = member[:, sorted(chosen)].sum(axis=1)
            gains = 2.0 * (both[:, None] + member) / (sizes + len(chosen) + 1)[:, None]
            scores = gains.sum(axis=0)
            scores[sorted(chosen)] = -1.0
            add = int(scores.argmax())
            if scores[add] <= score + 1e-12:
                break
            chosen, score = chosen | {add}, float(scores[add])
        if score > best[1]:
            best = (chosen, score)
    return [names[i] for i in sorted(best[0])], best[1]
