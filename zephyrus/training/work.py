"""What a curriculum's scheduler has done: evaluations, rollouts, training, with a real model."""

from __future__ import annotations

import contextlib
import gc
import json
import shutil
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

from zephyrus.curriculum.history import KEPT_FORMAT
from zephyrus.curriculum.preflight import BLIND
from zephyrus.curriculum.recipe import RSFT, Recipe, ReportRL, Sampling, Stage, Tasks
from zephyrus.curriculum.rules import Measured
from zephyrus.env import ToolEnv
from zephyrus.errors import UserError
from zephyrus.jsonlines import write_whole
from zephyrus.limits import Limits
from zephyrus.policy import make_policy
from zephyrus.policy.base import Policy
from zephyrus.policy.slips import SlippingPolicy
from zephyrus.progress import Progress
from zephyrus.registry import make
from zephyrus.run import Run
from zephyrus.task import Task, TaskSet
from zephyrus.training.checkpoints import last_whole, put
from zephyrus.training.examples import shown, to_row, tokens_of
from zephyrus.training.keeping import Kept, keep
from zephyrus.training.memory import keep_memory, release_memory
from zephyrus.training.ranks import Ranks
from zephyrus.training.sampling import Patience, sample
from zephyrus.training.tracking import check_trackers, hush, quiet, tracked
from zephyrus.training.trainee import Trainee
from zephyrus.training.weights import RewardWeights
from zephyrus.trajectory import Trajectory

KEPT, KEPT_REPORT, CHECKPOINTS = "kept", "kept.json", "checkpoints"


