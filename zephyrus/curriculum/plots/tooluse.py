"""How tools are used while a policy is trained (Fig. 3)."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zephyrus.curriculum.history import RunHistory, StageHistory
from zephyrus.view.figures.drawing import (
    Drawing,
    Theme,
    label,
    legend,
    panels,
    sample,
    spread,
    told,
    whole_steps,
)

if TYPE_CHECKING:
    from matplotlib.figure import Figure

DIAGNOSTICS = {
    "failure_rate": "failure rate",
    "tools_per_turn": "tools per executed turn",
    "tool_rate": "required tool used",
}
"""Our names in ``steps.jsonl``, in words."""

_IN_SUMMARY = {"tool_rate": "required_tool_rate"}


def evaluated(stage: StageHistory, name: str) -> dict[int, float]:
    """A diagnostic of the evaluated checkpoints, by step; all tasks go before a subset."""
    found = {}
    for point in stage.points:
        value = point.summary.get(_IN_SUMMARY.get(name, name))
        if value is not None:
            found[point.step] = float(value)
    return found


def tool_use(runs: Sequence[RunHistory]) -> list[Drawing]:
    """Fig. 3: failure rate and tools per executed turn, of evaluations and of training rollouts."""
    stages = [(run, stage) for run in runs for stage in run.stages]
    shown = [
        name
        for name in DIAGNOSTICS
        if any(evaluated(stage, name) or stage.series(name)[0] for _, stage in stages)
    ]
    cells: dict[str, list[tuple[RunHistory, StageHistory]]] = {}
    for run, stage in stages:
        if any(evaluated(stage, name) or stage.series(name)[0] for name in shown):
            cells.setdefault(stage.stage.name, []).append((run, stage))
    if not shown or not cells:
        return []
    names = list(dict.fromkeys(run.name for run in runs))

    def draw(theme: Theme) -> Figure:
        figure, axes = panels(len(shown), len(cells), (3.5, 2.1))
        for row, name in enumerate(shown):
            for column, (title, curves) in enumerate(cells.items()):
                panel = axes[row][column]
                last, seen = 0, [0.0] if name == "failure_rate" else []
                for run, stage in curves:
                    colour = theme.colour(names.index(run.name))
                    steps, values = stage.series(name)
                    panel.plot(steps, values, color=colour, linewidth=1.0, alpha=0.55)
                    points = evaluated(stage, name)
                    panel.plot(list(points), list(points.values()), "o-", color=colour)
                    last = max([last, *steps, *points])
                    seen += [*values, *points.values()]
                whole_steps(panel, last)
                panel.set_ylim(*spread(seen, top=math.inf if name == "tools_per_turn" else 1.0))
                if row == 0:
                    panel.set_title(label(title), loc="left")
                if row < len(shown) - 1:
                    panel.set_xlabel("")
                if column == 0:
                    panel.set_ylabel(DIAGNOSTICS[name].replace("per executed", "per\nexecuted"))
        handles = [sample(name, color=theme.colour(i)) for i, name in enumerate(names)]
        legend(
            figure,
            [
                *(handles if len(names) > 1 else []),
                sample("evaluated checkpoint", color=theme.ink, marker="o"),
                sample("training rollouts", color=theme.ink, linewidth=1.0, alpha=0.55),
            ],
        )
        return figure

    rows = []
    for run, stage in stages:
        points = {name: evaluated(stage, name) for name in shown}
        lines = {name: dict(zip(*stage.series(name), strict=True)) for name in shown}
        for source, found in (("evaluation", points), ("training", lines)):
            for step in sorted({step for numbers in found.values() for step in numbers}):
                numbers = [found[name].get(step) for name in shown]
                rows.append((run.name, stage.stage.name, source, step, *numbers))
    words = "; ".join(
        told(f"{run.name}, {stage.stage.name}, {DIAGNOSTICS[name]}", evaluated(stage, name))
        for name in shown
        for run, stage in stages
        if evaluated(stage, name)
    )
    return [
        Drawing(
            "tool-use",
            "Tool use (Fig. 3)",
            "Failure rate is failed tool calls over all tool calls; tools per executed turn is tool "
            "calls over turns with at least one. Circles are evaluated checkpoints, thin lines the "
            "rollouts that were trained on. Where no tool was called there is no number.",
            f"Lines. {words or 'only training rollouts have tool calls'}.",
            ("run", "stage", "of", "step", *(DIAGNOSTICS[name] for name in shown)),
            tuple(rows),
            draw,
        )
    ]
