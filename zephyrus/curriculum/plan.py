"""What a recipe would do, counted before anything runs."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

from zephyrus.curriculum.needs import Need, needs
from zephyrus.curriculum.recipe import RSFT, Recipe, ReportRL, Stage, Tasks, Until
from zephyrus.curriculum.sizes import GB, Memory, memory, size_of, trained_parameters

CONCURRENCY = 16
"""Episodes that are open at one time, unless `zephyrus curriculum run` is told otherwise."""

GPU_GB = 80
"""The GPU that estimates are held against."""

SHARDS = (1, 2, 4, 8, 16)
"""Over how many GPUs the state of training may be shared out."""

LOST_IN_BFLOAT16 = 1e-5
"""AdamW's steps are about as large as the learning rate, and 0.02 in bfloat16 changes by 1.2e-4 or
not at all."""

_RESUMABLE = 2
"""Checkpoints with the optimiser's state that a stage keeps to go on from."""


@dataclass(frozen=True)
class StagePlan:
    """What a stage would do. None stands for "as many as there are".

    Attributes:
        name: The stage's.
        kind: rsft, rl or report_rl.
        does: In a sentence.
        trains_on: In words.
        tasks: It trains on.
        rollouts: That it samples to train on.
        redrawn: Rollouts that groups without a difference may cost besides.
        demonstrations: Rollouts of a scripted policy.
        steps: Optimiser steps at most.
        batch: Sequences of a step.
        tokens: Of the conversations that are sampled, at most.
        evaluations: On the way; each saves a checkpoint.
        asked: Tasks of one of them.
        held_out: Tasks of the evaluations where it begins and ends.
        moves_on: The rule, in words.
        chooses: The checkpoint that the next stage begins from, in words.
        rewards: What is trained on, in words; "" for rsft.
        memory: In GB, what training takes; None if the model's size is not known.
        serving: In GB, what a vLLM server takes; 0 without one, None likewise.
        shards: GPUs of `GPU_GB` that it fits, shared out evenly; None if unknown or more than 16.
        disk: In GB, at most, without rollouts; None likewise.
    """

    name: str
    kind: str
    does: str
    trains_on: str
    tasks: int | None
    rollouts: int | None
    redrawn: int
    demonstrations: int | None
    steps: int
    batch: int
    tokens: int | None
    evaluations: int
    asked: int | None
    held_out: int | None
    moves_on: str
    chooses: str
    rewards: str
    memory: float | None
    serving: float | None
    shards: int | None
    disk: float | None


@dataclass(frozen=True)
class Plan:
    """What a recipe would do.

    Attributes:
        recipe: It.
        stages: Of each stage.
        needs: What has to be there.
        parameters: Of the model; None if not known.
        trained: How many of them are trained; None if not known.
        source: Where the sizes are from; "" if not known.
        warnings: What will run, but not as one would wish, in sentences.
    """

    recipe: Recipe
    stages: tuple[StagePlan, ...]
    needs: tuple[Need, ...]
    parameters: int | None
    trained: int | None
    source: str
    warnings: tuple[str, ...]

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**asdict(self), "recipe": self.recipe.model_dump(mode="json")}


def make_plan(recipe: Recipe, concurrency: int = CONCURRENCY) -> Plan:
    """Count what a recipe would do. Nothing is imported, opened or asked over a network.

    Args:
        recipe: It.
        concurrency: Episodes that are open at one time.
    """
    size = size_of(recipe.model.name)
    return Plan(
        recipe,
        tuple(_stage(recipe, stage, concurrency) for stage in recipe.stages),
        tuple(needs(recipe)),
        size.parameters if size else None,
        trained_parameters(recipe, size) if size else None,
        size.source if size else "",
        tuple(_warnings(recipe)),
    )


def _warnings(recipe: Recipe) -> Iterator[str]:
    rounded = recipe.model.lora is None and recipe.model.dtype != "float32"
    for stage in recipe.stages:
        if rounded and stage.optimiser.learning_rate < LOST_IN_BFLOAT16:
            yield (
                f"{stage.name} trains all weights in {recipe.model.dtype} at a learning rate of "
                f"{stage.optimiser.learning_rate:g}: bfloat16 rounds a weight to 8 bits, and steps "
                "as small as these are mostly lost. Set model.dtype=float32, or train adapters "
                "(model.lora), which are kept in float32."
            )


