"""Weights of several rewards, which may shift while a policy is trained and always sum to one.

Zephyrus-R1 (2026) trains on a rubric score and Discussion F1 whose weights shift online and sum to
one (Fig. C.1); its formula is not public. The strategies here are the public candidates, each made
to sum to one: see `Strategy`.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, get_args

Strategy = Literal["fixed", "linear", "dvao", "saw", "dwa"]
"""How the weights come about, all from the base weights ``b``:

- ``fixed``: they stay ``b``.
- ``linear``: from ``b`` to ``end``, in equal steps over ``steps`` updates.
- ``dvao``: ``b * s`` over its sum, where ``s`` is a reward's standard deviation within the rollouts
  of one task, averaged over the tasks of a step (after DVAO, arXiv 2605.25604, which weighs each
  group by itself; here all groups of a step share the weights). What the policy's own rollouts
  differ in is what it can learn from.
- ``saw``: ``b * cv`` over its sum, where ``cv`` is the coefficient of variation of a step's rewards,
  standard deviation over mean (after SAW, arXiv 2606.07705).
- ``dwa``: ``b * exp(g / temperature)`` over its sum, where ``g`` is how much of a reward's gap to 1
  is still there after a step, ``(1 - mean) / (1 - mean before)`` (dynamic weight average, Liu et al.
  2019, with gaps for losses). The reward that lags is raised.
