"""A custom weather tool: wind chill from the episode's forecast.

Use it with ``zephyrus env rollout --tools examples/my_tools.py``. The model sees ``place`` and
``hour``; the dataset and the forecast are filled in from the episode.
"""

import zephyrus
from zephyrus_geodata import AmbiguousFeature, Dataset, Forecast, UnknownFeature


@zephyrus.tool
def wind_chill(place: str, hour: int, dataset: Dataset, forecast: Forecast) -> str:
    """Wind chill temperature, the mean over a place at one lead time.

    Args:
        place: Name of a country, city, lake, …
        hour: Lead time in hours.
        dataset: The episode's dataset.
        forecast: The episode's forecast.
    """
    try:
        feature = dataset.features.get(place)
    except (UnknownFeature, AmbiguousFeature) as error:
        raise zephyrus.ToolError(str(error)) from None
    hours = forecast.lead_hours.tolist()
    if hour not in hours:
        raise zephyrus.ToolError(f"hour must be one of {', '.join(map(str, hours))}.")
    step = hours.index(hour)
    temperature = dataset.series(forecast, "2m_temperature", feature)[step] - 273.15  # °C
    wind = dataset.series(forecast, "10m_wind_speed", feature)[step] * 3.6  # km/h
    if temperature > 10.0 or wind < 4.8:
        raise zephyrus.ToolError(
            "wind chill is defined up to 10 °C and from 4.8 km/h on; here it is "
            f"{temperature:.2f} °C with {wind:.2f} km/h. Choose a colder or windier place or hour."
        )
    # Environment Canada and the US National Weather Service, 2001.
    v = wind**0.16
    chill = 13.12 + 0.6215 * temperature - 11.37 * v + 0.3965 * temperature * v
    return (
        f"wind chill over {feature.name} at {hour} h "
        f"({temperature:.2f} °C, wind {wind:.2f} km/h): {chill:.2f} °C"
    )
