"""A `Trajectory` as a trace of verifiers: the inverse of `record.to_trajectory`."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping, Sequence
from typing import Any

from zephyrus.integrations.verifiers.record import INFO, STOPS, diagnostics, to_info
from zephyrus.limits import StopReason
from zephyrus.messages import Message
from zephyrus.task import Task
from zephyrus.trajectory import Trajectory

VERSION = 1
"""Of the schema of traces."""
VERIFIERS = "0.4.0"
"""The release whose traces these are like."""


def to_trace(
    trajectory: Trajectory,
    data: Mapping[str, Any],
    agent: Mapping[str, Any],
    schemas: Sequence[Mapping[str, Any]],
    mark: str,
) -> dict[str, Any]:
    """One of the ``traces`` of an episode, as JSON values.

    Tokens are those of the whole rollout, on its last model call: a trajectory doesn't keep them by
    turn. Token ids and logprobs are none of a trajectory, and stay empty.

    Args:
        trajectory: The rollout, ended.
        data: Its ``TaskData``.
        agent: The configuration of the agent.
        schemas: The tools that were offered, as a request has them.
        mark: The trace's id.
    """
    rewards = trajectory.rewards
    stop = trajectory.stop or StopReason.ERROR
    tools = [{"type": "function", **schema["function"]} for schema in schemas]
    metrics = {k: v for k, v in (rewards or {}).items() if k != "reward"}
    return {
        "version": VERSION,
        "id": mark,
        "verifiers": {"version": VERIFIERS},
        "task": {
            "type": "EpisodeTask",
            "data": dict(data),
            "key": data["id"],
            "hash": hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest(),
        },
        "agent": {"config": dict(agent), "name": "agent", "trainable": True},
        "tools": tools,
        "nodes": _nodes(trajectory.messages, tools),
        "calls": _calls(trajectory, agent),
        "rewards": {
            "reward": None if rewards is None else {"score": rewards["reward"], "weight": 1.0}
        }
        if not trajectory.failed
        else {},
        "metrics": {} if trajectory.failed else diagnostics(trajectory) | metrics,
        "info": {INFO: to_info(trajectory)},
        "is_completed": True,
        "ok": rewards is not None,
        "stop_condition": "task_error" if trajectory.unscored else STOPS[stop],
        "is_timeout": stop is StopReason.TIME,
        "errors": _errors(trajectory),
        "timing": {
            "start": 0.0,
            "agent": {
                "start": 0.0,
                "end": trajectory.seconds,
                "model": {"duration": trajectory.policy_seconds},
                "harness": {"duration": max(0.0, trajectory.seconds - trajectory.policy_seconds)},
            },
        },
    }


def gold_text(task: Task) -> str:
    """The right answer as text, where judges of verifiers look for it."""
    return task.gold if isinstance(task.gold, str) else json.dumps(task.gold, ensure_ascii=False)


def _nodes(messages: Sequence[Message], tools: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """One branch, up to the last turn: what came after it was never sent."""
    said = [index for index, message in enumerate(messages) if message.role == "assistant"]
    kept = messages[: said[-1] + 1] if said else messages
    nodes = []
    for index, message in enumerate(kept):
        node = {
            "parent": index - 1 if index else None,
            "message": _message(message),
            "sampled": message.role == "assistant",
            "timestamp": 0.0,
        }
        nodes.append(node if index else {**node, "tools": tools})
    return nodes


def _message(message: Message) -> dict[str, Any]:
    wire = message.to_openai()
    if message.role == "assistant":
        wire["tool_calls"] = [
            {"id": c.id, "type": "function", "name": c.name, "arguments": c.arguments}
            for c in message.tool_calls
        ] or None
    return wire


def _calls(trajectory: Trajectory, agent: Mapping[str, Any]) -> list[dict[str, Any]]:
    said = [(i, m) for i, m in enumerate(trajectory.messages) if m.role == "assistant"]
    calls: list[dict[str, Any]] = [
        {
            "node": index,
            "model": agent.get("model"),
            "endpoint": "/chat/completions",
            "finish_reason": "tool_calls" if message.tool_calls else "stop",
        }
        for index, message in said
    ]
    if calls:
        usage = trajectory.usage
        calls[-1]["usage"] = {
            "prompt_tokens": usage.prompt_tokens,
            "completion_tokens": usage.completion_tokens,
        }
    return calls


def _errors(trajectory: Trajectory) -> list[dict[str, Any]]:
    if trajectory.failed:
        return [{"type": "HarnessError", "message": trajectory.error or ""}]
    if trajectory.unscored is not None:
        return [{"type": "TaskError", "message": trajectory.unscored}]
    return []
