"""Centres of low and high pressure, followed over time."""

from __future__ import annotations

import weakref
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import ndimage

from zephyrus_geodata import Forecast, Grid
from zephyrus_report.compose.findings import Finding, Kind, Place, Quantity, compass
from zephyrus_report.compose.places import Gazetteer
from zephyrus_report.compose.scene import Scene
from zephyrus_report.compose.sphere import bearing, distance
from zephyrus_report.compose.wording import STATIONARY

PRESSURE = "mean_sea_level_pressure"

_POLEWARD, _EQUATORWARD = 78.0, 20.0  # degrees of latitude between which centres are told
_RADIUS = 450.0  # km: a centre is the extreme within this distance
_RING = (700.0, 1100.0)  # km: what a centre must stand out against
_PROMINENCE = {Kind.LOW: 4.0, Kind.HIGH: 3.0}  # hPa below or above the ring's mean
_APART = 2.0  # degrees: a centre is the extreme of at least the cells around it, and of this
_AROUND, _HOLLOW = 7.5, 0.2  # degrees and hPa of a first, cheap test
_LOW, _HIGH = 1013.0, 1015.0  # hPa: a low's mean pressure is below, a high's above
_CLOSED = 1.0  # hPa below or above nine tenths of the ring
_STEP = 110.0  # km/h: the fastest a centre moves
_WESTWARD = 65.0  # km/h: the same towards the west, in the westerlies
_WESTERLIES = 30.0  # degrees of latitude
_LONG_ENOUGH = 18  # h: a shorter track is left out
_NEAR = 0.35  # of 1 for a centre inside the region all the time
_GAP = 12  # h between two pieces of one track
_PIECES = {Kind.LOW: 900.0, Kind.HIGH: 1500.0}  # km: the centre of a wide high jumps further
_ASIDE = 0.35  # how much a system counts that is near outlying parts of the region alone
_REACH = 1200.0  # km: a centre further from the region than this is no part of its story

# Pressure reduced to sea level says little over high ground.
_HIGH_GROUND = (
    "island:Greenland",
    "continent:Antarctica",
    "plateau:Tibetan Plateau",
    "mountain_range:Himalayas",
    "mountain_range:Andes",
)

_Key = tuple[int, int, bytes]


@dataclass
class Track:
    """One centre over time.

    Attributes:
        kind: LOW or HIGH.
        steps: Indices of the lead times, consecutive.
        cells: The centre's cell at each.
        pressure: Its pressure at each, hPa.
    """

    kind: Kind
    steps: list[int]
    cells: list[int]
    pressure: list[float]


_tracks: weakref.WeakKeyDictionary[Forecast, dict[_Key, list[Track]]] = weakref.WeakKeyDictionary()


def tracks(forecast: Forecast, kind: Kind, steps: slice, barred: NDArray[np.bool_]) -> list[Track]:
    """Find the centres at each step and join them, nearest first.

    Args:
        forecast: It must carry mean sea level pressure.
        kind: LOW or HIGH.
        steps: Which lead times.
        barred: (cell,) where no centre is looked for.
    """
    grid = forecast.rectilinear
    hours = forecast.lead_hours
    raw = forecast.cells(PRESSURE) / 100.0
    lat, lon = _coordinates(grid)
    around = _Surroundings(lat, lon)
    done: list[Track] = []
    live: list[Track] = []
    for step in range(steps.start, steps.stop):
        found = _centres(grid, raw[:, step], kind, barred, around)
        passed = float(hours[step] - hours[step - 1]) if step > steps.start else 0.0
        taken = _nearest_first(around, [t.cells[-1] for t in live], found, passed)
        for i, j in taken.items():
            live[i].steps.append(step)
            live[i].cells.append(found[j])
            live[i].pressure.append(float(raw[found[j], step]))
        done += [track for i, track in enumerate(live) if i not in taken]
        live = [track for i, track in enumerate(live) if i in taken]
        live += [
            Track(kind, [step], [cell], [float(raw[cell, step])])
            for j, cell in enumerate(found)
            if j not in taken.values()
        ]
    return done + live


