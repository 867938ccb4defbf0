"""The head of a bulletin in all the forms it comes in, and what is refused."""

from __future__ import annotations

import json
import sys
from datetime import UTC, datetime
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))  # for the texts beside the tests

from report_texts import EXTENDED, OFFICE, OUTLOOK, SHORT_RANGE

from zephyrus_geodata.errors import GeodataError
from zephyrus_geodata.reports import ReportError, parse_product, parse_products, read_products
from zephyrus_geodata.reports.header import split_bulletins

BODY = """
.DISCUSSION...
High pressure holds over the valleys until Friday, with highs in the
60s and light winds. Rain returns on Saturday.

$$
"""
HEAD = """000
FXUS65 KXYZ 010005
AFDXYZ

Area Forecast Discussion
National Weather Service Exampleville CO
605 PM MDT Mon Aug 31 2026
"""


def test_every_part_of_a_head() -> None:
    product = parse_product(OFFICE)
    assert product.product == "AFD"
    assert product.awips == "AFDXYZ"
    assert product.wmo == "FXUS65"
    assert product.office == "KXYZ"
    assert product.office_name == "National Weather Service Exampleville CO"
    assert product.title == "Area Forecast Discussion...CORRECTED"
    assert product.correction == "CCA"
    assert product.issued == datetime(2026, 10, 14, 10, 31, tzinfo=UTC)
    assert (product.issued_from, product.zone) == ("text", "MDT")
    assert product.product_id == "202610141031-KXYZ-FXUS65-AFDXYZ-CCA"


@pytest.mark.parametrize(
    "head",
    [
        HEAD,
        HEAD.replace("000\n", ""),
        HEAD.replace("000\n", "523 \n"),
        HEAD.replace("000\n", "523 "),  # the number run into the header
        HEAD.replace("000\n", "ZCZC XYZAFDXYZ\n"),
        HEAD.replace("000\n", "\n\n  000  \n\n"),
        HEAD.replace("AFDXYZ", "AFDXYZ  \t"),
        HEAD.replace("\n", "\r\r\n"),
        HEAD.replace("National", "\x1eNational"),
        HEAD.upper(),
        HEAD.replace("605 PM", "6:05 PM"),
        HEAD.replace("605 PM MDT Mon Aug 31 2026", "0005 UTC Tue Sep 1 2026"),
        HEAD.replace("2026", "2026 /705 PM CDT Mon Aug 31 2026/"),
    ],
)
def test_forms_of_the_same_head(head: str) -> None:
    product = parse_product(head + BODY)
    assert product.product_id == "202609010005-KXYZ-FXUS65-AFDXYZ"
    assert product.office_name.upper() == "NATIONAL WEATHER SERVICE EXAMPLEVILLE CO"
    assert [section.name for section in product.sections] == ["DISCUSSION"]


def test_without_a_wmo_header_the_text_tells_the_time() -> None:
    bare = HEAD.split("\n", 2)[2]
    product = parse_product(bare + BODY)
    assert (product.product, product.office, product.wmo) == ("AFD", "", "")
    assert product.issued == datetime(2026, 9, 1, 0, 5, tzinfo=UTC)


@pytest.mark.parametrize(
    ("title", "name"),
    [
        ("Area Forecast Discussion", "AFD"),
        ("HAZARDOUS WEATHER OUTLOOK", "HWO"),
        ("Short Range Forecast Discussion", "PMDSPD"),
        ("Extended Forecast Discussion", "PMDEPD"),
        ("Excessive Rainfall Discussion", "QPFERD"),
        ("Quantitative Precipitation Forecast Discussion", "QPFPFD"),
        ("Day 2 Convective Outlook", "SWODY2"),
        ("DAY 3 CONVECTIVE OUTLOOK", "SWODY3"),
        ("Mesoscale Discussion 1659", "SWOMCD"),
        ("Mesoscale Precipitation Discussion 0098", "FFGMPD"),
    ],
)
def test_without_an_awips_identifier_the_title_names_the_product(title: str, name: str) -> None:
    head = HEAD.replace("AFDXYZ\n", "").replace("Area Forecast Discussion", title)
    product = parse_product(head + BODY)
    assert (product.product, product.awips) == (name, "")


def test_a_centre_without_a_header_is_known_by_its_name() -> None:
    text = EXTENDED.split("\n", 3)[3]
    assert parse_product(text).office == "KWNH"


