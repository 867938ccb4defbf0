"""A rollout under verifiers' in-process harness, against the same rollout in our own loop.

Both let the same questions be answered by the same server, which answers at once from another process:
two calls of the tool ``dataset``, then an answer. What counts is the CPU time of this process, after
start-up: of verifiers that is its import and the first rollouts.
"""

from __future__ import annotations

import asyncio
import json
import statistics
import tempfile
import time
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.alternatives import absent
from benchmarks.records import Bar, Record
from benchmarks.server import listen, reply, running
from benchmarks.world import World

TURNS = 3
WARM = 8
"""Rollouts before any is measured."""
ROLLOUTS, AT_ONCE, ROUNDS = 100, 16, 3

_CALL = {"variable": "2m_temperature", "feature": "Kenya", "time": "mean"}


def verifiers(world: World) -> list[Record]:
    """Both, by turns."""
    what = f"rollout of {TURNS} turns under verifiers' harness, beyond our own loop"
    bar, limits = Bar("ours", "most", 0.05), "verifiers' interception and model client take most."
    if note := absent(world, "verifiers", extra="verifiers"):
        return [Record("verifiers", what, None, clock="CPU", bar=bar, note=note, limits=limits)]
    own, under = [], []
    with running(0.0, _serve) as url:
        for _ in range(ROUNDS):
            own.append(asyncio.run(_own(url)))
            under.append(asyncio.run(_under(url)))
    ours, theirs = statistics.median(own), statistics.median(under)
    return [
        Record(
            "verifiers",
            what,
            theirs - ours,
            clock="CPU",
            alternative="our own loop, all of the rollout",
            theirs=ours,
            bar=bar,
            note=f"{AT_ONCE} at once, against a server that answers at once; without start-up",
            limits=limits,
        )
    ]


async def _own(url: str) -> float:
    """CPU seconds a rollout in our own loop."""
    import zephyrus

    env, policy = zephyrus.make("bench"), zephyrus.make_policy(f"openai:m@{url}")
    tasks = list(env.tasks().take(ROLLOUTS))
    spent = 0.0
    with tempfile.TemporaryDirectory() as folder:
        for name, some in (("warm", tasks[:WARM]), ("run", tasks)):
            began = time.process_time()
            run = await zephyrus.arollout(
                env,
                policy,
                tasks=some,
                concurrency=AT_ONCE,
                output=Path(folder, name),
                progress=False,
            )
            spent = time.process_time() - began
        _check([rollout.turns for rollout in run])
    await policy.close()
    return spent / ROLLOUTS


async def _under(url: str) -> float:
    """CPU seconds a rollout under verifiers."""
    import verifiers.v1 as vf

    env = vf.load_environment(vf.resolve_env_config({"taskset": {"id": "zephyrus-bench"}}))
    client = vf.EvalClientConfig(base_url=url, api_key_var="NO_KEY")
    context = vf.ModelContext(client=client, model="m", sampling=vf.SamplingConfig())
    gate = asyncio.Semaphore(AT_ONCE)
    tasks = list(env.taskset.take(ROLLOUTS))
    spent = 0.0
    episodes: list[Any] = []
    async with env.serving():
        for some in (tasks[:WARM], tasks):
            slots = [slot for task in some for slot in env.slots(task, 1)]
            began = time.process_time()
            episodes = await asyncio.gather(*(env.run_slot(s, context, gate) for s in slots))
            spent = time.process_time() - began
    if not all(episode.ok for episode in episodes):
        raise RuntimeError("a rollout under verifiers broke")
    _check([episode.num_turns for episode in episodes])
    return spent / ROLLOUTS


def _check(turns: list[int]) -> None:
    if turns != [TURNS] * ROLLOUTS:
        raise RuntimeError(
            f"not the same work: {sorted(set(turns))} turns in {len(turns)} rollouts"
        )


def _serve(port: Any, latency: float) -> None:
    function = {"name": "dataset", "arguments": json.dumps(_CALL)}

    async def complete(request: web.Request) -> web.Response:
        said = sum(m["role"] == "assistant" for m in (await request.json())["messages"])
        await asyncio.sleep(latency)
        if said < TURNS - 1:
            call = {"id": f"call_{said}", "type": "function", "function": function}
            text = reply({"content": None, "tool_calls": [call]}, "tool_calls")
        else:
            text = reply({"content": "<answer>1</answer>"})
        return web.Response(text=text, content_type="application/json")

    asyncio.run(listen(complete, port))


ROWS = {"verifiers": verifiers}
