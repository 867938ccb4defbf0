"""What `build_bank` made: how many events of which regions and forecasts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.task import SPLITS, TaskSet
from zephyrus_report.prompts import WORDS

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass
class EventBankReport:
    """What was built. Prints as a table (rich), and as JSON through `to_dict`.

    Attributes:
        dataset: The dataset's name.
        seed: The seed.
        output: Where the bank lies, if it was written.
        tasks: The events.
        wanted: The most that were asked for of each split; empty for all that there are.
        label: What the references are.
        seconds: How long it took.
    """

    dataset: str
    seed: int
    output: Path | None
    tasks: TaskSet
    wanted: Mapping[str, int]
    label: str
    seconds: float = 0.0

    @property
    def problems(self) -> list[str]:
        """What is not as it was asked for, one sentence each."""
        asked = [split for split in SPLITS if self.wanted.get(split, 0 if self.wanted else 1)]
        there = {task.split for task in self.tasks}
        return [f"the {split} split is empty" for split in asked if split not in there]

    @property
    def ok(self) -> bool:
        """Whether every split that was asked for has events."""
        return not self.problems

    def rows(self) -> list[dict[str, Any]]:
        """One row a split and style: counts, regions, forecasts and words of the references."""
        found = []
        for split in SPLITS:
            for style in WORDS:
                members = [t for t in self.tasks if (t.split, t.template) == (split, style)]
                if not members:
                    continue
                words = [len(str(t.gold).split()) for t in members]
                found.append(
                    {
                        "split": split,
                        "style": style,
                        "count": len(members),
                        "regions": len({t.program["region"] for t in members}),
                        "forecasts": sorted({t.world["forecast"] for t in members}),
                        "words": [min(words), round(sum(words) / len(words)), max(words)],
                    }
                )
        return found

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "dataset": self.dataset,
            "seed": self.seed,
            "output": str(self.output) if self.output else None,
            "ok": self.ok,
            "problems": self.problems,
            "references": self.label,
            "events": len(self.tasks),
            "seconds": self.seconds,
            "rows": self.rows(),
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table."""
        from rich.table import Table

        table = Table(title=f"Events of {self.dataset!r}, seed {self.seed}")
        for name in ("split", "style", "n", "regions", "words", "forecasts"):
            table.add_column(name, justify="right" if name in ("n", "regions") else "left")
        for row in self.rows():
            low, mean, high = row["words"]
            cells = (row["split"], row["style"], str(row["count"]), str(row["regions"]))
            table.add_row(*cells, f"{low}-{high} (mean {mean})", ", ".join(row["forecasts"]))
        yield table
        yield f"References: {self.label}."
        for problem in self.problems:
            yield f"Problem: {problem}."
