"""The scripted policy: solves every task by the environment's own script, through the tools."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from zephyrus.errors import PolicyError
from zephyrus.messages import Message, Reply
from zephyrus.policy.base import Policy, Session
from zephyrus.task import Task

if TYPE_CHECKING:
    from zephyrus.env import Script, ToolEnv


class ScriptedPolicy(Policy):
    """Drives ``env.script(task)``. It proves that a task can be solved with the tools alone."""

    name = "scripted"

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """Start the task's script; see `Policy.session`."""
        return ScriptSession(env.script(task), task)

    def check_tasks(self, env: ToolEnv, tasks: Iterable[Task]) -> None:
        """Find out whether the environment has scripts at all; see `Policy.check_tasks`."""
        for task in tasks:
            env.script(task).close()
            return


class ScriptSession:
    """Sends a script the observations and says what it yields."""

    def __init__(self, script: Script, task: Task) -> None:
        self._script = script
        self._task = task
        self._started = False

    async def act(self, messages: Sequence[Message]) -> Reply:
        """The script's next message; see `Session.act`."""
        try:
            if self._started:
                message = self._script.send(new_observations(messages))
            else:
                message = next(self._script)
        except StopIteration:
            raise PolicyError(
                f"the script of the task {self._task.id!r} ended before the episode did"
            ) from None
        self._started = True
        return Reply(message, finish_reason="tool_calls" if message.tool_calls else "stop")


def new_observations(messages: Sequence[Message]) -> list[Message]:
    """What came after the last assistant message."""
    new: list[Message] = []
    for message in reversed(messages):
        if message.role == "assistant":
            break
        new.append(message)
    return new[::-1]
