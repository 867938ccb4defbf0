"""What `build_bank` made: how many questions, and how far guessing gets."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.task import SPLITS, Task, TaskSet
from zephyrus_bench.blind import BLIND_LIMIT, CLIMATE, CLIMATE_LIMIT, limit
from zephyrus_bench.guess import Guess, best_constant

if TYPE_CHECKING:
    from rich.console import Console, ConsoleOptions, RenderResult

GUESSABLE = 0.15
"""The most that a constant answer may score on one template of one split."""

_WIDTH = 22  # of an answer in the table
_WIDE = 118  # columns that the whole table needs
_ROUNDING = 1e-4  # of the scores that a bank keeps


@dataclass(frozen=True)
class Row:
    """One template of one split.

    Attributes:
        split: The split.
        template: The template.
        answer_type: Its answer type.
        wanted: How many questions were asked for.
        count: How many there are.
        guess: The best constant answer.
        by_variable: The best constant answer on the questions about each variable.
        kinds: How many questions about features of each kind.
        blind: What each strategy of `zephyrus_bench.blind` scores where it applies.
    """

    split: str
    template: str
    answer_type: str
    wanted: int
    count: int
    guess: Guess
    by_variable: dict[str, Guess]
    kinds: dict[str, int]
    blind: dict[str, Guess] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether there are enough questions, and guessing does not score on them."""
        full = self.count >= self.wanted and self.guess.score <= GUESSABLE
        return full and not self.paying

    @property
    def paying(self) -> list[Guess]:
        """The blind strategies that score more than they may, beyond one question's worth."""
        return [guess for guess in self.blind.values() if _blind_excess(guess) > 1.0 + _ROUNDING]

    @property
    def best_blind(self) -> Guess:
        """The strategy, climate knowledge aside, that scores most."""
        known = [guess for name, guess in self.blind.items() if name != CLIMATE]
        return max(known, key=_blind_excess, default=Guess("", 0.0, 0))

    @property
    def worst_variable(self) -> tuple[str, Guess]:
        """The variable whose questions are guessed best, beyond one question's worth."""
        ranked = sorted(self.by_variable.items(), key=lambda item: (-_excess(item[1]), item[0]))
        return ranked[0] if ranked else ("", Guess(None, 0.0, 0))


def _excess(guess: Guess) -> float:
    """A constant's summed score in units of what is allowed: 15 %, or one question."""
    return guess.total / max(1.0, GUESSABLE * guess.count)


def _blind_excess(guess: Guess) -> float:
    """The same for a blind strategy, named in the place of an answer."""
    return guess.total / max(1.0, limit(guess.answer) * guess.count)


