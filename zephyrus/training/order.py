"""In which order tasks are asked: fixed by the seed alone, so that a resumed run asks the same."""

from __future__ import annotations

from collections.abc import Iterable

from zephyrus.errors import UserError
from zephyrus.policy.seeds import stable_seed
from zephyrus.task import Task, TaskSet


def in_rounds(tasks: TaskSet, per_round: int, rounds: int, seed: int) -> list[Task]:
    """The tasks of each round of rollouts, one round after the other.

    All tasks are asked before any is asked again (but for a remainder that fills no round), each
    time in another order, and no round has a task twice. The templates take turns, as long as there
    are tasks of them: what a step learns of some kinds of question alone, it unlearns of the others.

    Args:
        tasks: All that there are.
        per_round: How many a round has.
        rounds: How many rounds.
        seed: Of the orders.

    Raises:
        UserError: If there are fewer tasks than a round has.
    """
    if len(tasks) < per_round:
        raise UserError(f"tasks_per_step is {per_round}, but there are only {len(tasks)} tasks")
    asked: list[Task] = []
    time = 0
    while len(asked) < per_round * rounds:
        shuffled = tasks.shuffle(stable_seed("order", seed, time, bits=32))
        order = list(shuffled.take(len(tasks)))
        asked += order[: len(order) // per_round * per_round]
        time += 1
    return asked[: per_round * rounds]


def others(tasks: TaskSet, used: Iterable[str], seed: int, step: int, attempt: int) -> list[Task]:
    """The tasks that a step has not asked, in the order in which they take another's place.

    Args:
        tasks: All that there are.
        used: Ids of those that were asked.
        seed: Of the order.
        step: The step.
        attempt: How often tasks were replaced already.
    """
    gone = set(used)
    order = tasks.shuffle(stable_seed("others", seed, step, attempt, bits=32))
    return [task for task in order if task.id not in gone]
