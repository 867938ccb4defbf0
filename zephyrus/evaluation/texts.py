"""What of a run is judged: the brief of every finished rollout."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from zephyrus.errors import UserError
from zephyrus.judge.base import Brief, Rubric
from zephyrus.run import Run
from zephyrus.task import Task, TaskSet
from zephyrus.trajectory import Key

if TYPE_CHECKING:
    from zephyrus.env import ToolEnv


@dataclass(frozen=True, slots=True)
class Text:
    """A rollout as the judges see it.

    Attributes:
        key: The rollout.
        brief: What is judged.
        rewards: The rewards that its environment gave, None if it gave none.
    """

    key: Key
    brief: Brief
    rewards: Mapping[str, float] | None


def env_of(run: Run, **options: Any) -> ToolEnv:
    """The environment that a run was made with, from its configuration.

    Args:
        run: The run.
        **options: In the place of, or besides, those of the configuration.

    Raises:
        UserError: If it can't be made.
    """
    from zephyrus.registry import make

    known = dict(run.config["env"])
    name = known.pop("name")
    kept = {k: v for k, v in known.items() if k not in ("tools", "prompt_sha256")}
    return make(name, **{**kept, **options})


def read_texts(
    run: Run, env: ToolEnv, tasks: Iterable[Task] | None = None, n: int | None = None
) -> list[Text]:
    """The briefs of a run's finished rollouts, ordered by `draw` and repeat.

    Args:
        run: The run.
        env: The environment that it was made with.
        tasks: The bank, if the run was made with one of its own.
        n: Only so many events: the first by `draw`, the same ones for every run.

    Raises:
        UserError: If there is nothing to judge, a task is missing or asks something else than it
            did, or the environment has no texts for a judge.
    """
    bank = env.tasks(run.config["env"].get("split")) if tasks is None else TaskSet(tasks, "tasks")
    chosen = chosen_events((key.task for key in run.done_keys()), n)
    texts = []
    for trajectory in run:
        if trajectory.key.task not in chosen:
            continue
        task = bank[trajectory.key.task]
        if trajectory.messages[1].content != task.prompt:
            raise UserError(
                f"the task {task.id!r} now asks something else than it did in {run.path}; give the "
                "bank that the run was made with (--bank FILE), or make the run anew"
            )
        texts.append(Text(trajectory.key, env.brief(task, trajectory), trajectory.rewards))
    if not texts:
        raise UserError(f"the run {run.path} has no finished rollout to judge")
    one_rubric(texts)
    return sorted(texts, key=lambda text: (text.key.repeat, draw(text.key.task), text.key))


def one_rubric(texts: Iterable[Text]) -> Rubric:
    """The rubric of all texts.

    Raises:
        UserError: If they have several, whose scores have no common mean.
    """
    rubrics = {text.brief.rubric.id: text.brief.rubric for text in texts}
    if len(rubrics) > 1:
        raise UserError(
            f"the run has texts of several rubrics ({', '.join(sorted(rubrics))}), whose scores "
            "have no common mean; evaluate a run of one of them"
        )
    return next(iter(rubrics.values()))


def chosen_events(events: Iterable[str], n: int | None) -> set[str]:
    """All events, or the first ``n`` by `draw`."""
    return set(sorted(set(events), key=draw)[:n])


def draw(event: str) -> str:
    """A place in an order that depends on the event's id alone, so that runs draw alike."""
    return hashlib.sha256(event.encode("utf-8", "surrogatepass")).hexdigest()
