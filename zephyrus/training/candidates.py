"""What a stage may leave behind: the models that were evaluated within it, and the last."""

from __future__ import annotations

import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from zephyrus.curriculum.rules import Measured, best
from zephyrus.training.checkpoints import put
from zephyrus.training.ranks import Ranks
from zephyrus.training.trainee import Trainee


class Candidates:
    """Folders of models, one for each step after which one was saved."""

    def __init__(self, folder: Path, trainee: Trainee, keep: int, ranks: Ranks) -> None:
        """Get ready.

        Args:
            folder: Where they go.
            trainee: What is trained.
            keep: How many stay besides the best and the last.
            ranks: The processes that train together.
        """
        self.folder = folder
        self.trainee = trainee
        self.keep = keep
        self.ranks = ranks

    def save(self, step: int, trainer: Any) -> None:
        """Save the model as it is after a step; a loadable folder, or none at all."""
        made = self.folder / f".step-{step:05d}"
        if self.ranks.main:
            shutil.rmtree(made, ignore_errors=True)
        self.ranks.wait()
        if trainer.accelerator.state.distributed_type.value in ("FSDP", "DEEPSPEED"):
            trainer.save_model(str(made))  # the weights are in pieces, which it puts together
            shutil.rmtree(made / "ref", ignore_errors=True)
        elif self.ranks.main:
            self.trainee.save(made)
        self.ranks.wait()
        if self.ranks.main:
            put(made, path_of(self.folder, step))
        self.ranks.wait()

    def prune(self, measured: Sequence[Measured], last: int) -> None:
        """Remove all but the best, the last, and the next best `keep`.

        Args:
            measured: Evaluations so far.
            last: The step that was saved last.
        """
        if not self.ranks.main:
            return
        within = [m for m in measured if m.step and path_of(self.folder, m.step).is_dir()]
        stay = {last}
        first = best(within)
        if first is not None:
            stay.add(first.step)
        rest = sorted((m for m in within if m.step not in stay), key=lambda m: (-m.value, m.step))
        stay |= {m.step for m in rest[: self.keep]}
        for m in within:
            if m.step not in stay:
                shutil.rmtree(path_of(self.folder, m.step), ignore_errors=True)

    def steps(self, measured: Sequence[Measured], last: int) -> list[int]:
        """The candidates of a stage that is over: the best evaluation's, and the last.

        All, if none was evaluated.
        """
        if not any(m.step for m in measured):
            return sorted(int(path.name[5:]) for path in self.folder.glob("step-*"))
        within = [m for m in measured if m.step and path_of(self.folder, m.step).is_dir()]
        first = best(within)
        found = [last] if first is None else [first.step, last]
        return [step for step in dict.fromkeys(found) if path_of(self.folder, step).is_dir()]


def path_of(folder: Path, step: int) -> Path:
    """The folder of one candidate."""
    return folder / f"step-{step:05d}"
