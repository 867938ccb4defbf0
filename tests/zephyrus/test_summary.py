import io
import json
import math
import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console
from scipy import stats

from zephyrus.limits import StopReason
from zephyrus.messages import Usage
from zephyrus.summary import mean_interval, summarise
from zephyrus.trajectory import CallRecord, Key, Trajectory
from zephyrus.view.summary import render

unit = st.floats(0, 1)


def made(name="t0", score=1.0, repeat=0, template="a", answer_type="numerical", **more):
    rewards = {"score": score, "reward": score / 2}
    facts = {"template": template, "answer_type": answer_type}
    values = {"stop": StopReason.ANSWERED, "rewards": rewards, "task": facts, **more}
    return Trajectory(Key(name, 0, repeat), **values)


@pytest.mark.parametrize(("right", "n"), [(0, 5), (1, 1), (3, 7), (62, 125), (125, 125)])
@pytest.mark.parametrize("level", [0.95, 0.8])
def test_without_repeats_it_is_wilsons_interval(right, n, level):
    scores = {str(i): [float(i < right)] for i in range(n)}
    oracle = stats.binomtest(right, n).proportion_ci(level, "wilson")
    assert mean_interval(scores, level) == pytest.approx((oracle.low, oracle.high), abs=1e-12)


def test_repeats_that_agree_count_as_one():
    once = {str(i): [float(i < 3)] for i in range(8)}
    often = {task: scores * 50 for task, scores in once.items()}
    low, high = mean_interval(once)
    assert mean_interval(often) == pytest.approx((low, high), abs=1e-12)


def test_repeats_that_say_nothing_of_each_other_count_each():
    scores = {str(i): [1.0, 0.0, 1.0, 0.0] for i in range(10)}
    oracle = stats.binomtest(20, 40).proportion_ci(0.95, "wilson")
    assert mean_interval(scores) == pytest.approx((oracle.low, oracle.high), abs=1e-12)


def test_in_between_the_design_effect_decides():
    """Against the textbook formulas, written with numpy: ratio estimator, Wilson's bounds."""
    rng = np.random.default_rng(3)
    scores = {
        str(i): list(rng.binomial(1, rng.beta(2, 2), rng.integers(2, 6)).astype(float))
        for i in range(30)
    }
    m = np.array([len(s) for s in scores.values()])
    y = np.array([sum(s) for s in scores.values()])
    p = y.sum() / m.sum()
    variance = np.var(y - p * m, ddof=1) * len(m) / m.sum() ** 2
    n = p * (1 - p) / variance
    assert len(m) < n < m.sum()
    z = stats.norm.ppf(0.975)
    roots = np.roots([1 + z**2 / n, -(2 * p + z**2 / n), p**2])  # |p − q| = z √(q(1−q)/n)
    assert mean_interval(scores) == pytest.approx(tuple(sorted(roots)), abs=1e-12)


@pytest.mark.parametrize("repeats", [1, 4])
@pytest.mark.parametrize("partial", [False, True])
def test_it_covers_the_mean_as_often_as_it_says(repeats, partial):
    """40 tasks of random difficulty, drawn 1000 times; the mean over all tasks is 0.7."""
    rng = np.random.default_rng(repeats + 10 * partial)
    covered = 0
    for _ in range(1000):
        chance = rng.beta(1.4, 0.6, (40, 1))
        drawn = rng.binomial(1, chance, (40, repeats)) * 1.0
        if partial:
            drawn = rng.beta(7 * np.ones((40, repeats)), 3)
        low, high = mean_interval({str(i): list(row) for i, row in enumerate(drawn)})
        covered += low <= 0.7 <= high
    assert covered >= 935, "95 % less what 1000 draws may miss"


@given(st.dictionaries(st.text(max_size=3), st.lists(unit, min_size=1, max_size=4), min_size=1))
@settings(max_examples=200, deadline=None)
def test_the_interval_holds_the_mean_and_stays_in_bounds(scores):
    values = [s for repeats in scores.values() for s in repeats]
    low, high = mean_interval(scores)
    assert 0 <= low <= math.fsum(values) / len(values) + 1e-9
    assert math.fsum(values) / len(values) - 1e-9 <= high <= 1
    assert high - low > 0, "even when every score is the same"
    flipped = mean_interval({task: [1 - s for s in repeats] for task, repeats in scores.items()})
    assert flipped == pytest.approx((1 - high, 1 - low), abs=1e-6)


