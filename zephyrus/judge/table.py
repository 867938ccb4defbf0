"""The judge table: names for judge models, with how to ask them and what that costs."""

from __future__ import annotations

from pathlib import Path
from typing import Literal

from pydantic import Field

from zephyrus.modeltable import ModelEntry, ModelTable, Sampling

TABLE_VARIABLE = "ZEPHYRUS_JUDGES"

Structured = Literal["auto", "json_schema", "json_object", "none"]


class JudgeSampling(Sampling):
    """How to sample a judge: reasoning and twenty verdicts take more room than a policy's turn."""

    max_tokens: int | None = Field(default=8192, ge=1)


class JudgeEntry(ModelEntry):
    """One row of the table: `zephyrus.modeltable.ModelEntry` and what a judge needs besides.

    Attributes:
        structured: The ``response_format`` to ask for. "auto" begins with "json_schema" and steps
            down to "json_object" and "none" when the server refuses it. Whatever it is, the reply
            is read tolerantly and checked.
        tight_schema: Put the request's id into the schema, and bounds on every text. Small models
            behind llama.cpp or vLLM need it; it weakens the defence against reports that quote
            verdicts (see `zephyrus.judge.structured.tight`).
        per_criterion: Ask for each criterion of a rubric in a request of its own, instead of for
            all of them in one.
        claims_per_request: How many claims are labelled in one request, at most.
        asks: How often the same thing is asked when the reply can't be read, before the
            judgement counts as missing.
        price_prompt: US dollars for a million prompt tokens; None if not known: the cost is then
            counted as 0.
        price_completion: The same for completion tokens.
    """

    sampling: JudgeSampling = JudgeSampling()
    # With these a server may be away for a minute, and nothing that was under way goes missing.
    retries: int = Field(default=7, ge=0)
    timeout: float = Field(default=300.0, gt=0)
    structured: Structured = "auto"
    tight_schema: bool = False
    per_criterion: bool = False
    claims_per_request: int = Field(default=20, ge=1)
    asks: int = Field(default=4, ge=1)
    price_prompt: float | None = Field(default=None, ge=0)
    price_completion: float | None = Field(default=None, ge=0)


TABLE = ModelTable(
    JudgeEntry,
    noun="judge",
    package="zephyrus.judge",
    file="judges.yaml",
    variable=TABLE_VARIABLE,
)


def user_table_path() -> Path:
    """Where the user's own table is looked for."""
    return TABLE.user_path


def judge_table() -> dict[str, JudgeEntry]:
    """Every named judge, the user's over the built-in ones; see `ModelTable.entries`."""
    return TABLE.entries()
