"""What is asked for: a variable by its name, a common abbreviation or its words."""

import difflib
from collections.abc import Sequence
from functools import cache, lru_cache

from zephyrus import ToolError
from zephyrus_geodata import VARIABLES, Variable
from zephyrus_geodata.names import normalise, quoted
from zephyrus_geodata.variables import FURTHER, is_variable, level_of, variable

_ALIASES: dict[str, tuple[str, ...]] = {
    "2m_temperature": (
        "temperature",
        "t2m",
        "2t",
        "temp",
        "air temperature",
        "2 metre temperature",
    ),
    "10m_u_component_of_wind": ("u10", "10u", "10 m u wind", "10 m zonal wind", "u wind"),
    "10m_v_component_of_wind": ("v10", "10v", "10 m v wind", "10 m meridional wind", "v wind"),
    "10m_wind_speed": ("wind speed", "windspeed", "ws10", "10 m wind", "surface wind speed"),
    "mean_sea_level_pressure": ("mslp", "msl", "slp", "sea level pressure", "pressure"),
    "total_precipitation_6hr": ("precipitation", "precip", "rain", "rainfall", "tp", "tp6h"),
    "total_cloud_cover": ("cloud cover", "cloud", "clouds", "cloudiness", "tcc"),
    "2m_dewpoint_temperature": ("dewpoint", "dew point", "d2m", "2d", "2 metre dewpoint"),
    "2m_relative_humidity": ("2 m humidity", "rh2m", "2r"),
    "10m_wind_gust": ("gust", "gusts", "wind gust", "wind gusts"),
    "surface_pressure": ("sp",),
    "snow_depth": ("snow",),
    "sea_surface_temperature": ("sst",),
    "total_column_water_vapour": ("tcwv", "pwat", "precipitable water"),
    "convective_available_potential_energy": ("cape",),
    "convective_inhibition": ("cin",),
}
_PRECIPITATION = _ALIASES["total_precipitation_6hr"][:-1]
"""What every precipitation is called; where there are several, the first listed is meant."""

_LEVEL_ALIASES: dict[str, tuple[str, ...]] = {
    "geopotential": (
        "z{}",
        "gh{}",
        "geopotential height {}",
        "{} hpa height",
        "geopotential {} hpa",
    ),
    "temperature": ("t{}", "temperature {} hpa", "temperature at {} hpa"),
    "u_component_of_wind": ("u{}", "u wind {}", "{} hpa u wind", "{} hpa zonal wind"),
    "v_component_of_wind": ("v{}", "v wind {}", "{} hpa v wind", "{} hpa meridional wind"),
    "wind_speed": ("wind speed {}",),
    "specific_humidity": ("q{}", "specific humidity {}"),
    "relative_humidity": ("r{}", "rh{}", "relative humidity {}"),
    "vertical_velocity": ("w{}", "vertical velocity {}", "omega {}"),
}


@lru_cache(maxsize=128)
def _by_text(available: tuple[str, ...]) -> dict[str, str]:
    """Every accepted spelling, normalised, with the name it stands for; what is there first."""
    known: dict[str, str] = {}
    there = [name for name in available if is_variable(name)]
    for name in dict.fromkeys((*there, *VARIABLES, *FURTHER)):
        base, level = level_of(name) or ("", 0.0)
        rain = _PRECIPITATION if name.startswith("total_precipitation") else ()
        spellings = (
            name,
            variable(name).long_name,
            *_ALIASES.get(name, ()),
            *rain,
            *(pattern.format(f"{level:g}") for pattern in _LEVEL_ALIASES.get(base, ())),
        )
        for spelling in spellings:
            known.setdefault(normalise(spelling), name)
    return known


@cache
def _words(name: str) -> frozenset[str]:
    return frozenset(normalise(f"{name} {variable(name).long_name}").split())


def find_variable(text: str, available: Sequence[str], where: str) -> Variable:
    """Find the variable that a text means.

    Args:
        text: A name, a long name, a common abbreviation, or some of its words.
        available: The names there are.
        where: What has them, for the error: "forecast" or "climatology".

    Raises:
        ToolError: If none is meant, or several are; the message lists the names.
    """
    key = normalise(text)
    known = _by_text(tuple(available))
    name = known.get(key)
    if name is None:
        asked = set(key.split())
        meant = [n for n in available if asked and asked <= _words(n)]
        if len(meant) > 1:
            raise ToolError(
                f"variable {quoted(text)} may mean any of: {', '.join(meant)}. Name one."
            )
        if not meant:
            near = difflib.get_close_matches(key, known, n=3, cutoff=0.6)
            nearest = list(dict.fromkeys(n for n in map(known.get, near) if n in available))
            hint = f" Did you mean {' or '.join(map(str, nearest))}?" if nearest else ""
            raise ToolError(
                f"there is no variable {quoted(text)}.{hint} The {where} has: {', '.join(available)}."
            )
        name = meant[0]
    if name not in available:
        raise ToolError(f"the {where} has no {name}; it has: {', '.join(available)}.")
    return variable(name)
