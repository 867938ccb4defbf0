"""Which moments the pieces of one field hold, and where they clash."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.reading.pieces import Piece
from zephyrus_geodata.reading.understood import Axes


@dataclass(frozen=True, eq=False)
class Placed:
    """Where the moments of one piece lie on the global axes.

    Attributes:
        inits: (n,) index of the run, sorted; 0 for everything but forecasts.
        steps: (n,) index on the step axis.
        firsts: (n,) index along the piece's init_dim.
        seconds: (n,) index along its lead_dim.
    """

    inits: NDArray[np.intp]
    steps: NDArray[np.intp]
    firsts: NDArray[np.intp]
    seconds: NDArray[np.intp]


class Layer:
    """Pieces of one field, and which moments they have between them."""

    def __init__(self, axes: Axes) -> None:
        self.parts: list[tuple[Piece, Placed]] = []
        self._width = axes.steps
        self._held: dict[tuple[str, ...], NDArray[np.bool_]] = {}
        self._size = max(1, axes.init_times.size) * axes.steps
        self._counted = 0

    def add(self, piece: Piece, placed: Placed) -> None:
        """Take a piece in."""
        self.parts.append((piece, placed))

    def meets(self, piece: Piece, placed: Placed) -> bool:
        """Say whether some moment of a piece is there already."""
        self._catch_up()
        mine = placed.inits * self._width + placed.steps
        return any(
            bool(held[mine].any())
            for members, held in self._held.items()
            if not piece.members or not members or set(piece.members) & set(members)
        )

    def _catch_up(self) -> None:
        # Only a second piece needs to know what the first ones hold.
        for piece, placed in self.parts[self._counted :]:
            held = self._held.setdefault(piece.members, np.zeros(self._size, bool))
            held[placed.inits * self._width + placed.steps] = True
        self._counted = len(self.parts)

    def clash(self, piece: Piece, placed: Placed) -> list[Piece]:
        """Return the pieces that a piece meets."""
        mine = placed.inits * self._width + placed.steps
        return [
            other
            for other, theirs in self.parts
            if not (piece.members and other.members and not set(piece.members) & set(other.members))
            and np.isin(mine, theirs.inits * self._width + theirs.steps).any()
        ]

    def contradicts(self, piece: Piece, placed: Placed) -> bool:
        """Say whether a piece has other values at a moment that is there already.

        One moment is looked at. Forecasts that were put at their valid times may differ.
        """
        mine = placed.inits * self._width + placed.steps
        for other, theirs in self.parts:
            there = theirs.inits * self._width + theirs.steps
            common, a, b = np.intersect1d(mine, there, return_indices=True)
            if not common.size or piece.members != other.members or _late(piece, other):
                continue
            one = piece.read(placed.firsts[a[-1:]], placed.seconds[a[-1:]], None)
            two = other.read(theirs.firsts[b[-1:]], theirs.seconds[b[-1:]], None)
            both = np.isfinite(one) & np.isfinite(two)
            if both.any():
                apart = float(np.abs(one[both] - two[both]).max())
                if apart > 1e-3 * max(
                    float(np.ptp(one[both])), 1e-3 * float(np.abs(one[both]).max())
                ):
                    return True
        return False


def _late(one: Piece, other: Piece) -> bool:
    """Say whether pieces of a series are forecasts in truth."""
    return any(p.moments.kind == "series" and p.moments.leads.any() for p in (one, other))


def same_windows(one: Piece, other: Piece) -> bool:
    """Say whether the intervals of two pieces are the same wherever both end."""
    a, b = one.moments.windows, other.moments.windows
    if a is None or b is None:
        return (a is None) == (b is None)
    starts = {(round(e, 3), round(s, 3)) for s, e in a.tolist()}
    ends = {end for end, _ in starts}
    return all((round(e, 3), round(s, 3)) in starts for s, e in b.tolist() if round(e, 3) in ends)
