"""Report RL: the weights of the rewards (Fig. C.1) and what the judges say (Fig. D.1)."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zephyrus.curriculum.history import RunHistory, StageHistory
from zephyrus.view.figures.drawing import (
    DASHES,
    MARKERS,
    Drawing,
    Theme,
    grid,
    label,
    legend,
    panels,
    sample,
    told,
    whole_steps,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

WORDS = {"rubric": "rubric", "f1": "Discussion F1"}


def weights(runs: Sequence[RunHistory]) -> list[Drawing]:
    """Fig. C.1: the weights with which each step was trained; they sum to one."""
    cells = [(run, stage) for run in runs for stage in run.stages if stage.parts("weights")]
    if not cells:
        return []
    parts = list(dict.fromkeys(part for _, stage in cells for part in stage.parts("weights")))

    def draw(theme: Theme) -> Figure:
        figure, axes, _ = grid(len(cells), (3.8, 2.7))
        for panel, (run, stage) in zip(axes, cells, strict=True):
            last = 0
            for i, part in enumerate(parts):
                steps, values = stage.series("weights", part)
                panel.plot(steps, values, color=theme.colour(i), linestyle=DASHES[i % len(DASHES)])
                last = max([last, *steps])
            panel.set_title(label(_title(run, stage, runs)), loc="left")
            panel.set_ylabel("weight")
            panel.set_ylim(-0.02, 1.02)
            whole_steps(panel, last)
        legend(
            figure,
            [
                sample(
                    WORDS.get(part, part), color=theme.colour(i), linestyle=DASHES[i % len(DASHES)]
                )
                for i, part in enumerate(parts)
            ],
        )
        return figure

    rows = []
    for run, stage in cells:
        found = [dict(zip(*stage.series("weights", part), strict=True)) for part in parts]
        for step in sorted({step for numbers in found for step in numbers}):
            numbers = [one.get(step) for one in found]
            rows.append((run.name, stage.stage.name, step, *numbers))
    words = "; ".join(
        told(
            f"{run.name}, {stage.stage.name}, {WORDS.get(part, part)}",
            dict(zip(*stage.series("weights", part), strict=True)),
        )
        for run, stage in cells
        for part in parts
    )
    return [
        Drawing(
            "weights",
            "Weights of the rewards (Fig. C.1)",
            "The weights with which each step was trained. They sum to one.",
            f"Lines. {words}.",
            ("run", "stage", "step", *(WORDS.get(part, part) for part in parts)),
            tuple(rows),
            draw,
        )
    ]


def trajectory(stage: StageHistory, judge: str, score: str) -> dict[int, float]:
    """A judge's mean score of the evaluated checkpoints, by step; all tasks go before a subset."""
    return {
        point.step: point.judges[judge][score]
        for point in stage.points
        if score in point.judges.get(judge, {})
    }


def judges(runs: Sequence[RunHistory]) -> list[Drawing]:
    """Fig. D.1: F1 and rubric of the evaluated checkpoints, a line for each judge."""
    cells = [
        (run, stage)
        for run in runs
        for stage in run.stages
        if any(scores for point in stage.points for scores in point.judges.values())
    ]
    if not cells:
        return []
    everyone = sorted({judge for _, stage in cells for p in stage.points for judge in p.judges})
    shown = [
        score
        for score in ("f1", "rubric")
        if any(trajectory(stage, judge, score) for _, stage in cells for judge in everyone)
    ]

    def draw(theme: Theme) -> Figure:
        figure, axes = panels(len(shown), len(cells), (3.8, 2.4))
        for row, score in enumerate(shown):
            for column, (run, stage) in enumerate(cells):
                panel, last = axes[row][column], 0
                for i, judge in enumerate(everyone):
                    points = trajectory(stage, judge, score)
                    panel.plot(
                        list(points),
                        list(points.values()),
                        color=theme.colour(i),
                        marker=MARKERS[i % len(MARKERS)],
                    )
                    last = max([last, *points])
                whole_steps(panel, last)
                panel.margins(y=0.1)
                if row == 0:
                    panel.set_title(label(_title(run, stage, runs)), loc="left")
                if row < len(shown) - 1:
                    panel.set_xlabel("")
                if column == 0:
                    panel.set_ylabel(WORDS[score])
        legend(
            figure,
            [
                sample(judge, color=theme.colour(i), marker=MARKERS[i % len(MARKERS)])
                for i, judge in enumerate(everyone)
            ],
            3,
        )
        return figure

    rows = []
    for run, stage in cells:
        for judge in everyone:
            found = [trajectory(stage, judge, score) for score in shown]
            for step in sorted({step for numbers in found for step in numbers}):
                numbers = [one.get(step) for one in found]
                rows.append((run.name, stage.stage.name, judge, step, *numbers))
    words = "; ".join(
        told(f"{run.name}, {stage.stage.name}, {judge}, {WORDS[score]}", points)
        for run, stage in cells
        for judge in everyone
        for score in shown
        if (points := trajectory(stage, judge, score))
    )
    return [
        Drawing(
            "judges",
            "Judge trajectories (Fig. D.1)",
            "Mean scores of the evaluated checkpoints by each judge that zephyrus env evaluate asked.",
            f"Lines. {words}.",
            ("run", "stage", "judge", "step", *(WORDS[score] for score in shown)),
            tuple(rows),
            draw,
        )
    ]


def _title(run: RunHistory, stage: StageHistory, runs: Sequence[RunHistory]) -> str:
    return f"{run.name} · {stage.stage.name}" if len(runs) > 1 else stage.stage.name
