"""What templates ask of charts made by hand, and what they don't: near-ties and calm."""

import random
from dataclasses import replace

import numpy as np
import pytest

from zephyrus_chartqa.facts.areas import chart_areas
from zephyrus_chartqa.facts.reading import Reading
from zephyrus_chartqa.facts.scales import SCALES
from zephyrus_chartqa.fields import chart_data
from zephyrus_chartqa.modality import MODALITIES
from zephyrus_chartqa.questions import TEMPLATES, templates_for
from zephyrus_chartqa.region import REGIONS
from zephyrus_geodata import load_dataset


@pytest.fixture(scope="module")
def demo():
    return load_dataset("demo")


def chart(demo, modality, region="Europe"):
    return chart_data(demo, "1959-10-19", modality, REGIONS[region], 48)


def reading(demo, data, **fields):
    return Reading.of(replace(data, **fields), chart_areas(demo, data.region))


def asked(template, page, seed=0):
    return list(TEMPLATES[template].drafts(page, random.Random(seed)))


def even(data, value):
    return np.full(data.values.shape, float(value))


@pytest.mark.parametrize("modality", MODALITIES)
def test_a_value_in_a_class_is_asked_and_one_on_an_edge_is_not(demo, modality):
    data, scale = chart(demo, modality), SCALES[modality]
    low, high = scale.edges[1:3]
    drafts = asked("area_class", reading(demo, data, values=even(data, 0.5 * (low + high))))
    assert len(drafts) == len(chart_areas(demo, data.region))
    assert {draft.right for draft in drafts} == {scale.words[2]}
    for edge in scale.edges[:3]:
        near = edge + 0.99 * scale.needed(edge)
        assert not asked("area_class", reading(demo, data, values=even(data, near)))
        assert not asked("area_class", reading(demo, data, values=even(data, edge)))


@pytest.mark.parametrize("modality", MODALITIES)
def test_the_classes_offered_follow_each_other_and_hold_the_right_one(demo, modality):
    data, scale = chart(demo, modality), SCALES[modality]
    for index in range(1, len(scale.edges)):
        value = 0.5 * (scale.edges[index - 1] + scale.edges[index])
        if not scale.is_clear(value):
            continue
        for draft in asked("area_class", reading(demo, data, values=even(data, value)), index):
            places = sorted(scale.words.index(text) for text in (draft.right, *draft.wrong))
            assert places == list(range(places[0], places[0] + 4))
            assert draft.right == scale.words[index]


@pytest.mark.parametrize("modality", MODALITIES)
def test_areas_alike_are_not_ranked(demo, modality):
    data = chart(demo, modality)
    assert not asked("area_order", reading(demo, data, values=even(data, 12.0)))


def test_the_highest_and_the_lowest_area_are_found(demo):
    data = chart(demo, "max_temp")
    page = reading(demo, data, values=data.latitude - 40.0)  # the farther north the warmer
    for draft in asked("area_order", page, 3):
        names = {area.name: area.latitude for area in page.areas}
        best = max if draft.fact["order"] == "highest" else min
        assert best((draft.right, *draft.wrong), key=names.__getitem__) == draft.right
        assert draft.margin >= draft.needed == 2.0


@pytest.mark.parametrize(
    ("u", "v", "word"),
    [
        (10, 0, "westerly"),
        (0, 10, "southerly"),
        (-7, -7, "northeasterly"),
        (7, -7, "northwesterly"),
    ],
)
def test_a_flow_is_named_and_its_opposite_offered(demo, u, v, word):
    data = chart(demo, "850hpa_situation")
    drafts = asked("flow", reading(demo, data, u=even(data, u), v=even(data, v)))
    assert len(drafts) == len(chart_areas(demo, data.region))
    opposite = {"westerly": "easterly", "southerly": "northerly"}
    opposite |= {"northeasterly": "southwesterly", "northwesterly": "southeasterly"}
    for draft in drafts:
        assert draft.right == word and opposite[word] in draft.wrong
        assert len({draft.right, *draft.wrong}) == 4