def test_guam_has_another_identifier_than_office() -> None:
    head = """106
FXPQ60 PGUM 182009
AFDPQ

Area Forecast Discussion
National Weather Service Tiyan GU
609 AM ChST Sun Jun 19 2016
"""
    product = parse_product(head + BODY)
    assert (product.product, product.awips, product.office) == ("AFD", "AFDPQ", "PGUM")
    assert product.issued == datetime(2016, 6, 18, 20, 9, tzinfo=UTC)


def test_a_centre_marks_its_corrections_in_its_own_line() -> None:
    text = """890
ACUS11 KWNS 251944
SWOMCD
SPC MCD 251944 COR
IAZ000-MOZ000-252145-

Mesoscale Discussion 0301
NWS Storm Prediction Center Norman OK
0244 PM CDT Wed Mar 25 2026

Areas affected...western Iowa

Concerning...Severe potential...Watch unlikely

Valid 251944Z - 252145Z

SUMMARY...Storms with hail to 1 inch may form near the low this
afternoon.

..Probe.. 03/25/2026
"""
    product = parse_product(text)
    assert (product.correction, product.awips) == ("COR", "SWOMCD")
    assert product.valid is not None and product.valid[1].hour == 21


def test_a_date_near_the_issue_completes_a_header_and_moves_no_full_time() -> None:
    undated = HEAD.replace("605 PM MDT Mon Aug 31 2026\n", "")
    with pytest.raises(ReportError, match="day of the month"):
        parse_product(undated + BODY)
    for near in (datetime(2026, 8, 31), datetime(2026, 9, 10, tzinfo=UTC)):
        product = parse_product(undated + BODY, near=near)
        assert product.issued == datetime(2026, 9, 1, 0, 5, tzinfo=UTC)
        assert (product.issued_from, product.zone) == ("header", "")
    product = parse_product(HEAD + BODY, near=datetime(1999, 1, 1))
    assert product.issued == datetime(2026, 9, 1, 0, 5, tzinfo=UTC)


def test_morning_for_afternoon_is_mended_by_the_header() -> None:
    product = parse_product(HEAD.replace("605 PM", "605 AM") + BODY)
    assert product.issued == datetime(2026, 9, 1, 0, 5, tzinfo=UTC)
    assert product.issued_from == "header"
    assert len(product.notes) == 1
    # To the half hour: bulletins are sent some minutes after they are signed
    product = parse_product(HEAD.replace("605 PM", "545 AM") + BODY)
    assert product.issued_from == "header"
    # A wrong day is not: the header may as well be the wrong one
    product = parse_product(HEAD.replace("010005", "100005") + BODY)
    assert product.issued == datetime(2026, 9, 1, 0, 5, tzinfo=UTC)
    assert product.notes == ("the header's day, 10, is not near the text's date",)


def record(**changes: object) -> dict[str, object]:
    return {
        "@id": "https://api.weather.gov/products/0",
        "wmoCollectiveId": "FXUS65",
        "issuingOffice": "KXYZ",
        "issuanceTime": "2026-09-01T00:05:00+00:00",
        "productCode": "AFD",
        "productName": "Area Forecast Discussion",
        "productText": f"\n{HEAD}{BODY}",
    } | changes


def test_the_api_completes_what_the_text_lacks() -> None:
    product = parse_product(record(productText=BODY))
    assert product.product_id == "202609010005-KXYZ-FXUS65-AFD"
    assert (product.issued_from, product.title) == ("api", "Area Forecast Discussion")
    product = parse_product(record(productText=BODY, issuingOffice="K\x1b[2JXYZ" + "Z" * 999))
    assert product.office.startswith("K[2JXYZ") and len(product.office) < 210
    text = json.dumps(record())
    for source in (text, text.encode(), b"\xef\xbb\xbf" + text.encode(), json.loads(text)):
        assert parse_product(source).product_id == "202609010005-KXYZ-FXUS65-AFDXYZ"


def test_mixed_listings_are_told_apart_by_the_text() -> None:
    product = parse_product(record(productCode="PMD", productText=EXTENDED))
    assert product.product == "PMDEPD"
    untitled = "\n".join(line for line in EXTENDED.split("\n") if line != "PMDEPD")
    assert parse_product(record(productCode="PMD", productText=untitled)).product == "PMDEPD"


