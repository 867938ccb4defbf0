"""A recipe: one YAML file that says how a policy is trained, stage by stage.

Every key has a default, and an unknown one is an error that names the nearest. What Zephyrus-R1
(2026), Table C.1, shows is marked in the recipes that follow it; the rest is our choice and says so.
The parts that stages are made of are in `zephyrus.curriculum.settings`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator, model_validator

from zephyrus.curriculum.settings import (
    Backend,
    Demonstrations,
    Evaluation,
    Keep,
    Lora,
    Model,
    Optimiser,
    Part,
    Plateau,
    Sampling,
    Tasks,
    Until,
    Weights,
)

__all__ = [
    "RL",
    "RSFT",
    "Backend",
    "Demonstrations",
    "Evaluation",
    "Keep",
    "Lora",
    "Model",
    "Optimiser",
    "Plateau",
    "Recipe",
    "ReportRL",
    "Sampling",
    "Stage",
    "Tasks",
    "Until",
    "Weights",
]

_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")
"""What can be the name of a folder everywhere."""


class _Stage(Part):
    """What all stages have.

    Attributes:
        name: Of its folder; by default its kind, numbered where the kind comes again.
        tasks: What is trained on; see `Tasks`.
        sampling: Of the rollouts; see `Sampling`.
        optimiser: See `Optimiser`.
        until: The rule that moves on; see `Until`.
        evaluation: See `Evaluation`.
    """

    name: str = ""
    tasks: Tasks = Tasks()
    sampling: Sampling = Sampling()
    optimiser: Optimiser = Optimiser()
    until: Until
    evaluation: Evaluation = Evaluation()

    @model_validator(mode="before")
    @classmethod
    def _held_out(cls, stage: Any) -> Any:
        """Evaluate on the stage's own environment, if nothing else is said."""
        if not isinstance(stage, Mapping):
            return stage
        tasks = stage.get("tasks", {})
        evaluation = stage.get("evaluation", {})
        if not isinstance(tasks, Mapping) or not isinstance(evaluation, Mapping):
            return stage
        if "tasks" not in evaluation:
            like = {key: tasks[key] for key in ("env", "options", "limits") if key in tasks}
            held_out = {"env": cls.model_fields["tasks"].default.env, **like, "split": "validation"}
            evaluation = {**evaluation, "tasks": held_out}
        return {**stage, "evaluation": evaluation}

    @field_validator("name")
    @classmethod
    def _folder(cls, name: str) -> str:
        return _folder_name(name) if name else name

    @model_validator(mode="after")
    def _consistent(self) -> _Stage:
        every, steps, plateau = self.evaluation.every, self.until.steps, self.until.plateau
        if every > steps:
            raise ValueError(
                f"evaluation.every ({every}) is more than until.steps ({steps}): it would never "
                "be evaluated on the way"
            )
        if plateau is not None and plateau.evaluations * every > steps:
            raise ValueError(
                f"until.plateau can't be seen in {steps} steps: {plateau.evaluations} evaluations, "
                f"one every {every} steps, take {plateau.evaluations * every}"
            )
        if self.optimiser.warmup >= steps and self.optimiser.warmup:
            raise ValueError(
                f"optimiser.warmup ({self.optimiser.warmup}) must be less than until.steps ({steps})"
            )
        return self


class RSFT(_Stage):
    """Rejection-sampled fine-tuning: roll out, keep the successes, fine-tune on them.

    Attributes:
        stage: "rsft".
        repeats: Rollouts of each task.
        keep: See `Keep`.
        demonstrations: See `Demonstrations`; null trains on the model's own rollouts alone.
    """

    stage: Literal["rsft"]
    repeats: int = Field(default=8, ge=1)
    keep: Keep = Keep()
    demonstrations: Demonstrations | None = None

    @model_validator(mode="after")
    def _various(self) -> RSFT:
        own = self.demonstrations is None or self.demonstrations.share < 1
        if own and self.repeats > 1 and self.sampling.temperature == 0:
            raise ValueError(
                f"repeats ({self.repeats}) at sampling.temperature 0 are the same rollout "
                f"{self.repeats} times: raise the temperature"
            )
        return self


