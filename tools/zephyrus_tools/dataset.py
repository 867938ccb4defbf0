"""The tool `dataset`: what the forecast says somewhere, at a time or over a window."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator

from zephyrus import ToolError, tool
from zephyrus_geodata import Dataset, Forecast, Variable
from zephyrus_geodata.zonal import Stat
from zephyrus_tools import ranking, text
from zephyrus_tools.arguments import (
    OptionalHour,
    OptionalLatitude,
    OptionalLongitude,
    OptionalText,
    Text,
    no_sum,
)
from zephyrus_tools.places import Place, Places, find_place
from zephyrus_tools.ranking import Order
from zephyrus_tools.reduce import Extreme, over_steps, pooled_median, step_of_extreme
from zephyrus_tools.times import Steps, steps
from zephyrus_tools.variables import find_variable

Time = Literal["all", "series", "mean", "min", "max", "time_of_max", "time_of_min"]


@tool
def dataset(
    variable: Text,
    dataset: Dataset,
    forecast: Forecast,
    feature: OptionalText = None,
    kind: OptionalText = None,
    parent: OptionalText = None,
    latitude: OptionalLatitude = None,
    longitude: OptionalLongitude = None,
    statistic: Annotated[Stat | None, BeforeValidator(no_sum)] = None,
    time: Annotated[Time | None, BeforeValidator(no_sum)] = None,
    hour: OptionalHour = None,
    start: OptionalHour = None,
    end: OptionalHour = None,
    order: Order | None = None,
    limit: int | None = None,
) -> str:
    """Forecast over a feature or point, or ranked over all features of a kind.

    Args:
        variable: 2m_temperature, 10m_wind_speed, 10m_u/v_component_of_wind,
            mean_sea_level_pressure, total_precipitation_6hr, total_cloud_cover;
            geopotential, temperature, u/v_component_of_wind _500 or _850
        dataset, forecast: The episode's.
        feature, kind, latitude, longitude: Where; a kind alone means all its features, and a
            point the nearest grid cell.
        parent: limits kind
        statistic: over space
        time: all: over space and time; else over time of the statistic
        hour: lead time
        start, end: First and last lead time of a window.
        order, limit: Of a ranking; highest first and 10 rows by default. A limit also cuts a
            series.
    """
    what = find_variable(variable, forecast.variables, "forecast")
    place = find_place(dataset, feature, kind, parent, latitude, longitude)
    statistic, time = statistic or "mean", time or "all"
    if hour is not None and time != "all":
        raise ToolError(
            f"time={time!r} needs several steps, and hour is one: leave time out, or give "
            "start and end."
        )
    query = _Query(dataset, forecast, what, statistic, time, steps(forecast, hour, start, end))
    if isinstance(place, Places):
        return _ranking(query, place, order or "highest", limit)
    if order is not None:
        raise ToolError("order ranks the features of a kind: leave feature out, or order.")
    return _one(query, place, limit)


@dataclass(frozen=True)
class _Query:
    """What is asked for, whatever the place."""

    dataset: Dataset
    forecast: Forecast
    variable: Variable
    statistic: Stat
    time: Time
    steps: Steps

    @property
    def extreme(self) -> Extreme | None:
        """Which extreme's time is asked for, if any."""
        if self.time == "time_of_max":
            return "max"
        return "min" if self.time == "time_of_min" else None

    @property
    def subject(self) -> str:
        return text.what(self.variable, self.forecast.label)

    @property
    def when(self) -> str:
        """The window and what is taken over it, in words."""
        window = self.steps.text
        if self.steps.count == 1:
            return f"at {window}"
        amount = text.amount(self.variable)
        if self.time in ("mean", "min", "max"):
            return f"{self.time}{amount} of the steps {window}"
        if self.time == "all":
            return (
                f"{self.statistic}{amount} of all steps {window}"
                if amount
                else f"all steps {window}"
            )
        return window

    def value(self, x: float) -> str:
        return text.value(x, self.variable)

    def extreme_of(self, x: float, step: int) -> str:
        """The value and time of an extreme: "maximum 27.42 °C at 132 h (valid …)"."""
        if np.isnan(x):
            return "no data"
        when = text.at(self.forecast, self.steps.first + step)
        return f"{self.extreme}imum {self.value(x)} at {when}"

    def over_time(self, series: NDArray[np.float64]) -> NDArray[np.float64]:
        """Reduce (place, step) to (place,), for every time but "series" and a pooled median."""
        if self.steps.count == 1:
            return series[:, 0]
        if self.time in ("mean", "min", "max"):
            stat: Stat = "min" if self.time == "min" else "max" if self.time == "max" else "mean"
        else:
            stat = self.extreme or self.statistic
        return over_steps(series, stat)

    @property
    def is_pooled_median(self) -> bool:
        return self.time == "all" and self.statistic == "median" and self.steps.count > 1


