"""A leaderboard as a terminal table, Markdown, CSV or HTML.

The names in it are anybody's text: none of it may act as markup, or as a formula of a spreadsheet.
"""

from __future__ import annotations

import csv
import io
import re
from base64 import b64encode
from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import sha256
from html import escape
from typing import TYPE_CHECKING

from zephyrus.evaluation.comparison import Change
from zephyrus.evaluation.leaderboard import Leaderboard
from zephyrus.evaluation.result import Evaluation
from zephyrus.evaluation.scores import Column
from zephyrus.evaluation.tables import relative
from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

HEADS = {"rubric": "Rub.", "f1": "F1"}
_FORMULA = ("=", "+", "-", "@", "\t", "\r")
_MARKDOWN = re.compile(
    r"[\\`*_\[\]<>|~&@$]"  # what marks text up anywhere
    r"|(?<=\w):(?=//)|(?<=www)\."  # what would make a link
    r"|^[#+=-]|(?<=^\d)[.)](?=\s)"  # what begins a heading or a list
)


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell: its text, and how it stands out.

    Attributes:
        text: Not escaped.
        best: Whether it is the best of its column.
        change: The relative change, "" if there is none.
        tone: 1 for a change to the better, -1 to the worse, 0 for neither.
    """

    text: str
    best: bool = False
    change: str = ""
    tone: int = 0


def to_terminal(board: Leaderboard) -> RenderableType:
    """A rich table, with its notes."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table()
    for i, (judge, head) in enumerate(_heads(board)):
        title = f"{plain(judge)}\n{plain(head)}" if judge else plain(head)
        table.add_column(  # a name that is cut could be anybody's
            Text(title), justify="left" if i in (1, 2) else "right", overflow="fold"
        )
    for row in _rows(board):
        cells = []
        for cell in row:
            text = Text(plain(cell.text), style="bold" if cell.best else "")
            if cell.change:
                tone = {1: "green", -1: "red"}.get(cell.tone, "")
                text.append(f" {cell.change}", style=tone)
            cells.append(text)
        table.add_row(*cells)
    notes = [Text(plain(note), style="yellow") for note in board.notes]
    return Group(table, Text(caption(board), style="dim"), *notes)


def to_markdown(board: Leaderboard) -> str:
    """A Markdown table; the best of a column in bold."""
    heads = [f"{_markdown(judge)} {head}".strip() for judge, head in _heads(board)]
    lines = [
        f"| {' | '.join(heads)} |",
        f"|{'|'.join('---' if i in (1, 2) else '---:' for i in range(len(heads)))}|",
    ]
    for row in _rows(board):
        cells = []
        for cell in row:
            text = _markdown(cell.text)
            text = f"**{text}**" if cell.best else text
            cells.append(f"{text} {cell.change}".strip())
        lines.append(f"| {' | '.join(cells)} |")
    notes = [caption(board), *board.notes]
    return "\n".join([*lines, "", *(f"- {_markdown(note)}" for note in notes), ""])


