"""What a run of a curriculum has left behind, as numbers: what its plots and tables are made of."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from zephyrus.curriculum.read import to_recipe
from zephyrus.curriculum.recipe import Recipe, Stage
from zephyrus.curriculum.scheduler import FORMAT as STATE_FORMAT
from zephyrus.errors import UserError
from zephyrus.fileformat import FileFormat
from zephyrus.jsonlines import damaged, lines

ROUTES: Mapping[tuple[str, ...], str] = {
    ("rsft",): "RSFT",
    ("rl",): "RL-only",
    ("rsft", "rl"): "RSFT-RL",
    ("report_rl",): "Direct RL",
    ("rsft", "rl", "report_rl"): "Curriculum RL",
}
"""The paper's names for the kinds of stage that a policy went through."""

STEPS, EVALUATIONS = "steps.jsonl", "evaluations.jsonl"
"""What a stage's trainer writes as it goes on: a line a step, a line an evaluation within it."""

STEP_FORMAT = FileFormat("training-step", "0.1.0")
EVALUATION_FORMAT = FileFormat("held-out-evaluation", "0.1.0")
KEPT_FORMAT = FileFormat("kept", "0.1.0")

_JUDGED = "evaluation.json"  # of `zephyrus env evaluate`


@dataclass(frozen=True)
class Point:
    """A held-out evaluation of a checkpoint.

    Attributes:
        step: Optimiser steps behind it; 0 is where the stage began.
        value: Of the stage's metric.
        full: Whether all held-out tasks were asked.
        summary: Of its run folder (see `zephyrus.summary`); {} where that is gone.
        judges: Mean scores ("rubric", "f1" …) by judge, where ``zephyrus env evaluate`` judged it.
    """

    step: int
    value: float
    full: bool
    summary: Mapping[str, Any] = field(default_factory=dict)
    judges: Mapping[str, Mapping[str, float]] = field(default_factory=dict)

    @property
    def interval(self) -> tuple[float, float] | None:
        """The 95 % interval of the accuracy, if that is the value."""
        if self.summary.get("accuracy") != self.value or not self.summary.get("accuracy_ci95"):
            return None
        low, high = self.summary["accuracy_ci95"]
        return float(low), float(high)


@dataclass(frozen=True)
class StageHistory:
    """What a stage did.

    Attributes:
        stage: The recipe's.
        route: What its policy is called, such as RSFT-RL; see `ROUTES`.
        phase: What it does next; "done" when it is over.
        steps: The lines of ``steps.jsonl``, by step.
        points: Evaluations by step, a subset's before a full one.
        chosen: Step of the checkpoint it left behind; 0 is where it began, None not yet.
        reason: Why training stopped.
        kept: ``kept.json`` of an RSFT stage.
    """

    stage: Stage
    route: str
    phase: str
    steps: tuple[Mapping[str, Any], ...] = ()
    points: tuple[Point, ...] = ()
    chosen: int | None = None
    reason: str = ""
    kept: Mapping[str, Any] = field(default_factory=dict)

    @property
    def exam(self) -> str:
        """What is measured and how: values of stages that differ in it don't compare."""
        rule = self.stage.evaluation
        return json.dumps([rule.metric, rule.tasks.model_dump(), rule.sampling.model_dump()])

    @property
    def start(self) -> Point | None:
        """The evaluation of the policy that the stage began with."""
        return next((p for p in self.points if p.step == 0), None)

    @property
    def result(self) -> Point | None:
        """The evaluation of the checkpoint that was chosen."""
        made = [p for p in self.points if p.step == self.chosen]
        return made[-1] if made else None

    def series(self, name: str, part: str | None = None) -> tuple[list[int], list[float]]:
        """A number of every step that has it.

        Args:
            name: A key of ``steps.jsonl``.
            part: A key below it, for "rewards" and "weights".

        Returns:
            Steps and values.
        """
        found = []
        for line in self.steps:
            value = line.get(name)
            value = value.get(part) if part is not None and value is not None else value
            if isinstance(value, int | float) and math.isfinite(value):
                found.append((int(line["step"]), float(value)))
        return [step for step, _ in found], [value for _, value in found]

    def parts(self, name: str) -> list[str]:
        """The keys below "rewards" or "weights", in the order in which they come."""
        return list(dict.fromkeys(part for line in self.steps for part in line.get(name) or {}))


@dataclass(frozen=True)
class RunHistory:
    """What a run did.

    Attributes:
        name: The folder's.
        recipe: What was run.
        stages: In order.
    """

    name: str
    recipe: Recipe
    stages: tuple[StageHistory, ...]

    @property
    def model(self) -> str:
        """The model's short name."""
        return Path(self.recipe.model.name).name or self.recipe.model.name


