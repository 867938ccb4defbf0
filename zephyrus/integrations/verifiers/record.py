"""A trace of verifiers as a `Trajectory`, and what of a trajectory a trace must keep for that.

Traces are plain JSON values here, as in ``traces.jsonl``: verifiers is not imported.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, replace
from typing import Any

from zephyrus.limits import StopReason
from zephyrus.messages import Image, Message, Usage
from zephyrus.policy.wire import read_reply
from zephyrus.task import Task
from zephyrus.trajectory import CallRecord, Key, Trajectory

INFO = "zephyrus"
"""The key of ``Trace.info`` under which our record lies."""

STOPS = {
    StopReason.ANSWERED: "agent_completed",
    StopReason.TURNS: "max_turns",
    StopReason.TOKENS: "max_total_tokens",
    StopReason.TIME: "agent_timeout",
    StopReason.ERROR: "harness_error",
}
"""How verifiers calls the ends of an episode."""

DIAGNOSTICS = ("answered", "turns", "tool_calls", "failed_tool_calls", "recovered_tool_calls")
"""Metrics of a trace that are no part of the reward."""


def diagnostics(trajectory: Trajectory) -> dict[str, float]:
    """`DIAGNOSTICS` of a rollout."""
    failed = sum(call.error is not None for call in trajectory.calls)
    counts = (trajectory.turns, len(trajectory.calls), failed, trajectory.recovered_calls)
    answered = trajectory.answer is not None
    return dict(zip(DIAGNOSTICS, map(float, (answered, *counts)), strict=True))


def stop_reason(condition: str | None, *, timeout: bool = False) -> StopReason:
    """Why an episode ended that verifiers stopped, or that another harness ran.

    Args:
        condition: ``Trace.stop_condition``.
        timeout: ``Trace.is_timeout``.
    """
    known = {name: reason for reason, name in STOPS.items()}
    if timeout:
        return StopReason.TIME
    if condition in known:
        return known[condition]
    if condition is None or condition.endswith("_tokens"):
        return StopReason.TOKENS if condition else StopReason.ANSWERED
    return StopReason.TURNS  # a @stop of the user's: cut short, as by a budget


def to_info(trajectory: Trajectory) -> dict[str, Any]:
    """What a trace doesn't say by itself about a rollout, as JSON values."""
    last = max((i for i, m in enumerate(trajectory.messages) if m.role == "assistant"), default=-1)
    return {
        "key": list(trajectory.key),
        "calls": [asdict(call) for call in trajectory.calls],
        "turns": trajectory.turns,
        "answer": trajectory.answer,
        "stop": None if trajectory.stop is None else trajectory.stop.value,
        "error": trajectory.error,
        "recovered_calls": trajectory.recovered_calls,
        "seconds": trajectory.seconds,
        "policy_seconds": trajectory.policy_seconds,
        "image_alts": [[i.alt for i in m.images] for m in trajectory.messages if m.images],
        # Observations that no turn followed were never sent, and are nowhere on the trace.
        "tail": [m.to_openai() for m in trajectory.messages[last + 1 :]] if last >= 0 else [],
    }


def to_trajectory(trace: Mapping[str, Any]) -> Trajectory:
    """Read a trace; any harness's, with less in it than our own.

    Args:
        trace: One of the ``traces`` of a line of ``traces.jsonl``.

    Returns:
        The rollout. Its key's seed and repeat are 0 unless our record says otherwise.
    """
    data = trace["task"]["data"]
    info = trace.get("info", {}).get(INFO)
    task = Task.from_dict(data["task"]) if isinstance(data.get("task"), dict) else None
    name = str(data.get("id") or trace["task"].get("key") or data.get("idx"))
    messages = _messages(trace)
    usage = _usage(trace)
    facts = task.facts() if task else {"template": data.get("name") or ""}
    if info is None:
        found = _foreign(trace, Key(task.id if task else name, 0, 0), messages)
    else:
        tail = [Message.from_openai(m) for m in info["tail"]]
        images = iter(info["image_alts"])
        messages = [_with_alts(m, images) for m in (*messages, *tail)]
        found = Trajectory(
            key=Key(*info["key"]),
            messages=messages,
            calls=[CallRecord(**call) for call in info["calls"]],
            stop=StopReason(info["stop"]) if info["stop"] else None,
            **{name: info[name] for name in _PLAIN},
        )
    found = replace(found, usage=usage, task=facts)
    if found.stop is None:  # verifiers' own deadline, or a broken turn, ended it from outside
        timeout = bool(trace.get("is_timeout"))
        found.stop = stop_reason(trace.get("stop_condition"), timeout=timeout)
    return _with_outcome(found, trace)


