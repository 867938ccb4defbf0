"""Trying a recipe out as far as that goes without training: what would else fail hours later."""

from __future__ import annotations

import importlib.util
import tempfile
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zephyrus.curriculum.needs import TRAIN
from zephyrus.curriculum.recipe import RSFT, Recipe, ReportRL, Stage, Tasks
from zephyrus.curriculum.sizes import sees
from zephyrus.errors import JudgeError, UserError
from zephyrus.limits import StopReason
from zephyrus.trajectory import Key, Trajectory

ACCURACY, SCORE = "accuracy", "score"
BLIND = (
    "it shows pictures, and the model reads text alone: choose one that sees (Qwen2.5-VL, such as "
    "Qwen/Qwen2.5-VL-7B-Instruct), or give the environment a view in words (for chartqa the option "
    "view=text)"
)
"""Why a recipe can't train on pictures with its model."""
UNSEEN = "; it shows pictures, and whether the model sees them shows when it is loaded"


@dataclass(frozen=True)
class Finding:
    """What trying one thing came to.

    Attributes:
        what: The thing.
        ok: Whether it is as the recipe wants it; None if it could not be tried here.
        note: What was found.
    """

    what: str
    ok: bool | None
    note: str = ""


def check(recipe: Recipe, world: int = 1) -> list[Finding]:
    """Make the environments, count their tasks, look for the rewards, build TRL's arguments.

    No model is loaded, and no endpoint is asked.

    Args:
        recipe: It.
        world: Processes that train together.
    """
    found: list[Finding] = []
    for stage in recipe.stages:
        found.append(_environment(recipe, stage, stage.tasks, _trained_on(stage), "tasks"))
        exam = stage.evaluation
        metric = [SCORE if exam.metric == ACCURACY else exam.metric]
        found.append(_environment(recipe, stage, exam.tasks, metric, "evaluation.tasks"))
        found.append(_arguments(recipe, stage, world))
    return found


def _trained_on(stage: Stage) -> list[str]:
    """The parts of the reward that a stage looks at."""
    if isinstance(stage, RSFT):
        return ["reward"]
    if isinstance(stage, ReportRL):
        return [*stage.weights.base, *(["length_penalty"] if stage.length_penalty else [])]
    return list(stage.rewards)


def _environment(recipe: Recipe, stage: Stage, tasks: Tasks, parts: list[str], key: str) -> Finding:
    from zephyrus.loops import run_sync
    from zephyrus.training.work import environment

    what = f"stages.{stage.name}.{key}: {tasks.split} tasks of {tasks.env}"
    try:
        env = environment(tasks, compact=recipe.model.compact)
        bank = env.tasks()
        if not len(bank):
            return Finding(what, False, "there are none")
        if tasks.n is not None and tasks.n > len(bank):
            return Finding(what, False, f"there are {len(bank):,}, not {tasks.n:,}")
        first = next(iter(bank))
        eyes = sees(recipe.model.name)
        shows = bool(env.images(first))
        if shows and eyes is False:
            return Finding(what, False, BLIND)
        nothing = Trajectory(Key(first.id, 0, 0), stop=StopReason.TURNS, task=first.facts())
        rewards = run_sync(env.ascore(first, nothing))  # no answer: no judge is asked
    except (JudgeError, UserError) as error:
        return Finding(what, False, str(error))
    for part in parts:
        if part not in rewards:
            wanted = ACCURACY if part == SCORE else part
            return Finding(what, False, f"no reward {wanted!r}; there are {', '.join(rewards)}")
    doubt = UNSEEN if shows and eyes is None else ""
    return Finding(what, True, f"{len(bank):,}; rewards {', '.join(rewards)}{doubt}")


def _arguments(recipe: Recipe, stage: Stage, world: int) -> Finding:
    """Build what TRL is given, which checks it."""
    what = f"stages.{stage.name}: TRL's arguments"
    if any(importlib.util.find_spec(name) is None for name in ("torch", "trl")):
        return Finding(what, None, f"not tried: trl is not installed; {TRAIN}")
    from zephyrus.training import engine

    setting = engine.Setting(seed=recipe.seed, world=world)
    with tempfile.TemporaryDirectory() as folder:
        try:
            made: Any
            if isinstance(stage, RSFT):
                made = engine.sft_arguments(stage, recipe.model, Path(folder), setting)
            else:
                made = engine.grpo_arguments(
                    stage, recipe.backend, recipe.model, Path(folder), setting
                )
        except (ValueError, TypeError, UserError) as error:
            return Finding(what, False, " ".join(str(error).split()))
    return Finding(what, True, type(made).__name__)
