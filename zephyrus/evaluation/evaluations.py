"""`evaluate`: judges over the rollouts of a run, as often as asked, everything kept.

What was judged with the same settings is not asked again, so that the same call goes on after a
kill or an outage. A judgement that could not be had is missing, counted and in no mean.
"""

from __future__ import annotations

import json
import shlex
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from zephyrus.errors import UserError, WorkError
from zephyrus.evaluation.judgements import Judgements
from zephyrus.evaluation.panel import Panel, Progress, Seat
from zephyrus.evaluation.progress import make_progress
from zephyrus.evaluation.result import Evaluation, make_evaluation
from zephyrus.evaluation.settings import Settings, brief_digest
from zephyrus.evaluation.texts import chosen_events, env_of, one_rubric, read_texts
from zephyrus.fileformat import FileFormat
from zephyrus.jsonlines import write_whole
from zephyrus.judge.assess import PARTS
from zephyrus.judge.base import Judge
from zephyrus.judge.discussion import ClaimOptions
from zephyrus.loops import run_sync
from zephyrus.messages import clean_text
from zephyrus.run import Run, find
from zephyrus.task import Task

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv

EVALUATION = "evaluation.json"
FORMAT = FileFormat("evaluation", "0.1.0")
OFFLINE = "rules"
"""The judge that needs no model."""
PASSES = 3
"""Scoring passes of Tables 2 and 3."""


async def aevaluate(
    run: Run | str | Path,
    env: ToolEnv,
    judges: str | Judge | Iterable[str | Judge] = "rules",
    *,
    passes: int = PASSES,
    options: ClaimOptions | None = None,
    parts: Sequence[str] = PARTS,
    n: int | None = None,
    tasks: Iterable[Task] | None = None,
    concurrency: int = 32,
    base_url: str | None = None,
    cache: Path | Literal[False] | None = None,
    progress: bool | Progress | None = None,
) -> Evaluation:
    """Have judges score the finished rollouts of a run.

    Every judgement is appended to ``judgements.jsonl``, and the numbers are written to
    ``evaluation.json``, in the run folder. Check `Evaluation.missing`: a judge that could not be
    had is no error here; the same call asks again for what is missing.

    Args:
        run: The run, its folder, or its folder's name below ``runs``.
        env: The environment that it was made with; its `brief` says what is judged.
        judges: Judges, or what ``--judges`` takes. Those given by name are closed at the end.
        passes: Scoring passes; a deterministic judge makes one.
        options: How claims are chosen and counted.
        parts: What to ask for, of "rubric" and "claims".
        n: Only so many events, the same ones for every run of a bank.
        tasks: The bank, if the run was made with one of its own.
        concurrency: Rollouts that one judge works on at one time; each is several requests.
        base_url: The endpoint of judges given by name, instead of the judge table's; a plug-in
            such as ``rules`` is not told.
        cache: Where judges given by name keep their answers; False for nowhere.
        progress: A callback, True for a bar, False for silence; a bar if stderr is a terminal
            by default.

    Raises:
        UserError: If a judge can't answer, there is nothing to judge, or another process
            evaluates the run.
        WorkError: If the disk refuses.
    """
    evaluation = await _judge(
        run if isinstance(run, Run) else find(run),
        env,
        [judges] if isinstance(judges, str | Judge) else list(judges),
        passes=passes,
        options=options or ClaimOptions(),
        parts=parts,
        n=n,
        tasks=tasks,
        concurrency=concurrency,
        making={"base_url": base_url, "cache": cache},
        progress=progress,
    )
    write_evaluation(evaluation)
    return evaluation


def evaluate(
    run: Run | str | Path,
    env: ToolEnv,
    judges: str | Judge | Iterable[str | Judge] = "rules",
    *,
    passes: int = PASSES,
    options: ClaimOptions | None = None,
    parts: Sequence[str] = PARTS,
    n: int | None = None,
    tasks: Iterable[Task] | None = None,
    concurrency: int = 32,
    base_url: str | None = None,
    cache: Path | Literal[False] | None = None,
    progress: bool | Progress | None = None,
) -> Evaluation:
    """`aevaluate` for code that is not asynchronous, also in a notebook with a running loop.

    Judges are closed at the end, since their connections end with the loop.

    Raises:
        WorkError: As `aevaluate`, and after Ctrl-C, when all that was judged is on the disk.
    """
    given: list[str | Judge] = [judges] if isinstance(judges, str | Judge) else list(judges)

    async def work() -> Evaluation:
        try:
            return await aevaluate(
                run,
                env,
                given,
                passes=passes,
                options=options,
                parts=parts,
                n=n,
                tasks=tasks,
                concurrency=concurrency,
                base_url=base_url,
                cache=cache,
                progress=progress,
            )
        finally:
            for judge in given:
                if isinstance(judge, Judge):
                    await judge.close()

    try:
        return run_sync(work())
    except KeyboardInterrupt:
        raise WorkError(
            "stopped; every judgement that was made is kept, and the same command goes on"
        ) from None


