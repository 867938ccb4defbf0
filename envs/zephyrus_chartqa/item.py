"""`Item`: one multiple-choice question on one chart, in WeatherQA's form with its provenance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from zephyrus.errors import UserError
from zephyrus.task import SPLITS

LETTERS = "ABCDEFGHIJ"
"""Names of choices, in order."""


@dataclass(frozen=True, slots=True)
class ChartSource:
    """Where a chart comes from: what must be known to draw it again, pixel by pixel.

    Attributes:
        modality: One of the seven, by its name in WeatherQA (``rain``, ``500hpa_situation`` …).
        dataset: The dataset's name.
        forecast: The initial time, as the dataset names its forecasts (ISO 8601, UTC).
        lead_hours: Lead times that the chart shows, in hours: one, or the first and the last of a
            period.
        region: The chart's region, by name.
        seed: The seed of the chart's drawing.
    """

    modality: str
    dataset: str
    forecast: str
    lead_hours: tuple[int, ...]
    region: str
    seed: int = 0

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ChartSource:
        """The inverse of `dataclasses.asdict`."""
        return cls(**{**data, "lead_hours": tuple(int(h) for h in data["lead_hours"])})


@dataclass(frozen=True, slots=True)
class Item:
    """One question.

    WeatherQA's own fields are the first seven (there, ``question`` and ``choices`` stand under a
    language). An item of ours has a ``source``, and needs no image file: its chart is drawn from
    the grid. One of a user's files has an ``image_path``, and no source.

    Attributes:
        id: Unique in its bank.
        image_path: The image, relative to the folder of the bank; "" if the chart is to be drawn.
        category: The task: one of the seven modalities, or what another benchmark calls it.
        answer: The letter of the right choice.
        split: "train", "validation" or "test".
        question: What is asked.
        choices: The texts of the choices, in the order of their letters, without the letters.
        text: The chart's data as words and numbers, made when the bank was built: what stands in
            for the pixels where a policy has no eyes (the environment's view "text"); "" if there
            is none.
        source: What the chart is drawn from; None if only its image is known.
        provenance: How question and distractors came about: template, fact, margins, seed.
    """

    id: str
    image_path: str
    category: str
    answer: str
    split: str
    question: str
    choices: tuple[str, ...]
    text: str = ""
    source: ChartSource | None = None
    provenance: dict[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Refuse an item that can't be asked.

        Raises:
            UserError: If there are fewer than two choices or more than letters, two choices are
                the same, the answer is none of their letters, or there is no such split.
        """
        if not 2 <= len(self.choices) <= len(LETTERS):
            raise UserError(f"the item {self.id!r} has {len(self.choices)} choices, not 2 to 10")
        if len({" ".join(text.casefold().split()) for text in self.choices}) < len(self.choices):
            raise UserError(f"two choices of the item {self.id!r} are the same")
        if self.answer not in self.letters:
            raise UserError(
                f"the answer of the item {self.id!r} is one of {', '.join(self.letters)}, "
                f"not {self.answer!r}"
            )
        if self.split not in SPLITS:
            raise UserError(
                f"the split of the item {self.id!r} is one of {', '.join(SPLITS)}, "
                f"not {self.split!r}"
            )

    @property
    def letters(self) -> tuple[str, ...]:
        """The letters of the choices, in order."""
        return tuple(LETTERS[: len(self.choices)])

    @property
    def lettered(self) -> dict[str, str]:
        """The choices by letter, in order."""
        return dict(zip(self.letters, self.choices, strict=True))

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values: WeatherQA's form, with ``text``, ``source`` and ``provenance``."""
        return {
            "id": self.id,
            "image_path": self.image_path,
            "category": self.category,
            "answer": self.answer,
            "split": self.split,
            "en": {"question": self.question, "choices": self.lettered},
            "text": self.text,
            "source": None if self.source is None else _source(self.source),
            "provenance": self.provenance,
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Item:
        """The inverse of `to_dict`.

        Raises:
            UserError: If a field is missing or wrong.
        """
        try:
            asked = data["en"]
            choices = asked["choices"]
            if tuple(choices) != tuple(LETTERS[: len(choices)]):
                raise ValueError(f"its choices are lettered {', '.join(choices)}, not A, B, …")
            source = data.get("source")
            return cls(
                id=str(data["id"]),
                image_path=str(data.get("image_path") or ""),
                category=str(data["category"]),
                answer=str(data["answer"]),
                split=str(data["split"]),
                question=str(asked["question"]),
                choices=tuple(str(text) for text in choices.values()),
                text=str(data.get("text") or ""),
                source=None if source is None else ChartSource.from_dict(source),
                provenance=dict(data.get("provenance") or {}),
            )
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise UserError(
                f"not an item of a chart bank ({type(error).__name__}: {error})"
            ) from error


def _source(source: ChartSource) -> dict[str, Any]:
    return {**asdict(source), "lead_hours": list(source.lead_hours)}
