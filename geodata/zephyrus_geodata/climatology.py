"""The climate of a dataset: percentiles, mean and standard deviation per cell.

By month always; where it was built from years of analyses (``climate``), also by the day of the
year and the hour.
"""

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.cells import AnyGrid, rectilinear
from zephyrus_geodata.climate.recipe import DAYS, date_of, day_of, hour_of, month_of, statistics
from zephyrus_geodata.errors import UnknownVariable, UnsuitableData
from zephyrus_geodata.forecast import stack_levels
from zephyrus_geodata.source import (
    NetCDFSource,
    Source,
    XarraySource,
    locate,
    read_field,
    read_grid,
    require,
)
from zephyrus_geodata.variables import ordered

if TYPE_CHECKING:
    import xarray as xr

PERCENTILES = (5, 10, 25, 50, 75, 90, 95)
STATISTICS = (*(f"p{p}" for p in PERCENTILES), "mean", "std")

_DIMS = ("month", "statistic", "latitude", "longitude")
_MONTHS = range(1, 13)

Reader = Callable[[], NDArray[np.float32]]
"""Returns one variable as (month, statistic, cell), in SI units and the order of STATISTICS."""

DayReader = Callable[[int, int], NDArray[np.float32]]
"""Returns (statistic, cell) of the nth day and the nth hour of ``Days``."""

_PERCENTILE = re.compile(r"p(\d{1,3}(?:\.\d+)?)")


@dataclass(frozen=True)
class Days:
    """Statistics by the day of the year, each of a window of days around it.

    Attributes:
        days: the days (1 to 366) that have one, ascending; see ``climate.recipe.day_of``.
        hours: the hours of the day (UTC) that are apart, ascending; none if all go together.
        window: days in a window.
        readers: variable -> its statistics of a day and hour.
    """

    days: tuple[int, ...]
    hours: tuple[int, ...]
    window: int
    readers: Mapping[str, DayReader]

    def nearest(self, moment: np.datetime64) -> tuple[int, int]:
        """Return the indices of the day and the hour nearest to a time, the earlier of two."""
        when = moment.reshape(1)
        return int(self._nearest_day[day_of(when)[0]]), int(self._nearest_hour[hour_of(when)[0]])

    @cached_property
    def _nearest_day(self) -> NDArray[np.intp]:
        """(DAYS + 1,) by day of the year."""
        return _nearest(self.days, np.arange(DAYS + 1), DAYS)

    @cached_property
    def _nearest_hour(self) -> NDArray[np.intp]:
        """(24,) by hour."""
        return _nearest(self.hours or (0,), np.arange(24), 24)


def _nearest(values: tuple[int, ...], wanted: NDArray[np.int_], turn: int) -> NDArray[np.intp]:
    """Return for each number wanted the index of the nearest value around a turn."""
    ahead = (np.array(values) - wanted[:, None]) % turn
    away = np.minimum(ahead, turn - ahead)
    found: NDArray[np.intp] = (2 * away + (ahead <= turn - ahead)).argmin(axis=1)
    return found


@dataclass(frozen=True)
class Window:
    """What a climatology has for a time.

    Attributes:
        month: 1 to 12.
        day: of the month, the middle of the window; None if it has the month as a whole.
        half: days of the window to either side.
        hour: UTC; None if all hours go together.
    """

    month: int
    day: int | None = None
    half: int = 0
    hour: int | None = None


