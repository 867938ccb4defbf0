"""The tool `map` over an ensemble: the mean, the spread, one member or a probability.

It goes by the name of the plain tool, and takes its place where the forecasts have members: the
further arguments cost no prompt anything where there are none.
"""

from zephyrus import Image, Tool
from zephyrus_geodata import Dataset, Forecast
from zephyrus_tools.arguments import (
    Hour,
    OptionalLatitude,
    OptionalLongitude,
    OptionalText,
    Text,
)
from zephyrus_tools.ensemble import Member, Threshold
from zephyrus_tools.map import picture
from zephyrus_tools.member_field import MemberField
from zephyrus_tools.members import find_over
from zephyrus_tools.variables import find_variable


def _member_map(
    variable: Text,
    hour: Hour,
    dataset: Dataset,
    forecast: Forecast,
    member: Member = None,
    above: Threshold = None,
    below: Threshold = None,
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
        member, above, below: As in the tool `ensemble`.
        feature, kind: Shown with a margin; the kind only where the name is ambiguous.
        west, south, east, north: Edges of a box in degrees; west 170 and east -170 cross 180.
    """
    what = find_variable(variable, forecast.variables, "forecast")
    over = find_over(forecast, what, member, above, below)
    if isinstance(over, str):
        shown = MemberField(forecast, what, member=over)
    else:
        taken = None if over[0] == "mean" else over[0]
        shown = MemberField(forecast, what, over=taken, threshold=over[1])
    return picture(shown, hour, dataset, feature, kind, (west, south, east, north))


member_map = Tool(_member_map, name="map", thread=True)
"""The tool."""
