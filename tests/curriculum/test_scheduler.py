"""The state machine with stand-in work that writes files, killed at everything it does to them."""

import json
import os
import signal
import sys
from pathlib import Path

import pytest

from zephyrus.curriculum.read import to_recipe
from zephyrus.curriculum.rules import Measured
from zephyrus.curriculum.scheduler import Scheduler
from zephyrus.errors import UserError, WorkError
from zephyrus.lock import FileLock


def recipe(seed=0, **evaluation):
    def stage(kind, **more):
        held_out = {"tasks": {"env": "bench", "split": "validation"}, "every": 2, **evaluation}
        return {"stage": kind, "until": {"steps": 4}, "evaluation": held_out, **more}

    stages = [stage("rsft"), stage("rl"), stage("rl", evaluation={"metric": "reward", "every": 2})]
    return to_recipe({"name": "r", "seed": seed, "model": {"name": "m"}, "stages": stages}, "r")


VALUES = {("rsft", 2): 0.4, ("rsft", 4): 0.6, ("rl", 2): 0.5, ("rl", 4): 0.55, ("rl-2", 4): 0.9}


class Stand:
    """Work whose results are `VALUES`, and whose checkpoints say where they come from."""

    main = True

    def __init__(self, folder, known=()):
        self.folder, self.known = folder, known
        self.did = []

    def wait(self):
        pass

    def evaluate(self, stage, checkpoint, step):
        self.did.append(("evaluate", stage.name, checkpoint and checkpoint.name, step))
        if checkpoint is not None and step:
            assert (checkpoint / "weights").read_text() == f"{stage.name} {step}"
        return Measured(step, VALUES.get((stage.name, step), 0.3), full=True)

    def sample(self, stage, checkpoint, folder):
        self.did.append(("sample", stage.name))
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "kept").write_text("rollouts")

    def train(self, stage, checkpoint, folder, before):
        began = (checkpoint / "weights").read_text() if checkpoint else "the model"
        self.did.append(("train", stage.name, began, before.value))
        steps = [s for s in (2, 4) if (stage.name, s) in VALUES]
        for step in steps:
            where = self.candidate(folder, step)
            where.mkdir(parents=True, exist_ok=True)
            (where / "weights").write_text(f"{stage.name} {step}")
        found = [Measured(s, VALUES[stage.name, s], full=s in self.known) for s in steps]
        return "4 steps are done", found

    def candidate(self, folder, step):
        return folder / "candidates" / f"step-{step:05d}"


def test_each_stage_begins_where_the_best_of_the_one_before_ended(tmp_path):
    work = Stand(tmp_path / "run")
    policy = Scheduler(recipe(), tmp_path / "run", work).run()
    assert work.did == [
        ("evaluate", "rsft", None, 0),
        ("sample", "rsft"),
        ("train", "rsft", "the model", 0.3),
        ("evaluate", "rsft", "step-00002", 2),
        ("evaluate", "rsft", "step-00004", 4),
        ("train", "rl", "rsft 4", 0.6),  # its beginning was evaluated already
        ("evaluate", "rl", "step-00002", 2),
        ("evaluate", "rl", "step-00004", 4),
        # Neither candidate of rl was better than its beginning; another metric is evaluated anew.
        ("evaluate", "rl-2", "chosen", 0),
        ("train", "rl-2", "rsft 4", 0.3),
        ("evaluate", "rl-2", "step-00004", 4),
    ]
    assert policy == tmp_path / "run" / "policy"
    assert (policy / "weights").read_text() == "rl-2 4"
    state = json.loads((tmp_path / "run" / "state.json").read_text())["stages"]
    assert [stage["chosen"] for stage in state] == [4, 0, 4]
    assert state[0]["after"][1] == {"step": 4, "value": 0.6, "full": True}


def test_what_training_evaluated_on_all_tasks_is_not_evaluated_again(tmp_path):
    work = Stand(tmp_path / "run", known=(2,))
    Scheduler(recipe(), tmp_path / "run", work).run()
    assert [did[1:] for did in work.did if did[0] == "evaluate" and did[1] == "rsft"] == [
        ("rsft", None, 0),
        ("rsft", "step-00004", 4),
    ]


