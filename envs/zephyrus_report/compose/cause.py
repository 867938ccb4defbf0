"""Why: the told front, low or high that precipitation, wind or dryness goes with."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from zephyrus_geodata import Feature
from zephyrus_report.compose.findings import Finding, Kind, compass
from zephyrus_report.compose.scene import Scene
from zephyrus_report.compose.sphere import bearing, distance
from zephyrus_report.compose.wind import mean_direction

_NEAR, _REACH = 450.0, 1100.0  # km from a low's centre: near it; still its weather
_UNDER = 800.0  # km from a high's centre
_TROPICS = 20.0  # degrees of latitude: nearer the equator the wind's origin says little
_AHEAD, _BEHIND = 12, 6  # h before and after a front's passage that its precipitation falls


@dataclass(frozen=True)
class Cause:
    """A lead-in.

    Attributes:
        words: "along the cold front", "south-east of the low", …; "" for none.
        finding: The front or system that the words mean, which must be told too; None for none.
    """

    words: str = ""
    finding: Finding | None = None


NONE = Cause()


class Causes:
    """Finds the lead-in of a sentence among the fronts and systems of a discussion."""

    def __init__(self, scene: Scene, systems: Sequence[Finding], fronts: Sequence[Finding]) -> None:
        self._scene = scene
        self._systems = systems
        self._fronts = fronts

    def precipitation(self, finding: Finding) -> Cause:
        """The front that crosses the place at that time, else the low that is near."""
        hour = finding.start if finding.hour is None else finding.hour
        for front in self._fronts:
            there = front.place.key == finding.place.key
            if there and front.start - _AHEAD <= hour <= front.end + _BEHIND:
                return Cause(f"along the {_name(front)}", front)
        return self._by_low(finding, hour)

    def common(self, findings: Sequence[Finding]) -> Cause:
        """The cause that all these places have of their precipitation, if they share one."""
        found = [self.precipitation(finding) for finding in findings]
        if all(cause == found[0] for cause in found):
            return found[0]
        low = found[0].finding
        if low is None or low.kind is not Kind.LOW or any(c.finding is not low for c in found):
            return NONE
        return Cause("around the low", low)

    def wind(self, finding: Finding) -> Cause:
        """The low that is near at the time of the strongest wind."""
        return self._by_low(finding, finding.start if finding.hour is None else finding.hour)

    def temperature(self, finding: Finding) -> Cause:
        """The wind that brings it: from the poles to a cold place, from the equator to a warm one."""
        area = self._area(finding)
        origin = mean_direction(self._scene, area, finding.start, finding.end)
        lat = self._scene.gazetteer.middle(area)[0]
        north = "north" in origin
        if origin in ("", "east", "west") or abs(lat) < _TROPICS:
            return NONE
        polar = north == (lat > 0)
        cold = finding.kind is Kind.COLD_ANOMALY
        return Cause(f"in {origin}erly winds") if polar == cold else NONE

    def trend(self, finding: Finding) -> Cause:
        """The front that crosses the place and changes its temperature the same way."""
        kind = Kind.COLD_FRONT if finding.kind is Kind.COOLING else Kind.WARM_FRONT
        for front in self._fronts:
            if front.kind is kind and front.place.key == finding.place.key:
                return Cause(f"behind the {_name(front)}", front)
        return NONE

    def dry(self, findings: Sequence[Finding]) -> Cause:
        """The high that lies over the first of the places half way through."""
        hour = (findings[0].start + findings[0].end) // 2
        near = self._nearest(Kind.HIGH, findings[0], hour)
        return NONE if near is None or near[0] > _UNDER else Cause("under the high", near[2])

    def _by_low(self, finding: Finding, hour: int) -> Cause:
        near = self._nearest(Kind.LOW, finding, hour)
        if near is None or near[0] > _REACH:
            return NONE
        return Cause("near the low" if near[0] <= _NEAR else f"{near[1]} of the low", near[2])

    def _nearest(
        self, kind: Kind, finding: Finding, hour: int
    ) -> tuple[float, str, Finding] | None:
        """The distance in km from the system of a kind, the direction seen from it, and which.

        None where there is no such system, or a second of the kind that the words could mean.
        """
        systems = [f for f in self._systems if f.kind is kind]
        if len(systems) != 1 or not systems[0].start - 6 <= hour <= systems[0].end + 6:
            return None
        lat, lon = self._scene.gazetteer.middle(self._area(finding))
        at = _position(systems[0], hour)
        if at is None:
            return None
        far = float(distance(*at, lat, lon))
        return far, compass(bearing(*at, lat, lon)), systems[0]

    def _area(self, finding: Finding) -> Feature:
        areas = {area.key: area for area in self._scene.areas}
        return areas.get(finding.place.key, self._scene.region)


def _name(front: Finding) -> str:
    return "cold front" if front.kind is Kind.COLD_FRONT else "warm front"


def _position(system: Finding, hour: int) -> tuple[float, float] | None:
    """Where a system is at a lead time, if it moves evenly."""
    a, b = system.place, system.target or system.place
    if a.latitude is None or a.longitude is None or b.latitude is None or b.longitude is None:
        return None
    share = (hour - system.start) / max(system.end - system.start, 1)
    share = min(max(share, 0.0), 1.0)
    east = (b.longitude - a.longitude + 180.0) % 360.0 - 180.0
    lon = (a.longitude + share * east + 180.0) % 360.0 - 180.0
    return a.latitude + share * (b.latitude - a.latitude), lon
