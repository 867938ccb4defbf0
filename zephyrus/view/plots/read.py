"""What the figures of a run are made of: a few numbers of each rollout, read in one pass."""

from __future__ import annotations

import importlib
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from zephyrus.errors import UserError
from zephyrus.numeric import NumericAnswer
from zephyrus.run import Run
from zephyrus.summary import summarise
from zephyrus.trajectory import Key, Trajectory

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv


@dataclass(frozen=True, slots=True)
class RolloutNumbers:
    """A finished rollout.

    Attributes:
        key: Which.
        template: Of its task; "(none)" if it has none.
        score: The verifier's, if there is one.
        reward: The total, if it was scored.
        turns: Assistant messages.
        calls: Tool calls by tool.
        failed: Those that failed, by tool.
        kinds: Those that failed, by the kind of mistake.
        number: Of a numeric answer.
    """

    key: Key
    template: str
    score: float | None
    reward: float | None
    turns: int
    calls: Mapping[str, int]
    failed: Mapping[str, int]
    kinds: Mapping[str, int]
    number: NumericAnswer | None


@dataclass(frozen=True)
class RunNumbers:
    """A run.

    Attributes:
        name: What it is called in the figures.
        env: The environment's name.
        policy: The policy's name.
        rollouts: Those that are finished.
        summary: See `zephyrus.summary`.
    """

    name: str
    env: str
    policy: str
    rollouts: tuple[RolloutNumbers, ...]
    summary: Mapping[str, Any]


def read_numbers(runs: Sequence[Run]) -> list[RunNumbers]:
    """Read runs, told apart by their names.

    Raises:
        UserError: If a file is damaged, or one run is named twice.
    """
    folders = [run.path.resolve() for run in runs]
    if len(set(folders)) < len(folders):
        twice = next(folder for folder in folders if folders.count(folder) > 1)
        raise UserError(f"the run {twice.name} is named twice")
    found = [_numbers(run) for run in runs]
    names = [run.name for run in found]
    return [
        replace(run, name=f"{folder.parent.name}/{run.name}") if names.count(run.name) > 1 else run
        for run, folder in zip(found, folders, strict=True)
    ]


def _numbers(run: Run) -> RunNumbers:
    env, policy = (run.config.get(name) or {} for name in ("env", "policy"))
    factory = _factory(str(env.get("name", "")))
    trajectories = list(run)
    return RunNumbers(
        run.name,
        str(env.get("name", "")),
        str(policy.get("name", "")),
        tuple(_rollout(t, factory) for t in trajectories),
        summarise([*trajectories, *run.errors()]),
    )


def _factory(name: str) -> type[ToolEnv] | None:
    """The environment's class, which knows its tolerances; None if it is not installed here."""
    from zephyrus.registry import env_name, get

    try:
        found: Any = get("envs", env_name(name))
    except UserError:
        return None
    base: type[ToolEnv] = importlib.import_module("zephyrus.env").ToolEnv
    return found if isinstance(found, type) and issubclass(found, base) else None


def _rollout(t: Trajectory, factory: type[ToolEnv] | None) -> RolloutNumbers:
    rewards = t.rewards or {}
    return RolloutNumbers(
        key=t.key,
        template=str(t.task.get("template") or "(none)"),
        score=rewards.get("score"),
        reward=rewards.get("reward"),
        turns=t.turns,
        calls=Counter(call.name for call in t.calls),
        failed=Counter(call.name for call in t.calls if call.error is not None),
        kinds=Counter(call.error for call in t.calls if call.error is not None),
        number=factory.numeric_answer(t.task, t.answer) if factory else None,
    )
