from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.errors import UserError
from zephyrus.task import Task, TaskSet
from zephyrus.training.order import in_rounds, others


def bank(n):
    return TaskSet([Task(f"t{i}", "?", gold=None) for i in range(n)], "bank")


@given(
    n=st.integers(1, 12), per=st.integers(1, 12), rounds=st.integers(1, 9), seed=st.integers(0, 99)
)
def test_rounds_ask_all_before_any_again_and_none_twice_at_once(n, per, rounds, seed):
    if per > n:
        with pytest.raises(UserError, match=f"tasks_per_step is {per}, but there are only {n}"):
            in_rounds(bank(n), per, rounds, seed)
        return
    asked = [task.id for task in in_rounds(bank(n), per, rounds, seed)]
    assert len(asked) == per * rounds
    for begin in range(0, len(asked), per):
        assert len(set(asked[begin : begin + per])) == per
    whole = n // per * per  # what a time through the tasks asks
    for begin in range(0, len(asked), whole):
        assert max(Counter(asked[begin : begin + whole]).values()) == 1


def test_the_order_is_the_seeds_and_a_longer_run_begins_like_a_shorter_one():
    ids = [task.id for task in in_rounds(bank(6), 2, 7, seed=3)]
    assert [task.id for task in in_rounds(bank(6), 2, 4, seed=3)] == ids[:8]
    assert ids != [task.id for task in in_rounds(bank(6), 2, 7, seed=4)]
    assert ids[:6] != ids[6:12]  # another time, another order


def test_others_are_those_not_asked_in_an_order_of_seed_step_and_attempt():
    drawn = [task.id for task in others(bank(9), ["t1", "t4"], 0, 5, 1)]
    assert sorted(drawn) == ["t0", "t2", "t3", "t5", "t6", "t7", "t8"]
    assert drawn == [task.id for task in others(bank(9), ["t4", "t1"], 0, 5, 1)]
    assert drawn != [task.id for task in others(bank(9), ["t1", "t4"], 0, 6, 1)]
    assert drawn != [task.id for task in others(bank(9), ["t1", "t4"], 0, 5, 2)]


def test_every_round_has_each_template_as_often_as_the_others():
    kinds = [*"aaaaaa", *"bbbbbb", *"cccccc"]
    tasks = TaskSet([Task(f"t{i}", "?", None, template=k) for i, k in enumerate(kinds)], "bank")
    asked = in_rounds(tasks, 6, 6, seed=5)
    for begin in range(0, 36, 6):
        assert Counter(task.template for task in asked[begin : begin + 6]) == {
            "a": 2,
            "b": 2,
            "c": 2,
        }
