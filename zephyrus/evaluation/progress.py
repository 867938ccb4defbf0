"""What an evaluation tells while it goes on: a bar on standard error, or nothing."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from zephyrus.evaluation.judgements import Judgement
from zephyrus.evaluation.panel import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as RichBar


class Silent:
    """Says nothing."""

    def start(self, total: int, done: int) -> None:
        """Nothing."""

    def update(self, judgement: Judgement) -> None:
        """Nothing."""

    def stop(self) -> None:
        """Nothing."""


class Bar:
    """A bar on standard error: judgements made, and how many of this call lack a part."""

    def __init__(self) -> None:
        self._bar: RichBar | None = None
        self._missing = 0

    def start(self, total: int, done: int) -> None:
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
            TextColumn("judgements"),
            BarColumn(),
            MofNCompleteColumn(),
            TextColumn("{task.fields[facts]}"),
            TimeElapsedColumn(),
            TimeRemainingColumn(),
            console=Console(stderr=True),
        )
        self._bar.add_task("", total=total, completed=done, facts="")
        self._bar.start()

    def update(self, judgement: Judgement) -> None:
        """Count one more."""
        if self._bar is None:
            return
        missing = bool(judgement.assessment.missing)
        self._missing += missing
        facts = f"{self._missing} missing" if self._missing else ""
        self._bar.update(self._bar.task_ids[0], advance=0 if missing else 1, facts=facts)

    def stop(self) -> None:
        """Leave the last state on the screen."""
        if self._bar is not None:
            self._bar.stop()


def make_progress(wanted: bool | Progress | None) -> Progress:
    """Turn the ``progress`` argument into a callback; None means a bar if somebody watches."""
    if wanted is None:
        wanted = sys.stderr.isatty()
    if isinstance(wanted, bool):
        return Bar() if wanted else Silent()
    return wanted
