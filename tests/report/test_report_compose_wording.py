"""Findings in words: each form by hand, agreement, rounding, days and hazards."""

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_geodata import Dataset, Feature, FeatureStore, load_dataset
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_report.compose import hazards
from zephyrus_report.compose.calendar import Calendar
from zephyrus_report.compose.findings import Finding, Kind, Place, Quantity
from zephyrus_report.compose.places import Gazetteer, coordinates, in_words, is_plural
from zephyrus_report.compose.scene import Scene
from zephyrus_report.compose.wording import Wording, amount, celsius, force, listed, metres, sky
from zephyrus_tools.bodies import main_body

FRANCE = Place("France", "country:France")
START = np.datetime64("1959-01-02T00", "s")  # a Friday


def wording(key: str = "") -> Wording:
    return Wording(Calendar(START), key)


def finding(kind: Kind, place: Place = FRANCE, start: int = 6, end: int = 48, **more) -> Finding:
    units = {
        "pressure": "hPa", "before": "hPa", "after": "hPa", "speed": "km/h", "total": "mm",
        "heaviest": "mm", "cover": "%", "height": "gpm",
    }  # fmt: skip
    values = {
        name: Quantity(more.pop(name), units.get(name, "°C"))
        for name in list(more)
        if name
        in {*units, "mean", "lowest", "highest", "departure", "normal", "change", "gradient"}
    }
    return Finding(kind, place, start, end, values, **more)


def variants(f: Finding) -> set[str]:
    """What a finding may be told as."""
    return {wording(str(key)).sentence(f) for key in range(40)}


SEA = Place("North Sea", "sea:North Sea", "", 55.8, 3.2)
DANES = Place("Denmark", "country:Denmark", "", 56.2, 9.6)


