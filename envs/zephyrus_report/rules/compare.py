"""How two typed claims stand to each other.

Two claims can only speak of each other if they are about the same subject, or one is about a more
general one (rain is precipitation). Then place, time and what is said are compared:

* place: 1 the same, down to 0.35 for one inside a much larger other, 0 apart;
* time: 1 the same span, down to 0.55 for a short one inside a long one, 0 apart;
* what is said: agreeing, contradicting, or neither.

Values agree within a tolerance and contradict beyond a wide band (`BANDS`); between the two they
do neither. Trends, anomalies, directions, presence and absence agree or contradict by sign.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from zephyrus_report.rules.geometry import nearness
from zephyrus_report.rules.hazards import HAZARDS, contradicts
from zephyrus_report.rules.lexicon import lineage
from zephyrus_report.rules.quantities import Quantity
from zephyrus_report.rules.times import Time
from zephyrus_report.rules.typed import TypedClaim


@dataclass(frozen=True, slots=True)
class Band:
    """When two values agree, and when they contradict; a difference between does neither.

    Attributes:
        near: Least tolerance, in the unit.
        near_share: Tolerance as a share of the larger value; the larger of both counts.
        far: Least difference of a contradiction.
        far_share: The same as a share of the larger value; the larger of both counts.
    """

    near: float
    near_share: float
    far: float
    far_share: float


BANDS: dict[str, Band] = {
    "°C": Band(2.0, 0.0, 5.0, 0.0),
    "K": Band(1.5, 0.25, 4.0, 0.6),
    "m/s": Band(2.5, 0.1, 7.0, 0.4),
    "km/h": Band(10.0, 0.25, 25.0, 0.6),
    "mm": Band(1.0, 0.3, 4.0, 0.6),
    "hPa": Band(3.0, 0.0, 10.0, 0.0),
    "gpm": Band(30.0, 0.0, 100.0, 0.0),
    "%": Band(12.0, 0.0, 35.0, 0.0),
    "J/kg": Band(300.0, 0.3, 1000.0, 0.6),
}
"""By unit: 2 and 5 °C, 2.5 and 7 m/s, 1 mm or 30 % and 4 mm or 60 %, 3 and 10 hPa, …"""

_OPPOSITE = {
    ("rising", "falling"), ("strengthening", "weakening"), ("above", "below"),
    ("above", "near"), ("below", "near"), ("begin", "end"),
}  # fmt: skip
_POINTS = ("north", "north-east", "east", "south-east", "south", "south-west", "west", "north-west")
_SAME_PLACE, _SAME_TIME = 0.5, 0.5
_RIVALS = {
    ("low", "high"),
    ("trough", "ridge"),
    ("warm_front", "cold_front"),
    ("airmass_cold", "airmass_warm"),
}
_LOOSE = frozenset({"precipitation", "wind", "temperature", "trough", "front"})


@dataclass(frozen=True, slots=True)
class Match:
    """How a claim stands to another.

    Attributes:
        place: 0 to 1, None where one of the two names no place.
        time: 0 to 1, None where one of the two names no time.
        said: 1 the same is said, −1 the contrary, between them for neither; None where the two
            say things that can't be compared.
        subject: 1 the same subject, less for a more general one.
    """

    place: float | None
    time: float | None
    said: float | None
    subject: float

    @property
    def near(self) -> float:
        """How well place and time agree, 0 to 1; what is not known counts half."""
        place = 0.5 if self.place is None else self.place
        time = 0.6 if self.time is None else self.time
        return place * time

    @property
    def together(self) -> bool:
        """Whether both speak of the same place and time, as far as they say."""
        return (self.place is None or self.place >= _SAME_PLACE) and (
            self.time is None or self.time >= _SAME_TIME
        )

    @property
    def credit(self) -> float:
        """−1 to 1: how much the one bears out the other (negative: speaks against it)."""
        if self.said is None:
            return 0.0
        return self.subject * self.near * self.said


@lru_cache(maxsize=200_000)
def overlap(a: Time | None, b: Time | None) -> float | None:
    """How well two times agree: 1 the same span, 0 more than 6 h apart; None if not comparable."""
    if a is None or b is None:
        return None
    spans = a.shared(b)
    if spans is None:
        return None
    (a0, a1), (b0, b1) = spans
    # A moment is as wide as a step of six hours.
    a0, a1 = (a0 - 3, a1 + 3) if a1 - a0 < 6 else (a0, a1)
    b0, b1 = (b0 - 3, b1 + 3) if b1 - b0 < 6 else (b0, b1)
    shared = min(a1, b1) - max(a0, b0)
    if shared <= 0:
        return 0.2 if shared >= -6 else 0.0
    inside = shared / min(a1 - a0, b1 - b0)
    size = min(a1 - a0, b1 - b0) / max(a1 - a0, b1 - b0)
    return float(inside * (0.55 + 0.45 * size))


def values(a: Quantity, b: Quantity) -> float:
    """1 within the tolerance, −1 beyond the wide band, falling from 1 to 0 between."""
    if a.unit != b.unit:
        return 0.0
    band = BANDS.get(a.unit, Band(1.0, 0.2, 5.0, 0.6))
    largest = max(abs(a.low), abs(a.high), abs(b.low), abs(b.high))
    near = max(band.near, band.near_share * largest)
    far = max(band.far, band.far_share * largest)
    gap = max(0.0, a.low - b.high, b.low - a.high)
    # A range that could hold anything says nothing.
    slack = abs((a.high - a.low) - (b.high - b.low)) / 2
    gap = max(gap, slack if slack > near else 0.0) if slack <= far or gap else near + (far - near)
    if gap <= near:
        return 1.0
    if max(0.0, a.low - b.high, b.low - a.high) >= far:
        return -1.0
    return max(0.0, 1.0 - (gap - near) / (far - near))


def compare(a: TypedClaim, b: TypedClaim) -> Match | None:
    """How a claim stands to another; None if they are not about the same."""
    if (a.subject == HAZARDS) != (b.subject == HAZARDS):
        # That there is no hazard says something of what is one, and of nothing else.
        if not contradicts(b if a.subject == HAZARDS else a):
            return None
        return Match(nearness(a.place, b.place), overlap(a.time, b.time), -1.0, 1.0)
    subject = related(a.subject, b.subject)
    if subject == 0.0:
        return None
    said = _said(a, b)
    return Match(nearness(a.place, b.place), overlap(a.time, b.time), said, subject)


@lru_cache(maxsize=16384)
def related(a: str, b: str) -> float:
    """How far two subjects are about the same: 1 the same, less for a more general one, else 0."""
    if a == b:
        return 1.0
    if HAZARDS in (a, b):
        return 1.0  # `compare` says which claims it is about
    if (a, b) in _RIVALS or (b, a) in _RIVALS:
        return 1.0
    if {a, b} == {"rain_and_snow", "rain"} or {a, b} == {"rain_and_snow", "snow"}:
        return 0.8
    if {a, b} == {"rain", "snow"}:
        return 1.0
    if {a, b} == {"rain_and_snow", "mixed"}:
        return 0.9
    first, second = lineage(a), lineage(b)
    if a in second or b in first:
        return 0.7
    if {a, b} == {"ridge", "height"} or {a, b} == {"trough", "height"}:
        return 0.7
    shared = set(first) & set(second) & _LOOSE
    return 0.4 if shared else 0.0


def _said(a: TypedClaim, b: TypedClaim) -> float | None:
    """1 the same, −1 the contrary, between for neither, None where they can't be compared."""
    if (a.subject, b.subject) in _RIVALS or (b.subject, a.subject) in _RIVALS:
        # A high where the other has a low; both may be near, so only the same place will do.
        both = "absence" not in (a.aspect, b.aspect)
        return -0.6 if both and (a.aspect, b.aspect) == ("presence", "presence") else None
    if {a.subject, b.subject} == {"rain", "snow"}:
        return -0.8 if "absence" not in (a.aspect, b.aspect) else None
    if a.aspect == "absence" or b.aspect == "absence":
        return _absence(a, b)
    if a.aspect == "presence" or b.aspect == "presence":
        return _presence(a, b)
    if {a.aspect, b.aspect} == {"departure", "anomaly"}:
        return _sign_of(a, b)
    if a.aspect != b.aspect:
        return None
    if a.aspect in ("value", "departure"):
        return _numbers(a, b)
    if a.aspect in ("movement", "wind_from"):
        return _directions(a.detail, b.detail)
    if a.detail == b.detail:
        return 1.0
    opposed = (a.detail, b.detail) in _OPPOSITE or (b.detail, a.detail) in _OPPOSITE
    return -1.0 if opposed else 0.0


