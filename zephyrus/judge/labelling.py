"""Judges as raters: the claims of an audit labelled by further judges, beside the experts."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from zephyrus.errors import JudgeError, UserError
from zephyrus.judge.base import Claim, Judge
from zephyrus.judge.guard import harmless
from zephyrus.judge.labels import JUDGE_PREFIX, LabelTable, read_rows

BATCH = 20
"""Claims of one text that are given to a judge together."""


@dataclass(frozen=True, slots=True)
class Item:
    """One claim of an audit, with the text to hold it against; see `zephyrus.judge.annotate`."""

    item: str
    event: str
    claim: Claim
    text: str


@dataclass(frozen=True, slots=True)
class Labelling:
    """What judges said of the items of an audit.

    Attributes:
        table: A column "judge:NAME" for each judge.
        missing: By judge, why labels are missing, for each lot of claims that has none.
    """

    table: LabelTable
    missing: dict[str, list[str]]


def read_items(paths: Iterable[Path]) -> list[Item]:
    """The items of files that ``zephyrus judge export`` wrote (CSV, TSV or JSON lines).

    Raises:
        UserError: If a file can't be read, or a row lacks its item, claim or text.
    """
    items: dict[str, Item] = {}
    for path in paths:
        for row in read_rows(path):
            if not any(cell.strip() for cell in row.cells.values()):
                continue
            found = {
                name: row.first([name]).removeprefix("'") for name in ("item", "claim", "text")
            }
            if lacking := [name for name, cell in found.items() if not cell]:
                raise row.wrong(
                    f"there is no {lacking[0]}; give the .csv, .tsv or .jsonl of `judge export`"
                )
            claim = Claim(found["claim"], row.first(["quote"]).removeprefix("'"))
            event = row.first(["event", "report"])
            items.setdefault(found["item"], Item(found["item"], event, claim, found["text"]))
    if not items:
        raise UserError("there are no items in these files")
    return list(items.values())


async def label_items(items: Sequence[Item], judges: Sequence[Judge]) -> Labelling:
    """Let judges label the items, each claim against its text.

    What a judge can't be had for is left empty, never guessed.

    Args:
        items: The claims and their texts.
        judges: Who labels. They are not closed.
    """
    table = LabelTable(reports={item.item: item.event for item in items})
    missing: dict[str, list[str]] = {}
    by_text: dict[str, list[Item]] = {}
    for item in items:
        by_text.setdefault(item.text, []).append(item)
    lots = [
        (text, lot[start : start + BATCH])
        for text, lot in by_text.items()
        for start in range(0, len(lot), BATCH)
    ]

    async def ask(judge: Judge, text: str, lot: Sequence[Item]) -> None:
        try:
            verdicts = await judge.verdicts([item.claim for item in lot], harmless(text).text)
        except JudgeError as error:
            missing.setdefault(judge.name, []).append(str(error))
            return
        for item, verdict in zip(lot, verdicts, strict=True):
            table.add(f"{JUDGE_PREFIX}{judge.name}", item.item, verdict.label)

    for judge in judges:
        table.labels.setdefault(f"{JUDGE_PREFIX}{judge.name}", {})
    await asyncio.gather(*(ask(judge, text, lot) for judge in judges for text, lot in lots))
    return Labelling(table, missing)
