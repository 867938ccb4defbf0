import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus.task import Task
from zephyrus_bench.guess import best_constant
from zephyrus_bench.verifiers import verify

NAMES = ["Kenya", "Chad", "Niger", "Sudan", "Egypt"]


def tasks(answer_type, golds):
    return [
        Task(f"t{i}", "?", gold=gold, answer_type=answer_type, provenance={"candidates": NAMES})
        for i, gold in enumerate(golds)
    ]


def mean_score(questions, answer):
    import json

    return float(np.mean([verify(task, json.dumps(answer)) for task in questions]))


def test_numbers_by_hand():
    # 100.5 is within 1 % of 100 and 101, within 5 % of 104, and far from 50
    guess = best_constant(tasks("numerical", [100.0, 101.0, 104.0, 50.0]))
    assert guess.total == pytest.approx(2.5)
    assert guess.score == pytest.approx(2.5 / 4)


def test_hours_by_hand():
    guess = best_constant(tasks("time", [6, 12, 12, 18, 240]))
    assert guess.answer == 12.0
    assert guess.total == pytest.approx(2 * 1.0 + 2 * 0.5)


def test_places_by_hand():
    golds = [("Kenya", 10.0), ("Kenya", 20.0), ("Chad", 30.0), ("Niger", 30.1), ("Sudan", 90.0)]
    guess = best_constant(tasks("location", [{"place": p, "value": v} for p, v in golds]))
    assert guess.answer["place"] == "Kenya"
    assert guess.total == pytest.approx(2 * 1.0 + 2 * 0.5)


def test_lists_by_hand():
    guess = best_constant(tasks("anomaly", [[], [], ["Kenya"]]))
    assert guess.answer == []
    assert guess.total == 2.0
    guess = best_constant(tasks("anomaly", [["Kenya", "Chad"], ["Kenya", "Chad"], []]))
    assert sorted(guess.answer) == ["Chad", "Kenya"]
    assert guess.total == pytest.approx(2.0)


def test_nothing_to_guess():
    assert best_constant([]).score == 0.0
    with pytest.raises(ValueError, match="types"):
        best_constant([*tasks("time", [6]), *tasks("numerical", [1.0])])


NUMBERS = st.floats(-200.0, 200.0).map(lambda x: round(x, 3))


@settings(deadline=None, max_examples=60)
@given(st.lists(NUMBERS, min_size=1, max_size=6), st.lists(NUMBERS, min_size=20, max_size=20))
def test_no_number_beats_the_best_number(golds, tries):
    questions = tasks("numerical", golds)
    guess = best_constant(questions)
    assert guess.score == pytest.approx(mean_score(questions, guess.answer))
    midpoints = [(a + b) / 2 for a in golds for b in golds]
    for answer in (*tries, *midpoints):
        assert mean_score(questions, answer) <= guess.score + 1e-9


@settings(deadline=None, max_examples=40)
@given(st.lists(st.integers(1, 40).map(lambda i: 6 * i), min_size=1, max_size=12))
def test_no_hour_beats_the_best_hour(golds):
    questions = tasks("time", golds)
    guess = best_constant(questions)
    assert guess.score == pytest.approx(mean_score(questions, guess.answer))
    assert all(mean_score(questions, hour) <= guess.score + 1e-9 for hour in range(0, 247, 3))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.tuples(st.sampled_from(NAMES), NUMBERS), min_size=1, max_size=6))
def test_no_place_beats_the_best_place(golds):
    questions = tasks("location", [{"place": p, "value": v} for p, v in golds])
    guess = best_constant(questions)
    assert guess.score == pytest.approx(mean_score(questions, guess.answer))
    for place in NAMES:
        for _, value in golds:
            tried = mean_score(questions, {"place": place, "value": value})
            assert tried <= guess.score + 1e-9


@settings(deadline=None, max_examples=60)
@given(st.lists(st.lists(st.sampled_from(NAMES), unique=True), min_size=1, max_size=6))
def test_the_greedy_list_is_honest_and_nearly_best(golds):
    questions = tasks("anomaly", golds)
    guess = best_constant(questions)
    assert guess.score == pytest.approx(mean_score(questions, guess.answer))
    subsets = [[n for i, n in enumerate(NAMES) if mask >> i & 1] for mask in range(32)]
    best = max(mean_score(questions, subset) for subset in subsets)
    assert guess.score >= 0.95 * best
