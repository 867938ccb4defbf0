"""What is known of a variable's values without looking: that they are narrow, or have a bound."""

from __future__ import annotations

import re

from zephyrus_geodata import Variable

_NARROW = re.compile(r"mean_sea_level_pressure|surface_pressure|geopotential_.*")
_SHARES = re.compile(r".*_cloud_cover|sea_ice_cover")
_OFTEN_ZERO = re.compile(
    r"total_precipitation.*|convective_.*|snow_depth|mean_surface_downward_short_wave_.*"
)
_POSITIVE = re.compile(
    r".*_?wind_(speed|gust).*|.*(relative|specific)_humidity.*|total_column_water_vapour|visibility"
    r"|boundary_layer_height"
)


def is_narrow(name: str) -> bool:
    """Whether values differ little beside the bands of Table B.2.

    1 % of 1013 hPa or of 5800 gpm would let one constant answer most questions about them.
    """
    return bool(_NARROW.fullmatch(name))


def is_share(variable: Variable) -> bool:
    """Whether it lies between 0 and 100 %, and is often at either end: clouds, ice."""
    return bool(_SHARES.fullmatch(variable.name))


def is_often_zero(variable: Variable) -> bool:
    """Whether there is often none of it: rain, snow, sunshine."""
    return bool(_OFTEN_ZERO.fullmatch(variable.name))


def is_positive(variable: Variable) -> bool:
    """Whether it is never below zero."""
    zero = is_share(variable) or is_often_zero(variable)
    return zero or bool(_POSITIVE.fullmatch(variable.name))
