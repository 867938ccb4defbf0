"""What is read out of sentences: numbers, times, places, claims; and claims read back."""

import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from zephyrus_report.rules import quantities, text, time_words
from zephyrus_report.rules.extract import extract
from zephyrus_report.rules.gazetteer import known
from zephyrus_report.rules.geometry import nearness
from zephyrus_report.rules.lexicon import expand, subjects
from zephyrus_report.rules.places import PARTS, Place
from zephyrus_report.rules.quantities import Quantity
from zephyrus_report.rules.times import Calendar, Time
from zephyrus_report.rules.typed import ASPECTS, LIKELIHOODS, ROLES, TRENDS, TypedClaim, parse


@pytest.mark.parametrize(
    ("words", "low", "high", "unit"),
    [
        ("14 mm", 14, 14, "mm"),
        ("1/4 inch", 6.35, 6.35, "mm"),
        ("1 1/2 inches", 38.1, 38.1, "mm"),
        ("one to two inches", 25.4, 50.8, "mm"),
        ("up to an inch", 25.4, 25.4, "mm"),
        ("15-25 cm", 150, 250, "mm"),
        ("15 to 25 mph", 6.7056, 11.176, "m/s"),
        ("20 knots", 10.28888, 10.28888, "m/s"),
        ("10-15kt", 5.14444, 7.71666, "m/s"),
        ("50 °F", 10, 10, "°C"),
        ("-40 F", -40, -40, "°C"),
        ("4 °C to -6 °C", -6, 4, "°C"),
        ("the 40s", 40 / 9, 85 / 9, "°C"),
        ("the upper 60s to lower 70s", 175 / 9, 205 / 9, "°C"),
        ("in the teens", -110 / 9, -65 / 9, "°C"),
        ("1013 mb", 1013, 1013, "hPa"),
        ("552 dam", 5520, 5520, "gpm"),
        ("60 percent", 60, 60, "%"),
        ("40 km/h", 40, 40, "km/h"),
    ],
)
def test_quantities(words, low, high, unit):
    (found,) = quantities.find(words.lower(), 0, len(words))
    assert (found.quantity.low, found.quantity.high) == pytest.approx((low, high))
    assert found.quantity.unit == unit


@pytest.mark.parametrize("words", ["500 hPa heights", "850 mb", "day 3", "in 1959", "2 m", "6 h"])
def test_levels_and_bare_numbers_are_no_quantities(words):
    assert quantities.find(words.lower(), 0, len(words)) == []


def _time(words, context=""):
    lower = words.lower()
    found = Calendar(lower, context).find(lower, words, 0, len(words))
    return [f.time for f in found]


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ("on Monday", Time(week=(0, 24))),
        ("Sunday night", Time(week=(162, 180 - 0))),
        ("early Wednesday", Time(week=(48, 60))),
        ("from Friday to Monday", Time(week=(96, 192))),
        ("Tuesday and Wednesday", Time(week=(24, 72))),
        ("at 18 UTC Saturday", Time(week=(138, 138))),
        ("12Z Tue", Time(week=(36, 36))),
        ("6 AM TUESDAY", Time(week=(30, 30))),
        ("on day 2", Time(lead=(24, 48))),
        ("on days 3 to 5", Time(lead=(48, 120))),
        ("hours 24 to 48", Time(lead=(24, 48))),
        ("at +36 h", Time(lead=(36, 36))),
        ("3 January", Time(date=(48, 72))),
        ("1959-01-03 12 UTC", Time(date=(60, 60))),
        ("this weekend", Time(week=(120, 168))),
    ],
)
def test_times(words, expected):
    assert _time(words) == [expected]


def test_a_day_with_weekday_and_date_ties_all_axes():
    first, later = _time("day 2 (Saturday 3 January), and 18 UTC Sunday")
    assert first == Time(lead=(24, 48), week=(120, 144), date=(48, 72))
    assert later == Time(lead=(66, 66), week=(162, 162), date=(90, 90))


