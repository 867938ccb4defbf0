"""Evaluations with a judge behind a real server that refuses, stalls, talks nonsense and dies."""

import json
import os
import signal
import subprocess
import sys
import threading
import time
from collections import Counter
from pathlib import Path

import pytest
from evaluation_parts import EVENT_REPORTS, EVENTS, NoteEnv, make_run
from judge_server import answer
from openai_server import Fault, OpenAIServer, say

from zephyrus.evaluation import evaluate
from zephyrus.evaluation.judgements import JUDGEMENTS
from zephyrus.judge import make_judge

ENV = NoteEnv(EVENTS)
PASSES = 2
JUDGEMENTS_WANTED = len(EVENTS) * PASSES
# Each report: a rubric, its claims, two verdict requests, in each pass; each reference once.
REQUESTS = len(EVENTS) * (PASSES * 4 + 1)


def judge_at(url, cache, **options):
    judge = make_judge(f"openai:m@{url}", cache=cache, **options)
    judge.asking.endpoint.first_wait = 0.01
    return judge


def judged(run, judge):
    return evaluate(run, ENV, judge, passes=PASSES, concurrency=4, progress=False)


def scores(evaluation):
    (result,) = evaluation.judges.values()
    return (
        dict(result.scores),
        {side: dict(counts) for side, counts in result.labels.items()},
        evaluation.average,
        (result.wanted, result.judged, result.missing, result.invalid, result.empty),
    )


class Counting(OpenAIServer):
    """Counts the questions that got a whole and true answer; ``holds_at`` makes it fall silent."""

    def __init__(self, holds_at=None):
        super().__init__(self._answer)
        self.answered = Counter()
        self.holds_at = holds_at

    def _answer(self, body):
        question = body["messages"][-1]["content"].split("\n\nAn earlier answer")[0]
        self.answered[question] += 1
        if self.holds_at and self.answered.total() >= self.holds_at:
            self.delay = 60
        return answer(body)


@pytest.fixture
def undisturbed(tmp_path):
    server = Counting()
    run = make_run(tmp_path / "calm", ENV, EVENT_REPORTS)
    with server.running():
        found = judged(run, judge_at(server.url, tmp_path / "calm.sqlite"))
    assert found.missing == 0 and server.answered.total() == REQUESTS
    return scores(found)


def broken(text):
    """A completion whose content is this text."""
    reply = {"choices": [{"index": 0, "message": say(text), "finish_reason": "stop"}]}
    return Fault(raw=json.dumps(reply))


def test_refusals_stalls_and_nonsense_change_no_number(tmp_path, undisturbed):
    server = Counting()
    server.faults = [
        Fault(503),
        Fault(drop=True),
        Fault(429, headers={"Retry-After": "0"}),
        Fault(cut=True),
        Fault(raw="<html>busy</html>"),
        broken('{"id": "12'),
        broken("I would say it is quite good, 8 out of 10."),
        broken('{"id": "000000000000", "verdicts": [], "claims": [], "criteria": {}}'),
        Fault(delay=1.5),
        Fault(500),
    ]
    run = make_run(tmp_path / "r", ENV, EVENT_REPORTS)
    with server.running():
        judge = judge_at(server.url, tmp_path / "c.sqlite", timeout=0.8, retries=8)
        found = judged(run, judge)
    assert server.faults == [], "all of them were met"
    assert scores(found) == undisturbed
    assert set(server.answered.values()) == {1}, "no question was paid for twice"