@pytest.mark.parametrize(
    ("told", "texts"),
    [
        (
            finding(Kind.LOW, SEA, before=985.4, after=972.2, pressure=972.2, speed=41.0,
                    direction="east", target=DANES),
            {
                f"A low of 985 hPa over the North Sea (56°N, 3°E) at 06 UTC Friday 2 January "
                f"{verb} east at about 40 km/h, deepening to 972 hPa over Denmark (56°N, 10°E) "
                "by 00 UTC Sunday 4 January."
                for verb in ("moves", "tracks")
            },
        ),
        (
            finding(Kind.HIGH, SEA, before=1030.0, after=1030.9, pressure=1031.0, speed=12.0,
                    direction="north-west", target=DANES),
            {
                "A high of 1030 hPa over the North Sea (56°N, 3°E) at 06 UTC Friday 2 January "
                "drifts north-west, holding near 1031 hPa over Denmark (56°N, 10°E) by 00 UTC "
                "Sunday 4 January."
            },
        ),
        (
            finding(Kind.HIGH, SEA, before=1030.0, after=1025.0, pressure=1030.0, speed=3.0),
            {
                "A nearly stationary high over the North Sea (56°N, 3°E) is weakening from 1030 "
                "hPa at 06 UTC Friday 2 January to 1025 hPa at 00 UTC Sunday 4 January."
            },
        ),
        (
            finding(Kind.COLD_FRONT, start=18, end=36, before=4.4, after=-5.6, change=-10.0,
                    gradient=2.0, direction="north-west"),
            {
                "A cold front crosses France between 18 UTC Friday 2 January and 12 UTC Saturday "
                "3 January: 850 hPa temperature falls from 4 °C to -6 °C, with north-westerly "
                "winds behind it.",
                "A cold front moves across France between 18 UTC Friday 2 January and 12 UTC "
                "Saturday 3 January, where 850 hPa temperature falls from 4 °C to -6 °C, with "
                "north-westerly winds behind it.",
            },
        ),
        (
            finding(Kind.WIND, speed=18.4, hour=30, direction="south-west"),
            {
                "10 m winds over France peak at 18 m/s (gale force) from the south-west at 06 UTC "
                "Saturday 3 January.",
                "The strongest 10 m winds over France reach 18 m/s (gale force) from the "
                "south-west at 06 UTC Saturday 3 January.",
            },
        ),
        (
            finding(Kind.DRY, Place("Alps", "mountain_range:Alps"), total=0.02),
            {
                "The Alps stay mostly dry on days 1 and 2 (Friday 2 to Saturday 3 January), with "
                "an average total of less than 0.1 mm."
            },
        ),
        (
            finding(Kind.CLOUD, end=24, cover=84.6),
            {
                "Skies over France are cloudy on day 1 (Friday 2 January), with a mean cloud "
                "cover of 85 %."
            },
        ),
        (
            finding(Kind.COLD_EXTREME, lowest=-24.3, hour=30),
            {"The lowest 2 m temperature over France is -24 °C, at 06 UTC Saturday 3 January."},
        ),
        (
            finding(Kind.WARM_ANOMALY, mean=8.3, departure=4.4, normal=3.9, detail="p90"),
            {
                "France is warm for January, averaging 8 °C on days 1 and 2 (Friday 2 to Saturday "
                "3 January), 4 °C above the climatological mean (above the 90th percentile).",
                "Mean 2 m temperature over France is 8 °C on days 1 and 2 (Friday 2 to Saturday 3 "
                "January), 4 °C above the January climatological mean (above the 90th percentile).",
            },
        ),
        (
            finding(Kind.COOLING, before=7.2, after=-0.4, change=-7.6),
            {
                "Mean 2 m temperature over France falls from 7 °C on day 1 (Friday 2 January) to "
                "0 °C on day 2 (Saturday 3 January)."
            },
        ),
        (
            finding(Kind.TROUGH, height=5343.0, departure=-187.0, detail="deepening"),
            {
                "A 500 hPa trough deepens over France, with heights averaging 5340 gpm on days 1 "
                "and 2 (Friday 2 to Saturday 3 January), 190 gpm below the climatological mean for "
                "January."
            },
        ),
    ],
    ids=lambda value: str(value.kind) if isinstance(value, Finding) else "",
)  # fmt: skip
def test_each_form_as_it_is_written_by_hand(told, texts):
    assert variants(told) == texts


def test_rain_names_its_total_and_its_heaviest_hours():
    rain = finding(Kind.PRECIPITATION, end=24, total=14.4, heaviest=8.6, hour=12, detail="rain")
    assert variants(rain) == {
        f"{told} on day 1 (Friday 2 January){most}."
        for told in (
            "Rain totals average 14 mm over France",
            "France receives 14 mm of rain on average",
        )
        for most in (", with up to 9 mm in 6 h by 12 UTC Friday",
                     ", locally up to 9 mm in the 6 h to 12 UTC Friday")
    }  # fmt: skip


def test_snow_is_told_as_water():
    snow = finding(Kind.PRECIPITATION, end=24, total=3.0, detail="snow")
    assert all("(water equivalent)" in text for text in variants(snow))


def test_places_of_one_kind_are_told_together_and_another_kind_is_named():
    spain = Place("Spain", "country:Spain")
    rain = [
        finding(Kind.PRECIPITATION, end=24, total=9.0, heaviest=5.0, hour=6, detail="rain"),
        finding(Kind.PRECIPITATION, spain, end=24, total=4.0, heaviest=7.0, hour=24,
                detail="rain and snow"),
    ]  # fmt: skip
    text = wording("x").together(rain)
    assert "9 mm over France and 4 mm of rain and snow over Spain" in text
    assert text.endswith("00 UTC Saturday 3 January over Spain.")  # the heaviest is Spain's


def test_other_kinds_or_windows_are_not_told_together():
    one = finding(Kind.DRY, total=0.1)
    for other in (finding(Kind.DRY, total=0.1, end=24), finding(Kind.CLOUD, cover=50.0)):
        with pytest.raises(ValueError, match="together"):
            wording().together([one, other])


