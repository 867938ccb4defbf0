"""What stands around a map: axes with degrees, grid lines, title and colour bar.

All is measured in pixels of the picture. The axes of a region and the bar of a palette are drawn
once, and kept for those that were drawn last.
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from matplotlib.ticker import MaxNLocator
from numpy.typing import NDArray

from zephyrus_tools.ink import DPI, Ink, Mask, extent, segment
from zephyrus_tools.palettes import Palette
from zephyrus_tools.regions import Edges, Region

LONG_SIDE = 640
"""The map's larger side."""

_SHORT_SIDE = 240  # the least of the other
_LEFT, _RIGHT, _TOP, _BOTTOM = 55, 100, 62, 36  # around the map
_NARROWEST = 480  # of the whole picture, for the title's sake
_BAR_GAP, _BAR_WIDTH = 14, 17
_FLATTEST = 0.35  # the least cosine used for the map's scale, near the poles
_WHOLE_ABOVE = 200.0  # degrees: wider maps are drawn with equal degrees
_FEW_DEGREES = 20.0  # degrees: narrower maps have ticks at decimal steps
_DECIMAL = (1.0, 2.0, 5.0, 10.0)
_DEGREES = (1.0, 1.5, 2.0, 3.0, 4.5, 6.0, 9.0, 10.0)

_SPINE, _TICK, _GRID = 0.8, 0.6, 0.4  # points
_GRID_DARK = 0.15
_TICK_LENGTH, _BAR_TICK_LENGTH, _PAD = 4, 3, 4
_SMALL, _MIDDLE, _LARGE = 8.0, 8.5, 11.0  # points: numbers, subtitle and units, title
_TITLE, _SUBTITLE = 22, 42  # from the top to the middle of a line
_FITS = 0.93  # of the picture's width


@dataclass(frozen=True)
class Layout:
    """Where things are.

    Attributes:
        width: Of the whole picture.
        height: Likewise.
        map_width: Of the map.
        map_height: Likewise.
    """

    width: int
    height: int
    map_width: int
    map_height: int
    left: int = _LEFT
    top: int = _TOP

    @classmethod
    def of(cls, region: Region) -> "Layout":
        """A map in the shape of the region, true to scale in its middle."""
        middle = np.deg2rad(0.5 * (region.south + region.north))
        scale = 1.0
        if region.east - region.west < _WHOLE_ABOVE:
            scale = max(float(np.cos(middle)), _FLATTEST)
        ratio = (region.east - region.west) * scale / (region.north - region.south)
        width = max(round(LONG_SIDE * min(ratio, 1.0)), _SHORT_SIDE)
        height = max(round(LONG_SIDE / max(ratio, 1.0)), _SHORT_SIDE)
        whole = max(width + _LEFT + _RIGHT, _NARROWEST)
        return cls(whole, height + _TOP + _BOTTOM, width, height)

    @property
    def map_area(self) -> tuple[slice, slice]:
        """The map's rows and columns in the picture."""
        return (
            slice(self.top, self.top + self.map_height),
            slice(self.left, self.left + self.map_width),
        )

    @property
    def bar_area(self) -> tuple[slice, slice]:
        """The colour bar's."""
        left = self.left + self.map_width + _BAR_GAP
        return slice(self.top, self.top + self.map_height), slice(left, left + _BAR_WIDTH)

    @property
    def beside(self) -> tuple[slice, slice]:
        """The part of the picture right of the map, from top to bottom."""
        left = self.left + self.map_width + 1
        return slice(0, self.height), slice(left, left + _RIGHT - 1)


def axes(region: Region) -> Mask:
    """Return the ink of a picture without its outlines and words: (height, width)."""
    return _axes(region.edges, Layout.of(region))


def bar(look: Palette, units: str, layout: Layout) -> tuple[NDArray[np.uint8], Mask]:
    """Return a colour bar.

    Returns:
        The class of each of its rows, (map_height,), and the ink of ``layout.beside``.
    """
    height = layout.map_height
    rows = (np.arange(height)[::-1] + 0.5) / height * (len(look.edges) - 1)
    return rows.astype(np.uint8), _bar(look.edges, units, height, layout.height)


