"""What questions can be about, in the order in which they are tried.

A question's key is (template, subject, variable, forecast). A hash of the seed and the key says
which split it may go to, so the splits are disjoint however large they are.
"""

from __future__ import annotations

import hashlib
import random
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import cycle, islice, repeat

from zephyrus.task import SPLITS
from zephyrus_bench.subjects import Group, Subject, in_turn
from zephyrus_bench.templates.base import TIMELESS, Template
from zephyrus_geodata import Dataset
from zephyrus_geodata.variables import ordered

_SHARES = {"train": 0.45, "validation": 0.2, "test": 0.35}  # of the keys
_ENOUGH = 100_000  # keys of a template
_FEWEST = 4  # forecasts that a subject and variable are asked about, if there are so many


@dataclass(frozen=True)
class Key:
    """What a question is about; no two splits share one."""

    template: str
    subject: Subject
    variable: str
    forecast: str

    @property
    def parts(self) -> tuple[str, str, str, str]:
        """The key as texts."""
        return (self.template, self.subject.key, self.variable, self.forecast)


def keys(dataset: Dataset, template: Template, seed: int) -> dict[str, list[Key]]:
    """The keys of each split, shuffled, by turns over the variables and kinds of place.

    Of a dataset with very many forecasts each subject and variable gets some of them, others for
    each: far more than there can be questions about it.
    """
    subjects = list(template.subjects(dataset))
    lanes_of = [_lane(subject) for subject in subjects]
    names = variables(dataset, template)
    forecasts = (TIMELESS,) if template.timeless else dataset.forecasts
    some = _portions(forecasts, max(_FEWEST, _ENOUGH // max(1, len(subjects) * len(names))), seed)
    rng = random.Random(f"{seed}/{template.name}")
    of_split: dict[str, dict[str, list[tuple[str, Key]]]] = {split: {} for split in SPLITS}
    for name in names:
        for subject, lane in zip(subjects, lanes_of, strict=True):
            about = (template.name, subject.key, name)
            for forecast in next(some):
                split = _split_of((*about, forecast), seed)
                key = Key(template.name, subject, name, forecast)
                of_split[split].setdefault(name, []).append((lane, key))
    found: dict[str, list[Key]] = {}
    for split, by_variable in of_split.items():
        order: list[Key] = []
        for pairs in by_variable.values():
            rng.shuffle(pairs)
            lanes = sorted({lane for lane, _ in pairs})
            rng.shuffle(lanes)  # else the many cities would lead everywhere
            order += [key for _, key in in_turn(pairs, lambda pair: pair[0], lanes)]
        found[split] = in_turn(order, lambda key: key.variable)
    return found


def variables(dataset: Dataset, template: Template) -> list[str]:
    """The template's variables that every forecast (and the climatology, if needed) carries."""
    carried = [set(dataset.forecast(name).variables) for name in dataset.forecasts]
    if template.tool == "climatology" and dataset.climatology is not None:
        carried.append(set(dataset.climatology.variables))
    return [name for name in ordered(set.intersection(*carried)) if template.asks_about(name)]


def _lane(subject: Subject) -> str:
    """What the turns go over: kinds, and apart from them kinds within a parent."""
    within = isinstance(subject, Group) and subject.parent
    return f"{subject.kind} within" if within else subject.kind


def _portions(forecasts: Sequence[str], most: int, seed: int) -> Iterator[Sequence[str]]:
    """All forecasts, again and again; or so many of them, the next ones each time."""
    if len(forecasts) <= most:
        yield from repeat(forecasts)
    shuffled = random.Random(f"{seed}/forecasts").sample(forecasts, len(forecasts))
    turns = cycle(shuffled)
    while True:
        yield list(islice(turns, most))


def _split_of(parts: tuple[str, ...], seed: int) -> str:
    digest = hashlib.sha256(f"{seed}/{'/'.join(parts)}/split".encode()).digest()
    place = int.from_bytes(digest[:8]) / 2.0**64
    for split, share in _SHARES.items():
        if place < share:
            return split
        place -= share
    return SPLITS[-1]
