"""The tool `features`: find the names of places."""

from zephyrus import ToolError, tool
from zephyrus_geodata import AmbiguousFeature, Dataset, Feature, FeatureStore, UnknownFeature
from zephyrus_geodata.features import normalise
from zephyrus_tools import places, text
from zephyrus_tools.arguments import OptionalText

_NAMES = 20
_CANDIDATES = 200  # names looked through for a text, more than are ever shown
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
    name, sort, owner = map(places.given, (query, kind, parent))
    if name:
        return _search(store, name, sort, owner, most)
    if sort:
        found = places.of_kind(store, sort, owner)
        within = f" in {found[0].parent}" if owner else ""
        listed = text.names([feature.name for feature in found[:most]])
        return f"{found[0].kind} features{within} ({_counted(most, len(found))}): {listed}"
    if owner:
        children = _children(store, owner)
        listed = text.names([places.label(child) for child in children[:most]])
        return f"Features in {children[0].parent} ({_counted(most, len(children))}): {listed}"
    kinds = ", ".join(f"{each} ({count})" for each, count in store.kinds().items())
    return f"{len(store)} features. Kinds: {kinds}. Give query, kind or parent."


def _search(
    store: FeatureStore, query: str, kind: str | None, parent: str | None, most: int
) -> str:
    kind = places.find_kind(store, kind) if kind else None
    if parent:
        _children(store, parent)
    near = store.find(query, kind, parent, limit=_CANDIDATES)
    key = normalise(query)
    try:
        meant = store.get(query, kind).key
    except (UnknownFeature, AmbiguousFeature):
        meant = ""
    hits = [f for f in near if f.key == meant or key in normalise(f.name)]
    if hits:
        count = _counted(most, len(hits))
        return "\n".join([f"Features like {query!r} ({count}):", *map(_line, hits[:most])])
    if near:
        nearest = map(_line, near[: min(most, _SIMILAR)])
        return "\n".join([f"No feature is named like {query!r}. Nearest names:", *nearest])
    raise ToolError(
        f"no feature is named like {query!r}. Try a shorter or English name, or list a kind."
    )


def _children(store: FeatureStore, parent: str) -> list[Feature]:
    """What belongs to a parent; at least one feature."""
    try:
        children = store.children(parent)
    except UnknownFeature as error:
        raise ToolError(f"parent: {error}") from None
    if not children:
        raise ToolError(
            f"nothing belongs to {parent}: parents are continents, countries and oceans."
        )
    return children


def _line(feature: Feature) -> str:
    within = f", in {feature.parent}" if feature.parent else ""
    return f"{feature.name} ({feature.kind}{within})"


def _counted(most: int, total: int) -> str:
    if total <= most:
        return f"{total} of {total}"
    return f"{most} of {total} shown; raise limit, or narrow by query, kind or parent"
