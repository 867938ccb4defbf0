"""Running asynchronous work from code that isn't, even where a loop is running (in a notebook)."""

import asyncio
from collections.abc import Callable, Coroutine
from concurrent.futures import ThreadPoolExecutor
from typing import Any, TypeVar

T = TypeVar("T")


def run(work: Callable[[], Coroutine[Any, Any, T]]) -> T:
    """Run to the end what ``work`` begins, and return what it returns."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return asyncio.run(work())
    with ThreadPoolExecutor(1) as other:
        return other.submit(lambda: asyncio.run(work())).result()
