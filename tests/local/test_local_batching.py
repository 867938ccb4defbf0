"""Conversations that wait together: fairness, errors, cancellation, one event loop after another."""

import asyncio
import threading
from concurrent.futures import ThreadPoolExecutor

import pytest

from zephyrus.local.batching import Desk
from zephyrus.local.generate import Completion


class Model:
    """Echoes its prompts, and remembers the batches; holds each until it may go on."""

    def __init__(self, held=False):
        self.batches = []
        self.threads = set()
        self.begun = threading.Event()
        self.go_on = threading.Event()
        if not held:
            self.go_on.set()

    def __call__(self, batch):
        self.batches.append([request.prompt for request in batch])
        self.threads.add(threading.current_thread())
        self.begun.set()
        assert self.go_on.wait(20)
        if any(request.prompt == [13] for request in batch):
            raise ZeroDivisionError("a bug")
        return [Completion(request.prompt * 2, [], True) for request in batch]


@pytest.fixture
def thread():
    with ThreadPoolExecutor(1) as pool:
        yield pool


async def test_all_that_come_together_are_one_batch(thread):
    model = Model()
    desk = Desk(model, thread, 8)
    found = await asyncio.gather(*(desk.ask([n], n) for n in range(5)))
    assert [c.ids for c in found] == [[n, n] for n in range(5)]
    assert model.batches == [[[0], [1], [2], [3], [4]]]


async def test_who_waited_longest_comes_first_with_those_of_like_length(thread):
    model = Model()
    desk = Desk(model, thread, 3)
    lengths = [50, 1, 2, 52, 3, 49, 4]
    found = await asyncio.gather(*(desk.ask([n] * n, n) for n in lengths))
    assert [len(c.ids) for c in found] == [2 * n for n in lengths]
    assert [[len(p) for p in batch] for batch in model.batches] == [[50, 52, 49], [1, 2, 3], [4]]


async def test_newcomers_wait_for_the_next_batch(thread):
    model = Model(held=True)
    desk = Desk(model, thread, 8)
    first = asyncio.create_task(desk.ask([1], 0))
    await asyncio.to_thread(model.begun.wait, 20)
    second = asyncio.create_task(desk.ask([2], 0))
    await asyncio.sleep(0.01)
    model.go_on.set()
    assert [(await task).ids for task in (first, second)] == [[1, 1], [2, 2]]
    assert model.batches == [[[1]], [[2]]]
    assert len(model.threads) == 1


async def test_an_error_reaches_all_of_its_batch_and_nobody_else(thread):
    model = Model()
    desk = Desk(model, thread, 2)
    found = await asyncio.gather(*(desk.ask([n], n) for n in (13, 1, 2)), return_exceptions=True)
    assert [type(one) for one in found] == [ZeroDivisionError, ZeroDivisionError, Completion]
    assert (await desk.ask([5], 0)).ids == [5, 5]


async def test_who_gives_up_is_not_asked_for(thread):
    model = Model(held=True)
    desk = Desk(model, thread, 1)
    first, second, third = (asyncio.create_task(desk.ask([n], 0)) for n in (1, 2, 3))
    await asyncio.to_thread(model.begun.wait, 20)
    first.cancel()
    second.cancel()
    await asyncio.sleep(0)
    model.go_on.set()
    assert (await third).ids == [3, 3]
    assert model.batches == [[[1]], [[3]]]
    assert first.cancelled() and second.cancelled()


def test_the_end_of_a_loop_leaves_nobody_waiting(thread):
    model = Model(held=True)
    desks = []

    async def leave():
        desks.append(Desk(model, thread, 1))
        asked = [asyncio.create_task(desks[0].ask([n], 0)) for n in (1, 2)]
        await asyncio.to_thread(model.begun.wait, 20)
        return asked

    asked = asyncio.run(leave())  # the loop cancels what is left
    assert all(task.cancelled() for task in asked)
    model.go_on.set()

    async def again():
        return await Desk(model, thread, 1).ask([3], 0)

    assert asyncio.run(again()).ids == [3, 3]
    assert model.batches == [[[1]], [[3]]]
