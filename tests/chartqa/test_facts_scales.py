"""Classes, and that a value clear of their edges stays in its class when it is rounded."""

import math

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from zephyrus_chartqa.facts.scales import (
    APART,
    POINTS,
    SCALES,
    SECTOR_MARGIN,
    apart,
    off_point,
    point_of,
    shown,
    wind_word,
)

RANGES = {
    "rain": (0.0, 400.0),
    "phenomena": (0.0, 100.0),
    "max_temp": (-70.0, 60.0),
    "min_temp": (-70.0, 60.0),
    "500hpa_situation": (4700.0, 6100.0),
    "850hpa_situation": (0.0, 60.0),
    "land_situation": (900.0, 1080.0),
}


@pytest.mark.parametrize(
    ("modality", "value", "words"),
    [
        ("rain", 0.0, "no rain (below 0.1 mm)"),
        ("rain", 0.1, "light rain (0.1 to 9.9 mm)"),
        ("rain", 24.9, "moderate rain (10 to 24.9 mm)"),
        ("rain", 25.0, "heavy rain (25 to 49.9 mm)"),
        ("rain", 99.0, "rainstorm (50 to 99.9 mm)"),
        ("rain", 300.0, "extraordinary rainstorm (250 mm or more)"),
        ("phenomena", 31.0, "clear or few clouds (0 to 2 oktas)"),
        ("phenomena", 50.0, "scattered cloud (3 to 4 oktas)"),
        ("phenomena", 93.0, "broken cloud (5 to 7 oktas)"),
        ("phenomena", 94.0, "overcast sky (8 oktas)"),
        ("max_temp", -0.1, "-5 to 0 °C"),
        ("min_temp", 0.0, "0 to 5 °C"),
        ("max_temp", -50.1, "below -50 °C"),
        ("500hpa_situation", 5520.0, "552 to 560 dagpm"),
        ("500hpa_situation", 5519.0, "544 to 552 dagpm"),
        ("850hpa_situation", 3.9, "below 4 m/s"),
        ("850hpa_situation", 32.0, "32 m/s or more"),
        ("land_situation", 1014.9, "1010 to 1015 hPa"),
    ],
)
def test_a_value_has_the_class_of_the_standard(modality, value, words):
    scale = SCALES[modality]
    assert scale.words[scale.index(value)] == words


@pytest.mark.parametrize("modality", SCALES)
def test_there_is_one_more_class_than_edges_and_at_least_four(modality):
    scale = SCALES[modality]
    assert len(scale.words) == len(scale.edges) + 1 >= 4
    assert len(set(scale.words)) == len(scale.words)
    assert list(scale.edges) == sorted(scale.edges)


@pytest.mark.parametrize("modality", SCALES)
@given(data=st.data())
def test_a_clear_value_keeps_its_class_when_it_is_rounded(modality, data):
    scale = SCALES[modality]
    value = data.draw(st.floats(*RANGES[modality]))
    assume(scale.is_clear(value))
    distance, needed = scale.nearest(value)
    assert distance >= needed > 0.0
    assert all(abs(value - edge) >= scale.needed(edge) for edge in scale.edges)
    units = "gpm" if modality == "500hpa_situation" else "mm" if modality == "rain" else ""
    told, _ = shown(value, units)
    decimals = 1 if modality == "rain" and told < 10.0 else 0
    back = round(told, decimals) * (10.0 if units == "gpm" else 1.0)
    assert scale.index(back) == scale.index(value)


@pytest.mark.parametrize("modality", APART)
@given(data=st.data())
def test_values_that_are_apart_keep_their_order_when_rounded(modality, data):
    numbers = st.floats(*RANGES[modality])
    high, low = sorted((data.draw(numbers), data.draw(numbers)), reverse=True)
    distance, needed = apart(modality, high, low)
    assume(distance >= needed)
    scale = 0.1 if modality == "500hpa_situation" else 1.0
    assert round(high * scale) > round(low * scale)


def test_a_value_on_an_edge_or_missing_is_not_clear():
    for scale in SCALES.values():
        assert not any(scale.is_clear(edge) for edge in scale.edges)
        assert not scale.is_clear(math.nan)


@pytest.mark.parametrize(
    ("degrees", "word"),
    [
        (0.0, "northerly"),
        (359.0, "northerly"),
        (45.0, "northeasterly"),
        (90.0, "easterly"),
        (135.0, "southeasterly"),
        (180.0, "southerly"),
        (225.0, "southwesterly"),
        (270.0, "westerly"),
        (315.0, "northwesterly"),
    ],
)
def test_a_wind_is_named_after_where_it_blows_from(degrees, word):
    assert wind_word(point_of(degrees)) == word


@given(st.floats(0.0, 360.0, exclude_max=True))
def test_a_direction_well_inside_its_sector_stays_there_in_tens_of_degrees(degrees):
    assert 0.0 <= off_point(degrees) <= 22.5
    assert off_point(degrees) == pytest.approx(
        min(abs((degrees - 45.0 * i + 180.0) % 360.0 - 180.0) for i in range(len(POINTS)))
    )
    if 22.5 - off_point(degrees) >= SECTOR_MARGIN:
        assert point_of(round(degrees / 10.0) * 10.0) == point_of(degrees)
