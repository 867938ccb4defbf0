"""The judge `rules`: no model, no network, the same answer every time."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from zephyrus.errors import JudgeError
from zephyrus.judge.base import Brief, Claim, Judge, JudgeUsage, Label, RubricScores, Verdict
from zephyrus.judge.guard import harmless
from zephyrus_report.rules.decide import Finding, Index, look_up
from zephyrus_report.rules.extract import extract
from zephyrus_report.rules.rubric_score import KEYS, Pair, criteria, level
from zephyrus_report.rules.text import shortened
from zephyrus_report.rules.typed import TypedClaim, parse

VERSION = "3"
"""Changes with every change of what the rules say about any text."""

MOST_CLAIMS = 300
"""Claims that are taken from one text; a discussion has 20 to 80."""


class RulesJudge(Judge):
    """Reads typed claims (subject, place, time, value, trend) out of texts and compares them.

    Of a text only the first 4,000 words (`shortened`) are read, and the first 300 claims of them
    count: a few times what the longest real discussion has. So the work is bounded, whatever a
    report repeats, and what stands further down earns and costs nothing.

    What it can't see: anything outside its lexicon; pronouns and what follows from physics without
    being said; irony; which of two readings of an ambiguous place is meant; whether a well-formed
    claim is important. It is a floor for tests, smoke runs and cheap training signals, and no
    stand-in for a judge that reads.
    """

    name = "rules"
    deterministic = True

    def __init__(self) -> None:
        self.usage = JudgeUsage()

    async def claims(self, text: str, *, scoring_pass: int = 0) -> tuple[Claim, ...]:
        """The claims in canonical words, each to be understood, and read back, alone."""
        clean = _clean(text)
        return tuple(
            Claim(claim.text(), clean[claim.start : claim.end])
            for claim in extract(clean)[:MOST_CLAIMS]
        )

    async def verdicts(
        self, claims: Sequence[Claim], text: str, *, scoring_pass: int = 0
    ) -> tuple[Verdict, ...]:
        """Label claims by their words alone; any other judge's claims will do as well."""
        clean = _clean(text)
        others = Index(extract(clean))
        return tuple(_verdict(claim, others, clean) for claim in claims)

    async def rubric(self, brief: Brief, *, scoring_pass: int = 0) -> RubricScores:
        """Score the six criteria (`rubric_score` says how).

        Raises:
            JudgeError: If the rubric is another one, or the reference makes no claim that the
                rules can read.
        """
        keys = [criterion.key for criterion in brief.rubric.criteria]
        unknown = [key for key in keys if key not in KEYS]
        if unknown:
            raise JudgeError(f"the rules can't score the criterion {unknown[0]!r}")
        reference = extract(_clean(brief.reference), brief.context)
        if not reference:
            raise JudgeError("the rules find no claim in the reference")
        report = extract(_clean(brief.report), brief.context)
        if not report:
            why = "the report makes no claim that can be checked"
            return RubricScores(brief.rubric.id, dict.fromkeys(keys, 1), dict.fromkeys(keys, why))
        scored = criteria(Pair.of(report, reference))
        return RubricScores(
            brief.rubric.id,
            {key: level(scored[key].value) for key in keys},
            {key: scored[key].why for key in keys},
        )

    def describe(self) -> dict[str, Any]:
        """Name and version of the rules."""
        return {"name": self.name, "version": VERSION}


def _clean(text: str) -> str:
    """What is judged of a text: its beginning (`shortened`), without what speaks to a judge."""
    return harmless(shortened(text)).text


@lru_cache(maxsize=8192)
def _read(words: str) -> tuple[TypedClaim, ...]:
    """The typed claims of a claim's words: canonical ones, or any sentence."""
    canonical = parse(words)
    return (canonical,) if canonical is not None else extract(_clean(words))


def _verdict(claim: Claim, others: Index, text: str) -> Verdict:
    """A claim of several parts is supported if all are, and refuted if any is."""
    typed = _read(claim.text)
    if not typed:
        return Verdict(claim, Label.NEUTRAL, "", "the rules can't read this claim")
    found = [look_up(each, others) for each in typed]
    worst = min(found, key=lambda f: (f.label, f.credit))
    label = (Label.REFUTED, Label.NEUTRAL, Label.SUPPORTED)[worst.label + 1]
    evidence = ""
    if worst.label and worst.other is not None:
        evidence = text[worst.other.start : worst.other.end]
    return Verdict(claim, label, evidence, _why(worst))


def _why(found: Finding) -> str:
    if found.other is None or found.match is None:
        return "the text says nothing about this subject there and then"
    if found.label > 0:
        return f"the text says: {found.other.text()}"
    if found.label < 0:
        return f"the text says otherwise: {found.other.text()}"
    return f"the nearest that the text says is: {found.other.text()}"