def test_a_cause_leads_in():
    dry = finding(Kind.DRY, total=0.4)
    assert wording().sentence(dry, "under the high").startswith("Under the high, France stays")


def test_a_day_has_its_date_once_and_a_window_too():
    calendar = Calendar(START)
    assert calendar.on(3, 5) == "on days 3 to 5 (Sunday 4 to Tuesday 6 January)"
    assert calendar.on(3, 5) == "from Sunday to Tuesday"
    assert calendar.on(4, 4) == "on Monday"
    assert calendar.on(3, 4) == "on Sunday and Monday"
    assert calendar.moment(72) == "00 UTC Monday"
    assert calendar.moment(120) == "00 UTC Wednesday 7 January"
    assert calendar.moment(126) == "06 UTC Wednesday"


def test_a_window_over_the_end_of_a_month_names_both_and_a_later_start_its_own_day():
    calendar = Calendar(np.datetime64("2000-02-27T12", "s"))
    assert calendar.on(1, 3) == "on days 1 to 3 (Monday 28 February to Wednesday 1 March)"
    assert Calendar(np.datetime64("2000-02-27T12", "s")).moment(36) == "00 UTC Tuesday 29 February"


@pytest.mark.parametrize(
    ("place", "words"),
    [
        (Place("France", "country:France"), "France"),
        (Place("United States", "country:United States"), "the United States"),
        (Place("United States", "country:United States", "south-east"),
         "the south-eastern United States"),
        (Place("Brazil", "country:Brazil", "centre"), "central Brazil"),
        (Place("Western Europe", "subregion:Western Europe", "north"),
         "the north of Western Europe"),
        (Place("Tasman Sea", "sea:Tasman Sea", "north"), "the northern Tasman Sea"),
        (Place("Gulf of Alaska", "sea:Gulf of Alaska"), "the Gulf of Alaska"),
        (Place("Hudson Bay", "sea:Hudson Bay"), "Hudson Bay"),
        (Place("Sahara", "desert:Sahara"), "the Sahara"),
        (Place("Anatolia", "peninsula:Anatolia"), "Anatolia"),
    ],
)  # fmt: skip
def test_places_have_their_article_and_part(place, words):
    assert in_words(place) == words


def test_ranges_of_mountains_are_plural_and_countries_are_not():
    assert is_plural(Place("Great Plains", "plain:Great Plains"))
    assert is_plural(Place("Alps", "mountain_range:Alps"))
    assert not is_plural(Place("United States", "country:United States"))
    assert not is_plural(Place("Philippines", "country:Philippines"))


@pytest.mark.parametrize(
    ("at", "text"),
    [((62.4, -4.6), "62°N, 5°W"), ((-0.2, 180.0), "0°N, 180°E"), ((-35.5, -179.9), "36°S, 180°E")],
)
def test_a_point_is_told_in_whole_degrees(at, text):
    assert coordinates(Place("x", latitude=at[0], longitude=at[1])) == text


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (amount(0.04), "less than 0.1 mm"), (amount(0.26), "0.3 mm"), (amount(1.96), "2 mm"),
        (amount(13.6), "14 mm"), (celsius(-0.3), "0 °C"), (celsius(-3.5), "-4 °C"),
        (metres(5344.0), "5340 gpm"), (force(13.4), ""), (force(17.6), "gale force"),
        (force(17.3), "near gale force"), (force(33.0), "hurricane force"),
        (sky(10.0), "mostly clear"), (sky(95.0), "overcast"),
        (listed(["a"]), "a"), (listed(["a", "b", "c"]), "a, b and c"),
    ],
)  # fmt: skip
def test_numbers_are_rounded_as_they_are_told(text, expected):
    assert text == expected


