"""Numbers with units in a text, in display units: °C, K, m/s, mm, hPa, gpm, %, km/h."""

from __future__ import annotations

import re
from dataclasses import dataclass

_N = r"(?:[-−]|\bminus\s)?\d+(?:\.\d+)?(?:\s\d/\d+|/\d+)?|[-−]?\.\d+"
_WORDS = {
    "half an": 0.5, "half of an": 0.5, "quarter": 0.25, "a quarter": 0.25, "three quarters of an": 0.75,
    "an": 1.0, "one": 1.0, "two": 2.0, "three": 3.0, "four": 4.0, "five": 5.0, "six": 6.0, "ten": 10.0,
}  # fmt: skip
_W = "|".join(sorted(_WORDS, key=len, reverse=True))
_UNITS: dict[str, tuple[str, float, float]] = {
    r"°\s?c|deg(?:rees?)?\s?c(?:elsius)?\b|celsius|c\b": ("°C", 1.0, 0.0),
    r"°\s?f|deg(?:rees?)?\s?f(?:ahrenheit)?\b|fahrenheit|f\b": ("°C", 5 / 9, -160 / 9),
    r"k\b(?!\s?/|\s+per|ft)": ("K", 1.0, 0.0),
    r"deg(?:rees?|s)?\b|°(?!\s?[nsew]\b)": ("deg", 1.0, 0.0),
    r"m/s|m\ss-1|ms-1|met(?:er|re)s per second": ("m/s", 1.0, 0.0),
    r"kts?\b|knots?\b": ("m/s", 0.514444, 0.0),
    r"mph\b|miles (?:per|an) hour": ("m/s", 0.44704, 0.0),
    r"km/h|kph\b|kmh\b": ("km/h", 1.0, 0.0),
    r"mm\b|millimet(?:er|re)s?\b": ("mm", 1.0, 0.0),
    r"cm\b|centimet(?:er|re)s?\b": ("mm", 10.0, 0.0),
    r"(?:of an )?inch(?:es)?\b|in\.(?!\w)|\"|in\b(?=\s+of\s+(?:rain|snow))": ("mm", 25.4, 0.0),
    r"feet\b|foot\b|ft\b": ("ft", 1.0, 0.0),
    r"hpa\b|mb\b|mbar\b|millibars?\b": ("hPa", 1.0, 0.0),
    r"gpm\b|geopotential met(?:er|re)s": ("gpm", 1.0, 0.0),
    r"dam\b|gpdm\b|dm\b|decamet(?:er|re)s": ("gpm", 10.0, 0.0),
    r"%|percent\b|pct\b|per cent\b": ("%", 1.0, 0.0),
    r"j/kg": ("J/kg", 1.0, 0.0),
}
_UNIT = "|".join(f"(?P<u{i}>{pattern})" for i, pattern in enumerate(_UNITS))
_KINDS = list(_UNITS.values())
_QUANTITY = re.compile(
    rf"(?<![\w.])(?P<a>{_N}|\b(?:{_W})\b)(?:\s?(?:°\s?[cf]?|%|mm|m/s|hpa|inch(?:es)?|mph|kts?)?\s?(?:to|-|and|or)\s?(?P<b>{_N}|(?:{_W})\b))?[\s-]?(?:{_UNIT})"
)
_DECADE = re.compile(
    r"(?P<from>\b(?:low|lower|mid|middle|upper|high)\b(?:[\s/-]*(?:to|and|-|/)?[\s/-]*(?:low|lower|mid|middle|upper|high)\b)?[\s/-]*)?"
    r"\b(?P<a>\d0s|teens|single digits)(?:\s?(?:to|and|-|/)\s?(?:the\s)?(?P<to>\b(?:low|lower|mid|middle|upper|high)[\s-]+)?(?P<b>\d0s|teens))?"
    r"(?P<c>\s?(?:°\s?c|celsius|c\b))?"
)
_PARTS = {
    "low": (0, 3),
    "lower": (0, 3),
    "mid": (4, 6),
    "middle": (4, 6),
    "upper": (7, 9),
    "high": (7, 9),
}
_ABSOLUTE = 150.0  # kelvin; no difference of temperatures is that large
_LEVEL = re.compile(r"\b(200|250|300|500|700|850|925)[\s-]?(?:hpa|mb|millibars?)\b")


