"""Held-out accuracy: by route (Fig. 2) and against steps (Fig. B.1)."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zephyrus.curriculum.history import ROUTES, Point, RunHistory, StageHistory
from zephyrus.view.figures.drawing import (
    Drawing,
    Theme,
    grid,
    label,
    legend,
    sample,
    spread,
    whole_steps,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BASE = "base"


@dataclass(frozen=True)
class Bar:
    """A route's bar.

    Attributes:
        route: Whose.
        values: The chosen checkpoint's value by run.
        interval: The 95 % interval of the one value, where there is one alone.
    """

    route: str
    values: dict[str, float]
    interval: tuple[float, float] | None

    @property
    def mean(self) -> float:
        """Its height."""
        return sum(self.values.values()) / len(self.values)

    @property
    def top(self) -> float:
        """The highest thing drawn of it."""
        return max(self.mean, *self.values.values(), self.interval[1] if self.interval else 0.0)


def routes(runs: Sequence[RunHistory]) -> dict[tuple[str, str], list[Bar]]:
    """The bars of Fig. 2: by model and held-out exam, those of the routes in the paper's order.

    A stage whose exam (tasks, sampling, metric) differs from another's is in another panel, beside
    the policy that it began with. Stages that are not over are left out.
    """
    found: dict[tuple[str, str], dict[str, dict[str, Point]]] = {}
    for run in runs:
        for index, stage in enumerate(run.stages):
            panel = found.setdefault((run.model, stage.exam), {})
            began = BASE if not index else run.stages[index - 1].route
            new = not index or run.stages[index - 1].exam != stage.exam
            if new and stage.start is not None:
                panel.setdefault(began, {})[run.name] = stage.start
            if stage.phase == "done" and stage.result is not None:
                panel.setdefault(stage.route, {})[run.name] = stage.result
    order = [BASE, *ROUTES.values()]
    return {
        key: [
            Bar(
                route,
                {name: point.value for name, point in points.items()},
                next(iter(points.values())).interval if len(points) == 1 else None,
            )
            for route, points in sorted(
                panel.items(), key=lambda item: [*order, item[0]].index(item[0])
            )
        ]
        for key, panel in found.items()
        if len(panel) > 1
    }


def by_route(runs: Sequence[RunHistory]) -> list[Drawing]:
    """Fig. 2: the accuracy of each route's policy, as bars."""
    found = routes(runs)
    if not found:
        return []

    def draw(theme: Theme) -> Figure:
        most = max(len(bars) for bars in found.values())
        figure, axes, _ = grid(len(found), (max(3.6, 1.05 * most), 3.1))
        tops: dict[str, float] = {}
        for (_, exam), bars in found.items():  # the same scale for the same exam
            tops[exam] = max(tops.get(exam, 0.02), *(bar.top for bar in bars))
        for panel, ((model, exam), bars) in zip(axes, found.items(), strict=True):
            _bars(panel, bars, theme, tops[exam])
            panel.set_title(label(model), loc="left")
            panel.set_ylabel(_words(exam))
        return figure

    rows = [
        (model, _words(exam), bar.route, run, value, *(bar.interval or (None, None)))
        for (model, exam), bars in found.items()
        for bar in bars
        for run, value in bar.values.items()
    ]
    told = "; ".join(
        f"{model}, {_words(exam)}: " + ", ".join(f"{bar.route} {bar.mean:.3f}" for bar in bars)
        for (model, exam), bars in found.items()
    )
    return [
        Drawing(
            "accuracy-by-route",
            "Held-out accuracy by route (Fig. 2)",
            "The checkpoint that each route chose, on all held-out tasks. Lines on bars of one run "
            "are 95 % intervals; where several runs took a route, the bar is their mean and each is "
            "a dot.",
            f"Bars. {told}.",
            ("model", "measure", "route", "run", "value", "95 % low", "95 % high"),
            tuple(rows),
            draw,
        )
    ]


def _bars(axes: Axes, bars: Sequence[Bar], theme: Theme, high: float) -> None:
    known = list(ROUTES.values())
    colours = [
        theme.faint
        if bar.route == BASE
        else theme.colour(known.index(bar.route) if bar.route in known else len(known))
        for bar in bars
    ]
    heights = [bar.mean for bar in bars]
    axes.bar(range(len(bars)), heights, width=0.62, color=colours)
    for place, bar in enumerate(bars):
        if bar.interval is not None:
            axes.plot([place, place], bar.interval, color=theme.ink, linewidth=1.3)
        elif len(bar.values) > 1:
            dots = sorted(bar.values.values())
            axes.plot(
                [place + 0.08 * (i - (len(dots) - 1) / 2) for i in range(len(dots))],
                dots,
                "o",
                color=theme.ground,
                markeredgecolor=theme.ink,
                markersize=5,
            )
        axes.text(place, bar.top + 0.02 * high, f"{bar.mean:.3f}", ha="center", va="bottom")
    axes.set_xticks(range(len(bars)), [label(bar.route, 16) for bar in bars])
    axes.set_xlim(-0.6, max(len(bars), 3) - 0.4)
    axes.set_ylim(min([0.0, *heights]), 1.12 * high)
    axes.grid(visible=False, axis="x")


