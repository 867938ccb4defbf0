"""Outages: what could not be judged is waited for, and never taken for a reward of 0."""

import pytest
from openai_server import Fault, OpenAIServer, say

from zephyrus.errors import UserError, WorkError
from zephyrus.policy.scripted import ScriptedPolicy
from zephyrus.registry import make
from zephyrus.training.sampling import BrokenError, OutageError, Patience, sample, until_done

pytest.importorskip("zephyrus_report")


def test_pauses_double_up_to_the_longest_and_end_with_the_patience():
    pauses, said = [], []

    def attempt():
        raise OutageError("the judge is away")

    patience = Patience(60.0, 4.0, 10.0, sleep=pauses.append, say=said.append)
    with pytest.raises(WorkError, match="the judge is away; everything is kept"):
        until_done(attempt, patience)
    assert pauses == [4.0, 8.0, 10.0, 10.0, 10.0, 10.0]
    assert said[1] == "paused for 8 s: the judge is away"


def test_what_breaks_by_itself_is_not_tried_for_ever():
    tried = []

    def attempt():
        tried.append(1)
        raise BrokenError("a bug")

    with pytest.raises(WorkError, match="a bug"):
        until_done(attempt, Patience(tries=3, sleep=lambda s: None, say=lambda text: None))
    assert len(tried) == 3


def test_it_goes_on_once_the_outage_is_over():
    left = iter([OutageError("away"), BrokenError("broke"), None])

    def attempt():
        error = next(left)
        if error:
            raise error
        return "done"

    assert until_done(attempt, Patience(sleep=lambda s: None, say=lambda text: None)) == "done"


class Away:
    """A judge's server that goes away after some requests, in the middle of what is asked."""

    def __init__(self, server, after):
        self.server, self.left = server, after
        self.answer = server.answer
        server.answer = self.count

    def count(self, body):
        self.left -= 1
        if self.left == 0:
            self.go()
        return self.answer(body)

    def go(self):
        self.server.faults = [Fault(drop=True) for _ in range(100_000)]
        self.server.models_status = 503

    def come_back(self):
        self.server.faults = []
        self.server.models_status = 200


@pytest.fixture
def judged():
    """A server that judges, and an environment of reports that asks it."""
    from judge_server import answer

    with OpenAIServer(answer).running() as server:
        from zephyrus.judge import make_judge

        judge = make_judge(f"openai:m@{server.url}", cache=False, retries=0)
        yield server, make("report", judge=judge, compact=True, split="train")


def rewards(found):
    return [(t.key, t.rewards) for t in found]


def test_a_judge_that_goes_away_in_the_middle_is_waited_for(judged, tmp_path):
    server, env = judged
    tasks = list(env.tasks().take(3))
    policy = ScriptedPolicy()
    undisturbed = sample(env, policy, tasks, tmp_path / "a", repeats=2)
    away, pauses = Away(server, after=5), []

    def sleep(seconds):
        pauses.append(seconds)
        if len(pauses) == 2:
            away.come_back()

    patience = Patience(1e6, sleep=sleep, say=lambda text: None)
    found = sample(env, policy, tasks, tmp_path / "b", repeats=2, patience=patience)
    assert pauses == [10.0, 20.0]
    assert rewards(found) == rewards(undisturbed)
    assert all(t.rewards["f1"] == 1.0 or t.rewards["reward"] > 0 for t in found)


def test_a_judge_that_stays_away_stops_the_work_with_everything_kept(judged, tmp_path):
    from zephyrus.run import Run

    server, env = judged
    tasks = list(env.tasks().take(2))
    away = Away(server, after=1)
    patience = Patience(25.0, sleep=lambda s: None, say=lambda text: None)
    with pytest.raises(WorkError, match="everything is kept, and the same again goes on"):
        sample(env, ScriptedPolicy(), tasks, tmp_path / "run", patience=patience)
    kept = list(Run.open(tmp_path / "run"))
    assert len(kept) == 2
    assert [t.rewards for t in kept] == [None, None]  # and not 0
    away.come_back()
    found = sample(env, ScriptedPolicy(), tasks, tmp_path / "run")
    assert all(t.rewards["reward"] > 0 for t in found)
    assert len(Run.open(tmp_path / "run")) == 2  # nothing was rolled out again


def test_a_judge_that_is_not_there_when_work_begins_is_the_users_to_start(judged, tmp_path):
    server, env = judged
    Away(server, after=1).go()
    with pytest.raises(UserError, match="503"):
        sample(env, ScriptedPolicy(), list(env.tasks().take(1)), tmp_path / "run", under_way=False)


def test_a_rollout_that_the_judge_fails_on_for_ever_stays_without_a_score(judged, tmp_path):
    server, env = judged
    tasks = list(env.tasks().take(3))
    answer, bad = server.answer, tasks[1].gold

    def refuses_one(body):
        asked = any(bad[:300] in message["content"] for message in body["messages"])
        return say("?") if asked else answer(body)

    server.answer = refuses_one
    pauses = []
    patience = Patience(1e6, tries=3, sleep=pauses.append, say=lambda text: None)
    found = sample(env, ScriptedPolicy(), tasks, tmp_path / "run", patience=patience)
    assert len(pauses) == 2
    assert [t.rewards is None for t in found] == [False, True, False]
