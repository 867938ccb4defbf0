"""Which part of a Zarr source a request needs: indices along its dimensions, and its arrays."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.fetching.catalogue import components
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.fetching.plan import not_there, times_in_words
from zephyrus_geodata.fetching.request import LATEST, Request
from zephyrus_geodata.variables import level_of

if TYPE_CHECKING:
    import xarray as xr

INIT = ("init_time", "time", "initial_time", "forecast_reference_time")
LEAD = ("prediction_timedelta", "lead_time", "step")
MEMBER = ("number", "ensemble_member", "realization", "member")
LEVEL = ("level", "pressure_level", "isobaricInhPa")
LATITUDE = ("latitude", "lat")
LONGITUDE = ("longitude", "lon")

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Cut:
    """A part of a source.

    Attributes:
        raw: the source's names of the arrays to take.
        names: canonical name -> the arrays that it needs; what can be had of the request.
        missing: canonical names that the source hasn't got.
        indices: dimension -> indices; dimensions that are not here are taken whole.
        hours: lead times that are taken.
        leads: those that the store is to keep, if they are fewer.
        times: how many (initial) times, in words.
        notes: what the user should know.
    """

    raw: tuple[str, ...]
    names: Mapping[str, tuple[str, ...]]
    missing: tuple[str, ...]
    indices: Mapping[str, Indices]
    hours: tuple[int, ...] = ()
    leads: tuple[int, ...] = ()
    times: str = ""
    notes: tuple[str, ...] = ()

    def apply(self, cube: "xr.Dataset") -> "xr.Dataset":
        """Return the part of a cube, with every coordinate and helper that is small."""
        small = [name for name, v in cube.variables.items() if _is_helper(cube, str(name), v)]
        chosen = cube[[*self.raw, *(n for n in small if n not in cube.dims)]]
        there = {dim: index for dim, index in self.indices.items() if dim in chosen.dims}
        return chosen.isel({dim: _plain(index) for dim, index in there.items()})


def make_cut(cube: "xr.Dataset", request: Request) -> Cut:
    """Find what a request needs.

    Args:
        cube: the source as ``open_source`` gives it; only its coordinates are read.
        request: what to take.

    Raises:
        FetchError: if the request asks for what is not there.
    """
    dims = {str(dim) for dim in cube.dims}
    init, lead = _first(INIT, dims), _first(LEAD, dims)
    names, missing, levels = _variables(cube, request)
    raw = tuple(dict.fromkeys(array for arrays in names.values() for array in arrays))
    indices: dict[str, Indices] = {}
    keep: tuple[int, ...] = ()
    taken: tuple[int, ...] = ()
    notes = not_there(request.source.name, missing)
    if init is None:
        raise FetchError(f"{request.base} has no time axis ({', '.join(sorted(dims))}).")
    moments = _moments(cube, init)
    valid = _valid(cube, moments)
    indices[init] = valid[request.moments(moments[valid])]
    if request.times == LATEST:
        indices[init] = _last_complete(cube, init, indices[init])
    if lead is not None:
        hours = _hours(cube, lead)
        indices[lead] = request.leads(hours)
        if set(raw) & set(request.source.stepwise):
            # Amounts of steps that are left out have to be added to the next one.
            last = hours[indices[lead]].max()
            keep = tuple(hours[indices[lead]].tolist())
            indices[lead] = np.flatnonzero(hours <= last)
            if indices[lead].size == len(keep):
                keep = ()
        taken = tuple(hours[indices[lead]].tolist())
    elif set(raw) & set(request.source.stepwise):
        _check_steps(request, moments, indices[init])
    level = _first(LEVEL, dims)
    if level is not None and levels:
        values = np.asarray(cube[level].values, dtype=np.float64)
        indices[level] = np.flatnonzero(np.isin(np.round(values, 3), sorted(levels)))
    member = _first(MEMBER, dims)
    if request.members:
        if member is None:
            raise FetchError(f"{request.source.name} has no members (--members).")
        indices[member] = _members(cube, member, request.members)
    indices |= _places(cube, dims, request)
    chosen = moments[indices[init]]
    what = "initial time" if lead is not None else "time"
    said = times_in_words([_shown(time) for time in chosen], what)
    return Cut(raw, names, missing, indices, taken, keep, said, notes)


def _variables(
    cube: "xr.Dataset", request: Request
) -> tuple[dict[str, tuple[str, ...]], tuple[str, ...], set[float]]:
    names: dict[str, tuple[str, ...]] = {}
    missing: list[str] = []
    levels: set[float] = set()
    for name in request.variables:
        arrays = _arrays(cube, request, name)
        if arrays is None and (parts := components(name)):
            found = [_arrays(cube, request, part) for part in parts]
            arrays = None if None in found else tuple(a for f in found if f for a in f)
        if arrays is None:
            missing.append(name)
            continue
        names[name] = arrays
        leveled = level_of(name)
        if leveled is not None:
            levels.add(round(leveled[1], 3))
    if request.is_named and missing:
        has = ", ".join(sorted(str(name) for name in cube.data_vars)[:60])
        raise FetchError(
            f"{request.source.name} hasn't got {', '.join(missing)}; its arrays are {has}."
        )
    if not names:
        raise FetchError(f"{request.source.name} at {request.base} has none of the variables.")
    return names, tuple(missing), levels


def _arrays(cube: "xr.Dataset", request: Request, name: str) -> tuple[str, ...] | None:
    """Return the array that holds a variable, None if there is none."""
    raw, leveled = request.source.raw(name), level_of(name)
    if raw not in cube.data_vars:
        return None
    level = _first(LEVEL, {str(dim) for dim in cube[raw].dims})
    if (leveled is None) != (level is None) and "{level}" not in str(
        request.source.variables.get(leveled[0] if leveled else name, "")
    ):
        return None
    if leveled is not None and level is not None:
        values = np.round(np.asarray(cube[level].values, dtype=np.float64), 3)
        if round(leveled[1], 3) not in values:
            return None
    return (raw,)


def _moments(cube: "xr.Dataset", name: str) -> NDArray[np.datetime64]:
    import xarray as xr

    values: NDArray[np.datetime64] = np.asarray(
        xr.decode_cf(cube[[name]].drop_vars([v for v in cube[[name]].variables if v != name]))[
            name
        ].values
    )
    if values.dtype.kind != "M":
        raise FetchError(f"The times of {name!r} can't be read ({values.dtype}).")
    return values.astype("datetime64[s]")


def _hours(cube: "xr.Dataset", name: str) -> NDArray[np.int64]:
    import xarray as xr

    values = np.asarray(xr.decode_cf(cube[[name]], decode_timedelta=True)[name].values)
    if values.dtype.kind == "m":
        return values.astype("timedelta64[s]").astype(np.int64) // 3600
    return values.astype(np.int64)  # bare numbers are hours


def _valid(cube: "xr.Dataset", times: NDArray[np.datetime64]) -> Indices:
    """Return the indices of times that are filled: ARCO-ERA5's axis goes on beyond its data."""
    first, last = cube.attrs.get("valid_time_start"), cube.attrs.get("valid_time_stop")
    chosen = np.ones(times.shape, dtype=bool)
    if first:
        chosen &= times >= np.datetime64(str(first))
    if last:
        chosen &= times.astype("datetime64[D]") <= np.datetime64(str(last), "D")
    return np.flatnonzero(chosen) if chosen.any() else np.arange(times.size)


