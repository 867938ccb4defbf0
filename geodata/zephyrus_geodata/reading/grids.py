"""The grid of a field: which of its points are cells of what kind, and in which order."""

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.cells import REGRID, CellGrid, StationList
from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.reading.reduced import ReducedGrid
from zephyrus_geodata.reading.understood import Answers, Horizontal, Layout, Note

__all__ = ["CellGrid", "Grid", "StationList", "lay_out"]

_SAME = 1e-4  # degrees: parallels and meridians of a 2-D grid may differ by rounding

_OFF = 0.2  # cells: coordinates further from the middle of their bounds are no centres

_JUMP = 5.0  # a wider gap than so many cells is between regions, not of a stretched grid

_UNREADABLE = {
    "healpix": ("a HEALPix grid", "cdo remapcon,global_0.25 IN OUT, or earthkit-regrid"),
    "ugrid": ("an unstructured mesh (UGRID)", "cdo remapcon,global_0.25 IN OUT"),
    "unstructured": ("an unstructured mesh", "cdo remapcon,global_0.25 IN OUT"),
    "unstructured_grid": ("an unstructured mesh", "cdo remapcon,global_0.25 IN OUT"),
    "sh": ("spherical harmonics", "cdo sp2gpl IN OUT"),
    "space_view": ("a satellite's view", "satpy, or gdalwarp -t_srs EPSG:4326 IN OUT"),
}
"""gridType or kind -> what it is, and what converts it."""

_UNREADABLE |= {"spectral": _UNREADABLE["sh"]}


def lay_out(horizontal: Horizontal, answers: Answers = Answers()) -> Layout:
    """Make the grid of a field's places.

    Args:
        horizontal: the places, as the source has them.
        answers: what the user says; nothing here needs it yet.

    Returns:
        The grid, what puts values on its cells, and notes.

    Raises:
        UnsuitableData: for a grid that can't be read; the message says how to convert it.
    """
    del answers
    kind = horizontal.grid_type.lower()
    if kind in _UNREADABLE:
        what, how = _UNREADABLE[kind]
        raise UnsuitableData(f"The source is on {what}, which is not read. Convert it: {how}.")
    if horizontal.kind == "rectilinear":
        latitude, moved = _centres(horizontal.latitude, horizontal.latitude_bounds)
        longitude, also = _centres(horizontal.longitude, horizontal.longitude_bounds)
        note = "its coordinates are edges of the cells, by their bounds: the middles were taken"
        return _rectilinear(latitude, longitude, (Note(note),) if moved or also else ())
    if horizontal.kind == "points":
        return _points(horizontal)
    return _curvilinear(horizontal)


def _centres(
    axis: NDArray[np.float64], bounds: NDArray[np.float64] | None
) -> tuple[NDArray[np.float64], bool]:
    """Return the middles of the cells, and whether the coordinates were something else.

    CF lets a coordinate lie anywhere in its cell; where it is an edge, the whole grid would be
    half a cell off. A row at a pole, whose cell ends there, moves no median.
    """
    if bounds is None or bounds.shape != (axis.size, 2):
        return axis, False
    width = bounds[:, 1] - bounds[:, 0]
    off = (bounds.mean(axis=1) - axis + 180.0) % 360.0 - 180.0
    usable = np.isfinite(off) & (np.abs(width) > 0.0) & (np.abs(width) < 180.0)
    if not usable.all() or np.median(np.abs(off / width)) <= _OFF:
        return axis, False
    return axis + off, True


