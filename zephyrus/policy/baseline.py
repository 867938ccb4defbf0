"""Baselines: policies without a model that an environment brings itself, to compare with."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from zephyrus.errors import UserError
from zephyrus.policy.base import Policy, Session
from zephyrus.policy.scripted import ScriptSession
from zephyrus.task import Task

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv


class BaselinePolicy(Policy):
    """Drives ``env.baseline(task, NAME)``, for example climatology or persistence."""

    def __init__(self, baseline: str) -> None:
        """Prepare.

        Args:
            baseline: One of the environment's `zephyrus.ToolEnv.baselines`.
        """
        if not baseline:
            raise UserError("write baseline:NAME, for example baseline:climatology")
        self.name = f"baseline:{baseline}"
        self._baseline = baseline

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """Start the task's script; see `Policy.session`."""
        return ScriptSession(env.baseline(task, self._baseline), task)

    def check_tasks(self, env: ToolEnv, tasks: Iterable[Task]) -> None:
        """Find out whether the environment has the baseline; see `Policy.check_tasks`."""
        for task in tasks:
            env.baseline(task, self._baseline).close()
            return
