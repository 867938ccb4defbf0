"""Mean series of one feature and of all, and how exact they are."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from benchmarks.alternatives import (
    ExactExtract,
    Flox,
    absent,
    boxed_xarray,
    check,
    masked_xarray,
)
from benchmarks.clock import Sweep, interleaved
from benchmarks.records import Bar, Record
from benchmarks.world import PLACES, World, load_numba

_LARGE = 10**6  # bytes: from there on memory counts, not the call
_CENTRES = "regionmask takes whole cells by their centres, so its numbers are others"


def one_feature(world: World) -> list[Record]:
    """The mean series of a country out of (cell, time) in memory, with its zone known."""
    load_numba()
    found = []
    for name in PLACES:
        found += _one_feature(world, name)
    return found


def _one_feature(world: World, name: str) -> list[Record]:
    from zephyrus_geodata.zonal import build_zone, zonal_statistic

    feature, values = world.place(name), world.cells
    zone = build_zone(world.grid, feature.geometry)
    touched = np.ascontiguousarray(values[zone.cells])
    target = np.empty_like(touched)

    works: dict[str, Callable[[], object]] = {
        "ours": lambda: zonal_statistic(values, zone, "mean"),
        "memcpy": lambda: np.copyto(target, touched),
    }
    boxed = works["box"] = boxed_xarray(world.grid, world.maps, zone)
    check(zonal_statistic(values, zone), np.asarray(boxed()), 2e-3, f"xarray over {name}")
    without = {
        "exactextract": absent(world, "exactextract"),
        "regionmask": absent(world, "regionmask"),
    }
    if not without["exactextract"]:
        exact = ExactExtract(world.grid, world.maps, [feature])
        if name != "Russia":  # it crosses the seam
            check(zonal_statistic(values, zone), exact.means()[0], 5e-3, f"exactextract, {name}")
        works["exactextract"] = exact.means
    if not without["regionmask"]:
        works["regionmask"] = masked_xarray(world.grid, world.maps, feature)
    hot = interleaved(works, world.rounds)
    swept = interleaved(works, world.rounds, before=Sweep())

    what = f"mean series of {name} ({touched.nbytes / 1e6:.2g} MB touched)"

    def record(
        timed: dict[str, float], key: str, alternative: str, bar: Bar | None, **more: object
    ) -> Record:
        note = str(more.get("note", ""))
        return Record(
            "one-feature",
            f"{what}, {'in cache' if timed is hot else 'caches swept'}",
            timed["ours"],
            alternative=alternative,
            theirs=timed.get(key),
            sense="longer" if key == "memcpy" else "faster",
            bar=bar,
            headline=name == "Kenya" and timed is swept,
            note=note or without.get(key, ""),
            limits=str(more.get("limits", "")),
        )

    large = touched.nbytes > _LARGE
    times_4 = Bar("ratio", "most", 4.0)
    call = "A call costs a few microseconds of Python, which is much of so short a work."
    if large:
        call = "Every number is multiplied and added in float64; a copy does no arithmetic."
    cold = (
        "With the caches swept the call's own code and its page tables are cold too, which takes more "
        "than the arithmetic."
    )
    spread = "The cells are many short runs of 164 bytes at scattered addresses."
    libraries = {
        "exactextract": ("exactextract, spherical", 50.0, without["exactextract"]),
        "regionmask": (
            "regionmask, then xarray weighted",
            500.0,
            without["regionmask"] or _CENTRES,
        ),
        "box": ("xarray weighted over the bounding box", 40.0, ""),
    }
    found = []
    for timed in (hot, swept):
        found.append(record(timed, "memcpy", "memcpy of those bytes", times_4, limits=spread))
        for key, (alternative, times, note) in libraries.items():
            # Out of memory a large country takes the libraries no fifty times as long as a mere
            # copy of its numbers: no method can be so much faster.
            bound = timed is swept and large
            if bound:
                ratio = timed[key] / timed["memcpy"] if key in timed else 0.0
                note = f"a copy of the numbers would be {ratio:.3g} × faster; {note}".rstrip("; ")
            bar = None if bound else Bar("ratio", "least", times)
            limits = cold if timed is swept else call
            found.append(record(timed, key, alternative, bar, note=note, limits=limits))
    return found


def all_features(world: World) -> list[Record]:
    """The mean series of every shipped feature at once."""
    from zephyrus_geodata.zonal import ZonalIndex, zonal_table

    values, features = world.cells, list(world.features)
    if world.quick:
        features = world.shapes
    index = ZonalIndex(world.grid, features, cache_dir=world.scratch / "zones")
    zones = index.build()
    touched = np.ascontiguousarray(values[np.unique(zones.cells)])
    target = np.empty_like(touched)
    works: dict[str, Callable[[], object]] = {
        "ours": lambda: zonal_table(values, zones, "mean"),
        "memcpy": lambda: np.copyto(target, touched),
    }
    no_flox, no_exact = absent(world, "flox"), absent(world, "exactextract")
    if not no_flox:
        flox = Flox(world.maps, list(zones))
        check(zonal_table(values, zones), flox.means(), 1e-3, "flox")
        works["flox"] = flox.means
    timed = interleaved(works, world.rounds)
    shapes = index.zones(world.shapes)
    areas_works = {"ours": lambda: zonal_table(values, shapes, "mean")}
    if not no_exact:
        areas_works["exactextract"] = ExactExtract(world.grid, world.maps, world.shapes).means
    areas = interleaved(areas_works, world.rounds)
    size = f"{touched.nbytes / 1e6:.0f} MB touched"
    scattered = (
        f"Features overlap: {zones.cells.size:,} cells are read, "
        f"{zones.cells.size / world.grid.size:.1f} times the grid; memcpy copies each once."
    )
    return [
        Record(
            "all-features",
            f"mean series of all {len(features):,} features ({size})",
            timed["ours"],
            alternative="memcpy of those bytes",
            theirs=timed["memcpy"],
            sense="longer",
            bar=Bar("ratio", "most", 3.0),
            headline=True,
            limits=scattered,
        ),
        Record(
            "all-features",
            f"mean series of all {len(features):,} features ({size})",
            timed["ours"],
            alternative="flox, weighted sums",
            theirs=timed.get("flox"),
            sense="faster",
            bar=Bar("ratio", "least", 20.0),
            headline=True,
            note=no_flox,
            limits=scattered,
        ),
        Record(
            "all-features",
            f"mean series of the {len(world.shapes):,} features with an area",
            areas["ours"],
            alternative="exactextract, spherical",
            theirs=areas.get("exactextract"),
            sense="faster",
            bar=Bar("ratio", "least", 12.0),
            headline=True,
            note=no_exact,
            limits=scattered,
        ),
    ]


def accuracy(world: World) -> list[Record]:
    """How far the means are from float64 sums, and from exactextract's off the seam."""
    from zephyrus_geodata.zonal import ZonalIndex, zonal_table

    values = world.cells
    index = ZonalIndex(world.grid, world.shapes, cache_dir=world.scratch / "zones")
    zones = index.build()
    ours = zonal_table(values, zones, "mean")
    worst = 0.0
    for zone, row in zip(zones, ours, strict=True):
        # Extended precision where the machine has it, and column by column: another order of sums.
        weights = zone.weights.astype(np.longdouble)
        exact = [
            np.sum(values[zone.cells, time].astype(np.longdouble) * weights) / weights.sum()
            for time in range(values.shape[1])
        ]
        worst = max(worst, float(np.abs(row - np.array(exact)).max()))
    found = [
        Record(
            "accuracy",
            f"largest error of {len(zones):,} mean series",
            worst,
            "K",
            alternative="float64 oracle",
            bar=Bar("ours", "most", 1e-4),
            headline=True,
        )
    ]
    without = absent(world, "exactextract")
    apart: float | None = None
    if not without:
        # The column at 180 reaches over the seam, where exactextract has no other side.
        seam = 180.0 - 0.5 * world.step
        off = [i for i, f in enumerate(world.shapes) if _inside(f.geometry.bounds, seam)]
        theirs = ExactExtract(world.grid, world.maps, [world.shapes[i] for i in off]).means()
        gap = np.abs(ours[off] - theirs)[~zones.fallback[off]]
        apart = float(np.nanmax(gap))
        without = f"{len(gap):,} features have no part in the column at 180°"
    found.append(
        Record(
            "accuracy",
            "largest difference off the seam",
            apart,
            "K",
            alternative="exactextract, spherical",
            bar=Bar("ours", "most", 5e-3),
            note=without,
            limits="exactextract keeps the covered fraction in single precision.",
        )
    )
    return found


def _inside(bounds: tuple[float, ...], seam: float) -> bool:
    return bounds[0] >= -seam and bounds[2] <= seam


ROWS = {"one-feature": one_feature, "all-features": all_features, "accuracy": accuracy}
