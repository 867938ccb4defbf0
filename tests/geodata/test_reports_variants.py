"""Layouts that real bulletins of many years and offices have; the weather in them is invented."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from zephyrus_geodata.reports import Product, discussion_text, parse_product, parse_products
from zephyrus_geodata.reports.paragraphs import framed, has_sentences, unwrap, watch_list
from zephyrus_geodata.reports.signatures import centre_signature
from zephyrus_geodata.reports.times import day_and_clock

CENTRE = "NWS Weather Prediction Center College Park MD\n"
EXTENDED = f"""Extended Forecast Discussion
{CENTRE}200 AM EST Wed Dec 09 2026

Valid 12Z Sat Dec 12 2026 - 12Z Wed Dec 16 2026

"""
OFFICE = """000
FXUS66 KZZZ 080326
AFDZZZ

Area Forecast Discussion
National Weather Service Nowhere CA
826 PM PDT Sat Jun 7 2025

"""


def at(text: str) -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=UTC)


def outline(product: Product) -> list[tuple[str, str | None, str]]:
    return [(section.name, section.parent, section.period) for section in product.sections]


SNOW = f"""000
FOUS11 KWBC 140801
QPFHSD

Probabilistic Heavy Snow and Icing Discussion
{CENTRE}301 AM EST Mon Feb 14 2028

Valid 12Z Mon Feb 14 2028 - 12Z Thu Feb 17 2028

