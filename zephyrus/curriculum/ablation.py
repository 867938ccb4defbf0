"""The ablation table: what each route's chosen checkpoint scored (Zephyrus-R1, Table B.3)."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from zephyrus.curriculum.history import Point, RunHistory
from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

COLUMNS = {
    "accuracy": "Acc.",
    "reward": "Acc. reward",
    "tool": "Tool",
    "numerical": "Num.",
    "location": "Loc.",
    "time": "Time",
    "anomaly": "Anom.",
}
"""The columns of Table B.3."""


@dataclass(frozen=True)
class Row:
    """A checkpoint.

    Attributes:
        run: The run that it is of.
        model: The base model.
        checkpoint: Its route and step, as in "RSFT-RL (step 32)".
        tasks: Held-out tasks that it was asked.
        ci95: The 95 % interval of the accuracy.
        values: By the names of `COLUMNS`; None where there was no such task.
    """

    run: str
    model: str
    checkpoint: str
    tasks: int
    ci95: tuple[float, float] | None
    values: dict[str, float | None] = field(default_factory=dict)

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


def rows(runs: Sequence[RunHistory]) -> list[Row]:
    """The rows of some runs: the base policy once, then what each stage left behind.

    Evaluations without a verifier's accuracy (those of reports) have no row.

    Args:
        runs: What they left behind.
    """
    found: list[Row] = []
    for run in runs:
        if run.stages and (start := run.stages[0].start) is not None:
            found += _row(run, run.model, start)
        for stage in run.stages:
            if (result := stage.result) is not None:
                kept = f"step {stage.chosen}" if stage.chosen else "none was better"
                found += _row(run, f"{stage.route} ({kept})", result)
    unique: list[Row] = []
    for row in found:  # the base policy of several runs, evaluated alike
        if row.checkpoint != row.model or not any(_same(row, other) for other in unique):
            unique.append(row)
    return unique


def to_terminal(table: Sequence[Row]) -> RenderableType:
    """The table for a terminal; the best of each model is bold."""
    from rich import box
    from rich.table import Table

    made = Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0))
    several = len({row.run for row in table}) > 1
    made.add_column("checkpoint", no_wrap=True)
    for name in (*COLUMNS.values(), "Acc. 95 %", "tasks"):
        made.add_column(name, justify="right")
    if several:
        made.add_column("run")
    for row, cells in zip(table, _cells(table, "[bold]{}[/]".format), strict=True):
        more = [_interval(row), str(row.tasks), *([plain(row.run)] if several else [])]
        made.add_row(plain(row.checkpoint), *cells, *more)
    return made


def to_markdown(table: Sequence[Row]) -> str:
    """The table as GitHub's Markdown; the best of each model is bold."""
    heads = ["Checkpoint", *COLUMNS.values(), "Acc. 95 %", "Tasks", "Run"]
    lines = [heads, ["---", *("---:" for _ in heads[1:-1]), "---"]]
    for row, cells in zip(table, _cells(table, "**{}**".format), strict=True):
        lines.append([row.checkpoint, *cells, _interval(row), str(row.tasks), row.run])
    return "".join(f"| {' | '.join(line)} |\n" for line in lines)


def to_csv(table: Sequence[Row]) -> str:
    """The table as comma-separated values, unrounded."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(["run", "model", "checkpoint", *COLUMNS, "ci95_low", "ci95_high", "tasks"])
    for row in table:
        ends = row.ci95 or ("", "")
        values = ["" if row.values[name] is None else row.values[name] for name in COLUMNS]
        writer.writerow([row.run, row.model, row.checkpoint, *values, *ends, row.tasks])
    return text.getvalue()


def _row(run: RunHistory, checkpoint: str, point: Point) -> list[Row]:
    summary = point.summary
    if summary.get("accuracy") is None:
        return []
    types = summary["answer_types"]
    values = {
        "accuracy": summary["accuracy"],
        "reward": summary["rewards"].get("reward"),
        "tool": summary["required_tool_rate"],
        **{name: types[name]["accuracy"] if name in types else None for name in list(COLUMNS)[3:]},
    }
    interval = summary["accuracy_ci95"]
    ci95 = (interval[0], interval[1]) if interval else None
    return [Row(run.name, run.model, checkpoint, summary["tasks"], ci95, values)]


def _same(row: Row, other: Row) -> bool:
    mine = (row.model, row.checkpoint, row.tasks, row.values)
    return mine == (other.model, other.checkpoint, other.tasks, other.values)


def _cells(table: Sequence[Row], bold: Callable[[str], str]) -> list[list[str]]:
    made = []
    for row in table:
        cells = []
        for name in COLUMNS:
            value = row.values[name]
            group = [r.values[name] for r in table if r.model == row.model]
            best = max((v for v in group if v is not None), default=None)
            text = "–" if value is None else f"{value:.3f}"
            cells.append(bold(text) if value is not None and value == best else text)
        made.append(cells)
    return made


def _interval(row: Row) -> str:
    return f"{row.ci95[0]:.3f}–{row.ci95[1]:.3f}" if row.ci95 else "–"
