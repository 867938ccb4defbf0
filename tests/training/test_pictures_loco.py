"""The recipe loco on charts as pictures, shortened: through the command line, killed and resumed."""

import hashlib
import json
import os
import socket
import subprocess
import sys
import time

import pytest

pytest.importorskip("trl", reason="needs the extra train")

import tiny_eyes
import torch

import zephyrus_curricula
from zephyrus.curriculum.preflight import BLIND, check
from zephyrus.curriculum.read import read_recipe
from zephyrus.curriculum.scheduler import Scheduler
from zephyrus.errors import UserError
from zephyrus.local import models
from zephyrus.run import Run
from zephyrus.training.work import TRLWork

pytestmark = pytest.mark.slow
ANSWERS = [
    f"<think>I see it. Therefore the answer is {letter}.</think><answer>{letter}</answer>"
    for letter in "ABCD"
]
TASKS = 4
ZEPHYRUS = """\
from zephyrus.registry import names, register
if "chartqa" not in names("envs"):  # an installation from before there was one
    from zephyrus_chartqa.env import ChartQAEnv
    register("envs", "chartqa", ChartQAEnv)
"""
COMMAND = [sys.executable, "-c", ZEPHYRUS + "from zephyrus.cli.main import main\nmain()"]


@pytest.fixture(scope="module")
def place(tmp_path_factory):
    """A model whose answers are right or wrong."""
    exec(ZEPHYRUS, {})
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("loco")
    tiny_eyes.make_seeing(folder / "model", words=ANSWERS)
    return folder


def shortened(place, model=None):
    stage = "stages.rl"
    changes = [
        f"model.name={model or place / 'model'}",
        "backend=transformers",
        "model.context=3000",
    ]
    for tasks in ("tasks", "evaluation.tasks"):
        own = f"{stage}.{tasks}"
        changes += [f"{own}.n={TASKS if tasks == 'tasks' else 2}"]
    return [
        *changes,
        f"{stage}.tasks.options.judge=rules",
        f"{stage}.sampling.max_tokens=2",
        f"{stage}.evaluation.sampling.max_tokens=2",
        f"{stage}.tasks_per_step=2",
        f"{stage}.optimiser.learning_rate=1e-2",
        f"{stage}.until.steps=2",
        f"{stage}.evaluation.every=1",
        f"{stage}.evaluation.choose=last",  # the best of two steps may be none of them
    ]


def command(place, folder):
    changes = [part for change in shortened(place) for part in ("-s", change)]
    return [*COMMAND, "curriculum", "run", "loco", "--output", str(folder), *changes]


def weights(folder):
    return hashlib.sha256((folder / "model.safetensors").read_bytes()).hexdigest()