@pytest.mark.parametrize(
    ("source", "reason"),
    [
        ("", "empty"),
        ("\x01\n\x03", "empty"),
        ("000 \n", "empty"),
        ("This is short text, just for testing.", "stub: only 7 words"),
        (HEAD, "stub: only 0 words"),
        (f"{HEAD}\n$$\n", "stub"),
        (f"{HEAD}\nTHIS IS A TEST MESSAGE. {BODY}", "test message"),
        (f"{HEAD}\n...TEST...TEST...TEST...\n{BODY}", "test message"),
        (f"{HEAD}\nNIL\n$$", "nil"),
        (BODY, "names no product"),
        ("some prose about nothing in particular, " * 9, "names no product"),
        (f"AFDXYZ\n{BODY}", "neither a time line nor a WMO header"),
        (HEAD.replace("010005", "990005").replace("605 PM", "") + BODY, "day of the month"),
        ("{", "JSON"),
        ("[" * 100_000, "empty"),
        ('{"a": ' * 100_000, "JSON"),
        ({}, "no productText"),
        ({"productText": None}, "productText is empty"),
        ({"productText": " \n"}, "productText is empty"),
        ({"@graph": [{"id": "1"}, {"id": "2"}]}, "listing of 2 products"),
        (HEAD + "word " * 100_000, "too many"),
        (OFFICE + "\n" + OUTLOOK, "2 bulletins"),
    ],
)
def test_refusals_say_why(source: str | dict[str, object], reason: str) -> None:
    with pytest.raises(ReportError, match=reason) as caught:
        parse_product(source)
    assert isinstance(caught.value, GeodataError)
    assert "\n" not in str(caught.value)


def test_a_header_quoted_in_a_text_cuts_nothing() -> None:
    quoting = BODY.replace("Rain", "See\nFXUS65 KXYZ 010005\nfor more. Rain")
    assert len(split_bulletins(HEAD + quoting)) == 1
    assert "for more" in parse_product(HEAD + quoting).sections[0].paragraphs[0].text


def test_many_products_and_what_was_refused() -> None:
    texts = f"\x01{OFFICE}\x03\x01{HEAD}\x03\x01{SHORT_RANGE}\x03\x01{OFFICE}\x03"
    parsed = parse_products(texts)
    assert [product.product for product in parsed.products] == ["AFD", "PMDSPD"]
    assert [refusal.reason for refusal in parsed.refused] == [
        "it is a stub: only 0 words below its head"
    ]
    assert parsed.refused[0].text == HEAD


def test_files(tmp_path: Path) -> None:
    bulletins = tmp_path / "two.txt"
    bulletins.write_bytes(f"{OFFICE}\n{OUTLOOK}".replace("\n", "\r\r\n").encode())
    assert [product.product for product in read_products(bulletins)] == ["AFD", "HWO"]
    archive = tmp_path / "reports.jsonl"
    undated = OFFICE.replace("431 AM MDT Wed Oct 14 2026\n", "")
    lines = [{"text": undated, "issued": "2026-10-14T10:31:00+00:00"}, {"text": "", "issued": ""}]
    archive.write_text("".join(json.dumps(line) + "\n" for line in lines[:1]))
    assert read_products(archive)[0].issued == datetime(2026, 10, 14, 10, 31, tzinfo=UTC)
    archive.write_text("".join(json.dumps(line) + "\n" for line in lines))
    reasons: list[str] = []
    assert len(read_products(archive, on_refused=lambda r: reasons.append(r.reason))) == 1
    assert len(reasons) == 1
    with pytest.raises(ReportError, match=r"reports\.jsonl"):
        read_products(archive)
    with pytest.raises(ReportError, match="can't be read"):
        read_products(tmp_path / "none.txt")
    cassette = tmp_path / "cassette.yaml"
    cassette.write_text("interactions: 3\n")
    with pytest.raises(ReportError, match="not a cassette"):
        read_products(cassette)
    cassette.write_text("!!python/object/apply:os.system ['true']\n")
    with pytest.raises(ReportError, match="not a cassette"):
        read_products(cassette)


def test_the_package_is_lazy() -> None:
    import subprocess

    code = "import sys, zephyrus_geodata.reports.cli; print(len({'yaml','numpy','aiohttp'} & {*sys.modules}))"
    result = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert result.stdout.strip() == "0"
