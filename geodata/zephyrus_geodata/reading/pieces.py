"""Fields of a cube taken apart: one piece for every variable and level, with its axes known."""

import re
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from gzip import BadGzipFile
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.levels import grib_level, level, no_pressures
from zephyrus_geodata.reading.members import member_name
from zephyrus_geodata.reading.moments import Clock, Moments
from zephyrus_geodata.reading.places import Places
from zephyrus_geodata.reading.remarks import Remarks
from zephyrus_geodata.reading.roles import Role, bounds_of, roles
from zephyrus_geodata.reading.understood import Answers, Horizontal, Level
from zephyrus_geodata.reading.valid import within

if TYPE_CHECKING:
    import xarray as xr

_METHODS = {"mean": "avg", "average": "avg", "sum": "accum", "maximum": "max", "minimum": "min",
            "max": "max", "min": "min", "point": "instant", "accumulation": "accum",
            "accumulated": "accum", "instantaneous": "instant"}  # fmt: skip
_TIME_METHOD = re.compile(
    r"\b(?:\w*time\w*|T|steps?|lead|fhour|forecast_(?:period|hour))"
    r"\s*:\s*(?:\w+\s*:\s*)*(\w+)\b(?!\s*:)"
)
_UNREADABLE = re.compile(r"^NetCDF|decompress", re.IGNORECASE)
_SHOWN = ("present", "window_start")
_QUANTILES = ("quantile", "percentile", "probability")


@dataclass(frozen=True, eq=False)
class Piece:
    """One quantity on one level in one cube.

    Attributes:
        name: raw name.
        attrs: of the array.
        level: or None.
        places: its horizontal.
        moments: its times.
        members: names along ``member_dim``, one name without a dimension, or none.
        member_dim: or None.
        step_type: instant, accum, ... or empty.
        var: the array.
        fixed: index of every dimension that is none of these.
    """

    name: str
    attrs: Mapping[str, Any]
    level: Level | None
    places: Horizontal
    moments: Moments
    members: tuple[str, ...]
    member_dim: str | None
    step_type: str
    var: "xr.Variable"
    fixed: Mapping[str, int]

    @property
    def identity(self) -> tuple[Any, ...]:
        """What pieces of one field share."""
        keys = ("units", "GRIB_dataType", "GRIB_topLevel", "GRIB_bottomLevel", "GRIB_paramId",
                "GRIB_derivedForecast", "GRIB_percentileValue")  # fmt: skip
        place = (self.level.kind, self.level.value) if self.level else None
        shared = tuple(str(self.attrs.get(key, "")) for key in keys)
        return (self.name, place, self.places.key, self.step_type, *shared)

    def read(
        self, firsts: NDArray[np.intp], seconds: NDArray[np.intp], members: list[int] | None
    ) -> NDArray[Any]:
        """Read moments.

        Args:
            firsts: (n,) indices along ``moments.init_dim``.
            seconds: (n,) indices along ``moments.lead_dim``.
            members: indices along ``member_dim``, None for all.

        Returns:
            (member, n, *places), with one member where there is no dimension of them.
        """
        parts = []
        for start, stop in _runs(firsts, self.moments.lead_dim is not None):
            parts.append(self._block(firsts[start:stop], seconds[start:stop], members))
        return parts[0] if len(parts) == 1 else np.concatenate(parts, axis=1)

    def _block(
        self, firsts: NDArray[np.intp], seconds: NDArray[np.intp], members: list[int] | None
    ) -> NDArray[Any]:
        index: dict[str, Any] = dict(self.fixed)
        order = []
        if self.member_dim:
            order.append(self.member_dim)
            if members is not None:
                index[self.member_dim] = _tight(np.asarray(members))
        first_dim, second_dim = self.moments.init_dim, self.moments.lead_dim
        if first_dim:
            order.append(first_dim)
            # With lead times of their own, all moments of a block are of one run.
            index[first_dim] = _tight(firsts[:1] if second_dim else firsts)
        if second_dim:
            order.append(second_dim)
            index[second_dim] = _tight(seconds)
        part = self.var.isel(index).transpose(*order, *self.places.dims)
        try:
            raw = np.asarray(part.values)
        except (RuntimeError, zlib.error, BadGzipFile) as error:
            # Netcdf-C's and the codecs' of Zarr chunks; a broken server may send a page for one.
            if isinstance(error, RuntimeError) and not _UNREADABLE.search(str(error)):
                raise
            raise UnsuitableData(
                f"{self.name} can't be read ({error}): the file is damaged, or its server broke "
                "off; fetch it again."
            ) from error
        values = within(part, raw)
        count = values.shape[0] if self.member_dim else 1
        return values.reshape((count, firsts.size, *self.places.shape))


