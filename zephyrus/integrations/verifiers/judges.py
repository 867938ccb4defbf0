"""Judges of verifiers (`RubricJudge`, `ReferenceJudge`, your own) as rewards of an environment."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import verifiers.v1 as vf

from zephyrus.env import Script, ToolEnv
from zephyrus.errors import JudgeError
from zephyrus.integrations.verifiers.task import EpisodeData
from zephyrus.integrations.verifiers.trace import gold_text, to_trace
from zephyrus.judge.base import Brief
from zephyrus.task import Task, TaskSet
from zephyrus.tools import World
from zephyrus.trajectory import Trajectory


class JudgedEnv(ToolEnv):
    """An environment whose rollouts judges of verifiers score besides.

    Each judge's score is a part of the reward under the judge's name; times its weight it is added
    to "reward". A judge that can't be had leaves the rollout unscored, as everywhere.
    """

    def __init__(self, env: ToolEnv, judges: Sequence[vf.JudgeConfig]) -> None:
        """Wrap an environment.

        Args:
            env: The environment; its own reward stays.
            judges: Configurations of judges, as in ``--env.taskset.task.judges``.
        """
        super().__init__(
            split=env.split, tools=env.tools.values(), limits=env.limits, compact=env.compact
        )
        # Class variables of `ToolEnv`, which the instance's own go before.
        vars(self).update(name=env.name, answer_hint=env.answer_hint, baselines=env.baselines)
        self.env = env
        self.judge_configs = tuple(judges)
        self.judges = [vf.load_judge(config) for config in judges]

    def tasks(self, split: str | None = None) -> TaskSet:
        """The wrapped environment's."""
        return self.env.tasks(split)

    def world(self, task: Task) -> World:
        """The wrapped environment's."""
        return self.env.world(task)

    def system_prompt(self) -> str:
        """The wrapped environment's."""
        return self.env.system_prompt()

    def read_answer(self, text: str) -> str | None:
        """The wrapped environment's."""
        return self.env.read_answer(text)

    def script(self, task: Task) -> Script:
        """The wrapped environment's."""
        return self.env.script(task)

    def baseline(self, task: Task, name: str) -> Script:
        """The wrapped environment's."""
        return self.env.baseline(task, name)

    def brief(self, task: Task, trajectory: Trajectory) -> Brief:
        """The wrapped environment's."""
        return self.env.brief(task, trajectory)

    def sample_answer(self, task: Task, rng: np.random.Generator) -> str:
        """The wrapped environment's."""
        return self.env.sample_answer(task, rng)

    async def check(self) -> None:
        """The wrapped environment's."""
        await self.env.check()

    async def release(self) -> None:
        """The wrapped environment's."""
        await self.env.release()

    def describe(self) -> dict[str, Any]:
        """The wrapped environment's, and the judges without their addresses."""
        kept = {"id", "name", "model", "weight", "path"}
        judges = [c.model_dump(mode="json", include=kept) for c in self.judge_configs]
        return {**self.env.describe(), "verifiers_judges": judges}

    def score(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """Without the judges, which only `ascore` can ask."""
        return self.env.score(task, trajectory)

    async def ascore(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """The environment's rewards and the judges'.

        Raises:
            JudgeError: If a judge's score can't be had.
        """
        rewards = dict(await self.env.ascore(task, trajectory))
        trace = self._trace(task, trajectory)
        own = set(trace.metrics)
        for judge in self.judges:
            try:
                score = await judge.score(trace.task.data, trace)
            except Exception as error:  # a plug-in of another framework may fail in any way
                raise JudgeError(
                    f"the judge {judge.reward_name}: {type(error).__name__}: {error}"
                ) from error
            named = score if isinstance(score, Mapping) else {judge.reward_name: score}
            for name, value in named.items():
                rewards[name] = float(value)
                rewards["reward"] += judge.config.weight * float(value)
        criteria = {k: v for k, v in trace.metrics.items() if k not in own and v is not None}
        return criteria | rewards

    def _trace(self, task: Task, trajectory: Trajectory) -> vf.Trace:
        data = {
            "id": task.id,
            "name": task.template or None,
            "prompt": task.prompt,
            "system_prompt": trajectory.messages[0].content,
            "environment": self.env.name,
            "answer": gold_text(task),
            "task": task.to_dict(),
        }
        record = to_trace(trajectory, data, {}, self.tool_schemas(), task.id)
        trace: vf.Trace = vf.Trace[EpisodeData, vf.State, vf.AgentConfig].model_validate(record)
        return trace
