"""Colours of classes: fixed to values, so that a colour means the same on every chart."""

from __future__ import annotations

import numpy as np
from matplotlib.colors import LinearSegmentedColormap
from numpy.typing import NDArray

RGB = NDArray[np.uint8]

RAIN: tuple[tuple[str, ...], ...] = (
    # China Meteorological Administration's colours of the classes, no rain first.
    ("#ffffff", "#a6f28f", "#3dba3d", "#61b8ff", "#0000e1", "#fa00fa", "#800040"),
    ("#ffffff", "#d0e7f7", "#8cc4ec", "#3f8fd2", "#1c5aa6", "#0b2f6b", "#5b1a7a"),
    ("#ffffff", "#cdeccd", "#7fcf8a", "#2e9e5b", "#f3d24a", "#ee7d2f", "#b5121b"),
)

_COLD_TO_HOT = (
    (
        "temperature",
        ((-50.0, "#4b1d6b"), (-30.0, "#2b3fae"), (-12.0, "#4f9bdc"), (-0.001, "#d8f0fb"),
         (0.0, "#e3f5d2"), (12.0, "#b9e08a"), (22.0, "#fbe06a"), (32.0, "#f58634"),
         (40.0, "#cf1d22"), (50.0, "#6b0a2a")),
    ),
    (
        "warmth",
        ((-50.0, "#2c1a55"), (-30.0, "#3a53a4"), (-12.0, "#7fb3dd"), (-0.001, "#e6f2f8"),
         (0.0, "#fdf6dc"), (12.0, "#fddc9a"), (22.0, "#fbb45f"), (32.0, "#ee6a3a"),
         (40.0, "#b81f2d"), (50.0, "#5e0b24")),
    ),
)  # fmt: skip

_WINDS = (
    ("#ffffff", "#e3f1e0", "#b7dfb2", "#f8e08a", "#f4a64a", "#df5a3a", "#9c1f4a"),
    ("#ffffff", "#e1ecf7", "#b5d3ec", "#86aede", "#a07fc9", "#a8479f", "#6a1458"),
)

WIND_EDGES = (8.0, 12.0, 16.0, 20.0, 28.0, 36.0)
"""m/s: shading begins below the 12 m/s of a low-level jet, which is an edge."""


def rain(which: int) -> RGB:
    """(class, 3) of `RAIN_CLASSES`."""
    return _hex(RAIN[which % len(RAIN)])


def wind(which: int) -> RGB:
    """(class, 3) of the classes between `WIND_EDGES`."""
    return _hex(_WINDS[which % len(_WINDS)])


def temperature(which: int, edges: NDArray[np.float64]) -> RGB:
    """(class, 3) of temperature classes between edges in °C, the outermost open."""
    name, anchors = _COLD_TO_HOT[which % len(_COLD_TO_HOT)]
    low, high = anchors[0][0], anchors[-1][0]
    scale = LinearSegmentedColormap.from_list(
        name, [((value - low) / (high - low), colour) for value, colour in anchors], N=1024
    )
    step = edges[1] - edges[0] if edges.size > 1 else 1.0
    middles = np.concatenate([[edges[0] - 0.5 * step], edges + 0.5 * step])
    rgba = np.asarray(scale((middles - low) / (high - low)), dtype=np.float64)
    colours: RGB = np.rint(255.0 * rgba[:, :3]).astype(np.uint8)
    return colours


def _hex(colours: tuple[str, ...]) -> RGB:
    return np.array([[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in colours], dtype=np.uint8)
