"""A number per feature and lead time, computed when it is first asked for and kept."""

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.features import Feature
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.zonal import Stat, ZonalIndex, Zone, zonal_statistic, zonal_table

_MANY = 64
"""From this many zones on, all are taken from the cache on disk, or built for it."""


class FeatureTable:
    """One statistic of one variable of one forecast: (feature, time), float64."""

    def __init__(
        self,
        forecast: Forecast,
        variable: str,
        zones: ZonalIndex,
        rows: Mapping[str, int],
        stat: Stat,
    ) -> None:
        """Make an empty table.

        Args:
            forecast: a forecast; of an ensemble its mean field is taken.
            variable: name of a variable.
            zones: the zones of the features.
            rows: the row of each feature, by its key.
            stat: mean, min, max or median.

        Raises:
            UnknownVariable: if the forecast lacks the variable.
        """
        forecast.cells(variable)
        self._forecast, self._variable, self._stat = forecast, variable, stat
        self._zones, self._rows = zones, rows
        self._values = np.full((len(rows), forecast.lead_hours.size), np.nan)
        self._view = self._values.view()
        self._view.setflags(write=False)
        self._done = np.zeros(len(rows), dtype=bool)

    def series(self, feature: Feature) -> NDArray[np.float64]:
        """Return (time,) of any feature; read-only if it has a row.

        Raises:
            OutsideGrid: if the feature is off the grid.
        """
        row = self._rows.get(feature.key)
        if row is None or not self._done[row]:
            zone = self._zones.weights(feature)
            if row is None:
                cells = self._forecast.cells(self._variable)
                return zonal_statistic(cells, zone, self._stat)
            self._fill([row], [zone])
        series: NDArray[np.float64] = self._view[row]
        return series

    def table(self, features: Sequence[Feature]) -> NDArray[np.float64]:
        """Return (feature, time).

        Raises:
            KeyError: if a feature has no row.
        """
        rows = [self._rows[feature.key] for feature in features]
        if not self._done[rows].all():
            missing = [i for i, row in enumerate(rows) if not self._done[row]]
            zones = _zones(self._zones, [features[i] for i in missing])
            self._fill([rows[i] for i in missing], zones)
        values: NDArray[np.float64] = self._values[rows]
        return values

    def _fill(self, rows: list[int], zones: Sequence[Zone]) -> None:
        self._values[rows] = zonal_table(self._forecast.cells(self._variable), zones, self._stat)
        self._done[rows] = True  # last, so that no other thread sees a row half made


class MemberTable:
    """One statistic of one variable of one ensemble: (feature, member, time), float64."""

    def __init__(
        self,
        forecast: Forecast,
        variable: str,
        zones: ZonalIndex,
        rows: Mapping[str, int],
        stat: Stat,
    ) -> None:
        """Make an empty table; only the rows that are filled take memory.

        Args:
            forecast: an ensemble.
            variable: name of a variable.
            zones: the zones of the features.
            rows: the row of each feature, by its key.
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

    def series(self, feature: Feature, member: int | str | None = None) -> NDArray[np.float64]:
        """Return (member, time), or (1, time) of one member, of any feature; read-only.

        Raises:
            OutsideGrid: if the feature is off the grid.
            UnknownMember: if there is no such member.
        """
        span = self._span(member)
        row = self._rows.get(feature.key)
        series: NDArray[np.float64]
        if row is None:
            series = self._compute([self._zones.weights(feature)], span)[0]
            return series
        if not self._done[row, span].all():
            self._fill([row], [self._zones.weights(feature)], span)
        series = self._view[row, span]
        return series

    def table(
        self, features: Sequence[Feature], member: int | str | None = None
    ) -> NDArray[np.float64]:
        """Return (feature, member, time), or (feature, 1, time) of one member.

        Raises:
            KeyError: if a feature has no row.
            UnknownMember: if there is no such member.
        """
        span = self._span(member)
        rows = [self._rows[feature.key] for feature in features]
        missing = [i for i, row in enumerate(rows) if not self._done[row, span].all()]
        if missing:
            zones = _zones(self._zones, [features[i] for i in missing])
            self._fill([rows[i] for i in missing], zones, span)
        values: NDArray[np.float64] = self._values[rows, span]
        return values

    def _span(self, member: int | str | None) -> slice:
        if member is None:
            return slice(0, len(self._forecast.members))
        index = self._forecast.member_index(member)
        return slice(index, index + 1)

    def _fill(self, rows: list[int], zones: Sequence[Zone], span: slice) -> None:
        self._values[rows, span] = self._compute(zones, span)
        self._done[rows, span] = True  # last, so that no other thread sees a row half made

    def _compute(self, zones: Sequence[Zone], span: slice) -> NDArray[np.float64]:
        fields = (self._forecast.cells(self._variable, i) for i in range(span.start, span.stop))
        return np.stack([zonal_table(cells, zones, self._stat) for cells in fields], axis=1)


def _zones(index: ZonalIndex, features: Sequence[Feature]) -> list[Zone]:
    if len(features) >= _MANY:
        index.build()
    return [index.zone(feature) for feature in features]
