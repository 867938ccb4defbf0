"""The 500 hPa chart: isohypses in decametres, wind barbs, highs and lows."""

from __future__ import annotations

import numpy as np

from zephyrus_chartqa.centres import centres
from zephyrus_chartqa.charts import barbs, coast
from zephyrus_chartqa.charts.paper import Paper
from zephyrus_chartqa.charts.sampling import sampler
from zephyrus_chartqa.charts.style import Style
from zephyrus_chartqa.fields import ChartData
from zephyrus_chartqa.levels import DECAMETRES, contour_levels, contour_step
from zephyrus_geodata import FeatureStore


def draw(data: ChartData, features: FeatureStore, style: Style) -> bytes:
    """Draw it; see `charts.draw`."""
    paper = Paper(data, style, bar=False)
    values = sampler(data, paper.view).pixels(data.values, smooth=True)
    paper.gaps(values)
    paper.coast(features)
    paper.reserve(centres(data))
    below = coast.coast(features, paper.view)
    levels = DECAMETRES * contour_levels(data, contour_step(data))
    paper.lines(np.float32(DECAMETRES) * values, levels, style.line, below)
    wind = barbs.barbs(data, paper.view, style.spacing, paper.free)
    paper.ink(barbs.ink(wind, paper.view), style.barb)
    paper.marks(DECAMETRES)
    return paper.finish()