def test_no_flow_is_asked_of_calm_turning_or_between_two_directions(demo):
    data = chart(demo, "850hpa_situation")
    calm = reading(demo, data, u=even(data, 2.0), v=even(data, 0.0))
    between = reading(demo, data, u=even(data, 10.0), v=even(data, 10.0 * np.tan(np.pi / 8)))
    turns = np.where(np.indices(data.values.shape).sum(axis=0) % 2, 10.0, -10.0)
    turning = reading(demo, data, u=turns, v=even(data, 1.0))
    for page in (calm, between, turning):
        assert not asked("flow", page)


@pytest.mark.parametrize(
    ("curve", "slope", "begins"),
    [
        (1.0, 0.0, "in a trough"),
        (-1.0, 0.0, "in a ridge"),
        (0.0, 20.0, "on a slope: heights are lower to its west, higher"),
        (0.0, -20.0, "on a slope: heights are higher to its west, lower"),
    ],
)
def test_waves_are_told_by_both_flanks(demo, curve, slope, begins):
    data = chart(demo, "500hpa_situation")
    areas = chart_areas(demo, data.region)
    area = next(area for area in areas if area.name == "Germany")
    east = data.longitude - area.longitude
    page = reading(demo, data, values=5500.0 + curve * east**2 + slope * east)
    found = [draft for draft in asked("wave", page) if draft.area == "Germany"]
    assert [draft.right.startswith(begins) for draft in found] == [True]
    assert not asked("wave", reading(demo, data, values=even(data, 5500.0)))


def hollow(data, *centres):
    """Pressure with round lows and highs: (latitude, longitude, hPa off 1013, km)."""
    field = even(data, 1013.0)
    for latitude, longitude, depth, size in centres:
        x = (data.longitude - longitude) * np.cos(np.deg2rad(latitude)) * 111.2
        y = (data.latitude - latitude) * 111.2
        field = field + depth * np.exp(-(x**2 + y**2) / (2 * size**2))
    return field


def test_the_nearest_system_is_asked_and_its_place(demo):
    data = chart(demo, "land_situation")
    page = reading(demo, data, values=hollow(data, (57, 4, -35, 400), (42, 30, 25, 400)))
    kinds = {centre.kind for centre in page.centres}
    assert kinds == {"low", "high"}
    near = {draft.area: draft.right for draft in asked("system_kind", page)}
    assert near["the North Sea"].startswith("a low of 9")
    assert near["Turkey"].startswith("a high of 10")
    for draft in asked("system_kind", page):
        texts = (draft.right, *draft.wrong)
        assert sum(text.startswith("a low") for text in texts) == 2
        values = [int(text.split()[3]) for text in texts if text[:6] == draft.right[:6]]
        assert abs(values[0] - values[1]) >= 12
    places = {draft.fact["kind"]: draft.right for draft in asked("system_place", page)}
    assert places["low"] == "the North Sea"
    assert not asked("system_kind", reading(demo, data, values=even(data, 1013.0)))


def test_two_lows_that_can_not_be_told_apart_are_not_asked_for(demo):
    data = chart(demo, "land_situation")
    twins = reading(demo, data, values=hollow(data, (57, 4, -30, 300), (42, 30, -31, 300)))
    assert len(twins.centres) >= 2
    assert not [d for d in asked("system_place", twins) if d.fact["kind"] == "low"]


def test_the_quarter_of_the_extreme_is_asked_unless_another_comes_near_it(demo):
    data = chart(demo, "max_temp")
    one = hollow(data, (60, -10, 20, 300)) - 1013.0
    (draft,) = (d for d in asked("quarter", reading(demo, data, values=one)) if "high" in d.balance)
    assert draft.right == "the northwest"
    assert set(draft.wrong) == {"the northeast", "the southwest", "the southeast"}
    two = hollow(data, (60, -10, 20, 300), (40, 30, 19, 300)) - 1013.0
    found = asked("quarter", reading(demo, data, values=two))
    assert not [d for d in found if d.fact["order"] == "highest"]
    assert not asked("quarter", reading(demo, chart(demo, "max_temp", "Arctic")))


@pytest.mark.parametrize("modality", MODALITIES)
def test_what_is_asked_follows_from_the_chart_and_the_seed(demo, modality):
    page = reading(demo, chart(demo, modality))
    for template in templates_for(modality):
        first, again = (asked(template.name, page, 5) for _ in range(2))
        assert first == again
        for draft in first:
            assert draft.margin >= draft.needed > 0.0
            assert len({draft.right, *draft.wrong}) == 4
            assert draft.right not in draft.question
