"""`Style`: what a seed may change about a chart, none of which changes what it says.

Models are not to learn one look. The projection, the palette, the colours of lines and coasts and
the distance of barbs follow from the seed alone; classes, contour intervals, symbols and words
don't.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b

from zephyrus_chartqa.charts.canvas import Colour

_LINES: tuple[Colour, ...] = ((16, 16, 16), (20, 40, 120), (70, 45, 20))
_COASTS: tuple[Colour, ...] = ((120, 120, 120), (150, 110, 70), (90, 110, 90))
_BARBS: tuple[Colour, ...] = ((16, 16, 16), (0, 60, 150), (60, 60, 60))
_SPACINGS = (30, 33, 36)


@dataclass(frozen=True)
class Style:
    """How a chart looks.

    Attributes:
        projection: Which of those that suit the region.
        palette: Which of those that suit the element.
        line: Colour of contour lines.
        coast: Of coastlines and borders.
        barb: Of wind barbs.
        spacing: Pixels between barbs.
    """

    projection: int
    palette: int
    line: Colour
    coast: Colour
    barb: Colour
    spacing: int

    @classmethod
    def of(cls, seed: int) -> Style:
        """The style of a seed; any whole number."""

        def draw(what: str) -> int:
            digest = blake2b(f"{seed}:{what}".encode(), digest_size=4).digest()
            return int.from_bytes(digest, "big")

        return cls(
            projection=draw("projection"),
            palette=draw("palette"),
            line=_LINES[draw("line") % len(_LINES)],
            coast=_COASTS[draw("coast") % len(_COASTS)],
            barb=_BARBS[draw("barb") % len(_BARBS)],
            spacing=_SPACINGS[draw("spacing") % len(_SPACINGS)],
        )