def _last_complete(cube: "xr.Dataset", init: str, last: Indices) -> Indices:
    """Return the last run that is all there, if the source tells, else the last one."""
    if not {"ingested_forecast_length", "expected_forecast_length"} <= set(cube.data_vars):
        return last
    have = np.asarray(cube["ingested_forecast_length"].values, dtype=np.float64)
    whole = np.asarray(cube["expected_forecast_length"].values, dtype=np.float64)
    if have.shape != (cube.sizes[init],):
        return last
    complete = np.flatnonzero(have >= whole)
    return complete[-1:] if complete.size else last


def _check_steps(request: Request, times: NDArray[np.datetime64], chosen: Indices) -> None:
    """Refuse amounts of one step at times that are further apart."""
    if chosen.size > 1 and (np.diff(times[chosen]).min() > np.diff(times).min()):
        taken = set(request.source.stepwise)
        raise FetchError(
            f"{', '.join(n for n in request.variables if request.source.raw(n) in taken)} is the "
            "amount of one step of the source: take every step (leave --every out), or leave it "
            "out of --variables."
        )


def _members(cube: "xr.Dataset", dim: str, names: Sequence[str]) -> Indices:
    there = [str(value) for value in np.asarray(cube[dim].values).tolist()]
    wanted = ["0" if name == "control" and "0" in there else name for name in names]
    if lost := [name for name in wanted if name not in there]:
        raise FetchError(f"--members {','.join(lost)}: there are {', '.join(there)}.")
    return np.array([there.index(name) for name in wanted])


