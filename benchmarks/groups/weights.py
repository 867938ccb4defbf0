"""Building the weights of all features, one more, and loading them again."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import shapely
from scipy import sparse

from benchmarks.alternatives import ExactExtract, absent
from benchmarks.clock import interleaved
from benchmarks.records import Bar, Record
from benchmarks.world import World

if TYPE_CHECKING:
    from zephyrus_geodata import Feature

_SAMPLE = 20  # every so many features go to shapely, which takes too long for all


def weights(world: World) -> list[Record]:
    """All shipped features on the grid."""
    from zephyrus_geodata import Feature
    from zephyrus_geodata.zonal import ZonalIndex

    features = world.shapes if world.quick else world.features
    folder = Path(tempfile.mkdtemp(dir=world.scratch))

    def once() -> None:
        shutil.rmtree(folder, ignore_errors=True)
        ZonalIndex(world.grid, features, cache_dir=folder).build()

    index = ZonalIndex(world.grid, features, cache_dir=folder)
    turned = shapely.affinity.translate(world.place("France").geometry, 0.1, 0.1)
    number = iter(range(10**9))

    def one_more() -> None:
        index.weights(Feature.of(f"France, moved {next(number)}", "place", turned))

    def reload() -> None:
        ZonalIndex(world.grid, features, cache_dir=folder).build()

    sample = world.shapes[::_SAMPLE]
    works = {"once": once, "shapely": lambda: _by_shapely(world, sample)}
    without = absent(world, "exactextract")
    if not without:
        exact = ExactExtract(world.grid, world.maps[:1], world.shapes)
        single = ExactExtract(
            world.grid, world.maps[:1], [Feature.of("France, moved", "place", turned)]
        )
        works["exactextract"] = exact.coverage
    timed = interleaved(works, world.rounds)
    matrix = folder / "scipy.npz"
    zones = index.build()
    sparse.save_npz(
        matrix,
        sparse.csr_array(
            (zones.weights, zones.cells, zones.starts), shape=(len(zones), world.grid.size)
        ),
        compressed=False,
    )
    quick_works = {"one more": one_more, "reload": reload, "scipy": lambda: sparse.load_npz(matrix)}
    if not without:
        quick_works["exactextract"] = single.coverage
    again = interleaved(quick_works, world.rounds)
    what = f"weights of {len(features):,} features, {len(world.shapes):,} of them areas"
    return [
        Record(
            "weights",
            what,
            timed["once"],
            alternative="exactextract, cell_id and coverage of the areas",
            theirs=timed.get("exactextract"),
            sense="faster",
            bar=Bar("ours", "most", 10.0),
            headline=True,
            note=without,
            limits="Outlines of many points are cut at every line of the grid.",
        ),
        Record(
            "weights",
            what,
            timed["once"],
            alternative=f"shapely, vectorised (every {_SAMPLE}th area, extrapolated)",
            theirs=timed["shapely"] * len(world.shapes) / len(sample),
            sense="faster",
        ),
        Record(
            "weights",
            "weights of one more feature (France, moved)",
            again["one more"],
            alternative="exactextract, cell_id and coverage",
            theirs=again.get("exactextract"),
            sense="faster",
            bar=Bar("ours", "most", 0.05),
            note=without,
            limits="Outlines of many points are cut at every line of the grid.",
        ),
        Record(
            "weights",
            "reloading all of them from the cache",
            again["reload"],
            alternative="scipy.sparse.load_npz of the same matrix",
            theirs=again["scipy"],
            sense="faster",
            bar=Bar("ours", "most", 0.005),
            limits="The key is a hash of all shapes and the grid.",
        ),
    ]


def _by_shapely(world: World, features: Sequence[Feature]) -> int:
    """Cells and covered fractions by intersecting with the boxes of the cells."""
    grid, count = world.grid, 0
    west, south = np.meshgrid(grid.lon_edges[:-1], grid.lat_edges[:-1])
    east, north = np.meshgrid(grid.lon_edges[1:], grid.lat_edges[1:])
    for feature in features:
        shape = feature.geometry
        left, bottom, right, top = shape.bounds
        near = (east > left) & (west < right) & (north > bottom) & (south < top)
        boxes = shapely.box(west[near], south[near], east[near], north[near])
        shapely.prepare(shape)
        touched = boxes[shapely.intersects(shape, boxes)]
        partly = touched[~shapely.contains_properly(shape, touched)]
        count += int(shapely.area(shapely.intersection(shape, partly)).size)
    return count


ROWS = {"weights": weights}
