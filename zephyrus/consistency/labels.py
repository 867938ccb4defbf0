"""A judge of consistency against people: Cohen's κ over what each takes a reasoning to conclude.

The paper had 300 responses labelled with their fa_rp and found κ = 0.9778 (section 2.3). A labeller
is shown question, choices and reasoning, and neither the answer nor what a judge has said.
"""

from __future__ import annotations

import csv
import io
import random
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from zephyrus.consistency.prompts import UNDETERMINED
from zephyrus.errors import UserError
from zephyrus.jsonlines import write_whole
from zephyrus.judge.labels import ITEM, LABEL, Row, read_rows, spreadsheet_safe

CONCLUDED = (*LABEL, "fa_rp", "concluded", "conclusion")
"""Columns that may hold a label."""
LETTERS = "ABCDEFGHIJ"
_UNDETERMINED = frozenset(
    {UNDETERMINED.casefold(), "undetermined", "inconclusive", "none", "cbd", "?"}
)
_INTERVAL_RESAMPLES = 2_000


@dataclass(frozen=True, slots=True)
class Agreement:
    """How far two raters agree on what reasonings conclude.

    Attributes:
        items: How many both labelled.
        kappa: Cohen's kappa over the letters and "Cannot be determined"; None where it is undefined
            (nothing in common, or one label throughout).
        ci95: Its interval, by resampling items; None where that can't tell.
        accuracy: The share on which they agree; None without common items.
        confusion: How often the first gave one label and the second another.
    """

    items: int
    kappa: float | None
    ci95: tuple[float, float] | None
    accuracy: float | None
    confusion: Mapping[tuple[str, str], int]

    def to_dict(self) -> dict[str, Any]:
        """Plain JSON values."""
        return {
            "items": self.items,
            "kappa": self.kappa,
            "ci95": None if self.ci95 is None else list(self.ci95),
            "accuracy": self.accuracy,
            "disagreements": [
                {"first": a, "second": b, "n": n}
                for (a, b), n in sorted(self.confusion.items())
                if a != b
            ],
        }


def agreement(
    first: Mapping[str, str | None], second: Mapping[str, str | None], *, seed: int = 0
) -> Agreement:
    """Compare two raters on the items that both labelled.

    Args:
        first: By item, the letter that it gave, None for "Cannot be determined".
        second: Likewise.
        seed: Of the resampling.
    """
    import numpy as np

    from zephyrus.evaluation.bootstrap import interval
    from zephyrus.judge.agreement import cohen_kappa

    common = [item for item in first if item in second]
    pairs = [(first[item] or UNDETERMINED, second[item] or UNDETERMINED) for item in common]
    labels = sorted({label for pair in pairs for label in pair})
    place = {label: i for i, label in enumerate(labels)}
    confusion = Counter(pairs)
    if not pairs:
        return Agreement(0, None, None, None, {})
    k = len(labels)
    cells = np.array([place[a] * k + place[b] for a, b in pairs])
    kappa = float(cohen_kappa(np.bincount(cells, minlength=k * k).reshape(k, k).astype(float)))
    drawn = np.random.default_rng(seed).multinomial(
        len(pairs),
        np.bincount(cells, minlength=k * k) / len(pairs),
        size=_INTERVAL_RESAMPLES,
    )
    resampled = cohen_kappa(drawn.reshape(-1, k, k).astype(float))
    known = None if np.isnan(kappa) else kappa
    return Agreement(
        len(pairs),
        known,
        None if known is None else interval(resampled, len(pairs)),
        sum(n for (a, b), n in confusion.items() if a == b) / len(pairs),
        dict(confusion),
    )


def read_conclusions(paths: Iterable[Path]) -> dict[str, str | None]:
    """Read what people took reasonings to conclude.

    Args:
        paths: CSV, TSV or JSON lines with a column ``item`` (or ``id``) and one of ``label``,
            ``fa_rp``, ``concluded``: a letter, or "Cannot be determined". An empty label is left
            out.

    Raises:
        UserError: If a file can't be read, lacks a column, holds something that is no label, or
            two labels of an item differ; file, line and value are named.
    """
    found: dict[str, str | None] = {}
    for path in paths:
        for row in read_rows(path):
            names = {name.strip().casefold() for name in row.cells}
            if not names & set(CONCLUDED):
                raise row.wrong(f"there is no column named {' or '.join(CONCLUDED)}")
            item = row.first(ITEM).removeprefix("'")
            cell = row.first(CONCLUDED)
            if not cell:
                continue
            if not item:
                raise row.wrong(
                    "there is no item; a column named item tells which rollout is meant"
                )
            label = _label(row, cell)
            if found.setdefault(item, label) != label:
                raise row.wrong(f"{item!r} has two labels; leave one of them")
    if not found:
        raise UserError("there are no labels in the files: fill in the column label")
    return found


def sample_items(items: Mapping[str, str], n: int, seed: int = 0) -> list[str]:
    """Draw items at random, in turn from each group, as the paper's 300 span all its tasks.

    Args:
        items: The group of each item.
        n: How many; all if there are fewer.
        seed: Same seed, same items.
    """
    rng = random.Random(seed)
    groups: dict[str, list[str]] = defaultdict(list)
    for item, group in items.items():
        groups[group].append(item)
    for members in groups.values():
        rng.shuffle(members)
    drawn: list[str] = []
    while len(drawn) < min(n, len(items)):
        drawn += [members.pop() for members in groups.values() if members]
    return drawn[:n]


def write_sheet(rows: Sequence[Mapping[str, str]], path: Path) -> None:
    """Write a sheet to label: CSV with an empty column ``label``.

    Args:
        rows: By column ``item``, ``question``, ``choices``, ``reasoning``.
        path: The file.

    Raises:
        UserError: If it can't be written.
    """
    out = io.StringIO()
    columns = ("item", "question", "choices", "reasoning")
    writer = csv.writer(out)
    writer.writerow([*columns, "label"])
    for row in rows:
        writer.writerow([*(spreadsheet_safe(row[name]) for name in columns), ""])
    write_whole(path, out.getvalue().encode("utf-8-sig"))


def _label(row: Row, cell: str) -> str | None:
    text = cell.strip(" .'\"()")
    if text.casefold() in _UNDETERMINED:
        return None
    if len(text) == 1 and text.upper() in LETTERS:
        return text.upper()
    raise row.wrong(f"{cell!r} is no label: write a letter, or {UNDETERMINED!r}")
