"""The figures of runs (``zephyrus env plot``): PNGs and one offline page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from zephyrus.errors import UserError
from zephyrus.run import Run
from zephyrus.view.figures import Kind, draw_kinds, folder_of, write_figures
from zephyrus.view.figures.drawing import Drawing
from zephyrus.view.plots.page import about, title
from zephyrus.view.plots.read import RunNumbers, read_numbers

PAGE = "run.html"


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
    for figure, why in left_out.items():
        tell(f"left out: {figure}: {why}")
    page = folder_of([run.path for run in runs], output) / PAGE
    return write_figures(page, title(numbers), about(numbers), drawings, left_out)


def draw_all(runs: Sequence[RunNumbers]) -> tuple[list[Drawing], dict[str, str]]:
    """The figures that can be drawn, and the titles of the others with the reasons."""
    from zephyrus.view.plots.accuracy import accuracy, differences
    from zephyrus.view.plots.errors import numeric_errors
    from zephyrus.view.plots.tools import tool_use
    from zephyrus.view.plots.turns import reward_by_turn

    kinds: list[Kind[RunNumbers]] = [
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
    return draw_kinds(kinds, runs)
