"""Checkpoints that training goes on from: whole ones only, whatever moment it was killed at.

TRL writes a checkpoint file by file; what is ours (`BESIDE`) is written last, and a checkpoint that
lacks it is half-written.
"""

from __future__ import annotations

import json
import os
import shutil
from pathlib import Path
from typing import Any

from zephyrus.fileformat import FileFormat
from zephyrus.jsonlines import write_whole

BESIDE = "zephyrus.json"
FORMAT = FileFormat("checkpoint", "0.1.0")


def last_whole(folder: Path, *, clean: bool = True) -> Path | None:
    """The latest whole checkpoint in a folder.

    Args:
        folder: Of ``checkpoint-N`` folders.
        clean: Remove the half-written ones, and those that were being removed: Trainer, which goes
            by the times of folders, would take what is left of one for the latest.
    """
    found = sorted(folder.glob("checkpoint-*"), key=step_of)
    whole = [path for path in found if (path / BESIDE).is_file()]
    if clean:
        for path in found:
            if path not in whole or _files(path) != _files(whole[-1]):
                shutil.rmtree(path, ignore_errors=True)
    return whole[-1] if whole else None


def _files(checkpoint: Path) -> set[str]:
    return {str(path.relative_to(checkpoint)) for path in checkpoint.rglob("*") if path.is_file()}


def step_of(checkpoint: Path) -> int:
    """The step after which a checkpoint was saved."""
    return int(checkpoint.name.rpartition("-")[2])


def complete(checkpoint: Path, beside: dict[str, Any]) -> None:
    """Write what is ours, once everything else is on the disk."""
    # TRL's copy of the adapter that a stage began with is made anew by the next process. Trainer
    # would load it in the place of the trained one (transformers 5.19, _load_from_checkpoint).
    shutil.rmtree(checkpoint / "ref", ignore_errors=True)
    for path in checkpoint.rglob("*"):
        if path.is_file():
            _sync(path)
    write_whole(checkpoint / BESIDE, json.dumps(FORMAT.stamp(beside)))


def beside(checkpoint: Path) -> dict[str, Any]:
    """What `complete` wrote."""
    path = checkpoint / BESIDE
    return FORMAT.read(json.loads(path.read_text("utf-8")), path)


def put(made: Path, folder: Path) -> None:
    """Move a finished folder to its place, over one that may be there."""
    shutil.rmtree(folder, ignore_errors=True)
    made.rename(folder)


def _sync(path: Path) -> None:
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


def resume_by_class(trainer: Any) -> None:
    """Have a trainer take up a whole model's weights as its class reads them.

    The names in a checkpoint may be others than those of the model's parts (vision-language models
    are saved under their older names). Transformers' trainer loads by name and passes over what
    does not fit: the training would go on from the weights that it began with.

    Args:
        trainer: One of transformers'; adapters, FSDP and DeepSpeed have ways of their own.
    """
    load = trainer._load_from_checkpoint

    def loaded(folder: str, model: Any = None) -> None:
        load(folder, model)
        target = trainer.model if model is None else model
        sharded = trainer.is_fsdp_enabled or trainer.is_deepspeed_enabled
        if sharded or hasattr(target, "peft_config"):
            return
        saved = type(target).from_pretrained(folder, dtype=target.dtype)
        target.load_state_dict(saved.state_dict())

    trainer._load_from_checkpoint = loaded