@dataclass(frozen=True, slots=True)
class Quantity:
    """A number or range with its unit.

    Attributes:
        low: Lower end.
        high: Upper end; the same for a single number.
        unit: "°C", "K" (a difference of temperature), "m/s", "km/h", "mm", "hPa", "gpm", "%",
            "J/kg" or "deg" (degrees of which the text does not say which).
        fahrenheit: Whether it was given in degrees Fahrenheit.
    """

    low: float
    high: float
    unit: str
    fahrenheit: bool = False


@dataclass(frozen=True, slots=True)
class Found:
    """A quantity and where its words stand in the text."""

    quantity: Quantity
    start: int
    end: int


def _number(words: str) -> float:
    if words in _WORDS:
        return _WORDS[words]
    words = words.replace("minus ", "-").replace("−", "-")
    whole, _, fraction = words.rpartition(" ")
    if "/" in fraction:
        top, bottom = fraction.split("/")
        part = float(top) / float(bottom) if float(bottom) else 0.0
        return (float(whole) if whole else 0.0) + part
    return float(words)


def find(lower: str, start: int, end: int, *, celsius: bool = False) -> list[Found]:
    """The quantities in a piece of a text, in order; pressure levels ("500 hPa") are none.

    Args:
        lower: The text in small letters.
        start: Where the piece begins.
        end: Where it ends.
        celsius: Whether degrees without a letter and decades ("the 20s") are Celsius.
    """
    levels = [m.span() for m in _LEVEL.finditer(lower, start, end)]
    found = []
    for m in _QUANTITY.finditer(lower, start, end):
        index = next(i for i in range(len(_KINDS)) if m[f"u{i}"] is not None)
        unit, scale, offset = _KINDS[index]
        if unit == "ft" or any(a <= m.start() < b for a, b in levels):
            continue
        if m["a"] in _WORDS and unit != "mm":
            continue
        a = _number(m["a"])
        b = _number(m["b"]) if m["b"] else a
        is_f = unit == "°C" and scale != 1.0
        if unit == "deg":
            is_f, scale, offset = (False, 1.0, 0.0) if celsius else (True, 5 / 9, -160 / 9)
        if unit == "K" and min(a, b) >= _ABSOLUTE:
            unit, offset = "°C", -273.15  # a temperature, no difference
        low, high = sorted((a * scale + offset, b * scale + offset))
        found.append(Found(Quantity(low, high, unit, is_f), m.start(), m.end()))
    for m in _DECADE.finditer(lower, start, end):
        if any(f.start < m.end() and m.start() < f.end for f in found):
            continue
        low, high = _decade(m["a"], (m["from"] or "").split(), first=True)
        if m["b"]:
            high = _decade(m["b"], (m["to"] or "").split(), first=False)[1]
        is_f = not (celsius or m["c"])
        if is_f:
            low, high = (low - 32) * 5 / 9, (high - 32) * 5 / 9
        found.append(
            Found(Quantity(min(low, high), max(low, high), "°C", is_f), m.start(), m.end())
        )
    return sorted(found, key=lambda f: f.start)


def _decade(word: str, parts: list[str], *, first: bool) -> tuple[float, float]:
    base = (
        {"teens": 10, "single digits": 0}.get(word, 0) if not word[0].isdigit() else int(word[:-1])
    )
    named = [_PARTS[p] for p in re.split(r"[\s/-]+", " ".join(parts)) if p in _PARTS]
    if not named:
        return base, base + 9
    return base + min(p[0] for p in named), base + max(p[1] for p in named)


def as_difference(quantity: Quantity) -> Quantity:
    """The same numbers as a difference of temperature in K."""
    low, high = quantity.low, quantity.high
    if quantity.fahrenheit:
        low, high = low + 160 / 9, high + 160 / 9
    return Quantity(low, high, "K", quantity.fahrenheit)


def as_temperature(quantity: Quantity) -> Quantity:
    """The same numbers as a temperature in °C ("highs near 70 degrees")."""
    return Quantity(quantity.low, quantity.high, "°C", quantity.fahrenheit)


def as_speed(quantity: Quantity) -> Quantity:
    """Kilometres an hour as metres a second."""
    return Quantity(quantity.low / 3.6, quantity.high / 3.6, "m/s", False)
