"""What a person sees of a run that goes on: a bar a stage in a terminal, else a plain line a step.

What is done next, held-out evaluations and troubles are lines that stay, in a terminal above the bars.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

from zephyrus.curriculum.recipe import Recipe, Stage
from zephyrus.trajectory import Trajectory
from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from rich.console import Console, RenderableType
    from rich.live import Live
    from rich.progress import Progress as RichBar
    from rich.progress import TaskID

HELD_OUT = "held_out"
"""Key of a line that tells a held-out evaluation instead of a training step."""


def facts(line: Mapping[str, Any]) -> list[str]:
    """The numbers of a step in words; those that it lacks are left out.

    >>> facts({"step": 3, "reward": 0.41, "tool_rate": 0.98, "kl": None, "tokens_per_second": 27.3})
    ['reward 0.410', 'required tool 98%', '27 tokens/s']
    """
    numbers = _finite(line)
    parts, weights = _finite(line.get("rewards") or {}), _finite(line.get("weights") or {})
    found = {name: text.format(numbers[name]) for name, text in _FACTS.items() if name in numbers}
    told = [found.pop("reward")] if "reward" in found else []
    if list(parts) != ["reward"]:  # else it has been told
        told += [f"{plain(name)} {value:.3f}" for name, value in parts.items()]
    told += found.values()
    if weights:
        told.append("weights " + ", ".join(f"{plain(k)} {v:.2f}" for k, v in weights.items()))
    return told


def _finite(numbers: Mapping[str, Any]) -> dict[str, float]:
    return {
        name: float(value)
        for name, value in numbers.items()
        if isinstance(value, int | float) and math.isfinite(value)
    }


_FACTS = {
    "reward": "reward {:.3f}",
    "accuracy": "accuracy {:.3f}",
    "tool_rate": "required tool {:.0%}",
    "failure_rate": "failures {:.0%}",
    "tools_per_turn": "{:.2f} tools/turn",
    "kl": "KL {:.4f}",
    "loss": "loss {:.4g}",
    "token_accuracy": "next tokens {:.0%}",
    "tokens_per_second": "{:.0f} tokens/s",
}


def duration(seconds: float) -> str:
    """A time in words.

    >>> duration(7.2), duration(200), duration(5000)
    ('7 s', '3 min', '1 h 23 min')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    minutes = round(seconds / 60)
    return f"{minutes} min" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


