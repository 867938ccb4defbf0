"""`View`: a region in a projection, as the pixels of a map; kept for those drawn last."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property, lru_cache

import cartopy.crs as ccrs
import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from zephyrus_chartqa.charts.projections import is_cap, projections
from zephyrus_tools.regions import Edges, Region

Floats = NDArray[np.float64]
Lines = list[NDArray[np.float64]]
"""Each (point, 2): x to the right and y down, in pixels of the map."""

BEYOND = 3
"""Pixels beyond a region's edge that fields are known at, so that lines run up to the frame."""

_PLATE = ccrs.PlateCarree()
_EDGE_POINTS = 181  # of each edge of the box
_INWARD = 1e-6  # degrees: the edges of a whole circle are kept apart
_NORTH = 0.02  # degrees, for the direction of north
_BACK = 0.02  # pixels: how near a pixel comes back to itself, if the projection has it


@dataclass(frozen=True, eq=False)
class View:
    """Where places are on a map.

    Attributes:
        region: What is shown.
        crs: The projection.
        width: Of the map in pixels.
        height: Likewise.
        scale: m (or degrees) of the projection a pixel.
        left: x of the projection at the map's left edge.
        top: y at its upper edge.
        cap: Whether the map is a disc around a pole.
    """

    region: Region
    crs: ccrs.Projection
    width: int
    height: int
    scale: float
    left: float
    top: float
    cap: bool

    def pixels(self, longitude: Floats, latitude: Floats) -> Floats:
        """Return (point, 2) x and y of places, in pixels; not finite where there are none."""
        points = self.crs.transform_points(_PLATE, longitude, latitude)[..., :2]
        x, y = (points[..., 0] - self.left) / self.scale, (self.top - points[..., 1]) / self.scale
        return np.stack([x, y], axis=-1)

    @cached_property
    def places(self) -> tuple[Floats, Floats]:
        """(height, width) longitude and latitude of the pixels' centres; NaN off the Earth."""
        x = self.left + self.scale * (np.arange(self.width) + 0.5)
        y = self.top - self.scale * (np.arange(self.height) + 0.5)
        x, y = np.meshgrid(x, y)
        there = _PLATE.transform_points(self.crs, x, y)
        lon, lat = there[..., 0], there[..., 1]
        lost = ~(np.isfinite(lon) & np.isfinite(lat))
        if self.region.east - self.region.west >= 180.0 and not self.cap:
            lon, lat = np.where(lost, 0.0, lon), np.where(lost, 0.0, lat)
            back = self.crs.transform_points(_PLATE, lon, lat)
            apart = np.hypot(back[..., 0] - x, back[..., 1] - y)
            lost |= ~(apart < _BACK * self.scale)
        return np.where(lost, np.nan, lon), np.where(lost, np.nan, lat)

    @cached_property
    def visible(self) -> NDArray[np.bool_]:
        """(height, width) whether a pixel is in the region."""
        lon, lat = self.places
        region = self.region
        there: NDArray[np.bool_] = (lat >= region.south) & (lat <= region.north)
        if region.east - region.west < 360.0:
            there &= (lon - region.west) % 360.0 <= region.east - region.west
        return there

    @cached_property
    def sampled(self) -> NDArray[np.bool_]:
        """(height, width) ``visible`` and the few pixels beyond it."""
        wide: NDArray[np.bool_] = ndimage.binary_dilation(self.visible, iterations=BEYOND)
        return wide & np.isfinite(self.places[0])

    @cached_property
    def frame(self) -> Lines:
        """The region's edge: one closed line, or that of a disc."""
        return [_finite(self.pixels(*_edge(self.region, self.cap)))]

    def north(self, longitude: Floats, latitude: Floats) -> Floats:
        """Return (point, 2) the direction of north at places, in pixels, of length 1."""
        step = np.where(latitude > 0.0, -_NORTH, _NORTH)  # away from the nearer pole
        there = self.pixels(longitude, latitude + step) - self.pixels(longitude, latitude)
        there *= np.sign(step)[..., None]
        result: Floats = there / np.linalg.norm(there, axis=-1, keepdims=True)
        return result


def view(region: Region, projection: int, room: tuple[int, int]) -> View:
    """Fit a region into a room.

    Args:
        region: What to show.
        projection: Which of the projections that suit it; any whole number.
        room: The most width and height in pixels.
    """
    known = projections(region)
    return _view(region.edges, region.title, projection % len(known), room)


@lru_cache(maxsize=32)  # some 4 MB each, with what is computed of it
def _view(edges: Edges, title: str, projection: int, room: tuple[int, int]) -> View:
    region = Region(*edges, title)
    cap = is_cap(region)
    crs = projections(region)[projection]
    points = crs.transform_points(_PLATE, *_edge(region, cap))[:, :2]
    points = points[np.isfinite(points).all(axis=1)]
    low, high = points.min(axis=0), points.max(axis=0)
    scale = float(((high - low) / room).max())
    width, height = (max(1, int(np.ceil(side / scale - 1e-6))) for side in high - low)
    return View(region, crs, width, height, scale, float(low[0]), float(high[1]), cap)


def _edge(region: Region, cap: bool) -> tuple[Floats, Floats]:
    """Longitude and latitude of points along a region's edge, closed."""
    west, south, east, north = region.edges
    if east - west >= 360.0:
        west, east = west + _INWARD, east - _INWARD
    along, up = np.linspace(west, east, _EDGE_POINTS), np.linspace(south, north, _EDGE_POINTS)
    if cap:
        edge = south if south > 0.0 else north
        return np.append(along, along[0]), np.full(_EDGE_POINTS + 1, edge)
    lon = np.concatenate([along, np.full_like(up, east), along[::-1], np.full_like(up, west)])
    lat = np.concatenate([np.full_like(along, south), up, np.full_like(along, north), up[::-1]])
    return lon, lat


def _finite(points: Floats) -> Floats:
    return points[np.isfinite(points).all(axis=-1)]
