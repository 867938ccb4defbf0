"""From where the wind blows over an area at 500 or 850 hPa."""

from __future__ import annotations

import random
from collections.abc import Iterator

from zephyrus_chartqa.facts.reading import Reading
from zephyrus_chartqa.facts.scales import (
    POINTS,
    SECTOR,
    SECTOR_MARGIN,
    off_point,
    point_of,
    wind_word,
)
from zephyrus_chartqa.questions.base import Draft, Template, shuffled

_LEVELS = {"500hpa_situation": "500 hPa", "850hpa_situation": "850 hPa"}
_QUESTIONS = (
    "What is the prevailing {level} flow over {area}?",
    "Which flow prevails at {level} over {area}?",
)
_TURNS = (2, 4, 6)  # eighths of a circle: the opposite flow, and those across


class Flow(Template):
    """The right one of eight directions, its opposite and the two across."""

    name = "flow"
    modalities = tuple(_LEVELS)

    def drafts(self, reading: Reading, rng: random.Random) -> Iterator[Draft]:
        """One question an area with a steady wind well inside its sector."""
        for area in shuffled(reading.areas, rng):
            wind = reading.wind(area)
            if wind is None or not wind.steady:
                continue
            clear = 0.5 * SECTOR - off_point(wind.direction)
            if clear < SECTOR_MARGIN:
                continue
            point = point_of(wind.direction)
            level = _LEVELS[reading.modality]
            yield Draft(
                template=self.name,
                element=f"{level} wind",
                area=area.name,
                question=rng.choice(_QUESTIONS).format(level=level, area=area.name),
                right=wind_word(point),
                wrong=tuple(wind_word(point + turn) for turn in _TURNS),
                # The sectors across begin one sector beyond the edge of the right one.
                margin=clear + SECTOR,
                needed=SECTOR_MARGIN + SECTOR,
                units="degrees",
                fact={"direction": wind.direction, "speed": wind.speed, "area": area.key},
                balance=POINTS[point],
            )
