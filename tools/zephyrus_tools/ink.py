"""`Ink`: lines and letters in one dark colour, drawn by Agg into how dark each pixel is.

Everything on a map but its colours is ink: outlines, contour lines, axes, words. It is drawn apart
from the colours, so that what does not change from map to map is drawn once. The fonts are those
that ship with matplotlib, whatever the user's settings.
"""

import threading
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path as FilePath
from typing import Any

import numpy as np
from matplotlib import get_data_path
from matplotlib.backends.backend_agg import RendererAgg
from matplotlib.font_manager import FontProperties
from matplotlib.path import Path
from matplotlib.transforms import IdentityTransform
from numpy.typing import NDArray

DPI = 100
"""Pixels to an inch, of which a point is 1/72."""

Mask = NDArray[np.uint8]
"""(height, width): how much ink a pixel has, 0 to 255."""

_LOCK = threading.RLock()  # matplotlib's fonts are for one thread at a time
_RENDERER: Any = RendererAgg  # it has no types
_FLAT: Any = IdentityTransform


@cache
def _font(size: float, bold: bool) -> FontProperties:
    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return FontProperties(fname=FilePath(get_data_path()) / "fonts" / "ttf" / name, size=size)


@lru_cache(maxsize=4096)
def extent(words: str, size: float, bold: bool = False) -> tuple[float, float, float]:
    """Return width and height of a line of words, and how far below its base it goes, in pixels."""
    with _LOCK:
        found = _RENDERER(1, 1, DPI).get_text_width_height_descent(words, _font(size, bold), False)
    width, height, below = found
    return float(width), float(height), float(below)


class Ink:
    """A blank sheet; x runs to the right and y down from the upper left corner, in pixels."""

    def __init__(self, width: int, height: int) -> None:
        """Make a sheet of a size in pixels."""
        self.width, self.height = width, height
        self._agg = _RENDERER(width, height, DPI)

    def lines(
        self,
        lines: Iterable[NDArray[np.float64]],
        thickness: float,
        *,
        dark: float = 1.0,
        sharp: bool = False,
    ) -> None:
        """Draw lines.

        Args:
            lines: Each (point, 2): x, y.
            thickness: In points.
            dark: How dark, 0 to 1.
            sharp: Whether upright and level lines are moved to whole pixels.
        """
        self._draw(lines, thickness, dark, sharp, None)

    def shapes(self, shapes: Iterable[NDArray[np.float64]]) -> None:
        """Fill shapes, each (point, 2): x, y."""
        self._draw(shapes, 0.0, 1.0, False, (0.0, 0.0, 0.0, 1.0))

    def _draw(
        self,
        lines: Iterable[NDArray[np.float64]],
        thickness: float,
        dark: float,
        sharp: bool,
        fill: tuple[float, float, float, float] | None,
    ) -> None:
        parts = [line for line in lines if len(line) > 1]
        if not parts:
            return
        points = np.concatenate(parts)
        codes = np.full(len(points), Path.LINETO, dtype=Path.code_type)
        codes[np.cumsum([0, *(len(part) for part in parts[:-1])])] = Path.MOVETO
        path = Path(np.column_stack([points[:, 0], self.height - points[:, 1]]), codes)
        with _LOCK:
            pen = self._pen(dark)
            pen.set_linewidth(thickness)  # Agg knows how many pixels a point has
            pen.set_joinstyle("round")
            pen.set_capstyle("projecting" if sharp else "butt")
            pen.set_snap(sharp)
            self._agg.draw_path(pen, path, _FLAT(), fill)

    def text(
        self,
        x: float,
        y: float,
        words: str,
        size: float,
        *,
        bold: bool = False,
        across: float = 0.0,
        up: float = 0.5,
        angle: float = 0.0,
    ) -> None:
        """Write words.

        Args:
            x: Where.
            y: Likewise.
            words: One line.
            size: In points.
            bold: Whether in bold.
            across: Which point of the words is at (x, y): 0 their left, 0.5 the middle, 1 the right.
            up: Likewise: 0 the lower end, 0.5 the middle, 1 the upper end.
            angle: Degrees, anticlockwise.
        """
        width, height, below = extent(words, size, bold)
        turn = np.deg2rad(angle)
        right, rise = across * width, up * height - below
        left = round(x - right * np.cos(turn) + rise * np.sin(turn))
        base = round(y + right * np.sin(turn) + rise * np.cos(turn))
        with _LOCK:
            self._agg.draw_text(self._pen(1.0), left, base, words, _font(size, bold), angle)

    @property
    def mask(self) -> Mask:
        """A copy of what was drawn."""
        with _LOCK:
            sheet = np.asarray(self._agg.buffer_rgba())
        mask: Mask = np.ascontiguousarray(sheet[..., 3])
        return mask

    def _pen(self, dark: float) -> Any:
        pen = self._agg.new_gc()
        pen.set_foreground((0.0, 0.0, 0.0, 1.0), isRGBA=True)
        pen.set_alpha(dark)
        pen.set_antialiased(True)
        return pen


def segment(*points: Sequence[float]) -> NDArray[np.float64]:
    """A line through points (x, y)."""
    return np.array(points, dtype=np.float64)
