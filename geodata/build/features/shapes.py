"""What the build does to shapes: repair, thin out, measure and compare."""

from collections.abc import Iterable

import numpy as np
import shapely
from numpy.typing import NDArray
from shapely.geometry import MultiPolygon, Point, Polygon
from shapely.geometry.base import BaseGeometry

GRID = 1 / 1024
"""Coordinates are multiples of this many degrees (about 100 m): short in binary, so they compress well."""

TOLERANCES = (0.025, 0.01, 0.004)
"""Degrees by which an outline may move, tried from the coarsest."""

AREA_KEPT = 0.005
"""The relative change of area up to which a thinned shape is accepted."""

CRUMB_SHARE, CRUMB_SIZE = 2e-4, 0.002
"""Parts below this share of the whole and this size (square degrees) are left out."""

EARTH_RADIUS_KM = 6371.0072
"""The authalic radius."""


def repaired(geometry: BaseGeometry) -> BaseGeometry:
    """The shape made valid; what is left of it as a point stays one, of an area the polygons."""
    if isinstance(geometry, Point):
        return geometry
    return polygons_of(shapely.make_valid(geometry))


def polygons_of(geometry: BaseGeometry) -> BaseGeometry:
    """The polygons in a shape, without lines and points."""
    parts = [
        part
        for part in shapely.get_parts(shapely.get_parts(geometry))
        if isinstance(part, Polygon) and not part.is_empty
    ]
    return parts[0] if len(parts) == 1 else MultiPolygon(parts)


def union(shapes: Iterable[BaseGeometry]) -> BaseGeometry:
    """The polygons covered by any of some shapes."""
    return polygons_of(shapely.make_valid(shapely.union_all(list(shapes))))


def polygons(rings: Iterable[list[float]]) -> BaseGeometry:
    """Polygons from rings, each written as longitude, latitude, longitude, latitude and so on."""
    return union(Polygon(list(zip(ring[::2], ring[1::2], strict=True))) for ring in rings)


def area_km2(geometry: BaseGeometry) -> float:
    """The area in km² on a sphere of the Earth's surface area, by Lambert's cylindrical projection."""
    return float(shapely.transform(geometry, _equal_area).area)


def _equal_area(degrees: NDArray[np.float64]) -> NDArray[np.float64]:
    lon, lat = np.radians(degrees).T
    return EARTH_RADIUS_KM * np.column_stack([lon, np.sin(lat)])


def thinned(geometry: BaseGeometry) -> BaseGeometry:
    """The shape with as few points as its size allows, valid, on the coordinate grid.

    Small shapes keep more detail than large ones: a coarser outline is only taken if the area
    hardly changes by it.
    """
    if isinstance(geometry, Point):
        return Point(round(geometry.x, 4), round(geometry.y, 4))
    whole = _without_crumbs(geometry)
    for tolerance in (*TOLERANCES, 0):
        shape = _on_grid(shapely.simplify(whole, tolerance, preserve_topology=True))
        if abs(shape.area - whole.area) <= AREA_KEPT * whole.area:
            return shape
    return whole


def _without_crumbs(geometry: BaseGeometry) -> BaseGeometry:
    parts = shapely.get_parts(geometry)
    limit = min(CRUMB_SHARE * geometry.area, CRUMB_SIZE)
    kept = [part for part in parts if part.area >= limit]
    return kept[0] if len(kept) == 1 else MultiPolygon(kept)


def _on_grid(geometry: BaseGeometry) -> BaseGeometry:
    shape = shapely.set_precision(shapely.make_valid(geometry), GRID)
    # A normal form fixes the order of rings and points, which overlay operations leave open.
    return shapely.normalize(polygons_of(shape))


class Areas:
    """Named areas that are searched by overlap."""

    def __init__(self, shapes: dict[str, BaseGeometry]) -> None:
        self._names = list(shapes)
        self._shapes = list(shapes.values())
        self._tree = shapely.STRtree(self._shapes)

    def shares(self, geometry: BaseGeometry) -> dict[str, float]:
        """How much of a shape's land lies in each area, the largest share first (sum 1)."""
        hits = sorted(self._tree.query(geometry, predicate="intersects"))
        sizes = {self._names[i]: shapely.intersection(geometry, self._shapes[i]).area for i in hits}
        total = sum(sizes.values())
        ranked = sorted(sizes.items(), key=lambda item: (-item[1], item[0]))
        return {name: size / total for name, size in ranked if size > 0}

    def nearest(self, point: Point) -> str:
        """The area that a point lies in, or the nearest one."""
        return self._names[int(self._tree.nearest(point))]
