"""Discussion F1: how far the claims of a report and of its reference bear each other out.

The claims of the report are labelled against the reference (precision), and those of the reference
against the report (recall). With S, R and N the numbers of SUPPORTED, REFUTED and NEUTRAL claims:

    precision = S / (S + R + w·N)          of the report's claims
    recall    = S_ref / (S_ref + R_ref + N_ref)     of the reference's claims
    F_beta    = (1 + beta²)·P·R / (beta²·P + R)

w = 0 is the Discussion score of Zephyrus (2510.04017), on which the one of Zephyrus-R1 rests: a
statement that the reference is silent about costs nothing. Then fifty idle statements beside one
that is supported still make a precision of 1, so the share of neutral claims is reported, and the
report's claims are capped.

Empty cases, where 0/0 would hide something: a report without claims has precision 0 and F1 0; so
has one whose claims are all neutral at w = 0; a reference without claims can't judge anything, so
its item is invalid: every value is None, to be left out of means and counted, never 1.0.
"""

from __future__ import annotations

import functools
import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

from zephyrus.errors import UserError
from zephyrus.judge.base import Claim, Label, Verdict

NEUTRAL_WEIGHTS = {"exclude": 0.0, "penalize": 1.0}
"""The named weights of neutral claims in the precision's denominator."""

MAX_CLAIMS = 40
"""Claims of a report that count, by default."""


@dataclass(frozen=True, slots=True)
class ClaimOptions:
    """How claims are chosen and counted; part of a run's configuration and of every result.

    Attributes:
        neutral: What a NEUTRAL claim of the report weighs in the precision's denominator:
            "exclude" (0), "penalize" (1, like a refuted one) or a number from 0 to 1.
        beta: Above 1 recall counts more, below 1 precision; 1 is the harmonic mean.
        max_claims: Claims of the report that count: the first ones, in its order; None for all.
            The others neither help nor hurt, in either direction; see `zephyrus.judge.assess`.
            The reference is never cut: recall is always over all that it says.
        dedup: Whether a claim that says the same as an earlier one of its text, after
            `normalise`, is dropped.
    """

    neutral: str | float = "exclude"
    beta: float = 1.0
    max_claims: int | None = MAX_CLAIMS
    dedup: bool = True

    def __post_init__(self) -> None:
        if isinstance(self.neutral, str):
            if self.neutral not in NEUTRAL_WEIGHTS:
                known = " or ".join(NEUTRAL_WEIGHTS)
                raise UserError(f"neutral is {known} or a number, not {self.neutral!r}")
        elif isinstance(self.neutral, bool) or not 0 <= self.neutral <= 1:
            raise UserError(f"neutral lies between 0 and 1, not at {self.neutral!r}")
        if not (math.isfinite(self.beta) and self.beta > 0):
            raise UserError(f"beta is a number above 0, not {self.beta!r}")
        if self.max_claims is not None and self.max_claims < 1:
            raise UserError(f"max_claims is at least 1, not {self.max_claims}; None sets no cap")

    @property
    def neutral_weight(self) -> float:
        """The number that ``neutral`` stands for, in [0, 1]."""
        weight = self.neutral
        return NEUTRAL_WEIGHTS[weight] if isinstance(weight, str) else float(weight)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return asdict(self)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> ClaimOptions:
        """The inverse of `to_dict`.

        Raises:
            UserError: If a key is unknown or a value impossible.
        """
        if unknown := sorted(set(data) - set(cls.__slots__)):
            known = ", ".join(cls.__slots__)
            raise UserError(f"claim options have the unknown keys {unknown}; known: {known}")
        return cls(**data)


class Counts(NamedTuple):
    """The labels of the claims of one text."""

    supported: int
    refuted: int
    neutral: int

    @property
    def total(self) -> int:
        """All claims."""
        return sum(self)

    @classmethod
    def of(cls, verdicts: Iterable[Verdict]) -> Counts:
        """Count labels."""
        found = Counter(verdict.label for verdict in verdicts)
        return cls(found[Label.SUPPORTED], found[Label.REFUTED], found[Label.NEUTRAL])


@dataclass(frozen=True, slots=True)
class DiscussionF1:
    """The score of one report.

    Attributes:
        report: Labels of the report's claims against the reference: they make the precision.
        reference: Labels of the reference's claims against the report: they make the recall.
        precision: In [0, 1]; like the next three None if the reference makes no claims.
        recall: In [0, 1].
        f1: F_beta, in [0, 1].
        neutral_rate: The share of NEUTRAL among the report's claims; 0 if it makes none.
    """

    report: Counts
    reference: Counts
    precision: float | None
    recall: float | None
    f1: float | None
    neutral_rate: float | None

    @property
    def valid(self) -> bool:
        """Whether the reference makes any claims; if not, the item counts in no mean."""
        return self.reference.total > 0


