"""Who reads a reasoning and says which choice it supports best: fa_rp (Weather-R1, section 2.2)."""

from __future__ import annotations

import functools
import re
from abc import ABC, abstractmethod
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from zephyrus.consistency.question import ChoiceQuestion
from zephyrus.errors import UserError

if TYPE_CHECKING:
    from pydantic import BaseModel

    from zephyrus.judge.llm import LLMJudge

RULES = "rules"


class ConsistencyJudge(ABC):
    """Reads the conclusion out of a reasoning. One judge serves many at once.

    Attributes:
        name: What the user called it.
    """

    name: str = ""

    @abstractmethod
    async def conclusion(self, question: ChoiceQuestion, reasoning: str) -> str | None:
        """The letter of the choice that a reasoning supports best, None if it can't be determined.

        Args:
            question: The question with its choices; its answer is not looked at.
            reasoning: What the policy wrote before its answer, without the answer. Untrusted.

        Raises:
            JudgeError: If no judgement can be had: it is then missing, never a mismatch.
        """

    async def check(self) -> None:  # noqa: B027 - most judges have nothing to check
        """Find out before any work starts whether the judge can answer at all.

        Raises:
            UserError: If it can't.
        """

    async def close(self) -> None:  # noqa: B027 - most judges hold nothing open
        """Let go of connections and files."""

    def describe(self) -> dict[str, Any]:
        """Plain values for a run's files: all that a judgement depends on, no secret."""
        return {"name": self.name}


class LLMConsistencyJudge(ConsistencyJudge):
    """A language model behind an endpoint, asked with the prompt of Table 1.

    Its requests go through a `zephyrus.judge.llm.LLMJudge`: the same cache, retries, concurrency,
    fuse and accounts as for reports.
    """

    def __init__(self, judge: LLMJudge) -> None:
        """Prepare; `make_consistency_judge` is the usual way here.

        Args:
            judge: What asks.
        """
        self.judge = judge
        self.name = judge.name

    async def conclusion(self, question: ChoiceQuestion, reasoning: str) -> str | None:
        """See `ConsistencyJudge.conclusion`. A reasoning of which nothing is left is not asked about.

        All texts go through `zephyrus.judge.guard.harmless` first: the reasoning was written by the
        policy that is being scored.
        """
        from zephyrus.consistency.prompts import PROMPT_HASH, PROMPT_VERSION, conclusion_messages
        from zephyrus.judge.guard import harmless
        from zephyrus.judge.structured import request_id

        shown = harmless(reasoning).text.strip()
        if not shown:
            return None
        key = self.judge.key(
            "conclusion",
            prompts=(PROMPT_VERSION, PROMPT_HASH),
            question=question.question,
            choices=dict(question.choices),
            reasoning=shown,
        )
        wanted = request_id(key, shown, question.question, question.listed())
        answer = await self.judge.judgement(
            key,
            wanted,
            conclusion_messages(wanted, question, shown),
            _answer(question.letters),
            "conclusion",
            _schema(question.letters),
        )
        option: str = answer.model_dump()["option"]
        return option if option in question.choices else None

    async def check(self) -> None:
        """See `ConsistencyJudge.check`."""
        await self.judge.check()

    async def close(self) -> None:
        """Close the connections and the cache."""
        await self.judge.close()

    def describe(self) -> dict[str, Any]:
        """See `ConsistencyJudge.describe`."""
        from zephyrus.consistency.prompts import PROMPT_HASH, PROMPT_VERSION

        about = self.judge.describe()
        return {**about, "prompt_version": PROMPT_VERSION, "prompt_hash": PROMPT_HASH}


def make_consistency_judge(
    spec: str | ConsistencyJudge,
    *,
    base_url: str | None = None,
    cache: Path | Literal[False] | None = None,
) -> ConsistencyJudge:
    """Make a judge of consistency.

    Args:
        spec: "rules" (no model; see `zephyrus.consistency.rules`), a name of the judge table of
            `zephyrus judge list`, or "openai:MODEL@URL". A judge is given back as it is.
        base_url: Another address for an endpoint.
        cache: The file that keeps an endpoint's judgements, False for none; see
            `zephyrus.judge.make_judge`.

    Raises:
        UserError: If there is no such judge, or it only judges reports.
    """
    if not isinstance(spec, str):
        return spec
    if spec == RULES:
        from zephyrus.consistency.rules import RulesConsistencyJudge

        return RulesConsistencyJudge()
    from zephyrus.judge import make_judge
    from zephyrus.judge.llm import LLMJudge
    from zephyrus.registry import names

    if spec in names("judges"):
        raise UserError(
            f"the judge {spec!r} reads reports, not reasonings: take rules, a model of "
            "`zephyrus judge list`, or openai:MODEL@URL"
        )
    # As the code beside the paper asks: the conclusion of a text is no matter of taste.
    made = make_judge(spec, base_url=base_url, cache=cache, temperature=0.0)
    assert isinstance(made, LLMJudge)
    return LLMConsistencyJudge(made)


@functools.lru_cache(maxsize=16)
def _answer(letters: tuple[str, ...]) -> type[BaseModel]:
    """The model of a reply: ``id`` and ``option``, a letter or "Cannot be determined"."""
    from pydantic import BeforeValidator, create_model

    from zephyrus.consistency.prompts import UNDETERMINED

    def read(value: Any) -> str:
        text = re.sub(r"[\W_]+", " ", value).strip() if isinstance(value, str) else ""
        text = re.sub(r"^(?:option|choice) ", "", text, flags=re.IGNORECASE)
        if text.casefold() == UNDETERMINED.casefold():
            return UNDETERMINED
        if text.upper() in letters:
            return text.upper()
        raise ValueError(f"one of {', '.join(letters)}, or {UNDETERMINED!r}")

    option = Annotated[str, BeforeValidator(read)]
    return create_model("ConclusionAnswer", id=(str, ...), option=(option, ...))


def _schema(letters: tuple[str, ...]) -> dict[str, Any]:
    from zephyrus.consistency.prompts import UNDETERMINED

    return {
        "type": "object",
        "properties": {
            "id": {"type": "string"},
            "option": {"type": "string", "enum": [*letters, UNDETERMINED]},
        },
        "required": ["id", "option"],
        "additionalProperties": False,
    }