def to_csv(board: Leaderboard) -> str:
    """Unrounded scores with intervals and counts, one row per run."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    columns: list[Column | None] = [*board.columns, None]
    heads = ["rank", "model", "run"]
    for column in columns:
        name = f"{column.judge} {column.score}" if column else "avg"
        heads += [name, f"{name} low", f"{name} high", f"{name} events"]
        if board.base is not None:
            heads.append(f"{name} change")
    writer.writerow([*map(_cell, heads), "missing judgements"])
    for rank, row in board.ranked:
        cells: list[str | int | float] = [
            "" if rank is None else rank,
            _cell(_model(row)),
            _cell(row.run),
        ]
        for column in columns:
            score = board.score(row, column)
            low, high = score.ci95 or ("", "")
            cells += ["" if score.mean is None else score.mean, low, high, score.events]
            if board.base is not None:
                change = _change(row, column)
                unknown = change is None or change.relative is None
                cells.append("" if unknown or change is None else change.relative or 0.0)
        writer.writerow([*cells, row.missing])
    return out.getvalue()


def to_html(board: Leaderboard) -> str:
    """One page without scripts; a content security policy lets nothing else in."""
    heads = _heads(board)
    groups = ['<th scope="col" colspan="3"></th>']
    groups += [
        f'<th scope="colgroup" colspan="{sum(c.judge == judge for c in board.columns)}">'
        f"{_html(judge)}</th>"
        for judge in board.judges
    ]
    groups += ['<th scope="col" colspan="2"></th>']
    names = "".join(f'<th scope="col">{_html(head)}</th>' for _, head in heads)
    body = []
    for row in _rows(board):
        cells = []
        for cell in row:
            text = f"<b>{_html(cell.text)}</b>" if cell.best else _html(cell.text)
            tone = {1: "up", -1: "down"}.get(cell.tone, "same")
            change = f' <span class="{tone}">{_html(cell.change)}</span>' if cell.change else ""
            cells.append(f"<td>{text}{change}</td>")
        body.append(f"<tr>{''.join(cells)}</tr>")
    notes = "".join(f"<li>{_html(note)}</li>" for note in (caption(board), *board.notes))
    style = b64encode(sha256(_STYLE.encode()).digest()).decode()
    return (
        '<!doctype html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        '<meta http-equiv="Content-Security-Policy" '
        f"content=\"default-src 'none'; style-src 'sha256-{style}'\">\n"
        '<meta name="viewport" content="width=device-width">\n'
        f"<title>Leaderboard</title>\n<style>{_STYLE}</style>\n</head>\n<body>\n"
        f"<h1>Leaderboard</h1>\n<table>\n<thead><tr>{''.join(groups)}</tr>"
        f"<tr>{names}</tr></thead>\n"
        f"<tbody>\n{chr(10).join(body)}\n</tbody>\n</table>\n<ul>{notes}</ul>\n</body>\n</html>\n"
    )


def caption(board: Leaderboard) -> str:
    """What the numbers are, in one sentence."""
    passes = set(board.passes.values())
    many = ", ".join(f"{judge} {n}" for judge, n in board.passes.items())
    often = f"{passes.pop()}" if len(passes) == 1 else many
    text = (
        f"Scoring passes: {often}. Avg is the mean of the {len(board.columns)} unrounded scores; "
        "its interval is a 95 % bootstrap over events. Neutral claims weigh "
        f"{board.rows[0].options.neutral_weight:g} in the precision."
    )
    if board.base is not None:
        text += f" Changes are relative to {board.base}, over common events."
    return text


def _heads(board: Leaderboard) -> list[tuple[str, str]]:
    """(judge or "", heading) of each column."""
    scores = [(column.judge, HEADS[column.score]) for column in board.columns]
    return [("", "#"), ("", "Model"), ("", "Run"), *scores, ("", "Avg"), ("", "Avg 95 %")]


def _rows(board: Leaderboard) -> Iterator[list[Cell]]:
    columns: list[Column | None] = [*board.columns, None]
    best = {column: board.best(column) for column in columns}
    for rank, row in board.ranked:
        cells = [Cell("base" if rank is None else str(rank)), Cell(_model(row)), Cell(row.run)]
        for column in columns:
            mean = board.score(row, column).mean
            change = _change(row, column)
            cells.append(
                Cell(
                    "–" if mean is None else f"{mean:.3f}",
                    mean is not None and mean == best[column],
                    relative(change) if change else "",
                    (change.difference > 0) - (change.difference < 0) if change else 0,
                )
            )
        ends = row.average.ci95
        cells.append(Cell(f"{ends[0]:.3f} to {ends[1]:.3f}" if ends else "–"))
        yield cells


def _change(row: Evaluation, column: Column | None) -> Change | None:
    if row.comparison is None:
        return None
    return row.comparison.average if column is None else row.comparison.changes.get(column)


def _model(row: Evaluation) -> str:
    return row.policy or row.run


def _markdown(text: str) -> str:
    """Text that Markdown shows as it is, in one line."""
    return _MARKDOWN.sub(r"\\\g<0>", " ".join(plain(text).split()))


def _html(text: str) -> str:
    return escape(plain(text))


def _cell(text: str) -> str:
    """Text that a spreadsheet shows instead of calculating it."""
    text = plain(text)
    return f"'{text}" if text.startswith(_FORMULA) else text


_STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; margin: 2rem; }
table { border-collapse: collapse; }
th, td { padding: .35rem .7rem; text-align: right; border-bottom: 1px solid #8886; }
td:nth-child(2), td:nth-child(3), th:nth-child(2), th:nth-child(3) { text-align: left; }
thead tr:first-child th { text-align: center; border: 0; }
.up { color: light-dark(#1a7f37, #3fb950); }
.down { color: light-dark(#cf222e, #ff7b72); }
.same { opacity: .7; }
"""