def _absence(a: TypedClaim, b: TypedClaim) -> float | None:
    if a.aspect == b.aspect:
        return 1.0
    other = b if a.aspect == "absence" else a
    none = a if a.aspect == "absence" else b
    # "No snow" says nothing of rain, and "dry" is not spoilt by a trace.
    if none.subject not in lineage(other.subject):
        return None
    if other.aspect == "value" and other.value is not None and other.value.unit == "mm":
        if other.value.high < 1.0 and other.role != "max":
            return 0.8
        return -1.0 if other.value.high >= 2.0 else 0.0
    if other.aspect == "presence":
        return -1.0 if other.likelihood not in ("unlikely", "possible") else -0.3
    return None


def _presence(a: TypedClaim, b: TypedClaim) -> float | None:
    if a.aspect == b.aspect:
        if a.intensity and b.intensity and a.intensity != b.intensity:
            return -0.3
        return 1.0 if a.intensity == b.intensity else 0.8
    other = b if a.aspect == "presence" else a
    if other.aspect == "value" and other.value is not None and other.value.unit == "mm":
        return 0.9 if other.value.high >= 1.0 else 0.0
    return 0.8 if other.aspect in ("value", "trend", "movement") and other.detail != "end" else None


def _sign_of(a: TypedClaim, b: TypedClaim) -> float | None:
    number, sign = (a, b) if a.aspect == "departure" else (b, a)
    if number.value is None:
        return None
    middle = (number.value.low + number.value.high) / 2
    if sign.detail == "near":
        return 1.0 if abs(middle) <= BANDS.get(number.value.unit, BANDS["K"]).near else -0.5
    return 1.0 if (middle > 0) == (sign.detail == "above") else -1.0


def _numbers(a: TypedClaim, b: TypedClaim) -> float | None:
    if a.value is None or b.value is None or a.value.unit != b.value.unit:
        return None
    found = values(a.value, b.value)
    if a.role == b.role:
        return found
    if "" in (a.role, b.role):
        return found if found >= 0 else -0.5
    # A maximum below the mean, or a minimum above it, can't be.
    if {a.role, b.role} == {"min", "max"}:
        return None
    return None


def _directions(a: str, b: str) -> float:
    if a == b:
        return 1.0
    if a not in _POINTS or b not in _POINTS:
        return -1.0 if "stationary" in (a, b) else 0.0
    turn = abs(_POINTS.index(a) - _POINTS.index(b))
    return (1.0, 0.7, -0.3, -1.0, -1.0)[min(turn, 8 - turn)]
