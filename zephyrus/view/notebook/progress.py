"""How far a rollout is, in a notebook: one output that is drawn anew as rollouts end."""

from __future__ import annotations

import time
from importlib import import_module
from pathlib import Path
from typing import Any

from zephyrus.progress import ROLLOUTS, Count
from zephyrus.trajectory import Trajectory
from zephyrus.view.notebook.elements import element, output

PAUSE = 0.25
"""Seconds between two drawings: the browser need not hear of every rollout."""


class NotebookBar:
    """A bar in the output of the cell."""

    def __init__(self, label: str = ROLLOUTS) -> None:
        """Prepare.

        Args:
            label: What is counted.
        """
        self._label = label
        self._total = self._done = 0
        self._count = Count()
        self._handle: Any = None
        self._drawn = 0.0

    def start(self, total: int, done: int, folder: Path) -> None:
        """Show the bar."""
        self._total, self._done = total, done
        self._count = Count(tokens=self._label == ROLLOUTS)
        display = import_module("IPython.display").display  # of the kernel: no dependency of ours
        self._handle = display(self, display_id=True)
        self._drawn = time.monotonic()

    def update(self, trajectory: Trajectory) -> None:
        """Count one more."""
        self._done += not trajectory.failed
        self._count.add(trajectory)
        if time.monotonic() - self._drawn >= PAUSE:
            self._draw()

    def stop(self) -> None:
        """Leave the last state in the output."""
        self._draw()

    def __repr__(self) -> str:
        facts = str(self._count)
        return f"{self._label} {self._done:,}/{self._total:,}" + (f" · {facts}" if facts else "")

    def _repr_html_(self) -> str:
        bar = element(
            "progress", max=str(self._total), value=str(self._done), aria_label=repr(self)
        )
        return output(element("p", bar, f" {self!r}"))

    def _draw(self) -> None:
        if self._handle is not None:
            self._handle.update(self)
        self._drawn = time.monotonic()
