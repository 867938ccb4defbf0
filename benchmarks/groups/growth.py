"""How cost grows with features, grid, lead times and rollouts at once."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence

import numpy as np
from shapely.affinity import translate

from benchmarks.alternatives import ExactExtract, absent
from benchmarks.clock import interleaved
from benchmarks.conversations import Many, by_openai, by_rollout
from benchmarks.groups.endpoint import sizes
from benchmarks.records import Curve
from benchmarks.server import running
from benchmarks.world import SEED, World, make_field, make_grid
from zephyrus_geodata import Feature

_EXACT = "exactextract, spherical"
_MOST_PLAIN = 256  # conversations at once of the plain client, which takes minutes for more


def features(world: World) -> list[Curve]:
    """All mean series of 10 to 4,000 areas."""
    counts = (10, 40) if world.quick else (10, 40, 160, 640, 1329, 4000)
    # Shuffled, since the list is in the order of kinds; each set holds the smaller ones.
    order = np.random.default_rng(SEED).permutation(max(counts))
    every = _areas(world, max(counts))
    ours, theirs = [], []
    for count in counts:
        chosen = [every[i] for i in order[:count]]
        spent = _means(world, world.cells, chosen, step=world.step)
        ours.append(spent["ours"])
        theirs.append(spent.get("exactextract"))
    title = f"All mean series, {world.sizes}"
    return [Curve("growth-features", title, "features", counts, tuple(ours), _EXACT, tuple(theirs))]


def grid(world: World) -> list[Curve]:
    """The mean series of 200 areas on grids of 64 x 32 to 1440 x 721."""
    steps = (11.25, 5.625) if world.quick else (5.625, 2.8125, 1.5, 1.0, 0.5, 0.25)
    chosen = _areas(world, 200)[:: 20 if world.quick else 1]
    cells, ours, theirs = [], [], []
    for step in steps:
        cells.append(float(make_grid(step).size))
        values = world.cells if step == world.step else make_field(make_grid(step), world.leads)
        spent = _means(world, values, chosen, step=step)
        ours.append(spent["ours"])
        theirs.append(spent.get("exactextract"))
    title = f"Mean series of {len(chosen)} areas, {world.leads} lead times"
    return [Curve("growth-grid", title, "cells", tuple(cells), tuple(ours), _EXACT, tuple(theirs))]


def leads(world: World) -> list[Curve]:
    """The mean series of 200 areas over 4 to 240 lead times."""
    counts = (4, 8) if world.quick else (4, 12, 41, 120, 240)
    step = 5.0 if world.quick else 0.5
    chosen = _areas(world, 200)[:: 20 if world.quick else 1]
    field = make_field(make_grid(step), max(counts))
    ours, theirs = [], []
    for count in counts:
        spent = _means(world, np.ascontiguousarray(field[:, :count]), chosen, step=step)
        ours.append(spent["ours"])
        theirs.append(spent.get("exactextract"))
    title = f"Mean series of {len(chosen)} areas, {step:g}°"
    return [Curve("growth-leads", title, "lead times", counts, tuple(ours), _EXACT, tuple(theirs))]


def rollouts(world: World) -> list[Curve]:
    """CPU time a turn with 1 to 512 conversations at once."""
    counts = (1, 4) if world.quick else (1, 8, 32, 128, 256, 512)
    _, latency = sizes(world)
    ours: list[float] = []
    theirs: list[float | None] = []
    with running(latency) as url:
        for count in counts:
            episodes = max(count, min(4 * count, 16))
            ours.append(_cpu(by_rollout, url, episodes, count))
            plain = count <= _MOST_PLAIN
            theirs.append(_cpu(by_openai, url, episodes, count) if plain else None)
    return [
        Curve(
            "growth-rollouts",
            f"Rollouts against a {1000 * latency:.0f} ms server",
            "conversations at once",
            counts,
            tuple(ours),
            "plain openai client, no loop",
            tuple(theirs),
            "CPU time a turn",
        )
    ]


def _cpu(work: Many, url: str, episodes: int, at_once: int) -> float:
    async def run() -> float:
        return (await work(url, episodes, at_once)).cpu

    return asyncio.run(run())


def _areas(world: World, count: int) -> list[Feature]:
    """So many areas: the shipped ones by turns over the list, then the same ones moved east."""
    shapes = world.shapes
    if count <= len(shapes):
        return [shapes[i] for i in np.linspace(0, len(shapes) - 1, count).astype(int)]
    found = list(shapes)
    while len(found) < count:
        turn = len(found) // len(shapes)
        for shape in shapes[: count - len(found)]:
            west, _, east, _ = shape.geometry.bounds
            moved = 3.3 * turn if east + 3.3 * turn < 180.0 else -3.3 * turn
            moved = 0.0 if west + moved < -180.0 else moved
            area = translate(shape.geometry, moved, 0.0)
            found.append(Feature.of(f"{shape.key} {turn}", "place", area))
    return found


def _means(
    world: World, values: np.ndarray, chosen: Sequence[Feature], *, step: float
) -> dict[str, float]:
    """Seconds for all mean series, ours and exactextract's."""
    from zephyrus_geodata.zonal import Zones, build_zone, zonal_table

    where = make_grid(step)
    zones = Zones.of(build_zone(where, feature.geometry) for feature in chosen)
    works: dict[str, Callable[[], object]] = {"ours": lambda: zonal_table(values, zones, "mean")}
    if not absent(world, "exactextract"):
        maps = np.ascontiguousarray(values.T).reshape(-1, *where.shape)
        works["exactextract"] = ExactExtract(where, maps, chosen).means
    return interleaved(works, 3)


ROWS = {
    "growth-features": features,
    "growth-grid": grid,
    "growth-leads": leads,
    "growth-rollouts": rollouts,
}
