"""Which cells a feature covers, with which weight; of a whole set, found once and kept.

The weight of a cell is its covered fraction times its area on the sphere, in m2.
"""

from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from hashlib import blake2b
from pathlib import Path

import numpy as np
import shapely
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata import zonal_cache
from zephyrus_geodata.cells import AnyGrid
from zephyrus_geodata.coverage import coverage
from zephyrus_geodata.errors import OutsideGrid
from zephyrus_geodata.features import Feature, FeatureStore, digest
from zephyrus_geodata.zones import Zone, Zones, frozen

_MANY = 64
"""Where so many zones are asked for, those of the whole set are built, or taken from the cache."""


class ZonalIndex:
    """The zones of a set of features on one grid.

    A single zone is computed when it is asked for; all of them together are kept in a folder of
    ``cache_dir`` (none if None). A missing, stale or damaged folder is built anew, and a place
    that can't be written is no error.
    """

    def __init__(
        self, grid: AnyGrid, features: Iterable[Feature], *, cache_dir: Path | None = None
    ) -> None:
        self.grid = grid
        self._features = features
        self._cache_dir = cache_dir
        self._single: dict[str, Zone] = {}
        self._all: Zones | None = None
        self._looked = False

    @cached_property
    def features(self) -> Mapping[str, Feature]:
        """The features by key, in the order of the set."""
        if isinstance(self._features, FeatureStore):
            return self._features.by_key
        return {feature.key: feature for feature in self._features}

    @cached_property
    def rows(self) -> Mapping[str, int]:
        """The row of each feature in ``build()``, by its key."""
        return {key: row for row, key in enumerate(self.features)}

    @cached_property
    def key(self) -> str:
        """A string that two indexes share exactly when their zones are the same."""
        places = self._features
        shapes = (
            places.digest if isinstance(places, FeatureStore) else digest(self.features.values())
        )
        parts = f"{zonal_cache.VERSION} {self.grid.key} {shapes}"
        return blake2b(parts.encode(), digest_size=16).hexdigest()

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
        key = feature.key
        zone = self._single.get(key)
        own = self.features.get(key)
        if own is not feature and own != feature:
            return build_zone(self.grid, feature.geometry)  # of the same name, perhaps
        if zone is None:
            every = self._kept()
            zone = (
                build_zone(self.grid, feature.geometry) if every is None else every[self.rows[key]]
            )
            self._single[key] = zone
        return zone

    def zones(self, features: Sequence[Feature]) -> Zones:
        """Return the zones of features, which need not be of the set, in their order."""
        rows = self.rows
        index = [rows.get(feature.key, -1) for feature in features]
        own = self.features
        known = all(
            own[feature.key] is feature or own[feature.key] == feature
            for row, feature in zip(index, features, strict=True)
            if row >= 0
        )
        if not known or -1 in index:
            return Zones.of(self.zone(feature) for feature in features)
        every = self.build() if len(index) >= min(_MANY, len(rows)) else self._kept()
        if every is None:
            return Zones.of(self.zone(feature) for feature in features)
        return every if index == list(range(len(every))) else every.take(index)

    def point(self, latitude: float, longitude: float) -> Zone:
        """Return the zone of a point: the nearest cell.

        Raises:
            OutsideGrid: if the point is outside the grid.
        """
        return _one_cell(self.grid, self.grid.nearest(latitude, longitude), fallback=False)

    def build(self) -> Zones:
        """Return the zones of all features in the order of the set, from the cache or anew.

        The zone of a feature outside the grid has no cells.
        """
        every = self._kept()
        if every is None:
            every = Zones.of(self.zone(feature) for feature in self.features.values())
            if self._cache_dir is not None:
                zonal_cache.write(self._cache_dir / self.key, every, self.grid.size)
            self._all = every
            self._single.clear()
        return every

    def _kept(self) -> Zones | None:
        """Return the zones of all features if they were built before, here or elsewhere."""
        if self._all is None and self._cache_dir is not None and not self._looked:
            folder = self._cache_dir / self.key
            self._all = zonal_cache.read(folder, len(self.features), self.grid.size)
            self._looked = True  # a query at a time must not search the disk each time
        return self._all


def build_zone(grid: AnyGrid, geometry: BaseGeometry) -> Zone:
    """Place one geometry on a grid; the zone has no cells if it is wholly outside."""
    if geometry.geom_type == "Point":
        return _nearest_zone(grid, geometry, fallback=False)
    if not grid.has_areas:
        return _no_cells()
    cells, fractions = coverage(grid, geometry)
    if not cells.size:
        return _nearest_zone(grid, geometry, fallback=True)
    weights = fractions * grid.cell_area[cells]
    small = bool(weights.sum() < grid.cell_area[cells].max()) and _below_one_cell(
        grid, geometry, float(weights.sum())
    )
    return Zone(frozen(cells.astype(np.int32)), frozen(weights), small)


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
        return _no_cells()
    return _one_cell(grid, cell, fallback=fallback)


def _one_cell(grid: AnyGrid, cell: int, *, fallback: bool) -> Zone:
    cells = np.array([cell], dtype=np.int32)
    return Zone(frozen(cells), frozen(grid.cell_area[cells]), fallback)


def _no_cells() -> Zone:
    return Zone(frozen(np.empty(0, dtype=np.int32)), frozen(np.empty(0)), False)
