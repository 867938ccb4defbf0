"""Whatever the bytes, the parser answers with a product or a reason, and soon."""

from __future__ import annotations

import contextlib
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))  # for the texts beside the tests

from report_texts import ALL

from zephyrus_geodata.reports import ReportError, discussion_text, parse_product, parse_products

SNIPPETS = (
    b"\x01", b"\x03", b"\r\r\n", b"$$\n", b"&&\n", b"...", b"\n.", b"\n\n", b"NNNN\n", b"{", b"\xff\xfe",
    b"FXUS65 KXYZ 141031\nAFDXYZ\n", b"VALID 990099Z - 320000Z\n", b"Valid 12Z Fri Feb 30 2026 - ",
    b"COZ001>999-150930-\n", b"1165 AM MDT Wed Oct 14 2026\n", b"1145 PM SST Tue Dec 31 2999\n",
    b"Day 1\n", b"..A.. 01/01/2026\n", "\u2028\u202e\u0000é".encode(),
)  # fmt: skip

edits = st.lists(
    st.tuples(
        st.floats(0, 1),
        st.integers(0, 300),
        st.one_of(st.sampled_from(SNIPPETS), st.binary(max_size=20)),
    ),
    max_size=8,
)


@settings(max_examples=400)
@given(st.sampled_from(ALL), edits, st.floats(0, 1))
def test_mutilated_texts_are_read_or_refused(
    text: str, edits: list[tuple[float, int, bytes]], end: float
) -> None:
    data = text.encode()
    for place, length, new in edits:
        start = int(place * len(data))
        data = data[:start] + new + data[start + length :]
    data = data[: max(1, int((0.3 + end) * len(data)))]
    try:
        product = parse_product(data)
    except ReportError as error:
        assert str(error)
    else:
        assert product.issued.tzinfo is not None
        assert product.sections
        assert isinstance(discussion_text(product, keep=["all"]), str)
        assert product.to_dict()["id"] == product.product_id
    parse_products(data)  # raises nothing


@settings(max_examples=200)
@given(st.one_of(st.binary(max_size=400), st.text(max_size=400)))
def test_garbage_is_refused(data: bytes | str) -> None:
    with pytest.raises(ReportError):
        parse_product(data)


@given(st.sampled_from(ALL), edits)
def test_line_ends_make_no_difference(text: str, edits: list[tuple[float, int, bytes]]) -> None:
    for place, length, _ in edits:
        start = int(place * len(text))
        text = text[:start] + text[start + length :]
    results = []
    for form in (text, text.replace("\n", "\r\r\n"), text.replace("\n", "\r\n")):
        try:
            record = parse_product(form).to_dict()
            del record["raw"]
            results.append(record)
        except ReportError as error:
            results.append({"refused": str(error)})
    assert results[0] == results[1] == results[2]


@pytest.mark.parametrize(
    "filler",
    [
        "." * 190_000,
        "...\n" * 47_000,
        "...a\n\n" * 31_000,
        ".A...\n" * 31_000,
        "...A...\n\n" * 19_000,
        "UPDATE " * 27_000,
        ".UPDATE..." + "UPDATE AVIATION " * 11_000 + "1",
        "A-" * 95_000,
        "COZ001-\n" * 23_000,
        "COZ001>999-150930-\n" * 9_000,
        "Probe\n\n" * 27_000,
        "www.a.gov\n\n" * 17_000,
        "Valid 12Z " * 19_000,
        "1145 AM MDT " * 15_000,
        "* a\n" * 47_000,
        " " * 190_000,
        "SUMMARY... " * 17_000,
        "Day 1\n\n" * 27_000,
        "a/" * 95_000,
        "( " * 95_000,
    ],
)
@pytest.mark.parametrize("number", [2, 5])
def test_no_text_takes_long(filler: str, number: int) -> None:
    head, _, tail = ALL[number].partition("2026\n")
    started = time.process_time()
    with contextlib.suppress(ReportError):
        discussion_text(parse_product(f"{head}2026\n\n{filler}\n{tail}"), keep=["all"])
    assert time.process_time() - started < 4