def test_the_context_knows_the_initial_time():
    (time,) = _time("on Tuesday", "Initial time: Mon 1959-10-19 00 UTC.")
    assert time.lead == (24, 48)
    # Of ten days with two Mondays the first day that is named decides.
    words = "on days 6 to 8 (Saturday 24 to Monday 26 October), and on Sunday"
    assert _time(words, "Initial time: Mon 1959-10-19 00 UTC.")[1].lead == (144, 168)


def test_of_two_sundays_it_is_the_one_after_the_first_day_that_is_named():
    context = "Initial time: Fri 1959-01-02 00 UTC. Valid: Wed 1959-01-07 to Mon 1959-01-12"
    assert _time("on Thursday 8 January and on Sunday", context)[-1].lead == (216, 240)
    assert _time("on Sunday", f"{context} (lead times 126 to 240 h).")[0].lead == (216, 240)
    assert _time("on Sunday", context)[0].lead == (48, 72)


def test_the_header_knows_what_today_is():
    text = (
        "FXUS61 KBOX 270001\nAFDBOX\n\nAREA FORECAST DISCUSSION\n701 PM EST MON NOV 26 2012\n\n"
        ".NEAR TERM /TODAY/...\nRAIN OVER IOWA.\n"
    )
    (rain,) = extract(text)
    assert rain.time == Time(lead=(0, 24), week=(0, 24), date=(330 * 24, 331 * 24))


def test_a_wrapped_line_that_begins_with_a_number_is_no_header():
    (rain,) = extract(
        "Rain over Kenya averages\n12 mm on Saturday 3 January 1959\nand that is all."
    )
    assert (rain.value, rain.place.name) == (Quantity(12, 12, "mm"), "Kenya")


