"""A tiny environment without weather, for tests that only need tasks and tools."""

import numpy as np

from zephyrus.env import Script, ToolEnv
from zephyrus.messages import Message, ToolCall
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool, ToolError, World
from zephyrus.trajectory import Trajectory


class Scale:
    """A world type: what every call is multiplied with."""

    __zephyrus_world__ = True

    def __init__(self, factor: float) -> None:
        self.factor = factor


def multiply(a: float, scale: Scale, b: float = 1.0) -> str:
    """Multiply. Two numbers and the scale.

    Args:
        a: First number.
        b: Second number.
    """
    if a < 0:
        raise ToolError("a must not be negative: send 0 or more.")
    return f"{a * b * scale.factor:g} units"


def explode() -> str:
    """Break the world."""
    raise FileNotFoundError("the file is gone")


class SumEnv(ToolEnv):
    """A tiny environment without weather: what is a × b × scale?"""

    name = "sum"

    def __init__(self, n: int = 12, **options) -> None:
        super().__init__(**{"tools": (Tool(multiply), Tool(explode)), **options})
        self._tasks = TaskSet(
            [
                Task(
                    f"t{i}",
                    f"What is {i} times {i + 1}, scaled?",
                    gold=2.0 * i * (i + 1),
                    answer_type="numerical",
                    template="product",
                    required_tools=("multiply",),
                )
                for i in range(n)
            ],
            "sum",
        )

    def tasks(self, split: str | None = None) -> TaskSet:
        return self._tasks

    def world(self, task: Task) -> World:
        return {Scale: Scale(2.0)}

    def system_prompt(self) -> str:
        return "Use the tools."

    def read_answer(self, text: str) -> str | None:
        if "<answer>" not in text:
            return None
        return text.split("<answer>")[1].split("</answer>")[0]

    def score(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        try:
            right = float(trajectory.answer or "nan") == task.gold
        except ValueError:
            right = False
        tool = float(trajectory.succeeded("multiply"))
        return {"score": float(right), "required_tool": tool, "reward": right * tool}

    def script(self, task: Task) -> Script:
        i = int(task.id[1:])
        call = ToolCall("multiply", f'{{"a": {i}, "b": {i + 1}}}')
        seen = yield Message("assistant", tool_calls=(call,))
        yield Message("assistant", f"<answer>{seen[0].content.split()[0]}</answer>")

    def sample_answer(self, task: Task, rng: np.random.Generator) -> str:
        return f"<answer>{int(rng.integers(100))}</answer>"
