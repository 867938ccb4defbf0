"""`ChoiceQuestion`: a question with lettered choices."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class ChoiceQuestion:
    """A multiple-choice question with one right answer.

    Attributes:
        question: What is asked.
        choices: The text of each choice by its letter, an uppercase one, in order.
        answer: The letter of the right choice.
    """

    question: str
    choices: Mapping[str, str]
    answer: str

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters, in order."""
        return tuple(self.choices)

    def listed(self) -> str:
        """The choices as lines: "A. Light rain"."""
        return "\n".join(f"{letter}. {text}" for letter, text in self.choices.items())
