"""The tool `climatology`: what is usual, and how the forecast compares with it."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator

from zephyrus import ToolError, tool
from zephyrus_geodata import Climatology, Dataset, Forecast, Variable
from zephyrus_geodata.zonal import zonal_table
from zephyrus_tools import ranking, text
from zephyrus_tools.arguments import (
    OptionalHour,
    OptionalLatitude,
    OptionalLongitude,
    OptionalMonth,
    OptionalText,
    Text,
    percentile,
)
from zephyrus_tools.places import Place, Places, find_place
from zephyrus_tools.ranking import Order
from zephyrus_tools.times import month_of, step
from zephyrus_tools.variables import find_variable

Statistic = Literal["p5", "p10", "p25", "p50", "p75", "p90", "p95", "mean", "std"]
Comparison = Literal["above", "below", "departure"]


@tool
def climatology(
    variable: Text,
    dataset: Dataset,
    forecast: Forecast,
    feature: OptionalText = None,
    kind: OptionalText = None,
    parent: OptionalText = None,
    latitude: OptionalLatitude = None,
    longitude: OptionalLongitude = None,
    statistic: Annotated[Statistic | None, BeforeValidator(percentile)] = None,
    month: OptionalMonth = None,
    hour: OptionalHour = None,
    compare: Comparison | None = None,
    order: Order | None = None,
    limit: int | None = None,
) -> str:
    """Climatology of a month, or the forecast compared with it.

    A feature's percentile is the area mean of its cells'.

    Args:
        variable, feature, kind, parent, latitude, longitude: As in the tool `dataset`.
        dataset, forecast: The episode's.
        statistic: Of the month, the mean by default.
        month, hour: The month, 1 to 12; by default that of the valid time of the hour (a lead
            time), or of the initial time.
        compare: names above/below the statistic, or forecast minus it
        order, limit: Of a ranking; highest first and 10 rows by default. A limit also cuts the
            names above or below.
    """
    text.rows(limit, ranking.ROWS)
    usual = _climatology_of(dataset)
    what = find_variable(variable, forecast.variables, "forecast")
    find_variable(what.name, usual.variables, "climatology")
    place = find_place(dataset, feature, kind, parent, latitude, longitude)
    index = None if hour is None else step(forecast, hour)
    statistic = statistic or "mean"
    valid = month_of(forecast, month, index)
    moment = None
    if month is None and usual.days is not None:
        moment = forecast.init_time if index is None else forecast.valid_time(index)
    query = _Query(dataset, forecast, usual, what, statistic, valid, moment)
    if compare is None:
        if isinstance(place, Place) and order is not None:
            raise ToolError("order ranks the features of a kind: leave feature out, or order.")
        return _usual(query, place, order or "highest", limit)
    if statistic == "std":
        raise ToolError("'std' is a spread: compare with statistic 'mean' or a percentile.")
    if index is None:
        raise ToolError("compare needs hour, the lead time of the forecast that is compared.")
    if compare == "departure":
        if isinstance(place, Place) and order is not None:
            raise ToolError("order ranks the features of a kind: leave feature out, or order.")
        return _departure(query, place, index, order or "highest", limit)
    if order is not None:
        raise ToolError(f"compare={compare!r} lists names, farthest first: leave order out.")
    return _exceedance(query, place, index, compare, limit)


@dataclass(frozen=True)
class _Query:
    """What is asked for, whatever the place."""

    dataset: Dataset
    forecast: Forecast
    usual: Climatology
    variable: Variable
    statistic: Statistic
    month: int
    moment: np.datetime64 | None
    """The valid time, where the climatology has days of the year and no month was asked for."""

    @property
    def subject(self) -> str:
        return text.what(self.variable, self.forecast.label)

    @property
    def now(self) -> str:
        """The same, where it is the forecast that the values are of."""
        return text.what(self.variable, self.forecast.label, len(self.forecast.members))

    @property
    def usual_name(self) -> str:
        """The climatological statistic in words: "January p90", "2 January 12 UTC p90"."""
        if self.moment is None:
            return f"{text.MONTHS[self.month - 1]} {self.statistic}"
        window = self.usual.window(self.moment)
        hour = "" if window.hour is None else f" {window.hour:02} UTC"
        day = f"{window.day} {text.MONTHS[window.month - 1]}{hour}"
        return f"{day} (±{window.half} days) {self.statistic}"

    def value(self, x: float) -> str:
        return text.value(x, self.variable)

    def climate(self, where: Place | Places) -> NDArray[np.float64]:
        """The statistic of each place, (place,), SI units."""
        try:
            if self.moment is None:
                cells = self.usual.cells(self.variable.name, self.statistic, self.month)
            else:
                cells = self.usual.at(self.variable.name, self.statistic, self.moment)
        except ValueError as error:
            raise ToolError(str(error)) from error
        if isinstance(where, Place):
            zones = [where.zone]
        else:
            zones = [self.dataset.zones.zone(feature) for feature in where.features]
        return zonal_table(cells[:, None], zones)[:, 0]

    def at(self, where: Place | Places, index: int) -> NDArray[np.float64]:
        """The spatial mean forecast of each place at a lead time, (place,), SI units."""
        name = self.variable.name
        if isinstance(where, Place):
            series = where.series(self.dataset, self.forecast, name, "mean")
            return series[index : index + 1]
        return self.dataset.table(self.forecast, name, where.features, "mean")[:, index]


def _usual(query: _Query, where: Place | Places, order: Order, limit: int | None) -> str:
    values = query.climate(where)
    spread = query.statistic == "std"

    def write(i: int) -> str:
        return text.value(float(values[i]), query.variable, difference=spread)

    subject = f"{query.subject}, climatological {query.usual_name}"
    if isinstance(where, Place):
        return f"{subject}, {where.over('mean')}: {write(0)}{where.note()}"
    title = f"{subject}, mean over {where.label}"
    return ranking.table(query.dataset, title, where, values, order, limit, write)


def _departure(
    query: _Query, where: Place | Places, index: int, order: Order, limit: int | None
) -> str:
    now, usual = query.at(where, index), query.climate(where)
    departure = now - usual

    def write(i: int) -> str:
        return text.value(float(departure[i]), query.variable, difference=True)

    subject = f"{query.now}, forecast minus climatological {query.usual_name}"
    when = f"at {text.at(query.forecast, index)}"
    if isinstance(where, Place):
        return f"{subject}, {where.over('mean')}, {when}: {write(0)}{where.note()}"
    title = f"{subject}, mean over {where.label}, {when}"
    return ranking.table(query.dataset, title, where, departure, order, limit, write)


def _exceedance(
    query: _Query, where: Place | Places, index: int, compare: Comparison, limit: int | None
) -> str:
    now, usual = query.at(where, index), query.climate(where)
    excess = now - usual if compare == "above" else usual - now
    farthest = np.argsort(-excess, kind="stable")
    beyond = [int(i) for i in farthest if excess[i] > 0.0]  # NaN is not beyond
    when = f"at {text.at(query.forecast, index)}"
    if isinstance(where, Place):
        every, note = [where.name], where.note()
        head = f"{query.now}, {where.over('mean')}, {when}: {query.value(float(now[0]))}\n"
        head += f"{query.usual_name}: {query.value(float(usual[0]))}"
    else:
        every = [feature.name for feature in where.features]
        note = where.note(query.dataset, [where.features[i] for i in beyond])
        note += ranking.without_data(where, excess)
        head = f"{query.now}, mean over {where.label}, {when}, against {query.usual_name}"
        head += "; largest difference first" if len(beyond) > 1 else ""
    most = text.rows(limit, text.MOST_ROWS)
    shown = "; ".join(every[i] for i in beyond[:most]) or "none"
    cut = f" ({ranking.counted(most, len(beyond))})" if len(beyond) > most else ""
    of = f"{len(beyond)} of {len(every)} {compare} {query.statistic}{cut}"
    return f"{head}\n{of}: {shown}{note}"


def _climatology_of(dataset: Dataset) -> Climatology:
    if dataset.climatology is None:
        raise ToolError("this dataset has no climatology; use the tool dataset.")
    return dataset.climatology
