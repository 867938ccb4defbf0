"""In which class an area's value is: the grade of rain, oktas of cloud, ranges of the others."""

from __future__ import annotations

import random
from collections.abc import Iterator

from zephyrus_chartqa.facts.reading import Reading
from zephyrus_chartqa.facts.scales import SCALES
from zephyrus_chartqa.questions.base import WRONG, Draft, Template, noun, shuffled

_QUESTIONS = {
    "rain": (
        "How heavy is the heaviest 24-hour precipitation over {area}?",
        "To which grade does the highest 24-hour precipitation over {area} belong?",
    ),
    "phenomena": (
        "How much of the sky over {area} is covered by cloud on average?",
        "What is the average sky cover over {area}?",
    ),
    "850hpa_situation": (
        "How strong is the 850 hPa wind over {area} on average?",
        "In which range is the area-average 850 hPa wind speed over {area}?",
    ),
}
_OTHERS = (
    "In which range is the area-average {noun} over {area}?",
    "What is the {noun} over {area} on average?",
)


class AreaClass(Template):
    """The right class and the three around it, of which the right one is any."""

    name = "area_class"
    modalities = tuple(SCALES)

    def drafts(self, reading: Reading, rng: random.Random) -> Iterator[Draft]:
        """One question an area whose value is clear of the edges of its class."""
        scale = SCALES[reading.modality]
        last = len(scale.words) - 1
        for area in shuffled(reading.areas, rng):
            value = reading.values[area.key]
            if not scale.is_clear(value):
                continue
            index = scale.index(value)
            first = rng.randint(max(0, index - WRONG), min(index, last - WRONG))
            offered = range(first, first + WRONG + 1)
            margin, needed = scale.nearest(value)
            question = rng.choice(_QUESTIONS.get(reading.modality, _OTHERS))
            rank = index - first
            yield Draft(
                template=self.name,
                element=noun(reading),
                area=area.name,
                question=question.format(area=area.name, noun=noun(reading)),
                right=scale.words[index],
                wrong=tuple(scale.words[i] for i in offered if i != index),
                margin=margin,
                needed=needed,
                units=reading.chart.units,
                fact={"value": value, "area": area.key},
                balance=str(index),
                hints={f"class {i + 1} of 4": float(i == rank) for i in range(WRONG + 1)},
            )
