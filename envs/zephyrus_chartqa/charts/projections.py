"""Which cartopy projections suit a region: those that services draw it in."""

from __future__ import annotations

from functools import lru_cache

import cartopy.crs as ccrs

from zephyrus_tools.regions import Edges, Region

_POLE = 89.0  # degrees: a region that reaches it holds the pole
_ALL_ROUND = 359.0  # degrees of longitude
_WIDE = 170.0  # degrees: wider regions are drawn as parts of the world
_HIGH = 62.0  # degrees: regions around it or beyond are drawn from above the pole
_LOW = 22.0  # degrees: regions around lower latitudes are drawn straight
_MERCATOR = 72.0  # degrees: the most that Mercator is used for
_GLOBAL = 70.0  # degrees: regions that reach it on both sides are drawn as the whole world


def is_cap(region: Region) -> bool:
    """Whether a region is all round a pole, and drawn as a disc."""
    if region.east - region.west < _ALL_ROUND:
        return False
    north = region.north >= _POLE and region.south > 0.0
    return north or (region.south <= -_POLE and region.north < 0.0)


def projections(region: Region) -> tuple[ccrs.Projection, ...]:
    """Return the projections that suit a region, at least one."""
    return _projections(region.edges, is_cap(region))


@lru_cache(maxsize=128)
def _projections(edges: Edges, cap: bool) -> tuple[ccrs.Projection, ...]:
    west, south, east, north = edges
    lon, lat = 0.5 * (west + east), 0.5 * (south + north)
    lon = (lon + 180.0) % 360.0 - 180.0
    furthest = max(abs(south), abs(north))
    pole = 90.0 if lat > 0.0 else -90.0
    if cap or (abs(lat) >= _HIGH and east - west < _ALL_ROUND):
        return (
            ccrs.Stereographic(pole, lon, true_scale_latitude=0.667 * pole),
            ccrs.LambertAzimuthalEqualArea(lon, pole),
        )
    if east - west > _WIDE:
        straight = (ccrs.PlateCarree(lon), ccrs.Miller(lon))
        if min(-south, north) >= _GLOBAL:
            return (ccrs.Robinson(lon), *straight)
        return straight
    if abs(lat) < _LOW or south * north < 0.0:
        if furthest < _MERCATOR:
            return ccrs.PlateCarree(lon), ccrs.Mercator(lon)
        return ccrs.PlateCarree(lon), ccrs.Miller(lon)
    part = (north - south) / 6.0
    conic = ccrs.LambertConformal(lon, lat, standard_parallels=(south + part, north - part))
    above = ccrs.Stereographic(pole, lon, true_scale_latitude=0.667 * pole)
    return (conic, ccrs.Mercator(lon)) if furthest < _MERCATOR else (conic, above)
