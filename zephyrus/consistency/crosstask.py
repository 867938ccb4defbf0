"""The cross-task protocol: train on one task, test on all (Weather-R1, sections 2.1 and 3.3).

The matrix has a row for each model, named after the task that it was trained on, and a column for
each task that it was tested on. A cell is the change of accuracy against the base model (Fig. 4), on
the questions that both have answered. The averages of Table 2 are over a column: the accuracy on a
task is the mean over the models that were each trained on one task; "Overall" is the mean of those.

Accuracy is of all questions that were scored, unreadable answers among them as wrong ones.
"""

from __future__ import annotations

import csv
import io
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import fmean
from typing import TYPE_CHECKING, Any

from zephyrus.errors import UserError
from zephyrus.run import Run

if TYPE_CHECKING:
    from rich.console import RenderableType

_SAME = 1e-12
"""Changes that are rounding, and no fall."""


@dataclass(slots=True)
class Scores:
    """What one model scored.

    Attributes:
        tasks: By kind of task, the mean score of each question's repeats, by its id.
        unscored: By kind of task, the rollouts that could not be scored.
    """

    tasks: dict[str, dict[str, float]] = field(default_factory=dict)
    unscored: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Cell:
    """One model on one task, beside the base.

    Attributes:
        questions: That both have a score on.
        accuracy: The model's, on these.
        base: The base model's, on these.
        others: Questions that only one of the two has a score on.
        unscored: Rollouts of either that could not be scored.
    """

    questions: int
    accuracy: float
    base: float
    others: int = 0
    unscored: int = 0

    @property
    def points(self) -> float:
        """The change in percentage points."""
        return 100 * (self.accuracy - self.base)

    @property
    def percent(self) -> float | None:
        """The change in percent of the base's accuracy; None where that is 0."""
        return 100 * (self.accuracy - self.base) / self.base if self.base else None

    @property
    def fell(self) -> bool:
        """Whether the accuracy fell."""
        return self.accuracy < self.base - _SAME


@dataclass(frozen=True, slots=True)
class CrossTask:
    """The matrix.

    Attributes:
        trained: The tasks that models were trained on, in order: the rows.
        tested: The tasks that were tested on: the columns.
        cells: By row and column; where one is lacking, there is a gap.
        base: The base model's accuracy by task, on all its questions.
    """

    trained: tuple[str, ...]
    tested: tuple[str, ...]
    cells: Mapping[tuple[str, str], Cell]
    base: Mapping[str, float]

    @property
    def gaps(self) -> tuple[tuple[str, str], ...]:
        """The cells that are lacking, by row and column: also of tasks nothing was trained on."""
        rows = dict.fromkeys((*self.trained, *self.tested))
        return tuple((a, b) for a in rows for b in self.tested if (a, b) not in self.cells)

    @property
    def fallen(self) -> tuple[tuple[str, str], ...]:
        """The cells in which the accuracy fell, which the paper counts."""
        return tuple(place for place, cell in self.cells.items() if cell.fell)

    def averages(self) -> dict[str, float]:
        """By tested task the mean accuracy over the models that there are: a row of Table 2."""
        found = {}
        for task in self.tested:
            column = [c.accuracy for (_, tested), c in self.cells.items() if tested == task]
            if column:
                found[task] = fmean(column)
        return found

    @property
    def overall(self) -> float | None:
        """The mean of `averages`; None where a cell is lacking: it would be another number."""
        return None if self.gaps else fmean(self.averages().values())

    @property
    def base_overall(self) -> float:
        """The base's accuracy, as the mean over tasks."""
        return fmean(self.base[task] for task in self.tested)

    def mean_change(self, *, in_task: bool) -> float | None:
        """The mean change in points on the diagonal, or off it; None if there is no such cell."""
        found = [c.points for (a, b), c in self.cells.items() if (a == b) == in_task]
        return fmean(found) if found else None

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "trained": list(self.trained),
            "tested": list(self.tested),
            "cells": self.rows(),
            "base": dict(self.base),
            "base_overall": self.base_overall,
            "averages": self.averages(),
            "overall": self.overall,
            "in_task_points": self.mean_change(in_task=True),
            "cross_task_points": self.mean_change(in_task=False),
            "fallen": [list(place) for place in self.fallen],
            "gaps": [list(place) for place in self.gaps],
        }

    def rows(self) -> list[dict[str, Any]]:
        """The cells, one a row, by row and column."""
        return [
            {
                "trained_on": a,
                "tested_on": b,
                "questions": cell.questions,
                "accuracy": cell.accuracy,
                "base": cell.base,
                "points": cell.points,
                "percent": cell.percent,
                "others": cell.others,
                "unscored": cell.unscored,
            }
            for a in self.trained
            for b in self.tested
            if (cell := self.cells.get((a, b))) is not None
        ]

    def to_csv(self) -> str:
        """`rows` as a table."""
        out = io.StringIO()
        names = ("trained_on", "tested_on", "questions", "accuracy", "base", "points", "percent")
        writer = csv.DictWriter(out, [*names, "others", "unscored"])
        writer.writeheader()
        writer.writerows(self.rows())
        return out.getvalue()


