"""Wind barbs: as WMO-No. 485 has them on charts.

A shaft points to where the wind comes from, and ends at the place it is for. A pennant is 50 kt, a
long feather 10, a short one 5, of the speed rounded to the nearest 5 kt; below 2.5 kt the wind is
calm, a circle. Feathers are on the left of the shaft, looking from its place to its feathered end,
in the southern hemisphere, and on its right in the northern: on the side of the lower pressure.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from zephyrus_chartqa.charts.sampling import sampler
from zephyrus_chartqa.charts.view import Lines, View
from zephyrus_chartqa.fields import ChartData
from zephyrus_tools.ink import Ink, Mask

KNOT = 1852.0 / 3600.0
"""m/s."""

SHAFT = 21.0
"""Pixels of a shaft."""

_FEATHER = 9.0  # pixels of a long feather
_SLANT = np.deg2rad(65.0)  # of feathers from the shaft
_APART = 3.6  # pixels between feathers
_PENNANT = 4.5  # pixels of the shaft that a pennant takes
_CALM = 3.0  # pixels: radius of the circle
_LINE = 0.75  # points
_LIGHTEST = 2.5  # kt: less is calm
_ASIDE = ((0, 0), (7, 0), (-7, 0), (0, 7), (0, -7))  # pixels from a lattice point
_BAND = 75.0  # degrees: nearer to a pole than this, a lattice has no barb beyond the last row

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Barb:
    """One barb.

    Attributes:
        x: Of its place, in pixels of the map.
        y: Likewise.
        knots: Speed, rounded to 5 kt; 0 is calm.
        lines: Shaft and feathers, or the circle.
        pennants: Triangles.
    """

    x: float
    y: float
    knots: int
    lines: Lines
    pennants: Lines


def barb(x: float, y: float, toward: Floats, speed: float, *, southern: bool) -> Barb:
    """Make a barb.

    Args:
        x: Its place in pixels.
        y: Likewise, downward.
        toward: (2,) where the wind blows to, in pixels, of length 1.
        speed: m/s.
        southern: Whether the place is south of the equator.
    """
    knots = 5 * round(speed / KNOT / 5.0) if speed / KNOT >= _LIGHTEST else 0
    here = np.array([x, y])
    if not knots:
        turn = np.linspace(0.0, 2.0 * np.pi, 25)
        return Barb(x, y, 0, [here + _CALM * np.column_stack([np.cos(turn), np.sin(turn)])], [])
    shaft = -np.asarray(toward, dtype=np.float64)
    # y runs down: a turn by +90 degrees on the screen, to the right of the shaft, is (-y, x).
    side = np.array([-shaft[1], shaft[0]]) * (-1.0 if southern else 1.0)
    feather = np.cos(_SLANT) * shaft + np.sin(_SLANT) * side
    end = here + SHAFT * shaft
    lines, pennants = [np.array([here, end])], []
    fifties, rest = divmod(knots, 50)
    tens, fives = divmod(rest, 10)
    at = SHAFT
    for _ in range(fifties):
        top, foot = here + at * shaft, here + (at - _PENNANT) * shaft
        tip = 0.5 * (top + foot) + _FEATHER * feather
        pennants.append(np.array([top, tip, foot, top]))
        at -= _PENNANT + 1.0
    if fifties and (tens or fives):
        at -= 1.5
    if not fifties and not tens:
        at -= _APART  # a short feather alone is not at the end, where it could be taken for a long
    for long in [True] * tens + [False] * (fives // 5):
        foot = here + at * shaft
        lines.append(np.array([foot, foot + (_FEATHER if long else 0.5 * _FEATHER) * feather]))
        at -= _APART
    return Barb(x, y, knots, lines, pennants)


def barbs(data: ChartData, shown: View, spacing: int, free: NDArray[np.bool_]) -> list[Barb]:
    """Make the barbs of a chart on a lattice of its map.

    Args:
        data: A chart with wind.
        shown: Its view.
        spacing: Of the lattice in pixels.
        free: (height, width) where barbs may be.
    """
    assert data.u is not None and data.v is not None
    x, y, lat, north = _lattice(shown, spacing)
    placed = sampler(data, shown)
    last = np.abs(data.latitude[[0, -1]]).max()
    wanted = (np.abs(lat) <= last) | (np.abs(lat) < _BAND)
    made = []
    speeds = np.hypot(data.u, data.v)
    for aside, down in _ASIDE:
        # Where a lattice point is taken, places beside it are tried.
        near = np.flatnonzero(wanted)
        at_x = np.clip(x[near] + aside, 0, shown.width - 1)
        at_y = np.clip(y[near] + down, 0, shown.height - 1)
        u, v = placed.at(data.u, at_x, at_y), placed.at(data.v, at_x, at_y)
        speed = placed.at(speeds, at_x, at_y)
        up = north[near]
        east = np.column_stack([-up[:, 1], up[:, 0]])  # a quarter turn clockwise on the screen
        toward = u[:, None] * east + v[:, None] * up
        length = np.linalg.norm(toward, axis=1, keepdims=True)
        toward = np.divide(toward, length, out=np.zeros_like(toward), where=length > 0.0)
        fits = np.isfinite(speed) & _free(free, at_x, at_y, toward)
        for i in np.flatnonzero(fits):
            south = bool(lat[near[i]] < 0.0)
            made.append(
                barb(float(at_x[i]), float(at_y[i]), toward[i], float(speed[i]), southern=south)
            )
        wanted[near[fits]] = False
    return made


def _free(
    free: NDArray[np.bool_], x: NDArray[np.intp], y: NDArray[np.intp], toward: Floats
) -> NDArray[np.bool_]:
    """Whether whole shafts are where barbs may be: (barb,)."""
    height, width = free.shape
    fits = np.ones(x.shape, dtype=bool)
    for share in (0.0, 0.25, 0.5, 0.75, 1.0):
        at = np.rint(np.column_stack([x, y]) - share * SHAFT * toward).astype(np.intp)
        fits &= (at >= 0).all(axis=1) & (at < (width, height)).all(axis=1)
        at = np.clip(at, 0, (width - 1, height - 1))
        fits &= free[at[:, 1], at[:, 0]]
    return fits


def ink(made: list[Barb], shown: View) -> Mask:
    """Return the ink of barbs: (height, width)."""
    sheet = Ink(shown.width, shown.height)
    sheet.lines([line for one in made for line in one.lines], _LINE)
    sheet.shapes([shape for one in made for shape in one.pennants])
    sheet.lines([shape for one in made for shape in one.pennants], 0.5 * _LINE)
    return sheet.mask


@lru_cache(maxsize=64)
def _lattice(
    shown: View, spacing: int
) -> tuple[NDArray[np.intp], NDArray[np.intp], Floats, Floats]:
    """Points of a map at even distances inside the region, and the direction of north there."""
    first = [(side % spacing + spacing) // 2 for side in (shown.width, shown.height)]
    x, y = np.meshgrid(
        np.arange(first[0] % spacing, shown.width, spacing),
        np.arange(first[1] % spacing, shown.height, spacing),
    )
    inside = shown.visible[y, x]
    x, y = x[inside], y[inside]
    lon, lat = (axis[y, x] for axis in shown.places)
    return x, y, lat, shown.north(lon, lat)
