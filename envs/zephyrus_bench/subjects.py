"""What a question can be about: one feature, or the candidates of a kind."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TypeVar

from zephyrus_bench.wording import kind_word, with_article
from zephyrus_geodata import Dataset, Feature, GeodataError

FEWEST_CANDIDATES = 4
MOST_CANDIDATES = 60
"""The tools list no more than 60 places at once."""

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
        return kind_word(self.kind) + self._where

    @property
    def plural(self) -> str:
        """All of them in words: "countries in Africa"."""
        return kind_word(self.kind, plural=True) + self._where

    @property
    def _where(self) -> str:
        if self.parent is None or self.kind == "us_state":
            return ""
        return f" {'of' if self.kind == 'sea' else 'in'} {with_article(self.parent)}"


Subject = Feature | Group


def groups(dataset: Dataset, *, with_parent: bool | None = None) -> list[Group]:
    """Every set of 4 to 60 candidates on the grid: whole kinds, and kinds within a parent.

    Args:
        dataset: Whose features.
        with_parent: Only sets with (True) or without (False) a parent.
    """
    store = dataset.features
    zones = dataset.zones.build()
    found: dict[tuple[Feature, ...], Group] = {}
    for kind in store.kinds():
        members = store.of_kind(kind)
        parents = sorted({f.parent for f in members if f.parent})
        wanted: list[str | None] = [None] if with_parent is not True else []
        for parent in [*wanted, *(parents if with_parent is not False else [])]:
            inside = store.of_kind(kind, parent)
            on_grid = all(zones[feature.key].cells.size for feature in inside)
            if FEWEST_CANDIDATES <= len(inside) <= MOST_CANDIDATES and on_grid:
                # All US states are also all states of their parent: one set, not two.
                found[tuple(inside)] = Group(kind, parent, tuple(inside))
    return list(found.values())


def single_features(dataset: Dataset) -> list[Feature]:
    """The features on the grid that are no smaller than a cell, and the cities."""
    return [feature for feature in dataset.features if not is_small(dataset, feature)]


def is_small(dataset: Dataset, feature: Feature) -> bool:
    """Whether a feature is off the grid, or a polygon smaller than the cell it lies in."""
    zone = dataset.zones.build().get(feature.key)
    return zone is None or not zone.cells.size or zone.fallback


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
