"""`ReportEnv`: forecast discussions, written with tools and judged against a reference."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from statistics import fmean
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from zephyrus.consistency.freetext import free_text_consistency
from zephyrus.consistency.response import last_said, reasoning_of
from zephyrus.env import Script
from zephyrus.errors import JudgeError, UserError
from zephyrus.judge import make_judge
from zephyrus.judge.assess import Assessment, assess
from zephyrus.judge.base import Brief, Judge
from zephyrus.judge.discussion import MAX_CLAIMS, ClaimOptions
from zephyrus.limits import Limits
from zephyrus.loops import run_sync
from zephyrus.task import Task, TaskSet
from zephyrus.tools import Tool
from zephyrus.trajectory import Trajectory
from zephyrus_geodata import Dataset
from zephyrus_report import prompts
from zephyrus_report.baselines import BASELINES
from zephyrus_report.event import Atlas, Atlases, Event
from zephyrus_report.proxies import proxies as all_proxies
from zephyrus_report.random_report import random_report
from zephyrus_report.report_text import count_words, find_report, length_penalty
from zephyrus_report.reporter import write_report
from zephyrus_report.rubric import report_rubric
from zephyrus_tools.env import ForecastEnv

if TYPE_CHECKING:
    from zephyrus_report.bank_report import EventBankReport

BANKS = Path(__file__).parent / "data"
"""Where the banks that ship with the package are, one ``NAME.jsonl.gz`` for each dataset."""

PARTS = ("rubric", "f1", "precision", "recall", "neutral_rate")
"""What of a judge's scores is among the rewards; each is a mean over the scoring passes."""


