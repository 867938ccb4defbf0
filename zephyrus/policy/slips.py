"""A scripted policy that slips first, and mends its call: demonstrations of a recovery.

A model that was only shown calls that work never learns what to do with an error: SmolLM2-135M
answered with a number out of the error's text. Here a rollout may begin with a call that is wrong
as a model's is wrong: an argument from another task, under another name, too many or missing, or
the other tool. The environment's own tools are asked whether it fails, so what is seen is a real
error, and the script's right call comes after it.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any

from zephyrus.messages import Message, Reply, ToolCall
from zephyrus.policy.base import Session
from zephyrus.policy.scripted import ScriptedPolicy
from zephyrus.policy.seeds import stable_seed
from zephyrus.task import Task

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv

_TRIES = 16
"""Wrong calls that are tried until one fails; most do at once."""


class SlippingPolicy(ScriptedPolicy):
    """The scripted policy, some of whose rollouts begin with a tool call that fails."""

    name = "scripted"

    def __init__(self, share: float) -> None:
        """Choose how many slip.

        Args:
            share: Of the rollouts, from 0 to 1.
        """
        super().__init__()
        self.share = share
        self._calls: list[ToolCall] = []

    def check_tasks(self, env: ToolEnv, tasks: Iterable[Task]) -> None:
        """Learn the arguments that all the tasks' calls take; see `Policy.check_tasks`."""
        self._calls = []
        for task in tasks:
            script = env.script(task)
            self._calls += next(script).tool_calls
            script.close()

    def session(self, env: ToolEnv, task: Task, seed: int, repeat: int = 0) -> Session:
        """The same task, seed and repeat slip in the same way; see `Policy.session`."""
        session = super().session(env, task, seed, repeat)
        rng = random.Random(stable_seed(task.id, seed, repeat, bits=64))
        if rng.random() >= self.share or not self._calls:
            return session
        return _Slipping(session, env, task, self._calls, rng)


class _Slipping:
    """Sends a call that fails before the first of another session's."""

    def __init__(
        self,
        session: Session,
        env: ToolEnv,
        task: Task,
        calls: Sequence[ToolCall],
        rng: random.Random,
    ) -> None:
        self._session = session
        self._env = env
        self._task = task
        self._calls = calls
        self._rng = rng
        self._held: Reply | None = None
        self._slipped = False

    async def act(self, messages: Sequence[Message]) -> Reply:
        if self._held is not None:
            right, self._held = self._held, None
            return right
        reply = await self._session.act(messages)
        if self._slipped or not reply.message.tool_calls:
            return reply
        self._slipped = True
        wrong = await self._failing(reply.message.tool_calls[0])
        if wrong is None:
            return reply
        self._held = reply
        return Reply(Message("assistant", tool_calls=(wrong,)), finish_reason="tool_calls")

    async def _failing(self, right: ToolCall) -> ToolCall | None:
        """A call like this one that the environment's tools refuse, if one is found."""
        for _ in range(_TRIES):
            wrong = slip(right, self._calls, self._rng)
            episode = self._env.begin(self._task)
            await episode.step(Reply(Message("assistant", tool_calls=(wrong,))))
            if all(call.error is not None for call in episode.trajectory.calls):
                return wrong
        return None


def slip(right: ToolCall, calls: Sequence[ToolCall], rng: random.Random) -> ToolCall:
    """A call that differs from the right one in one respect; it need not fail.

    Args:
        right: The call.
        calls: Calls of other tasks, whose tools and arguments are borrowed.
        rng: What draws.
    """
    arguments: dict[str, Any] = json.loads(right.arguments)
    other = rng.choice(calls)
    borrowed: dict[str, Any] = json.loads(other.arguments)
    name = right.name
    mine = sorted(arguments)
    shared = sorted(key for key in borrowed if key in arguments and borrowed[key] != arguments[key])
    foreign = sorted(set(borrowed) - set(arguments))
    ways = ["move"] * bool(mine and foreign) + ["swap"] * bool(shared) + ["add"] * bool(foreign)
    ways += ["drop"] * (len(mine) > 1) + ["tool"] * (other.name != name)
    way = rng.choice(ways or ["none"])
    if way == "move":  # the right value under another argument's name, in its place
        old, new = rng.choice(mine), rng.choice(foreign)
        arguments = {new if key == old else key: value for key, value in arguments.items()}
    elif way == "swap":
        key = rng.choice(shared)
        arguments[key] = borrowed[key]
    elif way == "add":
        key = rng.choice(foreign)
        arguments[key] = borrowed[key]
    elif way == "drop":
        del arguments[rng.choice(mine)]
    elif way == "tool":
        name = other.name
    return ToolCall(name, json.dumps(arguments, ensure_ascii=False))
