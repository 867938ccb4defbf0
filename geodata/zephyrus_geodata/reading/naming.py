"""Which quantity a field is, and which variable that makes on its level.

A field says what it is in several ways, best first: the canonical name itself, GRIB's short name,
its parameter number, CF's standard name, the name in the file, and the long name. Each names a
quantity ("temperature") and some also a level ("t2m"); the level of the field does the rest.
Nothing is taken for a variable because it looks alike: a geopotential height of a cloud ceiling
has the standard name ``geopotential_height`` and no pressure level, and so is no variable here.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from zephyrus_geodata.reading.understood import Level
from zephyrus_geodata.reading.vocabulary import AXES, BY_SHORT, LONG, PARAM, STANDARD
from zephyrus_geodata.variables import ON_LEVELS, at_level, is_variable

_PRESSURE = "pressure"
_HEIGHT = "height"


@dataclass(frozen=True)
class Quantity:
    """What a field is, before its level is looked at.

    Attributes:
        name: "temperature", "precipitation", ...: a key of ``_ON`` or a variable's name.
        level: a level that the name itself says ("t2m", "z500"), or None.
        how: which attribute said so, in words.
        axes: "grid" where the name says that a wind component follows the grid (``x_wind``),
            "earth" where it says that it doesn't, empty otherwise.
        sure: whether two attributes agree or one can't be misread.
    """

    name: str
    level: Level | None = None
    how: str = ""
    axes: str = ""
    sure: bool = False


@dataclass(frozen=True)
class Named:
    """A field with the variable it is.

    Attributes:
        variable: a canonical name; ``total_precipitation`` for precipitation of any form.
        how: which attribute said so, in words.
        axes: see ``Quantity``.
        sure: see ``Quantity``.
    """

    variable: str
    how: str
    axes: str = ""
    sure: bool = False


def _at(metres: float) -> Level:
    return Level(_HEIGHT, metres, "m")


_SUFFIXED = re.compile(
    r"(?P<name>.*?[a-z])_?(?P<level>\d{1,4})_?(?P<unit>hpa|mb|millibars)?(?P<rest>)"
)
_ACROSS = re.compile(
    r"(?P<metres>\d{1,3})m_(?P<name>[a-z].*)|(?P<name2>.*[a-z])_(?P<metres2>\d{1,3})m"
)
_SURFACE_ONLY = re.compile(r"(?P<name>.+)_(surface|sfc|atmosphere|meansealevel)")

_SPREAD = re.compile(r"standard_deviation|variance|\bspread\b", re.I)
_SPREAD_TYPES = ("es",)
"""GRIB dataType of an ensemble's standard deviation."""

_MEANS = ("", "0", "1", "6")
"""GRIB derivedForecast of ensemble means; others are spreads, indices and extremes."""

_PART_OF_RAIN = re.compile(r"\bconvecti(ve|on)\b|\blarge[ -]?scale\b|\bstratiform\b|^snow", re.I)

_NO_VALUE = re.compile(
    r"\banomal(y|ies)\b|\bstandard deviation\b|\bspread\b|\bprobability of\b|\bdeparture from\b"
    r"|\b(mean|forecast) error\b|\bbias\b|\bincrement\b|\btendency\b"
    r"|\bensemble[ -](max|min)(imum)?\b|\b(change|difference|percentile) (in|of|from|between)\b", re.I
)  # fmt: skip
"""Words of a long name by which a field is not the quantity itself."""

_STATES = ("", "instant", "avg", "avgua", "avgas", "avgfc")
"""Step types of values at a moment and of means, which are noted."""

EXTREMES = ("2m_maximum_temperature", "2m_minimum_temperature", "10m_wind_gust")
"""Variables that are extremes over the period before."""

_MADE_EXTREME = {
    ("2m_temperature", "max"): "2m_maximum_temperature",
    ("2m_temperature", "min"): "2m_minimum_temperature",
}

