"""The figures of a run of a curriculum, from what it has saved: PNGs and one offline page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from zephyrus.curriculum.history import RunHistory, read_histories
from zephyrus.curriculum.plots.page import about, title
from zephyrus.errors import UserError
from zephyrus.view.figures import Kind, draw_kinds, folder_of, write_figures
from zephyrus.view.figures.drawing import Drawing

PAGE = "curriculum.html"


def plot_run(
    folder: Path | Sequence[Path],
    output: Path | None = None,
    tell: Callable[[str], None] = lambda text: None,
) -> list[Path]:
    """Draw the paper's figures of one run, or of several side by side.

    Args:
        folder: Of a run, or of several: routes, seeds or models to compare.
        output: Where the files go; by default ``plots`` in the folder of the run, and of several
            ``plots`` where the command is given. Figures of an earlier call are replaced.
        tell: Hears which figures are left out, and why.

    Returns:
        The files: the page, then the PNGs (on a light ground; the page has dark ones too).

    Raises:
        UserError: If a folder is no run, nothing can be drawn yet, or a file can't be written.
    """
    folders = [folder] if isinstance(folder, Path) else list(folder)
    if not folders:
        raise UserError("name at least one run to plot")
    runs = read_histories(folders)
    drawings, left_out = draw_all(runs)
    if not drawings:
        names = ", ".join(run.name for run in runs)
        raise UserError(
            f"there is nothing to draw yet of {names}: no step and no evaluation is done"
        )
    for figure, why in left_out.items():
        tell(f"left out: {figure}: {why}")
    page = folder_of(folders, output) / PAGE
    return write_figures(page, title(runs), about(runs), drawings, left_out)


def draw_all(runs: Sequence[RunHistory]) -> tuple[list[Drawing], dict[str, str]]:
    """The figures that can be drawn, and the titles of the others with the reasons."""
    from zephyrus.curriculum.plots.heldout import by_route, by_step
    from zephyrus.curriculum.plots.report import judges, weights
    from zephyrus.curriculum.plots.tooluse import tool_use
    from zephyrus.curriculum.plots.training import curves

    kinds: tuple[Kind[RunHistory], ...] = (
        ("Held-out accuracy by route (Fig. 2)", by_route, "no stage is over"),
        ("Held-out accuracy against steps (Fig. B.1)", by_step, "nothing is evaluated"),
        ("Tool use (Fig. 3)", tool_use, "no rollout that is kept has called a tool"),
        ("Weights of the rewards (Fig. C.1)", weights, "no step of report RL is done"),
        (
            "Judge trajectories (Fig. D.1)",
            judges,
            "no evaluation is judged; zephyrus env evaluate RUN/stages/STAGE/evaluations/… does it",
        ),
        ("Training", curves, "no step is done"),
    )
    return draw_kinds(kinds, runs)
