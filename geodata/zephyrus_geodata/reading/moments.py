"""When the data of a field are: runs (initial x lead times), a series, days of the year, or never.

A time axis means different things to different archives: WeatherBench calls the initial time
``time`` beside ``prediction_timedelta``, CF calls the valid time so beside
``forecast_reference_time``. What else is there decides.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading import times
from zephyrus_geodata.reading.remarks import Remarks
from zephyrus_geodata.reading.roles import Role
from zephyrus_geodata.reading.understood import Answers

if TYPE_CHECKING:
    import xarray as xr

_INIT_ATTRS = ("forecast_reference_time", "init_time", "initial_time", "initialization_time",
               "reference_time", "base_time", "SIMULATION_START_DATE", "analysis_time")  # fmt: skip

_MONTH_STARTS = np.array([1, 32, 61, 92, 122, 153, 183, 214, 245, 275, 306, 336])
"""Days of a leap year, 1 to 366, on which the months start."""


@dataclass(frozen=True, eq=False)
class Moments:
    """When the parts of a field are, and along which of its dimensions.

    Attributes:
        kind: runs (initial and lead times), series (valid times), climatology.
        inits: (n,) initial times, or the valid times of a series.
        init_dim: their dimension; None if there is one, without a dimension.
        leads: (m,) seconds after the initial time; (n,) where ``paired``; [0] in a series.
        lead_dim: their dimension or None.
        paired: whether inits and leads go along together, in ``init_dim``.
        windows: hours from the initial (series: valid) time at which an interval starts and
            ends: (m, 2), (n, 2) where paired or a series; None if unknown.
        days: (day,) days of the year of a climatology.
        hours: (hour,) hours of the day.
    """

    kind: Literal["runs", "series", "climatology"]
    inits: NDArray[np.datetime64]
    init_dim: str | None
    leads: NDArray[np.int64] = field(default_factory=lambda: np.zeros(1, np.int64))
    lead_dim: str | None = None
    paired: bool = False
    windows: NDArray[np.float64] | None = None
    days: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))
    hours: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, np.int64))


@dataclass(frozen=True, eq=False)
class _Axis:
    name: str
    dims: tuple[str, ...]
    values: NDArray[Any]


class Clock:
    """Finds the moments of the fields of one cube; every coordinate is decoded once."""

    def __init__(
        self,
        cube: "xr.Dataset",
        roles: Mapping[str, Role],
        answers: Answers,
        remarks: Remarks,
    ) -> None:
        self._cube = cube
        self._roles = roles
        self._answers = answers
        self._remarks = remarks
        self._decoded: dict[str, _Axis] = {}
        self._found: dict[tuple[Any, ...], Moments | None] = {}

    def find(self, name: str) -> Moments | None:
        """Return the moments of a field, or None if it doesn't vary in time.

        Raises:
            UnsuitableData: if they can't be told.
        """
        var = self._cube.variables[name]
        near = tuple(sorted(n for n, r in self._roles.items() if self._is_near(n, r, var)))
        key = (near, var.dims)
        if key not in self._found:
            self._found[key] = self._find(near)
        return self._found[key]

    def _is_near(self, name: str, role: Role, var: "xr.Variable") -> bool:
        if role not in ("init", "lead", "time", "valid", "day", "month", "hour"):
            return False
        if name not in self._cube.variables:
            return False
        dims = self._cube.variables[name].dims
        if not set(dims) <= set(var.dims):
            return False
        named = str(var.attrs.get("coordinates", "")).split()
        alone = sum(r == role for r in self._roles.values()) == 1
        return bool(dims) or alone or not named or name in named

    def _find(self, near: tuple[str, ...]) -> Moments | None:
        day = self._best(near, "day") or self._best(near, "month")
        if day is not None and day.dims:
            return self._climatology(day, self._best(near, "hour"))
        lead = self._best(near, "lead")
        init = self._best(near, "init")
        clock = self._all(near, "valid") + self._all(near, "time")
        if lead is not None:
            if init is None:
                init, clock = _take_init([a for a in clock if not self._is_valid(a, lead)], lead)
                clock = self._all(near, "valid") + self._all(near, "time")
            if lead.values.ndim > 1:
                raise UnsuitableData(f"The lead times {lead.name} have two dimensions.")
            if init is None:
                init = self._init_from_valid(clock, lead) or self._init_from_attrs(lead.name, clock)
            self._check_valid(init, lead, self._all(near, "valid"))
            return self._runs(init, lead)
        if init is not None:
            return self._runs_from_valid(init, clock)
        return self._series(clock)

    def _is_valid(self, axis: _Axis, lead: _Axis) -> bool:
        """Say whether CF's names make a time the valid one.

        A ``forecast_period`` is counted from the ``forecast_reference_time`` to the ``time``.
        """
        attrs = self._cube.variables[axis.name].attrs
        long = str(attrs.get("long_name", "")).lower()
        return long.startswith(("valid", "time of validity", "forecast valid")) or (
            str(attrs.get("standard_name", "")) == "time"
            and str(self._cube.variables[lead.name].attrs.get("standard_name", ""))
            == "forecast_period"
            and not any(word in long for word in ("init", "reference", "analysis", "run", "start"))
        )

    def _all(self, near: tuple[str, ...], role: Role) -> list[_Axis]:
        found = [self._axis(name) for name in near if self._roles[name] == role]
        # The coordinate of a dimension first, then what hangs on one, then scalars.
        return sorted(found, key=lambda a: (a.dims != (a.name,), -len(a.dims), a.name))

    def _best(self, near: tuple[str, ...], role: Role) -> _Axis | None:
        return next(iter(self._all(near, role)), None)

    def _axis(self, name: str) -> _Axis:
        if name not in self._decoded:
            var = self._cube.variables[name]
            values, dims = np.asarray(var.values), tuple(str(d) for d in var.dims)
            role = self._roles[name]
            if role == "lead":
                values = times.durations(values, var.attrs, name, self._remarks, self._answers)
            elif role in ("init", "time", "valid"):
                values = times.moments(values, var.attrs, name, self._answers, self._remarks)
            self._decoded[name] = _Axis(name, dims, values)
        return self._decoded[name]

    def _runs(self, init: _Axis, lead: _Axis) -> Moments:
        inits, leads = init.values.reshape(-1), lead.values.reshape(-1)
        init_dim = init.dims[0] if init.dims else None
        lead_dim = lead.dims[0] if lead.dims else None
        paired = init_dim is not None and init_dim == lead_dim
        for axis, numbers in ((init, inits), (lead, leads)):
            numbers = numbers[~np.isnat(numbers)] if axis is init else numbers
            if not paired and numbers.size > np.unique(numbers).size:
                raise UnsuitableData(f"The times {axis.name} have one of them more than once.")
        return Moments(
            "runs", inits, init_dim, leads, None if paired else lead_dim, paired,
            self._windows(lead.name, leads / 3600.0, lead.name),
        )  # fmt: skip

    def _check_valid(self, init: _Axis, lead: _Axis, valid: list[_Axis]) -> None:
        """Refuse valid times that are not those of the initial and lead times.

        Raises:
            UnsuitableData: if they differ.
        """
        for axis in valid:
            if init.dims == lead.dims:
                if axis.dims != init.dims:
                    continue
                made = init.values + lead.values.astype("timedelta64[s]")
            else:
                made = np.add.outer(init.values, lead.values.astype("timedelta64[s]"))
                dims = (*init.dims, *lead.dims)
                if set(axis.dims) != set(dims):
                    continue
                made = np.transpose(made, [dims.index(d) for d in axis.dims])
            # Parts of a store that were never written are moments before all runs.
            known = ~np.isnat(made) & (axis.values >= init.values.min())
            if (axis.values != made)[known].any():
                raise UnsuitableData(
                    f"The valid times {axis.name} are not the initial times {init.name} plus the "
                    f"lead times {lead.name}; take out the one that is wrong."
                )

    def _init_from_valid(self, clock: list[_Axis], lead: _Axis) -> _Axis | None:
        for valid in clock:
            if valid.dims == lead.dims or not lead.dims:
                inits = valid.values - lead.values.astype("timedelta64[s]")
                if inits.ndim and (inits == inits[0]).all():
                    return _Axis(valid.name, (), inits[0])
                return _Axis(valid.name, valid.dims, inits)
            if lead.dims and len(valid.dims) == 2 and lead.dims[0] in valid.dims:
                at = valid.dims.index(lead.dims[0])
                table = np.moveaxis(valid.values, at, 1)
                inits = table - lead.values.astype("timedelta64[s]")
                if (inits == inits[:, :1]).all():
                    return _Axis(valid.name, (valid.dims[1 - at],), inits[:, 0])
        return None

    def _init_from_attrs(self, about: str, clock: list[_Axis]) -> _Axis:
        init = self._attr_init()
        dims = self._cube.variables[about].dims
        valid = next((a for a in clock if a.dims and a.dims != dims), None)
        if valid is not None:
            raise UnsuitableData(
                f"The lead times {about} and the valid times {valid.name} both are dimensions; "
                f"give the initial times a dimension instead (if {valid.name} are the initial "
                "times, give them the standard_name forecast_reference_time)."
            )
        if init is None:
            raise UnsuitableData(
                f"There are lead times ({about}) but no initial time; add a scalar coordinate "
                "forecast_reference_time, or an attribute init_time such as 2020-01-01T00."
            )
        return init

    def _attr_init(self) -> _Axis | None:
        for key in _INIT_ATTRS:
            if isinstance(text := self._cube.attrs.get(key), str):
                try:
                    value = times.parse_moment(text, key)
                except UnsuitableData:
                    continue
                self._remarks.note(f"The initial time {value} is from the attribute {key}.")
                return _Axis(key, (), np.asarray(value))
        return None

    def _runs_from_valid(self, init: _Axis, clock: list[_Axis]) -> Moments:
        """Work lead times out from initial and valid times."""
        valid = next((v for v in clock if v.dims), None) or next(iter(clock), None)
        if valid is None or (valid.dims == () and init.dims):
            self._remarks.note(f"The times {init.name} have no lead times: read as analyses.")
            return Moments("series", init.values.reshape(-1), _only(init.dims))
        if len(valid.dims) == 2 and init.dims and init.dims[0] in valid.dims:
            at = valid.dims.index(init.dims[0])
            table = np.moveaxis(valid.values, at, 0) - init.values[:, None]
            if (table != table[:1]).any():
                raise UnsuitableData(
                    f"The valid times {valid.name} are at other lead times in every run; give "
                    "the lead times a dimension of their own."
                )
            lead = _Axis(valid.name, (valid.dims[1 - at],), table[0])
        elif init.dims in ((), valid.dims):
            lead = _Axis(valid.name, valid.dims, valid.values - init.values)
        else:
            raise UnsuitableData(
                f"The initial times {init.name} and the valid times {valid.name} both are "
                "dimensions; give the lead times a dimension instead of the valid times."
            )
        seconds = lead.values.astype("timedelta64[s]").astype(np.int64)
        found = self._runs(init, _Axis(lead.name, lead.dims, seconds))
        if found.paired or not init.dims:
            first = init.values if not init.dims else init.values.reshape(-1)
            windows = self._valid_windows(valid.name, first)
            return Moments(
                found.kind, found.inits, found.init_dim, found.leads, found.lead_dim,
                found.paired, windows,
            )  # fmt: skip
        return found

    def _series(self, clock: list[_Axis]) -> Moments | None:
        valid = next((v for v in clock if len(v.dims) == 1), None) or next(iter(clock), None)
        if valid is None:
            return None
        if valid.values.ndim > 1:
            raise UnsuitableData(f"The times {valid.name} have two dimensions and no lead times.")
        values, dim = valid.values.reshape(-1), _only(valid.dims)
        init = None if self._answers.kind == "analyses" else self._attr_init()
        if init is None and self._answers.kind == "forecast":
            init = _Axis(valid.name, (), values.min())
            self._remarks.note(f"The first time, {values.min()}, was read as the initial time.")
        longest = np.timedelta64(times.LONGEST_LEAD, "h")
        if init is not None and ((values >= init.values) & (values <= init.values + longest)).all():
            leads = (values - init.values).astype("timedelta64[s]").astype(np.int64)
            windows = self._valid_windows(valid.name, init.values)
            return Moments("runs", init.values.reshape(1), None, leads, dim, False, windows)
        windows = self._valid_windows(valid.name, values)
        double = values.size - np.unique(values).size
        if double:
            self._remarks.note(
                f"{double} of the times {valid.name} are there twice; the first was taken."
            )
        return Moments("series", values, dim, windows=windows)

    def _climatology(self, day: _Axis, hour: _Axis | None) -> Moments:
        days = np.asarray(day.values).astype(np.int64)
        months = self._roles[day.name] == "month"
        hours = np.zeros(1, np.int64) if hour is None else np.asarray(hour.values).astype(np.int64)
        for name, numbers, low, high in (
            (day.name, days, 1, 12 if months else 366),
            ("hour" if hour is None else hour.name, hours, 0, 23),
        ):
            if numbers.size and (numbers.min() < low or numbers.max() > high):
                raise UnsuitableData(
                    f"The {name} of the climatology runs from {numbers.min()} to {numbers.max()}, "
                    f"and {low} to {high} is read; number it anew."
                )
        if months:
            days = _MONTH_STARTS[days - 1]
        return Moments(
            "climatology", np.empty(0, "datetime64[s]"), day.dims[0],
            lead_dim=_only(hour.dims) if hour is not None else None, days=days,
            hours=hours.reshape(-1),
        )  # fmt: skip

    def _windows(
        self, name: str, ends: NDArray[np.float64], lead_name: str
    ) -> NDArray[np.float64] | None:
        """Return the intervals of lead times: GRIB's, or the bounds of the coordinate."""
        start = self._cube.variables.get("window_start")
        if start is not None and start.dims == self._cube.variables[lead_name].dims:
            return np.stack([np.asarray(start.values, np.float64).reshape(-1), ends], axis=-1)
        bounds = self._bounds(name)
        if bounds is None or self._roles.get(name) != "lead":
            return None
        attrs = {**self._cube.variables[name].attrs, **bounds.attrs}
        seconds = times.durations(
            np.asarray(bounds.values), attrs, name, self._remarks, self._answers
        )
        return (seconds / 3600.0).reshape(-1, 2)

    def _valid_windows(
        self, name: str, origin: NDArray[np.datetime64]
    ) -> NDArray[np.float64] | None:
        """Return the bounds of valid times in hours from ``origin`` (one, or one a time)."""
        bounds = self._bounds(name)
        if bounds is None:
            return None
        attrs = {**self._cube.variables[name].attrs, **bounds.attrs}
        moments = times.moments(
            np.asarray(bounds.values), attrs, name, self._answers, self._remarks
        ).reshape(-1, 2)
        hours: NDArray[np.float64] = (moments - np.asarray(origin).reshape(-1, 1)) / np.timedelta64(
            3600, "s"
        )
        return hours

    def _bounds(self, name: str) -> "xr.Variable | None":
        if name not in self._cube.variables:
            return None
        bounds = self._cube.variables.get(str(self._cube.variables[name].attrs.get("bounds")))
        if bounds is None or not bounds.ndim or bounds.shape[-1] != 2:
            return None
        return bounds


def _take_init(clock: list[_Axis], lead: _Axis) -> tuple[_Axis | None, list[_Axis]]:
    """Find the initial time among the times beside a lead time: not the valid time."""
    for axis in clock:
        if axis.name.lower().startswith("valid") or len(axis.dims) > 1:
            continue
        if axis.dims == lead.dims and lead.dims:
            continue  # goes along with the lead time: it is the valid time
        return axis, [other for other in clock if other is not axis]
    return None, clock


def _only(dims: tuple[str, ...]) -> str | None:
    return dims[0] if dims else None
