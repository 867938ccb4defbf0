"""Drawing a map: filled contours, coastlines and borders, a colour bar, degrees.

Plain matplotlib with a figure and canvas of its own, never pyplot; longitude and latitude are drawn
straight (equirectangular, true to scale in the middle). Coastlines come from the dataset's own
countries. A lock keeps matplotlib's caches to one thread at a time.
"""

import io
import threading
from dataclasses import dataclass
from weakref import WeakKeyDictionary

import numpy as np
import shapely
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.collections import LineCollection
from matplotlib.colorbar import Colorbar
from matplotlib.figure import Figure
from matplotlib.ticker import FuncFormatter, MaxNLocator
from numpy.typing import NDArray
from PIL import Image
from scipy.ndimage import map_coordinates
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata import FeatureStore, Grid, Variable
from zephyrus_tools.palettes import Palette, palette
from zephyrus_tools.regions import Region

_DPI = 100
_LONG_SIDE, _SHORT_SIDE = 6.4, 2.4  # inches: the map's larger side, and the least of the other
_LEFT, _RIGHT, _TOP, _BOTTOM = 0.55, 1.0, 0.62, 0.36  # inches around the map
_BAR_GAP, _BAR_WIDTH = 0.14, 0.17  # inches
_FLATTEST = 0.35  # the least cosine used for the map's scale, near the poles

_STATES_BELOW = 40.0  # degrees: states are drawn on maps narrower than this
_WHOLE_ABOVE = 200.0  # degrees: wider maps are drawn with equal degrees
_FEW_DEGREES = 20.0  # degrees: narrower maps have ticks at decimal steps
_THINNING = ((150.0, 0.25), (60.0, 0.1), (25.0, 0.03))  # width, least detail, both in degrees
_SAMPLES = 60  # points along a side at which the values shown are looked up for the colour bar
_COLOURS = 128  # of the PNG

_LOCK = threading.Lock()


def draw(
    variable: Variable,
    grid: Grid,
    field: NDArray[np.float32],
    region: Region,
    features: FeatureStore,
    *,
    title: str,
    subtitle: str,
    highlight: BaseGeometry | None = None,
) -> bytes:
    """Draw a map.

    Args:
        variable: What the field is; decides colours and units.
        grid: The field's grid.
        field: (latitude, longitude) in SI units; NaN is left grey.
        region: What to show.
        features: Whose countries and states are drawn.
        title: First line above the map.
        subtitle: Second, smaller line.
        highlight: A shape to draw bold.

    Returns:
        A PNG: the same bytes for the same arguments.
    """
    with _LOCK:
        figure, axes, bar = _layout(region)
        lat, lon, values = _surroundings(grid, field, region)
        values = variable.to_display(values)
        look = palette(variable.name, _shown(lat, lon, values, region))
        _fill(axes, lat, lon, values, look)
        _draw_outlines(axes, region, features, highlight)
        _draw_bar(figure, bar, look, variable.display_units)
        _write(figure, title, 0.40, 11.0, "bold")
        _write(figure, subtitle, 0.20, 8.5, "normal")
        return _png(figure)


def _layout(region: Region) -> tuple[Figure, Axes, Axes]:
    """A figure with the map's axes, in the shape of the region, and the colour bar's."""
    middle = np.deg2rad(0.5 * (region.south + region.north))
    scale = 1.0
    if region.east - region.west < _WHOLE_ABOVE:
        scale = max(float(np.cos(middle)), _FLATTEST)
    ratio = (region.east - region.west) * scale / (region.north - region.south)
    width, height = (
        (_LONG_SIDE, _LONG_SIDE / ratio) if ratio > 1 else (_LONG_SIDE * ratio, _LONG_SIDE)
    )
    width, height = max(width, _SHORT_SIDE), max(height, _SHORT_SIDE)
    whole = max(width + _LEFT + _RIGHT, 0.75 * _LONG_SIDE), height + _TOP + _BOTTOM
    figure = Figure(figsize=whole, dpi=_DPI, facecolor="white")
    FigureCanvasAgg(figure)

    def place(left: float, breadth: float) -> tuple[float, float, float, float]:
        return left / whole[0], _BOTTOM / whole[1], breadth / whole[0], height / whole[1]

    axes = figure.add_axes(place(_LEFT, width))
    bar = figure.add_axes(place(_LEFT + width + _BAR_GAP, _BAR_WIDTH))
    axes.set_facecolor("#c8c8c8")
    axes.set_xlim(region.west, region.east)
    axes.set_ylim(region.south, region.north)
    narrow = region.east - region.west < _FEW_DEGREES
    ticks = [1, 2, 5, 10] if narrow else [1, 1.5, 2, 3, 4.5, 6, 9, 10]
    axes.xaxis.set_major_locator(MaxNLocator(max(2, round(width)), steps=ticks))
    axes.yaxis.set_major_locator(MaxNLocator(max(2, round(height)), steps=ticks))
    axes.xaxis.set_major_formatter(FuncFormatter(lambda x, _: _degrees(x, "E", "W")))
    axes.yaxis.set_major_formatter(FuncFormatter(lambda y, _: _degrees(y, "N", "S")))
    axes.tick_params(labelsize=8, length=3, width=0.6)
    axes.grid(color="black", alpha=0.15, linewidth=0.4)
    return figure, axes, bar


