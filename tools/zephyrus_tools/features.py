"""The tool `features`: find the names of places."""

from zephyrus import ToolError, tool
from zephyrus_geodata import AmbiguousFeature, Dataset, Feature, FeatureStore, UnknownFeature
from zephyrus_geodata.names import lookup_key, quoted, spellings
from zephyrus_geodata.suggestions import part_of
from zephyrus_tools import places, text
from zephyrus_tools.arguments import OptionalText

_NAMES = 20
_SIMILAR = 5
"""How many names to show when none of them is or contains the text."""


@tool
def features(
    dataset: Dataset,
    query: OptionalText = None,
    kind: OptionalText = None,
    parent: OptionalText = None,
    limit: int | None = None,
) -> str:
    """Find names of places. Alone: lists kinds.

    Args:
        dataset: The episode's.
        query, kind, limit: A name or part of it, what it must be, most names shown (20).
        parent: its country, continent, ocean
    """
    most = text.rows(limit, _NAMES)
    store = dataset.features
    sort = places.given(kind)
    name, owner = places.limiting(query, sort or parent), places.owner(parent, sort)
    if name and lookup_key(name):  # "*" is any name
        return _search(store, name, sort, owner, most)
    if sort:
        found = places.of_kind(store, sort, owner)
        where = ""
        if owner:
            where = f" {places.within(store, found[0].kind, store.parent_named(owner).name)}"
        listed = text.names([feature.name for feature in found[:most]])
        return f"{found[0].kind} features{where} ({_counted(most, len(found))}): {listed}"
    if owner:
        children = _children(store, owner)
        whole = store.parent_named(owner).name
        children.sort(key=lambda child: child.parent != whole)  # its own before theirs
        listed = text.names([places.label(child) for child in children[:most]])
        return f"Features in {whole} ({_counted(most, len(children))}): {listed}"
    kinds = ", ".join(f"{each} ({count})" for each, count in store.kinds().items())
    return f"{len(store)} features. Kinds: {kinds}. Give query, kind or parent."


def _search(
    store: FeatureStore, query: str, kind: str | None, parent: str | None, most: int
) -> str:
    kind = places.find_kind(store, kind) if kind else None
    if parent:
        _children(store, parent)
    near = store.find(query, kind, parent, limit=len(store))
    keys = spellings(query)
    try:
        meant = store.get(query, kind).key
    except (UnknownFeature, AmbiguousFeature):
        meant = ""
    hits = [f for f in near if f.key == meant or any(k in lookup_key(f.name) for k in keys)]
    if hits:
        count = _counted(most, len(hits))
        return "\n".join(
            [f"Features like {quoted(query)} ({count}):", *(_line(store, f) for f in hits[:most])]
        )
    country = part_of(query)
    if f"country:{country}" in store:
        raise ToolError(f"no feature is named {quoted(query)}: it is part of {country} (country).")
    if near:
        nearest = (_line(store, f) for f in near[: min(most, _SIMILAR)])
        return "\n".join([f"No feature is named like {quoted(query)}. Nearest names:", *nearest])
    raise ToolError(
        f"no feature is named like {quoted(query)}. Try a shorter or English name, or list a kind."
    )


def _children(store: FeatureStore, parent: str) -> list[Feature]:
    """What belongs to a parent; at least one feature."""
    try:
        children = store.children(parent)
    except (UnknownFeature, AmbiguousFeature) as error:
        raise ToolError(f"parent: {error}") from None
    if not children:
        raise ToolError(
            f"nothing belongs to {places.short(parent)}: parents are continents, countries and oceans."
        )
    return children


def _line(store: FeatureStore, feature: Feature) -> str:
    within = ""
    if feature.parent:
        within = f", {places.within(store, feature.kind, feature.parent)}"
    return f"{feature.name} ({feature.kind}{within})"


def _counted(most: int, total: int) -> str:
    if total <= most:
        return f"{total} of {total}"
    return f"{most} of {total} shown; raise limit, or narrow by query, kind or parent"
