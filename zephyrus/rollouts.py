"""Many episodes at once: concurrency, budgets of time, errors, progress, resume, Ctrl-C.

A fixed crew of workers shares one list of (task, repeat) in an order that the seed fixes. One
writer appends what they finish to the run folder, as many lines as are ready in one go, in a
thread, so that waiting for the disk holds nobody up.

Who made a mistake decides what happens:

- the agent: an observation, the episode goes on (`zephyrus.episode`);
- the world, the policy's endpoint, or the policy's own code: the rollout goes to ``errors.jsonl``
  without a score and is tried again on resume. `FAILURES_IN_A_ROW` of them in a row, or no other
  outcome at all, stop the run with a `WorkError`: something is down, and going on would only
  burn through the tasks;
- the user (`UserError`, from wherever): the run stops at once.

However a run ends, what had finished is kept and the same call goes on from there.
"""

from __future__ import annotations

import asyncio
import hashlib
import json
import platform
import time
import traceback
from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus import __version__
from zephyrus.errors import PolicyError, UserError, WorkError
from zephyrus.limits import StopReason
from zephyrus.loops import run_sync
from zephyrus.policy.base import ContextLengthError, Policy, Session
from zephyrus.progress import Progress, make_progress
from zephyrus.registry import make
from zephyrus.run import CONFIG, ERRORS, Run
from zephyrus.summary import last_line
from zephyrus.task import Task, TaskSet
from zephyrus.trajectory import Key, Trajectory

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv
    from zephyrus.episode import Episode

FAILURES_IN_A_ROW = 10
"""So many infrastructure errors with no other outcome between them stop a run."""


async def arollout(
    env: ToolEnv | str,
    policy: Policy | str,
    *,
    n: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 32,
    output: str | Path | None = None,
    tasks: Iterable[Task] | None = None,
    progress: bool | Progress | None = None,
) -> Run:
    """Let a policy work on many tasks at once, and keep everything in a run folder.

    Args:
        env: The environment or its name. Its split says which tasks there are.
        policy: The policy, or what ``--policy`` takes. One given by name is closed at the end.
        n: How many tasks, drawn with ``seed`` in turn from each template; all by default.
        repeats: Rollouts of each task. Every task is done once before any is done again.
        seed: Fixes the order of the tasks; policies get it too.
        concurrency: Episodes that are open at one time.
        output: The run folder; one that exists is resumed. By default a new one below ``runs/``.
        tasks: Tasks to use, in this order, instead of the environment's.
        progress: A callback, True for a bar, False for silence; a bar if stderr is a terminal
            by default.

    Returns:
        The run, closed for writing, its summary made.

    Raises:
        UserError: If the policy can't answer, the bank has fewer than ``n`` tasks, or the folder
            holds another run.
        WorkError: If the world or the endpoint kept failing; the run can be resumed.
    """
    env, made, policy = _resolve(env, policy)
    try:
        if concurrency < 1 or repeats < 1 or (n is not None and n < 1):
            raise UserError("n, repeats and concurrency must be at least 1")
        bank = env.tasks() if tasks is None else TaskSet(tasks, "tasks")
        chosen = _choose(bank if tasks is not None else bank.shuffle(seed), n)
        await policy.check()
        config = _config(env, policy, bank, seed, len(chosen), repeats)
        with Run.create(output or default_output(env, policy), config) as run:
            try:
                crew = _Crew(env, policy, run, make_progress(progress))
                await crew.work(
                    [
                        (task, Key(task.id, seed, repeat))
                        for repeat in range(repeats)
                        for task in chosen
                    ],
                    concurrency,
                )
            finally:
                run.write_summary()
    finally:
        if made:
            await policy.close()
    return run


def rollout(
    env: ToolEnv | str,
    policy: Policy | str,
    *,
    n: int | None = None,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 32,
    output: str | Path | None = None,
    tasks: Iterable[Task] | None = None,
    progress: bool | Progress | None = None,
) -> Run:
    """`arollout` for code that is not asynchronous, also in a notebook with a running loop.

    The policy is closed at the end, since its connections end with the loop; it may be used again.

    Raises:
        WorkError: As `arollout`, and after Ctrl-C, when all that had finished is on the disk.
    """
    env, _, policy = _resolve(env, policy)
    folder = Path(output or default_output(env, policy))

    async def work() -> Run:
        try:
            return await arollout(
                env,
                policy,
                n=n,
                repeats=repeats,
                seed=seed,
                concurrency=concurrency,
                output=folder,
                tasks=tasks,
                progress=progress,
            )
        finally:
            await policy.close()

    try:
        return run_sync(work())
    except KeyboardInterrupt:
        if not (folder / CONFIG).exists():
            raise WorkError("stopped before any rollout") from None
        done = len(Run.open(folder))
        raise WorkError(f"stopped with {_resume(done, folder)}") from None