@pytest.fixture(scope="module")
def undisturbed(place):
    folder = place / "run"
    done = subprocess.run(command(place, folder), capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    return folder


def test_it_is_the_papers_recipe_on_pictures(place):
    recipe = read_recipe(zephyrus_curricula.LOCO, shortened(place))
    assert [f for f in check(recipe) if f.ok is not True] == []
    (stage,) = recipe.stages
    assert (stage.group, stage.sampling.temperature) == (5, 1.0)
    assert stage.tasks.options["view"] == "image"
    assert recipe.model.lora is None


def test_groups_of_five_are_trained_on_what_they_saw(undisturbed, place):
    steps = [json.loads(line) for line in (undisturbed / "stages/rl/steps.jsonl").open()]
    assert [step["rollouts"] for step in steps] == [10, 10]
    values = []
    for number in (1, 2):
        run = Run.open(undisturbed / f"stages/rl/rollouts/step-0000{number}")
        assert run.config["env"]["view"] == "image"
        assert all(t.messages[1].images for t in run)
        values += [t.rewards["reward"] for t in run]
    assert len(set(values)) > 1  # else there were nothing to learn
    trained = undisturbed / "stages/rl/candidates/step-00002"
    assert weights(trained) != weights(place / "model")
    before, _ = models.load(place / "model", dtype="float32")
    after, eyes = models.load(undisturbed / "policy", dtype="float32")
    assert eyes.see(tiny_eyes.picture(1, 2, 3)).tokens == 8
    changed = {
        name.split(".")[1]
        for (name, one), (_, two) in zip(
            before.named_parameters(),
            models.load(trained, dtype="float32")[0].named_parameters(),
            strict=True,
        )
        if not torch.equal(one, two)
    }
    assert {"visual", "language_model"} <= changed  # the eyes learn, too
    assert type(after) is type(before)


def test_killed_in_training_it_ends_with_the_same_weights(undisturbed, place):
    folder = place / "killed"
    process = subprocess.Popen(
        command(place, folder), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    whole = folder / "stages/rl/checkpoints/checkpoint-1/zephyrus.json"
    while process.poll() is None and not whole.is_file():
        time.sleep(0.02)
    process.kill()
    process.wait()
    assert not (folder / "policy").exists()
    first = json.loads((folder / "stages/rl/steps.jsonl").read_text("utf-8").splitlines()[0])
    assert (
        first["grad_norm"] > 0
    )  # else its weights are the first ones, which a wrong resume has, too
    resume = [*COMMAND, "curriculum", "run", "--output", str(folder)]
    done = subprocess.run(resume, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr[-3000:]
    for step in (1, 2):
        name = f"stages/rl/candidates/step-0000{step}"
        if (undisturbed / name).exists():
            assert weights(folder / name) == weights(undisturbed / name)
    assert weights(folder / "policy") == weights(undisturbed / "policy")


def test_two_processes_train_on_pictures_together(place):
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    script, folder = place / "worker.py", place / "two"
    script.write_text(COMMAND[2], encoding="utf-8")
    launch = [sys.executable, "-m", "torch.distributed.run", "--nproc_per_node", "2"]
    done = subprocess.run(
        [*launch, "--master_port", str(port), str(script), *command(place, folder)[3:]],
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "ACCELERATE_USE_CPU": "1", "OMP_NUM_THREADS": "1"},
    )
    assert done.returncode == 0, done.stderr[-3000:]
    steps = [json.loads(line) for line in (folder / "stages/rl/steps.jsonl").open()]
    assert [step["rollouts"] for step in steps] == [10, 10]
    assert weights(folder / "policy") != weights(place / "model")


def test_the_command_line_rolls_the_trained_model_out_on_pictures(undisturbed, place):
    out = place / "rolled"
    policy = ["--policy", f"local:{undisturbed / 'policy'}", "--max-tokens", "2"]
    options = ["-o", "view=image", "-n", "2"]
    run = [*COMMAND, "env", "rollout", "--env", "chartqa"]
    done = subprocess.run(
        [*run, *policy, *options, "--output", str(out)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "reads text alone" not in done.stderr
    assert all(t.messages[1].images for t in Run.open(out))


def test_a_model_of_text_is_refused_before_it_trains(tiny_model, place, tmp_path):
    recipe = read_recipe(zephyrus_curricula.LOCO, shortened(place, tiny_model))
    blind = [f for f in check(recipe) if f.ok is False]
    assert [f.note for f in blind] == [BLIND] * 2
    work = TRLWork(recipe, tmp_path / "run", progress=False)
    with pytest.raises(UserError, match="it shows pictures, and the model reads text alone"):
        work.evaluate(recipe.stages[0], None, 0)


def test_demonstrations_on_pictures_can_be_imitated_first(place, tmp_path):
    """The first stage of loco-tiny, on pictures: rejection-sampled fine-tuning."""
    own = "stages.rsft"
    changes = [f"model.name={place / 'model'}", "model.dtype=float32", "model.context=3000"]
    for tasks in ("tasks", "evaluation.tasks"):
        changes += [f"{own}.{tasks}.n=2", f"{own}.{tasks}.options.view=image"]
    changes += [f"{own}.sampling.max_tokens=2", f"{own}.evaluation.sampling.max_tokens=2"]
    changes += [f"{own}.until.steps=2", f"{own}.evaluation.every=2", f"{own}.optimiser.warmup=0"]
    changes += [f"{own}.optimiser.batch=2", f"{own}.evaluation.choose=last"]
    recipe = read_recipe(zephyrus_curricula.LOCO_TINY, changes, stages=["rsft"])
    assert [f for f in check(recipe) if f.ok is not True] == []
    work = TRLWork(recipe, tmp_path / "run", progress=False, concurrency=2)
    Scheduler(recipe, tmp_path / "run", work).run()
    steps = [json.loads(line) for line in (tmp_path / "run/stages/rsft/steps.jsonl").open()]
    assert [step["step"] for step in steps] == [1, 2]
    _, eyes = models.load(tmp_path / "run/policy", dtype="float32")
    assert eyes.see(tiny_eyes.picture(1, 2, 3)).tokens == 8
