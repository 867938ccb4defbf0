"""What a task of Report says of its event, and the geography one needs to report on it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from zephyrus.errors import UserError
from zephyrus.task import Task
from zephyrus_geodata import Dataset, GeodataError
from zephyrus_report import prompts
from zephyrus_report.compose.findings import Place, day_of
from zephyrus_report.compose.places import Gazetteer
from zephyrus_report.compose.scene import choose_areas

STEP = 6
"""Hours between the steps that precipitation is summed over."""


@dataclass(frozen=True)
class Event:
    """What is asked for.

    Attributes:
        region: The region's name.
        kind: Its kind, "" if it is not told.
        initial: Initial time, UTC.
        start: First lead time of the valid period in hours.
        end: Last lead time.
        style: The product style, one of `prompts.STYLES`.
        words: The word budget.
        key: The task's id: chooses between phrasings.
    """

    region: str
    kind: str
    initial: np.datetime64
    start: int
    end: int
    style: str
    words: int
    key: str = ""

    @classmethod
    def of(cls, task: Task, words: int) -> Event:
        """Read it off a task's prompt and program; the gold report is not looked at.

        Raises:
            UserError: If the task is no event, which a bank of another environment's isn't.
        """
        initial = prompts.initial_time(task.prompt)
        try:
            if initial is None:
                raise KeyError("an initial time in its prompt")
            event = cls(
                region=str(task.program["region"]),
                kind=str(task.program.get("kind") or ""),
                initial=initial,
                start=int(task.program["start"]),
                end=int(task.program["end"]),
                style=task.template,
                words=words,
                key=task.id,
            )
        except (KeyError, TypeError, ValueError) as error:
            raise UserError(f"the task {task.id} is no event: it lacks {error}") from error
        if event.window[0] > event.window[1]:
            raise UserError(f"the event {task.id} has no step of {STEP} h in its period")
        return event

    def days(self) -> list[tuple[int, int, int]]:
        """Number, first and last step of each day of the period, a day being what `day_of` says."""
        first, last = self.window
        return [
            (day, max(first, 24 * day - 24 + STEP), min(last, 24 * day))
            for day in range(day_of(first), day_of(last) + 1)
        ]

    @property
    def window(self) -> tuple[int, int]:
        """First and last step of the period."""
        return max(STEP, -(-self.start // STEP) * STEP), self.end // STEP * STEP

    @property
    def month(self) -> int:
        """The calendar month, 1 to 12, in which the period begins."""
        valid = self.initial + np.timedelta64(self.window[0], "h")
        return int(valid.astype("datetime64[M]").astype(int)) % 12 + 1


@dataclass(frozen=True)
class Atlas:
    """Knowledge of geography, and of nothing else.

    Attributes:
        region: The region of the event.
        areas: Its parts, the largest first; the region alone if it has none of a size that counts.
        point: What the place of a latitude and longitude is called.
        middle: Latitude and longitude of the middle of the region or a part of it.
    """

    region: Place
    areas: tuple[Place, ...]
    point: Callable[[float, float], Place]
    middle: Callable[[Place], tuple[float, float]]

    @property
    def latitude(self) -> float:
        """Of the region's middle, degrees north."""
        return self.middle(self.region)[0]

    def places(self, most: int) -> tuple[Place, ...]:
        """The region and the largest of its parts."""
        return tuple(dict.fromkeys((self.region, *self.areas)))[:most]


class Atlases:
    """Makes an atlas for each region of a dataset, once."""

    def __init__(self) -> None:
        self._gazetteers: dict[int, Gazetteer] = {}
        self._made: dict[tuple[int, str, str], Atlas] = {}

    def get(self, dataset: Dataset, event: Event) -> Atlas:
        """The atlas of an event's region.

        Raises:
            UserError: If the dataset has no such feature.
        """
        key = (id(dataset), event.region, event.kind)
        if key not in self._made:
            gazetteer = self._gazetteers.setdefault(id(dataset), Gazetteer(dataset))
            try:
                region = dataset.features.get(event.region, event.kind or None)
                areas = choose_areas(dataset, region)
            except GeodataError as error:
                raise UserError(f"the region of {event.key} cannot be found: {error}") from error
            parts = areas if len(areas) > 1 else (region,)
            self._made[key] = Atlas(
                Place(region.name, region.key),
                tuple(Place(area.name, area.key) for area in parts),
                gazetteer.point,
                lambda place: gazetteer.middle(dataset.features[place.key]),
            )
        return self._made[key]
