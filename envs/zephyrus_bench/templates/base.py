"""What a template is: a way to make questions of one form, with the calls that answer them.

A template draws the details of a question about a subject (statistic, time, wording) with a
seeded generator, works out the gold answer from the data plane, and rejects a draw whose answer
is a near-tie: closer to the next one than the verifier's tolerance or the tools' rounding.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zephyrus_bench.memo import once
from zephyrus_bench.subjects import Group, Subject, groups, is_ambiguous, is_small, single_features
from zephyrus_bench.values import is_narrow
from zephyrus_bench.verifiers import full_band
from zephyrus_bench.wording import month_of, over
from zephyrus_geodata import Dataset, Feature, Forecast, UnsuitableData, Variable
from zephyrus_geodata.zonal import Stat, zonal_table

TIMELESS = ""
"""Stands for the forecast in the key of a question that is about the climatology alone."""


@dataclass(frozen=True)
class Scene:
    """The world a question is drawn in."""

    dataset: Dataset
    forecast: Forecast

    def series(self, variable: Variable, feature: Feature, stat: Stat = "mean") -> NDArray[Any]:
        """A statistic over a feature at each step: (time,), display units."""
        found = self.dataset.series(self.forecast, variable.name, feature, stat)
        return np.asarray(variable.to_display(found))

    def table(self, variable: Variable, group: Group, stat: Stat = "mean") -> NDArray[Any]:
        """A statistic over each candidate at each step: (candidate, time), display units."""
        found = self.dataset.table(self.forecast, variable.name, group.features, stat)
        return np.asarray(variable.to_display(found))

    def climate(self, variable: Variable, statistic: str, month: int, feature: Feature) -> float:
        """A climatological statistic of a feature in display units; a spread is not offset."""
        found = self.dataset.climate(variable.name, statistic, month, feature)
        return found * variable.scale if statistic == "std" else variable.to_display(found)

    def usually(self, variable: Variable) -> bool:
        """Whether the climatology knows the variable."""
        usual = self.dataset.climatology
        return usual is not None and variable.name in usual.variables

    def months(self, variable: Variable) -> list[int]:
        """The months of which the climatology has the variable."""
        usual = self.dataset.climatology
        if usual is None:
            return []
        return once(
            self.dataset,
            ("months", variable.name),
            lambda: [
                month
                for month in range(1, 13)
                if np.isfinite(usual.cells(variable.name, "mean", month)).any()
            ],
        )

    @property
    def month(self) -> int:
        """The month of the middle of the forecast."""
        return month_of(self.forecast, int(self.forecast.lead_hours[-1]) // 2)

    def climates(
        self, variable: Variable, statistic: str, month: int, group: Group, stat: Stat = "mean"
    ) -> NDArray[Any]:
        """`climate` of each candidate, or another statistic over its cells.

        Returns:
            (candidate,) in display units; of "std" only the order means something.
        """
        usual = self.dataset.climatology
        if usual is None:
            raise UnsuitableData(f"The dataset {self.dataset.name!r} has no climatology.")

        def worked_out() -> NDArray[Any]:
            cells = usual.cells(variable.name, statistic, month)
            zones = [self.dataset.zones.zone(feature) for feature in group.features]
            found = variable.to_display(zonal_table(cells[:, None], zones, stat)[:, 0])
            return np.asarray(found)

        about = ("climates", variable.name, statistic, month, group.key, stat)
        return once(self.dataset, about, worked_out)

    def asked_month(self, month: int) -> int | None:
        """The month that a program has to ask for: none where the climatology has months only."""
        usual = self.dataset.climatology
        return month if usual is not None and usual.days is not None else None

    def over(self, feature: Feature) -> str:
        """Say "over Kenya", with the kind if the name is ambiguous."""
        return over(feature, ambiguous=is_ambiguous(self.dataset, feature))

    def hour(self, rng: random.Random) -> int:
        """A lead time of the forecast."""
        return int(rng.choice(self.forecast.lead_hours.tolist()))

    def index(self, hour: int) -> int:
        """The step of a lead time."""
        return int(np.flatnonzero(self.forecast.lead_hours == hour)[0])


@dataclass(frozen=True)
class Draft:
    """A question that holds up: it becomes a `Task` if it keeps its bank unguessable.

    Attributes:
        question: What is asked, without the line that sets the scene.
        gold: The answer.
        calls: The tool calls that answer it: ``{"tool": …, "arguments": {…}}``.
        read: How the answer is read off the last call's text (see `zephyrus_bench.script`).
        detail: What was drawn, e.g. statistic and hour; "flavour" tells apart questions that
            share a prior, as the maximum and minimum of one variable.
        margin: By how much the answer stands out, in display units; None for plain numbers.
        needed: The least margin.
        candidates: The places it could be, for the location and list types.
        blind: What strategies score on it that never look (see `zephyrus_bench.blind`).
    """

    question: str
    gold: Any
    calls: tuple[dict[str, Any], ...]
    read: str
    detail: dict[str, Any] = field(default_factory=dict)
    margin: float | None = None
    needed: float | None = None
    candidates: tuple[str, ...] = ()
    blind: dict[str, float] = field(default_factory=dict)


class Template(ABC):
    """One row of Table B.1.

    Attributes:
        name: Its name in tasks and tables.
        row: The row's own words.
        answer_type: "numerical", "time", "location" or "anomaly".
        tool: The tool that must have been used.
        semantics: What the gold answer is, exactly.
        reconstructed: Whether the paper does not show this row.
        of_values: Whether the answer is or holds a value of the variable itself.
        timeless: Whether it asks about the climatology alone, whatever the forecast.
        several_steps: Whether it takes a forecast of more than one lead time.
    """

    name: ClassVar[str]
    row: ClassVar[str]
    answer_type: ClassVar[str]
    tool: ClassVar[str] = "dataset"
    semantics: ClassVar[str]
    reconstructed: ClassVar[bool] = False
    of_values: ClassVar[bool] = True
    timeless: ClassVar[bool] = False
    several_steps: ClassVar[bool] = False

    def asks_about(self, variable: str) -> bool:
        """Whether it asks about a variable at all."""
        return not (self.of_values and is_narrow(variable))

    @abstractmethod
    def subjects(self, dataset: Dataset) -> Sequence[Subject]:
        """What it can ask about."""

    @abstractmethod
    def draw(
        self, scene: Scene, subject: Subject, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw one question, or None if this draw is a near-tie or not worth asking."""


