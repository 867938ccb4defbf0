"""What the rollout loop itself costs, with a policy that only sleeps.

The alternative is the least that any loop can do: coroutines that only sleep.
"""

from __future__ import annotations

import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from benchmarks.groups.endpoint import sizes
from benchmarks.idle import IdleEnv
from benchmarks.records import Record
from benchmarks.server import TURNS
from benchmarks.world import World
from zephyrus.env import ToolEnv
from zephyrus.messages import Message, Reply, ToolCall, Usage
from zephyrus.policy.base import Policy, Session
from zephyrus.rollouts import arollout
from zephyrus.task import Task


class Sleeper(Policy):
    """Sleeps, then calls the tool; answers in the last turn."""

    name = "sleeper"

    def __init__(self, latency: float) -> None:
        self._latency = latency

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """See `Policy.session`."""
        return _Sleep(self._latency)


class _Sleep:
    """One episode's turns."""

    def __init__(self, latency: float) -> None:
        self._latency, self._turn = latency, 0

    async def act(self, messages: Sequence[Message]) -> Reply:
        """Sleep, then call or answer."""
        await asyncio.sleep(self._latency)
        self._turn += 1
        if self._turn == TURNS:
            return Reply(Message("assistant", "<answer>1</answer>"), Usage(900, 20))
        call = ToolCall("tool0", '{"place": "Kenya"}')
        return Reply(Message("assistant", tool_calls=(call,)), Usage(900, 20))


def loop(world: World) -> list[Record]:
    """Episodes that cost nothing but the loop."""
    at_once, latency = sizes(world)
    episodes = 4 * at_once

    async def ours() -> None:
        with tempfile.TemporaryDirectory() as folder:
            await arollout(
                IdleEnv(episodes),
                Sleeper(latency),
                concurrency=at_once,
                output=Path(folder, "run"),
                progress=False,
            )

    async def bare() -> None:
        async def episode_after_episode() -> None:
            for _ in range(episodes // at_once * TURNS):
                await asyncio.sleep(latency)

        await asyncio.gather(*(episode_after_episode() for _ in range(at_once)))

    turns = episodes * TURNS
    cpu: dict[str, list[float]] = {"ours": [], "bare": []}
    rate: dict[str, list[float]] = {"ours": [], "bare": []}
    works: dict[str, Callable[[], Awaitable[None]]] = {"ours": ours, "bare": bare}
    for _ in range(min(3, world.rounds)):
        for name, work in works.items():
            used, took = _measure(work)
            cpu[name].append(used / turns)
            rate[name].append(100.0 * turns / took / (at_once / latency))
    what = f"rollout loop alone, {at_once} policies that sleep {1000 * latency:.0f} ms"
    return [
        Record(
            "loop",
            f"{what}: CPU a turn",
            statistics.median(cpu["ours"]),
            clock="CPU",
            alternative="asyncio.gather of sleeps",
            theirs=statistics.median(cpu["bare"]),
            sense="longer",
        ),
        Record(
            "loop",
            f"{what}: turns a second, of the ideal {at_once / latency:,.0f}",
            statistics.median(rate["ours"]),
            "%",
            alternative="asyncio.gather of sleeps",
            theirs=statistics.median(rate["bare"]),
        ),
    ]


def _measure(work: Callable[[], Awaitable[None]]) -> tuple[float, float]:
    """CPU and wall-clock seconds."""

    async def main() -> None:
        await work()

    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(main())
    return time.process_time() - cpu, time.perf_counter() - wall


ROWS = {"loop": loop}
