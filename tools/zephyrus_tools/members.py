"""Over the members of an ensemble: what is asked of them, and the query that answers it."""

import math
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from zephyrus import ToolError
from zephyrus_geodata import Forecast, Variable, ensemble
from zephyrus_geodata.names import normalise, quoted
from zephyrus_tools import text
from zephyrus_tools.places import Place, Places
from zephyrus_tools.query import Query
from zephyrus_tools.reduce import over_steps, pooled_median

Over = Literal["mean", "spread", "probability"]

_WORDS: dict[str, Over] = {
    "mean": "mean",
    "average": "mean",
    "ensemble mean": "mean",
    "ens mean": "mean",
    "spread": "spread",
    "ensemble spread": "spread",
    "std": "spread",
    "standard deviation": "spread",
    "probability": "probability",
}
_SHOWN_NAMES = 12
_NUMBER = re.compile(r"([-+−]?[0-9]{1,9}(?:\.[0-9]{1,9})?(?:e[-+]?[0-9]{1,2})?) ?(\D.{0,20})?")
_UNITS = {"c": "°c", "degc": "°c", "celsius": "°c", "percent": "%", "ms-1": "m/s", "m/sec": "m/s"}


@dataclass(frozen=True)
class Threshold:
    """A threshold that values lie strictly above, or below.

    Attributes:
        side: Which.
        shown: In display units.
    """

    side: Literal["above", "below"]
    shown: float

    def words(self, variable: Variable) -> str:
        """Say it: "above 30.00 °C"."""
        return f"{self.side} {text.number(self.shown)} {variable.display_units}"

    def share(
        self, values: NDArray[np.float64], variable: Variable, axis: int
    ) -> NDArray[np.float64]:
        """Return the share of the members beyond it, 0 to 1, of values in SI units."""
        limit = variable.from_display(self.shown)
        if self.side == "above":
            return ensemble.probability(values, above=limit, axis=axis)
        return ensemble.probability(values, below=limit, axis=axis)


@dataclass(frozen=True)
class MembersQuery(Query):
    """A query over all members: each one's value first, then their mean, spread or share.

    Attributes:
        over: What is taken over the members.
        threshold: Of a probability.
    """

    over: Over = "mean"
    threshold: Threshold | None = None
    _kept: dict[str, NDArray[np.float64]] = field(
        default_factory=dict, init=False, repr=False, compare=False
    )

    @property
    def subject(self) -> str:
        """The variable, where its values come from, and what is taken over the members."""
        members = f"{len(self.forecast.members)} members"
        what = text.what(self.variable, self.forecast.label)
        if self.threshold is not None:
            beyond = self.threshold.words(self.variable)
            return f"{what}, probability of being {beyond} (share of {members})"
        if self.over == "spread":
            return f"{what}, spread (sample standard deviation) of {members}"
        return f"{what}, mean of {members}"

    def value(self, x: float) -> str:
        """Write a value with its unit."""
        if self.threshold is not None:
            return text.percent(x)
        return text.value(x, self.variable, difference=self.over == "spread")

    def step_to_name(self, series: NDArray[np.float64]) -> int | None:
        """The step of an extreme, if its time is asked for: else each member has its own."""
        return super().step_to_name(series) if self.extreme else None

    def series(self, place: Place) -> NDArray[np.float64]:
        """Return what is taken over the members at each step of the window: (step,)."""
        return self._over_members(self._members(place), axis=0)

    def total(self, place: Place, series: NDArray[np.float64]) -> float:
        """Return what is taken over the members' numbers of the window."""
        if self.extreme:
            return float(over_steps(series[None], self.extreme)[0])
        if self.is_pooled_median:
            values = self._pooled_medians(place)
        else:
            values = self.over_time(self._members(place))
        return float(self._over_members(values, axis=0))

    def table(self, places: Places) -> NDArray[np.float64]:
        """Return ``series`` of each feature: (place, step)."""
        return self._over_members(self._member_table(places), axis=1)

    def totals(self, places: Places) -> tuple[NDArray[np.float64], NDArray[np.float64] | None]:
        """Return ``total`` of each feature, (place,), and ``table`` where its step is asked for."""
        if self.extreme:
            table = self.table(places)
            return over_steps(table, self.extreme), table
        if self.is_pooled_median:
            zones = [self.dataset.zones.zone(feature) for feature in places.features]
            there = [
                Place(f.name, f.name, zone, f)
                for f, zone in zip(places.features, zones, strict=True)
            ]
            values = np.stack([self._pooled_medians(place) for place in there])
        else:
            table = self._member_table(places)
            flat = self.over_time(table.reshape(-1, table.shape[-1]))
            values = flat.reshape(table.shape[:2])
        return self._over_members(values, axis=1), None

    def note(self, where: Place | Places) -> str:
        """A line where the order of the steps matters, or members lack data."""
        note = ""
        in_time = self.steps.count > 1 and self.time not in ("series", "time_of_max", "time_of_min")
        in_space = not (isinstance(where, Place) and where.is_point)
        linear = self.over == "mean" and self.statistic == "mean" and self.time in ("all", "mean")
        if (in_time or (in_space and self.statistic != "mean")) and not linear:
            note = "\n(Each member's own value is taken first, then this over the members.)"
        if isinstance(where, Place):
            table = self._members(where)[None]
        else:
            table = self._member_table(where)
        lost = np.isnan(table)
        if lost.any():
            # Where no member has data, a feature is off the grid: that is told elsewhere.
            lost &= ~lost.all(axis=1, keepdims=True)
        count = np.count_nonzero(lost.any(axis=(0, 2)))
        if count:
            whose = f"{count} of {len(self.forecast.members)} members"
            note += f"\n({whose} lack data somewhere in this, and are left out there.)"
        return note + self._tie(where)

    def _tie(self, where: Place | Places) -> str:
        """A line where a share, of which there are few, has its extreme at several steps."""
        if isinstance(where, Places) or self.threshold is None or not self.extreme:
            return ""
        series = self.series(where)
        ties = np.count_nonzero(series == over_steps(series[None], self.extreme)[0])
        return f"\n(The first of {ties} such steps of {series.size}.)" if ties > 1 else ""

    def _members(self, place: Place) -> NDArray[np.float64]:
        """(member, step)."""

        def read() -> NDArray[np.float64]:
            name = self.variable.name
            return place.member_series(self.dataset, self.forecast, name, self.statistic)

        return self._keep(place.label, read)[:, self.steps.span]

    def _member_table(self, places: Places) -> NDArray[np.float64]:
        """(place, member, step)."""

        def read() -> NDArray[np.float64]:
            name, features = self.variable.name, places.features
            return self.dataset.member_table(self.forecast, name, features, self.statistic)

        return self._keep(places.label, read)[:, :, self.steps.span]

    def _keep(self, label: str, read: Callable[[], NDArray[np.float64]]) -> NDArray[np.float64]:
        """Read once what an answer needs several times; a query is about one place or kind."""
        if label not in self._kept:
            self._kept[label] = read()
        return self._kept[label]

    def _pooled_medians(self, place: Place) -> NDArray[np.float64]:
        """(member,)."""
        fields = (
            self.forecast.cells(self.variable.name, index)[:, self.steps.span]
            for index in range(len(self.forecast.members))
        )
        return np.array([pooled_median(cells, place.zone) for cells in fields])

    def _over_members(self, values: NDArray[np.float64], axis: int) -> NDArray[np.float64]:
        if self.threshold is not None:
            return self.threshold.share(values, self.variable, axis)
        if self.over == "spread":
            return ensemble.spread(values, axis)
        return ensemble.average(values, axis)


