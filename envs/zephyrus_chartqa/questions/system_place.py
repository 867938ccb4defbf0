"""Near which area a high or low has its centre."""

from __future__ import annotations

import random
from collections.abc import Iterator

from zephyrus_chartqa.facts.reading import Reading
from zephyrus_chartqa.facts.scales import shown
from zephyrus_chartqa.facts.systems import ALIKE, away
from zephyrus_chartqa.questions.base import WRONG, Draft, Template, by_place, shuffled

_WITHIN = 900.0  # km: farther away, a centre is near no area
_NEEDED = 500.0  # km by which the wrong areas are farther away
_NEAREST = 6  # of the areas that are far enough, the wrong ones are among so many nearest ones
_QUESTIONS = (
    "Near which of these areas is the {kind} of {value} {units} centred?",
    "Which of these areas is nearest to the centre of the {kind} of {value} {units}?",
)


class SystemPlace(Template):
    """The nearest area, and three that are clearly farther away."""

    name = "system_place"
    modalities = ("land_situation", "500hpa_situation")

    def drafts(self, reading: Reading, rng: random.Random) -> Iterator[Draft]:
        """One question a centre that no other of its kind could be taken for."""
        marked = reading.centres
        units = reading.chart.units
        for centre in shuffled(marked, rng):
            alike = [
                other
                for other in marked
                if other.kind == centre.kind and abs(other.value - centre.value) < ALIKE[units]
            ]
            far = {area.key: away(area, centre) for area in reading.areas}
            ranked = sorted(reading.areas, key=lambda area: far[area.key])
            if len(alike) > 1 or not ranked or far[ranked[0].key] > _WITHIN:
                continue
            right, least = ranked[0], far[ranked[0].key] + _NEEDED
            farther = [area for area in ranked[1:] if far[area.key] >= least][:_NEAREST]
            if len(farther) < WRONG:
                continue
            wrong = rng.sample(farther, WRONG)
            rank, hints = by_place(right, wrong)
            value, told = shown(centre.value, units)
            margin = min(far[area.key] for area in wrong) - far[right.key]
            yield Draft(
                template=self.name,
                element=f"{centre.kind} centre",
                area=right.name,
                question=rng.choice(_QUESTIONS).format(
                    kind=centre.kind, value=round(value), units=told
                ),
                right=right.name,
                wrong=tuple(area.name for area in wrong),
                margin=margin,
                needed=_NEEDED,
                units="km",
                fact={
                    "kind": centre.kind,
                    "value": centre.value,
                    "latitude": centre.latitude,
                    "longitude": centre.longitude,
                    "distances": {area.key: far[area.key] for area in (right, *wrong)},
                },
                balance=f"{centre.kind} {rank}",
                hints=hints,
            )
