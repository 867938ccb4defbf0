"""The whole route in two processes that train together (gloo, on CPU)."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs the extra train")

from tiny_training import make_recipe

from zephyrus.run import Run
from zephyrus.training.ranks import Ranks
from zephyrus.training.work import TRLWork

WORKER = str(Path(__file__).with_name("curriculum_worker.py"))


def test_alone_nothing_is_shared(tmp_path):
    alone = Ranks.here()
    assert (alone.rank, alone.world, alone.main) == (0, 1, True)
    assert alone.share([1, 2, 3]) == alone.gather([1, 2, 3]) == [1, 2, 3]
    assert alone.folder(tmp_path) == tmp_path


def test_shares_are_disjoint_and_complete(tmp_path):
    shares = [Ranks(rank, 3).share(range(8)) for rank in range(3)]
    assert shares == [[0, 3, 6], [1, 4, 7], [2, 5]]
    assert Ranks(2, 3).folder(tmp_path / "step").name == "step-rank2"


def lines(file):
    return [json.loads(line) for line in file.read_text("utf-8").splitlines()]


@pytest.mark.slow
def test_two_processes_go_the_same_route(tiny_model, tmp_path):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"]
    launch += ["--master_port", str(port)]
    folder = tmp_path / "run"
    done = subprocess.run(
        [*launch, WORKER, "run", str(tiny_model), str(folder)],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ACCELERATE_USE_CPU": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    state = json.loads((folder / "state.json").read_text())["stages"]
    assert [stage["phase"] for stage in state] == ["done"] * 3

    # Until something is trained, it is what one process does alone.
    recipe = make_recipe(tiny_model)
    alone = TRLWork(recipe, tmp_path / "alone", progress=False)
    stage = recipe.stages[0]
    assert alone.evaluate(stage, None, 0).value == state[0]["before"]["value"]
    alone.sample(stage, None, tmp_path / "alone" / "stages" / "rsft")

    def kept(where):
        return [(t.key, t.rewards) for t in Run.open(where / "stages" / "rsft" / "kept")]

    assert kept(folder) == kept(tmp_path / "alone")

    # Each sampled one group of the two, and both knew of both.
    steps = lines(folder / "stages/rl/steps.jsonl")
    assert [step["step"] for step in steps] == [1, 2, 3, 4, 5]
    assert [step["rollouts"] for step in steps] == [6] * 5
    first = folder / "stages/rl/rollouts"
    tasks = [
        {t.key.task for t in Run.open(first / name)} for name in ("step-00001", "step-00001-rank1")
    ]
    assert [len(some) for some in tasks] == [1, 1]
    assert tasks[0] != tasks[1]
    for step in lines(folder / "stages/report_rl/steps.jsonl")[::2]:
        weights, rewards = step["weights"], step["rewards"]
        weighed = sum(weights[part] * rewards[part] for part in weights)
        assert step["reward"] == pytest.approx(weighed - 0.5 * rewards["length_penalty"], abs=1e-6)