"""


# --- extended discussions


def test_a_name_above_hazards_and_addresses_is_no_text() -> None:
    text = EXTENDED + (
        "...Guidance Evaluation/Preferences...\n\nThe means were favored over single runs this time.\n\n"
        "...Sensible Weather and Hazards...\n\nA front brings rain of 1-2 inches to Oregon by Sunday.\n\n\n"
        "Testerson\n\n\nHazards:\n- Heavy rain across portions of western\nOregon, Sat-Sun, Dec 12-Dec\n13.\n"
        "- Much below normal temperatures across portions of Maine, Mon, Dec 14.\n\n\n"
        "Additional 3-7 Day Hazard information can be found on the\nWPC medium range hazards chart at:\n"
        "https://www.example.gov/threats.php\n\n"
        "WPC medium range 500mb heights, surface systems, weather grids,\nand heat indexes are found at:\n\n"
        "https://www.example.gov/a.gif\nhttps://www.example.gov/b.gif\n\n$$\n"
    )
    product = parse_product(text)
    assert product.forecasters == ("Testerson",)
    assert [s.name for s in product.sections] == [
        "Guidance Evaluation/Preferences",
        "Sensible Weather and Hazards",
        "Hazards",
    ]
    assert discussion_text(product) == (
        "Guidance Evaluation/Preferences:\nThe means were favored over single runs this time.\n\n"
        "Sensible Weather and Hazards:\nA front brings rain of 1-2 inches to Oregon by Sunday.\n\n"
        "Hazards:\n- Heavy rain across portions of western Oregon, Sat-Sun, Dec 12-Dec 13.\n"
        "- Much below normal temperatures across portions of Maine, Mon, Dec 14."
    )


@pytest.mark.parametrize(
    "title",
    [
        "Guidance/Predictability Assessment and Weather/Forecast Highlights",
        "Overview and Guidance Evaluation/Preferences",
        "General Weather Pattern",
        "Gulf Coast through the Carolinas",
    ],
)
def test_a_title_with_text_is_no_headline(title: str) -> None:
    product = parse_product(f"{EXTENDED}...{title}...\n\nRidges and troughs of all sorts follow.\n")
    assert (product.headlines, outline(product)) == ((), [(title, None, "")])


# --- headlines


@pytest.mark.parametrize(
    ("text", "headlines"),
    [
        ("...Snow to reach the eastern U.S. by late Friday...", ["Snow to reach the eastern U.S. by late Friday"]),
        ("...Rain for the Southern U.S...", ["Rain for the Southern U.S."]),
        ("***Snow for the Plains***\n\n***Rain for\nthe coast***", ["Snow for the Plains", "Rain for the coast"]),
        ("...Fog at St. Somewhere...\n...Wind in the West...", ["Fog at St. Somewhere", "Wind in the West"]),
    ],
)  # fmt: skip
def test_headlines_of_a_short_range_discussion(text: str, headlines: list[str]) -> None:
    head = EXTENDED.replace("Extended", "Short Range")
    product = parse_product(
        f"{head}{text}\n\nA low crosses the Lakes with gusts to 45 mph.\n\nProbe\n"
    )
    assert list(product.headlines) == headlines
    assert (
        discussion_text(product, headlines=False) == "A low crosses the Lakes with gusts to 45 mph."
    )


def test_sentences() -> None:
    assert has_sentences("Rain today. Snow tonight") and has_sentences(
        "RAIN ENDS. COLD AIR FOLLOWS"
    )
    assert not has_sentences("Snow in the northwest U.S. and near St. Somewhere by 6 P.M. today")
    assert framed(["...It rains. It snows..."]) is None
    assert framed(["***It rains"]) is None


# --- rainfall, snow, models


def test_an_earlier_discussion_between_two_dots_is_a_section() -> None:
    assert centre_signature("..Previous Discussion..") is None
    assert centre_signature("..Probe.. 05/01/2024") == "Probe"
    text = (
        f"Excessive Rainfall Discussion\n{CENTRE}335 PM EDT Fri May 9 2025\n\n"
        "Day 3\nValid 12Z Sun May 11 2025 - 12Z Mon May 12 2025\n\n"
        "....THERE IS A SLIGHT RISK OF EXCESSIVE RAINFALL OVER GEORGIA...\n\n"
        '20Z Update: The area was widened to the west for rates of 1-3"/hr.\n\nProbe\n\n'
        "..Previous Discussion..\n\nA wave crosses the Southeast with 2.5 inches.\n\nTesterson\n\n"
        "Day 3 threat area: www.example.gov/points.txt\n"
    )
    product = parse_product(text)
    assert outline(product) == [("Day 3", None, ""), ("Previous Discussion", "Day 3", "")]
    assert product.forecasters == ("Probe", "Testerson")
    assert discussion_text(product).endswith(
        "Day 3, Previous Discussion:\nA wave crosses the Southeast with 2.5 inches."
    )


def test_days_below_a_region_are_its_period() -> None:
    text = SNOW + (
        "...Cascades through the Rockies...\nDays 1-3...\n\nSnow of 8 inches falls in the passes.\n\n"
        "...Eastern U.S...\nDay 2...\nSome more falls in Maine.\n\nProbe\n"
    )
    assert outline(parse_product(text)) == [
        ("Cascades through the Rockies", None, "Days 1-3"),
        ("Eastern U.S.", None, "Day 2"),
    ]


def test_regions_below_a_day_stand_in_it() -> None:
    text = f"{SNOW}Day 1...\n\n...Cascades...\nSnow of 8 inches falls in the passes of Oregon.\n"
    assert outline(parse_product(text)) == [("Day 1", None, ""), ("Cascades", "Day 1", "")]


def test_what_the_graphics_are_called_is_no_text() -> None:
    text = (
        f"Quantitative Precipitation Forecast Discussion\n{CENTRE}541 AM EDT Tue Apr 24 2018\n\n"
        "Final Day 1, Day 2 and Day 3 QPF Discussion\nValid Apr 24/1200 UTC thru Apr 27/1200 UTC\n"
        "Reference AWIPS Graphics under...Precip Accum - 24hr\n\nDay 1\n\n...Eastern U.S...\n\n"
        "Up to 0.50 inch falls along the coast of Maine by evening.\n\nProbe\n"
    )
    product = parse_product(text)
    assert product.product == "QPFPFD"
    assert product.valid == (at("2018-04-24 12:00"), at("2018-04-27 12:00"))
    assert discussion_text(product) == (
        "Day 1, Eastern U.S.:\nUp to 0.50 inch falls along the coast of Maine by evening."
    )


def test_lines_above_a_rule_are_titles() -> None:
    rule = "~" * 40
    text = (
        f"Model Diagnostic Discussion\n{CENTRE}117 PM EST Sun Dec 22 2019\n\n"
        "Valid Dec 22/1200 UTC thru Dec 26/0000 UTC\n\n"
        "...See NOUS42 KWNO (ADMNFD) for the status of the upper air\ningest...\n\n"
        f"12Z Evaluation with a title that fills the line to its very end and\ngoes on\n{rule}\nNo errors were seen.\n\n"
        f"Low near Maine\nHigh over Utah and\nits neighbors\n{rule}\nPreference: General model blend\n"
        "Confidence: Average\n\nThe runs agree.\n\n"
        f"...Trough over the western U.S. this weekend...\n...Low in the Plains...\n{rule}\n\n"
        "Preference: 12Z GFS\n\nThe rest is slow.\n\n"
        "Model trends at www.example.gov/model2.shtml...\n500 mb forecasts at www.example.gov/h5.shtml\n\nProbe\n"
    )
    product = parse_product(text)
    assert [s.name for s in product.sections] == [
        "12Z Evaluation with a title that fills the line to its very end and goes on",
        "Low near Maine; High over Utah and its neighbors",
        "Trough over the western U.S. this weekend; Low in the Plains",
    ]
    assert [p.text for p in product.sections[1].paragraphs] == [
        "Preference: General model blend",
        "Confidence: Average",
        "The runs agree.",
    ]
    assert (product.headlines, product.forecasters) == ((), ("Probe",))
    assert "~" not in discussion_text(product) and "www" not in discussion_text(product)


def test_prose_above_a_rule_is_no_title() -> None:
    product = parse_product(
        f"{EXTENDED}A ridge builds.\nA trough follows it to the coast.\n-------\n"
    )
    assert [s.name for s in product.sections] == [""]


def test_outlook_of_the_climate_centre() -> None:
    text = (
        "FXUS06 KWBC 152000\nPMDMRD\n\nPROGNOSTIC DISCUSSION FOR 6 TO 10 AND 8 TO 14 DAY OUTLOOKS\n"
        "NWS CLIMATE PREDICTION CENTER COLLEGE PARK, MD\n300 PM EDT WED JULY 15 2026\n \n"
        "6-10 DAY OUTLOOK FOR JUL 21 - 25, 2026 \n \nA RIDGE IS FAVORED OVER THE WEST...WITH A TROUGH EAST.\n\n"
        "8 TO 14 DAY OUTLOOK FOR JUL 23 - 29 2026 . . . . .\n\nLITTLE CHANGE IS SEEN.\n\n"
        "FORECASTER: P. Probe\n\nNOTES:\n\nAUTOMATED FORECASTS ARE ISSUED ON SUNDAYS.\n\n"
        "STATE        TEMP  PCPN     STATE        TEMP  PCPN\n\n$$\n"
    )
    product = parse_product(text)
    assert outline(product) == [
        ("6-10 DAY OUTLOOK", None, "JUL 21 - 25, 2026"),
        ("8 TO 14 DAY OUTLOOK", None, "JUL 23 - 29 2026"),
    ]
    assert product.forecasters == ("P. Probe",)
    assert "AUTOMATED" not in discussion_text(product, keep=["all"])
    headless = parse_product(text.split("PMDMRD\n")[1].lstrip())
    assert (headless.product, headless.office) == ("PMDMRD", "KWNC")


# --- outlooks and mesoscale discussions

OUTLOOK = """ACUS01 KWNS 032000
SWODY1
SPC AC 031958

