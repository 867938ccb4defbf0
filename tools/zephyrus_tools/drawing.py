"""Drawing a map: colour classes under ink, as a PNG with a palette.

Each pixel has a class (of the values, or white, or the grey of missing data) and so much ink. The
PNG's palette has every class in a dozen shades, from its colour to ink, so that nothing needs to be
found out about the picture's colours. Longitude and latitude are drawn straight (equirectangular,
true to scale in the middle). What does not change from map to map is kept: see ``pixels``,
``outlines`` and ``frame``; some 50 MB at the most, on bent grids twice that.
"""

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata import FeatureStore, Grid, Variable
from zephyrus_geodata.cells import CellGrid
from zephyrus_tools import frame
from zephyrus_tools.contours import Contours, contours
from zephyrus_tools.ink import Mask
from zephyrus_tools.outlines import Highlight, highlighted, outlines
from zephyrus_tools.palettes import Over, Palette, palette
from zephyrus_tools.pixels import Size, pixels
from zephyrus_tools.regions import Region

MISSING = (200, 200, 200)
"""The colour of pixels without data."""

_INK = (16, 16, 16)
_WHITE = (255, 255, 255)
_COLOURS = 256  # of a PNG's palette
_MOST_SHADES = 16
_EFFORT, _LITTLE_EFFORT = 6, 3  # of compression: a tenth more bytes for half the time
_FAINT = 0.35  # of the outlines' ink is left below the labels of contour lines

Classes = NDArray[np.uint8]


def draw(
    variable: Variable,
    grid: Grid | CellGrid,
    field: NDArray[np.float32],
    region: Region,
    features: FeatureStore,
    *,
    title: str,
    subtitle: str,
    highlight: BaseGeometry | None = None,
    over: Over | None = None,
) -> bytes:
    """Draw a map with axes, title and colour bar; ``paint`` draws it without.

    Args:
        variable: What the field is; decides colours and units.
        grid: The field's grid.
        field: (latitude, longitude) in SI units; NaN is left grey.
        region: What to show.
        features: Whose countries and states are drawn.
        title: First line above the map.
        subtitle: Second, smaller line.
        highlight: A shape to draw bold.
        over: What the field is over the members of an ensemble, which has colours of its own;
            ``variable`` is then that of the spread (without offset) or share.

    Returns:
        A PNG: the same bytes for the same arguments.
    """
    layout = frame.Layout.of(region)
    size = (layout.map_width, layout.map_height)
    values = _values(variable, grid, field, region, size)
    look = _look(variable, values, over)
    white = len(look.rgb)
    picture = np.full((layout.height, layout.width), white, dtype=np.uint8)
    ink = frame.axes(region).copy()
    picture[layout.map_area] = _classes(look, values)
    window = ink[layout.map_area]
    np.maximum(window, outlines(features, region, size), out=window)
    mark = None if highlight is None else highlighted(highlight, region, size)
    _ring(picture[layout.map_area], window, mark, white)
    if look.lines:
        _lines(window, contours(values, look.levels, window))
    rows, bar_ink = frame.bar(look, variable.display_units, layout)
    picture[layout.bar_area] = rows[:, None]
    beside = ink[layout.beside]
    np.maximum(beside, bar_ink, out=beside)
    words = frame.words(title, subtitle, layout)
    above = ink[: len(words)]
    np.maximum(above, words, out=above)
    return _png(picture, ink, look, _EFFORT)


def paint(
    variable: Variable,
    grid: Grid | CellGrid,
    field: NDArray[np.float32],
    region: Region,
    features: FeatureStore,
    *,
    size: Size = (512, 512),
    highlight: BaseGeometry | None = None,
    over: Over | None = None,
) -> bytes:
    """Draw the bare map: colours, coastlines and borders from edge to edge, and nothing else.

    Args:
        variable: As of ``draw``, as are the others.
        grid: Likewise.
        field: Likewise.
        region: Likewise; it is stretched to the size.
        features: Likewise.
        size: Width and height in pixels.
        highlight: Likewise.
        over: Likewise.

    Returns:
        A PNG: the same bytes for the same arguments.
    """
    values = _values(variable, grid, field, region, size)
    look = _look(variable, values, over)
    picture, ink = _classes(look, values), outlines(features, region, size)
    if highlight is not None:
        ink = ink.copy()
        _ring(picture, ink, highlighted(highlight, region, size), len(look.rgb))
    return _png(picture, ink, look, _LITTLE_EFFORT)


def _values(
    variable: Variable,
    grid: Grid | CellGrid,
    field: NDArray[np.float32],
    region: Region,
    size: Size,
) -> NDArray[np.float32]:
    """The values at the pixels of a map in display units."""
    values = pixels(grid, field, region, size)
    values *= np.float32(variable.scale)
    values += np.float32(variable.offset)
    return values


def _look(variable: Variable, values: NDArray[np.float32], over: Over | None) -> Palette:
    """Colours that cover what is shown."""
    low, high = float(np.fmin.reduce(values, axis=None)), float(np.fmax.reduce(values, axis=None))
    if np.isnan(low):  # all is missing, or between the pixels
        low = high = 0.0
    return palette(variable.name, low, high, over)


def _classes(look: Palette, values: NDArray[np.float32]) -> Classes:
    """The class of each pixel; that of missing data is the last but one of the palette's."""
    classes = look.classes(values)
    missing = np.isnan(values)
    if missing.any():
        classes[missing] = len(look.rgb) + 1
    return classes


def _ring(picture: Classes, ink: Mask, mark: Highlight | None, white: int) -> None:
    """Draw the outline of a highlighted shape, or a white dot with a ring."""
    if mark is None:
        return
    if mark.face is not None:
        picture[mark.face] = white
        ink[mark.face] = 0
    np.maximum(ink, mark.ink, out=ink)


def _lines(ink: Mask, found: Contours) -> None:
    """Draw contour lines; what is below their labels becomes faint."""
    labelled = found.cleared > 127
    ink[labelled] = (ink[labelled] * _FAINT).astype(np.uint8)
    np.maximum(ink, found.ink, out=ink)


def _png(picture: Classes, ink: Mask, look: Palette, effort: int) -> bytes:
    """Put classes and ink, (height, width) each, together; effort is zlib's, 1 to 9."""
    colours = np.concatenate([look.rgb, [_WHITE, MISSING]])
    shades = min(_MOST_SHADES, _COLOURS // len(colours))
    share = np.linspace(0.0, 1.0, shades)[:, None]
    table = np.rint(colours[:, None] * (1.0 - share) + np.array(_INK) * share)
    shade = np.rint(np.arange(256) / 255.0 * (shades - 1)).astype(np.uint8)
    index = picture * np.uint8(shades)
    index += shade[ink]
    image = Image.frombytes("P", index.shape[::-1], index.tobytes())
    image.putpalette(table.astype(np.uint8).tobytes())
    out = io.BytesIO()
    image.save(out, format="PNG", compress_level=effort)
    return out.getvalue()