def _runs(firsts: NDArray[np.intp], split: bool) -> list[tuple[int, int]]:
    """Return the stretches of equal first index; everything is one where they may differ."""
    if not split or firsts.size == 0:
        return [(0, firsts.size)]
    cuts = [0, *(np.flatnonzero(np.diff(firsts)) + 1).tolist(), firsts.size]
    return list(pairwise(cuts))


def _tight(index: NDArray[np.intp]) -> slice | NDArray[np.intp]:
    """Return a slice where an index can be one: storage likes it better."""
    if index.size and (np.diff(index) == 1).all():
        return slice(int(index[0]), int(index[-1]) + 1)
    return index


def step_type(attrs: Mapping[str, Any]) -> str:
    """Return what a value stands for in time; empty if the source doesn't say."""
    for key in ("GRIB_stepType", "step_type"):
        if text := str(attrs.get(key, "")).strip():
            return _METHODS.get(text.lower(), text.lower())
    match = _TIME_METHOD.search(re.sub(r"\([^)]*\)", "", str(attrs.get("cell_methods", ""))))
    return _METHODS.get(match[1].lower(), match[1].lower()) if match else ""


def pieces(cube: "xr.Dataset", answers: Answers, remarks: Remarks) -> Iterator[Piece]:
    """Take a cube apart; what isn't a field, or can't be one, is told to ``remarks``."""
    known = roles(cube)
    _tell_gaps(cube, remarks)
    helpers = bounds_of(cube) | set(_SHOWN)
    places = Places(cube, known)
    clock = Clock(cube, known, answers, remarks)
    for key, var in cube.variables.items():
        name = str(key)
        if name in known or name in helpers or var.dims == (name,) or not var.ndim:
            continue
        if answers.names.get(name) == "":
            remarks.leave_out(name, "left out as asked")
        elif var.dtype.kind not in "iuf":
            remarks.leave_out(name, "is no number")
        else:
            yield from _of(cube, name, var, known, places, clock, remarks)


def _tell_gaps(cube: "xr.Dataset", remarks: Remarks) -> None:
    """Tell how much of a GRIB cube there is, and of a run that was still being written."""
    present = cube.variables.get("present")
    for name in cube.data_vars:
        if present is not None and str(name) not in _SHOWN and not present.values.all():
            there = np.asarray(present.values)
            remarks.note(
                f"{there.size - np.count_nonzero(there)} of {there.size} fields (members x times x "
                "steps x levels) are not in the source and are missing.",
                str(name),
            )
    lengths = [cube.variables.get(f"{kind}_forecast_length") for kind in ("ingested", "expected")]
    if all(length is not None and length.ndim == 1 for length in lengths):
        ingested, expected = (np.asarray(length.values) for length in lengths if length is not None)
        short = int(np.count_nonzero(ingested < expected))
        if short:
            remarks.note(f"{short} runs are not complete yet; what they lack is missing.")


def _of(
    cube: "xr.Dataset",
    name: str,
    var: "xr.Variable",
    known: Mapping[str, Role],
    places: Places,
    clock: Clock,
    remarks: Remarks,
) -> Iterator[Piece]:
    horizontal = places.find(name)
    if horizontal is None:
        remarks.leave_out(name, "has no latitude and longitude")
        return
    moments = clock.find(name)
    if moments is None:
        remarks.leave_out(name, "does not vary in time")
        return
    used = {*horizontal.dims, moments.init_dim, moments.lead_dim}
    fixed: dict[str, int] = {}
    level_dim = member_dim = None
    for dim in map(str, var.dims):
        if dim in used:
            continue
        what = _dim_role(cube, dim, known)
        if what == "member" and member_dim is None:
            member_dim = dim
        elif what == "level" and level_dim is None:
            level_dim = dim
        elif var.sizes[dim] == 1:
            fixed[dim] = 0
        else:
            remarks.leave_out(name, f"has a dimension {dim} of {var.sizes[dim]}")
            return
    part = _quantile(cube, var)
    if part:
        remarks.leave_out(name, f"is a {part} of a distribution")
        return
    members, member_dim = _members(cube, var, member_dim, known, fixed)
    shared: dict[str, Any] = {
        "name": name, "attrs": dict(var.attrs), "places": horizontal, "moments": moments,
        "members": members, "member_dim": member_dim, "step_type": step_type(var.attrs),
        "var": var,
    }  # fmt: skip
    for where, index in _levels(cube, var, level_dim, known, remarks):
        yield Piece(level=where, fixed={**fixed, **index}, **shared)


