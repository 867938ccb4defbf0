"""Every gold answer of a small bank against an oracle worked out from raw cells.

The oracle knows nothing of `Dataset.series` or `table`: it takes cells and weights, converts
units by hand, and loops.
"""

import json
import random
import re
from collections import Counter

import numpy as np
import pytest

from zephyrus_bench.subjects import Group, groups, in_turn, is_small, single_features
from zephyrus_bench.templates import TEMPLATES
from zephyrus_bench.templates.base import Scene, winner
from zephyrus_bench.templates.percentile_exceedance import at_bound
from zephyrus_bench.verifiers import verify
from zephyrus_bench.wording import extreme_word, moment, month_of
from zephyrus_geodata import Feature, FeatureStore, variable
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_tools.articles import with_article

SCALE = {"°C": (1.0, -273.15), "m/s": (1.0, 0.0), "hPa": (0.01, 0.0), "mm": (1000.0, 0.0)}
SCALE |= {"%": (100.0, 0.0), "gpm": (1 / 9.80665, 0.0)}


def cells_of(dataset, feature, values):
    zone = dataset.zones.weights(feature)
    weights = zone.weights / zone.weights.sum()
    return np.asarray(values, dtype=np.float64)[zone.cells], weights


def weighted_median(values, weights):
    order = np.argsort(values)
    total = 0.0
    for i in order:
        total += weights[i]
        if total >= 0.5 * weights.sum() * (1 - 1e-12):
            return values[i]
    raise AssertionError


def space_statistic(values, weights, statistic):
    """(cell, time) -> (time,)"""
    if statistic == "mean":
        return (weights[:, None] * values).sum(axis=0)
    if statistic == "median":
        return np.array([weighted_median(column, weights) for column in values.T])
    return values.min(axis=0) if statistic == "min" else values.max(axis=0)


def field(dataset, task):
    forecast = dataset.forecast(task.world["forecast"])
    return forecast, forecast.cells(task.provenance["variable"])


def subject_of(dataset, task):
    name = task.provenance["key"][1]
    if task.provenance.get("candidates"):
        kind, _, parent = name.partition(" in ")
        return dataset.features.of_kind(kind, parent or None)
    return dataset.features[name]


def shown(task, x, *, difference=False):
    scale, offset = SCALE[task.provenance["units"]]
    return x * scale + (0.0 if difference else offset)


def place_and_value(task, features, values, order):
    best = int(np.argmax(values) if order == "highest" else np.argmin(values))
    return {"place": features[best].name, "value": values[best]}


def expected(dataset, task):
    detail = task.provenance["detail"]
    forecast, cells = field(dataset, task)
    subject = subject_of(dataset, task)
    hour = detail.get("hour")
    step = list(forecast.lead_hours).index(hour) if hour else None
    month = int(str(forecast.init_time + np.timedelta64(hour or 0, "h"))[5:7])

    def mean_series(feature):
        return space_statistic(*cells_of(dataset, feature, cells), "mean")

    def usual(feature, statistic, month):
        values = dataset.climatology.cells(task.provenance["variable"], statistic, month)
        inside, weights = cells_of(dataset, feature, values)
        return float((inside * weights).sum())

    if task.template == "time_mean_extreme":
        values = [shown(task, mean_series(f).mean()) for f in subject]
        return place_and_value(task, subject, values, detail["order"])
    if task.template == "sublocation_extreme":
        pick = np.max if detail["order"] == "highest" else np.min
        values = [shown(task, pick(cells_of(dataset, f, cells)[0])) for f in subject]
        return place_and_value(task, subject, values, detail["order"])
    if task.template == "greatest_departure":
        values = [
            shown(task, mean_series(f)[step] - usual(f, "mean", month), difference=True)
            for f in subject
        ]
        return place_and_value(task, subject, values, detail["order"])
    if task.template == "percentile_exceedance":
        sign = 1.0 if detail["side"] == "above" else -1.0
        return [
            f.name
            for f in subject
            if sign * (mean_series(f)[step] - usual(f, detail["statistic"], month)) > 0.0
        ]
    if task.template == "hours_to_extreme":
        series = mean_series(subject)
        index = np.argmax(series) if detail["extreme"] == "max" else np.argmin(series)
        return int(forecast.lead_hours[index])
    if task.template == "climate_value":
        statistic = detail["statistic"]
        value = usual(subject, statistic, detail["month"])
        return shown(task, value, difference=statistic == "std")
    inside, weights = cells_of(dataset, subject, cells)
    if task.template == "feature_at_time":
        return shown(task, space_statistic(inside, weights, detail["statistic"])[step])
    assert task.template == "feature_statistic"
    pooled = inside.reshape(-1, 1)
    every = np.repeat(weights, inside.shape[1]) / inside.shape[1]
    return shown(task, space_statistic(pooled, every, detail["statistic"])[0])


