"""Colours and levels of each variable's map."""

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import Colormap, LinearSegmentedColormap
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

Over = Literal["spread", "probability"]
"""What may be taken over members instead of the mean."""

_CLASSES = 12
_TENTHS = np.arange(0.0, 101.0, 10.0)
_RAIN = (0.1, 0.5, 1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0, 50.0, 75.0, 100.0)

_WHITE_TO_BLUE = LinearSegmentedColormap.from_list(
    "rain", ["#ffffff", "#d3e9f8", "#8cc4ec", "#3f8fd2", "#1c5aa6", "#0b2f6b", "#4b1d6b"]
)
_BLUE_SKY = LinearSegmentedColormap.from_list("cloud", ["#2f7fc1", "#8fbfe3", "#d6dee5", "#ffffff"])
_COLD_TO_HOT = LinearSegmentedColormap.from_list(
    "temperature",
    [
        (0.0, "#3b1a78"),
        (0.17, "#2b4fb5"),
        (0.34, "#5aa7de"),
        (0.4999, "#dff1fa"),
        (0.5, "#fff7d0"),
        (0.62, "#fdd06c"),
        (0.76, "#f78b3c"),
        (0.9, "#d3262b"),
        (1.0, "#7c0a2c"),
    ],
)
_SPREAD = LinearSegmentedColormap.from_list(
    "spread", ["#fbf9fc", "#e6d9ef", "#cfb1de", "#c184c9", "#b957ae", "#a12f8b", "#7c1468"]
)


@dataclass(frozen=True)
class Palette:
    """How values become colours.

    Attributes:
        levels: (class + 1,) edges of the colour classes in display units, ascending. A class has
            the values above its lower edge, up to and with its upper one; the outermost classes
            also have what lies beyond.
        rgb: (class, 3) their colours, 0 to 255.
        lines: Whether labelled contour lines are drawn at the levels.
    """

    levels: NDArray[np.float64]
    rgb: NDArray[np.uint8]
    lines: bool

    @cached_property
    def edges(self) -> tuple[float, ...]:
        """The levels, to know a colour bar by."""
        return tuple(self.levels.tolist())

    def classes(self, values: NDArray[np.float32]) -> NDArray[np.uint8]:
        """Return the class of each value in display units, of any shape; NaN is in the first."""
        # A dozen comparisons of a whole picture take a tenth of the time of a search per pixel.
        found = np.zeros(values.shape, dtype=np.uint8)
        for level in self.edges[1:-1]:
            found += (values > level).view(np.uint8)
        return found


def palette(name: str, low: float, high: float, over: Over | None = None) -> Palette:
    """Choose colours for a variable.

    Args:
        name: The variable's.
        low: The least value shown, in display units.
        high: The greatest.
        over: What is taken over the members of an ensemble: a spread, or a probability in %. They
            have colours of their own, so that they aren't taken for the variable itself.
    """
    if over is not None:
        return _palette(
            _TENTHS if over == "probability" else _levels(0.0, high if high > 0.0 else 1.0), _SPREAD
        )
    if name.startswith("total_precipitation"):
        more = [100.0 * np.ceil(high / 100.0)] if high > _RAIN[-1] else []
        levels = np.array([0.0, *_RAIN, *more])
        return _palette(levels[: max(5, int(np.searchsorted(levels, high)) + 1)], _WHITE_TO_BLUE)
    if name.endswith("cloud_cover"):
        return _palette(_TENTHS, _BLUE_SKY)
    if "temperature" in name:
        return _around_zero(_levels(low, high), _COLD_TO_HOT)
    if "component_of_wind" in name:
        return _around_zero(_levels(low, high), colormaps["RdBu_r"])
    if "wind_speed" in name or name.endswith("gust"):
        return _palette(_levels(0.0, high if high > 0.0 else 1.0), colormaps["YlGnBu"])
    lines = "pressure" in name or name.startswith("geopotential")
    return _palette(_levels(low, high), colormaps["Spectral_r"], lines=lines)


def _levels(low: float, high: float) -> NDArray[np.float64]:
    """Round levels from below the least value to above the greatest."""
    if high - low < 1e-6 * max(abs(low), abs(high), 1.0):
        low, high = low - 1.0, high + 1.0  # a flat field
    steps = [1, 2, 2.5, 4, 5, 10]
    return np.array(MaxNLocator(_CLASSES, steps=steps).tick_values(low, high))


def _palette(levels: NDArray[np.float64], colours: Colormap, *, lines: bool = False) -> Palette:
    """Take the colours evenly from end to end."""
    return Palette(levels, _rgb(colours, np.linspace(0.0, 1.0, levels.size - 1)), lines)


def _around_zero(levels: NDArray[np.float64], colours: Colormap) -> Palette:
    """Take the colours so that zero is in the middle; levels of one sign have one half to them."""
    middles = 0.5 * (levels[1:] + levels[:-1])
    least, most = float(levels[0]), float(levels[-1])
    if least >= 0.0:
        where = 0.5 + 0.5 * (middles - least) / (most - least)
    elif most <= 0.0:
        where = 0.5 - 0.5 * (most - middles) / (most - least)
    else:
        where = 0.5 + 0.5 * middles / max(-least, most)
    return Palette(levels, _rgb(colours, where), False)


def _rgb(colours: Colormap, where: NDArray[np.float64]) -> NDArray[np.uint8]:
    rgba = np.atleast_2d(np.asarray(colours(where), dtype=np.float64))
    rgb: NDArray[np.uint8] = np.rint(255.0 * rgba[:, :3]).astype(np.uint8)
    return rgb
