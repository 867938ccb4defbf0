"""A curriculum in a process of its own, for tests that kill it.

curriculum_worker.py run MODEL FOLDER          goes through the whole route, or on with it
curriculum_worker.py kill MODEL FOLDER SEED N  forks it and kills it N times, then lets it through;
                                               what is through before is put aside as FOLDER-1, …
"""

import os
import random
import signal
import sys
import time
import traceback
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

import torch
import trl  # imported here so that a fork starts at once
from tiny_training import make_recipe, register_toy

from zephyrus.curriculum.scheduler import Scheduler
from zephyrus.training import candidates, watch  # noqa: F401
from zephyrus.training.work import TRLWork

assert trl.__version__


def run(model, folder):
    torch.set_num_threads(1)
    register_toy()
    recipe = make_recipe(Path(model))
    work = TRLWork(recipe, Path(folder), progress=False, concurrency=4)
    Scheduler(recipe, Path(folder), work).run()


def die_at(folder, number):
    """Kill this process with the so-manieth thing that it does to the files of a folder."""
    left = number

    def hook(event, details):
        nonlocal left
        if event.startswith(("open", "os.", "shutil.")) and folder in str(details[:1]):
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(hook)


def kill(model, folder, seed, times):
    """Kill it at random times, and between two things that it does to its files."""
    draw = random.Random(int(seed))
    killed = through = 0
    while True:
        kind = "by time" if killed % 2 else "by file"
        event, seconds = round(2 ** draw.uniform(0, 8)), draw.uniform(0.2, 6.0)
        if killed >= int(times):
            kind = "not at all"
        child = os.fork()
        if child == 0:
            code = 1
            with Path(f"{folder}.log").open("a") as log:
                os.dup2(log.fileno(), 1)
                os.dup2(log.fileno(), 2)
            if kind == "by file":
                die_at(Path(folder).name, event)
            try:
                run(model, folder)
                code = 0
            except BaseException:
                traceback.print_exc()
            os._exit(code)
        ends = time.monotonic() + seconds if kind == "by time" else None
        status = None
        while status is None and (ends is None or time.monotonic() < ends):
            done, code = os.waitpid(child, os.WNOHANG)
            status = code if done else None
            time.sleep(0.005)
        if status is None:
            os.kill(child, signal.SIGKILL)
            status = os.waitpid(child, 0)[1]
        if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
            killed += 1
            continue
        if status == 0 and killed < int(times):  # a quick machine: kill the next one
            through += 1
            Path(folder).rename(f"{folder}-{through}")
            continue
        print(f"killed {killed} times")
        sys.exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    {"run": run, "kill": kill}[sys.argv[1]](*sys.argv[2:])
