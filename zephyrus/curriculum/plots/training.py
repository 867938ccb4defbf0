"""Training curves of each stage: rewards, KL, loss, speed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import TYPE_CHECKING

from zephyrus.curriculum.history import RunHistory, StageHistory
from zephyrus.view.figures.drawing import (
    DASHES,
    Drawing,
    Theme,
    grid,
    label,
    told,
    whole_steps,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

CURVES = {
    "accuracy": "accuracy of the rollouts",
    "reward_std": "spread of rewards in a group",
    "uniform_groups": "share of groups all alike",
    "kl": "KL from the start (nats)",
    "loss": "loss",
    "token_accuracy": "accuracy of next tokens",
    "entropy": "entropy (nats per token)",
    "grad_norm": "norm of the gradient",
    "tokens_per_rollout": "tokens per rollout",
    "tokens_per_second": "tokens per second",
}
"""Keys of ``steps.jsonl``, in words."""

REWARDS = "rewards"

_SMOOTH_FROM = 40
"""With so many steps and more, a running mean is drawn over the noise of single steps."""


def running_mean(values: Sequence[float], width: int) -> list[float]:
    """The mean of each value and those around it, ``width`` of them (fewer at the ends).

    >>> running_mean([0, 3, 6], 3)
    [1.5, 3.0, 4.5]
    """
    half = width // 2
    windows = [values[max(0, i - half) : i + half + 1] for i in range(len(values))]
    return [sum(window) / len(window) for window in windows]


def curves(runs: Sequence[RunHistory]) -> list[Drawing]:
    """The training curves, a figure for each stage of each run."""
    found = [(run, stage) for run in runs for stage in run.stages if stage.steps]
    names: set[str] = set()
    drawings = []
    for run, stage in found:
        drawing = _curves(run, stage, len(runs) > 1)
        if drawing is None:
            continue
        name = drawing.name
        while drawing.name in names:  # names that differ in signs alone
            drawing = _renamed(drawing, f"{name}-{len(names)}")
        names.add(drawing.name)
        drawings.append(drawing)
    return drawings


def _renamed(drawing: Drawing, name: str) -> Drawing:
    from dataclasses import replace

    return replace(drawing, name=name)


def _curves(run: RunHistory, stage: StageHistory, several: bool) -> Drawing | None:
    parts = stage.parts(REWARDS)
    shown = [name for name in CURVES if stage.series(name)[0]]
    if not parts and not shown:
        return None
    first = [REWARDS] if parts else []

    def draw(theme: Theme) -> Figure:
        every = [*first, *shown]
        figure, axes, columns = grid(len(every), (3.3, 2.2))
        last = int(stage.steps[-1]["step"])
        for place, (panel, name) in enumerate(zip(axes, every, strict=True)):
            if name == REWARDS:
                for i, part in enumerate(parts):
                    _line(panel, *stage.series(REWARDS, part), theme, i, part)
            else:
                _line(panel, *stage.series(name), theme, 0, name)
            title = CURVES.get(name, "reward" if len(parts) == 1 else "parts of the reward")
            panel.set_title(title, loc="left")
            panel.margins(y=0.12)
            if name == REWARDS and len(parts) > 1:
                low, high = panel.get_ylim()
                panel.set_ylim(low, high + (0.1 + 0.13 * len(parts)) * (high - low))
                panel.legend(fontsize=8.5, loc="upper left", borderaxespad=0.1)
            whole_steps(panel, last)
            if place + columns < len(every):
                panel.set_xlabel("")
        return figure

    slug = re.sub(r"[^A-Za-z0-9._-]+", "-", f"{run.name}-" if several else "").lstrip(".")
    series = {
        **{f"reward {part}": stage.series(REWARDS, part) for part in parts},
        **{CURVES[name]: stage.series(name) for name in shown},
    }
    found = {name: dict(zip(*numbers, strict=True)) for name, numbers in series.items()}
    steps = sorted({step for numbers in found.values() for step in numbers})
    where = f"{run.name}, {stage.stage.name}" if several else stage.stage.name
    return Drawing(
        f"training-{slug}{re.sub(r'[^A-Za-z0-9._-]+', '-', stage.stage.name)}",
        f"Training: {where}",
        "What each step came to."
        + (
            f" Thin lines are single steps, thick ones means of {_width(len(stage.steps))}."
            if len(stage.steps) >= _SMOOTH_FROM
            else ""
        ),
        "Lines. " + "; ".join(told(name, numbers) for name, numbers in found.items()) + ".",
        ("step", *found),
        tuple((step, *(numbers.get(step) for numbers in found.values())) for step in steps),
        draw,
    )


def _width(steps: int) -> int:
    return 2 * (steps // 40) + 1


def _line(
    axes: Axes, steps: list[int], values: list[float], theme: Theme, index: int, name: str
) -> None:
    colour, dash = theme.colour(index), DASHES[index % len(DASHES)]
    if len(steps) < _SMOOTH_FROM:
        marker = "o" if len(steps) < 25 else ""
        axes.plot(steps, values, color=colour, linestyle=dash, marker=marker, markersize=3.5,
                  label=label(name))  # fmt: skip
        return
    axes.plot(steps, values, color=colour, linewidth=0.8, alpha=0.4)
    smooth = running_mean(values, _width(len(steps)))
    axes.plot(steps, smooth, color=colour, linestyle=dash, label=label(name))