def rescore(run: Run, env: ToolEnv, tasks: Iterable[Task] | None = None) -> dict[str, Any]:
    """Compute the rewards of a run anew from its trajectories, without its policy.

    The verifier and the gold answers may have changed since; the questions may not.

    Args:
        run: The run, not open for writing. Its trajectories are replaced all at once.
        env: The environment that scores.
        tasks: The bank, if the run was made with one of its own.

    Returns:
        The new summary.

    Raises:
        UserError: If another process writes the run, or a task is missing or asks another thing.
    """
    bank = env.tasks(run.config["env"].get("split")) if tasks is None else TaskSet(tasks, "tasks")

    def rescored() -> Iterator[Trajectory]:
        for trajectory in run:
            task = bank[trajectory.key.task]
            if trajectory.messages[1].content != task.prompt:
                raise UserError(
                    f"the task {task.id!r} now asks something else than it did in {run.path}"
                )
            trajectory.task["gold"] = task.gold
            trajectory.rewards = env.score(task, trajectory)
            yield trajectory

    with run.lock():
        run.replace(rescored())
        return run.write_summary()


def default_output(env: ToolEnv, policy: Policy) -> Path:
    """A folder below ``runs/`` that does not exist yet: environment, policy and time."""
    name = f"{env.name}-{policy.name}-{datetime.now():%Y%m%d-%H%M%S}"
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    path, number = Path("runs", name), 1
    while path.exists():
        number += 1
        path = Path("runs", f"{name}-{number}")
    return path


