"""Rejection sampling: which rollouts are kept for fine-tuning, and why the others are not."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from zephyrus.curriculum.recipe import Keep
from zephyrus.trajectory import Trajectory


@dataclass
class Kept:
    """What was kept.

    Attributes:
        trajectories: In the order they came, of one task next to each other.
        dropped: Why others were not kept → how many.
        seen: How many there were.
    """

    trajectories: list[Trajectory] = field(default_factory=list)
    dropped: Counter[str] = field(default_factory=Counter)
    seen: int = 0

    def report(self) -> dict[str, Any]:
        """Plain values: counts, and how many were kept of each template."""
        templates = Counter(str(t.task.get("template")) for t in self.trajectories)
        return {
            "rollouts": self.seen,
            "kept": len(self.trajectories),
            "tasks": len({t.key.task for t in self.trajectories}),
            "dropped": dict(self.dropped.most_common()),
            "templates": dict(sorted(templates.items())),
        }


def keep(rollouts: Iterable[Trajectory], rule: Keep) -> Kept:
    """Choose the rollouts to fine-tune on.

    Of one task those with the fewest turns and tool errors come first, then the earlier repeat:
    what is imitated should be to the point. A rollout that was not scored is none of the failures.

    Args:
        rollouts: Finished rollouts.
        rule: What to keep.
    """
    kept = Kept()
    tasks: dict[str, list[Trajectory]] = {}
    for rollout in rollouts:
        kept.seen += 1
        if rollout.failed or rollout.rewards is None:
            kept.dropped["not scored"] += 1
        elif rollout.rewards.get("reward", 0.0) < rule.at_least:
            kept.dropped[f"reward below {rule.at_least:g}"] += 1
        elif rule.errors is not None and _errors(rollout) > rule.errors:
            kept.dropped[f"more than {rule.errors} tool errors"] += 1
        else:
            tasks.setdefault(rollout.key.task, []).append(rollout)
    for found in tasks.values():
        found.sort(key=lambda t: (t.turns, _errors(t), t.key.seed, t.key.repeat))
        seen: set[str] = set()
        some = 0
        for rollout in found:
            what = _what_it_did(rollout)
            if rule.distinct and what in seen:
                kept.dropped["the same as another"] += 1
            elif some >= rule.per_task:
                kept.dropped[f"more than {rule.per_task} of a task"] += 1
            else:
                seen.add(what)
                some += 1
                kept.trajectories.append(rollout)
    return kept


def _errors(rollout: Trajectory) -> int:
    return sum(call.error is not None for call in rollout.calls)


def _what_it_did(rollout: Trajectory) -> str:
    """Tool calls with their arguments in order of name, and the answer."""
    calls = []
    for call in rollout.calls:
        try:
            arguments = json.dumps(json.loads(call.arguments), sort_keys=True)
        except (ValueError, RecursionError):
            arguments = call.arguments
        calls.append([call.name, arguments])
    return json.dumps([calls, (rollout.answer or "").strip()])
