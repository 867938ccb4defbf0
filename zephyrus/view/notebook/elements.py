"""Pieces of HTML for a notebook, made as elements.

What a model, a tool or a file says is untrusted. It comes in as the text or an attribute of an
element, which is escaped when all is written, and never as markup. A notebook would also read ``$``
in it as mathematics: the classes of `output` forbid that.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from xml.etree.ElementTree import Element, tostring

from zephyrus.view.page import part
from zephyrus.view.plain import plain

FOLDED = 700
"""Characters of a text from which on it is folded below its first line."""

_LINE = 110
_NO_MATHS = "tex2jax_ignore mathjax_ignore"

Child = Element | str | None


def element(tag: str, *children: Child, css: str = "", **attributes: str) -> Element:
    """An element.

    Args:
        tag: Its name.
        *children: Elements and texts, in order; None is left out.
        css: Its classes.
        **attributes: Others; ``_`` in a name stands for ``-``.
    """
    made = Element(
        tag, {name.replace("_", "-"): plain(value) for name, value in attributes.items()}
    )
    if css:
        made.set("class", css)
    last: Element | None = None
    for child in children:
        if isinstance(child, str):
            text = plain(child)
            if last is None:
                made.text = (made.text or "") + text
            else:
                last.tail = (last.tail or "") + text
        elif child is not None:
            made.append(child)
            last = child
    return made


def output(*children: Child) -> str:
    """The whole output of a cell: our style, which touches nothing else, and the elements."""
    body = element("div", *children, css=f"zephyrus {_NO_MATHS}")
    return f"<style>{_style()}</style>" + tostring(body, encoding="unicode", method="html")


def folded_text(text: str, css: str = "text") -> Element:
    """A text as it is, its lines kept; a long one folded, so that it can be opened."""
    if len(text) <= FOLDED:
        return element("div", text, css=css)
    return folded(f"{first_line(text)} ({len(text):,} characters)", element("div", text, css=css))


def folded(title: str, *inside: Child, is_open: bool = False) -> Element:
    """What is shown when its title is clicked."""
    made = element("details", element("summary", title), *inside)
    if is_open:
        made.set("open", "")
    return made


def table(rows: Iterable[Sequence[Child]], head: Sequence[str] = (), css: str = "") -> Element:
    """A table, each row of which begins with its name."""
    made = element("table", css=css)
    if head:
        cells = (element("th", name, scope="col") if name else element("td") for name in head)
        made.append(element("thead", element("tr", *cells)))
    body = element("tbody")
    for first, *rest in rows:
        cells_of_row = (element("td", cell) for cell in rest)
        body.append(element("tr", element("th", first, scope="row"), *cells_of_row))
    made.append(body)
    return made


def picture(png: str | None, alt: str, *, caption: bool = True) -> Element:
    """An image that lies in the page itself.

    Args:
        png: It in Base64, or None if it has no room or is no PNG.
        alt: What it shows, in words.
        caption: Whether the words stand below it too.
    """
    if png is None:
        return element("p", f"[image, left out: {alt}]", css="faint")
    shown = element("img", src=f"data:image/png;base64,{png}", alt=alt)
    return element("figure", shown, element("figcaption", alt) if alt and caption else None)


def first_line(text: str) -> str:
    """The beginning of a text, in one line."""
    line = " ".join(text[: 4 * _LINE].split())
    return line if len(line) <= _LINE and len(text) <= 4 * _LINE else line[: _LINE - 1] + "…"


@cache
def _style() -> str:
    return part("notebook/notebook.css")
