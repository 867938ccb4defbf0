"""Where: a feature, every feature of a kind, a point, or the whole world."""

import re
from collections import Counter
from dataclasses import dataclass, field
from weakref import WeakKeyDictionary

import numpy as np
from numpy.typing import NDArray

from zephyrus import ToolError
from zephyrus_geodata import (
    AmbiguousFeature,
    Dataset,
    Feature,
    FeatureStore,
    Forecast,
    GeodataError,
    UnknownFeature,
    Zone,
    zonal_statistic,
)
from zephyrus_geodata.names import lookup_key, normalise, quoted
from zephyrus_geodata.zonal import Stat
from zephyrus_tools import text

_WORLD = ("world", "the world", "whole world", "globe", "global", "earth", "the earth")

_NOTHING = ("null", "none", "nil", "n a", "undefined")
"""What models write for an argument they leave out; no feature has such a name."""

_EVERY = ("all", "any", "each", "every", "")

_ACROSS_BORDERS = frozenset(
    {"basin", "desert", "island", "lake", "mountain_range", "peninsula", "plain", "plateau"}
)
"""Kinds whose features may reach into countries that they are not listed under."""

_KINDS = {
    "state": "us_state",
    "mountain": "mountain_range",
    "mountains": "mountain_range",
    "range": "mountain_range",
    "region": "subregion",
    "town": "city",
    "forecast_area": "nws_cwa",
    "cwa": "nws_cwa",
    "nation": "country",
}


@dataclass(frozen=True)
class Place:
    """One feature, point or the whole world, with its cells.

    Attributes:
        name: Its name, "Kenya".
        label: Its name and kind, "Kenya (country)".
        zone: The cells and their weights.
        feature: The feature, unless it is a point or the world.
    """

    name: str
    label: str
    zone: Zone
    feature: Feature | None = None

    @property
    def is_point(self) -> bool:
        """Whether it is read off the one nearest cell, so that statistics over space agree."""
        return self.zone.cells.size == 1 and not self.zone.fallback

    def over(self, statistic: str) -> str:
        """Say what is taken where: "mean over Kenya (country)", "at Nairobi (city), …".

        Args:
            statistic: What; "" if it was said before.
        """
        if self.is_point:
            return f"at {self.label}, nearest grid cell"
        return f"{statistic} over {self.label}".lstrip()

    def series(
        self,
        dataset: Dataset,
        forecast: Forecast,
        variable: str,
        stat: Stat,
        member: str | None = None,
    ) -> NDArray[np.float64]:
        """Return a statistic over the cells at each lead time: (time,), SI units."""
        if self.feature is not None:
            return dataset.series(forecast, variable, self.feature, stat, member)
        cells = forecast.cells(variable, member)
        if self.is_point:
            values: NDArray[np.float64] = cells[self.zone.cells[0]].astype(np.float64)
            return values
        return zonal_statistic(cells, self.zone, stat)

    def member_series(
        self, dataset: Dataset, forecast: Forecast, variable: str, stat: Stat
    ) -> NDArray[np.float64]:
        """Return ``series`` of each member of an ensemble: (member, time), SI units."""
        if self.feature is not None:
            return dataset.member_series(forecast, variable, self.feature, stat)
        fields = (forecast.cells(variable, index) for index in range(len(forecast.members)))
        return np.stack([zonal_statistic(cells, self.zone, stat) for cells in fields])

    def note(self) -> str:
        """A line about a feature too small for the grid, or nothing."""
        if not self.zone.fallback:
            return ""
        return (
            f"\n({self.name} is smaller than a grid cell; this is read off the cells it lies in.)"
        )


@dataclass(frozen=True)
class _World(Place):
    """Every cell of a grid; what is taken over so many is kept as long as the forecast."""

    _kept: WeakKeyDictionary[Forecast, dict[tuple[str, Stat, str | None], NDArray[np.float64]]] = (
        field(default_factory=WeakKeyDictionary, init=False, repr=False, compare=False)
    )

    def series(
        self,
        dataset: Dataset,
        forecast: Forecast,
        variable: str,
        stat: Stat,
        member: str | None = None,
    ) -> NDArray[np.float64]:
        """Return a statistic over the cells at each lead time: (time,), SI units."""
        kept = self._kept.setdefault(forecast, {})
        key = variable, stat, member
        if key not in kept:
            kept[key] = super().series(dataset, forecast, variable, stat, member)
        return kept[key]


