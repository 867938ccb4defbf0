"""In which quarter of the chart its highest or lowest value is."""

from __future__ import annotations

import random
from collections.abc import Iterator

from zephyrus_chartqa.facts.reading import QUARTERS, Extreme, Reading
from zephyrus_chartqa.facts.scales import apart
from zephyrus_chartqa.questions.base import Draft, Template, noun, shuffled
from zephyrus_tools import text

_CLEAR = 2.0  # degrees that the extreme must be away from both dividing lines
_ORDERS = {
    "rain": ("highest",),
    "max_temp": ("highest", "lowest"),
    "min_temp": ("highest", "lowest"),
    "850hpa_situation": ("highest",),
}


class Quarter(Template):
    """The quarter with the extreme, and the three others, whose extremes are clear of it."""

    name = "quarter"
    modalities = tuple(_ORDERS)

    def drafts(self, reading: Reading, rng: random.Random) -> Iterator[Draft]:
        """At most one question an order."""
        if not reading.has_quarters:
            return
        latitude, longitude = reading.middle
        for order in shuffled(_ORDERS[reading.modality], rng):
            highest = order == "highest"
            found: dict[str, Extreme] = {}
            for name in QUARTERS:
                extreme = reading.extreme(highest=highest, quarter=name)
                if extreme is not None:
                    found[name] = extreme
            if len(found) < len(QUARTERS):
                continue
            sign = 1.0 if highest else -1.0
            right, second = sorted(QUARTERS, key=lambda name: -sign * found[name].value)[:2]
            best = found[right]
            margin, needed = apart(reading.modality, best.value, found[second].value)
            near = min(abs(best.latitude - latitude), abs(best.longitude - longitude))
            if margin < needed or near < _CLEAR:
                continue
            parallel, meridian = text.latitude(latitude, 0), text.longitude(longitude, 0)
            yield Draft(
                template=self.name,
                element=noun(reading),
                area="",
                question=(
                    f"In which quarter of the chart, divided at {parallel} and {meridian}, is the "
                    f"{order} {noun(reading)}?"
                ),
                right=f"the {right}",
                wrong=tuple(f"the {name}" for name in QUARTERS if name != right),
                margin=margin,
                needed=needed,
                units=reading.chart.units,
                fact={
                    "order": order,
                    "values": {name: found[name].value for name in QUARTERS},
                    "latitude": best.latitude,
                    "longitude": best.longitude,
                },
                balance=f"{order} {right}",
                hints={f"the {name}": float(name == right) for name in QUARTERS},
            )