@given(st.floats(0.05, 500.0))
def test_an_amount_is_never_off_by_more_than_its_rounding(x):
    assert abs(float(amount(x).split()[0]) - x) <= (0.5 if x >= 1.95 else 0.05) + 1e-9


def test_hazards_are_ranked_by_how_far_they_exceed_and_local_ones_are_possible():
    spain = Place("Spain", "country:Spain")
    found = [
        finding(Kind.WIND, speed=18.0, hour=30),
        finding(Kind.PRECIPITATION, end=24, total=36.0, heaviest=20.0, hour=12, detail="rain"),
        finding(Kind.PRECIPITATION, spain, end=24, total=3.0, heaviest=16.0, hour=12,
                detail="rain"),
        finding(Kind.WIND, spain, speed=12.0, hour=30),
        finding(Kind.DRY, total=0.0),
    ]  # fmt: skip
    ranked = hazards.rank(found)
    assert [(h.name, h.finding.place.name, h.local) for h in ranked] == [
        ("heavy rain", "France", False),
        ("gale force winds", "France", False),
        ("heavy rain", "Spain", True),
    ]
    text = hazards.sentence(wording(), ranked)
    assert "heavy rain over France on day 1 (Friday 2 January) (36 mm on average)" in text
    assert "possible locally heavy rain over Spain" in text
    assert hazards.sentence(wording(), []).startswith("No ")


@pytest.fixture(scope="module")
def demo() -> Dataset:
    return load_dataset("demo")


@pytest.mark.parametrize(
    ("at", "name"),
    [
        ((65.0, 2.0), "Norwegian Sea"), ((40.0, -100.0), "Kansas"), ((47.0, 13.0), "Austria"),
        ((50.0, -30.0), "North Atlantic Ocean"), ((-45.0, 160.0), "Tasman Sea"),
        ((50.0, 180.0), "North Pacific Ocean"), ((50.0, -180.0), "North Pacific Ocean"),
    ],
)  # fmt: skip
def test_a_point_is_named_by_what_holds_it(demo, at, name):
    assert Gazetteer(demo).point(*at).name == name


def test_only_large_places_have_parts_and_oceans_never(demo):
    gazetteer = Gazetteer(demo)
    assert gazetteer.point(55.0, 100.0).part
    assert gazetteer.point(47.0, 13.0).part == ""
    assert gazetteer.point(50.0, -30.0).part == ""


def test_far_islands_are_no_part_of_the_body(demo):
    south_africa = demo.features["country:South Africa"]
    zone, body = demo.zones.weights(south_africa), main_body(demo, south_africa)
    rows = demo.grid.latitude[zone.cells // demo.grid.shape[1]]
    assert not body[rows < -44].any()  # the Prince Edward Islands
    assert body[rows > -34].all()
    fiji = demo.features["country:Fiji"]  # on both sides of 180 degrees, and one body
    assert main_body(demo, fiji).all()


def test_an_extreme_over_a_far_island_is_not_told_of_the_country():
    made = analytic_dataset(
        features=FeatureStore(
            [
                Feature.of(
                    "Farland",
                    "country",
                    shapely.union_all([shapely.box(0, 40, 20, 60), shapely.box(60, 10, 65, 15)]),
                )
            ]
        )
    )
    land = made.features["country:Farland"]
    forecast = made.forecast(made.forecasts[0])
    scene = Scene(made, forecast, land, 6, 24, Gazetteer(made))
    # It is warmer in the south: the highest value is the island's, the lowest the mainland's.
    assert scene.extreme("2m_temperature", land, "max", 6, 24) is None
    quantity, hour, place = scene.extreme("2m_temperature", land, "min", 6, 24)
    low = made.series(forecast, "2m_temperature", land, "min")[:4]
    assert quantity.value == pytest.approx(float(low.min()) - 273.15, abs=1e-4)
    assert hour == forecast.lead_hours[int(low.argmin())]
    assert place.part.startswith("north")
