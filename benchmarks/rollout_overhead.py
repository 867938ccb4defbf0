"""What the rollout loop itself costs: CPU per turn, and turns per second against the ideal.

The policy sleeps 200 ms in this process and then calls a tool that does nothing; an episode has
five turns. The named alternative is the least that any loop can do: `asyncio.gather` over
coroutines that only sleep. Both are measured in turn, several rounds, and the medians printed.

    python benchmarks/rollout_overhead.py [--concurrency 128] [--rounds 3]
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import tempfile
import time
from collections.abc import Awaitable, Callable, Sequence
from pathlib import Path

from zephyrus.env import ToolEnv
from zephyrus.messages import Message, Reply, ToolCall, Usage
from zephyrus.policy.base import Policy, Session
from zephyrus.rollouts import arollout
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool, World
from zephyrus.trajectory import Trajectory

LATENCY = 0.2  # seconds
TURNS = 5


def look(place: str) -> str:
    """Look at a place.

    Args:
        place: Where.
    """
    return f"2 m temperature, mean over {place}: 24.31 °C"


class IdleEnv(ToolEnv):
    """Tasks that need nothing; a system prompt of 3 kB, as a real one has."""

    name = "idle"

    def __init__(self, n: int) -> None:
        super().__init__(tools=[Tool(look)])
        self._tasks = TaskSet([Task(f"t{i}", "How warm?", 1) for i in range(n)], "idle")

    def tasks(self, split: str | None = None) -> TaskSet:
        """The tasks, in any split."""
        return self._tasks

    def world(self, task: Task) -> World:
        """None."""
        return {}

    def system_prompt(self) -> str:
        """3 kB."""
        return "Answer. " * 375

    def read_answer(self, text: str) -> str | None:
        """Whether there is an answer is all that counts."""
        return "1" if "<answer>" in text else None

    def score(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """Every answer is right."""
        return {"score": 1.0, "reward": 1.0}


class Sleeper(Policy):
    """Sleeps, then calls the tool; answers in the last turn."""

    name = "sleeper"

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """See `Policy.session`."""
        return SleeperSession()


class SleeperSession:
    """One episode's turns."""

    def __init__(self) -> None:
        self.turn = 0

    async def act(self, messages: Sequence[Message]) -> Reply:
        """Sleep, then call or answer."""
        await asyncio.sleep(LATENCY)
        self.turn += 1
        if self.turn == TURNS:
            return Reply(Message("assistant", "<answer>1</answer>"), Usage(900, 20))
        call = ToolCall("look", '{"place": "Kenya"}')
        return Reply(Message("assistant", tool_calls=(call,)), Usage(900, 20))


async def ours(episodes: int, concurrency: int) -> None:
    """Our rollout, run folder included."""
    with tempfile.TemporaryDirectory() as folder:
        await arollout(
            IdleEnv(episodes),
            Sleeper(),
            concurrency=concurrency,
            output=Path(folder, "run"),
            progress=False,
        )


async def bare(episodes: int, concurrency: int) -> None:
    """`concurrency` coroutines that sleep as often as the rollout does."""

    async def episode_after_episode() -> None:
        for _ in range(episodes // concurrency * TURNS):
            await asyncio.sleep(LATENCY)

    await asyncio.gather(*(episode_after_episode() for _ in range(concurrency)))


def measure(
    work: Callable[[int, int], Awaitable[None]], episodes: int, concurrency: int
) -> tuple[float, float]:
    """CPU milliseconds per turn, and turns per second."""

    async def main() -> None:
        await work(episodes, concurrency)

    turns = episodes * TURNS
    cpu, wall = time.process_time(), time.perf_counter()
    asyncio.run(main())
    cpu, wall = time.process_time() - cpu, time.perf_counter() - wall
    return 1000 * cpu / turns, turns / wall


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--concurrency", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    episodes = 4 * options.concurrency
    ideal = options.concurrency / LATENCY
    measured: dict[str, list[tuple[float, float]]] = {"asyncio.gather": [], "zephyrus": []}
    measure(ours, options.concurrency, options.concurrency)  # imports and first use
    for _ in range(options.rounds):
        measured["asyncio.gather"].append(measure(bare, episodes, options.concurrency))
        measured["zephyrus"].append(measure(ours, episodes, options.concurrency))
    print(
        f"{episodes} episodes of {TURNS} turns, {options.concurrency} at once, {LATENCY} s a turn"
    )
    print(f"{'':16}{'CPU ms/turn':>12}{'turns/s':>10}{'of ideal':>10}")
    for name, rounds in measured.items():
        cpu = statistics.median(r[0] for r in rounds)
        rate = statistics.median(r[1] for r in rounds)
        print(f"{name:16}{cpu:12.3f}{rate:10.0f}{rate / ideal:10.1%}")


if __name__ == "__main__":
    main()