def _stage(recipe: Recipe, stage: Stage, concurrency: int) -> StagePlan:
    tasks, demonstrations, redrawn = stage.tasks.n, 0, 0
    rollouts: int | None
    shown: int | None = 0
    if isinstance(stage, RSFT):
        share = stage.demonstrations.share if stage.demonstrations else 0.0
        if share:
            shown = None if tasks is None else max(1, round(tasks * share))
        demonstrations = shown or 0
        rollouts = (
            0 if share == 1 else None if tasks is None else (tasks - demonstrations) * stage.repeats
        )
    else:
        rollouts = stage.until.steps * stage.optimiser.batch
        redrawn = rollouts * stage.redraws if stage.drop_uniform else 0
    evaluation = stage.evaluation
    evaluations = (stage.until.steps - 1) // evaluation.every
    used = _memory(recipe, stage, concurrency)
    shards = None
    if used is not None:
        shards = next((n for n in SHARDS if used.training(n) <= GPU_GB * GB), None)
    return StagePlan(
        name=stage.name,
        kind=stage.stage,
        does=_does(stage),
        trains_on=_tasks(stage.tasks),
        tasks=tasks,
        rollouts=rollouts,
        redrawn=redrawn,
        demonstrations=shown,
        steps=stage.until.steps,
        batch=stage.optimiser.batch,
        tokens=None if rollouts is None else (rollouts + redrawn) * recipe.model.context,
        evaluations=evaluations,
        asked=evaluation.subset or evaluation.tasks.n,
        held_out=evaluation.tasks.n,
        moves_on=until_words(stage.until, evaluation.metric),
        chooses=f"with the best {evaluation.metric} on {_tasks(evaluation.tasks)}"
        if evaluation.choose == "best"
        else "of its last step",
        rewards=_rewards(stage),
        memory=used.training() / GB if used is not None else None,
        serving=used.serving / GB if used is not None else None,
        shards=shards,
        disk=_disk(recipe, stage),
    )


def until_words(until: Until, metric: str = "accuracy") -> str:
    """The rule that moves on, in words."""
    words = [f"after {until.steps:,} steps"]
    if until.plateau is not None:
        words.append(
            f"when {metric} has not risen by {until.plateau.rise:g} in "
            f"{until.plateau.evaluations} evaluations"
        )
    if until.accuracy is not None:
        words.append(f"when {metric} reaches {until.accuracy:g}")
    return ", or ".join(words) + ("; whichever comes first" if len(words) > 1 else "")


def _does(stage: Stage) -> str:
    if isinstance(stage, RSFT):
        keep = (
            f"keep at most {stage.keep.per_task} of a task with reward ≥ {stage.keep.at_least:g}, "
            "and fine-tune on what the policy wrote in them"
        )
        if stage.demonstrations is None:
            return f"roll out each task {stage.repeats} times, {keep}"
        who = f"let the policy {stage.demonstrations.policy} show"
        if stage.demonstrations.share == 1:
            return f"{who} every task, {keep}"
        share = f"{100 * stage.demonstrations.share:.0f} %"
        return f"{who} {share} of the tasks, roll out the others {stage.repeats} times each, {keep}"
    return (
        f"at each step roll out {stage.tasks_per_step} tasks {stage.group} times each, and learn "
        "from how their rewards differ"
    )


def _rewards(stage: Stage) -> str:
    if isinstance(stage, RSFT):
        return ""
    if isinstance(stage, ReportRL):
        weights = stage.weights
        total = sum(weights.base.values())
        shares = " + ".join(f"{w / total:.2f} {name}" for name, w in weights.base.items())
        shift = "fixed" if weights.strategy == "fixed" else f"shifting by {weights.strategy}"
        penalty = f" − {stage.length_penalty:g} length_penalty" if stage.length_penalty else ""
        return f"{shares}{penalty}, weights {shift}"
    if list(stage.rewards) == ["reward"]:
        return "the environment's own"
    return " + ".join(f"{weight:g} {name}" for name, weight in stage.rewards.items())


def _tasks(tasks: Tasks) -> str:
    number = f"{tasks.n:,}" if tasks.n is not None else "all"
    return f"{number} {tasks.split} tasks of {tasks.env}"


def _memory(recipe: Recipe, stage: Stage, concurrency: int) -> Memory | None:
    size = size_of(recipe.model.name)
    if size is None or trained_parameters(recipe, size) is None:
        return None
    return memory(recipe, stage, size, concurrency)


def _disk(recipe: Recipe, stage: Stage) -> float | None:
    """GB of a stage's checkpoints: those to go on from, candidates, and the chosen one twice."""
    size = size_of(recipe.model.name)
    trained = trained_parameters(recipe, size) if size else None
    if trained is None:
        return None
    each = trained * (2 if recipe.model.dtype == "bfloat16" and not recipe.model.lora else 4)
    candidates = stage.evaluation.keep + 2
    return (3 * each * _RESUMABLE + each * (candidates + 2)) / GB