_ACROSS_OTHERS = re.compile(
    r"\b(realization|realisation|ensemble|ens|number|member|area|lat|latitude|lon|longitude|x|y)"
    r"\s*:\s*(?:\w+\s*:\s*)*(?!(?:mean|average|point)\b)(\w+)\b(?!\s*:)", re.I
)  # fmt: skip
"""Cell methods that make another quantity of a field, along others than the time."""

_FLAT = ("surface", "sea", "layer", "altitude", "height", "other")
_PARTIAL = re.compile(
    r"fromground|cloudlayer|boundarylayer|convective|sigma|theta|vorticity|tropopause|maxwind"
    r"|isotherm|hybrid|depth",
    re.IGNORECASE,
)
"""GRIB's typeOfLevel of parts of the column."""

_NARROWER = (
    ("maximum_temperature", "temperature"),
    ("minimum_temperature", "temperature"),
    ("gust", "wind_speed"),
)
"""Quantities that a name may say where the standard name says a wider one."""

_SURFACES = ("surface", "layer", "sea", "other")


def _on(base: str) -> Callable[[Level | None], str | None]:
    def place(level: Level | None) -> str | None:
        if level is not None and level.kind == _PRESSURE:
            return at_level(base, level.value)
        return None

    return place


def _height(names: Mapping[float, str], base: str = "") -> Callable[[Level | None], str | None]:
    """Place a quantity that has names at heights above ground and perhaps on pressure levels."""
    on = _on(base) if base else None

    def place(level: Level | None) -> str | None:
        if level is None:
            return None
        if level.kind == _HEIGHT:
            return names.get(round(level.value, 3))
        return on(level) if on else None

    return place


def _temperature(level: Level | None) -> str | None:
    if level is not None and level.kind == "surface":
        return "skin_temperature"
    # CMIP puts near-surface temperature at 1.5 to 2 m.
    if level is not None and level.kind == _HEIGHT and 1.25 <= level.value <= 2.0:
        return "2m_temperature"
    return _on("temperature")(level)


def _vorticity(level: Level | None) -> str | None:
    if level is not None and level.kind == "isentropic":
        return at_level("potential_vorticity", level.value, "K")
    return _on("potential_vorticity")(level)


def _near_ground(name: str) -> Callable[[Level | None], str | None]:
    """Place a quantity whose name says that it is the one near the ground."""

    def place(level: Level | None) -> str | None:
        fits = level is None or level.kind == "surface"
        return name if fits or (level is not None and _near(level)) else None

    return place


def _near(level: Level) -> bool:
    return level.kind == _HEIGHT and 1.0 <= level.value <= 10.0


_ON: dict[str, Callable[[Level | None], str | None]] = {
    "temperature": _temperature,
    "maximum_temperature": _near_ground("2m_maximum_temperature"),
    "minimum_temperature": _near_ground("2m_minimum_temperature"),
    "dewpoint": _height({2.0: "2m_dewpoint_temperature"}),
    "u": _height(
        {10.0: "10m_u_component_of_wind", 100.0: "100m_u_component_of_wind"},
        "u_component_of_wind",
    ),
    "v": _height(
        {10.0: "10m_v_component_of_wind", 100.0: "100m_v_component_of_wind"},
        "v_component_of_wind",
    ),
    "wind_speed": _height({10.0: "10m_wind_speed", 100.0: "100m_wind_speed"}, "wind_speed"),
    "gust": _near_ground("10m_wind_gust"),
    "vertical_velocity": _on("vertical_velocity"),
    "geopotential": _on("geopotential"),
    "specific_humidity": _height({2.0: "2m_specific_humidity"}, "specific_humidity"),
    "relative_humidity": _height({2.0: "2m_relative_humidity"}, "relative_humidity"),
    "potential_vorticity": _vorticity,
}
"""Where a quantity's variable depends on the level."""


