"""The best constant answer of a set of tasks that grows, kept up to date.

`zephyrus_bench.guess` searches a whole set anew, which is far too slow for the thousands of drafts
that are held against a bank while it is drawn. A tally answers one question only: whether some
constant would score more than so much on the set and one task more. For numbers, hours and places
the answer is that of `best_constant`. For lists it is exact where `best_constant` is greedy: with
the length of the list fixed the summed F1 is a sum over its names, so the best list of each length
is that of the names that add most.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from zephyrus_bench.guess import inside
from zephyrus_bench.verifiers import STEP_HOURS, full_band, half_band
from zephyrus_geodata.names import lookup_key

_LONGEST = 200
"""Lists of more names than this are not looked at: their F1 with a short gold list is small."""

Floats = NDArray[np.float64]


class Tally(ABC):
    """A set of gold answers of one type."""

    @abstractmethod
    def exceeds(self, gold: Any, allowed: float) -> bool:
        """Whether a constant scores more than ``allowed`` on the set and a further gold answer."""

    @abstractmethod
    def add(self, gold: Any) -> None:
        """Take a gold answer into the set."""


class _Points(Tally):
    """Answers on a line: the summed score changes only at a few points of each gold answer."""

    def __init__(self) -> None:
        self._golds: Floats = np.empty((0, self._width()))
        self._points: Floats = np.empty(0)
        self._scores: Floats = np.empty(0)  # of each point over the set

    @classmethod
    def _width(cls) -> int:
        return len(cls._marks(1.0))

    @staticmethod
    @abstractmethod
    def _marks(gold: float) -> list[float]:
        """What of a gold answer counts: its own value first, and the points around it."""

    @staticmethod
    @abstractmethod
    def _score(points: Floats, golds: Floats) -> Floats:
        """(point, gold) scores of (point,) answers; golds are (gold, mark)."""

    def exceeds(self, gold: Any, allowed: float) -> bool:
        """Whether a constant scores more than ``allowed`` with a further gold answer."""
        marks = np.array([self._marks(float(gold))])
        own = self._score(marks[0], np.concatenate([self._golds, marks])).sum(axis=1)
        if own.max() > allowed:
            return True
        gains = self._score(self._points, marks)[:, 0]
        return bool((self._scores + gains > allowed).any())

    def add(self, gold: Any) -> None:
        """Take a gold answer into the set."""
        marks = np.array([self._marks(float(gold))])
        self._scores += self._score(self._points, marks)[:, 0]
        self._golds = np.concatenate([self._golds, marks])
        self._points = np.concatenate([self._points, marks[0]])
        own = self._score(marks[0], self._golds).sum(axis=1)
        self._scores = np.concatenate([self._scores, own])


class Numbers(_Points):
    """Numbers with their bands."""

    @staticmethod
    def _marks(gold: float) -> list[float]:
        full, half = full_band(gold), half_band(gold)
        return [gold, gold - full, gold + full, gold - half, gold + half]

    @staticmethod
    def _score(points: Floats, golds: Floats) -> Floats:
        full, half = inside(points, *golds.T[1:3]), inside(points, *golds.T[3:5])
        return 0.5 * (full + half)


class Hours(_Points):
    """Hours: half for an answer a step away."""

    @staticmethod
    def _marks(gold: float) -> list[float]:
        return [gold, gold - STEP_HOURS, gold + STEP_HOURS]

    @staticmethod
    def _score(points: Floats, golds: Floats) -> Floats:
        error = np.abs(points[:, None] - golds.T[0])
        return np.asarray(0.5 * (error <= STEP_HOURS) + 0.5 * (error == 0))


class Places(Tally):
    """Places with a value: one for the place, one half for the value alone."""

    def __init__(self) -> None:
        self._rows: dict[str, int] = {}  # of each place
        self._counts: Floats = np.zeros(0)  # how often each place is right
        self._of: NDArray[np.intp] = np.empty(0, dtype=np.intp)  # the place of each gold answer
        self._bands: Floats = np.empty((0, 2))
        self._points: Floats = np.empty(0)
        self._valued: Floats = np.empty(0)  # how many values each point is right for

    def exceeds(self, gold: Any, allowed: float) -> bool:
        """Whether a place with a value scores more than ``allowed`` with a further gold answer."""
        row, marks = self._row(gold), _value_marks(gold)
        counts = np.append(self._counts, 0.0) if row == self._counts.size else self._counts.copy()
        counts[row] += 1.0
        bands = np.concatenate([self._bands, marks[None, 1:]])
        points = np.concatenate([self._points, marks])
        valued = np.concatenate(
            [
                self._valued + inside(self._points, *marks[1:, None])[:, 0],
                inside(marks, *bands.T).sum(axis=1),
            ]
        )
        # A place's score is its count and half of the values that are right where it is wrong:
        # only where even both together would do is it worth taking apart.
        near = points[counts.max() + 0.5 * valued > allowed]
        if not near.size:
            return False
        likely = np.flatnonzero(counts + 0.5 * valued.max() > allowed)
        right = inside(near, *bands.T)
        named = np.append(self._of, row) == likely[:, None]
        elsewhere = right.sum(axis=1) - named.astype(float) @ right.T
        return bool((counts[likely][:, None] + 0.5 * elsewhere > allowed).any())

    def add(self, gold: Any) -> None:
        """Take a gold answer into the set."""
        row, marks = self._row(gold), _value_marks(gold)
        if row == self._counts.size:
            self._rows[lookup_key(gold["place"])] = row
            self._counts = np.append(self._counts, 0.0)
        self._counts[row] += 1.0
        self._of = np.append(self._of, row)
        self._valued += inside(self._points, *marks[1:, None])[:, 0]
        self._bands = np.concatenate([self._bands, marks[None, 1:]])
        self._points = np.concatenate([self._points, marks])
        self._valued = np.concatenate([self._valued, inside(marks, *self._bands.T).sum(axis=1)])

    def _row(self, gold: Any) -> int:
        return self._rows.get(lookup_key(gold["place"]), self._counts.size)


def _value_marks(gold: Any) -> Floats:
    """(3,): a gold value and the ends of its band."""
    value = float(gold["value"])
    full = full_band(value)
    return np.array([value, value - full, value + full])


class Lists(Tally):
    """Lists of names, scored by F1."""

    _lengths: ClassVar[Floats] = np.arange(1.0, _LONGEST + 1)

    def __init__(self) -> None:
        self._empty = 0  # gold answers without a name
        self._rows: dict[str, int] = {}
        self._worth: Floats = np.zeros((_LONGEST, 64))  # of (length, name), summed over the set
        self._most: Floats = np.zeros(_LONGEST)  # no list of a length scores more than this …
        self._exact = np.ones(_LONGEST, dtype=bool)  # … and one does score it

    def exceeds(self, gold: Any, allowed: float) -> bool:
        """Whether a list scores more than ``allowed`` with a further gold answer."""
        size = len(gold)
        if self._empty + (size == 0) > allowed:
            return True
        gain = 2.0 / (size + self._lengths)  # of each name that is in both
        bonus = gain * np.minimum(size, self._lengths)
        for length in np.flatnonzero((self._most + bonus > allowed) & ~self._exact):
            self._most[length] = _largest(self._worth[length], int(length) + 1)
            self._exact[length] = True
        known = [self._rows[name] for name in gold if name in self._rows]
        for length in np.flatnonzero(self._most + bonus > allowed):
            worth = self._worth[length].copy()
            worth[known] += gain[length]
            fresh = np.full(size - len(known), gain[length])
            if _largest(np.concatenate([worth, fresh]), int(length) + 1) > allowed:
                return True
        return False

    def add(self, gold: Any) -> None:
        """Take a gold answer into the set."""
        if not gold:
            self._empty += 1
            return
        for name in gold:
            self._rows.setdefault(name, len(self._rows))
        while len(self._rows) > self._worth.shape[1]:
            self._worth = np.hstack([self._worth, np.zeros_like(self._worth)])
        gain = 2.0 / (len(gold) + self._lengths)
        self._worth[:, [self._rows[name] for name in gold]] += gain[:, None]
        self._most += gain * np.minimum(len(gold), self._lengths)
        self._exact[:] = False


def _largest(worth: Floats, count: int) -> float:
    """The sum of the largest numbers."""
    if count >= worth.size:
        return float(worth.sum())
    return float(np.partition(worth, worth.size - count)[worth.size - count :].sum())


_TALLIES: dict[str, type[Tally]] = {
    "numerical": Numbers,
    "time": Hours,
    "location": Places,
    "anomaly": Lists,
}


def tally(answer_type: str, golds: Sequence[Any] = ()) -> Tally:
    """A tally of gold answers of a type."""
    made = _TALLIES[answer_type]()
    for gold in golds:
        made.add(gold)
    return made
