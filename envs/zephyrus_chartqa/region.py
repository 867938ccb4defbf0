"""Regions that charts show: named boxes, any box, and any named feature with a margin."""

from __future__ import annotations

from zephyrus import ToolError
from zephyrus.errors import UserError
from zephyrus_geodata import Dataset
from zephyrus_geodata.names import normalise
from zephyrus_tools import places, regions
from zephyrus_tools.regions import Region

__all__ = ["REGIONS", "Region", "chart_region"]

REGIONS: dict[str, Region] = {
    region.title: region
    for region in (
        Region(-180.0, -90.0, 180.0, 90.0, "World"),
        Region(-25.0, 33.0, 45.0, 72.0, "Europe"),
        Region(-15.0, 36.0, 20.0, 61.0, "Western Europe"),
        Region(70.0, 12.0, 145.0, 56.0, "East Asia"),
        Region(60.0, 0.0, 105.0, 40.0, "South Asia"),
        Region(90.0, -15.0, 160.0, 25.0, "Maritime Continent"),
        Region(40.0, 45.0, 140.0, 78.0, "Northern Asia"),
        Region(-20.0, -37.0, 55.0, 38.0, "Africa"),
        Region(5.0, -40.0, 45.0, -5.0, "Southern Africa"),
        Region(-170.0, 15.0, -50.0, 75.0, "North America"),
        Region(-128.0, 22.0, -64.0, 52.0, "Contiguous United States"),
        Region(-90.0, -58.0, -30.0, 14.0, "South America"),
        Region(105.0, -50.0, 180.0, -5.0, "Australia and New Zealand"),
        Region(-80.0, 20.0, 10.0, 68.0, "North Atlantic"),
        Region(130.0, 15.0, 240.0, 65.0, "North Pacific"),
        Region(140.0, -25.0, 270.0, 25.0, "Tropical Pacific"),
        Region(20.0, -50.0, 120.0, 25.0, "Indian Ocean basin"),
        Region(-180.0, -90.0, 180.0, -30.0, "Southern Ocean and Antarctica"),
        Region(-180.0, 50.0, 180.0, 90.0, "Arctic"),
        Region(-180.0, 20.0, 180.0, 90.0, "Northern Hemisphere"),
    )
}
"""Boxes by their titles, for charts as services draw them. A title that is also a feature's name
means the box; ``continent:Africa`` means the feature."""

_KEYS = {normalise(title): region for title, region in REGIONS.items()}


def chart_region(name: str, dataset: Dataset) -> Region:
    """Return the region that a text means.

    Args:
        name: A title of `REGIONS`; "west,south,east,north" in degrees (170,-50,-170,-30 crosses
            180); or a feature of the dataset, "Kenya" or, where that is not enough,
            "country:Georgia". A feature has a margin around it.
        dataset: Whose features.

    Raises:
        UserError: If it means nothing, or more than one feature; the message says what there is.
    """
    known = _KEYS.get(normalise(name))
    if known is not None:
        return known
    try:
        if "," in name:
            edges = _numbers(name)
            if edges is not None:
                box = regions.box(*edges)
                return Region(box.west, box.south, box.east, box.north, box.text)
        kind, _, rest = name.rpartition(":")
        place = places.find_feature(dataset, rest, kind or None)
    except ToolError as error:
        raise UserError(
            f"no chart of {name!r}: {error} Charts also know {', '.join(REGIONS)}, "
            "or west,south,east,north"
        ) from None
    if place.feature is None:
        return REGIONS["World"]
    return regions.around(place.feature.geometry, place.name)


def _numbers(text: str) -> tuple[float, float, float, float] | None:
    parts = text.split(",")
    try:
        west, south, east, north = (float(part) for part in parts)
    except ValueError:
        return None
    return west, south, east, north
