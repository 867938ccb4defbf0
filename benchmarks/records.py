"""What a benchmark found: a record per comparison, a curve per plot."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from typing import Any, Literal

Sense = Literal["faster", "longer", ""]
"""How the ratio is told: how many times faster we are, how many times as long we take, or not."""


@dataclass(frozen=True)
class Bar:
    """A limit that a record is held against.

    Attributes:
        of: what is limited: our own number, or the ratio.
        at: whether the limit is the least or the most.
        limit: the number, in the record's unit or times.
    """

    of: Literal["ours", "ratio"]
    at: Literal["least", "most"]
    limit: float


@dataclass(frozen=True)
class Record:
    """Our work and the named alternative's, measured in one run.

    Attributes:
        row: name of the row it belongs to.
        what: the work, in words.
        ours: our number; None if it was not measured.
        unit: of both numbers: "s" (seconds), "K", "%" or "questions/s".
        clock: what seconds are of: wall or CPU time.
        alternative: what we are held against; empty if there is only a bar.
        theirs: its number; None if it was not measured.
        sense: how the ratio is told.
        bar: the limit, if there is one.
        headline: whether the README shows it.
        note: what one must know to read it.
        limits: what limits it, told where the bar is missed.
    """

    row: str
    what: str
    ours: float | None
    unit: str = "s"
    clock: Literal["wall", "CPU"] = "wall"
    alternative: str = ""
    theirs: float | None = None
    sense: Sense = ""
    bar: Bar | None = None
    headline: bool = False
    note: str = ""
    limits: str = ""

    @property
    def ratio(self) -> float | None:
        """Times faster, or times as long, as ``sense`` says."""
        if not self.sense or self.ours is None or self.theirs is None:
            return None
        above, below = self.theirs, self.ours
        if self.sense == "longer":
            above, below = below, above
        return above / below if below else float("inf")

    @property
    def met(self) -> bool | None:
        """Whether the bar is met; None if there is none, or nothing to hold against it."""
        number = self.ours if self.bar and self.bar.of == "ours" else self.ratio
        if self.bar is None or number is None:
            return None
        return number <= self.bar.limit if self.bar.at == "most" else number >= self.bar.limit

    def to_dict(self) -> dict[str, Any]:
        """JSON values, the derived ones included."""
        return {**asdict(self), "ratio": self.ratio, "met": self.met}

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Record:
        """Read what ``to_dict`` wrote."""
        kept = {key: value for key, value in found.items() if key not in ("ratio", "met")}
        return cls(**{**kept, "bar": Bar(**kept["bar"]) if kept["bar"] else None})


@dataclass(frozen=True)
class Curve:
    """How cost grows with one size.

    Attributes:
        row: name of the row it belongs to, and of its picture.
        title: what is measured.
        axis: what the sizes count.
        sizes: (point,) the sizes.
        ours: (point,) our numbers, in seconds.
        alternative: what we are held against.
        theirs: (point,) its numbers; None where it was not measured.
        cost: what the seconds are, as the axis says it.
    """

    row: str
    title: str
    axis: str
    sizes: tuple[float, ...]
    ours: tuple[float, ...]
    alternative: str
    theirs: tuple[float | None, ...]
    cost: str = "time"

    def to_dict(self) -> dict[str, Any]:
        """JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, found: Mapping[str, Any]) -> Curve:
        """Read what ``to_dict`` wrote."""
        lists = {key: tuple(value) for key, value in found.items() if isinstance(value, list)}
        return cls(**{**found, **lists})


Found = Record | Curve
