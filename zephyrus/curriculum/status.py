"""Where a run of a curriculum is: read from its folder alone."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from zephyrus.curriculum.history import Point, RunHistory, StageHistory
from zephyrus.curriculum.read import FILE
from zephyrus.curriculum.scheduler import LOCK
from zephyrus.errors import UserError
from zephyrus.lock import FileLock, LockHeldError
from zephyrus.view.plain import plain

if TYPE_CHECKING:
    from rich.console import RenderableType

POLICY = "policy"
"""The folder of the policy that came out of a run."""

NAMED = 8
"""Runs that an error lists."""

_PHASES = {
    "before": "evaluating where it begins",
    "sample": "rolling out",
    "train": "training",
    "after": "evaluating its candidates",
    "done": "done",
}


def find_run(name: str | Path) -> Path:
    """The folder of a run, by its path or its name below ``runs``.

    Raises:
        UserError: If there is none.
    """
    for folder in (Path(name), Path("runs") / name):
        if (folder / FILE).is_file():
            return folder
    made = sorted(Path("runs").glob(f"*/{FILE}"), key=lambda f: f.stat().st_mtime, reverse=True)
    names = ", ".join(file.parent.name for file in made[:NAMED])
    there = f"; runs/ has {names}" if names else ""
    raise UserError(f"there is no run of a curriculum {str(name)!r}, here or in runs/{there}")


def is_done(run: RunHistory) -> bool:
    """Whether nothing is left to do."""
    return all(stage.phase == "done" for stage in run.stages)


def runner(folder: Path) -> str | None:
    """The process that runs a folder now, or None."""
    if not (folder / LOCK).exists():
        return None
    try:
        FileLock(folder / LOCK).release()
    except LockHeldError as error:
        return str(error)
    except OSError:  # a folder that may only be read: nothing can be said
        return None
    return None


def status(run: RunHistory, folder: Path) -> dict[str, Any]:
    """Where a run is, as plain values.

    Args:
        run: What it left behind.
        folder: Its folder.
    """
    policy = folder / POLICY
    return {
        "run": str(folder),
        "recipe": run.recipe.name,
        "model": run.recipe.model.name,
        "seed": run.recipe.seed,
        "done": is_done(run),
        "runner": runner(folder),
        "policy": str(policy) if policy.is_dir() else None,
        "stages": [_stage(stage) for stage in run.stages],
    }


def render(told: dict[str, Any]) -> RenderableType:
    """What `status` returned, for a terminal."""
    from rich.console import Group
    from rich.table import Table
    from rich.text import Text

    table = Table(title_justify="left")
    for column in ("stage", "is", "step", "metric", "before", "evaluations", "after", "chosen"):
        right = column in ("step", "before", "after", "chosen")
        table.add_column(column, justify="right" if right else "left")
    for stage in told["stages"]:
        later = [e for e in stage["evaluations"] if e["step"]]
        inside = [e for e in later if not e["all"]] or later
        table.add_row(
            plain(stage["name"]),
            _PHASES.get(stage["phase"], stage["phase"]) if stage["begun"] else "waiting",
            f"{stage['step']}/{stage['steps']}",
            plain(stage["metric"]),
            _value(stage["before"]),
            ", ".join(f"{e['step']}: {_value(e)}" for e in inside),
            _value(stage["after"]),
            "–" if stage["chosen"] is None else f"step {stage['chosen']}",
        )
    lines = [f"{told['run']}: {told['recipe']} ({told['model']}, seed {told['seed']})"]
    reasons = [f"{s['name']} ended since {s['reason']}" for s in told["stages"] if s["reason"]]
    if told["done"]:
        end = f"Finished. The policy: {told['policy'] or 'the model itself, nothing was better'}"
    elif told["runner"]:
        end = f"Being run by {told['runner']}"
    else:
        end = f"Not running; to go on: zephyrus curriculum run --output {told['run']}"
    return Group(Text(plain(lines[0])), table, *(Text(plain(t)) for t in (*reasons, end)))


def _stage(stage: StageHistory) -> dict[str, Any]:
    return {
        "name": stage.stage.name,
        "phase": stage.phase,
        "begun": bool(stage.points or stage.steps or stage.phase != "before"),
        "step": int(stage.steps[-1]["step"]) if stage.steps else 0,
        "steps": stage.stage.until.steps,
        "metric": stage.stage.evaluation.metric,
        "before": _point(stage.start),
        "evaluations": [_point(point) for point in stage.points],
        "after": _point(stage.result),
        "chosen": stage.chosen,
        "reason": stage.reason,
        "kept": dict(stage.kept),
    }


def _point(point: Point | None) -> dict[str, Any] | None:
    if point is None:
        return None
    ci95 = list(point.interval) if point.interval else None
    return {"step": point.step, "value": point.value, "all": point.full, "ci95": ci95}


def _value(told: dict[str, Any] | None) -> str:
    return "–" if told is None else f"{told['value']:.3f}" + ("" if told["all"] else "*")
