"""The policies that need no model: scripted, random, replay."""

import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus.env import Script
from zephyrus.errors import PolicyError, UserError
from zephyrus.limits import Limits, StopReason
from zephyrus.messages import Message, Reply
from zephyrus.policy import make_policy
from zephyrus.policy.random import sample
from zephyrus.policy.scripted import new_observations
from zephyrus.policy.seeds import stable_seed
from zephyrus.rollouts import arollout
from zephyrus.run import Run
from zephyrus.tools import Tool
from zephyrus.trajectory import Key


async def play(env, policy, task, seed=0, repeat=0):
    session = policy.session(env, task, seed, repeat)
    episode = env.begin(task, Key(task.id, seed, repeat))
    while not episode.done:
        await episode.step(await session.act(episode.messages))
    return episode.trajectory


def said(trajectory):
    return [m for m in trajectory.messages if m.role == "assistant"]


async def test_the_scripted_policy_solves_every_task(sum_env):
    policy = make_policy("scripted")
    await policy.check()
    for task in sum_env.tasks():
        assert (await play(sum_env, policy, task)).rewards["reward"] == 1.0
    assert policy.describe() == {"name": "scripted"}


async def test_a_script_gets_every_new_observation_and_nothing_else(sum_env):
    got = []

    def script(task) -> Script:
        got.append((yield Message("assistant", "no answer")))
        got.append((yield Message("assistant", "still none")))

    sum_env.script = script
    task = sum_env.tasks()[0]
    session = make_policy("scripted").session(sum_env, task, 0)
    messages = [Message("system", "s"), Message("user", "q")]
    reply = await session.act(messages)
    messages += [reply.message, Message("tool", "1"), Message("user", "2")]
    reply = await session.act(messages)
    messages += [reply.message, Message("user", "3")]
    with pytest.raises(PolicyError, match="'t0' ended before"):
        await session.act(messages)
    assert [[m.content for m in batch] for batch in got] == [["1", "2"], ["3"]]
    assert new_observations(messages[:2]) == messages[:2]


async def test_the_random_policy_is_fixed_by_seed_task_and_repeat(sum_env):
    task, other = sum_env.tasks()[0], sum_env.tasks()[1]
    policy = make_policy("random")
    first = said(await play(sum_env, policy, task, 3, 1))
    assert first == said(await play(sum_env, make_policy("random"), task, 3, 1))
    different = [
        said(await play(sum_env, policy, t, s, r))
        for t, s, r in [(other, 3, 1), (task, 4, 1), (task, 3, 2)]
    ]
    assert first not in different


@pytest.mark.parametrize("compact", [False, True])
async def test_random_calls_are_valid_and_random_episodes_are_answered(sum_env, compact):
    sum_env.compact = compact
    del sum_env.tools["explode"]
    trajectories = [
        await play(sum_env, make_policy("random"), task, seed)
        for seed in range(10)
        for task in sum_env.tasks()
    ]
    calls = [call for t in trajectories for call in t.calls]
    assert {t.stop for t in trajectories} == {StopReason.ANSWERED}
    assert len(calls) > 100
    # multiply refuses negative numbers: the tool's own rule, which no schema says
    assert {call.error for call in calls} == {None, "tool_error"}
    assert np.mean([t.rewards["score"] for t in trajectories]) < 0.1


async def test_the_random_policy_keeps_a_turn_for_the_answer(sum_env):
    sum_env.limits = Limits(turns=1)
    trajectory = await play(sum_env, make_policy("random"), sum_env.tasks()[0])
    assert trajectory.stop == StopReason.ANSWERED
    sum_env.limits = Limits()
    sum_env.tools.clear()
    assert (await play(sum_env, make_policy("random"), sum_env.tasks()[0])).turns == 1


def tricky(
    kind: str,
    names: list[str],
    level: float | None = None,
    order: str | None = None,
    flags: dict[str, bool] | None = None,
) -> str:
    """Take awkward types.

    Args:
        kind: A word.
        names: Some words.
        level: Perhaps a number.
        order: Perhaps a word.
        flags: Perhaps switches.
    """
    return "done"


def test_seeds_are_the_same_in_every_process_and_differ_by_every_part():
    assert stable_seed("t1", 3, 1, bits=16) == 18762, "this value is for all time"
    parts = [("t1", 3, 1), ("t2", 3, 1), ("t1", 4, 1), ("t1", 3, 2), ("t1", 3, 1, 0)]
    assert len({stable_seed(*part, bits=64) for part in parts}) == 5
    for bits in (8, 32, 128):
        assert max(stable_seed(str(i), bits=bits) for i in range(99)).bit_length() > bits - 8
        assert all(stable_seed(str(i), bits=bits) < 2**bits for i in range(99))


@given(st.integers(0, 2**32 - 1))
@settings(max_examples=100, deadline=None)
def test_samples_satisfy_the_tools_own_model(seed):
    tool = Tool(tricky)
    arguments = sample(tool.parameters, np.random.default_rng(seed), ["Kenya"])
    tool._model.model_validate(json.loads(json.dumps(arguments)))


