"""The tool `map`: a picture of the forecast at one time, for models that see."""

from shapely.geometry.base import BaseGeometry

from zephyrus import Image, ToolError, tool
from zephyrus_geodata import Dataset, Forecast, GeodataError
from zephyrus_geodata.cells import StationList
from zephyrus_tools import places, regions, text
from zephyrus_tools.arguments import (
    Hour,
    OptionalLatitude,
    OptionalLongitude,
    OptionalText,
    Text,
)
from zephyrus_tools.member_field import MemberField
from zephyrus_tools.regions import Region
from zephyrus_tools.times import step
from zephyrus_tools.variables import find_variable

Box = tuple[float | None, float | None, float | None, float | None]
"""West, south, east and north of a call."""


@tool(name="map", thread=True)
def map_image(
    variable: Text,
    hour: Hour,
    dataset: Dataset,
    forecast: Forecast,
    feature: OptionalText = None,
    kind: OptionalText = None,
    west: OptionalLongitude = None,
    south: OptionalLatitude = None,
    east: OptionalLongitude = None,
    north: OptionalLatitude = None,
) -> Image:
    """Map image of a feature, box or the world.

    Args:
        variable, hour: As in the tool `dataset`.
        dataset, forecast: The episode's.
        feature, kind: Shown with a margin; the kind only where the name is ambiguous.
        west, south, east, north: Edges of a box in degrees; west 170 and east -170 cross 180.
    """
    what = MemberField(forecast, find_variable(variable, forecast.variables, "forecast"))
    return picture(what, hour, dataset, feature, kind, (west, south, east, north))


def picture(
    what: MemberField,
    hour: int,
    dataset: Dataset,
    feature: str | None,
    kind: str | None,
    box: Box,
) -> Image:
    """Draw what is asked for, and say in words what the picture shows.

    Raises:
        ToolError: If there is no such lead time or place, or there are no data.
    """
    from zephyrus_tools import drawing

    forecast, grid = what.forecast, what.forecast.grid
    index = step(forecast, hour)
    region, shape = _region(dataset, feature, kind, box)
    if isinstance(grid, StationList):
        raise ToolError("this dataset is a list of stations, of which there is no map.")
    field = what.field(index, region)
    try:
        low, high = regions.extremes(grid, field, region)
    except GeodataError as error:
        raise ToolError(str(error)) from None
    shown = what.shown
    when = text.at(forecast, index)
    alt = f"Map of {what.subject}, {region.title}, {region.text}, at {when}: "
    if low is None or high is None:
        raise ToolError(f"the forecast has no {what.variable.name} data there at {hour} h.")
    alt += ", ".join(
        f"{name}imum {text.value(point.value, shown)} near {text.latitude(point.latitude, 1)} "
        f"{text.longitude(point.longitude, 1)}"
        for name, point in (("min", low), ("max", high))
    )
    png = drawing.draw(
        shown,
        grid,
        field,
        region,
        dataset.features,
        title=f"{what.title}, {region.title}",
        subtitle=", ".join(filter(None, (f"lead time {when}", forecast.label, what.remark))),
        highlight=shape,
        over=what.over,
    )
    return Image(png, alt + ".")


def _region(
    dataset: Dataset, feature: str | None, kind: str | None, box: Box
) -> tuple[Region, BaseGeometry | None]:
    feature, kind = places.given(feature), places.given(kind)
    edges = [edge for edge in box if edge is not None]
    if feature and edges:
        raise ToolError("give either a feature or a box (west, south, east, north), not both.")
    if feature:
        place = places.find_feature(dataset, feature, kind)
        if place.feature is None:
            return regions.whole(dataset.grid), None
        shape = place.feature.geometry
        return regions.around(shape, place.label), shape
    if kind:
        raise ToolError("kind needs a feature on a map: give feature, or a box, or neither.")
    if not edges:
        return regions.whole(dataset.grid), None
    if len(edges) < 4:
        named = zip(("west", "south", "east", "north"), box, strict=True)
        missing = ", ".join(name for name, edge in named if edge is None)
        raise ToolError(f"a box needs west, south, east and north; missing: {missing}.")
    return regions.box(*edges), None
