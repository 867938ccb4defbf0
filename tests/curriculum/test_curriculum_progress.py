import io

import pytest
from curriculum_runs import stage
from rich.console import Console

from zephyrus.curriculum.progress import CurriculumProgress, duration, facts
from zephyrus.curriculum.read import to_recipe
from zephyrus.limits import StopReason
from zephyrus.messages import Usage
from zephyrus.trajectory import Key, Trajectory

STEP = {
    "step": 3,
    "seconds": 12.0,
    "reward": 0.41,
    "accuracy": 0.375,
    "tool_rate": 0.98,
    "failure_rate": None,
    "tools_per_turn": 1.25,
    "kl": 0.00123,
    "tokens_per_second": 27.4,
    "rewards": {"reward": 0.41},
}


class Clock:
    def __init__(self):
        self.now = 0.0

    def __call__(self):
        return self.now


@pytest.fixture
def recipe():
    stages = [stage("rsft", 20), stage("rl", 60), stage("rl", 5, name="rl-2nd")]
    return to_recipe({"name": "t", "model": {"name": "m"}, "stages": stages}, "t")


def shown(recipe, terminal, clock=None):
    file = io.StringIO()
    console = Console(file=file, force_terminal=terminal, width=140, color_system=None)
    return CurriculumProgress(recipe, console, clock or Clock()), file


def rollout(score, tokens=10, stop=StopReason.ANSWERED):
    return Trajectory(
        Key("t", 0, 0),
        stop=stop,
        rewards=None if score is None else {"score": score, "reward": 0.0},
        usage=Usage(5, tokens),
    )


def test_a_line_has_the_numbers_that_there_are():
    assert facts(STEP) == [
        "reward 0.410",
        "accuracy 0.375",
        "required tool 98%",
        "1.25 tools/turn",
        "KL 0.0012",
        "27 tokens/s",
    ]
    report = {
        "reward": 0.5,
        "rewards": {"rubric": 0.75, "f1": 0.25},
        "weights": {"rubric": 0.5, "f1": 0.5},
    }
    assert facts(report) == [
        "reward 0.500",
        "rubric 0.750",
        "f1 0.250",
        "weights rubric 0.50, f1 0.50",
    ]
    assert facts({"loss": float("nan"), "kl": None}) == []
    assert facts({"rewards": {"rubric": None, "f1": 0.25}}) == ["f1 0.250"]
    assert facts({"rewards": {"reward": None}, "weights": None}) == []


def test_without_a_terminal_there_is_a_plain_line_a_step(recipe):
    clock = Clock()
    progress, file = shown(recipe, terminal=False, clock=clock)
    with progress:
        progress.phase("rl: train")
        progress.step(STEP)
        clock.now = 20.0  # 20 s for a step, an evaluation included
        progress.step({**STEP, "step": 4})
        progress.step({"step": 4, "held_out": 0.5})
        progress.phase("rl: held-out accuracy 0.500 at step 60, all tasks")
        progress.phase("rl: train")
        progress.rollouts.start(4, 1, None)
        progress.rollouts.update(rollout(1.0))
        progress.rollouts.stop()
        progress.say("paused for 10 s: nothing answers [bold]")
    numbers = "reward 0.410 · accuracy 0.375 · required tool 98% · 1.25 tools/turn · KL 0.0012"
    assert file.getvalue().splitlines() == [
        "rl: train",
        f"rl step 3/60: {numbers} · 27 tokens/s · 12 s · about 11 min left",
        f"rl step 4/60: {numbers} · 27 tokens/s · 12 s · about 19 min left",
        "rl step 4: held-out accuracy 0.500",
        "rl: held-out accuracy 0.500 at step 60, all tasks",
        "paused for 10 s: nothing answers [bold]",
    ]


def test_in_a_terminal_there_is_a_bar_for_each_stage(recipe):
    progress, file = shown(recipe, terminal=True)
    with progress:
        progress.phase("rsft: roll out, and keep the successes")
        progress.rollouts.start(8, 2, None)
        progress.rollouts.update(rollout(1.0))
        progress.rollouts.update(rollout(0.5))
        progress.rollouts.update(rollout(None, stop=StopReason.ERROR))
        assert progress.rollouts.words.startswith("4 of 8 rollouts · mean score 0.750 · 1 broke · ")
        progress.rollouts.stop()
        assert progress.rollouts.words == ""
        progress.phase("rl: train")
        progress.step(STEP)
        progress.step({"step": 3, "held_out": 0.5})
    last = file.getvalue().rsplit("rl step 3: held-out accuracy 0.500", 1)[1]
    assert "20/20" in last, "a stage that is over"
    assert "3/60 about 11 min left" in last
    assert "0/5" in last
    assert "reward 0.410 · accuracy 0.375" in last and "held-out accuracy 0.500" in last


def test_the_stage_is_known_by_its_whole_name(recipe):
    progress, file = shown(recipe, terminal=False)
    with progress:
        progress.phase("rl-2nd: train")
        progress.step({"step": 5})
    assert file.getvalue().splitlines()[1] == "rl-2nd step 5/5: "


def test_what_others_wrote_drives_no_terminal(recipe):
    progress, file = shown(recipe, terminal=True)
    with progress:
        progress.say("\x1b]0;owned\x07 [red]text[/red]")
    assert "\x1b]0;" not in file.getvalue() and "[red]text[/red]" in file.getvalue()


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (0, "0 s"),
        (99.4, "99 s"),
        (100, "2 min"),
        (3569, "59 min"),
        (3571, "1 h 0 min"),
        (9000, "2 h 30 min"),
    ],
)
def test_times_in_words(seconds, words):
    assert duration(seconds) == words
