"""The tool `climatology`: what is usual, and how the forecast compares with it."""

from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import BeforeValidator

from zephyrus import ToolError, tool
from zephyrus_geodata import Climatology, Dataset, Feature, Forecast, Variable
from zephyrus_geodata.zonal import zonal_share, zonal_statistic
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
Side = Literal["above", "below"]
Comparison = Literal["above", "below", "departure", "area_above", "area_below"]
_AREAS: dict[Comparison, Side] = {"area_above": "above", "area_below": "below"}


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
    """Climatology of a month, or the forecast against it.

    A feature's percentile is its cells' area mean.

    Args:
        variable, feature, kind, parent, latitude, longitude: As in the tool `dataset`.
        dataset, forecast: The episode's.
        statistic: mean by default
        month, hour: The month, 1 to 12; by default that of the valid time of the hour (a lead
            time), or of the initial time.
        compare: names above/below the statistic, forecast minus it, or % of area with cells
            beyond it
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
    if compare == "above" or compare == "below":
        if order is not None:
            raise ToolError(f"compare={compare!r} lists names, farthest first: leave order out.")
        return _names_beyond(query, place, index, compare, limit)
    if isinstance(place, Place) and order is not None:
        raise ToolError("order ranks the features of a kind: leave feature out, or order.")
    if compare == "departure":
        return _departure(query, place, index, order or "highest", limit)
    return _area_beyond(query, place, index, _AREAS[compare], order or "highest", limit)


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

    @property
    def when(self) -> int | np.datetime64:
        """What the climatology is taken of."""
        return self.month if self.moment is None else self.moment

    def cells(self) -> NDArray[np.float32]:
        """The statistic of each cell, (cell,), SI units.

        Raises:
            ToolError: If the climatology lacks the statistic.
        """
        name, when = self.variable.name, self.when
        try:
            if isinstance(when, int):
                return self.usual.cells(name, self.statistic, when)
            return self.usual.at(name, self.statistic, when)
        except ValueError as error:
            raise ToolError(str(error)) from error

    def climate(self, where: Place | Places) -> NDArray[np.float64]:
        """The statistic of each place, (place,), SI units.

        Raises:
            ToolError: If the climatology lacks the statistic.
        """
        if isinstance(where, Place) and where.feature is None:
            if where.is_point:
                value: NDArray[np.float64] = self.cells()[where.zone.cells].astype(np.float64)
                return value
            return zonal_statistic(self.cells()[:, None], where.zone)
        name, statistic = self.variable.name, self.statistic
        try:
            return self.dataset.climate_table(name, statistic, self.when, _features(where))
        except ValueError as error:
            raise ToolError(str(error)) from error

    def at(self, where: Place | Places, index: int) -> NDArray[np.float64]:
        """The spatial mean forecast of each place at a lead time, (place,), SI units."""
        name = self.variable.name
        if isinstance(where, Place):
            series = where.series(self.dataset, self.forecast, name, "mean")
            return series[index : index + 1]
        return self.dataset.table(self.forecast, name, where.features, "mean")[:, index]

    def share(self, where: Place | Places, index: int, side: Side) -> NDArray[np.float64]:
        """The share of each place's area whose cells lie beyond the statistic, (place,), 0 to 1.

        Raises:
            ToolError: If the climatology lacks the statistic.
        """
        name, statistic, above = self.variable.name, self.statistic, side == "above"
        features = _features(where)
        if features and (self.moment is not None or self.usual.days is None):
            try:
                shares = self.dataset.exceedance(
                    self.forecast, name, statistic, features, above=above
                )
            except ValueError as error:
                raise ToolError(str(error)) from error
            return shares[:, index]
        # A month that was asked for by number, or a place that is no feature.
        now = self.forecast.cells(name)[:, index : index + 1]
        zones = [where.zone] if isinstance(where, Place) else self.dataset.zones.zones(features)
        return zonal_share(now, self.cells(), zones, above=above)[:, 0]


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


def _area_beyond(
    query: _Query,
    where: Place | Places,
    index: int,
    side: Side,
    order: Order,
    limit: int | None,
) -> str:
    shares = query.share(where, index, side)

    def write(i: int) -> str:
        return text.percent(float(shares[i]))

    subject = f"{query.now}, share of the area {side} climatological {query.usual_name}"
    when = f"at {text.at(query.forecast, index)}"
    if isinstance(where, Place):
        return f"{subject}, {where.over('')}, {when}: {write(0)}{where.note()}"
    title = f"{subject}, over {where.label}, {when}"
    return ranking.table(query.dataset, title, where, shares, order, limit, write)


def _names_beyond(
    query: _Query, where: Place | Places, index: int, side: Side, limit: int | None
) -> str:
    now, usual = query.at(where, index), query.climate(where)
    excess = now - usual if side == "above" else usual - now
    farthest = np.argsort(-excess, kind="stable")
    beyond = farthest[: np.count_nonzero(excess > 0.0)].tolist()  # NaN is not beyond
    when = f"at {text.at(query.forecast, index)}"
    most = text.rows(limit, text.MOST_ROWS)
    if isinstance(where, Place):
        every, note = 1, where.note()
        shown = [where.name] if beyond else []
        head = f"{query.now}, {where.over('mean')}, {when}: {query.value(float(now[0]))}\n"
        head += f"{query.usual_name}: {query.value(float(usual[0]))}"
    else:
        every = len(where.features)
        shown = [where.features[i].name for i in beyond[:most]]
        note = where.note(query.dataset, beyond)
        note += ranking.without_data(where, excess)
        head = f"{query.now}, mean over {where.label}, {when}, against {query.usual_name}"
        head += "; largest difference first" if len(beyond) > 1 else ""
    cut = f" ({ranking.counted(most, len(beyond))})" if len(beyond) > most else ""
    of = f"{len(beyond)} of {every} {side} {query.statistic}{cut}"
    return f"{head}\n{of}: {'; '.join(shown) or 'none'}{note}"


def _features(where: Place | Places) -> list[Feature]:
    """The features of a place; none of a point or the world."""
    if isinstance(where, Places):
        return where.features
    return [] if where.feature is None else [where.feature]


def _climatology_of(dataset: Dataset) -> Climatology:
    if dataset.climatology is None:
        raise ToolError("this dataset has no climatology; use the tool dataset.")
    return dataset.climatology
