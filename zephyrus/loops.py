"""Running asynchronous work from code that is not, also where an event loop runs already."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run_sync(work: Coroutine[Any, Any, T]) -> T:
    """Run ``work`` to its end: here, or in a thread if this one has a running loop (a notebook).

    Ctrl-C cancels the work, waits until it has tidied up, and raises KeyboardInterrupt.
    """
    if not _loop_runs():
        return asyncio.run(work)

    cancels: list[Callable[[], object]] = []
    ready = threading.Event()

    async def main() -> T:
        loop, task = asyncio.get_running_loop(), asyncio.current_task()
        if task is not None:
            cancels.append(lambda: loop.call_soon_threadsafe(task.cancel))
        ready.set()
        return await work

    with ThreadPoolExecutor(1, "zephyrus-loop") as pool:  # leaving it waits for the loop to end
        future = pool.submit(asyncio.run, main())
        try:
            return future.result()
        except KeyboardInterrupt:
            ready.wait()
            for cancel in cancels:
                cancel()
            raise


def is_cancelled() -> bool:
    """Whether somebody cancels the current task.

    A CancelledError that comes up when nobody does is a failure of what was awaited, for instance
    of a library whose own inner task was cancelled, and must not end this one without a word.
    """
    task = asyncio.current_task()
    return task is not None and task.cancelling() > 0


def _loop_runs() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True
