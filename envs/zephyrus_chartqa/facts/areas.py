"""The named areas of a chart: what its questions are about and its text view lists."""

from __future__ import annotations

import re
import weakref
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import Dataset, Feature
from zephyrus_geodata.cells import StationList
from zephyrus_tools.articles import with_article
from zephyrus_tools.bodies import main_body
from zephyrus_tools.regions import Region

MOST = 12
"""Areas of one chart: as many as its text view can list in a few hundred tokens."""

_KINDS = (  # in the order in which they are taken
    ("country", "us_state", "sea", "ocean"),
    ("peninsula", "island"),
    ("plain", "desert", "plateau", "basin"),
)
_LEAST_CELLS = 3.0  # of the grid's, counted by area
_LEAST, _MOST = 0.012, 0.08  # share of the region: smaller is not seen, larger has no one value
_WITHIN = 0.6  # share of a feature that the region must show
_HALVES, _QUARTERS = 0.03, 0.10  # share of the region from which a feature has such parts
_GAP = 3.0  # degrees between a feature's main body and its far-off parts
_OVERLAP = 0.1  # of the smaller of two areas; more, and they are not two places
_LONG = 1.4  # a feature this much longer one way is halved across it
_COMPASS = re.compile(r"^(?:North|South|East|West|Central|Middle|New )", re.IGNORECASE)


@dataclass(frozen=True, eq=False)
class Area:
    """A part of a chart that has a name.

    Attributes:
        key: The feature's key, with the part: "country:France/north".
        name: As in a sentence: "northern France", "the North Sea".
        latitude: Of its middle, degrees north.
        longitude: Of its middle, degrees east, -180 to 180.
        cells: (n,) cells of the dataset's grid, those of its main body that are in the region.
        weights: (n,) m2 of each that belong to it.
    """

    key: str
    name: str
    latitude: float
    longitude: float
    cells: NDArray[np.integer]
    weights: NDArray[np.float64]

    @property
    def size(self) -> float:
        """m2."""
        return float(self.weights.sum())


_known: weakref.WeakKeyDictionary[Dataset, dict[Region, tuple[Area, ...]]] = (
    weakref.WeakKeyDictionary()
)


def chart_areas(dataset: Dataset, region: Region) -> tuple[Area, ...]:
    """Choose the areas of a region: at most `MOST`, no two of them overlapping.

    They are features that the grid resolves and the region shows, countries and seas before
    others and large ones before small, and compass parts of those that are too large to have one
    value. The same region of the same dataset always has the same ones.

    Args:
        dataset: Its grid and features.
        region: What the chart shows.

    Returns:
        From north to south; none if the dataset is a list of stations.
    """
    found = _known.setdefault(dataset, {})
    if region not in found:
        found[region] = tuple(_chosen(dataset, region))
    return found[region]


def _chosen(dataset: Dataset, region: Region) -> list[Area]:
    grid = dataset.grid
    if isinstance(grid, StationList):
        return []
    latitude, longitude = grid.cell_latitude, grid.cell_longitude
    inside = (latitude >= region.south) & (latitude <= region.north)
    inside &= (longitude - region.west) % 360.0 <= region.east - region.west
    whole = float(grid.cell_area[inside].sum())
    picked: list[Area] = []
    for kinds in _KINDS:
        candidates: list[Area] = []
        for kind in kinds:
            if kind in dataset.features.kinds():
                for feature in dataset.features.of_kind(kind):
                    candidates += _parts(dataset, feature, inside, whole)
        candidates = [a for a in candidates if _LEAST * whole <= a.size <= _MOST * whole]
        for area in sorted(candidates, key=lambda a: (-a.size, a.key)):
            if len(picked) < MOST and not any(_overlap(area, other) for other in picked):
                picked.append(area)
    return sorted(picked, key=lambda a: (-a.latitude, a.longitude))


def _parts(
    dataset: Dataset, feature: Feature, inside: NDArray[np.bool_], whole: float
) -> Iterator[Area]:
    """A feature as far as the region shows it, its halves and its quarters, as its size allows."""
    zone = dataset.zones.zone(feature)
    body = main_body(dataset, feature, _GAP, 1.0)  # the United States go without Alaska
    here = inside[zone.cells] & body
    total, shown = float(zone.weights[body].sum()), float(zone.weights[here].sum())
    if zone.fallback or shown <= 0.0 or shown < _WITHIN * total:
        return
    grid = dataset.grid
    cells, weights = zone.cells[here], zone.weights[here]
    if not _resolved(dataset, cells, weights):
        return
    latitude, longitude = grid.cell_latitude[cells], grid.cell_longitude[cells]
    angle = np.deg2rad(longitude)
    middle = float(np.rad2deg(np.arctan2(weights @ np.sin(angle), weights @ np.cos(angle))))
    east = (longitude - middle + 180.0) % 360.0 - 180.0
    east = east - _median(east, weights)
    north = latitude - _median(latitude, weights)
    yield _area(dataset, feature, "", cells, weights)
    halves = {"north": north > 0, "south": north < 0, "west": east < 0, "east": east > 0}
    chosen: dict[str, NDArray[np.bool_]] = {}
    if shown >= _QUARTERS * whole:
        chosen = {
            f"{ns}{ew}": halves[ns] & halves[ew]
            for ns in ("north", "south")
            for ew in ("west", "east")
        }
    elif shown >= _HALVES * whole:
        tall = float(np.average(north**2, weights=weights)) ** 0.5
        wide = float(np.average((east * np.cos(np.deg2rad(latitude))) ** 2, weights=weights)) ** 0.5
        across = ("west", "east") if wide > _LONG * tall else ("north", "south")
        chosen = {part: halves[part] for part in across}
    for part, mask in chosen.items():
        if _resolved(dataset, cells[mask], weights[mask]):
            yield _area(dataset, feature, part, cells[mask], weights[mask])


def _resolved(dataset: Dataset, cells: NDArray[np.integer], weights: NDArray[np.float64]) -> bool:
    return float((weights / dataset.grid.cell_area[cells]).sum()) >= _LEAST_CELLS


def _area(
    dataset: Dataset,
    feature: Feature,
    part: str,
    cells: NDArray[np.integer],
    weights: NDArray[np.float64],
) -> Area:
    grid = dataset.grid
    angle = np.deg2rad(grid.cell_longitude[cells])
    return Area(
        key=f"{feature.key}/{part}" if part else feature.key,
        name=_name(feature, part),
        latitude=float(np.average(grid.cell_latitude[cells], weights=weights)),
        longitude=float(np.rad2deg(np.arctan2(weights @ np.sin(angle), weights @ np.cos(angle)))),
        cells=cells,
        weights=weights,
    )


def _name(feature: Feature, part: str) -> str:
    whole = with_article(feature.name, feature.kind)
    if not part:
        return whole
    if _COMPASS.search(feature.name):
        return f"the {part} of {whole}"
    the, bare = ("the ", whole[4:]) if whole.startswith("the ") else ("", whole)
    return f"{the}{part}ern {bare}"


def _overlap(one: Area, other: Area) -> bool:
    """Whether two areas share more than a rim.

    A cell that both touch counts as shared by as much as the smaller share of it.
    """
    _, first, second = np.intersect1d(one.cells, other.cells, return_indices=True)
    shared = float(np.minimum(one.weights[first], other.weights[second]).sum())
    return shared > _OVERLAP * min(one.size, other.size)


def _median(values: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    order = np.argsort(values, kind="stable")
    total = np.cumsum(weights[order])
    return float(values[order][int(np.searchsorted(total, 0.5 * total[-1]))])