@pytest.mark.parametrize(
    "piece", ["rain over France ", "5 mm 6 mm ", "(((", "{", "Monday to ", "1 ", "not no ", "A:\n"]
)
def test_no_text_takes_long(piece):
    start = time.process_time()
    extract(piece * (40_000 // len(piece)))
    assert time.process_time() - start < 5


def _places(words):
    return [c.place for c in extract(words)]


@pytest.mark.parametrize(
    ("words", "key", "part"),
    [
        ("Rain over northern Germany.", "country:Germany", "north"),
        ("Rain over the west of Western Europe.", "subregion:Western Europe", "west"),
        ("Rain over western parts of Ohio.", "us_state:Ohio", "west"),
        ("Rain over NRN IA.", "us_state:Iowa", "north"),
        ("RAIN OVER NRN IA.", "us_state:Iowa", "north"),
        ("Rain over the Upper Midwest.", "zone:Upper Midwest", ""),
        ("Rain over the North Sea.", "sea:North Sea", ""),
        ("Rain over the UK.", "country:United Kingdom", ""),
        ("Rain over São Paulo.", "city:São Paulo", ""),
        ("Rain over Sao Paulo.", "city:São Paulo", ""),
        ("Rain in the northwest.", "", "north-west"),
    ],
)
def test_places(words, key, part):
    (place,) = _places(f"{words[:-1]} on Monday.")
    assert (place.key, place.part) == (key, part)


@pytest.mark.parametrize(
    "words",
    [
        "Rain on Monday, a nice day for reading and mobile homes.",
        "Rain on Monday in or near me.",
        "RAIN MONDAY IN A MOBILE BATH OR SPLIT.",
        "Rain on Monday with winds from the south.",
    ],
)
def test_everyday_words_are_no_places(words):
    assert set(_places(words)) == {None}


def _at(name, part=""):
    return Place(name, known(name), part)


def test_how_places_lie():
    assert nearness(_at("France"), _at("France")) == 1.0
    assert nearness(_at("France"), _at("Norway")) == 0.0
    inside = nearness(_at("France", "north"), _at("France"))
    assert 0.5 < inside < 1.0
    assert nearness(_at("France"), _at("Western Europe")) > nearness(_at("France"), _at("Europe"))
    assert nearness(_at("France", "north"), _at("France", "south")) < 0.4
    assert nearness(Place("", "", "", (60.0, 5.0)), Place("", "", "", (61.0, 6.0))) == 1.0
    assert nearness(Place("", "", "", (60.0, 5.0)), Place("", "", "", (40.0, 5.0))) == 0.0
    assert nearness(_at("France"), None) is None


@pytest.mark.parametrize(
    ("sentence", "claims"),
    [
        (
            "A low of 985 hPa over Denmark (56°N, 10°E) at 18 UTC Saturday moves east at about "
            "40 km/h, deepening to 972 hPa over Finland (61°N, 25°E) by 18 UTC Sunday.",
            [
                "Low: 985 hPa over Denmark (56°N, 10°E), at Sat 18 UTC.",
                "Low: 972 hPa over Finland (61°N, 25°E), at Sun 18 UTC.",
                "Low: strengthening over Denmark (56°N, 10°E), Sat 18 UTC to Sun 18 UTC.",
                "Low: moving east over Denmark (56°N, 10°E), Sat 18 UTC to Sun 18 UTC.",
            ],
        ),
        (
            "Rain averages 14 mm over Kenya, 9 mm over Uganda and 4 mm over western Chad on Monday.",
            [
                "Rain: mean 14 mm over Kenya, Mon 00 UTC to Tue 00 UTC.",
                "Rain: mean 9 mm over Uganda, Mon 00 UTC to Tue 00 UTC.",
                "Rain: mean 4 mm over the west of Chad, Mon 00 UTC to Tue 00 UTC.",
            ],
        ),
        (
            "Kenya and Uganda stay dry on Monday.",
            [
                "Precipitation: little or none expected over Kenya, Mon 00 UTC to Tue 00 UTC.",
                "Precipitation: little or none expected over Uganda, Mon 00 UTC to Tue 00 UTC.",
            ],
        ),
        (
            "EXPECT LOW TEMPS IN THE LOW 20S IN NH TUE NIGHT...WITH NO RAIN.",
            [
                "Low temperature: -6.7 to -5 °C, likely over New Hampshire, Tue 18 UTC to Wed 12 UTC.",
                "Rain: none expected over New Hampshire, Tue 18 UTC to Wed 12 UTC.",
            ],
        ),
        (
            "The hazards are gales over Spain (up to 24 m/s around 18 UTC Friday) and heavy snow over "
            "Peru on Sunday (up to 30 mm in 6 h).",
            [
                "Damaging wind: expected over Spain, at Fri 18 UTC.",
                "Snow: maximum 30 mm over Peru, Sun 00 UTC to Mon 00 UTC.",
            ],
        ),
    ],
)  # fmt: skip
def test_claims(sentence, claims):
    found = [c.text() for c in extract(sentence)]
    assert set(claims) <= set(found)


def _hazards(words):
    return [c.text() for c in extract(words) if c.subject == "hazards"]


@pytest.mark.parametrize(
    ("words", "claims"),
    [
        (
            "Rain over Spain on Tuesday. Dry over Mali on Monday. "
            "No significant wind, precipitation or temperature hazards are expected.",
            ["Hazards: none expected, Mon 00 UTC to Wed 00 UTC."],
        ),
        (
            "Rain over Spain on day 2 (Tuesday 20 October).\n\n"
            "No hazardous wind, precipitation or temperature is expected.",
            ["Hazards: none expected, Tue 20 Oct 00 UTC to Wed 21 Oct 00 UTC (24 to 48 h)."],
        ),
        (
            "No hazardous weather is expected over Iowa on Monday.",
            ["Hazards: none expected over Iowa, Mon 00 UTC to Tue 00 UTC."],
        ),
        (".TONIGHT...\nNo hazards.\n", ["Hazards: none expected, lead times 12 to 36 h."]),
        ("No hazardous weather is expected.", []),
        ("No hazardous wind is expected over Iowa on Monday.", []),
        ("No significant rain is expected over Iowa on Monday.", []),
        ("No other hazards are expected over Iowa on Monday.", []),
        ("Hazards are possible over Iowa on Monday.", []),
    ],
)
def test_that_no_hazard_is_expected_is_one_claim(words, claims):
    assert _hazards(words) == claims
    subjects_ = {c.subject for c in extract(words)}
    assert not subjects_ & {"wind", "temperature"}  # its kinds make no claims of their own


def test_causes_are_tied_to_what_they_explain():
    (rain,) = extract("Ahead of the cold front, heavy rain falls over Ohio on Monday.")
    assert (rain.subject, rain.intensity, rain.causes) == ("rain", "heavy", ("cold_front",))
    (wind,) = extract("South-east of the low, winds over Spain reach 20 m/s on Friday.")
    assert (wind.subject, wind.causes) == ("wind", ("low",))
    by_effect = extract("A deep low over Ohio brings snow on Monday.")
    assert {c.subject: c.causes for c in by_effect} == {"low": (), "snow": ("low",)}


def test_headings_give_place_and_time():
    claims = extract(".TONIGHT...\nRain.\n\n...Iowa...\nSnow on Monday.\n")
    assert [(c.subject, c.place and c.place.name, c.time) for c in claims] == [
        ("rain", None, Time(lead=(12, 36))),
        ("snow", "Iowa", Time(week=(0, 24))),
    ]


def test_a_term_is_spelt_out():
    assert set(expand("(upper|) low~")) == {"upper low", "upper lows", "low", "lows"}


def test_subjects_are_named_once_and_their_parents_exist():
    names = [s.name for s in subjects().values()]
    assert len(set(names)) == len(names)
    assert all(not s.parent or s.parent in subjects() for s in subjects().values())


_SAT = Time(lead=(24, 48), week=(120, 144), date=(48, 72))


@pytest.mark.parametrize(
    ("time", "words"),
    [
        (_SAT, "Sat 3 Jan 00 UTC to Sun 4 Jan 00 UTC (24 to 48 h)"),
        (Time((30, 30), (30, 30), (7014, 7014)), "at Tue 19 Oct 06 UTC (30 h)"),
        (Time(week=(120, 144)), "Sat 00 UTC to Sun 00 UTC"),
        (Time(week=(162, 180)), "Sun 18 UTC to Mon 12 UTC"),
        (Time(date=(48, 72)), "3 Jan 00 UTC to 4 Jan 00 UTC"),
        (Time(date=(8760, 8808)), "31 Dec 00 UTC to 2 Jan 00 UTC"),
        (Time(lead=(24, 48)), "lead times 24 to 48 h"),
        (Time(lead=(6.5, 6.5)), "lead time 6:30 h"),
        (Time(week=(6.5, 12)), "Mon 06:30 UTC to Mon 12 UTC"),
        # Longer than a week: its end would not tell which.
        (Time(week=(0, 240)), "Mon 00 UTC for 240 h"),
        (Time((0, 240), (0, 240), (0, 240)), "Mon 1 Jan 00 UTC to Thu 11 Jan 00 UTC (0 to 240 h)"),
        # Where the axes do not tell of the same hours, each tells its own.
        (
            Time((0, 24), (0, 24), (54, 72)),
            "Mon 00 UTC to Tue 00 UTC / 3 Jan 06 UTC to 4 Jan 00 UTC / lead times 0 to 24 h",
        ),
        (Time((0, 12), (0, 24)), "Mon 00 UTC to Tue 00 UTC / lead times 0 to 12 h"),
    ],
)  # fmt: skip
def test_a_time_in_words(time, words):
    assert time_words.render(time) == words
    assert time_words.parse(words) == time


@pytest.mark.parametrize(
    ("claim", "words"),
    [
        (
            TypedClaim("rain", "value", "", _at("France"), _SAT, Quantity(14, 14, "mm"), "mean"),
            "Rain: mean 14 mm over France, Sat 3 Jan 00 UTC to Sun 4 Jan 00 UTC (24 to 48 h).",
        ),
        (
            TypedClaim("temperature", "value", value=Quantity(19, 19, "°C"), role="min"),
            "Temperature: minimum 19 °C.",
        ),
        (
            TypedClaim("temperature", "departure", value=Quantity(-5, -3, "K")),
            "Temperature: 3 to 5 K below normal.",
        ),
        (
            TypedClaim("temperature", "departure", value=Quantity(-1, 2, "K")),
            "Temperature: -1 to 2 K from normal.",
        ),
        (TypedClaim("temperature", "anomaly", "near"), "Temperature: near normal."),
        (
            TypedClaim("snow", "presence", "", _at("France", "north"), intensity="heavy"),
            "Snow: heavy, expected over the north of France.",
        ),
        (
            TypedClaim("snow", "presence", place=_at("France"), likelihood="possible"),
            "Snow: possible over France.",
        ),
        (TypedClaim("rain", "presence", place=_at("France")), "Rain: expected over France."),
        (TypedClaim("low", "presence", place=_at("France")), "Low: present over France."),
        (TypedClaim("fog", "absence", place=_at("France")), "Fog: none expected over France."),
        (TypedClaim("precipitation", "absence"), "Precipitation: little or none expected."),
        (TypedClaim("wind", "wind_from", "west"), "Wind: from the west."),
        (TypedClaim("snow", "trend", "end"), "Snow: ending."),
        (TypedClaim("low", "movement", "stationary"), "Low: stationary."),
        (TypedClaim("low", "movement", ""), "Low: moving."),
    ],
)
def test_a_claim_in_words(claim, words):
    assert claim.text() == words
    assert parse(words) == claim


_numbers = st.integers(-9999, 9999).map(lambda n: n / 10)
_spans = st.tuples(st.integers(0, 160), st.integers(0, 72)).map(
    lambda ab: (float(ab[0]), float(ab[0] + ab[1]))
)
_minutes = st.tuples(st.integers(0, 167 * 60), st.integers(0, 300 * 60)).map(
    lambda ab: (ab[0] / 60, (ab[0] + ab[1]) / 60)
)
_axes = st.sampled_from(("lead", "week", "date", "lead week", "week date", "lead week date"))
_tied = st.builds(lambda axes, span: Time(**dict.fromkeys(axes.split(), span)), _axes, _minutes)
_times = st.builds(Time, *[st.none() | _spans] * 3).filter(lambda t: t != Time()) | _tied
_points = st.tuples(st.integers(-90, 90), st.integers(-180, 179)).map(
    lambda p: (float(p[0]), float(p[1]))
)
_known = [_at(name) for name in ("France", "Georgia", "Upper Midwest", "North Sea", "São Paulo")]
_where = st.builds(
    lambda place, part, point: Place(place.name, place.key, part, point),
    st.sampled_from(_known),
    st.sampled_from(("", *PARTS)),
    st.none() | _points,
)


@st.composite
def _claims(draw):
    aspect = draw(st.sampled_from(ASPECTS))
    detail = {
        "anomaly": st.sampled_from(("above", "below", "near")),
        "trend": st.sampled_from(TRENDS),
        "movement": st.sampled_from(("stationary", "north", "south-west")),
        "wind_from": st.sampled_from(("north", "south-west")),
    }.get(aspect, st.just(""))
    low, high = sorted((draw(_numbers), draw(_numbers)))
    valued = aspect in ("value", "departure")
    unit = draw(st.sampled_from(("°C", "K", "mm", "hPa", "m/s", "%", "gpm")))
    return TypedClaim(
        draw(st.sampled_from(sorted(subjects()))),
        aspect,
        draw(detail),
        draw(st.none() | _where),
        draw(st.none() | _times),
        Quantity(low, high, unit) if valued else None,
        draw(st.sampled_from(ROLES)) if valued else "",
        draw(st.sampled_from(("", "heavy", "light"))),
        draw(st.sampled_from(LIKELIHOODS)),
    )


@given(_claims())
def test_a_claim_is_read_back_from_its_words(claim):
    assert parse(claim.text()) == claim


@given(st.text(max_size=200))
def test_any_text_is_read_with_its_length_kept(words):
    ready = text.read(words)
    assert len(ready.plain) == len(ready.lower) == len(words)
    for sentence in ready.sentences:
        assert 0 <= sentence.start < sentence.end <= len(words)
    for claim in extract(words):
        assert parse(claim.text()) == claim
