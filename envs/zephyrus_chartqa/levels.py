"""At which values contour lines are drawn, and how far apart classes are."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from zephyrus_chartqa.fields import ChartData

STEPS: dict[str, tuple[float, ...]] = {
    "gpm": (120.0, 60.0, 40.0, 20.0),
    "hPa": (8.0, 4.0, 2.0, 1.0),
    "°C": (8.0, 4.0, 2.0, 1.0),
}
"""Intervals by units, the widest first, which is for charts of a hemisphere or more: isohypses at
500 hPa every 60 gpm and isobars every 4 hPa, as most services draw them (China's NMC has 40 gpm and
2.5 hPa); finer ones on small regions."""

TERRAIN_STEP = 25.0
"""hPa between the isobars of surface pressure, which follows the terrain."""

DECAMETRES = 0.1
"""dagpm in a gpm: heights are labelled in dagpm."""

_ENOUGH = 4  # lines, or the next finer interval is taken
_HEMISPHERE = 2e14  # m2, nearly: charts of less have not the widest interval


def contour_step(data: ChartData) -> float:
    """Return the interval of a chart's contour lines or classes, in its units.

    It is the widest of `STEPS` for the region's size that gives a few lines between the extremes
    inside it.

    Raises:
        KeyError: If charts in these units have no contour lines.
    """
    if data.way.variables[0] == "surface_pressure":
        return TERRAIN_STEP
    wide = float(data.area[data.inside].sum()) >= _HEMISPHERE
    steps = STEPS[data.units][0 if wide else 1 :]
    shown = data.values[data.inside]
    spread = float(np.nanmax(shown) - np.nanmin(shown))
    return next((step for step in steps if spread >= _ENOUGH * step), steps[-1])


def contour_levels(data: ChartData, step: float) -> NDArray[np.float64]:
    """Return the multiples of a step among the values of a chart, rim included: (level,)."""
    low, high = float(np.nanmin(data.values)), float(np.nanmax(data.values))
    return step * np.arange(np.ceil(low / step), np.floor(high / step) + 1.0)
