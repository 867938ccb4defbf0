"""Tool use: which tools are called how often, how many calls fail, and of what."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from zephyrus.view.figures.drawing import Drawing, Theme, label, legend
from zephyrus.view.plots.read import RunNumbers

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

SHOWN = 12
"""Tools, and kinds of mistake, that have a row of their own; a model may invent any number."""

OTHERS = "(others)"


def tool_use(runs: Sequence[RunNumbers]) -> list[Drawing]:
    """Calls by tool, with those that failed, and failed calls by the kind of mistake."""
    calls = [_total(run, "calls") for run in runs]
    if not any(calls):
        return []
    failed = [_total(run, "failed") for run in runs]
    kinds = [_total(run, "kinds") for run in runs]
    tools, mistakes = _rows(calls), _rows(kinds)
    calls, failed = ([_folded(counts, tools) for counts in group] for group in (calls, failed))
    kinds = [_folded(counts, mistakes) for counts in kinds]

    def draw(theme: Theme) -> Figure:
        from matplotlib.figure import Figure as Made
        from matplotlib.patches import Patch

        heights = [len(tools), len(mistakes)] if mistakes else [len(tools)]
        row = 0.2 + 0.17 * len(runs)
        figure = Made(figsize=(7.2, sum(heights) * row + 0.9 * len(heights) + 0.4))
        figure.set_layout_engine("constrained")
        panels = figure.subplots(len(heights), 1, height_ratios=heights, squeeze=False)[:, 0]
        for i, run in enumerate(runs):
            n, colour = len(run.rollouts) or 1, theme.colour(i)
            fine = [(calls[i][tool] - failed[i][tool]) / n for tool in tools]
            wrong = [failed[i][tool] / n for tool in tools]
            _bars(panels[0], fine, i, len(runs), color=colour)
            _bars(panels[0], wrong, i, len(runs), left=fine, facecolor=theme.ground,
                  edgecolor=colour, hatch="/////", linewidth=1.0)  # fmt: skip
            for place, tool in enumerate(tools):
                if calls[i][tool]:
                    share = failed[i][tool] / calls[i][tool]
                    panels[0].annotate(
                        f"{100 * share:.0f} %" if failed[i][tool] else "0",
                        (calls[i][tool] / n, place + _shift(i, len(runs))),
                        (4, 0),
                        textcoords="offset points",
                        va="center",
                        fontsize=8,
                    )
            if mistakes:
                every = sum(calls[i].values()) or 1
                shares = [100 * kinds[i][kind] / every for kind in mistakes]
                _bars(panels[1], shares, i, len(runs), color=colour)
        _label_rows(panels[0], tools)
        panels[0].set_xlabel("calls per rollout; beside the bar: share that failed")
        panels[0].margins(x=0.08)
        if mistakes:
            _label_rows(panels[1], [kind.replace("_", " ") for kind in mistakes])
            panels[1].set_xlabel("failed calls by mistake, % of all calls")
        hatched = Patch(facecolor=theme.ground, edgecolor=theme.ink, hatch="/////", label="failed")
        named = [Patch(color=theme.colour(i), label=label(run.name)) for i, run in enumerate(runs)]
        legend(figure, [*(named if len(runs) > 1 else []), hatched])
        return figure

    rows = [
        (run.name, tool, calls[i][tool], calls[i][tool] / (len(run.rollouts) or 1),
         failed[i][tool], failed[i][tool] / calls[i][tool])
        for i, run in enumerate(runs)
        for tool in tools
        if calls[i][tool]
    ]  # fmt: skip
    told = "; ".join(
        f"{run.name}: {run.summary['tool_calls']:,} calls, "
        f"{100 * (run.summary['failure_rate'] or 0):.1f} % failed"
        for run in runs
    )
    return [
        Drawing(
            "tool-use",
            "Tool use",
            "Tool calls per rollout by tool, with those that were answered with an error hatched; "
            "below, what was wrong with them.",
            f"Bars. {told}.",
            ("run", "tool", "calls", "per rollout", "failed", "failed share"),
            tuple(rows),
            draw,
        )
    ]


def _total(run: RunNumbers, name: str) -> Counter[str]:
    total: Counter[str] = Counter()
    for rollout in run.rollouts:
        total.update(getattr(rollout, name))
    return total


def _rows(counts: Sequence[Counter[str]]) -> list[str]:
    """The most frequent first; the rare ones together."""
    every: Counter[str] = Counter()
    for one in counts:
        every.update(one)
    names = [name for name, _ in every.most_common()]
    return names if len(names) <= SHOWN else [*names[: SHOWN - 1], OTHERS]


def _folded(counts: Counter[str], names: Sequence[str]) -> Counter[str]:
    folded = Counter({name: n for name, n in counts.items() if name in names})
    folded[OTHERS] += sum(n for name, n in counts.items() if name not in names)
    return folded


def _shift(i: int, n: int) -> float:
    return 0.74 * ((i + 0.5) / n - 0.5)


def _bars(axes: Axes, values: Sequence[float], i: int, n: int, **look: Any) -> None:
    places = [row + _shift(i, n) for row in range(len(values))]
    axes.barh(places, values, height=0.74 / n * 0.86, **look)


def _label_rows(axes: Axes, names: Sequence[str]) -> None:
    axes.set_yticks(range(len(names)), [label(name, 32) for name in names])
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.tick_params(axis="y", length=0)
    axes.grid(visible=False, axis="y")