@pytest.mark.parametrize(
    ("schema", "allowed"),
    [
        ({"enum": ["a", "b"]}, {"a", "b"}),
        ({"const": 7}, {7}),
        ({"type": "integer", "minimum": 3, "maximum": 5}, {3, 4, 5}),
        ({"type": "integer", "exclusiveMinimum": 3, "exclusiveMaximum": 6}, {4, 5}),
        ({"type": "integer", "minimum": 1000, "maximum": 1001}, {1000, 1001}),
        ({"type": "boolean"}, {True, False}),
        ({"type": ["null", "boolean"]}, {None, True, False}),
        ({"anyOf": [{"const": 1}, {"type": "null"}]}, {1, None}),
        ({"$ref": "#/$defs/X", "$defs": {"X": {"enum": [1, 2]}}}, {1, 2}),
        ({"type": "string"}, {"Kenya", "Chad"}),
    ],
)
def test_samples_are_the_allowed_values_and_all_of_them(schema, allowed):
    rng = np.random.default_rng(0)
    assert {sample(schema, rng, ["Kenya", "Chad"]) for _ in range(100)} == allowed


@pytest.mark.parametrize(
    ("bounds", "low", "high"),
    [
        ({}, -90, 90),
        ({"minimum": 400}, 400, 600),
        ({"maximum": -400}, -600, -400),
        ({"minimum": 0, "maximum": 0.001}, 0, 0.001),
        ({"exclusiveMinimum": 0, "maximum": 0.001}, 1e-9, 0.001),
    ],
)
def test_numbers_stay_within_their_bounds(bounds, low, high):
    rng = np.random.default_rng(0)
    for _ in range(100):
        assert low <= sample({"type": "number", **bounds}, rng) <= high


@pytest.fixture
async def run(sum_env, tmp_path):
    """A saved run: tasks t0 and t1, two repeats each, and a last line that was cut off."""
    del sum_env.tools["explode"]
    policy, tasks = make_policy("random"), sum_env.tasks()
    failed = sum_env.begin(tasks["t2"])
    failed.fail("the endpoint broke")
    with Run.create(tmp_path / "saved", {"env": {"name": "sum"}}) as made:
        made.append(failed.trajectory)
        for task in ("t0", "t1"):
            for repeat in range(2):
                made.append(await play(sum_env, policy, tasks[task], 5, repeat))
    with (made.path / "trajectories.jsonl").open("ab") as file:
        file.write(b'{"key": ["t2", 5, 0], "mess')
    return made.path


@pytest.mark.parametrize(
    ("seed", "repeat", "same_as"), [(5, 0, (5, 0)), (5, 1, (5, 1)), (9, 1, (5, 1)), (9, 7, (5, 0))]
)
async def test_replay_says_the_same_again(sum_env, run, seed, repeat, same_as):
    task = sum_env.tasks()["t1"]
    original = await play(sum_env, make_policy("random"), task, *same_as)
    again = await play(sum_env, make_policy(f"replay:{run}"), task, seed, repeat)
    assert said(again) == said(original)
    assert again.rewards == original.rewards


async def test_replay_finds_a_run_by_its_name(sum_env, run, tmp_path, monkeypatch):
    home = tmp_path / "home"
    (home / "runs").mkdir(parents=True)
    (home / "runs" / "first").symlink_to(run)
    monkeypatch.chdir(home)
    assert make_policy("replay:first").describe() == {"name": "replay:first", "tasks": 2}


@pytest.mark.parametrize("task", ["t2", "t3"])  # t2 has only a rollout that failed
def test_replay_of_an_absent_task_is_the_users_mistake(sum_env, run, task):
    with pytest.raises(UserError, match=f"has no rollout of the task '{task}'"):
        make_policy(f"replay:{run}").session(sum_env, sum_env.tasks()[task], 0)


async def test_a_replay_that_is_asked_for_more_turns_fails(sum_env, run):
    session = make_policy(f"replay:{run}").session(sum_env, sum_env.tasks()["t0"], 5)
    with pytest.raises(PolicyError, match="no more turns"):
        for _ in range(20):
            assert isinstance(await session.act([]), Reply)


def test_replay_of_no_run_or_a_broken_one(tmp_path):
    with pytest.raises(UserError, match=r"no run at .*nowhere: it has no config\.yaml"):
        make_policy(f"replay:{tmp_path / 'nowhere'}")
    (tmp_path / "config.yaml").write_text("env: {name: sum}")
    (tmp_path / "trajectories.jsonl").write_text("{}\n{}\n")
    with pytest.raises(UserError, match="line 1: not a trajectory"):
        make_policy(f"replay:{tmp_path}")


async def test_a_truncated_rollout_replayed_under_wider_limits_is_truncated_again(
    sum_env, tmp_path
):
    sum_env.limits = Limits(turns=1)  # a script calls a tool first, and has no turn to answer
    first = await arollout(sum_env, "scripted", n=3, output=tmp_path / "first", progress=False)
    assert first.summary["stop_reasons"] == {"turns": 3}
    sum_env.limits = Limits(turns=5)
    again = await arollout(
        sum_env, f"replay:{first.path}", n=3, output=tmp_path / "again", progress=False
    )
    assert again.summary["stop_reasons"] == {"tokens": 3}
    assert again.summary["scored"] == 3
    assert again.summary["infrastructure"]["errors"] == 0
