"""What the page of some runs says of them; the figures' page is `zephyrus.view.figures.page`."""

from __future__ import annotations

from collections.abc import Sequence

from zephyrus.view.figures.page import table
from zephyrus.view.plots.read import RunNumbers


def title(runs: Sequence[RunNumbers]) -> str:
    """Of the page."""
    return ("Runs: " if len(runs) > 1 else "Run: ") + ", ".join(run.name for run in runs)


def about(runs: Sequence[RunNumbers]) -> str:
    """A table of the runs, as HTML."""
    columns = (
        "run", "environment", "policy", "rollouts", "tasks", "accuracy", "reward", "failure rate",
        "turns per rollout", "infrastructure errors",
    )  # fmt: skip
    rows = [
        (
            run.name,
            run.env,
            run.policy,
            run.summary["rollouts"],
            run.summary["tasks"],
            run.summary["accuracy"],
            run.summary["rewards"].get("reward"),
            run.summary["failure_rate"],
            run.summary["turns"]["mean"],
            run.summary["infrastructure"]["errors"],
        )
        for run in runs
    ]
    return f"<section>{table(columns, rows, 'Runs')}</section>"
