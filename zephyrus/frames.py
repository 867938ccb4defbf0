"""A run's rollouts, turns or tool calls as a pandas DataFrame.

Rewards keep their own names as columns; see `reward_column` for those that a column has already.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING, Any, Literal

from zephyrus.errors import UserError
from zephyrus.trajectory import Trajectory, calls_of

if TYPE_CHECKING:
    import pandas as pd

Level = Literal["rollouts", "turns", "calls"]
"""What a row is."""

ROLLOUT_COLUMNS = (
    *("task", "seed", "repeat", "template", "answer_type", "split", "gold", "answer"),
    *("stop", "error", "unscored", "turns", "calls", "failed_calls", "recovered_calls"),
    *("prompt_tokens", "completion_tokens", "seconds", "policy_seconds"),
)
TURN_COLUMNS = (
    *("task", "seed", "repeat", "turn", "text", "reasoning"),
    *("calls", "failed_calls", "observations", "images"),
)
CALL_COLUMNS = (
    *("task", "seed", "repeat", "turn", "call", "tool", "arguments"),
    *("error", "seconds", "observation"),
)

_TAKEN = re.compile(rf"(reward_)*({'|'.join(ROLLOUT_COLUMNS)})")


def to_dataframe(rollouts: Iterable[Trajectory], level: Level = "rollouts") -> pd.DataFrame:
    """Rollouts as a table; see `zephyrus.run.Run.to_dataframe` for its columns.

    Args:
        rollouts: They.
        level: What a row is: "rollouts", "turns" or "calls".

    Raises:
        UserError: If there is no such level.
    """
    import pandas as pd

    if level not in _ROWS:
        raise UserError(f"a row is one of {', '.join(_ROWS)}, not {level!r}")
    rows_of, columns = _ROWS[level]
    rows = [row for rollout in rollouts for row in rows_of(rollout)]
    rewards = dict.fromkeys(name for row in rows for name in row if name not in columns)
    return pd.DataFrame(rows, columns=[*columns, *rewards])


def reward_column(name: str) -> str:
    """The column of a component of the reward: its name, or ``reward_NAME`` where that is taken.

    Different components have different columns, whatever they are called.
    """
    return f"reward_{name}" if _TAKEN.fullmatch(name) else name


def _rollout(t: Trajectory) -> Iterator[dict[str, Any]]:
    row = {
        **t.key._asdict(),
        "template": t.task.get("template", ""),
        "answer_type": t.task.get("answer_type", ""),
        "split": t.task.get("split", ""),
        "gold": t.task.get("gold"),
        "answer": t.answer,
        "stop": str(t.stop),
        "error": t.error,
        "unscored": t.unscored,
        "turns": t.turns,
        "calls": len(t.calls),
        "failed_calls": sum(call.error is not None for call in t.calls),
        "recovered_calls": t.recovered_calls,
        "prompt_tokens": t.usage.prompt_tokens,
        "completion_tokens": t.usage.completion_tokens,
        "seconds": t.seconds,
        "policy_seconds": t.policy_seconds,
    }
    yield row | {reward_column(name): value for name, value in (t.rewards or {}).items()}


def _turns(t: Trajectory) -> Iterator[dict[str, Any]]:
    row: dict[str, Any] | None = None
    turn = 0
    for message in t.messages:
        if message.role == "assistant":
            if row is not None:
                yield row
            failed = [c for c in t.calls if c.turn == turn and c.error is not None]
            turn += 1
            row = {
                **t.key._asdict(),
                "turn": turn,
                "text": message.content,
                "reasoning": message.reasoning,
                "calls": len(message.tool_calls),
                "failed_calls": len(failed),
                "observations": 0,
                "images": 0,
            }
        elif row is not None:
            row["observations"] += len(message.content)
            row["images"] += len(message.images)
    if row is not None:
        yield row


def _calls(t: Trajectory) -> Iterator[dict[str, Any]]:
    for turn, calls in enumerate(calls_of(t), 1):
        for number, (record, at) in enumerate(calls, 1):
            yield {
                **t.key._asdict(),
                "turn": turn,
                "call": number,
                "tool": record.name,
                "arguments": record.arguments,
                "error": record.error,
                "seconds": record.seconds,
                "observation": None if at is None else t.messages[at].content,
            }


_ROWS: dict[str, tuple[Callable[[Trajectory], Iterator[dict[str, Any]]], tuple[str, ...]]] = {
    "rollouts": (_rollout, ROLLOUT_COLUMNS),
    "turns": (_turns, TURN_COLUMNS),
    "calls": (_calls, CALL_COLUMNS),
}
