"""An OpenAI-compatible server on this machine that answers after a fixed time."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

TURNS = 5
"""Messages of a conversation: four tool calls and an answer."""

_HEAD = {"id": "c", "object": "chat.completion", "created": 0, "model": "m"}
_USAGE = {"prompt_tokens": 900, "completion_tokens": 20, "total_tokens": 920}


def reply(message: dict[str, Any], finish: str = "stop") -> str:
    """A response's JSON."""
    choice = {"index": 0, "finish_reason": finish, "message": {"role": "assistant", **message}}
    return json.dumps({**_HEAD, "choices": [choice], "usage": _USAGE})


def _call() -> dict[str, Any]:
    function = {"name": "tool0", "arguments": '{"place": "Kenya"}'}
    return {
        "content": "",
        "tool_calls": [{"id": "call_0", "type": "function", "function": function}],
    }


def _serve(port: Any, latency: float) -> None:
    call, answer = reply(_call(), "tool_calls"), reply({"content": "<answer>1</answer>"})

    async def complete(request: web.Request) -> web.Response:
        body = (await request.read()).replace(b" ", b"")
        await asyncio.sleep(latency)
        done = body.count(b'"role":"tool"') >= TURNS - 1
        return web.Response(text=answer if done else call, content_type="application/json")

    asyncio.run(listen(complete, port))


async def listen(complete: Any, port: Any) -> None:
    """Serve chat completions on a free port of this machine until the process is ended."""
    app = web.Application(client_max_size=2**24)
    app.router.add_post("/v1/chat/completions", complete)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=1024).start()
    port.value = runner.addresses[0][1]
    await asyncio.Event().wait()


@contextmanager
def running(latency: float, serve: Any = _serve) -> Iterator[str]:
    """Start a server in a process of its own.

    Args:
        latency: seconds before every answer.
        serve: ``(port, latency)``, which sets the port's value once it listens.

    Yields:
        Its base URL.
    """
    context = multiprocessing.get_context("spawn")
    port = context.Value("i", 0)
    process = context.Process(target=serve, args=(port, latency), daemon=True)
    process.start()
    try:
        while not port.value:
            if not process.is_alive():
                raise RuntimeError("the server did not start")
            time.sleep(0.02)
        yield f"http://127.0.0.1:{port.value}/v1"
    finally:
        process.terminate()
        process.join()