_WORLDS: WeakKeyDictionary[Dataset, _World] = WeakKeyDictionary()


@dataclass(frozen=True)
class Places:
    """The features of a kind, all of them or those of a parent.

    Attributes:
        label: "each country in Africa".
        features: At least one.
    """

    label: str
    features: list[Feature]

    def note(self, dataset: Dataset, shown: list[int]) -> str:
        """A line about those of the shown features that are too small for the grid, or nothing."""
        features = self.features
        if len(shown) > text.MOST_ROWS:
            too_small = dataset.too_small(features)
            small = [features[i].name for i in shown if too_small[i]]
        else:
            names = (features[i] for i in shown)
            small = [f.name for f in names if dataset.zones.zone(f).fallback]
        if not small:
            return ""
        return f"\n(Smaller than a grid cell, read off the cells they lie in: {text.few(small)}.)"


def find_place(
    dataset: Dataset,
    feature: str | None,
    kind: str | None,
    parent: str | None,
    latitude: float | None,
    longitude: float | None,
) -> Place | Places:
    """Return what the place arguments of a call mean.

    Raises:
        ToolError: If they name nothing, contradict each other, or name something unknown or
            ambiguous; the message says how to mend them.
    """
    kind = given(kind)
    feature, parent = limiting(feature, kind), owner(parent, kind)
    if latitude is not None or longitude is not None:
        if feature or kind or parent:
            raise ToolError(
                "give either a point (latitude and longitude) or a feature or kind, not both."
            )
        return _point(dataset, latitude, longitude)
    if feature:
        return find_feature(dataset, feature, kind, parent)
    if kind:
        return _of_kind(dataset.features, kind, parent)
    if parent:
        kinds = _child_kinds(dataset.features, parent)
        raise ToolError(f"parent needs a kind. {short(parent)} has: {kinds}.")
    raise ToolError(
        "say where: feature (a name), or kind (all features of a kind, with parent if wanted), "
        "or latitude and longitude."
    )


def find_feature(
    dataset: Dataset, name: str, kind: str | None = None, parent: str | None = None
) -> Place:
    """Return one feature, or the whole world, by name.

    Raises:
        ToolError: If there is none or there are several, or it isn't one of the parent's.
    """
    store = dataset.features
    kind = find_kind(store, kind) if kind else None
    if parent:
        found = _child(store, name, kind, parent)
    elif kind is None and normalise(name) in _WORLD and not store.named(name):
        return _world(dataset)
    else:
        try:
            found = store.get(name, kind)
        except AmbiguousFeature as error:
            raise ToolError(str(error)) from None
        except UnknownFeature as error:
            raise ToolError(str(error)) from None
    return Place(found.name, label(found), _zone(dataset, found), found)


def find_kind(store: FeatureStore, kind: str) -> str:
    """Return the kind that a text means, in singular or plural: "US states" is us_state.

    Raises:
        ToolError: If there is no such kind; the message lists them.
    """
    kinds = store.kinds()
    key = normalise(kind).replace(" ", "_")
    singulars = (key, re.sub("ies$", "y", key), key.removesuffix("s"), key.removesuffix("es"))
    for singular in singulars:
        for candidate in (singular, _KINDS.get(singular, "")):
            if candidate in kinds:
                return candidate
    raise ToolError(f"there is no kind {quoted(kind)}; the kinds are {', '.join(kinds)}.")


def label(feature: Feature) -> str:
    """Name a feature with its kind."""
    return f"{feature.name} ({feature.kind})"


def given(argument: str | None) -> str | None:
    """Take a blank or "null", which models send for an argument they don't use, as not given."""
    text = (argument or "").strip()
    return None if normalise(text) in _NOTHING else text or None


def limiting(argument: str | None, kind: str | None) -> str | None:
    """Take a name such as "all" or "*" as not given where there is a kind: all of that kind."""
    text = given(argument)
    return None if text and kind and normalise(text) in _EVERY else text


def owner(parent: str | None, kind: str | None) -> str | None:
    """Take "all" or "world" as no parent where there is a kind: all of that kind."""
    text = limiting(parent, kind)
    return None if text and kind and normalise(text) in _WORLD else text


