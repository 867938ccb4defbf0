"""TRL's trainers, set up from a recipe's stage. Nothing of TRL is imported until it is used."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zephyrus.curriculum.recipe import RL, RSFT, Backend, Model, Optimiser, Recipe, ReportRL, Stage
from zephyrus.errors import UserError
from zephyrus.local.models import PACKAGED, locate, packaged
from zephyrus.messages import Image
from zephyrus.task import Task
from zephyrus.training.checkpoints import resume_by_class
from zephyrus.training.ranks import OUTAGE
from zephyrus.training.rl import Rollouts, parts_of, reward_functions
from zephyrus.training.savings import save_work
from zephyrus.training.trainee import Trainee


@dataclass(frozen=True)
class Setting:
    """What the trainers of all stages share.

    Attributes:
        seed: Of the order of the data.
        world: Processes that train together.
        report_to: TRL's names of trackers, such as "tensorboard" and "wandb".
        vllm_url: Where the vLLM server of the backend "vllm-server" is.
    """

    seed: int = 0
    world: int = 1
    report_to: tuple[str, ...] = ()
    vllm_url: str | None = None


def common_arguments(
    optimiser: Optimiser, steps: int, folder: Path, setting: Setting
) -> dict[str, Any]:
    """Arguments that all of TRL's trainers share.

    Checkpoints are asked for by `zephyrus.training.watch`.

    Args:
        optimiser: The recipe's.
        steps: Optimiser steps at most.
        folder: Where checkpoints go.
        setting: See `Setting`.

    Raises:
        UserError: If the batch can't be shared out evenly.
    """
    at_once = optimiser.micro_batch * setting.world
    if optimiser.batch % at_once:
        raise UserError(
            f"optimiser.batch ({optimiser.batch}) must be a multiple of micro_batch "
            f"({optimiser.micro_batch}) times the {setting.world} processes"
        )
    return {
        "output_dir": str(folder),
        "max_steps": steps,
        "per_device_train_batch_size": optimiser.micro_batch,
        "gradient_accumulation_steps": optimiser.batch // at_once,
        "learning_rate": optimiser.learning_rate,
        "lr_scheduler_type": {"constant": "constant_with_warmup"}.get(
            optimiser.schedule, optimiser.schedule
        ),
        "warmup_steps": optimiser.warmup,
        "weight_decay": optimiser.weight_decay,
        "max_grad_norm": optimiser.max_grad_norm,
        "logging_steps": 1,
        "save_strategy": "no",
        "save_total_limit": 2,
        "seed": setting.seed,
        "data_seed": setting.seed,
        "report_to": list(setting.report_to),
        "run_name": "-".join(folder.parts[-4::2]),  # RUN/stages/STAGE/checkpoints
        "disable_tqdm": True,
        "bf16": False,
        "dataloader_pin_memory": False,
        "ddp_timeout": int(OUTAGE.total_seconds()),
        "ddp_find_unused_parameters": False,
    }


def arguments(recipe: Recipe, stage: Stage, folder: Path, setting: Setting | None = None) -> Any:
    """TRL's configuration of a stage, checked as TRL does.

    Args:
        recipe: The recipe.
        stage: One of its stages.
        folder: Where checkpoints go.
        setting: Of this machine; by default one process and no trackers.

    Raises:
        UserError: If the batch doesn't suit the groups or the processes.
    """
    setting = setting or Setting(recipe.seed)
    if isinstance(stage, RSFT):
        return sft_arguments(stage, recipe.model, folder, setting)
    return grpo_arguments(stage, recipe.backend, recipe.model, folder, setting)


def sft_arguments(stage: RSFT, model: Model, folder: Path, setting: Setting) -> Any:
    """The ``SFTConfig`` of a stage; see `arguments`."""
    import torch
    from trl import SFTConfig

    return SFTConfig(
        **common_arguments(stage.optimiser, stage.until.steps, folder, setting),
        use_cpu=not torch.cuda.is_available(),
        max_length=model.context,
        packing=False,
        gradient_checkpointing=model.gradient_checkpointing,
    )


def grpo_arguments(
    stage: RL | ReportRL, backend: Backend, model: Model, folder: Path, setting: Setting
) -> Any:
    """The ``GRPOConfig`` of a stage; see `arguments`."""
    import torch
    from trl import GRPOConfig

    os.environ.setdefault("TRL_EXPERIMENTAL_SILENCE", "1")  # rollout_func is what we build on
    if stage.tasks_per_step % setting.world:
        raise UserError(
            f"tasks_per_step ({stage.tasks_per_step}) must be a multiple of the "
            f"{setting.world} processes: a group is sampled by one of them"
        )
    return GRPOConfig(
        **common_arguments(stage.optimiser, stage.until.steps, folder, setting),
        use_cpu=not torch.cuda.is_available(),
        num_generations=stage.group,
        max_completion_length=model.context,
        temperature=stage.sampling.temperature,
        top_p=stage.sampling.top_p,
        num_iterations=stage.updates,
        beta=stage.kl,
        epsilon=stage.clip,
        epsilon_high=stage.clip_high,
        loss_type=stage.loss,
        scale_rewards=stage.normalise,
        multi_objective_aggregation="normalize_then_sum"
        if stage.per_reward
        else "sum_then_normalize",
        reward_weights=list(parts_of(stage).values()),
        mask_truncated_completions=False,
        disable_dropout=True,  # what is trained must be what sampled, and the reference without noise
        shuffle_dataset=False,  # the tasks come in the order of zephyrus.training.order
        gradient_checkpointing=model.gradient_checkpointing,
        **vllm_arguments(backend, model.context + stage.sampling.max_tokens, setting.vllm_url),
    )


def vllm_arguments(backend: Backend, longest: int, url: str | None) -> dict[str, Any]:
    """How vLLM samples, if it does.

    Sleep mode stays off: TRL would copy the weights again for each turn of a conversation.

    Args:
        backend: The recipe's.
        longest: Tokens of a conversation whose last turn may begin at the very end.
        url: Of the server.
    """
    if backend == "transformers":
        return {"use_vllm": False}
    mode = backend.removeprefix("vllm-")
    arguments = {"use_vllm": True, "vllm_mode": mode, "vllm_max_model_length": longest}
    return arguments | ({"vllm_server_base_url": url} if url and mode == "server" else {})


def rounds(stage: RL | ReportRL) -> int:
    """How often a stage samples rollouts."""
    return math.ceil(stage.until.steps / stage.updates)


def sft_trainer(
    trainee: Trainee,
    rows: Sequence[dict[str, list[int]]],
    arguments: Any,
    callbacks: list[Any],
    images: Sequence[Sequence[Image]] = (),
) -> Any:
    """An ``SFTTrainer`` on rows of `zephyrus.training.examples.to_row`.

    Args:
        trainee: What is trained.
        rows: The rows.
        arguments: See `sft_arguments`.
        callbacks: Of TRL.
        images: Those that each row shows; not looked at for a model that reads text alone.
    """
    from datasets import Dataset
    from trl import SFTTrainer

    options: dict[str, Any] = {}
    if trainee.eyes is not None and any(images):
        from zephyrus.training.pictures import ROW, PictureCollator, fitting

        cut = [
            fitting(row, shown, trainee.eyes, arguments.max_length)
            for row, shown in zip(rows, images, strict=True)
        ]
        rows = [{**row, ROW: [number]} for number, (row, _) in enumerate(cut)]
        options["data_collator"] = PictureCollator(trainee.eyes, [shown for _, shown in cut])
        arguments.remove_unused_columns = False  # the number of a row is no argument of a model
    if trainee.eyes is not None:
        # A process whose conversations show no picture has no gradients for the eyes.
        arguments.ddp_find_unused_parameters = True
    trainer = SFTTrainer(
        model=trainee.model,
        args=arguments,
        train_dataset=Dataset.from_list(list(rows)),
        processing_class=trainee.tokenizer,
        callbacks=callbacks,
        **options,
    )
    save_work(trainee.model)
    resume_by_class(trainer)
    return trainer


def grpo_trainer(
    trainee: Trainee,
    rollouts: Rollouts,
    order: Sequence[Task],
    arguments: Any,
    callbacks: list[Any],
) -> Any:
    """A ``GRPOTrainer`` whose rollouts are ours; a prompt is the id of a task.

    Args:
        trainee: What is trained.
        rollouts: See `Rollouts`.
        order: The tasks of all steps; see `zephyrus.training.order.in_rounds`.
        arguments: See `grpo_arguments`.
        callbacks: Of TRL.
    """
    from datasets import Dataset

    from zephyrus.training.lean import LeanTrainer

    rows = [{"prompt": [{"role": "user", "content": task.id}]} for task in order]
    if arguments.beta and not hasattr(trainee.model, "peft_config"):
        # TRL loads the reference by the model's name, and a name of ours says nothing to it.
        where = locate(trainee.name)
        path = packaged(str(where)) if where in PACKAGED else where
        trainee.model.config._name_or_path = str(path)
    kind, reader = LeanTrainer, trainee.tokenizer
    if trainee.eyes is not None:
        from zephyrus.training.pictures import PictureProcessor, PictureTrainer

        kind, reader = PictureTrainer, PictureProcessor(trainee.eyes)
        # A process whose conversations show no picture has no gradients for the eyes.
        arguments.ddp_find_unused_parameters = True
        arguments.log_multimodal = False  # TRL would keep the pictures to show them in a table
    trainer = kind(
        model=trainee.model,
        reward_funcs=reward_functions(rollouts.parts),
        args=arguments,
        train_dataset=Dataset.from_list(rows),
        processing_class=reader,
        callbacks=callbacks,
        rollout_func=rollouts,
    )
    save_work(trainee.model)
    resume_by_class(trainer)
    return trainer