def read_scores(runs: Iterable[Run]) -> Scores:
    """What the rollouts of one model scored, by kind of task, over all its runs.

    Raises:
        UserError: If a run's environment has no verifier.
    """
    scores: defaultdict[str, defaultdict[str, list[float]]] = defaultdict(lambda: defaultdict(list))
    unscored: defaultdict[str, int] = defaultdict(int)
    for run in runs:
        for trajectory in run:
            kind = str(trajectory.task.get("template") or "(none)")
            if trajectory.rewards is None:
                unscored[kind] += 1
            elif "score" in trajectory.rewards:
                scores[kind][trajectory.key.task].append(trajectory.rewards["score"])
            else:
                raise UserError(
                    f"the run {run.path} has no accuracy: its environment verifies nothing"
                )
    means = {
        kind: {task: math.fsum(values) / len(values) for task, values in found.items()}
        for kind, found in scores.items()
    }
    return Scores(means, dict(unscored))


def cross_task(base: Scores, trained: Mapping[str, Scores]) -> CrossTask:
    """Hold models, each trained on one task, against the base.

    Args:
        base: The base model's scores.
        trained: Each model's by the task that it was trained on, in the order of the rows.

    Raises:
        UserError: If there is no model, the base has no scores, or a model is named after a task
            that the base was not tested on.
    """
    if not base.tasks:
        raise UserError("the base run has no scores: nothing can be held against it")
    if not trained:
        raise UserError("name at least one model as TASK=RUN, after the task it was trained on")
    if unknown := [task for task in trained if task not in base.tasks]:
        raise UserError(
            f"the base run was not tested on {unknown[0]!r}; it has {', '.join(sorted(base.tasks))}"
        )
    tested = (*trained, *sorted(task for task in base.tasks if task not in trained))
    cells = {}
    for name, scores in trained.items():
        for task in tested:
            ours, theirs = scores.tasks.get(task, {}), base.tasks[task]
            common = [question for question in ours if question in theirs]
            if not common:
                continue
            cells[name, task] = Cell(
                len(common),
                fmean(ours[question] for question in common),
                fmean(theirs[question] for question in common),
                others=len(ours.keys() ^ theirs.keys()),
                unscored=scores.unscored.get(task, 0) + base.unscored.get(task, 0),
            )
    means = {task: fmean(base.tasks[task].values()) for task in tested}
    return CrossTask(tuple(trained), tested, cells, means)


def notes(found: CrossTask) -> list[str]:
    """What a reader of the matrix must know: what lacks, and what is not quite comparable."""
    said = []
    if untrained := [task for task in found.tested if task not in found.trained]:
        said.append(f"the matrix is incomplete: no model was trained on {', '.join(untrained)}")
    if holes := [f"{a} on {b}" for a, b in found.gaps if a in found.trained]:
        more = f" and {len(holes) - 4} more" if len(holes) > 4 else ""
        said.append(
            f"the matrix is incomplete: no scores of {', '.join(holes[:4])}{more} (trained, tested)"
        )
    if others := sum(cell.others for cell in found.cells.values()):
        said.append(
            f"{others:,} questions were answered by a model or by the base alone: cells are on those "
            "that both have"
        )
    if unscored := sum(cell.unscored for cell in found.cells.values()):
        said.append(
            f"{unscored:,} rollouts could not be scored (no judgement) and count in no cell; "
            "zephyrus env rescore RUN --missing asks again"
        )
    return said


def render(found: CrossTask, change: str = "percent") -> RenderableType:
    """The matrix and the averages as tables for a terminal.

    Args:
        found: The matrix.
        change: "percent" of the base's accuracy, as Fig. 4 has it, or "points".
    """
    from rich.console import Group
    from rich.table import Table

    unit = "%" if change == "percent" else "percentage points"
    matrix = Table(title=f"Change in accuracy against the base ({unit})", title_justify="left")
    matrix.add_column("trained on \\ tested on")
    for task in found.tested:
        matrix.add_column(_plain(task), justify="right")
    for a in found.trained:
        matrix.add_row(_plain(a), *(_change(found.cells.get((a, b)), change) for b in found.tested))
    averages = Table(title="Accuracy (%), mean over the models (Table 2)", title_justify="left")
    averages.add_column("")
    for name in (*found.tested, "Overall"):
        averages.add_column(_plain(name), justify="right")
    ours = found.averages()
    averages.add_row(
        "base", *(_share(found.base[task]) for task in found.tested), _share(found.base_overall)
    )
    averages.add_row(
        "trained", *(_share(ours.get(task)) for task in found.tested), _share(found.overall)
    )
    count = len(found.cells)
    said = [f"{len(found.fallen)} of {count} cells fell"]
    for label, in_task in (("in-task", True), ("cross-task", False)):
        if (mean := found.mean_change(in_task=in_task)) is not None:
            said.append(f"{label} mean change {mean:+.2f} points")
    return Group(matrix, averages, "; ".join(said), *(_plain(f"note: {n}") for n in notes(found)))


def value_of(cell: Cell, change: str) -> float | None:
    """The change that a cell shows, in percent of the base's accuracy or in points."""
    return cell.percent if change == "percent" else cell.points


def _change(cell: Cell | None, change: str) -> str:
    value = None if cell is None else value_of(cell, change)
    return "–" if value is None else f"{value:+.1f}"


def _share(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.1f}"


def _plain(text: str) -> Any:
    from rich.text import Text

    from zephyrus.view.plain import plain

    return Text(plain(text))


def named_runs(pairs: Sequence[str]) -> dict[str, list[str]]:
    """Read ``TASK=RUN`` pairs; a task may come several times, with a run each.

    Raises:
        UserError: If one is none.
    """
    found: dict[str, list[str]] = {}
    for pair in pairs:
        task, equals, run = pair.partition("=")
        if not (task.strip() and equals and run.strip()):
            raise UserError(
                f"name a model as TASK=RUN, after the task that it was trained on, not {pair!r}"
            )
        found.setdefault(task.strip(), []).append(run.strip())
    return found