def _places(cube: "xr.Dataset", dims: set[str], request: Request) -> dict[str, Indices]:
    box = request.box()
    names = {str(name) for name in cube.variables}
    latitude, longitude = _first(LATITUDE, names), _first(LONGITUDE, names)
    if box is None or latitude is None or longitude is None:
        return {}
    west, south, east, north = box
    width = 360.0 if abs(east - west) >= 360.0 else (east - west) % 360.0
    lat = np.asarray(cube[latitude].values, dtype=np.float64)
    lon = np.asarray(cube[longitude].values, dtype=np.float64)
    if lat.ndim == 2:
        inside = (lat >= south) & (lat <= north) & ((lon - west) % 360.0 <= width)
        _check_some(inside, request)
        axes = [np.flatnonzero(inside.any(axis=1)), np.flatnonzero(inside.any(axis=0))]
        return {
            str(dim): np.arange(max(0, i.min() - 1), min(size, i.max() + 2))
            for dim, i, size in zip(cube[latitude].dims, axes, lat.shape, strict=True)
        }
    rows = (lat >= south) & (lat <= north)
    columns = (lon - west) % 360.0 <= width
    _check_some(rows, request)
    _check_some(columns, request)
    return {latitude: _rows(np.flatnonzero(rows), lat.size), longitude: _columns(columns)}


def _rows(inside: Indices, size: int) -> Indices:
    """A row more on each side, and all of them to a pole that is near.

    A grid takes its first row to own the pole if it is a spacing away from it.
    """
    low, high = int(inside.min()) - 1, int(inside.max()) + 2
    return np.arange(0 if low <= 2 else low, size if high >= size - 2 else high)


def _columns(inside: NDArray[np.bool_]) -> Indices:
    """A column more on each side; round the globe if need be."""
    wide = inside | np.roll(inside, 1) | np.roll(inside, -1)
    return np.flatnonzero(wide)


def _check_some(inside: NDArray[np.bool_], request: Request) -> None:
    if not inside.any():
        raise FetchError(f"--bbox {request.bbox} lies outside the grid of {request.source.name}.")


def _is_helper(cube: "xr.Dataset", name: str, variable: Any) -> bool:
    """Say whether something is a coordinate, or a small array beside the fields."""
    return name in cube.dims or is_small(name, tuple(map(str, variable.dims)), variable.shape)


def is_small(name: str, dims: Sequence[str], shape: Sequence[int]) -> bool:
    """Say whether an array is fetched with any request: axes, and what belongs to them."""
    if name in LATITUDE or name in LONGITUDE or not dims or dims == (name,):
        return True
    is_place = any(dim in LATITUDE + LONGITUDE + ("x", "y") for dim in dims)
    return not is_place and len(dims) <= 2 and int(np.prod(shape)) <= 20_000_000


def _first(names: Sequence[str], there: set[str]) -> str | None:
    return next((name for name in names if name in there), None)


def _plain(index: Indices) -> Any:
    """Return a slice for indices that follow one another: it is read without detours."""
    if index.size and np.array_equal(index, np.arange(index[0], index[0] + index.size)):
        return slice(int(index[0]), int(index[-1]) + 1)
    return index


def _shown(moment: Any) -> str:
    return str(np.datetime64(moment, "h"))
