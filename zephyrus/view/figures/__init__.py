"""Figures of anything: drawn once, written as PNGs and as one offline page."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

from zephyrus.jsonlines import write_whole
from zephyrus.view.figures.drawing import DARK, LIGHT, Drawing, render

T = TypeVar("T")
FOLDER = "plots"
Kind = tuple[str, Callable[[Sequence[T]], list[Drawing]], str]
"""The title of a kind of figure, what draws it, and why it is left out where nothing is drawn."""


def draw_kinds(kinds: Iterable[Kind[T]], runs: Sequence[T]) -> tuple[list[Drawing], dict[str, str]]:
    """The figures that can be drawn, and the titles of the others with the reasons."""
    drawings: list[Drawing] = []
    left_out: dict[str, str] = {}
    for title, draw, why in kinds:
        made = draw(runs)
        drawings += made
        if not made:
            left_out[title] = why
    return drawings, left_out


def folder_of(folders: Sequence[Path], output: Path | None) -> Path:
    """Where the files go: as asked, beside what is drawn if that is one, or where one is."""
    if output is not None:
        return output
    return folders[0] / FOLDER if len(folders) == 1 else Path(FOLDER)


def write_figures(
    page: Path,
    title: str,
    about: str,
    drawings: Sequence[Drawing],
    left_out: Mapping[str, str],
) -> list[Path]:
    """Write the page, and the PNGs beside it.

    Args:
        page: The page's file.
        title: See `zephyrus.view.figures.page.render_page`, as for what follows.
        about: Likewise.
        drawings: Likewise.
        left_out: Likewise.

    Returns:
        The files: the page, then the PNGs (on a light ground; the page has dark ones too).

    Raises:
        UserError: If a file can't be written.
    """
    from zephyrus.view.figures.page import render_page

    pictures = {
        drawing.name: (render(drawing, LIGHT), render(drawing, DARK)) for drawing in drawings
    }
    write_whole(page, render_page(title, about, drawings, pictures, left_out))
    files = [page]
    for name, (light, _) in pictures.items():
        files.append(page.parent / f"{name}.png")
        write_whole(files[-1], light)
    return files
