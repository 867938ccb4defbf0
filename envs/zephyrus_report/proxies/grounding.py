"""A proxy for grounding: the share of a report's numbers that a tool gave.

AFDBench (2608.24954) names the measure Input-Grounding, "fidelity to source weather data", without
a formula; this is ours, hence ``_proxy``. It can't follow arithmetic: a sum or mean that the
writer worked out from several observations counts as not grounded.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Sequence

from zephyrus_report.rules.quantities import Found, find

_POOLS = {"K": "°C", "deg": "°C", "km/h": "m/s"}
"""Units that are told as one: a departure of 3 K is shown by the tools as 3 °C."""

_NUMBER = re.compile(r"\d+(?:\.(\d+))?")


def grounding_proxy(report: str, observations: Sequence[str]) -> float | None:
    """The share of the numbers with units in a report that an observation has, within rounding.

    A number is grounded if an observation has one of the same unit, converted where need be, that
    rounds to it: that differs by no more than half of its last digit.

    Args:
        report: The text.
        observations: The texts of the tool observations.

    Returns:
        The share, in [0, 1], or None if the report has no number with a unit.
    """
    seen: dict[str, list[float]] = {}
    for text in observations:
        for found in _numbers(text):
            low, high = _ends(found)
            seen.setdefault(_pool(found), []).extend((low, high))
    for values in seen.values():
        values.sort()
    wanted = [(_pool(f), end, _step(report, f)) for f in _numbers(report) for end in set(_ends(f))]
    if not wanted:
        return None
    grounded = sum(_near(seen.get(pool, []), value, step / 2) for pool, value, step in wanted)
    return grounded / len(wanted)


def _numbers(text: str) -> list[Found]:
    return find(text.lower(), 0, len(text.lower()), celsius="°c" in text.lower())


def _pool(found: Found) -> str:
    unit = found.quantity.unit
    return _POOLS.get(unit, unit)


def _ends(found: Found) -> tuple[float, float]:
    scale = 1 / 3.6 if found.quantity.unit == "km/h" else 1.0
    return found.quantity.low * scale, found.quantity.high * scale


def _step(text: str, found: Found) -> float:
    """The worth of the last digit of a number as it stands in the text, in the pool's unit."""
    number = _NUMBER.search(text.lower(), found.start, found.end)
    digits = len(number[1] or "") if number else 0
    scale = 1.0
    if found.quantity.fahrenheit:
        scale = 5 / 9
    elif number and float(number[0]):
        scale = max(abs(end) for end in _ends(found)) / max(
            float(n[0]) for n in _NUMBER.finditer(text.lower(), found.start, found.end)
        )
    return float(scale * 10.0**-digits)


def _near(values: list[float], value: float, reach: float) -> bool:
    i = bisect_left(values, value - reach * 1.0001)
    return i < len(values) and values[i] <= value + reach * 1.0001