def test_the_last_checkpoint_may_be_wanted_however_good(tmp_path):
    scheduler = Scheduler(recipe(choose="last"), tmp_path / "run", Stand(tmp_path / "run"))
    scheduler.run()
    assert [stage.chosen for stage in scheduler.stages] == [4, 4, 4]


def test_a_run_that_is_done_does_nothing_again(tmp_path):
    Scheduler(recipe(), tmp_path / "run", Stand(tmp_path / "run")).run()
    work = Stand(tmp_path / "run")
    assert Scheduler(recipe(), tmp_path / "run", work).run() == tmp_path / "run" / "policy"
    assert work.did == []


def test_nothing_better_leaves_no_policy(tmp_path, monkeypatch):
    monkeypatch.setattr(sys.modules[__name__], "VALUES", dict.fromkeys(VALUES, 0.1))
    assert Scheduler(recipe(), tmp_path / "run", Stand(tmp_path / "run")).run() is None
    assert not (tmp_path / "run" / "policy").exists()


def test_another_recipe_or_anything_else_is_left_alone(tmp_path):
    Scheduler(recipe(), tmp_path / "run", Stand(tmp_path / "run")).run()
    with pytest.raises(UserError, match="holds a run of another recipe"):
        Scheduler(recipe(seed=1), tmp_path / "run", Stand(tmp_path / "run"))
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "thesis.tex").write_text("")
    with pytest.raises(UserError, match="holds something else"):
        Scheduler(recipe(), tmp_path / "other", Stand(tmp_path / "other"))


def test_two_processes_do_not_run_one_folder(tmp_path):
    scheduler = Scheduler(recipe(), tmp_path / "run", Stand(tmp_path / "run"))
    (tmp_path / "run").mkdir()
    lock = FileLock(tmp_path / "run" / ".lock")
    with pytest.raises(UserError, match=f"is being run by process {os.getpid()}"):
        scheduler.run()
    lock.release()
    assert not (tmp_path / "run" / "state.json").exists()
    scheduler.run()


def test_ctrl_c_stops_with_everything_kept(tmp_path):
    class Interrupted(Stand):
        def train(self, stage, checkpoint, folder, before):
            raise KeyboardInterrupt

    with pytest.raises(WorkError, match="stopped; everything is kept, and the same again goes on"):
        Scheduler(recipe(), tmp_path / "run", Interrupted(tmp_path / "run")).run()
    work = Stand(tmp_path / "run")
    Scheduler(recipe(), tmp_path / "run", work).run()
    assert work.did[0] == ("train", "rsft", "the model", 0.3)


def files(folder):
    return {
        str(file.relative_to(folder)): file.read_bytes()
        for file in folder.rglob("*")
        if file.is_file() and file.name != ".lock"
    }


def killed_at(folder, number):
    """Run in a process of its own that dies with its so-manieth file operation; did it?"""
    child = os.fork()
    if child:
        return os.WIFSIGNALED(os.waitpid(child, 0)[1])
    left = number

    def hook(event, details):
        nonlocal left
        if event.startswith(("open", "os.", "shutil.")) and str(folder) in str(details[:1]):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    code = 1
    try:
        sys.addaudithook(hook)
        Scheduler(recipe(), folder, Stand(folder)).run()
        code = 0
    finally:
        os._exit(code)


@pytest.mark.slow
@pytest.mark.skipif(not hasattr(os, "fork"), reason="kills forked processes")
def test_killed_at_any_file_operation_the_same_command_ends_the_same(tmp_path):
    whole = tmp_path / "whole"
    Scheduler(recipe(), whole, Stand(whole)).run()
    expected = files(whole)
    number = 1
    while True:
        folder = tmp_path / f"killed-{number}"
        if not killed_at(folder, number):
            break
        Scheduler(recipe(), folder, Stand(folder)).run()
        assert files(folder) == expected, f"killed at file operation {number}"
        number += 1
    assert number > 100
    assert Path(folder, "policy", "weights").read_text() == "rl-2 4"
