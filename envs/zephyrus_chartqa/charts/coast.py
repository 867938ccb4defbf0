"""Coastlines and borders on a map, and the lines of round degrees: kept for the last views."""

from __future__ import annotations

from functools import lru_cache
from weakref import WeakKeyDictionary

import numpy as np
import shapely
from numpy.typing import NDArray

from zephyrus_chartqa.charts.view import Lines, View
from zephyrus_geodata import FeatureStore
from zephyrus_tools.ink import Ink, Mask
from zephyrus_tools.outlines import Outlines

_DETAIL = ((100.0, 0.25), (35.0, 0.1), (15.0, 0.03), (0.0, 0.01))  # region's height, least detail
_LONGEST = 1.0  # degrees between the points of an outline, which bends on a map
_MARGIN = 2.0  # degrees around a region
_JUMP = 0.25  # of the map's size: a line that goes further in one step crosses the map's seam
_LINE = 0.6  # points
_NO_COUNTRY = "continent:Antarctica"
_ROUND = (1.0, 2.0, 5.0, 10.0, 15.0, 20.0, 30.0)  # degrees between lines
_LINES = 6  # about so many across a region
_THIN = 0.4  # points

Floats = NDArray[np.float64]


def coast(features: FeatureStore, shown: View) -> Mask:
    """Return the ink of the countries' outlines on a map: (height, width)."""
    height = shown.region.north - shown.region.south
    detail = next(least for above, least in _DETAIL if height > above)
    return _ink(_outlines(features, detail), shown)


def graticule(shown: View) -> Mask:
    """Return the ink of the parallels and meridians at ``degrees``."""
    return _graticule(shown)


def degrees(shown: View) -> tuple[list[float], list[float]]:
    """Return the longitudes and the latitudes that are drawn; longitudes may be beyond 180."""
    region = shown.region
    wide, tall = region.east - region.west, region.north - region.south
    if shown.cap:
        lon_step, lat_step = 30.0, 30.0 if tall > 45.0 else 10.0
    elif wide > 180.0:
        lon_step, lat_step = 60.0 if wide > 300.0 else 30.0, 30.0 if tall > 100.0 else 10.0
    else:
        lon_step, lat_step = (_step(side) for side in (wide, tall))
    lon = lon_step * np.arange(np.ceil(region.west / lon_step), region.east / lon_step + 1e-9)
    lat = lat_step * np.arange(np.ceil(region.south / lat_step), region.north / lat_step + 1e-9)
    if wide >= 360.0 and shown.cap:
        lon = lon[lon < region.west + 360.0 - 1e-9]
    return lon.tolist(), lat[np.abs(lat) < 90.0].tolist()


def _step(side: float) -> float:
    return next((step for step in _ROUND if side / step <= _LINES), _ROUND[-1])


_KNOWN: WeakKeyDictionary[FeatureStore, dict[float, Outlines]] = WeakKeyDictionary()


def _outlines(features: FeatureStore, detail: float) -> Outlines:
    known = _KNOWN.setdefault(features, {})
    if detail not in known:
        countries = features.of_kind("country") if "country" in features.kinds() else []
        shapes = [feature.geometry for feature in countries]
        if _NO_COUNTRY in features:
            shapes.append(features[_NO_COUNTRY].geometry)
        known.setdefault(detail, Outlines.of(shapes, detail))
    return known[detail]


@lru_cache(maxsize=48)
def _ink(outlines: Outlines, shown: View) -> Mask:
    ink = Ink(shown.width, shown.height)
    ink.lines(_projected(outlines, shown), _LINE)
    return _kept(ink.mask, shown)


@lru_cache(maxsize=48)
def _graticule(shown: View) -> Mask:
    region = shown.region
    lon, lat = degrees(shown)
    across = np.linspace(region.west, region.east, 361)
    up = np.linspace(region.south, region.north, 181)
    lines = [np.column_stack([across, np.full_like(across, y)]) for y in lat]
    lines += [np.column_stack([np.full_like(up, x), up]) for x in lon]
    ink = Ink(shown.width, shown.height)
    ink.lines([part for line in lines for part in _on_map(line, shown)], _THIN)
    return _kept(ink.mask, shown)


def _kept(mask: Mask, shown: View) -> Mask:
    mask[~shown.visible] = 0
    mask.setflags(write=False)
    return mask


def _projected(outlines: Outlines, shown: View) -> Lines:
    """The outlines near a region, as pixels."""
    region = shown.region
    wide = region.east - region.west + 2.0 * _MARGIN
    west = region.west - _MARGIN
    lines: Lines = []
    bounds = outlines.bounds
    touching = (bounds[:, 3] >= region.south - _MARGIN) & (bounds[:, 1] <= region.north + _MARGIN)
    if wide < 360.0:
        begins, ends = (bounds[:, 0] - west) % 360.0, (bounds[:, 2] - west) % 360.0
        touching &= (begins <= wide) | (ends <= wide) | (ends < begins)
    for index in np.flatnonzero(touching):
        points = shapely.get_coordinates(
            shapely.segmentize(shapely.LineString(outlines.lines[index]), _LONGEST)
        )
        near = (points[:, 1] >= region.south - _MARGIN) & (points[:, 1] <= region.north + _MARGIN)
        if wide < 360.0:
            near &= (points[:, 0] - west) % 360.0 <= wide
        cuts = np.flatnonzero(np.diff(near.astype(np.int8))) + 1
        for part, kept in zip(np.split(points, cuts), np.split(near, cuts), strict=True):
            if kept[0] and len(part) > 1:
                lines.extend(_on_map(part, shown))
    return lines


def _on_map(line: Floats, shown: View) -> Lines:
    """Project a line of degrees; it is cut where it crosses the map's seam."""
    points = shown.pixels(line[:, 0], line[:, 1])
    fine: NDArray[np.bool_] = np.logical_and.reduce(np.isfinite(points), axis=1)
    steps = np.hypot(*np.diff(np.where(fine[:, None], points, 0.0), axis=0).T)
    broken = (steps > _JUMP * max(shown.width, shown.height)) | ~fine[1:] | ~fine[:-1]
    return [part for part in np.split(points, np.flatnonzero(broken) + 1) if len(part) > 1]
