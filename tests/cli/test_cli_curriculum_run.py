"""The whole way of a person, with a real model of 60,000 weights: run, status, table, plot, act."""

import json
import sys
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner

from zephyrus.cli.curriculum import group
from zephyrus.run import Run

sys.path.insert(0, str(Path(__file__).parents[1] / "training"))  # the tiny model


@pytest.fixture(scope="module")
def recipe(tmp_path_factory):
    """A recipe file of two stages on the toy environment."""
    for needed in ("torch", "transformers", "trl", "peft"):
        pytest.importorskip(needed, reason="needs the extra train")
    import torch
    from tiny_training import make_model, register_toy

    torch.set_num_threads(1)
    register_toy()
    folder = tmp_path_factory.mktemp("recipe")
    shared = {
        "tasks": {"env": "toy", "n": 6, "limits": {"turns": 2}},
        "sampling": {"max_tokens": 8},
        "until": {"steps": 2},
        "evaluation": {"every": 1, "subset": 2, "sampling": {"max_tokens": 8, "temperature": 0}},
    }
    raw = {
        "model": {
            "name": str(make_model(folder / "model")),
            "dtype": "float32",
            "context": 400,
            "lora": {"rank": 2},
        },
        "stages": [
            {"stage": "rsft", "demonstrations": {}, "keep": {"at_least": 0.0}, **shared},
            {"stage": "rl", "group": 2, "tasks_per_step": 2, **shared},
        ],
    }
    (folder / "toy.yaml").write_text(yaml.safe_dump(raw), "utf-8")
    return folder / "toy.yaml"


def zephyrus(*arguments):
    done = CliRunner().invoke(group, list(map(str, arguments)), catch_exceptions=False)
    assert done.exit_code == 0, done.output
    return done.stdout


@pytest.mark.slow
def test_run_status_table_plot_and_run_again(recipe, tmp_path):
    folder = tmp_path / "run"
    assert "Finished." in zephyrus("run", recipe, "--output", folder)
    told = json.loads(zephyrus("status", folder, "--json"))
    assert told["done"]
    for stage in told["stages"]:
        assert stage["step"] == 2
        assert stage["before"]["all"]
        assert stage["after"]["all"]
        assert [e["step"] for e in stage["evaluations"] if not e["all"]] == [1]
    rows = json.loads(zephyrus("table", folder, "--json"))
    assert len(rows) == 3
    last = Path(folder, "stages", "rl", "evaluations")
    if told["stages"][1]["chosen"]:
        asked = Run.open(last / f"full-{told['stages'][1]['chosen']:05d}").summary
        assert rows[-1]["values"]["accuracy"] == asked["accuracy"]
    drawn = zephyrus("plot", folder, "--output", tmp_path / "plots")
    assert "curriculum.html" in drawn
    steps = (folder / "stages" / "rl" / "steps.jsonl").read_bytes()
    assert "Finished." in zephyrus("run", "--output", folder)
    assert (folder / "stages" / "rl" / "steps.jsonl").read_bytes() == steps


@pytest.mark.slow
def test_an_ablation_runs_some_of_the_stages(recipe, tmp_path):
    folder = tmp_path / "rl"
    zephyrus("run", recipe, "--stages", "rl", "-s", "seed=1", "--output", folder)
    told = json.loads(zephyrus("status", folder, "--json"))
    assert ([stage["name"] for stage in told["stages"]], told["seed"]) == (["rl"], 1)
    assert zephyrus("table", folder, "--format", "csv").splitlines()[-1].count("RL-only") == 1
