"""TRL's trackers and its own printing, in real training of a tiny model."""

import json
import os

import pytest

pytest.importorskip("trl", reason="needs the extra train")
pytest.importorskip("tensorboard", reason="needs the extra train")

from tiny_training import REPORT_RL, RSFT, make_recipe

from zephyrus.curriculum.plots import plot_run
from zephyrus.curriculum.scheduler import Scheduler
from zephyrus.errors import UserError
from zephyrus.training.tracking import check_trackers, quiet, scalars, tracked
from zephyrus.training.work import TRLWork


def events(folder):
    """The scalars of TensorBoard's files: name → [(step, value)]."""
    from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

    read = EventAccumulator(str(folder))
    read.Reload()
    return {
        name: [(event.step, event.value) for event in read.Scalars(name)]
        for name in read.Tags()["scalars"]
    }


@pytest.fixture(scope="module")
def run(tiny_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("tracked") / "run"
    recipe = make_recipe(
        tiny_model,
        {**RSFT, "until": {"steps": 3}},
        {**REPORT_RL, "until": {"steps": 3}, "updates": 1},
    )
    told = []
    work = TRLWork(
        recipe, folder, progress=False, concurrency=4, tell=told.append, report_to=["tensorboard"]
    )
    with pytest.MonkeyPatch.context() as patch:
        patch.delenv("TENSORBOARD_LOGGING_DIR", raising=False)
        phases: list[str] = []
        Scheduler(recipe, folder, work, tell=phases.append).run()
    return folder, told, phases


@pytest.mark.slow
def test_each_stage_writes_event_files_with_our_numbers(run):
    folder, told, phases = run
    stage = folder / "stages" / "report_rl"
    steps = [json.loads(line) for line in (stage / "steps.jsonl").read_text().splitlines()]
    written = events(stage / "tensorboard")
    for ours, theirs in (
        ("accuracy", "train/rollouts/accuracy"),
        ("tokens_per_second", "train/rollouts/tokens_per_second"),
        ("loss", "train/loss"),
    ):
        assert written[theirs] == [
            (line["step"], pytest.approx(line[ours], rel=1e-6, abs=1e-7)) for line in steps
        ]
    for part in ("rubric", "f1"):
        assert written[f"train/weights/{part}"] == [
            (line["step"], pytest.approx(line["weights"][part])) for line in steps
        ]
        # Once a step: ours are logged without TRL's a second time.
        assert [step for step, _ in written[f"train/rewards/{part}/mean"]] == [1, 2, 3]
        assert [value for _, value in written[f"train/rewards/{part}/mean"]] == pytest.approx(
            [line["rewards"][part] for line in steps], abs=1e-6
        )
    (held_out,) = (stage / "evaluations.jsonl").read_text().splitlines()
    value = json.loads(held_out)["value"]
    assert written["eval/rubric"] == [(2, pytest.approx(value))]
    assert {"step": 2, "held_out": value} in told
    state = json.loads((folder / "state.json").read_text())["stages"][0]
    for row in (state["before"], *state["after"]):
        measured = f"held-out accuracy {row['value']:.3f} at step {row['step']}, all tasks"
        assert f"rsft: {measured}" in phases
    assert "train/loss" in events(folder / "stages" / "rsft" / "tensorboard")


@pytest.mark.slow
def test_a_real_run_can_be_plotted(run):
    names = {path.name for path in plot_run(run[0])}
    assert {"curriculum.html", "weights.png", "accuracy-by-step.png", "training-rsft.png"} <= names


@pytest.mark.slow
def test_nothing_of_trl_is_printed_and_nothing_is_tracked_unasked(tiny_model, tmp_path, capfd):
    recipe = make_recipe(tiny_model, {**RSFT, "until": {"steps": 2}})
    folder = tmp_path / "run"
    work = TRLWork(recipe, folder, progress=False, concurrency=4)
    Scheduler(recipe, folder, work).run()
    said = capfd.readouterr()
    assert said.out == ""
    assert "it/s" not in said.err and "examples/s" not in said.err and "loss" not in said.err
    assert not list(folder.rglob("events.out*"))


def test_quiet_leaves_progress_bars_as_they_were():
    from datasets import utils
    from transformers.utils import logging

    before = logging.is_progress_bar_enabled(), utils.are_progress_bars_disabled()
    with quiet():
        assert not logging.is_progress_bar_enabled() and utils.are_progress_bars_disabled()
    assert (logging.is_progress_bar_enabled(), utils.are_progress_bars_disabled()) == before


def test_the_place_of_event_files_is_set_for_a_stage_alone(tmp_path, monkeypatch):
    monkeypatch.delenv("TENSORBOARD_LOGGING_DIR", raising=False)
    with tracked(["tensorboard"], tmp_path):
        assert os.environ["TENSORBOARD_LOGGING_DIR"] == str(tmp_path / "tensorboard")
    assert "TENSORBOARD_LOGGING_DIR" not in os.environ
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", "mine")
    with tracked(["tensorboard"], tmp_path):
        assert os.environ["TENSORBOARD_LOGGING_DIR"] == "mine"
    assert os.environ["TENSORBOARD_LOGGING_DIR"] == "mine"


def test_trackers_that_are_not_there_are_told_at_once(tiny_model, tmp_path, monkeypatch):
    with pytest.raises(UserError, match="no tracker 'tensorbord'; there are tensorboard, wandb"):
        TRLWork(make_recipe(tiny_model), tmp_path, report_to=["tensorbord"])
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install wandb"):
        check_trackers(["wandb"])


def test_numbers_that_there_are_not_are_not_logged():
    line = {"accuracy": None, "tool_rate": float("nan"), "turns": 2, "weights": None}
    assert scalars(line) == {"rollouts/turns": 2.0}