@pytest.mark.parametrize("name", TEMPLATES)
def test_gold_answers_agree_with_the_oracle(analytic, bank, name):
    tasks = [task for task in bank if task.template == name]
    assert len(tasks) > 40
    for task in tasks:
        right = expected(analytic, task)
        if isinstance(right, dict):
            assert task.gold["place"] == right["place"], task.prompt
            assert task.gold["value"] == pytest.approx(right["value"], rel=1e-5, abs=1e-4)
        elif task.answer_type == "anomaly":
            assert sorted(task.gold) == sorted(right), task.prompt
        else:
            assert task.gold == pytest.approx(right, rel=1e-5, abs=1e-4), task.prompt


@pytest.mark.parametrize("name", TEMPLATES)
def test_every_wording_is_whole(bank, name):
    tasks = [task for task in bank if task.template == name]
    for task in tasks:
        assert not re.search(r"[{}]|\bNone\b|  |_", task.prompt), task.prompt
        assert task.prompt.count("Forecast, analytic test world, initialised 2001-") == 1
    about = [re.sub(r"^Forecast.*?h\. ", "", task.prompt).split()[0] for task in tasks]
    assert len(set(about)) >= 3  # several phrasings


def test_the_table_has_the_papers_eight_rows():
    types = [template.answer_type for template in TEMPLATES.values()]
    assert len(TEMPLATES) == 8
    assert types.count("location") == 3
    assert types.count("numerical") == 3
    assert types.count("time") == types.count("anomaly") == 1
    reconstructed = {name for name, template in TEMPLATES.items() if template.reconstructed}
    assert reconstructed == {"climate_value", "greatest_departure"}
    climate = {name for name, template in TEMPLATES.items() if template.tool == "climatology"}
    assert climate == {*reconstructed, "percentile_exceedance"}


def scene_of(dataset):
    return Scene(dataset, dataset.forecast(dataset.forecasts[0]))


def lakes(*names):
    store = FeatureStore.load()
    return Group("desert", None, tuple(store.get(name, "desert") for name in names))


def test_a_winner_must_stand_out(analytic):
    deserts = lakes("Sahara", "Gobi Desert", "Kalahari Desert", "Thar Desert")
    scene = scene_of(analytic)
    found = winner(scene, deserts, np.array([20.0, 30.31, 30.0, 5.0]), "highest")
    assert found is not None
    assert (found.place, found.value) == ("Gobi Desert", 30.31)
    assert found.margin == pytest.approx(0.31)
    assert found.needed == pytest.approx(0.3031)
    # the runner-up's value would pass for the winner's: 1 %, or 0.05 below magnitude one
    assert winner(scene, deserts, np.array([20.0, 30.3, 30.0, 5.0]), "highest") is None
    assert winner(scene, deserts, np.array([0.2, 0.5, 0.54, 5.0]), "lowest") is not None
    assert winner(scene, deserts, np.array([0.52, 0.5, 0.54, 5.0]), "lowest") is None
    assert winner(scene, deserts, np.array([np.nan, 0.5, 0.6, 5.0]), "lowest") is None


def test_a_place_smaller_than_a_cell_does_not_win(analytic):
    small = next(f for f in analytic.features if f.kind == "lake" and is_small(analytic, f))
    group = Group("lake", None, (small, *analytic.features.of_kind("desert")[:3]))
    assert winner(scene_of(analytic), group, np.array([9.0, 1.0, 2.0, 3.0]), "highest") is None


def test_candidates_are_seven_to_sixty_and_no_set_comes_twice(analytic):
    found = groups(analytic)
    assert all(7 <= len(group.features) <= 60 for group in found)
    small = [sum(is_small(analytic, f) for f in group.features) for group in found]
    assert all(n <= 0.4 * len(g.features) for n, g in zip(small, found, strict=True))
    assert any(n for n in small)
    assert len({group.features for group in found}) == len(found)
    keys = {group.key for group in found}
    assert {"ocean", "continent", "city in Japan"} <= keys
    assert "lake in China" not in keys  # all of them smaller than a cell
    assert all(group.parent for group in groups(analytic, with_parent=True))


def test_features_of_single_questions_cover_a_cell_or_are_cities(analytic):
    found = single_features(analytic)
    kinds = {feature.kind for feature in found}
    assert {"country", "city", "ocean", "desert", "us_state"} <= kinds
    assert not any(is_small(analytic, feature) for feature in found)


