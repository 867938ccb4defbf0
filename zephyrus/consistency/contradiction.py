"""Self-contradictory reasoning, and its types (Weather-R1, section 2.2, Fig. 2a and Table 5)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from enum import StrEnum
from statistics import fmean
from typing import Any


class Kind(StrEnum):
    """What reasoning and answer of a response have to do with each other.

    ``rp`` is the reasoning, ``fa_rp`` the choice that a judge finds best supported by it, ``fa``
    the choice that was answered.
    """

    CONSISTENT = "consistent"
    """fa_rp is fa, right or wrong."""
    TYPE_1 = "type_1"
    """Self-Contra: a right rp, a wrong fa."""
    TYPE_2 = "type_2"
    """Self-Contra: a wrong rp, a right fa."""
    TYPE_3 = "type_3"
    """Self-Contra: a wrong rp and another wrong fa, or an rp that comes to no conclusion, whatever
    the fa."""
    MALFORMED = "malformed"
    """No rp or no fa can be read, so that there is nothing to compare: neither consistent nor
    Self-Contra (Fig. 2b: "not counted as consistent")."""
    MISSING = "missing"
    """No judgement could be had; it counts in no proportion."""


TYPES = (Kind.TYPE_1, Kind.TYPE_2, Kind.TYPE_3)
"""The types of Self-Contra, which add up to it."""


def classify(concluded: str | None, final: str | None, gold: str) -> Kind:
    """What kind a well-formed response is.

    Args:
        concluded: fa_rp; None if it can't be determined.
        final: fa; None if the answer names no choice.
        gold: The right choice.
    """
    if final is None:
        return Kind.MALFORMED
    if concluded == final:
        return Kind.CONSISTENT
    if concluded is None:
        return Kind.TYPE_3
    if concluded == gold:
        return Kind.TYPE_1
    return Kind.TYPE_2 if final == gold else Kind.TYPE_3


class Proportions:
    """How often each kind came, out of all responses that were judged or could not be read.

    Attributes:
        counts: By kind.
    """

    def __init__(self, kinds: Iterable[Kind] = ()) -> None:
        self.counts: Counter[Kind] = Counter(kinds)

    @property
    def judged(self) -> int:
        """The denominator: all but the missing ones."""
        return self.counts.total() - self.counts[Kind.MISSING]

    def share(self, *kinds: Kind) -> float | None:
        """The proportion of some kinds together, in [0, 1]; None if nothing was judged."""
        return sum(self.counts[kind] for kind in kinds) / self.judged if self.judged else None

    @property
    def self_contra(self) -> float | None:
        """The proportion of responses whose reasoning and answer differ."""
        return self.share(*TYPES)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: counts, and proportions by name."""
        shares = {str(kind): self.share(kind) for kind in Kind if kind is not Kind.MISSING}
        return {
            "judged": self.judged,
            "missing": self.counts[Kind.MISSING],
            "counts": {str(kind): self.counts[kind] for kind in Kind},
            "self_contra": self.self_contra,
            **shares,
        }


def average(tables: Iterable[Proportions]) -> dict[str, float | None]:
    """The plain mean of the proportions of several tasks, as Fig. 2a averages over seven tasks.

    Tasks of which nothing was judged are left out.

    Returns:
        By the names of `Proportions.to_dict`; None where nothing was judged at all.
    """
    known = [table for table in tables if table.judged]
    names = ("self_contra", *(str(kind) for kind in Kind if kind is not Kind.MISSING))
    rows = [table.to_dict() for table in known]
    return {name: fmean(row[name] for row in rows) if rows else None for name in names}
