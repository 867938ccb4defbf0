"""The 850 hPa chart: wind barbs over shaded wind speed."""

from __future__ import annotations

import numpy as np

from zephyrus_chartqa.charts import barbs, palettes
from zephyrus_chartqa.charts.paper import Legend, Paper
from zephyrus_chartqa.charts.sampling import sampler
from zephyrus_chartqa.charts.style import Style
from zephyrus_chartqa.fields import ChartData
from zephyrus_geodata import FeatureStore


def draw(data: ChartData, features: FeatureStore, style: Style) -> bytes:
    """Draw it; see `charts.draw`."""
    paper = Paper(data, style, bar=True)
    values = sampler(data, paper.view).pixels(data.values, smooth=False)
    edges = np.array(palettes.WIND_EDGES)
    paper.fill(Legend(edges, palettes.wind(style.palette), "m/s"), values)
    paper.coast(features)
    wind = barbs.barbs(data, paper.view, style.spacing, paper.free)
    paper.ink(barbs.ink(wind, paper.view), style.barb)
    return paper.finish()
