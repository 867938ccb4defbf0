import time

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from zephyrus_report.report_text import (
    LONGEST,
    count_words,
    find_report,
    length_penalty,
)

TEN = "A low of 985 hPa crosses France on Tuesday with rain."

tagless = st.text(st.characters(exclude_characters="<>`", exclude_categories=("Cs",)), max_size=300)
bodies = tagless.map(lambda text: f"Rain {text} Spain.")
around = st.sampled_from(
    [
        "",
        "Here it is:\n",
        "I will write it in <report> tags.\n",
        "\n\nThat is all.",
        "```\n",
        "\n```",
    ]
)


@pytest.mark.parametrize(
    ("message", "report"),
    [
        (f"<report>{TEN}</report>", TEN),
        (f"Here it is.\n<report>\n{TEN}\n</report>\nDone.", TEN),
        (f"<Report>{TEN}</REPORT>", TEN),
        (f"< report >{TEN}< / report >", TEN),
        (f'<report type="short_range">{TEN}</report>', TEN),
        # of several, the last closed one
        (f"<report>First try.</report> Better: <report>{TEN}</report>", TEN),
        (f"<report>{TEN}</report> or rather <report>This one was never closed, so it is", TEN),
        (f"<report>{TEN}</report>\n<report>…</report>", TEN),
        (f"I use <report> tags.\n<report>{TEN}</report>", TEN),
        # nested: the block that holds no other
        (f"<report>Outer <report>{TEN}</report> outer</report>", TEN),
        # code fences around the block, or around what is in it
        (f"```xml\n<report>\n{TEN}\n</report>\n```", TEN),
        (f"<report>\n```\n{TEN}\n```\n</report>", TEN),
        (f"<report>\n```markdown\n{TEN}\n```\n</report>", TEN),
        (f"<report>```\n{TEN}", TEN),
        # never closed: as far as it goes
        (f"<report>\n{TEN}", TEN),
        (f"I use <report> tags. <report>{TEN}", TEN),
        # thinking is never read
        (f"<think><report>{TEN}</report></think> Let me look.", None),
        (f"<report>{TEN}</report></think> Let me look.", None),
        (f"<think>x</think><report>{TEN}</report>", TEN),
        (f"<think><report>{TEN}</report>", None),
        # no report
        ("", None),
        ("No report yet.", None),
        ("<report></report>", None),
        ("<report>…</report>", None),
        ("<report>\nThe discussion.\n</report>", None),
        ("I'll put the discussion into <report> tags after I have looked at rain and wind.", None),
        ("It goes in `<report>`, and I will write it after looking at the rain and wind.", None),
        ("<report>Too short.", None),
        (f"{TEN}</report>", None),
        (f"<reporter>{TEN}</reporter>", None),
        (f"<answer>{TEN}</answer>", None),
    ],
)
def test_the_report_of_a_message(message, report):
    assert find_report(message) == report


@given(bodies, around, around)
@example("The report.\nTwo lines of it, no more.", "I will write it in <report> tags.\n", "")
def test_what_is_wrapped_is_found(body, before, after):
    found = find_report(f"{before}<report>\n{body}\n</report>{after}")
    assert found == body.strip()


pieces = st.sampled_from(
    [
        "<report>",
        "</report>",
        "< report",
        "<think>",
        "</think>",
        "```",
        "\n",
        "a b c d e f g h ",
        "<",
    ]
)


@given(st.lists(pieces, max_size=30).map("".join))
def test_no_tag_is_ever_part_of_a_report(text):
    found = find_report(text)
    assert found is None or ("report>" not in found and found == found.strip() and found)


def test_reading_takes_time_in_proportion_to_the_length():
    for piece in ("<report>", "</report>", "<report ", "<think>", "< ", "```\n", "a'", "'", "…"):
        began = time.monotonic()
        find_report(piece * 50_000)
        find_report("<report>" + piece * 50_000)
        count_words(piece * 50_000)
        assert time.monotonic() - began < 3.0, piece


def test_a_report_of_any_length_is_cut():
    found = find_report(f"<report>{'word ' * 20_000}</report>")
    assert len(found) <= LONGEST
    assert length_penalty(count_words(found), 250) == 1.0


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", 0),
        ("…—!", 0),
        ("Rain of 12.5 mm in the north-west.", 7),
        ("It's 5 °C.", 3),
        ("over Iran (54°N, 6°W) at 85 % …", 6),
        ("...Overview...\nDry – and/or cold", 5),
        ("a\nb\tc", 3),
        ("x" * 24, 1),
        ("x" * 25, 2),
        ("rain,in,France", 3),
        ("rain_in_France_and_wind_in_Spain_and_snow_in_Norway", 11),
        ("rain-in-France-and-wind-in-Spain-and-snow-in-Norway", 3),
    ],
)
def test_words_are_counted(text, words):
    assert count_words(text) == words


@given(tagless, tagless)
def test_more_text_never_has_fewer_words(first, second):
    assert count_words(f"{first} {second}") == count_words(first) + count_words(second)


@pytest.mark.parametrize(
    ("words", "budget", "penalty"),
    [(0, 200, 0.0), (200, 200, 0.0), (210, 200, 0.05), (300, 200, 0.5), (400, 200, 1.0)],
)
def test_the_length_penalty(words, budget, penalty):
    assert length_penalty(words, budget) == pytest.approx(penalty)


@given(st.integers(0, 10_000), st.integers(0, 10_000), st.integers(1, 2_000))
def test_the_length_penalty_is_bounded_and_grows(fewer, more, budget):
    low, high = sorted((fewer, more))
    assert 0.0 <= length_penalty(low, budget) <= length_penalty(high, budget) <= 1.0


def test_a_budget_of_nothing_is_a_bug():
    with pytest.raises(ValueError, match="budget"):
        length_penalty(1, 0)