@dataclass
class BankReport:
    """What was built. Prints as a table (rich), and as JSON through `to_dict`.

    Attributes:
        dataset: The dataset's name.
        seed: Of every draw.
        output: The bank's file, if it is written.
        rows: The templates of each split.
        rejected: How many drafts were left out, by the reason.
        seconds: How long it took.
        lacks: Templates that the dataset hasn't what it takes for, and why.
    """

    dataset: str
    seed: int
    output: Path | None
    rows: list[Row] = field(default_factory=list)
    rejected: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    lacks: dict[str, str] = field(default_factory=dict)

    @property
    def ok(self) -> bool:
        """Whether no template is left out, and in every split each is whole and can't be guessed."""
        return not self.lacks and all(row.ok for row in self.rows)

    @property
    def problems(self) -> list[str]:
        """What is wrong, one sentence each."""
        found = [f"no {name}, as {why}" for name, why in self.lacks.items()]
        for row in self.rows:
            if row.count < row.wanted:
                where = f"{row.split}/{row.template}"
                found.append(f"{where} has {row.count} questions of {row.wanted}")
        return found + self.guessable

    @property
    def guessable(self) -> list[str]:
        """What can be guessed, one sentence each."""
        found = []
        for row in self.rows:
            where = f"{row.split}/{row.template}"
            if row.count and row.guess.score > GUESSABLE:
                found.append(f"a constant answer scores {row.guess.score:.2f} on {where}")
            found += [
                f"the blind strategy {guess.answer!r} scores {guess.score:.2f} on {where}"
                for guess in row.paying
            ]
        return found

    @property
    def advice(self) -> str:
        """What a bank of these sizes comes to, and how to have one nevertheless."""
        count, wanted = (sum(getattr(row, n) for row in self.rows) for n in ("count", "wanted"))
        if not count:
            return (
                f"of {wanted} questions asked for there is none that the forecast is needed to "
                "answer, and whose answer stands out"
            )
        said = [f"{count} of the {wanted} questions asked for can be had"] if self.short else []
        said += [f"of {name} {self._counts(name)}" for name in self.short]
        told = "; ".join([*said, *self.guessable[:3]])
        return (
            f"{told}. Ask for fewer (--train, --validation, --test), add forecasts (zephyrus data "
            f"add {self.dataset} SOURCE --append), or take what there is: -o strict=false"
        )

    @property
    def short(self) -> list[str]:
        """The templates of which there are fewer questions than were asked for."""
        found = [row.template for row in self.rows if row.count < row.wanted]
        return list(dict.fromkeys(found))

    @property
    def _why_short(self) -> str:
        reasons = {
            "near-tie or trivial": "had an answer that does not stand out",
            "asked about enough": "were about what has been asked about enough",
            "guessable": "would have made guessing pay",
        }
        told = [f"{self.rejected[n]:,} {why}" for n, why in reasons.items() if self.rejected[n]]
        return f"Of the further drafts {', '.join(told)}." if told else ""

    def _counts(self, template: str) -> str:
        """How many there are of a template in each split that is short: "train 54 of 125"."""
        rows = [row for row in self.rows if row.template == template and row.count < row.wanted]
        return ", ".join(f"{row.split} {row.count} of {row.wanted}" for row in rows)

    def _most_guessable(self) -> list[Row]:
        """Of each split, the row whose questions about one variable are guessed best."""
        ranked: dict[str, Row] = {}
        for row in self.rows:
            best = ranked.get(row.split)
            if best is None or _excess(row.worst_variable[1]) > _excess(best.worst_variable[1]):
                ranked[row.split] = row
        return [row for row in ranked.values() if row.count]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        rows = [
            {
                "split": row.split,
                "template": row.template,
                "answer_type": row.answer_type,
                "wanted": row.wanted,
                "count": row.count,
                "best_constant": {"answer": row.guess.answer, "score": row.guess.score},
                "by_variable": {
                    name: {"count": guess.count, "score": guess.score}
                    for name, guess in row.by_variable.items()
                },
                "kinds": row.kinds,
                "blind": {
                    name: {"count": guess.count, "score": guess.score}
                    for name, guess in row.blind.items()
                },
                "ok": row.ok,
            }
            for row in self.rows
        ]
        return {
            "dataset": self.dataset,
            "seed": self.seed,
            "output": str(self.output) if self.output else None,
            "ok": self.ok,
            "problems": self.problems,
            "left_out": self.lacks,
            "rejected": dict(self.rejected),
            "seconds": self.seconds,
            "rows": rows,
        }

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """The table."""
        from rich.table import Table

        table = Table(title=f"Bank of {self.dataset!r}, seed {self.seed}")
        wide = options.max_width >= _WIDE  # else the answers have no room
        table.add_column("split", no_wrap=True)
        table.add_column("template", no_wrap=True)
        table.add_column("n", justify="right", no_wrap=True)
        for name in ("best constant", "best blind"):
            if wide:
                table.add_column(name, no_wrap=True)
            table.add_column("score" if wide else name, justify="right")
        table.add_column("climate", justify="right", no_wrap=True)
        previous = None
        for row in self.rows:
            if previous not in (None, row.split):
                table.add_section()
            previous = row.split
            counted = str(row.count) if row.count >= row.wanted else f"{row.count} of {row.wanted}"
            cells = [row.split, row.template, counted]
            blind, climate = row.best_blind, row.blind.get(CLIMATE)
            cells += [*([_short(row.guess.answer)] if wide else []), f"{row.guess.score:.3f}"]
            cells += [
                *([blind.answer] if wide else []),
                f"{blind.score:.3f}" if blind.count else "",
            ]
            cells.append(f"{climate.score:.3f}" if climate else "")
            table.add_row(*cells, style="" if row.ok else "red")
        yield table
        for row in self._most_guessable():
            name, guess = row.worst_variable
            yield (
                f"Most guessable within one variable: {row.split}/{row.template} about {name}, "
                f"{guess.score:.2f} (n={guess.count})"
            )
        yield (
            "Blind: the best of naming the candidate with most cells, the northernmost, …, all of "
            f"them, or what was right in training (limit {BLIND_LIMIT:.2f}). Climate: what knowing "
            f"the climatology, and no forecast, is worth (limit {CLIMATE_LIMIT:.2f})."
        )
        for why, names in by_reason(self.lacks).items():
            yield f"No {', '.join(names)}, as {why}."
        if self.short:
            yield f"Fewer questions than asked for: {', '.join(self.short)}. {self._why_short}"
        for problem in self.guessable:
            yield f"Problem: {problem}."


def by_reason(lacks: Mapping[str, str]) -> dict[str, list[str]]:
    """The templates for each reason why a dataset can't have questions of them."""
    found: dict[str, list[str]] = {}
    for name, why in lacks.items():
        found.setdefault(why, []).append(name)
    return found


def measure(tasks: TaskSet, wanted: dict[tuple[str, str], int] | None = None) -> Iterator[Row]:
    """Measure a bank, template by template in each split.

    Args:
        tasks: The bank.
        wanted: How many questions were asked for, by (split, template); by default what is there.
    """
    found: dict[tuple[str, str], list[Task]] = {key: [] for key in wanted or {}}
    for task in tasks:
        found.setdefault((task.split, task.template), []).append(task)
    order = {name: rank for rank, name in enumerate(SPLITS)}
    for (split, template), members in sorted(found.items(), key=lambda item: order[item[0][0]]):
        variables = sorted({task.provenance["variable"] for task in members})
        of = {v: [t for t in members if t.provenance["variable"] == v] for v in variables}
        answer_type = members[0].answer_type if members else ""
        yield Row(
            split=split,
            template=template,
            answer_type=answer_type,
            wanted=len(members) if wanted is None else wanted.get((split, template), 0),
            count=len(members),
            guess=best_constant(members),
            by_variable={name: best_constant(group) for name, group in of.items()},
            kinds=dict(Counter(str(task.provenance["kind"]) for task in members)),
            blind=_blind(members),
        )


def _blind(tasks: Sequence[Task]) -> dict[str, Guess]:
    """What each strategy scores on the questions to which it applies."""
    total: dict[str, float] = {}
    count: Counter[str] = Counter()
    for task in tasks:
        for name, score in task.provenance.get("blind", {}).items():
            total[name] = total.get(name, 0.0) + score
            count[name] += 1
    return {name: Guess(name, total[name], count[name]) for name in sorted(total)}


def _short(answer: Any) -> str:
    if isinstance(answer, dict):
        return f"{answer['place'][: _WIDTH - 9]}, {answer['value']:.4g}"
    if isinstance(answer, float):
        return f"{answer:.4g}"
    text = json.dumps(answer, ensure_ascii=False)
    return text if len(text) <= _WIDTH else text[: _WIDTH - 1] + "…"
