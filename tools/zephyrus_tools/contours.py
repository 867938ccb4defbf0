"""Contour lines with their labels, as ink on a map."""

from dataclasses import dataclass

import contourpy
import numpy as np
from numpy.typing import NDArray

from zephyrus_tools.ink import Ink, Mask, extent

_LINE = 0.7  # points
_LABEL = 7.0  # points
_DARK = 0.9
_STEP = 2  # pixels between the points that lines are drawn through
_AROUND = 2.0  # pixels left free at each end of a label
_LEAST = 2.5  # a line shorter than this many labels has none
_APART = 1.6  # labels are apart by this many of their widths, or left out
_TRIED = 40  # places along a line
_STRAIGHT = 0.8  # least distance of a label's ends, of the line's length between them
_SMUDGE = 0.5  # how bad ink below a label is, compared with a bend of the line


@dataclass(frozen=True)
class Contours:
    """What contour lines add to a map.

    Attributes:
        ink: (height, width) of lines and labels.
        cleared: (height, width), 255 where a label is, and what is below it should be faint.
    """

    ink: Mask
    cleared: Mask


@dataclass(frozen=True)
class _Label:
    x: float
    y: float
    angle: float
    words: str
    box: NDArray[np.float64]


def contours(
    values: NDArray[np.float32],
    levels: NDArray[np.float64],
    below: Mask,
    *,
    room: NDArray[np.bool_] | None = None,
    thickness: float = _LINE,
) -> Contours:
    """Draw the contour lines of a field at pixels, a label in each that is long enough.

    Args:
        values: (height, width), NaN where there are no data.
        levels: At which.
        below: (height, width) the ink that is there already, which labels avoid.
        room: (height, width) where labels may be; anywhere by default.
        thickness: Of the lines in points.
    """
    height, width = values.shape
    rows, columns = _every(height), _every(width)
    coarse = np.ma.masked_invalid(values[np.ix_(rows, columns)].astype(np.float64))
    generator = contourpy.contour_generator(columns + 0.5, rows + 0.5, coarse)
    ink, boxes, words = Ink(width, height), Ink(width, height), Ink(width, height)
    drawn: list[NDArray[np.float64]] = []
    labels: list[_Label] = []
    for level in levels.tolist():
        lines = generator.lines(level)
        assert isinstance(lines, list)  # contourpy has other shapes of an answer too
        for line in lines:
            points = np.asarray(line, dtype=np.float64)
            drawn.append(points)
            label = _label(points, f"{level:g}", labels, ink, below, room)
            if label is not None:
                labels.append(label)
    ink.lines(drawn, thickness, dark=_DARK)
    boxes.shapes(label.box for label in labels)
    for label in labels:
        words.text(label.x, label.y, label.words, _LABEL, across=0.5, angle=label.angle)
    cleared = boxes.mask
    lines_ink = ink.mask
    lines_ink[cleared > 127] = 0
    return Contours(np.maximum(lines_ink, words.mask), cleared)


def _every(count: int) -> NDArray[np.intp]:
    """Every few pixels, with the last."""
    return np.unique(np.append(np.arange(0, count, _STEP), count - 1))


def _label(
    line: NDArray[np.float64],
    words: str,
    others: list[_Label],
    ink: Ink,
    below: Mask,
    room: NDArray[np.bool_] | None,
) -> _Label | None:
    """Place a label on a line: inside the map, away from others, where straight and clear."""
    across, tall, _ = extent(words, _LABEL)
    steps = np.hypot(*np.diff(line, axis=0).T)
    along = np.concatenate([[0.0], np.cumsum(steps)])
    if along[-1] < _LEAST * across + 4.0 * _AROUND:
        return None
    half = 0.5 * across + _AROUND
    middles = np.linspace(half, along[-1] - half, _TRIED)
    x, y = line.T

    def at(where: NDArray[np.float64]) -> NDArray[np.float64]:
        return np.column_stack([np.interp(where, along, x), np.interp(where, along, y)])

    ends = at(middles + half) - at(middles - half)
    straight = np.hypot(*ends.T) / (2.0 * half)
    middle = 0.5 * (at(middles + half) + at(middles - half))
    fits = ((middle > half) & (middle < (ink.width - half, ink.height - half))).all(axis=1)
    for other in others:
        fits &= np.hypot(*(middle - (other.x, other.y)).T) > _APART * across
    fits &= straight > _STRAIGHT
    if room is not None:
        fits &= _inside(room, middle, ends)
    if not fits.any():
        return None
    best = int(np.argmax(np.where(fits, straight - _SMUDGE * _ink_at(below, middle, ends), -9.0)))
    right = ends[best] / np.hypot(*ends[best])
    if right[0] < 0.0:
        right = -right
    down = np.array([-right[1], right[0]])
    centre = middle[best]
    corners = [(-half, -0.5), (half, -0.5), (half, 0.5), (-half, 0.5)]
    box = np.array([centre + a * right + b * (tall + 1.0) * down for a, b in corners])
    angle = float(np.rad2deg(np.arctan2(-right[1], right[0])))
    return _Label(float(centre[0]), float(centre[1]), angle, words, box)


def _inside(
    room: NDArray[np.bool_], middle: NDArray[np.float64], ends: NDArray[np.float64]
) -> NDArray[np.bool_]:
    """Whether the ends and the middle of a label at each place are where labels may be: (place,)."""
    points = (middle[:, None] + np.array([-0.5, 0.0, 0.5])[:, None] * ends[:, None]).astype(np.intp)
    x = np.clip(points[..., 0], 0, room.shape[1] - 1)
    y = np.clip(points[..., 1], 0, room.shape[0] - 1)
    inside: NDArray[np.bool_] = np.logical_and.reduce(room[y, x], axis=1)
    return inside


def _ink_at(
    below: Mask, middle: NDArray[np.float64], ends: NDArray[np.float64]
) -> NDArray[np.float64]:
    """How much ink there is under a label at each place, 0 to 1: (place,)."""
    along, across = np.meshgrid(np.linspace(-0.5, 0.5, 9), (-0.1, 0.0, 0.1))
    normal = np.column_stack([-ends[:, 1], ends[:, 0]])
    points = (
        middle[:, None]
        + along.ravel()[:, None] * ends[:, None]
        + across.ravel()[:, None] * normal[:, None]
    ).astype(np.intp)
    x = np.clip(points[..., 0], 0, below.shape[1] - 1)
    y = np.clip(points[..., 1], 0, below.shape[0] - 1)
    share: NDArray[np.float64] = below[y, x].mean(axis=1) / 255.0
    return share
