"""Many conversations at once, by our rollout loop, our policy and the plain OpenAI client."""

from __future__ import annotations

import asyncio
import tempfile
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmarks.idle import SYSTEM, TOOLS, IdleEnv
from benchmarks.server import TURNS
from zephyrus.messages import Message
from zephyrus.policy import make_policy
from zephyrus.policy.endpoint import EndpointPolicy, EndpointSession
from zephyrus.rollouts import arollout
from zephyrus.task import Task

OBSERVATION = "24.3 °C " * 20


@dataclass(frozen=True)
class Cost:
    """What turns cost.

    Attributes:
        cpu: CPU seconds of this process a turn.
        rate: turns a second of wall-clock time.
    """

    cpu: float
    rate: float


Many = Callable[[str, int, int], Awaitable[Cost]]
"""``(url, episodes, concurrency)``."""


async def by_rollout(url: str, episodes: int, concurrency: int) -> Cost:
    """`zephyrus.arollout` with an endpoint policy, run folder included."""
    policy = make_policy(f"openai:m@{url}")
    assert isinstance(policy, EndpointPolicy)
    with tempfile.TemporaryDirectory() as folder:

        async def roll(count: int, name: str) -> None:
            await arollout(
                IdleEnv(count),
                policy,
                concurrency=concurrency,
                output=Path(folder, name),
                progress=False,
            )

        await roll(1, "first")
        cost = await _cost(roll(episodes, "run"), episodes)
    await policy.close()
    return cost


async def by_policy(url: str, episodes: int, concurrency: int) -> Cost:
    """The endpoint policy alone, without environment or run folder."""
    policy = make_policy(f"openai:m@{url}")
    assert isinstance(policy, EndpointPolicy)
    schemas = [tool.to_openai() for tool in TOOLS]

    async def converse() -> None:
        session = EndpointSession(policy, schemas, Task("t", "q", None), 0, 0)
        messages = [Message("system", SYSTEM), Message("user", "How warm is Kenya?")]
        for _ in range(TURNS):
            message = (await session.act(messages)).message
            calls = [Message("tool", OBSERVATION, tool_call_id=c.id) for c in message.tool_calls]
            messages += [message, *calls]

    await converse()
    cost = await _cost(_at_once(converse, episodes, concurrency), episodes)
    await policy.close()
    return cost


async def by_openai(url: str, episodes: int, concurrency: int) -> Cost:
    """`openai.AsyncOpenAI` as its documentation shows it."""
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key="EMPTY")
    tools: Any = [tool.to_openai() for tool in TOOLS]

    async def converse() -> None:
        messages: list[Any] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": "How warm is Kenya?"},
        ]
        for _ in range(TURNS):
            reply = await client.chat.completions.create(model="m", messages=messages, tools=tools)
            message = reply.choices[0].message
            messages.append(message.model_dump(exclude_none=True))
            messages += [
                {"role": "tool", "tool_call_id": call.id, "content": OBSERVATION}
                for call in message.tool_calls or ()
            ]

    await converse()
    cost = await _cost(_at_once(converse, episodes, concurrency), episodes)
    await client.close()
    return cost


async def _at_once(
    converse: Callable[[], Awaitable[None]], episodes: int, concurrency: int
) -> None:
    room = asyncio.Semaphore(concurrency)

    async def one() -> None:
        async with room:
            await converse()

    await asyncio.gather(*(one() for _ in range(episodes)))


async def _cost(work: Awaitable[None], episodes: int) -> Cost:
    cpu, wall = time.process_time(), time.perf_counter()
    await work
    turns = episodes * TURNS
    return Cost((time.process_time() - cpu) / turns, turns / (time.perf_counter() - wall))
