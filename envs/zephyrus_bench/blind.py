"""What policies score that never look at the forecast, though they read the question.

Each task keeps what such a policy would score on it, by strategy: naming the candidate with the
most grid cells, or nearest a pole, or the usual winner of the climatology; naming every
candidate; repeating what was right in the training questions. The bank is drawn so that none of
them pays, and the report prints them.
"""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus.task import Task
from zephyrus_bench.guess import best_constant
from zephyrus_bench.memo import once
from zephyrus_bench.subjects import POINT_KINDS, Group
from zephyrus_bench.verifiers import verify
from zephyrus_geodata import Dataset

CLIMATE = "climate"
"""The strategy of knowing the climatology by heart: worth something, as it should be."""

BLIND_LIMIT = 0.15
CLIMATE_LIMIT = 1.0 / 3.0
"""The most that a strategy may score on one template of one split."""


def limit(strategy: str) -> float:
    """The most that a strategy may score."""
    return CLIMATE_LIMIT if strategy == CLIMATE else BLIND_LIMIT


def place_guesses(
    dataset: Dataset, group: Group, place: str, usual: NDArray[Any] | None, order: str
) -> dict[str, float]:
    """What it scores to name a candidate for its size, its latitude, or its climate.

    Args:
        dataset: Whose grid.
        group: The candidates.
        place: The right one.
        usual: (candidate,) what the climatology has in the place of the asked value, if known.
        order: "highest" or "lowest".
    """
    traits = dict(once(dataset, ("traits", group.key), lambda: _traits(dataset, group)))
    if usual is not None:
        traits[CLIMATE] = usual if order == "highest" else -usual
    names = group.names
    found = {name: float(names[int(trait.argmax())] == place) for name, trait in traits.items()}
    return {"random candidate": 1.0 / len(names), **found}


def _traits(dataset: Dataset, group: Group) -> dict[str, NDArray[Any]]:
    """(candidate,) by trait, the greatest of which a policy might name."""
    zones = [dataset.zones.zone(feature) for feature in group.features]
    latitude = dataset.grid.cell_latitude
    middle = np.array([np.average(latitude[z.cells], weights=z.weights) for z in zones])
    traits = {
        "northernmost": middle,
        "southernmost": -middle,
        "nearest a pole": np.abs(middle),
        "nearest the equator": -np.abs(middle),
    }
    if group.kind not in POINT_KINDS:
        traits["most cells"] = np.array([zone.cells.size for zone in zones])
    return traits


class Learnt:
    """What the training questions of a template teach a policy that never looks."""

    def __init__(self, tasks: Sequence[Task]) -> None:
        """Fit the best constant answer of each set, and of each variable and flavour.

        For what training has not asked about it is the best of all of the template.
        """
        self._answers: dict[tuple[str, ...], str] = {}
        self._right: dict[str, set[str]] = defaultdict(set)
        pools: dict[tuple[str, ...], list[Task]] = defaultdict(list)
        for task in tasks:
            for pool in self._pools(task).values():
                pools[pool].append(task)
            if task.answer_type == "location":
                self._right[task.provenance["key"][1]].add(task.gold["place"])
        self._otherwise = json.dumps(best_constant(tasks).answer, ensure_ascii=False)
        for pool, members in pools.items():
            answer = best_constant(members).answer
            self._answers[pool] = json.dumps(answer, ensure_ascii=False)

    def scores(self, task: Task) -> dict[str, float]:
        """What each strategy scores on a question of another split."""
        found = {
            strategy: verify(task, self._answers.get(pool, self._otherwise))
            for strategy, pool in self._pools(task).items()
        }
        if task.answer_type == "location":
            seen = self._right[task.provenance["key"][1]]
            fresh = [name for name in task.provenance["candidates"] if name not in seen]
            found["not yet right"] = (task.gold["place"] in fresh) / max(1, len(fresh))
        return found

    @staticmethod
    def _pools(task: Task) -> dict[str, tuple[str, ...]]:
        about = task.provenance
        pools: dict[str, tuple[str, ...]] = {
            "learnt by variable": ("", about["variable"], about["detail"]["flavour"])
        }
        if "candidates" in about:
            pools["learnt by set"] = (about["key"][1],)
            pools["learnt by set and order"] = (about["key"][1], about["detail"]["flavour"])
        return pools
