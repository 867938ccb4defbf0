"""Building a bank of questions with gold answers."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from benchmarks.alternatives import boxed_xarray
from benchmarks.records import Bar, Record
from benchmarks.world import World

if TYPE_CHECKING:
    from zephyrus.task import Task
    from zephyrus_geodata import Dataset, Feature

_BANKS = 4  # a feature is asked about so often only in one bank that 10,000 don't fit
_SAMPLE = 12  # tasks whose series xarray computes
_MOST = 150  # candidates of such a task that it computes; the others are extrapolated


def bank(world: World) -> list[Record]:
    """10,000 questions over a made-up world of forecasts with a climatology."""
    from zephyrus_bench.bank import make_tasks, quotas
    from zephyrus_geodata.testing import analytic_dataset

    banks, size = (1, 80) if world.quick else (_BANKS, 2_500)
    wanted = banks * size
    dates = [f"{year}-{month:02}-05" for year in (2001, 2002) for month in range(1, 13)]
    dataset = analytic_dataset(
        step=10.0 if world.quick else 2.5,
        initial_dates=dates[:6] if world.quick else dates,
    )
    for forecast in map(dataset.forecast, dataset.forecasts):  # the weather is made, not read
        for name in forecast.variables:
            forecast.cells(name)
    if dataset.climatology is not None:
        for name in dataset.climatology.variables:
            dataset.climatology.cells(name, "mean", 1)
    quota = quotas({"train": size * 3 // 5, "validation": size // 5, "test": size // 5})
    start = time.perf_counter()
    found = [task for seed in range(banks) for task in make_tasks(dataset, quota, seed)[0]]
    spent = time.perf_counter() - start
    theirs = _by_xarray(dataset, found[:: max(1, len(found) // _SAMPLE)][:_SAMPLE])
    grid = dataset.rectilinear
    lead_times = dataset.forecast(dataset.forecasts[0]).lead_hours.size
    whole = "" if len(found) == wanted else f" ({len(found):,} of {wanted:,} were found)"
    return [
        Record(
            "bank",
            f"{wanted:,} bench questions with gold answers{whole}",
            spent * wanted / len(found),
            alternative="the series of their features by xarray weighted, extrapolated",
            theirs=theirs * wanted,
            sense="faster",
            bar=Bar("ours", "most", 60.0),
            headline=True,
            note=(
                f"banks of {size:,} over {len(dataset.forecasts)} forecasts of {lead_times} lead "
                f"times on {grid.shape[1]} × {grid.shape[0]} cells, weights and tables included; "
                f"xarray does {_SAMPLE} of the questions, without drawing or checking them"
            ),
            limits="Drawing candidates and holding each against blind guesses.",
        )
    ]


def _by_xarray(dataset: Dataset, tasks: Sequence[Task]) -> float:
    """Seconds a question for the mean series of every feature that it is about."""
    total = 0.0
    shape = dataset.rectilinear.shape
    for task in tasks:
        features = _features(dataset, task)
        forecast = dataset.forecast(task.world["forecast"])
        cells = forecast.cells(task.provenance["variable"])
        maps = np.ascontiguousarray(cells.T).reshape(-1, *shape)
        some = features[:_MOST]
        works = [boxed_xarray(dataset.rectilinear, maps, dataset.zones.weights(f)) for f in some]
        start = time.perf_counter()
        for work in works:
            work()
        total += (time.perf_counter() - start) * len(features) / max(1, len(some))
    return total / len(tasks)


def _features(dataset: Dataset, task: Task) -> list[Feature]:
    """What a question is about: its candidates, or its one feature."""
    names = {feature.key: feature for feature in dataset.features}
    named = [*task.provenance.get("candidates", ()), task.provenance["key"][1]]
    kind = task.provenance["kind"]
    found = [names.get(name) or names.get(f"{kind}:{name}") for name in named]
    return [feature for feature in found if feature is not None]


ROWS = {"bank": bank}
