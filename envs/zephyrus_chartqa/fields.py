"""`ChartData`: what one chart shows, as arrays; the one source for its drawing and for facts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zephyrus.errors import UserError
from zephyrus_chartqa.modality import DAY, Modality, Way, modality, ways_for
from zephyrus_geodata import Dataset, Forecast, Grid, OutsideGrid, variable
from zephyrus_geodata.cells import AnyGrid, CellGrid, StationList
from zephyrus_tools.regions import Region

_RIM = 2  # cells around a region, from which its edge is interpolated
_MOST_APART = 6  # hours between instants of which an extreme of a day is taken

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class ChartData:
    """What a chart shows: cells in rows and columns, their values, times and origin.

    The cells are those of the dataset's own grid; nothing is interpolated. They are those of the
    region and a rim of two cells around it, where there are such: the rim is what the drawing
    interpolates its edge from, and no fact is about it. Rows run from south to north and columns
    from west to east (on a bent grid about so), across longitude 180 without a break. A region
    that goes round the Earth has every column once. Arrays are (row, column), read-only, float64;
    values are in ``units``, wind in m/s; NaN is missing.

    Attributes:
        modality: Which of the seven.
        region: What is shown.
        way: Of which variables it was made, and how.
        dataset: The dataset's name.
        forecast: The forecast's name in it.
        label: Short origin of the data, such as "simulated (jcm T42)".
        members: How many members the ensemble has of which this is the mean field; 0 of a
            single forecast or one member. An extreme of a mean field is less than a mean extreme.
        init_time: Initial time, UTC.
        start: Start of the valid period, UTC; the same as ``end`` for an instant. A daily amount
            or extreme is of (start, end].
        end: Its end, UTC: the valid time.
        cells: Their indices among the cells of the dataset's grid.
        latitude: Centres of the cells, degrees north.
        longitude: Degrees east, continuous along a row; may be beyond 180.
        area: m2 of the cells.
        inside: Whether the centre is in the region.
        around: Whether the columns go round the Earth, so that the first follows the last.
        values: The main field: mm, % of the sky, °C, gpm, m/s or hPa.
        units: Its units, as shown.
        u: Eastward wind, m/s; None where the chart has none.
        v: Northward wind likewise.
    """

    modality: Modality
    region: Region
    way: Way
    dataset: str
    forecast: str
    label: str
    members: int
    init_time: np.datetime64
    start: np.datetime64
    end: np.datetime64
    cells: NDArray[np.intp]
    latitude: Floats
    longitude: Floats
    area: Floats
    inside: NDArray[np.bool_]
    around: bool
    values: Floats
    units: str
    u: Floats | None = None
    v: Floats | None = None

    @property
    def lead_hours(self) -> tuple[int, ...]:
        """Lead times of the valid time, or of start and end of the period, in hours."""
        start, end = (
            int((moment - self.init_time) // np.timedelta64(1, "h"))
            for moment in (self.start, self.end)
        )
        return (end,) if start == end else (start, end)

    @property
    def element(self) -> str:
        """What is shown, in words, as the title says it; without units."""
        return self.way.element

    @property
    def remark(self) -> str:
        """How the chart is not quite what its modality is named after; "" if it is."""
        return self.way.remark


@dataclass(frozen=True, eq=False)
class _Part:
    """The cells of a grid that a chart shows.

    Attributes:
        cells: (row, column) indices into the grid's cells.
        latitude: (row, column), as of ``ChartData``, as are the others.
    """

    cells: NDArray[np.intp]
    latitude: Floats
    longitude: Floats
    inside: NDArray[np.bool_]
    around: bool


class Lacking(UserError):
    """A forecast lacks what a modality needs; the message says which variables would do."""


def chart_data(
    dataset: Dataset,
    forecast: str | Forecast,
    what: str | Modality,
    region: Region,
    lead_hours: int,
    *,
    member: int | str | None = None,
) -> ChartData:
    """Take what a chart shows from a dataset.

    Args:
        dataset: Any whose cells are in rows and columns.
        forecast: One of its forecasts, or its name.
        what: The modality or its name.
        region: What to show.
        lead_hours: The lead time shown; of a daily amount or extreme the end of its 24 hours.
        member: Of an ensemble; None takes the mean field.

    Raises:
        Lacking: If the forecast lacks variables or lead times.
        UserError: If it is a list of stations, no cell is in the region, all there is missing, or
            the modality is unknown.
        GeodataError: If there is no such forecast or member.
    """
    shown = dataset.forecast(forecast) if isinstance(forecast, str) else forecast
    kind = modality(what) if isinstance(what, str) else what
    way, steps = _way(shown, kind, lead_hours)
    part = _part(shown, region)
    first = variable(way.variables[0])
    taken = [_take(shown.cells(name, member), part.cells, steps, way) for name in way.variables]
    winds = [array for array in taken if len(taken) > 1][-2:]
    if way.variables[0].startswith("u_component"):
        main = np.hypot(*winds)
    else:
        main = np.asarray(first.to_display(taken[0]), dtype=np.float64)
    if np.isnan(main[part.inside]).all():
        raise UserError(
            f"the forecast {shown.id} has no {first.long_name} in {region.title} at {lead_hours} h"
        )
    end = shown.init_time + np.timedelta64(lead_hours, "h")
    area = np.asarray(_area(shown.grid)[part.cells], dtype=np.float64)
    for array in (part.cells, part.latitude, part.longitude, part.inside, area, main, *winds):
        array.setflags(write=False)
    return ChartData(
        modality=kind,
        region=region,
        way=way,
        dataset=dataset.name,
        forecast=shown.name,
        label=shown.label,
        members=len(shown.members) if member is None else 0,
        init_time=shown.init_time,
        start=end - np.timedelta64(DAY, "h") if kind.daily else end,
        end=end,
        cells=part.cells,
        latitude=part.latitude,
        longitude=part.longitude,
        area=area,
        inside=part.inside,
        around=part.around,
        values=main,
        units=first.display_units,
        u=winds[0] if winds else None,
        v=winds[1] if winds else None,
    )


def chart_leads(forecast: Forecast, what: str | Modality) -> tuple[int, ...]:
    """Return the lead times in hours that a forecast has a chart for, ascending; maybe none.

    Raises:
        UserError: If there is no such modality.
    """
    kind = modality(what) if isinstance(what, str) else what
    ways = ways_for(kind, forecast.variables)
    return tuple(
        int(lead)
        for lead in forecast.lead_hours
        if any(_steps(forecast, way, int(lead)) is not None for way in ways)
    )


def lacking(forecast: Forecast, what: str | Modality) -> str | None:
    """Say why a forecast can't feed a modality, in a sentence; None if it can.

    Raises:
        UserError: If there is no such modality.
    """
    kind = modality(what) if isinstance(what, str) else what
    if not ways_for(kind, forecast.variables):
        choices = list(dict.fromkeys(" with ".join(way.variables) for way in kind.ways))
        return (
            f"the forecast {forecast.id} can't feed {kind.name} ({kind.title}): that needs "
            f"{', or '.join(choices)}; it has {', '.join(forecast.variables)}"
        )
    if chart_leads(forecast, kind):
        return None
    return (
        f"the lead times of the forecast {forecast.id} "
        f"({', '.join(str(hour) for hour in forecast.lead_hours)} h) can't feed {kind.name}: "
        f"{_needed(kind)}"
    )


def _needed(kind: Modality) -> str:
    if not kind.daily:
        return "there are none"
    if kind.theme == "temperature":
        return f"a day's extreme needs {DAY} hours of them, at most {_MOST_APART} h apart"
    return f"a day's amount needs {DAY} hours of them without a gap"


def _way(forecast: Forecast, kind: Modality, lead: int) -> tuple[Way, NDArray[np.intp]]:
    """Choose the best way that has the lead times."""
    for way in ways_for(kind, forecast.variables):
        steps = _steps(forecast, way, lead)
        if steps is not None:
            return way, steps
    reason = lacking(forecast, kind)
    if reason is not None:
        raise Lacking(reason)
    leads = chart_leads(forecast, kind)
    raise Lacking(
        f"the forecast {forecast.id} has no {kind.title} at {lead} h: it has it at "
        f"{', '.join(str(hour) for hour in leads)} h"
    )


def _steps(forecast: Forecast, way: Way, lead: int) -> NDArray[np.intp] | None:
    """The indices of the lead times that a chart is made of; None if some are not there."""
    hours = forecast.lead_hours
    at = np.flatnonzero(hours == lead)
    if not at.size:
        return None
    if way.taking == "at":
        return at
    start = lead - DAY
    if start < 0:
        return None
    within = np.flatnonzero((hours > start) & (hours <= lead))
    if way.period is None:  # periods that follow each other, the first from the initial time
        return within if start == 0 or start in hours else None
    if way.period:
        wanted = np.arange(start + way.period, lead + 1, way.period)
        steps = np.flatnonzero(np.isin(hours, wanted))
        return steps if steps.size == wanted.size else None
    apart = np.diff(np.concatenate([[start], hours[within]]))
    return within if int(apart.max()) <= _MOST_APART else None


def _take(
    cells: NDArray[np.float32], where: NDArray[np.intp], steps: NDArray[np.intp], way: Way
) -> Floats:
    """Take what a chart shows over its lead times: (row, column); NaN if any is missing."""
    chosen = cells[where[..., None], steps].astype(np.float64)
    if way.taking == "sum":
        total: Floats = chosen.sum(axis=-1)
        return total
    extreme: Floats = chosen.min(axis=-1) if way.taking == "lowest" else chosen.max(axis=-1)
    return extreme


def _part(forecast: Forecast, region: Region) -> _Part:
    grid = forecast.grid
    if isinstance(grid, StationList):
        raise UserError(f"the dataset {forecast.dataset!r} is a list of stations: it has no charts")
    try:
        part = _straight(grid, region) if isinstance(grid, Grid) else _bent(grid, region)
    except OutsideGrid:
        raise UserError(
            f"no cell of the dataset {forecast.dataset!r} has its centre in {region.title} "
            f"({region.text}): choose a larger region, or one on its grid"
        ) from None
    return part


def _straight(grid: Grid, region: Region) -> _Part:
    """Rows and columns of a grid of latitudes and longitudes."""
    lat = grid.latitude
    middle = 0.5 * (region.west + region.east)
    lon = (grid.longitude - middle + 180.0) % 360.0 - 180.0 + middle
    rows = np.flatnonzero((lat >= region.south) & (lat <= region.north))
    inside = (grid.longitude - region.west) % 360.0 <= region.east - region.west
    if not (rows.size and inside.any()):
        raise OutsideGrid(region.title)
    around = False
    if grid.periodic:
        order = np.argsort(lon, kind="stable")
        found = np.flatnonzero(inside[order])
        first, last = found[0] - _RIM, found[-1] + _RIM
        around = bool(last - first + 1 >= lon.size)
        columns = order if around else order.take(np.arange(first, last + 1), mode="wrap")
        along = lon[columns] if around else np.rad2deg(np.unwrap(np.deg2rad(lon[columns])))
        along = along + 360.0 * np.round((lon[order[found[0]]] - along[0]) / 360.0)
    else:  # its own order has no break
        found = np.flatnonzero(inside)
        columns = np.arange(max(found[0] - _RIM, 0), min(found[-1] + _RIM + 1, lon.size))
        along = grid.longitude[columns] + 360.0 * np.round((middle - grid.longitude.mean()) / 360.0)
    down = np.arange(max(rows[0] - _RIM, 0), min(rows[-1] + _RIM + 1, lat.size))
    within = np.isin(down, rows)[:, None] & inside[columns]
    latitude, longitude = np.meshgrid(lat[down], along, indexing="ij")
    return _Part(down[:, None] * grid.longitude.size + columns, latitude, longitude, within, around)


def _bent(grid: CellGrid, region: Region) -> _Part:
    """Rows and columns of a bent grid that hold the region."""
    shape = grid.shape
    lat, lon = grid.cell_latitude.reshape(shape), grid.cell_longitude.reshape(shape)
    inside = (lat >= region.south) & (lat <= region.north)
    inside &= (lon - region.west) % 360.0 <= region.east - region.west
    if not inside.any():
        raise OutsideGrid(region.title)
    spans = []
    for axis, count in ((1, shape[0]), (0, shape[1])):
        found = np.flatnonzero(inside.any(axis=axis))
        spans.append(slice(max(found[0] - _RIM, 0), min(found[-1] + _RIM + 1, count)))
    rows, columns = spans
    middle = 0.5 * (region.west + region.east)
    longitude = (lon[rows, columns] - middle + 180.0) % 360.0 - 180.0 + middle
    cells = np.arange(grid.size, dtype=np.intp).reshape(shape)[rows, columns]
    return _Part(cells, lat[rows, columns].copy(), longitude, inside[rows, columns].copy(), False)


def _area(grid: AnyGrid) -> Floats:
    assert not isinstance(grid, StationList)
    return grid.cell_area
