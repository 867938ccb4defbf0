"""How two places lie: the same, one inside the other, or apart."""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import TYPE_CHECKING

from zephyrus_report.rules.gazetteer import zones
from zephyrus_report.rules.places import Place

if TYPE_CHECKING:
    from shapely.geometry.base import BaseGeometry


def nearness(a: Place | None, b: Place | None) -> float | None:
    """How well two places agree: 1 the same, 0 apart; None if one of them is not known."""
    if a is None or b is None:
        return None
    if a == b:
        return 1.0
    if not (a.key or a.point) or not (b.key or b.point):
        if a.part and b.part and not (a.key or a.point or b.key or b.point):
            return _parts(a.part, b.part)
        return None
    return _nearness(a, b)


def _parts(a: str, b: str) -> float:
    if a == b:
        return 1.0
    shared = set(a.split("-")) & set(b.split("-"))
    opposite = {
        ("north", "south"),
        ("south", "north"),
        ("east", "west"),
        ("west", "east"),
        ("coast", "interior"),
        ("interior", "coast"),
    }
    if any((x, y) in opposite for x in a.split("-") for y in b.split("-")):
        return 0.0
    return 0.6 if shared else 0.3


@lru_cache(maxsize=65536)
def _nearness(a: Place, b: Place) -> float:
    import shapely

    if a.point and b.point:
        apart = _kilometres(a.point, b.point)
        return min(1.0, max(0.0, 1.0 - (apart - 350.0) / 1000.0))
    first, second = _shape(a), _turned(_shape(a), _shape(b))
    shared = shapely.intersection(first, second).area
    smaller, larger = sorted((first.area, second.area))
    if shared > 0.0:
        inside = min(1.0, shared / smaller)
        size = (smaller / larger) ** 0.25
        return float(inside * (0.35 + 0.65 * size))
    return 0.25 if shapely.distance(first, second) < 2.0 else 0.0


def _turned(first: BaseGeometry, second: BaseGeometry) -> BaseGeometry:
    """The second shape, turned by 360 degrees where it then lies nearer: across the date line."""
    import shapely
    from shapely.affinity import translate

    if shapely.bounds(first)[2] < 150.0 and shapely.bounds(first)[0] > -150.0:
        return second

    def nearest(shape: BaseGeometry) -> tuple[float, float]:
        return -shapely.intersection(first, shape).area, shapely.distance(first, shape)

    return min((translate(second, turn) for turn in (0.0, -360.0, 360.0)), key=nearest)


@lru_cache(maxsize=65536)
def wider(a: Place | None, b: Place | None) -> bool:
    """Whether a place is larger than another; False where that is not known, and for a point."""
    if a is None or b is None or a.point or not a.key or not (b.key or b.point):
        return False
    return bool(_shape(a).area > _shape(b).area)


def _kilometres(a: tuple[float, float], b: tuple[float, float]) -> float:
    p, q = math.radians(a[0]), math.radians(b[0])
    h = math.sin((p - q) / 2) ** 2
    h += math.cos(p) * math.cos(q) * math.sin(math.radians(a[1] - b[1]) / 2) ** 2
    return 12742.0 * math.asin(min(1.0, math.sqrt(h)))


@cache
def _features() -> dict[str, bytes]:
    from zephyrus_geodata.features import FeatureStore

    return {f.key: f.wkb for f in FeatureStore.load()}


@lru_cache(maxsize=4096)
def _shape(place: Place) -> BaseGeometry:
    """A rough shape of a place in degrees, never empty."""
    import shapely

    whole: BaseGeometry
    if place.point is not None:
        lat, lon = place.point
        return shapely.box(lon - 2.5, lat - 2.5, lon + 2.5, lat + 2.5)
    if place.key.startswith("zone:"):
        whole = shapely.box(*zones()[place.key[5:]])
    else:
        whole = shapely.simplify(shapely.from_wkb(_features()[place.key]), 0.3)
        if whole.is_empty or whole.area < 0.25:
            whole = shapely.buffer(shapely.centroid(shapely.from_wkb(_features()[place.key])), 0.5)
        whole = shapely.make_valid(whole)
    if place.part in ("", "interior", "coast"):
        return whole
    pieces = shapely.get_parts(whole)
    main = max(pieces, key=lambda p: p.area)
    west, south, east, north = main.bounds
    if main.area > 0.6 * whole.area and east - west < 180:
        lon, lat = (west + east) / 2, (south + north) / 2
    else:
        west, south, east, north = whole.bounds
        lon, lat = (west + east) / 2, (south + north) / 2
    low_lon, low_lat, high_lon, high_lat = -180.0, -90.0, 180.0, 90.0
    high, wide = (north - south) * 0.08, (east - west) * 0.08
    if "north" in place.part:
        low_lat = lat - high
    if "south" in place.part:
        high_lat = lat + high
    if "east" in place.part:
        low_lon = lon - wide
    if "west" in place.part:
        high_lon = lon + wide
    if place.part == "centre":
        low_lon, high_lon = west + (east - west) / 4, east - (east - west) / 4
        low_lat, high_lat = south + (north - south) / 4, north - (north - south) / 4
    piece = shapely.intersection(whole, shapely.box(low_lon, low_lat, high_lon, high_lat))
    return piece if piece.area > 0 else whole