def test_no_interval_where_there_is_none():
    assert mean_interval({}) is None
    assert mean_interval({"a": [-0.5], "b": [1.0]}) is None


def test_accuracy_by_template_and_answer_type():
    summary = summarise(
        [
            made("t0", 1.0, 0, "a", "numerical"),
            made("t0", 0.0, 1, "a", "numerical"),
            made("t1", 0.5, 0, "b", "location"),
            made("t2", 1.0, 0, "b", "numerical"),
        ]
    )
    assert summary["accuracy"] == 0.625 and summary["scored"] == 4 and summary["tasks"] == 3
    assert {k: (v["n"], v["accuracy"]) for k, v in summary["templates"].items()} == {
        "a": (2, 0.5),
        "b": (2, 0.75),
    }
    assert {k: (v["n"], v["accuracy"]) for k, v in summary["answer_types"].items()} == {
        "location": (1, 0.5),
        "numerical": (3, 2 / 3),
    }
    assert summary["rewards"] == {"score": 0.625, "reward": 0.3125}
    oracle = stats.binomtest(1, 2).proportion_ci(0.95, "wilson")
    # one task in template a: two rollouts of it tell no more than one would
    low, high = summary["templates"]["a"]["accuracy_ci95"]
    assert high - low > oracle.high - oracle.low


def test_tool_use_by_hand():
    """Seven calls in three turns that executed something, three of them failed."""
    calls = [
        CallRecord(0, "dataset", "{}"),
        CallRecord(0, "dataset", "{}", "tool_error"),
        CallRecord(0, "features", "{}"),
        CallRecord(2, "dataset", "{", "malformed_json"),
    ]
    facts = {"template": "a", "required_tools": ["dataset"]}
    summary = summarise(
        [
            made("t0", calls=calls, turns=4, recovered_calls=2, task=facts, usage=Usage(100, 10)),
            made(
                "t1",
                calls=[
                    CallRecord(1, "dataset", "{}", "tool_error"),
                    CallRecord(1, "features", "{}"),
                    CallRecord(1, "features", "{}"),
                ],
                turns=3,
                task=facts,
                usage=Usage(50, 5),
            ),
            made("t2", turns=1, stop=StopReason.TURNS, seconds=3.0, policy_seconds=1.5),
        ]
    )
    assert summary["failure_rate"] == 3 / 7 and summary["tools_per_turn"] == 7 / 3
    assert summary["required_tool_rate"] == 0.5, "of the two tasks that require a tool"
    assert summary["errors"] == {"tool_error": 2, "malformed_json": 1}
    assert summary["tools"] == {
        "dataset": {"calls": 4, "failed": 3},
        "features": {"calls": 3, "failed": 0},
    }
    assert summary["turns"] == {"total": 8, "mean": 8 / 3} and summary["tool_calls"] == 7
    assert summary["tokens"] == {"prompt": 150, "completion": 15}
    assert summary["recovered_calls"] == 2
    assert summary["stop_reasons"] == {"answered": 2, "turns": 1}
    assert summary["seconds"] == {"mean": 1.0, "policy": 0.5}


def test_what_broke_is_counted_apart_and_never_as_zero():
    broken = made("t9", stop=StopReason.ERROR, rewards=None, error="Traceback\n  x\nOSError: gone")
    broken.calls = [CallRecord(0, "dataset", "{}", "infrastructure")]
    summary = summarise([made("t0"), broken])
    assert summary["accuracy"] == 1.0 and summary["rollouts"] == 1
    assert summary["tool_calls"] == 0 and summary["failure_rate"] is None
    assert summary["infrastructure"] == {"errors": 1, "reasons": {"OSError: gone": 1}}
    assert summary["stop_reasons"] == {"answered": 1}


def test_nothing_to_summarise():
    summary = summarise([])
    assert summary["accuracy"] is None and summary["accuracy_ci95"] is None
    assert summary["rollouts"] == summary["scored"] == 0 and summary["rewards"] == {}
    assert summary["required_tool_rate"] is summary["tools_per_turn"] is None
    assert "–" in shown(summary)


