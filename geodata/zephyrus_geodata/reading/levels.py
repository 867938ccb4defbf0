"""The vertical: what kind of level a coordinate counts, and pressure in hPa whatever its units."""

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.reading.understood import Level

HPA = {"hpa": 1.0, "millibar": 1.0, "millibars": 1.0, "mbar": 1.0, "mb": 1.0, "hectopascal": 1.0,
       "hectopascals": 1.0, "pa": 0.01, "pascal": 0.01, "pascals": 0.01, "kpa": 10.0, "bar": 1000.0,
       "dbar": 100.0}  # fmt: skip
"""hPa in a unit of pressure (lower case)."""

_GRIB = {
    "isobaricInhPa": ("pressure", 1.0), "isobaricInPa": ("pressure", 0.01),
    "heightAboveGround": ("height", 1.0), "heightAboveSea": ("altitude", 1.0),
    "meanSea": ("sea", 0.0), "surface": ("surface", 0.0), "theta": ("isentropic", 1.0),
    "potentialVorticity": ("potential_vorticity", 1.0), "hybrid": ("model", 1.0),
    "hybridPressure": ("model", 1.0), "hybridHeight": ("model", 1.0), "sigma": ("model", 1.0),
    "generalVertical": ("model", 1.0), "depthBelowLand": ("depth", 1.0),
    "depthBelowLandLayer": ("depth", 1.0), "depthBelowSea": ("depth", 1.0),
    "entireAtmosphere": ("layer", 0.0), "atmosphere": ("layer", 0.0),
    "atmosphereSingleLayer": ("layer", 0.0), "soilLayer": ("depth", 1.0),
}  # fmt: skip
_UNITS = {"pressure": "hPa", "height": "m", "altitude": "m", "isentropic": "K", "depth": "m"}

_STANDARD = {
    "air_pressure": "pressure", "height": "height", "altitude": "altitude", "depth": "depth",
    "air_potential_temperature": "isentropic", "height_above_mean_sea_level": "altitude",
    "model_level_number": "model", "atmosphere_hybrid_sigma_pressure_coordinate": "model",
    "atmosphere_sigma_coordinate": "model", "atmosphere_hybrid_height_coordinate": "model",
    "height_above_reference_ellipsoid": "altitude", "height_above_geopotential_datum": "altitude",
}  # fmt: skip
_NAMES = {
    "level": "pressure", "levels": "pressure", "lev": "pressure", "plev": "pressure",
    "pressure": "pressure", "pressure_level": "pressure", "isobaric": "pressure",
    "isobaricinhpa": "pressure", "isobaricinpa": "pressure", "air_pressure": "pressure",
    "pres": "pressure", "p": "pressure", "lv_isbl": "pressure", "press": "pressure",
    "height": "height", "heightaboveground": "height", "height_above_ground": "height",
    "z": "height", "altitude": "altitude", "depth": "depth", "hybrid": "model",
    "model_level": "model", "modellevel": "model", "model_level_number": "model",
    "sigma": "model", "theta": "isentropic", "bottom_top": "model", "soil_layers_stag": "depth",
    "nav_lev": "depth", "deptht": "depth", "depthbelowlandlayer": "depth",
}  # fmt: skip


_METRES = {"km": 1000.0, "cm": 0.01, "mm": 0.001, "ft": 0.3048, "feet": 0.3048, "foot": 0.3048}
_METRES |= dict.fromkeys(("m", "metre", "metres", "meter", "meters", "gpm"), 1.0)

_HIGH = (1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 10.0, 15.0, 20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0,
         90.0)  # fmt: skip


def is_level(name: str, attrs: Mapping[str, Any]) -> bool:
    """Say whether a coordinate is a vertical one."""
    units = str(attrs.get("units", "")).strip().lower()
    return (
        str(attrs.get("standard_name", "")) in _STANDARD
        or units in HPA
        or str(attrs.get("axis", "")).upper() == "Z"
        or str(attrs.get("positive", "")).lower() in ("up", "down")
        or _plain(name) in _NAMES
    )


def _plain(name: str) -> str:
    """Return a name without the counters that THREDDS and NCL put behind it (isobaric1)."""
    return name.lower().rstrip("0123456789") if name.lower() not in _NAMES else name.lower()


def level(name: str, value: float, attrs: Mapping[str, Any]) -> Level:
    """Make the level of one value of a vertical coordinate.

    A coordinate called level without units counts hPa if its values can be; then ``units`` is
    "hPa" and the caller may say so.
    """
    units = str(attrs.get("units", "")).strip()
    if is_model(attrs):
        return Level("model", _round(value), units, name)
    if units.lower() in HPA:
        return Level("pressure", _round(value * HPA[units.lower()]), "hPa", name)
    kind = _STANDARD.get(str(attrs.get("standard_name", ""))) or _NAMES.get(_plain(name), "other")
    if kind == "pressure":
        # Pressure without units of pressure: hPa, or model levels (1, 2, 3 ...) in disguise.
        return Level("other" if units not in ("", "1") else "pressure", _round(value), "hPa", name)
    if kind in ("height", "altitude", "depth") and units not in ("", "1"):
        metres = _METRES.get(units.lower())
        if metres is None:
            return Level("other", _round(value), units, name)
        value *= metres
    return Level(kind, _round(value), _UNITS.get(kind, units), name)


def is_model(attrs: Mapping[str, Any]) -> bool:
    """Say whether a vertical coordinate counts hybrid or sigma levels.

    Models give them a nominal pressure (1000 * (A + B), in hPa), which is that of no field.
    """
    standard, long = (str(attrs.get(key, "")).lower() for key in ("standard_name", "long_name"))
    return (
        _STANDARD.get(standard) == "model"
        or "formula_terms" in attrs
        or any(re.search(r"hybrid|\bsigma\b|model.?level|terrain.?following", text)
               for text in (standard, long))
    )  # fmt: skip


def no_pressures(name: str, values: NDArray[np.float64]) -> bool:
    """Say whether levels without units can't be trusted to be pressures in hPa.

    A coordinate called level or lev may count model levels (60, 100, 137) or sigma (0.995) too:
    usual pressure levels are multiples of 25 hPa from 100 hPa down, and a few above.
    """
    if values.max(initial=0.0) <= 1.0 and (values % 1.0 != 0.0).any():
        return True  # sigma, whatever the name
    if _plain(name) not in ("level", "levels", "lev", "p"):
        return False
    usual = np.isin(values, _HIGH) | (
        (values >= 100.0) & (values <= 1100.0) & (values % 25.0 == 0.0)
    )
    return not (usual | np.isnan(values)).all() or values.max(initial=0.0) < 50.0


def grib_level(type_of_level: str, value: float) -> Level:
    """Make the level of a GRIB message."""
    kind, factor = _GRIB.get(type_of_level, ("other", 1.0))
    return Level(kind, _round(value * factor), _UNITS.get(kind, ""), type_of_level)


def _round(value: float) -> float:
    """Undo the noise of 32-bit levels and of Pa to hPa."""
    return float(f"{value:.7g}")
