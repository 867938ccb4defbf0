"""The variables the project knows: stored in SI units, shown in everyday ones.

Names follow WeatherBench 2; a pressure level is a suffix in hPa (``geopotential_500``), a level
of potential temperature one in K (``potential_vorticity_320K``). ``VARIABLES`` are those that the
shipped dataset has; ``FURTHER`` and ``ON_LEVELS`` are what other data may bring.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from math import inf, log
from typing import TYPE_CHECKING, Any, overload

from zephyrus_geodata.errors import UnknownVariable

if TYPE_CHECKING:
    from numpy.typing import NDArray

STANDARD_GRAVITY = 9.80665
"""m s-2; turns geopotential into geopotential metres (WMO-No. 49)."""

LEVELS = (500, 850)
"""Pressure levels of ``VARIABLES`` in hPa."""

PRECIPITATION_HOURS = (1, 3, 6, 12, 24)
"""Periods that a variable is named after: ``total_precipitation_6hr``."""


@dataclass(frozen=True)
class Variable:
    """One weather variable and its two units: ``display = stored * scale + offset``.

    Attributes:
        name: WeatherBench 2 name, with the level in hPa as a suffix where there is one.
        units: SI units of stored values.
        display_units: units of values shown to an agent or a person.
        long_name: what the variable is, in words.
        scale: factor from stored to display units.
        offset: added after scaling, in display units. A difference or a standard deviation is
            scaled but never offset.
        plausible: least and greatest stored value that weather on Earth can have, generously;
            what lies outside is in other units, a missing-value code, or wrong.
    """

    name: str
    units: str
    display_units: str
    long_name: str
    scale: float = 1.0
    offset: float = 0.0
    plausible: tuple[float, float] = (-inf, inf)

    @overload
    def to_display(self, x: float) -> float: ...
    @overload
    def to_display(self, x: "NDArray[Any]") -> "NDArray[Any]": ...
    def to_display(self, x: "float | NDArray[Any]") -> "float | NDArray[Any]":
        """Turn a stored (SI) number or array into display units."""
        return x * self.scale + self.offset

    @overload
    def from_display(self, x: float) -> float: ...
    @overload
    def from_display(self, x: "NDArray[Any]") -> "NDArray[Any]": ...
    def from_display(self, x: "float | NDArray[Any]") -> "float | NDArray[Any]":
        """Turn a number or array in display units into stored (SI) units."""
        return (x - self.offset) / self.scale


def _temperature(
    name: str, long_name: str, plausible: tuple[float, float] = (175.0, 345.0)
) -> Variable:
    return Variable(name, "K", "°C", long_name, offset=-273.15, plausible=plausible)


def _wind(name: str, long_name: str, most: float = 97.0) -> Variable:
    least = 0.0 if "speed" in name or "gust" in name else -most
    return Variable(name, "m s-1", "m/s", long_name, plausible=(least, most))


def _share(name: str, long_name: str, most: float = 1.0) -> Variable:
    # Interpolation and packing overshoot a little: 101 % happens, 130 % does not.
    return Variable(name, "1", "%", long_name, scale=100.0, plausible=(-0.05, most + 0.05))


def _rain(name: str, long_name: str) -> Variable:
    # The wettest day on record had 1.825 m (La Réunion, 1966; WMO).
    return Variable(name, "m", "mm", long_name, scale=1000.0, plausible=(-1e-3, 2.5))


def _flux(name: str, long_name: str, least: float, most: float) -> Variable:
    return Variable(name, "W m-2", "W/m²", long_name, plausible=(least, most))


def _level(base: str, words: str, level: float, at: str) -> Variable:
    """Make the variable ``base`` on a level; ``at`` is the suffix of its name."""
    name, on = f"{base}_{at}", f"{at[:-1]} K" if at.endswith("K") else f"{at} hPa"
    long_name = f"{on} {words}"
    if base == "geopotential":
        # Heights around those of an atmosphere with a scale height of 7 km.
        height = 7000.0 * log(1000.0 / level)
        low, high = sorted((0.75 * height, 1.25 * height))
        plausible = ((low - 1200.0) * STANDARD_GRAVITY, (high + 1500.0) * STANDARD_GRAVITY)
        scale = 1.0 / STANDARD_GRAVITY
        return Variable(name, "m2 s-2", "gpm", long_name, scale=scale, plausible=plausible)
    if base == "temperature":
        return _temperature(name, long_name, (130.0, 350.0))
    if base in ("u_component_of_wind", "v_component_of_wind", "wind_speed"):
        return _wind(name, long_name, 250.0)
    if base == "relative_humidity":
        # Spectral models have less than nothing in dry air, and over ice far more than 100 %.
        return Variable(name, "1", "%", long_name, scale=100.0, plausible=(-0.5, 3.0))
    if base == "specific_humidity":
        return Variable(name, "kg kg-1", "g/kg", long_name, scale=1000.0, plausible=(-0.002, 0.06))
    if base == "vertical_velocity":
        return Variable(name, "Pa s-1", "Pa/s", long_name, plausible=(-100.0, 100.0))
    return Variable(name, "K m2 kg-1 s-1", "PVU", long_name, scale=1e6, plausible=(-1.0, 1.0))


ON_LEVELS: dict[str, str] = {
    "geopotential": "geopotential height",
    "temperature": "temperature",
    "u_component_of_wind": "eastward wind",
    "v_component_of_wind": "northward wind",
    "wind_speed": "wind speed",
    "vertical_velocity": "vertical velocity",
    "specific_humidity": "specific humidity",
    "relative_humidity": "relative humidity",
    "potential_vorticity": "potential vorticity",
}
"""What is known on levels, by the name without the level, in words."""


def _all() -> list[Variable]:
    bases = ("geopotential", "temperature", "u_component_of_wind", "v_component_of_wind")
    return [
        _temperature("2m_temperature", "2 m temperature"),
        _wind("10m_u_component_of_wind", "10 m eastward wind"),
        _wind("10m_v_component_of_wind", "10 m northward wind"),
        _wind("10m_wind_speed", "10 m wind speed"),
        Variable(
            "mean_sea_level_pressure",
            "Pa",
            "hPa",
            "mean sea level pressure",
            scale=0.01,
            plausible=(85_000.0, 110_000.0),
        ),
        _rain("total_precipitation_6hr", "precipitation in the 6 h before"),
        _share("total_cloud_cover", "total cloud cover"),
        *(_level(base, ON_LEVELS[base], n, str(n)) for base in bases for n in LEVELS),
    ]


def _further() -> list[Variable]:
    return [
        # Of very dry air far below any temperature.
        _temperature("2m_dewpoint_temperature", "2 m dewpoint temperature", (130.0, 320.0)),
        _temperature("2m_maximum_temperature", "maximum 2 m temperature in the period before"),
        _temperature("2m_minimum_temperature", "minimum 2 m temperature in the period before"),
        _share("2m_relative_humidity", "2 m relative humidity", 1.2),
        Variable(
            "2m_specific_humidity",
            "kg kg-1",
            "g/kg",
            "2 m specific humidity",
            scale=1000.0,
            plausible=(-0.002, 0.06),
        ),
        _wind("10m_wind_gust", "10 m wind gust", 150.0),
        _wind("100m_u_component_of_wind", "100 m eastward wind"),
        _wind("100m_v_component_of_wind", "100 m northward wind"),
        _wind("100m_wind_speed", "100 m wind speed"),
        Variable(
            "surface_pressure",
            "Pa",
            "hPa",
            "surface pressure",
            scale=0.01,
            plausible=(30_000.0, 110_000.0),
        ),
        *(
            _rain(f"total_precipitation_{hours}hr", f"precipitation in the {hours} h before")
            for hours in PRECIPITATION_HOURS
            if hours != 6
        ),
        _rain("total_precipitation", "precipitation since the lead time before"),
        Variable("snow_depth", "m", "cm", "snow depth", scale=100.0, plausible=(-0.01, 100.0)),
        _share("low_cloud_cover", "low cloud cover"),
        _share("medium_cloud_cover", "medium cloud cover"),
        _share("high_cloud_cover", "high cloud cover"),
        _temperature("sea_surface_temperature", "sea surface temperature", (265.0, 315.0)),
        _temperature("skin_temperature", "skin temperature", (160.0, 365.0)),
        _share("sea_ice_cover", "sea ice cover"),
        Variable(
            "convective_available_potential_energy",
            "J kg-1",
            "J/kg",
            "convective available potential energy",
            plausible=(-100.0, 20_000.0),
        ),
        Variable(
            "convective_inhibition",
            "J kg-1",
            "J/kg",
            "convective inhibition",
            plausible=(-10_000.0, 10_000.0),
        ),
        Variable(
            "total_column_water_vapour",
            "kg m-2",
            "kg/m²",
            "total column water vapour",
            plausible=(-1.0, 150.0),
        ),
        Variable(
            "convective_precipitation_rate",
            "kg m-2 s-1",
            "mm/h",
            "convective precipitation rate",
            scale=3600.0,
            plausible=(-1e-4, 0.2),
        ),
        Variable("visibility", "m", "km", "visibility", scale=1e-3, plausible=(-1.0, 200_000.0)),
        Variable(
            "boundary_layer_height",
            "m",
            "m",
            "boundary layer height",
            plausible=(-1.0, 15_000.0),
        ),
        _flux(
            "mean_surface_downward_short_wave_radiation_flux",
            "mean downward short-wave radiation at the surface",
            -30.0,
            1500.0,
        ),
        _flux(
            "mean_surface_net_long_wave_radiation_flux",
            "mean net long-wave radiation at the surface",
            -600.0,
            400.0,
        ),
    ]


VARIABLES: dict[str, Variable] = {v.name: v for v in _all()}
"""The variables of the shipped dataset by name, in the order in which an agent is told them."""

FURTHER: dict[str, Variable] = {v.name: v for v in _further()}
"""Other variables without levels, by name."""

_ON_LEVEL = re.compile(rf"({'|'.join(ON_LEVELS)})_([1-9][0-9]{{0,3}}|0\.[0-9]{{1,4}})(K?)")


@cache
def _find(name: str) -> Variable | None:
    found = VARIABLES.get(name) or FURTHER.get(name)
    if found is not None:
        return found
    match = _ON_LEVEL.fullmatch(name)
    if match is None:
        return None
    base, level, kelvin = match.groups()
    on_theta = base == "potential_vorticity"
    if kelvin and not on_theta:
        return None
    return _level(base, ON_LEVELS[base], float(level), level + kelvin)


def is_variable(name: str) -> bool:
    """Say whether ``variable`` knows a name."""
    return _find(name) is not None


def variable(name: str) -> Variable:
    """Look a variable up by its exact name: "2m_temperature", "temperature_700".

    Raises:
        UnknownVariable: (a KeyError) if there is none; the message lists the names.
    """
    found = _find(name)
    if found is None:
        raise UnknownVariable(
            f"There is no variable {name!r}; known are {', '.join([*VARIABLES, *FURTHER])} and, "
            f"with a level in hPa as in temperature_700, {', '.join(ON_LEVELS)}."
        )
    return found


def at_level(base: str, level: float, units: str = "hPa") -> str | None:
    """Return the name of ``base`` on a level, or None if no variable is known there.

    Args:
        base: one of ``ON_LEVELS``.
        level: in ``units``.
        units: hPa or K.
    """
    name = f"{base}_{round(level, 4):g}{'K' if units == 'K' else ''}"
    return name if is_variable(name) else None


def level_of(name: str) -> tuple[str, float] | None:
    """Return base name and pressure level in hPa of a name such as "temperature_700"."""
    match = _ON_LEVEL.fullmatch(name)
    return (match[1], float(match[2])) if match and not match[3] else None


def ordered(names: Iterable[str]) -> tuple[str, ...]:
    """Return the known ones among names, each once, in the order in which they are listed.

    Those of ``VARIABLES`` come first, then those of ``FURTHER``, then those on other levels.
    """
    given = set(names)
    flat = [name for name in (*VARIABLES, *FURTHER) if name in given]
    bases = list(ON_LEVELS)

    def place(name: str) -> tuple[int, float, str]:
        match = _ON_LEVEL.fullmatch(name)
        return (bases.index(match[1]), float(match[2]), match[3]) if match else (-1, 0.0, "")

    rest = sorted((name for name in given.difference(flat) if is_variable(name)), key=place)
    return (*flat, *rest)
