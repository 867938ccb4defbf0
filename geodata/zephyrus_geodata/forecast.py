"""One forecast: variables as (cell, time) arrays, decoded once each."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata import ensemble
from zephyrus_geodata.cells import AnyGrid, rectilinear
from zephyrus_geodata.errors import UnknownMember, UnknownVariable, UnsuitableData
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.source import (
    NetCDFSource,
    Source,
    XarraySource,
    locate,
    read_field,
    read_grid,
    read_hours,
    read_instant,
)
from zephyrus_geodata.variables import level_of, ordered, variable

if TYPE_CHECKING:
    import xarray as xr

_DIMS = ("latitude", "longitude", "lead_time")

Reader = Callable[[], NDArray[np.float32]]
"""Returns one variable in SI units: (cell, time), or (member, cell, time) of an ensemble."""

Cubes = Callable[[str, str], Mapping[str, NDArray[np.float64]]]
"""Returns, of a variable and the ``key`` of a ZonalIndex, what was kept of all its features:
statistic -> (feature, time); nothing where there is none."""


class Forecast:
    """A forecast from one initial time.

    Attributes:
        dataset: name of the dataset it belongs to.
        name: its name there, usually the initial date.
        init_time: initial time, UTC.
        lead_hours: (time,) lead times in hours, ascending.
        grid: the grid of all variables.
        variables: names of the variables it carries, as ``variables.ordered`` has them.
        label: short origin, such as "simulated (jcm T42)"; shown wherever values are.
        provenance: where the data come from and their limits.
        members: names of the members of an ensemble; none of a single forecast.
        cubes: see ``Cubes``; None if nothing was computed beforehand.
    """

    __zephyrus_world__ = True  # a tool's parameter of this type is filled in from the episode

    def __init__(
        self,
        dataset: str,
        name: str,
        init_time: np.datetime64,
        lead_hours: NDArray[np.int64],
        grid: AnyGrid,
        readers: Mapping[str, Reader],
        *,
        label: str = "",
        provenance: Mapping[str, Any] | None = None,
        members: Sequence[str] = (),
        means: Mapping[str, Reader] | None = None,
        cubes: Cubes | None = None,
    ) -> None:
        """Make a forecast of functions that read a variable when it is first needed.

        Args:
            dataset: see the attributes, as for name, init_time, lead_hours, grid and members.
            name: likewise.
            init_time: likewise.
            lead_hours: likewise.
            grid: likewise.
            readers: by variable; all with members if ``members`` are given.
            label: see the attributes.
            provenance: likewise.
            members: likewise.
            means: functions that read (cell, time) ensemble means, where they are kept; the
                others are computed.
            cubes: gives the numbers of features that were computed beforehand, if any were.
        """
        self.dataset = dataset
        self.name = name
        self.init_time: np.datetime64 = init_time.astype("datetime64[s]")
        self.lead_hours = np.array(lead_hours, dtype=np.int64)
        self.lead_hours.setflags(write=False)
        self.grid = grid
        self.label = label
        self.provenance = dict(provenance or {})
        self.members = tuple(members)
        self.cubes = cubes
        self._readers = dict(readers)
        self._means = dict(means or {})
        wind = ("10m_u_component_of_wind", "10m_v_component_of_wind")
        if "10m_wind_speed" not in readers and all(name in readers for name in wind):
            self._readers["10m_wind_speed"] = self._wind_speed
        self.variables = ordered(self._readers)
        self._cells: dict[str, NDArray[np.float32]] = {}
        self._read: dict[str, NDArray[np.float32]] = {}

    @property
    def id(self) -> str:
        """Unique name, ``dataset/name``."""
        return f"{self.dataset}/{self.name}"

    @property
    def rectilinear(self) -> Grid:
        """The grid, where its cells are in rows of one latitude.

        Raises:
            UnsuitableData: if they are not: a bent grid, or stations.
        """
        return rectilinear(self.grid, self.id)

    def cells(self, variable: str, member: int | str | None = None) -> NDArray[np.float32]:
        """Return a variable as (cell, time) in SI units, read-only.

        Args:
            variable: name of the variable.
            member: index or name of a member; None is the ensemble mean, or the forecast itself
                if it has no members.

        Raises:
            UnknownVariable: if the forecast does not carry it.
            UnknownMember: if there is no such member.
        """
        if member is not None:
            one: NDArray[np.float32] = self._all(variable)[self.member_index(member)]
            return one
        values = self._cells.get(variable)
        if values is None:
            if not self.members:
                values = self._all(variable)
            elif variable in self._means:
                values = np.ascontiguousarray(self._means[variable](), dtype=np.float32)
            else:
                values = ensemble.mean(self._all(variable))
            values.setflags(write=False)
            self._cells[variable] = values
        return values

    def _all(self, variable: str) -> NDArray[np.float32]:
        """Return what the reader gives: with members, if there are any."""
        values = self._read.get(variable)
        if values is None:
            reader = self._readers.get(variable)
            if reader is None:
                raise UnknownVariable(
                    f"The forecast {self.id} has no variable {variable!r}; it has "
                    f"{', '.join(self.variables)}."
                )
            values = np.ascontiguousarray(reader(), dtype=np.float32)
            values.setflags(write=False)
            self._read[variable] = values
        return values

    def member_index(self, member: int | str) -> int:
        """Return the index of a member, which is given by its name or index.

        Raises:
            UnknownMember: if there is no such member, or none at all.
        """
        if not self.members:
            raise UnknownMember(f"The forecast {self.id} is a single one: it has no members.")
        if isinstance(member, str) and member in self.members:
            return self.members.index(member)
        if not isinstance(member, str) and 0 <= member < len(self.members):
            return member
        raise UnknownMember(
            f"The forecast {self.id} has no member {member!r}; it has {len(self.members)}: "
            f"{', '.join(self.members)}."
        )

    def field(self, variable: str, time_index: int) -> NDArray[np.float32]:
        """Return a variable at one lead time as (latitude, longitude), SI units.

        Raises:
            UnknownVariable: if the forecast does not carry it.
            IndexError: if there is no such lead time.
        """
        return self.cells(variable)[:, time_index].reshape(self.grid.shape)

    def valid_time(self, time_index: int) -> np.datetime64:
        """Return initial time plus lead time, UTC."""
        return self.init_time + np.timedelta64(int(self.lead_hours[time_index]), "h")

    @classmethod
    def open(cls, path: Path, *, dataset: str, name: str | None = None) -> "Forecast":
        """Open a NetCDF file; variables are decoded when asked for. ``from_xarray`` has more.

        Raises:
            UnsuitableData: if the file is not laid out as a forecast.
        """
        return cls._from_source(NetCDFSource(path), dataset, name)

    @classmethod
    def from_xarray(
        cls, ds: "xr.Dataset", *, dataset: str = "local", name: str | None = None
    ) -> "Forecast":
        """Wrap an xarray Dataset; variables are loaded when asked for.

        Args:
            ds: dimensions lead_time (hours or timedelta), latitude, longitude, for an ensemble
                member (all variables) and, for some variables, level (hPa); WeatherBench 2
                variable names in SI units; ``init_time``
                as a scalar coordinate or attribute. Attributes ``label``, ``source``,
                ``limits`` and others are kept. Variables with other names are passed over, and
                10m_wind_speed is derived from its components if it is absent.
            dataset: name of the dataset the forecast belongs to.
            name: its name there; the initial date (and hour, unless 0) by default.

        Raises:
            UnsuitableData: if coordinates or all known variables are missing.
        """
        return cls._from_source(XarraySource(ds), dataset, name)

    @classmethod
    def _from_source(cls, source: Source, dataset: str, name: str | None) -> "Forecast":
        grid, ilat, ilon = read_grid(source)
        hours = read_hours(source, "lead_time")
        init_time = read_instant(source, "init_time")
        members = [str(name) for name in source.read("member")] if "member" in source.dims else []
        dims = ("member", *_DIMS) if members else _DIMS
        places = locate(source, dims)
        if not places:
            raise UnsuitableData(
                f"{source.title} has no known variable on {', '.join(dims)}; it has "
                f"{', '.join(source.dims)}."
            )

        def read(place: tuple[str, int | None]) -> NDArray[np.float32]:
            field = read_field(source, place, dims)[..., ilat, :, :][..., ilon, :]
            return field.reshape(*((len(members),) if members else ()), grid.size, hours.size)

        return cls(
            dataset,
            name or _date_name(init_time),
            init_time,
            hours,
            grid,
            {variable: partial(read, place) for variable, place in places.items()},
            label=str(source.attrs.get("label", "")),
            provenance={k: v for k, v in source.attrs.items() if k not in ("init_time", "label")},
            members=members,
        )

    def to_xarray(self) -> "xr.Dataset":
        """Return the forecast as from_xarray takes it, in memory.

        Variables on levels are put together along ``level`` where all of them have the same
        levels, else they stay apart (``geopotential_500``).

        Raises:
            UnsuitableData: if its cells are not in rows of one latitude.
        """
        import xarray as xr

        grid = self.rectilinear
        nlat, nlon = grid.shape
        leading = ("member", "lead_time") if self.members else ("lead_time",)
        fields = {
            name: np.moveaxis(
                self._all(name).reshape(*self._all(name).shape[:-2], nlat, nlon, -1), -1, -3
            )
            for name in self.variables
        }
        data, levels = stack_levels(fields, leading)
        coords: dict[str, Any] = {
            "lead_time": self.lead_hours.astype("timedelta64[h]").astype("timedelta64[ns]"),
            "latitude": ("latitude", grid.latitude, {"units": "degrees_north"}),
            "longitude": ("longitude", grid.longitude, {"units": "degrees_east"}),
            "init_time": self.init_time.astype("datetime64[ns]"),
        }
        if levels:
            coords["level"] = ("level", list(levels), {"units": "hPa"})
        if self.members:
            coords["member"] = list(self.members)
        return xr.Dataset(data, coords, attrs={"label": self.label} | self.provenance)

    def _wind_speed(self) -> NDArray[np.float32]:
        # Member by member: the mean of the speeds is not the speed of the mean wind.
        u, v = (self._all(f"10m_{c}_component_of_wind") for c in "uv")
        return np.hypot(u, v)

    def __repr__(self) -> str:
        return f"Forecast({self.id!r}, {self.lead_hours.size} lead times, {self.grid!r})"


def stack_levels(
    fields: Mapping[str, NDArray[np.float32]], leading: tuple[str, ...]
) -> tuple[dict[str, Any], tuple[float, ...]]:
    """Put variables that share all their levels together along a level dimension.

    Args:
        fields: by flat name, each (*leading, latitude, longitude).
        leading: names of the leading dimensions.

    Returns:
        xarray data variables as (dims, array, attrs), and the levels in hPa (may be empty).
    """
    levels: dict[str, list[float]] = {}
    for name in fields:
        placed = level_of(name)
        if placed is not None:
            base, level = placed
            levels.setdefault(base, []).append(int(level) if level.is_integer() else level)
    shared = {tuple(sorted(found)) for found in levels.values()}
    stacked = next(iter(shared)) if len(shared) == 1 else ()
    data: dict[str, Any] = {}
    for name, field in fields.items():
        base = (level_of(name) or ("",))[0]
        attrs = {"units": variable(name).units, "long_name": variable(name).long_name}
        if not (stacked and base in levels):
            data[name] = ((*leading, "latitude", "longitude"), field, attrs)
        elif base not in data:
            array = np.stack([fields[f"{base}_{level:g}"] for level in stacked], len(leading))
            attrs["long_name"] = base.replace("_", " ")
            data[base] = ((*leading, "level", "latitude", "longitude"), array, attrs)
    return data, stacked


def _date_name(moment: np.datetime64) -> str:
    """Name a forecast by its initial date, and hour unless it is midnight."""
    text = str(moment.astype("datetime64[h]"))
    return text.removesuffix("T00")
