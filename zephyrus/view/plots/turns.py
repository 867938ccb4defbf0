"""Reward by turn: what rollouts earned that ended after so many turns, and how many did."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zephyrus.view.figures.drawing import MARKERS, Drawing, Theme, legend, panels, sample
from zephyrus.view.plots.read import RunNumbers

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from zephyrus.evaluation.scores import Score


def reward_by_turn(runs: Sequence[RunNumbers]) -> list[Drawing]:
    """Mean reward by the number of turns, above the share of rollouts that took so many."""
    found = [_means(run) for run in runs]
    if not any(found):
        return []
    last = max(turns for means in found for turns in means)

    def draw(theme: Theme) -> Figure:
        from matplotlib.ticker import MaxNLocator

        figure, axes = panels(2, 1, (6.4, 2.2))
        above, below = axes[0][0], axes[1][0]
        width = 0.8 / len(runs)
        for i, (run, means) in enumerate(zip(runs, found, strict=True)):
            colour, mark = theme.colour(i), MARKERS[i % len(MARKERS)]
            shift = (i - (len(runs) - 1) / 2) * width
            places = [turns + shift for turns in means]
            for place, mean in zip(places, means.values(), strict=True):
                if mean.ci95:
                    above.plot([place, place], mean.ci95, color=colour)
            above.plot(places, [mean.mean or 0.0 for mean in means.values()], mark, color=colour)
            shares = _shares(run)
            below.bar(
                [turns + shift for turns in shares], list(shares.values()), width, color=colour
            )
        for panel in (above, below):
            panel.set_xlim(min(min(means) for means in found if means) - 0.6, last + 0.6)
            panel.xaxis.set_major_locator(MaxNLocator(integer=True, min_n_ticks=1))
            panel.grid(visible=False, axis="x")
        above.axhline(0, color=theme.faint, linewidth=0.8)
        above.margins(y=0.12)
        above.set_ylabel("mean reward")
        below.set_ylabel("share of\nrollouts")
        below.set_xlabel("turns of a rollout")
        if len(runs) > 1:
            legend(
                figure,
                [
                    sample(run.name, color=theme.colour(i), marker=MARKERS[i % len(MARKERS)])
                    for i, run in enumerate(runs)
                ],
                3,
            )
        return figure

    rows = []
    for run, means in zip(runs, found, strict=True):
        shares = _shares(run)
        for turns, mean in means.items():
            low, high = mean.ci95 or (None, None)
            rows.append((run.name, turns, shares[turns], mean.events, mean.mean, low, high))
    told = "; ".join(
        f"{run.name}: {math.fsum(r.turns for r in run.rollouts) / len(run.rollouts):.1f} turns on "
        f"average, mean reward {run.summary['rewards']['reward']:.3f}"
        for run in runs
        if "reward" in run.summary["rewards"]
    )
    return [
        Drawing(
            "reward-by-turn",
            "Reward by turn",
            "Rollouts by the number of their turns: what they earned (with 95 % bootstrap intervals "
            "over tasks), and how many there are. It compares rollouts, not turns of one: those "
            "that take long are often the hard ones.",
            f"Points above bars. {told}.",
            ("run", "turns", "share", "tasks", "mean reward", "95 % from", "to"),
            tuple(rows),
            draw,
        )
    ]


def _means(run: RunNumbers) -> dict[int, Score]:
    from zephyrus.evaluation.scores import Column, EventScores

    scores = EventScores()
    for rollout in run.rollouts:
        if rollout.reward is not None:
            scores.add(Column(f"{rollout.turns}", "reward"), rollout.key, rollout.reward)
    columns = sorted(scores.columns, key=lambda column: int(column.judge))
    means = scores.means(columns, []).scores if columns else {}
    return {int(column.judge): mean for column, mean in means.items()}


def _shares(run: RunNumbers) -> dict[int, float]:
    every = sorted(rollout.turns for rollout in run.rollouts if rollout.reward is not None)
    return {turns: every.count(turns) / len(every) for turns in dict.fromkeys(every)}
