"""Where arrays come from: a NetCDF file or an xarray Dataset, seen in one way.

NetCDF files are read with netCDF4 directly: xarray takes a second to import and is loaded only
by those who use it. Nothing is held open between reads, so a source may cross a fork, and a lock
keeps the threads of one process apart (the HDF5 library is not safe to enter twice).
"""

import threading
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.reading.units import same
from zephyrus_geodata.variables import ON_LEVELS, at_level, ordered, variable

if TYPE_CHECKING:
    import xarray as xr

LOCK = threading.Lock()

_NANOSECONDS = {
    "nanosecond": 1,
    "microsecond": 1_000,
    "millisecond": 1_000_000,
    "second": 1_000_000_000,
    "minute": 60_000_000_000,
    "hour": 3_600_000_000_000,
    "day": 86_400_000_000_000,
}
_CALENDARS = ("standard", "gregorian", "proleptic_gregorian")

_SHORT = {"ns": "nanosecond", "us": "microsecond", "ms": "millisecond", "s": "second"}
_SHORT |= {"min": "minute", "h": "hour", "hr": "hour", "d": "day"}


class Source(Protocol):
    """Named arrays with dimensions and attributes."""

    @property
    def title(self) -> str:
        """What to call the source in a message."""

    @property
    def dims(self) -> Mapping[str, tuple[str, ...]]:
        """Dimensions of every array, coordinates included."""

    @property
    def attrs(self) -> Mapping[str, Any]:
        """Attributes of the whole."""

    def read(self, name: str) -> NDArray[Any]:
        """Return an array, unpacked; missing floats are NaN."""

    def attrs_of(self, name: str) -> Mapping[str, Any]:
        """Return the attributes of an array."""


