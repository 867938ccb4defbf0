"""Running a recipe on this machine, with its progress shown."""

from __future__ import annotations

import contextlib
import importlib.util
import os
from datetime import datetime
from pathlib import Path
from typing import Any

from zephyrus.curriculum.needs import TRAIN, missing_environment, missing_packages
from zephyrus.curriculum.preflight import check
from zephyrus.curriculum.recipe import Recipe
from zephyrus.errors import UserError, WorkError


def start(recipe: Recipe, folder: Path, *, hours: float = 24.0, **options: Any) -> None:
    """Run a recipe, or go on with a run of it.

    Args:
        recipe: It.
        folder: Of the run; see `zephyrus.curriculum.scheduler`.
        hours: How long a judge or an endpoint that is away is waited for.
        **options: Of `zephyrus.training.work.TRLWork`.

    Raises:
        UserError: If the folder holds something else, or what training needs isn't there.
        WorkError: If something stayed away, or it was stopped; the message says how to go on.
    """
    from zephyrus.curriculum.progress import CurriculumProgress
    from zephyrus.curriculum.scheduler import STATE, Scheduler
    from zephyrus.training.sampling import Patience
    from zephyrus.training.work import TRLWork

    shown = CurriculumProgress(recipe)
    patience = Patience(seconds=3600 * hours, say=shown.say)
    work = TRLWork(
        recipe, folder, patience=patience, progress=shown.rollouts, tell=shown.step, **options
    )
    if not (folder / STATE).is_file():
        _try_out(recipe, work.ranks.world)
    with contextlib.ExitStack() as screen:
        if work.main:  # of the processes that train together one shows what they do
            screen.enter_context(shown)
        tell = shown.phase if work.main else _say_nothing
        try:
            Scheduler(recipe, folder, work, tell).run()
        except WorkError as error:
            raise WorkError(f"{error} (zephyrus curriculum run --output {folder})") from error


def check_possible(recipe: Recipe) -> None:
    """Say at once what would else fail after the folder was made.

    Raises:
        UserError: If an environment or a package is missing.
    """
    if (env := missing_environment(recipe)) is not None:
        raise UserError(
            f"the recipe {recipe.name!r} needs the environment {env!r}, which is not in this "
            f"version or not installed; see: zephyrus curriculum show {recipe.name}"
        )
    if missing := missing_packages(recipe):
        raise UserError(f"training needs {', '.join(missing)}: {TRAIN}")
    if recipe.backend != "transformers" and importlib.util.find_spec("vllm") is None:
        raise UserError(
            f"the backend {recipe.backend} needs vllm: pip install 'trl[vllm]', or change it with "
            "-s backend=transformers"
        )


def new_folder(name: str) -> Path:
    """A folder below ``runs/`` that does not exist yet: the recipe's name and the time.

    Raises:
        UserError: If several processes train together, which would each find another.
    """
    if int(os.environ.get("WORLD_SIZE", "1")) > 1:
        raise UserError("several processes train together: name the folder of the run (--output)")
    path = first = Path("runs", f"curriculum-{name}-{datetime.now():%Y%m%d-%H%M%S}")
    number = 1
    while path.exists():
        number += 1
        path = first.with_name(f"{first.name}-{number}")
    return path


def _try_out(recipe: Recipe, world: int) -> None:
    """Find out at once what would else show after hours, in a later stage."""
    for finding in check(recipe, world):
        if finding.ok is False:
            raise UserError(f"{recipe.name}: {finding.what}: {finding.note}")


def _say_nothing(text: str) -> None:
    """What the other processes say."""
