"""What policies score that look at no chart, though they read question and choices.

Most strategies are a property of one question: naming the longest choice, the one most like the
others, the second class of four, the northernmost area. Others learn from the training
questions: which choice was right most often where it was offered (`Learnt`).
"""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from zephyrus_chartqa.item import LETTERS, Item

CHANCE = 0.25
LIMIT = 0.32
"""The most that a blind strategy may score on a whole bank."""

_TOKEN = re.compile(r"-?\d+(?:\.\d+)?|\w+")
_PRIOR = 8.0  # offers' worth of chance that a choice begins with


def by_form(right: str, wrong: Sequence[str]) -> dict[str, float]:
    """What the form of the choices gives away: the share of a right answer, by strategy.

    A strategy that finds several choices alike takes one of them at random.
    """
    offered = [right, *wrong]
    lengths = [float(len(text)) for text in offered]
    tokens = [set(_TOKEN.findall(text.casefold())) for text in offered]
    alike = [sum(len(own & other) / max(1, len(own | other)) for other in tokens) for own in tokens]
    return {
        "longest": _first(lengths),
        "shortest": _first([-length for length in lengths]),
        "most like the others": _first(alike),
        "least like the others": _first([-score for score in alike]),
    }


def by_letter(items: Iterable[Item]) -> dict[str, float]:
    """The share of the items whose answer each letter is."""
    counts = Counter(item.answer for item in items)
    return {
        f"always {letter}": counts[letter] / max(1, counts.total())
        for letter in LETTERS[: max(4, len(counts))]
    }


class Learnt:
    """Which choices were right most often in the training questions, for their kind of question."""

    def __init__(self, items: Iterable[Item]) -> None:
        """Count how often each choice was offered and right, by category and template."""
        self._offered: Counter[tuple[str, str, str]] = Counter()
        self._right: Counter[tuple[str, str, str]] = Counter()
        for item in items:
            for letter, text in item.lettered.items():
                key = (*_kind(item), text)
                self._offered[key] += 1
                self._right[key] += letter == item.answer

    def score(self, item: Item) -> float:
        """What naming the choice scores that was right most often where it was offered."""
        chance = 1.0 / len(item.choices)
        rates = {
            letter: (self._right[key] + chance * _PRIOR) / (self._offered[key] + _PRIOR)
            for letter, text in item.lettered.items()
            for key in [(*_kind(item), text)]
        }
        best = max(rates.values())
        named = [letter for letter, rate in rates.items() if rate >= best - 1e-12]
        return (item.answer in named) / len(named)


def measure(items: Sequence[Item], learnt: Learnt | None = None) -> dict[str, tuple[float, int]]:
    """What each strategy scores over items, where it applies: (mean score, number of items).

    Args:
        items: Items of a bank of ours; their provenance keeps what `by_form` and the templates
            said of them.
        learnt: From the training items, if others are measured.
    """
    totals: defaultdict[str, float] = defaultdict(float)
    counts: Counter[str] = Counter()
    for item in items:
        scores: Mapping[str, float] = item.provenance.get("blind", {})
        more = {} if learnt is None else {"right most often in training": learnt.score(item)}
        for name, score in {**scores, **more}.items():
            totals[name] += score
            counts[name] += 1
    found = {name: (totals[name] / counts[name], counts[name]) for name in counts}
    for name, share in by_letter(items).items():
        found[name] = (share, len(items))
    return found


def _kind(item: Item) -> tuple[str, str]:
    return item.category, str(item.provenance.get("template", ""))


def _first(scores: Sequence[float]) -> float:
    """What naming the highest scores, if the first of them is right."""
    best = max(scores)
    ties = sum(score >= best - 1e-12 for score in scores)
    return float(scores[0] >= best - 1e-12) / ties
