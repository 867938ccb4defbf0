"""Where a forecast is beyond what is usual there, as a share of the area of features."""

from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.climatology import Climatology
from zephyrus_geodata.feature_tables import FeatureTable, Rows
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.zonal import ZonalIndex, Zones, zonal_share

_HELD = 64 * 1024**2
"""Bytes of thresholds held at once: 16 of them for each cell of 0.25 degrees."""

_BLOCK = 8192
"""Cells whose thresholds are put side by side together, so that they stay in the cache."""

Usual = Callable[[int, NDArray[np.intp] | None], NDArray[np.float32]]
"""Returns the thresholds for a group of times, (cell,): of some cells, or of all (None)."""


def exceedance_table(
    forecast: Forecast,
    climatology: Climatology,
    variable: str,
    statistic: str,
    zones: ZonalIndex,
    rows: Rows,
    *,
    above: bool,
) -> FeatureTable:
    """Return the share of the area of features beyond a statistic of each cell's climate.

    Args:
        forecast: a forecast; of an ensemble its mean field is taken.
        climatology: what is usual, at the nearest time it has for each valid time.
        variable: name of a variable.
        statistic: a percentile or the mean; see ``Climatology.at``.
        zones: the zones of the features.
        rows: the row of each feature.
        above: whether to count what is above; else what is below.

    Raises:
        UnknownVariable: if the forecast or the climatology lacks the variable.
        ValueError: for another statistic.
    """
    if statistic == "std":
        raise ValueError("A standard deviation is no threshold: use a percentile or the mean.")
    values = forecast.cells(variable)
    valid = forecast.init_time + forecast.lead_hours.astype("timedelta64[h]")
    moments, groups = climatology.groups(valid)

    def usual(group: int, cells: NDArray[np.intp] | None) -> NDArray[np.float32]:
        return climatology.at(variable, statistic, moments[group], cells)

    usual(
        0, np.empty(0, dtype=np.intp)
    )  # what is wrong with the names is said before there is a table
    return FeatureTable(
        rows,
        zones,
        groups.size,
        lambda some: share_beyond(values, usual, groups, some, above=above),
    )


def share_beyond(
    values: NDArray[np.float32],
    usual: Usual,
    groups: NDArray[np.intp],
    zones: Zones,
    *,
    above: bool,
) -> NDArray[np.float64]:
    """Return the share of each zone's area where values are strictly beyond thresholds.

    Args:
        values: (cell, time).
        usual: gives the thresholds of a group of times.
        groups: (time,) the group of each.
        zones: the zones.
        above: whether larger values are beyond; else smaller ones.

    Returns:
        (zone, time), 0 to 1; NaN where no cell has data.
    """
    cells: NDArray[np.intp] | None = None
    if 4 * zones.cells.size < values.shape[0]:
        # Few cells: what lies elsewhere is not touched.
        cells, inverse = np.unique(zones.cells, return_inverse=True)
        zones = Zones(zones.starts, inverse.astype(np.int32), zones.weights, zones.fallback)
        values = values[cells]
    most = max(1, _HELD // (4 * max(1, values.shape[0])))
    shares = np.empty((len(zones), groups.size))
    for span in _spans(groups, most):
        found, columns = np.unique(groups[span], return_inverse=True)
        limits = _side_by_side([usual(group, cells) for group in found.tolist()])
        some = values if span.stop - span.start == groups.size else values[:, span]
        shares[:, span] = zonal_share(
            np.ascontiguousarray(some), limits, zones, above=above, columns=columns
        )
    return shares


def _spans(groups: NDArray[np.intp], most: int) -> Iterator[slice]:
    """Cut the times into runs that have at most so many groups each."""
    start, held = 0, set[int]()
    for time, group in enumerate(groups.tolist()):
        if group not in held and len(held) == most:
            yield slice(start, time)
            start, held = time, set()
        held.add(group)
    if start < groups.size:
        yield slice(start, groups.size)


def _side_by_side(rows: list[NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return rows (cell,) as the columns of (cell, row)."""
    columns = np.empty((rows[0].size, len(rows)), dtype=np.float32)
    for start in range(0, rows[0].size, _BLOCK):
        span = slice(start, start + _BLOCK)
        for column, row in enumerate(rows):
            columns[span, column] = row[span]
    return columns
