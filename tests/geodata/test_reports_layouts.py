"""Sections, lists, tables and signatures in every style; the weather is invented."""

from __future__ import annotations

import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))  # for the texts beside the tests

from report_texts import DAY_2, DAY_3, EXTENDED, MODELS, OFFICE, OUTLOOK, RAINFALL, SHORT_RANGE

from zephyrus_geodata.reports import Paragraph, Product, parse_product
from zephyrus_geodata.reports.paragraphs import framed, paragraphs, unwrap, watch_list
from zephyrus_geodata.reports.signatures import is_signature


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def names(product: Product) -> list[str]:
    return [section.name for section in product.sections]


def test_short_range_discussion() -> None:
    product = parse_product(SHORT_RANGE)
    assert (product.product, product.office) == ("PMDSPD", "KWBC")
    assert product.issued == at("2026-10-14 19:58")
    assert product.valid == (at("2026-10-15 00:00"), at("2026-10-17 00:00"))
    assert product.headlines == (
        "Lake-effect snow to develop downwind of Lakes Erie and Ontario Thursday night into Friday",
        "There is a Slight Risk of excessive rainfall over parts of the central Gulf Coast on Thursday",
        "Much below normal temperatures across the northern Plains",
    )
    assert names(product) == [""]
    first, second = product.sections[0].paragraphs
    assert first.text.endswith("Winds of 25-35 kt are likely along the front.")
    assert second.text.startswith("Behind it, cold low-level air spreads")
    assert product.forecasters == ("Testerson/Probe",)


def test_extended_discussion() -> None:
    product = parse_product(EXTENDED)
    assert (product.product, product.issued) == ("PMDEPD", at("2026-10-14 06:59"))
    assert product.valid == (at("2026-10-17 12:00"), at("2026-10-21 12:00"))
    assert len(product.headlines) == 1
    assert names(product) == [
        "Overview",
        "Guidance/Predictability Assessment",
        "Weather/Hazards Highlights",
    ]
    assert [len(s.paragraphs) for s in product.sections] == [2, 1, 1]
    assert product.sections[0].header == "...Overview..."
    assert product.forecasters == ("Probe",)


def test_excessive_rainfall_discussion_has_days_and_regions_in_them() -> None:
    product = parse_product(RAINFALL)
    assert product.product == "QPFERD"
    assert product.valid == (at("2026-10-14 01:00"), at("2026-10-15 12:00"))
    assert [(s.name, s.parent) for s in product.sections] == [
        ("Day 1", None),
        ("Central Gulf Coast", "Day 1"),
        ("01Z Update", "Central Gulf Coast"),
        ("Southern Arizona", "Day 1"),
        ("Previous Discussion", "Southern Arizona"),
        ("Day 2", None),
    ]
    days = [section.valid for section in product.sections if section.valid]
    assert days == [
        (at("2026-10-14 01:00"), at("2026-10-14 12:00")),
        (at("2026-10-14 12:00"), at("2026-10-15 12:00")),
    ]
    assert product.sections[0].paragraphs[0].kind == "headline"
    assert product.headlines == ()
    assert product.forecasters == ("Probe", "Testerson")


def test_model_discussion_of_the_old_centre() -> None:
    product = parse_product(MODELS)
    assert (product.product, product.office) == ("PMDHMD", "KWNH")
    assert product.office_name.startswith("HYDROMETEOROLOGICAL PREDICTION CENTER")
    assert product.issued == at("2004-06-13 16:04")
    assert product.valid == (at("2004-06-13 12:00"), at("2004-06-17 00:00"))
    assert names(product) == ["", "TROUGH OVER THE WEST", "FRONT IN THE EAST"]
    assert product.forecasters == ("PROBE",)


def test_marks_of_changes_are_no_text() -> None:
    marked = OFFICE.replace(
        "A trough crosses", "-- Changed Discussion --\nA trough crosses"
    ).replace("500 ft.\n", "500 ft.\n-- End Changed Discussion --\n")
    assert marked.count("Changed") == 2
    assert parse_product(marked).sections == parse_product(OFFICE).sections


