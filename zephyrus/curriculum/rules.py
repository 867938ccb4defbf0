"""When a stage is over, and which of its checkpoints is the best."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from zephyrus.curriculum.recipe import Until


@dataclass(frozen=True)
class Measured:
    """A held-out evaluation of a checkpoint.

    Attributes:
        step: Optimiser steps behind it; 0 is where the stage began.
        value: Of the metric; not a number while it has not been evaluated.
        full: Whether all held-out tasks were asked, not the subset of evaluations in between.
    """

    step: int
    value: float
    full: bool = False


def verdict(until: Until, step: int, measured: Sequence[Measured]) -> str | None:
    """Say why a stage is over after a step, or None if it goes on.

    Args:
        until: The rule.
        step: Optimiser steps that are done.
        measured: Evaluations so far, in the order of their steps, that of step 0 included.
    """
    enough, plateau = until.accuracy, until.plateau
    if enough is not None and any(m.value >= enough for m in measured if m.step):
        return f"the held-out metric reached {enough:g}"
    if plateau is not None and _is_flat(measured, plateau.evaluations, plateau.rise):
        return (
            f"the held-out metric has not risen by {plateau.rise:g} in "
            f"{plateau.evaluations} evaluations"
        )
    if step >= until.steps:
        return f"{until.steps} steps are done"
    return None


def best(measured: Sequence[Measured]) -> Measured | None:
    """The best evaluation, the earliest of equals; those on all tasks come before the others.

    A subset is noisier and easier or harder than the whole, so the two are not compared.
    """
    known = [m for m in measured if math.isfinite(m.value)]
    pool = [m for m in known if m.full] or known
    return max(pool, key=lambda m: (m.value, -m.step), default=None)


def _is_flat(measured: Sequence[Measured], evaluations: int, rise: float) -> bool:
    """Whether the last evaluations brought nothing; those of the other kind are left out."""
    top, since = None, 0
    for m in measured:
        if m.full != measured[-1].full or not math.isfinite(m.value):
            continue
        if top is None or m.value > top + rise:
            top, since = m.value, 0
        else:
            since += 1
    return since >= evaluations