class CurriculumProgress:
    """The progress of a run; a context manager, used in one thread.

    Attributes:
        recipe: What is run.
        console: Where it is shown; standard error by default.
        rollouts: For ``TRLWork(progress=…)``: shows rollouts of evaluations and sampling.
    """

    def __init__(
        self,
        recipe: Recipe,
        console: Console | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Get ready; nothing is shown yet."""
        from rich.console import Console

        self.recipe = recipe
        self.console = console or Console(stderr=True)
        self.rollouts = RolloutRow(self)
        self._clock = clock
        self._stage: Stage | None = None
        self._first: tuple[float, int] | None = None
        self._facts: list[str] = []
        self._held_out = ""
        self._bar: RichBar | None = None
        self._live: Live | None = None
        self._rows: dict[str, TaskID] = {}
        self._said: set[str] = set()

    def __enter__(self) -> Self:
        """Show the bars, if the console is a terminal."""
        if self.console.is_terminal:
            self._show()
        return self

    def __exit__(self, *_: object) -> None:
        """Leave the last state on the screen."""
        self.rollouts.stop()
        if self._live is not None:
            self._live.stop()
            self._live = None

    def phase(self, text: str) -> None:
        """What is done next: the name of a stage, a colon, words; see `Scheduler`."""
        named = [s for s in self.recipe.stages if text.startswith(f"{s.name}: ")]
        stage = max(named, key=lambda s: len(s.name), default=None)
        if stage is not self._stage:
            self._stage, self._facts, self._held_out = stage, [], ""
            self._said.clear()
        self._first = None  # the time that other phases take is no time of steps
        if text not in self._said:  # each candidate is evaluated in a phase of its own
            self._print(text)
        self._said.add(text)
        if stage is not None:
            for earlier in self.recipe.stages[: self.recipe.stages.index(stage)]:
                self._bar_of(earlier, completed=earlier.until.steps, facts="done")
        self._refresh()

    def say(self, text: str) -> None:
        """Something that has to be read, such as why there is a pause: ``Patience(say=…)``."""
        self._print(text)

    def step(self, line: Mapping[str, Any]) -> None:
        """A step of training is done, or a held-out evaluation.

        Args:
            line: Of ``steps.jsonl``; or with "step" and `HELD_OUT`, of an evaluation.
        """
        stage = self._stage
        name = f"{stage.name} " if stage else ""
        if HELD_OUT in line:
            metric = stage.evaluation.metric if stage else "value"
            self._held_out = f"held-out {metric} {line[HELD_OUT]:.3f}"
            self._print(f"{name}step {line['step']}: {self._held_out}")
            self._refresh()
            return
        self._facts = facts(line)
        left = self._left(line)
        if self._live is None:
            total = f"/{stage.until.steps}" if stage else ""
            time_left = [f"about {duration(left)} left"] if left else []
            took = [duration(line["seconds"])] if "seconds" in line else []
            said = " · ".join([*self._facts, *took, *time_left])
            self._print(f"{name}step {line['step']}{total}: {said}")
        elif stage is not None:
            time_left = [f"about {duration(left)} left"] if left else []
            self._bar_of(stage, completed=int(line["step"]), facts=" ".join(time_left))
            self._refresh()

    def _left(self, line: Mapping[str, Any]) -> float | None:
        """Seconds that the stage's steps still take, with the evaluations in between."""
        if self._stage is None:
            return None
        now, step = self._clock(), int(line["step"])
        if self._first is None or step <= self._first[1]:
            self._first = (now, step)
            each = float(line.get("seconds") or 0.0)
        else:
            each = (now - self._first[0]) / (step - self._first[1])
        return each * max(self._stage.until.steps - step, 0)

    def _print(self, text: str) -> None:
        # Without markup: names are anybody's, and "[…]" in one is no style.
        self.console.print(plain(text), markup=False, highlight=False, soft_wrap=True)

    def _show(self) -> None:
        from rich.live import Live
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._bar = Progress(
            TextColumn("{task.description}", markup=False),
            BarColumn(bar_width=30),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}", markup=False),
            console=self.console,
        )
        for stage in self.recipe.stages:
            row = self._bar.add_task(stage.name, total=stage.until.steps, facts="")
            self._rows[stage.name] = row
        self._live = Live(self._render(), console=self.console, refresh_per_second=4)
        self._live.start()

    def _bar_of(self, stage: Stage, **fields: Any) -> None:
        if self._bar is not None:
            self._bar.update(self._rows[stage.name], **fields)

    def _refresh(self) -> None:
        if self._live is not None:
            self._live.update(self._render())

    def _render(self) -> RenderableType:
        from rich.console import Group
        from rich.text import Text

        numbers = " · ".join([*self._facts, *([self._held_out] if self._held_out else [])])
        words = [Text(text) for text in (numbers, self.rollouts.words) if text]
        return Group(*([self._bar] if self._bar else []), *words)


class RolloutRow:
    """A line on the rollouts that go on, below the bars; a `zephyrus.progress.Progress`.

    Attributes:
        words: The line; "" while none go on, and where there is no terminal.
    """

    def __init__(self, shown: CurriculumProgress) -> None:
        self.words = ""
        self._shown = shown
        self._total = self._done = self._broken = self._tokens = 0
        self._scores: list[float] = []
        self._began = 0.0

    def start(self, total: int, done: int, folder: Path) -> None:
        """Work begins."""
        self._total, self._done, self._broken, self._tokens = total, done, 0, 0
        self._scores = []
        self._began = time.monotonic()
        self._say()

    def update(self, trajectory: Trajectory) -> None:
        """Count one more."""
        self._broken += trajectory.failed
        self._done += not trajectory.failed
        self._tokens += trajectory.usage.completion_tokens
        rewards = trajectory.rewards or {}
        if (value := rewards.get("score", rewards.get("reward"))) is not None:
            self._scores.append(value)
        self._say()

    def stop(self) -> None:
        """Work is over."""
        self.words = ""
        self._shown._refresh()

    def _say(self) -> None:
        words = [f"{self._done:,} of {self._total:,} rollouts"]
        if self._scores:
            words.append(f"mean score {sum(self._scores) / len(self._scores):.3f}")
        if self._broken:
            words.append(f"{self._broken:,} broke")
        if self._tokens:
            rate = self._tokens / max(time.monotonic() - self._began, 1e-9)
            words.append(f"{rate:.0f} tokens/s")
        self.words = " · ".join(words)
        self._shown._refresh()
