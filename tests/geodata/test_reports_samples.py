"""Every real text that came with the project: what a reader finds in it is what the parser finds.

The table was written by reading the texts: product, office, time of issue (worked out from the
time line by hand) and the sections with what they are about.
"""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime
from pathlib import Path

import pytest

from zephyrus_geodata.reports import (
    Product,
    ReportError,
    discussion_text,
    parse_product,
    parse_products,
    read_products,
)

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "nws"
needs_samples = pytest.mark.skipif(
    not SAMPLES.is_dir(), reason="the real texts are not on this machine (shared/samples/nws)"
)

OKX = (
    "discussion SYNOPSIS|discussion NEAR TERM|discussion SHORT TERM|discussion LONG TERM|"
    "aviation AVIATION|marine MARINE|hydrology HYDROLOGY|tides TIDES/COASTAL FLOODING|"
    "watches OKX WATCHES/WARNINGS/ADVISORIES"
)
TAE = (
    "discussion NEAR TERM|discussion SHORT TERM|discussion LONG TERM|aviation AVIATION|"
    "marine MARINE|fire FIRE WEATHER|hydrology HYDROLOGY|spotter SPOTTER INFORMATION STATEMENT|"
    "table PRELIMINARY POINT TEMPS/POPS|watches TAE WATCHES/WARNINGS/ADVISORIES"
)
LAND = "discussion |discussion DAY ONE|discussion DAYS TWO THROUGH SEVEN|"
LAKE = "marine |marine DAY ONE|marine DAYS TWO THROUGH SEVEN|"
SPOTTER = "spotter SPOTTER INFORMATION STATEMENT"
MCD = "discussion AREAS AFFECTED|discussion CONCERNING|"

