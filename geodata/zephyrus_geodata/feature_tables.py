"""A number per feature and lead time, computed when it is first asked for and kept."""

from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from typing import Generic, Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.climatology import Climatology
from zephyrus_geodata.features import Feature
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.zonal import Stat, ZonalIndex, Zones, zonal_table

_LISTS = 256
"""How many lists of features are remembered with their rows."""

Compute = Callable[[Zones], NDArray[np.float64]]
"""Returns (zone, time); NaN where a zone is empty."""


class Rows:
    """The row of each feature of a set; lists that were asked for before are known again."""

    def __init__(self, features: Iterable[Feature]) -> None:
        """Number the features in their order."""
        self._features = tuple(features)  # kept, so that no other object can take their ids
        self._by_id = {id(feature): row for row, feature in enumerate(self._features)}
        self._lists: dict[tuple[int, int, int], tuple[list[Feature], NDArray[np.intp]]] = {}

    def __len__(self) -> int:
        return len(self._features)

    def get(self, feature: Feature) -> int | None:
        """Return the row of a feature; None if it is not of the set."""
        row = self._by_id.get(id(feature))
        if row is None:
            row = self._by_key.get(feature.key)
            if row is not None and self._features[row] != feature:  # another of the same name
                row = None
        return row

    @cached_property
    def _by_key(self) -> dict[str, int]:
        return {feature.key: row for row, feature in enumerate(self._features)}

    def of(self, features: Sequence[Feature]) -> NDArray[np.intp]:
        """Return (feature,) rows.

        To look 1,500 keys up takes longer than all else that a ranking does. Those who rank ask
        for the same features again and again, if in new lists: a list that equals a remembered
        one, which is seen at the speed of comparing pointers, has its rows.

        Raises:
            KeyError: if a feature is not of the set.
        """
        if not features:
            return np.empty(0, dtype=np.intp)
        mark = (len(features), id(features[0]), id(features[-1]))
        asked = features if isinstance(features, list) else list(features)
        known = self._lists.get(mark)
        if known is not None and known[0] == asked:
            return known[1]
        found = [self.get(feature) for feature in asked]
        if None in found:
            raise KeyError(asked[found.index(None)].key)
        rows = np.array(found, dtype=np.intp)
        if len(self._lists) >= _LISTS:
            self._lists.clear()
        self._lists[mark] = (list(asked), rows)
        return rows


class FeatureTable:
    """Numbers of features: (feature, time), float64; a row is computed when it is asked for."""

    def __init__(
        self,
        rows: Rows,
        zones: ZonalIndex,
        times: int,
        compute: Compute,
        ready: NDArray[np.float64] | None = None,
    ) -> None:
        """Make a table.

        Args:
            rows: the row of each feature.
            zones: the zones of the features.
            times: number of columns.
            compute: gives the rows of zones.
            ready: (feature, time), where all of it is there already; NaN off the grid.
        """
        self._rows, self._zones, self._compute = rows, zones, compute
        # Not filled: pages that no row is written to take no memory.
        self._values = np.empty((len(rows), times)) if ready is None else ready
        self._view = self._values.view()
        self._view.setflags(write=False)
        self._done = np.full(len(rows), ready is not None)
        self._is_full = ready is not None

    @property
    def nbytes(self) -> int:
        """Memory of its numbers, were all rows there; none of a cube, which is a file's."""
        return self._values.nbytes if self._values.flags.writeable else 0

    def series(self, feature: Feature) -> NDArray[np.float64]:
        """Return (time,) of any feature, read-only.

        Raises:
            OutsideGrid: if the feature is off the grid.
        """
        row = self._rows.get(feature)
        series: NDArray[np.float64]
        if row is None:
            self._zones.weights(feature)
            series = self._compute(self._zones.zones([feature]))[0]
            series.setflags(write=False)
            return series
        if not (self._is_full or self._done[row]):
            self._zones.weights(feature)
            self._fill(np.array([row]), [feature])
        series = self._view[row]
        if series[0] != series[0]:  # NaN: no data, or no zone, which is an error
            self._zones.weights(feature)
        return series

    def table(self, features: Sequence[Feature]) -> NDArray[np.float64]:
        """Return (feature, time), a copy; NaN where a feature is off the grid.

        Raises:
            KeyError: if a feature has no row.
        """
        return self._values.take(self._filled(features), axis=0)

    def column(self, features: Sequence[Feature], time: int) -> NDArray[np.float64]:
        """Return one column of ``table``: (feature,)."""
        rows = self._filled(features)
        return self._values[:, time].take(rows)

    def _filled(self, features: Sequence[Feature]) -> NDArray[np.intp]:
        rows = self._rows.of(features)
        if not (self._is_full or self._done[rows].all()):
            missing = np.unique(rows[~self._done[rows]])
            by_row = dict(zip(rows.tolist(), features, strict=True))
            self._fill(missing, [by_row[row] for row in missing.tolist()])
        return rows

    def _fill(self, rows: NDArray[np.intp], features: Sequence[Feature]) -> None:
        self._values[rows] = self._compute(self._zones.zones(features))
        self._done[rows] = True  # last, so that no other thread sees a row half made
        self._is_full = bool(self._done.all())


