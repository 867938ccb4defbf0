"""Limits that a file declares for its numbers: what lies outside is missing.

xarray applies packing and fills, and leaves ``valid_range``, ``valid_min`` and ``valid_max``. They
are in the units of the packed numbers where they are of their type (as CF and NUG have it), and
in those of the unpacked ones otherwise.
"""

from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import xarray as xr


def within(var: "xr.Variable", values: NDArray[Any]) -> NDArray[Any]:
    """Return floats of which those outside the declared limits are NaN."""
    values = values if values.dtype.kind == "f" else values.astype(np.float32)
    packed = np.dtype(var.encoding.get("dtype", var.dtype)).kind in "iu"
    missing = np.asarray(var.encoding.get("missing_value", ())).reshape(-1)
    if packed and missing.dtype.kind == "f" and "scale_factor" in var.encoding:
        # A code of another type than the packed numbers may be meant for the unpacked ones.
        for code in missing[np.isfinite(missing)].tolist():
            values = np.where(np.isclose(values, code, rtol=1e-6, atol=0.0), np.nan, values)
    low, high = limits(var)
    if low == -inf and high == inf:
        return values
    # A step of the packing is far greater than this, and rounding far less.
    slack = 1e-6 * max(abs(v) for v in (low, high) if np.isfinite(v))
    return np.where((values < low - slack) | (values > high + slack), np.nan, values)


def limits(var: "xr.Variable") -> tuple[float, float]:
    """Return the least and the greatest number that a file declares to be valid."""
    attrs = var.attrs
    span = np.asarray(attrs.get("valid_range", ())).reshape(-1)
    ends = list(span) if span.size == 2 else [attrs.get("valid_min"), attrs.get("valid_max")]
    packed = np.dtype(var.encoding.get("dtype", var.dtype))
    scale = float(var.encoding.get("scale_factor", 1.0))
    offset = float(var.encoding.get("add_offset", 0.0))
    found = []
    for end, none in zip(ends, (-inf, inf), strict=True):
        try:
            number = none if end is None else float(end)
        except (TypeError, ValueError):
            number = none
        if np.isfinite(number) and packed.kind in "iu" and np.asarray(end).dtype.kind in "iu":
            if number < 0 and str(var.encoding.get("_Unsigned", "")).lower() == "true":
                number += 2.0 ** (8 * packed.itemsize)  # the limit is signed like the storage
            number = number * scale + offset
        found.append(none if np.isnan(number) else number)
    return (found[0], found[1]) if scale > 0.0 else (-inf, inf)
