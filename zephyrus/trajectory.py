"""What one rollout leaves behind: messages, tool calls, usage, answer, rewards, stop reason."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any, NamedTuple

from zephyrus.fileformat import FileFormat
from zephyrus.limits import StopReason
from zephyrus.messages import Message, Usage, clean_text


def _with_unscored(data: dict[str, Any]) -> dict[str, Any]:
    return {**data, "unscored": data.get("unscored")}


FORMAT = FileFormat("trajectory", "0.1.0", (("0.1.0", _with_unscored),))
"""A line of ``trajectories.jsonl`` or ``errors.jsonl``."""


class Key(NamedTuple):
    """What makes a rollout the same rollout: a run never does one key twice."""

    task: str
    seed: int
    repeat: int

    def __str__(self) -> str:
        return f"{self.task}#{self.seed}.{self.repeat}"


@dataclass(slots=True)
class CallRecord:
    """One tool call: which turn, what was asked, and whether it was the agent's mistake.

    ``error`` is None for success or one of `zephyrus.tools.ERROR_KINDS`. ``seconds`` is wall time.
    """

    turn: int
    name: str
    arguments: str
    error: str | None = None
    seconds: float = 0.0


@dataclass(slots=True)
class Trajectory:
    """One rollout, whole.

    Attributes:
        key: (task, seed, repeat).
        messages: The whole conversation, system prompt first.
        calls: Every tool call in order.
        turns: Assistant messages.
        answer: The text of the final answer, or None if none was given.
        rewards: Named components and their total "reward"; None while not scored.
        stop: Why it ended; None while it runs.
        error: What broke, when ``stop`` is an infrastructure error.
        unscored: Why the rewards are missing, when a judge could not be had.
        usage: Tokens of all turns.
        recovered_calls: Tool calls that were read out of plain text.
        seconds: Wall-clock time, and the part of it spent in the policy.
        task: What is kept of the task for tables and rescoring; see `zephyrus.task.Task.facts`.
    """

    key: Key
    messages: list[Message] = field(default_factory=list)
    calls: list[CallRecord] = field(default_factory=list)
    turns: int = 0
    answer: str | None = None
    rewards: dict[str, float] | None = None
    stop: StopReason | None = None
    error: str | None = None
    usage: Usage = field(default_factory=Usage)
    recovered_calls: int = 0
    seconds: float = 0.0
    policy_seconds: float = 0.0
    task: dict[str, Any] = field(default_factory=dict)
    unscored: str | None = None

    def __repr__(self) -> str:
        facts = [
            f"{self.turns} turns",
            f"{len(self.calls)} calls",
            str(self.stop or "still running"),
        ]
        facts += [f"{name} {value:.4g}" for name, value in (self.rewards or {}).items()]
        return f"<Trajectory {self.key}: {', '.join(facts)}>"

    def _repr_html_(self) -> str:
        from zephyrus.view.notebook.rollout import rollout_html

        return rollout_html(self)

    @property
    def failed(self) -> bool:
        """Whether the world or the endpoint broke, so that there is no score."""
        return self.stop == StopReason.ERROR

    def succeeded(self, tool: str) -> bool:
        """Whether at least one call of ``tool`` went through."""
        return any(call.name == tool and call.error is None for call in self.calls)

    def used_required_tools(self) -> bool:
        """Whether at least one call of every tool that the task requires went through."""
        return all(self.succeeded(tool) for tool in self.task.get("required_tools") or ())

    def to_json(self) -> str:
        """One line of ``trajectories.jsonl``, valid UTF-8. Images are kept as data URLs."""
        data = asdict(self)
        data["key"] = list(self.key)
        data["messages"] = [_to_stored(message) for message in self.messages]
        return clean_text(json.dumps(FORMAT.stamp(data), ensure_ascii=False))

    @classmethod
    def from_json(cls, line: str | bytes, where: str = "the rollout") -> Trajectory:
        """Read one line back.

        Args:
            line: It.
            where: What an error calls it.

        Raises:
            ValueError: If the line is cut off or is no trajectory.
            LaterFormatError: If a later release wrote it.
        """
        data: Mapping[str, Any] = FORMAT.read(json.loads(line), where)
        try:
            return cls(
                **{
                    **data,
                    "key": Key(*data["key"]),
                    "messages": [Message.from_openai(m) for m in data["messages"]],
                    "calls": [CallRecord(**c) for c in data["calls"]],
                    "stop": StopReason(data["stop"]) if data["stop"] else None,
                    "usage": Usage(**data["usage"]),
                }
            )
        except (KeyError, TypeError) as error:
            raise ValueError(f"not a trajectory: {error}") from error


def calls_of(t: Trajectory) -> list[list[tuple[CallRecord, int | None]]]:
    """The calls of each turn, each with the place among the messages of what it was answered.

    The calls are those of the record, else (an import) those of the messages; the place is None
    where a call got no answer.
    """
    records = _records(t)
    turns = (place for place, message in enumerate(t.messages) if message.role == "assistant")
    found = []
    for turn, place in enumerate(turns):
        answers = _answers(t.messages, place)
        calls = zip(t.messages[place].tool_calls, records[turn], strict=False)
        found.append([(record, answers.get(call.id)) for call, record in calls])
    return found


def _answers(messages: Sequence[Message], place: int) -> dict[str, int]:
    """Which message answers which call of one message: models use ids again in later ones."""
    asked = {call.id for call in messages[place].tool_calls}
    found: dict[str, int] = {}
    for at in range(place + 1, len(messages)):
        if messages[at].role == "assistant":
            break
        if messages[at].role == "tool" and messages[at].tool_call_id in asked:
            found.setdefault(messages[at].tool_call_id, at)
    return found


def _records(t: Trajectory) -> dict[int, list[CallRecord]]:
    found: dict[int, list[CallRecord]] = {}
    for record in t.calls:
        found.setdefault(record.turn, []).append(record)
    for turn, message in enumerate(m for m in t.messages if m.role == "assistant"):
        known = found.setdefault(turn, [])
        for call in message.tool_calls[len(known) :]:
            known.append(CallRecord(turn, call.name, call.arguments))
    return found


def _to_stored(message: Message) -> dict[str, Any]:
    """The chat message, and beside it what its pictures show (an endpoint is not sent that)."""
    stored = message.to_openai()
    if message.images:
        stored["image_alts"] = [image.alt for image in message.images]
    return stored