def _write(figure: Figure, line: str, above: float, size: float, weight: str) -> None:
    """Write a line some inches above the map, smaller than ``size`` if it is too long."""
    width, height = figure.get_size_inches()
    fits = 0.93 * width * 72.0 / (0.58 * len(line))  # a letter is about 0.58 of its size wide
    y = 1.0 - (_TOP - above) / height
    figure.text(
        _LEFT / width, y, line, fontsize=min(size, fits), fontweight=weight, va="center", ha="left"
    )


def _png(figure: Figure) -> bytes:
    """The figure as a PNG with a palette: small, and without date or software."""
    raw = io.BytesIO()
    figure.savefig(raw, format="raw", dpi=_DPI)
    size = figure.canvas.get_width_height()
    picture = Image.frombytes("RGBA", size, raw.getvalue()).convert("RGB")
    picture = picture.quantize(_COLOURS, method=Image.Quantize.FASTOCTREE, dither=Image.Dither.NONE)
    out = io.BytesIO()
    picture.save(out, format="PNG", compress_level=6)
    return out.getvalue()


def _degrees(x: float, positive: str, negative: str) -> str:
    wrapped = (x + 180.0) % 360.0 - 180.0 if positive == "E" else x
    side = positive if wrapped > 0 else negative if wrapped < 0 else ""
    return f"{abs(wrapped):g}°{side if abs(wrapped) != 180.0 else ''}"


def _surroundings(
    grid: Grid, field: NDArray[np.float32], region: Region
) -> tuple[NDArray[np.float64], NDArray[np.float64], NDArray[np.float64]]:
    """The cells in and around a region, with longitudes that run on through it.

    Returns:
        Latitudes (row,), longitudes (column,) and values (row, column). The outermost rows are
        repeated at the poles, which centres of cells may not reach.
    """
    turns = np.array([-360.0, 0.0, 360.0])
    if not grid.periodic:  # only where it overlaps the region most: its ends don't meet
        edges = grid.lon_edges
        starts = np.maximum(edges[0] + turns, region.west)
        overlap = np.minimum(edges[-1] + turns, region.east) - starts
        turns = turns[[int(np.argmax(overlap))]]
    lon = (grid.longitude + turns[:, None]).ravel()
    column = np.tile(np.arange(grid.longitude.size), turns.size)
    wanted = _with_neighbours(lon, region.west, region.east)
    lat = np.concatenate([[-90.0], grid.latitude, [90.0]])
    row = np.concatenate([[0], np.arange(grid.latitude.size), [grid.latitude.size - 1]])
    reaches = np.array(
        [
            grid.lat_edges[0] <= -90.0 < grid.latitude[0],
            True,
            grid.lat_edges[-1] >= 90.0 > grid.latitude[-1],
        ]
    )
    there = np.repeat(reaches, [1, grid.latitude.size, 1])
    lat, row = lat[there], row[there]
    rows = _with_neighbours(lat, region.south, region.north)
    values = field[np.ix_(row[rows], column[wanted])].astype(np.float64)
    return lat[rows], lon[wanted], values


def _shown(
    lat: NDArray[np.float64],
    lon: NDArray[np.float64],
    values: NDArray[np.float64],
    region: Region,
) -> NDArray[np.float64]:
    """What the colours must cover: values at points of the region, between the cells' centres."""
    columns = np.interp(
        np.linspace(region.west, region.east, _SAMPLES), lon, np.arange(lon.size, dtype=float)
    )
    rows = np.interp(
        np.linspace(region.south, region.north, _SAMPLES), lat, np.arange(lat.size, dtype=float)
    )
    shown: NDArray[np.float64] = map_coordinates(
        values, np.meshgrid(rows, columns, indexing="ij"), order=1, mode="nearest"
    )
    return shown if not np.isnan(shown).all() else values


def _with_neighbours(axis: NDArray[np.float64], low: float, high: float) -> slice:
    """The part of an ascending axis that holds an interval, with two more on each side."""
    first, last = np.searchsorted(axis, [low, high])
    first = min(max(int(first) - 2, 0), axis.size - 2)
    return slice(first, max(int(last) + 2, first + 2))


