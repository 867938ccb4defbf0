"""Many runs in one table, ordered by their average score: the shape of Tables 2 and 3."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from zephyrus.errors import UserError
from zephyrus.evaluation.evaluations import OFFLINE, command, evaluated, read_evaluation
from zephyrus.evaluation.judgements import Judgements
from zephyrus.evaluation.result import Evaluation
from zephyrus.evaluation.scores import Column, Score
from zephyrus.judge.discussion import ClaimOptions
from zephyrus.run import Run


@dataclass(frozen=True, slots=True)
class Leaderboard:
    """Evaluations of several runs by the same judges in the same way.

    Attributes:
        rows: By average, the highest first; with a base run that one comes before all.
        columns: Rubric and F1 of each judge.
        passes: Scoring passes by judge.
        base: The base run's name, if there is one: the other rows have changes against it.
        notes: What a reader has to know.
    """

    rows: tuple[Evaluation, ...]
    columns: tuple[Column, ...]
    passes: dict[str, int]
    base: str | None
    notes: tuple[str, ...]

    @property
    def judges(self) -> list[str]:
        """The judges' names."""
        return list(dict.fromkeys(column.judge for column in self.columns))

    @property
    def ranked(self) -> list[tuple[int | None, Evaluation]]:
        """The rows with their ranks; the base run has none."""
        first = 0 if self.base is None else 1
        return [(i - first + 1 if i >= first else None, row) for i, row in enumerate(self.rows)]

    def score(self, row: Evaluation, column: Column | None) -> Score:
        """A row's score in a column; None stands for the average."""
        return row.average if column is None else row.judges[column.judge].scores[column.score]

    def best(self, column: Column | None) -> float | None:
        """The highest score of a column, before rounding."""
        means = [self.score(row, column).mean for row in self.rows]
        return max((mean for mean in means if mean is not None), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "judges": self.judges,
            "passes": self.passes,
            "base": self.base,
            "rows": [{"rank": rank, **row.to_dict()} for rank, row in self.ranked],
            "notes": list(self.notes),
        }


def make_leaderboard(
    runs: Sequence[Run],
    judges: Sequence[str] | None = None,
    *,
    passes: int | None = None,
    base: Run | None = None,
    options: ClaimOptions | None = None,
) -> Leaderboard:
    """Order runs by what judges made of them. Only the ``rules`` judge is asked here, if need be.

    Args:
        runs: The runs.
        judges: Names of judges; by default those that have judged every run, else ``rules``.
        passes: Scoring passes; by default as many as every run has.
        base: A run to compare with; it gets a row of its own.
        options: How claims are counted.

    Raises:
        UserError: If a run is not judged by one of the judges, or they were asked differently;
            the message says with which command it will.
    """
    if base is not None:
        runs = [base, *(run for run in runs if run.path.resolve() != base.path.resolve())]
    if not runs or len({run.path.resolve() for run in runs}) < len(runs):
        raise UserError("a leaderboard takes one or more runs, each once")
    kept = [Judgements.read(run.path) for run in runs]
    names = list(judges) if judges else _common_judges(kept)
    if OFFLINE in names and not _common_settings(OFFLINE, kept):
        for run in runs:
            evaluated(run, [OFFLINE], options=options)
        kept = [Judgements.read(run.path) for run in runs]
    settings = {}
    for name in names:
        common = _common_settings(name, kept)
        if not common:
            raise UserError(_lacking(name, names, passes, runs, kept))
        settings[name] = common
    many = {name: _passes(settings[name], kept, passes) for name in names}
    rows = [
        read_evaluation(
            run,
            names,
            passes=max(many.values()),
            options=options,
            settings=settings,
            kept=one,
        )
        for run, one in zip(runs, kept, strict=True)
    ]
    first, rest = ([], rows) if base is None else (rows[:1], rows[1:])
    if first:
        rest = [row.against(first[0]) for row in rest]
    rest.sort(key=lambda row: -1.0 if row.average.mean is None else row.average.mean, reverse=True)
    ordered = (*first, *rest)
    return Leaderboard(
        rows=ordered,
        columns=tuple(ordered[0].main_columns()),
        passes={name: ordered[0].judges[name].passes for name in names},
        base=first[0].run if first else None,
        notes=tuple(_notes(ordered)),
    )


def _common_judges(kept: Sequence[Judgements]) -> list[str]:
    names = [{settings.judge for settings in one.settings.values()} for one in kept]
    first = dict.fromkeys(settings.judge for settings in kept[0].settings.values())
    return [name for name in first if all(name in known for known in names)] or [OFFLINE]


def _common_settings(judge: str, kept: Sequence[Judgements]) -> str:
    """The settings that a judge was asked with in every run, the first run's last ones first."""
    for id_ in reversed(kept[0].ids(judge)):
        if all(id_ in one.ids(judge) for one in kept):
            return id_
    return ""


def _passes(settings: str, kept: Sequence[Judgements], asked: int | None) -> int:
    known = kept[0].settings[settings]
    if asked:
        return known.passes(asked)
    made = [[j.key.scoring_pass + 1 for j in one.of(settings)] for one in kept]
    return known.passes(min(max(passes, default=1) for passes in made))


def _lacking(
    judge: str,
    judges: Sequence[str],
    passes: int | None,
    runs: Sequence[Run],
    kept: Sequence[Judgements],
) -> str:
    for run, one in zip(runs, kept, strict=True):
        if not one.ids(judge):
            return (
                f"the run {run.path} is not judged by {judge!r}; first: "
                f"{command(run.path, judges, passes)}"
            )
    return (
        f"the runs were not all judged by {judge!r} with the same settings (its model or prompts, "
        f"the rubric, --max-claims); judge each of them anew, for instance: "
        f"{command(runs[0].path, judges, passes)}"
    )


def _notes(rows: Sequence[Evaluation]) -> Iterator[str]:
    events = {row.events for row in rows}
    if len(events) > 1:
        common = set.intersection(*(set(row.events) for row in rows))
        yield f"the runs are not over the same events; {len(common)} are common to all"
    if len({row.bank for row in rows}) > 1:
        yield "the runs were made with different banks"
    for row in rows:
        if row.missing:
            wanted = sum(result.wanted for result in row.judges.values())
            yield f"{row.run}: {row.missing} of {wanted} judgements are missing"
        for note in row.notes:
            yield f"{row.run}: {note}"
