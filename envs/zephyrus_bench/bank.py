"""Building question banks: drawn from a seed, disjoint between splits, not to be guessed.

Drafts are drawn by turns over variables and kinds of place (`zephyrus_bench.keys`), and one is left
out where it would let a constant answer score (`zephyrus_bench.guard`).
"""

from __future__ import annotations

import hashlib
import random
import sys
import time
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zephyrus.errors import UserError
from zephyrus.task import SPLITS, Task, TaskSet, bank_file
from zephyrus_bench.blind import Learnt
from zephyrus_bench.env import BenchEnv
from zephyrus_bench.guard import Entry, Guard
from zephyrus_bench.keys import Key, keys
from zephyrus_bench.needs import lacking, refusal
from zephyrus_bench.report import BankReport, measure
from zephyrus_bench.templates import TEMPLATES
from zephyrus_bench.templates.base import TIMELESS, Draft, Scene, Template
from zephyrus_geodata import Dataset, GeodataError, load_dataset, variable
from zephyrus_tools.text import scene_line

DEFAULT_SIZES: Mapping[str, int] = BenchEnv.bank_sizes
"""Questions of each split; the validation set of the paper has 125."""

SOURCE = "Zephyrus-R1 (2026), Table B.1"

TRAINING = "train"

_TRIES = 3  # draws of the details of one key
_PATIENCE = 2000  # drafts in a row that were no use, after which no better one is looked for


def build_bank(
    dataset: Dataset | str = "demo",
    sizes: Mapping[str, int] | None = None,
    seed: int = 0,
    output: Path | str | None = None,
    *,
    strict: bool = True,
) -> BankReport:
    """Build a bank of questions and write it.

    Args:
        dataset: The dataset, or its name or folder.
        sizes: Questions of each split; by default `DEFAULT_SIZES`.
        seed: The same seed and data give the same bank, byte for byte.
        output: A ``.jsonl`` or ``.jsonl.gz`` file; nothing is written if None.
        strict: Refuse to write a bank that lacks a template, is short of questions or can be
            guessed. If False, what can be asked is written, and the report says what is missing;
            the sizes are then shared by the templates that the dataset has what it takes for.

    Returns:
        The report: counts, and how far the best constant answer gets.

    Raises:
        UserError: If a size is not right, the dataset is unknown or has nothing to ask about, or
            ``strict`` and it lacks what a template needs or is too small for the bank.
    """
    began = time.monotonic()
    sizes = dict(DEFAULT_SIZES if sizes is None else sizes)
    quotas(sizes)  # a wrong size is told before anything is opened
    path = bank_file(output)
    try:
        source = load_dataset(dataset) if isinstance(dataset, str) else dataset
        lacks = lacking(source)
    except GeodataError as error:
        raise UserError(str(error)) from error
    if lacks and (strict or len(lacks) == len(TEMPLATES)):
        raise UserError(refusal(source, lacks))
    wanted = quotas(sizes, [name for name in TEMPLATES if name not in lacks])
    if sys.stderr.isatty():
        print("building; this may take a minute", file=sys.stderr)
    tasks, rejected = make_tasks(source, wanted, seed)
    rows = list(measure(tasks, wanted))
    report = BankReport(source.name, seed, path, rows, rejected, lacks=lacks)
    report.seconds = time.monotonic() - began
    if not tasks or (strict and not report.ok):
        raise UserError(
            f"no good bank of these sizes can be made of {source.name!r}: {report.advice}"
        )
    if path is not None:
        tasks.save(path)
    return report


def make_tasks(
    dataset: Dataset, wanted: Mapping[tuple[str, str], int], seed: int
) -> tuple[TaskSet, Counter[str]]:
    """Draw the questions: (tasks by split and template, how many drafts were left out and why).

    Args:
        dataset: The data.
        wanted: Questions by (split, template).
        seed: Of every draw.
    """
    dataset.zones.build()
    rejected: Counter[str] = Counter()
    kept: dict[tuple[str, str], list[Task]] = {}
    subjects: Counter[str] = Counter()
    for name, template in TEMPLATES.items():
        if not any(wanted.get((split, name), 0) for split in SPLITS):
            continue
        by_split = keys(dataset, template, seed)
        learnt: Learnt | None = None
        for split in SPLITS:  # training questions first: they must not teach the others' answers
            guard = Guard(name, learnt, subjects)
            drawer = _Drawer(dataset, template, split, seed)
            quota = wanted.get((split, name), 0)
            kept[split, name] = _fill(guard, drawer, by_split[split], quota, rejected)
            if split == TRAINING and guard.tasks:
                learnt = Learnt(guard.tasks)
    tasks = [task for split in SPLITS for name in TEMPLATES for task in kept.get((split, name), ())]
    return TaskSet(tasks, dataset.name), rejected


