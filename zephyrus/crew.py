"""The workers that do the rollouts of one call, and the writer that keeps what they finish.

A fixed crew shares one list of (task, repeat). One writer appends what has ended to the run
folder, as many lines as are ready in one go, in a thread, so that waiting for the disk holds
nobody up.

Who made a mistake decides what happens:

- the agent: an observation, the episode goes on (`zephyrus.episode`);
- the world, the policy's endpoint, or the policy's own code: the rollout goes to ``errors.jsonl``
  without a score and is tried again on resume, after all that broke less often. After
  `FAILURES_IN_A_ROW` of them in a row no further rollout is begun until one that is open
  finishes; if none does, something is down, and a `WorkError` stops the run, since going on would
  only burn through the tasks;
- the user (`UserError`, from wherever): the run stops at once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from zephyrus.errors import PolicyError, UserError, WorkError, trace
from zephyrus.limits import StopReason
from zephyrus.loops import is_cancelled
from zephyrus.policy.base import ContextLengthError, Policy, Session
from zephyrus.progress import Progress
from zephyrus.run import ERRORS, Run
from zephyrus.summary import last_line
from zephyrus.task import Task
from zephyrus.trajectory import Key, Trajectory

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv
    from zephyrus.episode import Episode

FAILURES_IN_A_ROW = 10
"""After so many infrastructure errors with no other outcome between them no rollout is begun."""


class Crew:
    """The workers of one call."""

    def __init__(self, env: ToolEnv, policy: Policy, run: Run, progress: Progress) -> None:
        """Get ready.

        Args:
            env: The environment.
            policy: The policy.
            run: Where to keep what has ended, locked for writing.
            progress: Whom to tell.
        """
        self._env = env
        self._policy = policy
        self._run = run
        self._progress = progress
        self._trouble: Exception | None = None
        self._open = 0
        self._count = 0  # finished or broken
        self._finished = 0
        self._failures = 0  # in a row
        self._last_error = ""
        self._news = asyncio.Condition()  # of a rollout that has ended
        self._workers: list[asyncio.Task[None]] = []
        self._ended: asyncio.Queue[Trajectory | None] = asyncio.Queue()

    async def work(self, wanted: list[tuple[Task, Key]], concurrency: int) -> None:
        """Do what is not done yet; returns or raises with every finished rollout on the disk.

        Args:
            wanted: The rollouts, in order.
            concurrency: How many at one time.

        Raises:
            UserError: The user's mistake, with the way to go on.
            WorkError: If the world or the endpoint kept failing, or the disk refused.
        """
        done, broken = self._run.done_keys(), self._run.failures()
        todo = [(task, key) for task, key in wanted if key not in done]
        todo.sort(key=lambda item: broken[item[1]])  # what breaks every time must not come first
        self._progress.start(len(wanted), len(wanted) - len(todo), self._run.path)
        writer = asyncio.create_task(self._write())
        shared = iter(todo)
        self._workers = [
            asyncio.create_task(self._work(shared)) for _ in range(min(concurrency, len(todo)))
        ]
        try:
            await asyncio.gather(*self._workers, return_exceptions=True)
        finally:  # also when we are cancelled, by Ctrl-C or by our caller
            for worker in self._workers:
                worker.cancel()
            await asyncio.gather(*self._workers, return_exceptions=True)
            self._ended.put_nowait(None)
            await asyncio.shield(writer)
            self._progress.stop()
        if isinstance(self._trouble, UserError):
            raise UserError(
                f"{str(self._trouble).rstrip('.')}. Stopped with {self._resume()}"
            ) from self._trouble
        if self._trouble is not None:
            raise self._trouble
        if (todo and not self._finished) or self._failures >= FAILURES_IN_A_ROW:
            raise WorkError(
                f"{self._which_failed(len(todo))} failed: {self._last_error} "
                f"(see {self._run.path / ERRORS}). Stopped with {self._resume()}"
            )
        if self._count < len(todo):  # whatever ended a worker, it must not look like success
            raise RuntimeError(f"{len(todo) - self._count} of {len(todo)} rollouts got lost")

    def _which_failed(self, asked: int) -> str:
        if self._finished:
            return f"the last {self._failures} rollouts"
        tried = "" if self._failures == asked else " that were tried"
        return f"all {self._failures} rollouts{tried}" if self._failures > 1 else "the only rollout"

    def _resume(self) -> str:
        return resume_text(len(self._run.done_keys()), self._run.path)

    async def _work(self, shared: Iterator[tuple[Task, Key]]) -> None:
        while await self._may_begin():
            task, key = next(shared, (None, None))
            if task is None or key is None:
                return
            self._open += 1
            try:
                self._take(await self._one(task, key))
            except Exception as error:  # the user's mistake, or a bug of ours: no rollout's fault
                self._halt(error)
                return
            finally:
                self._open -= 1
                async with self._news:
                    self._news.notify_all()

    def _take(self, trajectory: Trajectory) -> None:
        self._count += 1
        if trajectory.failed:
            self._failures += 1
            self._last_error = last_line(trajectory.error)
        else:
            self._failures = 0
            self._finished += 1
        self._ended.put_nowait(trajectory)

    async def _may_begin(self) -> bool:
        """Wait while too much fails; False when nothing is open that could prove it passing."""
        await asyncio.sleep(0)  # what fails at once must not starve the others
        async with self._news:
            await self._news.wait_for(lambda: self._failures < FAILURES_IN_A_ROW or self._open == 0)
        return self._failures < FAILURES_IN_A_ROW

    async def _one(self, task: Task, key: Key) -> Trajectory:
        episode: Episode | None = None
        try:
            episode = self._env.begin(task, key)
            session = self._policy.session(self._env, task, key.seed, key.repeat)
            while not episode.done:
                await take_turn(session, episode)
                await asyncio.sleep(0)  # a policy that never waits must not starve the others
        except UserError:
            raise
        except (Exception, asyncio.CancelledError) as error:
            if isinstance(error, asyncio.CancelledError) and is_cancelled():
                raise
            if episode is None:
                return Trajectory(key, stop=StopReason.ERROR, error=trace(error), task=task.facts())
            if isinstance(error, ContextLengthError):
                await episode.truncate(StopReason.TOKENS)
            else:
                episode.fail(str(error) if isinstance(error, PolicyError) else trace(error))
        return episode.trajectory

    async def _write(self) -> None:
        loop = asyncio.get_running_loop()
        broken = False
        more = True
        with ThreadPoolExecutor(1, "zephyrus-writer") as disk:  # tools may fill the default one
            while more:
                batch = [await self._ended.get()]
                while not self._ended.empty():
                    batch.append(self._ended.get_nowait())
                ended = [trajectory for trajectory in batch if trajectory is not None]
                more = len(ended) == len(batch)
                if not ended or broken:
                    continue
                try:
                    await loop.run_in_executor(disk, self._run.append, *ended)
                    for trajectory in ended:
                        self._progress.update(trajectory)
                except Exception as error:
                    broken = True
                    self._halt(
                        WorkError(f"could not write the run {self._run.path}: {error}")
                        if isinstance(error, OSError)
                        else error
                    )

    def _halt(self, trouble: Exception) -> None:
        self._trouble = self._trouble or trouble
        for worker in self._workers:
            worker.cancel()


async def take_turn(session: Session, episode: Episode) -> None:
    """Ask the policy for its next message and answer it, within the episode's budget of time."""
    asked = time.monotonic()
    try:
        async with asyncio.timeout(episode.seconds_left) as clock:
            reply = await session.act(episode.messages)
    except TimeoutError:
        if not clock.expired():
            raise  # the policy's own, and so an error of its endpoint
        episode.trajectory.policy_seconds += time.monotonic() - asked
        await episode.truncate(StopReason.TIME)
        return
    if not reply.seconds:
        reply = replace(reply, seconds=time.monotonic() - asked)
    await episode.step(reply)


def resume_text(done: int, folder: Path) -> str:
    """What is kept of a run that stopped early, and how to go on."""
    many = "1 rollout" if done == 1 else f"{done} rollouts"
    return f"{many} finished and kept; to go on, run the same again with the output {folder}"