def test_convective_outlooks() -> None:
    second, third = parse_product(DAY_2), parse_product(DAY_3)
    assert (second.product, third.product) == ("SWODY2", "SWODY3")
    assert second.valid == (at("2010-05-01 12:00"), at("2010-05-02 12:00"))
    assert len(second.headlines) == 2
    assert names(second) == ["SYNOPSIS", "ARKLATEX INTO TN VALLEY"]
    assert second.forecasters == ("PROBE",)
    # A long title with text is a title; one with a verb above all sections a headline
    assert names(third) == [
        "SUMMARY",
        "Southern and Central Plains into the Mid MS Valley and Midwest",
        "Florida",
        "MAXIMUM RISK BY HAZARD",
    ]
    assert len(third.headlines) == 1
    assert [p.kind for p in third.sections[3].paragraphs] == ["table"]


def test_office_discussion() -> None:
    product = parse_product(OFFICE)
    assert [(s.kind, s.name, s.period, s.parent) for s in product.sections] == [
        ("key_messages", "KEY MESSAGES", "", None),
        ("discussion", "SHORT TERM", "TODAY THROUGH 6 PM THURSDAY", None),
        ("update", "EVENING UPDATE", "", "SHORT TERM"),
        ("discussion", "LONG TERM", "Friday through Tuesday", None),
        ("aviation", "AVIATION", "12Z TAFS", None),
        ("fire", "FIRE WEATHER", "", None),
        ("hydrology", "HYDROLOGY", "", None),
        ("climate", "CLIMATE", "", None),
        ("table", "PRELIMINARY POINT TEMPS/POPS", "", None),
        ("watches", "XYZ WATCHES/WARNINGS/ADVISORIES", "", None),
    ]
    assert product.sections[1].issued == at("2026-10-14 10:25")
    assert product.sections[0].paragraphs == (
        Paragraph("item", "Snow above 9,000 feet tonight, with 4 to 8 inches by dawn."),
        Paragraph("item", "Gusts to 55 mph along the foothills."),
    )
    table = product.sections[8].paragraphs[0]
    assert table.text.split("\n")[1] == "Otherville    40  22  44  25 /  60  90  20   0"
    assert product.sections[9].paragraphs[0].text == (
        "Winter Weather Advisory from 6 PM this evening to 6 AM MDT Thursday for COZ001-002."
    )
    assert product.headlines == ("UPDATED FOR 12Z AVIATION DISCUSSION",)
    assert product.forecasters == ("Probe", "SHORT TERM: Probe")


def test_hazardous_weather_outlook_has_segments() -> None:
    product = parse_product(OUTLOOK)
    land, lake = product.sections[1], product.sections[-1]
    assert land.zones == ("COZ001", "COZ002", "COZ003", "COZ011")
    assert (land.name, land.period, land.kind) == ("DAY ONE", "TODAY AND TONIGHT", "discussion")
    assert (lake.zones, lake.kind) == (("LMZ740",), "marine")
    assert product.sections[0].paragraphs[0] == Paragraph(
        "headline", "WINTER STORM WATCH IN EFFECT FROM THIS EVENING THROUGH THURSDAY MORNING"
    )
    assert "VALLEY" not in " ".join(p.text for s in product.sections for p in s.paragraphs)


HEAD = """FXUS65 KXYZ 141031
AFDXYZ

Area Forecast Discussion
National Weather Service Exampleville CO
431 AM MDT Wed Oct 14 2026

"""


@pytest.mark.parametrize(
    ("line", "name", "period", "text"),
    [
        (".SYNOPSIS...", "SYNOPSIS", "", ""),
        (".Synopsis...", "Synopsis", "", ""),
        (" .SYNOPSIS..", "SYNOPSIS", "", ""),
        (".NEAR TERM /UNTIL 6 AM/...", "NEAR TERM", "UNTIL 6 AM", ""),
        (".NEAR TERM (TODAY)...", "NEAR TERM", "TODAY", ""),
        (".NEAR TERM...(TODAY)", "NEAR TERM", "TODAY", ""),
        (".NEAR TERM.../TODAY/", "NEAR TERM", "TODAY", ""),
        (".NEAR TERM...\n(TODAY)", "NEAR TERM", "TODAY", ""),
        (".AVIATION...14/12Z", "AVIATION", "14/12Z", ""),
        (".AVIATION.../12Z TAFS/", "AVIATION", "12Z TAFS", ""),
        (".10 AM UPDATE...", "10 AM UPDATE", "", ""),
        (".UPDATE...Fog is gone.", "UPDATE", "", "Fog is gone. "),
        (".TIDES/COASTAL FLOODING...", "TIDES/COASTAL FLOODING", "", ""),
        (
            ".SHORT TERM /THIS MORNING UNTIL\nTHURSDAY/...",
            "SHORT TERM",
            "THIS MORNING UNTIL THURSDAY",
            "",
        ),
    ],
)
def test_titles(line: str, name: str, period: str, text: str) -> None:
    words = "A long day of rain and sun over the valleys is in store for everyone."
    (section,) = parse_product(f"{HEAD}{line}\n{words}\n\n&&\n\n$$\n").sections
    assert (section.name, section.period) == (name, period)
    assert [p.text for p in section.paragraphs] == [text + words]


