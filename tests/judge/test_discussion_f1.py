"""Discussion F1 by hand, its empty cases, and what must not change it."""

import math
import random

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from zephyrus.errors import UserError
from zephyrus.judge.base import Claim, Label, Verdict
from zephyrus.judge.discussion import (
    ClaimOptions,
    Counts,
    discussion_f1,
    f1_of_counts,
    f_beta,
    normalise,
    select_claims,
)

S, R, N = Label.SUPPORTED, Label.REFUTED, Label.NEUTRAL
counts = st.builds(Counts, st.integers(0, 30), st.integers(0, 30), st.integers(0, 30))
options = st.builds(
    ClaimOptions,
    neutral=st.one_of(st.sampled_from(["exclude", "penalize"]), st.floats(0, 1)),
    beta=st.floats(0.1, 10),
)


def verdicts(supported, refuted, neutral):
    labels = [S] * supported + [R] * refuted + [N] * neutral
    return [Verdict(Claim(f"claim {i}"), label) for i, label in enumerate(labels)]


# Unequal counts in the two directions: 6/2/4 of the report, 3/1/11 of the reference.
@pytest.mark.parametrize(
    ("neutral", "beta", "precision", "f"),
    [
        ("exclude", 1.0, 6 / 8, 2 * 0.75 * 0.2 / 0.95),  # 0.3158
        ("penalize", 1.0, 6 / 12, 2 * 0.5 * 0.2 / 0.7),  # 0.2857
        (0.5, 1.0, 6 / 10, 2 * 0.6 * 0.2 / 0.8),  # 0.3
        (0, 2.0, 6 / 8, 5 * 0.75 * 0.2 / (4 * 0.75 + 0.2)),  # recall counts more: 0.2344
        (0, 0.5, 6 / 8, 1.25 * 0.75 * 0.2 / (0.25 * 0.75 + 0.2)),  # precision does: 0.4839
    ],
)
def test_by_hand(neutral, beta, precision, f):
    score = discussion_f1(
        verdicts(6, 2, 4), verdicts(3, 1, 11), ClaimOptions(neutral=neutral, beta=beta)
    )
    assert score.report == (6, 2, 4)
    assert score.reference == (3, 1, 11)
    assert score.precision == pytest.approx(precision)
    assert score.recall == pytest.approx(3 / 15)
    assert score.f1 == pytest.approx(f)
    assert score.neutral_rate == pytest.approx(4 / 12)
    assert score.valid


def test_the_directions_are_not_mixed_up():
    # ragas once took the supported claims of the wrong direction for recall (its issue 2693).
    one = discussion_f1(verdicts(1, 0, 0), verdicts(1, 0, 9))
    other = discussion_f1(verdicts(1, 0, 9), verdicts(1, 0, 0), ClaimOptions("penalize"))
    assert (one.precision, one.recall) == (1.0, 0.1)
    assert (other.precision, other.recall) == (0.1, 1.0)


def test_refuted_reference_claims_are_misses():
    assert discussion_f1(verdicts(2, 0, 0), verdicts(2, 6, 0)).recall == 0.25


def test_a_report_without_claims_scores_zero():
    score = discussion_f1([], verdicts(0, 0, 3))
    assert (score.precision, score.recall, score.f1, score.neutral_rate) == (0, 0, 0, 0)
    # Even if a judge thinks that the text supports the reference.
    assert discussion_f1([], verdicts(3, 0, 0)).f1 == 0


@pytest.mark.parametrize("report", [(0, 0, 0), (3, 1, 1)])
def test_a_reference_without_claims_is_invalid_and_never_one(report):
    score = discussion_f1(verdicts(*report), [])
    assert not score.valid
    assert (score.precision, score.recall, score.f1, score.neutral_rate) == (None,) * 4


@pytest.mark.parametrize("neutral", ["exclude", "penalize", 0.3])
def test_only_neutral_claims_score_zero(neutral):
    score = discussion_f1(verdicts(0, 0, 5), verdicts(2, 0, 2), ClaimOptions(neutral=neutral))
    assert (score.precision, score.f1, score.neutral_rate) == (0.0, 0.0, 1.0)


