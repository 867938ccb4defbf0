"""How answers are written: numbers, units, coordinates, short tables."""

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

import numpy as np

from zephyrus import ToolError
from zephyrus_geodata import Forecast, Variable

MOST_ROWS = 60
"""No table is longer, whatever the limit asked for."""

_MOST_DECIMALS = 6
_FEW_NAMES = 5

MONTHS = (
    "January",
    "February",
    "March",
    "April",
    "May",
    "June",
    "July",
    "August",
    "September",
    "October",
    "November",
    "December",
)


def number(x: float) -> str:
    """Write a number with at least four significant digits and two decimals.

    From 1000 on there is one decimal, and never are there more than six.
    """
    size = abs(x)
    if size >= 1000.0:
        return f"{x:.1f}"
    if size >= 10.0:
        return f"{x:.2f}"
    if size >= 1.0:
        return f"{x:.3f}"
    if x == 0.0:
        return "0.00"
    text = f"{x:.{min(3 - math.floor(math.log10(size)), _MOST_DECIMALS)}f}"
    return text.removeprefix("-") if float(text) == 0.0 else text


def whole(n: int) -> str:
    """Write a whole number that a model sent, unless it is absurdly long."""
    return str(n) if abs(n) < 10**12 else "a number this large"


def value(x: float, variable: Variable, *, difference: bool = False) -> str:
    """Write a stored (SI) number in display units, or "no data" if it is NaN.

    Args:
        x: The number in the variable's SI units.
        variable: The variable.
        difference: Whether it is a difference or a spread, which is scaled but not offset.
    """
    if math.isnan(x):
        return "no data"
    shown = x * variable.scale if difference else variable.to_display(x)
    return f"{number(shown)} {variable.display_units}"


def percent(share: float) -> str:
    """Write a share, 0 to 1, as "12.50 %", or "no data" if it is NaN."""
    return "no data" if math.isnan(share) else f"{number(100.0 * share)} %"


def what(variable: Variable, label: str, members: int = 0) -> str:
    """Name a variable and where its values come from: "2 m temperature (simulated)".

    Args:
        variable: The variable.
        label: The forecast's.
        members: How many members an ensemble has whose mean field is meant, which is then said.
    """
    origin = label.split(" (")[0].strip()
    field = f"mean field of {members} members" if members else ""
    words = ", ".join(filter(None, (origin, field)))
    return f"{variable.long_name} ({words})" if words else variable.long_name


@lru_cache(maxsize=1024)
def amount(variable: Variable) -> str:
    """Say what each step of an accumulated variable is: " 6-h amount"; of others nothing."""
    found = re.search(r"_(\d+)hr$", variable.name)
    return f" {found[1]}-h amount" if found else ""


def instant(moment: np.datetime64) -> str:
    """Write a time as "1959-01-07 12:00 UTC"."""
    return str(moment.astype("datetime64[m]")).replace("T", " ") + " UTC"


def short_instant(moment: np.datetime64) -> str:
    """Write a time as "01-07 12 UTC", with minutes only if there are any."""
    text = str(moment.astype("datetime64[m]"))
    minutes = "" if text.endswith(":00") else text[13:16]
    return f"{text[5:10]} {text[11:13]}{minutes} UTC"


def at(forecast: Forecast, index: int) -> str:
    """Write a lead time with its valid time: "132 h (valid 1959-01-07 12:00 UTC)"."""
    return _written(forecast).valid[index]


def steps(forecast: Forecast) -> Sequence[str]:
    """Write every lead time with its valid time, briefly: "132 h (01-07 12 UTC)"."""
    return _written(forecast).brief


def scene_line(forecast: Forecast) -> str:
    """The line that sets the scene of a question: origin, initial time, lead times."""
    hours = forecast.lead_hours
    steps = f"{hours[0]} h" if hours.size == 1 else f"{hours[0]} to {hours[-1]} h"
    gaps = {int(gap) for gap in np.diff(hours)}
    every = f" every {gaps.pop()} h" if len(gaps) == 1 else ""
    origin = f", {forecast.label}," if forecast.label else ""
    return f"Forecast{origin} initialised {instant(forecast.init_time)}, lead times {steps}{every}."


@dataclass(frozen=True)
class _Written:
    """The lead times of forecasts with one initial time, in words."""

    valid: tuple[str, ...]
    brief: tuple[str, ...]


def _written(forecast: Forecast) -> _Written:
    return _write(forecast.init_time, forecast.lead_hours.tobytes())


@lru_cache(maxsize=256)  # NumPy writes a time as slowly as all else in an answer together
def _write(start: np.datetime64, lead_hours: bytes) -> _Written:
    hours = np.frombuffer(lead_hours, dtype=np.int64)
    times = list(zip(hours.tolist(), start + hours.astype("timedelta64[h]"), strict=True))
    return _Written(
        tuple(f"{hour} h (valid {instant(moment)})" for hour, moment in times),
        tuple(f"{hour} h ({short_instant(moment)})" for hour, moment in times),
    )


def latitude(degrees: float, decimals: int = 2) -> str:
    """Write a latitude as "1.30°S"."""
    return f"{abs(degrees):.{decimals}f}°{'S' if degrees < 0 else 'N'}"


def longitude(degrees: float, decimals: int = 2) -> str:
    """Write a longitude, in any convention, as "36.80°E"."""
    wrapped = (degrees + 180.0) % 360.0 - 180.0
    return f"{abs(wrapped):.{decimals}f}°{'W' if wrapped < 0 else 'E'}"


def names(items: Sequence[str]) -> str:
    """Join names by commas, or by semicolons where a name has a comma of its own."""
    return ("; " if any("," in item for item in items) else ", ").join(items)


def few(items: Sequence[str]) -> str:
    """Join names, but only the first few."""
    more = len(items) - _FEW_NAMES
    return names(items) if more <= 0 else f"{names(items[:_FEW_NAMES])} and {more} more"


def rows(limit: int | None, default: int) -> int:
    """Check how many rows are asked for.

    Raises:
        ToolError: If it is less than 1 or more than `MOST_ROWS`.
    """
    if limit is None:
        return default
    if not 1 <= limit <= MOST_ROWS:
        raise ToolError(f"limit must be 1 to {MOST_ROWS}, not {whole(limit)}.")
    return limit