class TRLWork:
    """The work of a run, on this machine; see `zephyrus.curriculum.scheduler.Work`."""

    def __init__(
        self,
        recipe: Recipe,
        folder: Path,
        *,
        concurrency: int = 16,
        save_every: int = 1,
        patience: Patience | None = None,
        progress: bool | Progress | None = None,
        tell: Callable[[dict[str, Any]], None] | None = None,
        report_to: Sequence[str] = (),
        vllm_url: str | None = None,
    ) -> None:
        """Get ready; no model is loaded yet.

        Args:
            recipe: What is run.
            folder: Of the run.
            concurrency: Episodes that are open at one time.
            save_every: Steps between checkpoints that training can go on from.
            patience: With outages.
            progress: Of rollouts; see `zephyrus.rollouts.arollout`.
            tell: Hears of each training step and evaluation.
            report_to: Trackers of TRL's, such as "tensorboard" and "wandb".
            vllm_url: Where the server of the backend "vllm-server" is.
        """
        self.recipe = recipe
        self.folder = folder
        self.concurrency = concurrency
        self.save_every = save_every
        self.patience = patience
        self.progress = progress
        self.tell = tell
        check_trackers(report_to)
        self.report_to = tuple(report_to)
        self.vllm_url = vllm_url
        self.ranks = Ranks.here()
        self._trainee: Trainee | None = None
        self._envs: dict[str, ToolEnv] = {}
        self._under_way = False

    @property
    def main(self) -> bool:
        """See `Work.main`."""
        return self.ranks.main

    def wait(self) -> None:
        """See `Work.wait`."""
        self.ranks.wait()

    def evaluate(self, stage: Stage, checkpoint: Path | None, step: int) -> Measured:
        """Ask all held-out tasks; see `Work.evaluate`."""
        trainee = self._load(checkpoint)
        where = self._stage(stage) / "evaluations" / f"full-{step:05d}"
        return self._measure(stage, trainee, step, where, full=True)

    def sample(self, stage: RSFT, checkpoint: Path | None, folder: Path) -> None:
        """Roll out and keep; see `Work.sample`."""
        env = self._env(stage.tasks)
        tasks = list(self._tasks(env, stage.tasks))
        found: list[Trajectory] = []
        if stage.demonstrations is not None:
            slips = stage.demonstrations.slips
            named = stage.demonstrations.policy
            demonstrator = SlippingPolicy(slips) if slips else make_policy(named)
            some = tasks[: max(1, round(len(tasks) * stage.demonstrations.share))]
            found += self._sample(env, demonstrator, some, folder / "demonstrations")
            tasks = tasks[len(some) :]
        if tasks:
            policy = self._load(checkpoint).policy(stage.sampling, batch=self.concurrency)
            found += self._sample(env, policy, tasks, folder / "rollouts", stage.repeats)
        kept = keep(found, stage.keep)
        if not kept.trajectories:
            why = ", ".join(f"{why}: {n}" for why, n in kept.dropped.most_common())
            raise UserError(
                f"the stage {stage.name!r} kept none of {kept.seen} rollouts ({why}): begin with "
                "demonstrations, lower keep.at_least, or sample more"
            )
        if self.main:
            _write_kept(folder, kept)
        self.wait()

    def train(
        self, stage: Stage, checkpoint: Path | None, folder: Path, before: Measured
    ) -> tuple[str, list[Measured]]:
        """Train; see `Work.train`."""
        from zephyrus.training.candidates import Candidates
        from zephyrus.training.watch import Watch

        candidates_folder = folder / "candidates"
        weights = None
        if isinstance(stage, ReportRL):
            weights = RewardWeights(stage.weights.rule(stage.until.steps))
        whole = last_whole(folder / CHECKPOINTS, clean=self.main)
        self.wait()
        trainee = self._load(checkpoint, anew=True)
        candidates = Candidates(candidates_folder, trainee, stage.evaluation.keep, self.ranks)
        generators = self._generators()

        def measure(step: int) -> Measured:
            where = folder / "evaluations" / f"step-{step:05d}"
            return self._measure(stage, trainee, step, where, full=False, generators=generators)

        watch = Watch(
            folder,
            stage.until,
            stage.evaluation,
            measure,
            candidates,
            before=before,
            save_every=self.save_every,
            updates=1 if isinstance(stage, RSFT) else stage.updates,
            weights=weights,
            ranks=self.ranks,
            tell=self.tell,
        )
        step = watch.go_on_from(whole)
        if not watch.reason:
            with quiet(), tracked(self.report_to, folder):
                step = self._train(stage, trainee, folder, watch, whole, generators)
        # What is in memory now is trained, whatever it was loaded from.
        self._trainee = None
        known = {m.step: m for m in watch.measured if m.full}
        steps = candidates.steps(watch.measured, step)
        return watch.reason, [known.get(s, Measured(s, float("nan"))) for s in steps]

    def candidate(self, folder: Path, step: int) -> Path:
        """See `Work.candidate`."""
        from zephyrus.training.candidates import path_of

        return path_of(folder / "candidates", step)

    def _train(
        self,
        stage: Stage,
        trainee: Trainee,
        folder: Path,
        watch: Any,
        whole: Path | None,
        generators: Any,
    ) -> int:
        """Train from a whole checkpoint, or the beginning; returns the last step."""
        from zephyrus.training import engine
        from zephyrus.training.generators import VLLMGenerators
        from zephyrus.training.order import in_rounds
        from zephyrus.training.rl import Rollouts
        from zephyrus.training.watch import OverError

        env = self._env(stage.tasks)
        recipe = self.recipe
        setting = engine.Setting(recipe.seed, self.ranks.world, self.report_to, self.vllm_url)
        arguments = engine.arguments(recipe, stage, folder / CHECKPOINTS, setting)
        if isinstance(stage, RSFT):
            schemas = env.tool_schemas()
            errors = stage.keep.imitate_errors
            kept = Run.open(folder / KEPT)
            rows = [to_row(tokens_of(t, trainee.chat, schemas, errors=errors)) for t in kept]
            images = [shown(t) for t in kept]
            trainer = engine.sft_trainer(trainee, rows, arguments, [watch], images)
        else:
            tasks = self._tasks(env, stage.tasks)
            watch.rollouts = rollouts = Rollouts(
                trainee,
                env,
                tasks,
                stage,
                folder / "rollouts",
                seed=recipe.seed,
                concurrency=self.concurrency,
                patience=self.patience,
                generators=generators,
                ranks=self.ranks,
            )
            order = in_rounds(tasks, stage.tasks_per_step, engine.rounds(stage), recipe.seed)
            trainer = engine.grpo_trainer(trainee, rollouts, order, arguments, [watch])
        watch.trainer = trainer
        hush(trainer)
        if isinstance(generators, VLLMGenerators):
            generators.trainer = trainer
        self._heed_pieces(stage, watch, trainer)
        with contextlib.suppress(OverError):
            trainer.train(resume_from_checkpoint=str(whole) if whole else None)
        return int(trainer.state.global_step)

    def _heed_pieces(self, stage: Stage, watch: Any, trainer: Any) -> None:
        """Where each process has a part of the weights only, our own generation has no model."""
        plugin = getattr(trainer.accelerator.state, "deepspeed_plugin", None)
        in_pieces = trainer.accelerator.state.distributed_type.value == "FSDP" or (
            plugin is not None and plugin.zero_stage == 3
        )
        if in_pieces and isinstance(stage, RSFT):
            watch.evaluate = None
        elif in_pieces and self.recipe.backend == "transformers":
            raise UserError(
                "FSDP and ZeRO-3 leave each process a part of the weights, from which only vLLM can "
                "sample: choose a vLLM backend, or train with DDP or ZeRO-2"
            )

    def _generators(self) -> Any:
        from zephyrus.training.generators import Generators, VLLMGenerators

        return Generators() if self.recipe.backend == "transformers" else VLLMGenerators(self.ranks)

    def _load(self, checkpoint: Path | None, *, anew: bool = False) -> Trainee:
        """The model at a checkpoint; the one that is loaded, if it is that."""
        import torch

        name = str(checkpoint or self.recipe.model.name)
        if anew or self._trainee is None or self._trainee.name != name:
            self._trainee = None
            gc.collect()
            if not torch.cuda.is_available():
                keep_memory()
            with quiet():
                self._trainee = Trainee.load(self.recipe.model, checkpoint, seed=self.recipe.seed)
        return self._trainee

    def _measure(
        self,
        stage: Stage,
        trainee: Trainee,
        step: int,
        folder: Path,
        *,
        full: bool,
        generators: Any = None,
    ) -> Measured:
        rule = stage.evaluation
        env = self._env(rule.tasks)
        tasks = self._tasks(env, rule.tasks)
        full = full or rule.subset is None or rule.subset >= len(tasks)
        if not full and rule.subset is not None:
            tasks = tasks.take(rule.subset)
        if trainee.eyes is None and env.images(next(iter(tasks))):
            raise UserError(f"{rule.tasks.env} with the model {trainee.name}: {BLIND}")
        generator = self._generator(generators, stage, trainee, rule.sampling)
        policy = trainee.policy(rule.sampling, batch=self.concurrency, generator=generator)
        self._sample(env, policy, list(tasks), folder)
        if generator is not None:
            generators.drain()
        summary = Run.open(folder).summary
        if rule.metric == "accuracy":
            value = summary["accuracy"]
        else:
            value = summary["rewards"].get(rule.metric)
        if value is None:
            known = ", ".join(("accuracy", *summary["rewards"]))
            raise UserError(f"the evaluation has no {rule.metric!r}; it has {known}")
        return Measured(step, float(value), full)

    def _generator(
        self, generators: Any, stage: Stage, trainee: Trainee, sampling: Sampling
    ) -> Any:
        """What samples in an evaluation: TRL's vLLM while it is there, which is during RL."""
        if generators is None or isinstance(stage, RSFT):
            return None
        return generators.of(trainee, sampling)

    def _sample(
        self,
        env: ToolEnv,
        policy: Policy,
        tasks: Sequence[Task],
        folder: Path,
        repeats: int = 1,
    ) -> list[Trajectory]:
        """Rollouts of tasks, shared among the processes, in one run folder."""
        alone = self.ranks.world == 1
        parts = [folder.parent / ".parts" / f"{folder.name}-{r}" for r in range(self.ranks.world)]
        mine = folder if alone else parts[self.ranks.rank]
        found = sample(
            env,
            policy,
            self.ranks.share(tasks),
            mine,
            repeats=repeats,
            seed=self.recipe.seed,
            concurrency=self.concurrency,
            progress=self.progress if self.main else False,
            patience=self.patience,
            under_way=self._under_way,
        )
        self._under_way = True
        release_memory()
        if alone:
            return found
        self.wait()
        if self.main:
            rollouts = {t.key: t for part in parts if part.is_dir() for t in Run.open(part)}
            place = {task.id: number for number, task in enumerate(tasks)}
            order = sorted(rollouts, key=lambda key: (place[key.task], key.repeat))
            made = folder.with_name(f".{folder.name}")
            _write_run(made, Run.open(mine).config, [rollouts[key] for key in order])
            put(made, folder)
        self.wait()
        return list(Run.open(folder))

    def _env(self, spec: Tasks) -> ToolEnv:
        """The environment of a part of the recipe, made once."""
        key = spec.model_dump_json(include={"env", "split", "options", "limits"})
        if key not in self._envs:
            self._envs[key] = environment(spec, compact=self.recipe.model.compact)
        return self._envs[key]

    def _tasks(self, env: ToolEnv, spec: Tasks) -> TaskSet:
        tasks = env.tasks().shuffle(self.recipe.seed)
        if spec.n is None:
            return tasks
        if spec.n > len(tasks):
            raise UserError(
                f"the {spec.split} split of {spec.env} has {len(tasks)} tasks, not {spec.n}"
            )
        return tasks.take(spec.n)

    def _stage(self, stage: Stage) -> Path:
        return self.folder / "stages" / stage.name


