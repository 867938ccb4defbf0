"""What the page of a curriculum says of its runs; the figures' page is `zephyrus.view.figures.page`."""

from __future__ import annotations

from collections.abc import Sequence

from zephyrus.curriculum.history import RunHistory, StageHistory
from zephyrus.view.figures.page import Cell, table, text


def title(runs: Sequence[RunHistory]) -> str:
    """Of the page."""
    return "Curriculum: " + ", ".join(run.name for run in runs)


def about(runs: Sequence[RunHistory]) -> str:
    """A section for each run, as HTML."""
    return "".join(map(_run, runs))


def _run(run: RunHistory) -> str:
    recipe = run.recipe
    rows = [_stage(stage) for stage in run.stages]
    columns = (
        "stage", "route", "steps", "began at", "held-out", "chosen step", "kept for RSFT", "ended"
    )  # fmt: skip
    made_of = f"Recipe {recipe.name} · model {recipe.model.name} · seed {recipe.seed}"
    return (
        f"<section><h2>{text(run.name)}</h2>"
        f'<p class="about">{text(made_of)}\n{text(recipe.description.strip())}</p>'
        f"{table(columns, rows, f'Stages of {run.name}')}</section>"
    )


def _stage(stage: StageHistory) -> tuple[Cell, ...]:
    kept = stage.kept
    metric = stage.stage.evaluation.metric
    return (
        stage.stage.name,
        stage.route,
        f"{int(stage.steps[-1]['step']) if stage.steps else 0} of {stage.stage.until.steps}",
        stage.start.value if stage.start else None,
        f"{metric} {stage.result.value:.3f}" if stage.result else None,
        stage.chosen,
        f"{kept['kept']} of {kept['rollouts']} rollouts" if kept else None,
        stage.reason or ("" if stage.phase == "done" else f"not over: {stage.phase}"),
    )
