"""The rule that moves on and the choice of a checkpoint, as properties."""

import math

from hypothesis import given
from hypothesis import strategies as st

from zephyrus.curriculum.recipe import Plateau, Until
from zephyrus.curriculum.rules import Measured, best, verdict

VALUES = st.floats(0, 1, allow_nan=False)
SERIES = st.lists(VALUES, min_size=1, max_size=12)
MIXED = st.lists(
    st.builds(Measured, st.integers(0, 500), VALUES | st.just(math.nan), st.booleans()), max_size=12
)


def at(values, full=True, every=5):
    return [Measured(i * every, value, full) for i, value in enumerate(values)]


@given(st.integers(1, 100), st.integers(0, 200), SERIES)
def test_steps_alone_end_a_stage_exactly_when_they_are_done(steps, step, values):
    over = verdict(Until(steps=steps), step, at(values))
    assert (over is not None) == (step >= steps)


@given(st.floats(0.01, 1), SERIES)
def test_a_threshold_ends_it_when_a_later_checkpoint_reaches_it(threshold, values):
    over = verdict(Until(steps=1000, accuracy=threshold), 1, at(values))
    assert (over is not None) == (max(values[1:], default=-1) >= threshold)


def flat(values, evaluations, rise):
    """By its definition: since the last value that rose above the last such, that many came."""
    record = 0
    for place in range(1, len(values)):
        if values[place] > values[record] + rise:
            record = place
    return len(values) - 1 - record >= evaluations


@given(SERIES, st.integers(1, 6), st.floats(0, 0.5))
def test_a_plateau_is_that_many_evaluations_without_a_rise(values, evaluations, rise):
    until = Until(steps=1000, plateau=Plateau(evaluations=evaluations, rise=rise))
    over = verdict(until, 1, at(values))
    assert (over is not None) == flat(values, evaluations, rise)


@given(SERIES, VALUES, st.integers(1, 4))
def test_where_a_stage_began_is_not_compared_with_a_subset(values, start, evaluations):
    until = Until(steps=1000, plateau=Plateau(evaluations=evaluations, rise=0.0))
    inside = [Measured(5 * i + 5, value) for i, value in enumerate(values)]
    begun = [Measured(0, start, True), *inside]
    assert (verdict(until, 1, begun) is None) == (verdict(until, 1, inside) is None)


def test_without_evaluations_a_plateau_says_nothing():
    assert verdict(Until(steps=9, plateau=Plateau(evaluations=1)), 1, []) is None


@given(st.integers(1, 5), st.integers(2, 20))
def test_a_metric_that_keeps_rising_never_ends_a_stage(evaluations, n):
    until = Until(steps=1000, plateau=Plateau(evaluations=evaluations, rise=0.01))
    assert verdict(until, 1, at([0.02 * i for i in range(n)])) is None


@given(MIXED, st.randoms())
def test_the_best_is_the_highest_and_earliest_whatever_the_order(measured, random):
    chosen = best(measured)
    pool = [m for m in measured if m.full and m.value == m.value]
    pool = pool or [m for m in measured if m.value == m.value]
    if not pool:
        assert chosen is None
        return
    assert chosen in pool
    assert all(m.value <= chosen.value for m in pool)
    assert all(m.step >= chosen.step for m in pool if m.value == chosen.value)
    random.shuffle(measured)
    again = best(measured)
    assert (again.step, again.value) == (chosen.step, chosen.value)


def test_a_lucky_subset_does_not_beat_an_evaluation_on_all():
    assert best([Measured(5, 0.9), Measured(10, 0.5, True), Measured(0, 0.4, True)]).step == 10
