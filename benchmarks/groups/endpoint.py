"""Conversations with a model server that takes 200 ms: the whole loop, and the policy alone."""

from __future__ import annotations

import asyncio
import statistics
from collections.abc import Mapping

from benchmarks.conversations import Cost, Many, by_openai, by_policy, by_rollout
from benchmarks.records import Bar, Record
from benchmarks.server import TURNS, running
from benchmarks.world import World

_CLIENT = "plain openai client, the same requests and no loop"


def rollout(world: World) -> list[Record]:
    """`zephyrus.rollout` against the server."""
    at_once, latency = sizes(world)
    works: Mapping[str, tuple[Many, int]] = {
        "ours": (by_rollout, 4 * at_once),
        "plain": (by_openai, at_once),
    }
    cost = _measure(world, works)
    ideal = at_once / latency
    what = f"rollout loop against a {1000 * latency:.0f} ms server, {at_once} at once"
    return [
        Record(
            "rollout",
            f"{what}: CPU a turn",
            cost["ours"].cpu,
            clock="CPU",
            alternative=_CLIENT,
            theirs=cost["plain"].cpu,
            sense="faster",
            bar=Bar("ours", "most", 0.003),
            headline=True,
            limits="The OpenAI-compatible client takes most of it.",
        ),
        Record(
            "rollout",
            f"{what}: turns a second, of the ideal {ideal:,.0f}",
            100.0 * cost["ours"].rate / ideal,
            "%",
            alternative=_CLIENT,
            theirs=100.0 * cost["plain"].rate / ideal,
            bar=Bar("ours", "least", 70.0),
            headline=True,
            note=f"episodes of {TURNS} turns; the run folder is written",
            limits="The server shares the processor's cores with the loop.",
        ),
    ]


def endpoint(world: World) -> list[Record]:
    """The policy alone."""
    at_once = sizes(world)[0]
    works: Mapping[str, tuple[Many, int]] = {
        "ours": (by_policy, at_once),
        "plain": (by_openai, at_once),
    }
    cost = _measure(world, works)
    return [
        Record(
            "endpoint",
            f"endpoint policy alone, {at_once} at once: CPU a turn",
            cost["ours"].cpu,
            clock="CPU",
            alternative="plain openai client, the same requests",
            theirs=cost["plain"].cpu,
            sense="faster",
            bar=Bar("ours", "most", 0.003),
        )
    ]


def sizes(world: World) -> tuple[int, float]:
    """Conversations at once, and the server's seconds."""
    return (8, 0.02) if world.quick else (128, 0.2)


def _measure(world: World, works: Mapping[str, tuple[Many, int]]) -> dict[str, Cost]:
    """Run them by turns; medians of three rounds."""
    at_once, latency = sizes(world)
    found: dict[str, list[Cost]] = {name: [] for name in works}
    with running(latency) as url:
        for _ in range(min(3, world.rounds)):
            for name, (work, episodes) in works.items():
                found[name].append(asyncio.run(_run(work, url, episodes, at_once)))
    return {
        name: Cost(
            statistics.median(cost.cpu for cost in costs),
            statistics.median(cost.rate for cost in costs),
        )
        for name, costs in found.items()
    }


async def _run(work: Many, url: str, episodes: int, at_once: int) -> Cost:
    return await work(url, episodes, at_once)


ROWS = {"rollout": rollout, "endpoint": endpoint}
