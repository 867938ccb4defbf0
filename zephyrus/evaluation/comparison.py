"""Change against a base run: a paired bootstrap over the events that both runs were judged on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from zephyrus.evaluation.bootstrap import interval, resampled_means
from zephyrus.evaluation.scores import Column, EventScores, matrix, mean

if TYPE_CHECKING:
    from numpy.typing import NDArray


@dataclass(frozen=True, slots=True)
class Change:
    """A score against a base run's on their common events.

    Attributes:
        difference: This run's mean minus the base's.
        difference_ci95: Its paired bootstrap interval, None with fewer than two events.
        relative: The difference over the base's mean, unrounded; None if that is 0.
        relative_ci95: Its interval; None if a resampled base may be 0.
        events: How many events are common.
    """

    difference: float
    difference_ci95: tuple[float, float] | None
    relative: float | None
    relative_ci95: tuple[float, float] | None
    events: int

    @property
    def clear(self) -> bool:
        """Whether the interval of the difference leaves 0 out."""
        ends = self.difference_ci95
        return ends is not None and not ends[0] <= 0 <= ends[1]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "difference": self.difference,
            "difference_ci95": self.difference_ci95 and list(self.difference_ci95),
            "relative": self.relative,
            "relative_ci95": self.relative_ci95 and list(self.relative_ci95),
            "events": self.events,
        }


@dataclass(frozen=True, slots=True)
class Comparison:
    """A run against a base run.

    Attributes:
        base: The base run's name.
        changes: By column; none for a column without a common event.
        average: Of the mean over the averaged columns, None if one of them has no change.
    """

    base: str
    changes: Mapping[Column, Change]
    average: Change | None


def compare(
    ours: EventScores,
    base: EventScores,
    name: str,
    columns: Sequence[Column],
    average: Sequence[Column],
) -> Comparison:
    """Compare the scores of two runs.

    Args:
        ours: The run's scores.
        base: The base run's.
        name: What the base run is called.
        columns: Which scores.
        average: The columns whose mean is compared as well.
    """
    new, old = [], []
    for column in columns:
        mine, theirs = ours.by_event(column), base.by_event(column)
        common = [event for event in mine if event in theirs]
        new.append({event: mine[event] for event in common})
        old.append({event: theirs[event] for event in common})
    samples = resampled_means(np.hstack([matrix(new), matrix(old)]))
    new_samples, old_samples = samples[:, : len(columns)], samples[:, len(columns) :]
    changes = {
        column: _change(
            mean(new[i].values()), mean(old[i].values()), new_samples[:, i], old_samples[:, i], n
        )
        for i, column in enumerate(columns)
        if (n := len(new[i]))
    }
    places = [columns.index(column) for column in average]
    if not places or any(not new[i] for i in places):
        return Comparison(name, changes, None)
    overall = _change(
        mean(mean(new[i].values()) for i in places),
        mean(mean(old[i].values()) for i in places),
        new_samples[:, places].mean(axis=1),
        old_samples[:, places].mean(axis=1),
        min(len(new[i]) for i in places),
    )
    return Comparison(name, changes, overall)


def _change(
    new: float,
    old: float,
    new_samples: NDArray[np.float64],
    old_samples: NDArray[np.float64],
    events: int,
) -> Change:
    relative_ci95 = None
    if old and np.all(old_samples[np.isfinite(old_samples)]):
        relative_ci95 = interval(new_samples / old_samples - 1, events)
    return Change(
        difference=new - old,
        difference_ci95=interval(new_samples - old_samples, events),
        relative=new / old - 1 if old else None,
        relative_ci95=relative_ci95,
        events=events,
    )