class _Surroundings:
    """The cells near a cell and on the ring around it, kept for the cells that were asked for."""

    def __init__(self, lat: NDArray[np.float64], lon: NDArray[np.float64]) -> None:
        self._lat = lat
        self._lon = lon
        self._found: dict[int, tuple[NDArray[np.intp], NDArray[np.intp]]] = {}

    def __call__(self, cell: int) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """The cells within `_RADIUS`, and those of the ring."""
        found = self._found.get(cell)
        if found is None:
            far = distance(self._lat[cell], self._lon[cell], self._lat, self._lon)
            ring = np.flatnonzero((far >= _RING[0]) & (far <= _RING[1]))
            found = self._found[cell] = (np.flatnonzero(far <= _RADIUS), ring)
        return found

    def between(self, one: list[int], other: list[int]) -> NDArray[np.float64]:
        """Distances in km from each cell to each other."""
        lat, lon = self._lat, self._lon
        return distance(lat[one][:, None], lon[one][:, None], lat[other], lon[other])

    def reach(self, one: list[int], other: list[int], hours: float) -> NDArray[np.float64]:
        """How far in km a centre gets from each cell towards each other in some hours."""
        lat, lon = self._lat[one][:, None], self._lon[one][:, None]
        west = (self._lon[other] - lon + 180.0) % 360.0 - 180.0 < 0.0
        slow = west & (np.abs(lat) > _WESTERLIES)
        return np.where(slow, _WESTWARD, _STEP) * hours


def _nearest_first(
    around: _Surroundings, before: list[int], after: list[int], hours: float
) -> dict[int, int]:
    """Join each centre before to one some hours after, the nearest first, none beyond reach."""
    far = around.between(before, after)
    can = far <= around.reach(before, after, hours)
    joined: dict[int, int] = {}
    for i, j in np.argwhere(can)[np.argsort(far[can], kind="stable")].tolist():
        if i not in joined and j not in joined.values():
            joined[i] = j
    return joined


def _all_tracks(scene: Scene) -> list[Track]:
    """Every track of the scene's window on the whole grid, kept for its next region."""
    steps, barred = scene.steps(scene.start, scene.end), _barred(scene)
    known = _tracks.setdefault(scene.forecast, {})
    key = (steps.start, steps.stop, barred.tobytes())
    if key not in known:
        known[key] = [
            track
            for kind in (Kind.LOW, Kind.HIGH)
            for track in tracks(scene.forecast, kind, steps, barred)
        ]
    return known[key]


def detect(scene: Scene) -> list[Finding]:
    """The pressure systems in or near the region, the most important first."""
    if not scene.has(PRESSURE):
        return []
    found: list[Finding] = []
    for track in _all_tracks(scene):
        hours = scene.forecast.lead_hours[track.steps]
        near = _nearness(scene, track) if hours[-1] - hours[0] >= _LONG_ENOUGH else 0.0
        if near < _NEAR or not _deserves_its_name(track):
            continue
        depth = abs(float(np.mean(track.pressure)) - 1013.0) / 15.0
        lasting = (hours[-1] - hours[0]) / max(scene.end - scene.start, 1)
        found.append(_finding(scene, track, round(near * (0.6 + depth) * (0.5 + lasting), 3)))
    kept: list[Finding] = []
    for finding in sorted(found, key=lambda f: -f.importance):
        if not any(_same_system(finding, other) for other in kept):
            kept.append(finding)
    return kept


def _deserves_its_name(track: Track) -> bool:
    """Whether a low is low: a dip in a high is a centre, but not one to tell."""
    mean = float(np.mean(track.pressure))
    return mean < _LOW if track.kind is Kind.LOW else mean > _HIGH


def _same_system(a: Finding, b: Finding) -> bool:
    """Whether two tracks are pieces of one system: one goes on near where the other ends."""
    if a.kind is not b.kind:
        return False
    first, second = (a, b) if a.start <= b.start else (b, a)
    ends = first.target or first.place
    lat1, lon1, lat2, lon2 = (
        ends.latitude,
        ends.longitude,
        second.place.latitude,
        second.place.longitude,
    )
    if lat1 is None or lon1 is None or lat2 is None or lon2 is None:
        return False
    soon = abs(second.start - first.end) <= _GAP
    return soon and float(distance(lat1, lon1, lat2, lon2)) <= _PIECES[a.kind]