def test_cities_are_asked_for_means_only(analytic):
    scene = scene_of(analytic)
    tokyo = analytic.features.get("Tokyo", "city")
    for name in ("feature_statistic", "feature_at_time"):
        for seed in range(20):
            draft = TEMPLATES[name].draw(
                scene, tokyo, variable("2m_temperature"), random.Random(seed)
            )
            assert draft is not None
            assert draft.detail["statistic"] == "mean"
            assert "at Tokyo, Japan" in draft.question


def test_an_ambiguous_name_is_asked_with_its_kind(analytic):
    georgia = analytic.features.get("Georgia", "us_state")
    assert scene_of(analytic).over(georgia) == "over Georgia (US state)"
    assert scene_of(analytic).over(analytic.features.get("Kenya")) == "over Kenya"


@pytest.mark.parametrize(
    ("name", "place"),
    [
        ("Salem, India", "at Salem, India"),
        ("Córdoba", "at Córdoba, Argentina"),
        ("Birmingham, United Kingdom", "at Birmingham, United Kingdom"),
    ],
)
def test_a_city_is_asked_with_its_country(analytic, name, place):
    city = analytic.features.get(name, "city")
    assert scene_of(analytic).over(city) == place
    assert analytic.features.get(place.removeprefix("at ")) == city


def test_kinds_with_few_features_are_not_asked_about(analytic):
    counts = Counter(feature.kind for feature in single_features(analytic))
    assert min(counts.values()) >= 5
    rare = [f for f in analytic.features if f.kind not in counts]
    assert any(not is_small(analytic, f) for f in rare)


@pytest.mark.parametrize(
    "name",
    ["time_mean_extreme", "sublocation_extreme", "percentile_exceedance", "greatest_departure"],
)
def test_cities_have_no_area(analytic, name):
    asked = set()
    scene, temperature = scene_of(analytic), variable("2m_temperature")
    cities = Group("city", "Japan", tuple(analytic.features.of_kind("city", "Japan")))
    for seed in range(60):
        draft = TEMPLATES[name].draw(scene, cities, temperature, random.Random(seed))
        if draft is not None:
            asked.add(draft.question)
            assert not re.search(r"mean 2 m|area|grid cell|average 2 m", draft.question)
    assert len(asked) > 3


def test_the_lowest_wind_component_is_said_to_be_negative():
    eastward, speed = variable("u_component_of_wind_500"), variable("10m_wind_speed")
    assert extreme_word("lowest", eastward, lowest=True) == "lowest (most negative)"
    assert extreme_word("highest", eastward, lowest=False) == "highest"
    assert extreme_word("lowest", speed, lowest=True) == "lowest"
    ten_metres = variable("10m_v_component_of_wind")
    assert extreme_word("minimum", ten_metres, lowest=True) == "minimum (most negative)"


def test_what_is_asked_says_what_it_is(bank):
    for task in bank:
        question = task.prompt.split(" h. ", 1)[1]
        spread = task.provenance["detail"].get("statistic") == "std"
        assert ("difference)" in question) == (spread or task.template == "greatest_departure")
        assert "valid" not in question
        assert "component" not in question


def test_a_set_says_what_counts(analytic):
    africa = Group("country", "Africa", ())
    assert africa.plural == "countries and territories in Africa"
    assert africa.singular == "country or territory in Africa"
    states = Group("us_state", "United States", tuple(analytic.features.of_kind("us_state")))
    assert states.plural == "US states and territories"
    for seed in range(40):
        draft = TEMPLATES["sublocation_extreme"].draw(
            scene_of(analytic), states, variable("2m_temperature"), random.Random(seed)
        )
        assert draft is None or "US state" not in draft.question
        assert draft is None or re.search(
            "states? (?:or|and) territor.*United States|United States.*state", draft.question
        )


def test_a_percentile_is_not_the_mean(analytic, bank):
    for task in bank:
        if task.template == "climate_value":
            detail, about = task.provenance["detail"], task.provenance
            mean = analytic.climate(
                about["variable"], "mean", detail["month"], analytic.features[about["key"][1]]
            )
            score = verify(task, json.dumps(variable(about["variable"]).to_display(mean)))
            assert detail["statistic"] in ("mean", "std") or score == 0.0
            assert detail["statistic"] == "std" or about["blind"]["mean instead"] == score


