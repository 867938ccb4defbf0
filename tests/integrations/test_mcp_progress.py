"""What a client that waits is told, without a client: the notifications and their order."""

import asyncio

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.integrations.mcp.progress import progress_of
from zephyrus.reporting import report_progress


async def told(work, beat=60.0):
    """The notifications that ``work`` leads to."""
    sent = []

    async def send(done, total, message):
        sent.append((done, total, message))

    async with progress_of("map", send, beat):
        await work()
    return sent


async def test_a_silent_tool_gives_signs_of_life():
    sent, enough = [], asyncio.Event()

    async def send(done, total, message):
        sent.append((done, total, message))
        if len(sent) == 4:
            enough.set()

    async with progress_of("map", send, 0.01):
        await enough.wait()
    assert sent[0] == (0.0, None, "map: started")
    assert all(total is None for _, total, _ in sent)
    assert all(message == f"map: {done:.0f} s" for done, _, message in sent[1:])
    assert [done for done, *_ in sent] == sorted({done for done, *_ in sent})


async def test_a_tool_that_reports_is_not_talked_over():
    async def work():
        report_progress(1, 4, "one")
        await asyncio.sleep(0.1)

    assert await told(work, beat=0.01) == [(0.0, None, "map: started"), (1.0, 4, "one")]


async def test_reports_come_from_any_thread():
    def work():
        report_progress(2, 2, "two \ud800")

    sent = await told(lambda: asyncio.to_thread(work))
    assert sent[1:] == [(2.0, 2, "two \ufffd")]


@given(reports=st.lists(st.integers(-3, 6), max_size=12), waits=st.integers(0, 3))
def test_what_is_done_always_grows_and_the_most_is_told(reports, waits):
    async def work():
        for index, done in enumerate(reports):
            report_progress(done)
            if waits and index % waits == 0:
                await asyncio.sleep(0)
                await asyncio.sleep(0)

    sent = asyncio.run(told(work))
    assert [done for done, *_ in sent] == sorted({done for done, *_ in sent})
    if reports and sorted(reports) == reports and reports[-1] > 0:
        assert sent[-1][0] == reports[-1]


async def test_what_the_call_raises_comes_through():
    async def work():
        raise FileNotFoundError("gone")

    with pytest.raises(FileNotFoundError, match="gone"):
        await told(work)


async def test_a_cancelled_call_is_cancelled_at_once():
    entered = asyncio.Event()

    async def work():
        entered.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(told(work))
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