def _finding(scene: Scene, track: Track, importance: float) -> Finding:
    lat, lon = _coordinates(scene.forecast.rectilinear)
    hours = [int(h) for h in scene.forecast.lead_hours[track.steps]]
    first, last = track.cells[0], track.cells[-1]
    start, end = (_place(scene.gazetteer, lat, lon, cell) for cell in (first, last))
    far = float(distance(lat[first], lon[first], lat[last], lon[last]))
    speed = far / max(hours[-1] - hours[0], 1)
    # Shorter than about a cell's diagonal, a displacement is the grid's and not the system's.
    moving = speed >= STATIONARY and far >= 400.0
    peak = int(np.argmin(track.pressure) if track.kind is Kind.LOW else np.argmax(track.pressure))

    def pressure(i: int) -> Quantity:
        return Quantity(track.pressure[i], "hPa", PRESSURE, "", "point", "at", hours[i], hours[i])

    direction = compass(bearing(lat[first], lon[first], lat[last], lon[last])) if moving else ""
    return Finding(
        track.kind,
        start,
        hours[0],
        hours[-1],
        {
            "pressure": pressure(peak),
            "before": pressure(0),
            "after": pressure(-1),
            "speed": Quantity(speed, "km/h"),
        },
        hour=hours[peak],
        direction=direction,
        target=end,
        importance=importance,
    )


def _place(
    gazetteer: Gazetteer, lat: NDArray[np.float64], lon: NDArray[np.float64], cell: int
) -> Place:
    return gazetteer.point(float(lat[cell]), float(lon[cell]))


def _centres(
    grid: Grid,
    pressure: NDArray[np.float32],
    kind: Kind,
    barred: NDArray[np.bool_],
    around: _Surroundings,
) -> list[int]:
    """Cells that are the extreme of their surroundings and stand out against a ring."""
    sign = 1.0 if kind is Kind.LOW else -1.0
    field = sign * pressure.reshape(grid.shape).astype(np.float64)
    modes = ("nearest", "wrap" if grid.periodic else "nearest")
    lowest = ndimage.minimum_filter(field, size=_cells(grid, _APART), mode=modes)
    inner = np.zeros(grid.shape, dtype=bool)
    inner[1:-1] = True  # the edge of a grid is no centre
    if not grid.periodic:
        inner[:, (0, -1)] = False
    # A cheap test first: a centre is well below the mean of the degrees around it.
    hollow = (
        ndimage.uniform_filter(field, size=_cells(grid, _AROUND), mode=modes) - field >= _HOLLOW
    )
    candidates = np.flatnonzero((field <= lowest).ravel() & (hollow & inner).ravel() & ~barred)
    flat = field.ravel()
    kept: list[int] = []
    for cell in candidates[np.argsort(flat[candidates], kind="stable")]:
        near, outer = around(int(cell))
        if np.isin(kept, near).any():
            continue
        ring = flat[outer]
        if not ring.size or flat[cell] > flat[near].min():
            continue
        stands_out = float(ring.mean() - flat[cell]) >= _PROMINENCE[kind]
        if stands_out and float(np.quantile(ring, 0.1) - flat[cell]) >= _CLOSED:
            kept.append(int(cell))
    return kept


def _cells(grid: Grid, degrees: float) -> tuple[int, int]:
    """The size of a window of cells that reaches some degrees to each side, at least one cell."""
    rows, columns = (
        2 * max(1, round(degrees / float(np.median(np.diff(axis))))) + 1
        for axis in (grid.latitude, grid.longitude)
    )
    return rows, columns


def _nearness(scene: Scene, track: Track) -> float:
    """From 1 for a track inside the region to 0 for one that stays `_REACH` away.

    It is the mean of the nearer half of the track, since a low that comes from far matters where it
    arrives. Near outlying parts of the region, Alaska of the United States, it counts less.
    """
    lat, lon = _coordinates(scene.forecast.rectilinear)
    cells = np.array(track.cells)

    def near(inside: NDArray[np.intp]) -> float:
        far = distance(lat[cells][:, None], lon[cells][:, None], lat[inside], lon[inside])
        share = np.sort(np.maximum(0.0, 1.0 - far.min(axis=1) / _REACH))
        return float(share[len(share) // 2 :].mean())

    return max(near(scene.core), _ASIDE * near(scene.reach))


def _barred(scene: Scene) -> NDArray[np.bool_]:
    """Cells where no centre is looked for: the tropics, the poles and high ground."""
    lat, _ = _coordinates(scene.forecast.rectilinear)
    barred = (np.abs(lat) < _EQUATORWARD) | (np.abs(lat) > _POLEWARD)
    for key in _HIGH_GROUND:
        if key in scene.dataset.features:
            zone = scene.dataset.zones.zone(scene.dataset.features[key])
            barred[zone.cells] = True
    return barred


def _coordinates(grid: Grid) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Latitude and longitude of every cell, degrees."""
    lat = np.repeat(grid.latitude, grid.shape[1])
    return lat, np.tile(grid.longitude, grid.shape[0])
