"""The words of the rules, found in a text by the longest match."""

from __future__ import annotations

import itertools
import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import yaml

from zephyrus_report.rules.text import Word

LEXICON_FILE = Path(__file__).with_name("lexicon.yaml")

_CHOICE = re.compile(r"\(([^()]*)\)")
_TOKEN = re.compile(r"[a-z]+(?:'[a-z]+)*|\d+(?:[.,]\d+)*|/")


@dataclass(frozen=True, slots=True)
class Subject:
    """What a statement can be about.

    Attributes:
        key: Short name.
        name: As claims call it.
        group: "feature", "weather", "hazard", "variable" or "pattern".
        parent: Key of the more general subject, "" if there is none.
        units: Units of the values it can have.
        weight: As a hazard.
    """

    key: str
    name: str
    group: str
    parent: str
    units: tuple[str, ...]
    weight: float


@dataclass(frozen=True, slots=True)
class Term:
    """A term of the lexicon in a text.

    Attributes:
        family: "subject", "trend", "anomaly", "intensity", "role", "likelihood", "negation", …
        key: Which of the family.
        start: Where it begins in the text.
        end: Where it ends.
        index: Index of its first word.
    """

    family: str
    key: str
    start: int
    end: int
    index: int


class _Node(dict[str, "_Node"]):
    __slots__ = ("tags",)

    def __init__(self) -> None:
        super().__init__()
        self.tags: tuple[tuple[str, str], ...] = ()


@cache
def subjects() -> dict[str, Subject]:
    """Every subject by key."""
    return {
        key: Subject(
            key,
            each["name"],
            each["group"],
            each.get("parent", ""),
            tuple(each.get("units", ())),
            float(each.get("weight", 1.0)),
        )
        for key, each in _read()["subjects"].items()
    }


@cache
def subject_named(name: str) -> Subject | None:
    """The subject that claims call so."""
    return next((s for s in subjects().values() if s.name == name), None)


@cache
def lineage(key: str) -> tuple[str, ...]:
    """A subject's key and those of the more general ones, nearest first."""
    chain = [key]
    while parent := subjects()[chain[-1]].parent:
        chain.append(parent)
    return tuple(chain)


@cache
def _read() -> dict[str, Any]:
    read: dict[str, Any] = yaml.safe_load(LEXICON_FILE.read_text(encoding="utf-8"))
    return read


def expand(term: str) -> Iterator[str]:
    """All the word sequences of a term: "(a|b) c~" is "a c", "a cs", "b c", "b cs"."""
    inner = _CHOICE.search(term)
    if inner is None:
        words = term.split()
        options = [[w[:-1], f"{w[:-1]}s"] if w.endswith("~") else [w] for w in words]
        yield from (" ".join(choice) for choice in itertools.product(*options))
        return
    for choice in inner.group(1).split("|"):
        yield from expand(f"{term[: inner.start()]}{choice}{term[inner.end() :]}")


@cache
def _tree() -> _Node:
    root = _Node()
    read = _read()
    for key, each in read["subjects"].items():
        _add(root, each["terms"], "subject", key)
    for family in ("dry", "warmer", "cooler", "movement", "stationary", "cause", "effect"):
        _add(root, read[family], family, family)
    for family in ("sky", "trend", "anomaly", "intensity", "role", "likelihood", "negation"):
        for key, terms in read[family].items():
            _add(root, terms, family, str(key))
    return root


def _add(root: _Node, terms: Iterable[str], family: str, key: str) -> None:
    for term in terms:
        for words in expand(str(term)):
            node = root
            pieces = _TOKEN.findall(words)
            if not pieces:
                continue
            for piece in pieces:
                node = node.setdefault(piece, _Node())
            if (family, key) not in node.tags:
                node.tags = (*node.tags, (family, key))


def find(words: Sequence[Word]) -> list[Term]:
    """The terms in some words, in order.

    Of terms that overlap the longest is taken; a word that has meanings of several families
    ("warming") gives one term of each.
    """
    kept = [(i, w) for i, w in enumerate(words) if w.text != "-"]
    found: list[Term] = []
    root = _tree()
    j = 0
    while j < len(kept):
        node, best, k = root, 0, j
        tags: tuple[tuple[str, str], ...] = ()
        while k < len(kept) and kept[k][1].text in node:
            node = node[kept[k][1].text]
            k += 1
            if node.tags:
                best, tags = k - j, node.tags
        if best:
            first, last = kept[j], kept[j + best - 1]
            found += [Term(f, key, first[1].start, last[1].end, first[0]) for f, key in tags]
        j += best or 1
    return found
