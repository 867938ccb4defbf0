"""Building question banks: drawn from a seed, disjoint between splits, not to be guessed.

A question's key is (template, subject, variable, forecast). A hash of the seed and the key says
which split it may go to, so the splits are disjoint however large they are. Drafts are drawn by
turns over variables and kinds of place, and one is left out where it would let a constant answer
score: see `_Guard`.
"""

from __future__ import annotations

import gzip
import hashlib
import json
import random
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zephyrus.errors import UserError
from zephyrus.task import SPLITS, Task, TaskSet
from zephyrus_bench.blind import Learnt, limit
from zephyrus_bench.env import BenchEnv
from zephyrus_bench.guess import best_constant
from zephyrus_bench.report import GUESSABLE, BankReport, measure
from zephyrus_bench.subjects import Group, Subject, in_turn
from zephyrus_bench.templates import TEMPLATES
from zephyrus_bench.templates.base import TIMELESS, Draft, Scene, Template
from zephyrus_bench.wording import scene as scene_line
from zephyrus_geodata import Dataset, GeodataError, load_dataset, variable
from zephyrus_geodata.climatology import PERCENTILES, STATISTICS

DEFAULT_SIZES: Mapping[str, int] = BenchEnv.bank_sizes
"""Questions of each split; the validation set of the paper has 125."""

SOURCE = "Zephyrus-R1 (2026), Table B.1"

TRAINING = "train"

_SHARES = {"train": 0.45, "validation": 0.2, "test": 0.35}  # of the keys
_TRIES = 3  # draws of the details of one key
_AIM = 0.14  # the most a constant may score on a template: below GUESSABLE, with room
_PER_TEMPLATE, _PER_BANK = 3, 8  # questions about one feature
_PER_SET = 12  # questions about one set of candidates, in one template
_FLAVOUR = 0.34  # the same for a template's questions about one variable and flavour

# What a constant answer can't be kept from scoring, however different the questions: one number
# right; one place right and another's value; one name of each of many one-name lists.
_UNAVOIDABLE = {"numerical": 1.0, "time": 1.0, "location": 1.5, "anomaly": 2.0}


@dataclass(frozen=True)
class _Key:
    """What a question is about; no two splits share one."""

    template: str
    subject: Subject
    variable: str
    forecast: str

    @property
    def parts(self) -> tuple[str, str, str, str]:
        return (self.template, self.subject.key, self.variable, self.forecast)


