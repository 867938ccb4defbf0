"""What the tests of Report share: the shipped events, and a judge that needs no model."""

import asyncio
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from zephyrus.errors import JudgeError
from zephyrus.judge.base import Claim, Judge, JudgeUsage, Label, RubricScores, Verdict
from zephyrus.messages import Message, Reply
from zephyrus.task import TaskSet
from zephyrus_geodata import load_dataset
from zephyrus_report.env import BANKS, ReportEnv

sys.path.insert(0, str(Path(__file__).parents[1] / "zephyrus"))  # for openai_server
sys.path.insert(0, str(Path(__file__).parent))  # for bulletins


class SentenceJudge(Judge):
    """A claim is a sentence; a text supports it if it has the same one. The rubric is its pass.

    Attributes:
        down: Parts that can't be had: "claims", "verdicts", "rubric".
        asked: Every request, in order.
    """

    name = "sentences"

    def __init__(self, *down: str) -> None:
        self.usage = JudgeUsage()
        self.down = set(down)
        self.asked: list[tuple[str, int]] = []

    async def claims(self, text, *, scoring_pass=0):
        self._ask("claims", scoring_pass)
        return tuple(Claim(s) for s in _sentences(text))

    async def verdicts(self, claims, text, *, scoring_pass=0):
        self._ask("verdicts", scoring_pass)
        known = _sentences(text)
        labels = {True: Label.SUPPORTED, False: Label.NEUTRAL}
        return tuple(Verdict(claim, labels[claim.text in known]) for claim in claims)

    async def rubric(self, brief, *, scoring_pass=0):
        self._ask("rubric", scoring_pass)
        keys = [criterion.key for criterion in brief.rubric.criteria]
        return RubricScores(brief.rubric.id, dict.fromkeys(keys, 1 + 3 * scoring_pass))

    def _ask(self, part, scoring_pass):
        self.asked.append((part, scoring_pass))
        if part in self.down:
            raise JudgeError(f"the judge gives no {part}")


def _sentences(text):
    return [sentence.strip() for sentence in text.split(".") if sentence.strip()]


@pytest.fixture(scope="session")
def demo():
    return load_dataset("demo")


@pytest.fixture(scope="session")
def events():
    return TaskSet.load(BANKS / "demo.jsonl.gz")


@pytest.fixture(scope="session")
def env(demo, events):
    made = ReportEnv(dataset=demo, bank=events)
    yield made
    made.close()


@pytest.fixture
def event(env):
    """One short-range event."""
    return env.tasks()["report-demo-1959-10-19-western-europe-d1-2"]


@pytest.fixture
def sentence_judge():
    return SentenceJudge


@pytest.fixture(scope="session")
def drive():
    """Runs a script, or messages, through an episode; gives back the trajectory."""
    return run_script


@pytest.fixture(scope="session")
def some(env):
    """A few of the test events, of several regions and each style."""
    return list(env.tasks())[::7]


@pytest.fixture(scope="session")
def solved(env, some):
    """What the scripted reporter does with each of them, by task id."""
    return {task.id: run_script(env, task, env.script(task)) for task in some}


def run_script(env, task, script):
    async def go():
        episode = env.begin(task)
        steps = script if hasattr(script, "send") else _script(script)
        message = next(steps)
        while True:
            seen = await episode.step(Reply(message))
            if episode.done:
                return episode.trajectory
            message = steps.send(seen)

    return asyncio.run(go())


def _script(texts):
    for text in texts:
        yield Message("assistant", text)
    while True:
        yield Message("assistant", "…")


@pytest.fixture
def blank():
    """A task without whatever a policy must not see."""

    def strip(task):
        return replace(task, gold="", provenance={}, required_tools=())

    return strip
