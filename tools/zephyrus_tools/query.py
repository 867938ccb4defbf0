"""What a call asks of the forecast, and the answer's text: shared by `dataset` and `ensemble`."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator

from zephyrus import ToolError
from zephyrus_geodata import Dataset, Forecast, Variable
from zephyrus_geodata.zonal import Stat
from zephyrus_tools import ranking, text
from zephyrus_tools.arguments import no_sum
from zephyrus_tools.places import Place, Places
from zephyrus_tools.ranking import Order
from zephyrus_tools.reduce import Extreme, over_steps, pooled_median, step_of_extreme
from zephyrus_tools.times import Steps, steps

Time = Literal["all", "series", "mean", "min", "max", "time_of_max", "time_of_min"]

OverSpace = Annotated[Stat | None, BeforeValidator(no_sum)]
"""The argument that says what is taken over space; the mean if left out."""

OverTime = Annotated[Time | None, BeforeValidator(no_sum)]
"""The argument that says what is taken over time."""


@dataclass(frozen=True)
class Query:
    """What is asked for, whatever the place.

    Attributes:
        dataset: Where the features and their cells are known.
        forecast: Of an ensemble its mean field is meant, unless a member is named.
        variable: What.
        statistic: Over space.
        time: Over time.
        steps: The window.
        member: One member of an ensemble, by name.
    """

    dataset: Dataset
    forecast: Forecast
    variable: Variable
    statistic: Stat
    time: Time
    steps: Steps
    member: str | None = None

    @property
    def extreme(self) -> Extreme | None:
        """Which extreme's time is asked for, if any."""
        if self.time == "time_of_max":
            return "max"
        return "min" if self.time == "time_of_min" else None

    @property
    def subject(self) -> str:
        """The variable and where its values come from."""
        label = self.forecast.label
        if self.member is not None:
            return f"{text.what(self.variable, label)}, member {self.member}"
        return text.what(self.variable, label, len(self.forecast.members))

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

    @property
    def is_pooled_median(self) -> bool:
        """Whether the median over space and time together is asked for."""
        return self.time == "all" and self.statistic == "median" and self.steps.count > 1

    def value(self, x: float) -> str:
        """Write a value with its unit."""
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

    def step_to_name(self, series: NDArray[np.float64]) -> int | None:
        """The step at which an extreme over time is, where one is asked for."""
        extreme: Extreme | None = self.extreme
        of_time = self.statistic if self.time == "all" else self.time
        if of_time in ("min", "max"):
            extreme = "min" if of_time == "min" else "max"
        if extreme is None or np.isnan(series).all():
            return None
        return step_of_extreme(series, extreme)

    def series(self, place: Place) -> NDArray[np.float64]:
        """Return the statistic over space at each step of the window: (step,)."""
        series = place.series(
            self.dataset, self.forecast, self.variable.name, self.statistic, self.member
        )
        return series[self.steps.span]

    def total(self, place: Place, series: NDArray[np.float64]) -> float:
        """Return the one number of the window; ``series`` is the place's."""
        if self.is_pooled_median:
            cells = self.forecast.cells(self.variable.name, self.member)[:, self.steps.span]
            return pooled_median(cells, place.zone)
        return float(self.over_time(series[None])[0])

    def table(self, places: Places) -> NDArray[np.float64]:
        """Return ``series`` of each feature: (place, step)."""
        name, features = self.variable.name, places.features
        if self.member is None:
            table = self.dataset.table(self.forecast, name, features, self.statistic)
        else:
            member = self.member
            table = self.dataset.member_table(self.forecast, name, features, self.statistic, member)
            table = table[:, 0]
        return table[:, self.steps.span]

    def totals(self, places: Places) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return the one number of each feature, (place,), and ``table`` where its step is asked for."""
        if self.is_pooled_median:
            cells = self.forecast.cells(self.variable.name, self.member)[:, self.steps.span]
            zones = [self.dataset.zones.zone(feature) for feature in places.features]
            return np.array([pooled_median(cells, zone) for zone in zones]), None
        table = self.table(places)
        return self.over_time(table), table if self.extreme else None

    def note(self, where: Place | Places) -> str:
        """A line about how the numbers came about, or nothing."""
        return ""


def window_of(
    forecast: Forecast, time: Time, hour: int | None, start: int | None, end: int | None
) -> Steps:
    """Return the window of a call.

    Raises:
        ToolError: As `times.steps`, or if something over time is asked of one lead time.
    """
    if hour is not None and time != "all":
        raise ToolError(
            f"time={time!r} needs several steps, and hour is one: leave time out, or give "
            "start and end."
        )
    return steps(forecast, hour, start, end)


def answer(query: Query, place: Place | Places, order: Order | None, limit: int | None) -> str:
    """Write the answer: one line, a series, or a ranked table.

    Raises:
        ToolError: If ``order`` or ``limit`` do not go with the place.
    """
    if isinstance(place, Places):
        return _ranking(query, place, order or "highest", limit)
    if order is not None:
        raise ToolError("order ranks the features of a kind: leave feature out, or order.")
    return _one(query, place, limit)


def _one(query: Query, place: Place, limit: int | None) -> str:
    most = text.rows(limit, text.MOST_ROWS)
    series = query.series(place)
    head = f"{query.subject}, {place.over(query.statistic)}"
    note = query.note(place) + place.note() + _missing(series)
    if query.time == "series":
        return _series(query, head, series, most) + note
    step = query.step_to_name(series)
    result = query.total(place, series)
    if query.extreme:
        return f"{head}, {query.when}: {query.extreme_of(result, step or 0)}{note}"
    reached = ""
    if step is not None and query.steps.count > 1:
        reached = f", reached at {query.forecast.lead_hours[query.steps.first + step]} h"
    return f"{head}, {query.when}{reached}: {query.value(result)}{note}"


def _series(query: Query, head: str, series: NDArray[np.float64], most: int) -> str:
    labels = text.steps(query.forecast)[query.steps.span]
    values = series[:most].tolist()
    lines = [f"{label}: {query.value(x)}" for label, x in zip(labels, values, strict=False)]
    cut = ""
    if len(lines) < series.size:
        cut = f" ({len(lines)} of {series.size} steps shown; give start and end)"
    return "\n".join([f"{head}, {query.steps.text}{cut}:", *lines])


def _ranking(query: Query, places: Places, order: Order, limit: int | None) -> str:
    if query.time == "series":
        raise ToolError(
            f"time='series' takes one feature or point, and {places.label} is "
            f"{len(places.features)}: give feature, or another time."
        )
    values, by_step = query.totals(places)

    def write(i: int) -> str:
        x = float(values[i])
        if by_step is None or query.extreme is None:
            return query.value(x)
        return query.extreme_of(x, step_of_extreme(by_step[i], query.extreme))

    title = f"{query.subject}, {query.statistic} over {places.label}, {query.when}"
    table = ranking.table(query.dataset, title, places, values, order, limit, write)
    return table + query.note(places)


def _missing(series: NDArray[np.float64]) -> str:
    lost = int(np.isnan(series).sum())
    if not 0 < lost < series.size:
        return ""
    return f"\n({lost} of {series.size} steps have no data and are left out.)"
