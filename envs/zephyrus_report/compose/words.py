"""Numbers as a discussion says them, and the words that stand for ranges of them."""

from __future__ import annotations

from collections.abc import Sequence

STATIONARY = 10.0
"""km/h: a pressure system slower than this is told as nearly stationary."""

SLOW = 20.0
"""km/h: one slower than this drifts."""

STEADY = 2.0
"""hPa: a central pressure that changes by less holds."""

# The Beaufort scale, m/s (WMO-No. 306, code table 1100).
_FORCES = (
    (32.7, "hurricane force"),
    (28.5, "violent storm force"),
    (24.5, "storm force"),
    (20.8, "strong gale force"),
    (17.2, "gale force"),
    (13.9, "near gale force"),
)

# After the US National Weather Service's terms, of eighths: to 2, to 4, and to 6.
_SKIES = ((31.0, "mostly clear"), (56.0, "partly cloudy"), (80.0, "mostly cloudy"))


def amount(millimetres: float) -> str:
    """Precipitation: "14 mm", "0.4 mm"."""
    if millimetres < 0.05:
        return "less than 0.1 mm"
    decimals = 0 if round(millimetres, 1) >= 2.0 else 1
    return f"{millimetres:.{decimals}f} mm"


def celsius(degrees: float) -> str:
    """Temperature: "-3 °C"."""
    return f"{round(degrees)} °C"


def metres(height: float) -> str:
    """Geopotential height to 10 gpm: "5640 gpm"."""
    return f"{round(height / 10.0) * 10} gpm"


def force(speed: float) -> str:
    """The Beaufort word of a 10 m wind from near gale on, else ""."""
    return next((word for least, word in _FORCES if round(speed) >= least), "")


def sky(cover: float) -> str:
    """What a sky with this cloud cover in % is called."""
    for most, word in _SKIES:
        if cover < most:
            return word
    return "overcast" if cover >= 90.0 else "cloudy"


def listed(items: Sequence[str]) -> str:
    """Join: "a", "a and b", "a, b and c"."""
    return items[0] if len(items) == 1 else f"{', '.join(items[:-1])} and {items[-1]}"


def capital(text: str) -> str:
    """The sentence with a capital first letter."""
    return text[:1].upper() + text[1:]
