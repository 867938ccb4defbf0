"""`Paper`: a chart's picture with its map, title, degrees and colour bar."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from zephyrus_chartqa.centres import Centre
from zephyrus_chartqa.charts import coast
from zephyrus_chartqa.charts.canvas import Canvas, Colour
from zephyrus_chartqa.charts.labels import around
from zephyrus_chartqa.charts.style import Style
from zephyrus_chartqa.charts.titles import titles
from zephyrus_chartqa.charts.view import View, view
from zephyrus_chartqa.fields import ChartData
from zephyrus_geodata import FeatureStore
from zephyrus_tools.contours import contours
from zephyrus_tools.ink import Ink, Mask, extent

WIDTH, HEIGHT = 640, 480
"""Of a chart in pixels."""

MISSING: Colour = (205, 205, 205)
"""Of pixels without data."""

_TOP, _BOTTOM, _LEFT, _RIGHT = 64, 24, 42, 26  # pixels around the map
_BAR_ROOM = 58  # pixels more for a colour bar
_BAR_WIDTH, _BAR_GAP, _BAR_TICK = 14, 28, 3
_BLACK: Colour = (16, 16, 16)
_HIGH: Colour = (190, 20, 20)
_LOW: Colour = (20, 40, 190)
_GRID: Colour = (150, 150, 150)
_SPINE, _SMALL, _LETTER, _NUMBER = 0.9, 7.5, 13.0, 7.5  # points
_LEAST_BAR = 60  # pixels of height
_ABOVE, _TICKS = 16, 6  # pixels of ink above a colour bar and below it
_TITLES = 56  # pixels of height
_CONTOUR, _CONTOUR_FROM_AFAR = 1.0, 0.75  # points
_WIDE = 180.0  # degrees
_LABEL_HALF = 5  # pixels: half of a label's height, by which it keeps off the frame
_CLEAR = 3  # pixels around labels that barbs leave free
_MARK = 17  # pixels around a centre that barbs and labels leave free
_SPREAD = 25  # pixels, across or down, between two marks

Classes = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Legend:
    """Classes of colour.

    Attributes:
        edges: (class - 1,) values between neighbouring classes, ascending; the outermost classes
            are open.
        rgb: (class, 3) their colours.
        units: Of the edges.
    """

    edges: NDArray[np.float64]
    rgb: NDArray[np.uint8]
    units: str

    def classes(self, values: NDArray[np.float32]) -> Classes:
        """The class of each value: that whose lower edge it is at or above."""
        return np.searchsorted(self.edges.astype(np.float32), values, side="right")


class Paper:
    """What a chart is drawn on, with the parts that all charts have.

    Attributes:
        canvas: The picture.
        view: The map.
        left: Of the map in the picture.
        top: Likewise.
        style: Colours and distances.
    """

    def __init__(self, data: ChartData, style: Style, *, bar: bool) -> None:
        """Lay the map out.

        Args:
            data: The chart's.
            style: Its look.
            bar: Whether there is to be room for a colour bar.
        """
        right = _RIGHT + (_BAR_ROOM if bar else 0)
        room = (WIDTH - _LEFT - right, HEIGHT - _TOP - _BOTTOM)
        self.data, self.style = data, style
        self.view: View = view(data.region, style.projection, room)
        self.left = _LEFT + (room[0] - self.view.width) // 2
        self.top = _TOP + (room[1] - self.view.height) // 2
        self.canvas = Canvas(WIDTH, HEIGHT)
        self.free = self.view.visible.copy()
        """(height, width) where barbs may be: inside the region, off marks and labels."""
        self._room = _eroded(self.view, _LABEL_HALF).copy()
        self._marks: list[tuple[Centre, int, int]] = []

    def fill(self, legend: Legend, values: NDArray[np.float32]) -> None:
        """Colour a field at pixels by its classes, and draw their bar; NaN is grey."""
        self.shade(legend.rgb[legend.classes(values)], values)
        self._bar(legend)

    def shade(self, rgb: NDArray[np.uint8], values: NDArray[np.float32]) -> None:
        """Lay colours, (height, width, 3), where there are values, and grey where not."""
        visible = self.view.visible
        self.canvas.colours(rgb, visible, self.left, self.top)
        self.gaps(values)

    def gaps(self, values: NDArray[np.float32]) -> None:
        """Make what lacks data grey."""
        missing = np.isnan(values) & self.view.visible
        if missing.any():
            grey = np.broadcast_to(np.array(MISSING, dtype=np.uint8), (*missing.shape, 3))
            self.canvas.colours(grey, missing, self.left, self.top)

    def ink(self, mask: Mask, colour: Colour) -> None:
        """Lay an ink on the map, inside the region."""
        self.canvas.ink(np.where(self.view.visible, mask, 0), colour, self.left, self.top)

    def coast(self, features: FeatureStore, colour: Colour | None = None) -> None:
        """Draw round degrees and coastlines."""
        self.canvas.ink(coast.graticule(self.view), _GRID, self.left, self.top)
        line = self.style.coast if colour is None else colour
        self.canvas.ink(coast.coast(features, self.view), line, self.left, self.top)

    def lines(
        self, values: NDArray[np.float32], levels: NDArray[np.float64], colour: Colour, below: Mask
    ) -> None:
        """Draw labelled contour lines of a field at pixels; labels avoid the ink below.

        Barbs are kept off the labels.
        """
        wide = self.view.region.east - self.view.region.west > _WIDE and not self.view.cap
        thickness = _CONTOUR_FROM_AFAR if wide else _CONTOUR
        found = contours(values, levels, below, room=self._room, thickness=thickness)
        halo = np.where(self.view.visible, found.cleared, 0)
        self.canvas.ink(halo, (255, 255, 255), self.left, self.top)
        self.ink(found.ink, colour)
        self.free &= shadow(found.cleared, _CLEAR) < 128

    def reserve(self, centres: tuple[Centre, ...]) -> None:
        """Find places for the marks of highs and lows; keep barbs and labels of lines off them.

        A mark on the frame is moved off it; one that would run into a mark before it is left out,
        as some projections squeeze the poles.
        """
        lon = np.array([centre.longitude for centre in centres])
        lat = np.array([centre.latitude for centre in centres])
        middle = np.array([0.5 * self.view.width, 0.5 * self.view.height])
        points = self.view.pixels(lon, lat) if centres else ()
        taken = np.zeros(self.free.shape, dtype=bool)
        for centre, place in zip(centres, points, strict=True):
            inward = (middle - place) / max(float(np.hypot(*(middle - place))), 1.0)
            x, y = np.rint(place).astype(int).tolist()
            for moved in range(0, 2 * _MARK, 2):
                x, y = np.rint(place + moved * inward).astype(int).tolist()
                if self._fits(x, y):
                    break
            if all(max(abs(x - a), abs(y - b)) >= _SPREAD for _, a, b in self._marks):
                self._marks.append((centre, x, y))
                taken[max(y - _MARK, 0) : y + _MARK, max(x - _MARK, 0) : x + _MARK] = True
        self.free &= ~taken
        self._room &= ~taken

    def marks(self, scale: float = 1.0) -> None:
        """Draw the letters of highs and lows where they were reserved, with their values.

        Args:
            scale: Of the values shown, from the chart's units.
        """
        for centre, x, y in self._marks:
            stamp = _mark(centre.kind, f"{centre.value * scale:.0f}")
            colour = _HIGH if centre.kind == "high" else _LOW
            half = stamp.shape[0] // 2
            self.canvas.words(stamp, colour, self.left + x - half, self.top + y - half)

    def _fits(self, x: int, y: int) -> bool:
        """Whether the corners of a mark are inside the region."""
        columns, rows = np.array([x - _MARK, x + _MARK]), np.array([y - _MARK, y + _MARK])
        if columns[0] < 0 or rows[0] < 0:
            return False
        if columns[1] >= self.view.width or rows[1] >= self.view.height:
            return False
        return bool(self.view.visible[np.ix_(rows, columns)].all())

    def finish(self) -> bytes:
        """Draw frame, degrees and titles, and return the PNG."""
        self.canvas.words(_frame(self.view, self.left, self.top), _BLACK)
        ink = Ink(WIDTH, _TITLES)
        titles(ink, self.data, WIDTH)
        self.canvas.ink(ink.mask, _BLACK)
        return self.canvas.png()

    def _bar(self, legend: Legend) -> None:
        """A colour bar at the right of the map: equal boxes, a label at each edge."""
        left = WIDTH - _BAR_ROOM - _RIGHT + _BAR_GAP
        height = max(min(self.view.height, HEIGHT - _TOP - _BOTTOM), _LEAST_BAR)
        top = _TOP + (HEIGHT - _TOP - _BOTTOM - height) // 2 + 8
        height -= 8
        count = len(legend.rgb)
        rows = np.minimum((np.arange(height)[::-1] * count) // height, count - 1)
        strip = np.broadcast_to(legend.rgb[rows][:, None], (height, _BAR_WIDTH, 3))
        self.canvas.colours(strip, np.ones((height, _BAR_WIDTH), dtype=bool), left, top)
        ink = _scale(tuple(legend.edges.tolist()), legend.units, height)
        self.canvas.ink(ink, _BLACK, left - 1, top - _ABOVE)


@lru_cache(maxsize=48)
def _frame(shown: View, left: int, top: int) -> Mask:
    """Ink of a map's edge and degrees, in the whole picture."""
    ink = Ink(WIDTH, HEIGHT)
    corner = np.array([left, top])
    ink.lines([line + corner for line in shown.frame], _SPINE)
    for label in around(shown):
        wide = extent(label.words, _SMALL)[0]
        x = min(left + label.x, WIDTH - 3 - (1.0 - label.across) * wide)
        y = top + label.y
        ink.text(x, y, label.words, _SMALL, across=label.across, up=label.up)
    return _fixed(ink.mask)


