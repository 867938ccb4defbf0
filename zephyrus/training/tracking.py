"""What is told while TRL trains: to trackers such as TensorBoard, and not to the terminal."""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import math
import os
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from zephyrus.errors import UserError

TRACKERS = ("tensorboard", "wandb")
"""TRL's ``report_to`` that are looked after here."""

FOLDER = "tensorboard"

_DIRECTORY = "TENSORBOARD_LOGGING_DIR"
_OWN = ("accuracy", "tool_rate", "failure_rate", "tools_per_turn", "turns", "tokens_per_second")


def check_trackers(names: Sequence[str]) -> None:
    """Find out whether trackers can be used, before anything is trained.

    Raises:
        UserError: If one is not known, or its package is not installed.
    """
    for name in names:
        if name not in TRACKERS:
            raise UserError(f"there is no tracker {name!r}; there are {', '.join(TRACKERS)}")
        if importlib.util.find_spec(name) is None:
            raise UserError(f"reporting to {name} needs its package: pip install {name}")


@contextlib.contextmanager
def tracked(names: Sequence[str], folder: Path) -> Iterator[None]:
    """Train a stage with trackers, so that each stage is a run of its own there.

    TensorBoard's files go to ``tensorboard`` in the stage's folder, unless TENSORBOARD_LOGGING_DIR
    says otherwise; ``tensorboard --logdir RUN`` shows all stages side by side. W&B's settings are
    its own environment variables; the project is "zephyrus" unless WANDB_PROJECT names one.

    Raises:
        UserError: See `check_trackers`.
    """
    check_trackers(names)
    defaults = {_DIRECTORY: str(folder / FOLDER), "WANDB_PROJECT": "zephyrus"} if names else {}
    ours = {name: value for name, value in defaults.items() if name not in os.environ}
    os.environ.update(ours)
    try:
        yield
    finally:
        for name in ours:
            os.environ.pop(name, None)
        if "wandb" in names:
            importlib.import_module(
                "wandb"
            ).finish()  # else the next stage's steps go on in this stage's run


def scalars(line: Mapping[str, Any]) -> dict[str, float]:
    """The numbers of a line of ``steps.jsonl`` that TRL does not log itself; it has the rewards.

    >>> scalars({"step": 2, "loss": 0.5, "accuracy": 0.25, "weights": {"f1": 0.4, "rubric": 0.6}})
    {'rollouts/accuracy': 0.25, 'weights/f1': 0.4, 'weights/rubric': 0.6}
    """
    found = {f"rollouts/{name}": line.get(name) for name in _OWN}
    found |= {f"weights/{name}": value for name, value in (line.get("weights") or {}).items()}
    return {
        name: float(value)
        for name, value in found.items()
        if value is not None and math.isfinite(value)
    }


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Without the progress bars of transformers and datasets; warnings come through."""
    from datasets import utils
    from transformers.utils import logging

    ours = logging.is_progress_bar_enabled()
    theirs = utils.are_progress_bars_disabled()
    logging.disable_progress_bar()
    utils.disable_progress_bars()
    try:
        yield
    finally:
        if ours:
            logging.enable_progress_bar()
        if not theirs:
            utils.enable_progress_bars()


def hush(trainer: Any) -> None:
    """Keep a trainer from printing its logs: they are in ``steps.jsonl`` and told to `Watch`."""
    from transformers.trainer_callback import PrinterCallback

    trainer.remove_callback(PrinterCallback)