def quantity_of(name: str, attrs: Mapping[str, Any]) -> Quantity | None:
    """Say which quantity a field is.

    Args:
        name: its name in the source.
        attrs: its attributes.

    Returns:
        None if nothing about it is known.
    """
    standard = str(attrs.get("standard_name", ""))
    axes = AXES.get(standard, "")
    short = str(attrs.get("GRIB_shortName", "unknown"))
    if short != "unknown":
        found = _short(short)
        if found is not None:
            return Quantity(*found, f"GRIB shortName {short}", axes, sure=True)
    number = str(attrs.get("GRIB_paramId", ""))
    if number.isdecimal() and int(number) in PARAM:
        return Quantity(*_split(PARAM[int(number)]), f"GRIB paramId {number}", axes, sure=True)
    if short != "unknown":
        return None  # GRIB says what it is, and it is nothing that is known here
    own = _short(name)
    if standard and standard != "unknown":
        known = STANDARD.get(standard)
        if known is None:
            return None
        if own is not None and (own[0] == known or (own[0], known) in _NARROWER):
            # The file's own name may say what the standard name leaves out: tas is at 2 m.
            return Quantity(*own, f"standard_name {standard} and name {name}", axes, sure=True)
        return Quantity(known, own[1] if own else None, f"standard_name {standard}", axes)
    for candidate, said in ((attrs.get("short_name"), "short_name"), (name, "name")):
        found = _short(str(candidate)) if candidate else None
        if found is not None:
            return Quantity(*found, f"{said} {candidate}", axes)
    long = re.sub(r"[\s_-]+", " ", str(attrs.get("long_name", ""))).strip().lower()
    if LONG.get(long):
        return Quantity(*_split(LONG[long]), f"long_name {attrs['long_name']}", axes)
    return None


def is_known(name: str, attrs: Mapping[str, Any]) -> bool:
    """Say whether a field may be a variable, whatever its level and what it stands for in time."""
    return is_variable(name) or name in ON_LEVELS or quantity_of(name, attrs) is not None


def name_of(
    name: str, attrs: Mapping[str, Any], level: Level | None, step_type: str = ""
) -> Named | str:
    """Say which variable a field is.

    Args:
        name: its name in the source.
        attrs: its attributes.
        level: its level; None if the source gives none.
        step_type: instant, avg, max, min, ...

    Returns:
        The variable, or the reason why it is none, a clause.
    """
    if _SPREAD.search(str(attrs.get("cell_methods", ""))) or (
        str(attrs.get("GRIB_dataType", "")) in _SPREAD_TYPES
    ):
        return "it is a measure of spread, not a forecast"
    if str(attrs.get("GRIB_derivedForecast", "")) not in _MEANS:
        return "it is computed from an ensemble and no mean of it"
    for key, kept in (
        ("GRIB_probabilityType", "probability"),
        ("GRIB_percentileValue", "percentile"),
    ):
        if key in attrs:
            return f"it is a {kept}, not a value"
    odd = _NO_VALUE.search(str(attrs.get("long_name", "")).replace("_", " "))
    if odd is not None:
        return f"its long name says {odd[0].lower()}: it is not the quantity itself"
    methods = re.sub(r"\([^)]*\)", "", str(attrs.get("cell_methods", "")))
    if "over years" in methods:
        return "it is a statistic over years, and its times are no dates"
    across = _ACROSS_OTHERS.search(methods)
    if across is not None:
        return f"it is the {across[2].lower()} over {across[1].lower()}, not the quantity itself"
    found = _variable_of(name, attrs, level, step_type)
    return found if isinstance(found, str) else _in_time(found, step_type)


