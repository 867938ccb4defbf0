"""What a text says about a claim: it bears it out, speaks against it, or neither.

`compare` says how each claim of the text stands to it; here they are weighed. What is cheap to say
must not bear out what is not:

* a claim is borne out only by one that is as precise: not a peak at noon in Ireland by a peak some
  day of the week in Europe, not 25 m/s by "strong", not "it rains" by "it may rain";
* a claim without any place and time is borne out only by itself or another such;
* a text that gives several values of one thing, place and time bears none of them out.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zephyrus_report.rules.compare import Match, compare, related
from zephyrus_report.rules.geometry import wider
from zephyrus_report.rules.hazards import HAZARDS
from zephyrus_report.rules.lexicon import lineage
from zephyrus_report.rules.times import Time
from zephyrus_report.rules.typed import TypedClaim

_ALIKE_PLACE, _ALIKE_TIME = 0.75, 0.65
"""At least as near as a part of a seventh is to the whole, and a day to four days."""
_AGREES, _VALUES_AGREE = 0.65, 0.8
_THE_SAME, _WITHIN = 0.95, 0.99
_HEDGED = ("unlikely", "possible")
_TRACE = 6.0  # mm


@dataclass(frozen=True, slots=True)
class Finding:
    """What a text says about a claim.

    Attributes:
        label: 1 it bears it out, −1 it speaks against it, 0 neither.
        credit: −1 to 1, graded.
        other: The claim of the text that decided, None if none.
        match: How it stands.
    """

    label: int
    credit: float
    other: TypedClaim | None = None
    match: Match | None = None


Matched = tuple[TypedClaim, Match]
"""A claim of the other text, and how it stands."""


class Index:
    """The claims of a text, by subject."""

    def __init__(self, claims: Sequence[TypedClaim]) -> None:
        self.claims = tuple(claims)
        self._by_subject: dict[str, list[TypedClaim]] = {}
        for claim in self.claims:
            self._by_subject.setdefault(claim.subject, []).append(claim)

    def matches(self, claim: TypedClaim) -> list[Matched]:
        """The claims that are about the same, each with how it stands."""
        found: list[Matched] = []
        for subject, others in self._by_subject.items():
            if related(claim.subject, subject) > 0.0:
                for other in others:
                    match = compare(claim, other)
                    if match is not None:
                        found.append((other, match))
        return found


def look_up(claim: TypedClaim, others: Index) -> Finding:
    """What a text says about a claim (`decide`)."""
    return decide(claim, others.matches(claim))


def decide(claim: TypedClaim, matches: Sequence[Matched]) -> Finding:
    """What the claims of a text that are about the same say about a claim.

    It is borne out by a claim that says as much about the same place and time; what the claim says
    more than the other (a place, a time, a number) keeps it neutral. It is contradicted by one that
    says the contrary of the same place and time. The claim that bears it out goes first, unless the
    text says both of the same place and time: who says everything has said nothing. The same claim
    bears itself out, unless it is one guess of several.
    """
    best = Finding(0, 0.0)
    worst = Finding(0, 0.0)
    for other, match in matches:
        if match.said is None:
            continue
        if claim == other:
            same = Finding(1, 1.0, other, match)
            guess = claim.place is not None and _disputed(same, matches, 2)
            return Finding(0, 0.5, other, match) if guess else same
        if match.said > 0:
            entailed = _entailed(claim, other, match)
            if (entailed, match.credit) > (best.label, best.credit):
                best = Finding(int(entailed), match.credit, other, match)
        elif _against(claim, other, match) and match.credit < worst.credit:
            worst = Finding(-1, match.credit, other, match)
    if best.label and ((worst.label and _cancels(best, worst)) or _disputed(best, matches)):
        return Finding(0, best.credit / 2, best.other, best.match)
    if best.label or worst.label == 0:
        return best
    return worst


def _cancels(best: Finding, worst: Finding) -> bool:
    """Whether a text says both a thing and its contrary of the same place and time."""
    if best.match is None or worst.match is None or worst.match.said is None:
        return False
    if _is_a_trace(best, worst):
        return False
    return worst.match.said <= -0.8 and worst.match.near >= 0.9 * best.match.near


def _is_a_trace(best: Finding, worst: Finding) -> bool:
    """Whether one sentence says how much falls where it is mostly dry: "dry, with at most 3 mm"."""
    one, two = best.other, worst.other
    if one is None or two is None or (one.start, one.end) != (two.start, two.end):
        return False
    values = [c.value for c in (one, two) if c.value is not None and c.value.unit == "mm"]
    return "absence" in (one.aspect, two.aspect) and any(v.high <= _TRACE for v in values)


def _entailed(claim: TypedClaim, other: TypedClaim, match: Match) -> bool:
    valued = claim.aspect in ("value", "departure") and claim.aspect == other.aspect
    if match.said is None or match.said < (_VALUES_AGREE if valued else _AGREES):
        return False
    if match.subject < 0.7 or not match.together:
        return False
    # The claim must not be the more specific one: precipitation does not say that it snows. Where
    # there is none, the other way round: no precipitation is no snow.
    special, general = claim.subject, other.subject
    if claim.aspect == "absence":
        special, general = general, special
    if special != general and special not in lineage(general):
        return False
    if claim.aspect != other.aspect and claim.aspect not in ("presence", "absence", "anomaly"):
        # That it rains does not say how much; above normal does not say by how much.
        return False
    if other.likelihood in _HEDGED and claim.likelihood not in _HEDGED:
        return False  # that it may rain does not say that it rains
    if claim.subject == HAZARDS and claim.place is None and other.place is not None:
        return False  # none in Ireland does not say that there is none
    if claim.place is None and claim.time is None and (other.place or other.time):
        return False  # "winds reach 25 m/s": somewhere, some day; nothing that could be wrong
    # A place or time that the other does not name, or not on an axis that can be compared, is one
    # that it does not bear out.
    if (claim.place is not None and match.place is None) or (
        claim.time is not None and match.time is None
    ):
        return False
    return _reaches(claim, other, match)


def _reaches(claim: TypedClaim, other: TypedClaim, match: Match) -> bool:
    """Whether what holds there and then holds for the claim's place and time.

    A peak or a presence somewhere in a continent, or some day of the week, is none in each country
    or at each hour; a mean or a dry spell of a part is none of the whole.
    """
    somewhere = claim.aspect not in ("absence", "value", "departure", "anomaly") or (
        claim.role in ("max", "min")
    )
    everywhere = claim.aspect == "absence"
    if match.place is not None and match.place < _ALIKE_PLACE:
        narrower = wider(other.place, claim.place)
        if not (everywhere if narrower else somewhere):
            return False
    if match.time is not None and match.time < _ALIKE_TIME:
        narrower = _longer(other.time, claim.time)
        if not (everywhere if narrower else somewhere):
            return False
    return True


def _longer(a: Time | None, b: Time | None) -> bool:
    """Whether a time is longer than another that it shares an axis with."""
    spans = a.shared(b) if a is not None and b is not None else None
    return spans is not None and spans[0][1] - spans[0][0] > spans[1][1] - spans[1][0]


def _disputed(best: Finding, matches: Sequence[Matched], others: int = 1) -> bool:
    """Whether the text says other things, too, where and when it says what bears a claim out.

    "Winds peak at 14 m/s", "at 18 m/s", "at 22 m/s" is a guess at every value, not a forecast.
    """
    said = best.other
    if said is None or said.value is None:
        return False
    rivals = 0
    for other, _ in matches:
        if (other.subject, other.aspect, other.role) != (said.subject, said.aspect, said.role):
            continue
        match = compare(said, other)
        if match is None or (match.said or 0.0) >= _WITHIN:
            continue
        here = not (said.place or other.place) if match.place is None else match.place >= _THE_SAME
        now = not (said.time or other.time) if match.time is None else match.time >= _THE_SAME
        rivals += here and now
    return rivals >= others


def _against(claim: TypedClaim, other: TypedClaim, match: Match) -> bool:
    if match.said is None or match.said > -0.5 or not match.together:
        return False
    if (claim.subject == HAZARDS) != (other.subject == HAZARDS):
        # "No hazards" is said of every place and hour of its own, a hazard of some.
        return match.time is not None or claim.time is None or other.time is None
    if match.place is None and not (claim.place is None and other.place is None):
        # "Dry" without a place is said of the whole region.
        return other.place is None and other.aspect == "absence"
    return match.time is not None or (claim.time is None and other.time is None)
