"""`assess`: everything that one judge says of one report, in one scoring pass.

The rubric and the claims are two parts that don't wait for each other. A part for which the judge
can't be had is *missing*, with the reason, and can be asked for again; it is never a score of 0.

The reference's claims are always taken out of it in scoring pass 0, whatever the pass: so all
passes and all policies share one list (a cache then pays for it once), recall has the same
denominator everywhere, and what varies between passes is the judging of the report alone.

A report over the claims cap is judged by its first claims in both directions: the reference's
claims are then labelled against those claims, not against the whole text. What comes after the cap
so changes neither precision nor recall.

The report is untrusted: the judge sees what `zephyrus.judge.guard.harmless` leaves of it.
"""

from __future__ import annotations

import asyncio
from collections.abc import Collection, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, TypeVar

from zephyrus.errors import JudgeError, UserError
from zephyrus.judge.base import LEVELS, Brief, Claim, Judge, Label, RubricScores, Verdict
from zephyrus.judge.discussion import (
    ClaimOptions,
    DiscussionF1,
    discussion_f1,
    select_claims,
)
from zephyrus.judge.guard import harmless

T = TypeVar("T")

VERSION = 1
"""Of the stored form of an `Assessment`."""

PARTS = ("rubric", "claims")
"""What can be asked for, and be missing."""

REFERENCE_PASS = 0
"""The scoring pass in which the reference's claims are extracted."""


