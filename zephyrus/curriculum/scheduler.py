"""The scheduler: a small state machine that takes a policy through a recipe's stages.

Each stage goes through the same phases, and the state is on the disk after every one of them:

``rsft``           before → sample → train → after → done
``rl, report_rl``  before → train → after → done

``before`` evaluates where the stage begins (the stage before has done so already, for all but the
first); ``after`` evaluates the candidates on all held-out tasks and chooses the checkpoint. Killed
anywhere, the same command goes on: rollouts that are finished are kept, training goes on from its
last checkpoint, and a step that was cut off is done again with the same seeds.

The folder of a run::

    recipe.yaml           what is run, every default written out
    state.json            where it is
    stages/NAME/          rollouts, kept rollouts, checkpoints, candidates, evaluations,
                          steps.jsonl, evaluations.jsonl
    stages/NAME/chosen/   the checkpoint that the next stage begins from
    policy/               the last stage's, for `zephyrus env rollout --policy`

Where several processes train together each has a scheduler, and they go in step; the first writes.
"""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Protocol

from zephyrus.curriculum.recipe import RSFT, Recipe, Stage
from zephyrus.curriculum.rules import Measured, best
from zephyrus.errors import UserError, WorkError
from zephyrus.fileformat import FileFormat
from zephyrus.jsonlines import write_whole
from zephyrus.local.models import ACTS
from zephyrus.lock import FileLock, LockHeldError

Phase = Literal["before", "sample", "train", "after", "done"]

RECIPE, STATE, LOCK = "recipe.yaml", "state.json", ".lock"
CHOSEN, POLICY = "chosen", "policy"

FORMAT = FileFormat("curriculum-state", "0.1.0")
"""Of ``state.json``, and of the folder as a whole: ``recipe.yaml`` beside it is the user's file."""


@dataclass
class StageState:
    """Where a stage is.

    Attributes:
        name: The stage's.
        phase: What is done next.
        before: The evaluation it began with.
        candidates: Steps of the checkpoints that may be chosen, once training is over.
        after: Evaluations of the candidates on all held-out tasks.
        chosen: The step of the checkpoint that was chosen; 0 is where the stage began.
        reason: Why training stopped.
    """

    name: str
    phase: Phase = "before"
    before: Measured | None = None
    candidates: list[int] = field(default_factory=list)
    after: list[Measured] = field(default_factory=list)
    chosen: int | None = None
    reason: str = ""

    @classmethod
    def from_dict(cls, data: dict[str, Any]) -> StageState:
        """The inverse of ``dataclasses.asdict``."""
        before = Measured(**data["before"]) if data["before"] else None
        after = [Measured(**row) for row in data["after"]]
        return cls(**{**data, "before": before, "after": after})


class Work(Protocol):
    """What the scheduler has done for it; `zephyrus.training.work` is the real one."""

    @property
    def main(self) -> bool:
        """Whether this process writes; exactly one of those that work together does."""

    def wait(self) -> None:
        """Wait until all processes are here."""

    def evaluate(self, stage: Stage, checkpoint: Path | None, step: int) -> Measured:
        """Evaluate a checkpoint (the recipe's model if None) on all of a stage's held-out tasks."""

    def sample(self, stage: RSFT, checkpoint: Path | None, folder: Path) -> None:
        """Roll the policy out and keep what is fine-tuned on."""

    def train(
        self, stage: Stage, checkpoint: Path | None, folder: Path, before: Measured
    ) -> tuple[str, list[Measured]]:
        """Train a stage.

        Returns:
            Why it stopped, and the candidates: those evaluated on all held-out tasks already say so.
        """

    def candidate(self, folder: Path, step: int) -> Path:
        """The folder of a candidate, as a checkpoint that can be loaded."""


