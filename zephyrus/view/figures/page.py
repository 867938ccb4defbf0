"""The page that figures lie in: pictures, light and dark, and the tables of their numbers.

Names, reasons and descriptions are anybody's text: all of it is escaped, and the content security
policy lets nothing run and nothing load. The page needs no network.
"""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping, Sequence
from html import escape

from zephyrus.view.figures.drawing import Drawing
from zephyrus.view.page import fill, part, source_hash
from zephyrus.view.plain import plain

Cell = str | int | float | None


def render_page(
    title: str,
    about: str,
    drawings: Sequence[Drawing],
    pictures: Mapping[str, tuple[bytes, bytes]],
    left_out: Mapping[str, str],
) -> str:
    """The page.

    Args:
        title: Of the page; escaped here.
        about: Sections about what is shown, as HTML that is escaped already.
        drawings: The figures, in order.
        pictures: The PNGs of each by its name: light, dark.
        left_out: Titles of figures that lack their data → why.
    """
    style = part("base.css") + part("claims.css") + part("curriculum.css")
    links = "".join(f'<a href="#{text(one.name)}">{text(one.title)}</a>' for one in drawings)
    return fill(
        part("curriculum.html"),
        {
            "STYLE_HASH": source_hash(style),
            "STYLE": style,
            "TITLE": text(title),
            "LINKS": links,
            "RUNS": about,
            "FIGURES": "".join(figure(one, *pictures[one.name]) for one in drawings),
            "LEFT_OUT": left_out_list(left_out),
        },
    )


def figure(drawing: Drawing, light: bytes, dark: bytes) -> str:
    """A section with a figure, light and dark, and the table of its numbers."""
    # Of one run alone the column that names it says nothing.
    shown = [
        i
        for i, column in enumerate(drawing.columns)
        if column not in ("run", "model") or len({row[i] for row in drawing.rows}) > 1
    ]
    columns = [drawing.columns[i] for i in shown]
    rows = [[row[i] for i in shown] for row in drawing.rows]
    return (
        f'<section id="{text(drawing.name)}"><h2>{text(drawing.title)}</h2><div class="pair">'
        f'<figure><picture><source media="(prefers-color-scheme: dark)" srcset="{_data(dark)}">'
        f'<img src="{_data(light)}" alt="{text(drawing.alt)}"></picture>'
        f"<figcaption>{text(drawing.caption)}</figcaption></figure>"
        f"{table(columns, rows, f'Numbers of: {drawing.title}')}"
        "</div></section>"
    )


def table(columns: Sequence[str], rows: Sequence[Sequence[Cell]], name: str) -> str:
    """A table that scrolls and has a name."""
    head = "".join(f'<th scope="col">{text(column)}</th>' for column in columns)
    body = "".join(f"<tr>{''.join(map(_cell, row))}</tr>" for row in rows)
    # It scrolls, so the keyboard must get to it.
    return (
        f'<div class="numbers" role="region" tabindex="0" aria-label="{text(name)}"><table>'
        f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )


def _cell(value: Cell) -> str:
    if isinstance(value, int | float):
        return f'<td class="number">{number(value)}</td>'
    return f"<td>{text(value if value is not None else '–')}</td>"


def number(value: float) -> str:
    """A number for a table: whole ones as they are, others to four digits.

    >>> number(3), number(0.51234), number(1e-6), number(27.5)
    ('3', '0.5123', '1e-06', '27.5')
    """
    return f"{value:,}" if isinstance(value, int) else f"{value:.4g}"


def left_out_list(left_out: Mapping[str, str]) -> str:
    """The section that says which figures lack their data; nothing if there is none."""
    if not left_out:
        return ""
    items = "".join(f"<li>{text(title)}: {text(why)}</li>" for title, why in left_out.items())
    return f'<section id="left-out"><h2>Left out</h2><ul>{items}</ul></section>'


def _data(picture: bytes) -> str:
    return f"data:image/png;base64,{b64encode(picture).decode()}"


def text(value: object) -> str:
    """Anybody's text, escaped."""
    return escape(plain(str(value)))
