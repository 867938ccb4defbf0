"""The seven modalities of WeatherQA: what each chart shows, and of which variables it is made.

A modality can be fed in more than one `Way`. The first that a forecast has the variables for is
taken; ways that are not quite what the modality is named after say so in their ``element`` or
``remark``, and so do the charts made of them.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal

from zephyrus.errors import UserError
from zephyrus_geodata.variables import PRECIPITATION_HOURS

DAY = 24
"""Hours of the period of a daily amount or extreme."""

Taking = Literal["at", "sum", "highest", "lowest"]
"""What is taken over the lead times of a chart: the one, their sum, or the extreme in each cell."""

RAIN_EDGES = (0.1, 10.0, 25.0, 50.0, 100.0, 250.0)
"""mm in 24 h at which the classes of `RAIN_CLASSES` begin (GB/T 28592-2012, table 1)."""

RAIN_CLASSES = (
    "no rain",
    "light rain",
    "moderate rain",
    "heavy rain",
    "rainstorm",
    "severe rainstorm",
    "extraordinary rainstorm",
)
"""Grades of 24-hour precipitation of China's standard, which WeatherQA's forecasters use: the first
is below 0.1 mm, the last from 250 mm. Every class has its lower edge and not its upper one."""


@dataclass(frozen=True)
class Way:
    """One way to make a chart.

    Attributes:
        variables: Names of what it needs: the main field first; or eastward and northward wind
            alone, of which the main field is the speed.
        taking: What is taken over the lead times.
        element: What the chart shows, as the first words of its title; without units.
        remark: How this is not quite what the modality is named after; "" if it is.
        period: Hours that each of its values is for, ending at its lead time: 0 for instants,
            None for "since the lead time before".
    """

    variables: tuple[str, ...]
    taking: Taking
    element: str
    remark: str = ""
    period: int | None = 0


@dataclass(frozen=True)
class Modality:
    """What a chart shows.

    Attributes:
        name: WeatherQA's name of the task, such as "500hpa_situation".
        title: In words.
        theme: Which of the benchmark's four themes it is: precipitation, weather phenomena,
            temperature or weather systems.
        ways: How it can be made, the best first.
    """

    name: str
    title: str
    theme: str
    ways: tuple[Way, ...]

    @property
    def daily(self) -> bool:
        """Whether it shows the 24 hours up to its valid time, and not an instant."""
        return self.ways[0].taking != "at"


def _wind(level: int) -> tuple[str, str]:
    return f"u_component_of_wind_{level}", f"v_component_of_wind_{level}"


def _rain() -> tuple[Way, ...]:
    element = "24-hour precipitation"
    amounts = (
        Way((f"total_precipitation_{hours}hr",), "sum", element, period=hours)
        for hours in sorted(PRECIPITATION_HOURS, reverse=True)
    )
    return (*amounts, Way(("total_precipitation",), "sum", element, period=None))


def _temperature(extreme: Literal["highest", "lowest"]) -> tuple[Way, ...]:
    name = "maximum" if extreme == "highest" else "minimum"
    return (
        Way((f"2m_{name}_temperature",), extreme, f"Daily {name} 2 m temperature", period=None),
        Way(
            ("2m_temperature",),
            extreme,
            f"Daily {name} 2 m temperature",
            f"{extreme} of the values at its lead times, which may miss the peak",
        ),
    )


MODALITIES: dict[str, Modality] = {
    modality.name: modality
    for modality in (
        Modality("rain", "24-hour precipitation", "precipitation", _rain()),
        Modality(
            "phenomena",
            "infrared-like cloud picture (a proxy made of cloud cover)",
            "weather phenomena",
            (
                Way(
                    ("total_cloud_cover",),
                    "at",
                    "Cloud cover drawn like infrared (proxy)",
                    "no satellite image: brightness is total cloud cover, not cloud-top temperature",
                ),
            ),
        ),
        Modality("max_temp", "daily maximum temperature", "temperature", _temperature("highest")),
        Modality("min_temp", "daily minimum temperature", "temperature", _temperature("lowest")),
        Modality(
            "500hpa_situation",
            "500 hPa geopotential height and wind",
            "weather systems",
            (
                Way(
                    ("geopotential_500", *_wind(500)),
                    "at",
                    "500 hPa geopotential height and wind",
                ),
            ),
        ),
        Modality(
            "850hpa_situation",
            "850 hPa wind",
            "weather systems",
            (Way(_wind(850), "at", "850 hPa wind"),),
        ),
        Modality(
            "land_situation",
            "sea level pressure",
            "weather systems",
            (
                Way(("mean_sea_level_pressure",), "at", "Mean sea level pressure"),
                Way(
                    ("surface_pressure",),
                    "at",
                    "Surface pressure, not reduced to sea level",
                    "follows the terrain: highs and lows are not marked",
                ),
            ),
        ),
    )
}
"""All seven by name."""


def modality(name: str) -> Modality:
    """Look a modality up by its name in WeatherQA.

    Raises:
        UserError: If there is none; the message lists the names.
    """
    found = MODALITIES.get(name)
    if found is None:
        raise UserError(f"there is no modality {name!r}: they are {', '.join(MODALITIES)}")
    return found


def ways_for(what: Modality, variables: Iterable[str]) -> tuple[Way, ...]:
    """Return the ways that variables suffice for, the best first."""
    there = frozenset(variables)
    return tuple(way for way in what.ways if there.issuperset(way.variables))