class _Crew:
    """The workers of one call, and the writer that keeps what they finish."""

    def __init__(self, env: ToolEnv, policy: Policy, run: Run, progress: Progress) -> None:
        self.env = env
        self.policy = policy
        self.run = run
        self.progress = progress
        self.trouble: Exception | None = None
        self.finished = 0
        self.failures = 0  # in a row
        self.last_error = ""
        self.workers: list[asyncio.Task[None]] = []
        self.ended: asyncio.Queue[Trajectory | None] = asyncio.Queue()

    async def work(self, wanted: list[tuple[Task, Key]], concurrency: int) -> None:
        """Do what is not done yet; returns or raises with every finished rollout on the disk."""
        done = self.run.done_keys()
        todo = [(task, key) for task, key in wanted if key not in done]
        self.progress.start(len(wanted), len(wanted) - len(todo), self.run.path)
        writer = asyncio.create_task(self._write())
        shared = iter(todo)
        self.workers = [
            asyncio.create_task(self._worker(shared)) for _ in range(min(concurrency, len(todo)))
        ]
        try:
            await asyncio.gather(*self.workers, return_exceptions=True)
        finally:  # also when we are cancelled, by Ctrl-C or by our caller
            for worker in self.workers:
                worker.cancel()
            await asyncio.gather(*self.workers, return_exceptions=True)
            self.ended.put_nowait(None)
            await asyncio.shield(writer)
            self.progress.stop()
        if self.trouble is not None:
            raise self.trouble
        if (todo and not self.finished) or self.failures >= FAILURES_IN_A_ROW:
            many = "all" if not self.finished else "the last"
            raise WorkError(
                f"{many} {self.failures} rollouts failed: {self.last_error} "
                f"(see {self.run.path / ERRORS}). Stopped with "
                f"{_resume(len(self.run.done_keys()), self.run.path)}"
            )

    async def _worker(self, shared: Iterator[tuple[Task, Key]]) -> None:
        for task, key in shared:
            try:
                trajectory = await self._one(task, key)
            except Exception as error:  # the user's mistake, or a bug of ours: no rollout's fault
                self._halt(error)
                return
            self.ended.put_nowait(trajectory)
            if not trajectory.failed:
                self.failures = 0
                self.finished += 1
                continue
            self.failures += 1
            self.last_error = last_line(trajectory.error)
            if self.failures >= FAILURES_IN_A_ROW:
                self._halt()
                return

    async def _one(self, task: Task, key: Key) -> Trajectory:
        try:
            episode = self.env.begin(task, key)
        except UserError:
            raise
        except Exception as error:
            facts = {"template": task.template, "answer_type": task.answer_type}
            return Trajectory(key, stop=StopReason.ERROR, error=_trace(error), task=facts)
        try:
            began = time.monotonic()
            session = self.policy.session(self.env, task, key.seed, key.repeat)
            while not episode.done:
                await self._turn(session, episode, began)
                await asyncio.sleep(0)  # a policy that never waits must not starve the others
        except UserError:
            raise
        except ContextLengthError:
            episode.truncate(StopReason.TOKENS)
        except PolicyError as error:
            episode.fail(str(error))
        except Exception as error:
            episode.fail(_trace(error))
        return episode.trajectory

    async def _turn(self, session: Session, episode: Episode, began: float) -> None:
        limit, asked = episode.limits.seconds, time.monotonic()
        left = None if limit is None else limit - (asked - began)
        try:
            async with asyncio.timeout(left) as clock:
                reply = await session.act(episode.messages)
        except TimeoutError:
            if not clock.expired():
                raise  # the policy's own, and so an error of its endpoint
            episode.trajectory.policy_seconds += time.monotonic() - asked
            episode.truncate(StopReason.TIME)
            return
        if not reply.seconds:
            reply = replace(reply, seconds=time.monotonic() - asked)
        await episode.step(reply)

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        broken = False
        more = True
        with ThreadPoolExecutor(1, "zephyrus-writer") as disk:  # tools may fill the default one
            while more:
                batch = [await self.ended.get()]
                while not self.ended.empty():
                    batch.append(self.ended.get_nowait())
                ended = [trajectory for trajectory in batch if trajectory is not None]
                more = len(ended) == len(batch)
                if not ended or broken:
                    continue
                try:
                    await loop.run_in_executor(disk, self.run.append, *ended)
                    for trajectory in ended:
                        self.progress.update(trajectory)
                except Exception as error:
                    broken = True
                    self._halt(
                        WorkError(f"could not write the run {self.run.path}: {error}")
                        if isinstance(error, OSError)
                        else error
                    )

    def _halt(self, trouble: Exception | None = None) -> None:
        self.trouble = self.trouble or trouble
        for worker in self.workers:
            worker.cancel()


def _resolve(env: ToolEnv | str, policy: Policy | str) -> tuple[ToolEnv, bool, Policy]:
    """The environment, whether the policy was made here, and the policy."""
    if isinstance(env, str):
        env = make(env)
    if not isinstance(policy, str):
        return env, False, policy
    from zephyrus.policy import make_policy

    return env, True, make_policy(policy)


def _choose(bank: TaskSet, n: int | None) -> TaskSet:
    if not len(bank):
        raise UserError(f"the bank {bank.name!r} has no tasks")
    if n is not None and n > len(bank):
        raise UserError(
            f"the bank {bank.name!r} has {len(bank)} tasks, not {n}; "
            "for more rollouts do each task several times with repeats"
        )
    return bank.take(n or len(bank))


def _config(
    env: ToolEnv, policy: Policy, bank: TaskSet, seed: int, n: int, repeats: int
) -> dict[str, Any]:
    prompt = json.dumps([env.system_prompt(), env.tool_schemas()])
    tasks = "\n".join(json.dumps(task.to_dict(), ensure_ascii=False) for task in bank)
    return {
        "env": {**env.describe(), "prompt_sha256": _digest(prompt)},
        "policy": policy.describe(),
        "seed": seed,
        "n": n,
        "repeats": repeats,
        "limits": env.limits.to_dict(),
        "bank": {"name": bank.name, "tasks": len(bank), "sha256": _digest(tasks)},
        "versions": {"zephyrus": __version__, "python": platform.python_version()},
    }


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()[:16]


def _resume(done: int, folder: Path) -> str:
    return (
        f"{done} rollouts finished and kept; to go on, run the same again with the output {folder}"
    )


def _trace(error: BaseException) -> str:
    return "".join(traceback.format_exception(error)).strip()
