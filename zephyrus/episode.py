"""The loop of one episode: an assistant message in, observations out, until it ends.

`ToolEnv` (gymnasium) and `zephyrus.rollout` both drive this class, so budgets, errors and tools
are the same in evaluation, in training and under a vectorised environment.
"""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING

from zephyrus.errors import JudgeError, trace
from zephyrus.limits import Limits, StopReason
from zephyrus.loops import is_cancelled
from zephyrus.messages import (
    MALFORMED_NAME,
    Image,
    Message,
    Reply,
    ToolCall,
    ToolResult,
    clean_text,
)
from zephyrus.task import Task
from zephyrus.tools import Tool, World
from zephyrus.trajectory import CallRecord, Key, Trajectory

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv


class Episode:
    """One task being worked on.

    Attributes:
        task: The task.
        trajectory: What has happened so far; complete once ``done``.
        done: Whether it has ended.
    """

    def __init__(
        self,
        env: ToolEnv,
        task: Task,
        tools: Mapping[str, Tool],
        world: World,
        limits: Limits,
        key: Key | None = None,
    ) -> None:
        self.env = env
        self.task = task
        self.tools = tools
        self.world = world
        self.limits = limits
        self.trajectory = Trajectory(
            key or Key(task.id, 0, 0),
            [
                Message("system", env.system_prompt()),
                Message("user", task.prompt, images=env.images(task)),
            ],
            task=task.facts(),
        )
        self._began = time.monotonic()
        self._counts: Counter[str] = Counter()

    def __repr__(self) -> str:
        turns = f"{self.trajectory.turns} of {self.limits.turns} turns"
        return f"<Episode of {self.task.id!r}: {turns}, {self.trajectory.stop or 'still running'}>"

    def _repr_html_(self) -> str:
        return self.trajectory._repr_html_()

    @property
    def done(self) -> bool:
        """Whether the episode has ended."""
        return self.trajectory.stop is not None

    @property
    def seconds_left(self) -> float | None:
        """What is left of the budget of wall-clock time, at least 0; None without a limit."""
        if self.limits.seconds is None:
            return None
        return max(0.0, self.limits.seconds - (time.monotonic() - self._began))

    @property
    def messages(self) -> list[Message]:
        """The conversation so far: what the policy is shown."""
        return self.trajectory.messages

    async def step(self, reply: Reply) -> list[Message]:
        """Take one assistant message and answer it.

        Args:
            reply: The policy's turn.

        Returns:
            The new observations (tool and user messages), empty when the episode has ended.

        Raises:
            RuntimeError: If the episode had ended before.
        """
        if self.done:
            raise RuntimeError("the episode has ended: reset the environment")
        record = self.trajectory
        message = reply.message.with_call_ids(f"call-{record.turns}")
        record.messages.append(message)
        record.turns += 1
        record.usage += reply.usage
        record.recovered_calls += reply.recovered_calls
        record.policy_seconds += reply.seconds
        if message.tool_calls:
            observations = await self._call_tools(message)
        else:
            observations = await self._read(message, reply)
        record.messages.extend(observations)
        if not self.done:
            await self._check_budgets()
        return [] if self.done else observations

    def fail(self, error: str) -> None:
        """End the episode because the world or the endpoint broke: no score, never a 0."""
        self._stop(StopReason.ERROR)
        self.trajectory.error = error

    async def truncate(self, reason: StopReason) -> None:
        """End the episode because a budget ran out; it is scored as it stands."""
        self._stop(reason)
        await self._score()

    async def _read(self, message: Message, reply: Reply) -> list[Message]:
        answer = self.env.read_answer(message.content)
        if answer is not None:
            self.trajectory.answer = answer
            self._stop(StopReason.ANSWERED)
            await self._score()
            return []
        if reply.finish_reason == "length":
            hint = "Error: your message was cut off at its length limit before any tool call or answer. Be brief."
        else:
            hint = f"Error: no tool call and no answer in your message. {self.env.answer_hint}"
        return [Message("user", hint)]

    async def _call_tools(self, message: Message) -> list[Message]:
        observations: list[Message] = []
        images: list[Image] = []
        for index, call in enumerate(message.tool_calls):
            began = time.monotonic()
            record = CallRecord(self.trajectory.turns - 1, call.name, call.arguments)
            self.trajectory.calls.append(record)
            try:
                result = self._over_budget(call, index) or await self._call(call)
            except (Exception, asyncio.CancelledError, SystemExit) as error:
                # The boundary: a broken world must not look like a bad agent, nor end the process.
                if isinstance(error, asyncio.CancelledError) and is_cancelled():
                    raise
                record.error = "infrastructure"
                self.fail(f"{type(error).__name__} in the tool {call.name}: {trace(error)}")
                return observations
            record.error = result.error
            record.seconds = time.monotonic() - began
            text = shown(result.text, self.limits.observation_chars)
            observations.append(Message("tool", text, tool_call_id=call.id, name=call.name))
            images.extend(result.images)
        if images:
            text = "The image drawn by the tool." if len(images) == 1 else "The images drawn."
            observations.append(Message("user", text, images=tuple(images)))
        return observations

    async def _call(self, call: ToolCall) -> ToolResult:
        tool = self.tools.get(call.name)
        if tool is None and call.name == MALFORMED_NAME:
            return ToolResult(
                "Error: your tool call could not be read. Give the tool's name, and its arguments "
                "as one JSON object.",
                error="malformed_json",
            )
        if tool is None:
            return unknown_tool(call.name, self.tools)
        times = (self.limits.tool_seconds, self.seconds_left)
        seconds = min((t for t in times if t is not None), default=None)
        return await tool.call(call.arguments, self.world, seconds)

    def _over_budget(self, call: ToolCall, index: int) -> ToolResult | None:
        limits, counts = self.limits, self._counts
        budget = limits.budget_of(call.name)
        if limits.calls_per_turn is not None and index >= limits.calls_per_turn:
            problem = f"at most {limits.calls_per_turn} tool calls fit in one message"
        elif self.seconds_left == 0:
            problem = "the time of this episode is used up"
        elif limits.calls is not None and counts.total() >= limits.calls:
            problem = f"all {limits.calls} tool calls of this episode are used up; answer now"
        elif budget is not None and counts[call.name] >= budget:
            problem = f"all {budget} calls of {call.name} are used up; go on without it"
        else:
            counts[call.name] += 1
            return None
        return ToolResult(f"Error: {problem}.", error="budget")

    async def _check_budgets(self) -> None:
        record, limits = self.trajectory, self.limits
        used = record.usage.prompt_tokens + record.usage.completion_tokens
        if self.seconds_left == 0:
            await self.truncate(StopReason.TIME)
        elif limits.tokens is not None and used >= limits.tokens:
            await self.truncate(StopReason.TOKENS)
        elif record.turns >= limits.turns:
            await self.truncate(StopReason.TURNS)

    def _stop(self, reason: StopReason) -> None:
        self.trajectory.stop = reason
        self.trajectory.seconds = time.monotonic() - self._began

    async def _score(self) -> None:
        try:
            await score(self.env, self.task, self.trajectory)
        except Exception as error:
            self.fail(f"{type(error).__name__} while scoring: {trace(error)}")


def unknown_tool(name: str, tools: Iterable[str]) -> ToolResult:
    """What is answered to a call of a tool that is not there."""
    return ToolResult(
        f"Error: there is no tool {name!r}. The tools are: {', '.join(tools)}.",
        error="unknown_tool",
    )


def shown(text: str, limit: int) -> str:
    """The text of an observation as it is shown: valid Unicode, at most ``limit`` characters."""
    text = clean_text(text)
    if len(text) <= limit:
        return text
    return text[:limit] + f"\n[cut: {len(text) - limit} more characters; ask for less]"


async def score(env: ToolEnv, task: Task, trajectory: Trajectory) -> None:
    """Put the rewards into a trajectory that has ended, or the reason why they are missing.

    A judge that can't be had leaves the rollout finished and unscored: it is kept, and
    `zephyrus.rollouts.rescore` can score it later.
    """
    try:
        trajectory.rewards, trajectory.unscored = await env.ascore(task, trajectory), None
    except JudgeError as error:
        trajectory.rewards, trajectory.unscored = None, str(error) or "no judgement"
