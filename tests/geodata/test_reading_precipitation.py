import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading.precipitation import (
    looks_accumulated,
    plan,
    since_start,
    since_step_before,
)


def everywhere(steps):
    return np.ones(len(steps), dtype=bool)


def read(amounts, values, span=slice(None), *, axis=0, rate=False):
    values = np.asarray(values, dtype=np.float32)
    take = (slice(None),) * axis
    return amounts.read(lambda part: values[(*take, part)], span, axis, rate=rate)


def reset_starts(steps, every):
    """Starts of windows that begin anew every so many hours (GFS): 0-1, ..., 0-6, 6-7, ...."""
    return np.array([every * np.ceil(step / every - 1) for step in steps], dtype=float)


@st.composite
def runs(draw):
    """Lead times, the true amount in each step and a source of windows that start anew."""
    widths = draw(st.lists(st.sampled_from([1, 2, 3, 6]), min_size=2, max_size=30))
    steps = np.cumsum(widths).astype(float)
    amounts = draw(
        st.lists(st.floats(0, 0.05), min_size=len(steps), max_size=len(steps)).map(np.array)
    )
    return steps, amounts


@given(runs())
def test_differences_of_the_amount_since_the_start_add_up_to_it(run):
    steps, truth = run
    total = np.cumsum(truth)
    amounts = plan(*since_start(steps), steps, everywhere(steps))
    found = read(amounts, total[:, None])[:, 0]
    assert (found >= 0.0).all()
    np.testing.assert_allclose(found, truth, atol=2e-7)
    assert found.sum() == pytest.approx(total[-1], abs=3e-6)


@given(st.integers(2, 60), st.sampled_from([6, 12]), st.randoms(use_true_random=False))
def test_no_difference_is_taken_across_a_start_anew(count, every, random):
    steps = np.arange(1.0, count + 1)
    truth = np.array([random.uniform(0, 0.02) for _ in steps])
    starts = reset_starts(steps, every)
    since = np.array(
        [truth[(steps > s) & (steps <= e)].sum() for s, e in zip(starts, steps, strict=True)]
    )
    amounts = plan(starts, steps, steps, everywhere(steps))
    np.testing.assert_allclose(read(amounts, since[:, None])[:, 0], truth, atol=2e-7)
    assert amounts.variable == "total_precipitation_1hr"
    for i in np.flatnonzero(amounts.minus >= 0):
        assert starts[i] == starts[amounts.minus[i]]


@given(runs(), st.integers(0, 10), st.integers(1, 10))
def test_any_span_of_steps_is_that_part_of_the_whole(run, first, length):
    steps, truth = run
    total = np.cumsum(truth)[None, :, None] * np.array([1.0, 2.0])[:, None, None]
    amounts = plan(*since_start(steps), steps, everywhere(steps))
    whole = read(amounts, total, axis=1)
    span = slice(first, first + length)
    np.testing.assert_array_equal(read(amounts, total, span, axis=1), whole[:, span])


def test_the_period_is_in_the_name_where_there_is_one():
    steps = np.array([6.0, 12.0, 18.0])
    assert plan(*since_start(steps), steps, everywhere(steps)).variable == "total_precipitation_6hr"
    uneven = np.array([1.0, 2.0, 3.0, 6.0, 9.0])
    assert plan(*since_start(uneven), uneven, everywhere(uneven)).variable == "total_precipitation"
    fixed = plan(uneven - 24.0, uneven, uneven, everywhere(uneven))
    assert fixed.variable == "total_precipitation_24hr"
    assert (fixed.minus == -1).all()
    one = np.array([12.0])
    assert plan(*since_start(one), one, everywhere(one)).variable == "total_precipitation_12hr"


def test_the_initial_time_has_no_amount():
    steps = np.array([0.0, 6.0, 12.0])
    amounts = plan(*since_start(steps), steps, everywhere(steps))
    found = read(amounts, np.array([[0.0], [0.004], [0.010]]))[:, 0]
    assert np.isnan(found[0])
    np.testing.assert_allclose(found[1:], [0.004, 0.006], atol=1e-8)