def _one(query: _Query, place: Place, limit: int | None) -> str:
    most = text.rows(limit, text.MOST_ROWS)
    series = place.series(query.dataset, query.forecast, query.variable.name, query.statistic)
    series = series[query.steps.span]
    head = f"{query.subject}, {place.over(query.statistic)}"
    note = place.note() + _missing(series)
    if query.time == "series":
        return _series(query, head, series, most) + note
    step = _step_to_name(query, series)
    if query.is_pooled_median:
        cells = query.forecast.cells(query.variable.name)[:, query.steps.span]
        result = pooled_median(cells, place.zone)
    else:
        result = float(query.over_time(series[None])[0])
    if query.extreme:
        return f"{head}, {query.when}: {query.extreme_of(result, step or 0)}{note}"
    reached = ""
    if step is not None and query.steps.count > 1:
        reached = f", reached at {query.forecast.lead_hours[query.steps.first + step]} h"
    return f"{head}, {query.when}{reached}: {query.value(result)}{note}"


def _step_to_name(query: _Query, series: NDArray[np.float64]) -> int | None:
    """The step at which an extreme over time is, where one is asked for."""
    extreme: Extreme | None = query.extreme
    of_time = query.statistic if query.time == "all" else query.time
    if of_time in ("min", "max"):
        extreme = "min" if of_time == "min" else "max"
    if extreme is None or np.isnan(series).all():
        return None
    return int(step_of_extreme(series[None], extreme)[0])


def _series(query: _Query, head: str, series: NDArray[np.float64], most: int) -> str:
    forecast, first = query.forecast, query.steps.first
    lines = [
        f"{forecast.lead_hours[first + i]} h "
        f"({text.short_instant(forecast.valid_time(first + i))}): {query.value(float(x))}"
        for i, x in enumerate(series[:most])
    ]
    cut = ""
    if len(lines) < series.size:
        cut = f" ({len(lines)} of {series.size} steps shown; give start and end)"
    return "\n".join([f"{head}, {query.steps.text}{cut}:", *lines])


def _ranking(query: _Query, places: Places, order: Order, limit: int | None) -> str:
    if query.time == "series":
        raise ToolError(
            f"time='series' takes one feature or point, and {places.label} is "
            f"{len(places.features)}: give feature, or another time."
        )
    series = query.dataset.table(
        query.forecast, query.variable.name, places.features, query.statistic
    )[:, query.steps.span]
    if query.is_pooled_median:
        cells = query.forecast.cells(query.variable.name)[:, query.steps.span]
        zones = [query.dataset.zones.zone(feature) for feature in places.features]
        values = np.array([pooled_median(cells, zone) for zone in zones])
    else:
        values = query.over_time(series)
    times = step_of_extreme(series, query.extreme) if query.extreme else None

    def write(i: int) -> str:
        x = float(values[i])
        return query.value(x) if times is None else query.extreme_of(x, int(times[i]))

    title = f"{query.subject}, {query.statistic} over {places.label}, {query.when}"
    return ranking.table(query.dataset, title, places, values, order, limit, write)


def _missing(series: NDArray[np.float64]) -> str:
    lost = int(np.isnan(series).sum())
    if not 0 < lost < series.size:
        return ""
    return f"\n({lost} of {series.size} steps have no data and are left out.)"
