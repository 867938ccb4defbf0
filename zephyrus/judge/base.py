"""What a judge is: something that takes claims out of a text, labels them, and scores a rubric."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

LEVELS = range(1, 11)
"""The integer scores of a rubric criterion."""


class Label(StrEnum):
    """What a text says about a claim. The order REFUTED < NEUTRAL < SUPPORTED is ordinal."""

    SUPPORTED = "SUPPORTED"
    """The text states or implies it."""
    NEUTRAL = "NEUTRAL"
    """The text neither states it nor speaks against it."""
    REFUTED = "REFUTED"
    """The text contradicts it."""

    @property
    def rank(self) -> int:
        """0 for REFUTED, 1 for NEUTRAL, 2 for SUPPORTED."""
        return (Label.REFUTED, Label.NEUTRAL, Label.SUPPORTED).index(self)


@dataclass(frozen=True, slots=True)
class Claim:
    """One atomic factual statement of a text.

    Attributes:
        text: The statement, to be understood alone.
        quote: The words of the text that it was taken from, "" if not known.
    """

    text: str
    quote: str = ""


@dataclass(frozen=True, slots=True)
class Verdict:
    """A claim labelled against another text.

    Attributes:
        claim: The claim.
        label: What the other text says about it.
        evidence: The words of the other text that support or refute it, "" if none.
        rationale: Why.
    """

    claim: Claim
    label: Label
    evidence: str = ""
    rationale: str = ""


@dataclass(frozen=True, slots=True)
class Criterion:
    """One criterion of a rubric.

    Attributes:
        key: Short name, a table's column.
        name: The full name.
        definition: What it asks.
        anchors: What a text of a level is like, for some of the levels 1 to 10.
    """

    key: str
    name: str
    definition: str
    anchors: Mapping[int, str]


@dataclass(frozen=True, slots=True)
class Rubric:
    """A frozen, versioned list of criteria.

    Attributes:
        name: What it is called.
        version: Changes with every word of it; part of every cache key and result.
        instructions: What the judge is told about its role.
        criteria: In order.
    """

    name: str
    version: str
    instructions: str
    criteria: tuple[Criterion, ...]

    @property
    def id(self) -> str:
        """Name and version."""
        return f"{self.name}/{self.version}"


@dataclass(frozen=True, slots=True)
class RubricScores:
    """What a judge gave.

    Attributes:
        rubric: `Rubric.id`.
        scores: An integer from 1 to 10 by criterion key.
        rationale: Why, by criterion key.
    """

    rubric: str
    scores: Mapping[str, int]
    rationale: Mapping[str, str] = field(default_factory=dict)

    def normalised(self) -> dict[str, float]:
        """(s − 1) / 9 by criterion key, in [0, 1]."""
        return {key: (score - 1) / 9 for key, score in self.scores.items()}

    @property
    def mean(self) -> float:
        """The mean of the normalised scores."""
        return sum(self.normalised().values()) / len(self.scores)


@dataclass(frozen=True, slots=True)
class Brief:
    """What is to be judged.

    Attributes:
        report: The text that the policy wrote; "" if it wrote none. Untrusted.
        reference: The text to judge it against.
        rubric: The rubric.
        context: What else the judge is told: region, times, product.
    """

    report: str
    reference: str
    rubric: Rubric
    context: str = ""


@dataclass(slots=True)
class JudgeUsage:
    """What a judge has cost so far: requests that were sent and paid, and answers from the cache."""

    requests: int = 0
    cached: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost_usd: float = 0.0


class Judge(ABC):
    """Scores texts. One judge serves many texts at once.

    Every method raises `zephyrus.errors.JudgeError` when no judgement can be had after all
    retries: a caller then records it as missing, never as a score of 0.

    Attributes:
        name: What the user called it.
        deterministic: Whether every scoring pass gives the same (one pass is then enough).
        usage: What it has cost.
    """

    name: str = ""
    deterministic: bool = False
    usage: JudgeUsage

    @abstractmethod
    async def claims(self, text: str, *, scoring_pass: int = 0) -> tuple[Claim, ...]:
        """The atomic claims of a text, in its order; () if it makes none."""

    @abstractmethod
    async def verdicts(
        self, claims: Sequence[Claim], text: str, *, scoring_pass: int = 0
    ) -> tuple[Verdict, ...]:
        """Label claims of another text against ``text``; one verdict a claim, in their order."""

    @abstractmethod
    async def rubric(self, brief: Brief, *, scoring_pass: int = 0) -> RubricScores:
        """Score ``brief.report`` on every criterion of ``brief.rubric``."""

    async def check(self) -> None:  # noqa: B027 - most judges have nothing to check
        """Find out before any work starts whether the judge can answer at all.

        Raises:
            UserError: If it can't; one sentence that says what to do.
        """

    async def close(self) -> None:  # noqa: B027 - most judges hold nothing open
        """Let go of connections and files."""

    def describe(self) -> dict[str, Any]:
        """Plain values for a run's files: everything that a judgement depends on, no secret."""
        return {"name": self.name}
