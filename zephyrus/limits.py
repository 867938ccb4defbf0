"""Every budget of an episode in one place, with the order in which they are checked."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from enum import StrEnum
from typing import Any

from zephyrus.errors import UserError


class StopReason(StrEnum):
    """Why an episode ended."""

    ANSWERED = "answered"
    """The policy gave its answer: terminated."""
    TURNS = "turns"
    """The budget of turns ran out: truncated."""
    TOKENS = "tokens"
    """The budget of tokens, or the model's context, ran out: truncated."""
    TIME = "time"
    """The budget of wall-clock time ran out: truncated."""
    ERROR = "infrastructure"
    """The world or the policy's endpoint broke: not scored."""


@dataclass(frozen=True, slots=True)
class Limits:
    """Budgets of one episode. None means no limit; only ``turns`` and ``observation_chars`` need one.

    Before a turn: ``seconds``, ``tokens``, ``turns``, in that order; the first that is used up
    truncates the episode. Within a turn, per tool call: ``calls_per_turn``, ``calls``,
    ``calls_per_tool``; a call over the budget is answered with an error observation, and the
    episode goes on. After a call: ``tool_seconds``, or what is left of ``seconds`` if that is less,
    cuts a slow asynchronous or threaded tool off (an inline tool can't be interrupted), and
    ``observation_chars`` cuts what the model is shown.

    Attributes:
        turns: Assistant messages.
        calls: Tool calls in the whole episode.
        calls_per_turn: Parallel calls in one message.
        calls_per_tool: Calls of one tool: a number for every tool, or a number by tool name.
        observation_chars: Characters of one tool observation; what is cut is said.
        tokens: Prompt and completion tokens of all turns together.
        seconds: Wall-clock time of the episode, the model's thinking included.
        tool_seconds: Wall-clock time of one tool call.
    """

    turns: int = 10
    calls: int | None = 24
    calls_per_turn: int | None = 8
    calls_per_tool: int | dict[str, int] | None = None
    observation_chars: int = 4000
    tokens: int | None = None
    seconds: float | None = None
    tool_seconds: float | None = 60.0

    def __post_init__(self) -> None:
        for name in ("turns", "observation_chars"):
            value = getattr(self, name)
            if value is None or value < 1:
                raise UserError(f"the limit {name} must be at least 1, and can't be left out")
        for name in ("calls", "calls_per_turn", "tokens", "seconds", "tool_seconds"):
            value = getattr(self, name)
            if value is not None and value <= 0:
                raise UserError(f"the limit {name} must be above 0, or null for none")

    def budget_of(self, tool: str) -> int | None:
        """How often ``tool`` may be called in one episode."""
        if isinstance(self.calls_per_tool, dict):
            return self.calls_per_tool.get(tool)
        return self.calls_per_tool

    def to_dict(self) -> dict[str, Any]:
        """Plain values for ``config.yaml``."""
        return asdict(self)
