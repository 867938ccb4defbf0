"""Which places a text names, on whole words, the longest name first.

"Niger" is not in "Nigeria", "Mexico City" does not name Mexico, and where several places are
named the order tells an answer with its region ("Lake Victoria, Kenya") from a list of guesses.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import lru_cache

from zephyrus_geodata import Feature, FeatureStore
from zephyrus_geodata.names import lookup_key, without_qualifier

REGION_KINDS = frozenset({"continent", "subregion", "country", "us_state"})
"""Kinds that may follow a place to say where it is."""

Words = tuple[str, ...]


def mentions(text: str, candidates: Iterable[str] = ()) -> list[str]:
    """The places that a text names, in order.

    Args:
        text: What the model wrote.
        candidates: Names known besides those of the shipped features; they come first where a
            name is shared. Of "Birmingham, United Kingdom" the part before the comma is enough,
            if only one candidate has it.

    Returns:
        Lookup keys: of the full name for a candidate, else of the words that matched.
    """
    own = forms(candidates)
    known = gazetteer()
    words = lookup_key(text).split()
    longest = max([len(form) for form in own] + [_longest()], default=0)
    found: list[str] = []
    start = 0
    while start < len(words):
        for length in range(min(longest, len(words) - start), 0, -1):
            form = tuple(words[start : start + length])
            if form in own or form in known:
                found.append(own.get(form, " ".join(form)))
                start += length
                break
        else:
            start += 1
    return found


def names_place(text: str, gold: str, candidates: Iterable[str] = ()) -> bool:
    """Whether a text names the gold place, and no other as a second guess.

    The gold place must be the first one named, or follow only its own parent; what comes after
    it may only be regions that it could lie in, and no other candidate.
    """
    right = lookup_key(gold)
    others = {lookup_key(name) for name in candidates} - {right}
    found = mentions(text, {gold, *candidates})
    if right not in found:
        return False
    known = gazetteer()
    first = found.index(right)
    for position, name in enumerate(found):
        if name == right:
            continue
        features = known.get(tuple(name.split()), ())
        parents = {lookup_key(f.parent) for f in known.get(tuple(right.split()), ()) if f.parent}
        is_region = any(f.kind in REGION_KINDS for f in features)
        allowed = name in parents if position < first else is_region or name in parents
        if name in others or not allowed:
            return False
    return True


def forms(candidates: Iterable[str]) -> dict[Words, str]:
    """The lookup keys of names by their words; short forms that two names share are left out."""
    names = list(dict.fromkeys(candidates))
    short: dict[Words, set[str]] = {}
    for name in names:
        words = tuple(lookup_key(without_qualifier(name)).split())
        short.setdefault(words, set()).add(lookup_key(name))
    alone = {form: owners.pop() for form, owners in short.items() if len(owners) == 1}
    full = {tuple(lookup_key(name).split()): lookup_key(name) for name in names}
    return {form: key for form, key in {**alone, **full}.items() if form}


@lru_cache(maxsize=1)
def gazetteer() -> Mapping[Words, tuple[Feature, ...]]:
    """The shipped features by the words of their names and of their short names."""
    index: dict[Words, tuple[Feature, ...]] = {}
    for feature in FeatureStore.load():
        for name in dict.fromkeys((feature.name, without_qualifier(feature.name))):
            words = tuple(lookup_key(name).split())
            index[words] = (*index.get(words, ()), feature)
    index.pop((), None)
    return index


@lru_cache(maxsize=1)
def _longest() -> int:
    return max((len(words) for words in gazetteer()), default=0)
