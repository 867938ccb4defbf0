"""Degrees around a map: where parallels and meridians meet its frame."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from zephyrus_chartqa.charts.coast import degrees
from zephyrus_chartqa.charts.view import View
from zephyrus_tools.ink import extent

_AWAY = 5.0  # pixels from the frame
_SIZE = 7.5  # points
_RIM = 1.0  # degrees: the rim of a disc itself is not labelled
_INWARD = 0.2  # degrees from the frame, for the direction outward
_DISC_LATITUDES = 15.0  # degrees of longitude east of the map's lower middle: where they stand


@dataclass(frozen=True)
class Label:
    """Words near a point of a map, in its pixels.

    Attributes:
        x: Of the point.
        y: Likewise.
        words: "30°N".
        across: Which part of the words is at the point, 0 left to 1 right.
        up: Likewise, 0 the lower end to 1 the upper.
    """

    x: float
    y: float
    words: str
    across: float
    up: float


def around(shown: View) -> list[Label]:
    """Return the degrees of a map; those that would run into one before are left out."""
    lon, lat = degrees(shown)
    region = shown.region
    if shown.cap:
        rim = region.south if region.south > 0.0 else region.north
        inner = rim + (_INWARD if region.south > 0.0 else -_INWARD)
    else:
        rim, inner = region.south, region.south + _INWARD
    found: list[Label] = []
    for x in lon:
        _add(found, _label(shown, (x, rim), (x, inner), meridian(x)))
    for y in lat:
        if shown.cap:
            if abs(y - rim) < _RIM:
                continue
            here = shown.pixels(np.array([_lowest(shown)]), np.array([y]))[0]
            _add(found, Label(float(here[0]), float(here[1]), parallel(y), 0.5, 0.5))
        else:
            west = region.west + 1e-6
            _add(found, _label(shown, (west, y), (west + _INWARD, y), parallel(y), level=True))
    return found


def meridian(degrees_east: float) -> str:
    """Write a longitude: "120°W"."""
    wrapped = (degrees_east + 180.0) % 360.0 - 180.0
    side = "" if wrapped in (0.0, -180.0) else "E" if wrapped > 0.0 else "W"
    return f"{abs(wrapped):g}°{side}"


def parallel(degrees_north: float) -> str:
    """Write a latitude: "30°S"."""
    side = "" if degrees_north == 0.0 else "N" if degrees_north > 0.0 else "S"
    return f"{abs(degrees_north):g}°{side}"


def _lowest(shown: View) -> float:
    """The meridian along which a disc's latitudes stand: a little beside the one that runs down."""
    middle = 0.5 * (shown.region.west + shown.region.east)
    down = middle if shown.region.south > 0.0 else middle + 180.0
    return down + _DISC_LATITUDES


def _label(
    shown: View,
    edge: tuple[float, float],
    inner: tuple[float, float],
    words: str,
    *,
    level: bool = False,
) -> Label | None:
    """Put words outside a point of the frame, on the side away from a point inside."""
    lon, lat = (np.array([edge[i], inner[i]]) for i in (0, 1))
    points = shown.pixels(lon, lat)
    if not np.isfinite(points).all():
        return None
    out = points[0] - points[1]
    out /= max(float(np.hypot(*out)), 1e-9)
    if level:
        out = np.array([-1.0, 0.0])
    x, y = points[0] + _AWAY * out
    return Label(float(x), float(y), words, float(0.5 - 0.5 * out[0]), float(0.5 + 0.5 * out[1]))


def _add(found: list[Label], label: Label | None) -> None:
    if label is not None and not any(_touch(label, other) for other in found):
        found.append(label)


def _touch(one: Label, other: Label) -> bool:
    boxes = []
    for label in (one, other):
        width, height, _ = extent(label.words, _SIZE)
        left = label.x - label.across * width
        top = label.y - height + label.up * height
        boxes.append((left - 2.0, top - 1.0, left + width + 2.0, top + height + 1.0))
    (a, b, c, d), (e, f, g, h) = boxes
    return a < g and e < c and b < h and f < d
