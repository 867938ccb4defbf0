"""A run as tables of rollouts, turns and calls."""

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.errors import UserError
from zephyrus.frames import ROLLOUT_COLUMNS, reward_column, to_dataframe
from zephyrus.limits import StopReason
from zephyrus.messages import Image, Message, ToolCall, Usage
from zephyrus.rollouts import arollout, rollout
from zephyrus.run import Run
from zephyrus.trajectory import CallRecord, Key, Trajectory, calls_of

CALLS = (ToolCall("add", '{"a": 1}', "x"), ToolCall("map", "{", "y"))


def made(task="t0", repeat=0, **changes):
    messages = [
        Message("system", "S"),
        Message("user", "Q"),
        Message("assistant", "", "think", CALLS),
        Message("tool", "one", tool_call_id="x", name="add"),
        Message("tool", "Error", tool_call_id="y", name="map"),
        Message("user", "image", images=(Image(b"png"),)),
        Message("assistant", "", tool_calls=(ToolCall("add", "{}", "x"),)),  # the id again
        Message("tool", "two!", tool_call_id="x", name="add"),
        Message("assistant", "answer"),
    ]
    records = [
        CallRecord(0, "add", '{"a": 1}', None, 0.5),
        CallRecord(0, "map", "{", "malformed_json"),
        CallRecord(1, "add", "{}", None, 0.25),
    ]
    facts = {
        "messages": messages,
        "calls": records,
        "turns": 3,
        "answer": "answer",
        "rewards": {"score": 0.5, "reward": 0.25},
        "stop": StopReason.ANSWERED,
        "usage": Usage(7, 3),
        "recovered_calls": 1,
        "seconds": 2.5,
        "policy_seconds": 1.5,
        "task": {"template": "T", "answer_type": "A", "split": "test", "gold": {"x": 1}},
    }
    return Trajectory(Key(task, 4, repeat), **(facts | changes))


def test_a_row_of_a_rollout_has_everything():
    (row,) = to_dataframe([made()]).to_dict("records")
    assert row == {
        "task": "t0",
        "seed": 4,
        "repeat": 0,
        "template": "T",
        "answer_type": "A",
        "split": "test",
        "gold": {"x": 1},
        "answer": "answer",
        "stop": "answered",
        "error": None,
        "unscored": None,
        "turns": 3,
        "calls": 3,
        "failed_calls": 1,
        "recovered_calls": 1,
        "prompt_tokens": 7,
        "completion_tokens": 3,
        "seconds": 2.5,
        "policy_seconds": 1.5,
        "score": 0.5,
        "reward": 0.25,
    }


def test_rows_of_turns():
    frame = to_dataframe([made(), made("t1")], "turns")
    assert list(frame["task"]) == ["t0"] * 3 + ["t1"] * 3
    first = frame[frame["task"] == "t0"].drop(columns=["task", "seed", "repeat"])
    assert first.to_dict("list") == {
        "turn": [1, 2, 3],
        "text": ["", "", "answer"],
        "reasoning": ["think", "", ""],
        "calls": [2, 1, 0],
        "failed_calls": [1, 0, 0],
        "observations": [len("one") + len("Error") + len("image"), len("two!"), 0],
        "images": [1, 0, 0],
    }


def test_rows_of_calls():
    frame = to_dataframe([made()], "calls").drop(columns=["task", "seed", "repeat"])
    assert list(frame.pop("error").isna()) == [True, False, True]
    assert frame.to_dict("list") == {
        "turn": [1, 1, 2],
        "call": [1, 2, 1],
        "tool": ["add", "map", "add"],
        "arguments": ['{"a": 1}', "{", "{}"],
        "seconds": [0.5, 0.0, 0.25],
        "observation": ["one", "Error", "two!"],
    }


def test_calls_that_were_not_recorded_or_not_answered_are_there():
    bare = made(calls=[], messages=[Message("assistant", "", tool_calls=CALLS)])
    ((first, second),) = calls_of(bare)
    assert (first[0].name, first[1]) == ("add", None)
    assert (second[0].arguments, second[1]) == ("{", None)
    assert list(to_dataframe([bare], "calls")["observation"]) == [None, None]


def test_columns_are_there_without_rows():
    assert tuple(to_dataframe([]).columns) == ROLLOUT_COLUMNS
    assert "observation" in to_dataframe([], "calls").columns
    with pytest.raises(UserError, match="a row is one of rollouts, turns, calls, not 'steps'"):
        to_dataframe([], "steps")


parts = st.dictionaries(
    st.sampled_from(["score", "turns", "reward_turns", "reward_reward_turns", "reward", "gold"])
    | st.text(min_size=1),
    st.floats(allow_nan=False),
    min_size=1,
)


@given(st.lists(parts | st.none(), min_size=1, max_size=4))
def test_no_part_of_a_reward_is_lost(rewards):
    frame = to_dataframe([made(f"t{i}", rewards=r) for i, r in enumerate(rewards)])
    for index, wanted in enumerate(rewards):
        row = frame.iloc[index]
        assert row["turns"] == 3, "a count is never overwritten"
        wanted = wanted or {}
        assert {name: row[reward_column(name)] for name in wanted} == wanted
        others = set(frame.columns) - set(ROLLOUT_COLUMNS) - set(map(reward_column, wanted))
        assert all(math.isnan(row[name]) for name in others)


@pytest.fixture
def run(tmp_path):
    with Run.create(tmp_path / "r", {"env": {"name": "sum"}}) as run:
        run.append(made("t0"), made("t1", stop=StopReason.ERROR, rewards=None, error="gone"))
    return run


def test_rollouts_that_broke_come_when_asked_for(run):
    assert list(run.to_dataframe()["task"]) == ["t0"]
    both = run.to_dataframe(errors=True)
    assert list(both["task"]) == ["t0", "t1"] and both["error"][1] == "gone"
    assert both["stop"][1] == "infrastructure" and math.isnan(both["score"][1])
    assert len(run.to_dataframe("turns")) == 3 and len(run.to_dataframe("calls", errors=True)) == 6


async def test_a_rollout_may_be_awaited_where_a_loop_runs(sum_env, tmp_path):
    awaited = await rollout(sum_env, "scripted", n=3, output=tmp_path / "a", progress=False)
    plain = rollout(sum_env, "scripted", n=3, output=tmp_path / "b", progress=False)
    inner = await arollout(sum_env, "scripted", n=3, output=tmp_path / "c", progress=False)
    for run in (awaited, plain, inner, await plain):
        assert isinstance(run, Run) and run.summary["accuracy"] == 1.0 and len(run) == 3
    with pytest.raises(UserError, match="not 99"):
        await rollout(sum_env, "scripted", n=99, output=tmp_path / "d")


def test_and_without_a_loop_it_is_the_run(sum_env, tmp_path):
    run = rollout(sum_env, "scripted", n=2, output=tmp_path / "a", progress=False)
    waiting = run.__await__()
    with pytest.raises(StopIteration) as stopped:
        next(waiting)
    assert stopped.value.value is run