class FeatureTemplate(Template):
    """A template about one feature."""

    def subjects(self, dataset: Dataset) -> Sequence[Subject]:
        """The features that cover at least a cell, and the cities."""
        return single_features(dataset)

    def draw(
        self, scene: Scene, subject: Subject, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw a question about a feature."""
        return self.ask(scene, subject, variable, rng) if isinstance(subject, Feature) else None

    @abstractmethod
    def ask(
        self, scene: Scene, feature: Feature, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw a question about a feature."""


class GroupTemplate(Template):
    """A template about the candidates of a kind."""

    with_parent: ClassVar[bool | None] = None

    def subjects(self, dataset: Dataset) -> Sequence[Subject]:
        """The sets of 7 to 60 candidates."""
        return groups(dataset, with_parent=self.with_parent)

    def draw(
        self, scene: Scene, subject: Subject, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw a question about a set of candidates."""
        return self.ask(scene, subject, variable, rng) if isinstance(subject, Group) else None

    @abstractmethod
    def ask(
        self, scene: Scene, group: Group, variable: Variable, rng: random.Random
    ) -> Draft | None:
        """Draw a question about a set of candidates."""


@dataclass(frozen=True)
class Winner:
    """The candidate with the extreme value, and its lead over the runner-up."""

    place: str
    value: float
    margin: float
    needed: float


def winner(scene: Scene, group: Group, values: NDArray[Any], order: str) -> Winner | None:
    """The candidate with the highest or lowest value, if it stands out.

    Args:
        scene: The world.
        group: The candidates.
        values: (candidate,) in display units.
        order: "highest" or "lowest".

    Returns:
        None if a value is missing, if the runner-up's value would pass for the winner's, or if
        the winner is smaller than a grid cell, so that its value says little about it.
    """
    if not np.isfinite(values).all():
        return None
    ranked = np.argsort(-values if order == "highest" else values, kind="stable")
    first, second = int(ranked[0]), int(ranked[1])
    margin, needed = abs(values[first] - values[second]), full_band(float(values[first]))
    needed = max(needed, 2.0 * rounding(float(values[first])))
    if margin <= needed or is_small(scene.dataset, group.features[first]):
        return None
    return Winner(group.features[first].name, float(values[first]), float(margin), needed)


def rounding(value: float) -> float:
    """The step to which the tools round a number: 0.01, or 0.1 from 1000 on."""
    return 0.1 if abs(value) >= 1000.0 else 0.01


def call(tool: str, **arguments: Any) -> dict[str, Any]:
    """One tool call of a program; arguments that are None are left out."""
    return {"tool": tool, "arguments": {k: v for k, v in arguments.items() if v is not None}}
