"""The words of questions: places, kinds, variables, statistics and times in plain English."""

from __future__ import annotations

import random

import numpy as np

from zephyrus_geodata import Feature, Forecast, Variable
from zephyrus_geodata.variables import PRECIPITATION_HOURS as PERIODS
from zephyrus_tools.articles import with_article
from zephyrus_tools.text import MONTHS

_KINDS = {"us_state": "US state", "nws_cwa": "NWS forecast area"}
_CANDIDATES = {  # of a set: what the tools count among them
    "us_state": ("US state or territory", "US states and territories"),
    "country": ("country or territory", "countries and territories"),
    "city": ("city", "cities"),
}
_VARIABLES = {
    "mean_sea_level_pressure": "sea level pressure",  # else "the mean mean sea level pressure"
    **{f"total_precipitation_{hours}hr": f"{hours}-hour precipitation" for hours in PERIODS},
    "total_precipitation": "precipitation of a step",
    "2m_maximum_temperature": "2 m temperature's peak since the step before",
    "2m_minimum_temperature": "2 m temperature's low since the step before",
    "mean_surface_downward_short_wave_radiation_flux": "downward short-wave radiation at the surface",
    "mean_surface_net_long_wave_radiation_flux": "net long-wave radiation at the surface",
}
_POINTS = (
    ("area-mean {variable}", "{variable}"),
    ("mean {variable}", "{variable}"),
    ("average {variable}", "{variable}"),
    ("averaged over its area and all", "averaged over all"),
    (" in any grid cell and step", " at any step"),
)
_STATISTICS = {
    "mean": ("mean", "average"),
    "min": ("minimum", "lowest"),
    "max": ("maximum", "highest"),
    "median": ("median",),
}
_NOUNS = {"mean": "mean", "min": "minimum", "max": "maximum", "median": "median"}
_NOUNS |= {"highest": "maximum", "lowest": "minimum"}


def kind_word(kind: str) -> str:
    """A kind in words: "US state", "mountain range"."""
    return _KINDS.get(kind, kind.replace("_", " "))


def candidate_word(kind: str, *, plural: bool = False) -> str:
    """One or all of a set of candidates in words: "country or territory", "mountain ranges"."""
    word = kind_word(kind)
    return _CANDIDATES.get(kind, (word, word + "s"))[plural]


def place(feature: Feature, *, ambiguous: bool = False) -> str:
    """A feature in a sentence, with its kind where its name alone could mean another.

    A city is named with its country, as the tools know it too: "Salem, India".
    """
    city = feature.kind == "city"
    name = feature.name if city else with_article(feature.name, feature.kind)
    if city and feature.parent not in (None, name):
        return name if "," in name else f"{name}, {feature.parent}"
    return f"{name} ({kind_word(feature.kind)})" if ambiguous else name


def over(feature: Feature, *, ambiguous: bool = False) -> str:
    """Say "over Kenya", but "at Tokyo": a city is a point."""
    if feature.kind == "nws_cwa":
        return f"over the {kind_word(feature.kind)} {feature.name}"
    return f"{'at' if feature.kind == 'city' else 'over'} {place(feature, ambiguous=ambiguous)}"


def extreme_word(word: str, variable: Variable, *, lowest: bool) -> str:
    """A word for an extreme; the lowest of a wind component is no calm: "(most negative)"."""
    signed = variable.name.split("_component")[0].endswith(("_u", "_v", "u", "v"))
    signed = signed and "component_of_wind" in variable.name
    return f"{word} (most negative)" if lowest and signed else word


def for_points(question: str) -> str:
    """A question's form for cities, which are points and have no area mean."""
    for area, point in _POINTS:
        question = question.replace(area, point)
    return question


def variable_words(variable: Variable) -> str:
    """A variable in a sentence."""
    return _VARIABLES.get(variable.name, variable.long_name)


def statistic_words(statistic: str, rng: random.Random) -> str:
    """A statistic over space in one of its wordings."""
    return rng.choice(_STATISTICS[statistic])


def noun(statistic: str) -> str:
    """A statistic, or "highest" and "lowest", as a noun: "maximum"."""
    return _NOUNS[statistic]


def percentile_words(statistic: str, rng: random.Random) -> str:
    """A climatological statistic: "90th percentile", "mean", "standard deviation"."""
    if statistic == "p50":
        return rng.choice(("median", "50th percentile"))
    if statistic.startswith("p"):
        return f"{statistic[1:]}th percentile"
    return {"mean": "mean", "std": "standard deviation"}[statistic]


def valid_time(forecast: Forecast, hour: int) -> np.datetime64:
    """The valid time of a lead time in hours."""
    return forecast.init_time + np.timedelta64(hour, "h")


def month_of(forecast: Forecast, hour: int) -> int:
    """The calendar month, 1 to 12, of a lead time in hours."""
    return int(valid_time(forecast, hour).astype("datetime64[M]").astype(int)) % 12 + 1


def moment(forecast: Forecast, hour: int, rng: random.Random) -> str:
    """A time as lead time or valid time: "at a lead time of 36 h", "at 12 UTC on 3 January 1959"."""
    valid = valid_time(forecast, hour)
    year, month, day = str(valid.astype("datetime64[D]")).split("-")
    clock = str(valid.astype("datetime64[m]"))[11:]
    return rng.choice(
        (
            f"{hour} hours into the forecast",
            f"at a lead time of {hour} h",
            f"{hour} h after the initial time",
            f"at {clock} UTC on {int(day)} {MONTHS[int(month) - 1]} {year}",
            f"at {year}-{month}-{day} {clock} UTC",
        )
    )


def capital(text: str) -> str:
    """The sentence with a capital first letter."""
    return text[:1].upper() + text[1:]