def words(title: str, subtitle: str, layout: Layout) -> Mask:
    """Return the ink of the two lines above a map, smaller than usual if they are too long.

    Returns:
        (layout.top - 16, width): they end above the unit of the colour bar.
    """
    ink = Ink(layout.width, layout.top - 10)
    _write(ink, title, _TITLE, _LARGE, True)
    _write(ink, subtitle, _SUBTITLE, _MIDDLE, False)
    return ink.mask


def _write(ink: Ink, line: str, y: float, size: float, bold: bool) -> None:
    width, _, _ = extent(line, size, bold)
    size *= min(1.0, (_FITS * ink.width - _LEFT) / max(width, 1.0))
    ink.text(_LEFT, y, line, size, bold=bold)


@lru_cache(maxsize=32)
def _axes(edges: Edges, layout: Layout) -> Mask:
    west, south, east, north = edges
    ink = Ink(layout.width, layout.height)
    left, top = layout.left, layout.top
    right, bottom = left + layout.map_width, top + layout.map_height
    steps = _DECIMAL if east - west < _FEW_DEGREES else _DEGREES
    grid, ticks = [], []
    for degrees in _ticks(west, east, layout.map_width, steps):
        x = left + (degrees - west) / (east - west) * layout.map_width
        grid.append(segment((x, top), (x, bottom)))
        ticks.append(segment((x, bottom), (x, bottom + _TICK_LENGTH)))
        ink.text(
            x, bottom + _TICK_LENGTH + _PAD, _degrees(degrees, "E", "W"), _SMALL, across=0.5, up=1.0
        )
    for degrees in _ticks(south, north, layout.map_height, steps):
        y = bottom - (degrees - south) / (north - south) * layout.map_height
        grid.append(segment((left, y), (right, y)))
        ticks.append(segment((left - _TICK_LENGTH, y), (left, y)))
        ink.text(left - _TICK_LENGTH - _PAD, y, _degrees(degrees, "N", "S"), _SMALL, across=1.0)
    ink.lines(grid, _GRID, dark=_GRID_DARK, sharp=True)
    ink.lines(ticks, _TICK, sharp=True)
    ink.lines([_rectangle(left, top, right, bottom)], _SPINE, sharp=True)
    mask = ink.mask
    mask.setflags(write=False)
    return mask


@lru_cache(maxsize=64)
def _bar(edges: tuple[float, ...], units: str, height: int, whole: int) -> Mask:
    ink = Ink(_RIGHT - 1, whole)
    left, top = _BAR_GAP - 1, _TOP  # the strip begins one pixel right of the map
    right, bottom = left + _BAR_WIDTH, top + height
    ticks = []
    for index, level in enumerate(edges):
        y = bottom - index / (len(edges) - 1) * height
        ticks.append(segment((right, y), (right + _BAR_TICK_LENGTH, y)))
        ink.text(right + _BAR_TICK_LENGTH + _PAD, y, f"{level:g}", _SMALL)
    ink.lines(ticks, _TICK, sharp=True)
    ink.lines([_rectangle(left, top, right, bottom)], _SPINE, sharp=True)
    ink.text(0.5 * (left + right), top - 7, units, _MIDDLE, across=0.5, up=0.0)
    mask = ink.mask
    mask.setflags(write=False)
    return mask


def _ticks(low: float, high: float, pixels: int, steps: tuple[float, ...]) -> list[float]:
    """Round degrees between two edges, about one an inch."""
    locator = MaxNLocator(max(2, round(pixels / DPI)), steps=steps)
    near = 1e-9 * (high - low)
    ticks = np.asarray(locator.tick_values(low, high), dtype=np.float64).tolist()
    return [x for x in ticks if low - near <= x <= high + near]


def _rectangle(left: float, top: float, right: float, bottom: float) -> NDArray[np.float64]:
    return segment((left, top), (right, top), (right, bottom), (left, bottom), (left, top))


def _degrees(x: float, positive: str, negative: str) -> str:
    wrapped = (x + 180.0) % 360.0 - 180.0 if positive == "E" else x
    side = positive if wrapped > 0 else negative if wrapped < 0 else ""
    return f"{abs(wrapped):g}°{side if abs(wrapped) != 180.0 else ''}"
