"""A process that does a real rollout, for tests that interrupt or kill it.

rollout_worker.py run FOLDER LOG DELAY     one rollout, in the way of the command line
rollout_worker.py kill FOLDER LOG SEED     forks rollouts and kills them, until one gets through
"""

import asyncio
import importlib.util
import json
import os
import random
import signal
import sys
import time
from pathlib import Path

import yaml

from zephyrus.errors import PolicyError, WorkError
from zephyrus.messages import Reply, Usage
from zephyrus.policy.base import Policy
from zephyrus.rollouts import rollout

spec = importlib.util.spec_from_file_location("sum_env", Path(__file__).with_name("conftest.py"))
sum_env = importlib.util.module_from_spec(spec)
spec.loader.exec_module(sum_env)

assert yaml, "imported here so that a forked rollout starts at once"

TASKS, REPEATS = 120, 2


class Slowish(Policy):
    """Drives the script, a little slowly, and logs what it starts; some calls fail at random."""

    name = "slowish"

    def __init__(self, log, delay, failing=0.0):
        self.log = os.open(log, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        self.delay, self.failing = delay, failing
        self.rng = random.Random(os.getpid())

    def session(self, env, task, seed, repeat=0):
        os.write(self.log, json.dumps([task.id, seed, repeat]).encode() + b"\n")
        return Session(self, env.script(task))


class Session:
    def __init__(self, policy, script):
        self.policy, self.script, self.started = policy, script, False

    async def act(self, messages):
        rng = self.policy.rng
        await asyncio.sleep(self.policy.delay * rng.random() * 2)
        if rng.random() < self.policy.failing:
            raise PolicyError("503")
        message = self.script.send([messages[-1]]) if self.started else next(self.script)
        self.started = True
        return Reply(message, Usage(5, 5))


def work(folder, log, delay, failing=0.0):
    return rollout(
        sum_env.SumEnv(n=TASKS),
        Slowish(log, delay, failing),
        repeats=REPEATS,
        concurrency=8,
        output=folder,
        progress=False,
    )


def finished(folder):
    """What an outsider sees in the file: the keys of whole lines."""
    file = Path(folder, "trajectories.jsonl")
    data = file.read_bytes() if file.exists() else b""
    return [tuple(json.loads(line)["key"]) for line in data.split(b"\n")[:-1]]


def kill_until_done(folder, log, seed):
    """Fork, kill after a random time, look, and do it again; prints what was seen as JSON."""
    rng = random.Random(seed)
    lives, violations, idle, span = 0, [], 0, 0.06  # seconds
    file = Path(folder, "trajectories.jsonl")
    while True:
        lives += 1
        before = finished(folder)
        Path(log).write_bytes(b"")
        child = os.fork()
        if child == 0:
            run = work(folder, log, 0.002, failing=0.01)
            os._exit(0 if len(run) == TASKS * REPEATS else 3)
        time.sleep(rng.uniform(0.0, span))
        os.kill(child, signal.SIGKILL)
        _, status = os.waitpid(child, 0)
        started = [tuple(json.loads(line)) for line in Path(log).read_bytes().splitlines()]
        violations += sorted(set(before) & set(started))
        violations += sorted(key for key in set(started) if started.count(key) > 1)
        violations += sorted(set(before) - set(finished(folder)))
        if status == 0 or len(finished(folder)) == TASKS * REPEATS:
            break
        idle = 0 if len(finished(folder)) > len(before) else idle + 1
        if idle > 5:  # a slow machine: let it live longer
            idle, span = 0, span * 1.5
        if rng.random() < 0.2 and file.exists():  # a write torn by the kill, made more frequent
            with file.open("ab") as handle:
                handle.write(b'{"key": ["t1", 0, 0], "mess')
    run = work(folder, log, 0.0)
    print(json.dumps({"lives": lives, "violations": violations, "done": len(run)}))


if __name__ == "__main__":
    mode, folder, log, value = sys.argv[1:]
    if mode == "kill":
        kill_until_done(folder, log, int(value))
    else:
        try:
            work(folder, log, float(value))
        except WorkError as error:
            print(error, file=sys.stderr)
            sys.exit(1)