def environment(spec: Tasks, *, compact: bool) -> ToolEnv:
    """The environment that a part of a recipe names.

    Raises:
        UserError: If there is none, or it takes no such option.
    """
    env = make(spec.env, split=spec.split, compact=compact, **spec.options)
    if spec.limits:
        known = env.limits.to_dict()
        wrong = sorted(set(spec.limits) - set(known))
        if wrong:
            raise UserError(f"there is no limit {wrong[0]!r}; there are {', '.join(known)}")
        limits: Limits = replace(env.limits, **spec.limits)
        env.limits = limits
    return env


def _write_kept(folder: Path, kept: Kept) -> None:
    """Keep them as a run folder, which `zephyrus env show` reads, and say why others are not."""
    source = next(f for f in (folder / "rollouts", folder / "demonstrations") if f.is_dir())
    made = folder / f".{KEPT}"
    _write_run(made, {**Run.open(source).config, "kept_for": "rsft"}, kept.trajectories)
    write_whole(folder / KEPT_REPORT, json.dumps(KEPT_FORMAT.stamp(kept.report()), indent=2))
    put(made, folder / KEPT)


def _write_run(folder: Path, config: dict[str, Any], rollouts: Sequence[Trajectory]) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    with Run.create(folder, config) as run:
        run.append(*rollouts)
        run.write_summary()
