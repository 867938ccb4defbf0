"""Scores by event: what means, intervals and comparisons are made from.

An event is a task. Its score is the mean over its rollouts of the mean over each rollout's scoring
passes; a table's number is the mean over events, so that an event counts once however many
rollouts, or passes that could be had, it has. Sums are exactly rounded (`math.fsum`), so that the
order in which judgements came changes no digit.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from zephyrus.evaluation.bootstrap import interval, resampled_means
from zephyrus.trajectory import Key

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

REWARDS = ""
"""Stands for a judge's name where the score is a reward that the environment gave."""


class Column(NamedTuple):
    """One kind of score: who gave it, and what it is called."""

    judge: str
    score: str


@dataclass(frozen=True, slots=True)
class Score:
    """A mean over events.

    Attributes:
        mean: None where no event has such a score.
        ci95: Its bootstrap interval, None with fewer than two events.
        events: How many events it is over.
    """

    mean: float | None
    ci95: tuple[float, float] | None
    events: int

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {"mean": self.mean, "ci95": self.ci95 and list(self.ci95), "events": self.events}


NO_SCORE = Score(None, None, 0)


class EventScores:
    """Scores by column and event.

    Attributes:
        values: The event's score by column and event; an event that lacks one has no entry.
    """

    def __init__(self) -> None:
        self._raw: dict[Column, dict[str, dict[Key, list[float]]]] = {}

    def add(self, column: Column, rollout: Key, value: float) -> None:
        """Take in the score of one rollout in one scoring pass."""
        events = self._raw.setdefault(column, {})
        events.setdefault(rollout.task, {}).setdefault(rollout, []).append(value)

    @property
    def columns(self) -> list[Column]:
        """In the order in which they came."""
        return list(self._raw)

    def by_event(self, column: Column) -> dict[str, float]:
        """The score of each event that has one, in the order of their ids."""
        events = self._raw.get(column, {})
        return {
            event: mean([mean(passes) for passes in rollouts.values()])
            for event, rollouts in sorted(events.items())
        }

    def means(self, columns: Sequence[Column], average: Sequence[Column]) -> Means:
        """Means with intervals from one set of resamples.

        Args:
            columns: Which scores.
            average: The columns of which `Means.average` is the mean.
        """
        scores = [self.by_event(column) for column in columns]
        samples = resampled_means(matrix(scores))
        found = {
            column: _score(list(values.values()), samples[:, i])
            for i, (column, values) in enumerate(zip(columns, scores, strict=True))
        }
        parts = [found[column].mean for column in average]
        known = [part for part in parts if part is not None]
        if not parts or len(known) < len(parts):
            return Means(found, NO_SCORE)
        places = [columns.index(column) for column in average]
        events = min(found[column].events for column in average)
        ci95 = interval(samples[:, places].mean(axis=1), events)
        return Means(found, Score(mean(known), ci95, events))


class Means(NamedTuple):
    """What `EventScores.means` gives.

    Attributes:
        scores: By column.
        average: The plain mean of the unrounded means of some columns (the "Avg" of Tables 2 and
            3), without value if one of them has none; its ``events`` are the fewest of a column.
    """

    scores: dict[Column, Score]
    average: Score


def matrix(scores: Sequence[dict[str, float]]) -> NDArray[np.float64]:
    """(events, columns) of the events that any column has, by id; NaN where one lacks it."""
    import numpy as np

    events = sorted({event for column in scores for event in column})
    table = np.full((len(events), len(scores)), np.nan)
    for i, column in enumerate(scores):
        table[:, i] = [column.get(event, math.nan) for event in events]
    return table


def mean(values: Iterable[float]) -> float:
    """The mean, exactly rounded but for one division."""
    found = list(values)
    return math.fsum(found) / len(found)


def _score(values: list[float], samples: NDArray[np.float64]) -> Score:
    if not values:
        return NO_SCORE
    return Score(mean(values), interval(samples, len(values)), len(values))
