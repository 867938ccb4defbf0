"""CPU time per turn of the endpoint policy, against the plain OpenAI client.

A server in a process of its own answers after 200 ms; 128 conversations of five turns with four
tools and a system prompt of 3 kB run at once. Only this process's CPU time is counted.

    python benchmarks/endpoint_overhead.py [--turns 5] [--concurrency 128] [--rounds 3]

The bar: at most 3 ms of CPU time a turn at 128 conversations.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import multiprocessing
import statistics
import time
from collections.abc import Callable, Coroutine
from typing import Any

from aiohttp import web

from zephyrus.messages import Message
from zephyrus.policy import make_policy
from zephyrus.policy.endpoint import EndpointPolicy, EndpointSession
from zephyrus.task import Task

BAR_MS = 3.0
LATENCY = 0.2
SYSTEM = "You answer questions about a weather forecast. " * 64
ANSWER = {
    "choices": [
        {
            "index": 0,
            "finish_reason": "tool_calls",
            "message": {
                "role": "assistant",
                "content": "",
                "tool_calls": [
                    {
                        "id": "call_0",
                        "type": "function",
                        "function": {"name": "tool0", "arguments": '{"place": "Kenya"}'},
                    }
                ],
            },
        }
    ],
    "usage": {"prompt_tokens": 900, "completion_tokens": 20},
    "id": "c",
    "object": "chat.completion",
    "created": 0,
    "model": "m",
}
TOOLS: list[dict[str, Any]] = [
    {
        "type": "function",
        "function": {
            "name": f"tool{i}",
            "description": "Read the forecast over a place. " * 4,
            "parameters": {
                "type": "object",
                "properties": {
                    name: {"type": "string", "description": "One of the arguments of the tool."}
                    for name in ("place", "variable", "kind", "parent", "time", "statistic")
                },
                "required": ["place"],
            },
        },
    }
    for i in range(4)
]


def serve(port: Any) -> None:
    """Answer every request with the same tool call after `LATENCY` seconds."""
    text = json.dumps(ANSWER)

    async def complete(request: web.Request) -> web.Response:
        await request.read()
        await asyncio.sleep(LATENCY)
        return web.Response(text=text, content_type="application/json")

    async def main() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", complete)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
        port.value = runner.addresses[0][1]
        await asyncio.sleep(600)

    asyncio.run(main())


Converse = Callable[[int], Coroutine[Any, Any, None]]


async def measure(converse: Converse, concurrency: int, turns: int) -> tuple[float, float]:
    """Run the conversations once to warm up and once for the measurement.

    Returns:
        (CPU milliseconds a turn, turns a second of wall-clock time).
    """
    await asyncio.gather(*(converse(1) for _ in range(min(16, concurrency))))
    cpu, wall = time.process_time(), time.perf_counter()
    await asyncio.gather(*(converse(turns) for _ in range(concurrency)))
    count = concurrency * turns
    return (
        1000 * (time.process_time() - cpu) / count,
        count / (time.perf_counter() - wall),
    )


async def ours(url: str, concurrency: int, turns: int) -> tuple[float, float]:
    """Measure `EndpointPolicy`."""
    policy = make_policy(f"openai:m@{url}")
    assert isinstance(policy, EndpointPolicy)

    async def converse(turns: int) -> None:
        session = EndpointSession(policy, TOOLS, Task("t", "q", None), 0, 0)
        messages = [Message("system", SYSTEM), Message("user", "How warm is Kenya?")]
        for _ in range(turns):
            reply = await session.act(messages)
            call = reply.message.tool_calls[0]
            messages += [reply.message, Message("tool", "24.3 °C " * 20, tool_call_id=call.id)]

    result = await measure(converse, concurrency, turns)
    await policy.close()
    return result


async def plain(url: str, concurrency: int, turns: int) -> tuple[float, float]:
    """Measure `openai.AsyncOpenAI` as its documentation shows it."""
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key="EMPTY")

    async def converse(turns: int) -> None:
        messages: list[Any] = [
            {"role": "system", "content": SYSTEM},
            {"role": "user", "content": "How warm is Kenya?"},
        ]
        tools: Any = TOOLS
        for _ in range(turns):
            reply = await client.chat.completions.create(model="m", messages=messages, tools=tools)
            message = reply.choices[0].message
            assert message.tool_calls
            messages.append(message.model_dump(exclude_none=True))
            call = message.tool_calls[0]
            messages.append({"role": "tool", "tool_call_id": call.id, "content": "24.3 °C " * 20})

    result = await measure(converse, concurrency, turns)
    await client.close()
    return result


def main() -> None:
    """Measure both in alternation and print medians."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--turns", type=int, default=5)
    parser.add_argument("--concurrency", type=int, default=128)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    port = multiprocessing.Value("i", 0)
    server = multiprocessing.Process(target=serve, args=(port,), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.05)
    url = f"http://127.0.0.1:{port.value}/v1"
    found: dict[str, list[tuple[float, float]]] = {"ours": [], "plain": []}
    for _ in range(options.rounds):
        for name, run in (("ours", ours), ("plain", plain)):
            found[name].append(asyncio.run(run(url, options.concurrency, options.turns)))
    server.terminate()
    cpu = {name: statistics.median(ms for ms, _ in runs) for name, runs in found.items()}
    rate = {name: statistics.median(r for _, r in runs) for name, runs in found.items()}
    for name in found:
        print(f"{name:6} {cpu[name]:6.2f} ms CPU a turn  {rate[name]:6.0f} turns a second")
    print(f"ratio  {cpu['plain'] / cpu['ours']:.1f} times less CPU than the plain client")
    print(f"bar    {BAR_MS:g} ms: {'met' if cpu['ours'] <= BAR_MS else 'MISSED'}")


if __name__ == "__main__":
    main()
