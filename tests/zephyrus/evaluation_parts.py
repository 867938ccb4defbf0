"""An environment with texts, a judge that reads them, and runs made of them, for evaluation tests.

The judge takes sentences for claims. A claim is SUPPORTED if the other text has the sentence,
REFUTED if it has the sentence with "not " before it, else NEUTRAL. A rubric criterion scores 1 plus
the words of the report, 10 at most, and the pass number on top where the judge is not
deterministic.
"""

import asyncio
import hashlib

import yaml

from zephyrus.env import ToolEnv
from zephyrus.errors import JudgeError, UserError
from zephyrus.judge.base import (
    Brief,
    Claim,
    Criterion,
    Judge,
    JudgeUsage,
    Label,
    Rubric,
    RubricScores,
    Verdict,
)
from zephyrus.limits import StopReason
from zephyrus.messages import Message
from zephyrus.run import Run
from zephyrus.task import Task, TaskSet
from zephyrus.trajectory import Key, Trajectory

assert yaml, "imported here so that a child process starts at once"

RUBRIC = Rubric(
    "test-rubric",
    "1",
    "Read.",
    (
        Criterion("clear", "Clarity", "Is it clear?", {1: "no", 10: "yes"}),
        Criterion("deep", "Depth", "Is it deep?", {1: "no", 10: "yes"}),
    ),
)


class NoteEnv(ToolEnv):
    """Write a note."""

    name = "note"

    def __init__(self, references=None, **options):
        super().__init__(**options)
        self.references = references or {"e1": "Rain falls. Wind blows.", "e2": "Snow lies."}
        self._tasks = TaskSet(
            [
                Task(name, f"Write about {name}.", gold=text, template="note")
                for name, text in self.references.items()
            ],
            "notes",
        )

    def tasks(self, split=None):
        return self._tasks

    def world(self, task):
        return {}

    def system_prompt(self):
        return "Write."

    def read_answer(self, text):
        return text.split("<answer>")[1].split("</answer>")[0] if "<answer>" in text else None

    def score(self, task, trajectory):
        return {"reward": float(bool(trajectory.answer))}

    def brief(self, task, trajectory):
        return Brief(trajectory.answer or "", task.gold, RUBRIC, f"about {task.id}")


def sentences(text):
    return [part.strip() for part in text.split(".") if part.strip()]


class WordJudge(Judge):
    """See the module. ``asked`` counts requests, ``down`` makes them fail."""

    def __init__(self, name="words", deterministic=True, version=1):
        self.name = name
        self.deterministic = deterministic
        self.version = version
        self.usage = JudgeUsage()
        self.asked = []
        self.down = False
        self.broken = False
        self.down_for = ()
        self.checks = 0
        self.closed = 0

    async def check(self):
        self.checks += 1
        if self.broken:
            raise UserError(f"nothing answers for {self.name}")

    async def close(self):
        self.closed += 1

    def describe(self):
        return {"name": self.name, "version": self.version, "base_url": f"at {id(self)}"}

    async def _ask(self, what, text, scoring_pass):
        await asyncio.sleep(0)
        self.asked.append((what, text, scoring_pass))
        if self.down or what in self.down_for:
            raise JudgeError(f"{self.name} is down")
        self.usage.requests += 1
        self.usage.prompt_tokens += 10
        self.usage.cost_usd += 0.25

    async def claims(self, text, *, scoring_pass=0):
        await self._ask("claims", text, scoring_pass)
        return tuple(Claim(s, s) for s in sentences(text))

    async def verdicts(self, claims, text, *, scoring_pass=0):
        await self._ask("verdicts", text, scoring_pass)
        found = {s.lower() for s in sentences(text)}
        return tuple(
            Verdict(c, Label.SUPPORTED, c.text, "said")
            if c.text.lower() in found
            else Verdict(c, Label.REFUTED, f"not {c.text}", "denied")
            if f"not {c.text.lower()}" in found
            else Verdict(c, Label.NEUTRAL)
            for c in claims
        )

    async def rubric(self, brief, *, scoring_pass=0):
        await self._ask("rubric", brief.report, scoring_pass)
        bonus = 0 if self.deterministic else scoring_pass
        score = min(10, 1 + len(brief.report.split()) + bonus)
        return RubricScores(
            brief.rubric.id, {"clear": score, "deep": max(1, score - 1)}, {"clear": "counted"}
        )


def make_run(folder, env, reports, policy="writer"):
    """A run folder; ``reports`` maps (task, repeat) to a text, or to None for no answer."""
    config = {
        "env": {"name": "note", "split": "test"},
        "policy": {"name": policy},
        "n": len({task for task, _ in reports}),
        "repeats": max(repeat for _, repeat in reports) + 1,
        "bank": {"name": "notes", "sha256": hashlib.sha256(b"notes").hexdigest()[:16]},
    }
    with Run.create(folder, config) as run:
        for (name, repeat), text in reports.items():
            task = env.tasks()[name]
            said = "I don't know." if text is None else f"<answer>{text}</answer>"
            messages = [
                Message("system", "Write."),
                Message("user", task.prompt),
                Message("assistant", said),
            ]
            trajectory = Trajectory(
                Key(name, 0, repeat),
                messages=messages,
                turns=1,
                answer=text,
                stop=StopReason.TURNS if text is None else StopReason.ANSWERED,
                task=task.facts(),
            )
            trajectory.rewards = env.score(task, trajectory)
            run.append(trajectory)
        run.write_summary()
    return Run.open(folder)


EVENTS = {f"e{i}": f"Rain falls on day {i}. Wind blows. Day {i + 1} is dry." for i in range(10)}
"""References for tests with more than a handful of events."""

EVENT_REPORTS = {
    (f"e{i}", 0): f"Rain falls on day {i % 4}. Wind blows. Not day {i + 1} is dry. Hail {i}."
    for i in range(10)
}
