"""The text that is scored: what is in it, what is not, and how old texts' dots are read."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))  # for the texts beside the tests

from report_texts import ALL, DAY_3, OFFICE, OUTLOOK, RAINFALL, SHORT_RANGE

from zephyrus_geodata.reports import ReportError, discussion_text, parse_product
from zephyrus_geodata.reports.scored import pauses


def test_an_office_discussion_whole() -> None:
    assert discussion_text(parse_product(OFFICE)) == (
        "KEY MESSAGES:\n"
        "- Snow above 9,000 feet tonight, with 4 to 8 inches by dawn.\n"
        "- Gusts to 55 mph along the foothills.\n\n"
        "SHORT TERM (TODAY THROUGH 6 PM THURSDAY):\n"
        "A trough crosses the state today. Snow levels fall to 8,500 ft.\n\n"
        "TONIGHT:\n"
        "Temperatures drop to -5C at 700 mb, colder than yesterday. The low-level flow turns "
        "upslope.\n\n"
        "SHORT TERM (TODAY THROUGH 6 PM THURSDAY), EVENING UPDATE:\n"
        "Radar shows the first band over the San Juans.\n\n"
        "LONG TERM (Friday through Tuesday):\n"
        "Dry and mild. Highs in the 60s.\n\n"
        "HYDROLOGY:\n"
        "Streams stay low."
    )


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("aviation", "VFR until 03Z, then MVFR."),
        ("fire", "Minimum RH near 20 percent."),
        ("climate", "The record low for today is 15, set in 1969."),
        ("table", "Exampleville  45  28  50  30 /  40  80  10   0"),
        ("watches", "- Winter Weather Advisory from 6 PM this evening to 6 AM MDT Thursday"),
    ],
)
def test_what_is_left_out_can_be_kept(kind: str, words: str) -> None:
    product = parse_product(OFFICE)
    assert words not in discussion_text(product)
    kept = discussion_text(product, keep=[kind])
    assert words in kept
    assert words in discussion_text(product, keep=["all"])
    for other in {
        "VFR until",
        "Minimum RH",
        "The record",
        "Exampleville  45",
        "Winter Weather Adv",
    }:
        assert (other in kept) == (other in words)


def test_an_unknown_kind_is_told() -> None:
    with pytest.raises(ReportError, match="'avation' is no kind of section: use all, discussion"):
        discussion_text(parse_product(OFFICE), keep=["avation"])


def test_titles_and_headlines_can_be_left_out() -> None:
    product = parse_product(DAY_3)
    text = discussion_text(product)
    assert text.startswith(
        "THERE IS A MARGINAL RISK OF SEVERE THUNDERSTORMS ACROSS PARTS OF FLORIDA."
    )
    assert "Florida:\nBuoyancy stays limited, with MUCAPE below 500 J/kg." in text
    bare = discussion_text(product, headers=False, headlines=False)
    assert bare.startswith("A few strong storms")
    assert "Florida:" not in bare


def test_regions_keep_their_day_and_segments_on_water_are_marine() -> None:
    assert "Day 1, Central Gulf Coast, 01Z Update:\nSlow cells" in discussion_text(
        parse_product(RAINFALL)
    )
    outlook = parse_product(OUTLOOK)
    assert "GALES" not in discussion_text(outlook)
    assert "GALES" in discussion_text(outlook, keep=["marine"])
    assert "SPOTTERS" not in discussion_text(outlook)


def test_addresses_and_names_are_never_scored() -> None:
    for text in ALL:
        scored = discussion_text(parse_product(text))
        assert scored
        for word in (
            "http",
            "www",
            "WWW",
            "Testerson",
            "Probe",
            "PROBE",
            "$$",
            "&&",
            "UPDATED FOR",
        ):
            assert word not in scored
    assert "https" in discussion_text(
        parse_product(SHORT_RANGE.replace("\n\nGraphics available at\n", "\n\nSee\n")),
        keep=["other"],
    )


def test_an_update_of_aviation_alone_has_nothing_to_score() -> None:
    head, _, _ = OFFICE.partition(".KEY MESSAGES")
    text = (
        f"{head}.UPDATE...Updated aviation discussion.\n\n&&\n\n.AVIATION...\n"
        "VFR at all terminals until this evening, then MVFR in snow.\n\n&&\n\n$$\n"
    )
    assert discussion_text(parse_product(text)) == ""


@pytest.mark.parametrize(
    ("old", "read"),
    [
        ("FOR TOMORROW...LATEST TRENDS SUPPORT RAIN.", "FOR TOMORROW, LATEST TRENDS SUPPORT RAIN."),
        ("COLD... HIGHER QPF... AND LIFT.", "COLD, HIGHER QPF, AND LIFT."),
        ("UP TO 0.15 INCHES...OR MORE.", "UP TO 0.15 INCHES, OR MORE."),
        ("NRN VA...D.C....CENTRAL MD", "NRN VA, D.C., CENTRAL MD"),
        ("IT ENDS....THEN SUN.", "IT ENDS. THEN SUN."),
        ("UNCERTAINTY INTO NEXT WEEK...", "UNCERTAINTY INTO NEXT WEEK"),
        ("WEDNESDAY...MVFR CIGS.", "WEDNESDAY: MVFR CIGS."),
        ("THURSDAY THROUGH FRIDAY...DRY.", "THURSDAY THROUGH FRIDAY: DRY."),
        ("WHAT...Snow.", "WHAT: Snow."),
        ("BY SUNDAY...DRIER AIR...SUN.", "BY SUNDAY, DRIER AIR, SUN."),
        ("[PREVIOUS 350 AM]...As of dawn", "[PREVIOUS 350 AM] As of dawn"),
        ("dry,...then wet", "dry, then wet"),
        ("700 mb temps of -5.5C. Done.", "700 mb temps of -5.5C. Done."),
        ("...", ""),
    ],
)
def test_dots_are_pauses(old: str, read: str) -> None:
    assert pauses(old) == read


@given(st.lists(st.from_regex(r"[A-Z0-9]{1,8}(\.\d)?", fullmatch=True), min_size=1, max_size=12))
def test_dots_between_words_never_end_a_sentence(words: list[str]) -> None:
    read = pauses("...".join(words) + ".")
    assert "..." not in read
    assert ". " not in read
    assert read.replace(",", " ").replace(":", " ").rstrip(".").split() == words
