"""What goes on while TRL trains: evaluations, the rule that stops, shifting weights, the log.

After a step its line is written to ``steps.jsonl``; then its checkpoint, with the candidate for the
stage's result if it is to be evaluated; then the evaluation, a line of ``evaluations.jsonl``. A
checkpoint counts once all of it is there, and a process that goes on from it drops the lines of
later steps, which are done again, and makes up for an evaluation that is due.
"""

from __future__ import annotations

import json
import math
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

from transformers import Trainer, TrainerCallback

from zephyrus.curriculum.history import EVALUATION_FORMAT, EVALUATIONS, STEP_FORMAT, STEPS
from zephyrus.curriculum.progress import HELD_OUT
from zephyrus.curriculum.recipe import Evaluation, Until
from zephyrus.curriculum.rules import Measured, verdict
from zephyrus.jsonlines import append, lines, open_to_append, write_whole
from zephyrus.summary import summarise
from zephyrus.training.candidates import Candidates
from zephyrus.training.checkpoints import beside, complete, step_of
from zephyrus.training.ranks import Ranks
from zephyrus.training.rl import Rollouts, Step
from zephyrus.training.tracking import scalars
from zephyrus.training.weights import RewardWeights

_LOGGED = {
    "loss": "loss",
    "grad_norm": "grad_norm",
    "learning_rate": "learning_rate",
    "kl": "kl",
    "entropy": "entropy",
    "reward": "reward",
    "reward_std": "reward_std",
    "frac_reward_zero_std": "uniform_groups",
    "completions/mean_length": "tokens_per_rollout",
    "mean_token_accuracy": "token_accuracy",
    "sampling/sampling_logp_difference/mean": "sampling_difference",  # vLLM's from the trainer's
}
"""TRL's names, and ours."""

Evaluate = Callable[[int], Measured]
"""Evaluates the model as it is after some steps."""


class OverError(Exception):
    """The stage is over, which is found out before a step is made; no failure."""


