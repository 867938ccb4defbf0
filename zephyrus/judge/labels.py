"""Tables of labels: who called which claim what. Read from CSV, TSV and JSON lines.

Three forms are understood, and may be mixed between files:

wide      a column for each rater: ``item, GPT-OSS, Expert 1, Expert 2``
long      a line for each label: ``item, rater, label``
one hand  the columns ``item, label``: the rater is the file's name, as an annotator fills it in

An item is told by the column ``item`` (or ``id``), else by those of ``report``, ``claim`` together.
A column ``report`` or ``event`` says which items belong together: intervals are then made from
reports, not from items. Case, spaces, a byte order mark, semicolons or tabs instead of commas and
the short forms S, R and N don't matter; an empty cell is a label that is not given.
"""

from __future__ import annotations

import csv
import io
import json
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

from zephyrus.errors import UserError
from zephyrus.jsonlines import write_whole
from zephyrus.judge.base import Label

JUDGE_PREFIX = "judge:"
"""Marks a column as a judge's, not an expert's, in the tables that `zephyrus judge import` writes."""

ITEM = ("item", "item_id", "id", "pair", "pair_id")
REPORT = ("report", "report_id", "event", "event_id")
CLAIM = ("claim", "claim_id")
RATER = ("rater", "annotator")
LABEL = ("label",)
ASIDE = ("text", "quote", "evidence", "rationale", "comment", "comments", "note", "notes")
"""Columns that are no raters."""

_NAMES = {
    **dict.fromkeys(("s", "supported", "support", "supports"), Label.SUPPORTED),
    **dict.fromkeys(("r", "refuted", "refute", "refutes"), Label.REFUTED),
    **dict.fromkeys(("n", "neutral"), Label.NEUTRAL),
}
_NOT_GIVEN = frozenset({"", "-", "\u2013", "n/a", "na", "nan", "none", "null"})
_QUOTED = re.compile(r'"[^"]*"')
_EXCEL_HINT = re.compile(r"sep=([,;\t|])\r?\n", re.IGNORECASE)
_FORMULA = frozenset("=+-@\t\r\uff1d\uff0b\uff0d\uff20")


@dataclass(slots=True)
class LabelTable:
    """Labels by rater and item.

    Attributes:
        labels: By rater, in the order of the columns, the label of each item that it labelled.
        reports: By item, the report or event that it belongs to, where that is known.
    """

    labels: dict[str, dict[str, Label]] = field(default_factory=dict)
    reports: dict[str, str] = field(default_factory=dict)

    @property
    def raters(self) -> tuple[str, ...]:
        """In the order in which they came."""
        return tuple(self.labels)

    @property
    def items(self) -> tuple[str, ...]:
        """All items that anybody labelled, in the order in which they came."""
        return tuple(dict.fromkeys(item for given in self.labels.values() for item in given))

    def add(self, rater: str, item: str, label: Label) -> bool:
        """Take in one label; False if the rater gave this item another one before."""
        return self.labels.setdefault(rater, {}).setdefault(item, label) is label


def read_labels(paths: Iterable[Path]) -> LabelTable:
    """Read label files into one table.

    Args:
        paths: ``.jsonl`` is read as JSON lines, everything else as a table with a header.

    Raises:
        UserError: If a file can't be read, lacks a column, or holds something that is no label;
            file, line and value are named.
    """
    table = LabelTable()
    for path in paths:
        found = False
        for row in read_rows(path):
            found |= _take(table, row)
        if not found:
            raise UserError(f"{path} has no items")
    return table


def write_labels(table: LabelTable, path: Path) -> None:
    """Write the wide form as CSV, UTF-8 with a byte order mark for spreadsheets.

    Raises:
        UserError: If it can't be written.
    """
    out = io.StringIO()
    writer = csv.writer(out)
    writer.writerow(["item", "report", *map(spreadsheet_safe, table.raters)])
    for item in table.items:
        given = [table.labels[rater].get(item, "") for rater in table.raters]
        cells = (item, table.reports.get(item, ""))
        writer.writerow([*map(spreadsheet_safe, cells), *map(str, given)])
    write_whole(path, out.getvalue().encode("utf-8-sig"))


def read_label(text: str) -> Label | None:
    """A label from what somebody wrote, None if nothing.

    Raises:
        ValueError: If it is no label.
    """
    word = text.strip().strip("'\"").strip().casefold()
    if word in _NOT_GIVEN:
        return None
    if word not in _NAMES:
        raise ValueError(text)
    return _NAMES[word]


def spreadsheet_safe(text: str) -> str:
    """A cell that no spreadsheet takes for a formula: where it could, "'" is put before it."""
    text = text.replace("\r\n", "\n").replace("\r", "\n")
    return f"'{text}" if text[:1] in _FORMULA else text


