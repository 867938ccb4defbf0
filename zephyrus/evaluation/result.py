"""`Evaluation`: what the judges made of a run, as numbers. Made from judgements, never asked."""

from __future__ import annotations

import json
import platform
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from zephyrus import __version__
from zephyrus.evaluation.bootstrap import RESAMPLES, SEED
from zephyrus.evaluation.comparison import Change, Comparison, compare
from zephyrus.evaluation.judgements import Judgement, Judgements, has
from zephyrus.evaluation.scores import NO_SCORE, REWARDS, Column, EventScores, Score
from zephyrus.evaluation.settings import Settings
from zephyrus.judge.assess import PARTS
from zephyrus.judge.base import Label, Verdict
from zephyrus.judge.discussion import ClaimOptions
from zephyrus.run import Run
from zephyrus.trajectory import Key

MAIN = {"rubric": "rubric", "claims": "f1"}
"""The score of each part that goes into the average."""

SCORES = ("rubric", "f1", "precision", "recall", "neutral_rate")
"""The scores that have a column of their own, in order; criteria follow as ``rubric_KEY``."""


@dataclass(frozen=True, slots=True)
class JudgeResult:
    """One judge's part of an evaluation.

    Attributes:
        judge: Its name.
        settings: How it was asked.
        passes: Scoring passes that were wanted; 1 for a deterministic judge.
        scores: Mean scores by name: `SCORES`, then the criteria.
        labels: By direction ("report": its claims against the reference, "reference": the other
            way), how many claims got which label, over all judgements.
        wanted: Judgements: rollouts × passes.
        judged: Those with every part.
        missing: Those that lack a part, or were never made.
        invalid: Those whose reference makes no claims: no F1, and not missing.
        empty: Those of a rollout without a report, which score 0 without the judge.
        reasons: Why parts are missing, and how often; the most frequent ten.
        usage: What it has cost over all calls that made or tried these judgements.
        seconds: Time that judgements took, added up although many ran at once.
    """

    judge: str
    settings: Settings
    passes: int
    scores: Mapping[str, Score]
    labels: Mapping[str, Mapping[str, int]]
    wanted: int
    judged: int
    missing: int
    invalid: int
    empty: int
    reasons: Mapping[str, int]
    usage: Mapping[str, float]
    seconds: float

    @property
    def criteria(self) -> dict[str, Score]:
        """The mean normalised score of each criterion of the rubric."""
        criteria = (name for name in self.scores if name.startswith("rubric_"))
        return {name.removeprefix("rubric_"): self.scores[name] for name in criteria}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        scores = {name: score.to_dict() for name, score in self.scores.items()}
        return {
            **{name: score for name, score in scores.items() if name in SCORES},
            "criteria": {name: score.to_dict() for name, score in self.criteria.items()},
            "labels": {name: dict(counts) for name, counts in self.labels.items()},
            "passes": self.passes,
            "counts": {
                "wanted": self.wanted,
                "judged": self.judged,
                "missing": self.missing,
                "invalid": self.invalid,
                "empty": self.empty,
            },
            "missing_reasons": dict(self.reasons),
            "usage": dict(self.usage),
            "seconds": round(self.seconds, 3),
            "settings": {"id": self.settings.id, **self.settings.to_dict()},
        }


