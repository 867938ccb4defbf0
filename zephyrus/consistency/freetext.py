"""The consistency reward for answers in free text: an extension of Weather-R1 of our own.

The paper names it as future work and gives no formula. A choice is there replaced by the claims of
the answer: a judge takes them out of it, and labels each against the reasoning as SUPPORTED,
REFUTED or NEUTRAL. The reward is

    S / (S + R)

the share of claims that the reasoning bears out among those on which it takes a side. As in Eq. 2 it
is 0 where there is no reasoning or no answer, and where the reasoning takes no side on anything that
the answer claims (the "Cannot be determined" of a choice). What the reasoning is silent about costs
nothing, since a reasoning need not say all that a report does; the share of such claims is told.

It measures faithfulness alone: a wrong answer that its reasoning supports is consistent, and a
reasoning that says the whole answer beforehand is, too.
"""

from __future__ import annotations

from dataclasses import dataclass

from zephyrus.errors import JudgeError
from zephyrus.judge.base import Judge
from zephyrus.judge.discussion import ClaimOptions, Counts, select_claims
from zephyrus.judge.guard import harmless


@dataclass(frozen=True, slots=True)
class FreeTextConsistency:
    """How far a reasoning bears out an answer in free text.

    Attributes:
        counts: The labels of the answer's claims against the reasoning.
    """

    counts: Counts

    @property
    def score(self) -> float:
        """In [0, 1]; see this module."""
        sides = self.counts.supported + self.counts.refuted
        return self.counts.supported / sides if sides else 0.0

    @property
    def silent(self) -> float:
        """The share of claims that the reasoning says nothing about; 1 if there are no claims."""
        return self.counts.neutral / self.counts.total if self.counts.total else 1.0


_NOTHING = FreeTextConsistency(Counts(0, 0, 0))


async def free_text_consistency(
    judge: Judge,
    reasoning: str,
    answer: str,
    options: ClaimOptions | None = None,
    *,
    scoring_pass: int = 0,
) -> FreeTextConsistency:
    """Hold an answer against the reasoning that came before it.

    Args:
        judge: Who takes out claims and labels them.
        reasoning: The think part. Untrusted, like the answer.
        answer: The answer.
        options: Which claims count.
        scoring_pass: Which of several passes this is.

    Raises:
        JudgeError: If a judgement can't be had: it is then missing, never 0.
    """
    thought, said = (harmless(text).text.strip() for text in (reasoning, answer))
    if not thought or not said:
        return _NOTHING
    found = await judge.claims(said, scoring_pass=scoring_pass)
    claims = select_claims(found, options or ClaimOptions()).claims
    if not claims:
        return _NOTHING
    verdicts = await judge.verdicts(claims, thought, scoring_pass=scoring_pass)
    if len(verdicts) != len(claims):
        raise JudgeError(f"{judge.name} labelled {len(verdicts)} of {len(claims)} claims")
    return FreeTextConsistency(Counts.of(verdicts))
