"""CPU time per request of an LLM judge, against the plain OpenAI client asked the same.

A server in a process of its own answers after 200 ms with what a judge model would say; 128
requests are under way at once. `assess` makes four requests of each report: the rubric, its claims,
and verdicts in both directions. The plain client sends the very same requests and reads the JSON of
the answers; it guards, checks, keeps and repairs nothing. Only this process's CPU time is counted.
Last, everything is judged again out of the cache.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import statistics
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from aiohttp import web

from benchmarks.groups.endpoint import sizes
from benchmarks.records import Bar, Record
from benchmarks.server import listen, reply, running
from benchmarks.world import World
from zephyrus.judge import make_judge
from zephyrus.judge.assess import assess
from zephyrus.judge.base import Brief, Claim
from zephyrus.judge.guard import harmless
from zephyrus.judge.prompts import claims_messages, rubric_messages, verdicts_messages
from zephyrus.judge.structured import (
    claims_schema,
    response_format,
    rubric_schema,
    verdicts_schema,
)
from zephyrus_report.rubric import report_rubric

CLAIMS = 12
WORDS = (
    "high low pressure trough ridge front rain snow wind builds deepens moves over near east west "
    "north south Europe coast Monday Tuesday morning heavy light average degrees hPa"
)
_ID = re.compile(r"The id of this request is ([0-9a-f]{12})\.")


def answer(asked: str) -> dict[str, Any]:
    """What a judge model would say to a request."""
    found: dict[str, Any] = {"id": _ID.findall(asked)[-1]}
    if "List the claims" in asked:
        text = asked.split(">>>\n", 1)[1].split("\n<<<", 1)[0]
        rows = [s.strip() + "." for s in text.split(".") if s.strip()][:CLAIMS]
        return {**found, "claims": [{"quote": row, "claim": row} for row in rows]}
    if labels := re.findall(r"Label the (\d+) claims", asked):
        verdict = {"rationale": "The text says so.", "evidence": "", "label": "SUPPORTED"}
        return {**found, "verdicts": [{"index": i + 1, **verdict} for i in range(int(labels[-1]))]}
    keys = re.findall(r"Score the report on: (.*)\.", asked)[-1].split(", ")
    scored = {"rationale": "It says where and when, but not why.", "score": 5}
    return {**found, "criteria": dict.fromkeys(keys, scored)}


def serve(port: Any, latency: float) -> None:
    """Answer every request after so many seconds."""

    async def complete(request: web.Request) -> web.Response:
        body = await request.json()
        said = reply({"content": json.dumps(answer(body["messages"][-1]["content"]))})
        await asyncio.sleep(latency)
        return web.Response(text=said, content_type="application/json")

    asyncio.run(listen(complete, port))


def write_text(seed: str) -> str:
    """Twelve sentences, the same for the same seed."""
    drawn = random.Random(seed)
    sentences = (" ".join(drawn.choices(WORDS.split(), k=14)) + "." for _ in range(CLAIMS))
    return " ".join(sentence.capitalize() for sentence in sentences)


def write_briefs(count: int, run: str) -> list[Brief]:
    """Reports and references that no other run has."""
    rubric = report_rubric()
    return [
        Brief(write_text(f"{run} report {i}"), write_text(f"{run} reference {i // 10}"), rubric)
        for i in range(count)
    ]


async def ours(
    url: str, briefs: Sequence[Brief], concurrency: int, cache: Path
) -> tuple[float, int]:
    """Judge the reports.

    Returns:
        (CPU seconds, requests that were sent).
    """
    judge = make_judge(f"openai:m@{url}", cache=cache, concurrency=concurrency)
    await judge.rubric(Brief("Warm.", "Up.", briefs[0].rubric))
    sent = judge.usage.requests
    cpu = time.process_time()
    said = await asyncio.gather(*(assess(judge, brief) for brief in briefs))
    cpu = time.process_time() - cpu
    if any(one.missing for one in said):
        raise SystemExit(f"judgements are missing: {next(o.missing for o in said if o.missing)}")
    sent = judge.usage.requests - sent
    await judge.close()
    return cpu, sent


async def plain(url: str, briefs: Sequence[Brief], concurrency: int, _: Path) -> tuple[float, int]:
    """Ask the same with `openai.AsyncOpenAI` as its documentation shows it; returns as `ours`."""
    import openai

    client = openai.AsyncOpenAI(base_url=url, api_key="EMPTY")
    room = asyncio.Semaphore(concurrency)
    sent = 0

    async def ask(messages: Any, name: str, schema: Any) -> Any:
        nonlocal sent
        async with room:
            sent += 1
            form: Any = response_format("json_schema", name, schema)["response_format"]
            reply = await client.chat.completions.create(
                model="m", messages=messages, max_tokens=8192, response_format=form
            )
        return json.loads(reply.choices[0].message.content or "")

    async def claims(text: str) -> list[Claim]:
        rows = await ask(claims_messages("0" * 12, text), "claims", claims_schema())
        return [Claim(row["claim"]) for row in rows["claims"]]

    async def verdicts(found: Sequence[Claim], text: str) -> None:
        messages = verdicts_messages("0" * 12, text, found, range(1, len(found) + 1))
        rows = await ask(messages, "verdicts", verdicts_schema(len(found)))
        assert len(rows["verdicts"]) == len(found)

    async def both(brief: Brief) -> None:
        ours, theirs = await asyncio.gather(claims(brief.report), listed[brief.reference])
        await asyncio.gather(verdicts(ours, brief.reference), verdicts(theirs, brief.report))

    async def score(brief: Brief) -> None:
        criteria = brief.rubric.criteria
        messages = rubric_messages(
            "0" * 12, brief.rubric, criteria, brief.report, brief.reference, ""
        )
        rows = await ask(messages, "rubric", rubric_schema([c.key for c in criteria]))
        assert len(rows["criteria"]) == len(criteria)

    await score(Brief("Warm.", "Up.", briefs[0].rubric))
    sent = 0
    cpu = time.process_time()
    listed = {text: asyncio.ensure_future(claims(text)) for text in {b.reference for b in briefs}}
    await asyncio.gather(*(work(brief) for brief in briefs for work in (score, both)))
    cpu = time.process_time() - cpu
    await client.close()
    return cpu, sent


def judging(world: World) -> list[Record]:
    """Reports judged, and judged again out of the cache."""
    at_once, latency = sizes(world)
    reports = 10 if world.quick else 100
    cpu: dict[str, list[float]] = {"ours": [], "plain": [], "cached": []}
    with tempfile.TemporaryDirectory() as folder, running(latency, serve) as url:
        for number in range(min(3, world.rounds)):
            briefs = write_briefs(reports, str(number))
            asked = 0
            for name, work in (("ours", ours), ("plain", plain), ("cached", ours)):
                harmless.cache_clear()
                cache = Path(folder) / "judgements.sqlite"
                used, sent = asyncio.run(work(url, briefs, at_once, cache))
                asked = asked or sent
                if sent != (0 if name == "cached" else asked):
                    raise RuntimeError(f"{name} sent {sent} requests, the first sent {asked}")
                cpu[name].append(used / asked)
    middle = {name: statistics.median(found) for name, found in cpu.items()}
    what = f"LLM judge, {at_once} requests at once: CPU a request"
    return [
        Record(
            "judging",
            what,
            middle["ours"],
            clock="CPU",
            alternative="plain openai client, the same requests",
            theirs=middle["plain"],
            sense="longer",
            bar=Bar("ratio", "most", 1.5),
            note="it also guards against untrusted text, checks, repairs and keeps the answers",
            limits="The guard searches every text for what is meant for the judge.",
        ),
        Record(
            "judging",
            "LLM judge again, out of its cache: CPU a request",
            middle["cached"],
            clock="CPU",
            alternative="our own asking",
            theirs=middle["ours"],
            sense="longer",
            bar=Bar("ratio", "most", 0.5),
            limits="The guard reads every text again.",
        ),
    ]


ROWS = {"judging": judging}
