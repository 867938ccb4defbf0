"""A built climatology as one NetCDF file, which any tool reads and ``Climatology.open`` takes.

The months are laid out as in every ``climatology.nc``; ``NAME_by_day`` (dayofyear, hour,
statistic, latitude, longitude) has the days.
"""

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.grid import Grid
from zephyrus_geodata.source import LOCK, NetCDFSource, open_file
from zephyrus_geodata.variables import variable

if TYPE_CHECKING:
    from zephyrus_geodata.climatology import Climatology, Days

_SUFFIX = "_by_day"


def write(path: Path, climatology: "Climatology", grid: Grid) -> None:
    """Write a climatology, one day and hour of it in memory at a time."""
    import netCDF4

    days, statistics = climatology.days, climatology.statistics
    with netCDF4.Dataset(str(path), "w") as file:
        axes: dict[str, Any] = {
            "month": np.arange(1, 13),
            "statistic": np.array(statistics, object),
        }
        if days is not None:
            axes |= {"dayofyear": np.array(days.days), "hour": np.array(days.hours or (0,))}
        axes |= {"latitude": grid.latitude, "longitude": grid.longitude}
        for name, values in axes.items():
            file.createDimension(name, len(values))
            kind: Any = str if values.dtype == object else values.dtype
            file.createVariable(name, kind, (name,))[:] = values
        file["latitude"].units, file["longitude"].units = "degrees_north", "degrees_east"
        file.setncatts({"period": climatology.period, "label": climatology.label})
        file.setncattr("percentiles", np.array(climatology.percentiles, dtype=np.float64))
        file.setncattr("source", str(climatology.provenance.get("where", "")))
        if days is not None:
            file.setncatts({"window_days": days.window, "hours_apart": int(bool(days.hours))})
        places = ("statistic", "latitude", "longitude")
        for name in climatology.variables:
            out = file.createVariable(name, "f4", ("month", *places), zlib=True)
            out.units = variable(name).units
            for month in range(12):
                rows = [climatology.cells(name, s, month + 1) for s in statistics]
                out[month] = np.reshape(rows, (-1, *grid.shape))
            if days is None:
                continue
            size = (1, 1, len(statistics), *grid.shape)
            dims = ("dayofyear", "hour", *places)
            by_day = file.createVariable(name + _SUFFIX, "f4", dims, zlib=True, chunksizes=size)
            by_day.units = variable(name).units
            for day in range(len(days.days)):
                for hour in range(max(1, len(days.hours))):
                    by_day[day, hour] = days.readers[name](day, hour).reshape(-1, *grid.shape)


def days(source: NetCDFSource) -> "Days | None":
    """Return the days of a file that ``write`` made; None if it has none."""
    from zephyrus_geodata.climatology import Days

    names = [n.removesuffix(_SUFFIX) for n in source.dims if n.endswith(_SUFFIX)]
    if not names or "window_days" not in source.attrs:
        return None
    hours = tuple(source.read("hour").tolist()) if source.attrs["hours_apart"] else ()
    return Days(
        tuple(source.read("dayofyear").tolist()),
        hours,
        int(source.attrs["window_days"]),
        {name: partial(_read, source.path, name + _SUFFIX) for name in names},
    )


def _read(path: Path, name: str, day: int, hour: int) -> NDArray[np.float32]:
    with LOCK, open_file(path) as file:
        values = np.ma.filled(file.variables[name][day, hour], np.nan)
    return np.asarray(values, dtype=np.float32).reshape(values.shape[0], -1)