@dataclass(frozen=True, slots=True)
class Evaluation:
    """What the judges made of a run.

    Attributes:
        run: Its folder's name.
        path: Its folder.
        policy: The policy's name.
        env: The environment's name.
        bank: Digest of the bank, for telling whether two runs had the same events.
        events: Tasks that were to be judged.
        rollouts: Their finished rollouts.
        broken: Rollouts that broke and were never finished: not judged.
        judges: By name, in the order asked for.
        average: The mean of every judge's rubric and F1, unrounded ("Avg" of Tables 2 and 3).
        rewards: Means of what the environment gave, by name, in the same way.
        options: How claims were counted.
        parts: What was asked for.
        comparison: Against a base run, if asked for.
        notes: What a reader has to know about the numbers.
        event_scores: The scores by event that all means come from.
    """

    run: str
    path: str
    policy: str
    env: str
    bank: str
    events: tuple[str, ...]
    rollouts: int
    broken: int
    judges: Mapping[str, JudgeResult]
    average: Score
    rewards: Mapping[str, Score]
    options: ClaimOptions
    parts: tuple[str, ...]
    comparison: Comparison | None
    notes: tuple[str, ...]
    event_scores: EventScores = field(repr=False, compare=False)

    @property
    def missing(self) -> int:
        """Judgements that lack a part or were never made, of all judges."""
        return sum(result.missing for result in self.judges.values())

    def change(self, judge: str, score: str) -> Change | None:
        """A score against the base run's; a reward's with the judge `scores.REWARDS`."""
        if self.comparison is None:
            return None
        return self.comparison.changes.get(Column(judge, score))

    def main_columns(self) -> list[Column]:
        """Rubric and F1 of each judge: the scores that are averaged."""
        return _main(self.judges, self.parts)

    def against(self, base: Evaluation) -> Evaluation:
        """The same evaluation, compared with a base run's."""
        columns = [c for c in self.event_scores.columns if c in set(base.event_scores.columns)]
        main = [column for column in self.main_columns() if column in columns]
        average = main if len(main) == len(self.main_columns()) else []
        found = compare(self.event_scores, base.event_scores, base.run, columns, average)
        notes = list(self.notes)
        if set(self.events) != set(base.events):
            common = len(set(self.events) & set(base.events))
            notes.append(
                f"changes are over the {common} events that {self.run} and {base.run} share"
            )
        return replace(self, comparison=found, notes=tuple(notes))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: what ``evaluation.json`` holds."""
        data: dict[str, Any] = {
            "run": self.run,
            "policy": self.policy,
            "env": self.env,
            "bank_sha256": self.bank,
            "events": len(self.events),
            "rollouts": self.rollouts,
            "broken_rollouts": self.broken,
            "judges": {name: result.to_dict() for name, result in self.judges.items()},
            "avg": {**self.average.to_dict(), "scores": len(self.main_columns())},
            "missing": self.missing,
            "rewards": {name: score.to_dict() for name, score in self.rewards.items()},
            "options": self.options.to_dict(),
            "parts": list(self.parts),
            "bootstrap": {
                "method": "expanded percentile, by event",
                "resamples": RESAMPLES,
                "seed": SEED,
                "level": 0.95,
            },
            "notes": list(self.notes),
            "versions": {"zephyrus": __version__, "python": platform.python_version()},
        }
        if self.comparison is not None:
            data["base"] = _base_dict(self.comparison)
        return data


def make_evaluation(
    run: Run,
    rollouts: Mapping[Key, Mapping[str, float] | None],
    chosen: Sequence[tuple[Settings, int]],
    kept: Judgements,
    *,
    options: ClaimOptions,
    parts: Sequence[str] = PARTS,
    texts: Mapping[Key, str] | None = None,
) -> Evaluation:
    """Make the numbers of an evaluation.

    Args:
        run: The run.
        rollouts: The rewards of the rollouts that are judged, by key.
        chosen: The settings of each judge, and its scoring passes.
        kept: The judgements.
        options: How claims are counted.
        parts: What is wanted of every judgement.
        texts: Digests of the rollouts' texts; a judgement of other texts doesn't count. Without
            them every judgement does.
    """
    scores = EventScores()
    if chosen:  # which claims a judge was given was decided when it was asked
        options = replace(options, **chosen[0][0].options)
    tallies = [_Tally(settings, passes, rollouts, parts) for settings, passes in chosen]
    for tally in tallies:
        for judgement in kept.of(tally.settings.id):
            if texts is None or texts.get(judgement.key.rollout) == judgement.texts:
                tally.add(judgement, options, scores)
    for key, rewards in sorted(rollouts.items()):
        for name, value in (rewards or {}).items():
            scores.add(Column(REWARDS, name), key, value)
    main = _main([tally.settings.judge for tally in tallies], parts)
    columns = list(dict.fromkeys([*main, *scores.columns]))
    means = scores.means(columns, main)
    env, policy, bank = (run.config.get(name) or {} for name in ("env", "policy", "bank"))
    return Evaluation(
        run=run.name,
        path=str(run.path),
        policy=str(policy.get("name", "")),
        env=str(env.get("name", "")),
        bank=str(bank.get("sha256", "")),
        events=tuple(sorted({key.task for key in rollouts})),
        rollouts=len(rollouts),
        broken=len(run.errors()),
        judges={tally.settings.judge: tally.result(means.scores, kept) for tally in tallies},
        average=means.average,
        rewards={c.score: s for c, s in means.scores.items() if c.judge == REWARDS},
        options=options,
        parts=tuple(parts),
        comparison=None,
        notes=(
            *_run_notes(run),
            *_event_notes(main, scores, len({key.task for key in rollouts})),
            *_settings_notes([settings for settings, _ in chosen]),
        ),
        event_scores=scores,
    )


class _Tally:
    """What is counted of one judge's judgements."""

    def __init__(
        self,
        settings: Settings,
        passes: int,
        rollouts: Mapping[Key, Any],
        parts: Sequence[str],
    ) -> None:
        self.settings = settings
        self.passes = passes
        self.rollouts = rollouts
        self.parts = parts
        self.labels = {side: dict.fromkeys(map(str, Label), 0) for side in ("report", "reference")}
        self.counts: Counter[str] = Counter()
        self.reasons: Counter[str] = Counter()
        self.seconds = 0.0

    def add(self, judgement: Judgement, options: ClaimOptions, scores: EventScores) -> None:
        """Take in one judgement, if it is one of those wanted."""
        key = judgement.key
        if key.rollout not in self.rollouts or key.scoring_pass >= self.passes:
            return
        said = replace(judgement.assessment, options=options)
        for name, value in said.scores().items():
            part = "rubric" if name.startswith("rubric") else "claims"
            if value is not None and part in self.parts:
                scores.add(Column(key.judge, name), key.rollout, value)
        if "claims" in self.parts:
            self._count_labels("report", said.report_verdicts)
            self._count_labels("reference", said.reference_verdicts)
        self.counts["judged"] += all(has(said, part) for part in self.parts)
        self.counts["invalid"] += said.invalid and "claims" in self.parts
        self.counts["empty"] += said.empty
        self.reasons.update(said.missing[part] for part in self.parts if part in said.missing)
        self.seconds += judgement.seconds

    def result(self, means: Mapping[Column, Score], kept: Judgements) -> JudgeResult:
        """The numbers."""
        judge = self.settings.judge
        wanted = len(self.rollouts) * self.passes
        names = [name for name in SCORES if name in _scores_of(self.parts)]
        if "rubric" in self.parts:
            names += [f"rubric_{key}" for key in self.settings.rubric["criteria"]]
        return JudgeResult(
            judge=judge,
            settings=self.settings,
            passes=self.passes,
            scores={name: means.get(Column(judge, name), NO_SCORE) for name in names},
            labels=self.labels,
            wanted=wanted,
            judged=self.counts["judged"],
            missing=wanted - self.counts["judged"],
            invalid=self.counts["invalid"],
            empty=self.counts["empty"],
            reasons=dict(self.reasons.most_common(10)),
            usage=kept.total_usage(self.settings.id),
            seconds=self.seconds,
        )

    def _count_labels(self, side: str, verdicts: Iterable[Verdict] | None) -> None:
        for verdict in verdicts or ():
            self.labels[side][str(verdict.label)] += 1