# file: product, office, issued (UTC), sections
READ = {
    "pyIEM__AFD.txt": (
        "AFD",
        "KBOX",
        "2012-11-27 00:01",
        "discussion SYNOPSIS|discussion NEAR TERM|discussion SHORT TERM|discussion LONG TERM|"
        "aviation AVIATION|marine MARINE|watches BOX WATCHES/WARNINGS/ADVISORIES",
    ),
    "pyIEM__AFDDMX.txt": (
        "AFD",
        "KDMX",
        "2013-01-05 17:45",
        "discussion SHORT TERM|discussion LONG TERM|aviation AVIATION|"
        "watches DMX WATCHES/WARNINGS/ADVISORIES",
    ),
    "pyIEM__AFDMST.txt": (
        "AFD",
        "KPSR",
        "2018-03-21 12:15",
        "update UPDATE|discussion SYNOPSIS|discussion DISCUSSION|aviation AVIATION|"
        f"fire FIRE WEATHER|{SPOTTER}|watches PSR WATCHES/WARNINGS/ADVISORIES",
    ),
    "pyIEM__CWF_CWF_twoheadline.txt": (
        "CWF",
        "PAFG",
        "2025-01-03 09:54",
        "marine |marine |marine TODAY|marine TONIGHT|marine SAT|marine SAT NIGHT|marine SUN|"
        "marine SUN NIGHT|marine MON|marine TUE",
    ),
    "pyIEM__HWO_HWO.txt": (
        "HWO",
        "KLOT",
        "2013-01-08 21:23",
        f"{LAND}{SPOTTER}|other |{LAKE}other |{LAKE}other ",
    ),
    "pyIEM__HWO_HWORNK.txt": (
        "HWO",
        "KRNK",
        "2015-02-01 21:14",
        f"{LAND}{SPOTTER}|{LAND}{SPOTTER}|{LAND}{SPOTTER}|"
        f"discussion |discussion DAY ONE|{SPOTTER}|{LAND}{SPOTTER}",
    ),
    "pyIEM__MCD_MPD_MPD.txt": (
        "FFGMPD",
        "KWNH",
        "2013-06-10 05:44",
        f"{MCD}discussion SUMMARY|discussion DISCUSSION",
    ),
    "pyIEM__MCD_MPD_SWOMCD_2010.txt": (
        "SWOMCD",
        "KWNS",
        "2010-06-29 15:50",
        f"{MCD}discussion ",
    ),
    "pyIEM__MCD_MPD_SWOMCD_sep1.txt": (
        "SWOMCD",
        "KWNS",
        "2020-08-31 23:45",
        "discussion Areas affected|discussion Concerning|discussion Probability of Watch Issuance|"
        "discussion SUMMARY|discussion DISCUSSION",
    ),
    "pyIEM__MCD_MPD_SWOMCDconcerning.txt": (
        "SWOMCD",
        "KWNS",
        "2020-03-24 08:50",
        "discussion Areas affected|discussion Concerning|discussion |discussion SUMMARY|"
        "discussion DISCUSSION",
    ),
    "pyIEM__MCD_MPD_SWOMCDprob.txt": (
        "SWOMCD",
        "KWNS",
        "2013-08-09 17:25",
        f"{MCD}discussion PROBABILITY OF WATCH ISSUANCE|discussion SUMMARY|discussion DISCUSSION",
    ),
    "pyIEM__PMDSA.txt": ("PMDSA", "KWBC", "2020-07-13 15:17", "discussion "),
    "pyIEM__RFDOAX.txt": ("RFD", "KOAX", "2015-01-19 10:10", "fire "),
    "pyIEM__SPS_SPSBMX.txt": ("SPS", "KBMX", "2018-05-29 21:52", "discussion |other "),
    "pyIEM__SPS_SPSBMX_IBW2.txt": ("SPS", "KBMX", "2018-05-29 21:52", "discussion |other "),
    "pyIEM__SPS_SPSOKX.txt": ("SPS", "KOKX", "2021-03-15 00:06", "discussion "),
    "pyIEM__SPS_SPSRIW.txt": ("SPS", "KRIW", "2021-03-15 20:25", "discussion |discussion "),
    "pyIEM__mIxEd_CaSe_HWOLOT.txt": (
        "HWO",
        "KLOT",
        "2017-02-07 10:11",
        "discussion |discussion Day One|discussion Days Two through Seven|"
        f"{SPOTTER}|marine |marine Day One|marine Days Two through Seven|"
        "marine |marine Day One|marine Days Two through Seven",
    ),
    "accessiweather__afos_swody1.yaml": (
        "SWODY1",
        "KWNS",
        "2026-05-08 00:35",
        "discussion SUMMARY|discussion MT/WY|discussion Carolinas|discussion LA|"
        "discussion Southern AZ/NM into TX",
    ),
    "accessiweather__discussion_nyc.yaml": (
        "AFD",
        "KOKX",
        "2026-01-20 14:35",
        "update WHAT HAS CHANGED|key_messages KEY MESSAGES|discussion DISCUSSION|"
        "key_messages KEY MESSAGE 1|key_messages KEY MESSAGE 2|aviation AVIATION|"
        "aviation OUTLOOK FOR 12Z WEDNESDAY THROUGH SATURDAY|marine MARINE|"
        "watches OKX WATCHES/WARNINGS/ADVISORIES",
    ),
    "weather_gov_api__load-testing-ioc_products_12b297d7-46d5-42ac-a660-7ea7b231341d.json": (
        "AFD",
        "KOUN",
        "2026-03-05 17:25",
        "discussion THIS IS FAKE|key_messages KEY MESSAGES|discussion NEAR TERM|"
        "discussion SHORT TERM|discussion LONG TERM|aviation AVIATION|"
        "table PRELIMINARY POINT TEMPS/POPS|watches OUN WATCHES/WARNINGS/ADVISORIES",
    ),
    "weather_gov_api__testing_products_775e1b6c-abb0-4245-afd7-d4b12ade9240.json": (
        "AFD",
        "KTBW",
        "2024-09-27 13:49",
        "update UPDATE|aviation AVIATION|marine MARINE|table PRELIMINARY POINT TEMPS/POPS|other |"
        "watches TBW WATCHES/WARNINGS/ADVISORIES",
    ),
    "weather_gov_api__testing_products_81724a6c-3b8f-4284-bd62-49d259b39697.json": (
        "AFD",
        "KALY",
        "2024-09-05 11:29",
        "discussion SYNOPSIS|discussion NEAR TERM|update UPDATE|discussion SHORT TERM|"
        "discussion LONG TERM|aviation AVIATION|watches ALY WATCHES/WARNINGS/ADVISORIES",
    ),
}
READ |= {
    f"weather_gov_api__{name}.json": ("AFD", *row)
    for name, row in {
        "e2e_products_b60036c1-2f33-429f-b44e-12771d698985": ("KOKX", "2024-08-06 18:08", OKX),
        "testing_products_b60036c1-2f33-429f-b44e-12771d698985": ("KOKX", "2024-08-06 18:08", OKX),
        "testing_products_08ca0238-ea1b-4d1a-9cb7-f03c3ccafd0d": ("KOKX", "2024-08-20 11:25", OKX),
        "testing_products_2c9cdbc6-f24d-428e-b38b-96a6ddfbf413": ("KOKX", "2024-08-20 15:55", OKX),
        "testing_products_636e6c8c-b2f4-46f8-9d80-944616f0cf92": ("KOKX", "2024-08-20 04:44", OKX),
        "testing_products_f0ca57b2-ca10-4ee0-86bf-cf1d24cbc98a": ("KOKX", "2024-08-20 02:21", OKX),
        "testing_products_fb0dae6a-3e5b-4b5b-9b8c-ae3b384bb74f": ("KOKX", "2024-08-20 17:04", OKX),
        "testing_products_1cbb1845-f5fa-4594-a1e9-9a74699219a8": (
            "KTAE",
            "2024-08-20 14:15",
            f"update UPDATE|{TAE}",
        ),
        "testing_products_3197c752-b082-4ea6-85d8-98f5689c8ad1": ("KTAE", "2024-08-19 23:41", TAE),
        "testing_products_39ed073c-0fed-46b5-958f-2de1c89401af": (
            "KTAE",
            "2024-08-20 17:23",
            f"update UPDATE|{TAE}",
        ),
        "testing_products_438730d2-93fa-45c3-850e-385cc95fcdbc": ("KTAE", "2024-08-20 07:22", TAE),
        "testing_products_4c49a58d-ef6e-4e84-82f9-c1a249ea4e6d": ("KTAE", "2024-08-20 19:04", TAE),
        "testing_products_c30089eb-1e29-44c7-ad2a-7b2688e2c35b": ("KTAE", "2024-08-20 10:11", TAE),
    }.items()
}