class ReportEnv(ForecastEnv):
    """Stage 2: write the discussion of a forecast's region and period (rubric and Discussion F1).

    The reward is ``rubric_weight · rubric + (1 − rubric_weight) · f1 − length_penalty``. When the
    judge can't be had the rollout is kept without rewards, never scored 0; an episode that ends
    without a report scores 0. With ``consistency`` the reasoning before the report is held against
    it: ``consistency_weight`` of what comes before the penalty is then the consistency reward of
    `zephyrus.consistency.freetext`, our extension of Weather-R1 to answers in free text.
    """

    name = "report"
    banks = BANKS
    how_to_build = "zephyrus env build-bank --env report"
    bank_sizes: ClassVar[dict[str, int]] = {"train": 1000, "validation": 1000, "test": 1000}
    baselines = ("climatology", "persistence", "text-only")
    default_limits = Limits(turns=16, calls=40)
    answer_hint = "Call a tool, or write the discussion inside <report>…</report>."

    def __init__(
        self,
        *,
        split: str = "test",
        dataset: str | Dataset = "demo",
        bank: str | Path | TaskSet | None = None,
        judge: str | Judge = "rules",
        judge_url: str | None = None,
        scoring_passes: int = 1,
        rubric_weight: float = 0.5,
        word_budget: int | None = None,
        neutral: str | float = "exclude",
        max_claims: int | None = MAX_CLAIMS,
        use_tools: bool = True,
        maps: bool = True,
        proxies: bool = False,
        consistency: str | Judge | None = None,
        consistency_weight: float = 0.3,
        tools: Iterable[Tool | str] = (),
        limits: Limits | None = None,
        compact: bool = False,
        render_mode: str | None = None,
    ) -> None:
        """Set the environment up; data are opened when the first episode begins.

        Args:
            split: Which events a reset draws from: "train", "validation" or "test".
            dataset: The dataset that the events are of: a name, a folder, or an open one.
            bank: The events or their file; by default those that ship for the dataset.
            judge: Who scores: a name of `zephyrus judge list`, openai:MODEL@URL, or a judge.
            judge_url: Another address for the judge's endpoint.
            scoring_passes: How often each report is judged; a deterministic judge is asked once.
            rubric_weight: What of the reward is the rubric, 0 to 1; the rest is Discussion F1.
            word_budget: Words of a report that cost nothing, by default those that the event's
                prompt gives; twice as many lose 1.
            neutral: What a NEUTRAL claim weighs in the precision: "exclude" (0), "penalize" (1),
                or a number between.
            max_claims: Claims of a report that count; none (null) for all.
            use_tools: False offers no tool at all: what a model writes from the prompt alone.
            maps: Whether the map tool is offered; never by compact.
            proxies: Whether to add scores that need no judge to the rewards, and not to "reward";
                see `zephyrus_report.proxies`.
            consistency: Who holds the report against the reasoning of the turn that wrote it: a
                judge as above, or null for no such reward.
            consistency_weight: What of the reward is the consistency, where it is asked for; the
                rest is rubric and Discussion F1, so that the weights sum to one.
            tools: Further tools, or names of registered ones.
            limits: Budgets of an episode, by default 16 turns and 40 tool calls.
            compact: The short system prompt and tool schemas, without the map tool.
            render_mode: None or "ansi".

        Raises:
            UserError: If an option is out of range, or there is no such judge.
        """
        if isinstance(rubric_weight, bool) or not 0 <= rubric_weight <= 1:
            raise UserError(f"rubric_weight lies between 0 and 1, not at {rubric_weight!r}")
        if isinstance(consistency_weight, bool) or not 0 <= consistency_weight <= 1:
            raise UserError(
                f"consistency_weight lies between 0 and 1, not at {consistency_weight!r}"
            )
        if scoring_passes < 1:
            raise UserError(f"scoring_passes is at least 1, not {scoring_passes}")
        if word_budget is not None and word_budget < 1:
            raise UserError(f"word_budget is at least 1, not {word_budget}")
        tools = tools if isinstance(tools, str) else tuple(tools)
        if tools and not use_tools:
            raise UserError("use_tools=False offers no tools: leave tools out")
        super().__init__(
            split=split,
            dataset=dataset,
            bank=bank,
            tools=tools,
            limits=limits,
            compact=compact,
            render_mode=render_mode,
        )
        given = {getattr(tool, "name", tool) for tool in tools}
        if not maps and "map" not in given:
            self.tools.pop("map", None)
        if not use_tools:
            self.tools.clear()
        self.judge: Judge = make_judge(judge, base_url=judge_url)
        self.consistency: Judge | None = (
            None if consistency is None else make_judge(consistency, base_url=judge_url)
        )
        self.consistency_weight = float(consistency_weight)
        self.scoring_passes = scoring_passes
        self.rubric_weight = float(rubric_weight)
        self.word_budget = word_budget
        self.claim_options = ClaimOptions(neutral=neutral, max_claims=max_claims)
        self.use_tools = use_tools
        self.maps = maps
        self.proxies = proxies
        self._atlases = Atlases()

    def tasks(self, split: str | None = None) -> TaskSet:
        """The events of a split, told with the environment's word budget if it has one."""
        name = split or self.split
        if name not in self._splits and self.word_budget is not None:
            found = super().tasks(name)
            words = self.word_budget
            self._splits[name] = TaskSet(
                (replace(t, prompt=prompts.with_word_budget(t.prompt, words)) for t in found),
                found.name,
            )
        return super().tasks(name)

    def describe(self) -> dict[str, Any]:
        """What a run must be repeated and scored again with."""
        return {
            **super().describe(),
            "judge": self.judge.name,
            "judge_url": self.judge.describe().get("base_url"),
            "scoring_passes": self.scoring_passes,
            "rubric_weight": self.rubric_weight,
            "word_budget": self.word_budget,
            "neutral": self.claim_options.neutral,
            "max_claims": self.claim_options.max_claims,
            "use_tools": self.use_tools,
            "maps": self.maps,
            "proxies": self.proxies,
            # Not told where there is none: runs from before the option can so be gone on with.
            **({} if self.consistency is None else self._about_consistency(self.consistency)),
        }

    def system_prompt(self) -> str:
        """What the agent is told once; the event's prompt says what to write."""
        return prompts.system_prompt(
            compact=self.compact, use_tools=self.use_tools, maps="map" in self.tools
        )

    def read_answer(self, text: str) -> str | None:
        """The report in a message; see `zephyrus_report.report_text.find_report`."""
        return find_report(text)

    def words(self, task: Task) -> int:
        """The word budget of an event: what its agent is told."""
        told = self.word_budget or prompts.word_budget(task.prompt)
        return told or prompts.WORDS.get(task.template, max(prompts.WORDS.values()))

    def brief(self, task: Task, trajectory: Trajectory) -> Brief:
        """The report, its reference, the rubric, and what the event asked for."""
        return Brief(
            report=trajectory.answer or "",
            reference=str(task.gold),
            rubric=report_rubric(),
            context=prompts.context(task.prompt),
        )

    async def check(self) -> None:
        """Find out before any work starts whether the judges answer."""
        for judge in self._judges():
            await judge.check()

    async def release(self) -> None:
        """Close the judges' connections; they open them again when they are asked."""
        for judge in self._judges():
            await judge.close()

    async def ascore(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """The judge's scores, the length penalty, and the reward.

        Raises:
            JudgeError: If a part of a judgement is missing, or the reference makes no claims: then
                there is no reward, which is not a reward of 0.
        """
        brief = self.brief(task, trajectory)
        passes = 1 if self.judge.deterministic or not brief.report else self.scoring_passes
        options = self.claim_options
        assessments = await asyncio.gather(
            *(assess(self.judge, brief, options=options, scoring_pass=i) for i in range(passes))
        )
        judged = [_complete(assessment) for assessment in assessments]
        rewards = {part: fmean(scores[part] for scores in judged) for part in PARTS}
        penalty = length_penalty(count_words(brief.report), self.words(task))
        weight = self.rubric_weight
        total = weight * rewards["rubric"] + (1 - weight) * rewards["f1"]
        extra = self._proxies(brief, trajectory) if self.proxies else {}
        if self.consistency is not None:
            extra["consistency"] = await self._consistency(self.consistency, brief, trajectory)
            share = self.consistency_weight
            total = (1 - share) * total + share * extra["consistency"]
        return {**rewards, **extra, "length_penalty": penalty, "reward": total - penalty}

    def score(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        """`ascore` for code that is not asynchronous."""
        return run_sync(self._score_and_release(task, trajectory))

    def script(self, task: Task) -> Script:
        """Gather evidence with the tools alone, and write what it shows."""
        event, atlas = self._setting(task)
        return write_report(event, atlas, self.limits, tools=self.tools)

    def baseline(self, task: Task, name: str) -> Script:
        """A report of climatology, of persistence, or of nothing but the prompt."""
        if name not in BASELINES:
            return super().baseline(task, name)
        event, atlas = self._setting(task)
        return BASELINES[name](event, atlas, self.limits)

    def sample_answer(self, task: Task, rng: np.random.Generator) -> str:
        """Random sentences of a discussion: what knowing only the form is worth."""
        return f"<report>\n{random_report(*self._setting(task), rng)}\n</report>"

    @staticmethod
    def build_bank(
        dataset: Dataset | str = "demo",
        sizes: Mapping[str, int] | None = None,
        seed: int = 0,
        output: Path | str | None = None,
        *,
        regions: str | Sequence[str] | None = None,
        periods: str | Sequence[str] | None = None,
        reports: str | Path | None = None,
        latency_hours: float = 6.0,
        max_age_hours: float = 24.0,
        corrections: str = "latest",
        keep: str = "nearest",
        words: int | None = None,
    ) -> EventBankReport:
        """Make events of a dataset, with composed references or with archived reports.

        Args:
            dataset: The dataset, or its name or folder.
            sizes: The most events of each split; by default all that there are.
            seed: Same seed and data, same bank.
            output: The file, ``.jsonl`` or ``.jsonl.gz``; nothing is written if None.
            regions: Of composed events: names of features, separated by commas.
            periods: Of composed events: which of short_range, extended, outlook.
            reports: A folder of `zephyrus data reports fetch`: real references.
            latency_hours: With reports: hours after its initial time until a forecast is at hand.
            max_age_hours: With reports: how old the forecast may be when the report is issued.
            corrections: With reports: "latest", "first" or "all" of a report's corrections.
            keep: With reports: "nearest" takes one of a product and office for each forecast,
                "all" every one.
            words: With reports: the word budget, by default that of the product.
        """
        from zephyrus_report.bank import build_bank

        for name, value, known in (
            ("corrections", corrections, ("latest", "first", "all")),
            ("keep", keep, ("nearest", "all")),
        ):
            if value not in known:
                raise UserError(f"{name} is one of {', '.join(known)}, not {value!r}")
        pairing = {
            "latency_hours": latency_hours,
            "max_age_hours": max_age_hours,
            "corrections": corrections,
            "keep": keep,
            "words": words,
        }
        return build_bank(
            dataset,
            sizes,
            seed,
            output,
            regions=regions,
            periods=periods,
            reports=reports,
            pairing=pairing,
        )

    def _setting(self, task: Task) -> tuple[Event, Atlas]:
        """What the event is, and the geography of its region."""
        event = Event.of(task, self.words(task))
        data = self.world(task)[Dataset]
        assert isinstance(data, Dataset)
        return event, self._atlases.get(data, event)

    def _about_consistency(self, judge: Judge) -> dict[str, Any]:
        return {"consistency": judge.name, "consistency_weight": self.consistency_weight}

    def _judges(self) -> list[Judge]:
        return [self.judge, *([self.consistency] if self.consistency is not None else [])]

    async def _consistency(self, judge: Judge, brief: Brief, trajectory: Trajectory) -> float:
        """How far the reasoning of the turn that wrote the report bears it out."""
        reasoning = reasoning_of(last_said(trajectory))
        passes = 1 if judge.deterministic else self.scoring_passes
        found = await asyncio.gather(
            *(
                free_text_consistency(
                    judge, reasoning, brief.report, self.claim_options, scoring_pass=i
                )
                for i in range(passes)
            )
        )
        return fmean(one.score for one in found)

    def _proxies(self, brief: Brief, trajectory: Trajectory) -> dict[str, float]:
        seen = [message.content for message in trajectory.messages if message.role == "tool"]
        return all_proxies(brief.report, brief.reference, seen, brief.context)

    async def _score_and_release(self, task: Task, trajectory: Trajectory) -> dict[str, float]:
        try:
            return await self.ascore(task, trajectory)
        finally:
            await self.release()  # the loop ends with this call


def _complete(assessment: Assessment) -> dict[str, float]:
    """The scores of `PARTS`, all there.

    Raises:
        JudgeError: If one is missing.
    """
    if assessment.missing:
        raise JudgeError("; ".join(f"{part}: {why}" for part, why in assessment.missing.items()))
    scores = assessment.scores()
    found = {part: value for part in PARTS if (value := scores[part]) is not None}
    if len(found) < len(PARTS):
        raise JudgeError("the reference makes no claims, so that no report can be held against it")
    return found