def test_a_judge_server_that_dies_and_comes_back_elsewhere(tmp_path, undisturbed):
    run = make_run(tmp_path / "r", ENV, EVENT_REPORTS)
    cache = tmp_path / "c.sqlite"
    first, second = Counting(), Counting()
    first.delay = 0.005
    result = []
    with first.running():
        judge = judge_at(first.url, cache, retries=1)
        work = threading.Thread(target=lambda: result.append(judged(run, judge)))
        work.start()
        deadline = time.monotonic() + 30
        while first.answered.total() < 30 and time.monotonic() < deadline:
            time.sleep(0.002)
    work.join(60)
    (halfway,) = result
    assert 0 < halfway.missing < JUDGEMENTS_WANTED
    part = next(iter(halfway.judges.values()))
    assert part.judged + part.missing == JUDGEMENTS_WANTED
    assert part.scores["f1"].mean is None or part.scores["f1"].mean > 0.05, "nothing became a 0"
    assert part.reasons and "no answer" in " ".join(part.reasons)
    with second.running():
        found = judged(run, judge_at(second.url, cache))
    assert scores(found) == undisturbed
    # What was under way when the server died may be asked again, and nothing else.
    twice = set(first.answered) & set(second.answered)
    assert len(twice) <= 4 * 3
    assert set(second.answered.values()) == {1}
    assert len(set(first.answered) | set(second.answered)) == REQUESTS


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_a_killed_evaluation_goes_on_and_asks_nothing_twice(tmp_path, undisturbed):
    run = make_run(tmp_path / "r", ENV, EVENT_REPORTS)
    cache = tmp_path / "c.sqlite"
    worker = Path(__file__).with_name("evaluation_worker.py")
    servers = []
    for holds_at in (17, 25):
        server = Counting(holds_at)
        servers.append(server)
        with server.running():
            child = subprocess.Popen([sys.executable, worker, run.path, server.url, cache])
            deadline = time.monotonic() + 60
            while server.answered.total() < holds_at and time.monotonic() < deadline:
                assert child.poll() is None
                time.sleep(0.01)
            time.sleep(0.5)  # every answer is on the disk; the rest waits for the server
            child.send_signal(signal.SIGKILL)
            assert child.wait(10) == -signal.SIGKILL
    file = run.path / JUDGEMENTS
    before = file.read_bytes()
    file.write_bytes(before + b'{"key": ["e1", 0, 0, "op')  # a write torn by the kill
    last = Counting()
    servers.append(last)
    with last.running():
        found = judged(run, judge_at(last.url, cache))
    assert scores(found) == undisturbed
    paid = sum((server.answered for server in servers), Counter())
    assert len(paid) == REQUESTS and set(paid.values()) == {1}
    text = file.read_text()
    assert text.startswith(before.decode()), "nothing that was kept is touched"
    keys = [json.loads(line)["key"] for line in text.splitlines() if "key" in json.loads(line)]
    assert len(keys) == JUDGEMENTS_WANTED == len({tuple(key) for key in keys})
    usage = next(iter(found.judges.values())).usage
    assert usage["requests"] + usage["cached"] >= len(keys)


@pytest.mark.slow
@pytest.mark.skipif(os.name != "posix", reason="signals")
def test_ctrl_c_keeps_what_was_said(tmp_path):
    run = make_run(tmp_path / "r", ENV, EVENT_REPORTS)
    server = Counting(holds_at=20)
    worker = Path(__file__).with_name("evaluation_worker.py")
    with server.running():
        child = subprocess.Popen(
            [sys.executable, worker, run.path, server.url, tmp_path / "c.sqlite"],
            stderr=subprocess.PIPE,
            text=True,
        )
        deadline = time.monotonic() + 60
        while server.answered.total() < 20 and time.monotonic() < deadline:
            time.sleep(0.01)
        time.sleep(0.3)
        child.send_signal(signal.SIGINT)
        _, told = child.communicate(timeout=20)
    assert child.returncode == 1
    assert "WorkError: stopped; every judgement that was made is kept" in told
    assert not list(run.path.glob("*.part")) and not (run.path / "evaluation.json").exists()
    rows = [json.loads(line) for line in (run.path / JUDGEMENTS).read_text().splitlines()]
    assert sum("key" in row for row in rows) >= 2


def test_a_server_that_never_answers_is_missing_everywhere(tmp_path):
    run = make_run(tmp_path / "r", ENV, EVENT_REPORTS)
    server = OpenAIServer(answer)
    server.faults = [Fault(400, {"message": "no"}) for _ in range(1000)]
    with server.running():
        found = judged(run, judge_at(server.url, tmp_path / "c.sqlite", retries=0))
    (result,) = found.judges.values()
    assert result.missing == JUDGEMENTS_WANTED and result.judged == 0
    assert all(score.mean is None for score in result.scores.values())
    assert found.average.mean is None