def read_histories(folders: Sequence[Path]) -> list[RunHistory]:
    """Read several runs, told apart by their names.

    Raises:
        UserError: See `read_history`.
    """
    runs = [read_history(folder) for folder in folders]
    names = [run.name for run in runs]
    twice = {name for name in names if names.count(name) > 1}
    return [
        replace(run, name=f"{folder.resolve().parent.name}/{run.name}")
        if run.name in twice
        else run
        for run, folder in zip(runs, folders, strict=True)
    ]


def read_history(folder: Path) -> RunHistory:
    """Read a run, also one that is going on.

    Args:
        folder: Of ``zephyrus curriculum run``; see `zephyrus.curriculum.scheduler`.

    Raises:
        UserError: If it is no such folder, or a file in it is damaged.
    """
    import yaml

    recipe_file, state_file = folder / "recipe.yaml", folder / "state.json"
    if not recipe_file.is_file() or not state_file.is_file():
        raise UserError(
            f"there is no run of a curriculum at {folder}: it has no {recipe_file.name}"
        )
    try:
        raw = yaml.safe_load(recipe_file.read_text("utf-8"))
        states = STATE_FORMAT.read(json.loads(state_file.read_text("utf-8")), state_file)["stages"]
    except (yaml.YAMLError, ValueError, KeyError) as error:
        raise UserError(f"{folder} is damaged: {' '.join(str(error).split())}") from None
    recipe = to_recipe(raw, str(recipe_file))
    stages: list[StageHistory] = []
    for stage, state in zip(recipe.stages, states, strict=True):
        kinds = [earlier.stage.stage for earlier in stages] + [stage.stage]
        stages.append(_stage(folder, stage, route_of(kinds), state, stages[-1:]))
    return RunHistory(folder.resolve().name, recipe, tuple(stages))


def route_of(kinds: Sequence[str]) -> str:
    """What a policy is called that went through some kinds of stage.

    >>> route_of(["rsft", "rl"])
    'RSFT-RL'
    """
    once = tuple(kind for i, kind in enumerate(kinds) if not i or kind != kinds[i - 1])
    words = {"rsft": "RSFT", "rl": "RL", "report_rl": "report RL"}
    return ROUTES.get(once) or "-".join(words[kind] for kind in once)


def _stage(
    run: Path, stage: Stage, route: str, state: Mapping[str, Any], before: Sequence[StageHistory]
) -> StageHistory:
    folder = run / "stages" / stage.name
    measured = [row for row in (state["before"], *state["after"]) if row]
    measured += _rows(folder / EVALUATIONS, EVALUATION_FORMAT)
    points = {
        (int(row["step"]), bool(row["full"])): _point(folder / "evaluations", row)
        for row in measured
        if math.isfinite(row["value"])
    }
    start = points.get((0, True))
    if start is not None and not start.summary and before and before[0].result is not None:
        # The stage before evaluated this checkpoint, at the end; nothing is evaluated twice.
        same = before[0].result
        if same.value == start.value:
            points[0, True] = replace(start, summary=same.summary, judges=same.judges)
    steps = {int(line["step"]): line for line in _rows(folder / STEPS, STEP_FORMAT)}
    kept = folder / "kept.json"
    return StageHistory(
        stage,
        route,
        state["phase"],
        tuple(steps[step] for step in sorted(steps)),
        tuple(points[key] for key in sorted(points)),
        state["chosen"],
        state["reason"],
        _json(kept, KEPT_FORMAT) if kept.is_file() else {},
    )


def _point(folder: Path, row: Mapping[str, Any]) -> Point:
    from zephyrus.run import Run

    step, full = int(row["step"]), bool(row["full"])
    # All tasks may also have been asked within the stage, where it has no subset.
    names = [f"full-{step:05d}", f"step-{step:05d}"] if full else [f"step-{step:05d}"]
    made = next(
        (folder / name for name in names if (folder / name / "config.yaml").is_file()), None
    )
    judges: dict[str, dict[str, float]] = {}
    if made is not None and (made / _JUDGED).is_file():
        from zephyrus.evaluation.evaluations import FORMAT as JUDGED_FORMAT

        judged = _json(made / _JUDGED, JUDGED_FORMAT)
        for judge, result in judged.get("judges", {}).items():
            scores = {name: (result.get(name) or {}).get("mean") for name in ("rubric", "f1")}
            judges[judge] = {k: float(v) for k, v in scores.items() if v is not None}
    summary = Run.open(made).summary if made is not None else {}
    return Point(step, float(row["value"]), full, summary, judges)


def _rows(path: Path, form: FileFormat) -> list[dict[str, Any]]:
    rows = []
    for number, line in enumerate(lines(path), 1):
        try:
            rows.append(form.read(json.loads(line), f"{path}, line {number},"))
        except ValueError as error:
            raise damaged(path, number, error) from None
    return rows


def _json(path: Path, form: FileFormat) -> dict[str, Any]:
    try:
        return form.read(json.loads(path.read_text("utf-8")), path)
    except ValueError as error:
        raise UserError(f"{path} is damaged: {error}") from None
