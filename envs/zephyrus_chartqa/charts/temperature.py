"""The charts of daily maximum and minimum temperature: shaded classes and isotherms."""

from __future__ import annotations

import numpy as np

from zephyrus_chartqa.charts import coast, palettes
from zephyrus_chartqa.charts.paper import Legend, Paper
from zephyrus_chartqa.charts.sampling import sampler
from zephyrus_chartqa.charts.style import Style
from zephyrus_chartqa.fields import ChartData
from zephyrus_chartqa.levels import contour_levels, contour_step
from zephyrus_geodata import FeatureStore


def draw(data: ChartData, features: FeatureStore, style: Style) -> bytes:
    """Draw it; see `charts.draw`."""
    paper = Paper(data, style, bar=True)
    values = sampler(data, paper.view).pixels(data.values, smooth=True)
    step = contour_step(data)
    edges = contour_levels(data, step)
    if not edges.size:  # all within one class
        edges = step * np.ceil(np.nanmin(data.values, keepdims=True).ravel() / step)
    paper.fill(Legend(edges, palettes.temperature(style.palette, edges), "°C"), values)
    paper.coast(features)
    paper.lines(values, edges, style.line, coast.coast(features, paper.view))
    return paper.finish()