"""

STRATEGIES: tuple[Strategy, ...] = get_args(Strategy)

Groups = Sequence[Sequence[float]]
"""The rewards of a step: for each task those of its rollouts."""

_TINY = 1e-8
"""Below this a spread is none: there is nothing to tell the rewards apart by."""


@dataclass(frozen=True)
class WeightRule:
    """How the weights of a training run shift.

    Attributes:
        base: Weight of each reward at the start, positive; scaled to sum to one.
        strategy: See `Strategy`.
        warmup: Updates during which the weights stay ``base``; what is seen meanwhile counts.
        smoothing: Share of the old value in the running mean of what a strategy looks at, 0 (only
            the last step counts) to below 1.
        least: No weight falls below this, at most 1 / number of rewards.
        end: Weights at the end, for ``linear``.
        steps: Updates from ``base`` to ``end``, for ``linear``.
        temperature: Of ``dwa``; higher means more even weights.
    """

    base: Mapping[str, float]
    strategy: Strategy = "fixed"
    warmup: int = 0
    smoothing: float = 0.9
    least: float = 0.2
    end: Mapping[str, float] | None = None
    steps: int = 0
    temperature: float = 2.0

    def __post_init__(self) -> None:
        if self.strategy not in STRATEGIES:
            raise ValueError(f"no strategy {self.strategy!r}; there are {', '.join(STRATEGIES)}")
        if not self.base:
            raise ValueError("weights need at least one reward")
        for weights in (self.base, self.end or {}):
            if any(not math.isfinite(w) or w < 0.0 for w in weights.values()):
                raise ValueError("weights are finite and not negative")
        if not all(w > 0.0 for w in self.base.values()) and self.strategy not in (
            "fixed",
            "linear",
        ):
            raise ValueError(f"{self.strategy} multiplies the base weights: all must be above 0")
        if sum(self.base.values()) <= 0.0:
            raise ValueError("at least one weight must be above 0")
        if not 0.0 <= self.smoothing < 1.0:
            raise ValueError("smoothing is 0 to below 1")
        if not 0.0 <= self.least <= 1.0 / len(self.base):
            raise ValueError(
                f"least is 0 to {1.0 / len(self.base):g} with {len(self.base)} rewards"
            )
        if self.temperature <= 0.0:
            raise ValueError("temperature is above 0")
        if self.strategy == "linear":
            if self.end is None or set(self.end) != set(self.base) or sum(self.end.values()) <= 0.0:
                raise ValueError("linear needs end, with a weight for each reward of base")
            if self.steps < 1:
                raise ValueError("linear needs steps, 1 or more")


@dataclass
class RewardWeights:
    """The weights now, and what they were made of.

    Attributes:
        rule: How they shift.
        updates: How many steps were seen.
        weights: Name of a reward → its weight; they sum to one.
        means: The running mean of each reward, for the log.
        signals: The running mean of what the strategy looks at.
    """

    rule: WeightRule
    updates: int = 0
    weights: dict[str, float] = field(default_factory=dict)
    means: dict[str, float] = field(default_factory=dict)
    signals: dict[str, float] = field(default_factory=dict)

    def __post_init__(self) -> None:
        if not self.weights:
            self.weights = _scaled(self.rule.base)

    def update(self, rewards: Mapping[str, Groups]) -> dict[str, float]:
        """Take in the rewards of one step and return the weights of the next.

        Args:
            rewards: For each reward its groups. Rollouts without a score are left out by the
                caller, for all rewards alike; groups may differ in size. A step without any
                rollout changes nothing but the count.

        Raises:
            ValueError: If the rewards are not those of the rule, or one is not finite.
        """
        if set(rewards) != set(self.rule.base):
            raise ValueError(
                f"rewards are {', '.join(sorted(rewards))}; the weights are for "
                f"{', '.join(sorted(self.rule.base))}"
            )
        for name, groups in rewards.items():
            if not all(math.isfinite(x) for group in groups for x in group):
                raise ValueError(f"a reward {name!r} is not finite")
        self.updates += 1
        if all(any(groups) for groups in rewards.values()):
            self._observe(rewards)
        if self.rule.strategy != "fixed" and self.updates > self.rule.warmup:
            self.weights = self._shifted()
        return dict(self.weights)

    def state(self) -> dict[str, Any]:
        """Plain values from which `restore` goes on."""
        return {
            "updates": self.updates,
            "weights": dict(self.weights),
            "means": dict(self.means),
            "signals": dict(self.signals),
        }

    def restore(self, state: Mapping[str, Any]) -> None:
        """Go on from what `state` gave.

        Raises:
            ValueError: If it is the state of other rewards.
        """
        if set(state["weights"]) != set(self.rule.base):
            raise ValueError("the saved weights are of other rewards than the recipe's")
        self.updates = int(state["updates"])
        self.weights = {k: float(v) for k, v in state["weights"].items()}
        self.means = {k: float(v) for k, v in state["means"].items()}
        self.signals = {k: float(v) for k, v in state["signals"].items()}

    def _observe(self, rewards: Mapping[str, Groups]) -> None:
        for name, groups in rewards.items():
            every = [x for group in groups for x in group]
            mean = sum(every) / len(every)
            if self.rule.strategy == "dvao":
                signal = _mean([_deviation(group) for group in groups if group])
            elif self.rule.strategy == "saw":
                signal = _deviation(every) / (abs(mean) + _TINY) if abs(mean) > _TINY else 0.0
            elif self.rule.strategy == "dwa" and name in self.means:
                signal = (1.0 - mean + _TINY) / (1.0 - self.means[name] + _TINY)
            else:
                signal = 1.0
            # The gap ratio compares with the running mean, so it is not smoothed twice.
            keep = self.rule.smoothing
            old = self.signals.get(name, signal)
            self.signals[name] = (
                signal if self.rule.strategy == "dwa" else keep * old + (1.0 - keep) * signal
            )
            self.means[name] = keep * self.means.get(name, mean) + (1.0 - keep) * mean

    def _shifted(self) -> dict[str, float]:
        rule = self.rule
        base = _scaled(rule.base)
        if rule.strategy == "linear":
            end = _scaled(rule.end or rule.base)
            done = min(1.0, (self.updates - rule.warmup) / rule.steps)
            return _scaled({k: (1.0 - done) * base[k] + done * end[k] for k in base})
        if not self.signals:
            return dict(self.weights)
        if rule.strategy == "dwa":
            top = max(self.signals.values())  # against overflow
            raw = {
                k: b * math.exp((self.signals[k] - top) / rule.temperature) for k, b in base.items()
            }
        else:
            raw = {k: b * self.signals[k] for k, b in base.items()}
        if sum(raw.values()) <= _TINY:  # all rollouts alike: nothing says how to weigh them
            return base
        return bounded(_scaled(raw), rule.least)


def bounded(weights: Mapping[str, float], least: float) -> dict[str, float]:
    """Raise what is below ``least`` to it, and scale the rest so that the sum stays one.

    Args:
        weights: Not negative, with sum one.
        least: At most 1 / number of weights.
    """
    low: set[str] = set()
    result = dict(weights)
    while True:
        free = {k: w for k, w in weights.items() if k not in low}
        left = 1.0 - least * len(low)
        total = sum(free.values())
        if not free or total <= 0.0:
            result = {k: 1.0 / len(weights) for k in weights}
            break
        result = {k: least if k in low else w * left / total for k, w in weights.items()}
        fell = {k for k in free if result[k] < least}
        if not fell:
            break
        low |= fell
    return _scaled(result)


def _scaled(weights: Mapping[str, float]) -> dict[str, float]:
    total = sum(weights.values())
    return {name: weight / total for name, weight in weights.items()}


def _mean(values: Sequence[float]) -> float:
    return sum(values) / len(values) if values else 0.0


def _deviation(values: Sequence[float]) -> float:
    """The standard deviation (n in the denominator), 0 for a single value."""
    mean = _mean(values)
    return math.sqrt(_mean([(x - mean) ** 2 for x in values]))
