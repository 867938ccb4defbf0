"""One rollout as the page holds it: a row of the table, and the trace behind it."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from zephyrus.limits import StopReason
from zephyrus.summary import last_line
from zephyrus.trajectory import CallRecord, Trajectory, calls_of
from zephyrus.view.run.pictures import Pictures

SHOWN = 280
"""Characters of a question, answer or gold answer in a row; the trace has all of it."""

_CUT = re.compile(r"\n\[cut: \d+ more characters; ask for less\]\Z")
_TOO_LONG = "Error: your message was cut off at its length limit"


def row(t: Trajectory) -> dict[str, Any]:
    """What the table shows, sorts and filters by."""
    asked = next((m.content for m in t.messages if m.role == "user"), "")
    failed = [call.error for call in t.calls if call.error is not None]
    return {
        "task": t.key.task,
        "seed": t.key.seed,
        "repeat": t.key.repeat,
        "template": str(t.task.get("template") or ""),
        "type": str(t.task.get("answer_type") or ""),
        "question": _short(asked),
        "answer": None if t.answer is None else _short(t.answer),
        "gold": _short(words(t.task.get("gold"))),
        "stop": str(t.stop or "unfinished"),
        "score": value(t),
        "rewards": t.rewards,
        "turns": t.turns,
        "calls": len(t.calls),
        "failed": len(failed),
        "kinds": sorted(set(failed)),
        "tools": sorted({call.name for call in t.calls}),
        "hit": limits_hit(t),
        "prompt": t.usage.prompt_tokens,
        "completion": t.usage.completion_tokens,
        "seconds": round(t.seconds, 3),
        "images": sum(len(message.images) for message in t.messages),
        "why": _short(last_line(t.error) if t.error else t.unscored or ""),
    }


def trace(t: Trajectory, pictures: Pictures, texts: dict[str, int]) -> dict[str, Any]:
    """Everything of a rollout that its row lacks or cuts short.

    Args:
        t: The rollout.
        pictures: Where its images go.
        texts: System prompts by number; those of a run are mostly one, and kept once.

    Returns:
        Plain values. ``steps`` are the messages in order, in which each tool call has its
        observation (None if it got none).
    """
    return {
        "steps": list(_steps(t, pictures, texts)),
        "answer": t.answer,
        "gold": words(t.task.get("gold")),
        "required": list(t.task.get("required_tools") or ()),
        "error": t.error,
        "unscored": t.unscored,
        "recovered": t.recovered_calls,
        "policy_seconds": round(t.policy_seconds, 3),
    }


def value(t: Trajectory) -> float | None:
    """What rollouts are sorted and compared by: the verifier's score, else the reward."""
    rewards = t.rewards or {}
    return rewards.get("score", rewards.get("reward"))


def limits_hit(t: Trajectory) -> list[str]:
    """The budgets that a rollout ran into, as it can be read off what is kept of it."""
    kinds = {call.error for call in t.calls}
    found = {
        "turns": t.stop == StopReason.TURNS,
        "tokens": t.stop == StopReason.TOKENS,
        "time": t.stop == StopReason.TIME,
        "calls": "budget" in kinds,
        "tool time": "timeout" in kinds,
        "message length": any(
            m.role == "user" and m.content.startswith(_TOO_LONG) for m in t.messages
        ),
        "observation length": any(
            m.role == "tool" and _CUT.search(m.content[-80:]) for m in t.messages
        ),
    }
    return [name for name, hit in found.items() if hit]


def words(value: Any) -> str:
    """A gold answer as text; numbers in it to six digits, as in the terminal."""
    if value is None:
        return ""
    return value if isinstance(value, str) else json.dumps(_rounded(value), ensure_ascii=False)


def _rounded(value: Any) -> Any:
    if isinstance(value, float):
        return float(f"{value:.6g}")
    if isinstance(value, Mapping):
        return {key: _rounded(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_rounded(item) for item in value]
    return value


def _steps(t: Trajectory, pictures: Pictures, texts: dict[str, int]) -> Iterator[dict[str, Any]]:
    turns = calls_of(t)
    answered = {at for calls in turns for _, at in calls}
    turn = 0
    for place, message in enumerate(t.messages):
        if message.role == "system":
            yield {"role": "system", "shared": texts.setdefault(message.content, len(texts))}
        elif message.role == "assistant":
            calls = [
                _call(record, None if at is None else t.messages[at].content)
                for record, at in turns[turn]
            ]
            turn += 1
            yield {
                "role": "assistant",
                "turn": turn,
                "text": message.content,
                "reasoning": message.reasoning,
                "calls": calls,
            }
        elif place not in answered:
            yield {
                "role": message.role,
                "text": message.content,
                "images": [{"alt": i.alt, "at": pictures.add(i.png)} for i in message.images],
            }


def _call(record: CallRecord, observed: str | None) -> dict[str, Any]:
    return {
        "name": record.name,
        "arguments": record.arguments,
        "error": record.error,
        "seconds": round(record.seconds, 4),
        "observed": observed,
    }


def _short(text: str) -> str:
    text = " ".join(text.split())
    return text if len(text) <= SHOWN else text[: SHOWN - 1] + "…"
