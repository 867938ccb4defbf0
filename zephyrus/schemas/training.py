"""The shapes of what a run of a curriculum writes."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from zephyrus.curriculum.scheduler import StageState
from zephyrus.schemas.stored import maybe


class CurriculumState(BaseModel):
    """``state.json`` of a curriculum's run: where each stage is."""

    stages: list[StageState]


class TrainingStep(BaseModel):
    """A line of ``steps.jsonl``: what a step of training came to."""

    step: int
    seconds: float
    loss: float = maybe()
    grad_norm: float = maybe()
    learning_rate: float = maybe()
    kl: float = maybe()
    entropy: float = maybe()
    reward: float = maybe()
    reward_std: float = maybe()
    uniform_groups: float = maybe()
    tokens_per_rollout: float = maybe()
    token_accuracy: float = maybe()
    sampling_difference: float = maybe()
    weights: dict[str, float] = maybe()
    rewards: dict[str, float | None] = maybe()
    rollouts: int = maybe()
    redrawn: int = maybe()
    accuracy: float | None = maybe()
    tool_rate: float | None = maybe()
    failure_rate: float | None = maybe()
    tools_per_turn: float | None = maybe()
    turns: float | None = maybe()
    tokens_per_second: float | None = maybe()


class HeldOutEvaluation(BaseModel):
    """A line of ``evaluations.jsonl``: a held-out evaluation within a stage."""

    step: int
    value: float
    full: bool


class KeptReport(BaseModel):
    """``kept.json`` of an RSFT stage: how many rollouts are fine-tuned on, and why others not."""

    rollouts: int
    kept: int
    tasks: int
    dropped: dict[str, int]
    templates: dict[str, int]


class WeightsState(BaseModel):
    """The shifting weights of rewards."""

    updates: int
    weights: dict[str, float]
    means: dict[str, Any]
    signals: dict[str, Any]


class Checkpoint(BaseModel):
    """``zephyrus.json`` of a checkpoint: what is ours beside the trainer's files."""

    weights: WeightsState | None
