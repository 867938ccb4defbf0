"""A fuse: a dead endpoint costs a few requests their retries, not every one."""

from __future__ import annotations

import asyncio
import time

BLOWS_AFTER = 3
"""So many requests in a row without an answer, after all their retries, and the fuse blows."""
PAUSE_SECONDS = 30.0
"""How long a dead endpoint is left alone between two probes."""


class Circuit:
    """Counts what became of an endpoint's requests, within one event loop.

    When the fuse blows, one request goes on as a probe with all its retries and the others wait
    for it. If it is answered, all go on. If not, the endpoint counts as dead: requests fail at
    once, but for one probe after every pause. An answer to any request mends the fuse.
    """

    def __init__(self, pause: float = PAUSE_SECONDS) -> None:
        self.pause = pause
        self.trouble = ""
        """The last failure."""
        self._failures = 0
        self._dead = False
        self._until = 0.0
        self._probe: asyncio.Future[None] | None = None

    async def admits(self) -> bool | None:
        """Wait while a probe is under way.

        Returns:
            None if the endpoint is dead; else the request may be sent, and True makes it the probe.
        """
        while self._failures >= BLOWS_AFTER:
            if self._probe is None:
                if self._dead and time.monotonic() < self._until:
                    return None
                self._probe = asyncio.get_running_loop().create_future()
                return True
            if self._dead:
                return None
            await asyncio.wait([self._probe])
        return False

    def answered(self) -> None:
        """A request was answered, be it with a refusal."""
        self._failures, self._dead, self.trouble = 0, False, ""
        self._end_probe()

    def failed(self, trouble: str, *, probe: bool) -> None:
        """A request got no answer after all its retries."""
        self._failures += 1
        self.trouble = trouble
        if probe:
            self._dead = True
            self._until = time.monotonic() + self.pause
            self._end_probe()

    def left(self, *, probe: bool) -> None:
        """A request was given up before anything was known."""
        if probe:
            self._end_probe()

    def _end_probe(self) -> None:
        probe, self._probe = self._probe, None
        if probe is not None and not probe.done():
            probe.set_result(None)