_PLAIN = ("turns", "answer", "error", "recovered_calls", "seconds", "policy_seconds")


def _with_outcome(found: Trajectory, trace: Mapping[str, Any]) -> Trajectory:
    """The rewards, or why there are none."""
    given = trace.get("rewards") or {}
    parts = {name: r["score"] for name, r in given.items() if r is not None}
    if trace.get("ok") and parts:
        metrics = trace.get("metrics") or {}
        extra = {k: v for k, v in metrics.items() if k not in DIAGNOSTICS and v is not None}
        total = sum(r["score"] * r.get("weight", 1.0) for r in given.values() if r is not None)
        return replace(found, rewards={**extra, **parts, "reward": total})
    why = next((e["message"] for e in reversed(trace.get("errors") or ())), None)
    if found.failed or (why and not given):  # scoring never ran: the rollout itself broke
        return replace(found, stop=StopReason.ERROR, error=found.error or why or "unknown")
    return replace(found, unscored=why or "not scored")


def _foreign(trace: Mapping[str, Any], key: Key, messages: Sequence[Message]) -> Trajectory:
    said = [message for message in messages if message.role == "assistant"]
    calls = [
        CallRecord(turn, call.name, call.arguments)
        for turn, message in enumerate(said)
        for call in message.tool_calls
    ]
    span = (trace.get("timing") or {}).get("agent") or {}
    reason = stop_reason(trace.get("stop_condition"), timeout=bool(trace.get("is_timeout")))
    answered = reason is StopReason.ANSWERED and bool(said)
    return Trajectory(
        key=key,
        messages=list(messages),
        calls=calls,
        turns=len(said),
        answer=said[-1].content if answered else None,
        stop=reason,
        seconds=max(0.0, span.get("end", 0.0) - span.get("start", 0.0)),
        policy_seconds=float((span.get("model") or {}).get("duration", 0.0)),
    )


def _messages(trace: Mapping[str, Any]) -> list[Message]:
    """The conversation on the last branch."""
    nodes = trace.get("nodes") or []
    parents = {node.get("parent") for node in nodes}
    leaves = [index for index in range(len(nodes)) if index not in parents]
    path: list[Mapping[str, Any]] = []
    at = leaves[-1] if leaves else None
    while at is not None:
        path.append(nodes[at]["message"])
        at = nodes[at].get("parent")
    schemas = [{"type": "function", "function": tool} for tool in trace.get("tools") or ()]
    messages: list[Message] = []
    for raw in reversed(path):
        turn = sum(message.role == "assistant" for message in messages)
        messages.append(_message(raw, schemas, turn))
    return messages


def _message(raw: Mapping[str, Any], schemas: Sequence[Mapping[str, Any]], turn: int) -> Message:
    if raw["role"] != "assistant":
        return Message.from_openai(raw)
    calls = [
        {"id": c["id"], "function": {"name": c["name"], "arguments": c["arguments"]}}
        for c in raw.get("tool_calls") or ()
    ]
    wire = {**raw, "tool_calls": calls}
    read = read_reply({"choices": [{"message": wire}]}, schemas, 0.0)
    return read.message.with_call_ids(f"call-{turn}")


def _with_alts(message: Message, alts: Any) -> Message:
    if not message.images:
        return message
    images = zip(message.images, next(alts, ()), strict=False)
    return replace(message, images=tuple(Image(image.png, alt) for image, alt in images))


def _usage(trace: Mapping[str, Any]) -> Usage:
    used = [call["usage"] for call in trace.get("calls") or () if call.get("usage")]
    cached = sum(u.get("cached_input_tokens") or 0 for u in used)
    return Usage(
        sum(u["prompt_tokens"] for u in used) + cached, sum(u["completion_tokens"] for u in used)
    )