def _quantile(cube: "xr.Dataset", var: "xr.Variable") -> str:
    """Return the dimension or scalar that makes a field one quantile; empty if there is none."""
    named = str(var.attrs.get("coordinates", "")).split()
    for key, other in cube.variables.items():
        name = str(key)
        if name.lower() in _QUANTILES and (
            name in var.dims or (not other.dims and (not named or name in named))
        ):
            return name
    return ""


def _dim_role(cube: "xr.Dataset", dim: str, known: Mapping[str, Role]) -> Role:
    """Return the role of a dimension: its own coordinate's, or that of one along it."""
    if dim in known:
        return known[dim]
    along = [known[str(n)] for n, v in cube.variables.items() if v.dims == (dim,) and n in known]
    return along[0] if along else ""


def _coordinate(cube: "xr.Dataset", dim: str, role: Role, known: Mapping[str, Role]) -> str | None:
    if dim in cube.variables and known.get(dim) == role:
        return dim
    return next(
        (
            str(n)
            for n, v in cube.variables.items()
            if v.dims == (dim,) and known.get(str(n)) == role
        ),
        None,
    )


def _members(
    cube: "xr.Dataset",
    var: "xr.Variable",
    dim: str | None,
    known: Mapping[str, Role],
    fixed: dict[str, int],
) -> tuple[tuple[str, ...], str | None]:
    if dim is None:
        scalars = [n for n, r in known.items() if r == "member" and n in cube.variables]
        scalars = [n for n in scalars if cube.variables[n].size == 1]
        if len(scalars) == 1:
            return (member_name(cube.variables[scalars[0]].values.reshape(-1)[0]),), None
        return (), None
    coordinate = _coordinate(cube, dim, "member", known)
    if coordinate is None:
        return tuple(str(n) for n in range(var.sizes[dim])), dim
    names = tuple(member_name(v) for v in cube.variables[coordinate].values.tolist())
    double = sorted({name for name in names if names.count(name) > 1})
    if double:
        raise UnsuitableData(
            f"The members {coordinate} have the name {double[0]} more than once; number them anew."
        )
    return names, dim


def _levels(
    cube: "xr.Dataset",
    var: "xr.Variable",
    dim: str | None,
    known: Mapping[str, Role],
    remarks: Remarks,
) -> list[tuple[Level | None, dict[str, int]]]:
    grib = str(var.attrs.get("GRIB_typeOfLevel", ""))
    if dim is None:
        scalar = _scalar_level(cube, var, known)
        if scalar is not None:
            attrs = cube.variables[scalar].attrs
            return [(level(scalar, float(cube.variables[scalar].values), attrs), {})]
        return [(grib_level(grib, 0.0) if grib else None, {})]
    coordinate = _coordinate(cube, dim, "level", known)
    if coordinate is None:
        return [(None, {dim: i}) for i in range(var.sizes[dim])]
    values = np.asarray(cube.variables[coordinate].values, np.float64)
    attrs = cube.variables[coordinate].attrs
    if grib and coordinate == "level" and not attrs:
        return [(grib_level(grib, float(v)), {dim: i}) for i, v in enumerate(values)]
    if not str(attrs.get("units", "")).strip() and _counts(values):
        remarks.note(f"The levels {coordinate} count 1, 2, 3 ...: model levels, no pressures.")
        return [(Level("model", float(v), "", coordinate), {dim: i}) for i, v in enumerate(values)]
    made = [level(coordinate, float(v), attrs) for v in values]
    if not made or made[0].kind != "pressure" or str(attrs.get("units", "")).strip():
        return [(where, {dim: i}) for i, where in enumerate(made)]
    if no_pressures(coordinate, values):
        remarks.note(
            f"The levels {coordinate} have no units and are no usual pressures in hPa: their "
            "fields are left out; give the levels units."
        )
        made = [Level("other", float(v), "", coordinate) for v in values]
    else:
        remarks.note(f"The levels {coordinate} have no units and were read as hPa.")
    return [(where, {dim: i}) for i, where in enumerate(made)]


def _counts(values: NDArray[np.float64]) -> bool:
    """Say whether values are 1, 2, 3 ... in either order."""
    return values.size > 1 and bool((np.sort(values) == np.arange(1, values.size + 1)).all())


def _scalar_level(cube: "xr.Dataset", var: "xr.Variable", known: Mapping[str, Role]) -> str | None:
    """Return the scalar level that belongs to a field: a named one, or the only one there is."""
    scalars = [
        n for n, r in known.items() if r == "level" and n in cube.variables
        and not cube.variables[n].dims and cube.variables[n].dtype.kind in "iuf"
    ]  # fmt: skip
    named = str(var.attrs.get("coordinates", "")).split()
    chosen = [n for n in scalars if n in named] or ([] if named else scalars)
    return chosen[0] if len(chosen) == 1 else None
