"""Building banks of chart questions: drawn from a seed, in the order of time, not to be guessed.

All charts of a forecast are in one split, and splits follow each other in initial time; a chart
that reaches into the first forecast of a later split is left out. Within each split and category
the templates have equal shares, right choices of one template are spread evenly (over classes,
directions, ranks …), a draft is left out where it would let a policy score that looks at no chart
(`zephyrus_chartqa.guard`), and every letter is right equally often.
"""

from __future__ import annotations

import hashlib
import random
import time
from collections import Counter, deque
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from zephyrus.errors import UserError
from zephyrus.task import SPLITS, bank_file
from zephyrus_chartqa.bank_charts import Chart, bank_regions, charts_of, why_none
from zephyrus_chartqa.bank_file import save_items
from zephyrus_chartqa.bank_report import ChartBankReport
from zephyrus_chartqa.facts.areas import chart_areas
from zephyrus_chartqa.facts.reading import Reading
from zephyrus_chartqa.fields import chart_data
from zephyrus_chartqa.guard import Guard
from zephyrus_chartqa.item import LETTERS, ChartSource, Item
from zephyrus_chartqa.modality import MODALITIES
from zephyrus_chartqa.questions import Draft, Template, templates_for
from zephyrus_chartqa.region import Region
from zephyrus_chartqa.text_view import written
from zephyrus_geodata import Dataset, GeodataError, load_dataset
from zephyrus_tools.splits import split_forecasts

DEFAULT_SIZES: Mapping[str, int] = {"train": 1400, "validation": 175, "test": 350}
"""Questions of each split: 8 : 1 : 2; the paper's are 9 : 1 : 1 of 15,400."""

SOURCE = "made from a grid by fixed rules, after WeatherQA's form"

_MORE_CHARTS = 60  # charts looked at for a category and split: one a question, and so many more
_PER_CHART = 2  # questions of one template about one chart
_LOOKED_AT = 100  # drafts of one kind that are looked at before another kind is


def build_bank(
    dataset: Dataset | str = "demo",
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    output: Path | str | None = None,
    *,
    strict: bool = True,
    regions: str | Sequence[str] | None = None,
    weatherqa: Path | str | None = None,
) -> ChartBankReport:
    """Build a bank of chart questions and write it.

    Args:
        dataset: The dataset, or its name or folder.
        sizes: Questions of each split, shared evenly by the seven modalities.
        seed: The same seed and data give the same bank, byte for byte.
        output: A ``.jsonl`` or ``.jsonl.gz`` file; nothing is written if None.
        strict: Refuse to write a bank that lacks a modality, is short of questions or can be
            guessed. If False, what can be asked is written, and the report says what is missing.
        regions: Names of chart regions (`zephyrus_chartqa.region.chart_region`), a sequence or
            separated by semicolons, instead of
            `zephyrus_chartqa.bank_charts.REGIONS`.
        weatherqa: A folder to write the bank to as WeatherQA's files too, with every chart drawn.

    Returns:
        The report: counts, and how far guessing gets.

    Raises:
        UserError: If a size or region is not right, the dataset is unknown or has nothing to ask
            about, or ``strict`` and the bank is not whole.
    """
    began = time.monotonic()
    wanted = _quotas(dict(DEFAULT_SIZES if sizes is None else sizes))
    path = bank_file(output)
    try:
        source = load_dataset(dataset) if isinstance(dataset, str) else dataset
        places = bank_regions(source, _names(regions))
        items, lacks, rejected = make_items(source, wanted, seed, places)
    except GeodataError as error:
        raise UserError(str(error)) from error
    report = ChartBankReport(source.name, seed, path, items, wanted, lacks, rejected)
    if not items or (strict and not report.ok):
        raise UserError(
            f"no good bank of these sizes can be made of {source.name!r}: {report.advice}"
        )
    if path is not None:
        save_items(path, items)
    if weatherqa is not None:
        from zephyrus_chartqa.export import export_bank

        export_bank(items, source, Path(weatherqa))
    report.seconds = time.monotonic() - began
    return report


