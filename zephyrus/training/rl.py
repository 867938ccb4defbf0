"""RL: TRL's GRPOTrainer, whose rollouts are our own episodes.

TRL asks `Rollouts` for the tokens of each step. They come from the same loop, limits and tools as
in evaluation; of a conversation what the policy wrote is trained on, and what it read is masked.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from zephyrus.curriculum.recipe import RL, ReportRL
from zephyrus.env import ToolEnv
from zephyrus.errors import UserError
from zephyrus.local.pictures import Picture
from zephyrus.local.policy import Tokens
from zephyrus.policy.seeds import stable_seed
from zephyrus.task import Task, TaskSet
from zephyrus.training.generators import Generators
from zephyrus.training.memory import release_memory
from zephyrus.training.order import others
from zephyrus.training.ranks import Ranks
from zephyrus.training.sampling import Patience, sample
from zephyrus.training.trainee import Trainee
from zephyrus.training.weights import RewardWeights
from zephyrus.trajectory import Trajectory

Stage = RL | ReportRL
Pair = tuple[Trajectory, Tokens]

LENGTH = "length_penalty"
UNSCORED = float("nan")
"""TRL leaves such a rollout out of its group, and does not train on it."""


@dataclass
class Step:
    """The rollouts of a step, of all processes.

    Attributes:
        number: Which step; 0 before the first.
        groups: The trajectories, by group.
        redrawn: Groups whose rollouts were all alike, and were replaced.
    """

    number: int = 0
    groups: list[list[Trajectory]] = field(default_factory=list)
    redrawn: int = 0

    def rewards(self, parts: Sequence[str]) -> dict[str, list[list[float]]]:
        """Each part's values by group, without the rollouts that could not be scored."""
        return {
            part: [[t.rewards[part] for t in group if t.rewards] for group in self.groups]
            for part in parts
        }


class Rollouts:
    """The ``rollout_func`` of a stage.

    Attributes:
        parts: The parts of the reward that are trained on, with their weights at the start.
        last: The step that was sampled last.
        pictures: Those of its rollouts of this process, in the order of their tokens.
    """

    def __init__(
        self,
        trainee: Trainee,
        env: ToolEnv,
        tasks: TaskSet,
        stage: Stage,
        folder: Path,
        *,
        seed: int = 0,
        concurrency: int = 16,
        patience: Patience | None = None,
        generators: Generators | None = None,
        ranks: Ranks | None = None,
    ) -> None:
        """Get ready.

        Args:
            trainee: What is trained.
            env: Where it acts.
            tasks: What it is asked.
            stage: The recipe's.
            folder: Where the rollouts are kept, a run folder for each step.
            seed: The recipe's.
            concurrency: Episodes that are open at one time.
            patience: With outages.
            generators: What samples from the model; transformers by default.
            ranks: The processes that train together.
        """
        self.trainee = trainee
        self.env = env
        self.tasks = tasks
        self.stage = stage
        self.folder = folder
        self.seed = seed
        self.concurrency = concurrency
        self.patience = patience
        self.generators = generators or Generators()
        self.ranks = ranks or Ranks()
        self.parts = parts_of(stage)
        self.last = Step()
        self.pictures: list[list[Picture]] = []

    def __call__(self, prompts: Sequence[Any], trainer: Any) -> dict[str, list[Any]]:
        """Sample a step; see TRL's ``RolloutFunc``.

        Args:
            prompts: Of this process: the ids of tasks as conversations, each as often as a group
                is large.
            trainer: TRL's.
        """
        step = int(trainer.state.global_step) + 1
        ids = [prompt[-1]["content"] for prompt in prompts][:: self.stage.group]
        groups, redrawn = self._sample([self.tasks[name] for name in ids], step)
        self.last = Step(
            step,
            self.ranks.gather([[t for t, _ in pairs] for pairs in groups]),
            sum(self.ranks.gather([redrawn])),
        )
        every = [pair for pairs in groups for pair in pairs]
        cut = [_cut(tokens, self.trainee.chat.end) for _, tokens in every]
        self.pictures = [
            _shown(tokens, len(prompt) + len(completion))
            for (_, tokens), (prompt, completion, _, _) in zip(every, cut, strict=True)
        ]
        return {
            "prompt_ids": [prompt for prompt, _, _, _ in cut],
            "completion_ids": [completion for _, completion, _, _ in cut],
            "logprobs": [logprobs for _, _, _, logprobs in cut],
            "env_mask": [mask for _, _, mask, _ in cut],
            "parts": [{part: _part(t, part) for part in self.parts} for t, _ in every],
        }

    def _sample(self, tasks: list[Task], step: int) -> tuple[list[list[Pair]], int]:
        """The groups of some tasks, flat ones replaced as long as that is allowed."""
        groups: list[list[Pair]] = []
        used = set(self.ranks.gather([task.id for task in tasks]))
        redrawn = 0
        attempts = self.stage.redraws if self.stage.drop_uniform else 0
        for attempt in range(attempts + 1):
            drawn = self._groups(tasks, step, attempt)
            left = others(self.tasks, used, self.seed, step, attempt)
            tasks = []
            # Every process draws from its own part of what is left.
            mine = self.ranks.share(left) if attempt < attempts else []
            for pairs in drawn:
                if mine and self._is_flat(pairs):
                    tasks.append(mine.pop(0))
                    redrawn += 1
                else:
                    groups.append(pairs)
            drawn_now = self.ranks.gather([task.id for task in tasks])
            used |= set(drawn_now)
            if not drawn_now:
                break
        return groups, redrawn

    def _groups(self, tasks: list[Task], step: int, attempt: int) -> list[list[Pair]]:
        stage = self.stage
        name = f"step-{step:05d}" + (f"-{attempt + 1}" if attempt else "")
        policy = self.trainee.policy(
            stage.sampling,
            keep_tokens=True,
            batch=self.concurrency,
            generator=self.generators.of(self.trainee, stage.sampling),
        )
        found = sample(
            self.env,
            policy,
            tasks,
            self.ranks.folder(self.folder / name),
            repeats=stage.group,
            seed=stable_seed(stage.name, self.seed, step, bits=32),
            concurrency=self.concurrency,
            patience=self.patience,
            fresh=True,
        )
        self.generators.drain()
        release_memory()
        assert policy.tokens is not None
        pairs = [(t, policy.tokens[t.key]) for t in found]
        return [pairs[i : i + stage.group] for i in range(0, len(pairs), stage.group)]

    def _is_flat(self, pairs: Sequence[Pair]) -> bool:
        """Whether nothing can be learned from a group: no part of the reward differs."""
        scored = [t for t, _ in pairs if t.rewards is not None]
        return all(len({_part(t, part) for t in scored}) <= 1 for part in self.parts)


