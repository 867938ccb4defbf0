"""Charts as forecasters draw them, one module a kind of drawing.

A chart is drawn without matplotlib's figures: fields become colour classes at the pixels of a map
in a cartopy projection, and lines, barbs and words are inks of Agg laid over them. Its bytes follow
from the data, the features and the seed alone; what does not change from chart to chart is kept.
"""

from __future__ import annotations

from collections.abc import Callable

from zephyrus_chartqa.charts import cloud, pressure, rain, temperature, upper, wind
from zephyrus_chartqa.charts.style import Style
from zephyrus_chartqa.fields import ChartData
from zephyrus_geodata import FeatureStore

_KINDS: dict[str, Callable[[ChartData, FeatureStore, Style], bytes]] = {
    "rain": rain.draw,
    "phenomena": cloud.draw,
    "max_temp": temperature.draw,
    "min_temp": temperature.draw,
    "500hpa_situation": upper.draw,
    "850hpa_situation": wind.draw,
    "land_situation": pressure.draw,
}


def draw(data: ChartData, features: FeatureStore, seed: int = 0) -> bytes:
    """Draw a chart.

    Args:
        data: What it shows.
        features: Whose countries are outlined: those of the data's dataset.
        seed: Of its look, which changes nothing that it says; see `Style`.

    Returns:
        A PNG of 640 x 480 pixels: the same bytes for the same arguments.
    """
    return _KINDS[data.modality.name](data, features, Style.of(seed))
