"""A report of random sentences: what the right form is worth without any truth."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from zephyrus_report.baselines import within_budget
from zephyrus_report.compose.calendar import Calendar
from zephyrus_report.compose.findings import COMPASS, Finding, Kind, Place, Quantity
from zephyrus_report.compose.wording import Wording
from zephyrus_report.event import STEP, Atlas, Event

_When = tuple[int, int, int]  # first and last lead time, and one between
_Draw = Callable[[Kind, Place, _When, np.random.Generator], Finding]


def random_report(event: Event, atlas: Atlas, rng: np.random.Generator) -> str:
    """Sentences of the right form about the right places and days, with random values.

    Args:
        event: The event.
        atlas: Its geography.
        rng: Where the randomness comes from.
    """
    words = Wording(Calendar(event.initial), event.key)
    kinds = list(_RANDOM)
    lines: list[str] = []
    for i in rng.permutation(len(kinds)):
        place = atlas.areas[int(rng.integers(len(atlas.areas)))]
        days = event.days()
        _, start, end = days[int(rng.integers(len(days)))]
        hour = start + STEP * int(rng.integers((end - start) // STEP + 1))
        lines.append(words.sentence(_RANDOM[kinds[i]](kinds[i], place, (start, end, hour), rng)))
    return within_budget(lines, event.words)


def _system(kind: Kind, place: Place, when: _When, rng: np.random.Generator) -> Finding:
    start, end, _ = when
    middle = 995.0 if kind is Kind.LOW else 1027.0
    before, after = (float(x) for x in rng.normal(middle, 8.0, 2))
    values = {
        "pressure": Quantity(before, "hPa"),
        "before": Quantity(before, "hPa"),
        "after": Quantity(after, "hPa"),
        "speed": Quantity(float(rng.uniform(15.0, 60.0)), "km/h"),
    }
    direction = COMPASS[int(rng.integers(8))]
    return Finding(
        kind, place, start, max(end, start + STEP), values, direction=direction, target=place
    )


def _peak(name: str, unit: str, low: float, high: float) -> _Draw:
    def draw(kind: Kind, place: Place, when: _When, rng: np.random.Generator) -> Finding:
        start, end, hour = when
        values = {name: Quantity(float(rng.uniform(low, high)), unit)}
        direction = COMPASS[int(rng.integers(8))]
        return Finding(kind, place, start, end, values, hour=hour, direction=direction)

    return draw


def _rain(kind: Kind, place: Place, when: _When, rng: np.random.Generator) -> Finding:
    start, end, hour = when
    total = float(rng.gamma(1.5, 5.0)) + 1.0
    values = {"total": Quantity(total, "mm"), "heaviest": Quantity(2.0 * total, "mm")}
    detail = ("rain", "snow", "rain and snow")[int(rng.integers(3))]
    return Finding(kind, place, start, end, values, hour=hour, detail=detail)


def _anomaly(kind: Kind, place: Place, when: _When, rng: np.random.Generator) -> Finding:
    start, end, _ = when
    size = float(rng.uniform(2.0, 10.0)) * (1.0 if kind is Kind.WARM_ANOMALY else -1.0)
    normal = float(rng.uniform(-5.0, 28.0))
    values = {"mean": normal + size, "normal": normal, "departure": size}
    return Finding(kind, place, start, end, {k: Quantity(x, "°C") for k, x in values.items()})


def _change(kind: Kind, place: Place, when: _When, rng: np.random.Generator) -> Finding:
    start, end, _ = when
    before, size = float(rng.uniform(-5.0, 28.0)), float(rng.uniform(3.0, 12.0))
    after = before + (size if kind in (Kind.WARMING, Kind.WARM_FRONT) else -size)
    values = {"before": Quantity(before, "°C"), "after": Quantity(after, "°C")}
    return Finding(kind, place, start, end, values)


def _height(kind: Kind, place: Place, when: _When, rng: np.random.Generator) -> Finding:
    start, end, _ = when
    size = float(rng.uniform(40.0, 150.0)) * (1.0 if kind is Kind.RIDGE else -1.0)
    values = {
        "height": Quantity(float(rng.uniform(5200.0, 5850.0)), "gpm"),
        "departure": Quantity(size, "gpm"),
    }
    return Finding(kind, place, start, end, values, detail="persisting")


_RANDOM: Mapping[Kind, _Draw] = {
    Kind.LOW: _system,
    Kind.HIGH: _system,
    Kind.COLD_FRONT: _change,
    Kind.TROUGH: _height,
    Kind.RIDGE: _height,
    Kind.PRECIPITATION: _rain,
    Kind.WIND: _peak("speed", "m/s", 5.0, 32.0),
    Kind.WARM_ANOMALY: _anomaly,
    Kind.COLD_ANOMALY: _anomaly,
    Kind.WARMING: _change,
    Kind.COOLING: _change,
    Kind.CLOUD: _peak("cover", "%", 5.0, 95.0),
}
