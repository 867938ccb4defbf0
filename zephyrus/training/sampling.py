"""Rollouts to train on: all of them scored, however long a judge or an endpoint is away.

A rollout that could not be had, or could not be judged, is never a reward of 0. The work waits and
tries again; after `Patience.seconds` it stops with everything kept, and the same command goes on.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TypeVar

from zephyrus.env import ToolEnv
from zephyrus.errors import NoAnswerError, WorkError
from zephyrus.loops import run_sync
from zephyrus.policy.base import Policy
from zephyrus.progress import Progress
from zephyrus.rollouts import arescore, arollout
from zephyrus.run import Run
from zephyrus.task import Task
from zephyrus.trajectory import Key, Trajectory

T = TypeVar("T")


class OutageError(Exception):
    """Something that answered before does not: worth waiting for."""


class BrokenError(Exception):
    """Rollouts broke in the world or in the policy: worth a few more tries."""


@dataclass(frozen=True)
class Patience:
    """How long an outage is waited for.

    Attributes:
        seconds: Altogether.
        first: The first pause; each is twice the one before.
        longest: No pause is longer.
        tries: How often rollouts that break for another reason are tried; and how often a judge
            that answers is asked for the few rollouts that it can't score.
        sleep: What pauses.
        say: Hears why there is a pause, and how long it is.
    """

    seconds: float = 24 * 3600.0
    first: float = 10.0
    longest: float = 300.0
    tries: int = 4
    sleep: Callable[[float], None] = field(default=time.sleep)
    say: Callable[[str], None] = field(default=lambda text: print(text, file=sys.stderr))


def sample(
    env: ToolEnv,
    policy: Policy,
    tasks: Sequence[Task],
    folder: Path,
    *,
    repeats: int = 1,
    seed: int = 0,
    concurrency: int = 16,
    progress: bool | Progress | None = False,
    patience: Patience | None = None,
    fresh: bool = False,
    under_way: bool = True,
) -> list[Trajectory]:
    """Roll a policy out on tasks until every rollout is there and scored.

    Args:
        env: The environment.
        policy: The policy.
        tasks: The tasks, each once.
        folder: The run folder; what is finished there is not done again.
        repeats: Rollouts of each task.
        seed: Of the rollouts.
        concurrency: Episodes that are open at one time.
        progress: See `zephyrus.rollouts.arollout`.
        patience: With outages.
        fresh: Do everything anew: what an earlier process left lacks its tokens.
        under_way: Whether a judge that can't be reached at all is an outage. Where work only
            begins it is the user's mistake, and an error at once.

    Returns:
        By task in their order, each with its repeats. All are scored, but for fewer than half that a
        judge which does answer fails on again and again; their rewards are None.

    Raises:
        WorkError: If something stays away for longer than is waited for.
        UserError: The user's mistake, such as a wrong option.
    """
    if fresh:
        shutil.rmtree(folder, ignore_errors=True)
    wanted = [Key(task.id, seed, repeat) for task in tasks for repeat in range(repeats)]
    if not wanted:
        return []

    async def work() -> Run:
        try:
            run = await arollout(
                env,
                policy,
                tasks=tasks,
                repeats=repeats,
                seed=seed,
                concurrency=concurrency,
                output=folder,
                progress=progress,
            )
            if any(trajectory.rewards is None for trajectory in run):
                await arescore(run, env, tasks, missing=True, progress=False)
            return run
        finally:
            await policy.close()
            await env.release()  # scoring anew opens connections before it finds nobody there

    async def judge_answers() -> bool:
        try:
            await env.check()
        except NoAnswerError:
            return False
        finally:
            await env.release()
        return True

    patience = patience or Patience()
    tried = 0

    def attempt() -> list[Trajectory]:
        nonlocal tried
        tried += 1
        try:
            run_sync(work())
        except NoAnswerError as error:
            if under_way:
                raise OutageError(str(error)) from error
            raise
        except WorkError as error:
            raise BrokenError(str(error)) from error
        found = {trajectory.key: trajectory for trajectory in Run.open(folder)}
        lost = [key for key in wanted if key not in found]
        if lost:
            raise BrokenError(f"{len(lost)} of {len(wanted)} rollouts broke (see {folder})")
        unscored = [found[key] for key in wanted if found[key].rewards is None]
        few = 2 * len(unscored) < len(wanted) and tried >= patience.tries
        if unscored and not (few and run_sync(judge_answers())):
            raise OutageError(f"{len(unscored)} rollouts are not scored: {unscored[0].unscored}")
        return [found[key] for key in wanted]

    return until_done(attempt, patience)


def until_done(attempt: Callable[[], T], patience: Patience) -> T:
    """Try until it works.

    Raises:
        WorkError: The last trouble, if it lasts longer than is waited for.
    """
    waited, pause, broken = 0.0, patience.first, 0
    while True:
        try:
            return attempt()
        except (OutageError, BrokenError) as error:
            broken += isinstance(error, BrokenError)
            if waited + pause > patience.seconds or broken >= patience.tries:
                raise WorkError(
                    f"{error}; everything is kept, and the same again goes on"
                ) from error
            patience.say(f"paused for {pause:.0f} s: {error}")
            patience.sleep(pause)
            waited += pause
            pause = min(2 * pause, patience.longest)
