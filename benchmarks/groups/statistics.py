"""Weighted medians, and the share of a place above a percentile of each cell."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from benchmarks.alternatives import Flox, absent, check
from benchmarks.clock import interleaved
from benchmarks.records import Bar, Record
from benchmarks.world import SEED, World, load_numba

if TYPE_CHECKING:
    from zephyrus_geodata import FeatureStore


def median(world: World) -> list[Record]:
    """The exact area-weighted median over France."""
    from zephyrus_geodata.zonal import build_zone, zonal_statistic

    load_numba()
    zone = build_zone(world.grid, world.place("France").geometry)
    values = world.cells
    ours = zonal_statistic(values, zone, "median")
    if not np.array_equal(ours, sorted_median(values[zone.cells], zone.weights)):
        raise RuntimeError("the weighted median is not that of the sorting definition")
    timed = interleaved(
        {
            "ours": lambda: zonal_statistic(values, zone, "median"),
            "argsort": lambda: sorted_median(values[zone.cells], zone.weights),
        },
        world.rounds,
    )
    return [
        Record(
            "median",
            f"exact weighted median of France ({zone.cells.size:,} cells)",
            timed["ours"],
            alternative="numpy argsort",
            theirs=timed["argsort"],
            sense="faster",
            bar=Bar("ours", "most", 1.5e-3),
            headline=True,
            note="equal bit for bit to the sorting definition, checked in the same run",
            limits="Without numba every lead time is sorted.",
        )
    ]


def sorted_median(values: NDArray[np.float32], weights: NDArray[np.float64]) -> NDArray[np.float64]:
    """The definition: the smallest value at which the summed weight reaches half.

    Args:
        values: (cell, time), no NaN.
        weights: (cell,).

    Returns:
        (time,).
    """
    order = np.argsort(values, axis=0, kind="stable")
    mass = np.cumsum(weights[order], axis=0)
    reached = np.argmax(mass >= 0.5 * mass[-1], axis=0)
    columns = np.arange(values.shape[1])
    middle: NDArray[np.float64] = values[order[reached, columns], columns].astype(np.float64)
    return middle


def exceedance(world: World) -> list[Record]:
    """The share of each feature's area above a cell's own percentile, at every lead time."""
    noise = np.random.default_rng(SEED + 1).standard_normal(world.grid.size)
    thresholds = (world.cells.mean(axis=1) + noise).astype(np.float32)
    found = []
    for features in (world.many, world.features):
        found += _exceedance(world, features, thresholds, barred=features is world.many)
    return found


def _exceedance(
    world: World, features: FeatureStore, thresholds: NDArray[np.float32], *, barred: bool
) -> list[Record]:
    from zephyrus_geodata.zonal import ZonalIndex, Zones, zonal_share

    index = ZonalIndex(world.grid, features, cache_dir=world.scratch / "zones")
    zones = Zones.of(zone for zone in index.build() if zone.cells.size)
    ours = zonal_share(world.cells, thresholds, zones, above=True)
    slow = _NumPyShares(world.cells, zones.cells, zones.weights, zones.starts)
    check(ours, slow(thresholds), 1e-6, "numpy")
    works = {
        "ours": lambda: zonal_share(world.cells, thresholds, zones, above=True),
        "numpy": lambda: slow(thresholds),
    }
    without = absent(world, "flox")
    if not without:
        flox = Flox(world.maps, list(zones))
        check(ours, flox.shares(thresholds), 1e-6, "flox")
        works["flox"] = lambda: flox.shares(thresholds)
    timed = interleaved(works, world.rounds)
    which = "" if barred else ", oceans and continents among them"
    what = (
        f"share of {len(zones):,} features above a percentile of each cell, all lead times{which}"
    )
    names = {"flox": "flox, weighted sums", "numpy": "numpy reduceat"}
    return [
        Record(
            "exceedance",
            what,
            timed["ours"],
            alternative=names[key],
            theirs=timed.get(key),
            sense="faster",
            bar=Bar("ours", "most", 0.06) if key == "flox" and barred else None,
            headline=key == "flox" and barred,
            note=without if key == "flox" else f"{zones.cells.size:,} cells are read",
            limits="A number is compared and its weight added in float64, one cell after the other.",
        )
        for key in names
    ]


class _NumPyShares:
    """The same by gathering, comparing and summing up with NumPy."""

    def __init__(
        self,
        values: NDArray[np.float32],
        cells: NDArray[np.int32],
        weights: NDArray[np.float64],
        starts: NDArray[np.int64],
    ) -> None:
        self.values, self.cells, self.weights = values, cells, weights[:, None]
        self.starts = starts[:-1]
        self.total = np.add.reduceat(self.weights, self.starts, axis=0)

    def __call__(self, thresholds: NDArray[np.float32]) -> NDArray[np.float64]:
        above = self.values[self.cells] > thresholds[self.cells, None]
        shares: NDArray[np.float64] = (
            np.add.reduceat(above * self.weights, self.starts, axis=0) / self.total
        )
        return shares


ROWS = {"median": median, "exceedance": exceedance}
