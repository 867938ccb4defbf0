"""Self-Contra over saved runs: how often reasoning and answer differ (Weather-R1, Fig. 2a, Table 5)."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zephyrus.consistency.contradiction import TYPES, Kind, Proportions, average, classify
from zephyrus.consistency.judge import ConsistencyJudge
from zephyrus.consistency.question import ChoiceQuestion
from zephyrus.consistency.response import Response, final_answer, last_said, read_response
from zephyrus.errors import JudgeError, UserError
from zephyrus.run import Run
from zephyrus.trajectory import Key

if TYPE_CHECKING:
    from rich.console import RenderableType

    from zephyrus.consistency.labels import Agreement
    from zephyrus.env import ToolEnv

CONCURRENCY = 256
"""Reasonings that are read at one time, as in the paper (section 3)."""

_ROWS = (
    ("Self-Contra", "self_contra"),
    ("  Type 1: right reasoning, wrong answer", str(Kind.TYPE_1)),
    ("  Type 2: wrong reasoning, right answer", str(Kind.TYPE_2)),
    ("  Type 3: both wrong, or no conclusion", str(Kind.TYPE_3)),
    ("Consistent", str(Kind.CONSISTENT)),
    ("Not well-formed", str(Kind.MALFORMED)),
)


@dataclass(frozen=True, slots=True)
class Reading:
    """One response of a run.

    Attributes:
        key: The rollout.
        task: The kind of task, a column of Fig. 2a before it is averaged.
        question: What was asked.
        response: What the policy wrote.
        final: fa; None if the answer names no choice.
    """

    key: Key
    task: str
    question: ChoiceQuestion
    response: Response
    final: str | None


@dataclass(frozen=True, slots=True)
class Judged:
    """A response with what a judge took its reasoning to conclude.

    Attributes:
        reading: The response.
        kind: What it is.
        concluded: fa_rp; None if it can't be determined, or was not asked for.
        missing: Why there is no judgement; "" if there is one.
    """

    reading: Reading
    kind: Kind
    concluded: str | None = None
    missing: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        reading = self.reading
        return {
            "item": str(reading.key),
            "task": reading.task,
            "gold": reading.question.answer,
            "answer": reading.final,
            "concluded": self.concluded,
            "kind": str(self.kind),
            **({"missing": self.missing} if self.missing else {}),
        }


@dataclass(frozen=True, slots=True)
class SelfContra:
    """What a run came to.

    Attributes:
        run: Its name.
        judge: Who read the reasonings.
        judged: Every response.
    """

    run: str
    judge: str
    judged: tuple[Judged, ...]

    @property
    def by_task(self) -> dict[str, Proportions]:
        """The proportions of each kind of task, in the order of their names."""
        kinds: defaultdict[str, list[Kind]] = defaultdict(list)
        for one in self.judged:
            kinds[one.reading.task].append(one.kind)
        return {task: Proportions(kinds[task]) for task in sorted(kinds)}

    @property
    def overall(self) -> Proportions:
        """The proportions over all responses."""
        return Proportions(one.kind for one in self.judged)

    @property
    def missing(self) -> int:
        """Judgements that could not be had; they count in no proportion."""
        return self.overall.counts[Kind.MISSING]

    def conclusions(self) -> dict[str, str | None]:
        """By item, what the judge took the reasoning to conclude, where it was asked."""
        asked = (one for one in self.judged if one.kind not in (Kind.MALFORMED, Kind.MISSING))
        return {str(one.reading.key): one.concluded for one in asked}

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "run": self.run,
            "judge": self.judge,
            "tasks": {task: found.to_dict() for task, found in self.by_task.items()},
            "average": average(self.by_task.values()),
            "overall": self.overall.to_dict(),
            "responses": [one.to_dict() for one in self.judged],
        }


def read_run(run: Run, env: ToolEnv) -> list[Reading]:
    """The responses of a run's finished rollouts.

    Args:
        run: The run.
        env: The environment that it was made with.

    Raises:
        UserError: If there is none, a task asks something else than it did, or the environment asks
            no multiple-choice questions.
    """
    bank = env.tasks(run.config["env"].get("split"))
    found = []
    for trajectory in run:
        task = bank[trajectory.key.task]
        if trajectory.messages[1].content != task.prompt:
            raise UserError(
                f"the task {task.id!r} now asks something else than it did in {run.path}; give the "
                "bank that the run was made with (--bank FILE), or make the run anew"
            )
        question = env.choice_question(task)
        response = read_response(last_said(trajectory))
        final = final_answer(response.answer, question)
        kind = task.template or "(none)"
        found.append(
            Reading(trajectory.key, kind, question, response, final.letter if final else None)
        )
    if not found:
        raise UserError(f"the run {run.path} has no finished rollout to read")
    return found


async def judge_readings(
    readings: Sequence[Reading], judge: ConsistencyJudge, *, concurrency: int = CONCURRENCY
) -> list[Judged]:
    """Ask a judge what each well-formed reasoning concludes; what it fails on is missing.

    Args:
        readings: The responses.
        judge: Who reads them.
        concurrency: How many at one time.
    """
    room = asyncio.Semaphore(concurrency)

    async def one(reading: Reading) -> Judged:
        if not reading.response.well_formed or reading.final is None:
            return Judged(reading, Kind.MALFORMED)
        async with room:
            try:
                concluded = await judge.conclusion(reading.question, reading.response.reasoning)
            except JudgeError as error:
                return Judged(reading, Kind.MISSING, missing=str(error))
        kind = classify(concluded, reading.final, reading.question.answer)
        return Judged(reading, kind, concluded)

    return list(await asyncio.gather(*map(one, readings)))


def render(found: Sequence[SelfContra]) -> RenderableType:
    """Tables for a terminal: Table 5, a column a run; and each run by task."""
    from rich.console import Group
    from rich.table import Table

    table = Table(title="Self-Contra (% of responses, mean over tasks)", title_justify="left")
    table.add_column("")
    for one in found:
        table.add_column(_plain(one.run), justify="right")
    averages = [average(one.by_task.values()) for one in found]
    for label, name in _ROWS:
        table.add_row(label, *(_percent(row[name]) for row in averages))
        if name == str(TYPES[-1]):
            table.add_section()
    table.add_row("Judged", *(f"{one.overall.judged:,}" for one in found))
    if any(one.missing for one in found):
        table.add_row("Missing (no judgement)", *(f"{one.missing:,}" for one in found), style="red")
    parts: list[RenderableType] = [table]
    for one in found:
        tasks = Table(title=_plain(f"{one.run}, judged by {one.judge}"), title_justify="left")
        tasks.add_column("task")
        for name in ("n", "Self-Contra", "Type 1", "Type 2", "Type 3", "Not well-formed"):
            tasks.add_column(name, justify="right")
        for task, shares in one.by_task.items():
            tasks.add_row(_plain(task), *_task_row(shares))
        if len(one.by_task) > 1:
            tasks.add_section()
            tasks.add_row("all responses", *_task_row(one.overall))
        parts.append(tasks)
    return Group(*parts)


def render_agreement(found: Agreement) -> str:
    """How far a judge agrees with people, in one line."""
    kappa = "undefined (one label throughout)" if found.kappa is None else f"{found.kappa:.4f}"
    within = "" if found.ci95 is None else f" [95 %: {found.ci95[0]:.3f}–{found.ci95[1]:.3f}]"
    same = "–" if found.accuracy is None else f"{100 * found.accuracy:.1f} %"
    return (
        f"Against people on {found.items} reasonings: Cohen's κ {kappa}{within}, the same in {same}"
    )


def _task_row(shares: Proportions) -> Iterable[str]:
    yield str(shares.judged)
    yield _percent(shares.self_contra)
    for kind in (*TYPES, Kind.MALFORMED):
        yield _percent(shares.share(kind))


def _percent(value: float | None) -> str:
    return "–" if value is None else f"{100 * value:.2f}"


def _plain(text: str) -> Any:
    from rich.text import Text

    from zephyrus.view.plain import plain

    return Text(plain(text))


def sheet_rows(readings: Iterable[Reading], items: Sequence[str]) -> list[Mapping[str, str]]:
    """The rows of a sheet to label, in the order of the items."""
    known = {str(reading.key): reading for reading in readings}
    return [
        {
            "item": item,
            "question": known[item].question.question,
            "choices": known[item].question.listed(),
            "reasoning": known[item].response.reasoning,
        }
        for item in items
    ]
