"""What all figures share: how they look, light and dark, and how they become PNGs."""

from __future__ import annotations

import io
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DPI = 150

MARKERS = ("o", "s", "^", "D", "v", "P")
"""Lines are told apart by their marks and dashes as well as by their colours."""

DASHES = ("-", "--", "-.", ":", (0, (5, 1, 1, 1)), (0, (1, 1)))


@dataclass(frozen=True)
class Theme:
    """Colours of a figure.

    Attributes:
        name: "light" or "dark".
        ground: Behind everything.
        ink: Text.
        faint: Base lines.
        line: Grid.
        colours: Of lines and bars. After Okabe and Ito, so that the colour blind tell them apart,
            and moved until each stands out from the ground at 3:1 or more (WCAG 1.4.11).
        mark: Of what was chosen.
    """

    name: str
    ground: str
    ink: str
    faint: str
    line: str
    colours: tuple[str, ...]
    mark: str

    def colour(self, index: int) -> str:
        """Of the line with a number."""
        return self.colours[index % len(self.colours)]


LIGHT = Theme(
    "light",
    "#ffffff",
    "#1f2328",
    "#59636e",
    "#d1d9e0",
    ("#0072b2", "#d55e00", "#007f5f", "#a3407f", "#7a5c00", "#4a4a9c"),
    "#b00020",
)
DARK = Theme(
    "dark",
    "#0d1117",
    "#e6edf3",
    "#9198a1",
    "#3d444d",
    ("#56b4e9", "#f0a050", "#3fc79a", "#e08fc0", "#e6d95a", "#a9a6f5"),
    "#ff7b72",
)


@dataclass(frozen=True)
class Drawing:
    """A figure, with what a page shows beside it.

    Attributes:
        name: Of its file.
        title: In words, with the paper's number.
        caption: How to read it.
        alt: What it shows, for those who don't see it.
        columns: Of its table.
        rows: Of its table; None where there is no number.
        draw: Makes the figure, inside `styled`.
    """

    name: str
    title: str
    caption: str
    alt: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str | int | float | None, ...], ...]
    draw: Callable[[Theme], Figure] = field(repr=False, compare=False)


def render(drawing: Drawing, theme: Theme) -> bytes:
    """The PNG of a figure."""
    with styled(theme), warnings.catch_warnings():
        # A name in a script that the font lacks shows boxes; the table has it right.
        warnings.filterwarnings("ignore", message="Glyph .* missing from font")
        file = io.BytesIO()
        drawing.draw(theme).savefig(file, format="png", dpi=DPI, metadata={"Software": None})
    return file.getvalue()


@contextmanager
def styled(theme: Theme) -> Iterator[None]:
    """Draw in a theme; whatever the user's matplotlibrc says of it is set aside."""
    import matplotlib

    settings: Any = {
        "text.parse_math": False,  # names are text: a $ in one is a dollar sign
        "text.usetex": False,
        "font.family": ["sans-serif"],
        "font.sans-serif": ["DejaVu Sans"],
        "font.size": 10,
        "axes.titlesize": 10.5,
        "axes.labelsize": 10,
        "legend.fontsize": 9.5,
        "figure.facecolor": theme.ground,
        "savefig.facecolor": theme.ground,
        "axes.facecolor": theme.ground,
        "text.color": theme.ink,
        "axes.labelcolor": theme.ink,
        "axes.titlecolor": theme.ink,
        "xtick.color": theme.ink,
        "ytick.color": theme.ink,
        "axes.edgecolor": theme.faint,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "axes.grid": True,
        "axes.axisbelow": True,
        "axes.formatter.useoffset": False,
        "grid.color": theme.line,
        "grid.linewidth": 0.6,
        "grid.linestyle": "-",
        "legend.frameon": False,
        "lines.linewidth": 1.8,
        "lines.markersize": 5.5,
        "lines.solid_capstyle": "round",
    }
    with matplotlib.rc_context(settings):
        yield


def panels(rows: int, columns: int, size: tuple[float, float]) -> tuple[Figure, list[list[Axes]]]:
    """A figure of panels.

    Args:
        rows: Of panels.
        columns: Of panels.
        size: Width and height of one panel, in inches.
    """
    from matplotlib.figure import Figure

    width = max(size[0] * columns, 5.2)
    figure = Figure(figsize=(width, size[1] * rows + 0.5), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False)
    return figure, [list(row) for row in axes]


def grid(n: int, size: tuple[float, float]) -> tuple[Figure, list[Axes], int]:
    """A figure of some panels in rows.

    Returns:
        The figure, its panels, and how many are in a row.
    """
    columns = 2 if n == 4 else min(n, 3)
    figure, axes = panels(-(-n // columns), columns, size)
    every = [panel for row in axes for panel in row]
    for panel in every[n:]:
        panel.remove()
    return figure, every[:n], columns


def legend(figure: Figure, handles: Sequence[Any], columns: int = 4) -> None:
    """Say below the panels what is what."""
    if handles:
        figure.legend(
            handles=list(handles), loc="outside lower center", ncols=min(columns, len(handles))
        )


def sample(text: str, **look: Any) -> Any:
    """A line for `legend`."""
    from matplotlib.lines import Line2D

    return Line2D([], [], label=label(text), **look)


def label(text: str, width: int = 48) -> str:
    """A name as matplotlib may be given it: harmless, short, and not left out for its "_"."""
    clean = " ".join(plain(text).split())
    clean = clean if len(clean) <= width else clean[: width - 1] + "…"
    return f" {clean}" if clean.startswith("_") else clean


def whole_steps(axes: Axes, last: int = 0) -> None:
    """Count steps in whole numbers, from 0."""
    from matplotlib.ticker import MaxNLocator

    axes.xaxis.set_major_locator(MaxNLocator(nbins=6, integer=True, min_n_ticks=1))
    axes.set_xlim(-0.03 * max(last, 1), 1.03 * max(last, 1))
    axes.set_xlabel("step")


def spread(values: Sequence[float], top: float = 1.0) -> tuple[float, float]:
    """Limits of an axis that show values between 0 and ``top``, with room for their marks."""
    low, high = min(values, default=0.0), max(values, default=1.0)
    room = max(0.09 * (high - low), 0.02)
    high = min(high + room, top + room)
    return max(low - room, -0.1 * high), high


def told(name: str, numbers: Mapping[int, float], digits: int = 3) -> str:
    """A line in words: where it begins and ends."""
    steps = sorted(numbers)
    if not steps:
        return f"{name}: nothing"
    first, last = steps[0], steps[-1]
    if first == last:
        return f"{name}: {numbers[first]:.{digits}f} at step {first}"
    return (
        f"{name}: {numbers[first]:.{digits}f} at step {first}, "
        f"{numbers[last]:.{digits}f} at step {last}"
    )
