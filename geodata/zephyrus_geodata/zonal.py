"""Which cells a feature covers, with which weight, and statistics over them.

The weight of a cell is its covered fraction times its area on the sphere, in m2.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, Literal, TypeVar, get_args

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata import zonal_cache
from zephyrus_geodata.cells import AnyGrid
from zephyrus_geodata.coverage import coverage
from zephyrus_geodata.errors import OutsideGrid
from zephyrus_geodata.features import Feature

Stat = Literal["mean", "min", "max", "median"]
STATS: tuple[Stat, ...] = get_args(Stat)

_Array = TypeVar("_Array", bound=NDArray[Any])

_CHUNK = 2_000_000  # gathered numbers held at once, 16 MB in float64


@dataclass(frozen=True, eq=False)
class Zone:
    """The cells of one feature.

    Attributes:
        cells: (n,) cell indices, ascending.
        weights: (n,) covered fraction x spherical cell area, m2, all positive.
        fallback: True if the feature is a polygon smaller than the grid cell it lies in, so that
            the cells say little about the feature itself.
    """

    cells: NDArray[np.intp]
    weights: NDArray[np.float64]
    fallback: bool


class ZonalIndex:
    """The zones of a set of features on one grid.

    A single zone is computed when it is asked for; all of them together are kept in a file of
    ``cache_dir`` (none if None). A missing, stale or damaged file is rebuilt, and a folder that
    can't be written is no error.
    """

    def __init__(
        self, grid: AnyGrid, features: Iterable[Feature], *, cache_dir: Path | None = None
    ) -> None:
        self.grid = grid
        self._features = features
        self._cache_dir = cache_dir
        self._zones: dict[str, Zone] = {}

    @cached_property
    def features(self) -> dict[str, Feature]:
        """The features by key, in the order of the set."""
        return {feature.key: feature for feature in self._features}

    def weights(self, feature: Feature) -> Zone:
        """Return the zone of a feature, which need not be one of the set.

        A point has the one cell nearest to it, as has a shape without area (with ``fallback``).

        Raises:
            OutsideGrid: if no part of it is inside the grid.
        """
        zone = self.zone(feature)
        if not zone.cells.size:
            raise OutsideGrid(f"{feature.key} lies outside the grid: {self.grid!r}.")
        return zone

    def zone(self, feature: Feature) -> Zone:
        """Return ``weights``, but a zone without cells for a feature outside the grid."""
        zone = self._zones.get(feature.key)
        if zone is None:
            zone = build_zone(self.grid, feature.geometry)
            if feature.key in self.features:
                self._zones[feature.key] = zone
        return zone

    def point(self, latitude: float, longitude: float) -> Zone:
        """Return the zone of a point: the nearest cell.

        Raises:
            OutsideGrid: if the point is outside the grid.
        """
        return _one_cell(self.grid, self.grid.nearest(latitude, longitude), fallback=False)

    def build(self) -> dict[str, Zone]:
        """Return the zones of all features of the set by key, from the cache or anew.

        The zone of a feature outside the grid has no cells.
        """
        if len(self._zones) < len(self.features):
            self._zones = self._load_or_build()
        return self._zones

    def _load_or_build(self) -> dict[str, Zone]:
        places = self.features
        path = None
        if self._cache_dir is not None:
            path = self._cache_dir / f"{zonal_cache.digest(places.values(), self.grid)}.npz"
            loaded = zonal_cache.read(path, len(places), self.grid.size)
            if loaded is not None:
                return {key: Zone(*row) for key, row in zip(places, loaded, strict=True)}
        zones = {
            key: self._zones.get(key) or build_zone(self.grid, place.geometry)
            for key, place in places.items()
        }
        if path is not None:
            zonal_cache.write(path, [(z.cells, z.weights, z.fallback) for z in zones.values()])
        return zones


def build_zone(grid: AnyGrid, geometry: BaseGeometry) -> Zone:
    """Place one geometry on a grid; the zone has no cells if it is wholly outside."""
    if geometry.geom_type == "Point":
        return _nearest_zone(grid, geometry, fallback=False)
    if not grid.has_areas:
        return Zone(_frozen(np.empty(0, dtype=np.intp)), _frozen(np.empty(0)), False)
    cells, fractions = coverage(grid, geometry)
    if not cells.size:
        return _nearest_zone(grid, geometry, fallback=True)
    weights = fractions * grid.cell_area[cells]
    small = bool(weights.sum() < grid.cell_area[cells].max()) and _below_one_cell(
        grid, geometry, float(weights.sum())
    )
    return Zone(_frozen(cells), _frozen(weights), small)


def zonal_statistic(values: NDArray[Any], zone: Zone, stat: Stat = "mean") -> NDArray[np.float64]:
    """Return a statistic over the cells of a zone, for each column.

    ``mean`` is weighted; ``min`` and ``max`` are over all cells the feature touches, unweighted;
    ``median`` is the smallest value at which the summed weight reaches half. Cells that are NaN
    are left out and the weights of the others renormalised; where all are NaN, so is the result.

    Args:
        values: (cell, time), any real dtype; sums are in float64.
        zone: the cells; at least one.
        stat: mean, min, max or median.

    Returns:
        (time,) float64, in the units of ``values``.

    Raises:
        ValueError: for another ``stat``.
    """
    row: NDArray[np.float64] = zonal_table(values, [zone], stat)[0]
    return row


def zonal_table(
    values: NDArray[Any], zones: Sequence[Zone], stat: Stat = "mean"
) -> NDArray[np.float64]:
    """Return ``zonal_statistic`` of many zones: (zone, time) float64; NaN where one is empty."""
    if stat not in STATS:
        raise ValueError(f"There is no statistic {stat!r}; use one of {', '.join(STATS)}.")
    columns = values.shape[1]
    table = np.full((len(zones), columns), np.nan)
    if stat == "median":
        for i, zone in enumerate(zones):
            if zone.cells.size:
                table[i] = _median(values[zone.cells].astype(np.float64), zone.weights)
        return table
    batch: list[int] = []
    held = 0
    for i, zone in enumerate(zones):
        if not zone.cells.size:
            continue
        if batch and (held + zone.cells.size) * columns > _CHUNK:
            table[batch] = _reduce(values, [zones[j] for j in batch], stat)
            batch, held = [], 0
        batch.append(i)
        held += zone.cells.size
    if batch:
        table[batch] = _reduce(values, [zones[j] for j in batch], stat)
    return table


def _reduce(values: NDArray[Any], zones: Sequence[Zone], stat: Stat) -> NDArray[np.float64]:
    """Reduce each zone in one pass over the gathered cells; every zone has at least one."""
    cells = zones[0].cells if len(zones) == 1 else np.concatenate([z.cells for z in zones])
    starts = np.cumsum([0] + [z.cells.size for z in zones[:-1]])
    gathered = values[cells]
    result: NDArray[np.float64]
    if stat != "mean":
        # fmin and fmax pass NaN over unless there is nothing else.
        reduce = np.fmin if stat == "min" else np.fmax
        result = reduce.reduceat(gathered, starts, axis=0).astype(np.float64)
        return result
    weights = np.concatenate([z.weights for z in zones])[:, None]
    total = np.add.reduceat(weights, starts, axis=0)
    result = np.add.reduceat(gathered * weights, starts, axis=0) / total
    if np.isnan(result).any():
        present = ~np.isnan(gathered)
        weights = np.where(present, weights, 0.0)
        total = np.add.reduceat(weights, starts, axis=0)
        summed = np.add.reduceat(np.where(present, gathered, 0.0) * weights, starts, axis=0)
        result = np.divide(summed, total, out=np.full_like(summed, np.nan), where=total > 0.0)
    return result


def _median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """Weighted median of each column of (cell, time)."""
    order = np.argsort(values, axis=0, kind="stable")  # NaN last
    ranked = np.take_along_axis(values, order, axis=0)
    mass = np.where(np.isnan(ranked), 0.0, weights[order]).cumsum(axis=0)
    reached = (mass >= 0.5 * mass[-1]).argmax(axis=0)
    result: NDArray[np.float64] = ranked[reached, np.arange(values.shape[1])]
    return result


def _below_one_cell(grid: AnyGrid, geometry: BaseGeometry, area: float) -> bool:
    """Say whether an area in m2 is less than that of the cell its shape lies in."""
    middle = shapely.point_on_surface(geometry)
    try:
        return area < float(grid.cell_area[grid.nearest(middle.y, middle.x)])
    except OutsideGrid:  # only part of the feature is on a regional grid
        return False


def _nearest_zone(grid: AnyGrid, geometry: BaseGeometry, *, fallback: bool) -> Zone:
    """Return the cell under a point, or under a point of a shape that covers no cell."""
    middle = shapely.point_on_surface(geometry)
    try:
        cell = grid.nearest(middle.y, middle.x)
    except OutsideGrid:
        return Zone(_frozen(np.empty(0, dtype=np.intp)), _frozen(np.empty(0)), False)
    return _one_cell(grid, cell, fallback=fallback)


def _one_cell(grid: AnyGrid, cell: int, *, fallback: bool) -> Zone:
    cells = np.array([cell], dtype=np.intp)
    return Zone(_frozen(cells), _frozen(grid.cell_area[cells]), fallback)


def _frozen(array: _Array) -> _Array:
    array.setflags(write=False)
    return array
