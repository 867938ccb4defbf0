"""The tool `map`: a picture of the forecast at one time, for models that see."""

import numpy as np
from numpy.typing import NDArray
from shapely.geometry.base import BaseGeometry

from zephyrus import Image, ToolError, tool
from zephyrus_geodata import Dataset, Forecast, GeodataError, Grid
from zephyrus_geodata.cells import AnyGrid, CellGrid
from zephyrus_tools import places, regions, text
from zephyrus_tools.arguments import (
    Hour,
    OptionalLatitude,
    OptionalLongitude,
    OptionalText,
    Text,
)
from zephyrus_tools.regions import Region
from zephyrus_tools.times import step
from zephyrus_tools.variables import find_variable


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
    from zephyrus_tools import drawing

    what = find_variable(variable, forecast.variables, "forecast")
    index = step(forecast, hour)
    region, shape = _region(dataset, feature, kind, (west, south, east, north))
    field = forecast.field(what.name, index)
    grid = forecast.grid
    try:
        low, high = regions.extremes(grid, field, region)
    except GeodataError as error:
        raise ToolError(str(error)) from None
    members = len(forecast.members)
    subject = text.what(what, forecast.label, members)
    when = text.at(forecast, index)
    alt = f"Map of {subject}, {region.title}, {region.text}, at {when}: "
    if low is None or high is None:
        raise ToolError(f"the forecast has no {what.name} data there at {hour} h.")
    alt += ", ".join(
        f"{name}imum {text.value(point.value, what)} near {text.latitude(point.latitude, 1)} "
        f"{text.longitude(point.longitude, 1)}"
        for name, point in (("min", low), ("max", high))
    )
    regular, shown = _regular(grid, field)
    png = drawing.draw(
        what,
        regular,
        shown,
        region,
        dataset.features,
        title=f"{what.long_name[0].upper()}{what.long_name[1:]} ({what.display_units}), "
        f"{region.title}",
        subtitle=f"lead time {when}"
        + (f", {forecast.label}" if forecast.label else "")
        + (f", mean of {members} members" if members else ""),
        highlight=shape,
    )
    return Image(png, alt + ".")


def _regular(grid: AnyGrid, field: NDArray[np.float32]) -> tuple[Grid, NDArray[np.float32]]:
    """A field in rows of one latitude, as it is or read off the cells of a bent grid.

    Raises:
        ToolError: If the cells are stations.
    """
    if isinstance(grid, Grid):
        return grid, field
    if not isinstance(grid, CellGrid):
        raise ToolError("this dataset is a list of stations, of which there is no map.")
    regular, cells = grid.resampled
    shown = np.where(cells >= 0, field.ravel()[cells], np.float32(np.nan))
    return regular, shown.reshape(regular.shape)


def _region(
    dataset: Dataset,
    feature: str | None,
    kind: str | None,
    box: tuple[float | None, float | None, float | None, float | None],
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
