"""The chart of sea level pressure: isobars, highs and lows; or of surface pressure, isobars alone."""

from __future__ import annotations

from zephyrus_chartqa.centres import centres
from zephyrus_chartqa.charts import coast
from zephyrus_chartqa.charts.paper import Paper
from zephyrus_chartqa.charts.sampling import sampler
from zephyrus_chartqa.charts.style import Style
from zephyrus_chartqa.fields import ChartData
from zephyrus_chartqa.levels import contour_levels, contour_step
from zephyrus_geodata import FeatureStore


def draw(data: ChartData, features: FeatureStore, style: Style) -> bytes:
    """Draw it; see `charts.draw`."""
    paper = Paper(data, style, bar=False)
    values = sampler(data, paper.view).pixels(data.values, smooth=True)
    paper.gaps(values)
    paper.coast(features)
    paper.reserve(centres(data))
    below = coast.coast(features, paper.view)
    paper.lines(values, contour_levels(data, contour_step(data)), style.line, below)
    paper.marks()
    return paper.finish()