def _in_time(named: Named, step_type: str) -> Named | str:
    """Look at what a field stands for in time: a difference or an extreme is no value."""
    name = _MADE_EXTREME.get((named.variable, step_type), named.variable)
    allowed = set(_STATES)
    if name in EXTREMES:
        allowed |= {"max", "min"}
    if name.startswith(("total_precipitation", "mean_surface")):
        allowed.add("accum")
    if step_type not in allowed:
        return f"it is the {step_type} over an interval, not a value at a moment or a mean"
    return replace(named, variable=name)


def _variable_of(
    name: str, attrs: Mapping[str, Any], level: Level | None, step_type: str
) -> Named | str:
    """Say which variable a field is, whatever it stands for in time."""
    if is_variable(name) and (level is None or level.kind != _PRESSURE):
        return Named(name, "its name", "earth", sure=True)
    if name in ON_LEVELS and level is not None and level.kind in (_PRESSURE, "isentropic"):
        placed = _ON[name](level) if name in _ON else None
        if placed is not None:
            return Named(placed, "its name and level", "earth", sure=True)
    what = quantity_of(name, attrs)
    if what is None:
        return "it is no variable known here"
    where = _level(level, what.level)
    kind = what.name
    if kind == "temperature" and where is not None and where.kind == _HEIGHT:
        kind = {"max": "maximum_temperature", "min": "minimum_temperature"}.get(step_type, kind)
    if kind == "precipitation":
        part = _PART_OF_RAIN.search(str(attrs.get("long_name", "")))
        if part is not None:
            return f"its long name says {part[0].lower()}: it is not all precipitation"
        if where is not None and where.kind == _PRESSURE:
            return "it is precipitation on a pressure level"
        return Named("total_precipitation", what.how, sure=what.sure)
    placed = _ON[kind](where) if kind in _ON else _flat(kind, where)
    if placed is None:
        at = "no level is given" if where is None else f"it lies at {_words(where)}"
        return f"its {kind.replace('_', ' ')} is no variable here because {at}"
    return Named(placed, what.how, what.axes, what.sure)


def _flat(name: str, level: Level | None) -> str | None:
    """Place a variable that has one level of its own: a part of the column is not the whole."""
    if level is None or (level.kind in _FLAT and not _PARTIAL.search(level.name)):
        return name
    return None


def _level(given: Level | None, said: Level | None) -> Level | None:
    """Choose between the level that the source gives and the one that a name says."""
    if given is None or (said is not None and given.kind in _SURFACES):
        return said
    return given


def _words(level: Level) -> str:
    if level.kind == "model":
        return (
            f"model level {level.value:g} ({level.name}), which has no pressure of its own: put "
            "it on pressure levels first, for example with 'cdo ml2pl,85000,50000 IN OUT'"
        )
    return (
        f"{level.value:g} {level.units} ({level.name or level.kind})"
        if level.value
        else (level.name or level.kind)
    )


def _split(quantity: str) -> tuple[str, Level | None]:
    name, _, metres = quantity.partition("@")
    return name, _at(float(metres)) if metres else None


def _short(name: str) -> tuple[str, Level | None] | None:
    """Look a short name up, and again without a level at its end."""
    text = re.sub(r"[\s-]+", "_", name.strip()).lower()
    if text in BY_SHORT:
        return _split(BY_SHORT[text])
    across = _ACROSS.fullmatch(text)
    if across is not None:
        base = BY_SHORT.get(across["name"] or across["name2"])
        if base is not None and "@" not in base:
            return base, _at(float(across["metres"] or across["metres2"]))
    plain = _SURFACE_ONLY.fullmatch(text)
    if plain is not None and plain["name"] in BY_SHORT:
        # A temperature at the surface is the skin's.
        base, said = _split(BY_SHORT[plain["name"]])
        return base, said or Level("surface")
    suffixed = _SUFFIXED.fullmatch(text)
    if suffixed is not None:
        base = BY_SHORT.get(suffixed["name"])
        value = float(suffixed["level"])
        if base in _ON and (suffixed["unit"] or value >= 50.0):
            return base, Level(_PRESSURE, value, "hPa")
    return None
