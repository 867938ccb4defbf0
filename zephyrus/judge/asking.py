"""Sending a judge's requests: many at once, with accounts, a fuse and a response format."""

from __future__ import annotations

import asyncio
import contextlib
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar

from zephyrus.endpoint import Endpoint, EndpointError, PerLoop, TooLongError
from zephyrus.errors import JudgeError
from zephyrus.judge.base import JudgeUsage
from zephyrus.judge.circuit import PAUSE_SECONDS, Circuit
from zephyrus.judge.structured import response_format
from zephyrus.judge.table import JudgeEntry

MODES = ("json_schema", "json_object", "none")
_FORMAT_REFUSED = re.compile(
    r"response[ _]?format|json[ _]?schema|json[ _]?object|guided|structured|grammar|schema",
    re.IGNORECASE,
)
_REFUSALS = (400, 404, 415, 422, 501)

T = TypeVar("T")


@dataclass(slots=True)
class _Here:
    """What belongs to one event loop."""

    room: asyncio.Semaphore
    circuit: Circuit
    under_way: dict[str, asyncio.Task[Any]]


class Asking:
    """Asks one endpoint.

    Attributes:
        endpoint: Where.
        pause: Seconds that a dead endpoint is left alone; see `zephyrus.judge.circuit`.
    """

    def __init__(self, entry: JudgeEntry, name: str, concurrency: int, usage: JudgeUsage) -> None:
        """Prepare; nothing is opened yet.

        Args:
            entry: Endpoint, model, sampling, prices.
            name: What the judge is called.
            concurrency: How many requests may be under way at once.
            usage: Where what is sent and paid is counted.
        """
        self.entry = entry
        self.name = name
        self.concurrency = concurrency
        self.endpoint = Endpoint(entry, f"the judge {name!r}")
        self.usage = usage
        self._mode = entry.structured if entry.structured != "auto" else MODES[0]
        self._mode_works = entry.structured != "auto"
        self.pause = PAUSE_SECONDS
        self._here = PerLoop(
            lambda: _Here(asyncio.Semaphore(self.concurrency), Circuit(self.pause), {})
        )

    async def shared(self, key: str, work: Callable[[], Awaitable[T]]) -> T:
        """Do a piece of work that may be under way already: it is done once, for all who wait.

        A caller that is cancelled doesn't stop it: what has been sent is paid, so it is kept.
        """
        under_way = self._here.get().under_way
        task = under_way.get(key)
        if task is None:
            task = asyncio.ensure_future(_run(work))
            under_way[key] = task
            task.add_done_callback(lambda done: _forget(under_way, key, done))
        done: T = await asyncio.shield(task)
        return done

    @contextlib.asynccontextmanager
    async def room(self) -> AsyncIterator[None]:
        """Wait for one of the places for requests that are under way, and hold it.

        It is held until an answer is on disk: were it free when an answer arrives, the next
        requests would be sent, and paid, while this answer waits for the disk.
        """
        async with self._here.get().room:
            yield

    async def send(
        self, messages: list[dict[str, str]], seed: int, longer: int, name: str, schema: Any
    ) -> tuple[Any, dict[str, Any]]:
        """Send one request; the caller holds a `room`.

        Args:
            messages: The conversation.
            seed: The sampling seed.
            longer: The answer may be this many times as long as the table says.
            name: What the schema is called.
            schema: JSON schema of the answer.

        Returns:
            The decoded response, and what it cost: tokens and US dollars.

        Raises:
            JudgeError: If there is no response, after all retries.
        """
        sampling = self.entry.sampling
        body = {"model": self.entry.model, "messages": messages, **sampling.body()}
        if "max_tokens" in body:
            body["max_tokens"] *= longer
        if sampling.seeded:
            body["seed"] = seed
        try:
            data = await self._send(body, name, schema)
        except TooLongError as error:
            raise JudgeError(f"the judge {self.name!r}: the text is too long: {error}") from None
        except EndpointError as error:
            raise JudgeError(f"the judge {self.name!r}: {error}") from None
        return data, self._count(data)

    async def close(self) -> None:
        """Stop what is under way, and close the connections."""
        here = self._here.pop()
        tasks = [] if here is None else list(here.under_way.values())
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        await self.endpoint.close()

    async def _send(self, body: Mapping[str, Any], name: str, schema: Any) -> Any:
        """Send with the response format that works, finding out which one does if need be."""
        first: EndpointError | None = None
        for mode in MODES[MODES.index(self._mode) :]:
            format_ = response_format(mode, name, schema)
            try:
                data = await self._through_circuit(
                    {**body, **format_, **self.entry.sampling.extra_body}
                )
            except TooLongError:
                raise
            except EndpointError as error:
                first = first or error
                known = self._mode_works and not _FORMAT_REFUSED.search(str(error))
                if error.status not in _REFUSALS or self.entry.structured != "auto" or known:
                    raise
                continue
            # Requests that are under way may find this out together, and out of order.
            if not self._mode_works or MODES.index(mode) > MODES.index(self._mode):
                self._mode, self._mode_works = mode, True
            return data
        assert first is not None
        raise first

    async def _through_circuit(self, body: Mapping[str, Any]) -> Any:
        circuit = self._here.get().circuit
        probe = await circuit.admits()
        if probe is None:
            raise EndpointError(f"not asked, since nothing answers: {circuit.trouble}")
        try:
            data = await self.endpoint.complete(body)
        except EndpointError as error:
            if error.status is None:
                circuit.failed(str(error), probe=probe)
            else:
                circuit.answered()
            raise
        except BaseException:
            circuit.left(probe=probe)
            raise
        circuit.answered()
        return data

    def _count(self, data: Any) -> dict[str, Any]:
        told = data.get("usage")
        told = told if isinstance(told, Mapping) else {}
        prompt, completion = (
            value if isinstance(value := told.get(key), int) else 0
            for key in ("prompt_tokens", "completion_tokens")
        )
        cost = (
            prompt * (self.entry.price_prompt or 0.0)
            + completion * (self.entry.price_completion or 0.0)
        ) / 1e6
        self.usage.requests += 1
        self.usage.prompt_tokens += prompt
        self.usage.completion_tokens += completion
        self.usage.cost_usd += cost
        return {"prompt_tokens": prompt, "completion_tokens": completion, "cost_usd": cost}


def _forget(under_way: dict[str, asyncio.Task[Any]], key: str, task: asyncio.Task[Any]) -> None:
    del under_way[key]
    if not task.cancelled():
        task.exception()  # seen, also if nobody waits any more


async def _run(work: Callable[[], Awaitable[T]]) -> T:
    return await work()