def make_items(
    dataset: Dataset,
    wanted: Mapping[tuple[str, str], int],
    seed: int,
    regions: Mapping[str, Region],
) -> tuple[list[Item], dict[str, str], Counter[str]]:
    """Draw the questions.

    Args:
        dataset: The data.
        wanted: Questions by (split, category).
        seed: Of every draw.
        regions: What charts show, by the names that `chart_region` knows them by.

    Returns:
        The items by split and category; by category, why there are none; and how many drafts were
        left out, by the reason.
    """
    splits = split_forecasts(dataset)
    rejected: Counter[str] = Counter()
    lacks: dict[str, str] = {}
    by_split: dict[str, list[Item]] = {split: [] for split in SPLITS}
    for category in MODALITIES:
        charts: dict[str, list[Chart]] = {}
        for split in SPLITS:
            names = [name for name, own in splits.items() if own == split]
            charts[split] = list(charts_of(dataset, category, names, splits, regions))
        if not any(charts.values()):
            lacks[category] = why_none(dataset, category)
            continue
        for split in SPLITS:
            quota = wanted.get((split, category), 0)
            drawer = _Drawer(dataset, category, split, seed)
            by_split[split] += drawer.draw(charts[split], quota, rejected)
    return [item for split in SPLITS for item in by_split[split]], lacks, rejected


@dataclass(frozen=True)
class _Drawer:
    """Draws the items of one category and split.

    Attributes:
        dataset: The data.
        category: The modality's name.
        split: The split.
        seed: Of every draw.
    """

    dataset: Dataset
    category: str
    split: str
    seed: int

    def draw(self, charts: list[Chart], quota: int, rejected: Counter[str]) -> list[Item]:
        """Draw so many items, or as many as there are."""
        if not quota:
            return []
        rng = random.Random(f"{self.seed}/{self.category}/{self.split}")
        rng.shuffle(charts)
        templates = templates_for(self.category)
        pool: dict[str, list[tuple[Chart, Draft]]] = {t.name: [] for t in templates}
        readings: dict[Chart, Reading] = {}
        for chart in charts[: quota + _MORE_CHARTS]:
            try:
                readings[chart] = self._read(chart)
            except UserError:  # all of it is missing
                rejected["charts without data"] += 1
        for chart, reading in readings.items():
            for template in templates:
                pool[template.name] += [(chart, d) for d in template.drafts(reading, rng)]
        chosen = self._fill(templates, pool, quota, rejected, rng)
        rng.shuffle(chosen)
        letters = [LETTERS[i % 4] for i in range(len(chosen))]
        rng.shuffle(letters)
        pairs = zip(chosen, letters, strict=True)
        return [
            self._item(chart, draft, letter, written(readings[chart]), rng)
            for (chart, draft), letter in pairs
        ]

    def _fill(
        self,
        templates: Sequence[Template],
        pool: dict[str, list[tuple[Chart, Draft]]],
        quota: int,
        rejected: Counter[str],
        rng: random.Random,
    ) -> list[tuple[Chart, Draft]]:
        """Share the quota by the templates; what one can't fill, the others do."""
        guards = {template.name: Guard() for template in templates}
        queues = {name: _Queues(pool[name], rng) for name in guards}
        chosen: list[tuple[Chart, Draft]] = []
        unfilled = list(guards)
        while unfilled and len(chosen) < quota:
            for name in list(unfilled):
                found = queues[name].next(guards[name], rejected)
                if found is None:
                    unfilled.remove(name)
                    rejected["guessable"] += len(queues[name])
                elif len(chosen) < quota:
                    chosen.append(found)
        return chosen

    def _read(self, chart: Chart) -> Reading:
        data = chart_data(self.dataset, chart.forecast, self.category, chart.region, chart.lead)
        return Reading.of(data, chart_areas(self.dataset, chart.region))

    def _item(self, chart: Chart, draft: Draft, letter: str, text: str, rng: random.Random) -> Item:
        place = LETTERS.index(letter)
        choices = list(draft.wrong)
        rng.shuffle(choices)
        choices.insert(place, draft.right)
        name = chart.name
        key = (
            *(str(self.seed), self.dataset.name, self.category, chart.forecast.name),
            *(str(chart.lead), name, draft.template, draft.question, *sorted(choices)),
        )
        digest = hashlib.sha256("/".join(key).encode()).hexdigest()
        end = chart.forecast.init_time + np.timedelta64(chart.lead, "h")
        hours = (chart.lead - 24, chart.lead) if MODALITIES[self.category].daily else (chart.lead,)
        provenance: dict[str, Any] = {
            "source": SOURCE,
            "template": draft.template,
            "element": draft.element,
            "area": draft.area or chart.region.title,
            "fact": _plain(draft.fact),
            "margin": round(draft.margin, 3),
            "needed_margin": round(draft.needed, 3),
            "margin_units": draft.units,
            "initial_time": _stamp(chart.forecast.init_time),
            "valid": _stamp(end),
            "data": chart.forecast.label,
            "seed": self.seed,
            "blind": draft.scores,
        }
        return Item(
            id=f"{self.category}-{digest[:10]}",
            image_path="",
            category=self.category,
            answer=letter,
            split=self.split,
            question=draft.question,
            choices=tuple(choices),
            text=text,
            source=ChartSource(
                modality=self.category,
                dataset=self.dataset.name,
                forecast=chart.forecast.name,
                lead_hours=hours,
                region=name,
                seed=chart.style(self.seed),
            ),
            provenance=provenance,
        )


