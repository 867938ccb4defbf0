"""Named features: places with a shape, found by name.

The features that ship with the package are one GeoParquet file, read without geopandas; shapes
stay in well-known binary until they are asked for, so opening the store takes milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from hashlib import blake2b, sha256
from pathlib import Path
from typing import TYPE_CHECKING

from zephyrus_geodata.aliases import FEATURES_FILE, Aliases, shipped_aliases
from zephyrus_geodata.errors import GeodataError
from zephyrus_geodata.names import (
    lookup_key,
    normalise,
    quoted,
    spellings,
    without_generic,
    without_qualifier,
)
from zephyrus_geodata.parents import Belonging
from zephyrus_geodata.suggestions import A_MISSPELLING, ambiguous, similar, unknown

if TYPE_CHECKING:
    import geopandas
    from shapely.geometry.base import BaseGeometry

__all__ = ["AmbiguousFeature", "Feature", "FeatureStore", "UnknownFeature", "normalise"]


class UnknownFeature(GeodataError, LookupError):
    """No feature has this name; the message suggests the nearest ones."""


class AmbiguousFeature(GeodataError, LookupError):
    """Several features have this name; the message says which."""


@dataclass(frozen=True)
class Feature:
    """A named place with a shape.

    Attributes:
        name: The name as people write it, with its accents.
        kind: What it is: ``country``, ``lake``, ``city``, …
        parent: The name of the feature it is listed under (of a lake its country), if it has one.
            There is one at most, so that Lake Victoria is listed under Tanzania alone.
        source: Where the shape comes from; ``outline`` is drawn by hand and approximate.
        wkb: The shape as well-known binary, longitude -180…180 and latitude in degrees.
    """

    name: str
    kind: str
    parent: str | None
    source: str
    wkb: bytes = field(repr=False)

    @classmethod
    def of(
        cls,
        name: str,
        kind: str,
        geometry: BaseGeometry,
        *,
        parent: str | None = None,
        source: str = "user",
    ) -> Feature:
        """Make a feature from a shapely geometry in degrees."""
        import shapely

        return cls(name, kind, parent, source, shapely.to_wkb(geometry))

    @property
    def key(self) -> str:
        """Its unique name, ``kind:name``."""
        return f"{self.kind}:{self.name}"

    @cached_property
    def geometry(self) -> BaseGeometry:
        """The shape, read on first use."""
        import shapely

        return shapely.from_wkb(self.wkb)


class FeatureStore:
    """Named features, in a fixed order, found by name, kind or parent.

    Names are compared without case, accents, punctuation and a leading "the", and common aliases
    are known. Within a kind the generic word of a lake ("Lake Victoria") and what follows a comma or stands in
    brackets ("Birmingham, United Kingdom") may be left out; the parent may always follow a comma
    ("Paris, France").
    """

    def __init__(self, features: Iterable[Feature], aliases: Aliases | None = None) -> None:
        """Index the features.

        Args:
            features: The features; (kind, name) must be unique once names are normalised.
            aliases: Other names, as kind → name → its aliases.

        Raises:
            ValueError: If two features of a kind share a name.
        """
        self._features = tuple(features)
        self._digest: str | None = None
        self._names: dict[str, list[Feature]] = {}
        self._short_names: dict[str, list[Feature]] = {}
        self._other_names: dict[str, list[Feature]] = {}
        self._loose_names: dict[str, list[Feature]] = {}
        self._by_kind: dict[str, list[Feature]] = {}
        for feature in self._features:
            key = lookup_key(feature.name)
            twin = next((f for f in self._names.get(key, ()) if f.kind == feature.kind), None)
            if twin is not None:
                raise ValueError(f"Two features share a name: {twin.key} and {feature.key}.")
            self._names.setdefault(key, []).append(feature)
            self._by_kind.setdefault(feature.kind, []).append(feature)
        self._by_kind = dict(sorted(self._by_kind.items()))
        self._index_aliases(aliases or {})
        self._keys = {feature.key: feature for feature in self._features}

    @property
    def by_key(self) -> Mapping[str, Feature]:
        """The features by their key, in their order."""
        return self._keys

    @cached_property
    def digest(self) -> str:
        """A hash of all keys and shapes in their order; of the shipped set, of its file."""
        return self._digest or digest(self)

    def _index_aliases(self, aliases: Mapping[str, Mapping[str, Iterable[str]]]) -> None:
        def add(index: dict[str, list[Feature]], text: str, feature: Feature) -> None:
            key = lookup_key(text)
            if key and feature not in index.setdefault(key, []):
                index[key].append(feature)

        for feature in self._features:
            for alias in aliases.get(feature.kind, {}).get(feature.name, ()):
                # Two letters are a state's postal code only when states are asked for: "IN", "OR".
                is_code = feature.kind == "us_state" and len(alias) == 2
                add(self._loose_names if is_code else self._other_names, alias, feature)
            # Most forecast areas are called after a city, which is what the name alone means.
            others = self._loose_names if feature.kind == "nws_cwa" else self._other_names
            plain = without_qualifier(feature.name)
            if plain != feature.name:
                add(others, plain, feature)
                if others is self._other_names:
                    add(self._short_names, plain, feature)
            if feature.parent:
                add(others, f"{plain}, {feature.parent}", feature)
            bare = without_generic(plain)
            if bare != plain:
                add(self._loose_names, bare, feature)

    @classmethod
    def load(
        cls,
        path: str | Path | None = None,
        *,
        kind: str | None = None,
        name_column: str = "name",
        layer: str | None = None,
    ) -> FeatureStore:
        """Open the features that ship with the package, or a file of one's own.

        A file of one's own is anything geopandas reads: GeoParquet, GeoPackage, GeoJSON, a
        shapefile, zipped or not, in any projection. Natural Earth's files work as they are::

            FeatureStore.load("ne_10m_geography_regions_polys.zip", kind="region")

        Args:
            path: The file; by default the shipped one.
            kind: The kind of all its features, if the file has no column ``kind``.
            name_column: The column that holds the names, in any case. Rows without a name are left
                out, and the polygons of rows that share kind and name become one feature.
            layer: The layer of a file with several.

        Raises:
            FileNotFoundError: If there is no such file.
            ValueError: If the file has no names, no kinds, or names points twice.
        """
        if path is None:
            file = FEATURES_FILE.read_bytes()
            store = cls(_read_parquet(file), shipped_aliases())
            store._digest = sha256(file).hexdigest()  # quicker than the others where the CPU helps
            return store
        from zephyrus_geodata.user_features import read_features

        rows = read_features(Path(path), kind=kind, name_column=name_column, layer=layer)
        return cls(rows, shipped_aliases())

    def __iter__(self) -> Iterator[Feature]:
        return iter(self._features)

    def __len__(self) -> int:
        return len(self._features)

    def __contains__(self, key: object) -> bool:
        """Whether there is a feature with this key (``kind:name``)."""
        return key in self._keys

    def __getitem__(self, key: str) -> Feature:
        """The feature with this key (``kind:name``); raises :class:`UnknownFeature`."""
        if key not in self._keys:
            raise UnknownFeature(f"There is no feature with the key {key!r}.")
        return self._keys[key]

    def __repr__(self) -> str:
        return f"FeatureStore({len(self)} features of {len(self._by_kind)} kinds)"

    def kinds(self) -> dict[str, int]:
        """How many features there are of each kind, in alphabetical order."""
        return {kind: len(found) for kind, found in self._by_kind.items()}

    def get(self, name: str, kind: str | None = None) -> Feature:
        """The one feature of this name.

        Args:
            name: Its name or an alias, or its key ``kind:name``.
            kind: Its kind, needed where features of several kinds share the name.

        Raises:
            UnknownFeature: If there is none, or no such kind.
            AmbiguousFeature: If there are several.
        """
        if kind is None and name in self._keys:
            return self._keys[name]
        matches = self.named(name, kind)
        if not matches:
            raise UnknownFeature(self._unknown(name, kind))
        if len(matches) > 1:
            raise AmbiguousFeature(ambiguous(name, matches, self._loose(name, kind)))
        return matches[0]

    def named(self, name: str, kind: str | None = None) -> list[Feature]:
        """The features that a name may mean: none, one or several.

        A name outranks an alias, and an alias a shortened name.

        Raises:
            UnknownFeature: If there is no such kind.
        """
        if kind is not None:
            self._check_kind(kind)
        return next(filter(None, (self._found(key, kind) for key in spellings(name))), [])

    def find(
        self,
        text: str,
        kind: str | None = None,
        parent: str | None = None,
        limit: int = 10,
    ) -> list[Feature]:
        """Features whose name resembles a text, the best match first.

        Exact names and aliases come first, then names that begin with the text, then names that
        contain it, then misspellings.

        Args:
            text: A name or a part of one; "" finds every feature of the kind and parent.
            kind: Only features of this kind.
            parent: Only features of this parent, given by name.
            limit: How many at most.

        Raises:
            UnknownFeature: If there is no such kind or parent.
            AmbiguousFeature: If several features with the parent's name are parents.
        """
        pool = self._pool(kind, parent)
        key = lookup_key(text).removeprefix("the ")
        if not key:
            return pool[:limit]
        allowed = {feature.key for feature in pool}
        exact = self.named(text, kind)
        loose = self._loose(text, kind)
        begins = [f for f in pool if lookup_key(f.name).startswith(key)]
        contains = [f for f in pool if key in lookup_key(f.name)]
        found = {f.key: f for f in (*exact, *loose, *begins, *contains) if f.key in allowed}
        if len(found) < limit:
            nearest = similar(text, pool, limit, A_MISSPELLING)
            found.update((f.key, f) for f in nearest if f.key not in found)
        return list(found.values())[:limit]

    def of_kind(self, kind: str, parent: str | None = None) -> list[Feature]:
        """All features of a kind, or those that belong to a parent, directly or through others.

        The deserts in Asia are those listed under Asia and those listed under a country of Asia;
        the seas of the Pacific Ocean are those of its northern and southern half.

        Raises:
            UnknownFeature: If there is no such kind or parent.
            AmbiguousFeature: If several features with that name are parents.
        """
        return self._pool(kind, parent)

    def children(self, parent_name: str, kind: str | None = None) -> list[Feature]:
        """The features that belong to a parent, directly or through others.

        Of a country these are its states, lakes, cities and so on; of a continent its countries
        and all that belongs to them. What is listed under Russia belongs to Europe or Asia by
        where it lies, though Russia itself is listed under Europe.

        Raises:
            UnknownFeature: If there is no such parent or kind.
            AmbiguousFeature: If several features with that name are parents.
        """
        return self._pool(kind, parent_name)

    def parent_named(self, name: str) -> Feature:
        """The feature that a parent's name means.

        Of several with the name it is the one that anything belongs to: the country Georgia, the
        continent Antarctica.

        Raises:
            UnknownFeature: If there is none.
            AmbiguousFeature: If several are parents.
        """
        matches = [self._keys[name]] if name in self._keys else self.named(name, None)
        if not matches:
            raise UnknownFeature(self._unknown(name, None))
        parents = {feature.key for feature in matches if self._belonging.to(feature)}
        outermost = [k for k in parents if not self._belonging.above[k] & parents]
        chosen = [feature for feature in matches if feature.key in outermost]
        if len(chosen) > 1:
            raise AmbiguousFeature(ambiguous(name, chosen))
        return (chosen or matches)[0]

    def to_geodataframe(self) -> geopandas.GeoDataFrame:
        """The features as a GeoDataFrame: name, kind, parent, source, geometry (EPSG:4326)."""
        import geopandas
        import shapely

        columns = {
            column: [getattr(feature, column) for feature in self]
            for column in ("name", "kind", "parent", "source")
        }
        geometry = shapely.from_wkb([feature.wkb for feature in self])
        return geopandas.GeoDataFrame(columns, geometry=geometry, crs="EPSG:4326")

    def _pool(self, kind: str | None, parent: str | None) -> list[Feature]:
        if kind is not None:
            self._check_kind(kind)
        if parent is None:
            return list(self._features if kind is None else self._by_kind[kind])
        return list(self._belonging.to(self.parent_named(parent), kind))

    @cached_property
    def _belonging(self) -> Belonging:
        return Belonging(self._features)

    def _check_kind(self, kind: str) -> None:
        if kind not in self._by_kind:
            kinds = ", ".join(self._by_kind)
            raise UnknownFeature(f"There is no kind {quoted(kind)}; the kinds are {kinds}.")

    def _found(self, key: str, kind: str | None) -> list[Feature]:
        indexes = [self._names, self._other_names]
        if kind is not None:
            indexes.append(self._loose_names)
        for index in indexes:
            found = [f for f in index.get(key, []) if kind is None or f.kind == kind]
            if found and kind is None and index is self._names:
                # Washington is a state, but Washington, D.C. may be meant just as well.
                kinds = {feature.kind for feature in found}
                found += [f for f in self._short_names.get(key, ()) if f.kind not in kinds]
            if found:
                return found
        return []

    def _loose(self, name: str, kind: str | None) -> list[Feature]:
        """Features whose name is longer than that: "Lake Victoria" for "Victoria"."""
        found = (self._loose_names.get(key, []) for key in spellings(name))
        return [f for f in next(filter(None, found), []) if kind is None or f.kind == kind]

    def _unknown(self, name: str, kind: str | None) -> str:
        # Of another kind ("Victoria", asked for as a lake), or short for one ("TX").
        elsewhere = self.named(name, None) or self._loose(name, None)
        countries = {feature.name: feature for feature in self._by_kind.get("country", ())}
        return unknown(name, kind, elsewhere, self._pool(kind, None), countries)


def digest(features: Iterable[Feature]) -> str:
    """Return a hash of the keys and shapes of features in their order."""
    hasher = blake2b(digest_size=16)
    for feature in features:
        hasher.update(f"\n{feature.key} {len(feature.wkb)} ".encode() + feature.wkb)
    return hasher.hexdigest()


def _read_parquet(file: bytes) -> list[Feature]:
    import pyarrow.parquet

    # ParquetFile, unlike read_table, imports neither pandas nor the dataset machinery.
    with pyarrow.parquet.ParquetFile(pyarrow.BufferReader(file)) as opened:
        table = opened.read(columns=["name", "kind", "parent", "source", "geometry"])
    columns = (table[column].to_pylist() for column in table.column_names)
    return [Feature(*row) for row in zip(*columns, strict=True)]
