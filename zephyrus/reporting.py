"""How far a tool call is: said by the tool, heard by whoever waits for the call.

A tool that takes long may call `report_progress` from its thread or coroutine. An MCP client that
asked for progress is told; in a rollout nobody listens, and nothing happens.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar

Listener = Callable[[float, float | None, str], None]
"""Takes what is done, the total if it is known, and a message; is called from any thread."""

_LISTENER: ContextVar[Listener | None] = ContextVar("zephyrus_progress", default=None)


def report_progress(done: float, total: float | None = None, message: str = "") -> None:
    """Say how far the tool call is that this code works for.

    Args:
        done: What is done so far, in any unit; each report must be above the one before.
        total: All that there is to do, in the same unit, if it is known.
        message: A few words on what is being done.
    """
    listener = _LISTENER.get()
    if listener is not None:
        listener(done, total, message)


@contextmanager
def listening(listener: Listener) -> Iterator[None]:
    """Have ``listener`` told of the progress of the calls made inside this block."""
    token = _LISTENER.set(listener)
    try:
        yield
    finally:
        _LISTENER.reset(token)
