"""The replay policy: says again what was said in a saved run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.errors import PolicyError, UserError
from zephyrus.limits import StopReason
from zephyrus.messages import Message, Reply
from zephyrus.policy.base import ContextLengthError, Policy, Session
from zephyrus.task import Task
from zephyrus.trajectory import Trajectory

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv


class ReplayPolicy(Policy):
    """Repeats the assistant messages of a run folder, for instance against changed tools.

    Rollouts are matched by task, seed and repeat, else by task and repeat, else by task.
    Rollouts that ended with an infrastructure error are not replayed.
    """

    def __init__(self, run: str | Path) -> None:
        """Read a run.

        Args:
            run: The run folder, or its name in ``runs/``.

        Raises:
            UserError: If there is no such run.
        """
        folder = Path(run)
        if not folder.is_dir() and (Path("runs") / run).is_dir():
            folder = Path("runs") / run
        self.name = f"replay:{run}"
        self.path = folder / "trajectories.jsonl"
        if not self.path.is_file():
            raise UserError(f"there is no run at {folder}: it has no trajectories.jsonl")
        self._rollouts: dict[str, list[Trajectory]] = {}
        for trajectory in _read(self.path):
            if not trajectory.failed:
                self._rollouts.setdefault(trajectory.key.task, []).append(trajectory)

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """Find the saved rollout; see `Policy.session`.

        Raises:
            UserError: If the run has no rollout of the task.
        """
        saved = self._rollouts.get(task.id)
        if not saved:
            raise UserError(f"the run {self.path.parent} has no rollout of the task {task.id!r}")
        # Python keeps the last line of a key that was rolled out again.
        by_repeat = {t.key.repeat: t for t in saved}
        by_key = {(t.key.seed, t.key.repeat): t for t in saved}
        found = by_key.get((seed, repeat)) or by_repeat.get(repeat) or saved[0]
        said = [message for message in found.messages if message.role == "assistant"]
        return _ReplaySession(said, task, truncated=found.stop != StopReason.ANSWERED)

    def describe(self) -> dict[str, Any]:
        """See `Policy.describe`."""
        return {"name": self.name, "tasks": len(self._rollouts)}


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


def _read(path: Path) -> list[Trajectory]:
    found: list[Trajectory] = []
    lines = path.read_bytes().splitlines()
    for number, line in enumerate(lines, 1):
        if not line.strip():
            continue
        try:
            found.append(Trajectory.from_json(line))
        except ValueError as error:
            if number == len(lines):
                break  # the run was killed while it wrote this line
            raise UserError(f"{path}, line {number}: not a trajectory ({error})") from error
    return found
