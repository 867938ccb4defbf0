"""What is computed of a series: which samples belong to which day, hour and month."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

DAYS = 366
LEAP_DAY = 60

_BEFORE = np.cumsum([0, 31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30])


def day_of(times: NDArray[np.datetime64]) -> NDArray[np.int64]:
    """Return the day of the year by its date: 1 is 1 January, 60 is 29 February, 366 31 December.

    A date has the same number in every year; common years have no day 60.
    """
    days = times.astype("datetime64[D]")
    months = days.astype("datetime64[M]")
    within = (days - months.astype("datetime64[D]")).astype(np.int64) + 1
    found: NDArray[np.int64] = _BEFORE[months.astype(np.int64) % 12] + within
    return found


def month_of(times: NDArray[np.datetime64]) -> NDArray[np.int64]:
    """Return the month, 1 to 12."""
    return times.astype("datetime64[M]").astype(np.int64) % 12 + 1


def hour_of(times: NDArray[np.datetime64]) -> NDArray[np.int64]:
    """Return the hour of the day, UTC, cut to whole hours."""
    return times.astype("datetime64[h]").astype(np.int64) % 24


def date_of(day: int) -> tuple[int, int]:
    """Return month and day of the month of a day of the year (1 to 366)."""
    month = int(np.searchsorted(_BEFORE, day - 1, side="right"))
    return month, day - int(_BEFORE[month - 1])


@dataclass(frozen=True)
class Recipe:
    """What a climatology consists of.

    Attributes:
        percentiles: ascending, 0 to 100.
        days: the days of the year (1 to 366) that windows are centred on; none for months alone.
        window: days in a window, odd.
        hours: the hours of the day (UTC) that are kept apart; none if all go together.
    """

    percentiles: tuple[float, ...]
    days: tuple[int, ...] = ()
    window: int = 1
    hours: tuple[int, ...] = ()

    @property
    def statistics(self) -> tuple[str, ...]:
        """Names: "p5", …, "mean", "std"."""
        return statistics(self.percentiles)

    @property
    def day_shape(self) -> tuple[int, int, int]:
        """(day, hour, statistic)."""
        return len(self.days), max(1, len(self.hours)), len(self.statistics)

    @property
    def month_shape(self) -> tuple[int, int]:
        """(month, statistic)."""
        return 12, len(self.statistics)

    @property
    def numbers(self) -> int:
        """How many numbers the result has for one cell."""
        return int(np.prod(self.day_shape) + np.prod(self.month_shape))

    def half(self, day: int) -> int:
        """Days of the window to either side; 29 February has its neighbours at least."""
        half = self.window // 2
        return max(1, half) if day == LEAP_DAY else half


def statistics(percentiles: tuple[float, ...]) -> tuple[str, ...]:
    """Name the statistics of a list of percentiles."""
    return (*(f"p{p:g}" for p in percentiles), "mean", "std")
