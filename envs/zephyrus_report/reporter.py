"""The scripted reporter: gathers evidence with the tools, makes findings of it, words them.

It sees what an agent sees, the event's prompt and the texts of the tools. Besides, it has an
`Atlas`: geography, not weather. What is told, and in which order, follows what
`zephyrus_report.compose.plan` does with fields, as far as the tools can show it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from zephyrus.env import Script
from zephyrus.limits import Limits
from zephyrus.messages import Message
from zephyrus_report import shown
from zephyrus_report.compose import hazards
from zephyrus_report.compose.calendar import Calendar
from zephyrus_report.compose.findings import Finding, Kind, Place
from zephyrus_report.compose.plan import (
    HAZARDS,
    OVERVIEW,
    TEMPERATURE,
    WEATHER,
    Item,
    severe,
    without_drizzle,
    without_heaviest,
)
from zephyrus_report.compose.wording import Wording
from zephyrus_report.event import Atlas, Event
from zephyrus_report.report_text import count_words
from zephyrus_report.survey import Survey

TOOLS = ("dataset", "climatology", "map")

NOTHING = "No data could be had for this period."

_BREEZE = 10.8  # m/s, Beaufort 6: a weaker wind is not told
_TRACE = 3.0  # mm a day: less is not told of a place that is dry over the whole period
_GALE = 3.5  # the most importance of a wind: its hazard is told anyway
_WET = {"short_range": 3, "extended": 2, "outlook": 3}  # areas told together


def write_report(
    event: Event, atlas: Atlas, limits: Limits, tools: Collection[str] = TOOLS
) -> Script:
    """Yield the messages of a solution: rounds of tool calls, then the report.

    Args:
        event: What to report on.
        atlas: Where things are.
        limits: The budgets of the episode.
        tools: Names of the tools that there are; without any the report says that it knows nothing.
    """
    survey = Survey(event, atlas, limits, tools)
    yield from survey.look()
    text = told(list(plan(survey)), event)
    yield Message("assistant", f"<report>\n{text}\n</report>")


def plan(survey: Survey) -> Iterator[Item]:
    """The sentences to be."""
    event = survey.event
    systems = sorted(shown.systems(survey), key=lambda f: -f.importance)
    fronts = list(shown.fronts(survey))[:2]
    pattern = list(shown.pattern(survey))
    yield from (Item(OVERVIEW, (f,), 5.0 + f.importance) for f in pattern)
    for rank, f in enumerate(systems):
        yield Item(OVERVIEW, (f,), 6.0 - 2.0 * rank + f.importance)
    yield from (Item(OVERVIEW, (f,), 4.0 + f.importance) for f in fronts)
    if not systems and not pattern:  # in the tropics the sky and the rain are the story
        yield from _sky(survey)
    whole = [f for f in (shown.rain(survey, a, *event.window) for a in survey.areas) if f]
    dry = [f for f in whole if f.kind is Kind.DRY]
    days = [(0, *event.window)] if event.style == "outlook" else event.days()
    dangers: list[Finding] = []
    peaks = _each(survey, shown.wind, *event.window)
    here = {(f.place, f.hour) for f in peaks}
    for day, start, end in days:
        wet = [
            f
            for f in _each(survey, shown.rain, start, end)
            if f.kind is Kind.PRECIPITATION and not _hardly(f, dry)
        ]
        wind = _apart(_each(survey, shown.wind, start, end), survey.atlas.region)
        dangers += [*(f for f in wet if "heaviest" in f.values), *wind]
        chosen = tuple(map(without_drizzle, wet[: _WET[event.style]]))
        if chosen:
            cause = shown.cause(survey, chosen[0], systems, fronts)
            least = 6.0 if event.style == "outlook" else 4.0  # there it is told but once
            yield Item(WEATHER, chosen, least + chosen[0].importance, cause, day)
            peak = shown.wettest_day(survey, chosen[0]) if event.style == "outlook" else None
            if peak is not None:
                yield Item(WEATHER, (without_heaviest(peak),), 2.0 + peak.importance)
        peaking = [f for f in wind if (f.place, f.hour) in here]
        strong = [f for f in peaking if f.number("speed") >= _BREEZE]
        if not strong and peaks and peaks[0].number("speed") < _BREEZE:  # of weak winds one is told
            strong = [f for f in peaking if f.hour == peaks[0].hour]
        for f in strong[: 2 if event.style == "outlook" else 1]:
            cause = shown.cause(survey, f, systems, [])
            yield Item(WEATHER, (f,), 1.5 + min(f.importance, _GALE), cause, day)
    if dry:
        only = len(dry) == len(survey.areas)
        parts = [f for f in dry if f.place != survey.atlas.region]
        dry = dry if only or not parts else parts
        cause = shown.cause(survey, dry[0], systems, [])
        yield Item(WEATHER, tuple(dry[:3]), 4.0 if only else 2.2, cause)
    anomalies = _each(survey, shown.anomaly, *event.window)
    extremes = _each(survey, shown.extreme, *event.window)
    unusual = [f for f in extremes if severe(f, anomalies)]
    region = survey.atlas.region.key
    ranked = hazards.rank([*dangers, *anomalies, *unusual], region=region)
    if dangers or extremes:  # without wind or rain nothing is known of hazards
        yield Item(HAZARDS, (), 9.0, hazards=tuple(ranked))
    yield from _temperatures(survey, anomalies)


def told(items: list[Item], event: Event) -> str:
    """The items in words; what has the least priority is left out until they fit the budget."""
    items = list(items)
    while items:
        text = _render(items, event)
        if count_words(text) <= event.words:
            return text
        items.remove(min(items, key=lambda item: item.priority))
    return NOTHING


def _sky(survey: Survey) -> Iterator[Item]:
    region = survey.atlas.region
    rain = shown.rain(survey, region, *survey.event.window)
    if rain is not None and region not in survey.areas:
        yield Item(OVERVIEW, (rain,), 5.0)
    yield from (Item(OVERVIEW, (f,), 5.0) for f in shown.cloud(survey))


def _temperatures(survey: Survey, anomalies: Sequence[Finding]) -> Iterator[Item]:
    known = set()
    for kind in (Kind.COLD_ANOMALY, Kind.WARM_ANOMALY):
        same = [f for f in anomalies if f.kind is kind]
        if same:
            known.add(same[0].place)
            yield Item(TEMPERATURE, (same[0],), 3.0 + same[0].importance)
        if len(same) > 1:
            yield Item(TEMPERATURE, tuple(same[1:3]), 1.0 + same[1].importance)
    trends = _each(survey, shown.trend, *survey.event.window)[:2]
    for rank, f in enumerate(trends):
        known.add(f.place)
        yield Item(TEMPERATURE, (f,), 2.5 - rank + f.importance)
    means = [f for f in (shown.temperature(survey, area) for area in survey.areas) if f]
    if means:
        untold = next((f for f in means if f.place not in known), means[0])
        yield Item(TEMPERATURE, (untold,), 2.0 if known else 5.0)


def _render(items: Sequence[Item], event: Event) -> str:
    """One paragraph a section, in it one line a day."""
    wording = Wording(Calendar(event.initial), event.key)
    paragraphs = []
    for section in (OVERVIEW, WEATHER, HAZARDS, TEMPERATURE):
        lines: dict[int, list[str]] = {}
        for item in items:
            if item.section == section:
                lines.setdefault(item.day, []).append(_sentence(wording, item))
        if lines:
            paragraphs.append("\n".join(" ".join(sentences) for sentences in lines.values()))
    return "\n\n".join(paragraphs)


def _sentence(wording: Wording, item: Item) -> str:
    if item.hazards is not None:
        return hazards.sentence(wording, list(item.hazards))
    return wording.together(item.findings, item.cause)


def _each(survey: Survey, show: shown.Show, start: int, end: int) -> list[Finding]:
    """What can be shown of each area, the most important first."""
    found = [show(survey, area, start, end) for area in survey.areas]
    return sorted((f for f in found if f is not None), key=lambda f: -f.importance)


def _apart(found: Sequence[Finding], region: Place) -> list[Finding]:
    """The winds, each gale once: of a part rather than of the whole region."""
    ranked = sorted(found, key=lambda f: (-f.importance, f.place == region))
    kept: list[Finding] = []
    for wind in ranked:
        if not any(hazards.repeats(wind, other, region.key) for other in kept):
            kept.append(wind)
    return kept


def _hardly(finding: Finding, dry: Sequence[Finding]) -> bool:
    """Whether it is next to nothing, in a place that is dry over the whole period."""
    return finding.number("total") < _TRACE and finding.place in {f.place for f in dry}