@pytest.mark.parametrize(
    "line", [".50 inches of rain fell...more than ever", "...AND THEN THE RAIN", ".5 of an inch..."]
)
def test_what_is_no_title(line: str) -> None:
    text = f"{HEAD}.SYNOPSIS...\nIt rained all night over the valleys, with\n{line}\nbefore dawn.\n\n$$\n"
    assert names(parse_product(text)) == ["SYNOPSIS"]


def test_sections_without_an_end_mark_follow_each_other() -> None:
    text = f"{HEAD}.SHORT TERM...\nDry in all of the valleys today.\n\n.LONG TERM...\nRain later on in the week.\n$$\n"
    assert [(s.name, s.parent) for s in parse_product(text).sections] == [
        ("SHORT TERM", None),
        ("LONG TERM", None),
    ]


def test_an_update_below_an_end_mark_is_a_section_of_its_own() -> None:
    text = f"{HEAD}.AVIATION...\nVFR.\n&&\n.UPDATE...Rain in the valleys by noon, then snow above them.\n&&\n$$"
    assert [(s.kind, s.parent) for s in parse_product(text).sections] == [
        ("aviation", None),
        ("update", None),
    ]


def test_nothing_below_a_signature_of_a_centre_is_text() -> None:
    text = DAY_3.replace("10/14/2026\n", "10/14/2026\n\nSome remark on how this was made.\n")
    assert parse_product(text).sections == parse_product(DAY_3).sections
    anonymous = parse_product(text.replace("..Testerson/Probe..", "..FORECASTER.."))
    assert anonymous.forecasters == ()


def test_an_end_mark_means_nothing_to_a_centre() -> None:
    marked = EXTENDED.replace("on Monday.\n", "on Monday.\n\n&&\n")
    assert parse_product(marked).sections == parse_product(EXTENDED).sections


def test_an_update_of_aviation_is_about_aviation() -> None:
    text = f"{HEAD}.AVIATION...\nVFR.\n.UPDATE...MVFR in the valleys by noon now, and later IFR too.\n&&\n$$"
    assert [s.kind for s in parse_product(text).sections] == ["aviation", "aviation"]


def test_an_old_list_of_watches_has_the_office_for_a_title() -> None:
    text = f"{HEAD}.DISCUSSION...\nRain will move into the valleys by this evening, then snow.\n\n.XYZ...NONE.\n\nPROBE\n"
    product = parse_product(text)
    assert [s.kind for s in product.sections] == ["discussion", "watches"]
    assert product.forecasters == ("PROBE",)


def test_lists() -> None:
    text = """Highlights...
* Snow on Monday in
  the hills
- Wind on Tuesday
1. Frost
2) Fog -SN and -RA later
(3) Sun

WEATHER HAZARDS EXPECTED:
  Limited Fog Risk.
  Elevated Snow Risk.
Thursday...
  Limited Cold Risk.
That is all for now.
"""
    found = paragraphs(text.split("\n"))
    assert [(p.kind, p.text) for p in found] == [
        ("heading", "Highlights"),
        ("item", "Snow on Monday in the hills"),
        ("item", "Wind on Tuesday"),
        ("item", "Frost"),
        ("item", "Fog -SN and -RA later"),
        ("item", "Sun"),
        ("heading", "WEATHER HAZARDS EXPECTED"),
        ("item", "Limited Fog Risk."),
        ("item", "Elevated Snow Risk."),
        ("heading", "Thursday"),
        ("item", "Limited Cold Risk."),
        ("prose", "That is all for now."),
    ]


def test_prose_with_dots_at_a_line_end_is_no_title() -> None:
    text = "NOTED BY PREVIOUS FORECASTERS WHO SAW IT ALL COMING...\nTHE STRONGER JET IS NEAR"
    assert [p.kind for p in paragraphs(text.split("\n"))] == ["prose"]


