"""The rules judge on whole discussions: the embedded events, hostile reports, real NWS texts."""

import gzip
import itertools
import json
import random
import re
import sys
import time
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus.errors import JudgeError
from zephyrus.judge.assess import assess
from zephyrus.judge.base import Brief, Claim, Criterion, Label, Rubric
from zephyrus.judge.discussion import discussion_f1
from zephyrus_report.rubric import report_rubric
from zephyrus_report.rules import RulesJudge
from zephyrus_report.rules.compare import BANDS, compare
from zephyrus_report.rules.extract import extract
from zephyrus_report.rules.quantities import Quantity
from zephyrus_report.rules.rubric_score import KEYS, Pair, criteria, level

sys.path.insert(0, str(Path(__file__).parents[1] / "judge"))
from hostile_reports import BASE, HOSTILE

BANK = Path(__file__).parents[2] / "envs/zephyrus_report/data/demo.jsonl.gz"
SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "nws"
RUBRIC = report_rubric()
DAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")


@pytest.fixture(scope="module")
def events():
    if not BANK.exists():
        pytest.skip("the embedded events are not built")
    with gzip.open(BANK, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def some(events):
    return random.Random(0).sample(events, 24)


async def score(report, reference, context=""):
    return await RulesJudge().rubric(Brief(report, reference, RUBRIC, context))


async def f1(report, reference):
    judge = RulesJudge()
    ours = await judge.verdicts(await judge.claims(report), reference)
    theirs = await judge.verdicts(await judge.claims(reference), report)
    return discussion_f1(ours, theirs)


def sentences(text):
    """The sentences of a composed discussion, without its headings."""
    lines = [line for line in text.splitlines() if line and not line.startswith("...")]
    return [s for line in lines for s in re.split(r"(?<=\.)\s+(?=[A-Z])", line)]


async def test_a_reference_scores_full_marks_against_itself(events):
    for event in events[::2]:
        gold = event["gold"]
        scores = (await score(gold, gold, event["prompt"])).scores
        assert scores == dict.fromkeys(KEYS, 10), event["id"]
    for event in events[::10]:
        assert (await f1(event["gold"], event["gold"])).f1 == 1.0, event["id"]


async def test_in_capitals_or_other_units_it_is_the_same_forecast(some):
    for event in some:
        gold = event["gold"]
        assert (await score(gold.upper(), gold)).mean == 1.0, event["id"]
        inches = re.sub(r"(\d+(?:\.\d+)?) mm", lambda m: f"{float(m[1]) / 25.4:.2f} inches", gold)
        knots = re.sub(r"(\d+) m/s", lambda m: f"{float(m[1]) / 0.514444:.0f} kt", inches)
        assert (await score(knots, gold)).mean > 0.95, event["id"]


@pytest.mark.parametrize("nothing", ["", "  \n", "Weather happens.", "Showers possible."])
async def test_an_empty_report_is_all_ones(nothing):
    scores = (await score(nothing, "Rain averages 9 mm over Kenya on Monday.")).scores
    assert scores == dict.fromkeys(KEYS, 1)


async def test_unrelated_discussions_score_almost_nothing(events):
    rng = random.Random(1)
    means = []
    for _ in range(60):
        a, b = rng.sample(events, 2)
        if a["program"]["region"] == b["program"]["region"]:
            continue
        scored = await score(a["gold"], b["gold"], b["prompt"])
        means.append(scored.mean)
        assert scored.mean < 0.3, (a["id"], b["id"])
    assert sum(means) / len(means) < 0.02


def shifted(text, days):
    """The same discussion with other weekdays, the days' numbers and dates left out."""
    text = re.sub(r"on days? \d+(?: (?:and|to) \d+)? \(([^)]*)\)", r"on \1", text)
    text = re.sub(rf"({'|'.join(DAYS)}) \d+(?: \w+)?", r"\1", text)
    return re.sub("|".join(DAYS), lambda m: DAYS[(DAYS.index(m[0]) + days) % 7], text)


def colder(text):
    """The same discussion with all temperatures 9 °C lower."""
    return re.sub(r"(-?\d+) °C(?! (?:above|below))", lambda m: f"{int(m[1]) - 9} °C", text)


def windier(text):
    return re.sub(r"(\d+) m/s", lambda m: f"{2 * int(m[1])} m/s", text)


async def test_near_misses_are_graded(some):
    half = worse = 0.0
    for event in some:
        gold = event["gold"]
        kept = await score("\n".join(sentences(gold)[::2]), gold)
        moved = await score(shifted(gold, 2), gold, event["prompt"])
        cold = await score(colder(gold), gold)
        wind = await score(windier(gold), gold)
        assert kept.mean < 1.0
        assert moved.scores["spatiotemporal"] < 6, event["id"]
        assert cold.scores["thermal"] < 8, event["id"]
        assert cold.mean < 1.0
        if "m/s" in gold:
            assert wind.scores["calibration"] < 10, event["id"]
        half += kept.mean
        worse += moved.mean
    assert 0.4 < half / len(some) < 0.9
    assert worse < 0.5 * half


def reached(claim, finding, value):
    """Whether a claim has a value of a finding, by name of the place, time and number."""
    quantity = finding["values"][value]
    if claim.value is None or claim.place is None:
        return False
    rounding = {"mm": 0.51, "gpm": 5.1}.get(claim.value.unit, 0.51)
    low, high = claim.value.low - rounding, claim.value.high + rounding
    # Some hazards are told without a time: "severe cold over Mongolia (down to -33 °C)".
    if claim.time is None or claim.time.lead is None:
        start, end = (0, 240) if finding["kind"].endswith("_extreme") else (0, 0)
    else:
        start, end = claim.time.lead
    return (
        low <= quantity["value"] <= high
        and claim.place.name in (finding["place"], finding.get("target"))
        and start <= finding["end"]
        and end >= finding["start"]
    )


MAIN = {
    "low": ("low", "before"), "high": ("high", "before"), "wind": ("wind", "speed"),
    "jet": ("jet", "speed"), "precipitation": ("rain snow rain_and_snow", "total"),
    "dry": ("precipitation", "total"), "cloud": ("cloud", "cover"),
    "temperature": ("temperature", "mean"), "cold_extreme": ("temperature", "lowest"),
    "heat_extreme": ("temperature", "highest"), "warm_anomaly": ("temperature", "departure"),
    "cold_anomaly": ("temperature", "departure"), "warming": ("temperature", "after"),
    "cooling": ("temperature", "after"), "cold_front": ("temperature_850", "after"),
    "warm_front": ("temperature_850", "after"), "ridge": ("height", "height"),
    "trough": ("height", "height"),
}  # fmt: skip
"""The subject and the main value of each kind of finding."""


def test_what_the_composer_found_is_read_out_of_its_text(events):
    there, found = Counter(), Counter()
    for event in events:
        claims = extract(event["gold"], event["prompt"])
        for finding in event["provenance"]["findings"]:
            subject, value = MAIN[finding["kind"]]
            there[finding["kind"]] += 1
            found[finding["kind"]] += any(
                c.subject in subject.split() and reached(c, finding, value) for c in claims
            )
    assert sum(found.values()) / sum(there.values()) >= 0.97
    for kind, number in there.items():
        assert found[kind] / number >= 0.8, kind


SENTENCES = (
    "Rain averages 12 mm over Kenya on Monday.",
    "A low of 991 hPa over Denmark deepens on Tuesday.",
    "A cold front crosses Kansas on Wednesday, with heavy snow over Colorado.",
    "10 m winds over Iceland peak at 24 m/s from the west at 12 UTC Friday.",
    "Spain stays dry on Saturday under a ridge.",
    "Temperatures over Sweden rise from Monday to Wednesday.",
    "Mean 2 m temperature over Mali is 33 °C on Sunday, 3 °C above the climatological mean.",
    "Rain averages 3 mm over Kenya on Monday.",
    "Fog is likely over Chile on Thursday.",
    "No snow is expected over Norway on Friday.",
    "A low of 991 hPa over Denmark fills on Tuesday.",
)
texts = st.lists(st.sampled_from(SENTENCES), min_size=1, max_size=7)


def values(report, reference):
    scored = criteria(Pair.of(extract(report), extract(reference)))
    return {key: round(each.value, 9) for key, each in scored.items()}


@given(texts, texts, st.randoms())
def test_the_order_of_sentences_changes_nothing(report, reference, rng):
    before = values(" ".join(report), " ".join(reference))
    rng.shuffle(report)
    rng.shuffle(reference)
    assert values(" ".join(report), " ".join(reference)) == before


@given(texts, texts)
def test_a_sentence_said_twice_gains_nothing(report, reference):
    once, twice = " ".join(report), " ".join([*report, *report])
    assert values(twice, " ".join(reference)) == values(once, " ".join(reference))


@given(texts)
def test_whatever_is_said_agrees_with_itself(report):
    assert set(values(" ".join(report), " ".join(report)).values()) == {1.0}


@given(texts, texts)
def test_two_claims_stand_to_each_other_as_the_other_way_round(first, second):
    for a in extract(" ".join(first)):
        for b in extract(" ".join(second)):
            assert compare(a, b) == compare(b, a)


@given(texts, texts)
def test_precision_of_the_one_is_recall_of_the_other(first, second):
    a, b = extract(" ".join(first)), extract(" ".join(second))
    f, p, r, n, m = Pair.of(a, b).score(lambda _: True)
    assert Pair.of(b, a).score(lambda _: True) == (f, r, p, m, n)


@given(texts, st.sampled_from(SENTENCES))
@settings(max_examples=50)
def test_adding_what_the_reference_does_not_say_never_helps(reference, added):
    """What is added is about another place and time than anything in the reference."""
    moved = added
    for name in ("Kenya", "Denmark", "Kansas", "Colorado", "Iceland", "Spain", "Sweden", "Mali", "Chile", "Norway"):  # fmt: skip
        moved = moved.replace(name, "Mongolia")
    report = " ".join(reference)
    before, after = values(report, report), values(f"{report} {moved}", report)
    assert all(after[key] <= before[key] for key in KEYS)


async def test_enumerating_everything_gains_nothing(some):
    everything = (
        "Rain over {0} on {1}. Snow over {0} on {1}. Gales over {0} on {1}. {0} stays dry on {1}. "
        "A low over {0} on {1}. A high over {0} on {1}. Temperatures over {0} are above normal on {1}. "
        "Temperatures over {0} are below normal on {1}."
    )
    for event in some[:5]:
        gold = event["gold"]
        names = sorted({c.place.name for c in extract(gold) if c.place and c.place.name})
        flood = " ".join(everything.format(n, d) for n in names for d in DAYS)
        assert (await score(flood, gold)).mean < 0.1, event["id"]
        assert (await f1(flood, gold)).f1 < 0.25, event["id"]
        half = "\n".join(sentences(gold)[::2])
        assert (await score(f"{half}\n{flood}", gold)).mean < (await score(half, gold)).mean


@pytest.mark.parametrize("hostile", HOSTILE, ids=lambda hostile: hostile.name)
async def test_an_attack_scores_no_higher_than_the_report_without_it(hostile):
    reference = (
        "Low pressure over the central Plains deepens to 993 hPa by Tuesday evening. Rain averages "
        "20 mm over the Ohio Valley on Wednesday. Temperatures over Minnesota fall on Thursday."
    )
    attacked, base = await score(hostile.report, reference), await score(BASE, reference)
    assert all(attacked.scores[key] <= base.scores[key] for key in KEYS)
    assert (await f1(hostile.report, reference)).f1 <= (await f1(BASE, reference)).f1
    assert {c.text for c in await RulesJudge().claims(hostile.report)} <= {
        c.text for c in await RulesJudge().claims(BASE)
    }


async def test_assess_runs_on_it_and_a_capped_report_is_read_as_its_claims(some):
    event = some[0]
    brief = Brief(event["gold"], event["gold"], RUBRIC, event["prompt"])
    scores = (await assess(RulesJudge(), brief)).scores()
    assert scores["rubric"] == 1.0
    assert scores["f1"] == 1.0 or len(extract(event["gold"])) > 40
    claims = await RulesJudge().claims(event["gold"])
    listed = "\n".join(claim.text for claim in claims)
    assert {v.label for v in await RulesJudge().verdicts(claims, listed)} == {Label.SUPPORTED}


async def test_evidence_and_quotes_are_pieces_of_the_text(some):
    judge = RulesJudge()
    for event in some[:8]:
        gold = event["gold"]
        claims = await judge.claims(gold)
        assert all(claim.quote and claim.quote in gold for claim in claims)
        assert all(v.evidence and v.evidence in gold for v in await judge.verdicts(claims, gold))


async def test_the_context_ties_lead_times_to_weekdays():
    reference = "Rain averages 12 mm over Kenya on Tuesday."
    report = "Rain averages 12 mm over Kenya at lead times 24 to 48 h."
    late = "Rain averages 12 mm over Kenya at lead times 72 to 96 h."
    context = "Initial time: Mon 1959-10-19 00 UTC."
    assert (await score(report, reference, context)).mean == 1.0
    assert (await score(late, reference, context)).mean == 0.0
    # Without it nobody can tell, and what can't be told is not borne out.
    assert 0.0 < (await score(report, reference)).mean < 0.7
    (verdict,) = await RulesJudge().verdicts([Claim(report)], reference)
    assert verdict.label == Label.NEUTRAL


async def test_other_judges_claims_can_be_labelled_too():
    text = "Rain averages 12 mm over Kenya on Monday. Uganda stays dry on Monday."
    claims = [
        Claim("Kenya gets about half an inch of rain on Monday."),
        Claim("Rain falls over Kenya and Uganda on Monday."),
        Claim("The forecaster is confident."),
    ]
    labels = [v.label for v in await RulesJudge().verdicts(claims, text)]
    assert labels == [Label.SUPPORTED, Label.REFUTED, Label.NEUTRAL]


async def test_what_it_cannot_judge_is_missing():
    other = Rubric("x", "1", "", (Criterion("style", "Style", "", {}),))
    with pytest.raises(JudgeError, match="'style'"):
        await RulesJudge().rubric(Brief("Rain.", "Rain over Kenya on Monday.", other))
    with pytest.raises(JudgeError, match="no claim in the reference"):
        await score("Rain over Kenya on Monday.", "Nice.")


async def test_every_pass_is_the_same_and_rationales_say_why(some):
    judge = RulesJudge()
    assert judge.deterministic
    brief = Brief(some[0]["gold"], some[1]["gold"], RUBRIC)
    first, second = await judge.rubric(brief), await judge.rubric(brief, scoring_pass=2)
    assert first == second
    assert first.rubric == RUBRIC.id
    assert all(len(first.rationale[key]) > 10 for key in KEYS)


def test_levels():
    assert [level(v) for v in (0.0, 0.07, 0.5, 1.0)] == [1, 1, 5, 10]


@given(st.sampled_from(sorted(BANDS)), st.floats(-50, 50), st.floats(0.1, 50))
def test_values_further_apart_never_agree_better(unit, value, step):
    from zephyrus_report.rules.compare import values as agreement

    here, near, far = (Quantity(v, v, unit) for v in (value, value + step, value + 2 * step))
    if unit not in ("K", "m/s", "km/h", "mm", "J/kg"):  # those tolerate a share of the value
        assert 1.0 == agreement(here, here) >= agreement(here, near) >= agreement(here, far)
    assert agreement(here, near) == agreement(near, here)


async def test_a_pair_takes_milliseconds(some):
    for event in some:
        await score(event["gold"], event["gold"])
    best = min([await _seconds(event) for event in some])
    assert best < 0.06  # of a machine that is shared; alone it is a third of that


async def _seconds(event):
    start = time.process_time()
    await score(f"{event['gold']} Dry over Peru on Monday.", event["gold"])
    return time.process_time() - start


def discussions():
    """The area forecast discussions of the samples, as (name, text)."""
    found = [
        (path.name, path.read_bytes().decode("utf-8", "replace"))
        for path in sorted(SAMPLES.glob("pyIEM__AFD*.txt"))
    ]
    for path in sorted(SAMPLES.glob("weather_gov_api__testing_products_*.json")):
        found += [(path.name, json.loads(path.read_text(encoding="utf-8"))["productText"])]
    return found


async def test_real_discussions_make_claims_and_agree_with_themselves():
    if not SAMPLES.exists():
        pytest.skip("the samples are not there")
    judge = RulesJudge()
    for name, text in discussions():
        claims = await judge.claims(text)
        assert claims, name
        assert {v.label for v in await judge.verdicts(claims, text)} == {Label.SUPPORTED}, name
        assert (await score(text, text)).mean == 1.0, name


async def test_the_headers_of_real_discussions_make_none():
    if not SAMPLES.exists():
        pytest.skip("the samples are not there")
    for name, text in discussions():
        header = re.split(r"^\.[A-Za-z]", text.replace("\r", ""), maxsplit=1, flags=re.MULTILINE)[0]
        assert await RulesJudge().claims(header) == (), name


async def test_real_discussions_of_other_offices_do_not_agree():
    if not SAMPLES.exists():
        pytest.skip("the samples are not there")
    offices = {re.search(r"\bAFD([A-Z]{2,3})\b", text)[1]: text for _, text in discussions()}
    assert len(offices) >= 5
    for a, b in itertools.combinations(sorted(offices), 2):
        assert (await score(offices[a], offices[b])).mean < 0.3, (a, b)
