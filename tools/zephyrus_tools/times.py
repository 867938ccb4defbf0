"""When: a lead time, or a window of lead times, of the episode's forecast."""

from dataclasses import dataclass

import numpy as np

from zephyrus import ToolError
from zephyrus_geodata import Forecast
from zephyrus_tools.text import MONTHS, at, whole


@dataclass(frozen=True)
class Steps:
    """Consecutive lead times.

    Attributes:
        first: Index of the first.
        last: Index of the last (included).
        text: The window in words, "6-240 h" or "24 h (valid 1959-01-03 00:00 UTC)".
    """

    first: int
    last: int
    text: str

    @property
    def span(self) -> slice:
        """The lead times, as an index."""
        return slice(self.first, self.last + 1)

    @property
    def count(self) -> int:
        """How many lead times."""
        return self.last - self.first + 1


def step(forecast: Forecast, hour: int, argument: str = "hour") -> int:
    """Return the index of a lead time.

    Raises:
        ToolError: If the forecast has no such lead time; the message names its neighbours.
    """
    hours = forecast.lead_hours
    index = int(np.searchsorted(hours, hour))
    if index < hours.size and hours[index] == hour:
        return index
    near = [str(h) for h in hours[max(index - 1, 0) : index + 1].tolist()]
    raise ToolError(
        f"{argument}={whole(hour)} is not a lead time of this forecast. Lead times are "
        f"{_lead_times(forecast)}; nearest: {' or '.join(near)}."
    )


def steps(forecast: Forecast, hour: int | None, start: int | None, end: int | None) -> Steps:
    """Return one lead time, a window, or the whole forecast.

    Args:
        forecast: The forecast.
        hour: One lead time in hours.
        start: First lead time of a window, by default the forecast's first.
        end: Last lead time of a window (included), by default the forecast's last.

    Raises:
        ToolError: If both an hour and a window are given, one of them isn't a lead time, or the
            window ends before it starts.
    """
    if hour is not None:
        if start is not None or end is not None:
            raise ToolError("give either hour (one lead time) or start and end (a window).")
        index = step(forecast, hour)
        return Steps(index, index, at(forecast, index))
    first = 0 if start is None else step(forecast, start, "start")
    last = forecast.lead_hours.size - 1 if end is None else step(forecast, end, "end")
    if last < first:
        raise ToolError(f"start={start} h is after end={end} h: exchange them.")
    if first == last:
        return Steps(first, last, at(forecast, first))
    return Steps(first, last, f"{forecast.lead_hours[first]}-{forecast.lead_hours[last]} h")


def month_of(forecast: Forecast, month: int | None, index: int | None) -> int:
    """Return the month to take the climatology of, 1 to 12.

    Args:
        forecast: The forecast.
        month: The month asked for, if any.
        index: The lead time asked for, if any: its valid time has the month.

    Raises:
        ToolError: If the month is out of range, or isn't the month of the lead time.
    """
    if month is not None and not 1 <= month <= 12:
        raise ToolError(f"month must be 1 (January) to 12 (December), not {whole(month)}.")
    if month is not None and index is None:
        return month
    moment = forecast.init_time if index is None else forecast.valid_time(index)
    valid = int(moment.astype("datetime64[M]").astype(int)) % 12 + 1
    if month is not None and month != valid:
        raise ToolError(
            f"month={month} contradicts hour: lead time {at(forecast, index or 0)} is in "
            f"{MONTHS[valid - 1]}. Leave one of them out."
        )
    return valid


def _lead_times(forecast: Forecast) -> str:
    hours = forecast.lead_hours.tolist()
    if len(hours) > 3 and len(set(np.diff(hours).tolist())) == 1:
        return f"{hours[0]}, {hours[1]}, …, {hours[-1]} h"
    if len(hours) > 12:
        return f"{len(hours)} from {hours[0]} to {hours[-1]} h"
    return ", ".join(map(str, hours)) + " h"
