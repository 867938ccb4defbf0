"""The whole route with a real (random, tiny) model in its own processes, killed again and again."""

import hashlib
import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

pytestmark = pytest.mark.slow
WORKER = str(Path(__file__).with_name("curriculum_worker.py"))
TIMES = {"seconds", "policy_seconds", "tokens_per_second"}


def worker(*arguments):
    done = subprocess.run(
        [sys.executable, WORKER, *map(str, arguments)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return done.stdout


def timeless(value):
    if isinstance(value, dict):
        return {k: timeless(v) for k, v in value.items() if k not in TIMES}
    return [timeless(v) for v in value] if isinstance(value, list) else value


def content(file):
    """What must be the same: bits of the weights, every number of the logs, every token."""
    if file.suffix == ".safetensors":
        return hashlib.sha256(file.read_bytes()).hexdigest()
    if file.suffix == ".jsonl":
        rows = [timeless(json.loads(line)) for line in file.read_text("utf-8").splitlines()]
        # Rollouts are written as they end.
        return sorted(map(json.dumps, rows)) if file.name == "trajectories.jsonl" else rows
    if file.name in ("state.json", "kept.json", "zephyrus.json"):
        return timeless(json.loads(file.read_text("utf-8")))
    return None


def tree(folder):
    return {
        str(file.relative_to(folder)): content(file)
        for file in folder.rglob("*")
        if file.is_file() and file.name not in (".lock", "errors.jsonl")
    }


@pytest.fixture(scope="module")
def undisturbed(tiny_model, tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    worker("run", tiny_model, folder)
    return folder


def test_the_route_leaves_what_it_says(undisturbed, tiny_model):
    from zephyrus.run import Run
    from zephyrus.training.trainee import Trainee

    sys.path.insert(0, str(Path(WORKER).parent))
    from tiny_training import make_recipe

    state = json.loads((undisturbed / "state.json").read_text("utf-8"))["stages"]
    assert [stage["phase"] for stage in state] == ["done"] * 3
    assert [stage["reason"] for stage in state] == ["5 steps are done"] * 3
    for name in ("rsft", "rl", "report_rl"):
        stage = undisturbed / "stages" / name
        steps = [json.loads(line) for line in (stage / "steps.jsonl").read_text().splitlines()]
        assert [step["step"] for step in steps] == [1, 2, 3, 4, 5]
        inside = [json.loads(line) for line in (stage / "evaluations.jsonl").open()]
        assert [row["step"] for row in inside] == [2, 4]
        best = max(inside, key=lambda row: (row["value"], -row["step"]))["step"]
        assert next(s for s in state if s["name"] == name)["candidates"] == [best, 5]
    kept = Run.open(undisturbed / "stages/rsft/kept")
    why = json.loads((undisturbed / "stages/rsft/kept.json").read_text("utf-8"))
    assert len(kept) == why["kept"] == why["rollouts"] - sum(why["dropped"].values())
    policy = Trainee.load(make_recipe(tiny_model).model, undisturbed / "policy")
    assert policy.parameters[0] > 0


@pytest.mark.parametrize("seed", [1, 2])
def test_killed_anywhere_it_ends_bit_for_bit_the_same(undisturbed, tiny_model, tmp_path, seed):
    folder = tmp_path / "run"
    assert worker("kill", tiny_model, folder, seed, 8) == "killed 8 times\n"
    expected = tree(undisturbed)
    for run in (folder, *tmp_path.glob("run-*")):
        got = tree(run)
        assert sorted(got) == sorted(expected)
        assert [name for name in expected if got[name] != expected[name]] == []


def test_ctrl_c_in_training_stops_cleanly_and_the_same_command_goes_on(
    undisturbed, tiny_model, tmp_path
):
    folder = tmp_path / "run"
    command = [sys.executable, WORKER, "run", str(tiny_model), str(folder)]
    process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True)
    steps = folder / "stages" / "rl" / "steps.jsonl"
    while process.poll() is None and not (steps.exists() and steps.read_text("utf-8")):
        time.sleep(0.01)
    process.send_signal(signal.SIGINT)
    _, told = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "WorkError: stopped; everything is kept, and the same again goes on in" in told
    worker("run", tiny_model, folder)
    expected, got = tree(undisturbed), tree(folder)
    assert [name for name in expected if got.get(name) != expected[name]] == []