class Selection(NamedTuple):
    """What `select_claims` kept and how many it dropped for which reason."""

    claims: tuple[Claim, ...]
    duplicates: int
    over_cap: int


def discussion_f1(
    report: Iterable[Verdict], reference: Iterable[Verdict], options: ClaimOptions | None = None
) -> DiscussionF1:
    """Score the labels of both directions, as this module's head says.

    Args:
        report: The claims of the report, labelled against the reference.
        reference: The claims of the reference, labelled against the report.
        options: The weight of neutral claims and beta; claims are not chosen here but before
            they are labelled, by `select_claims`.
    """
    return f1_of_counts(Counts.of(report), Counts.of(reference), options)


def f1_of_counts(
    report: Counts, reference: Counts, options: ClaimOptions | None = None
) -> DiscussionF1:
    """`discussion_f1` for labels that are counted already."""
    options = options or ClaimOptions()
    if not reference.total:
        return DiscussionF1(report, reference, None, None, None, None)
    weighed = report.supported + report.refuted + options.neutral_weight * report.neutral
    precision = report.supported / weighed if report.supported else 0.0
    recall = reference.supported / reference.total
    f1 = f_beta(precision, recall, options.beta)
    neutral_rate = report.neutral / report.total if report.total else 0.0
    return DiscussionF1(report, reference, precision, recall, f1, neutral_rate)


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """The weighted harmonic mean of precision and recall, 0 if either is 0."""
    if not (precision and recall):
        return 0.0
    square = beta * beta
    return (1 + square) * precision * recall / (square * precision + recall)


def select_claims(
    claims: Iterable[Claim], options: ClaimOptions, *, capped: bool = True
) -> Selection:
    """The claims of one text that count.

    Args:
        claims: All claims, in the order of the text.
        options: Whether to drop duplicates, and the cap.
        capped: Whether the cap applies: to a report, not to a reference.

    Returns:
        The claims in their order: of those that say the same the first, then as many of the
        first as the cap allows. An empty claim counts as a duplicate.
    """
    kept: list[Claim] = []
    seen = {""}
    duplicates = 0
    for claim in claims:
        normal = normalise(claim.text)
        if normal in seen and (options.dedup or not normal):
            duplicates += 1
            continue
        seen.add(normal)
        kept.append(claim)
    limit = options.max_claims if capped else None
    over = max(0, len(kept) - limit) if limit is not None else 0
    return Selection(tuple(kept[:limit]), duplicates, over)


_NUMBER = re.compile(
    r"(?<![\w.])([-+]?)(?:(\d{1,3}(?:,\d{3})+|\d+)((?:\.\d+)?)|(\.\d+))(?![\d.]*\.\d)"
)
_DASHES = str.maketrans(dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"))
_NOT_A_POINT = re.compile(r"(?<!\d)\.|\.(?!\d)")
_NOT_A_MINUS = re.compile(r"(?<=\w)-|-(?!\d)")
_KEPT = frozenset("%.-")


@functools.lru_cache(maxsize=65536)  # the reference's claims come again with every report
def normalise(text: str) -> str:
    """A claim's text without what does not change its meaning, for finding duplicates.

    Unicode forms (NFKC), case, white space and punctuation are made the same, and numbers
    ("1,000.0" is "1000", "05" is "5", "+3" is "3", "−3" is "-3"). Units, signs, "%" and the
    order of words stay: "3 °C warmer" and "-3 °C warmer" are two claims, as are paraphrases.
    """
    text = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    text = _NUMBER.sub(_plain_number, text.translate(_DASHES))
    text = _NOT_A_MINUS.sub(" ", _NOT_A_POINT.sub(" ", text))
    text = "".join(
        " " if c not in _KEPT and unicodedata.category(c)[0] in "PZC" else c for c in text
    )
    return " ".join(text.split())


def _plain_number(match: re.Match[str]) -> str:
    sign, whole, part, bare = match.groups()
    digits = (whole or "").replace(",", "").lstrip("0") or "0"
    fraction = (part or bare or "").rstrip("0").rstrip(".")
    minus = "-" if sign == "-" and (digits != "0" or fraction) else ""
    return f"{minus}{digits}{fraction}"
