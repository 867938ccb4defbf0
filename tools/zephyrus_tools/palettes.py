"""Colours and levels of each variable's map."""

from dataclasses import dataclass

import numpy as np
from matplotlib import colormaps
from matplotlib.colors import BoundaryNorm, Colormap, LinearSegmentedColormap
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

_CLASSES = 12
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


@dataclass(frozen=True)
class Palette:
    """How values become colours.

    Attributes:
        levels: Edges of the colour classes in display units, ascending.
        colours: The colour map over the classes.
        norm: Turns values into classes.
        lines: Whether labelled contour lines are drawn at the levels.
    """

    levels: NDArray[np.float64]
    colours: Colormap
    norm: BoundaryNorm
    lines: bool


def palette(name: str, values: NDArray[np.float64]) -> Palette:
    """Choose colours for a variable and the values shown (display units, at least one finite)."""
    low, high = float(np.nanmin(values)), float(np.nanmax(values))
    if name.startswith("total_precipitation"):
        more = [100.0 * np.ceil(high / 100.0)] if high > _RAIN[-1] else []
        levels = np.array([0.0, *_RAIN, *more])
        return _palette(levels[: max(5, int(np.searchsorted(levels, high)) + 1)], _WHITE_TO_BLUE)
    if name.endswith("cloud_cover"):
        return _palette(np.arange(0.0, 101.0, 10.0), _BLUE_SKY)
    if "temperature" in name:
        return _around_zero(_levels(low, high), _COLD_TO_HOT)
    if "component_of_wind" in name:
        return _around_zero(_levels(low, high), colormaps["RdBu_r"])
    if "wind_speed" in name or name.endswith("gust"):
        return _palette(_levels(0.0, high), colormaps["YlGnBu"])
    lines = "pressure" in name or name.startswith("geopotential")
    return _palette(_levels(low, high), colormaps["Spectral_r"], lines=lines)


def _levels(low: float, high: float) -> NDArray[np.float64]:
    """Round levels from below the least value to above the greatest."""
    if high - low < 1e-6 * max(abs(low), abs(high), 1.0):
        low, high = low - 1.0, high + 1.0  # a flat field
    steps = [1, 2, 2.5, 4, 5, 10]
    return np.array(MaxNLocator(_CLASSES, steps=steps).tick_values(low, high))


def _palette(levels: NDArray[np.float64], colours: Colormap, *, lines: bool = False) -> Palette:
    classes = levels.size - 1
    listed = colours.resampled(classes) if classes > 1 else colours
    return Palette(levels, listed, BoundaryNorm(levels, listed.N), lines)


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
    chosen = colours(where)
    listed = LinearSegmentedColormap.from_list(colours.name, chosen, N=len(chosen))
    return Palette(levels, listed, BoundaryNorm(levels, listed.N), False)
