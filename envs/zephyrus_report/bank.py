"""Building event banks: discussions composed from a dataset, or real ones from an archive.

An event is one region, one valid period and one forecast. All events of a forecast are in one
split, in the order of initial times, so that no two splits share any weather.
"""

from __future__ import annotations

import hashlib
import random
import re
import time
import unicodedata
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from zephyrus.errors import UserError
from zephyrus.task import SPLITS, Task, TaskSet, bank_file
from zephyrus_geodata import Dataset, Feature, Forecast, GeodataError, load_dataset
from zephyrus_report.archive_events import archive_events
from zephyrus_report.bank_report import EventBankReport
from zephyrus_report.compose.compose import compose
from zephyrus_report.compose.places import Gazetteer
from zephyrus_report.compose.scene import choose_areas
from zephyrus_report.prompts import event_prompt
from zephyrus_tools.splits import split_forecasts

PERIODS: Mapping[str, tuple[int, int]] = {
    "short_range": (1, 2),
    "extended": (3, 5),
    "outlook": (6, 10),
}
"""The first and last day of each product style, after PMDSPD, PMDEPD and the 6-10 day outlook."""

REGIONS = (
    "subregion:Western Europe",
    "country:United States",
    "subregion:Eastern Asia",
    "country:Australia",
    "subregion:Northern Europe",
    "country:Argentina",
    "subregion:Southern Asia",
    "country:Canada",
    "subregion:Southern Africa",
    "subregion:South-Eastern Asia",
    "subregion:Southern Europe",
    "country:Brazil",
    "sea:Mediterranean Sea",
)
"""The regions of a bank, as far as a dataset has them; the first ones first."""

LEAST_CELLS = 12
"""A region with fewer cells is no forecast's subject."""

COMPOSED = "composed from the fields by fixed rules, no forecaster's work"
WRITTEN = "texts of the US National Weather Service"

TOOLS = ("dataset",)
"""What an agent must have used."""

_MOST_REGIONS = len(REGIONS)
_SPARE_KINDS = ("subregion", "country", "us_state", "sea")  # where the regions above are too few


def build_bank(
    dataset: Dataset | str = "demo",
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    output: Path | str | None = None,
    *,
    regions: str | Sequence[str] | None = None,
    periods: str | Sequence[str] | None = None,
    reports: Path | str | None = None,
    pairing: Mapping[str, Any] | None = None,
) -> EventBankReport:
    """Build a bank of events and write it.

    Args:
        dataset: The dataset, or its name or folder.
        sizes: The most events of each split; by default all that there are.
        seed: Chooses the events where there are more than asked for, and between phrasings. The
            same seed and data give the same bank, byte for byte.
        output: A ``.jsonl`` or ``.jsonl.gz`` file; nothing is written if None.
        regions: Names or keys of features, a sequence or separated by commas, instead of `REGIONS`.
        periods: Which of `PERIODS`, in the same form; by default all.
        reports: A folder of archived reports (``zephyrus data reports fetch``): then the events
            have real references, those that a forecast of the dataset precedes.
        pairing: With reports, further arguments of `zephyrus_report.archive_events.archive_events`:
            how old a forecast may be, which corrections count, and so on.

    Returns:
        The report: counts, and what the references are.

    Raises:
        UserError: If a size, a region, a period or the dataset is not right, or no event can be
            made.
    """
    began = time.monotonic()
    wanted = None if sizes is None else _checked_sizes(dict(sizes))
    path = bank_file(output)
    if reports and (regions or periods):
        raise UserError("regions and periods choose composed events: leave them out, or reports")
    try:
        source = load_dataset(dataset) if isinstance(dataset, str) else dataset
        if reports:
            tasks = archive_events(source, reports, wanted, seed, **(pairing or {}))
        else:
            tasks = composed_events(
                source, wanted, seed, regions=_names(regions), periods=_names(periods)
            )
    except GeodataError as error:
        raise UserError(str(error)) from error
    if not len(tasks):
        raise UserError(f"no event can be made of the dataset {source.name!r}")
    label = WRITTEN if reports else COMPOSED
    report = EventBankReport(source.name, seed, path, tasks, wanted or {}, label)
    if path is not None:
        tasks.save(path)
    report.seconds = time.monotonic() - began
    return report


def composed_events(
    dataset: Dataset,
    wanted: Mapping[str, int] | None = None,
    seed: int = 0,
    *,
    regions: Sequence[str] = (),
    periods: Sequence[str] = (),
) -> TaskSet:
    """Compose the events of a dataset.

    Args:
        dataset: The data.
        wanted: The most events of each split; by default all.
        seed: Chooses the events where there are more.
        regions: Names or keys of features; by default those of `REGIONS`.
        periods: Which of `PERIODS`; by default all.

    Raises:
        UserError: If a region or style is unknown, or a forecast carries too few variables.
    """
    if unknown := sorted(set(periods) - set(PERIODS)):
        raise UserError(f"no period {unknown[0]!r}; the periods are {', '.join(PERIODS)}")
    places = _regions(dataset, regions)
    gazetteer = Gazetteer(dataset)
    splits = split_forecasts(dataset)
    tasks: list[Task] = []
    for split in SPLITS:
        keys = [
            (style, region, name)
            for name in dataset.forecasts
            if splits[name] == split
            for style in (periods or PERIODS)
            for region in places
            if _covers(dataset.forecast(name), style)
        ]
        most = len(keys) if wanted is None else wanted.get(split, 0)
        chosen = _choose(keys, most, f"{seed}/{split}")
        tasks += [
            _task(dataset, dataset.forecast(name), region, style, split, seed, gazetteer)
            for style, region, name in chosen
        ]
    return TaskSet(tasks, dataset.name)


