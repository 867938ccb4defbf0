"""`Canvas`: the picture of a chart, onto which colours and inks are laid, and its PNG."""

from __future__ import annotations

import io

import numpy as np
from numpy.typing import NDArray
from PIL import Image
from scipy import ndimage

from zephyrus_tools.ink import Mask

Colour = tuple[int, int, int]

WHITE: Colour = (255, 255, 255)
_EFFORT = 3  # of compression, 1 to 9: more takes longer for hardly fewer bytes


class Canvas:
    """A picture in RGB, white at first; areas are given by their upper left corner."""

    def __init__(self, width: int, height: int) -> None:
        """Make one of a size in pixels."""
        self.picture = np.full((height, width, 3), 255, dtype=np.uint8)

    def colours(
        self, rgb: NDArray[np.uint8], where: NDArray[np.bool_], left: int = 0, top: int = 0
    ) -> None:
        """Lay colours where asked.

        Args:
            rgb: (height, width, 3).
            where: (height, width).
            left: Of the area.
            top: Likewise.
        """
        height, width = where.shape
        np.copyto(
            self.picture[top : top + height, left : left + width], rgb, where=where[..., None]
        )

    def ink(self, mask: Mask, colour: Colour, left: int = 0, top: int = 0) -> None:
        """Lay an ink of a colour: (height, width), 0 to 255."""
        rows, columns = np.nonzero(mask)
        at = rows + top, columns + left
        share = mask[rows, columns, None].astype(np.int32)
        below = self.picture[at].astype(np.int32)
        mixed = below + ((np.array(colour, dtype=np.int32) - below) * share + 127) // 255
        self.picture[at] = mixed.astype(np.uint8)

    def words(self, mask: Mask, colour: Colour, left: int = 0, top: int = 0) -> None:
        """Lay the ink of words in a colour on a thin white halo, so that lines below don't cross."""
        halo = ndimage.maximum_filter(mask, size=3)
        self.ink(halo, WHITE, left, top)
        self.ink(mask, colour, left, top)

    def png(self) -> bytes:
        """The picture as a PNG: the same bytes for the same pixels."""
        out = io.BytesIO()
        Image.fromarray(self.picture).save(out, format="PNG", compress_level=_EFFORT)
        return out.getvalue()
