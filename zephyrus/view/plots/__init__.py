"""The figures of runs (``zephyrus env plot``): PNGs and one offline page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from zephyrus.curriculum.plots.drawing import DARK, LIGHT, Drawing, render
from zephyrus.errors import UserError
from zephyrus.jsonlines import write_whole
from zephyrus.run import Run
from zephyrus.view.plots.read import RunNumbers, read_numbers

FOLDER, PAGE = "plots", "run.html"


def plot_runs(
    runs: Sequence[Run],
    output: Path | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> list[Path]:
    """Draw one run, or several side by side; differences are against the first.

    Args:
        runs: They.
        output: Where the files go; by default ``plots`` in the folder of the run, and of several
            ``plots`` where the command is given. Figures of an earlier call are replaced.
        tell: Hears which figures are left out, and why.

    Returns:
        The files: the page, then the PNGs (on a light ground; the page has dark ones too).

    Raises:
        UserError: If there is no run, nothing can be drawn, or a file can't be written.
    """
    if not runs:
        raise UserError("name at least one run to plot")
    numbers = read_numbers(runs)
    drawings, left_out = draw_all(numbers)
    if not drawings:
        names = ", ".join(run.name for run in numbers)
        raise UserError(f"there is nothing to draw of {names}: no rollout is finished")
    for title, why in left_out.items():
        tell(f"left out: {title}: {why}")
    if output is None:
        output = runs[0].path / FOLDER if len(runs) == 1 else Path(FOLDER)
    return _write(numbers, drawings, left_out, output)


def draw_all(runs: Sequence[RunNumbers]) -> tuple[list[Drawing], dict[str, str]]:
    """The figures that can be drawn, and the titles of the others with the reasons."""
    from zephyrus.view.plots.accuracy import accuracy, differences
    from zephyrus.view.plots.errors import numeric_errors
    from zephyrus.view.plots.tools import tool_use
    from zephyrus.view.plots.turns import reward_by_turn

    kinds: list[tuple[str, Callable[[Sequence[RunNumbers]], list[Drawing]], str]] = [
        ("Accuracy by template", accuracy, "no rollout has a score"),
        ("Reward by turn", reward_by_turn, "no rollout has a reward"),
        ("Tool use", tool_use, "no rollout has called a tool"),
        (
            "Errors of numeric answers",
            numeric_errors,
            "no number was asked for, or the environment does not say how it compares them",
        ),
    ]
    if len(runs) > 1:
        kinds.insert(
            1, ("Differences in accuracy", differences, "the runs share no task with a score")
        )
    drawings: list[Drawing] = []
    left_out: dict[str, str] = {}
    for title, draw, why in kinds:
        made = draw(runs)
        drawings += made
        if not made:
            left_out[title] = why
    return drawings, left_out


def _write(
    runs: Sequence[RunNumbers],
    drawings: Sequence[Drawing],
    left_out: dict[str, str],
    output: Path,
) -> list[Path]:
    from zephyrus.view.plots.page import render_page

    pictures = {
        drawing.name: (render(drawing, LIGHT), render(drawing, DARK)) for drawing in drawings
    }
    page = output / PAGE
    write_whole(page, render_page(runs, drawings, pictures, left_out))
    files = [page]
    for name, (light, _) in pictures.items():
        files.append(output / f"{name}.png")
        write_whole(files[-1], light)
    return files
