"""``judgements.jsonl`` of a run folder: every judgement that was made of its rollouts.

A line is the settings of a judge, written before the first judgement made with them, or one
judgement: a rollout, a judge, a scoring pass. Lines are appended whole and synced to disk, so that
a process that is killed loses what was being asked and nothing else. The last line of a key
counts: one with missing parts is followed by another when the judge was asked again.
"""

from __future__ import annotations

import json
import os
import threading
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, Self

from zephyrus.errors import UserError
from zephyrus.evaluation.settings import Settings
from zephyrus.fileformat import FileFormat
from zephyrus.jsonlines import append, damaged, lines, mend, open_to_append, refusals
from zephyrus.judge.assess import PARTS, Assessment
from zephyrus.lock import FileLock, LockHeldError
from zephyrus.messages import clean_text
from zephyrus.trajectory import Key

JUDGEMENTS = "judgements.jsonl"
FORMAT = FileFormat("judgement", "0.1.0")
_LOCK = ".judgements.lock"


class JudgementKey(NamedTuple):
    """What makes a judgement the same: it is never paid for twice."""

    task: str
    seed: int
    repeat: int
    judge: str
    scoring_pass: int
    settings: str

    @property
    def rollout(self) -> Key:
        """The rollout that is judged."""
        return Key(self.task, self.seed, self.repeat)


@dataclass(frozen=True, slots=True)
class Judgement:
    """What one judge said of one rollout in one scoring pass.

    Attributes:
        key: Which.
        texts: Digest of the texts that were judged (`settings.brief_digest`).
        assessment: What it said; parts may be missing.
        seconds: Wall-clock time.
        call: Names the call of `evaluate` that asked.
        usage: What the judge had cost in that call when this was done, by name.
    """

    key: JudgementKey
    texts: str
    assessment: Assessment
    seconds: float = 0.0
    call: str = ""
    usage: Mapping[str, float] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "key": list(self.key),
            "texts": self.texts,
            "seconds": round(self.seconds, 3),
            "call": self.call,
            "usage": dict(self.usage),
            "assessment": self.assessment.to_dict(),
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Judgement:
        """The inverse of `to_dict`.

        Raises:
            ValueError: If it is no judgement.
        """
        try:
            return cls(
                JudgementKey(*data["key"]),
                data["texts"],
                Assessment.from_dict(data["assessment"]),
                data["seconds"],
                data["call"],
                data["usage"],
            )
        except (KeyError, TypeError, UserError) as error:
            raise ValueError(f"not a judgement: {error!r}") from error


class Judgements:
    """The judgements of a run. `read` gives what is there, `lock` a file to write as well.

    Attributes:
        settings: By their id, in the order in which they were first used.
        latest: The last judgement of each key.
        usage: By call and settings id, what the judge had cost at that call's last judgement.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.settings: dict[str, Settings] = {}
        self.latest: dict[JudgementKey, Judgement] = {}
        self.usage: dict[tuple[str, str], Mapping[str, float]] = {}
        self._used: dict[str, None] = {}
        self._lock: FileLock | None = None
        self._handle: int | None = None
        self._guard = threading.Lock()

    @classmethod
    def read(cls, folder: Path) -> Self:
        """What is kept of a run's judgements, also while another process writes them.

        Raises:
            UserError: If the file is damaged.
        """
        kept = cls(folder / JUDGEMENTS)
        for number, line in enumerate(lines(kept.path), 1):
            try:
                kept._take(json.loads(line))
            except ValueError as error:
                raise damaged(kept.path, number, error) from error
        return kept

    @classmethod
    def lock(cls, folder: Path) -> Self:
        """The same, to be written until `close`.

        Raises:
            UserError: If another process evaluates the run, or the file is damaged or can't be
                written.
        """
        kept = cls(folder / JUDGEMENTS)
        try:
            with refusals(kept.path):
                kept._lock = FileLock(folder / _LOCK)
        except LockHeldError as owner:
            raise UserError(f"the run {folder} is being evaluated by {owner}") from None
        try:
            mend(kept.path, kept._take)
            with refusals(kept.path):
                kept._handle = open_to_append(kept.path)
        except BaseException:
            kept.close()
            raise
        return kept

    def ids(self, judge: str) -> list[str]:
        """The settings that a judge was asked with, those used last at the end."""
        return [id_ for id_ in self._used if self.settings[id_].judge == judge]

    def of(self, settings: str) -> Iterator[Judgement]:
        """The judgements made with certain settings."""
        return (one for key, one in self.latest.items() if key.settings == settings)

    def total_usage(self, settings: str) -> dict[str, float]:
        """What a judge has cost with certain settings, over all calls, by name."""
        total: Counter[str] = Counter()
        for (_, used), usage in self.usage.items():
            if used == settings:
                total.update(usage)
        return dict(total)

    def introduce(self, settings: Settings) -> None:
        """Keep the settings that judgements are about to be made with.

        Raises:
            OSError: If the disk refuses.
        """
        self._write({"settings": settings.id, **settings.to_dict()})

    def append(self, judgement: Judgement) -> None:
        """Keep a judgement, and return when it is on the disk. May be called from any thread.

        Raises:
            OSError: If the disk refuses; nothing of it is then kept.
        """
        self._write(judgement.to_dict())

    def close(self) -> None:
        """Give up the lock."""
        with self._guard:
            if self._handle is not None:
                os.close(self._handle)
                self._handle = None
            if self._lock is not None:
                self._lock.release()
                self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def _write(self, data: Mapping[str, Any]) -> None:
        line = clean_text(json.dumps(FORMAT.stamp(data), ensure_ascii=False)).encode() + b"\n"
        with self._guard:
            if self._handle is None:
                raise RuntimeError("the judgements are not open for writing")
            append(self._handle, line)
            self._take(json.loads(line))

    def _take(self, data: Any) -> None:
        data = FORMAT.read(data, self.path)
        if "settings" in data:
            try:
                settings = Settings.from_dict(data)
            except (KeyError, TypeError) as error:
                raise ValueError(f"not settings: {error!r}") from error
            self.settings[settings.id] = settings
            self._use(settings.id)
            return
        judgement = Judgement.from_dict(data)
        if judgement.key.settings not in self.settings:
            raise ValueError(f"its settings {judgement.key.settings!r} are nowhere above")
        self.latest[judgement.key] = judgement
        self.usage[judgement.call, judgement.key.settings] = judgement.usage
        self._use(judgement.key.settings)

    def _use(self, settings: str) -> None:
        self._used.pop(settings, None)
        self._used[settings] = None


def has(assessment: Assessment, part: str) -> bool:
    """Whether a part was asked for and could be had."""
    return part in assessment.parts and part not in assessment.missing


def merge(earlier: Assessment, later: Assessment) -> Assessment:
    """What two calls have of one judgement: the later one's parts, and the earlier one's others."""
    rest = [part for part in earlier.parts if part not in later.parts]
    both = replace(
        later,
        parts=tuple(part for part in PARTS if part in later.parts or part in rest),
        missing={part: earlier.missing[part] for part in rest if part in earlier.missing}
        | dict(later.missing),
        notes={**earlier.notes, **later.notes},
    )
    if "rubric" in rest:
        both = replace(both, rubric=earlier.rubric)
    if "claims" in rest:
        both = replace(
            both,
            report_verdicts=earlier.report_verdicts,
            reference_verdicts=earlier.reference_verdicts,
        )
    return both
