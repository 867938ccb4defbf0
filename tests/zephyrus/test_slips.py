"""Demonstrations that begin with a mistake: real errors, mended at once."""

import json
import random

import pytest
from sum_env import SumEnv

from zephyrus.messages import Message, ToolCall
from zephyrus.policy.scripted import ScriptedPolicy
from zephyrus.policy.slips import SlippingPolicy, slip
from zephyrus.registry import make
from zephyrus.rollouts import rollout
from zephyrus.tools import Tool


@pytest.fixture(scope="module")
def env():
    return make("bench", split="train", compact=True)


@pytest.fixture(scope="module")
def tasks(env):
    return list(env.tasks().shuffle(3).take(24))


def conversations(run):
    return {t.key: [m.to_openai() for m in t.messages] for t in run}


def roll(env, policy, tasks, **options):
    return rollout(env, policy, tasks=tasks, progress=False, **options)


def test_each_begins_with_an_error_and_goes_on_as_the_script(env, tasks):
    slipped = {t.key: t for t in roll(env, SlippingPolicy(1.0), tasks)}
    for right in roll(env, ScriptedPolicy(), tasks):
        found = slipped[right.key]
        assert [call.error is None for call in found.calls] == [False, True]
        assert found.calls[1].arguments == right.calls[0].arguments
        assert found.calls[1].name == right.calls[0].name
        assert found.answer == right.answer
        assert found.rewards == right.rewards
        assert found.messages[3].content.startswith("Error: ")


def test_the_share_is_kept_and_none_is_the_scripted_policy(env, tasks):
    plain = conversations(roll(env, ScriptedPolicy(), tasks))
    assert conversations(roll(env, SlippingPolicy(0.0), tasks)) == plain
    some = conversations(roll(env, SlippingPolicy(0.4), tasks, repeats=4))
    share = sum(len(c) > 5 for c in some.values()) / len(some)
    assert 0.2 < share < 0.6  # 96 rollouts: 4 standard deviations


def test_the_same_seed_slips_in_the_same_way(env, tasks):
    first, again = (conversations(roll(env, SlippingPolicy(1.0), tasks)) for _ in range(2))
    assert first == again
    other = conversations(roll(env, SlippingPolicy(1.0), tasks, seed=1))
    assert [c[2] for c in first.values()] != [c[2] for c in other.values()]


def test_a_slip_differs_in_one_respect():
    right = ToolCall("near", '{"place": "Kenya", "kind": "country", "hour": 6}')
    others = [
        ToolCall("near", '{"place": "Chad", "kind": "lake", "order": "highest"}'),
        ToolCall("far", '{"month": 3}'),
    ]
    known = {"place": "Kenya", "kind": "country", "hour": 6}
    ways = set()
    for seed in range(200):
        wrong = slip(right, others, random.Random(seed))
        made = json.loads(wrong.arguments)
        lost, won = known.keys() - made.keys(), made.keys() - known.keys()
        changed = [key for key in known.keys() & made.keys() if known[key] != made[key]]
        if wrong.name != "near":
            assert (made, wrong.name) == (known, "far")
            ways.add("tool")
        elif lost and won:
            assert len(lost) == len(won) == 1 and not changed
            assert made[won.pop()] == known[lost.pop()]
            assert list(made).index((made.keys() - known.keys()).pop()) < 3
            ways.add("move")
        else:
            assert len(lost) + len(won) + len(changed) == 1
            ways.add("drop" if lost else "add" if won else "swap")
    assert ways == {"tool", "move", "drop", "add", "swap"}


class Still(SumEnv):
    """A call that nothing can be wrong about."""

    def script(self, task):
        yield Message("assistant", tool_calls=(ToolCall("calm", "{}"),))
        yield Message("assistant", f"<answer>{task.gold:g}</answer>")


def calm() -> str:
    """Always works."""
    return "calm"


def test_where_nothing_fails_the_right_call_comes_first():
    env = Still(tools=(Tool(calm),))
    for rolled in roll(env, SlippingPolicy(1.0), list(env.tasks())[:3]):
        assert [(call.name, call.error) for call in rolled.calls] == [("calm", None)]
        assert rolled.turns == 2