@lru_cache(maxsize=64)
def _scale(edges: tuple[float, ...], units: str, height: int) -> Mask:
    """Ink of a colour bar: its boxes' edges and their labels, from a pixel left of it."""
    ink = Ink(_BAR_ROOM + _RIGHT - _BAR_GAP, height + _ABOVE + _TICKS)
    left, right, top, last = 1, 1 + _BAR_WIDTH, _ABOVE, -99.0
    for index, edge in enumerate(edges):
        y = top + height - (index + 1) / (len(edges) + 1) * height
        ink.lines([np.array([[left, y], [right + _BAR_TICK, y]])], 0.5, sharp=True)
        words = f"{edge:g}"
        if abs(y - last) > extent(words, _SMALL)[1] + 1.0:
            ink.text(right + _BAR_TICK + 3, y, words, _SMALL)
            last = y
    box = [[left, top], [right, top], [right, top + height], [left, top + height], [left, top]]
    ink.lines([np.array(box, dtype=np.float64)], 0.6, sharp=True)
    ink.text(left, top - 4, units, _SMALL, up=0.0)
    return _fixed(ink.mask)


@lru_cache(maxsize=512)
def _mark(kind: str, words: str) -> Mask:
    """Ink of a letter with a number below it, in a square."""
    side = 2 * _MARK + 6
    ink = Ink(side, side)
    ink.text(side // 2, side // 2 - 5, kind[0].upper(), _LETTER, bold=True, across=0.5)
    ink.text(side // 2, side // 2 + 8, words, _NUMBER, bold=True, across=0.5)
    return _fixed(ink.mask)


def _fixed(mask: Mask) -> Mask:
    mask.setflags(write=False)
    return mask


@lru_cache(maxsize=48)
def _eroded(shown: View, pixels: int) -> NDArray[np.bool_]:
    """Where a map is at least some pixels away from its frame."""
    padded = np.pad(shown.visible, pixels)
    deep: NDArray[np.bool_] = ndimage.minimum_filter(padded, size=2 * pixels + 1)
    return deep[pixels:-pixels, pixels:-pixels]


def shadow(mask: Mask, pixels: int) -> Mask:
    """An ink grown by some pixels each way."""
    wide: Mask = ndimage.maximum_filter(mask, size=2 * pixels + 1)
    return wide
