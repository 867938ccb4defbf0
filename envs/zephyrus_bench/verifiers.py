"""The four verifiers of Table B.2: how an answer is compared with the gold one.

Each takes the text inside the answer tags and gives a score from 0 to 1; none ever raises on
what a model wrote. None (no answer) scores 0.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from typing import Any

from zephyrus.numeric import NumericAnswer
from zephyrus.task import Task
from zephyrus_bench.answers import read_hours, read_names, read_number, read_place
from zephyrus_bench.matching import mentions, names_place, other_names, resolve
from zephyrus_geodata.names import lookup_key, without_qualifier

STEP_HOURS = 6.0
"""A time answer this near to the gold one, in hours, scores one half."""

_ROUNDING = 1e-9  # relative; so that an answer on the edge of a band is inside it


def full_band(gold: float) -> float:
    """How far from ``gold`` a number may be for a score of 1.0: 1 %, or 0.05 below magnitude 1."""
    return 0.05 if abs(gold) < 1.0 else 0.01 * abs(gold)


def half_band(gold: float) -> float:
    """How far from ``gold`` a number may be for a score of 0.5: 5 %, or 0.15 below magnitude 1."""
    return 0.15 if abs(gold) < 1.0 else 0.05 * abs(gold)


def compare_numbers(value: float, gold: float) -> float:
    """1.0, 0.5 or 0.0 by the bands around the gold number."""
    if not math.isfinite(value):
        return 0.0
    error = abs(value - gold)
    slack = _ROUNDING * max(1.0, abs(gold))
    if error <= full_band(gold) + slack:
        return 1.0
    return 0.5 if error <= half_band(gold) + slack else 0.0


def numerical(answer: str | None, gold: float) -> float:
    """One number in the asked unit."""
    value = read_number(answer) if answer is not None else None
    return compare_numbers(value, gold) if value is not None else 0.0


def time(answer: str | None, gold: float) -> float:
    """Hours from the initial time: 1.0 if exact, 0.5 within 6 h."""
    value = read_hours(answer) if answer is not None else None
    if value is None or not math.isfinite(value):
        return 0.0
    if value == gold:
        return 1.0
    return 0.5 if abs(value - gold) <= STEP_HOURS else 0.0


def location(
    answer: str | None,
    gold: Mapping[str, Any],
    candidates: Collection[str] = (),
    kind: str | None = None,
) -> float:
    """A place and its value: 1.0 for the right name, 0.5 for a wrong one with the right value.

    A name that contains the gold name is right ("the Sahara desert", "Lake Victoria, Kenya"),
    unless it names another place as well, which would be a list of guesses.

    Args:
        answer: The text inside the answer tags.
        gold: ``{"place": name, "value": number}``.
        candidates: Every place that the question is about.
        kind: Their kind; the tools' other names of its features count too ("USA").
    """
    place = read_place(answer) if answer is not None else None
    if place is None:
        return 0.0
    right = str(gold["place"])
    one_name = len({lookup_key(name) for name in place.names}) == 1
    if one_name and names_place(place.names[0], right, candidates, kind):
        return 1.0
    if place.value is not None and compare_numbers(place.value, float(gold["value"])) == 1.0:
        return 0.5
    return 0.0


def anomaly(
    answer: str | None,
    gold: Sequence[str],
    candidates: Collection[str] = (),
    kind: str | None = None,
) -> float:
    """A list of names: the F1 of the two sets; both empty 1, one empty 0."""
    if answer is None:
        return 0.0
    known = list(dict.fromkeys([*gold, *candidates]))
    spelt = [form for name in known for form in (name, *other_names(name, kind))]
    names = read_names(answer, spelt)
    if names is None:
        return 0.0
    given: set[str] = set()
    for name in names:
        one = resolve(name, known, kind) or resolve(without_qualifier(name), known, kind)
        # Every place in "Kenya and Chad" counts, so that one long string is no free list.
        given |= {one} if one else set(mentions(name, known, kind)) or {lookup_key(name)}
    return set_f1(given, {lookup_key(name) for name in gold})


def numeric_answer(facts: Mapping[str, Any], answer: str | None) -> NumericAnswer | None:
    """How far an answer to a numerical or time question is from the gold one, in its bands.

    Args:
        facts: The task's, with ``answer_type`` and ``gold``.
        answer: The text inside the answer tags.
    """
    kind = facts.get("answer_type")
    if kind == "time":
        gold = float(facts["gold"])
        hours = read_hours(answer) if answer is not None else None
        return NumericAnswer("time", "h", _error(hours, gold), 0.0, STEP_HOURS)
    if kind != "numerical":
        return None
    gold = float(facts["gold"])
    error = _error(read_number(answer) if answer is not None else None, gold)
    if abs(gold) < 1.0:
        return NumericAnswer("numerical, gold below 1", "", error, full_band(gold), half_band(gold))
    percent = 100.0 / abs(gold)
    return NumericAnswer(
        "numerical, gold 1 or more",
        "%",
        None if error is None else percent * error,
        percent * full_band(gold),
        percent * half_band(gold),
    )


def _error(value: float | None, gold: float) -> float | None:
    return None if value is None or not math.isfinite(value) else value - gold


def set_f1(given: Collection[str], gold: Collection[str]) -> float:
    """2·|both| / (|given| + |gold|) of two sets; 1 if both are empty."""
    if not given and not gold:
        return 1.0
    return 2.0 * len(set(given) & set(gold)) / (len(set(given)) + len(set(gold)))


def verify(task: Task, answer: str | None) -> float:
    """Score an answer to a task by its answer type.

    Raises:
        ValueError: If the task has an answer type that is not in Table B.2.
    """
    candidates, kind = task.provenance.get("candidates", ()), task.provenance.get("kind")
    if task.answer_type == "numerical":
        return numerical(answer, float(task.gold))
    if task.answer_type == "time":
        return time(answer, float(task.gold))
    if task.answer_type == "location":
        return location(answer, task.gold, candidates, kind)
    if task.answer_type == "anomaly":
        return anomaly(answer, task.gold, candidates, kind)
    raise ValueError(f"no verifier for the answer type {task.answer_type!r} of {task.id}")
