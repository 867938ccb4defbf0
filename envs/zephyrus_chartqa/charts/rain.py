"""The precipitation chart: the classes of the standard in their colours."""

from __future__ import annotations

import numpy as np

from zephyrus_chartqa.charts import palettes
from zephyrus_chartqa.charts.paper import Legend, Paper
from zephyrus_chartqa.charts.sampling import sampler
from zephyrus_chartqa.charts.style import Style
from zephyrus_chartqa.fields import ChartData
from zephyrus_chartqa.modality import RAIN_EDGES
from zephyrus_geodata import FeatureStore


def draw(data: ChartData, features: FeatureStore, style: Style) -> bytes:
    """Draw it; see `charts.draw`."""
    paper = Paper(data, style, bar=True)
    values = sampler(data, paper.view).pixels(data.values, smooth=False)
    legend = Legend(np.array(RAIN_EDGES), palettes.rain(style.palette), "mm / 24 h")
    paper.fill(legend, values)
    paper.coast(features)
    return paper.finish()
