"""Standard classes of what charts show, and how clear of their edges a value must be.

A value near an edge is no question: `Scale.clear` says how far it is from the nearest edge, in
units of what is needed.
"""

from __future__ import annotations

import math
from bisect import bisect_right
from dataclasses import dataclass

from zephyrus_chartqa.levels import DECAMETRES
from zephyrus_chartqa.modality import RAIN_CLASSES, RAIN_EDGES

POINTS = ("north", "northeast", "east", "southeast", "south", "southwest", "west", "northwest")
"""The eight points of the compass, clockwise; a wind is named after the one it blows from."""

SECTOR = 45.0
SECTOR_MARGIN = 7.5
"""Degrees that a direction must be clear of the edge of its sector of 45."""


@dataclass(frozen=True)
class Scale:
    """Classes of one quantity, each with its lower edge and not its upper one.

    Attributes:
        edges: Where the second class, the third … begin.
        words: The classes, as choices have them.
        margin: How far from an edge a value must be, in units; see ``relative``.
        relative: Margins are at least this share of the edge.
    """

    edges: tuple[float, ...]
    words: tuple[str, ...]
    margin: float
    relative: float = 0.0

    def index(self, value: float) -> int:
        """The class of a value."""
        return bisect_right(self.edges, value)

    def needed(self, edge: float) -> float:
        """The margin at an edge, in units."""
        return max(self.margin, self.relative * edge)

    def nearest(self, value: float) -> tuple[float, float]:
        """The edge that is nearest in units of what is needed: (distance, needed), in units."""
        pairs = [(abs(value - edge), self.needed(edge)) for edge in self.edges]
        return min(pairs, key=lambda pair: pair[0] / pair[1])

    def is_clear(self, value: float) -> bool:
        """Whether no edge is nearer than its margin; never of a value that is missing."""
        distance, needed = self.nearest(value) if math.isfinite(value) else (0.0, 1.0)
        return distance >= needed


def _steps(
    start: int, stop: int, step: int, units: str, margin: float, scale: float = 1.0
) -> Scale:
    """Classes of equal width, open at both ends, in units of which the chart's data have some."""
    edges = tuple(range(start, stop + 1, step))
    between = [f"{low} to {low + step} {units}" for low in edges[:-1]]
    words = (f"below {start} {units}", *between, f"{stop} {units} or more")
    return Scale(tuple(edge / scale for edge in edges), words, margin)


def _rain() -> Scale:
    tops = [f"{edge - 0.1:g}" for edge in RAIN_EDGES[1:]]
    ranges = [f"{low:g} to {top} mm" for low, top in zip(RAIN_EDGES, tops, strict=False)]
    ranges = [f"below {RAIN_EDGES[0]:g} mm", *ranges, f"{RAIN_EDGES[-1]:g} mm or more"]
    words = tuple(f"{name} ({span})" for name, span in zip(RAIN_CLASSES, ranges, strict=True))
    # More than rounding to tenths takes away, so that "0.0" means no rain.
    return Scale(RAIN_EDGES, words, margin=0.06, relative=0.1)


def _cloud() -> Scale:
    """Oktas as in aviation reports (WMO No. 306, FM 15): FEW 1-2, SCT 3-4, BKN 5-7, OVC 8."""
    words = (
        "clear or few clouds (0 to 2 oktas)",
        "scattered cloud (3 to 4 oktas)",
        "broken cloud (5 to 7 oktas)",
        "overcast sky (8 oktas)",
    )
    return Scale((31.25, 56.25, 93.75), words, margin=2.5)


SCALES: dict[str, Scale] = {
    "rain": _rain(),
    "phenomena": _cloud(),
    "max_temp": _steps(-50, 50, 5, "°C", 1.0),
    "min_temp": _steps(-50, 50, 5, "°C", 1.0),
    "500hpa_situation": _steps(480, 600, 8, "dagpm", 15.0, DECAMETRES),
    "850hpa_situation": _steps(4, 32, 4, "m/s", 0.75),
    "land_situation": _steps(930, 1060, 5, "hPa", 1.0),
}
"""By modality: the classes of an area's value on its chart."""

APART: dict[str, tuple[float, float]] = {
    "rain": (5.0, 0.25),
    "phenomena": (10.0, 0.0),
    "max_temp": (2.0, 0.0),
    "min_temp": (2.0, 0.0),
    "500hpa_situation": (40.0, 0.0),
    "850hpa_situation": (2.5, 0.0),
    "land_situation": (3.0, 0.0),
}
"""By modality: how far two areas' values must be apart to say which is higher, in units and as a
share of the higher one."""


def apart(modality: str, one: float, other: float) -> tuple[float, float]:
    """How far two values are apart and how far they must be, in units."""
    least, share = APART[modality]
    return abs(one - other), max(least, share * max(one, other))


def shown(value: float, units: str) -> tuple[float, str]:
    """A value and its units as charts label them: heights in dagpm, all else as it is."""
    return (value * DECAMETRES, "dagpm") if units == "gpm" else (value, units)


def point_of(direction: float) -> int:
    """The index in `POINTS` of a direction in degrees clockwise from north."""
    return round(direction / SECTOR) % len(POINTS)


def off_point(direction: float) -> float:
    """How far a direction is from the middle of its sector, degrees: 0 to 22.5."""
    return abs((direction + 0.5 * SECTOR) % SECTOR - 0.5 * SECTOR)


def wind_word(point: int) -> str:
    """The adjective of a wind from a point of the compass: "southwesterly"."""
    return f"{POINTS[point % len(POINTS)]}erly"
