"""What a template of chart questions is: facts of a chart put into one question and four choices.

A template works the right choice and three wrong ones out of a `Reading`, and rejects a near-tie:
every wrong choice is wrong by a margin that is larger than what the text view rounds away.
"""

from __future__ import annotations

import random
from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, TypeVar

from zephyrus_chartqa.blind import by_form
from zephyrus_chartqa.facts.areas import Area
from zephyrus_chartqa.facts.reading import Reading

T = TypeVar("T")

WRONG = 3
"""Distractors of a question."""

NOUNS = {
    "rain": "24-hour precipitation",
    "phenomena": "cloud cover",
    "max_temp": "daily maximum temperature",
    "min_temp": "daily minimum temperature",
    "500hpa_situation": "500 hPa geopotential height",
    "850hpa_situation": "850 hPa wind speed",
    "land_situation": "sea level pressure",
}
"""What a chart's main field is called in a question, by modality."""


@dataclass(frozen=True)
class Draft:
    """A question that could be asked.

    Attributes:
        template: The template's name.
        element: What of the chart is asked about: the element of the ⟨region, element⟩ fact.
        area: The name of the area it is about; "" if it is the whole chart.
        question: The text.
        right: The right choice.
        wrong: The three wrong ones.
        margin: How far the nearest of them is from being right, in ``units``.
        needed: How far it had to be, in ``units``.
        units: Of both.
        fact: The numbers of the fact, as plain JSON values.
        balance: Of what the right choices should be equally many.
        hints: By strategy that looks at no chart but knows more than the texts (where areas are),
            its share of a right answer here.
    """

    template: str
    element: str
    area: str
    question: str
    right: str
    wrong: tuple[str, ...]
    margin: float
    needed: float
    units: str
    fact: dict[str, Any]
    balance: str
    hints: dict[str, float] = field(default_factory=dict)

    @cached_property
    def scores(self) -> dict[str, float]:
        """What every blind strategy scores on it that learns nothing."""
        return {**self.hints, **by_form(self.right, self.wrong)}


class Template(ABC):
    """A form of question.

    Attributes:
        name: Its name.
        modalities: Charts of which it asks about.
    """

    name: ClassVar[str]
    modalities: ClassVar[tuple[str, ...]]

    @abstractmethod
    def drafts(self, reading: Reading, rng: random.Random) -> Iterator[Draft]:
        """The questions about a chart, in the order of ``rng``; maybe none."""


def noun(reading: Reading) -> str:
    """What the chart's main field is called."""
    if reading.chart.way.variables[0] == "surface_pressure":
        return "surface pressure"
    return NOUNS[reading.modality]


def shuffled(items: Iterable[T], rng: random.Random) -> list[T]:
    """The same things in the order of a generator."""
    order = list(items)
    rng.shuffle(order)
    return order


def by_place(right: Area, wrong: Sequence[Area]) -> tuple[str, dict[str, float]]:
    """What an area's place among the offered ones gives away.

    Returns:
        Its rank from the north, and what the strategies score that name the outermost one.
    """
    offered = [right, *wrong]
    ranked = sorted(offered, key=lambda area: -area.latitude)
    poleward = max(offered, key=lambda area: abs(area.latitude))
    equatorward = min(offered, key=lambda area: abs(area.latitude))
    largest = max(offered, key=lambda area: area.size)
    return str(ranked.index(right)), {
        "northernmost": float(ranked[0] is right),
        "southernmost": float(ranked[-1] is right),
        "nearest a pole": float(poleward is right),
        "nearest the equator": float(equatorward is right),
        "largest area": float(largest is right),
    }
