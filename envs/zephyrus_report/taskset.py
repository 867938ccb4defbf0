"""Report as a taskset of verifiers: ``vf-eval zephyrus-report``."""

from __future__ import annotations

from typing import ClassVar

import verifiers.v1 as vf

from zephyrus.integrations.verifiers.env import LocalEnv
from zephyrus.integrations.verifiers.harness import EpisodeHarness
from zephyrus.integrations.verifiers.task import EpisodeTask
from zephyrus.integrations.verifiers.taskset import EpisodeTaskset, EpisodeTasksetConfig
from zephyrus.judge.discussion import MAX_CLAIMS

__all__ = ["EpisodeHarness", "LocalEnv", "ReportTaskset", "ReportTasksetConfig"]


class ReportTasksetConfig(EpisodeTasksetConfig):
    """What ``--env.taskset.*`` sets; see `zephyrus_report.env.ReportEnv`.

    Attributes:
        judge: Who scores: a name of `zephyrus judge list`, or openai:MODEL@URL.
        judge_url: Another address for the judge's endpoint.
        scoring_passes: How often each report is judged.
        rubric_weight: What of the reward is the rubric, 0 to 1; the rest is Discussion F1.
        word_budget: Words of a report that cost nothing; by default the event's.
        neutral: What a NEUTRAL claim weighs in the precision.
        max_claims: Claims of a report that count; none for all.
        use_tools: False offers no tool at all.
        maps: Whether the map tool is offered.
        proxies: Whether to add scores that need no judge to the metrics.
        consistency: Who holds the report against the reasoning before it; none by default.
        consistency_weight: What of the reward is the consistency, where it is asked for.
    """

    judge: str = "rules"
    judge_url: str | None = None
    scoring_passes: int = 1
    rubric_weight: float = 0.5
    word_budget: int | None = None
    neutral: str | float = "exclude"
    max_claims: int | None = MAX_CLAIMS
    use_tools: bool = True
    maps: bool = True
    proxies: bool = False
    consistency: str | None = None
    consistency_weight: float = 0.3


class ReportTaskset(
    EpisodeTaskset[ReportTasksetConfig], vf.Taskset[EpisodeTask, ReportTasksetConfig]
):
    """The events of Stage 2."""

    environment: ClassVar[str] = "report"
