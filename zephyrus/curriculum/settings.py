"""The parts of a recipe: what a model, its sampling, its optimiser … may be set to."""

from __future__ import annotations

import dataclasses
import difflib
from collections.abc import Iterable
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field, field_validator, model_validator

from zephyrus.errors import UserError
from zephyrus.limits import Limits
from zephyrus.training.weights import Strategy, WeightRule

Backend = Literal["transformers", "vllm-colocate", "vllm-server"]
"""What generates during training: transformers (CPU or one small GPU), vLLM in the training
process, or a vLLM server beside it."""

_ELSEWHERE = {
    "split": "it is a key of tasks itself",
    "limits": "it is a key of tasks itself",
    "compact": "it is a key of the recipe's model",
}
"""Options of environments that a recipe says in another place."""


class Part(BaseModel):
    """A part of a recipe: no key that isn't known, and no change once it is read."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Lora(Part):
    """Low-rank adapters instead of all weights.

    Attributes:
        rank: Of the update of each matrix.
        alpha: Scale; the update is multiplied by alpha / rank.
        dropout: On the adapters' input.
        targets: Names of the adapted modules; "all-linear" is every linear layer but the output.
    """

    rank: int = Field(default=16, ge=1)
    alpha: float = Field(default=32.0, gt=0)
    dropout: float = Field(default=0.0, ge=0, lt=1)
    targets: Literal["all-linear"] | tuple[str, ...] = "all-linear"


class Model(Part):
    """The language model that is trained.

    Attributes:
        name: A folder, a name of `zephyrus.local.models.PACKAGED`, or a name on the model hub.
        dtype: Of the weights; "auto" is bfloat16 where the processor computes with it, and float32
            elsewhere.
        lora: Adapters; null trains all weights.
        context: Tokens of the longest conversation.
        compact: The short system prompt and tool schemas, for very small models.
        thinking: Whether the chat template lets the model reason first; null leaves the template's
            own way.
        gradient_checkpointing: Less memory for more time.
    """

    name: str = Field(min_length=1)
    dtype: Literal["bfloat16", "float32", "auto"] = "bfloat16"
    lora: Lora | None = None
    context: int = Field(default=8192, ge=128)
    compact: bool = False
    thinking: bool | None = None
    gradient_checkpointing: bool = False


class Sampling(Part):
    """How the policy's turns are sampled.

    Attributes:
        temperature: Softmax temperature; 0 is greedy.
        top_p: Nucleus sampling.
        max_tokens: Tokens of one turn.
    """

    temperature: float = Field(default=1.0, ge=0)
    top_p: float = Field(default=1.0, gt=0, le=1)
    max_tokens: int = Field(default=1024, ge=1)


class Tasks(Part):
    """Which tasks of which environment.

    Attributes:
        env: Name of a registered environment.
        split: Train, validation or test.
        n: How many, drawn with the recipe's seed; null takes all.
        options: Of the environment: ``dataset``, ``bank``, ``judge`` …; `zephyrus env describe ENV`
            lists them.
        limits: Budgets of an episode, over the environment's own; see `zephyrus.limits.Limits`.
    """

    env: str = "bench"
    split: Literal["train", "validation", "test"] = "train"
    n: int | None = Field(default=None, ge=1)
    options: dict[str, Any] = {}
    limits: dict[str, Any] = {}

    @field_validator("options")
    @classmethod
    def _of_the_environment(cls, options: dict[str, Any]) -> dict[str, Any]:
        for name in options:
            if name in _ELSEWHERE:
                raise ValueError(f"{name!r} is no option here; {_ELSEWHERE[name]}")
        return options

    @field_validator("limits")
    @classmethod
    def _known(cls, limits: dict[str, Any]) -> dict[str, Any]:
        known = [field.name for field in dataclasses.fields(Limits)]
        for name in limits:
            if name not in known:
                raise ValueError(f"there is no limit {name!r}; {nearest(name, known)}")
        try:
            Limits(**limits)
        except (UserError, TypeError) as error:
            raise ValueError(str(error)) from None
        return limits


class Optimiser(Part):
    """AdamW and its schedule.

    Attributes:
        learning_rate: At its peak.
        schedule: After the warm-up.
        warmup: Steps of the warm-up.
        batch: Sequences of one step, on all devices together. For RL it is group × tasks_per_step,
            and is best left out.
        micro_batch: Sequences at once on one device; the rest is accumulated.
        weight_decay: Of AdamW.
        max_grad_norm: Gradients are clipped to it.
    """

    learning_rate: float = Field(default=1e-5, gt=0)
    schedule: Literal["constant", "linear", "cosine"] = "constant"
    warmup: int = Field(default=0, ge=0)
    batch: int = Field(default=8, ge=1)
    micro_batch: int = Field(default=1, ge=1)
    weight_decay: float = Field(default=0.0, ge=0)
    max_grad_norm: float = Field(default=1.0, gt=0)

    @model_validator(mode="after")
    def _whole(self) -> Optimiser:
        if self.batch % self.micro_batch:
            raise ValueError(
                f"batch ({self.batch}) must be a multiple of micro_batch ({self.micro_batch})"
            )
        return self


class Plateau(Part):
    """Stop when the held-out metric has not risen.

    Attributes:
        evaluations: Evaluations in a row without a rise.
        rise: What counts as one.
    """

    evaluations: int = Field(default=3, ge=1)
    rise: float = Field(default=0.01, ge=0)


class Until(Part):
    """When a stage is over: whichever comes first.

    Attributes:
        steps: Optimiser steps at most.
        plateau: See `Plateau`; null never stops for it.
        accuracy: Of the held-out metric, what is enough; null never stops for it.
    """

    steps: int = Field(ge=1)
    plateau: Plateau | None = None
    accuracy: float | None = Field(default=None, gt=0, le=1)


class Evaluation(Part):
    """Held-out evaluation, and the checkpoints that it chooses from.

    Attributes:
        tasks: By default the validation tasks of the stage's environment, with its options and
            limits.
        every: Steps between two evaluations, each of which saves a checkpoint.
        subset: Tasks of the evaluations within a stage; null takes all. The end of a stage is
            always evaluated on all.
        sampling: Greedy by default.
        metric: What is compared: "accuracy", or the name of a reward. By default accuracy, and for
            report_rl the reward.
        choose: The checkpoint that a stage leaves behind: the best, or the last.
        keep: Checkpoints kept on the disk besides the best and the last.
    """

    tasks: Tasks = Tasks(split="validation")
    every: int = Field(default=20, ge=1)
    subset: int | None = Field(default=None, ge=1)
    sampling: Sampling = Sampling(temperature=0.0)
    metric: str = "accuracy"
    choose: Literal["best", "last"] = "best"
    keep: int = Field(default=1, ge=0)

    @model_validator(mode="after")
    def _part_of_all(self) -> Evaluation:
        if self.subset is not None and self.tasks.n is not None and self.subset > self.tasks.n:
            raise ValueError(f"subset ({self.subset}) is more than tasks.n ({self.tasks.n})")
        return self


class Demonstrations(Part):
    """Rollouts of a scripted policy in the place of the model's own.

    A model that makes no tool calls at all has no successes to keep. This is a deviation from the
    paper, whose base models call tools from the start.

    Attributes:
        policy: Whose rollouts.
        share: Of the tasks, how many are demonstrated; the model is rolled out on the rest.
        slips: Of the demonstrations, how many begin with a call that fails and is mended, as a
            model's would be; only the scripted policy can. See `zephyrus.policy.slips`, and
            `Keep.imitate_errors`.
    """

    policy: str = "scripted"
    share: float = Field(default=1.0, gt=0, le=1)
    slips: float = Field(default=0.0, ge=0, le=1)

    @model_validator(mode="after")
    def _scripted(self) -> Demonstrations:
        if self.slips and self.policy != "scripted":
            raise ValueError(
                f"demonstrations.slips ({self.slips:g}) needs the policy 'scripted', not "
                f"{self.policy!r}"
            )
        return self


class Keep(Part):
    """Which rollouts are kept for fine-tuning.

    Attributes:
        at_least: The least reward.
        per_task: The most of one task.
        distinct: Of rollouts with the same tool calls and answer only the first is kept.
        errors: Tool errors at most in a kept rollout; null allows any.
        imitate_errors: Whether turns whose tool calls all failed are trained on too; false masks
            them, so that only what came after them is learned.
    """

    at_least: float = 1.0
    per_task: int = Field(default=2, ge=1)
    distinct: bool = True
    errors: int | None = Field(default=None, ge=0)
    imitate_errors: bool = True


class Weights(Part):
    """Weights of the rewards, which may shift; see `zephyrus.training.weights`.

    Attributes:
        strategy: fixed, linear, dvao, saw or dwa.
        base: At the start; scaled to sum to one.
        warmup: Steps with the base weights.
        smoothing: Of the running means.
        least: No weight falls below it.
        end: Weights at the last step, for linear.
        temperature: For dwa; higher means more even weights.
    """

    strategy: Strategy = "dvao"
    base: dict[str, float] = {"rubric": 0.5, "f1": 0.5}
    warmup: int = Field(default=5, ge=0)
    smoothing: float = Field(default=0.9, ge=0, lt=1)
    least: float = Field(default=0.2, ge=0)
    end: dict[str, float] | None = None
    temperature: float = Field(default=2.0, gt=0)

    def rule(self, steps: int) -> WeightRule:
        """The rule for a stage of some steps."""
        return WeightRule(
            self.base,
            self.strategy,
            warmup=self.warmup,
            smoothing=self.smoothing,
            least=self.least,
            end=self.end,
            steps=max(1, steps - self.warmup),
            temperature=self.temperature,
        )

    @model_validator(mode="after")
    def _sound(self) -> Weights:
        self.rule(1)  # its complaints are the recipe's
        if self.end is not None and self.strategy != "linear":
            raise ValueError(f"end is for the strategy linear, not for {self.strategy}")
        return self


def nearest(wrong: str, known: Iterable[str]) -> str:
    """What to say to somebody who named something that isn't there.

    Args:
        wrong: What was named.
        known: What there is.
    """
    names = list(known)
    near = difflib.get_close_matches(wrong, names, n=1, cutoff=0.5)
    return f"did you mean {near[0]!r}?" if near else f"known: {', '.join(names) or 'none'}"
