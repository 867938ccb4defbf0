"""The six criteria of the report rubric from typed claims.

Every claim of either text is looked up in the other (`decide.look_up`): it has a credit from 0 to
1 (subject x place x time x what is said), and is marked where the other text contradicts it. Of a
set of claims, precision is the mean credit of the report's, recall that of the reference's, each
less `CONTRADICTED` for a contradicted claim, and F is their harmonic mean.

==============  ==================================================================================
setup           F over features, weather, hazards and patterns, hazards and features weighing most;
                what is added lowers precision, what is left out recall
spatiotemporal  F of place x time alone over all claims (three quarters), and F over trends and
                movements, where the reference has any (one quarter)
hazards         F over hazards and hazardous values, weighted by severity; where the reference has
                none: faithfulness, times the share of the report's claims that invent none
mechanism       faithfulness (three quarters), and how much of the report's stated causes are
                features of the reference that act on weather it also has (one quarter)
thermal         F over temperature and air masses, and F over precipitation types, contradictions
                counting double: half their mean, half the lower of the two
calibration     mean credit of the report's numbers, moments, directions and pattern labels, less
                for likelihoods that differ, times how far it dares to be as specific as the
                reference
==============  ==================================================================================

That no hazard is expected weighs little in the setup and nothing in spatiotemporal and calibration:
it is cheap to say, and often true. Faithfulness is the F over all claims, doubled and cut at 1 where it stands in for something that
the reference does not have. A criterion's value v from 0 to 1 becomes 1 + round(9 (v - `CHANCE`) /
(1 - `CHANCE`)): what two unrelated discussions share by chance is a 1.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from zephyrus_report.rules.decide import Finding, Index, Matched, decide
from zephyrus_report.rules.hazards import HAZARDS
from zephyrus_report.rules.lexicon import lineage
from zephyrus_report.rules.typed import LIKELIHOODS, TypedClaim

CONTRADICTED = 0.5
"""What a contradicted claim takes away, beyond having no credit."""

CHANCE = 0.07
"""A value at or below this is level 1."""

MOST_CLAIMS = 300
"""Claims of one text that are looked at."""

KEYS = ("setup", "spatiotemporal", "hazards", "mechanism", "thermal", "calibration")

_AIRMASS = frozenset(
    [
        "temperature",
        "temperature_max",
        "temperature_min",
        "temperature_850",
        "dewpoint",
        "airmass_cold",
        "airmass_warm",
        "heat",
        "cold",
        "frost",
    ]
)
_TYPES = frozenset(
    ["rain", "snow", "freezing_rain", "sleet", "mixed", "rain_and_snow", "thunderstorm"]
)
_SEVERE = {"m/s": 13.5, "mm": 25.0}


@dataclass(frozen=True, slots=True)
class Scored:
    """A criterion's value.

    Attributes:
        value: 0 to 1.
        why: In a sentence.
    """

    value: float
    why: str


@dataclass(frozen=True, slots=True)
class Pair:
    """Two texts' claims, each looked up in the other.

    Attributes:
        report: Claims of the report.
        reference: Claims of the reference.
        of_report: What the reference says about the report's.
        of_reference: What the report says about the reference's.
        placed: How well places and times agree, seen from the report and from the reference.
    """

    report: tuple[TypedClaim, ...]
    reference: tuple[TypedClaim, ...]
    of_report: tuple[Finding, ...]
    of_reference: tuple[Finding, ...]
    placed: tuple[float, float]

    @classmethod
    def of(cls, report: Sequence[TypedClaim], reference: Sequence[TypedClaim]) -> Pair:
        """Look every claim up in the other text."""
        mine, theirs = Index(report[:MOST_CLAIMS]), Index(reference[:MOST_CLAIMS])
        there = [(c, theirs.matches(c)) for c in mine.claims]
        back = [(c, mine.matches(c)) for c in theirs.claims]
        return cls(
            mine.claims,
            theirs.claims,
            tuple(decide(c, matches) for c, matches in there),
            tuple(decide(c, matches) for c, matches in back),
            (_placed(there), _placed(back)),
        )

    def score(
        self,
        chosen: Callable[[TypedClaim], bool],
        weight: Callable[[TypedClaim], float] = lambda _: 1.0,
        contradicted: float = CONTRADICTED,
    ) -> tuple[float, float, float, int, int]:
        """F, precision, recall over chosen claims, and how many there are in report, reference."""
        p, n = _mean(self.report, self.of_report, chosen, weight, contradicted)
        r, m = _mean(self.reference, self.of_reference, chosen, weight, contradicted)
        return _f(p, r), p, r, n, m


def _mean(
    claims: Sequence[TypedClaim],
    found: Sequence[Finding],
    chosen: Callable[[TypedClaim], bool],
    weight: Callable[[TypedClaim], float],
    contradicted: float,
) -> tuple[float, int]:
    total = weights = 0.0
    count = 0
    for claim, finding in zip(claims, found, strict=True):
        if not chosen(claim):
            continue
        w = weight(claim)
        total += w * (-contradicted if finding.label < 0 else max(0.0, finding.credit))
        weights += w
        count += 1
    return (max(0.0, total / weights) if weights else 0.0), count


def _f(p: float, r: float) -> float:
    return 2 * p * r / (p + r) if p + r > 0 else 0.0


def criteria(pair: Pair) -> dict[str, Scored]:
    """The value of every criterion, by key."""
    faithful = pair.score(lambda _: True)[0]
    return {
        "setup": _setup(pair),
        "spatiotemporal": _spatiotemporal(pair),
        "hazards": _hazards(pair, faithful),
        "mechanism": _mechanism(pair, faithful),
        "thermal": _thermal(pair, faithful),
        "calibration": _calibration(pair),
    }


def level(value: float) -> int:
    """The integer from 1 to 10 of a value from 0 to 1."""
    return 1 + round(9 * min(1.0, max(0.0, (value - CHANCE) / (1.0 - CHANCE))))


def _setup(pair: Pair) -> Scored:
    weights = {"hazard": 1.5, "feature": 1.3, "pattern": 1.3, "weather": 1.0, "variable": 0.4}
    f, p, r, n, m = pair.score(
        lambda _: True,
        lambda c: weights["variable" if c.subject == HAZARDS else c.about.group],
    )
    dropped = _names(
        c for c, found in zip(pair.reference, pair.of_reference, strict=True)
        if found.credit < 0.3 and c.about.group != "variable"
    )  # fmt: skip
    added = _names(
        c for c, found in zip(pair.report, pair.of_report, strict=True)
        if found.credit < 0.3 and c.about.group != "variable"
    )  # fmt: skip
    why = f"{p:.0%} of the report's {n} features and hazards are borne out, {r:.0%} of the reference's {m} are told"
    if dropped:
        why += f"; missing or misplaced: {dropped}"
    if added:
        why += f"; unsupported: {added}"
    return Scored(f, why + ".")


def _names(claims: Iterable[TypedClaim]) -> str:
    seen = list(dict.fromkeys(c.about.name.lower() for c in claims))
    return ", ".join(seen[:5])


def _spatiotemporal(pair: Pair) -> Scored:
    where = _f(*pair.placed)
    moving, _, _, _, m = pair.score(lambda c: c.aspect in ("trend", "movement"))
    value = 0.75 * where + 0.25 * moving if m else where
    why = f"places and times agree to {where:.0%}"
    if m:
        why += f", changes and movements to {moving:.0%}"
    return Scored(value, why + ".")


def _placed(claims: Sequence[tuple[TypedClaim, Sequence[Matched]]]) -> float:
    total = 0.0
    # That there is no hazard tells no place, and no time but the whole period.
    claims = [(c, matches) for c, matches in claims if c.subject != HAZARDS] or claims
    for claim, matches in claims:
        best = 0.0
        for other, match in matches:
            if claim == other:
                best = 1.0
                break
            if match.said is None or match.said >= 0:
                best = max(best, match.near * match.subject * (1.0 if match.said else 0.7))
        total += best
    return total / len(claims) if claims else 0.0


def _is_hazard(claim: TypedClaim) -> bool:
    if claim.aspect == "absence":
        return False
    if claim.about.group == "hazard" or (
        claim.intensity == "heavy" and claim.about.group == "weather"
    ):
        return True
    value = claim.value
    return (
        value is not None
        and claim.subject in ("wind", "gust", "rain", "snow", "precipitation")
        and (value.high >= _SEVERE.get(value.unit, float("inf")))
    )


def _severity(claim: TypedClaim) -> float:
    weight = claim.about.weight
    if claim.value is not None and claim.value.unit in _SEVERE:
        weight = max(weight, min(3.0, claim.value.high / _SEVERE[claim.value.unit]))
    sure = LIKELIHOODS.index(claim.likelihood)
    return weight * (0.6 if sure in (1, 2) else 1.0)


def _hazards(pair: Pair, faithful: float) -> Scored:
    f, p, r, n, m = pair.score(_is_hazard, _severity)
    if m:
        return Scored(
            f,
            f"hazards: {p:.0%} of the report's {n} borne out, {r:.0%} of the reference's {m} told, by severity.",
        )
    invented = sum(
        _severity(c) for c, found in zip(pair.report, pair.of_report, strict=True)
        if _is_hazard(c) and found.credit < 0.5
    )  # fmt: skip
    value = min(1.0, 2 * faithful) / (1.0 + 0.5 * invented)
    return Scored(
        value, f"the reference has no hazard; the report invents {invented:g} by severity."
    )


def _mechanism(pair: Pair, faithful: float) -> Scored:
    known = {k for c in pair.reference for s in (c.subject, *c.causes) for k in lineage(s)}
    good = links = 0.0
    for claim, found in zip(pair.report, pair.of_report, strict=True):
        for cause in claim.causes:
            links += 1
            if cause in known or lineage(cause)[-1] in known:
                good += max(0.0, found.credit)
    stated = any(c.causes for c in pair.reference)
    if links:
        tied = good / links
        why = f"{tied:.0%} of {links:g} stated causes fit the reference"
    else:
        tied = min(1.0, 2 * faithful) * (0.6 if stated else 1.0)
        why = "no cause is stated"
    return Scored(
        0.75 * min(1.0, 1.2 * faithful) + 0.25 * tied,
        f"{why}; the forecast is {faithful:.0%} faithful.",
    )


def _thermal(pair: Pair, faithful: float) -> Scored:
    temperature = pair.score(lambda c: c.subject in _AIRMASS, contradicted=2 * CONTRADICTED)
    kind = pair.score(lambda c: c.subject in _TYPES, contradicted=2 * CONTRADICTED)
    told = [
        (name, each) for name, each in (("temperature", temperature), ("type", kind)) if each[4]
    ]
    if not told:
        n = temperature[3] + kind[3]
        value = min(1.0, 2 * faithful) / (1.0 + 0.1 * n)
        return Scored(value, f"the reference tells neither temperature nor type; the report {n}.")
    worst = min(each[0] for _, each in told)
    mean = sum(each[0] for _, each in told) / len(told)
    parts = [
        f"{name} {p:.0%} of {n} borne out, {r:.0%} of {m} told" for name, (_, p, r, n, m) in told
    ]
    return Scored((worst + mean) / 2, "; ".join(parts) + ".")


def _is_specific(claim: TypedClaim) -> bool:
    if claim.subject == HAZARDS:
        return False
    return claim.aspect in ("value", "departure", "movement", "wind_from", "trend") or (
        claim.about.group == "pattern" or claim.time is not None
    )


def _off(a: str, b: str) -> float:
    """How far two likelihoods are apart, 0 to 1; what is said without one is likely or certain."""
    first, second = sorted((LIKELIHOODS.index(a), LIKELIHOODS.index(b)))
    return max(0, 3 - second) / 3 * (second > 0) if first == 0 else (second - first) / 3


def _calibration(pair: Pair) -> Scored:
    earned: list[float] = []
    sure: list[float] = []
    for claim, found in zip(pair.report, pair.of_report, strict=True):
        if _is_specific(claim):
            earned.append(-CONTRADICTED if found.label < 0 else max(0.0, found.credit))
        if found.label > 0 and found.other is not None:
            sure.append(_off(claim.likelihood, found.other.likelihood))
    wanted = sum(_is_specific(c) for c in pair.reference)
    if not earned:
        return Scored(0.0 if wanted else 1.0, "nothing specific is said.")
    grounded = max(0.0, sum(earned) / len(earned))
    told = min(1.0, sum(c > 0.5 for c in earned) / (0.4 * wanted)) if wanted else 1.0
    off = sum(sure) / len(sure) if sure else 0.0
    value = grounded * (0.4 + 0.6 * told) * (1.0 - 0.5 * off)
    return Scored(
        value,
        f"{grounded:.0%} of {len(earned)} numbers, times and labels are grounded; likelihoods are off by {off:.0%}.",
    )
