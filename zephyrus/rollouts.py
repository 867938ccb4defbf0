"""`rollout`: many episodes at once, everything kept in a run folder; `rescore`: a run scored anew.

However a run ends, what had finished is kept and the same call goes on from there. What happens
to errors is told in `zephyrus.crew`.
"""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
import json
import platform
from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import datetime
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus import __version__
from zephyrus.crew import Crew, resume_text
from zephyrus.episode import score
from zephyrus.errors import UserError, WorkError
from zephyrus.loops import run_sync
from zephyrus.policy.base import Policy
from zephyrus.progress import Progress, make_progress
from zephyrus.registry import make
from zephyrus.run import Run
from zephyrus.runconfig import CONFIG
from zephyrus.task import Task, TaskSet
from zephyrus.trajectory import Key, Trajectory

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv


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
        UserError: If the policy can't answer, the bank has fewer than ``n`` tasks, a world is
            not to be had, or the folder holds another run.
        WorkError: If the world or the endpoint kept failing; the run can be resumed.
    """
    env, made, policy = _resolve(env, policy)
    try:
        if concurrency < 1 or repeats < 1 or (n is not None and n < 1):
            raise UserError("n, repeats and concurrency must be at least 1")
        bank = env.tasks() if tasks is None else TaskSet(tasks, "tasks")
        chosen = _choose(bank if tasks is not None else bank.shuffle(seed), n)
        _check_worlds(env, chosen)
        policy.check_tasks(env, chosen)
        await policy.check()
        await env.check()
        config = _config(env, policy, bank, seed, len(chosen), repeats)
        with Run.create(output or default_output(env, policy), config) as run:
            crew = Crew(env, policy, run, make_progress(progress))
            try:
                await crew.work(
                    [
                        (task, Key(task.id, seed, repeat))
                        for repeat in range(repeats)
                        for task in chosen
                    ],
                    concurrency,
                )
            except BaseException:
                with contextlib.suppress(UserError):  # the disk may be what has failed
                    run.write_summary()
                raise
            run.write_summary()
    finally:
        if made:
            await policy.close()
        await env.release()
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
    """`arollout` for code that is not asynchronous, and for notebooks.

    It returns when all is done, also where an event loop runs, as in a notebook: the work then has a
    loop and a thread of its own. ``await rollout(…)`` is the same, since a run may be awaited and is
    there at once; a script and a notebook thus give the same with and without ``await``. What shall
    leave the running loop free meanwhile takes `arollout`.

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
        raise WorkError(f"stopped with {resume_text(done, folder)}") from None


async def arescore(
    run: Run,
    env: ToolEnv,
    tasks: Iterable[Task] | None = None,
    *,
    missing: bool = False,
    concurrency: int = 64,
    progress: bool | Progress | None = None,
) -> dict[str, Any]:
    """Compute the rewards of a run anew from its trajectories, without its policy.

    The verifier and the gold answers may have changed since; the questions may not. The run's
    configuration takes the environment's new options on, so that what is added to the run later
    is scored in the same way.

    Args:
        run: The run, not open for writing. Its trajectories are replaced all at once.
        env: The environment that scores.
        tasks: The bank, if the run was made with one of its own.
        missing: Score only what a judge could not be had for, and keep the other rewards.
        concurrency: Rollouts that are scored at one time, where a judge is asked.
        progress: A callback, True for a bar, False for silence; a bar if stderr is a terminal
            by default.

    Returns:
        The new summary.

    Raises:
        UserError: If another process writes the run, or a task is missing or asks another thing.
    """
    bank = env.tasks(run.config["env"].get("split")) if tasks is None else TaskSet(tasks, "tasks")

    shown = make_progress(progress, "rescored")
    await env.check()
    with run.lock():
        kept: dict[Key, dict[str, Any]] = {}  # not the trajectories: their pictures may be large

        async def again(trajectory: Trajectory) -> None:
            task = bank[trajectory.key.task]
            if trajectory.messages[1].content != task.prompt:
                raise UserError(
                    f"the task {task.id!r} now asks something else than it did in {run.path}"
                )
            if trajectory.rewards is None or not missing:
                await score(env, task, trajectory)
                rewards, unscored = trajectory.rewards, trajectory.unscored
                facts = trajectory.task | task.facts()
                kept[trajectory.key] = {"rewards": rewards, "unscored": unscored, "task": facts}
            shown.update(trajectory)

        def rescored() -> Iterator[Trajectory]:
            for trajectory in run:
                yield replace(trajectory, **kept.get(trajectory.key, {}))

        shown.start(len(run), 0, run.path)
        try:
            rollouts = iter(run)
            while some := list(islice(rollouts, concurrency)):
                await asyncio.gather(*map(again, some))
        finally:
            shown.stop()
            await env.release()
        run.replace(rescored())
        asked = {"tools", "compact", "split"}  # what the policy saw has not changed
        options = {k: v for k, v in env.describe().items() if k not in asked}
        run.reconfigure({"env": {**run.config["env"], **options}, "bank": _bank_facts(bank)})
        return run.write_summary()


def rescore(
    run: Run,
    env: ToolEnv,
    tasks: Iterable[Task] | None = None,
    *,
    missing: bool = False,
    concurrency: int = 64,
    progress: bool | Progress | None = None,
) -> dict[str, Any]:
    """`arescore` for code that is not asynchronous."""
    return run_sync(
        arescore(run, env, tasks, missing=missing, concurrency=concurrency, progress=progress)
    )


def default_output(env: ToolEnv, policy: Policy) -> Path:
    """A folder below ``runs/`` that does not exist yet: environment, policy and time."""
    name = f"{env.name}-{policy.name}-{datetime.now():%Y%m%d-%H%M%S}"
    name = "".join(c if c.isalnum() or c in "-_." else "-" for c in name)
    path, number = Path("runs", name), 1
    while path.exists():
        number += 1
        path = Path("runs", f"{name}-{number}")
    return path


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
            "for more rollouts do each several times with --repeats (repeats=…)"
        )
    return bank.take(n or len(bank))


def _check_worlds(env: ToolEnv, tasks: Iterable[Task]) -> None:
    """Meet the user's mistakes in the worlds, such as an unknown dataset, before a folder is made.

    Other errors are left to the rollouts, which record them.
    """
    worlds = {json.dumps(task.world, sort_keys=True, default=str): task for task in tasks}
    for task in worlds.values():
        try:
            env.world(task)
        except UserError:
            raise
        except Exception:
            continue


def _config(
    env: ToolEnv, policy: Policy, bank: TaskSet, seed: int, n: int, repeats: int
) -> dict[str, Any]:
    return {
        "env": {**env.describe(), "prompt_sha256": prompt_digest(env)},
        "policy": policy.describe(),
        "seed": seed,
        "n": n,
        "repeats": repeats,
        "limits": env.limits.to_dict(),
        "bank": _bank_facts(bank),
        "versions": {"zephyrus": __version__, "python": platform.python_version()},
    }


def prompt_digest(env: ToolEnv) -> str:
    """What tells whether a policy would be shown the same prompt and tools."""
    return _digest(json.dumps([env.system_prompt(), env.tool_schemas()]))


def _bank_facts(bank: TaskSet) -> dict[str, Any]:
    text = "\n".join(json.dumps(task.to_dict(), ensure_ascii=False) for task in bank)
    return {"name": bank.name, "tasks": len(bank), "sha256": _digest(text)}


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()[:16]