def parts_of(stage: Stage) -> dict[str, float]:
    """The parts of the reward that a stage trains on, with their weights at the start."""
    if isinstance(stage, ReportRL):
        parts = RewardWeights(stage.weights.rule(stage.until.steps)).weights
        return {**parts, LENGTH: -stage.length_penalty} if stage.length_penalty else dict(parts)
    return dict(stage.rewards)


def reward_functions(parts: Mapping[str, float]) -> list[Callable[..., list[float | None]]]:
    """A reward function of TRL's for each part, in order."""

    def function(part: str) -> Callable[..., list[float | None]]:
        def reward(parts: Sequence[Mapping[str, float]], **_: Any) -> list[float | None]:
            return [None if math.isnan(values[part]) else values[part] for values in parts]

        reward.__name__ = part
        return reward

    return [function(part) for part in parts]


def _part(trajectory: Trajectory, part: str) -> float:
    if trajectory.rewards is None:
        return UNSCORED
    if part not in trajectory.rewards:
        raise UserError(
            f"the environment's rewards have no part {part!r}; "
            f"they have {', '.join(trajectory.rewards)}"
        )
    return trajectory.rewards[part]


def _cut(tokens: Tokens, end: int) -> tuple[list[int], list[int], list[int], list[float]]:
    """Split a conversation where the policy first wrote: prompt, completion, mask, logprobs.

    What it read after its last turn is left out. If it never got to write, its question alone being
    too long, what is left is a stand-in of two tokens, none of them trained on.
    """
    if not any(tokens.written):
        return tokens.ids[:1] or [end], [end], [0], [0.0]
    first = tokens.written.index(True)
    last = len(tokens.ids) - tokens.written[::-1].index(True)
    mask = [int(written) for written in tokens.written[first:last]]
    return tokens.ids[:first], tokens.ids[first:last], mask, tokens.logprobs[first:last]


def _shown(tokens: Tokens, length: int) -> list[Picture]:
    """The pictures in the first tokens of a conversation; none in a stand-in."""
    return [picture for start, picture in tokens.pictures if start < length and any(tokens.written)]
