"""A Zephyrus task as verifiers sees it: its data, and how a rollout of it is scored."""

from __future__ import annotations

from typing import Any

import verifiers.v1 as vf
from pydantic import Field

from zephyrus.integrations.verifiers.record import (
    INFO,
    diagnostics,
    stop_reason,
    to_info,
    to_trajectory,
)
from zephyrus.integrations.verifiers.worlds import environment
from zephyrus.messages import Message, Reply
from zephyrus.task import Task
from zephyrus.trajectory import Trajectory


class EpisodeData(vf.TaskData):
    """What travels with a task: everything that rolling it out and scoring it needs.

    Attributes:
        environment: The environment's name.
        options: Its options, as JSON values.
        answer: The right answer as text, for judges of verifiers that are shown one.
        task: `zephyrus.Task.to_dict`.
    """

    environment: str
    options: dict[str, Any] = Field(default_factory=dict)
    answer: str = ""
    task: dict[str, Any]

    def to_task(self) -> Task:
        """The task."""
        return Task.from_dict(self.task)


class EpisodeState(vf.State):
    """The rollout while it is in this process; a saved trace is read instead.

    Attributes:
        trajectory: A `zephyrus.Trajectory`, None before the harness began.
    """

    trajectory: Any = Field(default=None, exclude=True)


class EpisodeTask(vf.Task[EpisodeData, EpisodeState, vf.TaskConfig]):
    """One task: the reward is the environment's, and its parts are metrics."""

    @property
    def key(self) -> str:
        """The task's own id."""
        return str(self.data.task["id"])

    @vf.metric
    async def rollout(self, trace: vf.Trace) -> dict[str, float]:
        """Turns, tool calls, failed ones, and whether an answer was given."""
        return diagnostics(_trajectory(trace))

    @vf.reward
    async def reward(self, trace: vf.Trace) -> float:
        """The environment's reward.

        Raises:
            JudgeError: If no judgement can be had: an error on the trace, never a reward of 0.
        """
        trajectory = _trajectory(trace)
        env = environment(self.data.environment, self.data.options)
        parts = dict(await env.ascore(self.data.to_task(), trajectory))
        total = parts.pop("reward")
        trace.record_metrics(parts)
        return total

    async def validate(self, runtime: vf.Runtime) -> bool | None:
        """Whether the scripted policy solves the task with the tools alone.

        Returns:
            None where the environment has no verifier to say so.
        """
        env, task = environment(self.data.environment, self.data.options), self.data.to_task()
        episode, script = env.begin(task), env.script(task)
        message: Message | None = next(script)
        while message is not None and not episode.done:
            observations = await episode.step(Reply(message))
            try:
                message = script.send(observations)
            except StopIteration:
                message = None
        if episode.trajectory.failed:
            raise RuntimeError(episode.trajectory.error)
        score = (episode.trajectory.rewards or {}).get("score")
        return None if score is None else score == 1.0


def _trajectory(trace: vf.Trace) -> Trajectory:
    """The rollout of a trace, live or saved, as it stands at scoring."""
    live = getattr(trace.state, "trajectory", None)
    found = live if isinstance(live, Trajectory) else to_trajectory(trace.model_dump(mode="json"))
    if found.stop is None:  # a deadline of verifiers' ended the harness from outside
        found.stop = stop_reason(trace.stop_condition, timeout=trace.is_timeout)
    if live is found:
        trace.info[INFO] = to_info(found)
    return found
