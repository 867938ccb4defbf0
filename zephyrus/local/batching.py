"""The desk at which conversations wait to be continued together, in one thread of its own."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

from zephyrus.local.generate import Completion
from zephyrus.local.pictures import Picture

SETTLE = 0.002
"""Seconds in which nobody new comes before a batch begins: tools answer in less."""


@dataclass(eq=False)
class Request:
    """One conversation that waits.

    Attributes:
        prompt: Its tokens.
        seed: Of what is written.
        answer: What was written; cancelled if nobody wants it any more.
        pictures: That the prompt shows, in order.
    """

    prompt: list[int]
    seed: int
    answer: asyncio.Future[Completion]
    pictures: Sequence[Picture] = field(default=())


class Desk:
    """Forms batches of what waits in one event loop."""

    def __init__(
        self,
        work: Callable[[Sequence[Request]], list[Completion]],
        thread: ThreadPoolExecutor,
        batch: int,
    ) -> None:
        """Open, in a running loop.

        Args:
            work: Continues a batch; called in the thread.
            thread: One thread, since models are not to be shared.
            batch: The most conversations of one batch.
        """
        self.loop = asyncio.get_running_loop()
        self.thread = thread
        self._work = work
        self._batch = batch
        self._waiting: list[Request] = []
        self._serving: asyncio.Task[None] | None = None

    async def ask(
        self, prompt: list[int], seed: int, pictures: Sequence[Picture] = ()
    ) -> Completion:
        """Have one conversation continued, together with the others that wait.

        Raises:
            Exception: What continuing its batch raised.
        """
        request = Request(prompt, seed, self.loop.create_future(), pictures)
        self._waiting.append(request)
        if self._serving is None or self._serving.done():
            self._serving = self.loop.create_task(self._serve())
        return await request.answer

    async def _serve(self) -> None:
        try:
            while self._waiting:
                count = -1
                while count != len(self._waiting):
                    count = len(self._waiting)
                    await asyncio.sleep(SETTLE)
                if batch := self._take():
                    await self._answer(batch)
        finally:  # the loop ends: nobody will be answered
            for request in self._waiting:
                request.answer.cancel()
            self._waiting = []

    def _take(self) -> list[Request]:
        """The one that has waited longest, with those of like length, so that little is padding."""
        self._waiting = [request for request in self._waiting if not request.answer.done()]
        if not self._waiting:
            return []
        length = len(self._waiting[0].prompt)
        near = sorted(self._waiting, key=lambda request: abs(len(request.prompt) - length))
        chosen = set(near[: self._batch])
        batch = [request for request in self._waiting if request in chosen]
        self._waiting = [request for request in self._waiting if request not in chosen]
        return batch

    async def _answer(self, batch: Sequence[Request]) -> None:
        try:
            completions = await self.loop.run_in_executor(self.thread, self._work, batch)
        except BaseException as error:
            for request in batch:
                if request.answer.done():
                    continue
                if isinstance(error, Exception):
                    request.answer.set_exception(error)
                else:
                    request.answer.cancel()
            if not isinstance(error, Exception):
                raise
            return
        for request, completion in zip(batch, completions, strict=True):
            if not request.answer.done():
                request.answer.set_result(completion)
