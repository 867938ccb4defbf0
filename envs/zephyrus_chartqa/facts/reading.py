"""What a chart says of its areas, in numbers: the facts that questions and text view rest on."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from zephyrus_chartqa.centres import Centre, centres
from zephyrus_chartqa.facts.areas import Area
from zephyrus_chartqa.fields import ChartData

QUARTERS = ("northwest", "northeast", "southwest", "southeast")
FLANK = 15.0
"""Degrees of longitude to the west and east of a place at which 500 hPa heights are compared."""

_THERE = 0.8  # share of an area that must have values
_HALF = 0.5  # of a cell: as much must belong to an area whose peak it may be
_STEADY = 0.7  # mean vector over mean speed: less, and the flow has no one direction
_CALM = 3.0  # m/s: a weaker mean wind has no direction worth telling
_WIDEST = 180.0  # degrees of longitude: a wider region has no quarters


@dataclass(frozen=True)
class Wind:
    """The wind over an area.

    Attributes:
        direction: Where the mean vector blows from, degrees clockwise from north.
        speed: Area mean of the speed, m/s.
        steady: Whether it has one direction: not calm, and much the same over the area.
    """

    direction: float
    speed: float
    steady: bool


@dataclass(frozen=True)
class Extreme:
    """The highest or lowest value of a chart or of a part of it, and where it is.

    Attributes:
        value: In the chart's units.
        latitude: Degrees north.
        longitude: Degrees east, continuous as in `ChartData`.
    """

    value: float
    latitude: float
    longitude: float


@dataclass(frozen=True, eq=False)
class Reading:
    """A chart and its areas, read.

    Attributes:
        chart: The chart.
        areas: Its areas; all their cells are shown on it.
    """

    chart: ChartData
    areas: tuple[Area, ...]

    @classmethod
    def of(cls, chart: ChartData, areas: Sequence[Area]) -> Reading:
        """Read a chart; areas of which too much is missing are left out."""
        every = cls(chart, tuple(areas))
        kept = [area for area in areas if math.isfinite(every.values[area.key])]
        return every if len(kept) == len(areas) else cls(chart, tuple(kept))

    @property
    def modality(self) -> str:
        """The chart's modality, by name."""
        return self.chart.modality.name

    @cached_property
    def values(self) -> dict[str, float]:
        """By the area's key: of rain the most in any cell, of all else the area-weighted mean.

        A rain cell counts if half of it belongs to the area. NaN if much of it is missing.
        """
        return {area.key: self._value(area) for area in self.areas}

    @cached_property
    def centres(self) -> tuple[Centre, ...]:
        """The highs and lows that the chart marks."""
        return centres(self.chart)

    def _value(self, area: Area) -> float:
        values = self._of(self.chart.values, area)
        there = np.isfinite(values)
        if area.weights[there].sum() < _THERE * area.weights.sum():
            return math.nan
        if self.modality == "rain":
            cells = self._of(self.chart.area, area)
            within = there & (area.weights >= _HALF * cells)
            return float(values[within if within.any() else there].max())
        return float(np.average(values[there], weights=area.weights[there]))

    def wind(self, area: Area) -> Wind | None:
        """An area's wind; None where the chart shows none, or much is missing."""
        if self.chart.u is None or self.chart.v is None:
            return None
        u, v = self._of(self.chart.u, area), self._of(self.chart.v, area)
        there = np.isfinite(u) & np.isfinite(v)
        weights = area.weights[there]
        if weights.sum() < _THERE * area.weights.sum():
            return None
        mean_u, mean_v = (float(np.average(c[there], weights=weights)) for c in (u, v))
        speed = float(np.average(np.hypot(u, v)[there], weights=weights))
        strength = math.hypot(mean_u, mean_v)
        direction = math.degrees(math.atan2(-mean_u, -mean_v)) % 360.0
        return Wind(direction, speed, strength >= max(_CALM, _STEADY * speed))

    def flanks(self, area: Area) -> tuple[float, float, float] | None:
        """The values at an area's middle and `FLANK` degrees west and east of it.

        Of the nearest cell each; None if one is off the chart or missing.
        """
        found = [self._at(area.latitude, area.longitude + east) for east in (0.0, -FLANK, FLANK)]
        middle, west, east = found
        return None if middle is None or west is None or east is None else (middle, west, east)

    def extreme(self, *, highest: bool, quarter: str = "") -> Extreme | None:
        """The chart's highest or lowest value, or that of a quarter; None if there is none."""
        mask = self.chart.inside & np.isfinite(self.chart.values)
        if quarter:
            mask = mask & self._quarter(quarter)
        if not mask.any():
            return None
        worst = -np.inf if highest else np.inf
        values = np.where(mask, self.chart.values, worst)
        at = np.unravel_index(int(values.argmax() if highest else values.argmin()), values.shape)
        places = (self.chart.values, self.chart.latitude, self.chart.longitude)
        return Extreme(*(float(array[at]) for array in places))

    @cached_property
    def middle(self) -> tuple[float, float]:
        """The parallel and the meridian that divide the chart into quarters, whole degrees."""
        region = self.chart.region
        return (
            float(round(0.5 * (region.south + region.north))),
            float(round(0.5 * (region.west + region.east))),
        )

    @property
    def has_quarters(self) -> bool:
        """Whether the region is narrow enough to have quarters."""
        return self.chart.region.east - self.chart.region.west <= _WIDEST

    def _quarter(self, name: str) -> NDArray[np.bool_]:
        latitude, longitude = self.middle
        north, east = self.chart.latitude > latitude, self.chart.longitude > longitude
        return (north if name.startswith("north") else ~north) & (
            east if name.endswith("east") else ~east
        )

    @cached_property
    def _places(self) -> NDArray[np.intp]:
        """Where each cell of the grid is among the chart's, -1 if it isn't."""
        cells = self.chart.cells.ravel()
        found = np.full(int(cells.max()) + 1, -1, dtype=np.intp)
        found[cells] = np.arange(cells.size)
        return found

    def _of(self, field: NDArray[np.float64], area: Area) -> NDArray[np.float64]:
        values: NDArray[np.float64] = field.ravel()[self._places[area.cells]]
        return values

    def _at(self, latitude: float, longitude: float) -> float | None:
        """The value of the cell nearest to a place in the region."""
        chart = self.chart
        east = (longitude - chart.region.west) % 360.0
        if east > chart.region.east - chart.region.west:
            return None
        away = (chart.longitude - longitude + 180.0) % 360.0 - 180.0
        far = (chart.latitude - latitude) ** 2 + (np.cos(np.deg2rad(latitude)) * away) ** 2
        value = float(chart.values.ravel()[int(far.argmin())])
        return value if math.isfinite(value) else None