def test_a_step_that_is_missing_leaves_a_gap_and_no_wrong_amount():
    steps = np.array([6.0, 12.0, 18.0, 24.0])
    present = np.array([True, False, True, True])
    amounts = plan(*since_start(steps), steps, present)
    values = np.array([[0.001], [np.nan], [0.005], [0.009]])
    found = read(amounts, values)[:, 0]
    np.testing.assert_allclose(found, [0.001, np.nan, np.nan, 0.004], atol=1e-8)


def test_a_series_that_begins_late_has_no_first_amount_of_that_length():
    steps = np.array([12.0, 18.0, 24.0])
    starts = np.array([6.0, 6.0, 6.0])
    amounts = plan(starts, steps, steps, everywhere(steps))
    assert amounts.usable.tolist() == [False, True, True]
    assert amounts.variable == "total_precipitation_6hr"


def test_mean_rates_times_their_interval():
    steps = np.array([1.0, 2.0, 3.0, 6.0])
    amounts = plan(*since_step_before(steps), steps, everywhere(steps))
    rate = np.full((4, 1), 1e-3 / 3600)  # 1 mm/h in m s-1
    np.testing.assert_allclose(
        read(amounts, rate, rate=True)[:, 0], [1e-3, 1e-3, 1e-3, 3e-3], rtol=1e-6
    )
    # Means since a start anew: 0-1 h with 1 mm/h, 0-2 h with 2 mm/h, so 3 mm fell in 1-2 h.
    steps = np.array([1.0, 2.0])
    amounts = plan(np.zeros(2), steps, steps, everywhere(steps))
    rate = np.array([[1.0], [2.0]]) * 1e-3 / 3600
    np.testing.assert_allclose(read(amounts, rate, rate=True)[:, 0], [1e-3, 3e-3], rtol=1e-6)


def test_small_falls_are_noise_and_great_ones_are_not_believed():
    steps = np.array([6.0, 12.0])
    amounts = plan(*since_start(steps), steps, everywhere(steps))
    found = read(amounts, np.array([[0.0100, 0.0, np.nan], [0.0099, 0.0, np.nan]]))
    assert found[1, 0] == 0.0
    assert np.isnan(found[1, 2])
    with pytest.raises(UnsuitableData, match=r"-9 mm comes out.*--precipitation"):
        read(amounts, np.array([[0.010], [0.001]]))


@pytest.mark.parametrize(
    ("starts", "ends", "steps", "why"),
    [
        ([0.0, 0.0], [6.0, 12.0], [3.0, 9.0], "don't end at the times"),
        ([6.0, 12.0], [6.0, 12.0], [6.0, 12.0], "has a length"),
        ([3.0, 10.0], [6.0, 12.0], [6.0, 12.0], "no two of its intervals"),
        ([-744.0, -744.0], [0.0, 0.0], None, "not 1, 3, 6, 12 or 24 h"),
        ([0.0, 0.0], [24.0, 24.0], None, "don't end at the times"),
    ],
)
def test_what_has_no_amount_per_step_says_why(starts, ends, steps, why):
    steps = None if steps is None else np.array(steps)
    found = plan(np.array(starts), np.array(ends), steps, np.ones(2, dtype=bool))
    assert isinstance(found, str)
    assert why in found


def test_a_time_series_has_amounts_in_windows():
    found = plan(np.full(3, -24.0), np.zeros(3), None, np.ones(3, dtype=bool))
    assert found.variable == "total_precipitation_24hr"
    amounts = read(found, [[1e-3], [0.0], [-1e-9]])[:, 0]
    np.testing.assert_array_equal(amounts, np.float32([1e-3, 0.0, 0.0]))


def test_telling_accumulations_from_windows():
    rng = np.random.default_rng(5)
    windows = rng.exponential(1e-3, (3, 1000)) * (rng.random((3, 1000)) < 0.4)
    assert looks_accumulated(np.cumsum(windows, axis=0)) is True
    # Without a dry step anywhere it might be rain that grows.
    assert looks_accumulated(np.cumsum(windows + 1e-4, axis=0)) is None
    assert looks_accumulated(windows) is False
    assert looks_accumulated(np.zeros((3, 1000))) is None
    assert looks_accumulated(np.cumsum(windows[:, :20], axis=0)) is None  # too few to tell
    assert looks_accumulated(windows[:1]) is None
    assert looks_accumulated(np.full((3, 10), np.nan)) is None