def test_flooding_with_neutral_claims_shows_in_the_neutral_rate():
    flood = discussion_f1(verdicts(1, 0, 50), verdicts(1, 0, 19))
    assert flood.precision == 1.0  # w = 0, as in the paper
    assert flood.neutral_rate == pytest.approx(50 / 51)
    assert flood.f1 == pytest.approx(2 * 0.05 / 1.05)


@given(counts, counts, options)
def test_in_the_unit_interval(report, reference, chosen):
    score = f1_of_counts(report, reference, chosen)
    values = (score.precision, score.recall, score.f1, score.neutral_rate)
    if reference.total:
        assert all(0 <= value <= 1 and math.isfinite(value) for value in values)
        assert min(score.precision, score.recall) - 1e-9 <= score.f1 or score.f1 == 0
        assert score.f1 <= max(score.precision, score.recall) + 1e-9
    else:
        assert values == (None,) * 4


@given(counts, counts, options)
def test_monotone_in_supported_claims(report, reference, chosen):
    assume(reference.total)
    score = f1_of_counts(report, reference, chosen)
    more = report._replace(supported=report.supported + 1)
    assert f1_of_counts(more, reference, chosen).precision >= score.precision
    assert f1_of_counts(more, reference, chosen).f1 >= score.f1 - 1e-12
    for label in ("refuted", "neutral"):  # a label that turns into SUPPORTED never costs
        if count := getattr(reference, label):
            turned = reference._replace(supported=reference.supported + 1, **{label: count - 1})
            assert f1_of_counts(report, turned, chosen).recall > score.recall
            assert f1_of_counts(report, turned, chosen).f1 >= score.f1 - 1e-12
    worse = report._replace(refuted=report.refuted + 1)
    assert f1_of_counts(worse, reference, chosen).precision <= score.precision


@given(counts, counts, st.floats(0, 1), st.floats(0, 1))
def test_a_higher_neutral_weight_never_helps(report, reference, a, b):
    assume(reference.total)
    low, high = sorted((a, b))
    scores = [f1_of_counts(report, reference, ClaimOptions(neutral=w)).f1 for w in (low, high)]
    assert scores[1] <= scores[0] + 1e-12


@given(counts, counts, st.randoms(use_true_random=False))
def test_order_changes_nothing(report, reference, rng):
    ours, theirs = verdicts(*report), verdicts(*reference)
    before = discussion_f1(ours, theirs)
    rng.shuffle(ours)
    rng.shuffle(theirs)
    assert discussion_f1(ours, theirs) == before


def test_f_beta_is_the_harmonic_mean_and_favours_recall_above_one():
    assert f_beta(0.5, 1.0) == pytest.approx(2 / 3)
    assert f_beta(0.2, 0.9, beta=2) > f_beta(0.9, 0.2, beta=2)
    assert f_beta(0.0, 1.0) == f_beta(1.0, 0.0) == 0.0


# Choosing claims -----------------------------------------------------------------------------

LINES = [f"High {i} moves over region {i * 7}." for i in range(60)]


@given(st.lists(st.sampled_from(LINES[:12]), min_size=1, max_size=12), st.integers(0, 99))
def test_duplicates_change_nothing(lines, seed):
    rng = random.Random(seed)
    changed = [line.upper().replace(" ", "  ").rstrip(".") for line in lines]
    twice = lines + rng.sample(changed, len(changed))
    chosen = ClaimOptions(max_claims=None)
    once = select_claims(map(Claim, lines), chosen)
    again = select_claims(map(Claim, twice), chosen)
    assert again.claims == once.claims
    assert again.duplicates == once.duplicates + len(lines)
    label = dict(zip(LINES, [S, R, N] * 20, strict=True))
    reference = verdicts(2, 1, 1)
    scores = [
        discussion_f1([Verdict(c, label[c.text]) for c in chosen_.claims], reference)
        for chosen_ in (once, again)
    ]
    assert scores[0] == scores[1]