REFUSED = {
    "weather_gov_api__e2e_products_798a1c6b-1317-4a4c-bb68-71091b3003da.json": "stub: only 7 words",
    "weather_gov_api__e2e_products_types_AFD.json": "listing of 10 products",
    "weather_gov_api__e2e_products_types_AFD_locations_FGZ.json": "listing of 56 products",
}


def only(file: str) -> Product:
    """The one product of a file; a cassette also holds answers that are none."""
    products = read_products(SAMPLES / file, on_refused=lambda refusal: None)
    assert len(products) == 1
    return products[0]


@needs_samples
def test_the_table_has_every_file() -> None:
    files = {path.name for path in SAMPLES.iterdir()} - {"MANIFEST.tsv"}
    assert files == set(READ) | set(REFUSED)
    assert len(files) == 39


@needs_samples
@pytest.mark.parametrize("file", sorted(READ))
def test_a_text_is_read_as_a_person_reads_it(file: str) -> None:
    product = only(file)
    name, office, issued, sections = READ[file]
    assert (product.product, product.office) == (name, office)
    assert product.issued == datetime.fromisoformat(issued).replace(tzinfo=UTC)
    assert product.issued_from == "text"
    assert [f"{s.kind} {s.name}" for s in product.sections] == sections.split("|")
    assert not product.notes


