"""The judges of one call at work: who is asked what, and what happens when one can't be had.

Each judge has its own crew of workers, so that a slow one holds no other up. A judgement is on the
disk before its worker takes the next. What a judge could not be had for is kept as missing; after
`FAILURES_IN_A_ROW` judgements of which nothing could be had, a judge is taken to be down and asked
no more in this call.
"""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass
from typing import Protocol, TypeVar

from zephyrus.errors import WorkError
from zephyrus.evaluation.judgements import Judgement, JudgementKey, Judgements, has, merge
from zephyrus.evaluation.settings import Settings, brief_digest
from zephyrus.evaluation.texts import Text
from zephyrus.judge.assess import PARTS, Assessment, assess
from zephyrus.judge.base import Brief, Judge
from zephyrus.judge.discussion import ClaimOptions

T = TypeVar("T")

FAILURES_IN_A_ROW = 10
"""After so many judgements with every part missing, and no other between them, a judge is down."""


class Progress(Protocol):
    """Hears of an evaluation's progress; every method is called in the event loop's thread."""

    def start(self, total: int, done: int) -> None:
        """Work begins: of ``total`` judgements ``done`` were made already."""

    def update(self, judgement: Judgement) -> None:
        """A judgement, whole or with parts missing, is on the disk."""

    def stop(self) -> None:
        """Work is over, for whatever reason. Called once after `start`."""


@dataclass(frozen=True, slots=True)
class Question:
    """One judgement that is wanted.

    Attributes:
        key: Which.
        brief: The texts.
        digest: Of the texts.
        parts: What to ask for; what an earlier call has is left out.
        earlier: What an earlier call has.
    """

    key: JudgementKey
    brief: Brief
    digest: str
    parts: tuple[str, ...]
    earlier: Assessment | None = None


class Seat:
    """A judge with how it is asked, and what it has yet to say."""

    def __init__(
        self,
        judge: Judge,
        settings: Settings,
        texts: Sequence[Text],
        kept: Judgements,
        *,
        passes: int,
        parts: Sequence[str] = PARTS,
    ) -> None:
        """Find out what is left to ask.

        Args:
            judge: The judge.
            settings: How it is asked.
            texts: What is judged.
            kept: What there is already.
            passes: Scoring passes; a deterministic judge makes one.
            parts: What is wanted of every judgement.
        """
        self.judge = judge
        self.settings = settings
        self.passes = settings.passes(passes)
        self.wanted = len(texts) * self.passes
        self.questions = [
            question
            for scoring_pass in range(self.passes)
            for text in texts
            if (question := self._question(text, scoring_pass, kept, parts)) is not None
        ]

    def _question(
        self, text: Text, scoring_pass: int, kept: Judgements, parts: Sequence[str]
    ) -> Question | None:
        key = JudgementKey(*text.key, self.judge.name, scoring_pass, self.settings.id)
        known = kept.latest.get(key)
        texts = brief_digest(text.brief)
        if known is None or known.texts != texts:
            return Question(key, text.brief, texts, tuple(parts))
        lacking = tuple(part for part in parts if not has(known.assessment, part))
        return Question(key, text.brief, texts, lacking, known.assessment) if lacking else None


class Panel:
    """The workers of one call."""

    def __init__(self, kept: Judgements, options: ClaimOptions, progress: Progress) -> None:
        """Get ready.

        Args:
            kept: Where to keep what is said, locked for writing.
            options: How claims are chosen.
            progress: Whom to tell.
        """
        self._kept = kept
        self._options = options
        self._progress = progress
        self._call = uuid.uuid4().hex[:12]
        self._failures: dict[str, int] = {}  # in a row, by judge
        self._before: dict[str, dict[str, float]] = {}  # usage

    async def work(self, seats: Sequence[Seat], concurrency: int) -> None:
        """Ask what is left to ask; returns or raises with everything that was said on the disk.

        Args:
            seats: The judges.
            concurrency: Judgements of one judge at one time.

        Raises:
            UserError: If a judge finds something that the user can mend.
            WorkError: If the disk refuses.
        """
        self._progress.start(
            sum(seat.wanted for seat in seats),
            sum(seat.wanted - len(seat.questions) for seat in seats),
        )
        try:
            with ThreadPoolExecutor(1, "zephyrus-judgements") as disk:
                for seat in seats:  # before any judgement is written in the other thread
                    if self._kept.ids(seat.judge.name)[-1:] != [seat.settings.id]:
                        await _save(disk, self._kept.introduce, seat.settings)
                    self._before[seat.judge.name] = asdict(seat.judge.usage)
                async with asyncio.TaskGroup() as group:
                    for seat in seats:
                        shared = iter(seat.questions)
                        for _ in range(min(concurrency, len(seat.questions))):
                            group.create_task(self._work(seat.judge, shared, disk))
        except BaseExceptionGroup as errors:
            raise _first(errors) from None
        finally:
            self._progress.stop()

    async def _work(
        self, judge: Judge, shared: Iterator[Question], disk: ThreadPoolExecutor
    ) -> None:
        for question in shared:
            if self._failures.get(judge.name, 0) >= FAILURES_IN_A_ROW:
                return
            began = time.monotonic()
            said = await assess(
                judge,
                question.brief,
                options=self._options,
                scoring_pass=question.key.scoring_pass,
                parts=question.parts,
            )
            judgement = Judgement(
                question.key,
                question.digest,
                said if question.earlier is None else merge(question.earlier, said),
                time.monotonic() - began,
                self._call,
                self._usage(judge),
            )
            await asyncio.shield(_save(disk, self._kept.append, judgement))
            down = all(part in said.missing for part in question.parts)
            self._failures[judge.name] = self._failures.get(judge.name, 0) + 1 if down else 0
            self._progress.update(judgement)
            await asyncio.sleep(0)  # a judge that never waits must not starve the others

    def _usage(self, judge: Judge) -> dict[str, float]:
        before = self._before[judge.name]
        return {name: value - before[name] for name, value in asdict(judge.usage).items()}


async def _save(disk: ThreadPoolExecutor, write: Callable[[T], None], what: T) -> None:
    try:
        await asyncio.get_running_loop().run_in_executor(disk, write, what)
    except OSError as error:
        raise WorkError(f"a judgement could not be written: {error}") from error


def _first(errors: BaseExceptionGroup[BaseException]) -> BaseException:
    """One error of a group, the first that is nobody's cancellation."""
    for error in _leaves(errors):
        if not isinstance(error, asyncio.CancelledError):
            return error
    return errors.exceptions[0]


def _leaves(errors: BaseExceptionGroup[BaseException]) -> Iterable[BaseException]:
    for error in errors.exceptions:
        if isinstance(error, BaseExceptionGroup):
            yield from _leaves(error)
        else:
            yield error