def test_the_cap_keeps_the_first_claims_and_counts_duplicates_first():
    texts = [LINES[0], LINES[0].lower(), *LINES[1:5]]
    chosen = select_claims(map(Claim, texts), ClaimOptions(max_claims=3))
    assert [c.text for c in chosen.claims] == LINES[:3]
    assert (chosen.duplicates, chosen.over_cap) == (1, 2)
    kept = select_claims(map(Claim, texts), ClaimOptions(max_claims=3, dedup=False))
    assert [c.text for c in kept.claims] == texts[:3]
    assert (kept.duplicates, kept.over_cap) == (0, 3)


def test_the_default_cap_and_no_cap_for_a_reference():
    assert len(select_claims(map(Claim, LINES), ClaimOptions()).claims) == 40
    assert len(select_claims(map(Claim, LINES), ClaimOptions(), capped=False).claims) == 60
    assert len(select_claims(map(Claim, LINES), ClaimOptions(max_claims=None)).claims) == 60


def test_an_empty_claim_is_none():
    chosen = select_claims([Claim(" . "), Claim("Dry.")], ClaimOptions(dedup=False))
    assert chosen.claims == (Claim("Dry."),)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Lows near 5 C.", "  lows   NEAR 5.0 c"),
        ("Rain: 1,000.50 mm!", "rain 1000.5 mm"),
        ("At 06 UTC; winds 05 kt", "at 6 UTC winds 5 kt"),
        ("Anomaly of \u22123 °C", "anomaly of -3.00 °c"),
        ("Anomaly of +3", "Anomaly of 3"),
        ("5-10 knots", "5\u201310 knots"),
        ("low-pressure centre", "low pressure centre"),
        ("QPF .5 inches", "QPF 0.50 inches"),
        ("Rain...then dry", "rain, then dry"),
        ("\uff32ain \u2103", "rain °C"),
        ("-0 °C", "0 °C"),
    ],
)
def test_the_same_claim(one, other):
    assert normalise(one) == normalise(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("3 °C warmer", "-3 °C warmer"),
        ("3 °C warmer", "\u20133 °C warmer"),
        ("5 inches", ".5 inches"),
        ("1.5 mm", "15 mm"),
        ("20% chance", "20 chance"),
        ("50 °F", "50 °C"),
        ("rain is likely", "rain is not likely"),
        ("1,5 mm", "15 mm"),
        ("100 mm", "1 mm"),
    ],
)
def test_another_claim(one, other):
    assert normalise(one) != normalise(other)


@given(st.text(max_size=40))
def test_normalise_is_idempotent(text):
    assert normalise(normalise(text)) == normalise(text)


@given(st.integers(-99999, 99999), st.integers(0, 3))
def test_numbers_are_written_in_one_way(value, zeros):
    written = f"T {value:,}" + ("." + "0" * zeros if zeros else "")
    assert normalise(written) == f"t {value}"


# Options --------------------------------------------------------------------------------------


def test_options_survive_json():
    chosen = ClaimOptions(neutral=0.25, beta=2.0, max_claims=None, dedup=False)
    assert ClaimOptions.from_dict(chosen.to_dict()) == chosen
    assert ClaimOptions().to_dict() == {
        "neutral": "exclude",
        "beta": 1.0,
        "max_claims": 40,
        "dedup": True,
    }
    assert [ClaimOptions(w).neutral_weight for w in ("exclude", "penalize", 0.3)] == [0, 1, 0.3]


@pytest.mark.parametrize(
    "wrong",
    [
        {"neutral": "ignore"},
        {"neutral": 1.5},
        {"neutral": math.nan},
        {"neutral": True},
        {"beta": 0},
        {"beta": math.inf},
        {"max_claims": 0},
        {"weight": 1},
    ],
)
def test_impossible_options_are_the_users(wrong):
    with pytest.raises(UserError, match=next(iter(wrong))):
        ClaimOptions.from_dict(wrong)