def test_a_constant_series_has_no_hour():
    class Flat(Scene):
        def series(self, variable, feature, stat="mean"):
            return np.zeros(40)

    dataset = analytic_dataset()
    scene = Flat(dataset, dataset.forecast(dataset.forecasts[0]))
    kenya = dataset.features.get("Kenya")
    draft = TEMPLATES["hours_to_extreme"].draw(
        scene, kenya, variable("2m_temperature"), random.Random(0)
    )
    assert draft is None


def test_a_template_turns_the_wrong_subject_down(analytic):
    scene, rng = scene_of(analytic), random.Random(0)
    kenya = analytic.features.get("Kenya")
    deserts = lakes("Sahara", "Gobi Desert", "Kalahari Desert", "Thar Desert")
    temperature = variable("2m_temperature")
    assert TEMPLATES["time_mean_extreme"].draw(scene, kenya, temperature, rng) is None
    assert TEMPLATES["hours_to_extreme"].draw(scene, deserts, temperature, rng) is None


def test_list_questions_leave_out_candidates_on_the_threshold(bank):
    for task in bank:
        if task.answer_type == "anomaly":
            assert task.provenance["margin"] > task.provenance["needed_margin"] > 0.0
            assert len(task.gold) <= len(task.provenance["candidates"]) / 5


@pytest.mark.parametrize(
    ("name", "usual", "side", "trivial"),
    [
        ("total_precipitation_6hr", [0.0, 2.0], "below", True),
        ("total_precipitation_6hr", [0.5, 2.0], "below", False),
        ("total_precipitation_6hr", [0.0, 2.0], "above", False),
        ("total_cloud_cover", [40.0, 100.0], "above", True),
        ("total_cloud_cover", [40.0, 99.0], "above", False),
        ("2m_temperature", [0.0, -5.0], "below", False),
    ],
)
def test_nothing_is_asked_beyond_a_bound(name, usual, side, trivial):
    assert at_bound(variable(name), np.array(usual), side) is trivial


def test_times_in_words(analytic):
    forecast = analytic.forecast("2001-01-05")
    words = {moment(forecast, 132, random.Random(seed)) for seed in range(60)}
    assert words == {
        "132 hours into the forecast",
        "at a lead time of 132 h",
        "132 h after the initial time",
        "at 12:00 UTC on 10 January 2001",
        "at 2001-01-10 12:00 UTC",
    }
    assert month_of(forecast, 0) == 1
    assert month_of(forecast, 27 * 24) == 2  # 1 February 00 UTC is February
    assert month_of(forecast, 27 * 24 - 6) == 1


@pytest.mark.parametrize(
    ("name", "kind", "sentence"),
    [
        ("Kenya", "country", "Kenya"),
        ("United States", "country", "the United States"),
        ("Sahara", "desert", "the Sahara"),
        ("Mediterranean Sea", "sea", "the Mediterranean Sea"),
        ("Gulf of Aden", "sea", "the Gulf of Aden"),
        ("Lake Victoria", "lake", "Lake Victoria"),
        ("Himalayas", "mountain_range", "the Himalayas"),
        ("Hawaiian Islands", "island", "the Hawaiian Islands"),
        ("The Gambia", "country", "The Gambia"),
        ("Great Australian Bight", "sea", "the Great Australian Bight"),
        ("North Island", "island", "the North Island"),
        ("South Island", "island", "the South Island"),
        ("Peloponnese", "peninsula", "the Peloponnese"),
        ("Upper Peninsula of Michigan", "peninsula", "the Upper Peninsula of Michigan"),
        ("Comoros", "country", "the Comoros"),
        ("Seychelles", "country", "the Seychelles"),
        ("Federated States of Micronesia", "country", "the Federated States of Micronesia"),
        ("British Indian Ocean Territory", "country", "the British Indian Ocean Territory"),
        ("Rhode Island", "us_state", "Rhode Island"),
        ("South Georgia", "island", "South Georgia"),
    ],
)
def test_articles(name, kind, sentence):
    assert with_article(name, kind) == sentence


def test_in_turn_takes_one_of_each_kind():
    items = ["a1", "a2", "a3", "b1", "c1", "c2"]
    assert in_turn(items, lambda item: item[0]) == ["a1", "b1", "c1", "a2", "c2", "a3"]


def test_gold_scores_one_by_its_verifier(bank):
    for task in bank:
        assert verify(task, json.dumps(task.gold, ensure_ascii=False)) == 1.0, task.prompt
        assert verify(task, "") == 0.0
        assert verify(task, None) == 0.0


def test_subjects_are_features_or_groups(analytic):
    for template in TEMPLATES.values():
        subject = template.subjects(analytic)[0]
        assert isinstance(subject, Feature | Group)
