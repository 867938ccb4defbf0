"""Weights that shift: they sum to one, stay within bounds, and move the way their rule says."""

import itertools
import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.training.weights import STRATEGIES, RewardWeights, WeightRule, bounded

BASE = {"rubric": 0.5, "f1": 0.5}
rewards = st.floats(0.0, 1.0)
groups = st.lists(st.lists(rewards, min_size=1, max_size=5), min_size=0, max_size=4)


def rule(strategy: str, **options: object) -> WeightRule:
    extra = {"end": {"rubric": 1.0, "f1": 3.0}, "steps": 4} if strategy == "linear" else {}
    return WeightRule(**{"base": BASE, "strategy": strategy, **extra, **options})


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(
    steps=st.lists(st.tuples(groups, groups), max_size=8),
    least=st.floats(0.0, 0.5),
    warmup=st.integers(0, 3),
    smoothing=st.floats(0.0, 0.99),
)
def test_they_sum_to_one_and_stay_above_the_least(
    strategy: str,
    steps: list[tuple[list[list[float]], list[list[float]]]],
    least: float,
    warmup: int,
    smoothing: float,
) -> None:
    weights = RewardWeights(rule(strategy, least=least, warmup=warmup, smoothing=smoothing))
    for rubric, f1 in steps:
        now = weights.update({"rubric": rubric, "f1": f1})
        assert math.isclose(sum(now.values()), 1.0, abs_tol=1e-9)
        assert all(math.isfinite(w) for w in now.values())
        if strategy not in ("fixed", "linear"):
            assert all(w >= least - 1e-9 for w in now.values())
        if weights.updates <= warmup or strategy == "fixed":
            assert now == {"rubric": 0.5, "f1": 0.5}


@pytest.mark.parametrize("strategy", STRATEGIES)
@given(steps=st.lists(st.tuples(groups, groups), min_size=2, max_size=8), cut=st.integers(0, 7))
def test_a_restored_state_goes_on_exactly(
    strategy: str, steps: list[tuple[list[list[float]], list[list[float]]]], cut: int
) -> None:
    def feed(
        weights: RewardWeights, some: list[tuple[list[list[float]], list[list[float]]]]
    ) -> None:
        for rubric, f1 in some:
            weights.update({"rubric": rubric, "f1": f1})

    whole, first, second = (RewardWeights(rule(strategy)) for _ in range(3))
    feed(whole, steps)
    feed(first, steps[:cut])
    second.restore(first.state())
    feed(second, steps[cut:])
    assert second.state() == whole.state()


def test_linear_goes_from_base_to_end() -> None:
    weights = RewardWeights(rule("linear", warmup=1))
    seen = [weights.update({"rubric": [[0.1]], "f1": [[0.2]]})["f1"] for _ in range(7)]
    assert seen == pytest.approx([0.5, 0.5625, 0.625, 0.6875, 0.75, 0.75, 0.75])


def test_dvao_weighs_by_the_spread_within_groups() -> None:
    # Standard deviations within groups: rubric 0.1 and 0.3, mean 0.2; f1 0.05 and 0.05, mean 0.05.
    weights = RewardWeights(rule("dvao", smoothing=0.0, least=0.0))
    now = weights.update(
        {"rubric": [[0.0, 0.2], [0.2, 0.8]], "f1": [[0.5, 0.6], [0.9, 1.0]]},
    )
    assert now == pytest.approx({"rubric": 0.8, "f1": 0.2})


def test_dvao_is_clamped_and_takes_the_base_into_account() -> None:
    base = {"rubric": 1.0, "f1": 3.0}
    weights = RewardWeights(WeightRule(base, "dvao", smoothing=0.0, least=0.3))
    same = weights.update({"rubric": [[0.0, 0.2]], "f1": [[0.4, 0.6]]})
    assert same == pytest.approx({"rubric": 0.3, "f1": 0.7})  # 0.25 is below the least