def find_over(
    forecast: Forecast,
    variable: Variable,
    member: str | int | None,
    above: float | str | None,
    below: float | str | None,
) -> str | tuple[Over, Threshold | None]:
    """Return what the arguments of a call ask for: the name of one member, or what over all.

    Raises:
        ToolError: If the forecast is no ensemble, the arguments contradict each other, or there
            is no such member; the message says how to mend them.
    """
    if not forecast.members:
        raise ToolError(
            "this forecast is a single one without members: it has no spread, members or "
            "probabilities. Use the tool dataset."
        )
    asked = normalise(str(member)) if member is not None else ""
    asked = "" if asked in ("null", "none") else asked
    threshold = _threshold(variable, above, below)
    over = _WORDS.get(asked)
    if threshold is not None:
        if asked and over != "probability":
            raise ToolError(
                f"above and below ask for the share of all members: leave member={quoted(str(member))} "
                "out, or the threshold."
            )
        return "probability", threshold
    if over == "probability":
        raise ToolError(
            f"a probability needs a threshold: give above or below, in {variable.display_units}."
        )
    if over == "spread" and len(forecast.members) == 1:
        raise ToolError("this ensemble has one member, of which there is no spread.")
    if over is None and asked:
        return _member(forecast, str(member), asked)
    return over or "mean", None


def _member(forecast: Forecast, written: str, asked: str) -> str:
    by_text = {normalise(name): name for name in forecast.members}
    by_number = {str(int(text)): name for text, name in by_text.items() if text.isdecimal()}
    if "control" in by_text:
        by_number.setdefault("0", by_text["control"])  # ECMWF counts the control as member 0
    short = re.sub(r"^(?:ensemble )?(?:member|number|no|realization)\b ?", "", asked)
    short = re.sub(r"(?: member| run)$", "", short)
    number = str(int(short)) if short.isdecimal() and len(short) < 10 else short
    found = by_text.get(asked) or by_text.get(short) or by_number.get(number)
    if found is not None:
        return found
    raise ToolError(
        f"there is no member {quoted(written)}; give mean, spread, or one of the "
        f"{len(forecast.members)} members: {_names(forecast.members)}."
    )


def _names(names: tuple[str, ...]) -> str:
    if len(names) <= _SHOWN_NAMES:
        return text.names(names)
    return f"{text.names(names[:3])}, …, {names[-1]}"


def _threshold(
    variable: Variable, above: float | str | None, below: float | str | None
) -> Threshold | None:
    upper, lower = _given(above), _given(below)
    if upper is not None and lower is not None:
        raise ToolError("give either above or below, one threshold to a call.")
    if upper is not None:
        return Threshold("above", _number(upper, "above", variable))
    if lower is not None:
        return Threshold("below", _number(lower, "below", variable))
    return None


def _given(x: float | str | None) -> float | str | None:
    return None if isinstance(x, str) and normalise(x) in ("", "null", "none") else x


def _number(x: float | str, argument: str, variable: Variable) -> float:
    """Read a threshold: a number, or one with the unit that values are shown in."""
    found = _NUMBER.fullmatch(x.strip()) if isinstance(x, str) else None
    if found is not None:
        units = re.sub(r"\s", "", found[2] or "").lower()
        if units and _UNITS.get(units, units) != variable.display_units.lower():
            raise ToolError(
                f"{argument} is in {variable.display_units} for {variable.name}, not in "
                f"{quoted(found[2].strip())}: convert it."
            )
        x = found[1].replace("−", "-")
    try:
        value = float(x)
    except ValueError:
        value = math.nan
    if not math.isfinite(value) or abs(value) > 1e9:
        raise ToolError(
            f"{argument} is a number in {variable.display_units}, not {quoted(str(x))}."
        )
    return value
