"""A call of the tool `dataset`, from JSON arguments to the text that a model reads."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from benchmarks.alternatives import ExactExtract, absent, boxed_xarray
from benchmarks.clock import interleaved
from benchmarks.records import Bar, Record
from benchmarks.world import KIND, VARIABLE, World


def tool_call(world: World) -> list[Record]:
    """A country's mean series, as text."""
    from zephyrus_geodata.zonal import build_zone

    arguments = {"variable": VARIABLE, "feature": "France", "time": "mean"}
    ours = _call(world.dataset(), arguments)
    mean = boxed_xarray(
        world.grid, world.maps, build_zone(world.grid, world.place("France").geometry)
    )

    def theirs() -> str:
        read = json.loads(json.dumps(arguments))
        celsius = np.asarray(mean()) - 273.15
        return f"{read['variable']} over {read['feature']}: {celsius.mean():.2f} °C"

    said = [float(text().rpartition(": ")[2].split()[0]) for text in (ours, theirs)]
    if abs(said[0] - said[1]) > 0.01:
        raise RuntimeError(f"the tool says {said[0]} °C, xarray {said[1]} °C")
    timed = interleaved({"ours": ours, "theirs": theirs}, world.rounds)
    return [
        Record(
            "tool-call",
            "call of the tool dataset, JSON arguments to text: time mean over France",
            timed["ours"],
            alternative="xarray weighted over the bounding box, f-string",
            theirs=timed["theirs"],
            sense="faster",
            bar=Bar("ours", "most", 150e-6),
            headline=True,
            note="not the first call on the data: its numbers are in the feature cube",
            limits="Checking the arguments and writing the text take most of it.",
        )
    ]


def ranking(world: World) -> list[Record]:
    """The 1,500 features of a kind by their time mean, ten of them as text."""
    arguments = {"variable": VARIABLE, "kind": KIND, "time": "mean", "order": "highest"}
    ours = _call(world.dataset(world.many), arguments)
    first = ours()
    if "1. " not in first:
        raise RuntimeError(f"no ranking: {first}")
    works: dict[str, Callable[[], object]] = {"ours": ours}
    without = absent(world, "exactextract")
    if not without:
        areas = [feature for feature in world.many if feature.geometry.area > 0.0]
        exact = ExactExtract(world.grid, world.maps, areas)
        works["exactextract"] = lambda: _first_ten(exact.means())
    timed = interleaved(works, world.rounds)
    count = len(world.many)
    return [
        Record(
            "ranking",
            f"the same, ranking {count:,} features",
            timed["ours"],
            alternative="exactextract over those with an area, argsort",
            theirs=timed.get("exactextract"),
            sense="faster",
            bar=Bar("ours", "most", 0.3e-3),
            headline=True,
            note=without,
            limits="The rows of the table are gathered, averaged and sorted for every call.",
        )
    ]


def _call(dataset: Any, arguments: Mapping[str, str]) -> Callable[[], str]:
    """A tool call as an episode makes it."""
    from zephyrus_geodata import Dataset, Forecast
    from zephyrus_tools.dataset import dataset as tool

    world = {Dataset: dataset, Forecast: dataset.forecast(dataset.forecasts[0])}
    text = json.dumps(arguments)

    def work() -> str:
        # By hand: starting an event loop for it would cost more than the call.
        try:
            tool.call(text, world).send(None)
        except StopIteration as done:
            if not done.value.error:
                return str(done.value.text)
            raise RuntimeError(done.value.text) from None
        raise RuntimeError("the tool waited for something")

    return work


def _first_ten(means: np.ndarray[Any, np.dtype[np.float64]]) -> list[int]:
    order: list[int] = np.argsort(-means.mean(axis=1))[:10].tolist()
    return order


ROWS = {"tool-call": tool_call, "ranking": ranking}