@dataclass
class _Guard:
    """Lets a task in only while no constant answer pays.

    The limits hold at every size: over all tasks of the template, over those about one variable,
    and over those about one variable and flavour (maximum, p90, lowest …). What a constant gets
    from any questions is always allowed. A place wins only once for one set of candidates,
    variable and order, and only twice for one set. No strategy of `zephyrus_bench.blind` may
    score more than its limit.
    """

    learnt: Learnt | None = None
    subjects: Counter[str] = field(default_factory=Counter)
    tasks: list[Task] = field(default_factory=list)
    winners: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    prompts: set[str] = field(default_factory=set)
    blind: Counter[str] = field(default_factory=Counter)
    applies: Counter[str] = field(default_factory=Counter)

    def admits(self, task: Task) -> bool:
        about, detail = task.provenance["variable"], task.provenance["detail"]
        same = [t for t in self.tasks if t.provenance["variable"] == about]
        flavour = [t for t in same if t.provenance["detail"]["flavour"] == detail["flavour"]]
        pools = ((self.tasks, _AIM), (same, GUESSABLE), (flavour, _FLAVOUR))
        if task.prompt in self.prompts:
            return False
        if any(self.winners[key] >= most for key, most in self._wins(task)):
            return False
        if any(self.subjects[key] >= most for key, most in self._asked(task)):
            return False
        scores = self._blind(task)
        for name, score in scores.items():
            allowed = max(1.0, limit(name) * (self.applies[name] + 1))
            if score > 0.0 and self.blind[name] + score > allowed:
                return False
        floor = _UNAVOIDABLE[task.answer_type]
        return all(
            best_constant([*pool, task]).total <= max(floor, limit * (len(pool) + 1))
            for pool, limit in pools
        )

    def add(self, task: Task) -> None:
        task.provenance["blind"] = {k: round(v, 4) for k, v in self._blind(task).items()}
        self.blind.update(self._blind(task))
        self.applies.update(self._blind(task).keys())
        self.subjects.update(key for key, _ in self._asked(task))
        self.tasks.append(task)
        self.prompts.add(task.prompt)
        self.winners.update(key for key, _ in self._wins(task))

    def _blind(self, task: Task) -> dict[str, float]:
        learnt = self.learnt.scores(task) if self.learnt else {}
        return {**task.provenance["blind"], **learnt}

    @staticmethod
    def _asked(task: Task) -> list[tuple[str, int]]:
        """How often a feature or a set was asked about, and how often it may be."""
        subject = task.provenance["key"][1]
        if "candidates" in task.provenance:
            return [(f"{task.template}/{subject}", _PER_SET)]
        return [(f"{task.template}/{subject}", _PER_TEMPLATE), (subject, _PER_BANK)]

    @staticmethod
    def _wins(task: Task) -> list[tuple[tuple[Any, ...], int]]:
        """What the task's winner won, and how often it may."""
        if task.answer_type != "location":
            return []
        about = task.provenance
        same_set = (about["key"][1], task.gold["place"])
        return [(same_set, 2), ((*same_set, about["variable"], about["detail"]["order"]), 1)]


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
        strict: Refuse to write a bank that is short of questions or can be guessed.

    Returns:
        The report: counts, and how far the best constant answer gets.

    Raises:
        UserError: If a size is not right, the dataset is unknown or has no climatology, or
            ``strict`` and the dataset is too small for the bank.
    """
    began = time.monotonic()
    try:
        source = load_dataset(dataset) if isinstance(dataset, str) else dataset
    except GeodataError as error:
        raise UserError(str(error)) from error
    wanted = quotas(dict(DEFAULT_SIZES if sizes is None else sizes))
    if source.climatology is None:
        raise UserError(f"the dataset {source.name!r} has no climatology: add one to ask about it")
    missing = [name for name in STATISTICS if name not in source.climatology.statistics]
    if missing:
        raise UserError(
            f"the climatology of {source.name!r} has no {', '.join(missing)}: build it with "
            f"--quantiles {','.join(map(str, PERCENTILES))}"
        )
    path = _checked(output)
    if sys.stderr.isatty():
        print("building; this takes a minute or so", file=sys.stderr)
    tasks, rejected = make_tasks(source, wanted, seed)
    report = BankReport(source.name, seed, path, list(measure(tasks, wanted)), rejected)
    report.seconds = time.monotonic() - began
    if strict and not report.ok:
        raise UserError(
            f"no good bank of these sizes can be made of {source.name!r}: "
            f"{'; '.join(report.problems[:3])}. Ask for fewer questions or add forecasts."
        )
    if path is not None:
        write_bank(tasks, path)
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
    for template in TEMPLATES.values():
        keys = _keys(dataset, template, seed)
        learnt: Learnt | None = None
        for split in SPLITS:  # training questions first: they must not teach the others' answers
            guard = _Guard(learnt, subjects)
            quota = wanted.get((split, template.name), 0)
            kept[split, template.name] = _fill(
                guard, dataset, template, split, keys[split], quota, seed, rejected
            )
            if split == TRAINING and guard.tasks:
                learnt = Learnt(guard.tasks)
    tasks = [task for split in SPLITS for name in TEMPLATES for task in kept[split, name]]
    return TaskSet(tasks, dataset.name), rejected


def write_bank(tasks: TaskSet, path: Path) -> None:
    """Write JSON lines, whole or not at all; gzipped without a time stamp for ``.gz``."""
    lines = (json.dumps(task.to_dict(), ensure_ascii=False) + "\n" for task in tasks)
    data = "".join(lines).encode()
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(path.name + ".part")
    part.write_bytes(gzip.compress(data, 9, mtime=0) if path.suffix == ".gz" else data)
    part.replace(path)


def _fill(
    guard: _Guard,
    dataset: Dataset,
    template: Template,
    split: str,
    keys: list[_Key],
    quota: int,
    seed: int,
    rejected: Counter[str],
) -> list[Task]:
    """Draw until the quota is full; what the guard turned away is tried again at the end."""
    waiting: list[Task] = []
    for key in keys:
        if len(guard.tasks) >= quota:
            break
        task = _draw(dataset, template, key, split, seed)
        if task is None:
            rejected["near-tie or trivial"] += 1
        elif guard.admits(task):
            guard.add(task)
        else:
            waiting.append(task)
    progress = True
    while progress and len(guard.tasks) < quota:
        before = len(guard.tasks)
        still: list[Task] = []
        for task in waiting:
            if len(guard.tasks) < quota and guard.admits(task):
                guard.add(task)
            else:
                still.append(task)
        waiting, progress = still, len(guard.tasks) > before
    rejected["guessable"] += len(waiting)
    return guard.tasks


def _draw(dataset: Dataset, template: Template, key: _Key, split: str, seed: int) -> Task | None:
    """Turn a key into a task, with a few draws of its details."""
    rng = random.Random(f"{seed}/{'/'.join(key.parts)}")
    name = rng.choice(dataset.forecasts) if key.forecast == TIMELESS else key.forecast
    scene = Scene(dataset, dataset.forecast(name))
    for _ in range(_TRIES):
        draft = template.draw(scene, key.subject, variable(key.variable), rng)
        if draft is not None:
            return _task(scene, template, key, draft, split, seed)
    return None


def _task(scene: Scene, template: Template, key: _Key, draft: Draft, split: str, seed: int) -> Task:
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


def _keys(dataset: Dataset, template: Template, seed: int) -> dict[str, list[_Key]]:
    """The keys of each split, shuffled, by turns over the variables and kinds of place."""
    carried = _variables(dataset, template)
    forecasts = (TIMELESS,) if template.timeless else dataset.forecasts
    subjects = list(template.subjects(dataset))
    rng = random.Random(f"{seed}/{template.name}")
    found: dict[str, list[_Key]] = {}
    of_split: dict[str, dict[str, list[_Key]]] = {split: {} for split in SPLITS}
    for name in carried:
        for subject in subjects:
            for forecast in forecasts:
                key = _Key(template.name, subject, name, forecast)
                of_split[_split_of(key, seed)].setdefault(name, []).append(key)
    for split, by_variable in of_split.items():
        order: list[_Key] = []
        for keys in by_variable.values():
            rng.shuffle(keys)
            lanes = sorted({_lane(key) for key in keys})
            rng.shuffle(lanes)  # else the many cities would lead everywhere
            order += in_turn(keys, _lane, lanes)
        found[split] = in_turn(order, lambda key: key.variable)
    return found


def _lane(key: _Key) -> str:
    """What the turns go over: kinds, and apart from them kinds within a parent."""
    within = isinstance(key.subject, Group) and key.subject.parent
    return f"{key.subject.kind} within" if within else key.subject.kind


def _variables(dataset: Dataset, template: Template) -> list[str]:
    """The template's variables that every forecast (and the climatology, if needed) carries."""
    carried = [set(dataset.forecast(name).variables) for name in dataset.forecasts]
    if template.tool == "climatology" and dataset.climatology is not None:
        carried.append(set(dataset.climatology.variables))
    return [name for name in template.variables if all(name in there for there in carried)]


