"""A proxy for numerical accuracy: typed quantities of a report that agree with a reference's.

AFDBench (2608.24954) names the measure Met-Align, "numerical accuracy against human reference",
without a formula; this is ours, hence ``_proxy``.
"""

from __future__ import annotations

from dataclasses import dataclass

from scipy.sparse import csr_array
from scipy.sparse.csgraph import maximum_bipartite_matching

from zephyrus_report.rules.compare import compare
from zephyrus_report.rules.extract import extract
from zephyrus_report.rules.typed import TypedClaim

AGREES = 0.99
"""What `zephyrus_report.rules.compare` gives two values within the tolerance of their unit."""


@dataclass(frozen=True, slots=True)
class QuantityScore:
    """How the quantities of a report match those of a reference.

    Attributes:
        matched: Pairs, each quantity in at most one.
        report: Quantities of the report.
        reference: Quantities of the reference.
    """

    matched: int
    report: int
    reference: int

    @property
    def precision(self) -> float:
        """Share of the report's quantities that are matched; 0 if it has none."""
        return self.matched / self.report if self.report else 0.0

    @property
    def recall(self) -> float:
        """Share of the reference's quantities that are matched."""
        return self.matched / self.reference

    @property
    def f1(self) -> float:
        """The harmonic mean of precision and recall."""
        return 2 * self.matched / (self.report + self.reference)


def quantities_proxy(report: str, reference: str, context: str = "") -> QuantityScore | None:
    """Match numbers of the same variable, place and time within the tolerance of their unit.

    A quantity is a value or departure with its unit, of something (temperature, wind,
    precipitation and its probability, pressure, …). Two can be matched if they are about the same
    or one about a more general thing, if their places and times agree as far as both are said, and
    if they differ by no more than the tolerance in `zephyrus_report.rules.compare.BANDS`. The
    matching pairs as many as possible, each quantity once.

    Args:
        report: The text to score.
        reference: The text to compare with.
        context: What the event told: its times, so that "Monday" has a date.

    Returns:
        The score, or None if the reference has no quantity.
    """
    said, wanted = _valued(report, context), _valued(reference, context)
    if not wanted:
        return None
    if not said:
        return QuantityScore(0, 0, len(wanted))
    agreeing = csr_array([[int(_agree(a, b)) for b in wanted] for a in said])
    pairs = maximum_bipartite_matching(agreeing, perm_type="column")
    return QuantityScore(int((pairs >= 0).sum()), len(said), len(wanted))


def _valued(text: str, context: str) -> list[TypedClaim]:
    return [c for c in extract(text, context) if c.value is not None]


def _agree(a: TypedClaim, b: TypedClaim) -> bool:
    match = compare(a, b)
    return match is not None and match.together and (match.said or 0.0) >= AGREES
