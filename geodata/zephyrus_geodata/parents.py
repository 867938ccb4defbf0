"""Which features a feature belongs to: its parent, that one's parent, and so on.

A chain runs feature → country → continent, sea → ocean → ocean or us_state → country → continent,
as the ``parent`` column says. One country has so much of itself on two continents that its own
continent would mislead about what it holds: Lake Baikal is in Asia, though Russia counts as a
European country. What belongs to it is put on the continents that it lies on.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING

from zephyrus_geodata.names import lookup_key

if TYPE_CHECKING:
    from zephyrus_geodata.features import Feature

ON_TWO_CONTINENTS = frozenset({"country:Russia"})
"""Countries whose features are put on a continent by where they lie."""

LEAST_SHARE = 0.1
"""The share of a feature's area from which on it belongs to a continent."""

_PARENT_KINDS = ("continent", "country", "ocean")
"""What a parent's name means first: Georgia is a country before it is a state."""


class Belonging:
    """Which features belong to which, directly or through others.

    Attributes:
        above: the keys of all that a feature belongs to, by its key.
    """

    def __init__(self, features: Sequence[Feature]) -> None:
        """Put features together by what they belong to, in their order."""
        self.above = ancestors(features)
        self._below: dict[tuple[str, str | None], list[Feature]] = {}
        for feature in features:
            for parent in self.above[feature.key]:
                for kind in (None, feature.kind):
                    self._below.setdefault((parent, kind), []).append(feature)

    def to(self, parent: Feature, kind: str | None = None) -> Sequence[Feature]:
        """Return the features that belong to one: all of them, or those of a kind."""
        return self._below.get((parent.key, kind), ())


def ancestors(features: Sequence[Feature]) -> dict[str, frozenset[str]]:
    """Return the keys of all the features that each feature belongs to, by its key."""
    by_name: dict[str, list[Feature]] = {}
    for feature in features:
        by_name.setdefault(lookup_key(feature.name), []).append(feature)
    parents = {feature.key: _parent(feature, by_name) for feature in features}
    continents = [feature for feature in features if feature.kind == "continent"]
    chains: dict[str, frozenset[str]] = {}
    for feature in features:
        chain: dict[str, None] = {}
        parent = parents[feature.key]
        while parent is not None and parent.key not in chain and parent.key != feature.key:
            chain[parent.key] = None
            if parent.key in ON_TWO_CONTINENTS and continents:
                chain.update(dict.fromkeys(_lies_on(feature, continents)))
                break
            parent = parents[parent.key]
        chains[feature.key] = frozenset(chain)
    return chains


def _parent(feature: Feature, by_name: dict[str, list[Feature]]) -> Feature | None:
    if feature.parent is None:
        return None
    named = [f for f in by_name.get(lookup_key(feature.parent), ()) if f.key != feature.key]
    rank = {kind: i for i, kind in enumerate(_PARENT_KINDS)}
    return min(named, key=lambda f: rank.get(f.kind, len(rank)), default=None)


def _lies_on(feature: Feature, continents: Sequence[Feature]) -> Iterable[str]:
    """The continents with a fair share of a feature's area, or the nearest."""
    import shapely

    shapes = [continent.geometry for continent in continents]
    shapely.prepare(shapes)
    inside = [c.key for c in continents if c.geometry.covers(feature.geometry)]
    if inside:
        return inside
    areas = shapely.area(shapely.intersection(shapes, feature.geometry))
    if areas.sum() > 0.0:
        return [
            c.key for c, a in zip(continents, areas, strict=True) if a > LEAST_SHARE * areas.sum()
        ]
    distances = shapely.distance(shapes, feature.geometry)
    return [continents[int(distances.argmin())].key]
