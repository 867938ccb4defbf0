"""Accuracy by template, and how it differs between runs of the same tasks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from zephyrus.view.figures.drawing import MARKERS, Drawing, Theme, label, legend, panels, sample
from zephyrus.view.plots.read import RunNumbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from zephyrus.evaluation.comparison import Change

ALL = "all"


def accuracy(runs: Sequence[RunNumbers]) -> list[Drawing]:
    """Accuracy by template, with 95 % intervals; see `zephyrus.summary.mean_interval`."""
    names = _templates(runs)
    if not names:
        return []

    def draw(theme: Theme) -> Figure:
        figure, axes = _rows(len(names), len(runs))
        for i, run in enumerate(runs):
            for row, name in enumerate(names):
                group = _group(run, name)
                if not group or group["accuracy"] is None:
                    continue
                place = row + _shift(i, len(runs))
                if group["accuracy_ci95"]:
                    axes.plot(group["accuracy_ci95"], [place] * 2, color=theme.colour(i))
                axes.plot(
                    [group["accuracy"]], [place], MARKERS[i % len(MARKERS)], color=theme.colour(i)
                )
        axes.set_xlim(-0.02, 1.02)
        axes.set_xlabel("accuracy")
        counts = {name: {(_group(run, name) or {}).get("n", 0) for run in runs} for name in names}
        _label_rows(axes, [_with_count(name, counts[name]) for name in names], theme)
        if len(runs) > 1:
            legend(figure, _samples(runs, theme), 3)
        return figure

    rows = []
    for run in runs:
        for name in names:
            if group := _group(run, name):
                low, high = group["accuracy_ci95"] or (None, None)
                rows.append((run.name, name, group["n"], group["accuracy"], low, high))
    told = "; ".join(
        f"{run.name}: {run.summary['accuracy']:.3f} of all"
        for run in runs
        if run.summary["accuracy"] is not None
    )
    return [
        Drawing(
            "accuracy-by-template",
            "Accuracy by template",
            "Mean score of the verifier. Lines are 95 % intervals: Wilson's, with the repeats of a "
            "task as one cluster.",
            f"Points with intervals, a row for each template. {told}.",
            ("run", "template", "rollouts", "accuracy", "95 % from", "to"),
            tuple(rows),
            draw,
        )
    ]


def differences(runs: Sequence[RunNumbers]) -> list[Drawing]:
    """Each run against the first, on the tasks that both have: a paired bootstrap by task."""
    base, others = runs[0], runs[1:]
    names = _templates(runs)
    found = [_changes(run, base, names) for run in others]
    if not any(found):
        return []
    shown = [name for name in names if any(name in changes for changes in found)]

    def draw(theme: Theme) -> Figure:
        figure, axes = _rows(len(shown), len(others))
        axes.axvline(0, color=theme.faint, linewidth=1.2)
        for i, changes in enumerate(found):
            colour, mark = theme.colour(i + 1), MARKERS[(i + 1) % len(MARKERS)]
            for row, name in enumerate(shown):
                if (change := changes.get(name)) is None:
                    continue
                place = row + _shift(i, len(others))
                if change.difference_ci95:
                    axes.plot(change.difference_ci95, [place] * 2, color=colour)
                axes.plot(
                    [change.difference],
                    [place],
                    mark,
                    color=colour,
                    markerfacecolor=colour if change.clear else theme.ground,
                )
        reach = max(abs(x) for x in axes.get_xlim())
        axes.set_xlim(-reach, reach)
        axes.set_xlabel(label(f"difference in accuracy from {base.name}"))
        counts = {
            name: {changes[name].events for changes in found if name in changes} for name in shown
        }
        _label_rows(axes, [_with_count(name, counts[name], "tasks") for name in shown], theme)
        handles = _samples(others, theme, first=1)
        handles.append(
            sample(
                "0 is in the interval",
                color=theme.ink,
                marker="o",
                markerfacecolor=theme.ground,
                linestyle="",
            )
        )
        legend(figure, handles, 3)
        return figure

    rows = [
        (run.name, name, c.events, c.difference, *(c.difference_ci95 or (None, None)))
        for run, changes in zip(others, found, strict=True)
        for name, c in changes.items()
    ]
    told = "; ".join(
        f"{run.name}: {changes[ALL].difference:+.3f} on all {changes[ALL].events} shared tasks"
        for run, changes in zip(others, found, strict=True)
        if ALL in changes
    )
    return [
        Drawing(
            "accuracy-differences",
            f"Difference in accuracy from {base.name}",
            f"Accuracy minus that of {base.name}, on the tasks that both runs have. Lines are 95 % "
            "intervals of a paired bootstrap over tasks. Filled where 0 lies outside.",
            f"Points with intervals, a row for each template. {told}.",
            ("run", "template", "tasks", "difference", "95 % from", "to"),
            tuple(rows),
            draw,
        )
    ]


def _changes(run: RunNumbers, base: RunNumbers, names: Sequence[str]) -> dict[str, Change]:
    from zephyrus.evaluation.comparison import compare
    from zephyrus.evaluation.scores import Column, EventScores

    columns = [Column(name, "score") for name in names]
    scores = []
    for one in (run, base):
        made = EventScores()
        for rollout in one.rollouts:
            if rollout.score is not None:
                made.add(Column(rollout.template, "score"), rollout.key, rollout.score)
                made.add(Column(ALL, "score"), rollout.key, rollout.score)
        scores.append(made)
    found = compare(scores[0], scores[1], base.name, columns, [])
    return {column.judge: change for column, change in found.changes.items()}


def _templates(runs: Sequence[RunNumbers]) -> list[str]:
    """Every template that has a score, and last all of them together."""
    names = sorted({name for run in runs for name in run.summary["templates"]})
    return [*names, ALL] if len(names) > 1 else names


def _group(run: RunNumbers, name: str) -> Mapping[str, Any] | None:
    if name == ALL:
        return {"n": run.summary["scored"], **run.summary} if run.summary["scored"] else None
    group: Mapping[str, Any] | None = run.summary["templates"].get(name)
    return group


def _rows(rows: int, runs: int) -> tuple[Figure, Axes]:
    figure, axes = panels(1, 1, (7.2, 0.9 + rows * (0.24 + 0.13 * runs)))
    return figure, axes[0][0]


def _shift(i: int, n: int) -> float:
    return 0.62 * ((i + 0.5) / n - 0.5)


def _label_rows(axes: Axes, names: Sequence[str], theme: Theme) -> None:
    axes.set_yticks(range(len(names)), [label(name) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
    axes.spines["left"].set_visible(False)
    for row in range(1, len(names)):
        axes.axhline(row - 0.5, color=theme.line, linewidth=1.4 if row == len(names) - 1 else 0.6)


def _with_count(name: str, counts: set[int], what: str = "rollouts") -> str:
    low, high = min(counts), max(counts)
    return (
        f"{name} ({low if low == high else f'{low}–{high}'} {what})"
        if name == ALL
        else (f"{name} ({low if low == high else f'{low}–{high}'})")
    )


def _samples(runs: Sequence[RunNumbers], theme: Theme, first: int = 0) -> list[object]:
    return [
        sample(run.name, color=theme.colour(i), marker=MARKERS[i % len(MARKERS)])
        for i, run in enumerate(runs, first)
    ]
