"""The figures of a run of a curriculum, from what it has saved: PNGs and one offline page."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

from zephyrus.curriculum.history import RunHistory, read_histories
from zephyrus.curriculum.plots.drawing import DARK, LIGHT, Drawing, render
from zephyrus.errors import UserError
from zephyrus.jsonlines import write_whole

FOLDER, PAGE = "plots", "curriculum.html"


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
    for title, why in left_out.items():
        tell(f"left out: {title}: {why}")
    if output is None:
        output = folders[0] / FOLDER if len(folders) == 1 else Path(FOLDER)
    return _write(runs, drawings, left_out, output)


def draw_all(runs: Sequence[RunHistory]) -> tuple[list[Drawing], dict[str, str]]:
    """The figures that can be drawn, and the titles of the others with the reasons."""
    from zephyrus.curriculum.plots.heldout import by_route, by_step
    from zephyrus.curriculum.plots.report import judges, weights
    from zephyrus.curriculum.plots.tooluse import tool_use
    from zephyrus.curriculum.plots.training import curves

    kinds = (
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
    drawings: list[Drawing] = []
    left_out: dict[str, str] = {}
    for title, draw, why in kinds:
        made = draw(runs)
        drawings += made
        if not made:
            left_out[title] = why
    return drawings, left_out


def _write(
    runs: Sequence[RunHistory],
    drawings: Sequence[Drawing],
    left_out: dict[str, str],
    output: Path,
) -> list[Path]:
    from zephyrus.curriculum.plots.page import render_page

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