def short(name: str) -> str:
    """The name that a model wrote, cut if it is long."""
    return quoted(name)[1:-1]


def within(store: FeatureStore, kind: str, parent: str) -> str:
    """Say how a kind's features belong to a parent: "in Africa", "listed under Kenya"."""
    listed = kind in _ACROSS_BORDERS and f"country:{parent}" in store
    return f"{'listed under' if listed else 'in'} {parent}"


def of_kind(store: FeatureStore, kind: str, parent: str | None) -> list[Feature]:
    """Return the features of a kind that belong to a parent, or all of them; at least one.

    Raises:
        ToolError: If the kind or parent is unknown, or the parent has none of the kind.
    """
    kind = find_kind(store, kind)
    if parent is None:
        return store.of_kind(kind)
    found = _children(store, parent, kind)
    if not found:
        mend = f"{short(parent)} has no {kind} children; it has: {_child_kinds(store, parent)}."
        if kind in _ACROSS_BORDERS and store.parent_named(parent).kind == "country":
            mend += f" (A {kind} on a border is listed under one country only.)"
        raise ToolError(mend)
    return found


def _of_kind(store: FeatureStore, kind: str, parent: str | None) -> Places:
    features = of_kind(store, kind, parent)
    kind = features[0].kind
    where = f" {within(store, kind, store.parent_named(parent).name)}" if parent else ""
    return Places(f"each {kind}{where}", features)


def _children(store: FeatureStore, parent: str, kind: str | None = None) -> list[Feature]:
    try:
        return store.children(parent, kind)
    except GeodataError as error:
        raise ToolError(f"parent: {error}") from None


def _child_kinds(store: FeatureStore, parent: str) -> str:
    """The kinds of a parent's children in words: "us_state (51), lake (12)"."""
    counts = Counter(child.kind for child in _children(store, parent))
    return ", ".join(f"{kind} ({count})" for kind, count in sorted(counts.items())) or "none"


def _child(store: FeatureStore, name: str, kind: str | None, parent: str) -> Feature:
    pool = _children(store, parent, kind)
    key = lookup_key(name)
    found = [f for f in pool if lookup_key(f.name) == key]
    if not found:
        try:
            meant = store.get(name, kind)
        except AmbiguousFeature as error:
            raise ToolError(str(error)) from None
        except UnknownFeature as error:
            raise ToolError(str(error)) from None
        if meant not in pool:
            where = f"; {meant.name} is listed under {meant.parent}" if meant.parent else ""
            raise ToolError(
                f"{short(parent)} has no {kind or 'feature'} named {quoted(name)}{where}. "
                "Drop parent."
            )
        found = [meant]
    if len(found) > 1:
        several = ", ".join(f.kind for f in found)
        raise ToolError(
            f"{quoted(name)} in {short(parent)} is the name of several kinds: {several}. Give kind."
        )
    return found[0]


def _zone(dataset: Dataset, feature: Feature) -> Zone:
    try:
        return dataset.zones.weights(feature)
    except GeodataError as error:
        raise ToolError(str(error)) from None


def _world(dataset: Dataset) -> Place:
    """Every cell; a regional grid is said to be one."""
    world = _WORLDS.get(dataset)
    if world is None:
        area = dataset.grid.cell_area
        name = "the world" if dataset.grid.periodic else "the whole grid"
        world = _World(name, name, Zone(np.arange(area.size), area, fallback=False))
        world = _WORLDS.setdefault(dataset, world)
    return world


def _point(dataset: Dataset, latitude: float | None, longitude: float | None) -> Place:
    if latitude is None or longitude is None:
        missing = "latitude" if latitude is None else "longitude"
        raise ToolError(f"a point needs both latitude and longitude; {missing} is missing.")
    if not -90.0 <= latitude <= 90.0:
        raise ToolError(f"latitude must be -90 to 90 degrees north, not {latitude:g}.")
    if not -180.0 <= longitude <= 360.0:
        raise ToolError(f"longitude must be -180 to 360 degrees east, not {longitude:g}.")
    try:
        zone = dataset.zones.point(latitude, longitude)
    except GeodataError as error:
        raise ToolError(str(error)) from None
    where = f"{text.latitude(latitude)} {text.longitude(longitude)}"
    return Place(f"point {where}", f"point {where}", zone)
