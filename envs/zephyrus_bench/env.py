"""`BenchEnv`: verifiable weather-analysis questions, answered with tools."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zephyrus.env import Script
from zephyrus.errors import UserError
from zephyrus.limits import Limits
from zephyrus.numeric import NumericAnswer
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool
from zephyrus.trajectory import Trajectory
from zephyrus_bench.answers import find_answer
from zephyrus_bench.script import run_program
from zephyrus_bench.verifiers import numeric_answer, verify
from zephyrus_geodata import Dataset
from zephyrus_tools.env import ForecastEnv

if TYPE_CHECKING:
    from zephyrus_bench.report import BankReport

BANKS = Path(__file__).parent / "data"
"""Where the banks that ship with the package are, one ``NAME.jsonl.gz`` for each dataset."""

_FULL = """\
You answer questions about one weather forecast by calling tools. Look every value up; never \
guess. Values are of the forecast in the question, not of today. Once you know the answer, write \
it as JSON inside answer tags, in the unit asked for:
- a number: <answer>24.3</answer>
- hours from the initial time: <answer>132</answer>
- a place and its value: <answer>{"place": "Kenya", "value": 24.3}</answer>
- a list of names, [] if there are none: <answer>["Kenya", "Chad"]</answer>
Names, and which places count as "countries in Africa", are as in the tools. Give one answer: \
several guesses count as wrong. If a tool returns an error, mend the call."""

_COMPACT = """\
Answer the weather question with tools; never guess. Finish with one answer as JSON:
number or hours: <answer>24.3</answer>
place: <answer>{"place": "Kenya", "value": 24.3}</answer>
list: <answer>["Kenya", "Chad"]</answer> or <answer>[]</answer>"""


class BenchEnv(ForecastEnv):
    """Stage 1: questions of eight templates over a dataset's forecasts (Tables B.1 and B.2).

    The reward is Eq. 3, reconstructed: the verifier's score if the required tool was used
    successfully at least once, else 0, less ``turn_cost`` for every turn after ``free_turns``.
    """

    name = "bench"
    bank_sizes: ClassVar[dict[str, int]] = {"train": 1000, "validation": 125, "test": 500}
    banks = BANKS
    how_to_build = "zephyrus env build-bank"

    def __init__(
        self,
        *,
        split: str = "test",
        dataset: str | Dataset = "demo",
        bank: str | Path | TaskSet | None = None,
        turn_cost: float = 0.02,
        free_turns: int = 6,
        tools: Iterable[Tool | str] = (),
        limits: Limits | None = None,
        compact: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Set the environment up; data are opened when the first episode begins.

        Args:
            split: Which tasks a reset draws from: "train", "validation" or "test".
            dataset: The dataset that the bank asks about: a name, a folder, or an open one.
            bank: The bank or its file; by default the one that ships for the dataset.
            turn_cost: Taken off the reward for every turn after the free ones.
            free_turns: Turns that cost nothing.
            tools: Further tools, or names of registered ones.
            limits: Budgets of an episode.
            compact: The short system prompt and tool schemas, without the map tool.
            render_mode: None or "ansi".

        Raises:
            UserError: If ``turn_cost`` or ``free_turns`` is negative.
        """
        if turn_cost < 0 or free_turns < 0:
            raise UserError("turn_cost and free_turns must not be negative")
        super().__init__(
            split=split,
            dataset=dataset,
            bank=bank,
            tools=tools,
            limits=limits,
            compact=compact,
            render_mode=render_mode,
        )
        self.turn_cost = turn_cost
        self.free_turns = free_turns

    def describe(self) -> dict[str, Any]:
        """What a run must be repeated and scored again with."""
        return {
            **super().describe(),
            "turn_cost": self.turn_cost,
            "free_turns": self.free_turns,
        }

    def system_prompt(self) -> str:
        """What the agent is told once; the question itself names the forecast."""
        return _COMPACT if self.compact else _FULL

    def read_answer(self, text: str) -> str | None:
        """The content of the last answer block of a message."""
        return find_answer(text)

    @classmethod
    def numeric_answer(cls, facts: Mapping[str, Any], answer: str | None) -> NumericAnswer | None:
        """The error of a numerical or time answer, with the verifier's bands."""
        return numeric_answer(facts, answer)

    def score(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """The verifier's score, the required tool, the turn penalty, and the reward."""
        score = verify(task, trajectory.answer)
        required = float(all(trajectory.succeeded(tool) for tool in task.required_tools))
        penalty = self.turn_cost * max(0, trajectory.turns - self.free_turns)
        return {
            "score": score,
            "required_tool": required,
            "turn_penalty": penalty,
            "reward": required * score - penalty,
        }

    def script(self, task: Task) -> Script:
        """Run the task's program through the tools and answer from their texts."""
        return run_program(task)

    def sample_answer(self, task: Task, rng: np.random.Generator) -> str:
        """A random answer of the right form: what knowing only the form is worth."""
        return f"<answer>{json.dumps(_random_answer(task, rng), ensure_ascii=False)}</answer>"

    @staticmethod
    def build_bank(
        dataset: Dataset | str = "demo",
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        output: Path | str | None = None,
        *,
        strict: bool = True,
    ) -> BankReport:
        """Make a question bank from a dataset; see `zephyrus_bench.bank.build_bank`.

        Args:
            dataset: The dataset, or its name or folder.
            sizes: Questions of each split.
            seed: Same seed and data, same bank.
            output: The file, ``.jsonl`` or ``.jsonl.gz``; nothing is written if None.
            strict: Refuse a dataset without enough for every template; false takes what there is.
        """
        from zephyrus_bench.bank import build_bank

        return build_bank(dataset, sizes, seed, output, strict=strict)


_RANGES = {"°C": (-40.0, 40.0), "m/s": (-20.0, 20.0), "mm": (0.0, 20.0), "%": (0.0, 100.0)}


def _random_answer(task: Task, rng: np.random.Generator) -> Any:
    low, high = _RANGES.get(str(task.provenance.get("units")), (-100.0, 100.0))
    number = round(float(rng.uniform(low, high)), 2)
    if task.answer_type == "time":
        return int(rng.integers(1, 41)) * 6
    candidates = list(task.provenance.get("candidates", ()))
    if task.answer_type == "location":
        return {"place": candidates[int(rng.integers(len(candidates)))], "value": number}
    if task.answer_type == "anomaly":
        return [name for name in candidates if rng.random() < 0.25]
    return number
