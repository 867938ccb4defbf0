"""What `build_bank` made: how many chart questions, and how far guessing gets."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.summary import mean_interval
from zephyrus.task import SPLITS
from zephyrus_chartqa.blind import CHANCE, LIMIT, Learnt, measure
from zephyrus_chartqa.item import Item
from zephyrus_chartqa.modality import MODALITIES

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult


@dataclass
class ChartBankReport:
    """What was built. Prints as a table (rich), and as JSON through `to_dict`.

    Attributes:
        dataset: The dataset's name.
        seed: Of every draw.
        output: The bank's file, if it was written.
        items: The questions.
        wanted: How many were asked for, by (split, category).
        lacks: By category, why the dataset has no charts of it.
        rejected: How many drafts were left out, by the reason.
        seconds: How long it took.
    """

    dataset: str
    seed: int
    output: Path | None
    items: Sequence[Item]
    wanted: Mapping[tuple[str, str], int]
    lacks: Mapping[str, str] = field(default_factory=dict)
    rejected: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0

    @property
    def ok(self) -> bool:
        """Whether every category is whole in every split, and none can be guessed."""
        return not self.problems

    @property
    def problems(self) -> list[str]:
        """What is wrong, one sentence each."""
        found = [f"no {name}, as {why}" for name, why in self.lacks.items()]
        for row in self.rows():
            if row["count"] < row["wanted"] and row["category"] not in self.lacks:
                where = f"{row['split']}/{row['category']}"
                found.append(f"{where} has {row['count']} questions of {row['wanted']}")
        for name, (score, count) in self.blind().items():
            if guessed(score, count):
                found.append(f"the blind strategy {name!r} scores {score:.2f} of {count} questions")
        return found

    @property
    def advice(self) -> str:
        """What is wrong in one sentence, and how to have a bank nevertheless."""
        if not self.items:
            return "no chart of it has a fact that stands out"
        return (
            f"{'; '.join(self.problems[:3])}. Ask for fewer (--train, --validation, --test), or "
            "take what there is: -o strict=false"
        )

    def blind(self) -> dict[str, tuple[float, int]]:
        """What each strategy scores on all items where it applies: (mean score, how many)."""
        learnt = Learnt(item for item in self.items if item.split == "train")
        own = measure(self.items)
        others = [item for item in self.items if item.split != "train"]
        name = "right most often in training"
        if others and len(others) < len(self.items):
            own[name] = measure(others, learnt)[name]
        return own

    def rows(self) -> list[dict[str, Any]]:
        """One row a split and category: counts, templates, letters and the best blind strategy."""
        found = []
        for split in SPLITS:
            for category in MODALITIES:
                members = [i for i in self.items if (i.split, i.category) == (split, category)]
                templates = Counter(str(item.provenance["template"]) for item in members)
                letters = Counter(item.answer for item in members)
                found.append(
                    {
                        "split": split,
                        "category": category,
                        "wanted": self.wanted.get((split, category), 0),
                        "count": len(members),
                        "templates": dict(templates),
                        "letters": dict(sorted(letters.items())),
                        "charts": len({item.source for item in members}),
                    }
                )
        return [row for row in found if row["wanted"] or row["count"]]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "dataset": self.dataset,
            "seed": self.seed,
            "output": str(self.output) if self.output else None,
            "ok": self.ok,
            "problems": self.problems,
            "left_out": dict(self.lacks),
            "rejected": dict(self.rejected),
            "items": len(self.items),
            "seconds": self.seconds,
            "blind": {
                name: {"score": score, "count": count, "ci95": interval95(score, count)}
                for name, (score, count) in self.blind().items()
            },
            "rows": self.rows(),
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table."""
        from rich.table import Table

        table = Table(title=f"Chart questions of {self.dataset!r}, seed {self.seed}")
        for name in ("split", "category", "n", "charts", "A/B/C/D", "templates"):
            table.add_column(name, justify="right" if name in ("n", "charts") else "left")
        previous = None
        for row in self.rows():
            if previous not in (None, row["split"]):
                table.add_section()
            previous = row["split"]
            short = row["count"] < row["wanted"]
            table.add_row(
                row["split"],
                row["category"],
                f"{row['count']} of {row['wanted']}" if short else str(row["count"]),
                str(row["charts"]),
                "/".join(str(row["letters"].get(letter, 0)) for letter in "ABCD"),
                ", ".join(f"{name} {n}" for name, n in row["templates"].items()),
                style="red" if short else "",
            )
        yield table
        ranked = sorted(self.blind().items(), key=lambda found: -found[1][0])
        told = ", ".join(f"{name} {score:.2f} (n={count})" for name, (score, count) in ranked[:4])
        yield f"Blind, without the chart (chance 0.25, limit {LIMIT:.2f}): {told}."
        for problem in self.problems:
            yield f"Problem: {problem}."


def guessed(score: float, count: int) -> bool:
    """Whether a strategy scores more than `LIMIT`, and so much more that chance can't be why."""
    low, _ = interval95(score, count)
    return score > LIMIT and low > CHANCE


def interval95(score: float, count: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share of so many questions; [0, 1] of none."""
    found = mean_interval({str(i): [score] for i in range(count)})
    return found or (0.0, 1.0)
