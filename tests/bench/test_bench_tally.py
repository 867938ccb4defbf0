"""A tally decides as a search of the whole set does, task by task."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.task import Task
from zephyrus_bench.guess import best_constant
from zephyrus_bench.tally import tally
from zephyrus_bench.verifiers import set_f1

NAMES = ("Kenya", "Chad", "Niger", "Mali")
NUMBERS = st.one_of(
    st.floats(-3, 3).map(lambda x: round(x, 2)), st.floats(-1500, 1500).map(lambda x: round(x, 1))
)
GOLDS = {
    "numerical": NUMBERS,
    "time": st.integers(1, 12).map(lambda step: 3 * step),
    "location": st.builds(
        lambda place, value: {"place": place, "value": value}, st.sampled_from(NAMES), NUMBERS
    ),
}


def best(answer_type, golds):
    return best_constant([Task("t", "?", gold=g, answer_type=answer_type) for g in golds]).total


@pytest.mark.parametrize("answer_type", GOLDS)
def test_it_exceeds_what_the_best_constant_exceeds(answer_type):
    @given(st.lists(GOLDS[answer_type], min_size=1, max_size=12), st.integers(0, 12))
    def check(golds, halves):
        growing = tally(answer_type)
        for count, gold in enumerate(golds):
            total = best(answer_type, golds[: count + 1])
            for allowed in (halves / 2, total, total - 0.5):
                assert growing.exceeds(gold, allowed) == (total > allowed)
            growing.add(gold)

    check()


@given(
    st.lists(
        st.lists(st.sampled_from(NAMES), unique=True, max_size=4).map(tuple), min_size=1, max_size=8
    )
)
def test_the_best_list_is_found_among_all_lists(golds):
    every = [set(c) for n in range(5) for c in itertools.combinations(NAMES, n)]
    growing = tally("anomaly")
    for count, gold in enumerate(golds):
        total = max(sum(set_f1(one, set(g)) for g in golds[: count + 1]) for one in every)
        assert not growing.exceeds(gold, total + 1e-9)
        assert growing.exceeds(gold, total - 1e-9)
        assert best("anomaly", golds[: count + 1]) <= total + 1e-9  # the search is greedy
        growing.add(gold)


def test_many_names_are_kept_apart():
    growing = tally("anomaly", [[f"place {i}"] for i in range(300)])
    assert not growing.exceeds(["another"], 2.0)
    assert growing.exceeds(["place 7"], 1.9)
    assert growing.exceeds(["place 7"], 1.0)


def test_by_hand():
    numbers = tally("numerical", [10.0, 10.2, 11.0])
    # 10.1 is within 1 % of 10.0 and 10.2; a third 10.1 makes it right three times.
    assert numbers.exceeds(10.1, 2.9)
    assert not numbers.exceeds(10.1, 3.0)
    places = tally("location", [{"place": "Kenya", "value": 1000.0}])
    # Chad with 1000 is right about one place, and about the other's value.
    assert places.exceeds({"place": "Chad", "value": 9.0}, 1.4)
    assert not places.exceeds({"place": "Chad", "value": 9.0}, 1.5)
    assert places.exceeds({"place": "Kenya", "value": 9.0}, 1.9)
    hours = tally("time", [6, 12])
    assert hours.exceeds(18, 1.9)  # 12 h is right once and twice a step away
    assert not hours.exceeds(18, 2.0)
