"""What is said about a name that means no feature, or several: the sentences that mend it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from zephyrus_geodata.names import lookup_key, quoted, spellings

if TYPE_CHECKING:
    from zephyrus_geodata.features import Feature

NEAREST_NAMES = 5
"""How many names a message suggests."""

WORTH_SUGGESTING = 60.0
"""The least rapidfuzz score, of 100, at which a message suggests a name."""

A_MISSPELLING = 80.0
"""The least rapidfuzz score, of 100, at which a search takes a name for what was meant."""

_CANDIDATES = 50  # scored by resemblance alone, before the kinds are weighed

# How likely a feature of a kind is meant, in points of resemblance: "kenia" is Kenya, not Kenitra.
_LIKELIHOOD = {"country": 8.0, "continent": 8.0, "us_state": 5.0, "ocean": 5.0, "city": 4.0}
_LIKELIHOOD |= {"lake": -4.0, "nws_cwa": -8.0}

_PARTS = {
    "england": "United Kingdom",
    "scotland": "United Kingdom",
    "wales": "United Kingdom",
    "northern ireland": "United Kingdom",
}
"""Well-known parts of countries that are no features themselves, by lookup key."""


def part_of(name: str) -> str | None:
    """Return the country that a well-known part of it, itself no feature, belongs to."""
    return next((_PARTS[key] for key in spellings(name) if key in _PARTS), None)


def similar(text: str, pool: Sequence[Feature], limit: int, least: float) -> list[Feature]:
    """Return the features whose name resembles a text, the best first.

    Args:
        text: What was asked for.
        pool: The features to choose from.
        limit: Most features returned.
        least: The least rapidfuzz score, of 100.
    """
    from rapidfuzz import fuzz, process

    names = [lookup_key(feature.name) for feature in pool]
    scores: dict[int, float] = {}
    most = max(limit, _CANDIDATES)
    for key in spellings(text):
        hits = process.extract(key, names, scorer=fuzz.WRatio, limit=most, score_cutoff=least)
        for name, score, index in hits:
            # WRatio also likes parts of names; the plain ratio prefers names of the same length.
            points = 0.5 * (score + fuzz.ratio(key, name))
            points += _LIKELIHOOD.get(pool[index].kind, 0.0)
            scores[index] = max(points, scores.get(index, 0.0))
    ranked = sorted(scores, key=lambda index: (-scores[index], index))
    return [pool[index] for index in ranked[:limit]]


def unknown(
    name: str,
    kind: str | None,
    elsewhere: Sequence[Feature],
    pool: Sequence[Feature],
    countries: Mapping[str, Feature],
) -> str:
    """Say that there is no such feature, and what may have been meant.

    Args:
        name: What was asked for.
        kind: Its kind, if it was given.
        elsewhere: Features of other kinds that have this name, or a longer one.
        pool: The features to choose the nearest names from.
        countries: The countries by name, for the parts of them that are no features.
    """
    what = kind.replace("_", " ") if kind else "feature"
    said = f"There is no {what} named {quoted(name)}"
    if elsewhere:
        others = " or ".join(f"{f.name!r} (kind {f.kind})" for f in elsewhere[:NEAREST_NAMES])
        return f"{said}, but there is {others}."
    whole = part_of(name)
    if whole in countries:
        return f"{said}: it is part of {whole} (country)."
    near = similar(name, pool, NEAREST_NAMES, WORTH_SUGGESTING)
    if not near:
        return f"{said}, nor one with a similar name."
    listed = ", ".join(f"{f.name} ({f.kind})" if kind is None else f.name for f in near)
    return f"{said}. Did you mean: {listed}?"


def ambiguous(name: str, matches: Sequence[Feature], longer: Sequence[Feature] = ()) -> str:
    """Say which features share a name.

    Args:
        name: What was asked for.
        matches: The features of that name.
        longer: Features whose name holds more words than that.
    """
    kinds = sorted({feature.kind for feature in matches})
    if len(kinds) == len(matches):
        return (
            f"{quoted(name)} is the name of features of several kinds: {', '.join(kinds)}. "
            "Say which kind is meant."
        )
    every = dict.fromkeys([*matches, *longer])
    listed = "; ".join(f"{feature.name} ({feature.kind})" for feature in every)
    return f"{quoted(name)} may be any of: {listed}. Give the full name and the kind."
