"""What a judgement depends on besides the texts; judgements of other settings are kept apart."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from zephyrus.judge.base import Brief, Judge, Rubric
from zephyrus.judge.discussion import ClaimOptions

FREE = ("base_url", "api_key_env", "timeout", "retries", "asks")
"""What a judge may say of itself without it making another judgement: where, and how patiently."""

ASKED = ("max_claims", "dedup")
"""Claim options that decide which claims a judge labels. The others (``neutral``, ``beta``) only
count labels, so that kept judgements serve all of their values."""

_NAMES = ("judge", "described", "rubric", "options", "deterministic")


@dataclass(frozen=True, slots=True)
class Settings:
    """How a judge was asked.

    Attributes:
        judge: The judge's name.
        described: `Judge.describe`, without what is `FREE`.
        rubric: Id, digest and the criteria's keys.
        options: Those of `ClaimOptions` that decide what is asked (`ASKED`).
        deterministic: Whether one scoring pass stands for any number.
    """

    judge: str
    described: Mapping[str, Any]
    rubric: Mapping[str, Any]
    options: Mapping[str, Any]
    deterministic: bool
    id: str = field(init=False)
    """Short digest of the other fields."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "id", digest(self.to_dict()))

    @classmethod
    def of(cls, judge: Judge, rubric: Rubric, options: ClaimOptions) -> Settings:
        """The settings of a judge that is about to be asked."""
        described = {k: v for k, v in judge.describe().items() if k not in FREE}
        criteria = [criterion.key for criterion in rubric.criteria]
        named = {"id": rubric.id, "sha256": digest(_words(rubric)), "criteria": criteria}
        asked = {name: getattr(options, name) for name in ASKED}
        return cls(judge.name, plain_json(described), named, asked, judge.deterministic)

    def passes(self, asked: int) -> int:
        """How many of so many scoring passes are worth making."""
        return 1 if self.deterministic else asked

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values, without the id."""
        return {name: getattr(self, name) for name in _NAMES}

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Settings:
        """The inverse of `to_dict`; further keys are let be."""
        return cls(**{name: data[name] for name in _NAMES})


def brief_digest(brief: Brief) -> str:
    """What tells whether a kept judgement is of these texts still."""
    return digest([brief.report, brief.reference, brief.context])


def digest(value: Any) -> str:
    """A short digest of plain values."""
    text = json.dumps(value, sort_keys=True, default=str)
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def plain_json(value: Any) -> Any:
    """The same after a way through JSON, so that what is read back compares equal."""
    return json.loads(json.dumps(value, default=str))


def _words(rubric: Rubric) -> list[Any]:
    criteria = [[c.key, c.name, c.definition, sorted(c.anchors.items())] for c in rubric.criteria]
    return [rubric.id, rubric.instructions, criteria]
