"""What a rollout costs more under verifiers than in our own loop: CPU of this process, after start-up.

    python scripts/verifiers_cost.py [ROLLOUTS] [AT ONCE]

Both roll the same questions out against the same server, which answers at once from another process:
two calls of the tool `dataset`, then an answer. Needs the extra ``verifiers``.
"""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import verifiers.v1 as vf
from aiohttp import web

import zephyrus
from zephyrus.policy import make_policy

WARM = 8
"""Rollouts before any is measured."""
_CALL = {"variable": "2m_temperature", "feature": "Kenya", "time": "mean"}


def main() -> None:
    """Measure both, twice, and print milliseconds a rollout."""
    rollouts, at_once = (int(a) for a in (*sys.argv[1:], "100", "16")[:2])
    context = multiprocessing.get_context("spawn")
    port = context.Value("i", 0)
    server = context.Process(target=_serve, args=(port,), daemon=True)
    server.start()
    while not port.value:
        time.sleep(0.05)
    url = f"http://127.0.0.1:{port.value}/v1"
    for _ in range(2):
        ours = asyncio.run(_ours(url, rollouts, at_once))
        theirs = asyncio.run(_theirs(url, rollouts, at_once))
        print(
            f"own loop {ours:.1f} ms, under verifiers {theirs:.1f} ms: {theirs - ours:.1f} ms more"
        )
    server.terminate()


async def _ours(url: str, n: int, at_once: int) -> float:
    env, policy = zephyrus.make("bench"), make_policy(f"openai:fake@{url}")
    tasks = list(env.tasks().take(n))
    with tempfile.TemporaryDirectory() as folder:
        for name, some in (("warm", tasks[:WARM]), ("run", tasks)):
            began = time.process_time()
            await zephyrus.arollout(
                env,
                policy,
                tasks=some,
                concurrency=at_once,
                output=Path(folder, name),
                progress=False,
            )
        spent = time.process_time() - began
    await policy.close()
    return 1e3 * spent / n


async def _theirs(url: str, n: int, at_once: int) -> float:
    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": "zephyrus-bench"}}))
    client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
    ctx = vf.ModelContext(client=client, model="fake", sampling=vf.SamplingConfig())
    gate = asyncio.Semaphore(at_once)
    tasks = list(env.taskset.take(n))
    async with env.serving():
        for some in (tasks[:WARM], tasks):
            slots = [slot for task in some for slot in env.slots(task, 1)]
            began = time.process_time()
            episodes = await asyncio.gather(*(env.run_slot(s, ctx, gate) for s in slots))
        spent = time.process_time() - began
    assert all(episode.ok and episode.num_turns == 3 for episode in episodes)
    return 1e3 * spent / n


def _serve(port: Any) -> None:
    async def complete(request: web.Request) -> web.Response:
        said = sum(m["role"] == "assistant" for m in (await request.json())["messages"])
        message: dict[str, Any] = {"role": "assistant", "content": "<answer>1</answer>"}
        if said < 2:
            function = {"name": "dataset", "arguments": json.dumps(_CALL)}
            call = {"id": f"call_{said}", "type": "function", "function": function}
            message = {"role": "assistant", "content": None, "tool_calls": [call]}
        reply = {
            "id": "r",
            "object": "chat.completion",
            "created": 0,
            "model": "fake",
            "choices": [{"index": 0, "finish_reason": "stop", "message": message}],
            "usage": {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18},
        }
        return web.json_response(reply)

    async def models(request: web.Request) -> web.Response:
        return web.json_response({"object": "list", "data": [{"id": "fake", "object": "model"}]})

    async def run() -> None:
        app = web.Application()
        app.router.add_post("/v1/chat/completions", complete)
        app.router.add_get("/v1/models", models)
        runner = web.AppRunner(app, access_log=None)
        await runner.setup()
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        port.value = runner.addresses[0][1]
        await asyncio.Event().wait()

    asyncio.run(run())


if __name__ == "__main__":
    main()