def test_rewards_without_a_verifier():
    summary = summarise([made("t0", rewards={"reward": 0.5, "style": 0.25})])
    assert summary["accuracy"] is None and summary["scored"] == 0 and summary["rollouts"] == 1
    assert summary["rewards"] == {"reward": 0.5, "style": 0.25}


def shown(summary, title=""):
    out = io.StringIO()
    Console(file=out, width=100).print(render(summary, title))
    return out.getvalue()


def test_the_table_says_it_all():
    trajectories = [made(f"t{i}", float(i % 2), template=f"row {i % 3}") for i in range(30)]
    trajectories[0].calls = [CallRecord(0, "f", "{}", "timeout"), CallRecord(0, "f", "{}")]
    trajectories[1].recovered_calls = 1
    trajectories.append(made(stop=StopReason.ERROR, rewards=None, error="gone"))
    text = shown(summarise(trajectories), "runs/x")
    oracle = stats.binomtest(15, 30).proportion_ci(0.95, "wilson")
    for part in (
        "runs/x",
        "template row 2",
        "answer type numerical",
        f"{oracle.low:.3f}–{oracle.high:.3f}",
        "50.0 %",
        "timeout 1",
        "answered 30",
        "infrastructure errors (not scored)",
        "recovered",
    ):
        assert part in text


def test_every_required_tool_must_have_succeeded():
    facts = {"required_tools": ["dataset", "climatology"]}
    one = [CallRecord(0, "dataset", "{}"), CallRecord(0, "climatology", "{}", "tool_error")]
    both = [*one, CallRecord(1, "climatology", "{}")]
    trajectories = [made("t0", task=facts, calls=one), made("t1", task=facts, calls=both)]
    assert [t.used_required_tools() for t in trajectories] == [False, True]
    assert made(task={}, calls=[]).used_required_tools(), "none is required"
    assert summarise(trajectories)["required_tool_rate"] == 0.5
    assert summarise([made(calls=one)])["required_tool_rate"] is None


def test_the_table_says_what_broke():
    def broken(i, error):
        return made(f"b{i}", stop=StopReason.ERROR, rewards=None, error=error)

    many = [broken(i, f"reason {i} of many {'x' * 200}") for i in range(7)]
    text = shown(summarise([made(), *many, broken(8, "503"), broken(9, "503")]))
    rows = {
        cells[1].strip(): cells[2].strip()
        for line in text.splitlines()
        if len(cells := line.split("│")) == 4
    }
    assert rows["infrastructure errors (not scored)"] == "9" and rows["503"] == "2"
    assert rows["other reasons"] == "3"
    assert sum(row.startswith("reason ") and row.endswith("…") for row in rows) == 4
    assert max(map(len, rows)) <= 50


def test_names_are_no_markup_and_drive_no_terminal():
    trajectory = made(
        template="t[/x][red]",
        answer_type="a[/]",
        rewards={"score": 1.0, "r[/b]": 0.5, "reward": 1.0},
        calls=[CallRecord(0, "f", "{}", "odd[/i]")],
    )
    error = "no [/such] thing \x1b[31m"
    broken = made(stop=StopReason.ERROR, rewards=None, error=error)
    text = shown(summarise([trajectory, broken]), "runs/[/y]")
    for part in ("t[/x][red]", "a[/]", "r[/b]", "odd[/i] 1", "runs/[/y]", "no [/such] thing"):
        assert part in text
    assert "\x1b" not in text


def test_numbers_have_the_digits_that_they_deserve():
    def rows(seconds):
        return shown(summarise([made(turns=3, seconds=seconds)]))

    assert "2 ms" in rows(0.0021) and "12.3 s" in rows(12.34) and "1,234.5 s" in rows(1234.5)
    assert "3.0" in rows(1.0)


@given(st.lists(st.tuples(st.sampled_from("abc"), unit), max_size=30))
@settings(deadline=None)
def test_order_does_not_matter_and_all_is_json(rows):
    trajectories = [made(task, score, i, template=task) for i, (task, score) in enumerate(rows)]
    one = summarise(trajectories)
    random.Random(0).shuffle(trajectories)
    other = summarise(iter(trajectories))
    assert json.loads(json.dumps(one)) == one
    assert one["accuracy_ci95"] == pytest.approx(other["accuracy_ci95"])
    assert one["templates"].keys() == other["templates"].keys()
    assert one["accuracy"] == other["accuracy"]
