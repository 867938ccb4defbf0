"""Calibration of numeric answers: how many lie how near to the gold number.

A curve is the share of answers with at most an error, so that it is read at the verifier's
tolerances: at the inner one it is the share that scores 1, at the outer one the share that scores
0.5 or more. What gives no number, or is off the axis, is in no curve: it ends below 1.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from zephyrus.numeric import NumericAnswer
from zephyrus.view.figures.drawing import DASHES, Drawing, Theme, grid, legend, sample
from zephyrus.view.plots.read import RunNumbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

_WORDS = {"%": "error, % of the gold number", "h": "error, hours", "": "error, in the asked unit"}


def numeric_errors(runs: Sequence[RunNumbers]) -> list[Drawing]:
    """Errors against gold with the tolerances, a panel for each group of answers."""
    groups: dict[str, list[list[NumericAnswer]]] = {}
    for i, run in enumerate(runs):
        for rollout in run.rollouts:
            if rollout.number is not None:
                lists = groups.setdefault(rollout.number.group, [[] for _ in runs])
                lists[i].append(rollout.number)
    if not groups:
        return []
    groups = dict(sorted(groups.items()))

    def draw(theme: Theme) -> Figure:
        figure, axes, columns = grid(len(groups), (3.6, 2.9))
        for place, (panel, (name, lists)) in enumerate(zip(axes, groups.items(), strict=True)):
            one = next(answers[0] for answers in lists if answers)
            _axis(panel, one, theme)
            for i, answers in enumerate(lists):
                if answers:
                    _curve(panel, answers, theme.colour(i), DASHES[i % len(DASHES)])
            counts = {len(answers) for answers in lists if answers}
            low, high = min(counts), max(counts)
            panel.set_title(f"{name} ({low if low == high else f'{low}–{high}'})", loc="left")
            if place % columns == 0:
                panel.set_ylabel("share of answers\nat most so far off")
        handles = [
            sample(run.name, color=theme.colour(i), linestyle=DASHES[i % len(DASHES)])
            for i, run in enumerate(runs)
        ]
        bands = [
            sample("scores 1", color=theme.colour(2), linewidth=8, alpha=0.30),
            sample("scores 0.5", color=theme.colour(2), linewidth=8, alpha=0.13),
        ]
        legend(figure, [*(handles if len(runs) > 1 else []), *bands], 3)
        return figure

    rows = []
    for name, lists in groups.items():
        for run, answers in zip(runs, lists, strict=True):
            if answers:
                rows.append((run.name, name, *_shares(answers)))
    told = "; ".join(
        f"{run}, {name}: {100 * full:.0f} % of {n} within the inner tolerance, {100 * half:.0f} % "
        "within the outer"
        for run, name, n, _, full, half, _, _ in rows
    )
    return [
        Drawing(
            "numeric-errors",
            "Errors of numeric answers",
            "Share of answers whose error against the gold number is at most so large. In the dark "
            "band an answer scores 1, in the light one 0.5. Where a curve ends below 1, the rest "
            "is farther off or gave no one number. The bias in the table is the median of answer minus gold.",
            f"Curves over the size of the error. {told}.",
            ("run", "answers", "n", "no number", "within inner", "within outer", "median error",
             "bias"),
            tuple(rows),
            draw,
        )
    ]  # fmt: skip


def _axis(panel: Axes, one: NumericAnswer, theme: Theme) -> None:
    """From 0 on: linear below a tenth of the inner tolerance, or an hour, and logarithmic above."""
    linear = one.full / 10 if one.full else 1.0
    panel.set_xscale("symlog", linthresh=linear, linscale=0.4)
    right = max(300 * one.half, 1000 * linear) if one.full else 48 * one.half
    panel.set_xlim(0, right)
    panel.set_ylim(0, 1.02)
    inner = one.full or linear / 4  # to be seen at all
    panel.axvspan(0, inner, color=theme.colour(2), alpha=0.30, lw=0)
    panel.axvspan(inner, one.half, color=theme.colour(2), alpha=0.13, lw=0)
    panel.set_xlabel(_WORDS.get(one.unit, f"error, {one.unit}"))
    panel.minorticks_off()
    decades = [linear * 10**k for k in range(9) if linear * 10**k <= right]
    hours = [0, 1, 6, 24, 96, 240]
    ticks = (
        [t for t in hours if t <= right]
        if one.unit == "h"
        else [0, *decades[:: 1 + len(decades) // 6]]
    )
    panel.set_xticks(ticks, [f"{tick:g}" for tick in ticks])


def _curve(panel: Axes, answers: Sequence[NumericAnswer], colour: str, dash: object) -> None:
    errors = sorted(abs(one.error) for one in answers if one.error is not None)
    right = panel.get_xlim()[1]
    xs, ys = [0.0], [0.0]
    for rank, error in enumerate((error for error in errors if error <= right), 1):
        xs.append(error)
        ys.append(rank / len(answers))
    xs.append(right)
    ys.append(ys[-1])
    panel.step(xs, ys, where="post", color=colour, linestyle=dash)


def _shares(
    answers: Sequence[NumericAnswer],
) -> tuple[int, int, float, float, float | None, float | None]:
    from statistics import median

    slack = 1e-9
    given = [one for one in answers if one.error is not None]
    sizes = [(abs(one.error or 0.0), one) for one in given]
    n = len(answers)
    return (
        n,
        n - len(given),
        sum(size <= one.full * (1 + slack) for size, one in sizes) / n,
        sum(size <= one.half * (1 + slack) for size, one in sizes) / n,
        median(size for size, _ in sizes) if sizes else None,
        median(one.error or 0.0 for one in given) if given else None,
    )
