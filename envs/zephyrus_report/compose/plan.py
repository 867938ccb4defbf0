"""What a discussion tells, chosen from the findings: a list of items in the order of the text."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

from zephyrus_geodata import Feature
from zephyrus_report.compose import detect_fronts, detect_surface, detect_systems, detect_upper
from zephyrus_report.compose.cause import Cause, Causes
from zephyrus_report.compose.findings import Finding, Kind
from zephyrus_report.compose.hazards import Hazard, rank, repeats
from zephyrus_report.compose.scene import Scene

OVERVIEW, WEATHER, HAZARDS, TEMPERATURE = range(4)
"""The paragraphs, in order."""

_SYSTEMS = {"short_range": 2, "extended": 3, "outlook": 2}
_WET = {"short_range": 3, "extended": 2, "outlook": 3}  # areas told together
_HAZARDS = {"short_range": 4, "extended": 3, "outlook": 3}
_BREEZE = 10.8  # m/s, Beaufort 6: a weaker wind is not told
_STORY = 0.45  # importance of a pressure system that is worth telling
_TROPICS = 22.0  # degrees of latitude
_TRACE = 3.0  # mm a day: less is not told of a place that is dry over the whole window
_GALE = 3.5  # the most importance of a wind: its hazard is told anyway
_SHOWER = 5.0  # mm in 6 h: a cell that gets less is not told beside the mean
_BITTER = -35.0  # °C: a hazard also where it is usual


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
    tropical = _tropical_rain(scene)
    if tropical and style != "outlook":
        items.append(Item(OVERVIEW, (without_heaviest(tropical),), 5.0))
    if style == "outlook":
        windows = [(0, scene.start, scene.end)]
    else:
        windows = [(day, *scene.hours(day)) for day in scene.days]
    told: list[Finding] = []
    whole = _each(scene, detect_surface.precipitation, scene.start, scene.end)
    dry = {f.place.key for f in whole if f.kind is Kind.DRY}
    peaks = _peaks([f for _, *hours in windows for f in _each(scene, detect_surface.wind, *hours)])
    for day, start, end in windows:
        found, wet = _day(scene, style, causes, dry, peaks, day, start, end)
        items += found
        told += wet
    if style == "extended":
        items = _heaviest_once(items)
    items = [replace(i, findings=tuple(without_drizzle(f) for f in i.findings)) for i in items]
    items += _dry(scene, causes, whole)
    anomalies = _each(scene, detect_surface.anomaly, scene.start, scene.end)
    extremes = _each(scene, detect_surface.extreme, scene.start, scene.end)
    told += [tropical] if tropical else []
    dangers = [f for f in extremes if severe(f, anomalies)]
    hazards = rank([*told, *anomalies, *dangers], _HAZARDS[style], scene.region.key)
    items.append(Item(HAZARDS, (), 9.0, hazards=tuple(hazards)))
    items += _temperatures(scene, causes, anomalies, extremes, hazards)
    return items


def _overview(scene: Scene, systems: list[Finding], fronts: list[Finding]) -> list[Item]:
    items = []
    tropical = abs(scene.latitude) < _TROPICS
    pattern, jet = detect_upper.pattern(scene), detect_upper.jet(scene)
    if pattern:
        items.append(Item(OVERVIEW, (pattern,), 5.0 + pattern.importance))
    items += [
        Item(OVERVIEW, (f,), 5.0 - 1.5 * rank + 1.5 * f.importance)
        for rank, f in enumerate(systems)
    ]
    items += [Item(OVERVIEW, (f,), 5.0 - rank + f.importance) for rank, f in enumerate(fronts)]
    if jet:
        items.append(Item(OVERVIEW, (jet,), 0.8 + jet.importance))
    cloud = detect_surface.cloud(scene, scene.region, scene.start, scene.end)
    if cloud:
        items.append(Item(OVERVIEW, (cloud,), 4.0 if tropical else 0.3))
    return items


def _tropical_rain(scene: Scene) -> Finding | None:
    """In the tropics the sky and the rain of the whole region are the story."""
    if abs(scene.latitude) >= _TROPICS or len(scene.areas) < 2:
        return None
    rain = detect_surface.precipitation(scene, scene.region, scene.start, scene.end)
    return rain if rain and rain.kind is Kind.PRECIPITATION else None


def severe(extreme: Finding, anomalies: Sequence[Finding]) -> bool:
    """Whether an extreme is a hazard: heat is; cold where it is unusual, or great anywhere."""
    if extreme.kind is Kind.HEAT_EXTREME or extreme.number("lowest") <= _BITTER:
        return True
    cold = {f.place.key for f in anomalies if f.kind is Kind.COLD_ANOMALY}
    return extreme.place.key in cold or bool(extreme.place.part and cold)


def _day(
    scene: Scene,
    style: str,
    causes: Causes,
    dry: set[str],
    peaks: Sequence[Finding],
    day: int,
    start: int,
    end: int,
) -> tuple[list[Item], list[Finding]]:
    """Precipitation and wind of one window: (items, everything found).

    The wind of a place is told on the day of its peak.
    """
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
        least = 6.0 if style == "outlook" else 4.0  # there it is told but once
        items.append(_caused(WEATHER, tuple(chosen), least + most, cause, day))
    here = {(f.place.key, f.hour) for f in peaks}
    peaking = _apart(scene, [f for f in wind if (f.place.key, f.hour) in here])
    strong = [f for f in peaking if f.number("speed") >= _BREEZE]
    strong = strong[: 2 if style == "outlook" else 1]
    if not wet and style != "outlook":  # a quiet day has room for two
        strong = peaking[:2]
    if not strong and peaks and peaks[0].number("speed") < _BREEZE:  # of weak winds one is told
        strong = [f for f in peaking if f.hour == peaks[0].hour][:1]
    items += [
        _caused(WEATHER, (f,), 1.5 - rank + min(f.importance, _GALE), causes.wind(f), day)
        for rank, f in enumerate(strong)
    ]
    if style == "outlook" and chosen:
        peak = _wettest_day(scene, chosen[0])
        if peak is not None:
            least = 2.5 + most  # the sum over the window matters more
            once = without_heaviest(peak)
            items.insert(1, _caused(WEATHER, (once,), least, causes.precipitation(peak)))
    return items, [*wet, *wind]


def _peaks(winds: Sequence[Finding]) -> list[Finding]:
    """Of the winds of several days the strongest of each place, the strongest first."""
    ranked = sorted(winds, key=lambda f: (-f.importance, f.start))
    return list({f.place.key: f for f in reversed(ranked)}.values())[::-1]


def _apart(scene: Scene, winds: Sequence[Finding]) -> list[Finding]:
    """The winds without those that tell of a gale which one before has told."""
    kept: list[Finding] = []
    for wind in winds:
        if not any(repeats(wind, other, scene.region.key) for other in kept):
            kept.append(wind)
    return kept


def _heaviest_once(items: list[Item]) -> list[Item]:
    """Keep the heaviest 6-h amount only on the day that has it."""

    def heaviest(item: Item) -> float:
        wet = [f for f in item.findings if f.kind is Kind.PRECIPITATION]
        most = (f.number("heaviest") for f in wet if "heaviest" in f.values)
        return max(most, default=0.0)

    most = max((heaviest(item) for item in items if item.day), default=0.0)
    return [
        replace(item, findings=tuple(map(without_heaviest, item.findings)))
        if item.day and 0.0 < heaviest(item) < most
        else item
        for item in items
    ]


def without_drizzle(finding: Finding) -> Finding:
    """Without an amount of 6 h that is none to tell."""
    little = finding.kind is Kind.PRECIPITATION and "heaviest" in finding.values
    return without_heaviest(finding) if little and finding.number("heaviest") < _SHOWER else finding


def without_heaviest(finding: Finding) -> Finding:
    """Without the heaviest 6-h amount, which is told elsewhere."""
    values = {name: value for name, value in finding.values.items() if name != "heaviest"}
    return replace(finding, values=values)


def _dry(scene: Scene, causes: Causes, whole: Sequence[Finding]) -> list[Item]:
    """The areas that are dry over the whole window, told once."""
    dry = [f for f in whole if f.kind is Kind.DRY]
    if not dry:
        return []
    only = len(dry) == len(scene.areas)  # no rain to tell: this is the weather
    parts = [f for f in dry if f.place.key != scene.region.key]
    if not only and parts:  # some of the region is wet
        dry = parts
    sizes = {a.key: float(scene.dataset.zones.weights(a).weights.sum()) for a in scene.areas}
    apart = sum(size for key, size in sizes.items() if key != scene.region.key)
    share = min(sum(sizes[f.place.key] for f in dry) / max(apart, 1.0), 1.0)
    priority = 4.0 if only else 2.5 + 3.0 * share
    return [_caused(WEATHER, tuple(dry[:3]), priority, causes.dry(dry[:3]))]


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
