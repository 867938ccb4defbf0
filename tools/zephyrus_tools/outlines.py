"""Coastlines, borders and a highlighted shape, as ink on a map of a region.

Coastlines and borders are those of the dataset's own countries and states. They are drawn once for
each region and size, and kept for the regions that were drawn last.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata import FeatureStore
from zephyrus_tools.ink import DPI, Ink, Mask
from zephyrus_tools.pixels import Size
from zephyrus_tools.regions import Edges, Region

_STATES_BELOW = 40.0  # degrees: states are drawn on maps narrower than this
_THINNING = ((150.0, 0.25), (60.0, 0.1), (25.0, 0.03))  # width, least detail, both in degrees
_STATE, _COUNTRY, _COUNTRY_FROM_AFAR, _HIGHLIGHT = 0.35, 0.8, 0.5, 1.4  # points
_AFAR = 60.0  # degrees: on wider maps borders are thinner
_STATE_DARK, _COUNTRY_DARK = 0.85, 0.95
_DOT, _RING = 3.0, 1.0  # points: radius of a highlighted point, and its edge


@dataclass(frozen=True, eq=False)
class Outlines:
    """Lines in degrees.

    Attributes:
        lines: Each (point, 2): longitude, latitude.
        bounds: (line, 4): west, south, east, north.
    """

    lines: list[NDArray[np.float64]]
    bounds: NDArray[np.float64]

    @classmethod
    def of(cls, geometries: list[BaseGeometry], tolerance: float) -> "Outlines":
        """The outlines of polygons, without their straight cuts along 180 and the pole."""
        shapes = np.array(geometries, dtype=object)
        if tolerance:
            shapes = shapely.simplify(shapes, tolerance, preserve_topology=False)
        rings = shapely.get_rings(shapely.get_parts(shapes))
        lines: list[NDArray[np.float64]] = []
        for ring in rings:
            points = shapely.get_coordinates(ring)
            edge = (np.abs(points[:, 0]) > 179.99) | (points[:, 1] < -89.5)
            cuts = np.flatnonzero(edge[1:] & edge[:-1]) + 1
            lines.extend(part for part in np.split(points, cuts) if len(part) > 1)
        bounds = [(*line.min(axis=0), *line.max(axis=0)) for line in lines]
        return cls(lines, np.array(bounds).reshape(-1, 4))

    def on(self, edges: Edges, size: Size) -> Iterator[NDArray[np.float64]]:
        """The lines that may touch a region, as pixels of its picture."""
        west, south, east, north = self.bounds.T
        scale = (size[0] / (edges[2] - edges[0]), -size[1] / (edges[3] - edges[1]))
        for turn in (-360.0, 0.0, 360.0):
            near = (
                (east + turn >= edges[0])
                & (west + turn <= edges[2])
                & (north >= edges[1])
                & (south <= edges[3])
            )
            corner = (edges[0] - turn, edges[3])
            for i in np.flatnonzero(near):
                yield (self.lines[i] - corner) * scale


@dataclass(frozen=True)
class Highlight:
    """What is drawn over all else.

    Attributes:
        ink: Of the shape's outline, or of the ring of a point.
        face: The inside of a point's ring, which is white; None for a shape.
    """

    ink: Mask
    face: NDArray[np.bool_] | None


def outlines(features: FeatureStore, region: Region, size: Size) -> Mask:
    """Return the ink of the countries, and on narrow maps of the states, in a region.

    Args:
        features: Whose countries and states.
        region: What is shown.
        size: Width and height of its picture in pixels.
    """
    width = region.east - region.west
    kinds = features.kinds()
    states = "us_state" in kinds and width < _STATES_BELOW
    drawn = (
        _kind(features, "us_state", _tolerance(width)) if states else None,
        _kind(features, "country", _tolerance(width)) if "country" in kinds else None,
    )
    return _ink(*drawn, region.edges, size)


def highlighted(shape: BaseGeometry, region: Region, size: Size) -> Highlight:
    """Return what marks a shape: its outline, drawn bold, or a ring around a point."""
    return _highlight(shape, region.edges, size)


def _tolerance(width: float) -> float:
    return next((detail for least, detail in _THINNING if width > least), 0.0)


@lru_cache(maxsize=32)
def _ink(states: Outlines | None, countries: Outlines | None, edges: Edges, size: Size) -> Mask:
    ink = Ink(*size)
    if states is not None:
        ink.lines(states.on(edges, size), _STATE, dark=_STATE_DARK)
    if countries is not None:
        near = edges[2] - edges[0] < _AFAR
        thickness = _COUNTRY if near else _COUNTRY_FROM_AFAR
        ink.lines(countries.on(edges, size), thickness, dark=_COUNTRY_DARK)
    mask = ink.mask
    mask.setflags(write=False)
    return mask


@lru_cache(maxsize=32)
def _highlight(shape: BaseGeometry, edges: Edges, size: Size) -> Highlight:
    ink, west = Ink(*size), edges[0]
    if shape.area:
        found = Outlines.of([shape], _tolerance(edges[2] - west))
        ink.lines(found.on(edges, size), _HIGHLIGHT)
        return Highlight(ink.mask, None)
    middle = shape.centroid
    x = ((middle.x - west) % 360.0) / (edges[2] - west) * size[0]
    y = (edges[3] - middle.y) / (edges[3] - edges[1]) * size[1]
    turn = np.linspace(0.0, 2.0 * np.pi, 49)
    radius = _DOT * DPI / 72.0
    ring = np.column_stack([x + radius * np.cos(turn), y + radius * np.sin(turn)])
    ink.lines([ring], _RING)
    face = Ink(*size)
    face.shapes([ring])
    return Highlight(ink.mask, face.mask > 127)


_KNOWN: WeakKeyDictionary[FeatureStore, dict[tuple[str, float], Outlines]] = WeakKeyDictionary()


def _kind(features: FeatureStore, kind: str, tolerance: float) -> Outlines:
    known = _KNOWN.setdefault(features, {})
    found = known.get((kind, tolerance))
    if found is None:
        shapes = [feature.geometry for feature in features.of_kind(kind)]
        # Another thread may have been quicker: then its own are taken, of which ink is known.
        found = known.setdefault((kind, tolerance), Outlines.of(shapes, tolerance))
    return found
