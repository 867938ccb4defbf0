"""Makes GRIB messages with ecCodes, as the archives lay them out."""

from collections.abc import Mapping
from typing import Any

import numpy as np

FULL = {
    "Ni": 4, "Nj": 3, "latitudeOfFirstGridPointInDegrees": 10.0,
    "latitudeOfLastGridPointInDegrees": -10.0, "longitudeOfFirstGridPointInDegrees": 0.0,
    "longitudeOfLastGridPointInDegrees": 270.0, "iDirectionIncrementInDegrees": 90.0,
    "jDirectionIncrementInDegrees": 10.0,
}  # fmt: skip
"""A 3 x 4 grid, from north to south, longitudes 0 to 270."""


def message(
    keys: Mapping[str, Any], values: Any, sample: str = "regular_ll_sfc_grib2",
    grid: Mapping[str, Any] = FULL,
) -> bytes:  # fmt: skip
    """Return one message; ``keys`` are set in order after the grid."""
    import eccodes

    handle = eccodes.codes_grib_new_from_samples(sample)
    try:
        for key, value in {**grid, **keys}.items():
            eccodes.codes_set(handle, key, value)
        eccodes.codes_set(handle, "bitsPerValue", 24)
        array = np.asarray(values, dtype=np.float64).ravel()
        if np.isnan(array).any():
            eccodes.codes_set(handle, "bitmapPresent", 1)
            eccodes.codes_set(handle, "missingValue", 1e30)
            array = np.where(np.isnan(array), 1e30, array)
        eccodes.codes_set_values(handle, array)
        return bytes(eccodes.codes_get_message(handle))
    finally:
        eccodes.codes_release(handle)


def accumulation(short: str, start: int, end: int, **more: Any) -> dict[str, Any]:
    """Return the keys of an accumulated field of a GRIB 2 forecast."""
    return {
        "productDefinitionTemplateNumber": 8, "dataDate": 20240101, "dataTime": 0,
        "shortName": short, "stepType": "accum", "stepRange": f"{start}-{end}", **more,
    }  # fmt: skip


def instant(short: str, step: int, **more: Any) -> dict[str, Any]:
    """Return the keys of an instantaneous field of a GRIB 2 forecast."""
    return {"dataDate": 20240101, "dataTime": 0, "shortName": short, "step": step, **more}
