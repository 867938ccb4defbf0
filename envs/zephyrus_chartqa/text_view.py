"""A chart in words and numbers: what stands in for the picture where a model has no eyes.

The prompt that it stands in labels it so. It holds what a careful reader of the chart could read off: a value for each
named area, the highs and lows, the extremes and where they are. It knows no question: classes,
rankings, flow names and troughs are left to the reader. Numbers are rounded to less than the
margins of the questions (`zephyrus_chartqa.facts.scales`), so that it answers all of them.
"""

from __future__ import annotations

import numpy as np

from zephyrus_chartqa.facts.areas import Area, chart_areas
from zephyrus_chartqa.facts.reading import FLANK, Extreme, Reading
from zephyrus_chartqa.facts.scales import shown
from zephyrus_chartqa.fields import ChartData
from zephyrus_geodata import Dataset

_AREAS = {
    "rain": "Highest in each area",
    "500hpa_situation": (
        "Means over areas (with their middle): height; degrees that the wind is from; heights "
        f"{FLANK:.0f} degrees west of the middle / there / as far east"
    ),
    "850hpa_situation": "Means over areas: wind speed from degrees",
    "land_situation": "Means over areas (with their middle)",
}
_OTHERS = "Means over areas"
_WITH_MIDDLES = ("500hpa_situation", "land_situation")  # where highs and lows are near areas
_SYSTEMS = {"low": "Lows", "high": "Highs"}


def text_view(chart: ChartData, dataset: Dataset) -> str:
    """Put a chart into words.

    Args:
        chart: The chart.
        dataset: Whose chart it is: its named features are the areas.

    Returns:
        At most `zephyrus_chartqa.facts.areas.MOST` + 5 short lines.
    """
    return written(Reading.of(chart, chart_areas(dataset, chart.region)))


def written(reading: Reading) -> str:
    """`text_view` of a chart that has been read."""
    chart = reading.chart
    lines = [_title(chart)]
    if reading.areas:
        lines.append(f"{_AREAS.get(reading.modality, _OTHERS)}:")
        for area in reading.areas:
            middle = f" ({_place(area.latitude, area.longitude)})"
            where = middle if reading.modality in _WITH_MIDDLES else ""
            lines.append(f"- {area.name}{where}: {_area(reading, area)}")
    lines += _extremes(reading)
    for kind, word in _SYSTEMS.items():
        marked = [c for c in reading.centres if c.kind == kind]
        if marked:
            told = [
                f"{number(reading, c.value)} at {_place(c.latitude, c.longitude)}" for c in marked
            ]
            lines.append(f"{word}: {'; '.join(told)}")
    return "\n".join(lines)


def _title(chart: ChartData) -> str:
    region = chart.region
    south, north = _latitude(region.south), _latitude(region.north)
    west, east = _longitude(region.west), _longitude(region.east)
    across = "all longitudes" if region.east - region.west >= 360.0 else f"{west} to {east}"
    valid = _time(chart.end)
    if chart.start != chart.end:
        valid = f"{_time(chart.start)} to {valid}"
    _, units = shown(0.0, chart.units)
    told = [f"{chart.element} in {units}, {region.title} ({south} to {north}, {across})"]
    told += [f"valid {valid} UTC", chart.label or chart.dataset]
    if chart.members:
        told.append(f"mean of {chart.members} members")
    if chart.remark:
        told.append(chart.remark)
    return "; ".join(told)


def _area(reading: Reading, area: Area) -> str:
    value = number(reading, reading.values[area.key])
    wind = reading.wind(area)
    if wind is None:
        return value
    # A wind without one direction has none that could be read off the barbs.
    direction = f"{_tens(wind.direction)}" if wind.steady else "variable"
    if reading.modality == "850hpa_situation":
        return f"{value} from {direction}" if wind.steady else f"{value}, {direction}"
    told = f"{value}; {direction}"
    heights = reading.flanks(area)
    if heights is None:
        return told
    middle, west, east = (number(reading, height) for height in heights)
    return f"{told}; {west} / {middle} / {east}"


def _extremes(reading: Reading) -> list[str]:
    found = []
    for word, highest in (("highest", True), ("lowest", False)):
        extreme = reading.extreme(highest=highest)
        if extreme is not None and (highest or reading.modality != "rain"):
            found.append(f"{word} {_extreme(reading, extreme)}")
    return [f"On the chart: {', '.join(found)}"] if found else []


def _extreme(reading: Reading, extreme: Extreme) -> str:
    place = _place(extreme.latitude, extreme.longitude)
    return f"{number(reading, extreme.value)} at {place}"


def number(reading: Reading, value: float) -> str:
    """A value as the text view has it: of rain below 10 mm with one decimal, else whole."""
    told, _ = shown(value, reading.chart.units)
    text = f"{told:.1f}" if reading.modality == "rain" and told < 10.0 else f"{told:.0f}"
    return text.removeprefix("-") if float(text) == 0.0 else text


def _tens(direction: float) -> int:
    """A direction as reports have it: tens of degrees, north being 360."""
    return round(direction / 10.0) * 10 or 360


def _place(latitude: float, longitude: float) -> str:
    return f"{_latitude(latitude)} {_longitude(longitude)}"


def _latitude(degrees: float) -> str:
    return f"{abs(round(degrees))}{'S' if degrees < 0 else 'N'}"


def _longitude(degrees: float) -> str:
    east = (round(degrees) + 180) % 360 - 180
    if east == -180:
        return "180E"
    return f"{abs(east)}{'W' if east < 0 else 'E'}"


def _time(moment: np.datetime64) -> str:
    return str(moment.astype("datetime64[h]")).replace("T", " ")
