"""Numbers that stand for "missing" without being declared, and numbers that can't be right.

A fill that a file declares is NaN by the time it comes here. What else is never weather: numbers
beyond 1e15 (netCDF's default fill 9.97e36, 1e20), and customary codes such as -9999 where they
lie outside what the variable can have. Any other number outside is a wrong unit, a wrong name or
a broken file, and stops the reading.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.units import Conversion
from zephyrus_geodata.variables import Variable

HUGE = 1e15
"""No weather variable has a number as great as this in any unit."""

CODES: tuple[float, ...] = (
    *(-9999.0, -999.0, -99.0, -9999.9, -999.9, -99.9, -999.99, -9999.99, -99999.0),
    *(-32768.0, -32767.0, -32766.0, -8888.0, -888.0),
    *(9999.0, 99999.0, 999999.0, 999.0, 999.9, 9999.9),
)
"""Customary codes for missing values."""

_SHOWN = 4  # significant digits of the numbers in messages


@dataclass(frozen=True)
class Screen:
    """Turns a field's raw numbers into SI units, with everything that is no weather as NaN.

    Attributes:
        raw: name of the field in the source, for messages.
        variable: what it is.
        conversion: to SI units.
        code: a number that the user says is missing; NaN says that none is.
        guard: whether numbers that can't be right are refused; not for accumulations, whose
            differences are judged.
    """

    raw: str
    variable: Variable
    conversion: Conversion
    code: float | None = None
    guard: bool = True

    def __call__(self, values: NDArray[Any]) -> NDArray[np.float32]:
        """Convert a field.

        Raises:
            UnsuitableData: if a number is outside what the variable can have.
        """
        raw = np.asarray(values)
        raw = raw if raw.dtype.kind == "f" else raw.astype(np.float32)
        found = self.conversion(np.where(self.gone(raw), np.nan, raw)).astype(np.float32)
        if self.guard:
            wrong = self.outside(found)
            if wrong.any():
                raise UnsuitableData(f"{self.raw}: {self.complaint(found)}.")
        return found

    def gone(self, raw: NDArray[Any]) -> NDArray[np.bool_]:
        """Return which raw numbers stand for a missing value."""
        lost: NDArray[np.bool_] = ~(np.abs(raw) < HUGE)
        if self.code is not None:
            lost |= np.isclose(raw, self.code, rtol=1e-6, atol=0.0)
        low, high = self.variable.plausible
        least, most = np.nanmin(raw, initial=np.inf), np.nanmax(raw, initial=-np.inf)
        for code in CODES:
            if not least <= code <= most:
                continue
            si = code * self.conversion.factor + self.conversion.offset
            if not low <= si <= high:
                lost |= raw == raw.dtype.type(code)
        return lost

    def outside(self, si: NDArray[np.float32]) -> NDArray[np.bool_]:
        """Return which converted numbers the variable can't have; NaN isn't one."""
        low, high = self.variable.plausible
        wrong: NDArray[np.bool_] = (si < low) | (si > high)
        return wrong

    def complaint(self, si: NDArray[np.float32]) -> str:
        """Say what is wrong with converted numbers of which some are outside; a clause."""
        low, high = self.variable.plausible
        units = self.variable.units
        return (
            f"as {self.variable.name} its values run from {np.nanmin(si):.{_SHOWN}g} to "
            f"{np.nanmax(si):.{_SHOWN}g} {units}, and only {low:.{_SHOWN}g} to "
            f"{high:.{_SHOWN}g} {units} are possible"
        )


def lone_extreme(raw: NDArray[Any]) -> float | None:
    """Return a customary code that several numbers are while all others are far from it.

    Such a code is possible as a number (-99 m/s in a jet), and so is only asked about.
    """
    if raw.size < 3:
        return None
    for code in (float(raw.min()), float(raw.max())):
        same = np.isclose(raw, code, rtol=0.0, atol=0.0)
        if code not in CODES or not 1 < np.count_nonzero(same) < raw.size:
            continue
        others = raw[~same].astype(np.float64)
        gap = min(abs(float(others.min()) - code), abs(float(others.max()) - code))
        if gap > max(float(np.ptp(others)), 0.2 * abs(code)):
            return code
    return None


def lone_code(raw: NDArray[Any], wrong: NDArray[np.bool_]) -> float | None:
    """Return the one number that all wrong values have in common, if it is one."""
    found = np.unique(raw[wrong])
    return float(found[0]) if found.size == 1 and np.count_nonzero(wrong) > 1 else None