def test_saw_weighs_by_spread_over_mean() -> None:
    # rubric: mean 0.5, deviation 0.5; f1: mean 0.5, deviation 0.25.
    weights = RewardWeights(rule("saw", smoothing=0.0, least=0.0))
    now = weights.update({"rubric": [[0.0, 1.0]], "f1": [[0.25, 0.75]]})
    assert now == pytest.approx({"rubric": 2 / 3, "f1": 1 / 3})


def test_dwa_raises_the_reward_that_lags() -> None:
    weights = RewardWeights(rule("dwa", smoothing=0.0, least=0.0, temperature=1.0))
    weights.update({"rubric": [[0.5]], "f1": [[0.5]]})
    now = weights.update({"rubric": [[0.5]], "f1": [[0.75]]})  # gaps left: 1 and 1/2
    expected = math.exp(1.0) / (math.exp(1.0) + math.exp(0.5))
    assert now["rubric"] == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize("strategy", ["dvao", "saw"])
def test_no_spread_at_all_leaves_the_base(strategy: str) -> None:
    weights = RewardWeights(rule(strategy))
    assert weights.update({"rubric": [[0.4, 0.4]], "f1": [[0.0, 0.0]]}) == BASE


def test_smoothing_is_a_running_mean() -> None:
    weights = RewardWeights(rule("dvao", smoothing=0.5, least=0.0))
    weights.update({"rubric": [[0.0, 0.4]], "f1": [[0.0, 0.4]]})  # 0.2 and 0.2
    now = weights.update({"rubric": [[0.0, 0.8]], "f1": [[0.4, 0.4]]})  # 0.4 and 0
    assert weights.signals == pytest.approx({"rubric": 0.3, "f1": 0.1})
    assert now == pytest.approx({"rubric": 0.75, "f1": 0.25})


@given(
    raw=st.lists(st.floats(0.0, 1e3), min_size=1, max_size=6).filter(lambda w: sum(w) > 1e-3),
    share=st.floats(0.0, 1.0),
)
def test_bounded_keeps_the_sum_the_least_and_the_order(raw: list[float], share: float) -> None:
    total = sum(raw)
    weights = {str(i): w / total for i, w in enumerate(raw)}
    least = share / len(raw)
    now = bounded(weights, least)
    assert math.isclose(sum(now.values()), 1.0, abs_tol=1e-9)
    assert min(now.values()) >= least - 1e-9
    ranked = sorted(weights, key=weights.__getitem__)
    assert all(now[a] <= now[b] + 1e-9 for a, b in itertools.pairwise(ranked))
    if min(weights.values()) >= least:
        assert now == pytest.approx(weights)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"strategy": "best"}, "no strategy 'best'"),
        ({"base": {}}, "at least one reward"),
        ({"base": {"f1": -1.0}}, "not negative"),
        ({"base": {"f1": math.inf}}, "finite"),
        ({"base": {"f1": 0.0}}, "above 0"),
        ({"base": {"f1": 1.0, "rubric": 0.0}, "strategy": "saw"}, "must be above 0"),
        ({"least": 0.6}, "least is 0 to 0.5"),
        ({"smoothing": 1.0}, "below 1"),
        ({"temperature": 0.0}, "temperature"),
        ({"strategy": "linear"}, "linear needs end"),
        ({"strategy": "linear", "end": BASE}, "linear needs steps"),
    ],
)
def test_a_rule_that_makes_no_sense_is_refused(options: dict[str, object], complaint: str) -> None:
    with pytest.raises(ValueError, match=complaint):
        WeightRule(**{"base": BASE, **options})


def test_rewards_must_be_those_of_the_rule_and_finite() -> None:
    weights = RewardWeights(rule("dvao"))
    with pytest.raises(ValueError, match="rewards are f1"):
        weights.update({"f1": [[0.1]]})
    with pytest.raises(ValueError, match="not finite"):
        weights.update({"f1": [[math.nan]], "rubric": [[0.1]]})
    with pytest.raises(ValueError, match="other rewards"):
        weights.restore({**weights.state(), "weights": {"f1": 1.0}})
