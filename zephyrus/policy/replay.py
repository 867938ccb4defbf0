"""The replay policy: says again what was said in a saved run."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.errors import PolicyError, UserError
from zephyrus.limits import StopReason
from zephyrus.messages import Message, Reply
from zephyrus.policy.base import ContextLengthError, Policy, Session
from zephyrus.run import find
from zephyrus.task import Task
from zephyrus.trajectory import Trajectory

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv


class ReplayPolicy(Policy):
    """Repeats the assistant messages of a run folder, for instance against changed tools.

    Rollouts are matched by task, seed and repeat, else by task and repeat, else by task.
    Rollouts that ended with an infrastructure error are none of a run, and not replayed.
    """

    def __init__(self, run: str | Path) -> None:
        """Read a run.

        Args:
            run: The run folder, or its name in ``runs``.

        Raises:
            UserError: If there is no such run, or it is damaged.
        """
        self.name = f"replay:{run}"
        saved = find(run)
        self.path = saved.path
        self._rollouts: dict[str, list[Trajectory]] = {}
        for trajectory in saved:
            self._rollouts.setdefault(trajectory.key.task, []).append(trajectory)

    def check_tasks(self, env: ToolEnv, tasks: Iterable[Task]) -> None:
        """Find out whether every task was rolled out; see `Policy.check_tasks`."""
        for task in tasks:
            self._saved(task)

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """Find the saved rollout; see `Policy.session`.

        Raises:
            UserError: If the run has no rollout of the task.
        """
        saved = self._saved(task)
        by_repeat = {t.key.repeat: t for t in saved}
        by_key = {(t.key.seed, t.key.repeat): t for t in saved}
        found = by_key.get((seed, repeat)) or by_repeat.get(repeat) or saved[0]
        said = [message for message in found.messages if message.role == "assistant"]
        return _ReplaySession(said, task, truncated=found.stop != StopReason.ANSWERED)

    def describe(self) -> dict[str, Any]:
        """See `Policy.describe`."""
        return {"name": self.name, "tasks": len(self._rollouts)}

    def _saved(self, task: Task) -> list[Trajectory]:
        if task.id not in self._rollouts:
            raise UserError(f"the run {self.path} has no rollout of the task {task.id!r}")
        return self._rollouts[task.id]


class _ReplaySession:
    def __init__(self, said: Sequence[Message], task: Task, *, truncated: bool) -> None:
        self._said = iter(said)
        self._task = task
        self._truncated = truncated

    async def act(self, messages: Sequence[Message]) -> Reply:
        message = next(self._said, None)
        if message is None:
            problem = f"the saved rollout of the task {self._task.id!r} has no more turns"
            if self._truncated:  # it ended so when it was saved: no endpoint has failed
                raise ContextLengthError(problem)
            raise PolicyError(problem)
        return Reply(message, finish_reason="tool_calls" if message.tool_calls else "stop")
