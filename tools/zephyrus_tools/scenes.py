"""The forecasts of a dataset, for someone who calls the tools without a task."""

from zephyrus.scenes import Scenes
from zephyrus_geodata import Dataset, Forecast
from zephyrus_tools.text import scene_line

_FROM_CLIMATE = " There is a climatology to compare with."


def forecast_scenes(data: Dataset) -> Scenes:
    """Return the choice of forecasts, by initial time, and what the dataset has.

    Raises:
        GeodataError: If its first forecast can't be opened.
    """
    first = data.forecast(data.forecasts[0])
    origin = f" ({data.label})" if data.label else ""
    members = f", {len(first.members)} members each" if first.members else ""
    count = len(data.forecasts)
    introduction = (
        f"The dataset {data.name}{origin} has {count} forecast{'s' if count > 1 else ''}{members}; "
        f"values are of the chosen one, not of today. Variables: {', '.join(first.variables)}."
        f"{_FROM_CLIMATE if data.climatology is not None else ''}"
    )
    return Scenes(
        word="forecast",
        names=data.forecasts,
        types=frozenset({Forecast}),
        introduction=introduction,
        describe=lambda name: f"{name}: {scene_line(data.forecast(name))}",
    )