class _Queues:
    """The drafts of a template, in queues by what should be balanced; the shortest served first."""

    def __init__(self, pool: Sequence[tuple[Chart, Draft]], rng: random.Random) -> None:
        self._queues: dict[str, deque[tuple[Chart, Draft]]] = {}
        for chart, draft in rng.sample(pool, len(pool)):
            self._queues.setdefault(draft.balance, deque()).append((chart, draft))
        self._taken: Counter[str] = Counter()
        self._about: Counter[object] = Counter()
        self._asked: set[object] = set()

    def __len__(self) -> int:
        return sum(map(len, self._queues.values()))

    def next(self, guard: Guard, rejected: Counter[str]) -> tuple[Chart, Draft] | None:
        """The next draft that is let in, of the kind of which there are fewest; None at the end."""
        for name in sorted(self._queues, key=lambda name: (self._taken[name], name)):
            queue = self._queues[name]
            for _ in range(min(len(queue), _LOOKED_AT)):
                chart, draft = queue.popleft()
                about = (chart.forecast.name, chart.lead, chart.region)
                asked = (about, draft.area, draft.right)
                if asked in self._asked or self._about[about] >= _PER_CHART:
                    rejected["asked about enough"] += 1
                elif guard.admits(draft):
                    guard.add(draft)
                    self._taken[name] += 1
                    self._about[about] += 1
                    self._asked.add(asked)
                    return chart, draft
                else:
                    queue.append((chart, draft))
        return None


def _quotas(sizes: dict[str, int]) -> dict[tuple[str, str], int]:
    """Questions by (split, category): equal shares, what is left over to the first ones."""
    if unknown := set(sizes) - set(SPLITS):
        raise UserError(f"no split {sorted(unknown)[0]!r}; the splits are {', '.join(SPLITS)}")
    if any(size < 0 for size in sizes.values()) or not any(sizes.values()):
        raise UserError("a bank needs at least one question: give sizes above 0")
    count = len(MODALITIES)
    return {
        (split, category): sizes.get(split, 0) // count + (i < sizes.get(split, 0) % count)
        for split in SPLITS
        for i, category in enumerate(MODALITIES)
    }


def _names(given: str | Sequence[str] | None) -> tuple[str, ...]:
    items = given.split(";") if isinstance(given, str) else given or ()
    return tuple(item.strip() for item in items if item.strip())


def _stamp(moment: np.datetime64) -> str:
    return f"{moment.astype('datetime64[m]')}Z"


def _plain(fact: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers to four decimals, which is more than any margin."""
    return {
        key: _plain(value)
        if isinstance(value, Mapping)
        else round(value, 4)
        if isinstance(value, float)
        else value
        for key, value in fact.items()
    }
