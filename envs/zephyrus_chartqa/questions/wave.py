"""Where an area lies in the waves of the 500 hPa flow: trough, ridge, or the slope between."""

from __future__ import annotations

import random
from collections.abc import Iterator

from zephyrus_chartqa.facts.reading import FLANK, Reading
from zephyrus_chartqa.questions.base import Draft, Template, shuffled

WAVES = {
    (True, True): "in a trough: heights are higher to its west and to its east",
    (False, False): "in a ridge: heights are lower to its west and to its east",
    (False, True): "on a slope: heights are lower to its west, higher to its east",
    (True, False): "on a slope: heights are higher to its west, lower to its east",
}
"""By whether the height is higher in the west, and in the east."""

_NEEDED = 30.0  # gpm
_QUESTION = (
    "Compare the 500 hPa height in the middle of {area} with the heights "
    f"{FLANK:.0f} degrees of longitude to its west and to its east. Where in the flow does "
    "{area} lie?"
)


class Wave(Template):
    """The four ways that heights can go from west to east, of which one is right."""

    name = "wave"
    modalities = ("500hpa_situation",)

    def drafts(self, reading: Reading, rng: random.Random) -> Iterator[Draft]:
        """One question an area that differs clearly from both of its flanks."""
        for area in shuffled(reading.areas, rng):
            heights = reading.flanks(area)
            if heights is None:
                continue
            middle, west, east = heights
            margin = min(abs(west - middle), abs(east - middle))
            if margin < _NEEDED:
                continue
            shape = west > middle, east > middle
            yield Draft(
                template=self.name,
                element="500 hPa trough or ridge",
                area=area.name,
                question=_QUESTION.format(area=area.name),
                right=WAVES[shape],
                wrong=tuple(words for other, words in WAVES.items() if other != shape),
                margin=margin,
                needed=_NEEDED,
                units=reading.chart.units,
                fact={"middle": middle, "west": west, "east": east, "area": area.key},
                balance=WAVES[shape],
            )