def _scores_of(parts: Sequence[str]) -> set[str]:
    claims = {"f1", "precision", "recall", "neutral_rate"}
    return ({"rubric"} if "rubric" in parts else set()) | (claims if "claims" in parts else set())


def _main(judges: Iterable[str], parts: Sequence[str]) -> list[Column]:
    return [Column(judge, MAIN[part]) for judge in judges for part in PARTS if part in parts]


def _run_notes(run: Run) -> Iterable[str]:
    wanted = (run.config.get("n") or 0) * (run.config.get("repeats") or 1)
    done = len(run.done_keys())
    if done < wanted:
        broken = f", {len(run.errors())} broke" if run.errors() else ""
        yield f"the run is unfinished: {done:,} of {wanted:,} rollouts are done{broken}"


def _event_notes(main: Sequence[Column], scores: EventScores, events: int) -> Iterable[str]:
    judged = {column: frozenset(scores.by_event(column)) for column in main}
    if len(set(judged.values())) > 1:
        counts = ", ".join(f"{c.judge} {c.score} {len(found)}" for c, found in judged.items())
        yield f"the scores are not over the same events ({counts} of {events})"


def _settings_notes(settings: Sequence[Settings]) -> Iterable[str]:
    for what, name in (("claims caps", "options"), ("rubrics", "rubric")):
        values = {json.dumps(getattr(one, name), sort_keys=True) for one in settings}
        if len(values) > 1:
            yield f"the judges were given different {what}: {', '.join(sorted(values))}"


def _base_dict(comparison: Comparison) -> dict[str, Any]:
    changes: dict[str, dict[str, Any]] = {}
    rewards: dict[str, Any] = {}
    for column, change in comparison.changes.items():
        group = rewards if column.judge == REWARDS else changes.setdefault(column.judge, {})
        group[column.score] = change.to_dict()
    average = comparison.average and comparison.average.to_dict()
    return {"run": comparison.base, "judges": changes, "rewards": rewards, "avg": average}
