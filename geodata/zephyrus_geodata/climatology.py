"""The climate of a dataset: monthly percentiles, mean and standard deviation per cell."""

from collections.abc import Callable, Mapping
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnknownVariable, UnsuitableData
from zephyrus_geodata.forecast import stack_levels
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.source import (
    NetCDFSource,
    Source,
    XarraySource,
    locate,
    read_field,
    read_grid,
    require,
)
from zephyrus_geodata.variables import VARIABLES

if TYPE_CHECKING:
    import xarray as xr

PERCENTILES = (5, 10, 25, 50, 75, 90, 95)
STATISTICS = (*(f"p{p}" for p in PERCENTILES), "mean", "std")

_DIMS = ("month", "statistic", "latitude", "longitude")
_MONTHS = range(1, 13)

Reader = Callable[[], NDArray[np.float32]]
"""Returns one variable as (month, statistic, cell), in SI units and the order of STATISTICS."""


class Climatology:
    """Monthly statistics of each variable in each cell.

    Attributes:
        percentiles: the percentiles there are.
        variables: names of the variables, in the order of ``VARIABLES``.
        grid: the grid of all variables.
        period: the time the statistics describe, in words.
        label: short origin, such as "simulated (jcm T42)".
        provenance: where the data come from and their limits.
    """

    percentiles = PERCENTILES

    def __init__(
        self,
        grid: Grid,
        readers: Mapping[str, Reader],
        *,
        period: str = "",
        label: str = "",
        provenance: Mapping[str, Any] | None = None,
    ) -> None:
        self.grid = grid
        self.period = period
        self.label = label
        self.provenance = dict(provenance or {})
        self._readers = dict(readers)
        self.variables = tuple(name for name in VARIABLES if name in self._readers)
        self._values: dict[str, NDArray[np.float32]] = {}

    def cells(self, variable: str, statistic: str, month: int) -> NDArray[np.float32]:
        """Return one statistic of a month as (cell,), in the variable's SI units, read-only.

        Args:
            variable: name of the variable.
            statistic: "p5", "p10", "p25", "p50", "p75", "p90", "p95", "mean" or "std".
            month: 1 to 12.

        Raises:
            UnknownVariable: if the climatology does not carry the variable.
            ValueError: for another statistic or month.
        """
        if statistic not in STATISTICS:
            raise ValueError(
                f"There is no statistic {statistic!r}; use one of {', '.join(STATISTICS)}."
            )
        if month not in _MONTHS:
            raise ValueError(f"There is no month {month!r}; use 1 to 12.")
        cells: NDArray[np.float32] = self._variable(variable)[
            month - 1, STATISTICS.index(statistic)
        ]
        return cells

    def _variable(self, name: str) -> NDArray[np.float32]:
        values = self._values.get(name)
        if values is None:
            reader = self._readers.get(name)
            if reader is None:
                raise UnknownVariable(
                    f"The climatology has no variable {name!r}; it has {', '.join(self.variables)}."
                )
            values = np.ascontiguousarray(reader(), dtype=np.float32)
            values.setflags(write=False)
            self._values[name] = values
        return values

    @classmethod
    def open(cls, path: Path) -> "Climatology":
        """Open a NetCDF file; variables are decoded when asked for. ``from_xarray`` has more.

        Raises:
            UnsuitableData: if the file is not laid out as a climatology.
        """
        return cls._from_source(NetCDFSource(path))

    @classmethod
    def from_xarray(cls, ds: "xr.Dataset") -> "Climatology":
        """Wrap an xarray Dataset; variables are loaded when asked for.

        Args:
            ds: dimensions month (1 to 12), statistic (the names of STATISTICS, any order),
                latitude, longitude and, for some variables, level (hPa); WeatherBench 2 names in
                SI units; attributes ``period``, ``label`` and others are kept.

        Raises:
            UnsuitableData: if months, statistics or all known variables are missing.
        """
        return cls._from_source(XarraySource(ds))

    @classmethod
    def _from_source(cls, source: Source) -> "Climatology":
        grid, ilat, ilon = read_grid(source)
        require(source, "month", "statistic")
        months = _positions(source, "month", list(_MONTHS))
        statistics = _positions(source, "statistic", list(STATISTICS))
        places = locate(source, _DIMS)
        if not places:
            raise UnsuitableData(f"{source.title} has no known variable on {', '.join(_DIMS)}.")

        def read(place: tuple[str, int | None]) -> NDArray[np.float32]:
            field = read_field(source, place, _DIMS)[months][:, statistics]
            field = field[:, :, ilat][..., ilon]
            return field.reshape(len(months), len(statistics), grid.size)

        return cls(
            grid,
            {variable: partial(read, place) for variable, place in places.items()},
            period=str(source.attrs.get("period", "")),
            label=str(source.attrs.get("label", "")),
            provenance={k: v for k, v in source.attrs.items() if k not in ("period", "label")},
        )

    def to_xarray(self) -> "xr.Dataset":
        """Return the climatology as from_xarray takes it, in memory."""
        import xarray as xr

        fields = {
            name: self._variable(name).reshape(len(_MONTHS), len(STATISTICS), *self.grid.shape)
            for name in self.variables
        }
        data, levels = stack_levels(fields, ("month", "statistic"))
        coords: dict[str, Any] = {
            "month": list(_MONTHS),
            "statistic": list(STATISTICS),
            "latitude": ("latitude", self.grid.latitude, {"units": "degrees_north"}),
            "longitude": ("longitude", self.grid.longitude, {"units": "degrees_east"}),
        }
        if levels:
            coords["level"] = ("level", list(levels), {"units": "hPa"})
        attrs = {"label": self.label, "period": self.period} | self.provenance
        return xr.Dataset(data, coords, attrs=attrs)

    def __repr__(self) -> str:
        return f"Climatology({self.period!r}, {len(self.variables)} variables, {self.grid!r})"


def _positions(source: Source, name: str, wanted: list[Any]) -> list[int]:
    """Return where each wanted coordinate value is in the source."""
    there = source.read(name).tolist()
    missing = [str(value) for value in wanted if value not in there]
    if missing:
        raise UnsuitableData(f"{source.title} has no {name} {', '.join(missing)}.")
    return [there.index(value) for value in wanted]