def _split_of(key: _Key, seed: int) -> str:
    digest = hashlib.sha256(f"{seed}/{'/'.join(key.parts)}/split".encode()).digest()
    place = int.from_bytes(digest[:8]) / 2.0**64
    for split, share in _SHARES.items():
        if place < share:
            return split
        place -= share
    return SPLITS[-1]


def quotas(sizes: dict[str, int]) -> dict[tuple[str, str], int]:
    """Questions by (split, template): equal shares.

    The paper's own averages fit equal shares of templates and not of answer types (its Table
    B.3: 0.394 is near 3/8 numerical + 3/8 location + 1/8 time + 1/8 lists). What is left over
    goes to the time and list templates first, which are one each.
    """
    if unknown := set(sizes) - set(SPLITS):
        raise UserError(f"no split {sorted(unknown)[0]!r}; the splits are {', '.join(SPLITS)}")
    if any(size < 0 for size in sizes.values()) or not any(sizes.values()):
        raise UserError("a bank needs at least one question: give sizes above 0")
    lone = ("hours_to_extreme", "percentile_exceedance")
    order = [*lone, *(name for name in TEMPLATES if name not in lone)]
    return {
        (split, name): sizes.get(split, 0) // len(order)
        + (order.index(name) < sizes.get(split, 0) % len(order))
        for split in SPLITS
        for name in TEMPLATES
    }


def _checked(output: Path | str | None) -> Path | None:
    if output is None:
        return None
    path = Path(output)
    if not path.name.endswith((".jsonl", ".jsonl.gz")):
        raise UserError(f"a bank is a .jsonl or .jsonl.gz file, not {path.name!r}")
    return path
