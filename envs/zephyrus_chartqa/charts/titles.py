"""The lines above a chart: element and units, valid and initial time, origin."""

from __future__ import annotations

import numpy as np

from zephyrus_chartqa.fields import ChartData
from zephyrus_chartqa.levels import DECAMETRES, contour_step
from zephyrus_tools.ink import Ink, extent

_LEFT = 10
_LEAST = 5.0  # points
_LINES = ((13, 11.0, True), (31, 8.5, False), (46, 7.5, False))  # middle, size, whether bold


def titles(ink: Ink, data: ChartData, width: int) -> None:
    """Write the lines, smaller than usual where they are too long.

    Args:
        ink: Of the whole picture.
        data: The chart's.
        width: Of the picture in pixels.
    """
    for words, (y, size, bold) in zip(lines(data), _LINES, strict=True):
        while size > _LEAST and extent(words, size, bold)[0] > width - 2 * _LEFT:
            size -= 0.25
        ink.text(_LEFT, y, words, size, bold=bold)


def lines(data: ChartData) -> tuple[str, str, str]:
    """Return the three lines above a chart."""
    first = f"{_element(data)}: {data.region.title}"
    valid = instant(data.end)
    if data.start != data.end:
        valid = f"{instant(data.start)} to {valid}"
    leads = " to ".join(f"+{hour}" for hour in data.lead_hours)
    second = f"Valid {valid} UTC; initial time {instant(data.init_time)} UTC, {leads} h"
    known = dict.fromkeys(filter(None, (data.dataset, data.label)))  # which are often the same
    origin = f"Data: {', '.join(known)}"
    if data.members:
        origin += f", mean field of {data.members} members"
    third = "; ".join(part for part in (origin, _drawn(data), data.remark) if part)
    return first, second, third


def _element(data: ChartData) -> str:
    """The element with its units, and those of the wind."""
    if data.units == "gpm":
        return f"{data.element.replace(' and wind', ' (dagpm) and wind (kt)')}"
    if data.u is not None:
        return f"{data.element} (barbs in kt, shading in m/s)"
    return f"{data.element} ({data.units})"


def _drawn(data: ChartData) -> str:
    """How far apart contour lines are."""
    if data.units == "gpm":
        return f"isohypses every {DECAMETRES * contour_step(data):g} dagpm"
    if data.units == "hPa":
        return f"isobars every {contour_step(data):g} hPa"
    return f"isotherms every {contour_step(data):g} °C" if data.units == "°C" else ""


def instant(moment: np.datetime64) -> str:
    """Write a time as "1959-01-07 12", with minutes only if there are any."""
    return str(moment.astype("datetime64[m]")).replace("T", " ").removesuffix(":00")
