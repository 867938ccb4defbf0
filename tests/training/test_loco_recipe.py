"""LoCo-RFT through TRL on a random model: the recipe loco-tiny, shortened, on a bank of a few items."""

import json
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs the extra train")

sys.path.insert(0, str(Path(__file__).parents[1] / "chartqa"))
from chart_items import ITEMS

import zephyrus_curricula
from zephyrus.curriculum.preflight import check
from zephyrus.curriculum.read import read_recipe
from zephyrus.curriculum.scheduler import Scheduler
from zephyrus.registry import names, register
from zephyrus.run import Run
from zephyrus.training.work import TRLWork
from zephyrus_chartqa.bank_file import save_items
from zephyrus_chartqa.env import ChartQAEnv

pytestmark = pytest.mark.slow


@pytest.fixture
def bank(tmp_path):
    if "chartqa" not in names("envs"):  # an installation from before there was one
        register("envs", "chartqa", ChartQAEnv)
    save_items(tmp_path / "bank.jsonl", ITEMS)
    return tmp_path / "bank.jsonl"


def shortened(model, bank):
    changes = [f"model.name={model}", "model.dtype=float32", "model.lora=null"]
    for stage in ("rsft", "rl"):
        own = f"stages.{stage}"
        for tasks, n in (("tasks", 8), ("evaluation.tasks", 2)):
            changes += [f"{own}.{tasks}.n={n}", f"{own}.{tasks}.options.bank={bank}"]
        changes += [f"{own}.sampling.max_tokens=8", f"{own}.evaluation.sampling.max_tokens=8"]
    return read_recipe(
        zephyrus_curricula.LOCO_TINY,
        [
            *changes,
            "stages.rsft.until.steps=2",
            "stages.rsft.evaluation.every=2",
            "stages.rsft.optimiser.warmup=0",
            "stages.rl.until.steps=2",
            "stages.rl.evaluation.every=1",
            "stages.rl.tasks_per_step=2",
        ],
    )


def test_what_trl_is_given(tiny_model, bank):
    recipe = shortened(tiny_model, bank)
    assert [finding for finding in check(recipe) if finding.ok is not True] == []
    from zephyrus.training.engine import arguments

    given = arguments(recipe, recipe.stages[1], bank.parent / "checkpoints")
    assert (given.num_generations, given.temperature) == (5, 1.0)
    assert given.reward_weights == [0.1, 0.3, 0.6]
    assert (given.loss_type, given.scale_rewards) == ("grpo", "group")


def test_the_route_of_loco_tiny(tiny_model, bank, tmp_path):
    recipe = shortened(tiny_model, bank)
    folder = tmp_path / "run"
    work = TRLWork(recipe, folder, progress=False, concurrency=4)
    Scheduler(recipe, folder, work).run()
    steps = [json.loads(line) for line in (folder / "stages/rl/steps.jsonl").open()]
    assert [step["rollouts"] for step in steps] == [10, 10]
    for step in steps:
        assert {"format", "logic", "accuracy"} <= set(step["rewards"])
    kept = json.loads((folder / "stages/rsft/kept.json").read_text("utf-8"))
    assert kept["rollouts"] == kept["kept"] == 8  # demonstrations earn everything
    (first, *_) = sorted((folder / "stages/rl/rollouts").iterdir())
    run = Run.open(first)
    assert run.config["env"]["view"] == "text"
    for trajectory in run:
        assert "standing in for the picture" in trajectory.messages[1].content
        assert trajectory.rewards.keys() >= {"format", "logic", "accuracy", "reward"}
    exams = [json.loads(line) for line in (folder / "stages/rl/evaluations.jsonl").open()]
    assert [exam["value"] for exam in exams] == [0.0] * len(exams)  # a random model