class _RL(_Stage):
    """RL with group-relative advantages (GRPO, in TRL).

    Attributes:
        group: Rollouts of one task, whose rewards are compared.
        tasks_per_step: Groups of one step.
        normalise: How advantages are scaled: by the standard deviation of the group or of the
            batch, or not at all.
        per_reward: Normalise each reward by itself before they are weighed (GDPO, arXiv
            2601.05242).
        drop_uniform: Leave out groups whose rollouts all got the same reward, and draw others in
            their place, up to ``redraws`` times (dynamic sampling, DAPO, arXiv 2503.14476).
        redraws: See ``drop_uniform``.
        clip: Ratio clipped to 1 - clip … 1 + clip_high.
        clip_high: ``clip`` by default; DAPO raises it.
        kl: Weight of the divergence from the stage's initial policy; 0 needs no reference model.
        loss: TRL's name of the loss' normalisation.
        updates: Optimiser passes over the rollouts of a step.
    """

    group: int = Field(default=8, ge=2)
    tasks_per_step: int = Field(default=8, ge=1)
    normalise: Literal["group", "batch", "none"] = "group"
    per_reward: bool = False
    drop_uniform: bool = False
    redraws: int = Field(default=2, ge=0)
    clip: float = Field(default=0.2, gt=0)
    clip_high: float | None = Field(default=None, gt=0)
    kl: float = Field(default=0.0, ge=0)
    loss: Literal["grpo", "dapo", "dr_grpo", "bnpo"] = "dapo"
    updates: int = Field(default=1, ge=1)

    @model_validator(mode="before")
    @classmethod
    def _batch(cls, stage: Any) -> Any:
        """A step's batch is its rollouts: fill it in where it is left out."""
        if not isinstance(stage, Mapping):
            return stage
        optimiser = stage.get("optimiser", {})
        group = stage.get("group", cls.model_fields["group"].default)
        tasks = stage.get("tasks_per_step", cls.model_fields["tasks_per_step"].default)
        if not all(isinstance(value, int) and value > 0 for value in (group, tasks)):
            return stage
        if isinstance(optimiser, Mapping) and "batch" not in optimiser:
            return {**stage, "optimiser": {**optimiser, "batch": group * tasks}}
        return stage

    @model_validator(mode="after")
    def _whole_groups(self) -> _RL:
        if self.optimiser.batch != self.group * self.tasks_per_step:
            raise ValueError(
                f"optimiser.batch ({self.optimiser.batch}) must be group × tasks_per_step "
                f"({self.group} × {self.tasks_per_step} = {self.group * self.tasks_per_step}); "
                "leave it out"
            )
        if self.sampling.temperature == 0:
            raise ValueError(
                "sampling.temperature is 0: all rollouts of a group would be the same, and nothing "
                "could be learnt from comparing them"
            )
        return self


class RL(_RL):
    """RL on an environment's reward.

    Attributes:
        stage: "rl".
        rewards: Parts of the environment's reward that are trained on, with their weights.
    """

    stage: Literal["rl"]
    rewards: dict[str, float] = Field(default_factory=lambda: {"reward": 1.0})

    @field_validator("rewards")
    @classmethod
    def _some(cls, rewards: dict[str, float]) -> dict[str, float]:
        if not any(rewards.values()):
            raise ValueError("name at least one reward with a weight other than 0")
        return rewards