class Climatology:
    """Statistics of each variable in each cell, by month and, where built so, by day and hour.

    Attributes:
        percentiles: the percentiles there are.
        statistics: names of the statistics: "p5", …, "mean", "std".
        days: the statistics by day of the year; None if there are months only.
        variables: names of the variables, as ``variables.ordered`` has them.
        grid: the grid of all variables.
        period: the time the statistics describe, in words.
        label: short origin, such as "simulated (jcm T42)".
        provenance: where the data come from and their limits.
    """

    percentiles: tuple[float, ...] = PERCENTILES

    def __init__(
        self,
        grid: AnyGrid,
        readers: Mapping[str, Reader],
        *,
        period: str = "",
        label: str = "",
        provenance: Mapping[str, Any] | None = None,
        percentiles: tuple[float, ...] = PERCENTILES,
        days: Days | None = None,
    ) -> None:
        self.grid = grid
        self.percentiles = percentiles
        self.statistics = statistics(percentiles)
        self.days = days
        self.period = period
        self.label = label
        self.provenance = dict(provenance or {})
        self._readers = dict(readers)
        self.variables = ordered(self._readers)
        self._values: dict[str, NDArray[np.float32]] = {}

    def cells(self, variable: str, statistic: str, month: int) -> NDArray[np.float32]:
        """Return one statistic of a month as (cell,), in the variable's SI units, read-only.

        Args:
            variable: name of the variable.
            statistic: one of ``statistics``.
            month: 1 to 12.

        Raises:
            UnknownVariable: if the climatology does not carry the variable.
            ValueError: for another statistic or month.
        """
        if statistic not in self.statistics:
            raise self._no_statistic(statistic)
        if month not in _MONTHS:
            raise ValueError(f"There is no month {month!r}; use 1 to 12.")
        cells: NDArray[np.float32] = self._variable(variable)[
            month - 1, self.statistics.index(statistic)
        ]
        return cells

    def at(
        self,
        variable: str,
        statistic: str,
        moment: np.datetime64,
        cells: NDArray[np.intp] | None = None,
    ) -> NDArray[np.float32]:
        """Return one statistic of a time as (cell,), in the variable's SI units, read-only.

        It is that of the nearest day of the year and hour, or of the month where there are no
        days; ``window`` says which.

        Args:
            variable: name of the variable.
            statistic: one of ``statistics``, or a percentile between two of them ("p80"), which is
                then linear between the two.
            moment: a valid time, UTC.
            cells: indices of the cells to return, in their order; all by default.

        Raises:
            UnknownVariable: if the climatology does not carry the variable.
            ValueError: for another statistic.
        """
        if self.days is None:
            rows = self._variable(variable)[int(month_of(moment.reshape(1))[0]) - 1]
        else:
            if variable not in self.days.readers:
                raise self._unknown(variable)
            rows = self.days.readers[variable](*self.days.nearest(moment))
        found = self._between(rows, statistic, cells)
        found.setflags(write=False)
        return found

    def window(self, moment: np.datetime64) -> Window:
        """Return what ``at`` takes for a time."""
        if self.days is None:
            return Window(int(month_of(moment.reshape(1))[0]))
        day, hour = self.days.nearest(moment)
        month, of_month = date_of(self.days.days[day])
        hours = self.days.hours
        return Window(month, of_month, self.days.window // 2, hours[hour] if hours else None)

    def groups(
        self, moments: NDArray[np.datetime64]
    ) -> tuple[NDArray[np.datetime64], NDArray[np.intp]]:
        """Put times together for which ``at`` is the same.

        Args:
            moments: (time,) valid times, UTC.

        Returns:
            One time of each group, (group,), in the order in which they come up; and the group
            of each time, (time,).
        """
        windows = [self.window(moment) for moment in moments]
        order = {window: group for group, window in enumerate(dict.fromkeys(windows))}
        groups = np.array([order[window] for window in windows], dtype=np.intp)
        return moments[np.unique(groups, return_index=True)[1]], groups

    def _between(
        self, rows: NDArray[np.float32], statistic: str, cells: NDArray[np.intp] | None
    ) -> NDArray[np.float32]:
        def row(index: int) -> NDArray[np.float32]:
            whole: NDArray[np.float32] = rows[index]
            return whole.view() if cells is None else whole[cells]

        if statistic in self.statistics:
            return row(self.statistics.index(statistic))
        match = _PERCENTILE.fullmatch(statistic)
        wanted = float(match[1]) if match else -1.0
        if not self.percentiles[0] <= wanted <= self.percentiles[-1]:
            raise self._no_statistic(statistic)
        above = int(np.searchsorted(self.percentiles, wanted))
        low, high = self.percentiles[max(above - 1, 0)], self.percentiles[above]
        if wanted == high:
            return row(above)
        share = (wanted - low) / (high - low)
        mixed = row(above - 1) * (1.0 - share) + row(above) * share
        return np.asarray(mixed, dtype=np.float32)

    def _no_statistic(self, statistic: str) -> ValueError:
        return ValueError(
            f"There is no statistic {statistic!r}; use one of {', '.join(self.statistics)}."
        )

    def _unknown(self, name: str) -> UnknownVariable:
        return UnknownVariable(
            f"The climatology has no variable {name!r}; it has {', '.join(self.variables)}."
        )

    def _variable(self, name: str) -> NDArray[np.float32]:
        values = self._values.get(name)
        if values is None:
            reader = self._readers.get(name)
            if reader is None:
                raise self._unknown(name)
            values = np.ascontiguousarray(reader(), dtype=np.float32)
            if values.flags.writeable:
                values.setflags(write=False)
            self._values[name] = values
        return values

    @classmethod
    def open(cls, path: Path) -> "Climatology":
        """Open a NetCDF file; variables are decoded when asked for. ``from_xarray`` has more.

        A file that ``zephyrus data climatology --output`` made has its days as well.

        Raises:
            UnsuitableData: if the file is not laid out as a climatology.
        """
        from zephyrus_geodata.climate import netcdf

        source = NetCDFSource(path)
        return cls._from_source(source, netcdf.days(source))

    @classmethod
    def from_xarray(cls, ds: "xr.Dataset") -> "Climatology":
        """Wrap an xarray Dataset; variables are loaded when asked for.

        Args:
            ds: dimensions month (1 to 12), statistic (the names of STATISTICS, any order),
                latitude, longitude and, for some variables, level (hPa); WeatherBench 2 names in
                SI units; attributes ``period``, ``label`` and others are kept.

        Raises:
            UnsuitableData: if months, statistics or all known variables are missing.
        """
        return cls._from_source(XarraySource(ds))

    @classmethod
    def _from_source(cls, source: Source, days: Days | None = None) -> "Climatology":
        grid, ilat, ilon = read_grid(source)
        require(source, "month", "statistic")
        months = _positions(source, "month", list(_MONTHS))
        given = np.atleast_1d(source.attrs.get("percentiles", PERCENTILES)).tolist()
        percentiles = tuple(float(p) for p in given)
        names = _positions(source, "statistic", list(statistics(percentiles)))
        places = locate(source, _DIMS)
        if not places:
            raise UnsuitableData(f"{source.title} has no known variable on {', '.join(_DIMS)}.")

        def read(place: tuple[str, int | None]) -> NDArray[np.float32]:
            field = read_field(source, place, _DIMS)[months][:, names]
            field = field[:, :, ilat][..., ilon]
            return field.reshape(len(months), len(names), grid.size)

        return cls(
            grid,
            {variable: partial(read, place) for variable, place in places.items()},
            period=str(source.attrs.get("period", "")),
            label=str(source.attrs.get("label", "")),
            provenance={k: v for k, v in source.attrs.items() if k not in ("period", "label")},
            percentiles=percentiles,
            days=days,
        )

    def to_xarray(self) -> "xr.Dataset":
        """Return the months of the climatology as from_xarray takes it, in memory."""
        import xarray as xr

        grid = rectilinear(self.grid, "The climatology")
        fields = {
            name: self._variable(name).reshape(len(_MONTHS), len(self.statistics), *grid.shape)
            for name in self.variables
        }
        data, levels = stack_levels(fields, ("month", "statistic"))
        coords: dict[str, Any] = {
            "month": list(_MONTHS),
            "statistic": list(self.statistics),
            "latitude": ("latitude", grid.latitude, {"units": "degrees_north"}),
            "longitude": ("longitude", grid.longitude, {"units": "degrees_east"}),
        }
        if levels:
            coords["level"] = ("level", list(levels), {"units": "hPa"})
        attrs = {"label": self.label, "period": self.period} | self.provenance
        if self.percentiles != PERCENTILES:
            attrs["percentiles"] = list(self.percentiles)
        return xr.Dataset(data, coords, attrs=attrs)

    def __repr__(self) -> str:
        return f"Climatology({self.period!r}, {len(self.variables)} variables, {self.grid!r})"


def _positions(source: Source, name: str, wanted: list[Any]) -> list[int]:
    """Return where each wanted coordinate value is in the source."""
    there = source.read(name).tolist()
    missing = [str(value) for value in wanted if value not in there]
    if missing:
        raise UnsuitableData(f"{source.title} has no {name} {', '.join(missing)}.")
    return [there.index(value) for value in wanted]