@needs_samples
@pytest.mark.parametrize("file", sorted(REFUSED))
def test_what_is_no_report_is_refused_with_the_reason(file: str) -> None:
    with pytest.raises(ReportError, match=REFUSED[file]):
        read_products(SAMPLES / file)


@needs_samples
def test_the_answers_of_a_cassette_that_are_no_products_are_refused_one_by_one() -> None:
    reasons: list[str] = []
    read_products(
        SAMPLES / "accessiweather__discussion_nyc.yaml",
        on_refused=lambda refusal: reasons.append(refusal.reason),
    )
    assert [reason.split(":")[0] for reason in reasons] == [
        "this JSON is not a product of api.weather.gov",
        "this is a listing of 67 products without their texts",
    ]


@needs_samples
def test_the_api_agrees_with_the_text_about_the_time_of_issue() -> None:
    for path in SAMPLES.glob("*testing_products_*.json"):
        record = json.loads(path.read_text())
        stated = datetime.fromisoformat(record["issuanceTime"])
        assert abs((parse_product(record).issued - stated).total_seconds()) <= 60


@needs_samples
@pytest.mark.parametrize(
    ("file", "start", "end"),
    [
        ("pyIEM__MCD_MPD_MPD.txt", "2013-06-10 05:43", "2013-06-10 09:43"),
        ("pyIEM__MCD_MPD_SWOMCD_2010.txt", "2010-06-29 15:50", "2010-06-29 18:15"),
        ("pyIEM__MCD_MPD_SWOMCD_sep1.txt", "2020-09-01 00:05", "2020-09-01 01:15"),
        ("accessiweather__afos_swody1.yaml", "2026-05-08 01:00", "2026-05-08 12:00"),
    ],
)
def test_valid_periods(file: str, start: str, end: str) -> None:
    expected = tuple(datetime.fromisoformat(t).replace(tzinfo=UTC) for t in (start, end))
    assert only(file).valid == expected


@needs_samples
@pytest.mark.parametrize(
    ("file", "names"),
    [
        (
            "pyIEM__AFDDMX.txt",
            ("SHORT TERM: MS JAN 13", "LONG TERM: AWB", "AVIATION: COGIL"),
        ),
        ("pyIEM__HWO_HWO.txt", ("BEACHLER",)),
        ("pyIEM__mIxEd_CaSe_HWOLOT.txt", ("Izzi",)),
        ("pyIEM__MCD_MPD_MPD.txt", ("OTTO",)),
        ("pyIEM__PMDSA.txt", ("DAVISON...WPC (USA)", "GALVEZ...WPC (USA)")),
        ("pyIEM__SPS_SPSBMX.txt", ("25/Owen",)),
        ("accessiweather__afos_swody1.yaml", ("Mead",)),
        (
            "weather_gov_api__load-testing-ioc_products_12b297d7-46d5-42ac-a660-7ea7b231341d.json",
            ("Ungar", "NEAR TERM: 09", "SHORT TERM: 09", "LONG TERM: 09", "AVIATION: 25"),
        ),
    ],
)
def test_who_wrote_it_is_known_and_not_in_the_text(file: str, names: tuple[str, ...]) -> None:
    product = only(file)
    assert product.forecasters == names
    text = discussion_text(product, keep=["all"])
    for name in ("BEACHLER", "Izzi", "OTTO", "GALVEZ", "Owen", "Mead", "Ungar", "COGIL"):
        assert not re.search(rf"\b{name}\b", text)


@needs_samples
def test_an_update_stands_in_its_section_and_keeps_its_time() -> None:
    albany = only("weather_gov_api__testing_products_81724a6c-3b8f-4284-bd62-49d259b39697.json")
    update = albany.section("update")
    assert update is not None and update.parent == "NEAR TERM"
    assert discussion_text(albany).count("NEAR TERM (UNTIL 6 PM THIS EVENING), UPDATE:\nAs of") == 1
    norman = only(
        "weather_gov_api__load-testing-ioc_products_12b297d7-46d5-42ac-a660-7ea7b231341d.json"
    )
    near = norman.section("Near Term")
    assert near is not None and near.period == "Through Thursday"
    assert near.issued == datetime(2026, 3, 5, 6, 45, tzinfo=UTC)