def _fill(
    axes: Axes,
    lat: NDArray[np.float64],
    lon: NDArray[np.float64],
    values: NDArray[np.float64],
    look: Palette,
) -> None:
    masked = np.ma.masked_invalid(values)
    # Beyond the region values may exceed the levels: they get the colour of the last class.
    inside = np.clip(masked, look.levels[0], look.levels[-1])
    axes.contourf(lon, lat, inside, levels=look.levels, cmap=look.colours, norm=look.norm)
    if look.lines:
        lines = axes.contour(lon, lat, masked, levels=look.levels, colors="#222222", linewidths=0.7)
        axes.clabel(lines, fontsize=7, fmt="%g", inline_spacing=2)


def _draw_bar(figure: Figure, bar: Axes, look: Palette, units: str) -> None:
    from matplotlib.cm import ScalarMappable

    colours = ScalarMappable(look.norm, look.colours)
    Colorbar(bar, colours, spacing="uniform", ticks=look.levels.tolist())
    bar.set_yticklabels([f"{level:g}" for level in look.levels])
    bar.tick_params(labelsize=8, length=2, width=0.6)
    bar.set_title(units, fontsize=8.5, pad=5)


def _draw_outlines(
    axes: Axes, region: Region, features: FeatureStore, highlight: BaseGeometry | None
) -> None:
    width = region.east - region.west
    tolerance = next((detail for least, detail in _THINNING if width > least), 0.0)
    kinds = features.kinds()
    if "us_state" in kinds and width < _STATES_BELOW:
        lines = _kind_outlines(features, "us_state", tolerance).within(region)
        axes.add_collection(LineCollection(lines, colors="#333333", linewidths=0.35), autolim=False)
    if "country" in kinds:
        lines = _kind_outlines(features, "country", tolerance).within(region)
        thickness = 0.8 if width < _THINNING[1][0] else 0.5
        axes.add_collection(
            LineCollection(lines, colors="#1a1a1a", linewidths=thickness), autolim=False
        )
    if highlight is None:
        return
    if not highlight.area:
        middle = highlight.centroid
        x = (middle.x - region.west) % 360.0 + region.west
        axes.plot([x], [middle.y], marker="o", markersize=6, color="black", markerfacecolor="white")
        return
    lines = _Outlines.of([highlight], tolerance).within(region)
    axes.add_collection(LineCollection(lines, colors="#000000", linewidths=1.4), autolim=False)


@dataclass(frozen=True)
class _Outlines:
    """Lines in degrees.

    Attributes:
        lines: Each (point, 2): longitude, latitude.
        bounds: (line, 4): west, south, east, north.
    """

    lines: list[NDArray[np.float64]]
    bounds: NDArray[np.float64]

    @classmethod
    def of(cls, geometries: list[BaseGeometry], tolerance: float) -> "_Outlines":
        """The outlines of polygons, without their straight cuts along 180 and the pole."""
        shapes = np.array(geometries, dtype=object)
        if tolerance:
            shapes = shapely.simplify(shapes, tolerance, preserve_topology=False)
        rings = shapely.get_rings(shapely.get_parts(shapes))
        lines: list[NDArray[np.float64]] = []
        for ring in rings:
            points = shapely.get_coordinates(ring)
            edge = (np.abs(points[:, 0]) > 179.99) | (points[:, 1] < -89.5)
            cuts = np.flatnonzero(edge[1:] & edge[:-1]) + 1
            lines.extend(part for part in np.split(points, cuts) if len(part) > 1)
        bounds = [(*line.min(axis=0), *line.max(axis=0)) for line in lines]
        return cls(lines, np.array(bounds).reshape(-1, 4))

    def within(self, region: Region) -> list[NDArray[np.float64]]:
        """The lines that may touch a region, moved round the Earth to where it is."""
        west, south, east, north = self.bounds.T
        found = []
        for turn in (-360.0, 0.0, 360.0):
            near = (
                (east + turn >= region.west)
                & (west + turn <= region.east)
                & (north >= region.south)
                & (south <= region.north)
            )
            found += [self.lines[i] + (turn, 0.0) for i in np.flatnonzero(near)]
        return found


_KNOWN: WeakKeyDictionary[FeatureStore, dict[tuple[str, float], _Outlines]] = WeakKeyDictionary()


def _kind_outlines(features: FeatureStore, kind: str, tolerance: float) -> _Outlines:
    known = _KNOWN.setdefault(features, {})
    if (kind, tolerance) not in known:
        shapes = [f.geometry for f in features.of_kind(kind)]
        known[kind, tolerance] = _Outlines.of(shapes, tolerance)
    return known[kind, tolerance]