def statistic_table(
    forecast: Forecast, variable: str, zones: ZonalIndex, rows: Rows, stat: Stat
) -> FeatureTable:
    """Return one statistic of one variable of one forecast.

    It is read from the forecast's cube where one was kept for these features, else computed.

    Args:
        forecast: a forecast; of an ensemble its mean field is taken.
        variable: name of a variable.
        zones: the zones of the features.
        rows: the row of each feature.
        stat: mean, min, max or median.

    Raises:
        UnknownVariable: if the forecast lacks the variable.
    """
    cells = forecast.cells(variable)
    times = forecast.lead_hours.size
    ready = forecast.cubes(variable, zones.key).get(stat) if forecast.cubes else None
    if ready is not None and ready.shape != (len(rows), times):
        ready = None
    return FeatureTable(rows, zones, times, lambda some: zonal_table(cells, some, stat), ready)


def climate_table(
    climatology: Climatology,
    variable: str,
    statistic: str,
    when: int | np.datetime64,
    zones: ZonalIndex,
    rows: Rows,
) -> FeatureTable:
    """Return the mean over features of a statistic of the climate: one column.

    Args:
        climatology: the climate.
        variable: name of a variable.
        statistic: see ``Climatology.at``, or ``Climatology.cells`` of a month.
        when: a month, 1 to 12, or a valid time, UTC.
        zones: the zones of the features.
        rows: the row of each feature.

    Raises:
        UnknownVariable: if the climatology lacks the variable.
        ValueError: for another statistic or month.
    """

    def cells() -> NDArray[np.float32]:
        if isinstance(when, np.datetime64):
            return climatology.at(variable, statistic, when)
        return climatology.cells(variable, statistic, when)

    cells()  # what is wrong with the names is said before there is a table
    return FeatureTable(rows, zones, 1, lambda some: zonal_table(cells()[:, None], some))


class MemberTable:
    """One statistic of one variable of one ensemble: (feature, member, time), float64."""

    def __init__(
        self, forecast: Forecast, variable: str, zones: ZonalIndex, rows: Rows, stat: Stat
    ) -> None:
        """Make an empty table; only the rows that are filled take memory.

        Args:
            forecast: an ensemble.
            variable: name of a variable.
            zones: the zones of the features.
            rows: the row of each feature.
            stat: mean, min, max or median.

        Raises:
            UnknownMember: if the forecast has no members.
            UnknownVariable: if it lacks the variable.
        """
        forecast.cells(variable, 0)
        self._forecast, self._variable, self._stat = forecast, variable, stat
        self._zones, self._rows = zones, rows
        members = len(forecast.members)
        self._values = np.empty((len(rows), members, forecast.lead_hours.size))
        self._view = self._values.view()
        self._view.setflags(write=False)
        self._done = np.zeros((len(rows), members), dtype=bool)

    @property
    def nbytes(self) -> int:
        """Memory of its numbers, were all rows there."""
        return self._values.nbytes

    def series(self, feature: Feature, member: int | str | None = None) -> NDArray[np.float64]:
        """Return (member, time), or (1, time) of one member, of any feature; read-only.

        Raises:
            OutsideGrid: if the feature is off the grid.
            UnknownMember: if there is no such member.
        """
        span = self._span(member)
        row = self._rows.get(feature)
        series: NDArray[np.float64]
        if row is None:
            self._zones.weights(feature)
            series = self._compute([feature], span)[0]
            series.setflags(write=False)
            return series
        if not self._done[row, span].all():
            self._zones.weights(feature)
            self._fill(np.array([row]), [feature], span)
        series = self._view[row, span]
        if np.isnan(series[0, 0]):  # no data, or no zone, which is an error
            self._zones.weights(feature)
        return series

    def table(
        self, features: Sequence[Feature], member: int | str | None = None
    ) -> NDArray[np.float64]:
        """Return (feature, member, time), or (feature, 1, time) of one member; a copy.

        Raises:
            KeyError: if a feature has no row.
            UnknownMember: if there is no such member.
        """
        span = self._span(member)
        rows = self._rows.of(features)
        done = self._done[rows, span].all(axis=1)
        if not done.all():
            missing = np.flatnonzero(~done)
            self._fill(rows[missing], [features[i] for i in missing.tolist()], span)
        values: NDArray[np.float64] = self._values[rows, span]
        return values

    def _span(self, member: int | str | None) -> slice:
        if member is None:
            return slice(0, len(self._forecast.members))
        index = self._forecast.member_index(member)
        return slice(index, index + 1)

    def _fill(self, rows: NDArray[np.intp], features: Sequence[Feature], span: slice) -> None:
        self._values[rows, span] = self._compute(features, span)
        self._done[rows, span] = True  # last, so that no other thread sees a row half made

    def _compute(self, features: Sequence[Feature], span: slice) -> NDArray[np.float64]:
        zones = self._zones.zones(features)
        fields = (self._forecast.cells(self._variable, i) for i in range(span.start, span.stop))
        return np.stack([zonal_table(cells, zones, self._stat) for cells in fields], axis=1)


class _Sized(Protocol):
    @property
    def nbytes(self) -> int: ...


_Key = TypeVar("_Key")
_Table = TypeVar("_Table", bound=_Sized)


class Kept(Generic[_Key, _Table]):
    """Tables by name, those made first given up where they would take too much memory."""

    def __init__(self, most: int) -> None:
        """Keep tables of ``most`` bytes together, and the last one in any case."""
        self._tables: dict[_Key, _Table] = {}
        self._most, self._held = most, 0
        self.get = self._tables.get

    def put(self, key: _Key, table: _Table) -> _Table:
        """Keep a table; return the one to use, which another thread may have put there before."""
        there = self._tables.setdefault(key, table)
        if there is table:
            self._held += table.nbytes
            for oldest in list(self._tables):
                if self._held <= self._most or oldest == key:
                    break
                gone = self._tables.pop(oldest, None)
                self._held -= gone.nbytes if gone is not None else 0
        return there
