"""A small real OpenAI-compatible server on 127.0.0.1 for the tests of endpoint policies.

It runs on its own thread and event loop, so that sync tests, async tests and child processes can
all use it. What it answers is scripted: a function from the request's body to a message, and a
queue of faults that are served first.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any

from aiohttp import web


@dataclass
class Fault:
    """One request that goes wrong.

    ``drop`` closes the connection without a word; ``cut`` promises more bytes than it sends;
    ``raw`` sends this text with status 200; otherwise ``status`` with ``error`` as its body.
    """

    status: int = 500
    error: dict[str, Any] = field(default_factory=lambda: {"message": "scripted fault"})
    headers: dict[str, str] = field(default_factory=dict)
    drop: bool = False
    cut: bool = False
    raw: str | None = None
    delay: float = 0.0


def say(content: str | None = None, *calls: tuple[str, str], **extra: Any) -> dict[str, Any]:
    """An assistant message: content, calls as (name, arguments), further fields."""
    message: dict[str, Any] = {"role": "assistant", "content": content, **extra}
    if calls:
        message["tool_calls"] = [
            {
                "id": f"call_{i}",
                "type": "function",
                "function": {"name": name, "arguments": arguments},
            }
            for i, (name, arguments) in enumerate(calls)
        ]
    return message


Answer = Callable[[dict[str, Any]], dict[str, Any]]


class OpenAIServer:
    """The server; see the module. ``requests`` keeps every body, ``headers`` every header set."""

    def __init__(self, answer: Answer | None = None, models: list[str] | None = None) -> None:
        self.answer: Answer = answer or (lambda body: say("<answer>0</answer>"))
        self.models = models
        self.models_status = 200
        self.faults: list[Fault] = []
        self.delay = 0.0
        self.finish_reason = "stop"
        self.usage: dict[str, int] | None = {"prompt_tokens": 11, "completion_tokens": 7}
        self.requests: list[dict[str, Any]] = []
        self.headers: list[dict[str, str]] = []
        self.times: list[float] = []
        self.url = ""

    @contextlib.contextmanager
    def running(self) -> Iterator[OpenAIServer]:
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()
        runner = asyncio.run_coroutine_threadsafe(self._start(), loop).result(10)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()

    async def _start(self) -> web.AppRunner:
        app = web.Application(client_max_size=64 * 2**20)
        app.router.add_post("/v1/chat/completions", self._complete)
        app.router.add_get("/v1/models", self._list)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
        await runner.setup()
        site = web.TCPSite(runner, "127.0.0.1", 0)
        await site.start()
        host, port = runner.addresses[0][:2]
        self.url = f"http://{host}:{port}/v1"
        return runner

    async def _list(self, request: web.Request) -> web.Response:
        self.headers.append(dict(request.headers))
        if self.models_status != 200:
            return web.json_response({"error": {"message": "no"}}, status=self.models_status)
        rows = [{"id": name, "object": "model"} for name in self.models or ()]
        return web.json_response({"object": "list", "data": rows})

    async def _complete(self, request: web.Request) -> web.StreamResponse:
        body = await request.json()
        self.requests.append(body)
        self.headers.append(dict(request.headers))
        self.times.append(asyncio.get_running_loop().time())
        if self.faults:
            return await self._fail(request, self.faults.pop(0))
        if self.delay:
            await asyncio.sleep(self.delay)
        return web.json_response(self._completion(body))

    async def _fail(self, request: web.Request, fault: Fault) -> web.StreamResponse:
        if fault.delay:
            await asyncio.sleep(fault.delay)
        if fault.drop:
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if fault.cut:
            response = web.StreamResponse(
                headers={"Content-Length": "4000", "Content-Type": "application/json"}
            )
            await response.prepare(request)
            await response.write(b'{"choices": [')
            assert request.transport is not None
            request.transport.close()
            return response
        if fault.raw is not None:
            return web.Response(text=fault.raw, content_type="application/json")
        return web.json_response({"error": fault.error}, status=fault.status, headers=fault.headers)

    def _completion(self, body: dict[str, Any]) -> dict[str, Any]:
        message = self.answer(body)
        reason = "tool_calls" if message.get("tool_calls") else self.finish_reason
        return {
            "id": "chatcmpl-1",
            "object": "chat.completion",
            "created": 0,
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": reason}],
            **({"usage": self.usage} if self.usage is not None else {}),
        }
