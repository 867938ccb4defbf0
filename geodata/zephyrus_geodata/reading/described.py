"""Parts of one field that are described in two ways: K in one file and °C in the next.

They are two fields to all that follows, and whichever of them is chosen would lack the times of
the other without a word.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from zephyrus_geodata.reading.layers import Placed
from zephyrus_geodata.reading.naming import is_known
from zephyrus_geodata.reading.pieces import Piece
from zephyrus_geodata.reading.remarks import Remarks
from zephyrus_geodata.reading.understood import Answers

_STEP_TYPE, _UNITS = 3, 4  # in ``Piece.identity``


def ask_about_parts(
    fields: Mapping[tuple[Any, ...], Sequence[Piece]],
    placed: Mapping[int, Placed],
    steps: int,
    answers: Answers,
    remarks: Remarks,
) -> None:
    """Ask about fields that differ in units or step type alone and never meet in time.

    Args:
        fields: identity -> the pieces of a field.
        placed: where the moments of the pieces lie on the axes, by their id.
        steps: length of the step axis.
        answers: what the user says.
        remarks: takes the questions.
    """
    alike: dict[tuple[Any, ...], list[tuple[Any, ...]]] = {}
    for identity in fields:
        alike.setdefault((*identity[:_STEP_TYPE], *identity[_UNITS + 1 :]), []).append(identity)
    for group in alike.values():
        first = fields[group[0]][0]
        if len(group) < 2 or not is_known(first.name, first.attrs):
            continue
        at = {identity: _moments(fields[identity], placed, steps) for identity in group}
        for one, other in combinations(group, 2):
            if np.intersect1d(at[one], at[other]).size:
                continue
            if one[_UNITS] != other[_UNITS]:
                remarks.ask(
                    f"Parts of {first.name} are in {one[_UNITS] or 'no units'} and others in "
                    f"{other[_UNITS] or 'no units'}; add them one after the other (--append).",
                    f"--name {first.name}= to leave it out",
                )
            elif first.name not in answers.step_types:
                kinds = " and ".join(str(kind[_STEP_TYPE]) or "unnamed" for kind in (one, other))
                remarks.ask(
                    f"{first.name} is {kinds} at times that never meet: one of them leaves the "
                    "times of the other empty.",
                    f"--step-type {first.name}=TYPE",
                )


def _moments(pieces: Iterable[Piece], placed: Mapping[int, Placed], steps: int) -> NDArray[np.intp]:
    """Return the moments of pieces as numbers, each once."""
    where = [placed[id(piece.moments)] for piece in pieces]
    return np.unique(np.concatenate([spot.inits * steps + spot.steps for spot in where]))
