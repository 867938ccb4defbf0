"""Units as data sources write them, and their conversion to the units of ``variables``.

A few dozen units with powers cover what weather files use; ECMWF's ``m s**-1``, CF's ``m s-1``,
``m/s`` and ``millibars`` all come out the same. Two conversions are physical rather than formal: a
mass of water per area is a depth (1000 kg m-3), and a geopotential height times standard gravity
is a geopotential.
"""

import re
from dataclasses import dataclass
from functools import cache
from math import inf
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.variables import STANDARD_GRAVITY

WATER_DENSITY = 1000.0
"""kg m-3: 1 kg m-2 of rain is 1 mm."""

_F = TypeVar("_F", bound=np.floating[Any])

_Dims = tuple[int, int, int, int]  # powers of m, kg, s, K


@dataclass(frozen=True)
class Unit:
    """A unit: ``SI = number * factor + offset``, and the powers of m, kg, s and K."""

    factor: float = 1.0
    offset: float = 0.0
    dims: _Dims = (0, 0, 0, 0)


@dataclass(frozen=True)
class Conversion:
    """``converted = number * factor + offset``."""

    factor: float = 1.0
    offset: float = 0.0

    @property
    def same(self) -> bool:
        """Whether it changes nothing."""
        return self.factor == 1.0 and self.offset == 0.0

    def __call__(self, values: NDArray[_F]) -> NDArray[_F]:
        """Convert numbers; the dtype stays."""
        if self.same:
            return values
        dtype = values.dtype.type
        converted: NDArray[_F] = values * dtype(self.factor) + dtype(self.offset)
        return converted


_PA: _Dims = (-1, 1, -2, 0)
_J: _Dims = (2, 1, -2, 0)

_WORDS: dict[str, tuple[float, _Dims]] = {
    "m": (1.0, (1, 0, 0, 0)),
    "mm": (1e-3, (1, 0, 0, 0)),
    "cm": (1e-2, (1, 0, 0, 0)),
    "dm": (1e-1, (1, 0, 0, 0)),
    "dam": (10.0, (1, 0, 0, 0)),
    "km": (1e3, (1, 0, 0, 0)),
    "um": (1e-6, (1, 0, 0, 0)),
    "inch": (0.0254, (1, 0, 0, 0)),
    "foot": (0.3048, (1, 0, 0, 0)),
    "mile": (1609.344, (1, 0, 0, 0)),
    "kg": (1.0, (0, 1, 0, 0)),
    "g": (1e-3, (0, 1, 0, 0)),
    "mg": (1e-6, (0, 1, 0, 0)),
    "s": (1.0, (0, 0, 1, 0)),
    "min": (60.0, (0, 0, 1, 0)),
    "h": (3600.0, (0, 0, 1, 0)),
    "day": (86400.0, (0, 0, 1, 0)),
    "K": (1.0, (0, 0, 0, 1)),
    "Pa": (1.0, _PA),
    "hPa": (100.0, _PA),
    "kPa": (1000.0, _PA),
    "bar": (1e5, _PA),
    "inHg": (3386.389, _PA),
    "mmHg": (133.322387415, _PA),
    "atm": (101_325.0, _PA),
    "N": (1.0, (1, 1, -2, 0)),
    "J": (1.0, _J),
    "kJ": (1e3, _J),
    "MJ": (1e6, _J),
    "W": (1.0, (2, 1, -3, 0)),
    "kW": (1e3, (2, 1, -3, 0)),
    "kn": (1852.0 / 3600.0, (1, 0, -1, 0)),
    "mph": (1609.344 / 3600.0, (1, 0, -1, 0)),
    "kmh": (1 / 3.6, (1, 0, -1, 0)),
    "PVU": (1e-6, (2, -1, -1, 1)),
    "l": (1e-3, (3, 0, 0, 0)),
    "1": (1.0, (0, 0, 0, 0)),
    "%": (1e-2, (0, 0, 0, 0)),
    "okta": (0.125, (0, 0, 0, 0)),
    "tenth": (0.1, (0, 0, 0, 0)),
}
_SPELLINGS = {
    "m": "metre metres meter meters gpm gp_m geopotential_metre geopotential_meter",
    "mm": "millimetre millimetres millimeter millimeters",
    "cm": "centimetre centimetres centimeter centimeters",
    "dam": "gpdam dagpm decametre decameter decametres decameters",
    "km": "kilometre kilometres kilometer kilometers",
    "um": "µm micrometre micrometer micron",
    "inch": "in inches",
    "foot": "ft feet",
    "mile": "mi miles",
    "kg": "kilogram kilograms",
    "g": "gram grams",
    "s": "sec secs second seconds",
    "min": "mins minute minutes",
    "h": "hr hrs hour hours",
    "day": "d days",
    "K": "kelvin kelvins degk deg_k degreek degree_k degrees_k degree_kelvin degrees_kelvin",
    "Pa": "pascal pascals",
    "hPa": "hectopascal hectopascals mb mbar mbars millibar millibars",
    "kn": "kt kts knot knots",
    "kmh": "kph km/h km/hr",
    "PVU": "pvu",
    "1": "dimensionless unitless fraction proportion ratio numeric (0-1) 0-1 (0_-_1) 0_-_1 - ~ [0,1]",
    "%": "percent percentage pct (0-100) 0-100",
    "okta": "oktas eighth eighths",
    "tenth": "tenths",
}
_WORD: dict[str, str] = {word: word for word in _WORDS} | {
    spelling: word for word, spellings in _SPELLINGS.items() for spelling in spellings.split()
}
_CELSIUS = {"c", "°c", "degc", "deg_c", "celsius", "celcius", "centigrade", "degreec"}
_CELSIUS |= {f"{degree}_{name}" for degree in ("degree", "degrees") for name in ("c", "celsius")}
_FAHRENHEIT = {"f", "°f", "degf", "deg_f", "fahrenheit", "degreef"}
_FAHRENHEIT |= {
    f"{degree}_{name}" for degree in ("degree", "degrees") for name in ("f", "fahrenheit")
}

