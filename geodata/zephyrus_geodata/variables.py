"""The variables the project knows: stored in SI units, shown in everyday ones.

Names follow WeatherBench 2; a pressure level is a suffix in hPa (``geopotential_500``).
"""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, overload

from zephyrus_geodata.errors import UnknownVariable

if TYPE_CHECKING:
    from numpy.typing import NDArray

STANDARD_GRAVITY = 9.80665
"""m s-2; turns geopotential into geopotential metres (WMO-No. 49)."""

LEVELS = (500, 850)
"""Pressure levels in hPa."""


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
    """

    name: str
    units: str
    display_units: str
    long_name: str
    scale: float = 1.0
    offset: float = 0.0

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


def _temperature(name: str, long_name: str) -> Variable:
    return Variable(name, "K", "°C", long_name, offset=-273.15)


def _wind(name: str, long_name: str) -> Variable:
    return Variable(name, "m s-1", "m/s", long_name)


def _all() -> list[Variable]:
    return [
        _temperature("2m_temperature", "2 m temperature"),
        _wind("10m_u_component_of_wind", "10 m eastward wind"),
        _wind("10m_v_component_of_wind", "10 m northward wind"),
        _wind("10m_wind_speed", "10 m wind speed"),
        Variable("mean_sea_level_pressure", "Pa", "hPa", "mean sea level pressure", scale=0.01),
        Variable(
            "total_precipitation_6hr", "m", "mm", "precipitation in the 6 h before", scale=1000.0
        ),
        Variable("total_cloud_cover", "1", "%", "total cloud cover", scale=100.0),
        *(
            Variable(
                f"geopotential_{level}",
                "m2 s-2",
                "gpm",
                f"{level} hPa geopotential height",
                scale=1.0 / STANDARD_GRAVITY,
            )
            for level in LEVELS
        ),
        *(_temperature(f"temperature_{level}", f"{level} hPa temperature") for level in LEVELS),
        *(_wind(f"u_component_of_wind_{level}", f"{level} hPa eastward wind") for level in LEVELS),
        *(_wind(f"v_component_of_wind_{level}", f"{level} hPa northward wind") for level in LEVELS),
    ]


VARIABLES: dict[str, Variable] = {v.name: v for v in _all()}
"""Every known variable by name, in the order in which they are listed to an agent."""


def variable(name: str) -> Variable:
    """Look a variable up by its exact name.

    Raises:
        UnknownVariable: (a KeyError) if there is none; the message lists the names.
    """
    try:
        return VARIABLES[name]
    except KeyError:
        raise UnknownVariable(
            f"There is no variable {name!r}; known are {', '.join(VARIABLES)}."
        ) from None