Day 1 Convective Outlook
NWS Storm Prediction Center Norman OK
0258 PM CDT Mon Jun 03 2024

Valid 032000Z - 041200Z

...SUMMARY...
Strong storms are possible over Ohio.

..Probe.. 06/03/2024

{below}

...Ohio...
Hail of 2 inches fell in the morning.

..Testerson.. 06/03/2024

CLICK TO GET MORE

$$
"""


def test_an_earlier_outlook_is_kept_with_its_time() -> None:
    text = OUTLOOK.format(below=".PREV DISCUSSION... /ISSUED 1128 AM CDT Mon Jun 03 2024/")
    product = parse_product(text)
    assert outline(product) == [
        ("SUMMARY", None, ""),
        ("PREV DISCUSSION", None, ""),
        ("Ohio", "PREV DISCUSSION", ""),
    ]
    assert product.sections[1].issued == at("2024-06-03 16:28")
    assert product.issued == at("2024-06-03 19:58")
    assert product.forecasters == ("Probe", "Testerson")
    assert product.headlines == ()


def test_anything_else_below_a_signature_is_dropped() -> None:
    product = parse_product(OUTLOOK.format(below="Some notes for the reader."))
    assert [s.name for s in product.sections] == ["SUMMARY"]


def test_a_bare_title_above_days_is_nothing() -> None:
    text = OUTLOOK.split("...SUMMARY")[0].replace("SWODY1", "SWOD48").replace("Day 1", "Day 4-8")
    product = parse_product(
        f"{text}...DISCUSSION...\n\n...Day 4/Wednesday...\nThe low moves to the Lakes and storms follow it.\n"
    )
    assert (product.product, product.headlines) == ("SWOD48", ())
    assert [s.name for s in product.sections] == ["Day 4/Wednesday"]


def test_a_fire_outlook_is_about_fire() -> None:
    text = (
        OUTLOOK.format(below="").replace("SWODY1", "FWDDY1").replace("Convective", "Fire Weather")
    )
    product = parse_product(text)
    assert (product.product, [s.kind for s in product.sections]) == ("FWDDY1", ["fire"])
    assert discussion_text(product) == ""


def test_a_page_of_the_centre_tells_when_it_was_updated() -> None:
    text = (
        f"Mesoscale Precipitation Discussion 0562\n{CENTRE}755 AM EDT Mon Jul 30 2018\n\n"
        "Areas affected...Northern VA...D.C...MD\n\nConcerning...Heavy rainfall\n\nValid 301154Z - 301754Z\n\n"
        'Summary...Rain of 2.5" is possible.\n\nDiscussion...A band of storms stays near the front.\n\n'
        "Probe\n\nATTN...WFO...AAA...\n\nLAT...LON   39147476 38697494\n\n\n"
        "Last Updated: 755 AM EDT Mon Jul 30 2018\n"
    )
    product = parse_product(text)
    assert (product.product, product.forecasters) == ("FFGMPD", ("Probe",))
    assert discussion_text(product) == (
        "Areas affected:\nNorthern VA, D.C., MD\n\nConcerning:\nHeavy rainfall\n\n"
        'Summary:\nRain of 2.5" is possible.\n\nDiscussion:\nA band of storms stays near the front.'
    )


def test_the_gateways_lengths_open_bulletins() -> None:
    first = OUTLOOK.format(below="")
    text = f"####018002986####\n{first}####018002387####\n{first.replace('031958', '031959')}"
    parsed = parse_products(text)
    assert [p.product for p in parsed.products] == ["SWODY1", "SWODY1"]
    assert parsed.refused == ()


# --- forecast offices


@pytest.mark.parametrize(
    ("title", "name", "period"),
    [
        (".NEAR TERM [Through This Afternoon]...", "NEAR TERM", "Through This Afternoon"),
        (".SHORT TERM...(TONIGHT THROUGH MONDAY).", "SHORT TERM", "TONIGHT THROUGH MONDAY"),
        (".SHORT TERM...Today through Sunday", "SHORT TERM", "Today through Sunday"),
        (".LONG TERM...Monday through Friday...", "LONG TERM", "Monday through Friday"),
        (".LONG TERM/from previous discussion...Saturday through\nThursday...", "LONG TERM", "Saturday through Thursday"),
        (".DAY ONE...TODAY AND TONIGHT", "DAY ONE", "TODAY AND TONIGHT"),
        (".DAYS TWO THROUGH SEVEN...Saturday through Thursday.", "DAYS TWO THROUGH SEVEN", "Saturday through Thursday"),
    ],
)  # fmt: skip
def test_periods_of_sections(title: str, name: str, period: str) -> None:
    words = "Showers move over the islands and the hills in the interior, with 2 inches."
    (section,) = parse_product(f"{OFFICE}{title}\n{words}\n\n$$\n").sections
    assert (section.name, section.period) == (name, period)
    assert [p.text for p in section.paragraphs] == [words]


def test_the_start_of_a_sentence_is_no_period() -> None:
    text = f"{OFFICE}.SHORT TERM...Tonight and Tuesday\nwill be dry with gusts to 30 mph in the canyons.\n"
    assert discussion_text(parse_product(text)) == (
        "SHORT TERM:\nTonight and Tuesday will be dry with gusts to 30 mph in the canyons."
    )
    text = f"{OFFICE}.DAY ONE...No hazardous weather is expected.\n\nMore of the same is seen on the next day.\n"
    assert "No hazardous weather is expected." in discussion_text(parse_product(text))


def test_the_day_and_the_clock_below_a_title() -> None:
    text = OFFICE + (
        ".SYNOPSIS...07/532 PM.\n\nLow clouds cover the coast at night.\n\n&&\n\n"
        ".SHORT TERM (SAT-TUE)...31/1150 AM.\n\n***UPDATE***\n\nThe marine layer deepens.\n\n"
        "***From Previous Discussion***\n\nA ridge builds.\n\n&&\n\n.AVIATION...08/0106Z.\n\nVFR.\n\n&&\n\n$$\n"
    )
    synopsis, short, aviation = parse_product(text).sections
    assert synopsis.issued == at("2025-06-08 00:32")
    assert short.issued == at("2025-05-31 18:50")
    assert aviation.issued == at("2025-06-08 01:06")
    assert discussion_text(parse_product(text)) == (
        "SYNOPSIS:\nLow clouds cover the coast at night.\n\n"
        "SHORT TERM (SAT-TUE):\nUPDATE:\nThe marine layer deepens.\n\n"
        "From Previous Discussion:\nA ridge builds."
    )


@pytest.mark.parametrize("text", ["39/500 PM", "07/1750 AM", "07/2590Z", "7/500 PM", "rain"])
def test_what_is_no_day_and_clock(text: str) -> None:
    assert day_and_clock(text, (at("2025-06-08 03:26"), "PDT")) is None


def test_an_earlier_discussion_without_dots_keeps_its_sections() -> None:
    text = OFFICE + (
        ".UPDATE...It stays fair in the valleys with light winds.\n\n&&\n\n"
        ".PREV DISCUSSION... /issued 449 PM PDT Sat Jun 7 2025/\n\n"
        "SYNOPSIS...\nA low swings north of the islands.\n\n"
        "SHORT TERM...Today through Tuesday...\nSHOWERS...SOME OF THEM HEAVY...ARE LIKELY.\n\n"
        "AVIATION...VFR conds expected.\n\nMARINE...Seas up to 6 feet.\n\n&&\n\n"
        ".ZZZ WATCHES/WARNINGS/ADVISORIES...\nNone.\n\n$$\n"
    )
    product = parse_product(text)
    previous = "PREV DISCUSSION"
    assert outline(product)[1:6] == [
        (previous, None, ""),
        ("SYNOPSIS", previous, ""),
        ("SHORT TERM", previous, "Today through Tuesday"),
        ("AVIATION", previous, ""),
        ("MARINE", previous, ""),
    ]
    assert product.sections[1].issued == at("2025-06-07 23:49")
    update = "UPDATE:\nIt stays fair in the valleys with light winds."
    assert discussion_text(product) == update, "what is only repeated is not scored"
    assert discussion_text(product, keep=["previous"]) == (
        f"{update}\n\n"
        "PREV DISCUSSION, SYNOPSIS:\nA low swings north of the islands.\n\n"
        "PREV DISCUSSION, SHORT TERM (Today through Tuesday):\n"
        "SHOWERS, SOME OF THEM HEAVY, ARE LIKELY."
    )


def test_a_title_without_dot_elsewhere_is_text() -> None:
    text = f"{OFFICE}.DISCUSSION...\nWinds turn in the pass and over the hills.\n\nMARINE...STRATUS RETURNS TO THE COAST.\n"
    (section,) = parse_product(text).sections
    assert [p.text for p in section.paragraphs][1] == "MARINE...STRATUS RETURNS TO THE COAST."


def test_what_was_corrected_is_not_scored() -> None:
    text = f"{OFFICE}Fixed typographical error in short term section\n\n.SYNOPSIS...\nHot away from the coast.\n"
    assert discussion_text(parse_product(text)) == "SYNOPSIS:\nHot away from the coast."


def test_zones_go_on_below_a_hyphen() -> None:
    lines = ["Wind Chill Advisory for IAZ004-005-", "015-016.", "MN...None."]
    assert [p.text for p in watch_list(lines)] == [
        "Wind Chill Advisory for IAZ004-005-015-016.",
        "MN...None.",
    ]


@pytest.mark.parametrize(
    ("lines", "text"),
    [
        (["from -19C to -", "15C south"], "from -19C to -15C south"),
        (["FOR SEP 21 -", "25 2008"], "FOR SEP 21 - 25 2008"),
        (["drier -", "and colder"], "drier - and colder"),
    ],
)
def test_a_sign_stays_with_its_number(lines: list[str], text: str) -> None:
    assert unwrap(lines) == text


@pytest.mark.parametrize(
    ("line", "text", "who"),
    [
        ("Highs will be in the low 60s. Probe", "Highs will be in the low 60s.", ("Probe",)),
        ("It stays dry (mostly). 33/Probe", "It stays dry (mostly).", ("33/Probe",)),
        ("SNOW ENDS. PROBE/TESTERSON", "SNOW ENDS.", ("PROBE/TESTERSON",)),
        ("Lows fall to 35. Windy", "Lows fall to 35. Windy", ()),
        ("Clouds clear over Lake Probe", "Clouds clear over Lake Probe", ()),
        ("Snow reaches St. Somewhere", "Snow reaches St. Somewhere", ()),
        ("Snow reaches the U.S. Southeast", "Snow reaches the U.S. Southeast", ()),
    ],
)
def test_a_name_behind_the_last_sentence(line: str, text: str, who: tuple[str, ...]) -> None:
    below = f"{OFFICE}.SHORT TERM...Ridges build over the region and the\nfog lifts at noon.\n\n{line}\n\n&&\n\n$$\n"
    product = parse_product(below)
    assert product.sections[0].paragraphs[-1].text == text
    assert product.forecasters == who
    alone = parse_product(
        f"{OFFICE}.SHORT TERM...Ridges build over the region and then\n{line}\n\n$$\n"
    )
    assert alone.sections[0].paragraphs[-1].text == f"Ridges build over the region and then {text}"
    assert alone.forecasters == who


@pytest.mark.parametrize(("state", "product"), [("Hawaii", "PMDHI"), ("Alaska", "PMDAK")])
def test_extended_discussions_of_one_state(state: str, product: str) -> None:
    text = f"{state} {EXTENDED}Trades blow at 15 knots over the channel and the windward slopes.\n"
    assert parse_product(text).product == product


def test_lines_that_tell_when_a_part_was_written_are_no_text() -> None:
    text = OFFICE + (
        ".UPDATE...\nISSUED AT 1045 AM PDT SAT JUN 7 2025\n\nFOG IS GONE.\n\n"
        "UPDATE ISSUED AT 819 AM PDT SAT JUN 7 2025\n\nFRESHENED UP THE WINDS AND THE SKY COVER.\n\n&&\n\n"
        ".PREVIOUS DISCUSSION...\n/300 AM PDT Sat Jun 7 2025/\nA ridge holds.\n\n&&\n\n"
        ".SHORT TERM.../TONIGHT/...UPDATED\n\nShowers end, issued as forecast.\n\n&&\n\n$$\n"
    )
    update, previous, short = parse_product(text).sections
    assert update.issued == at("2025-06-07 17:45")
    assert [p.text for p in update.paragraphs] == [
        "FOG IS GONE.",
        "FRESHENED UP THE WINDS AND THE SKY COVER.",
    ]
    assert (previous.issued, previous.period) == (at("2025-06-07 10:00"), "")
    assert (short.period, short.paragraphs[0].text) == (
        "TONIGHT",
        "Showers end, issued as forecast.",
    )


def test_an_update_of_aviation_alone_is_not_scored() -> None:
    text = f"{OFFICE}.Updated...\n06Z Aviation Discussion\n\n&&\n\n.SYNOPSIS...\nA series of troughs keeps it cool.\n"
    assert discussion_text(parse_product(text)) == "SYNOPSIS:\nA series of troughs keeps it cool."
