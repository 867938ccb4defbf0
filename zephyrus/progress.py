"""What a rollout tells the outside while it goes on: a callback, or a bar in the terminal."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

from zephyrus.trajectory import Trajectory

if TYPE_CHECKING:
    from rich.progress import Progress as RichBar


ROLLOUTS = "rollouts"


class Progress(Protocol):
    """Hears of a rollout's progress; every method is called in the event loop's thread."""

    def start(self, total: int, done: int, folder: Path) -> None:
        """Work begins: of ``total`` rollouts ``done`` are finished already, in ``folder``."""

    def update(self, trajectory: Trajectory) -> None:
        """A rollout has ended, finished or broken, and is on the disk."""

    def stop(self) -> None:
        """Work is over, for whatever reason. Called once after `start`."""


class Silent:
    """Says nothing."""

    def start(self, total: int, done: int, folder: Path) -> None:
        """Nothing."""

    def update(self, trajectory: Trajectory) -> None:
        """Nothing."""

    def stop(self) -> None:
        """Nothing."""


class Count:
    """Accuracy (or reward), errors and tokens per second, of what has ended in this call."""

    def __init__(self, *, tokens: bool = True) -> None:
        """Begin.

        Args:
            tokens: Whether the policy's tokens are spent now; a rescoring costs none.
        """
        self._scores: list[float] = []
        self._measure = "accuracy"
        self._errors = 0
        self._tokens = 0
        self._counts_tokens = tokens
        self._began = time.monotonic()

    def add(self, trajectory: Trajectory) -> None:
        """One more has ended."""
        if self._counts_tokens:
            self._tokens += trajectory.usage.completion_tokens
        self._errors += trajectory.failed
        rewards = trajectory.rewards or {}
        if (value := rewards.get("score", rewards.get("reward"))) is not None:
            self._measure = "accuracy" if "score" in rewards else "reward"
            self._scores.append(value)

    def __str__(self) -> str:
        facts = []
        if self._scores:
            facts.append(f"{self._measure} {sum(self._scores) / len(self._scores):.3f}")
        if self._errors:
            facts.append(f"{self._errors} errors")
        if self._tokens:
            rate = self._tokens / max(time.monotonic() - self._began, 1e-9)
            facts.append(f"{rate:.0f} tokens/s")
        return " · ".join(facts)


class Bar:
    """A bar on standard error: rollouts done, and their `Count`.

    A resumed run's earlier rollouts are in the number done alone.
    """

    def __init__(self, label: str = ROLLOUTS) -> None:
        """Prepare.

        Args:
            label: What is counted.
        """
        self._label = label
        self._bar: RichBar | None = None
        self._count = Count()

    def start(self, total: int, done: int, folder: Path) -> None:
        """Show the bar."""
        from rich.console import Console
        from rich.progress import (
            BarColumn,
            MofNCompleteColumn,
            Progress,
            TextColumn,
            TimeElapsedColumn,
            TimeRemainingColumn,
        )

        self._bar = Progress(
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._bar.add_task(self._label, total=total, completed=done, facts="")
        self._bar.start()
        self._count = Count(tokens=self._label == ROLLOUTS)

    def update(self, trajectory: Trajectory) -> None:
        """Count one more."""
        if self._bar is None:
            return
        self._count.add(trajectory)
        bar, task = self._bar, self._bar.task_ids[0]
        bar.update(task, advance=0 if trajectory.failed else 1, facts=str(self._count))

    def stop(self) -> None:
        """Leave the last state on the screen."""
        if self._bar is not None:
            self._bar.stop()


def make_progress(wanted: bool | Progress | None, label: str = ROLLOUTS) -> Progress:
    """Turn the ``progress`` argument into a callback; None means a bar if somebody watches."""
    notebook = in_notebook()
    if wanted is None:
        wanted = notebook or sys.stderr.isatty()
    if not isinstance(wanted, bool):
        return wanted
    if not wanted:
        return Silent()
    if notebook:
        from zephyrus.view.notebook.progress import NotebookBar

        return NotebookBar(label)
    return Bar(label)


def in_notebook() -> bool:
    """Whether this process is the kernel of a notebook."""
    ipython = sys.modules.get("IPython")  # a kernel has imported it; we don't depend on it
    return ipython is not None and hasattr(ipython.get_ipython(), "kernel")