def by_step(runs: Sequence[RunHistory]) -> list[Drawing]:
    """Fig. B.1: the accuracy of each evaluated checkpoint, a panel for each model and route."""
    cells: dict[tuple[str, str, str], list[tuple[RunHistory, StageHistory]]] = {}
    for run in runs:
        for stage in run.stages:
            if stage.points:
                key = (
                    run.model,
                    f"{stage.route} ({stage.stage.name})",
                    stage.stage.evaluation.metric,
                )
                if stage.stage.name == stage.stage.stage:
                    key = run.model, stage.route, stage.stage.evaluation.metric
                cells.setdefault(key, []).append((run, stage))
    if not cells:
        return []
    several = len({model for model, _, _ in cells}) > 1
    names = list(dict.fromkeys(run.name for run in runs))

    def draw(theme: Theme) -> Figure:
        figure, axes, _ = grid(len(cells), (3.5, 2.9))
        for panel, ((model, route, metric), curves) in zip(axes, cells.items(), strict=True):
            seen: list[float] = []
            for run, stage in curves:
                look = theme.colour(names.index(run.name)), theme.mark, theme.faint
                seen += _curve(panel, run, stage, *look)
            panel.set_title(label(f"{model} · {route}" if several else route), loc="left")
            panel.set_ylabel(f"held-out {label(metric)}")
            panel.set_ylim(*spread(seen)) if metric == "accuracy" else panel.margins(y=0.1)
            last = max(point.step for _, stage in curves for point in stage.points)
            whole_steps(panel, last)
        legend(figure, _meanings(runs, theme, names), 3)
        return figure

    rows = [
        (run.name, stage.stage.name, stage.route, p.step, p.value, "all" if p.full else "subset",
         "chosen" if p.step == stage.chosen else "")
        for run in runs
        for stage in run.stages
        for p in stage.points
    ]  # fmt: skip
    told = "; ".join(_told(run, stage) for curves in cells.values() for run, stage in curves)
    return [
        Drawing(
            "accuracy-by-step",
            "Held-out accuracy against steps (Fig. B.1)",
            "Filled circles are evaluated checkpoints: large on all held-out tasks, small on the "
            "subset that is asked within a stage. The open circle at step 0 is the policy that the "
            "stage began with; the grey dotted line is the base policy; the ring and its dotted "
            "line mark the checkpoint that was chosen.",
            f"Lines. {told}.",
            ("run", "stage", "route", "step", "value", "tasks", ""),
            tuple(rows),
            draw,
        )
    ]


def _curve(
    axes: Axes, run: RunHistory, stage: StageHistory, colour: str, mark: str, faint: str
) -> list[float]:
    """Draw a stage; returns the values that must be seen."""
    seen = [point.value for point in stage.points]
    base = run.stages[0].start
    if base is not None and run.stages[0].exam == stage.exam:
        axes.axhline(base.value, color=faint, linestyle=":", linewidth=1.6, zorder=1)
        seen.append(base.value)
    whole = [p for p in stage.points if p.full]
    part = [p for p in stage.points if not p.full]
    joined = part or whole
    axes.plot(
        [p.step for p in joined], [p.value for p in joined], color=colour, linewidth=1.5, zorder=2
    )
    for points, size, after in ((part, 4.5, 3), (whole, 8.0, 4)):
        _circles(axes, [p for p in points if p.step], size, color=colour, zorder=after)
    _circles(
        axes,
        [p for p in whole if p.step == 0],
        8.0,
        color=colour,
        markerfacecolor=axes.get_facecolor(),
        markeredgewidth=1.8,
        zorder=5,
    )
    if stage.result is not None:
        axes.axhline(stage.result.value, color=mark, linestyle=":", linewidth=1.4, zorder=1)
        _circles(
            axes,
            [stage.result],
            13.0,
            color=mark,
            markerfacecolor="none",
            markeredgewidth=1.8,
            zorder=6,
        )
    return seen


def _circles(axes: Axes, points: Sequence[Point], size: float, **look: Any) -> None:
    if points:  # none of them, unclipped, would have the layout find no room
        steps, values = [p.step for p in points], [p.value for p in points]
        axes.plot(steps, values, "o", markersize=size, clip_on=False, **look)


def _meanings(runs: Sequence[RunHistory], theme: Theme, names: Sequence[str]) -> list[object]:
    points = [(stage, p) for run in runs for stage in run.stages for p in stage.points]
    ink, ground = theme.ink, theme.ground
    found: list[object] = []
    if len(names) > 1:
        found += [sample(name, color=theme.colour(i)) for i, name in enumerate(names)]
    found.append(
        sample("where it began", color=ink, marker="o", linestyle="none", markerfacecolor=ground,
               markeredgewidth=1.8, markersize=8)
    )  # fmt: skip
    if any(p.step and p.full for _, p in points):
        found.append(
            sample("checkpoint, all tasks", color=ink, marker="o", linestyle="none", markersize=8)
        )
    if any(not p.full for _, p in points):
        found.append(
            sample("checkpoint, subset", color=ink, marker="o", linestyle="none", markersize=4.5)
        )
    if any(p.step == stage.chosen for stage, p in points):
        found.append(
            sample("chosen", color=theme.mark, marker="o", linestyle=":", markerfacecolor="none",
                   markeredgewidth=1.8, markersize=11)
        )  # fmt: skip
    found.append(sample("base policy", color=theme.faint, linestyle=":"))
    return found


def _told(run: RunHistory, stage: StageHistory) -> str:
    first, result = stage.start, stage.result
    words = f"{run.name}, {stage.route}: "
    words += f"begins at {first.value:.3f}" if first else "its beginning was not evaluated"
    checkpoints = [p for p in stage.points if p.step]
    if checkpoints:
        top = max(checkpoints, key=lambda p: p.value)
        words += f", {len(checkpoints)} evaluations, highest {top.value:.3f} at step {top.step}"
    if result is not None:
        words += f", chosen step {result.step} with {result.value:.3f}"
    return words


def _words(exam: str) -> str:
    metric, tasks, _ = json.loads(exam)
    return f"{label(str(metric))}, {label(str(tasks['env']))} {tasks['split']}"