@dataclass(frozen=True, slots=True)
class Assessment:
    """What one judge said of one report in one scoring pass.

    Attributes:
        judge: Its name.
        scoring_pass: From 0.
        options: How claims were chosen and are counted.
        parts: What was asked for, of `PARTS`.
        empty: Whether there was no report to hold against the reference: it scores 0, and the
            judge was not asked.
        rubric: The rubric's scores, None if missing or not asked for.
        report_verdicts: The claims of the report that count, labelled against the reference;
            None if missing or not asked for.
        reference_verdicts: The claims of the reference, labelled against the report; likewise.
        missing: Why a part is missing, by its name.
        notes: Counts that explain a score: ``report_claims`` and ``reference_claims`` (as
            extracted), ``report_duplicates``, ``reference_duplicates``, ``report_over_cap``
            (dropped), ``guard_removed`` (pieces of the report that spoke to the judge, and were cut).
    """

    judge: str
    scoring_pass: int = 0
    options: ClaimOptions = field(default_factory=ClaimOptions)
    parts: tuple[str, ...] = PARTS
    empty: bool = False
    rubric: RubricScores | None = None
    report_verdicts: tuple[Verdict, ...] | None = None
    reference_verdicts: tuple[Verdict, ...] | None = None
    missing: Mapping[str, str] = field(default_factory=dict)
    notes: Mapping[str, int] = field(default_factory=dict)

    @property
    def discussion(self) -> DiscussionF1 | None:
        """The counts and Discussion F1; None if the claims are missing or there is no report."""
        if self.report_verdicts is None or self.reference_verdicts is None or self.empty:
            return None
        return discussion_f1(self.report_verdicts, self.reference_verdicts, self.options)

    @property
    def invalid(self) -> bool:
        """Whether the reference makes no claims: the item counts in no mean of F1, for anyone.

        It is not missing: to ask again would change nothing.
        """
        return self.discussion is not None and not self.discussion.valid

    def scores(self) -> dict[str, float | None]:
        """All scores, each in [0, 1]; None where missing, or for F1 where the item is invalid.

        Returns:
            For the part "rubric": ``rubric`` (the mean of the normalised criteria) and
            ``rubric_KEY`` for each criterion (none of these when missing). For the part "claims":
            ``f1``, ``precision``, ``recall`` and ``neutral_rate``. Parts that were not asked for
            have no entry.
        """
        found: dict[str, float | None] = {}
        if "rubric" in self.parts:
            found["rubric"] = self.rubric.mean if self.rubric else None
        if "claims" in self.parts:
            names = ("f1", "precision", "recall", "neutral_rate")
            score = self.discussion
            for name in names:
                found[name] = 0.0 if self.empty else getattr(score, name) if score else None
        if self.rubric:
            found |= {f"rubric_{key}": value for key, value in self.rubric.normalised().items()}
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        rubric = self.rubric and {
            "rubric": self.rubric.rubric,
            "scores": dict(self.rubric.scores),
            "rationale": dict(self.rubric.rationale),
        }
        return {
            "version": VERSION,
            "judge": self.judge,
            "scoring_pass": self.scoring_pass,
            "options": self.options.to_dict(),
            "parts": list(self.parts),
            "empty": self.empty,
            "rubric": rubric,
            "report_verdicts": _verdicts_to_list(self.report_verdicts),
            "reference_verdicts": _verdicts_to_list(self.reference_verdicts),
            "missing": dict(self.missing),
            "notes": dict(self.notes),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Assessment:
        """The inverse of `to_dict`.

        Raises:
            ValueError: If it is no assessment, or one of another version.
        """
        try:
            if data["version"] != VERSION:
                raise ValueError(f"an assessment of version {data['version']}, not {VERSION}")
            return cls(
                judge=data["judge"],
                scoring_pass=data["scoring_pass"],
                options=ClaimOptions.from_dict(data["options"]),
                parts=tuple(data["parts"]),
                empty=data["empty"],
                rubric=RubricScores(**data["rubric"]) if data["rubric"] else None,
                report_verdicts=_verdicts_from_list(data["report_verdicts"]),
                reference_verdicts=_verdicts_from_list(data["reference_verdicts"]),
                missing=dict(data["missing"]),
                notes=dict(data["notes"]),
            )
        except (KeyError, TypeError, UserError) as error:
            raise ValueError(f"not an assessment: {error!r}") from error


async def assess(
    judge: Judge,
    brief: Brief,
    *,
    options: ClaimOptions | None = None,
    scoring_pass: int = 0,
    parts: Collection[str] = PARTS,
) -> Assessment:
    """Ask a judge for the rubric and the claims of a report, as far as they can be had.

    Args:
        judge: Who judges.
        brief: The report (untrusted), its reference and the rubric.
        options: How claims are chosen and counted.
        scoring_pass: Which of several passes this is; a judge that samples differs between them.
        parts: What to ask for, of `PARTS`.

    Returns:
        An assessment; a part that raised a JudgeError is named in its ``missing``.

    Raises:
        UserError: If the judge can't be asked for a reason that the user can mend.
    """
    if not parts or set(parts) - set(PARTS):
        raise ValueError(f"parts are of {PARTS}, not {parts}")
    options = options or ClaimOptions()
    report = harmless(brief.report)
    notes = {"guard_removed": len(report.removed)}
    basis = Assessment(
        judge=judge.name,
        scoring_pass=scoring_pass,
        options=options,
        parts=tuple(part for part in PARTS if part in parts),
        notes=notes,
    )
    if not report.text.strip():
        return _of_nothing(basis, brief)
    brief = replace(brief, report=report.text)
    rubric, claims = await _together(
        _rubric(judge, brief, scoring_pass) if "rubric" in parts else _none(),
        _claims(judge, brief, options, scoring_pass) if "claims" in parts else _none(),
    )
    missing = {}
    if isinstance(rubric, JudgeError):
        missing["rubric"], rubric = str(rubric), None
    if isinstance(claims, JudgeError):
        missing["claims"], claims = str(claims), None
    result = replace(basis, rubric=rubric, missing=missing)
    if claims is None:
        return result
    return replace(
        result,
        report_verdicts=claims.report,
        reference_verdicts=claims.reference,
        notes={**notes, **claims.notes},
    )


def judged_texts(brief: Brief, assessment: Assessment) -> tuple[str, str]:
    """What the claims were labelled against: for an expert who is to label them too.

    Args:
        brief: What was judged.
        assessment: What came of it.

    Returns:
        The text that the report's claims were held against, and the one for the reference's.
    """
    claims = [verdict.claim for verdict in assessment.report_verdicts or ()]
    over_cap = assessment.notes.get("report_over_cap", 0)
    return brief.reference, _premise(harmless(brief.report).text, claims, over_cap)


def _premise(report: str, claims: Sequence[Claim], over_cap: int) -> str:
    """What the reference's claims are labelled against: no more of the report than counts."""
    return "\n".join(claim.text for claim in claims) if over_cap else report


@dataclass(frozen=True, slots=True)
class _Claims:
    report: tuple[Verdict, ...]
    reference: tuple[Verdict, ...]
    notes: dict[str, int]


async def _rubric(judge: Judge, brief: Brief, scoring_pass: int) -> RubricScores:
    scores = await judge.rubric(brief, scoring_pass=scoring_pass)
    wanted = {criterion.key for criterion in brief.rubric.criteria}
    if set(scores.scores) != wanted or any(s not in LEVELS for s in scores.scores.values()):
        raise JudgeError(f"{judge.name} did not score every criterion from 1 to 10")
    return scores


async def _claims(judge: Judge, brief: Brief, options: ClaimOptions, scoring_pass: int) -> _Claims:
    extracted = await _together(
        judge.claims(brief.report, scoring_pass=scoring_pass),
        _reference_claims(judge, brief.reference),
    )
    ours, theirs = _all_or_error(extracted)
    report = select_claims(ours, options)
    reference = select_claims(theirs, options, capped=False)
    labelled = await _together(
        _label(judge, report.claims, brief.reference, scoring_pass),
        _label(
            judge,
            reference.claims,
            _premise(brief.report, report.claims, report.over_cap),
            scoring_pass,
        ),
    )
    forward, backward = _all_or_error(labelled)
    return _Claims(
        forward,
        backward,
        {
            "report_claims": len(ours),
            "report_duplicates": report.duplicates,
            "report_over_cap": report.over_cap,
            "reference_claims": len(theirs),
            "reference_duplicates": reference.duplicates,
        },
    )


async def _reference_claims(judge: Judge, reference: str) -> tuple[Claim, ...]:
    if not reference.strip():
        return ()
    return await judge.claims(reference, scoring_pass=REFERENCE_PASS)


async def _label(
    judge: Judge, claims: Sequence[Claim], text: str, scoring_pass: int
) -> tuple[Verdict, ...]:
    if not claims:
        return ()
    verdicts = await judge.verdicts(claims, text, scoring_pass=scoring_pass)
    if len(verdicts) != len(claims):
        raise JudgeError(f"{judge.name} labelled {len(verdicts)} of {len(claims)} claims")
    return tuple(verdicts)


def _of_nothing(basis: Assessment, brief: Brief) -> Assessment:
    """No report: every criterion at level 1, which is 0, and no claims.

    Where there is no reference either, F1 is invalid as for every other report.
    """
    rubric = RubricScores(brief.rubric.id, {c.key: LEVELS[0] for c in brief.rubric.criteria})
    claims = () if "claims" in basis.parts else None
    return replace(
        basis,
        empty=bool(brief.reference.strip()),
        rubric=rubric if "rubric" in basis.parts else None,
        report_verdicts=claims,
        reference_verdicts=claims,
    )


async def _none() -> None:
    return None


async def _together(*work: Coroutine[Any, Any, Any]) -> list[Any]:
    """Run all of it; a JudgeError stands in its place, so that the others still finish.

    What a judge was paid for is thus always fetched and cached. Any other error stops the rest.
    """

    async def settle(coroutine: Coroutine[Any, Any, T]) -> T | JudgeError:
        try:
            return await coroutine
        except JudgeError as error:
            return error

    try:
        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(settle(coroutine)) for coroutine in work]
    except BaseExceptionGroup as errors:
        raise errors.exceptions[0] from None
    return [task.result() for task in tasks]


def _all_or_error(results: Sequence[Any]) -> Sequence[Any]:
    for result in results:
        if isinstance(result, JudgeError):
            raise result
    return results


def _verdicts_to_list(verdicts: Sequence[Verdict] | None) -> list[dict[str, str]] | None:
    if verdicts is None:
        return None
    return [
        {
            "claim": v.claim.text,
            "quote": v.claim.quote,
            "label": str(v.label),
            "evidence": v.evidence,
            "rationale": v.rationale,
        }
        for v in verdicts
    ]


def _verdicts_from_list(data: Sequence[Mapping[str, str]] | None) -> tuple[Verdict, ...] | None:
    if data is None:
        return None
    return tuple(
        Verdict(Claim(v["claim"], v["quote"]), Label(v["label"]), v["evidence"], v["rationale"])
        for v in data
    )
