"""What a discussion is about: a region, its named areas and a window of one forecast."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import Dataset, Feature, Forecast, Zone, variable
from zephyrus_geodata.zonal import Stat
from zephyrus_report.compose.findings import Place, Quantity, day_of
from zephyrus_report.compose.places import Gazetteer
from zephyrus_tools.bodies import main_body

_MOST_AREAS = 8
_LEAST_AREA = 6.0e10  # m2, about a cell of T42 in middle latitudes
_LARGEST_SHARE = 0.7  # of the region: a larger feature is the region itself
_INSIDE = 0.65  # of an area's weight that must be in the region
_BODY = 0.95  # of an area's weight that must be in one piece
_COVERED = 0.8  # of the region: less, and its own means and extremes are told too
_LEAST_GAIN = 0.02  # of the region that an area must add to those chosen before

_OUTLIER, _OUTLYING = 2.5, 1.8  # standard deviations from the region's middle

# Kinds that divide a region, and how much rather one is chosen than another of the same gain.
_DIVIDING: dict[str, float] = {
    "country": 1.0,
    "us_state": 0.9,
    "sea": 1.0,
    "plain": 0.9,
    "desert": 0.7,
    "basin": 0.8,
    "plateau": 0.8,
    "peninsula": 0.7,
    "island": 0.6,
    "mountain_range": 0.8,
}


@dataclass(frozen=True)
class Scene:
    """One region and window.

    Attributes:
        dataset: The data.
        forecast: One of its forecasts.
        region: A feature, of the dataset's or not.
        start: First lead time in hours.
        end: Last lead time in hours, included.
        gazetteer: Names points; one can serve many scenes.
    """

    dataset: Dataset
    forecast: Forecast
    region: Feature
    start: int
    end: int
    gazetteer: Gazetteer

    @cached_property
    def areas(self) -> tuple[Feature, ...]:
        """Named areas of the region, largest first; the region itself if it has fewer than two."""
        chosen = choose_areas(self.dataset, self.region)
        return chosen if len(chosen) > 1 else (self.region,)

    @cached_property
    def zone(self) -> Zone:
        """The cells of the region."""
        return self.dataset.zones.weights(self.region)

    @cached_property
    def core(self) -> NDArray[np.intp]:
        """The region's cells without outlying parts, such as Alaska of the United States."""
        return self._within(_OUTLYING)

    @cached_property
    def reach(self) -> NDArray[np.intp]:
        """The region's cells without far outliers, such as the last islands of an arc."""
        return self._within(_OUTLIER)

    def _within(self, most: float) -> NDArray[np.intp]:
        """The region's cells within some standard deviations of its middle."""
        grid, cells = self.dataset.rectilinear, self.zone.cells
        offsets = [
            self.gazetteer.offset(
                self.region,
                float(grid.latitude[cell // grid.shape[1]]),
                float(grid.longitude[cell % grid.shape[1]]),
            )
            for cell in cells
        ]
        near = [max(abs(north), abs(east)) <= most for north, east in offsets]
        return cells[near].astype(np.intp)

    @cached_property
    def latitude(self) -> float:
        """Of the region's middle, degrees north."""
        return self.gazetteer.middle(self.region)[0]

    @property
    def days(self) -> range:
        """The days of the window, counted from 1."""
        return range(day_of(self.start), day_of(self.end) + 1)

    def has(self, *names: str) -> bool:
        """Whether the forecast carries all these variables."""
        return all(name in self.forecast.variables for name in names)

    def there(self, name: str, area: Feature, start: int, end: int) -> bool:
        """Whether the forecast has numbers of a variable over an area in a window."""
        if not self.has(name):
            return False
        return not np.isnan(self.series(name, area)[self.steps(start, end)]).all()

    def knows(self, name: str) -> bool:
        """Whether the climatology has the variable."""
        climatology = self.dataset.climatology
        return climatology is not None and name in climatology.variables

    def hours(self, day: int) -> tuple[int, int]:
        """The first and last lead time of a day that are in the window.

        Raises:
            ValueError: If the forecast has none.
        """
        inside = self.lead_times(max(self.start, 24 * day - 23), min(self.end, 24 * day))
        if not inside.size:
            raise ValueError(f"{self.forecast.id} has no lead time on day {day}")
        return int(inside[0]), int(inside[-1])

    def lead_times(self, start: int, end: int) -> NDArray[np.int64]:
        """The lead times of the forecast from start to end."""
        hours = self.forecast.lead_hours
        return hours[(hours >= start) & (hours <= end)]

    def steps(self, start: int, end: int) -> slice:
        """The same as an index of the time axis."""
        hours = self.forecast.lead_hours
        first, last = np.searchsorted(hours, start), np.searchsorted(hours, end, side="right")
        return slice(int(first), int(last))

    def series(self, name: str, area: Feature, stat: Stat = "mean") -> NDArray[np.float64]:
        """A statistic over an area at every lead time of the forecast, display units: (time,)."""
        values = self.dataset.series(self.forecast, name, area, stat)
        return variable(name).to_display(values)

    def quantity(
        self, name: str, area: Feature, space: Stat, time: str, start: int, end: int
    ) -> Quantity:
        """A statistic over an area and the steps of a window.

        Args:
            name: A variable.
            area: Where.
            space: Over the cells.
            time: "mean", "min", "max" or "sum" over the steps; "at" the start; the "change" from
                start to end; the "climate" mean of the month of start, or the "departure" of the
                time mean from it.
            start: First lead time in hours.
            end: Last lead time in hours, included.

        Raises:
            ValueError: For another ``time``.
        """
        about = variable(name)
        window = self.series(name, area, space)[self.steps(start, end)]
        if time in ("mean", "min", "max", "sum"):
            value = float(getattr(np, f"nan{time}")(window))
        elif time == "at":
            value = float(window[0])
        elif time == "change":
            value = float(window[-1] - window[0])
        elif time in ("climate", "departure"):
            normal = float(
                about.to_display(self.dataset.climate(name, "mean", self.month(start), area))
            )
            value = normal if time == "climate" else float(np.nanmean(window)) - normal
        else:
            raise ValueError(f"no statistic over time: {time!r}")
        return Quantity(value, about.display_units, name, area.key, space, time, start, end)

    def extreme(
        self, name: str, area: Feature, space: Literal["min", "max"], start: int, end: int
    ) -> tuple[Quantity, int, Place] | None:
        """The least or greatest value of any cell and step of a window.

        Returns:
            The value, its first lead time, and the place: of the region itself the part where it
            is. None if it is not in the area's main body, as a gale over a far island says nothing
            of the country; or if there are no data.
        """
        zone, steps = self.dataset.zones.weights(area), self.steps(start, end)
        values = self.forecast.cells(name)[zone.cells][:, steps]
        if np.isnan(values).all():
            return None
        flat = np.nanargmin(values.T) if space == "min" else np.nanargmax(values.T)
        step, cell = np.unravel_index(int(flat), values.T.shape)
        if not self.gazetteer.body(area)[cell]:
            return None
        hour = int(self.lead_times(start, end)[step])
        place = self.place(area)
        if area.key == self.region.key:
            lat, lon = divmod(int(zone.cells[cell]), self.forecast.rectilinear.shape[1])
            at = (
                float(self.dataset.rectilinear.latitude[lat]),
                float(self.dataset.rectilinear.longitude[lon]),
            )
            place = Place(area.name, area.key, self.gazetteer.part(area, *at), *at)
        return self.quantity(name, area, space, space, start, end), hour, place

    def percentile(self, name: str, percent: int, hour: int, area: Feature) -> float:
        """The area mean of a climatological percentile in the month of a lead time, display units."""
        value = self.dataset.climate(name, f"p{percent}", self.month(hour), area)
        return float(variable(name).to_display(value))

    def month(self, hour: int) -> int:
        """The calendar month, 1 to 12, of a lead time."""
        valid = self.forecast.init_time + np.timedelta64(hour, "h")
        return int(valid.astype("datetime64[M]").astype(int)) % 12 + 1

    def place(self, area: Feature) -> Place:
        """An area as a place."""
        return Place(area.name, area.key)


def choose_areas(dataset: Dataset, region: Feature) -> tuple[Feature, ...]:
    """Choose named areas that lie in a region and together cover most of it, largest first.

    Each next one is the feature that adds most to what is covered; none is smaller than about a
    cell of a coarse grid, since the data say little about it, and none has much of its area
    overseas. Where they leave much of the region out, the region itself comes first.
    """
    zones, rows = dataset.zones.build(), dataset.zones.rows
    whole = dataset.zones.weights(region)
    share = np.zeros(dataset.grid.size)
    share[whole.cells] = whole.weights
    total = float(whole.weights.sum())
    pool: list[tuple[float, Feature, Zone]] = []
    for feature in dataset.features:
        liking = _DIVIDING.get(feature.kind)
        row = rows.get(feature.key)
        if liking is None or row is None or feature.key == region.key or zones.fallback[row]:
            continue
        zone = zones[row]
        size = float(zone.weights.sum()) if zone.cells.size else 0.0
        inside = float(np.minimum(zone.weights, share[zone.cells]).sum())
        fits = _LEAST_AREA <= size <= _LARGEST_SHARE * total and inside >= _INSIDE * size
        if fits and float(zone.weights[main_body(dataset, feature)].sum()) >= _BODY * size:
            pool.append((liking, feature, zone))
    chosen: list[Feature] = []
    left = share.copy()
    while pool and len(chosen) < _MOST_AREAS:
        gains = [
            liking * float(np.minimum(zone.weights, left[zone.cells]).sum())
            for liking, _, zone in pool
        ]
        best = int(np.argmax(gains))
        if gains[best] < _LEAST_GAIN * total:
            break
        _, feature, zone = pool.pop(best)
        if gains[best] < 0.4 * float(zone.weights.sum()):
            continue  # mostly covered by what was chosen before
        left[zone.cells] = np.maximum(left[zone.cells] - zone.weights, 0.0)
        chosen.append(feature)
    covered = 1.0 - float(left.sum()) / total
    return (region, *chosen) if chosen and covered < _COVERED else tuple(chosen)
