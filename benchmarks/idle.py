"""An environment whose tools cost nothing, so that only the loop around them is measured."""

from __future__ import annotations

from zephyrus.env import ToolEnv
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool, World
from zephyrus.trajectory import Trajectory

SYSTEM = "You answer questions about a weather forecast. " * 64
"""3 kB, as a real prompt has."""


def look(place: str) -> str:
    """Read the forecast over a place.

    Args:
        place: Name of a country, city, lake or another feature.
    """
    return f"2 m temperature, mean over {place}: 24.31 °C " * 4


TOOLS = [Tool(look, name=f"tool{i}") for i in range(4)]


class IdleEnv(ToolEnv):
    """Tasks that need nothing."""

    name = "idle"

    def __init__(self, n: int) -> None:
        super().__init__(tools=TOOLS)
        self._tasks = TaskSet([Task(f"t{i}", "How warm is Kenya?", 1) for i in range(n)], "idle")

    def tasks(self, split: str | None = None) -> TaskSet:
        """The tasks, in any split."""
        return self._tasks

    def world(self, task: Task) -> World:
        """None."""
        return {}

    def system_prompt(self) -> str:
        """3 kB."""
        return SYSTEM

    def read_answer(self, text: str) -> str | None:
        """Whether there is an answer is all that counts."""
        return "1" if "<answer>" in text else None

    def score(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """Every answer is right."""
        return {"score": 1.0, "reward": 1.0}
