"""The cache of judgements: what is paid is kept, whatever happens to the processes."""

import asyncio
import json
import logging
import multiprocessing
import os
import signal
import sqlite3
import subprocess
import sys
import threading
from pathlib import Path

import judge_model
import pytest
from hypothesis import given
from hypothesis import strategies as st
from judge_model import judged
from openai_server import OpenAIServer, say

from zephyrus.errors import JudgeError, UserError
from zephyrus.judge import make_judge
from zephyrus.judge.base import Brief, Claim, Criterion, Rubric
from zephyrus.judge.cache import JudgeCache, cache_key, cache_path

WORKER = Path(__file__).with_name("judge_worker.py")
RUBRIC = Rubric("tests", "1", "You judge.", (Criterion("a", "A", "?", {1: "no", 10: "yes"}),))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "cache" / "judgements.sqlite"


@pytest.fixture
def server():
    with OpenAIServer(judge_model.answer).running() as running:
        yield running


# The file


def test_what_is_put_in_comes_out(path):
    cache = JudgeCache(path)
    assert cache.get("k") is None
    cache.put({"k": {"answer": [1, "ä\ud800"]}, "l": None})
    assert cache.get("k") == {"answer": [1, "ä\ud800"]}
    assert len(cache) == 2
    cache.close()
    assert cache.get("k") == {"answer": [1, "ä\ud800"]}  # it opens again
    assert JudgeCache(path).get("k") is not None


def test_the_first_value_of_a_key_stays(path):
    cache = JudgeCache(path)
    cache.put({"k": 1})
    cache.put({"k": 2, "l": 3})
    assert (cache.get("k"), cache.get("l")) == (1, 3)


def test_unreadable_answers_are_counted_for_all(path):
    cache = JudgeCache(path)
    assert cache.unreadable("k") == 0
    cache.count_unreadable("k")
    JudgeCache(path).count_unreadable("k")
    assert cache.unreadable("k") == 2
    assert cache.get("k") is None


