import math

import numpy as np
import pytest
from scipy import stats

from zephyrus.evaluation.bootstrap import expanded, interval, resampled_means
from zephyrus.evaluation.comparison import compare
from zephyrus.evaluation.scores import Column, EventScores
from zephyrus.trajectory import Key


def scores_of(column, values):
    scores = EventScores()
    for i, value in enumerate(values):
        scores.add(column, Key(f"e{i:03}", 0, 0), value)
    return scores


def test_the_same_seed_gives_the_same_resamples_and_another_one_others():
    values = np.random.default_rng(1).random((15, 2))
    first, again, other = (resampled_means(values, resamples=500, seed=s) for s in (3, 3, 4))
    assert np.array_equal(first, again)
    assert not np.array_equal(first, other)
    assert first.shape == (500, 2)


def test_resampled_means_are_those_of_scipy_in_distribution():
    values = np.random.default_rng(2).beta(1, 4, 40)
    ours = resampled_means(values[:, None], resamples=20_000)[:, 0]
    theirs = stats.bootstrap(
        (values,), np.mean, n_resamples=20_000, method="percentile", rng=np.random.default_rng(0)
    )
    found = np.quantile(ours, [0.025, 0.975])
    wanted = theirs.confidence_interval
    assert found == pytest.approx([wanted.low, wanted.high], abs=0.003)
    assert ours.mean() == pytest.approx(values.mean(), abs=0.002)


def test_chunks_of_resamples_cover_them_all(monkeypatch):
    monkeypatch.setattr("zephyrus.evaluation.bootstrap._CHUNK", 50)
    means = resampled_means(np.arange(20.0)[:, None], resamples=101)
    assert np.isfinite(means).all() and len(set(means[:, 0])) > 50


def test_what_an_event_lacks_is_in_no_mean():
    values = np.array([[0.5, 1.0], [np.nan, 1.0], [0.5, np.nan]])
    means = resampled_means(values, resamples=2000)
    known = means[~np.isnan(means)]
    assert set(known) == {0.5, 1.0}, "no resample may count a lacking score as 0"
    # all three draws are event 1 in 1 of 27 resamples: then the first column has nothing
    assert np.isnan(means[:, 0]).mean() == pytest.approx(1 / 27, abs=0.015)


def test_expanded_percentiles_are_those_of_the_t_interval():
    # On n normal values the percentile Φ(−√(n/(n−1))·t) of a bootstrap is mean − t·s/√n.
    for n in (5, 20, 100):
        z = stats.norm.ppf(expanded(n))
        assert z == pytest.approx(stats.t.ppf(0.025, n - 1) * math.sqrt(n / (n - 1)), rel=1e-9)
    assert expanded(100_000) == pytest.approx(0.025, rel=1e-3)


def test_too_few_events_have_no_interval():
    assert interval(np.array([0.5, 0.5]), events=1) is None
    assert interval(np.array([np.nan]), events=5) is None


@pytest.mark.parametrize(("n", "least"), [(8, 0.90), (25, 0.925)])
def test_intervals_cover_the_true_mean_about_as_often_as_they_say(n, least):
    rng = np.random.default_rng(5)
    covered = plain = 0
    trials = 600
    for i in range(trials):
        values = rng.beta(2, 5, n)  # skewed, as scores are; its mean is 2/7
        samples = resampled_means(values[:, None], resamples=1500, seed=i)[:, 0]
        low, high = interval(samples, n)
        covered += low <= 2 / 7 <= high
        ends = np.quantile(samples, [0.025, 0.975])
        plain += ends[0] <= 2 / 7 <= ends[1]
    assert least <= covered / trials <= 0.98
    assert covered > plain + 5, "the plain percentile interval is too short"


def test_the_average_is_of_unrounded_means_and_its_interval_is_joint():
    a, b = Column("j", "rubric"), Column("j", "f1")
    scores = EventScores()
    for i, value in enumerate([0.1, 0.9, 0.3, 0.7]):
        scores.add(a, Key(f"e{i}", 0, 0), value)
        scores.add(b, Key(f"e{i}", 0, 0), 1 - value)
    means = scores.means([a, b], [a, b])
    assert means.average.mean == pytest.approx(0.5, abs=1e-15)
    # The two scores of an event go up and down together: their mean doesn't vary at all.
    assert means.average.ci95 == pytest.approx((0.5, 0.5), abs=1e-12)
    assert means.scores[a].ci95[0] < 0.35 and means.scores[a].ci95[1] > 0.65


def test_without_one_of_its_scores_there_is_no_average():
    a, b = Column("j", "rubric"), Column("j", "f1")
    means = scores_of(a, [0.1, 0.2]).means([a, b], [a, b])
    assert means.average.mean is None and means.scores[b].events == 0
    assert means.scores[a].mean == pytest.approx(0.15)


def test_a_change_is_paired_over_common_events_and_unrounded():
    column = Column("j", "f1")
    ours = scores_of(column, [0.30004, 0.50004, 0.9])
    base = scores_of(column, [0.2, 0.4])
    found = compare(ours, base, "base", [column], [column])
    change = found.changes[column]
    assert change.events == 2
    assert change.difference == pytest.approx(0.10004)
    assert change.relative == pytest.approx(0.40004 / 0.3 - 1, rel=1e-12)
    # Every event is better by the same amount: a paired interval is a point, and leaves 0 out.
    assert change.difference_ci95 == pytest.approx((0.10004, 0.10004), abs=1e-12)
    assert change.clear
    assert found.average.relative == change.relative


def test_a_paired_interval_is_shorter_than_an_unpaired_one():
    rng = np.random.default_rng(7)
    column = Column("j", "f1")
    base = rng.random(30)
    ours = np.clip(base + rng.normal(0.05, 0.02, 30), 0, 1)
    change = compare(scores_of(column, ours), scores_of(column, base), "b", [column], [column])
    low, high = change.changes[column].difference_ci95
    assert 0.03 < low < 0.05 < high < 0.07
    assert high - low < 0.2 * 2 * 1.96 * math.sqrt(2 * base.var() / 30)


def test_nothing_in_common_and_a_base_of_zero():
    column = Column("j", "f1")
    other = EventScores()
    other.add(column, Key("elsewhere", 0, 0), 0.5)
    found = compare(scores_of(column, [0.1, 0.2]), other, "b", [column], [column])
    assert found.changes == {} and found.average is None
    change = compare(
        scores_of(column, [0.1, 0.2]), scores_of(column, [0, 0]), "b", [column], [column]
    ).changes[column]
    assert change.relative is None and change.relative_ci95 is None
    assert change.difference == pytest.approx(0.15)
