"""What a discussion tells, chosen from the findings: a list of items in the order of the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from zephyrus_geodata import Feature
from zephyrus_report.compose import detect_fronts, detect_surface, detect_systems, detect_upper
from zephyrus_report.compose.cause import Cause, Causes
from zephyrus_report.compose.findings import Finding, Kind
from zephyrus_report.compose.hazards import Hazard, rank
from zephyrus_report.compose.scene import Scene

OVERVIEW, WEATHER, HAZARDS, TEMPERATURE = range(4)
"""The paragraphs, in order."""

_SYSTEMS = {"short_range": 2, "extended": 3, "outlook": 2}
_WET = {"short_range": 3, "extended": 2, "outlook": 4}  # areas told together
_HAZARDS = {"short_range": 4, "extended": 3, "outlook": 3}
_BREEZE = 10.8  # m/s, Beaufort 6: a weaker wind is not told
_STORY = 0.45  # importance of a pressure system that is worth telling
_TROPICS = 22.0  # degrees of latitude
_TRACE = 3.0  # mm a day: less is not told of a place that is dry over the whole window


@dataclass(frozen=True)
class Item:
    """A sentence to be.

    Attributes:
        section: Its paragraph.
        findings: What it tells; several are told together.
        priority: What has least is left out first, where words are short.
        cause: Words that lead in.
        day: The day of a paragraph of its own within the section; 0 for none.
        hazards: Of the ranking sentence.
        because: The front or system that the cause means: without it the cause isn't told.
    """

    section: int
    findings: tuple[Finding, ...]
    priority: float
    cause: str = ""
    day: int = 0
    hazards: tuple[Hazard, ...] | None = None
    because: Finding | None = None


def plan(scene: Scene, style: str) -> list[Item]:
    """Choose what to tell of a scene.

    Args:
        scene: Region and window.
        style: "short_range" and "extended" tell precipitation and wind day by day, "outlook" the
            sums and maxima of the whole window.
    """
    systems = _systems(scene, _SYSTEMS[style])
    fronts = _fronts(scene)
    causes = Causes(scene, systems, fronts)
    items = _overview(scene, systems, fronts)
    if style == "outlook":
        windows = [(0, scene.start, scene.end)]
    else:
        windows = [(day, *scene.hours(day)) for day in scene.days]
    told: list[Finding] = []
    whole = _each(scene, detect_surface.precipitation, scene.start, scene.end)
    dry = {f.place.key for f in whole if f.kind is Kind.DRY}
    for day, start, end in windows:
        found, wet = _day(scene, style, causes, dry, day, start, end)
        items += found
        told += wet
    if style == "extended":
        items = _heaviest_once(items)
    items += _dry(scene, causes, whole)
    anomalies = _each(scene, detect_surface.anomaly, scene.start, scene.end)
    extremes = _each(scene, detect_surface.extreme, scene.start, scene.end)
    hazards = rank([*told, *anomalies, *extremes], _HAZARDS[style])
    items.append(Item(HAZARDS, (), 9.0, hazards=tuple(hazards)))
    items += _temperatures(scene, causes, anomalies, extremes, hazards)
    return items


def _overview(scene: Scene, systems: list[Finding], fronts: list[Finding]) -> list[Item]:
    items = []
    tropical = abs(scene.latitude) < _TROPICS
    pattern, jet = detect_upper.pattern(scene), detect_upper.jet(scene)
    if pattern:
        items.append(Item(OVERVIEW, (pattern,), 4.0 + pattern.importance))
    items += [
        Item(OVERVIEW, (f,), 6.0 - 2.0 * rank + f.importance) for rank, f in enumerate(systems)
    ]
    items += [Item(OVERVIEW, (f,), 5.0 - rank + f.importance) for rank, f in enumerate(fronts)]
    if jet:
        items.append(Item(OVERVIEW, (jet,), 0.8 + jet.importance))
    cloud = detect_surface.cloud(scene, scene.region, scene.start, scene.end)
    if cloud:
        items.append(Item(OVERVIEW, (cloud,), 4.0 if tropical else 0.3))
    if tropical:
        # There the sky and the rain are the story.
        rain = detect_surface.precipitation(scene, scene.region, scene.start, scene.end)
        several = len(scene.areas) > 1
        if rain and several and rain.kind is Kind.PRECIPITATION:
            items.append(Item(OVERVIEW, (rain,), 5.0))
    return items


def _day(
    scene: Scene, style: str, causes: Causes, dry: set[str], day: int, start: int, end: int
) -> tuple[list[Item], list[Finding]]:
    """Precipitation and wind of one window: (items, everything found)."""
    rain = _each(scene, detect_surface.precipitation, start, end)
    wet = [
        f
        for f in rain
        if f.kind is Kind.PRECIPITATION and (f.place.key not in dry or f.number("total") >= _TRACE)
    ]
    wind = _each(scene, detect_surface.wind, start, end)
    items = []
    chosen = sorted(wet[: _WET[style]], key=lambda f: -f.number("total"))
    if chosen:
        cause = causes.common(chosen)
        most = max(f.importance for f in chosen)
        items.append(_caused(WEATHER, tuple(chosen), 4.0 + most, cause, day))
    strong = [f for f in wind if f.number("speed") >= _BREEZE][: 2 if style == "outlook" else 1]
    strong = strong or (wind[:1] if style == "outlook" or day == scene.days[0] else [])
    items += [
        _caused(WEATHER, (f,), 1.5 - rank + f.importance, causes.wind(f), day)
        for rank, f in enumerate(strong)
    ]
    if style == "outlook" and chosen:
        peak = _wettest_day(scene, chosen[0])
        if peak is not None:
            least = items[0].priority - 1.0  # the sum over the window matters more
            items.append(_caused(WEATHER, (peak,), least, causes.precipitation(peak)))
    return items, [*wet, *wind]


def _heaviest_once(items: list[Item]) -> list[Item]:
    """Keep the heaviest 6-h amount only on the day that has it."""

    def heaviest(item: Item) -> float:
        wet = [f for f in item.findings if f.kind is Kind.PRECIPITATION]
        most = (f.number("heaviest") for f in wet if "heaviest" in f.values)
        return max(most, default=0.0)

    most = max((heaviest(item) for item in items if item.day), default=0.0)
    return [
        replace(item, findings=tuple(map(_without_heaviest, item.findings)))
        if item.day and 0.0 < heaviest(item) < most
        else item
        for item in items
    ]


def _without_heaviest(finding: Finding) -> Finding:
    values = {name: value for name, value in finding.values.items() if name != "heaviest"}
    return replace(finding, values=values)


def _dry(scene: Scene, causes: Causes, whole: Sequence[Finding]) -> list[Item]:
    """The areas that are dry over the whole window, told once."""
    dry = [f for f in whole if f.kind is Kind.DRY][:3]
    if not dry:
        return []
    only = len(dry) == len(scene.areas)  # no rain to tell: this is the weather
    return [_caused(WEATHER, tuple(dry), 4.0 if only else 2.2, causes.dry(dry))]


def _temperatures(
    scene: Scene,
    causes: Causes,
    anomalies: list[Finding],
    extremes: list[Finding],
    hazards: Sequence[Hazard],
) -> list[Item]:
    items: list[Item] = []
    for kind in (Kind.COLD_ANOMALY, Kind.WARM_ANOMALY):
        same = [f for f in anomalies if f.kind is kind]
        if same:
            cause = causes.temperature(same[0])
            items.append(_caused(TEMPERATURE, (same[0],), 3.0 + same[0].importance, cause))
            if len(same) > 1:
                items.append(Item(TEMPERATURE, tuple(same[1:3]), 1.5 + same[1].importance))
    trends = [f for f in (detect_surface.trend(scene, area) for area in scene.areas) if f]
    trends.sort(key=lambda f: (-f.importance, f.place.key))
    items += [
        _caused(TEMPERATURE, (f,), 2.5 - rank + f.importance, causes.trend(f))
        for rank, f in enumerate(trends[:2])
    ]
    ranked = {id(h.finding) for h in hazards}
    untold = [f for f in extremes if id(f) not in ranked]
    items += [Item(TEMPERATURE, (f,), 0.5 + f.importance) for f in untold[:1]]
    absolute = _each(scene, detect_surface.temperature, scene.start, scene.end)
    if absolute:
        known = {f.place.key for item in items for f in item.findings}
        largest = next((f for f in absolute if f.place.key not in known), absolute[0])
        items.append(Item(TEMPERATURE, (largest,), 2.0 if items else 5.0))
        others = [f for f in absolute if f is not largest and f.place.key not in known]
        if others:
            items.append(Item(TEMPERATURE, tuple(others[:3]), 0.4))
    return items


def _caused(
    section: int, findings: tuple[Finding, ...], priority: float, cause: Cause, day: int = 0
) -> Item:
    return Item(section, findings, priority, cause.words, day, because=cause.finding)


def _wettest_day(scene: Scene, finding: Finding) -> Finding | None:
    """The day on which the place of a finding gets most."""
    area = next(area for area in scene.areas if area.key == finding.place.key)
    days = [detect_surface.precipitation(scene, area, *scene.hours(day)) for day in scene.days]
    wet = [f for f in days if f is not None and f.kind is Kind.PRECIPITATION]
    return max(wet, key=lambda f: f.number("total"), default=None)


def _systems(scene: Scene, most: int) -> list[Finding]:
    """The pressure systems to tell: the most important, not more than two of a kind."""
    kept: list[Finding] = []
    for finding in detect_systems.detect(scene):
        same = sum(f.kind is finding.kind for f in kept)
        if finding.importance >= _STORY and same < 2 and len(kept) < most:
            kept.append(finding)
    return kept


def _fronts(scene: Scene) -> list[Finding]:
    """The two sharpest fronts, in the order of time; one passage of each kind and area."""
    return sorted(detect_fronts.detect(scene)[:2], key=lambda f: (f.start, f.place.key))


def _each(
    scene: Scene,
    detect: Callable[[Scene, Feature, int, int], Finding | None],
    start: int,
    end: int,
) -> list[Finding]:
    """What a detector finds over each area, the most important first (ties as areas come)."""
    found = [f for f in (detect(scene, area, start, end) for area in scene.areas) if f is not None]
    extremes = (Kind.WIND, Kind.COLD_EXTREME, Kind.HEAT_EXTREME)
    named = {
        (f.hour, *(q.value for q in f.values.values()))
        for f in found
        if f.kind in extremes and f.place.key != scene.region.key
    }
    # An extreme of the whole region that an area has too is told of the area.
    own = [f for f in found if (f.hour, *(q.value for q in f.values.values())) not in named]
    kept = [f for f in found if f.place.key != scene.region.key or f in own]
    return sorted(kept, key=lambda f: -f.importance)