def test_where_it_lies(monkeypatch, tmp_path):
    assert cache_path() == tmp_path / "judgements.sqlite"  # the variable, see conftest
    monkeypatch.delenv("ZEPHYRUS_JUDGE_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "x"))
    assert cache_path().name == "judgements.sqlite"
    assert cache_path().parent.name == "zephyrus"


def test_a_place_where_no_file_can_be_is_the_users_mistake(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(UserError, match=r"set \$ZEPHYRUS_JUDGE_CACHE"):
        JudgeCache(tmp_path / "file" / "judgements.sqlite")
    with pytest.raises(UserError, match="can't be opened"):
        JudgeCache(tmp_path)


@pytest.mark.parametrize(
    "content", [b"this is no database" * 500, b"SQLite format 3\0" + b"x" * 9000]
)
def test_a_damaged_file_is_set_aside(path, content, caplog):
    path.parent.mkdir()
    path.write_bytes(content)
    cache = JudgeCache(path)
    cache.put({"k": 1})
    assert cache.get("k") == 1
    (aside,) = path.parent.glob("*.damaged-*")
    assert aside.read_bytes() == content
    assert f"the judge cache {path} is damaged" in caplog.text
    assert aside.name in caplog.text


def test_damage_in_the_middle_is_found_when_it_is_met(path, caplog):
    cache = JudgeCache(path)
    cache.put({f"key {i}": "x" * 500 for i in range(500)})
    cache.close()
    data = bytearray(path.read_bytes())
    data[4096:] = os.urandom(len(data) - 4096)
    path.write_bytes(bytes(data))
    again = JudgeCache(path)
    assert [again.get(f"key {i}") for i in (0, 250, 499)].count(None) > 0
    again.put({"new": 1})
    assert again.get("new") == 1
    assert "is damaged" in caplog.text
    assert list(path.parent.glob("*.damaged-*"))


def test_a_full_disk_is_a_warning(path, caplog):
    cache = JudgeCache(path)
    cache._connection.execute("PRAGMA max_page_count = 1")
    with caplog.at_level(logging.WARNING):
        cache.put({str(i): "x" * 5000 for i in range(9)})
        cache.put({"more": "x" * 50_000})
    assert caplog.text.count("judgements are not kept") == 1
    assert len(cache) == 0


def test_many_threads_may_use_one_object(path):
    cache = JudgeCache(path)

    def work(number):
        for i in range(30):
            cache.put({f"{number} {i}": i})
            assert cache.get(f"{number} {i}") == i

    threads = [threading.Thread(target=work, args=(number,)) for number in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(cache) == 240


def write_many(path, number, count):
    cache = JudgeCache(path)
    for i in range(count):
        cache.put({f"{number} {i}": i, f"shared {i}": i})
        cache.count_unreadable("shared")


def test_several_processes_lose_nothing(path):
    context = multiprocessing.get_context("spawn")
    works = [context.Process(target=write_many, args=(path, n, 40)) for n in range(4)]
    for work in works:
        work.start()
    for work in works:
        work.join(60)
        assert work.exitcode == 0
    cache = JudgeCache(path)
    assert len(cache) == 4 * 40 + 40
    assert cache.unreadable("shared") == 160
    assert sqlite3.connect(path).execute("PRAGMA integrity_check").fetchone() == ("ok",)


def open_at_once(path, barrier):
    barrier.wait()
    JudgeCache(path).put({"a": 1})


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_new_file_is_set_up_by_many_at_once(tmp_path):
    context = multiprocessing.get_context("fork")
    for n in range(15):
        barrier = context.Barrier(8)
        work = [
            context.Process(target=open_at_once, args=(tmp_path / f"{n}.sqlite", barrier))
            for _ in range(8)
        ]
        for process in work:
            process.start()
        for process in work:
            process.join(60)
        assert [process.exitcode for process in work] == [0] * 8


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_child_opens_its_own(path):
    cache = JudgeCache(path)
    cache.put({"parent": 1})
    child = os.fork()
    if child == 0:
        cache.put({"child": cache.get("parent")})
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0
    assert cache.get("child") == 1
    cache.put({"after": 1})
    assert len(JudgeCache(path)) == 3


# Keys

PLAIN = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=8,
)  # fmt: skip


@given(PLAIN, PLAIN)
def test_keys_are_equal_only_for_equal_values(a, b):
    same = json.dumps(a, sort_keys=True) == json.dumps(b, sort_keys=True)
    assert (cache_key(x=a) == cache_key(x=b)) is same


def test_keys_are_the_same_in_every_process():
    assert cache_key(b=[1, "ä"], a=None) == "86d44d7cf74c5195f529da1158905b757fafd771"


# Judges with a cache


async def judge_all(server, path, scoring_pass=0, report="Rain.", reference="Snow.", **options):
    judge = make_judge(f"openai:tiny@{server.url}", cache=path, **options)
    brief = Brief(report, reference, RUBRIC)
    scores = await judge.rubric(brief, scoring_pass=scoring_pass)
    claims = await judge.claims(report, scoring_pass=scoring_pass)
    verdicts = await judge.verdicts(claims, reference, scoring_pass=scoring_pass)
    await judge.close()
    return (scores, claims, verdicts), judge.usage


async def test_nothing_is_paid_twice(server, path):
    first, usage = await judge_all(server, path)
    assert (usage.requests, usage.cached) == (3, 0)
    second, usage = await judge_all(server, path)
    assert second == first
    assert (usage.requests, usage.cached, usage.prompt_tokens) == (0, 3, 0)
    assert len(server.requests) == 3


@pytest.mark.parametrize(
    ("change", "sent"),
    [
        ({"scoring_pass": 1}, 3),
        ({"temperature": 0.5}, 3),
        ({"extra_body": {"top_k": 1}}, 3),
        ({"report": "Hail."}, 3),
        ({"reference": "Fog."}, 2),  # the report's claims are the same
        ({"claims_per_request": 3}, 1),
        ({"retries": 1, "timeout": 9.0, "price_prompt": 1.0, "concurrency": 2}, 0),
        ({"base_url": "same"}, 0),
    ],
    ids=str,
)
async def test_what_a_judgement_depends_on_is_in_its_key(server, path, change, sent):
    await judge_all(server, path)
    if "base_url" in change:
        change = {"base_url": server.url.replace("127.0.0.1", "localhost")}
    _, usage = await judge_all(server, path, **change)
    assert usage.requests == sent


async def test_another_prompt_or_model_is_another_judgement(server, path, monkeypatch):
    await judge_all(server, path)
    monkeypatch.setattr("zephyrus.judge.llm.PROMPT_HASH", "other")
    _, usage = await judge_all(server, path)
    assert usage.requests == 3
    judge = make_judge(f"openai:other@{server.url}", cache=path)
    await judge.claims("Rain.")
    assert judge.usage.requests == 1


async def test_the_kept_value_says_what_it_cost(server, path):
    await judge_all(server, path, price_prompt=1.0)
    rows = sqlite3.connect(path).execute("SELECT value FROM judgements").fetchall()
    values = [json.loads(row[0]) for row in rows]
    assert {value["kind"] for value in values} == {"claims", "rubric", "verdict"}
    for value in values:
        assert value["model"] == "tiny"
        assert value["usage"]["prompt_tokens"] == 11
        assert value["usage"]["cost_usd"] == pytest.approx(11e-6)


async def test_verdicts_are_kept_one_by_one(server, path):
    judge = make_judge(f"openai:tiny@{server.url}", cache=path)
    await judge.verdicts([Claim("a"), Claim("b")], "text")
    more = await judge.verdicts([Claim("b"), Claim("c"), Claim("a")], "text c")
    assert len(server.requests) == 2  # another text
    more = await judge.verdicts([Claim("b"), Claim("c"), Claim("a")], "text")
    assert [v.claim.text for v in more] == ["b", "c", "a"]
    assert "1. c" in server.requests[2]["messages"][-1]["content"]
    assert "2. " not in server.requests[2]["messages"][-1]["content"]
    await judge.close()


async def test_verdicts_that_came_are_kept_when_others_do_not(server, path):
    def answer(body):
        found = judged(body)
        lines = judge_model.block(body, "CLAIMS").splitlines()
        rows = zip(found["verdicts"], lines, strict=True)
        found["verdicts"] = [row for row, line in rows if "bad" not in line]
        return say(json.dumps(found))

    server.answer = answer
    claims = [Claim("one"), Claim("bad"), Claim("two")]
    judge = make_judge(f"openai:tiny@{server.url}", cache=path, asks=2)
    with pytest.raises(JudgeError):
        await judge.verdicts(claims, "text")
    server.requests.clear()
    server.answer = judge_model.answer
    assert len(await judge.verdicts(claims, "text")) == 3
    (body,) = server.requests
    assert judge_model.block(body, "CLAIMS") == "1. bad"
    await judge.close()


async def test_only_readable_answers_are_kept_and_the_next_ask_has_another_seed(server, path):
    server.answer = lambda body: say("No idea.")
    for _ in range(2):
        judge = make_judge(f"openai:tiny@{server.url}", cache=path, asks=2)
        with pytest.raises(JudgeError):
            await judge.claims("Rain.")
        await judge.close()
    assert len({body["seed"] for body in server.requests}) == 4
    server.answer = judge_model.answer
    judge = make_judge(f"openai:tiny@{server.url}", cache=path, asks=2)
    assert await judge.claims("Rain.") == (Claim("Rain.", "Rain."),)
    await judge.close()


async def test_a_kept_value_that_is_no_judgement_is_asked_for_again(server, path):
    await judge_all(server, path)
    with sqlite3.connect(path) as connection:
        connection.execute("UPDATE judgements SET value = '{\"answer\": 3}'")
    (scores, claims, verdicts), usage = await judge_all(server, path)
    assert usage.requests == 3
    assert scores.scores == {"a": 4}
    assert len(claims) == len(verdicts) == 1


async def test_a_judge_without_a_cache_writes_nothing(server, path, tmp_path):
    await judge_all(server, False)
    await judge_all(server, False)
    assert len(server.requests) == 6
    assert not list(tmp_path.rglob("*.sqlite"))


async def test_a_cache_that_fails_costs_no_judgement(server, path, caplog):
    judge = make_judge(f"openai:tiny@{server.url}", cache=path)
    judge.cache._connection.execute("PRAGMA max_page_count = 1")
    text = ". ".join(f"Sentence {i} of a text" for i in range(400)) + "."
    assert len(await judge.claims(text)) == 400
    assert "judgements are not kept" in caplog.text
    await judge.close()


# Processes


def worker(server, path, texts, concurrency=4):
    return subprocess.Popen(
        [sys.executable, str(WORKER), server.url, str(path), str(concurrency), *texts],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    return tuple(map(int, out.split()))


@pytest.mark.parametrize("concurrency", [1, 8])
def test_a_killed_process_loses_no_paid_judgement(server, path, concurrency):
    texts = [f"Text {i}." for i in range(20)]
    reached = threading.Event()
    answered = []

    class Stop(Exception):
        pass

    def answer(body):
        if len(answered) == 9 and not reached.is_set():
            reached.set()
            raise Stop  # this one is never answered
        answered.append(body)
        return judge_model.answer(body)

    server.answer = answer
    process = worker(server, path, texts, concurrency)
    assert reached.wait(60)
    if concurrency == 1:
        assert len(answered) == 9
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=30)
    paid = len(answered)
    kept = len(JudgeCache(path))
    assert kept >= paid - concurrency
    if concurrency == 1:
        assert kept == paid == 9  # each was on disk before the next was asked for
    server.requests.clear()
    requests, cached, supported = finish(worker(server, path, texts, concurrency))
    assert requests == 20 - kept + 1  # the claims that were missing, and one batch of verdicts
    assert len(server.requests) == requests
    assert cached == kept
    assert supported == 1
    assert finish(worker(server, path, texts, concurrency)) == (0, 40, 1)


def test_two_processes_at_once_share_and_lose_nothing(server, path):
    server.delay = 0.02
    common = [f"Text {i}." for i in range(15)]
    one = worker(server, path, [*common, *(f"One {i}." for i in range(15))])
    two = worker(server, path, [*common, *(f"Two {i}." for i in range(15))])
    finish(one)
    finish(two)
    everything = [*common, *(f"{n} {i}." for n in ("One", "Two") for i in range(15))]
    server.requests.clear()
    requests, cached, supported = finish(worker(server, path, everything))
    assert (requests, cached, supported) == (0, 90, 1)
    assert server.requests == []


async def test_two_judges_of_one_process_share_the_file(server, path):
    async def one():
        judge = make_judge(f"openai:tiny@{server.url}", cache=path)
        await asyncio.gather(*(judge.claims(f"Text {i}.") for i in range(20)))
        await judge.close()

    await asyncio.gather(one(), one())
    assert len(JudgeCache(path)) == 20
