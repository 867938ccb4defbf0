"""The cloud chart: grey like an infrared picture, from cloud cover, which is a proxy."""

from __future__ import annotations

import numpy as np

from zephyrus_chartqa.charts.canvas import Colour
from zephyrus_chartqa.charts.paper import Legend, Paper
from zephyrus_chartqa.charts.sampling import sampler
from zephyrus_chartqa.charts.style import Style
from zephyrus_chartqa.fields import ChartData
from zephyrus_geodata import FeatureStore

_COASTS: tuple[Colour, ...] = ((225, 200, 60), (70, 200, 210), (120, 220, 90))
_DARKEST, _BRIGHTEST = 18, 250
_SHADES = 64
_BAR = np.arange(10.0, 100.0, 10.0)


def draw(data: ChartData, features: FeatureStore, style: Style) -> bytes:
    """Draw it; see `charts.draw`."""
    paper = Paper(data, style, bar=True)
    values = sampler(data, paper.view).pixels(data.values, smooth=False)
    share = np.clip(np.nan_to_num(values) / 100.0, 0.0, 1.0)
    table = _grey(np.linspace(0.0, 1.0, _SHADES))
    paper.fill(Legend(_BAR, _grey(np.linspace(0.05, 0.95, _BAR.size + 1)), "% cover"), values)
    paper.shade(table[np.rint(share * (_SHADES - 1)).astype(np.intp)], values)
    paper.coast(features, _COASTS[style.palette % len(_COASTS)])
    return paper.finish()


def _grey(share: np.typing.NDArray[np.float64]) -> np.typing.NDArray[np.uint8]:
    """(n, 3) from dark, as of warm ground, to bright, as of cold cloud tops."""
    level = np.rint(_DARKEST + (_BRIGHTEST - _DARKEST) * share).astype(np.uint8)
    return np.repeat(level[:, None], 3, axis=1)
