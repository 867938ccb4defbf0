"""Bench as a taskset of verifiers: ``vf-eval zephyrus-bench``."""

from __future__ import annotations

from typing import ClassVar

import verifiers.v1 as vf

from zephyrus.integrations.verifiers.env import LocalEnv
from zephyrus.integrations.verifiers.harness import EpisodeHarness
from zephyrus.integrations.verifiers.task import EpisodeTask
from zephyrus.integrations.verifiers.taskset import EpisodeTaskset, EpisodeTasksetConfig

__all__ = ["BenchTaskset", "BenchTasksetConfig", "EpisodeHarness", "LocalEnv"]


class BenchTasksetConfig(EpisodeTasksetConfig):
    """What ``--env.taskset.*`` sets; see `zephyrus_bench.env.BenchEnv`.

    Attributes:
        turn_cost: Taken off the reward for every turn after the free ones.
        free_turns: Turns that cost nothing.
    """

    turn_cost: float = 0.02
    free_turns: int = 6


class BenchTaskset(EpisodeTaskset[BenchTasksetConfig], vf.Taskset[EpisodeTask, BenchTasksetConfig]):
    """The questions of Stage 1."""

    environment: ClassVar[str] = "bench"
