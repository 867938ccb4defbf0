"""What a bank lets in: only while no constant answer, and no policy that never looks, scores."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from zephyrus.task import Task
from zephyrus_bench.blind import Learnt, limit
from zephyrus_bench.report import GUESSABLE
from zephyrus_bench.subjects import Group, Subject
from zephyrus_bench.tally import Tally, tally

_AIM = 0.14  # the most a constant may score on a template: below GUESSABLE, with room
_PER_TEMPLATE, _PER_BANK = 3, 8  # questions about one feature
_PER_SET = 12  # questions about one set of candidates, in one template
_FLAVOUR = 0.34  # the same for a template's questions about one variable and flavour

# What a constant answer can't be kept from scoring, however different the questions: one number
# right; one place right and another's value; one name of each of many one-name lists.
_UNAVOIDABLE = {"numerical": 1.0, "time": 1.0, "location": 1.5, "anomaly": 2.0}


@dataclass
class Entry:
    """A task that asks to be let in.

    Attributes:
        task: The task.
        learnt: What the training questions teach, if there are any yet.
    """

    task: Task
    learnt: Learnt | None = None

    @cached_property
    def taught(self) -> Mapping[str, float]:
        """What each strategy that repeats the training questions' answers scores on it."""
        return self.learnt.scores(self.task) if self.learnt else {}

    @property
    def blind(self) -> dict[str, float]:
        """What each blind strategy scores on it."""
        return {**self.task.provenance["blind"], **self.taught}

    @property
    def pools(self) -> list[tuple[tuple[str, ...], float]]:
        """The sets of tasks on which no constant may score, and how much it may."""
        about, flavour = self.task.provenance["variable"], self.task.provenance["detail"]["flavour"]
        return [((), _AIM), ((about,), GUESSABLE), ((about, flavour), _FLAVOUR)]

    @property
    def wins(self) -> list[tuple[tuple[Any, ...], int]]:
        """What the task's winner won, and how often it may."""
        if self.task.answer_type != "location":
            return []
        about = self.task.provenance
        same_set = (about["key"][1], self.task.gold["place"])
        return [(same_set, 2), ((*same_set, about["variable"], about["detail"]["order"]), 1)]


@dataclass
class Guard:
    """Lets a task in only while no constant answer pays.

    The limits hold at every size: over all tasks of the template, over those about one variable,
    and over those about one variable and flavour (maximum, p90, lowest …). What a constant gets
    from any questions is always allowed. A place wins only once for one set of candidates,
    variable and order, and only twice for one set. No strategy of `zephyrus_bench.blind` may
    score more than its limit.

    Attributes:
        template: The template's name.
        learnt: What the training questions of the template teach, of another split's guard.
        subjects: How often each subject has been asked about; the guards of a bank share it.
        tasks: What has been let in.
    """

    template: str = ""
    learnt: Learnt | None = None
    subjects: Counter[str] = field(default_factory=Counter)
    tasks: list[Task] = field(default_factory=list)
    _winners: Counter[tuple[Any, ...]] = field(default_factory=Counter)
    _prompts: set[str] = field(default_factory=set)
    _blind: Counter[str] = field(default_factory=Counter)
    _applies: Counter[str] = field(default_factory=Counter)
    _tallies: dict[tuple[str, ...], tuple[Tally, int]] = field(default_factory=dict)

    def entry(self, task: Task) -> Entry:
        """Make a task ask to be let in."""
        return Entry(task, self.learnt)

    def has_enough_of(self, subject: Subject) -> bool:
        """Whether no more is asked about a subject, whatever the question."""
        asked = self._asked(subject.key, is_set=isinstance(subject, Group))
        return any(self.subjects[key] >= most for key, most in asked)

    def is_closed_to(self, entry: Entry) -> bool:
        """Whether the task can't come in, now or later: what it asks has been asked enough."""
        return (
            entry.task.prompt in self._prompts
            or any(self._winners[key] >= most for key, most in entry.wins)
            or any(self.subjects[key] >= most for key, most in self._asked_by(entry.task))
        )

    def admits(self, entry: Entry) -> bool:
        """Whether the task may come in now; one that may not can still do so later."""
        task = entry.task
        if self.is_closed_to(entry):
            return False
        for name, score in entry.blind.items():
            allowed = max(1.0, limit(name) * (self._applies[name] + 1))
            if score > 0.0 and self._blind[name] + score > allowed:
                return False
        floor = _UNAVOIDABLE[task.answer_type]
        for pool, share in entry.pools:
            if pool in self._tallies:
                known, count = self._tallies[pool]
                if known.exceeds(task.gold, max(floor, share * (count + 1))):
                    return False
        return True

    def add(self, entry: Entry) -> None:
        """Let the task in."""
        task = entry.task
        task.provenance["blind"] = {k: round(v, 4) for k, v in entry.blind.items()}
        self._blind.update(entry.blind)  # as it is written, to four digits
        self._applies.update(entry.blind.keys())
        self.subjects.update(key for key, _ in self._asked_by(task))
        self.tasks.append(task)
        self._prompts.add(task.prompt)
        self._winners.update(key for key, _ in entry.wins)
        for pool, _ in entry.pools:
            known, count = self._tallies.get(pool, (None, 0))
            known = known or tally(task.answer_type)
            known.add(task.gold)
            self._tallies[pool] = (known, count + 1)

    def _asked_by(self, task: Task) -> list[tuple[str, int]]:
        return self._asked(task.provenance["key"][1], is_set="candidates" in task.provenance)

    def _asked(self, subject: str, *, is_set: bool) -> list[tuple[str, int]]:
        """How a subject or a set is counted, and how often it may be asked about."""
        if is_set:
            return [(f"{self.template}/{subject}", _PER_SET)]
        return [(f"{self.template}/{subject}", _PER_TEMPLATE), (subject, _PER_BANK)]
