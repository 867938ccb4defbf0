from zephyrus.curriculum.recipe import Keep
from zephyrus.limits import StopReason
from zephyrus.training.keeping import keep
from zephyrus.trajectory import CallRecord, Key, Trajectory


def rollout(
    task, repeat=0, *, reward=1.0, turns=2, calls=(("look", '{"a": 1}', None),), answer="x"
):
    made = Trajectory(Key(task, 0, repeat), stop=StopReason.ANSWERED, task={"template": task[0]})
    made.rewards = None if reward is None else {"reward": reward}
    made.turns = turns
    made.answer = answer
    made.calls = [
        CallRecord(turn=1, name=name, arguments=arguments, error=error)
        for name, arguments, error in calls
    ]
    return made


def keys(kept):
    return [(t.key.task, t.key.repeat) for t in kept.trajectories]


def test_only_successes_are_kept_and_the_others_are_counted_by_reason():
    broken = rollout("b2")
    broken.stop, broken.rewards = StopReason.ERROR, None
    kept = keep(
        [rollout("a1"), rollout("a2", reward=0.99), rollout("b1", reward=None), broken],
        Keep(at_least=1.0),
    )
    assert keys(kept) == [("a1", 0)]
    assert kept.report() == {
        "rollouts": 4,
        "kept": 1,
        "tasks": 1,
        "dropped": {"not scored": 2, "reward below 1": 1},
        "templates": {"a": 1},
    }


def test_of_a_task_the_most_direct_come_first_and_only_so_many():
    wrong = ("look", '{"a": 2}', "bad")
    found = [
        rollout("a1", 0, turns=4, answer="p"),
        rollout("a1", 1, turns=2, answer="q", calls=(wrong, ("look", '{"a": 1}', None))),
        rollout("a1", 2, turns=2, answer="r"),
        rollout("a1", 3, turns=2, answer="s"),
    ]
    kept = keep(found, Keep(per_task=3))
    assert keys(kept) == [("a1", 2), ("a1", 3), ("a1", 1)]
    assert kept.dropped == {"more than 3 of a task": 1}


def test_rollouts_that_did_the_same_count_once_however_the_call_is_written():
    found = [
        rollout("a1", 0, calls=(("look", '{"a": 1, "b": 2}', None),), answer="12 K"),
        rollout("a1", 1, calls=(("look", '{"b":2,"a":1}', None),), answer=" 12 K\n"),
        rollout("a1", 2, calls=(("look", "not json", None),), answer="12 K"),
        rollout("a2", 0, calls=(("look", '{"a": 1, "b": 2}', None),), answer="12 K"),
    ]
    kept = keep(found, Keep(per_task=2))
    assert keys(kept) == [("a1", 0), ("a1", 2), ("a2", 0)]
    assert kept.dropped == {"the same as another": 1}
    assert keys(keep(found, Keep(per_task=2, distinct=False)))[:2] == [("a1", 0), ("a1", 1)]


def test_tool_errors_may_bar_a_rollout():
    wrong = ("look", "{}", "bad")
    found = [rollout("a1", 0, calls=(wrong,)), rollout("a2", 0, calls=(wrong, wrong))]
    kept = keep(found, Keep(errors=1))
    assert keys(kept) == [("a1", 0)]
    assert kept.dropped == {"more than 1 tool errors": 1}
