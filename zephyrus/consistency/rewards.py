"""The rewards of LoCo-RFT: format, logic and accuracy (Weather-R1, sections 2.2 and 2.3, Eq. 2)."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Literal, NamedTuple, get_args

from zephyrus.consistency.question import ChoiceQuestion
from zephyrus.consistency.response import FinalAnswer, Response, says_own_choice
from zephyrus.errors import UserError

Format = Literal["strict", "graded"]
"""How form and answer are graded.

- ``strict``: 0 or 1, as the paper says.
- ``graded``: as the code beside the paper does it, as far as it is known: the format is worth 0.25
  for a think part, 0.25 for an answer, and 0.5 for being nothing but these two in their order; a
  right letter with other words around it is worth half.
"""

FORMATS: tuple[Format, ...] = get_args(Format)


class LocoWeights(NamedTuple):
    """Weights of the three rewards, which sum to one.

    Attributes:
        format: Of R_Format.
        logic: Of R_LoCo.
        accuracy: Of R_Acc.
    """

    format: float = 0.1
    logic: float = 0.3
    accuracy: float = 0.6

    def total(self, format_: float, logic: float, accuracy: float) -> float:
        """The weighed sum of the three rewards."""
        return self.format * format_ + self.logic * logic + self.accuracy * accuracy


LOCO = LocoWeights()
"""LoCo-RFT's own (section 2.3)."""

RFT = LocoWeights(0.1, 0.0, 0.9)
"""Those of plain RFT, without a judge (Table 4, row 6)."""


def read_weights(given: Mapping[str, float]) -> LocoWeights:
    """Weights by name, checked.

    Raises:
        UserError: If a name is unknown or missing, a weight is negative, or they don't sum to one.
    """
    if set(given) != set(LocoWeights._fields):
        raise UserError(
            f"weights has the keys {', '.join(LocoWeights._fields)}, not {', '.join(given) or 'none'}"
        )
    for name, value in given.items():
        if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
            raise UserError(f"the weight {name} is a number of 0 or more, not {value!r}")
    made = LocoWeights(**{name: float(value) for name, value in given.items()})
    if not math.isclose(sum(made), 1.0, abs_tol=1e-9):
        raise UserError(
            f"the weights must sum to one; {' + '.join(map(str, made))} = {sum(made):g}"
        )
    return made


def format_reward(response: Response, format_: Format = "strict") -> float:
    """R_Format: whether a response has its reasoning in think tags and its answer in answer tags."""
    if format_ == "strict":
        return float(response.well_formed)
    return (
        0.25 * response.has_think
        + 0.25 * (response.answer is not None)
        + 0.5 * response.well_formed
    )


def accuracy_reward(
    response: Response,
    final: FinalAnswer | None,
    question: ChoiceQuestion,
    format_: Format = "strict",
) -> float:
    """R_Acc: whether the answer is the right choice; an answer that names none is wrong.

    Args:
        response: What the policy wrote.
        final: The choice that its answer names.
        question: The question.
        format_: "strict" takes a letter, alone or with the text of its own choice; "graded" gives
            half for a right letter with any other words.
    """
    if final is None or response.answer is None or final.letter != question.answer:
        return 0.0
    if final.alone:
        return 1.0
    if format_ == "graded":
        return 0.5
    return float(says_own_choice(response.answer, final.letter, question))


def logic_reward(concluded: str | None, final: FinalAnswer | None, response: Response) -> float:
    """R_LoCo, Eq. 2: 1 if the reasoning supports the choice that was answered, else 0.

    Args:
        concluded: The choice that a judge finds best supported by the reasoning, fa_rp; None if
            it can't be determined, which equals no answer, whatever that is.
        final: The choice that was answered, fa.
        response: What the policy wrote; R_Format must be 1.
    """
    return float(
        response.well_formed
        and concluded is not None
        and final is not None
        and concluded == final.letter
    )
