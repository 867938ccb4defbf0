"""The tool `ensemble`: mean, spread, one member and probabilities of an ensemble forecast.

A tool of its own, because the further arguments would take the prompt of every episode over its
budget of 900 tokens: `ForecastEnv` offers it where the forecasts have members, and only there.
"""

from typing import Annotated

from pydantic import WithJsonSchema

from zephyrus import tool
from zephyrus_geodata import Dataset, Forecast
from zephyrus_tools.arguments import (
    OptionalHour,
    OptionalLatitude,
    OptionalLongitude,
    OptionalText,
    Text,
)
from zephyrus_tools.members import MembersQuery, find_over
from zephyrus_tools.places import find_place
from zephyrus_tools.query import OverSpace, OverTime, Query, answer, window_of
from zephyrus_tools.ranking import Order
from zephyrus_tools.variables import find_variable

Member = Annotated[str | int | None, WithJsonSchema({})]
Threshold = Annotated[float | str | None, WithJsonSchema({})]


@tool
def ensemble(
    variable: Text,
    dataset: Dataset,
    forecast: Forecast,
    member: Member = None,
    above: Threshold = None,
    below: Threshold = None,
    feature: OptionalText = None,
    kind: OptionalText = None,
    parent: OptionalText = None,
    latitude: OptionalLatitude = None,
    longitude: OptionalLongitude = None,
    statistic: OverSpace = None,
    time: OverTime = None,
    hour: OptionalHour = None,
    start: OptionalHour = None,
    end: OptionalHour = None,
    order: Order | None = None,
    limit: int | None = None,
) -> str:
    """Ensemble members (mean, spread or one) or the probability above or below a threshold. The other arguments are as in the tool `dataset`.

    Args:
        variable, dataset, forecast: As in the tool `dataset`.
        member: mean (default), spread, or a member's name or number
        above: threshold in display units; gives the % of members beyond it
    """
    what = find_variable(variable, forecast.variables, "forecast")
    over = find_over(forecast, what, member, above, below)
    place = find_place(dataset, feature, kind, parent, latitude, longitude)
    statistic, time = statistic or "mean", time or "all"
    window = window_of(forecast, time, hour, start, end)
    if isinstance(over, str):
        query = Query(dataset, forecast, what, statistic, time, window, over)
    else:
        query = MembersQuery(
            dataset, forecast, what, statistic, time, window, over=over[0], threshold=over[1]
        )
    return answer(query, place, order, limit)