def _task(
    dataset: Dataset,
    forecast: Forecast,
    region: Feature,
    style: str,
    split: str,
    seed: int,
    gazetteer: Gazetteer,
) -> Task:
    hours = window(forecast, style)
    first, last = PERIODS[style]
    name = f"{_slug(dataset.name)}-{_slug(forecast.name)}-{_slug(region.name)}"
    identity = f"report-{name}-d{first}-{last}"
    discussion = compose(
        dataset,
        forecast,
        region,
        *hours,
        style,
        key=f"{seed}/{identity}",
        gazetteer=gazetteer,
    )
    valid = [str(_valid(forecast, hour)) + "Z" for hour in hours]
    return Task(
        id=identity,
        prompt=event_prompt(
            region=region.name,
            kind=region.kind,
            initial=forecast.init_time,
            start=hours[0],
            end=hours[1],
            style=style,
            areas=[area.name for area in choose_areas(dataset, region) if area.key != region.key],
        ),
        gold=discussion.text,
        answer_type="report",
        template=style,
        split=split,
        required_tools=TOOLS,
        world={"dataset": dataset.name, "forecast": forecast.name},
        program={
            "region": region.name,
            "kind": region.kind,
            "parent": region.parent,
            "start": hours[0],
            "end": hours[1],
            "style": style,
        },
        provenance={
            **discussion.provenance(),
            "initial_time": str(forecast.init_time.astype("datetime64[m]")) + "Z",
            "valid_from": valid[0],
            "valid_to": valid[1],
            "data": forecast.label,
            "words": discussion.words,
            "seed": seed,
        },
    )


def window(forecast: Forecast, style: str) -> tuple[int, int]:
    """The first and last lead time of a product style that a forecast has.

    Raises:
        UserError: If it has none of them.
    """
    first, last = PERIODS[style]
    hours = forecast.lead_hours
    inside = hours[(hours > 24 * (first - 1)) & (hours <= 24 * last)]
    if inside.size < 2:
        raise UserError(f"the forecast {forecast.id} has no lead times on days {first} to {last}")
    return int(inside[0]), int(inside[-1])


def _covers(forecast: Forecast, style: str) -> bool:
    """Whether a forecast reaches the last day of a style and has steps on each of its days."""
    first, last = PERIODS[style]
    days = {-(-int(hour) // 24) for hour in forecast.lead_hours}
    return set(range(first, last + 1)) <= days


def _regions(dataset: Dataset, names: Sequence[str]) -> list[Feature]:
    """The regions asked for, or `REGIONS`, filled up by the largest other features."""
    sizes, rows = dataset.zones.build().sizes, dataset.zones.rows
    store = dataset.features
    if names:
        return [store.get(name) for name in names]

    def cells(feature: Feature) -> int:
        row = rows.get(feature.key)
        return 0 if row is None else int(sizes[row])

    found = [store[key] for key in REGIONS if key in store and cells(store[key]) >= LEAST_CELLS]
    spare = [f for f in store if f.kind in _SPARE_KINDS and f not in found]
    spare.sort(key=lambda f: (-cells(f), f.key))
    found += [f for f in spare if cells(f) >= LEAST_CELLS][: _MOST_REGIONS - len(found)]
    if not found:
        raise UserError(
            f"the grid of the dataset {dataset.name!r} resolves no region (of at least "
            f"{LEAST_CELLS} cells): name some with regions=NAME,NAME"
        )
    return found


def _choose(
    keys: list[tuple[str, Feature, str]], most: int, seed: str
) -> list[tuple[str, Feature, str]]:
    """At most so many events, in their order: each region and style by turns."""
    if len(keys) <= most:
        return keys
    lanes: dict[tuple[str, str], list[int]] = {}
    rng = random.Random(int(hashlib.sha256(seed.encode()).hexdigest()[:12], 16))
    order = list(range(len(keys)))
    rng.shuffle(order)
    taken: list[int] = []
    for i in order:
        lanes.setdefault((keys[i][0], keys[i][1].key), []).append(i)
    while len(taken) < most:
        # The lane that has given least, of the style that has given least.
        styles = [keys[i][0] for i in taken]
        regions = [keys[i][1].key for i in taken]
        lane = min(
            (lane for lane, left in lanes.items() if left),
            key=lambda lane: (styles.count(lane[0]), regions.count(lane[1])),
        )
        taken.append(lanes[lane].pop(0))
    return [keys[i] for i in sorted(taken)]


def _checked_sizes(sizes: dict[str, int]) -> dict[str, int]:
    if unknown := set(sizes) - set(SPLITS):
        raise UserError(f"no split {sorted(unknown)[0]!r}; the splits are {', '.join(SPLITS)}")
    if any(size < 0 for size in sizes.values()) or not any(sizes.values()):
        raise UserError("a bank needs at least one event: give sizes above 0")
    return sizes


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    items = given.split(",") if isinstance(given, str) else given or ()
    return tuple(item.strip() for item in items if item.strip())


def _valid(forecast: Forecast, hour: int) -> np.datetime64:
    valid: np.datetime64 = (forecast.init_time + np.timedelta64(hour, "h")).astype("datetime64[m]")
    return valid


def _slug(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode().lower()
    return re.sub(r"[^a-z0-9]+", "-", plain).strip("-")
