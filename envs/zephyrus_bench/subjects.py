"""What a question can be about: one feature, or the candidates of a kind."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from zephyrus_bench.memo import once
from zephyrus_bench.wording import candidate_word, for_points
from zephyrus_geodata import Dataset, Feature, FeatureStore, GeodataError
from zephyrus_tools.articles import with_article

FEWEST_CANDIDATES = 7  # of fewer, even a random one is often right
MOST_CANDIDATES = 60
"""The tools list no more than 60 places at once."""

MOST_SMALL = 0.4
"""The largest share of a set's candidates that may be smaller than a grid cell."""

FEWEST_SUBJECTS = 5
"""A kind with fewer features of the size of a cell is not asked about."""

POINT_KINDS = frozenset({"city"})

_Item = TypeVar("_Item")


@dataclass(frozen=True)
class Group:
    """The features of a kind, or those of them that belong to a parent.

    Attributes:
        kind: Their kind.
        parent: The parent's name, or None for all of the kind.
        features: The candidates, in the store's order.
    """

    kind: str
    parent: str | None
    features: tuple[Feature, ...]

    @property
    def key(self) -> str:
        """Unique name, "country in Africa" or "ocean"."""
        return f"{self.kind} in {self.parent}" if self.parent else self.kind

    @property
    def arguments(self) -> dict[str, str]:
        """The tools' place arguments for it."""
        return {"kind": self.kind} | ({"parent": self.parent} if self.parent else {})

    @property
    def names(self) -> list[str]:
        """The candidates' names."""
        return [feature.name for feature in self.features]

    @property
    def singular(self) -> str:
        """One of them in words: "country in Africa"."""
        return candidate_word(self.kind) + self._where

    @property
    def plural(self) -> str:
        """All of them in words: "countries in Africa"."""
        return candidate_word(self.kind, plural=True) + self._where

    def form(self, question: str) -> str:
        """A question's form for these candidates."""
        return for_points(question) if self.kind in POINT_KINDS else question

    @property
    def _where(self) -> str:
        if self.parent is None or self.kind == "us_state":
            return ""
        return f" {'of' if self.kind == 'sea' else 'in'} {with_article(self.parent)}"


Subject = Feature | Group


def groups(dataset: Dataset, *, with_parent: bool | None = None) -> list[Group]:
    """Every set of 7 to 60 candidates on the grid: whole kinds, and kinds within a parent.

    Args:
        dataset: Whose features.
        with_parent: Only sets with (True) or without (False) a parent.
    """
    return list(once(dataset, ("groups", with_parent), lambda: _groups(dataset, with_parent)))


def _groups(dataset: Dataset, with_parent: bool | None) -> list[Group]:
    store = dataset.features
    zones, rows = dataset.zones.build(), dataset.zones.rows
    found: dict[tuple[Feature, ...], Group] = {}
    for kind in store.kinds():
        members = store.of_kind(kind)
        parents = sorted(_above(store, members))
        wanted: list[str | None] = [None] if with_parent is not True else []
        for parent in [*wanted, *(parents if with_parent is not False else [])]:
            inside = store.of_kind(kind, parent)
            if not FEWEST_CANDIDATES <= len(inside) <= MOST_CANDIDATES:
                continue
            found_in = [zones[rows[feature.key]] for feature in inside]
            small = sum(zone.fallback for zone in found_in)
            on_grid = all(zone.cells.size for zone in found_in)
            if on_grid and small <= MOST_SMALL * len(inside):
                # All US states are also all states of their parent: one set, not two.
                found[tuple(inside)] = Group(kind, parent, tuple(inside))
    return list(found.values())


def single_features(dataset: Dataset) -> list[Feature]:
    """The features on the grid that are no smaller than a cell, and the cities.

    Kinds of which there are only a few are left out: their questions would all be about these.
    """
    return list(once(dataset, "single features", lambda: _single_features(dataset)))


def _single_features(dataset: Dataset) -> list[Feature]:
    found = [feature for feature in dataset.features if not is_small(dataset, feature)]
    counts = Counter(feature.kind for feature in found)
    return [feature for feature in found if counts[feature.kind] >= FEWEST_SUBJECTS]


def _above(store: FeatureStore, members: Iterable[Feature]) -> set[str]:
    """The names of the parents of features, and of their parents."""
    found: set[str] = set()
    rising = {feature.parent for feature in members if feature.parent}
    while rising:
        found |= rising
        rising = {f.parent for f in store if f.name in rising and f.parent} - found
    return found


def is_small(dataset: Dataset, feature: Feature) -> bool:
    """Whether a feature is off the grid, or a polygon smaller than the cell it lies in."""
    zones, row = dataset.zones.build(), dataset.zones.rows.get(feature.key)
    return row is None or not zones.sizes[row] or bool(zones.fallback[row])


def is_ambiguous(dataset: Dataset, feature: Feature) -> bool:
    """Whether the name alone could mean a feature of another kind."""
    try:
        return dataset.features.get(feature.name) != feature
    except GeodataError:
        return True


def in_turn(
    items: Iterable[_Item], kind: Callable[[_Item], str], kinds: Iterable[str] = ()
) -> list[_Item]:
    """The items in turn from each kind, so that the many cities don't crowd out the rest.

    Args:
        items: The items; those of a kind keep their order.
        kind: The kind of an item.
        kinds: The order of the kinds; by default that in which they come.
    """
    queues: dict[str, list[_Item]] = {name: [] for name in kinds}
    for item in items:
        queues.setdefault(kind(item), []).append(item)
    order: list[_Item] = []
    for rank in range(max((len(queue) for queue in queues.values()), default=0)):
        order += [queue[rank] for queue in queues.values() if rank < len(queue)]
    return order
