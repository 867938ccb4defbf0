"""The tool `dataset`: what the forecast says somewhere, at a time or over a window."""

from zephyrus import tool
from zephyrus_geodata import Dataset, Forecast
from zephyrus_tools.arguments import (
    OptionalHour,
    OptionalLatitude,
    OptionalLongitude,
    OptionalText,
    Text,
)
from zephyrus_tools.places import find_place
from zephyrus_tools.query import OverSpace, OverTime, Query, answer, window_of
from zephyrus_tools.ranking import Order
from zephyrus_tools.variables import find_variable


@tool
def dataset(
    variable: Text,
    dataset: Dataset,
    forecast: Forecast,
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
    """Forecast over a feature or point, or ranked over all of a kind.

    Args:
        variable: 2m_temperature, 10m_wind_speed, 10m_u/v_component_of_wind,
            mean_sea_level_pressure, total_precipitation_6hr, total_cloud_cover;
            geopotential, temperature, u/v_component_of_wind _500 or _850
        dataset, forecast: The episode's.
        feature, kind, latitude, longitude: Where; a kind alone means all its features, and a
            point the nearest grid cell.
        parent: limits kind
        statistic: over space
        time: all: over space and time; else over time of the statistic
        hour: lead time
        start, end: First and last lead time of a window.
        order, limit: Of a ranking; highest first and 10 rows by default. A limit also cuts a
            series.
    """
    what = find_variable(variable, forecast.variables, "forecast")
    place = find_place(dataset, feature, kind, parent, latitude, longitude)
    statistic, time = statistic or "mean", time or "all"
    window = window_of(forecast, time, hour, start, end)
    return answer(Query(dataset, forecast, what, statistic, time, window), place, order, limit)