class Row(NamedTuple):
    """One line of a file: its columns by name, as strings."""

    path: Path
    line: int
    cells: Mapping[str, str]

    def wrong(self, what: str) -> UserError:
        """An error that says where."""
        return UserError(f"{self.path}, line {self.line}: {what}")

    def first(self, names: Iterable[str]) -> str:
        """The cell of the first of these columns that is there and not empty, else ""."""
        wanted = {name.strip().casefold(): cell.strip() for name, cell in self.cells.items()}
        return next((wanted[name] for name in names if wanted.get(name)), "")


def _take(table: LabelTable, row: Row) -> bool:
    """Take in one line; False if it is empty."""
    names = {name.strip().casefold() for name in row.cells}
    item = row.first(ITEM) or "/".join(filter(None, [row.first(REPORT), row.first(CLAIM)]))
    item = item.removeprefix("'")
    if not item:
        if not any(cell.strip() for cell in row.cells.values()):
            return False  # spreadsheets leave empty lines
        raise row.wrong("there is no item; a column named item tells which claim is meant")
    if names & set(LABEL):
        cells = {row.first(RATER) or row.path.stem: row.first(LABEL)}
    else:
        aside = {*ITEM, *REPORT, *CLAIM, *RATER, *ASIDE}
        cells = {k: v for k, v in row.cells.items() if k.strip().casefold() not in aside}
        if not cells:
            raise row.wrong("there is neither a column named label nor one for a rater")
    for rater, cell in cells.items():
        rater = rater.strip().removeprefix("'")
        try:
            label = read_label(cell)
        except ValueError:
            raise row.wrong(
                f"{cell!r} in the column {rater!r} is no label; "
                "write SUPPORTED, REFUTED or NEUTRAL (S, R, N), or nothing"
            ) from None
        if label is None:
            table.labels.setdefault(rater, {})
        elif not table.add(rater, item, label):
            raise row.wrong(
                f"{rater!r} calls {item!r} {label} here and "
                f"{table.labels[rater][item]} before; leave one of them"
            )
    if report := row.first(REPORT):
        table.reports[item] = report.removeprefix("'")
    return True


def read_rows(path: Path) -> Iterator[Row]:
    """The lines of a label file, whatever its form.

    Raises:
        UserError: If it can't be read.
    """
    try:
        data = path.read_bytes()
    except OSError as error:
        raise UserError(f"{path} can't be read: {error.strerror or error}") from error
    text = _decode(data)
    if path.suffix.casefold() in (".jsonl", ".ndjson"):
        yield from _json_rows(path, text)
    else:
        yield from _table_rows(path, text)


def _decode(data: bytes) -> str:
    """UTF-8, or what Excel writes when it is not asked for UTF-8."""
    if data.startswith((b"\xff\xfe", b"\xfe\xff")):
        return data.decode("utf-16", "replace")
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return data.decode("cp1252", "replace")


def _json_rows(path: Path, text: str) -> Iterator[Row]:
    for number, line in enumerate(text.split("\n"), 1):
        if not line.strip():
            continue
        try:
            data = json.loads(line)
        except ValueError as error:
            raise UserError(f"{path}, line {number}: this is not JSON ({error})") from error
        if not isinstance(data, dict):
            raise UserError(f"{path}, line {number}: this is not a JSON object")
        yield Row(path, number, {name: _cell(value) for name, value in data.items()})


def _cell(value: Any) -> str:
    return "" if value is None else str(value)


def _table_rows(path: Path, text: str) -> Iterator[Row]:
    skipped = 0
    hint = _EXCEL_HINT.match(text)
    if hint:
        text, skipped = text[hint.end() :], 1
    header = next((line for line in text.splitlines() if line.strip()), "")
    delimiter = hint[1] if hint else max(",;\t", key=_QUOTED.sub("", header).count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter)
    names: list[str] | None = None
    start = 1 + skipped
    try:
        for cells in reader:
            if names is None:
                if any(cell.strip() for cell in cells):
                    names = _header(path, start, cells)
            elif len(cells) > len(names) and any(cell.strip() for cell in cells[len(names) :]):
                raise UserError(f"{path}, line {start}: more cells than the header has columns")
            else:
                padded = [*cells, *[""] * (len(names) - len(cells))]
                yield Row(path, start, {k: v for k, v in zip(names, padded, strict=False) if k})
            start = reader.line_num + 1 + skipped
    except csv.Error as error:
        raise UserError(f"{path}, line {start}: this is not a table ({error})") from error
    if names is None:
        raise UserError(f"{path} is empty")


def _header(path: Path, line: int, cells: list[str]) -> list[str]:
    names = [cell.strip() for cell in cells]
    twice = [name for name, count in Counter(names).items() if count > 1 and name]
    if twice:
        raise UserError(f"{path}, line {line}: two columns are named {twice[0]!r}")
    return names
