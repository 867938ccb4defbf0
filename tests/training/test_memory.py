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