class ReportRL(_RL):
    """RL on forecast discussions: rubric and Discussion F1, with weights that may shift.

    Attributes:
        stage: "report_rl".
        tasks: What is trained on, by default of the environment "report"; see `Tasks`.
        per_reward: As for rl, but on by default.
        weights: See `Weights`; its rewards are those that are trained on.
        length_penalty: Times the environment's length penalty, taken off the weighed rewards.
    """

    stage: Literal["report_rl"]
    tasks: Tasks = Tasks(env="report")
    evaluation: Evaluation = Evaluation(
        tasks=Tasks(env="report", split="validation"), metric="reward"
    )
    per_reward: bool = True
    weights: Weights = Weights()
    length_penalty: float = Field(default=1.0, ge=0)

    @model_validator(mode="before")
    @classmethod
    def _metric(cls, stage: Any) -> Any:
        """Discussions have no accuracy: compare the reward, and train on the report environment."""
        if not isinstance(stage, Mapping):
            return stage
        filled = dict(stage)
        tasks, evaluation = filled.get("tasks", {}), filled.get("evaluation", {})
        if isinstance(tasks, Mapping):
            filled["tasks"] = {"env": "report", **tasks}
        if isinstance(evaluation, Mapping):
            filled["evaluation"] = {"metric": "reward", **evaluation}
        return filled

    @model_validator(mode="after")
    def _shifting(self) -> ReportRL:
        weights = self.weights
        if weights.strategy != "fixed" and weights.warmup >= self.until.steps:
            raise ValueError(
                f"weights.warmup ({weights.warmup}) must be less than until.steps "
                f"({self.until.steps}), or the weights never shift"
            )
        return self


Stage = Annotated[RSFT | RL | ReportRL, Field(discriminator="stage")]


class Recipe(Part):
    """A whole curriculum.

    Attributes:
        name: What it is called.
        description: For people, its first line in `zephyrus curriculum list`; says what follows
            the paper and what is ours.
        model: What is trained; see `Model`.
        backend: What generates during training: transformers, vllm-colocate or vllm-server.
        seed: Of everything.
        stages: In order; each begins from the checkpoint that the one before chose.
        hardware: What it was written for, in words.
        duration: How long it takes there, in words, if somebody has measured it.
    """

    name: str
    description: str = ""
    model: Model
    backend: Backend = "transformers"
    seed: int = 0
    stages: tuple[Stage, ...] = Field(min_length=1)
    hardware: str = ""
    duration: str = ""

    @model_validator(mode="before")
    @classmethod
    def _named(cls, recipe: Any) -> Any:
        """Name each stage after its kind, numbered where a kind comes again."""
        if not isinstance(recipe, Mapping) or not isinstance(recipe.get("stages"), list | tuple):
            return recipe
        names = stage_names(recipe["stages"])
        stages = [
            {**stage, "name": name} if isinstance(stage, Mapping) else stage
            for stage, name in zip(recipe["stages"], names, strict=True)
        ]
        return {**recipe, "stages": stages}

    @field_validator("name")
    @classmethod
    def _folder(cls, name: str) -> str:
        return _folder_name(name)

    @model_validator(mode="after")
    def _distinct(self) -> Recipe:
        names = [stage.name for stage in self.stages]
        twice = sorted({name for name in names if names.count(name) > 1})
        if twice:
            raise ValueError(f"two stages are called {twice[0]!r}")
        return self

    @model_validator(mode="after")
    def _room(self) -> Recipe:
        for stage in self.stages:
            for key, sampling in (
                ("sampling", stage.sampling),
                ("evaluation.sampling", stage.evaluation.sampling),
            ):
                if sampling.max_tokens >= self.model.context:
                    raise ValueError(
                        f"stages.{stage.name}.{key}.max_tokens ({sampling.max_tokens}) leaves no "
                        f"room for the question in model.context ({self.model.context})"
                    )
        return self


def stage_names(stages: list[Any] | tuple[Any, ...]) -> list[str]:
    """The names that stages have or get, from what a YAML file says of them."""
    seen: dict[str, int] = {}
    found = []
    for stage in stages:
        kind = str(stage.get("stage")) if isinstance(stage, Mapping) else "?"
        seen[kind] = seen.get(kind, 0) + 1
        given = stage.get("name") if isinstance(stage, Mapping) else None
        found.append(str(given or (kind if seen[kind] == 1 else f"{kind}-{seen[kind]}")))
    return found


def _folder_name(name: str) -> str:
    if not _NAME.fullmatch(name):
        raise ValueError("letters, digits and . _ - only: it is the name of a folder")
    return name