@needs_samples
def test_segments_know_their_zones() -> None:
    roanoke = only("pyIEM__HWO_HWORNK.txt")
    first = roanoke.sections[0].zones
    assert first[:3] == ("NCZ002", "VAZ010", "VAZ011")
    assert first[-4:] == ("VAZ032", "VAZ033", "VAZ034", "VAZ035")
    assert len(first) == 1 + 5 + 5 + 3 + 4


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text)


_LEFT_OUT = re.compile(
    r"^(&&|\$\$|\(.*\)|Issued at .*|Updated at .*|Ungar|OTTO|.*WPC \(USA\)"
    r"|\.\.(?!\.).*\.\..*|(ATTN|LAT)\.\.\..*|[\d ]{8,}|\.\.\.please see.*|valid \d{6}z.*"
    r"|\.update\.\.\.updated aviation and fire weather discussions\."
    r"|[A-Z]{2}Z[\d>-]+.*|[\dA-Z>-]+-\d{6}-)$",
    re.IGNORECASE,
)

_NUMBER = re.compile(r"^\d+\.\) ")  # of an item


@needs_samples
@pytest.mark.parametrize("file", sorted(f for f in READ if "SPS" not in f and "CWF" not in f))
def test_no_line_of_a_text_is_lost(file: str) -> None:
    """Whatever stands above the last `$$` is in the text when everything is kept, word by word."""
    product = only(file)
    found = " ".join(_words(discussion_text(product, keep=["all"])))
    found += " " + " ".join(_words(" ".join(product.headlines)))
    lines = product.raw.replace("\r", "").split("\n")
    top = next(n for n, line in enumerate(lines) if re.match(r"\d{3,4} [AP]M ", line)) + 1
    ends = [n for n, line in enumerate(lines) if line.strip() == "$$"]
    body = lines[top : ends[-1] if ends else None]
    if product.product in ("HWO", "RFD"):
        # Names of zones run from the codes to a time line
        text = "\n".join(body)
        body = re.sub(r"\n[A-Z]{2}Z\d{3}[\s\S]*?\n\d{3,4} [AP]M .*", "\n", f"\n{text}").split("\n")
    lost = [
        line
        for line in body
        if not _LEFT_OUT.match(line.strip())
        and " ".join(_words(_NUMBER.sub("", line))) not in found
    ]
    assert lost == []


@needs_samples
@pytest.mark.parametrize("file", sorted(f for f in READ if f.endswith(".txt")))
def test_line_ends_and_wrappings_change_nothing(file: str) -> None:
    raw = (SAMPLES / file).read_bytes().decode().replace("\r", "")
    expected = only(file).to_dict()
    del expected["raw"]
    for changed in (
        raw.replace("\n", "\r\r\n"),
        raw.replace("\n", "\r\n"),
        "\x01" + raw.strip("\x01\x03") + "\x03",
        raw.strip("\x01\x03\n").replace("\n", "   \n"),
    ):
        for source in (changed, changed.encode()):
            product = parse_product(source).to_dict()
            del product["raw"]
            assert product == expected


@needs_samples
def test_joined_bulletins_are_cut_again() -> None:
    texts = [(SAMPLES / file).read_bytes().decode() for file in sorted(READ) if ".txt" in file]
    bare = [text.replace("\x01", "").replace("\x03", "").replace("\r", "") for text in texts]
    alone = [parse_product(text).product_id for text in texts]
    # The two statements of Birmingham are two issues of one heading
    assert len(alone) == 18
    for joined in ("".join(f"\x01\n{text}\x03\n" for text in bare), "\n".join(bare)):
        parsed = parse_products(joined)
        assert [product.product_id for product in parsed.products] == alone
        assert parsed.refused == ()
