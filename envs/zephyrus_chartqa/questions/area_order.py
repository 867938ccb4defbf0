"""Which of four areas has the highest or lowest value."""

from __future__ import annotations

import random
from collections.abc import Iterator

from zephyrus_chartqa.facts.areas import Area
from zephyrus_chartqa.facts.reading import Reading
from zephyrus_chartqa.facts.scales import APART, apart
from zephyrus_chartqa.questions.base import WRONG, Draft, Template, by_place, noun, shuffled

_PER_CHART = 8  # areas and orders looked at
_QUESTIONS = {
    ("rain", "highest"): ("Which of these areas has the heaviest 24-hour precipitation?",),
    ("phenomena", "highest"): ("Which of these areas is the cloudiest on average?",),
    ("phenomena", "lowest"): ("Over which of these areas is there least cloud on average?",),
    ("850hpa_situation", "highest"): (
        "Over which of these areas is the 850 hPa wind strongest on average?",
    ),
    ("850hpa_situation", "lowest"): (
        "Over which of these areas is the 850 hPa wind weakest on average?",
    ),
}
_OTHERS = (
    "Which of these areas has the {order} area-average {noun}?",
    "Over which of these areas is the area-average {noun} {order}?",
)


class AreaOrder(Template):
    """Any area, and three others that are clearly below or above it: other regions."""

    name = "area_order"
    modalities = tuple(APART)

    def drafts(self, reading: Reading, rng: random.Random) -> Iterator[Draft]:
        """One question an area and order that three others are clear of; some of them."""
        orders = ("highest",) if reading.modality == "rain" else ("highest", "lowest")
        values = reading.values
        pairs = [(area, order) for area in reading.areas for order in orders]
        for area, order in shuffled(pairs, rng)[:_PER_CHART]:
            below = [
                other
                for other in reading.areas
                if other is not area and self._beats(reading, values, area, other, order)
            ]
            if len(below) >= WRONG:
                yield self._draft(reading, values, area, rng.sample(below, WRONG), order, rng)

    @staticmethod
    def _beats(
        reading: Reading, values: dict[str, float], area: Area, other: Area, order: str
    ) -> bool:
        one, two = values[area.key], values[other.key]
        distance, needed = apart(reading.modality, one, two)
        return distance >= needed and (one > two) == (order == "highest")

    def _draft(
        self,
        reading: Reading,
        values: dict[str, float],
        area: Area,
        wrong: list[Area],
        order: str,
        rng: random.Random,
    ) -> Draft:
        worst = min(wrong, key=lambda other: abs(values[other.key] - values[area.key]))
        margin, needed = apart(reading.modality, values[area.key], values[worst.key])
        question = rng.choice(_QUESTIONS.get((reading.modality, order), _OTHERS))
        rank, hints = by_place(area, wrong)
        return Draft(
            template=self.name,
            element=noun(reading),
            area=area.name,
            question=question.format(order=order, noun=noun(reading)),
            right=area.name,
            wrong=tuple(other.name for other in wrong),
            margin=margin,
            needed=needed,
            units=reading.chart.units,
            fact={"order": order, "values": {a.key: values[a.key] for a in (area, *wrong)}},
            balance=f"{order} {rank}",
            hints=hints,
        )
