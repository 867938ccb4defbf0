"""What a policy is: something that answers a conversation with the next assistant message."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Protocol

from zephyrus.errors import PolicyError
from zephyrus.messages import Message, Reply
from zephyrus.task import Task

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv


class ContextLengthError(PolicyError):
    """The conversation no longer fits the model: the rollout is truncated, not failed."""


class Session(Protocol):
    """One episode's policy: it may remember what it did in the turns before."""

    async def act(self, messages: Sequence[Message]) -> Reply:
        """Answer the conversation so far.

        Args:
            messages: Everything said, system prompt first, the newest observation last.

        Raises:
            ContextLengthError: If the conversation no longer fits.
            PolicyError: If no answer can be had, for good.
        """
        ...


class Policy(ABC):
    """Makes a session for every episode. One policy serves many episodes at once.

    Attributes:
        name: What the user called it.
        compact: Whether it knows the short prompt and schemas alone; an environment is to be made
            accordingly, as the command line does.
    """

    name: str = ""
    compact: bool = False

    def __repr__(self) -> str:
        return f"<{type(self).__name__} {self.name!r}>"

    @abstractmethod
    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """Start on a task; the same arguments give the same session where the policy can.

        Args:
            env: The environment, for its tool schemas and scripts.
            task: The task.
            seed: The run's seed.
            repeat: Which of several rollouts of the task this is.
        """

    async def check(self) -> None:  # noqa: B027 - most policies have nothing to check
        """Find out before any work starts whether the policy can answer at all.

        Raises:
            UserError: If it can't; one sentence that says what to do.
        """

    def check_tasks(self, env: ToolEnv, tasks: Iterable[Task]) -> None:  # noqa: B027 - as above
        """Find out before any work starts whether the policy can act on these tasks.

        Raises:
            UserError: If it can't.
        """

    async def close(self) -> None:  # noqa: B027 - most policies hold nothing open
        """Let go of connections."""

    def describe(self) -> dict[str, Any]:
        """Plain values for ``config.yaml``; never a secret."""
        return {"name": self.name}