class NetCDFSource:
    """A NetCDF file; the constructor reads names, attributes and axes, ``read`` one array."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.title = path.name
        with LOCK, open_file(path) as file:
            self.dims = {name: tuple(var.dimensions) for name, var in file.variables.items()}
            self.attrs = {name: file.getncattr(name) for name in file.ncattrs()}
            self._attrs_of = {
                name: {key: var.getncattr(key) for key in var.ncattrs()}
                for name, var in file.variables.items()
            }
            # Opening the file again for every axis would take longer than reading them all now.
            self._axes = {
                name: self._decode(file, name) for name, dims in self.dims.items() if len(dims) <= 1
            }

    def read(self, name: str) -> NDArray[Any]:
        """Return an array, unpacked; missing floats are NaN."""
        if name in self._axes:
            return self._axes[name]
        with LOCK, open_file(self.path) as file:
            return self._decode(file, name)

    def attrs_of(self, name: str) -> Mapping[str, Any]:
        """Return the attributes of an array."""
        return self._attrs_of[name]

    def _decode(self, file: Any, name: str) -> NDArray[Any]:
        var = file.variables[name]
        # By hand, because netCDF4 also masks the type's default fill value, which packed data
        # may use as an ordinary number.
        var.set_auto_maskandscale(False)
        return _unpack(np.asarray(var[...]), self._attrs_of[name])


class XarraySource:
    """An xarray Dataset; arrays are loaded (or computed, if lazy) when they are read."""

    def __init__(self, data: "xr.Dataset", title: str = "the xarray Dataset") -> None:
        self.title = title
        self._data = data
        self.dims = {
            str(name): tuple(str(d) for d in var.dims) for name, var in data.variables.items()
        }
        self.attrs = {str(key): value for key, value in data.attrs.items()}

    def read(self, name: str) -> NDArray[Any]:
        """Return an array; missing floats are NaN."""
        return np.asarray(self._data.variables[name].values)

    def attrs_of(self, name: str) -> Mapping[str, Any]:
        """Return the attributes of an array."""
        return {str(key): value for key, value in self._data.variables[name].attrs.items()}


def read_grid(source: Source) -> tuple[Grid, NDArray[np.intp], NDArray[np.intp]]:
    """Return the grid of a source and the indices that put its data on it."""
    require(source, "latitude", "longitude")
    return Grid.from_coords(source.read("latitude"), source.read("longitude"))


def require(source: Source, *names: str) -> None:
    """Check that coordinates are there.

    Raises:
        UnsuitableData: naming those that are not.
    """
    missing = [name for name in names if name not in source.dims]
    if missing:
        raise UnsuitableData(
            f"{source.title} has no {' and no '.join(missing)} coordinate; it has "
            f"{', '.join(source.dims) or 'nothing'}."
        )


def locate(source: Source, dims: tuple[str, ...]) -> dict[str, tuple[str, int | None]]:
    """Find the known variables of a source.

    Args:
        source: where to look.
        dims: the dimensions each must have besides ``level``, latitude and longitude included.

    Returns:
        For every known variable that is there: the array that holds it, and the index along its
        ``level`` dimension (None if it has none).

    Raises:
        UnsuitableData: if the ``units`` of one are not those of ``variables``.
    """
    found: dict[str, tuple[str, int | None]] = {}
    levels = source.read("level") if "level" in source.dims else np.empty(0)
    for array, has in source.dims.items():
        if set(has) == {*dims, "level"} and array in ON_LEVELS:
            for index, level in enumerate(levels.tolist()):
                name = at_level(array, level)
                if name is not None:
                    found[name] = (array, index)
    # A flat array comes before a level of another.
    found |= {name: (name, None) for name, has in source.dims.items() if set(has) == set(dims)}
    found = {name: found[name] for name in ordered(found)}
    for name, (array, _) in found.items():
        _check_units(source, array, variable(name).units)
    return found


def _check_units(source: Source, array: str, needed: str) -> None:
    """Refuse an array whose ``units`` say that it is in others; without any it is believed."""
    units = str(source.attrs_of(array).get("units", "")).strip()
    if units and not same(units, needed):
        raise UnsuitableData(f"{source.title}: {array} is in {units!r}; {needed} is needed")


def read_field(
    source: Source, place: tuple[str, int | None], dims: tuple[str, ...]
) -> NDArray[np.float32]:
    """Return one located variable with its dimensions in the order of ``dims``."""
    name, level = place
    array, order = source.read(name), list(source.dims[name])
    if level is not None:
        array = array.take(level, axis=order.index("level"))
        order.remove("level")
    array = np.transpose(array, [order.index(d) for d in dims])
    return array.astype(np.float32, copy=False)


def read_hours(source: Source, name: str) -> NDArray[np.int64]:
    """Return lead times in whole hours from numbers (hours unless units say) or timedeltas."""
    require(source, name)
    values = np.atleast_1d(source.read(name))
    if values.dtype.kind != "m":
        unit = _unit(source, name, str(source.attrs_of(name).get("units", "hours")))
        values = (values.astype(np.float64) * unit).round()
    nanoseconds = values.astype("timedelta64[ns]").astype(np.int64)
    hours, rest = np.divmod(nanoseconds, _NANOSECONDS["hour"])
    if rest.any() or (np.diff(hours) <= 0).any():
        raise UnsuitableData(f"{source.title}: {name} must rise in steps of whole hours.")
    return hours


def read_instant(source: Source, name: str) -> np.datetime64:
    """Return a moment (UTC) from a scalar coordinate or an attribute, ISO text or encoded.

    Raises:
        UnsuitableData: if there is none, or it can't be read.
    """
    try:
        moment = _instant(source, name)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        if isinstance(error, UnsuitableData):
            raise
        moment = np.datetime64("NaT")
    if np.isnat(moment):
        raise UnsuitableData(
            f"{source.title} does not say its {name}: give a scalar coordinate or an attribute "
            "such as 2020-01-01T00."
        )
    return moment


def _instant(source: Source, name: str) -> np.datetime64:
    if name not in source.dims:
        return _parsed(source.attrs[name])
    value = source.read(name).reshape(-1)[0]
    if isinstance(value, np.datetime64):
        moment: np.datetime64 = value.astype("datetime64[ns]")
        return moment
    if isinstance(value, str):
        return _parsed(value)
    attrs = source.attrs_of(name)
    calendar = attrs.get("calendar", "standard")
    if calendar not in _CALENDARS:
        raise UnsuitableData(
            f"{source.title}: {name} is in the {calendar} calendar, whose dates are not real ones."
        )
    unit, _, since = str(attrs.get("units", "")).partition(" since ")
    nanoseconds = round(float(value) * _unit(source, name, unit))
    return _parsed(since) + np.timedelta64(nanoseconds, "ns")


def _parsed(text: Any) -> np.datetime64:
    """Read ISO text, with a blank or a T before the hour; UTC."""
    return np.datetime64(str(text).strip().rstrip("Z").replace(" ", "T"), "ns")


def _unit(source: Source, name: str, units: str) -> int:
    """Return nanoseconds in a unit of time."""
    word = units.strip().lower()
    word = _SHORT.get(word, word.removesuffix("s"))
    if word not in _NANOSECONDS:
        raise UnsuitableData(f"{source.title}: the units of {name}, {units!r}, are not a time.")
    return _NANOSECONDS[word]


def open_file(path: Path) -> Any:
    """Open a NetCDF file for reading.

    Raises:
        UnsuitableData: if it is not one.
    """
    import netCDF4

    try:
        return netCDF4.Dataset(str(path), "r")
    except FileNotFoundError:
        raise
    except OSError as error:
        raise UnsuitableData(f"{path} can't be read as NetCDF: {error.strerror}.") from error


def _unpack(raw: NDArray[Any], attrs: Mapping[str, Any]) -> NDArray[Any]:
    """Apply the CF packing and missing-value attributes; packed data become float32."""
    fills = [attrs[key] for key in ("_FillValue", "missing_value") if key in attrs]
    missing = np.isin(raw, np.concatenate([np.atleast_1d(f) for f in fills])) if fills else None
    if str(attrs.get("_Unsigned", "false")).lower() == "true":
        raw = raw.view(raw.dtype.str.replace("i", "u"))
    if "scale_factor" in attrs or "add_offset" in attrs:
        scale, offset = attrs.get("scale_factor", 1.0), attrs.get("add_offset", 0.0)
        raw = (raw.astype(np.float64) * float(scale) + float(offset)).astype(np.float32)
    if missing is not None and missing.any():
        raw = raw.astype(np.float32) if raw.dtype.kind in "iu" else raw
        raw[missing] = np.nan
    return raw
