"""Which places a text names, on whole words, the longest name first.

"Niger" is not in "Nigeria", "Mexico City" does not name Mexico, and where several places are
named the order tells an answer with its region ("Lake Victoria, Kenya") from a list of guesses.
A place may go by any name that the tools know for it, as long as no other candidate does.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache

from zephyrus_geodata import Feature, FeatureStore
from zephyrus_geodata.aliases import shipped_aliases
from zephyrus_geodata.names import lookup_key, without_generic, without_qualifier

REGION_KINDS = frozenset({"continent", "subregion", "country", "us_state"})
"""Kinds that may follow a place to say where it is."""

SHORT = 3
"""Codes of up to so many letters ("IN", "US") count within a text only where it has capitals."""

_PARTED = re.compile(r"[\s,;:()/]+")

Words = tuple[str, ...]


def resolve(text: str, candidates: Iterable[str] = (), kind: str | None = None) -> str | None:
    """The lookup key of the candidate whose name or other name a text is, as a whole."""
    return forms(candidates, kind).get(words(text))


def mentions(text: str, candidates: Iterable[str] = (), kind: str | None = None) -> list[str]:
    """The places that a text names, in order.

    Args:
        text: What the model wrote.
        candidates: Names known besides those of the shipped features; they come first where a
            name is shared. Of "Birmingham, United Kingdom" the part before the comma is enough,
            if only one candidate has it.
        kind: The candidates' kind, whose other names count; by default those of any kind.

    Returns:
        Lookup keys: of the full name for a candidate, else of the words that matched.
    """
    own = forms(candidates, kind)
    known = gazetteer()
    capitals = {words(word) for word in _PARTED.split(text.replace(".", "")) if word.isupper()}
    said = words(text)
    longest = max([len(form) for form in own] + [_longest()], default=0)
    found: list[str] = []
    start = 0
    while start < len(said):
        for length in range(min(longest, len(said) - start), 0, -1):
            form = said[start : start + length]
            key = own.get(form)
            full = key is not None and words(key) == form
            if len(form) == 1 and len(form[0]) <= SHORT and not full and form not in capitals:
                continue
            # "Nicaragua" is short for a lake, but in "Lake Managua, Nicaragua" it is a country
            regions = [f for f in known.get(form, ()) if f.kind in REGION_KINDS]
            if not full and any(lookup_key(f.name) != key for f in regions):
                key = None
            if key or form in known:
                found.append(key or " ".join(form))
                start += length
                break
        else:
            start += 1
    return found


def names_place(
    text: str, gold: str, candidates: Iterable[str] = (), kind: str | None = None
) -> bool:
    """Whether a text names the gold place, and no other as a second guess.

    The gold place must be the first one named, or follow only its own parent; what comes after
    it may only be regions that it could lie in, and no other candidate.
    """
    right = lookup_key(gold)
    names = list(dict.fromkeys([gold, *candidates]))
    if whole := resolve(text, names, kind):
        return whole == right
    others = {lookup_key(name) for name in names} - {right}
    found = mentions(text, names, kind)
    if right not in found:
        return False
    known = gazetteer()
    parents = {words(f.parent) for f in known.get(words(gold), ()) if f.parent}
    first = found.index(right)
    for position, name in enumerate(found):
        if name == right:
            continue
        features = known.get(words(name), ())
        is_parent = any(words(f.name) in parents for f in features)
        is_region = any(f.kind in REGION_KINDS for f in features)
        if name in others or not (is_parent or (is_region and position > first)):
            return False
    return True


def words(text: str) -> Words:
    """The words under which a name is compared; "the" is none of them."""
    return tuple(word for word in lookup_key(text).split() if word != "the")


def forms(candidates: Iterable[str], kind: str | None = None) -> Mapping[Words, str]:
    """The lookup keys of candidates by the words of each name they go by.

    A full name outranks another name, and that a shortened one; what two candidates share at
    its rank is left out.
    """
    return _forms(tuple(dict.fromkeys(candidates)), kind)


@lru_cache(maxsize=512)
def _forms(names: tuple[str, ...], kind: str | None) -> Mapping[Words, str]:
    ranks: list[dict[Words, set[str]]] = [{}, {}, {}]
    for name in names:
        plain = without_qualifier(name)
        for rank, form in (
            (0, name),
            *((1, other) for other in (plain, *other_names(name, kind))),
            (2, without_generic(plain)),
        ):
            ranks[rank].setdefault(words(form), set()).add(lookup_key(name))
    found: dict[Words, str] = {}
    seen: set[Words] = {()}
    for owners in ranks:
        found |= {f: next(iter(k)) for f, k in owners.items() if len(k) == 1 and f not in seen}
        seen |= set(owners)
    return found


def other_names(name: str, kind: str | None = None) -> Iterator[str]:
    """The names in the tools' table under which a feature is found too."""
    for of_kind, aliases in shipped_aliases().items():
        if kind in (None, of_kind):
            yield from aliases.get(name, ())


@lru_cache(maxsize=1)
def gazetteer() -> Mapping[Words, tuple[Feature, ...]]:
    """The shipped features by the words of their names and of their other names."""
    index: dict[Words, tuple[Feature, ...]] = {}
    for feature in FeatureStore.load():
        plain = without_qualifier(feature.name)
        for name in (feature.name, plain, *other_names(feature.name, feature.kind)):
            form = words(name)
            if feature not in index.get(form, ()):
                index[form] = (*index.get(form, ()), feature)
    index.pop((), None)
    return index


@lru_cache(maxsize=1)
def _longest() -> int:
    return max((len(form) for form in gazetteer()), default=0)
