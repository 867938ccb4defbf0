"""Tools of a user, for the tests of the MCP server: ``--tools`` loads this file."""

import asyncio
import subprocess
import sys
import threading
import time

import zephyrus
from zephyrus import Image, ToolError
from zephyrus.reporting import report_progress
from zephyrus_geodata import Forecast

print("printed at import")

_BARRIER = threading.Barrier(2)
_RELEASED = threading.Event()
_INSIDE: list[int] = []
_GIVEN_UP = threading.Event()


@zephyrus.tool
def add(a: float, b: float = 1.0) -> str:
    """Add two numbers.

    Args:
        a: The first, not negative.
        b: The second.
    """
    if a < 0:
        raise ToolError("a must not be negative: send 0 or more.")
    return f"{a + b:g}"


@zephyrus.tool
def noisy(text: str) -> str:
    """Write to standard output in every way there is, and read standard input.

    Args:
        text: What to write.
    """
    print(text, flush=True)
    sys.stdout.write(text + "\n")
    subprocess.run([sys.executable, "-c", f"print({text!r})"], check=True)
    return f"read {sys.stdin.read()!r}"


@zephyrus.tool
def broken() -> str:
    """Find the world broken."""
    raise FileNotFoundError("the file is gone")


@zephyrus.tool(thread=True)
def leaving() -> str:
    """Leave the process."""
    sys.exit(3)


@zephyrus.tool
def quitting() -> str:
    """Leave the process, as a plain tool."""
    sys.exit(4)


@zephyrus.tool
async def confused() -> str:
    """Be cancelled by nobody."""
    raise asyncio.CancelledError


@zephyrus.tool(thread=True)
def working(steps: int) -> str:
    """Work step by step and say so.

    Args:
        steps: How many.
    """
    for step in range(1, steps + 1):
        report_progress(step, steps, f"step {step}")
        time.sleep(0.02)
    return "worked"


@zephyrus.tool(thread=True)
def meeting() -> str:
    """Wait for another call of this tool."""
    _BARRIER.wait(60)
    return "met"


@zephyrus.tool
def waiting() -> str:
    """Wait for the tool `releasing`."""
    return "released" if _RELEASED.wait(60) else "forgotten"


@zephyrus.tool
async def releasing() -> str:
    """End the wait of the tool `waiting`."""
    _RELEASED.set()
    return "done"


@zephyrus.tool
async def lasting() -> str:
    """Work until the caller gives up."""
    try:
        await asyncio.sleep(3600)
    finally:
        _GIVEN_UP.set()
    return "done"


@zephyrus.tool(thread=True)
def given_up() -> str:
    """Wait until the caller of `lasting` has given up."""
    known = _GIVEN_UP.wait(60)
    _GIVEN_UP.clear()
    return "given up" if known else "still at it"


@zephyrus.tool
def alone() -> str:
    """Say whether another call of this tool is running."""
    _INSIDE.append(1)
    time.sleep(0.05)
    count = len(_INSIDE)
    _INSIDE.pop()
    return f"{count} inside"


@zephyrus.tool
def two_pictures() -> tuple[str, Image, Image]:
    """Draw twice."""
    return "two", Image(b"\x89PNG 1", "one"), Image(b"\x89PNG 2", "two")


@zephyrus.tool
def surrogate() -> str:
    """Write what UTF-8 can't hold."""
    return "half \ud800 of a pair"


@zephyrus.tool
def long_text(length: int) -> str:
    """Write much.

    Args:
        length: Characters.
    """
    return "x" * length


@zephyrus.tool
def start(forecast_: Forecast, forecast: str = "mine") -> str:
    """Have an argument that is called like the choice of the forecast.

    Args:
        forecast_: The episode's.
        forecast: Something else.
    """
    return f"{forecast}, {forecast_.name}"
