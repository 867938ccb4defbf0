"""The heat map of the cross-task protocol (Weather-R1, Fig. 4): PNG, page, CSV and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.consistency.crosstask import CrossTask, notes, value_of
from zephyrus.jsonlines import write_whole
from zephyrus.view.figures import write_figures
from zephyrus.view.figures.drawing import Drawing, Theme, label, panels
from zephyrus.view.figures.page import text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

NAME = "cross-task"
_FULL = 50.0
"""Changes beyond it have the darkest colour, if the largest is not smaller."""


def write_cross_task(found: CrossTask, folder: Path, change: str = "percent") -> list[Path]:
    """Write the matrix: a page with its heat map, the PNG, and the numbers as CSV and JSON.

    Args:
        found: The matrix.
        folder: Where the files go.
        change: "percent" of the base's accuracy, as Fig. 4 has it, or "points".

    Returns:
        The files.

    Raises:
        UserError: If a file can't be written.
    """
    drawing = heat_map(found, change)
    said = "".join(f"<p>{text(note)}</p>" for note in notes(found))
    files = write_figures(
        folder / f"{NAME}.html",
        "Cross-task protocol",
        f"<section>{said}</section>" if said else "",
        [drawing],
        {},
    )
    for suffix, content in (
        (".csv", found.to_csv()),
        (".json", json.dumps(found.to_dict(), indent=1, ensure_ascii=False) + "\n"),
    ):
        files.append(folder / f"{NAME}{suffix}")
        write_whole(files[-1], content)
    return files


def heat_map(found: CrossTask, change: str = "percent") -> Drawing:
    """Rows are what was trained on, columns what was tested on; gaps are hatched.

    Args:
        found: The matrix.
        change: "percent" or "points".
    """
    unit = "%" if change == "percent" else "points"
    values = {place: value_of(cell, change) for place, cell in found.cells.items()}

    def draw(theme: Theme) -> Figure:
        from matplotlib.colors import LinearSegmentedColormap, to_rgb
        from matplotlib.patches import Rectangle

        rows, columns = len(found.trained), len(found.tested)
        figure, axes = panels(1, 1, (1.6 + 0.98 * columns, 1.5 + 0.62 * rows))
        axis = axes[0][0]
        known = [abs(value) for value in values.values() if value is not None]
        reach = min(max(known, default=1.0), _FULL) or 1.0
        # Orange and blue are told apart by everybody; the paper has red and green.
        colours = LinearSegmentedColormap.from_list(
            "change", [theme.colours[1], theme.ground, theme.colours[0]]
        )
        for i, a in enumerate(found.trained):
            for j, b in enumerate(found.tested):
                value = values.get((a, b))
                fill: Any = theme.ground
                if value is not None:
                    fill = colours(0.5 + 0.5 * max(-1.0, min(1.0, value / reach)))
                axis.add_patch(
                    Rectangle(
                        (j - 0.5, i - 0.5),
                        1,
                        1,
                        facecolor=fill,
                        edgecolor=theme.line,
                        hatch=None if value is not None else "///",
                        linewidth=0.8,
                    )
                )
                if a == b:
                    axis.add_patch(
                        Rectangle((j - 0.45, i - 0.45), 0.9, 0.9, fill=False, edgecolor=theme.ink)
                    )
                red, green, blue = to_rgb(fill)
                dark = 0.299 * red + 0.587 * green + 0.114 * blue < 0.5
                axis.text(
                    j,
                    i,
                    "–" if value is None else f"{value:+.1f}",
                    ha="center",
                    va="center",
                    color="#ffffff" if dark else "#1f2328",
                )
        axis.set_xlim(-0.5, columns - 0.5)
        axis.set_ylim(rows - 0.5, -0.5)
        axis.set_xticks(
            range(columns), [label(b, 18) for b in found.tested], rotation=25, ha="right"
        )
        axis.set_yticks(range(rows), [label(a, 24) for a in found.trained])
        axis.tick_params(length=0)
        axis.grid(visible=False)
        axis.set_xlabel("tested on")
        axis.set_ylabel("trained on")
        return figure

    overall = (
        ""
        if found.overall is None
        else f" Mean over tasks and models: {100 * found.overall:.1f} %."
    )
    lacking = f" {len(found.gaps)} cells are missing (hatched)." if found.gaps else ""
    return Drawing(
        NAME,
        "Change in accuracy by training and test task (Weather-R1, Fig. 4)",
        f"In {unit}{' of the accuracy of' if change == 'percent' else ' against'} the base model; "
        f"orange is a fall, blue a rise; the framed cells were trained and tested on one task.{lacking}",
        f"A matrix of {len(found.cells)} changes, of which {len(found.fallen)} are falls.{overall}",
        ("trained on", "tested on", "questions", "accuracy", "base", f"change ({unit})"),
        tuple(
            (a, b, cell.questions, cell.accuracy, cell.base, values[a, b])
            for (a, b), cell in found.cells.items()
        ),
        draw,
    )
