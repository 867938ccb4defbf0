"""Folders of curriculum runs as the scheduler and the trainer leave them, written by hand.

An evaluation is made of real trajectories: `exam` asks some tasks, of which the first few are right,
with one tool call each, and the last few calls fail.
"""

import json

import yaml

from zephyrus.curriculum.read import to_recipe
from zephyrus.limits import StopReason
from zephyrus.run import Run
from zephyrus.trajectory import CallRecord, Key, Trajectory

WHERE = {"tasks": {"env": "bench", "split": "validation"}, "every": 1}


def stage(kind, steps=100, **more):
    """A stage of a recipe, as YAML has it."""
    found = {"stage": kind, "until": {"steps": steps}, "evaluation": WHERE, **more}
    return (
        found
        if kind != "report_rl"
        else {"tasks": {"env": "report"}, "weights": {"warmup": 0}, **found}
    )


def write_run(folder, stages, name="tiny", model="org/Small-1B", description=""):
    """Write recipe.yaml and state.json; every stage has yet to begin."""
    raw = {"name": name, "model": {"name": model}, "stages": stages, "description": description}
    recipe = to_recipe(raw, name)
    folder.mkdir(parents=True)
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe.model_dump(mode="json")), "utf-8")
    write_state(folder, [state(made.name) for made in recipe.stages])
    return folder


def state(name, phase="before", before=None, after=(), chosen=None, reason=""):
    """A stage's part of state.json; evaluations are (step, value)."""

    def measured(step, value):
        return {"step": step, "value": value, "full": value == value}

    return {
        "name": name,
        "phase": phase,
        "before": measured(0, before) if before is not None else None,
        "after": [measured(*pair) for pair in after],
        "chosen": chosen,
        "reason": reason,
    }


def write_state(folder, states):
    (folder / "state.json").write_text(json.dumps({"stages": states}), "utf-8")


def write_lines(file, rows):
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text("".join(json.dumps(row) + "\n" for row in rows), "utf-8")


def exam(folder, right, asked=10, failed=0, calls=1, judges=None):
    """The run folder of an evaluation; returns its accuracy."""
    with Run.create(folder, {"env": {"name": "bench"}, "policy": {"name": "p"}}) as run:
        for i in range(asked):
            score = float(i < right)
            wrong = "unknown_place" if i >= asked - failed else None
            run.append(
                Trajectory(
                    Key(f"t{i}", 0, 0),
                    calls=[CallRecord(1, "dataset", "{}", wrong) for _ in range(calls)],
                    turns=2,
                    answer="1",
                    rewards={"score": score, "reward": score},
                    stop=StopReason.ANSWERED,
                    task={"required_tools": ["dataset"], "template": "t"},
                )
            )
        run.write_summary()
    if judges:
        found = {
            name: {
                score: {"mean": mean, "ci95": None, "events": asked} for score, mean in s.items()
            }
            for name, s in judges.items()
        }
        (folder / "evaluation.json").write_text(json.dumps({"judges": found}), "utf-8")
    return right / asked
