"""A discussion of a region and window, composed from the fields of a forecast.

The text is made of findings alone, by fixed rules: the same data give the same words. It is no
forecaster's work, and whatever keeps it must say so (`LABEL`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from zephyrus.errors import UserError
from zephyrus_geodata import Dataset, Feature, Forecast
from zephyrus_report.compose import hazards
from zephyrus_report.compose.calendar import Calendar
from zephyrus_report.compose.findings import Finding
from zephyrus_report.compose.places import Gazetteer
from zephyrus_report.compose.plan import HAZARDS, OVERVIEW, TEMPERATURE, WEATHER, Item, plan
from zephyrus_report.compose.scene import Scene
from zephyrus_report.compose.wording import Wording
from zephyrus_report.prompts import WORDS

LABEL = "composed from simulated fields by fixed rules; not written by a forecaster"
"""What a composed discussion is; kept with it wherever it goes."""

VERSION = "2"
"""Changes when the same data give another text."""

NEEDED = ("mean_sea_level_pressure", "2m_temperature", "total_precipitation_6hr")
"""Variables of which a forecast must carry at least two."""

_HEADINGS = {
    OVERVIEW: "...Overview...",
    WEATHER: "...Precipitation and Wind...",
    HAZARDS: "...Hazards...",
    TEMPERATURE: "...Temperature...",
}
_ROOM = 8  # words that the budget keeps in reserve


@dataclass(frozen=True)
class Discussion:
    """A composed discussion.

    Attributes:
        text: Paragraphs under headings ("...Overview..."), one blank line between them.
        findings: What it tells, in the order of the text.
        style: The product style.
        label: What it is.
    """

    text: str
    findings: tuple[Finding, ...]
    style: str
    label: str = LABEL

    @property
    def words(self) -> int:
        """Number of words, headings included."""
        return len(self.text.split())

    def provenance(self) -> dict[str, Any]:
        """What an event keeps of it, as plain JSON values."""
        return {
            "reference": "composed",
            "label": self.label,
            "version": VERSION,
            "findings": [finding.to_dict() for finding in self.findings],
        }


def compose(
    dataset: Dataset,
    forecast: Forecast,
    region: Feature,
    start: int,
    end: int,
    style: str,
    *,
    words: int | None = None,
    key: str = "",
    gazetteer: Gazetteer | None = None,
) -> Discussion:
    """Compose the discussion of a region and window.

    Args:
        dataset: The data.
        forecast: One of its forecasts.
        region: What it is about; large enough that the grid resolves it.
        start: First lead time in hours.
        end: Last lead time in hours, included.
        style: One of `zephyrus_report.prompts.STYLES`.
        words: The word budget, by default that of the style.
        key: Chooses between phrasings; by default what the discussion is about.
        gazetteer: One that has served other scenes of the dataset, to save time.

    Raises:
        UserError: If the style is unknown, the forecast has no lead time in the window, or it
            carries too few variables.
        GeodataError: If the region is off the grid.
    """
    if style not in WORDS:
        raise UserError(f"there is no style {style!r}; the styles are {', '.join(WORDS)}")
    check_variables(forecast)
    scene = Scene(dataset, forecast, region, start, end, gazetteer or Gazetteer(dataset))
    if not scene.lead_times(start, end).size:
        raise UserError(f"the forecast {forecast.id} has no lead time from {start} to {end} h")
    most = (words or WORDS[style]) - _ROOM
    identity = key or f"{dataset.name}/{forecast.name}/{region.key}/{start}-{end}"
    whole = plan(scene, style)
    items = list(whole)
    text = _render(scene, items, identity)
    left: list[Item] = []
    while len(text.split()) > most and len(items) > 1:
        left.append(_least(items))
        items.remove(left[-1])
        text = _render(scene, items, identity)
    # A long sentence that was left out may have made room for shorter ones.
    for item in reversed(left):
        fuller = [each for each in whole if each in items or each is item]
        longer = _render(scene, fuller, identity)
        if len(longer.split()) <= most:
            items, text = fuller, longer
    told = [f for item in items for f in item.findings]
    told += [h.finding for item in items for h in item.hazards or ()]
    distinct = {id(finding): finding for finding in told}
    return Discussion(text, tuple(distinct.values()), style)


def check_variables(forecast: Forecast) -> None:
    """Make sure that a forecast carries enough to write about.

    Raises:
        UserError: If it carries fewer than two of `NEEDED`.
    """
    there = [name for name in NEEDED if name in forecast.variables]
    if len(there) < 2:
        raise UserError(
            f"the forecast {forecast.id} carries {', '.join(there) or 'none'} of "
            f"{', '.join(NEEDED)}: a discussion needs at least two of them"
        )


def _least(items: Sequence[Item]) -> Item:
    """The item to leave out next: the last of a paragraph or of a day is kept if it can be."""
    members = Counter((item.section, item.day) for item in items)
    spare = [item for item in items if members[item.section, item.day] > 1]
    return min(spare or items, key=lambda item: item.priority)


def _render(scene: Scene, items: Sequence[Item], key: str) -> str:
    """The items in words."""
    wording = Wording(Calendar(scene.forecast.init_time), key)
    told = {id(finding) for item in items for finding in item.findings}
    paragraphs = []
    for section, heading in _HEADINGS.items():
        members = [item for item in items if item.section == section]
        if not members:
            continue
        blocks: dict[int, list[str]] = {}
        causes: set[str] = set()  # each is told once
        for item in members:
            known = item.because is None or id(item.because) in told
            cause = item.cause if known and item.cause not in causes else ""
            causes.add(cause)
            blocks.setdefault(item.day, []).append(_sentence(wording, item, cause))
        body = "\n".join(" ".join(sentences) for sentences in blocks.values())
        paragraphs.append(f"{heading}\n{body}")
    return "\n\n".join(paragraphs)


def _sentence(wording: Wording, item: Item, cause: str) -> str:
    if item.hazards is not None:
        return hazards.sentence(wording, list(item.hazards))
    return wording.together(item.findings, cause)
