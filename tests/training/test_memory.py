import os
import platform
import subprocess
import sys

import pytest

PROGRAM = """
import resource, sys
from zephyrus.training.memory import keep_memory

def faults():
    before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
    for _ in range(5):
        bytearray(200 * 2**20)
    return resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before

first = faults()
print(keep_memory())
faults()
print(faults() < first / 10)
"""


def run(**env):
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        capture_output=True,
        text=True,
        check=True,
        env={k: v for k, v in os.environ.items() if not k.startswith("MALLOC_")} | env,
    )
    return done.stdout.split()


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="tells glibc alone")
def test_large_blocks_are_not_given_back_to_be_zeroed_again():
    assert run() == ["True", "True"]
    assert run(MALLOC_ARENA_MAX="4") == ["False", "False"]  # the user has said how it should be


RELEASED = """
import os
from zephyrus.training.memory import keep_memory, release_memory

def resident():
    return int(open("/proc/self/statm").read().split()[1]) * os.sysconf("SC_PAGE_SIZE") / 2**20

keep_memory()
before = resident()
blocks = [bytearray(2**20) for _ in range(400)]
blocks.clear()
kept = resident() - before
release_memory()
print(kept > 300, resident() - before < 100)
"""


@pytest.mark.skipif(platform.libc_ver()[0] != "glibc", reason="tells glibc alone")
def test_what_was_kept_is_given_back_when_it_is_asked_for():
    done = subprocess.run(
        [sys.executable, "-c", RELEASED], capture_output=True, text=True, check=True
    )
    assert done.stdout.split() == ["True", "True"]
