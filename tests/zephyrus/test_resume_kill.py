import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from zephyrus.run import Run

WORKER = Path(__file__).with_name("rollout_worker.py")

pytestmark = pytest.mark.skipif(os.name != "posix", reason="signals")


def worker(mode, folder, value):
    log = folder.with_name("log")
    command = [sys.executable, str(WORKER), mode, str(folder), str(log), str(value)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def wait_for(folder, count, process):
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline and process.poll() is None:
        if (folder / "config.yaml").exists() and len(Run.open(folder)) >= count:
            return
        time.sleep(0.01)
    raise AssertionError(f"the worker did not get to work: {process.communicate()}")


def counts(folder):
    """How often each key is in the file, read without the code under test."""
    text = (folder / "trajectories.jsonl").read_text()
    assert text.endswith("\n")
    return Counter(tuple(json.loads(line)["key"]) for line in text.splitlines())


WANTED = {(f"t{i}", 0, repeat) for i in range(120) for repeat in range(2)}


@pytest.mark.slow
@pytest.mark.parametrize("seed", [0, 1])
def test_killed_at_random_moments_nothing_is_lost_or_done_twice(tmp_path, seed):
    folder = tmp_path / "r"
    out, err = worker("kill", folder, seed).communicate(timeout=120)
    assert out, err
    seen = json.loads(out.splitlines()[-1])
    assert seen["violations"] == [] and seen["done"] == 240
    assert seen["lives"] >= 5, "it was killed too late to prove anything"
    found = counts(folder)
    assert set(found) == WANTED and set(found.values()) == {1}
    run = Run.open(folder)
    assert all(t.rewards == {"score": 1.0, "required_tool": 1.0, "reward": 1.0} for t in run)
    assert run.errors() == [] and run.summary["rollouts"] == 240
    assert not list(folder.glob("*.part"))


@pytest.mark.slow
@pytest.mark.parametrize("times", [1, 2])
def test_ctrl_c_keeps_what_had_finished_and_says_how_to_go_on(tmp_path, times):
    folder = tmp_path / "r"
    process = worker("run", folder, 0.02)
    wait_for(folder, 10, process)
    for _ in range(times):
        process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)
    assert process.returncode == 1, err
    found = counts(folder)
    assert 10 <= len(found) < 240 and set(found.values()) == {1}
    assert f"stopped with {len(found)} rollouts finished" in err and str(folder) in err
    assert "Traceback" not in err
    (tmp_path / "log").unlink()
    process = worker("run", folder, 0)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 0, err
    again = [tuple(json.loads(line)) for line in (tmp_path / "log").read_text().splitlines()]
    assert set(counts(folder)) == WANTED and set(again) == WANTED - set(found)
    assert len(again) == len(set(again))


def test_ctrl_c_in_a_notebook(tmp_path):
    """There the work runs in a thread, and the main thread gets the signal."""
    folder = tmp_path / "r"
    code = f"""
import asyncio, importlib.util, sys
sys.argv = ["", "", "", "", ""]
spec = importlib.util.spec_from_file_location("worker", {str(WORKER)!r})
worker = importlib.util.module_from_spec(spec); spec.loader.exec_module(worker)
async def cell():
    try:
        worker.work({str(folder)!r}, {str(tmp_path / "log")!r}, 0.02)
    except worker.WorkError as error:
        print("told:", error)
signal = __import__("signal")
async def notebook():
    signal.signal(signal.SIGINT, signal.default_int_handler)  # as an IPython kernel has it
    await cell()
asyncio.run(notebook())
"""
    process = subprocess.Popen(
        [sys.executable, "-c", code], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    wait_for(folder, 10, process)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 0, err
    assert 10 <= len(counts(folder)) < 240
    assert f"told: stopped with {len(counts(folder))} rollouts finished" in out