def _fill(
    guard: Guard, drawer: _Drawer, order: list[Key], quota: int, rejected: Counter[str]
) -> list[Task]:
    """Draw until the quota is full; what the guard turned away is tried again at the end."""
    waiting: list[Entry] = []
    in_vain = 0
    for key in order:
        if len(guard.tasks) >= quota or in_vain >= _PATIENCE:
            break
        if guard.has_enough_of(key.subject):
            rejected["asked about enough"] += 1
            continue
        task = drawer.draw(key)
        in_vain += 1
        if task is None:
            rejected["near-tie or trivial"] += 1
            continue
        entry = guard.entry(task)
        if guard.admits(entry):
            guard.add(entry)
            in_vain = 0
        else:
            waiting.append(entry)
    progress = True
    while progress and len(guard.tasks) < quota:
        before = len(guard.tasks)
        still: list[Entry] = []
        for entry in waiting:
            if len(guard.tasks) < quota and guard.admits(entry):
                guard.add(entry)
            elif guard.is_closed_to(entry):
                rejected["asked about enough"] += 1
            else:
                still.append(entry)
        waiting, progress = still, len(guard.tasks) > before
    rejected["guessable"] += len(waiting)
    return guard.tasks


@dataclass(frozen=True)
class _Drawer:
    """Turns keys into tasks.

    Attributes:
        dataset: The data.
        template: Whose questions.
        split: The split they are for.
        seed: Of every draw.
    """

    dataset: Dataset
    template: Template
    split: str
    seed: int

    def draw(self, key: Key) -> Task | None:
        """A task about a key, after a few draws of its details; None if none holds up."""
        rng = random.Random(f"{self.seed}/{'/'.join(key.parts)}")
        timeless = key.forecast == TIMELESS
        name = rng.choice(self.dataset.forecasts) if timeless else key.forecast
        scene = Scene(self.dataset, self.dataset.forecast(name))
        for _ in range(_TRIES):
            draft = self.template.draw(scene, key.subject, variable(key.variable), rng)
            if draft is not None:
                return _task(scene, self.template, key, draft, self.split, self.seed)
        return None


def _task(scene: Scene, template: Template, key: Key, draft: Draft, split: str, seed: int) -> Task:
    dataset, forecast = scene.dataset, scene.forecast
    digest = hashlib.sha256("/".join((str(seed), dataset.name, *key.parts)).encode()).hexdigest()
    climatology = dataset.climatology
    provenance: dict[str, Any] = {
        "source": SOURCE,
        "row": template.row,
        "reconstructed": template.reconstructed,
        "semantics": template.semantics,
        "key": list(key.parts),
        "kind": key.subject.kind,
        "variable": key.variable,
        "units": variable(key.variable).display_units,
        "detail": draft.detail,
        "margin": draft.margin,
        "needed_margin": draft.needed,
        "data": forecast.label,
        "seed": seed,
        "blind": draft.blind,
    }
    if template.tool == "climatology" and climatology is not None:
        provenance["climatology"] = f"{climatology.label}, {climatology.period}"
    if draft.candidates:
        provenance["candidates"] = list(draft.candidates)
    return Task(
        id=f"{template.name}-{digest[:10]}",
        prompt=f"{scene_line(forecast)} {draft.question}",
        gold=draft.gold,
        answer_type=template.answer_type,
        template=template.name,
        split=split,
        required_tools=(template.tool,),
        world={"dataset": dataset.name, "forecast": forecast.name},
        program={"calls": list(draft.calls), "read": draft.read},
        provenance=provenance,
    )


def quotas(
    sizes: dict[str, int], templates: Collection[str] = tuple(TEMPLATES)
) -> dict[tuple[str, str], int]:
    """Questions by (split, template): equal shares of the templates.

    The paper's own averages fit equal shares of templates and not of answer types (its Table
    B.3: 0.394 is near 3/8 numerical + 3/8 location + 1/8 time + 1/8 lists). What is left over
    goes to the time and list templates first, which are one each.
    """
    if unknown := set(sizes) - set(SPLITS):
        raise UserError(f"no split {sorted(unknown)[0]!r}; the splits are {', '.join(SPLITS)}")
    if any(size < 0 for size in sizes.values()) or not any(sizes.values()):
        raise UserError("a bank needs at least one question: give sizes above 0")
    lone = ("hours_to_extreme", "percentile_exceedance")
    order = [name for name in dict.fromkeys((*lone, *TEMPLATES)) if name in templates]
    return {
        (split, name): sizes.get(split, 0) // len(order)
        + (order.index(name) < sizes.get(split, 0) % len(order))
        for split in SPLITS
        for name in TEMPLATES
        if name in templates
    }
