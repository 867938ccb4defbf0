"""A number that was asked for, and the one that was given: what the calibration plot is made of."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class NumericAnswer:
    """How far a numeric answer is from the gold one, measured as the verifier measures it.

    Attributes:
        group: Answers of one group have the same tolerances, and may be drawn together.
        unit: Of the errors, "%" where they are relative; "" where it differs between tasks.
        error: Answer minus gold in that unit; None if the answer gives no one number.
        full: Largest error that scores 1.
        half: Largest error that scores 0.5.
    """

    group: str
    unit: str
    error: float | None
    full: float
    half: float
