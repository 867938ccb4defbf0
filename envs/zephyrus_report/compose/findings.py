"""A finding: one thing that the fields of a forecast show, in numbers.

Findings are plain data. `detect` makes them from fields; whoever has numbers from elsewhere (the
answers of tools) may make them too. `zephyrus_report.compose.wording.sentence` says one in words,
and what it says of each kind is listed there.

Hours are lead times. Day d of a forecast is the lead times after 24 (d - 1) h and up to 24 d h, so
that day 1 of six-hourly steps is 6, 12, 18 and 24 h, which is also what its precipitation sums up.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

COMPASS = (
    "north",
    "north-east",
    "east",
    "south-east",
    "south",
    "south-west",
    "west",
    "north-west",
)
"""The eight points, clockwise from north."""


class Kind(StrEnum):
    """What a finding is about; the docstrings name its `values`."""

    LOW = "low"
    """A centre of low pressure: ``pressure`` at `Finding.hour`, ``before`` and ``after`` at the
    first and last hour, ``speed`` of its movement; `direction` is where it moves to."""
    HIGH = "high"
    """A centre of high pressure: the same."""
    COLD_FRONT = "cold_front"
    """850 hPa temperature falls where its gradient is strong: ``before``, ``after``, ``change``
    (negative), ``gradient``; `direction` is where the wind blows from behind it, or ""."""
    WARM_FRONT = "warm_front"
    """The same with a rise."""
    WIND = "wind"
    """The strongest 10 m wind over the place: ``speed`` at `hour`; `direction` is where the mean
    wind of the place blows from, or where that has no clear direction, the strongest."""
    JET = "jet"
    """The strongest 500 hPa wind over the place: ``speed`` at `hour`; `direction` as in WIND."""
    PRECIPITATION = "precipitation"
    """``total``: the area mean's sum over the hours; ``heaviest``: the most in one step and cell,
    at `hour`, in `target` where that is a part of the place. `detail` is "rain", "snow" or "rain
    and snow"."""
    DRY = "dry"
    """Hardly any precipitation: ``total`` as above."""
    CLOUD = "cloud"
    """``cover``: mean total cloud cover."""
    TEMPERATURE = "temperature"
    """``mean``: area and time mean of 2 m temperature; ``lowest`` and ``highest``: of any cell and
    step."""
    COLD_EXTREME = "cold_extreme"
    """``lowest``: the lowest 2 m temperature in any cell, at `hour`."""
    HEAT_EXTREME = "heat_extreme"
    """``highest``: the highest 2 m temperature in any cell, at `hour`."""
    WARM_ANOMALY = "warm_anomaly"
    """``mean`` (2 m temperature), ``normal`` (the climatological mean of the month) and
    ``departure`` (positive); `detail` is "p90" where the mean is above that percentile, else ""."""
    COLD_ANOMALY = "cold_anomaly"
    """The same with a negative departure; `detail` is "p10" or ""."""
    WARMING = "warming"
    """``before`` and ``after``: the area's daily mean 2 m temperature of the first and last day of
    the hours; ``change`` (positive)."""
    COOLING = "cooling"
    """The same with a negative change."""
    RIDGE = "ridge"
    """``height``: area-mean 500 hPa height; ``departure`` from the climatological mean (positive);
    `detail` is "building", "weakening" or "persisting"."""
    TROUGH = "trough"
    """The same with a negative departure; `detail` is "deepening", "filling" or "persisting"."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where.

    Attributes:
        name: The name of a feature as the tools know it.
        key: Its unique key, ``kind:name``; "" if the place is no feature.
        part: Which part of it, a point of `COMPASS` or "centre"; "" for all of it.
        latitude: Of a point that is meant, degrees north.
        longitude: Of a point that is meant, degrees east, -180 to 180.
    """

    name: str
    key: str = ""
    part: str = ""
    latitude: float | None = None
    longitude: float | None = None

    @property
    def kind(self) -> str:
        """The feature's kind, "" if there is no feature."""
        return self.key.partition(":")[0]


@dataclass(frozen=True, slots=True)
class Quantity:
    """One number of a finding, and how it comes from the fields.

    Attributes:
        value: Unrounded, in `unit`.
        unit: Display unit ("°C", "mm", "m/s", "hPa", "gpm", "%", "km/h", "K per 100 km").
        variable: The variable it is a statistic of; "" if it is derived otherwise.
        feature: Key of the feature that the statistic is over; "" for a point or a derived number.
        space: "mean", "min" or "max" over the feature, or "point" (the cell of the place).
        time: "at", "mean", "min", "max" or "sum" over the steps from `start` to `end`; "change"
            from `start` to `end`; "climate" for a climatological mean of the month of `start`,
            "departure" for the time mean minus that.
        start: First lead time in hours.
        end: Last lead time in hours, included.
    """

    value: float
    unit: str
    variable: str = ""
    feature: str = ""
    space: str = ""
    time: str = ""
    start: int = 0
    end: int = 0

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values; what is empty is left out, and the value has six digits."""
        named = {"variable": self.variable, "feature": self.feature, "space": self.space}
        hours = {"start": self.start, "end": self.end} if self.time else {}
        kept = {key: text for key, text in {**named, "time": self.time}.items() if text}
        return {"value": float(f"{self.value:.6g}"), "unit": self.unit, **kept, **hours}


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that the fields show.

    Attributes:
        kind: What it is about.
        place: Where.
        start: First lead time in hours.
        end: Last lead time in hours, included.
        values: Its numbers by name, as `Kind` lists them.
        hour: Lead time of the extreme, where there is one.
        direction: A point of `COMPASS`: where a system moves to, where a wind comes from.
        detail: What else there is to say, as `Kind` lists it.
        target: Where a moving system is at the end, or where in the place an extreme is.
        importance: Higher is told first; 1 is worth a sentence, 3 is a hazard.
    """

    kind: Kind
    place: Place
    start: int
    end: int
    values: Mapping[str, Quantity] = field(default_factory=dict)
    hour: int | None = None
    direction: str = ""
    detail: str = ""
    target: Place | None = None
    importance: float = 1.0

    def number(self, name: str) -> float:
        """A value in display units, unrounded.

        Raises:
            KeyError: If the finding has no such value.
        """
        return self.values[name].value

    @property
    def days(self) -> tuple[int, int]:
        """The first and last day of the hours, counted from 1."""
        return day_of(self.start), day_of(self.end)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, for an event's provenance."""
        found: dict[str, Any] = {
            "kind": str(self.kind),
            "place": self.place.name,
            "start": self.start,
            "end": self.end,
            "values": {name: quantity.to_dict() for name, quantity in self.values.items()},
        }
        optional: dict[str, Any] = {
            "part": self.place.part,
            "hour": self.hour,
            "direction": self.direction,
            "detail": self.detail,
            "target": self.target.name if self.target else "",
        }
        if self.place.latitude is not None:
            optional["latitude"] = self.place.latitude
            optional["longitude"] = self.place.longitude
        return found | {key: what for key, what in optional.items() if what not in ("", None)}


def day_of(hour: int) -> int:
    """The day, counted from 1, that a lead time belongs to: 6 to 24 h are day 1."""
    return max(1, -(-hour // 24))


def compass(degrees: float) -> str:
    """The nearest of the eight points of a bearing, clockwise from north."""
    return COMPASS[round(degrees / 45.0) % 8]
