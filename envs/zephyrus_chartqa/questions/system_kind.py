"""Which high or low is nearest to an area: its kind and its central value."""

from __future__ import annotations

import random
from collections.abc import Iterator

from zephyrus_chartqa.centres import Centre
from zephyrus_chartqa.facts.areas import Area
from zephyrus_chartqa.facts.reading import Reading
from zephyrus_chartqa.facts.systems import away
from zephyrus_chartqa.questions.base import Draft, Template, shuffled

_WITHIN = 1200.0  # km: a system farther away does not dominate an area
_NEEDED = 400.0  # km by which every other centre must be farther away
_OFF = (12, 24)  # hPa by which the central value of a wrong choice is off
_TYPICAL = {"low": 993, "high": 1030}  # hPa, where the chart has none of the other kind
_OTHER = {"low": "high", "high": "low"}
_QUESTIONS = (
    "Which pressure system is centred nearest to {area}?",
    "Which pressure system dominates {area}, by the nearest centre?",
)


class SystemKind(Template):
    """Two lows and two highs; of the right kind, the other has a wrong central pressure."""

    name = "system_kind"
    modalities = ("land_situation",)

    def drafts(self, reading: Reading, rng: random.Random) -> Iterator[Draft]:
        """One question an area that is clearly nearest to one centre."""
        marked = reading.centres
        for area in shuffled(reading.areas, rng):
            far = sorted((away(area, centre), i) for i, centre in enumerate(marked))
            if not far or far[0][0] > _WITHIN:
                continue
            gap = far[1][0] - far[0][0] if len(far) > 1 else _WITHIN
            if gap >= _NEEDED:
                yield self._draft(reading, area, marked[far[0][1]], marked, gap, rng)

    def _draft(
        self,
        reading: Reading,
        area: Area,
        centre: Centre,
        marked: tuple[Centre, ...],
        gap: float,
        rng: random.Random,
    ) -> Draft:
        value = round(centre.value)
        others = [round(c.value) for c in marked if c.kind != centre.kind]
        other = rng.choice(others) if others else _TYPICAL[_OTHER[centre.kind]]
        beside, opposite = (rng.choice((-1, 1)) * rng.randint(*_OFF) for _ in range(2))
        values: list[tuple[str, int]] = [(centre.kind, value + beside)]
        values += [(_OTHER[centre.kind], other), (_OTHER[centre.kind], other + opposite)]
        return Draft(
            template=self.name,
            element="pressure system",
            area=area.name,
            question=rng.choice(_QUESTIONS).format(area=area.name),
            right=_words(centre.kind, value, reading),
            wrong=tuple(_words(kind, number, reading) for kind, number in values),
            margin=gap,
            needed=_NEEDED,
            units="km",
            fact={
                "kind": centre.kind,
                "value": centre.value,
                "latitude": centre.latitude,
                "longitude": centre.longitude,
                "distance": away(area, centre),
                "off": abs(beside),
                "area": area.key,
            },
            balance=f"{centre.kind} {'lower' if beside > 0 else 'higher'}",
        )


def _words(kind: str, value: int, reading: Reading) -> str:
    return f"a {kind} of {value} {reading.chart.units}"