class Watch(TrainerCallback):  # type: ignore[misc]  # transformers has no types here
    """The callback of a stage.

    Attributes:
        measured: Evaluations so far; that of step 0 too if it can be compared with them.
        reason: Why the stage is over; "" while it goes on.
        trainer: TRL's, set once it is made.
    """

    def __init__(
        self,
        folder: Path,
        until: Until,
        evaluation: Evaluation,
        evaluate: Evaluate | None,
        candidates: Candidates,
        *,
        before: Measured | None = None,
        save_every: int = 1,
        updates: int = 1,
        rollouts: Rollouts | None = None,
        weights: RewardWeights | None = None,
        ranks: Ranks | None = None,
        tell: Callable[[dict[str, Any]], None] | None = None,
    ) -> None:
        """Get ready.

        Args:
            folder: Of the stage.
            until: The rule that stops.
            evaluation: The recipe's.
            evaluate: See `Evaluate`; None where the model can't be evaluated within a stage: then
                there are candidates only, for the end of the stage to evaluate.
            candidates: Where what may be chosen is kept.
            before: The evaluation that the stage began with.
            save_every: Steps between checkpoints.
            updates: Steps on the same rollouts; only after the last of them can training go on.
            rollouts: Of RL.
            weights: Of rewards that shift.
            ranks: The processes that train together.
            tell: Hears of each step, and with "held_out" of each evaluation.
        """
        self.folder = folder
        self.until = until
        self.evaluation = evaluation
        self.evaluate = evaluate
        self.candidates = candidates
        self.save_every = save_every
        self.updates = updates
        self.rollouts = rollouts
        self.weights = weights
        self.ranks = ranks or Ranks()
        self.tell = tell
        self.reason = ""
        # A subset is another measure than all held-out tasks.
        self._before = [before] if before is not None and evaluation.subset is None else []
        self.measured: list[Measured] = list(self._before)
        self.trainer: Any = None
        self._began = time.monotonic()
        self._line: dict[str, Any] = {}
        self._tokens: float | None = None

    def go_on_from(self, checkpoint: Path | None) -> int:
        """Forget what came after a checkpoint, and take up what lies beside it; returns its step."""
        step = step_of(checkpoint) if checkpoint else 0
        if self.ranks.main:
            for name in (STEPS, EVALUATIONS):
                path = self.folder / name
                kept = [line for line in lines(path) if json.loads(line)["step"] <= step]
                write_whole(path, b"".join(kept))
        self.ranks.wait()
        self.measured = self._before + read_measured(self.folder)
        if checkpoint is not None:
            if self.weights is not None:
                self.weights.restore(beside(checkpoint)["weights"])
            if not self._is_due(step) or self._is_measured(step):
                self.reason = verdict(self.until, step, self.measured) or ""
        return step

    def on_train_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Make up for an evaluation that a killed process did not come to."""
        step = int(state.global_step)
        if self.evaluate and self._is_due(step) and not self._is_measured(step):
            self._evaluate(step)
            if self.reason:
                raise OverError

    def on_step_begin(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Give the trainer the weights of this step."""
        self._began = time.monotonic()
        if self.weights is not None and self.rollouts is not None:
            import torch

            parts = {**self.rollouts.parts, **self.weights.weights}
            self.trainer.reward_weights = torch.tensor(list(parts.values()))

    def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Take in what the step's rollouts came to, and say whether to save."""
        step = int(state.global_step)
        self._line = {"step": step, "seconds": time.monotonic() - self._began}
        if self.weights is not None:
            self._line["weights"] = dict(self.weights.weights)
        last = self.rollouts.last if self.rollouts is not None else Step()
        if self.rollouts is not None and last.number == step:  # not another pass over the last ones
            rewards = last.rewards(list(self.rollouts.parts))
            self._line |= _diagnostics(last, self._line["seconds"])
            self._line["rewards"] = {part: _mean(groups) for part, groups in rewards.items()}
            if self.weights is not None:
                self.weights.update({k: rewards[k] for k in self.weights.weights})
        control.should_log = True
        control.should_save = self._is_last(step) or (
            step % self.updates == 0 and (step % self.save_every == 0 or self._is_due(step))
        )

    def on_log(
        self, args: Any, state: Any, control: Any, logs: dict[str, Any] | None = None, **kwargs: Any
    ) -> None:
        """Write the step's line; the trainer logs after each step."""
        if self._line.get("step") != state.global_step:
            return
        for theirs, ours in _LOGGED.items():
            value = (logs or {}).get(theirs)
            if value is not None:
                self._line[ours] = float(value)
        if self.rollouts is None and (tokens := (logs or {}).get("num_tokens")) is not None:
            # TRL counts those that were computed, from where this process began.
            if self._tokens is not None:
                new = float(tokens) - self._tokens
                self._line["tokens_per_second"] = new / self._line["seconds"]
            self._tokens = float(tokens)
        if self.ranks.main:
            append_line(self.folder / STEPS, STEP_FORMAT.stamp(self._line))
            if self.tell is not None:
                self.tell(self._line)
        line, self._line = self._line, {}  # logging comes back here
        self._track(args, scalars(line))

    def on_save(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
        """Complete the checkpoint; then evaluate if that is due."""
        step = int(state.global_step)
        if self._is_due(step) or self._is_last(step):
            self.candidates.save(step, self.trainer)
        if self.ranks.main:
            weights = self.weights.state() if self.weights is not None else None
            complete(Path(args.output_dir) / f"checkpoint-{step}", {"weights": weights})
        self.ranks.wait()
        if self._is_due(step):
            self._evaluate(step)
        self.reason = self.reason or verdict(self.until, step, self.measured) or ""
        control.should_training_stop = bool(self.reason)

    def _is_last(self, step: int) -> bool:
        return step >= self.until.steps

    def _is_due(self, step: int) -> bool:
        """Whether there is an evaluation after a step; after the last one that of the stage is."""
        every, updates = self.evaluation.every, self.updates
        crossed = step // every > (step - updates) // every if step >= updates else False
        return step > 0 and step % updates == 0 and crossed and not self._is_last(step)

    def _is_measured(self, step: int) -> bool:
        return any(m.step == step for m in self.measured)

    def _evaluate(self, step: int) -> None:
        if self.evaluate is None:
            return
        measured = self.evaluate(step)
        self.measured.append(measured)
        if self.ranks.main:
            append_line(
                self.folder / EVALUATIONS,
                EVALUATION_FORMAT.stamp(
                    {"step": measured.step, "value": measured.value, "full": measured.full}
                ),
            )
            if self.tell is not None:
                self.tell({"step": measured.step, HELD_OUT: measured.value})
        if self.trainer is not None:
            self._track(self.trainer.args, {f"eval_{self.evaluation.metric}": measured.value})
        self.candidates.prune(self.measured, step)
        self.reason = verdict(self.until, step, self.measured) or ""

    def _track(self, args: Any, numbers: dict[str, float]) -> None:
        """Give TRL's trackers, if there are any, numbers that they would not have from it."""
        if args.report_to and numbers and self.trainer is not None:
            # GRPOTrainer's own log would add the step's metrics once more: they are still there.
            Trainer.log(self.trainer, numbers)


def read_measured(folder: Path) -> list[Measured]:
    """The evaluations within a stage so far."""
    rows = [json.loads(line) for line in lines(folder / EVALUATIONS)]
    return [Measured(row["step"], row["value"], row["full"]) for row in rows]


def append_line(path: Path, row: dict[str, Any]) -> None:
    """Append a line, on the disk when this returns."""
    import os

    path.parent.mkdir(parents=True, exist_ok=True)
    handle = open_to_append(path)
    try:
        append(handle, (json.dumps(row) + "\n").encode())
    finally:
        os.close(handle)


def _diagnostics(step: Step, seconds: float) -> dict[str, Any]:
    """What is watched of a step's rollouts; see `zephyrus.summary`."""
    summary = summarise(t for group in step.groups for t in group)
    tokens = summary["tokens"]["completion"]
    return {
        "rollouts": summary["rollouts"],
        "redrawn": step.redrawn,
        "accuracy": summary["accuracy"],
        "tool_rate": summary["required_tool_rate"],
        "failure_rate": summary["failure_rate"],
        "tools_per_turn": summary["tools_per_turn"],
        "turns": summary["turns"]["mean"],
        "tokens_per_second": tokens / seconds if seconds else None,
    }


def _mean(groups: list[list[float]]) -> float | None:
    values = [x for group in groups for x in group]
    return math.fsum(values) / len(values) if values else None
