"""Days and hours of a forecast in words."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from zephyrus_report.compose.findings import day_of
from zephyrus_tools.text import MONTHS

WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@dataclass
class Calendar:
    """Names the days of a forecast; a day gets its date when it is first named.

    Day d is called by the date of its middle: of a forecast from 00 UTC, day 1 is the initial
    date.

    Attributes:
        init_time: Initial time, UTC.
    """

    init_time: np.datetime64
    _named: set[int] = field(default_factory=set)  # days
    _dated: set[str] = field(default_factory=set)  # dates

    def day(self, number: int) -> str:
        """A day: "day 2 (Saturday 3 January)", and later "Saturday"."""
        date = self._date(24 * number - 12)
        if number in self._named:
            return _weekday(date)
        self._name(number, number)
        return f"day {number} ({_weekday(date)} {_day_and_month(date)})"

    def on(self, first: int, last: int) -> str:
        """When, for days: "on Saturday", "on Saturday and Sunday", "from Saturday to Monday"."""
        if first == last:
            return f"on {self.day(first)}"
        new = not {first, last} <= self._named
        self._name(first, last)
        start, end = self._date(24 * first - 12), self._date(24 * last - 12)
        names = [_weekday(start), _weekday(end)]
        if new:
            joint = "and" if last == first + 1 else "to"
            month = "" if _month(start) == _month(end) else f" {_month(start)}"
            dates = f"{names[0]} {_number(start)}{month} to {names[1]} {_day_and_month(end)}"
            return f"on days {first} {joint} {last} ({dates})"
        return (
            f"on {names[0]} and {names[1]}" if last == first + 1 else "from {} to {}".format(*names)
        )

    def window(self, start: int, end: int) -> str:
        """`on` for the days of a window of lead times."""
        return self.on(day_of(start), day_of(end))

    def moment(self, hour: int) -> str:
        """A time: "18 UTC Saturday 3 January" at first, then "18 UTC Saturday".

        The weekday is that of the valid time: of a forecast from 00 UTC, day 1 ends at 00 UTC of
        the next weekday.
        """
        valid = self._date(hour)
        clock = str(valid.astype("datetime64[m]"))[11:16].removesuffix(":00")
        day = str(valid.astype("datetime64[D]"))
        if day in self._dated:
            return f"{clock} UTC {_weekday(valid)}"
        self._dated.add(day)
        return f"{clock} UTC {_weekday(valid)} {_day_and_month(valid)}"

    def month(self, hour: int) -> str:
        """The month of a lead time: "January"."""
        return _month(self._date(hour))

    def _name(self, first: int, last: int) -> None:
        """Remember that days, and so their dates, were named."""
        for number in range(first, last + 1):
            self._named.add(number)
            self._dated.add(str(self._date(24 * number - 12).astype("datetime64[D]")))

    def _date(self, hour: int) -> np.datetime64:
        date: np.datetime64 = self.init_time.astype("datetime64[s]") + np.timedelta64(hour, "h")
        return date


def _weekday(moment: np.datetime64) -> str:
    days = int(moment.astype("datetime64[D]").astype(int))
    return WEEKDAYS[(days + 3) % 7]  # 1970-01-01 was a Thursday


def _month(moment: np.datetime64) -> str:
    return MONTHS[int(moment.astype("datetime64[M]").astype(int)) % 12]


def _number(moment: np.datetime64) -> int:
    return int(str(moment.astype("datetime64[D]"))[8:])


def _day_and_month(moment: np.datetime64) -> str:
    return f"{_number(moment)} {_month(moment)}"
