"""Pictures of how cost grows: two lines, both axes logarithmic, readable on white and on black."""

from __future__ import annotations

from pathlib import Path

from benchmarks.markdown import quantity
from benchmarks.records import Curve

_OURS, _THEIRS, _INK = "#2a9d8f", "#e76f51", "#808890"  # seen on white and on black
_SIZE, _DPI = (6.4, 3.8), 120
_WIDE = 100.0  # from this ratio on, there is a tick for each power of ten only


def draw(curve: Curve, path: Path) -> None:
    """Draw a curve into a PNG with a clear background, without date or software.

    Args:
        curve: what was measured.
        path: the file.
    """
    from matplotlib.backends.backend_agg import FigureCanvasAgg
    from matplotlib.figure import Figure
    from matplotlib.ticker import FixedLocator, FuncFormatter, LogLocator, NullLocator

    figure = Figure(figsize=_SIZE, dpi=_DPI, layout="constrained")
    FigureCanvasAgg(figure)
    figure.patch.set_alpha(0.0)
    axes = figure.add_subplot()
    axes.patch.set_alpha(0.0)
    axes.set_xscale("log")
    axes.set_yscale("log")
    known = [(x, y) for x, y in zip(curve.sizes, curve.theirs, strict=True) if y is not None]
    lines = (
        ("zephyrus", list(zip(curve.sizes, curve.ours, strict=True)), _OURS, "o"),
        (curve.alternative, known, _THEIRS, "s"),
    )
    for name, points, colour, marker in lines:
        if points:
            x, y = zip(*points, strict=True)
            axes.plot(x, y, color=colour, marker=marker, markersize=5, linewidth=2, label=name)
    axes.xaxis.set_major_locator(FixedLocator(curve.sizes))
    axes.xaxis.set_minor_locator(NullLocator())
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: f"{x:,.0f}"))
    shown = [*curve.ours, *(y for _, y in known)]
    steps = (1.0,) if max(shown) > _WIDE * min(shown) else (1.0, 2.0, 5.0)
    axes.yaxis.set_major_locator(LogLocator(subs=steps))
    axes.yaxis.set_minor_locator(NullLocator())
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: quantity(y, "s")))
    axes.set_xlabel(curve.axis, color=_INK)
    axes.set_ylabel(curve.cost, color=_INK)
    axes.set_title(curve.title, color=_INK, fontsize=11)
    axes.tick_params(which="both", colors=_INK, labelsize=9)
    axes.grid(which="major", color=_INK, alpha=0.25, linewidth=0.6)
    for spine in axes.spines.values():
        spine.set_color(_INK)
    axes.legend(frameon=False, labelcolor=_INK)
    figure.savefig(path, metadata={"Software": None})