def test_a_line_that_was_full_is_no_title() -> None:
    full = ["REPRESENTATIVE METEOROLOGICAL OBSERVATIONS NORTHWESTWARD...", "ACCORDINGLY IT RAINS"]
    assert [p.kind for p in paragraphs(full)] == ["prose"]
    assert [p.kind for p in paragraphs(["OBSERVATIONS...", *full[1:]])] == ["heading", "prose"]


def test_statements_inside_a_section() -> None:
    found = paragraphs(
        ["...Wind Advisory in Effect Until Tonight...", "...Metro Area Uncertainty..."]
    )
    assert [p.kind for p in found] == ["headline", "heading"]


def test_rows_of_numbers_are_a_table() -> None:
    rows = ["TPA 89 79 88 78 / 10 10 50 40", "FMY 90 80 90 79 / 50 60 80 40"]
    assert paragraphs(rows) == (Paragraph("table", "\n".join(rows)),)
    prose = ["Highs 89 to 92 on Sunday, lows 70 to 75", "and 10 to 20 knots of wind by 6 or 7."]
    assert [p.kind for p in paragraphs(prose)] == ["prose"]


def test_indented_prose_stays_prose() -> None:
    lines = ["   WIND ADVISORY.", "   IT RUNS UNTIL DAWN."]
    assert paragraphs(lines) == (Paragraph("prose", "WIND ADVISORY. IT RUNS UNTIL DAWN."),)


def test_watch_lists_join_what_is_indented() -> None:
    lines = ["CT...None.", "NY...Flood Watch for NYZ067>075-078-", "     080.", "", "NJ...None."]
    assert [p.text for p in watch_list(lines)] == [
        "CT...None.",
        "NY...Flood Watch for NYZ067>075-078-080.",
        "NJ...None.",
    ]


def test_statements_between_dots() -> None:
    assert framed(["...SUMMARY...", "Rain"]) == ("SUMMARY", 1)
    assert framed(["...Wind advisory until", "6 PM...", "Text"]) == ("Wind advisory until 6 PM", 2)
    assert framed(["..THERE IS A SLIGHT RISK...", "Text"]) == ("THERE IS A SLIGHT RISK", 1)
    assert framed(["...one", "...two..."]) is None
    assert framed(["...AND SO. IT ENDS..."]) is None
    assert framed(["...", "..."]) is None
    assert framed(["Text...", "more..."]) is None


@pytest.mark.parametrize(
    "name",
    ["Ungar", "JM", "DUNTEN/SIPPRELL", "25/Owen", "99", "J. Probe", "Mc-Adam", "Smith Jones"],
)
def test_names(name: str) -> None:
    assert is_signature(name)


@pytest.mark.parametrize(
    "text",
    ["VFR", "None", "DRY", "Mostly dry", "Rain ends.", "Monday", "TONIGHT", "", "No changes"],
)
def test_what_is_no_name(text: str) -> None:
    assert not is_signature(text)


words = st.text("abcXYZ059.,-+/%\"'>~()°–", min_size=1, max_size=6)
lines = st.lists(st.lists(words, max_size=8).map(" ".join), max_size=8)


@given(lines)
def test_unwrapping_loses_and_reorders_nothing(lines: list[str]) -> None:
    text = unwrap(lines)
    assert "".join(text.split()) == "".join("".join(lines).split())
    assert "\n" not in text and "  " not in text and text == text.strip()


@given(st.lists(st.lists(words.filter(lambda w: not w.endswith("-")), max_size=8).map("  ".join)))
def test_words_stay_apart_where_no_hyphen_joins_them(lines: list[str]) -> None:
    assert unwrap(lines).split() == " ".join(lines).split()


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (
            ["steep (>7.5 C/km) low-", "level lapse rates"],
            "steep (>7.5 C/km) low-level lapse rates",
        ),
        (["5kft-", "7kft+ mixing"], "5kft-7kft+ mixing"),
        (["a 7kft+-", "8kft layer"], "a 7kft+-8kft layer"),
        (["rain -", "then snow"], "rain - then snow"),
        (["temps of", "-8C at 925 mb"], "temps of -8C at 925 mb"),
        (["the end.  ", "  Next"], "the end. Next"),
        (['>1"/hr and 250 m2/s2', "of SRH"], '>1"/hr and 250 m2/s2 of SRH'),
        (["", " ", ""], ""),
    ],
)
def test_units_survive(lines: list[str], text: str) -> None:
    assert unwrap(lines) == text