def read_evaluation(
    run: Run,
    judges: Sequence[str] | None = None,
    *,
    passes: int | None = None,
    options: ClaimOptions | None = None,
    parts: Sequence[str] = PARTS,
    settings: Mapping[str, str] | None = None,
    n: int | None = None,
    kept: Judgements | None = None,
) -> Evaluation:
    """The numbers of judgements that were made already; no judge and no environment is needed.

    Args:
        run: The run.
        judges: Names of judges; all that have judged the run by default.
        passes: Scoring passes that are wanted; by default as many as each judge has made.
        options: How claims are counted.
        parts: What is wanted of every judgement.
        settings: Ids of the settings by judge; by default those that it was asked with last.
        n: Only so many events, as in `aevaluate`.
        kept: The judgements, if they are read already.

    Raises:
        UserError: If a judge has not judged the run, or not in so many passes; the message says
            with which command it will.
    """
    kept = kept or Judgements.read(run.path)
    names = list(judges) if judges else list(dict.fromkeys(s.judge for s in kept.settings.values()))
    if not names:
        raise UserError(f"the run {run.path} is not judged; first: {command(run.path, ['rules'])}")
    chosen = []
    for judge in names:
        ids = kept.ids(judge)
        used = kept.settings.get((settings or {}).get(judge, ids[-1] if ids else ""))
        done = {key.scoring_pass for key in kept.latest if used and key.settings == used.id}
        wanted = used.passes(passes or max(done, default=0) + 1) if used else 0
        if used is None or not done.issuperset(range(wanted)):
            how = f" in {wanted} scoring passes" if done else " with these settings" if ids else ""
            raise UserError(
                f"the run {run.path} is not judged by {judge!r}{how}; first: "
                f"{command(run.path, names, passes)}"
            )
        chosen.append((used, wanted))
    rewards = {t.key: t.rewards for t in run}
    events = chosen_events((key.task for key in rewards), n)
    return make_evaluation(
        run,
        {key: value for key, value in rewards.items() if key.task in events},
        chosen,
        kept,
        options=options or ClaimOptions(),
        parts=parts,
    )


def evaluated(
    run: Run,
    judges: Sequence[str],
    *,
    passes: int | None = None,
    options: ClaimOptions | None = None,
    parts: Sequence[str] = PARTS,
    settings: Mapping[str, str] | None = None,
    n: int | None = None,
) -> Evaluation:
    """`read_evaluation`, after the ``rules`` judge has done what it lacks: it costs nothing.

    Raises:
        UserError: As `read_evaluation`.
    """
    options = options or ClaimOptions()
    if OFFLINE in judges:
        work = _judge(
            run,
            env_of(run),
            [OFFLINE],
            passes=passes or 1,
            options=options,
            parts=parts,
            n=n,
            progress=False,
        )
        run_sync(work)
    return read_evaluation(
        run, judges, passes=passes, options=options, parts=parts, settings=settings, n=n
    )


def write_evaluation(evaluation: Evaluation) -> None:
    """Keep the numbers in the run folder, in the place of those of the last call.

    Raises:
        UserError: If they can't be written.
    """
    text = json.dumps(FORMAT.stamp(evaluation.to_dict()), indent=2, ensure_ascii=False)
    write_whole(Path(evaluation.path) / EVALUATION, clean_text(text) + "\n")


def command(path: str | Path, judges: Iterable[str], passes: int | None = None) -> str:
    """The command that has a run judged."""
    often = f" --passes {passes}" if passes else ""
    words = ["zephyrus", "env", "evaluate", str(path), "--judges", ",".join(judges)]
    return shlex.join(words) + often


async def _judge(
    run: Run,
    env: ToolEnv,
    judges: Sequence[str | Judge],
    *,
    passes: int,
    options: ClaimOptions,
    parts: Sequence[str],
    n: int | None,
    tasks: Iterable[Task] | None = None,
    concurrency: int = 32,
    making: Mapping[str, Any] | None = None,
    progress: bool | Progress | None = None,
) -> Evaluation:
    """What `aevaluate` does, but for writing ``evaluation.json``."""
    if passes < 1 or concurrency < 1 or (n is not None and n < 1):
        raise UserError("passes, n and concurrency must be at least 1")
    texts = read_texts(run, env, tasks, n)
    rubric = one_rubric(texts)
    made: list[Judge] = []
    try:
        everyone = _make_judges(judges, made, **making or {})
        with Judgements.lock(run.path) as kept:
            seats = [
                Seat(
                    judge,
                    Settings.of(judge, rubric, options),
                    texts,
                    kept,
                    passes=passes,
                    parts=parts,
                )
                for judge in everyone
            ]
            for seat in seats:
                if seat.questions:
                    await seat.judge.check()
            await Panel(kept, options, make_progress(progress)).work(seats, concurrency)
            return make_evaluation(
                run,
                {text.key: text.rewards for text in texts},
                [(seat.settings, seat.passes) for seat in seats],
                kept,
                options=options,
                parts=parts,
                texts={text.key: brief_digest(text.brief) for text in texts},
            )
    finally:
        for judge in made:
            await judge.close()


def _make_judges(
    given: Iterable[str | Judge],
    made: list[Judge],
    *,
    base_url: str | None = None,
    **options: Any,
) -> list[Judge]:
    """The judges; those that are made here are added to ``made``, also if a later one can't be."""
    everyone: list[Judge] = []
    for item in given:
        judge = item
        if isinstance(judge, str):
            from zephyrus.judge import make_judge
            from zephyrus.registry import names

            address = None if judge in names("judges") else base_url
            judge = make_judge(judge, base_url=address, **options)
            made.append(judge)
        everyone.append(judge)
    twice = [name for name, n in Counter(judge.name for judge in everyone).items() if n > 1]
    if twice or not everyone:
        wrong = f"has {', '.join(twice)} twice; name each judge once" if twice else "is empty"
        raise UserError(f"the list of judges {wrong}")
    return everyone
