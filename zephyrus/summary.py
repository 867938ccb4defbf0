"""The summary of a run: accuracy with confidence intervals, rewards, tool-use diagnostics.

Only rollouts that were scored count. One that broke (its stop reason is an infrastructure error)
is counted apart and in no mean: a dead endpoint is not a wrong answer. Neither is one for which
no judgement could be had.

The two tool-use diagnostics are those of Zephyrus-R1, Fig. 3, as its text suggests them:
*failure rate* is failed executions over all executions, here tool calls with an error over all
tool calls; *tools per turn* is tool calls per executed turn, a turn with at least one call.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from statistics import NormalDist
from typing import Any

from zephyrus.trajectory import Trajectory

Scores = Mapping[str, list[float]]
"""Scores of the repeats of each task, by task id."""


def summarise(trajectories: Iterable[Trajectory]) -> dict[str, Any]:
    """Summarise rollouts in one pass.

    Args:
        trajectories: Finished rollouts and, marked by their stop reason, those that broke.

    Returns:
        Plain JSON values. ``accuracy`` is the mean of the verifier's "score" and
        ``accuracy_ci95`` its interval, both None when nothing was scored; ``rewards`` are means
        by name; ``templates`` and ``answer_types`` have ``n``, ``accuracy`` and
        ``accuracy_ci95`` each; the rest is named as in this module. Times in seconds.
    """
    groups = {name: _Groups() for name in ("all", "template", "answer_type")}
    rewards: defaultdict[str, list[float]] = defaultdict(list)
    stops: Counter[str] = Counter()
    kinds: Counter[str] = Counter()
    calls: Counter[str] = Counter()
    failed: Counter[str] = Counter()
    broken: Counter[str] = Counter()
    unscored: Counter[str] = Counter()
    total: Counter[str] = Counter()
    required: list[bool] = []
    seconds: list[float] = []
    policy_seconds = 0.0
    for t in trajectories:
        if t.failed:
            broken[last_line(t.error)] += 1
            continue
        if t.rewards is None and t.unscored:
            unscored[last_line(t.unscored)] += 1
        stops[str(t.stop)] += 1
        total["turns"] += t.turns
        total["prompt"] += t.usage.prompt_tokens
        total["completion"] += t.usage.completion_tokens
        total["recovered"] += t.recovered_calls
        total["executed"] += len({call.turn for call in t.calls})
        seconds.append(t.seconds)
        policy_seconds += t.policy_seconds
        for call in t.calls:
            calls[call.name] += 1
            if call.error is not None:
                failed[call.name] += 1
                kinds[call.error] += 1
        if t.task.get("required_tools"):
            required.append(t.used_required_tools())
        for name, value in (t.rewards or {}).items():
            rewards[name].append(value)
        if t.rewards is not None and "score" in t.rewards:
            score = t.rewards["score"]
            groups["all"].add("", t.key.task, score)
            for name in ("template", "answer_type"):
                groups[name].add(str(t.task.get(name) or "(none)"), t.key.task, score)
    everything = groups["all"].table().get("", {"n": 0, "accuracy": None, "accuracy_ci95": None})
    rollouts = len(seconds)
    return {
        "rollouts": rollouts,
        "scored": everything["n"],
        "tasks": len(groups["all"].scores.get("", {})),
        "accuracy": everything["accuracy"],
        "accuracy_ci95": everything["accuracy_ci95"],
        "rewards": {name: _mean(values) for name, values in rewards.items()},
        "templates": groups["template"].table(),
        "answer_types": groups["answer_type"].table(),
        "required_tool_rate": _mean(required),
        "failure_rate": _ratio(failed.total(), calls.total()),
        "tools_per_turn": _ratio(calls.total(), total["executed"]),
        "tool_calls": calls.total(),
        "tools": {n: {"calls": c, "failed": failed[n]} for n, c in sorted(calls.items())},
        "errors": dict(kinds.most_common()),
        "recovered_calls": total["recovered"],
        "turns": {"total": total["turns"], "mean": _ratio(total["turns"], rollouts)},
        "tokens": {"prompt": total["prompt"], "completion": total["completion"]},
        "seconds": {"mean": _mean(seconds), "policy": _ratio(policy_seconds, rollouts)},
        "stop_reasons": dict(stops.most_common()),
        "infrastructure": {"errors": broken.total(), "reasons": dict(broken.most_common(10))},
        "unscored": {"rollouts": unscored.total(), "reasons": dict(unscored.most_common(10))},
    }


def mean_interval(scores: Scores, level: float = 0.95) -> tuple[float, float] | None:
    """A confidence interval for the mean of scores in [0, 1], clustered by task.

    Wilson's interval at the effective number of rollouts p(1−p)/v, where v is the variance of
    the mean with tasks as clusters (linearised ratio estimator), kept between the number of
    tasks (repeats agree wholly) and the number of rollouts (repeats are independent). This is
    the interval that Franco et al. 2019 (doi:10.1093/jssam/smy019) recommend for proportions
    from clustered samples. A score in [0, 1] varies at most as much as a 0/1 score of the same
    mean, so partial credit makes it wider than need be, never too narrow; and unlike Student's t
    or a bootstrap it does not shrink to a point when every score is the same.

    Args:
        scores: By task, the scores of its repeats.
        level: Coverage.

    Returns:
        (low, high), or None without scores or when one lies outside [0, 1].
    """
    values = [score for repeats in scores.values() for score in repeats]
    if not values or min(values) < 0 or max(values) > 1:
        return None
    n, k = len(values), sum(1 for repeats in scores.values() if repeats)
    p = math.fsum(values) / n
    effective = float(k)
    if n > k > 1:
        residuals = [math.fsum(r) - p * len(r) for r in scores.values() if r]
        variance = k / (k - 1) * math.fsum(e * e for e in residuals) / n**2
        if variance > 0:
            effective = min(max(p * (1 - p) / variance, k), n)
        elif 0 < p < 1:
            effective = float(n)
    z = NormalDist().inv_cdf(0.5 + level / 2)
    middle = (p + z * z / (2 * effective)) / (1 + z * z / effective)
    half = z / (1 + z * z / effective)
    half *= math.sqrt(p * (1 - p) / effective + z * z / (4 * effective**2))
    return max(0.0, middle - half), min(1.0, middle + half)


def last_line(error: str | None) -> str:
    """The line of a traceback that says what happened."""
    lines = (error or "").strip().splitlines()
    return lines[-1].strip() if lines else "unknown"


class _Groups:
    """Scores by group and task."""

    def __init__(self) -> None:
        self.scores: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(
            lambda: defaultdict(list)
        )

    def add(self, group: str, task: str, score: float) -> None:
        self.scores[group][task].append(score)

    def table(self) -> dict[str, dict[str, Any]]:
        table = {}
        for name, scores in sorted(self.scores.items()):
            values = [score for repeats in scores.values() for score in repeats]
            interval = mean_interval(scores)
            table[name] = {
                "n": len(values),
                "accuracy": _mean(values),
                "accuracy_ci95": list(interval) if interval else None,
            }
        return table


def _mean(values: list[float] | list[bool]) -> float | None:
    return math.fsum(values) / len(values) if values else None


def _ratio(part: float, whole: float) -> float | None:
    return part / whole if whole else None
