"""The recipe tiny by its command, shortened to a few steps: the real small model, the real world."""

import json
import subprocess
import sys

import pytest

pytest.importorskip("trl", reason="needs the extra train")

from zephyrus.errors import WorkError
from zephyrus.local import models

pytestmark = pytest.mark.slow

EXAM = ("evaluation.tasks.n=2", "evaluation.subset=1", "evaluation.every=1")
SHORT = [
    *(
        f"stages.rsft.{change}"
        for change in (*EXAM, "evaluation.every=5", "tasks.n=16", "until.steps=5")
    ),
    *(f"stages.rl.{change}" for change in (*EXAM, "tasks.n=4", "until.steps=1", "group=2")),
    "stages.rsft.optimiser.warmup=0",
    "stages.rl.optimiser.warmup=0",
    "stages.rl.tasks_per_step=2",
    "stages.rl.optimiser.batch=4",
    *(f"stages.{stage}.evaluation.tasks.limits.turns=2" for stage in ("rsft", "rl")),
    *(f"stages.{stage}.evaluation.sampling.max_tokens=24" for stage in ("rsft", "rl")),
    "stages.rl.tasks.limits.turns=2",
    "stages.rl.sampling.max_tokens=24",
]


def zephyrus(*arguments):
    done = subprocess.run(
        [sys.executable, "-m", "zephyrus", *map(str, arguments)], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_route_of_tiny(tmp_path):
    try:
        models.packaged("smollm2-135m")
    except WorkError as error:
        pytest.skip(str(error))
    folder = tmp_path / "run"
    changes = [part for change in SHORT for part in ("-s", change)]
    zephyrus("curriculum", "run", "tiny", *changes, "--output", folder)

    told = json.loads(zephyrus("curriculum", "status", folder, "--json"))
    assert told["done"]
    rsft, rl = (
        [json.loads(line) for line in (folder / f"stages/{name}/steps.jsonl").open()]
        for name in ("rsft", "rl")
    )
    assert len(rsft) == 5 and len(rl) == 1
    assert rsft[-1]["loss"] < rsft[0]["loss"] - 0.2 < 3
    assert rl[0]["rollouts"] == 4
    kept = json.loads((folder / "stages/rsft/kept.json").read_text("utf-8"))
    assert (kept["rollouts"], kept["kept"]) == (16, 16)  # the scripted policy is always right
    zephyrus("curriculum", "plot", folder, "--output", tmp_path / "plots")
    assert "SmolLM2" in (tmp_path / "plots/curriculum.html").read_text("utf-8")

    acting = tmp_path / "acting"
    last = sorted((folder / "stages/rsft/candidates").iterdir())[-1]
    zephyrus(
        *("env", "rollout", "--policy", last, "--compact", "-n", "1", "--max-turns", "1"),
        *("--max-tokens", "8", "--output", acting),
    )
    told = json.loads((acting / "summary.json").read_text("utf-8"))
    assert (told["rollouts"], told["infrastructure"]["errors"]) == (1, 0)