_WATER = re.compile(
    r"\s*(\(?of\s+water(\s+equivalent)?\)?|w\.?e\.?|\(?water equivalent\)?)\s*$", re.I
)
_TOKEN = re.compile(r"(?P<word>[^\d\s^*]*[^\d\s^*+-])(?:\^|\*\*)?\{?(?P<power>[+-]?\d+)?\}?")
_NUMBER = re.compile(r"([+-]?\d+(?:\.\d*)?(?:e[+-]?\d+)?)(?:(?:\^|\*\*)([+-]?\d+))?", re.I)


_GREATEST_POWER = 9


@cache
def parse(text: str) -> Unit:
    """Read a unit.

    Raises:
        UnsuitableData: if it isn't known.
    """
    plain = _WATER.sub("", " ".join(text.split()).replace(" per ", "/")).strip()
    joined = plain.replace(" ", "_")
    if joined.lower() in _CELSIUS:
        return Unit(1.0, 273.15, (0, 0, 0, 1))
    if joined.lower() in _FAHRENHEIT:
        return Unit(5.0 / 9.0, 459.67 * 5.0 / 9.0, (0, 0, 0, 1))
    whole = _word(joined)
    if whole is not None:
        factor, dims = _WORDS[whole]
        return Unit(factor, 0.0, dims)
    factor, powers = 1.0, [0, 0, 0, 0]
    sign = 1
    # "m**2 s**-2": the double star is a power, a single one or a dot between words a product.
    spaced = re.sub(r"(?<!\*)\*(?!\*)|·|×|(?<=[a-zA-Z\d])\.(?=[a-zA-Z])", " ", plain)
    for part in re.split(r"(/|\s)", spaced):
        if part == "/":
            sign = -1
        elif part.strip():
            number, dims = _factor(part, text)
            factor *= number**sign
            powers = [p + sign * d for p, d in zip(powers, dims, strict=True)]
            sign = 1
    if not 0.0 < factor < inf:
        raise UnsuitableData(f"The unit {text!r} is not known.")
    return Unit(factor, 0.0, (powers[0], powers[1], powers[2], powers[3]))


def conversion(text: str, to: str, *, water: bool = False) -> Conversion | None:
    """Return the conversion between two units, or None if they measure different things.

    Args:
        text: a source's unit, such as "kg m**-2".
        to: a unit of ``variables``, such as "m".
        water: whether a mass per area is water, which has a depth (snow has none to speak of).

    Raises:
        UnsuitableData: if ``text`` isn't a unit.
    """
    source, target = parse(text), parse(to)
    bridge = _bridge(source.dims, target.dims, water)
    if bridge is None:
        return None
    factor = source.factor * bridge / target.factor
    # A product of exact thousandths is 1 only up to rounding.
    factor = 1.0 if abs(factor - 1.0) < 1e-12 else factor
    return Conversion(factor, (source.offset - target.offset) / target.factor)


def same(text: str, to: str) -> bool:
    """Say whether two texts are the same unit."""
    try:
        found = conversion(text, to)
    except UnsuitableData:
        return False
    return found is not None and found.same and parse(text).dims == parse(to).dims


def _bridge(source: _Dims, target: _Dims, water: bool) -> float | None:
    """Return the factor in SI units between two kinds of quantity; None if there is none."""
    if source == target:
        return 1.0
    difference = tuple(t - s for s, t in zip(source, target, strict=True))
    if water and difference == (3, -1, 0, 0):
        return 1.0 / WATER_DENSITY
    if water and difference == (-3, 1, 0, 0):
        return WATER_DENSITY
    if source == (1, 0, 0, 0) and target == (2, 0, -2, 0):
        return STANDARD_GRAVITY
    return None


def _word(text: str) -> str | None:
    return _WORD.get(text) or _WORD.get(text.lower())


def _factor(part: str, text: str) -> tuple[float, _Dims]:
    """Read one word with its power, or a number."""
    number, token = _NUMBER.fullmatch(part), _TOKEN.fullmatch(part)
    if number is not None:
        base, power, dims = float(number[1]), int(number[2] or 1), (0, 0, 0, 0)
    elif token is not None and (word := _word(token["word"])) is not None:
        (base, dims), power = _WORDS[word], int(token["power"] or 1)
    else:
        raise UnsuitableData(f"The unit {text!r} is not known.")
    if not 1e-30 < base < 1e30 or abs(power) > _GREATEST_POWER:
        raise UnsuitableData(f"The unit {text!r} is not known.")
    scaled = [power * d for d in dims]
    return base**power, (scaled[0], scaled[1], scaled[2], scaled[3])
