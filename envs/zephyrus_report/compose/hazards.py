"""Which findings are hazards, and the sentence that ranks them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from zephyrus_report.compose.findings import Finding, Kind
from zephyrus_report.compose.places import in_words
from zephyrus_report.compose.wording import Wording, amount, capital, celsius, force, listed

_GALE = 17.2  # m/s, Beaufort 8
_RAIN_DAY, _RAIN_LOCAL = 12.0, 14.0  # mm a day of the area mean; mm in 6 h of a cell
_ONE_GALE = 12  # h
_SNOW_DAY = 6.0  # mm of water a day
_COLD, _WARM = -6.0, 5.0  # K of departure beyond the 10th or 90th percentile
_HOT = 30.0  # °C of the area mean: below, warmth is no hazard


@dataclass(frozen=True)
class Hazard:
    """One hazard.

    Attributes:
        name: What it is: "gale force winds", "heavy rain", …
        finding: What shows it.
        weight: Higher is ranked first.
        local: Whether only a part of the place is meant.
    """

    name: str
    finding: Finding
    weight: float
    local: bool = False


def rank(findings: Iterable[Finding], most: int = 4, region: str = "") -> list[Hazard]:
    """The hazards among findings, the worst first: one of each name and place.

    Args:
        findings: Of any kind.
        most: How many are kept.
        region: Key of the region, whose gale is not told beside that of a part of it.
    """
    best: dict[tuple[str, str], Hazard] = {}
    for finding in findings:
        hazard = _hazard(finding)
        if hazard is None:
            continue
        key = (hazard.name.split()[-1], finding.place.key)
        if key not in best or hazard.weight > best[key].weight:
            best[key] = hazard
    own = [h for h in best.values() if not (h.local and _of_a_part(h, best.values(), region))]
    ranked = sorted(own, key=lambda h: (-h.weight, h.name, h.finding.place.key))
    kept: list[Hazard] = []
    for hazard in ranked:
        # Two of one sort leave room for others.
        alike = [k for k in kept if k.name.split()[-1] == hazard.name.split()[-1]]
        told = any(repeats(k.finding, hazard.finding, region) for k in alike)
        if len(alike) < 2 and not told:
            kept.append(hazard)
    return kept[:most]


def repeats(a: Finding, b: Finding, region: str) -> bool:
    """Whether two extremes are one: of the same cell, or a gale of the region and of a part."""
    name = {Kind.WIND: "speed", Kind.PRECIPITATION: "heaviest"}.get(a.kind, "")
    known = name in a.values and name in b.values
    if a.kind is not b.kind or not known or a.hour is None or b.hour is None:
        return False
    if same_cell(a, b, name):
        return True
    if a.kind is not Kind.WIND or region not in (a.place.key, b.place.key):
        return False
    alike = force(a.number(name)) == force(b.number(name))
    return alike and abs(a.hour - b.hour) <= _ONE_GALE


def same_cell(a: Finding, b: Finding, name: str) -> bool:
    """Whether an extreme is the same one, by its hour and value."""
    return a.hour == b.hour and abs(a.number(name) - b.number(name)) < 0.05


def _of_a_part(hazard: Hazard, others: Iterable[Hazard], region: str) -> bool:
    """Whether a hazard of the region is that of a part of it, which says more."""
    f = hazard.finding
    name = "speed" if f.kind is Kind.WIND else "heaviest"
    return f.place.key == region and any(
        o.finding.kind is f.kind
        and o.finding.place.key != region
        and name in f.values
        and name in o.finding.values
        and same_cell(f, o.finding, name)
        for o in others
    )


def sentence(wording: Wording, hazards: list[Hazard]) -> str:
    """The hazards in their order, or that there is none."""
    if not hazards:
        return wording.pick(
            "no hazards",
            (
                "No significant wind, precipitation or temperature hazards are expected.",
                "No hazardous wind, precipitation or temperature is expected.",
            ),
        )
    told = [_words(wording, hazard) for hazard in hazards]
    if len(told) == 1:
        return capital(f"the main hazard is {told[0]}.")
    lead = wording.pick("hazards", ("the main hazards are", "hazards, most important first, are"))
    return capital(f"{lead} {listed(told)}.")


def _hazard(f: Finding) -> Hazard | None:
    if f.kind is Kind.WIND and round(f.number("speed")) >= _GALE:  # as it is told
        return Hazard(f"{force(f.number('speed'))} winds", f, f.number("speed") / _GALE)
    if f.kind is Kind.PRECIPITATION:
        return _wet(f)
    if f.kind is Kind.COLD_EXTREME:
        return Hazard("severe cold", f, f.importance / 2.0)
    if f.kind is Kind.HEAT_EXTREME:
        return Hazard("extreme heat", f, f.importance / 2.0)
    if f.kind is Kind.COLD_ANOMALY and f.detail and f.number("departure") <= _COLD:
        return Hazard("unusual cold", f, f.number("departure") / _COLD * 0.7)
    warm = f.kind is Kind.WARM_ANOMALY and f.detail and f.number("departure") >= _WARM
    if warm and f.number("mean") >= _HOT:
        return Hazard("unusual heat", f, f.number("departure") / _WARM * 0.8)
    return None


def _wet(f: Finding) -> Hazard | None:
    days = f.days[1] - f.days[0] + 1
    total = f.number("total") / days
    heaviest = f.number("heaviest") if "heaviest" in f.values else 0.0
    if f.detail == "snow" and total >= _SNOW_DAY:
        return Hazard("heavy snow", f, total / _SNOW_DAY)
    if total >= _RAIN_DAY:
        return Hazard(f"heavy {f.detail}", f, total / _RAIN_DAY)
    if heaviest >= _RAIN_LOCAL:
        return Hazard(f"heavy {f.detail}", f, 0.8 * heaviest / _RAIN_LOCAL, local=True)
    return None


def _words(wording: Wording, hazard: Hazard) -> str:
    f = hazard.finding
    when = wording.calendar.window(f.start, f.end)
    where = f"over {in_words(f.place)}"
    if f.kind is Kind.WIND and f.hour is not None:
        peak = f"up to {round(f.number('speed'))} m/s around {wording.calendar.moment(f.hour)}"
        return f"{hazard.name} {where} ({peak})"
    if f.kind is Kind.PRECIPITATION:
        if hazard.local:
            most = amount(f.number("heaviest"))
            there = f"over {in_words(f.target or f.place)}"
            return f"possible locally {hazard.name} {there} {when} (up to {most} in 6 h)"
        return f"{hazard.name} {where} {when} ({amount(f.number('total'))} on average)"
    if f.kind in (Kind.COLD_EXTREME, Kind.HEAT_EXTREME):
        cold = f.kind is Kind.COLD_EXTREME
        most = celsius(f.number("lowest" if cold else "highest"))
        return f"{hazard.name} {where} ({'down' if cold else 'up'} to {most})"
    side = "below" if f.kind is Kind.COLD_ANOMALY else "above"
    away = celsius(abs(f.number("departure")))
    return f"{hazard.name} {where} {when} ({away} {side} the climatological mean)"