def _rectilinear(
    latitude: NDArray[np.float64], longitude: NDArray[np.float64], notes: tuple[Note, ...]
) -> Layout:
    if latitude.size < 2 or longitude.size < 2:
        raise UnsuitableData(
            f"The source has {latitude.size} latitude{'s' * (latitude.size != 1)} and "
            f"{longitude.size} longitude{'s' * (longitude.size != 1)}; a grid needs two of each."
        )
    grid, ilat, ilon = Grid.from_coords(latitude, longitude)
    for what, axis in (("latitudes", grid.latitude), ("longitudes", grid.longitude)):
        widths = np.diff(axis)
        if widths.max() > _JUMP * np.median(widths):
            at = int(np.argmax(widths))
            raise UnsuitableData(
                f"The {what} jump from {axis[at]:g} to {axis[at + 1]:g}, and the cells beside the "
                "gap would fill it; give each region a file of its own."
            )
    said: list[Note] = list(notes)
    if latitude[0] > latitude[-1]:
        said.append(Note("latitudes were turned to run from south to north"))
    if ilon.size < longitude.size:
        said.append(Note("a longitude that is given twice (0 and 360) is taken once"))
    if (np.abs(longitude[ilon] - grid.longitude) > 1.0).any():
        said.append(Note("longitudes were put into -180 to 180"))
    return Layout(grid, partial(_take, ilat, ilon), tuple(said))


def _take(ilat: NDArray[np.intp], ilon: NDArray[np.intp], values: NDArray[Any]) -> NDArray[Any]:
    """Put (..., latitude, longitude) on cells."""
    taken = values[..., ilat[:, None], ilon]
    return taken.reshape(*values.shape[:-2], ilat.size * ilon.size)


def _curvilinear(horizontal: Horizontal) -> Layout:
    lat, lon = horizontal.latitude, horizontal.longitude
    for swap in (False, True):
        along, across = (lat.T, lon.T) if swap else (lat, lon)
        if not _is_regular(along, across):
            continue
        note = Note("its latitudes and longitudes are 2-D but those of a regular grid")
        laid = _rectilinear(along[:, 0], across[0], (note,))
        gather = partial(_swapped, laid.gather) if swap else laid.gather
        return Layout(laid.grid, gather, laid.notes)
    grid = CellGrid(lat, lon).check()
    size = float(np.sqrt(np.median(grid.cell_area))) / 1000.0
    named = horizontal.grid_type.replace("_", " ") or "curvilinear"
    note = Note(
        f"the {named} grid keeps its own cells, about {size:.3g} km wide; nothing is interpolated"
    )
    return Layout(grid, _flatten, (note,))


def _is_regular(lat: NDArray[np.float64], lon: NDArray[np.float64]) -> bool:
    """Say whether rows have one latitude and columns one longitude each."""
    if np.abs(lat[:, 0] - lat[:, -1]).max() > _SAME or np.ptp(lat, axis=1).max() > _SAME:
        return False
    off = (lon - lon[0] + 180.0) % 360.0 - 180.0
    return bool(np.abs(off).max() < _SAME)


def _swapped(gather: Callable[[NDArray[Any]], NDArray[Any]], values: NDArray[Any]) -> NDArray[Any]:
    return gather(np.swapaxes(values, -1, -2))


def _flatten(values: NDArray[Any]) -> NDArray[Any]:
    """Put (..., row, column) on cells."""
    return values.reshape(*values.shape[:-2], -1)


def _points(horizontal: Horizontal) -> Layout:
    lat, lon = horizontal.latitude, horizontal.longitude
    if horizontal.grid_type.lower() in ("reduced_gg", "reduced_ll"):
        reduced = ReducedGrid(lat, lon)
        note = Note(
            f"the reduced grid of {lat.size} points was brought to {reduced.grid.shape[0]} x "
            f"{reduced.grid.shape[1]} cells, row by row, keeping the mean of every row"
        )
        return Layout(reduced.grid, reduced.gather, (note,))
    if horizontal.grid_type.lower() == "stations" or horizontal.labels:
        note = Note("places in a list: each point has the value of the nearest, areas have none")
        return Layout(StationList(lat, lon, horizontal.labels), lambda values: values, (note,))
    raise UnsuitableData(
        f"The source has its {lat.size} places in a list, on a grid that it doesn't name. {REGRID}"
    )
