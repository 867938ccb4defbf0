"""A keyword-taxonomy F1: do two texts speak of the same things?

After WeatherSyn's keyword score, with one difference: WeatherSyn leaves out every group that the
reference does not mention, so that invented hazards of another group cost nothing. Here every
group counts. The keywords lie in ``taxonomy.yaml``.
"""

from __future__ import annotations

import functools
import importlib.resources
import re
from dataclasses import dataclass
from typing import Any

import yaml


@dataclass(frozen=True, slots=True)
class TaxonomyScore:
    """How the keywords of a report match those of a reference.

    Attributes:
        precision: Share of the report's keywords that the reference has, weighted; 0 if it has none.
        recall: Share of the reference's keywords that the report has, weighted.
        f1: Their harmonic mean.
        invented: Groups of which only the report speaks.
        omitted: Groups of which only the reference speaks.
    """

    precision: float
    recall: float
    f1: float
    invented: tuple[str, ...]
    omitted: tuple[str, ...]


def taxonomy_f1(report: str, reference: str) -> TaxonomyScore | None:
    """Compare which keywords two texts mention (how often does not matter).

    A keyword weighs 1 / (keywords of its group), so that each group weighs the same.

    Returns:
        The score, or None if the reference mentions no keyword at all.
    """
    said, wanted = keywords(report), keywords(reference)
    if not wanted:
        return None
    hit = _weight(said & wanted)
    precision = hit / _weight(said) if said else 0.0
    recall = hit / _weight(wanted)
    f1 = 2 * precision * recall / (precision + recall) if hit else 0.0
    groups, wanted_groups = {g for g, _ in said}, {g for g, _ in wanted}
    return TaxonomyScore(
        precision,
        recall,
        f1,
        tuple(sorted(groups - wanted_groups)),
        tuple(sorted(wanted_groups - groups)),
    )


def keywords(text: str) -> set[tuple[str, str]]:
    """The (group, keyword) pairs that a text mentions."""
    plain = " ".join(text.split())  # a phrase may be broken over two lines
    return {key for key, pattern in _patterns().items() if pattern.search(plain)}


def _weight(keys: set[tuple[str, str]]) -> float:
    sizes = _sizes()
    return sum(1 / sizes[group] for group, _ in sorted(keys))


@functools.cache
def _table() -> dict[str, dict[str, list[str]]]:
    text = importlib.resources.files(__package__).joinpath("taxonomy.yaml").read_text("utf-8")
    table: dict[str, Any] = yaml.safe_load(text)
    groups: dict[str, dict[str, list[str]]] = table["groups"]
    return groups


@functools.cache
def _sizes() -> dict[str, int]:
    return {group: len(words) for group, words in _table().items()}


@functools.cache
def _patterns() -> dict[tuple[str, str], re.Pattern[str]]:
    return {
        (group, word): re.compile(rf"\b(?:{'|'.join(patterns)})\b", re.IGNORECASE)
        for group, words in _table().items()
        for word, patterns in words.items()
    }