class Scheduler:
    """One run of a recipe.

    Attributes:
        recipe: The recipe.
        folder: Of the run.
        stages: Where each stage is.
    """

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        work: Work,
        tell: Callable[[str], None] = lambda text: None,
    ) -> None:
        """Take up a run, or one that is still to begin; nothing is written before `run`.

        Args:
            recipe: The recipe.
            folder: Of the run.
            work: What does the work.
            tell: Hears what is done next, in words.

        Raises:
            UserError: If the folder holds something else, or a run of another recipe.
        """
        self.recipe = recipe
        self.folder = folder
        self._work = work
        self._tell = tell
        self.stages = self._read()  # first, so that a later release's run is called that
        self._check()

    def run(self) -> Path | None:
        """Do what is not done yet.

        Returns:
            The folder of the policy that came out; None if no stage made it better.

        Raises:
            UserError: If another process runs it.
            WorkError: If something stayed away, or it was stopped; the same again goes on.
        """
        lock = self._lock() if self._work.main else None
        try:
            if lock is not None:
                self._begin()
            self._work.wait()
            self.stages = self._read()
            for index, stage in enumerate(self.recipe.stages):
                state = self.stages[index]
                while state.phase != "done":
                    self._tell(f"{stage.name}: {_WORDS[state.phase]}")
                    state.phase = self._do(index, stage, state)
                    self._save()
            return self._publish()
        except KeyboardInterrupt:
            raise WorkError(
                f"stopped; everything is kept, and the same again goes on in {self.folder}"
            ) from None
        finally:
            if lock is not None:
                lock.release()

    def stage_folder(self, stage: Stage) -> Path:
        """Where a stage keeps what it makes."""
        return self.folder / "stages" / stage.name

    def start_of(self, index: int) -> Path | None:
        """The checkpoint that a stage begins from; None is the recipe's model."""
        for earlier in reversed(range(index)):
            if self.stages[earlier].chosen:
                return self.stage_folder(self.recipe.stages[earlier]) / CHOSEN
        return None

    def _do(self, index: int, stage: Stage, state: StageState) -> Phase:
        """Do one phase; returns the next."""
        start, folder = self.start_of(index), self.stage_folder(stage)
        if state.phase == "before":
            state.before = self._known(index) or self._evaluate(stage, start, 0)
            return "sample" if isinstance(stage, RSFT) else "train"
        if state.phase == "sample":
            assert isinstance(stage, RSFT)
            self._work.sample(stage, start, folder)
            return "train"
        assert state.before is not None
        if state.phase == "train":
            state.reason, candidates = self._work.train(stage, start, folder, state.before)
            state.candidates = [measured.step for measured in candidates]
            state.after = [measured for measured in candidates if measured.full]
            return "after"
        return self._choose(stage, state, folder)

    def _choose(self, stage: Stage, state: StageState, folder: Path) -> Phase:
        """Evaluate one candidate that has not been, or choose."""
        for step in state.candidates:
            if all(measured.step != step for measured in state.after):
                candidate = self._work.candidate(folder, step)
                state.after.append(self._evaluate(stage, candidate, step))
                return "after"
        if stage.evaluation.choose == "best":
            assert state.before is not None
            chosen = best([state.before, *state.after])
        else:
            chosen = max(state.after, key=lambda m: m.step)
        assert chosen is not None
        state.chosen = chosen.step
        if chosen.step:
            self._copy(self._work.candidate(folder, chosen.step), folder / CHOSEN)
        return "done"

    def _evaluate(self, stage: Stage, checkpoint: Path | None, step: int) -> Measured:
        measured = self._work.evaluate(stage, checkpoint, step)
        metric = stage.evaluation.metric
        self._tell(
            f"{stage.name}: held-out {metric} {measured.value:.3f} at step {step}, all tasks"
        )
        return measured

    def _known(self, index: int) -> Measured | None:
        """The evaluation of the checkpoint a stage begins from, if the one before made it."""
        if not index:
            return None
        earlier, state = self.recipe.stages[index - 1], self.stages[index - 1]
        mine = self.recipe.stages[index].evaluation
        if any(
            getattr(earlier.evaluation, key) != getattr(mine, key)
            for key in ("tasks", "sampling", "metric")
        ):
            return None
        made = [m for m in (state.before, *state.after) if m and m.step == state.chosen and m.full]
        return Measured(0, made[0].value, full=True) if made else None

    def _publish(self) -> Path | None:
        """Put the policy that came out where it is easily found."""
        last = self.start_of(len(self.recipe.stages))
        if last is None:
            return None
        model = self.recipe.model.model_dump(include={"compact", "context", "thinking"})
        self._copy(last, self.folder / POLICY, {ACTS: json.dumps(model, indent=2)})
        return self.folder / POLICY

    def _copy(self, source: Path, folder: Path, besides: Mapping[str, str] | None = None) -> None:
        """Copy a folder, with some files besides, whole or not at all."""
        if self._work.main:
            made = folder.with_name(f".{folder.name}")
            shutil.rmtree(made, ignore_errors=True)
            shutil.copytree(source, made)
            for name, text in (besides or {}).items():
                (made / name).write_text(text, "utf-8")
            shutil.rmtree(folder, ignore_errors=True)
            made.rename(folder)
        self._work.wait()

    def _check(self) -> None:
        """Is the folder new, or a run of this recipe?"""
        import yaml

        path = self.folder / RECIPE
        if path.exists():
            if yaml.safe_load(path.read_text("utf-8")) != self.recipe.model_dump(mode="json"):
                raise UserError(
                    f"{self.folder} holds a run of another recipe, or of this one with other "
                    f"settings (see {path}): give another output folder"
                )
        elif self.folder.exists():
            # A process may have been killed before the recipe was written.
            ours = {LOCK, f"{RECIPE}.part"}
            if not self.folder.is_dir() or {f.name for f in self.folder.iterdir()} - ours:
                raise UserError(f"{self.folder} holds something else: give another output folder")

    def _begin(self) -> None:
        import yaml

        self._check()  # the folder is locked now: what another process did has happened
        if not (self.folder / RECIPE).exists():
            recipe = self.recipe.model_dump(mode="json")
            write_whole(self.folder / RECIPE, yaml.safe_dump(recipe, sort_keys=False))

    def _lock(self) -> FileLock:
        self.folder.mkdir(parents=True, exist_ok=True)
        try:
            return FileLock(self.folder / LOCK)
        except LockHeldError as error:
            raise UserError(f"{self.folder} is being run by {error}") from error

    def _read(self) -> list[StageState]:
        path = self.folder / STATE
        rows = []
        if path.exists():
            rows = FORMAT.read(json.loads(path.read_text("utf-8")), path)["stages"]
        return [StageState.from_dict(row) for row in rows] or [
            StageState(stage.name) for stage in self.recipe.stages
        ]

    def _save(self) -> None:
        if self._work.main:
            state = {"stages": [asdict(stage) for stage in self.stages]}
            write_whole(self.folder / STATE, json.dumps(FORMAT.stamp(state), indent=2))
        self._work.wait()


_WORDS: dict[Phase, str] = {
    "before": "evaluate where it begins",
    "sample": "roll out, and keep the successes",
    "train": "train",
    "after": "evaluate on all held-out tasks, and choose a checkpoint",
    "done": "done",
}
