"""Fetching reports from a real server, with every fault that a real one has shown."""

import json
import sys
from itertools import pairwise
from pathlib import Path

import pytest

from zephyrus_geodata.reports import iem
from zephyrus_geodata.reports.archive import polite
from zephyrus_geodata.reports.manifest import NAME, ArchiveError, Manifest
from zephyrus_geodata.reports.query import Query
from zephyrus_geodata.reports.spans import Span, missing
from zephyrus_geodata.reports.store import INDEX, REFUSED, REPORTS, ReportArchive
from zephyrus_geodata.web.errors import FetchFailed

sys.path.insert(0, str(Path(__file__).parent))  # for the server beside the tests

from report_server import (
    JANUARY,
    NOW,
    Fault,
    Held,
    ReportServer,
    at,
    bulletin,
    files,
    issued,
    month_of_bulletins,
    run,
)


@pytest.fixture
def server():
    with ReportServer(month_of_bulletins()).running() as running:
        yield running


def test_a_month(server, tmp_path):
    done = run(server, tmp_path)
    expected = [item.entered for item in month_of_bulletins()]
    assert issued(tmp_path) == expected
    assert server.spans() == [("PMDSPD", "2024-01-01T00:00Z", "2024-02-01T00:00Z")]
    assert (done.requested, done.cached, done.index.reports) == (1, 0, 62)
    first = next(iter(ReportArchive(tmp_path)))
    assert first.id == "202401010801-KWBC-FXUS01-PMDSPD"
    assert (first.product, first.office, first.correction) == ("PMDSPD", "KWBC", "")
    assert first.bulletin == "010801"
    assert first.url.startswith(f"{server.url}/cgi-bin/afos/retrieve.py?pil=PMDSPD&fmt=text")
    assert first.text.strip() == bulletin(expected[0]).strip()
    assert first.parsed().valid == (at("2024-01-01T12:00"), at("2024-01-03T12:00"))
    agent = server.headers[0]["User-Agent"]
    assert agent.startswith("zephyrus/") and "report archive" in agent
    # As it came, byte for byte.
    raw = (tmp_path / "raw/iem/PMDSPD/20240101T0000Z-20240201T0000Z.txt").read_bytes()
    assert raw == "".join(f"\x01\n{x.text}\n\x03\n" for x in month_of_bulletins()).encode()


def test_nothing_is_asked_twice(server, tmp_path):
    run(server, tmp_path)
    before = files(tmp_path)
    done = run(server, tmp_path)
    assert len(server.requests) == 1 and done.requested == 0 and done.cached == 1
    assert files(tmp_path) == before
    # A wider range asks for what is missing alone.
    run(server, tmp_path, "2023-12-15", "2024-02-10")
    assert server.spans()[1:] == [
        ("PMDSPD", "2023-12-15T00:00Z", "2024-01-01T00:00Z"),
        ("PMDSPD", "2024-02-01T00:00Z", "2024-02-10T00:00Z"),
    ]


def test_todays_span_is_asked_again(tmp_path):
    now = at("2024-01-20T09:00")
    with ReportServer(month_of_bulletins()).running() as server:
        held, server.held = server.held, [x for x in server.held if x.entered <= now]
        run(server, tmp_path, end=None, now=now)
        assert server.spans() == [
            ("PMDSPD", "2024-01-01T00:00Z", "2024-01-19T00:00Z"),
            ("PMDSPD", "2024-01-19T00:00Z", "2024-01-20T09:00Z"),
        ]
        assert max(issued(tmp_path)) == at("2024-01-20T08:01")
        server.held = held
        later = at("2024-01-22T23:00")
        run(server, tmp_path, end=None, now=later)
        assert server.spans()[2:] == [
            ("PMDSPD", "2024-01-19T00:00Z", "2024-01-21T00:00Z"),
            ("PMDSPD", "2024-01-21T00:00Z", "2024-01-22T23:00Z"),
        ]
        assert issued(tmp_path) == [x.entered for x in held if x.entered <= later]
        names = sorted(path.name for path in (tmp_path / "raw/iem/PMDSPD").iterdir())
        assert names == [
            "20240101T0000Z-20240119T0000Z.txt",
            "20240119T0000Z-20240121T0000Z.txt",
            "20240121T0000Z-open.txt",
        ]


def test_a_reached_limit_is_never_silent(server, tmp_path):
    done = run(server, tmp_path, limit=10)
    assert len(issued(tmp_path)) == 62
    leaves = Manifest(tmp_path).entries()
    assert done.requested == len(leaves) and all(e.products < 10 for e in leaves)
    assert missing(Span(at("2024-01-01"), at("2024-02-01")), (e.span for e in leaves)) == []
    asked = len(server.requests)
    run(server, tmp_path, limit=10)
    assert len(server.requests) == asked


def test_more_products_in_a_minute_than_an_answer_holds(tmp_path):
    moment = at("2024-01-05T00:00")
    held = [Held(moment, "PMDSPD", bulletin(moment, word=f"rain{n}")) for n in range(5)]
    with (
        ReportServer(held).running() as server,
        pytest.raises(ArchiveError, match="5 products in the minute of 2024-01-05 00:00"),
    ):
        run(server, tmp_path, "2024-01-05", "2024-01-06", limit=5)


@pytest.mark.parametrize(
    "fault",
    [
        Fault("status", 500),
        Fault("status", 503),
        Fault("status", 429),
        Fault("drop"),
        Fault("cut"),
        Fault("chunk"),
        Fault("half"),
        Fault("html"),
        Fault("loop"),
        Fault("raw", text=""),
        Fault("raw", text="ERROR: database is down"),
        Fault("slow", 500, delay=1.0),
    ],
    ids=lambda fault: f"{fault.kind}-{fault.status}-{fault.text[:5]}",
)
def test_a_fault_is_tried_again(server, tmp_path, fault):
    run(server, tmp_path / "smooth")
    server.requests.clear()
    if fault.kind == "loop":
        server.faults = [fault] * 6  # the redirects of one try
    else:
        server.faults = [fault, fault]
    run(server, tmp_path / "rough", timeout=0.5 if fault.kind == "slow" else 5.0)
    assert not server.faults
    assert files(tmp_path / "smooth") == files(tmp_path / "rough")


@pytest.mark.parametrize(
    ("fault", "said"),
    [
        (Fault("html"), "a web page instead of text"),
        (Fault("raw", text=" \n"), "an empty answer"),
        (Fault("half"), "an answer that ends in the middle of a product"),
        (Fault("raw", text="ERROR: \x1b[2Jno disk"), r"ERROR: \[2Jno disk"),
        (Fault("status", 502), "it answers 502"),
        (Fault("cut"), "payload"),
    ],
    ids=lambda value: value.kind if isinstance(value, Fault) else "",
)
def test_a_fault_that_stays_is_named(server, tmp_path, fault, said):
    server.faults = [fault, fault]
    with pytest.raises(FetchFailed, match=rf"can't be fetched: .*{said}.* \(2 tries in a row\)"):
        run(server, tmp_path, tries=2)
    assert not (tmp_path / "raw").exists()


def test_a_redirect_is_followed(server, tmp_path):
    server.faults = [Fault("moved")]
    run(server, tmp_path)
    assert [path for path, _ in server.requests] == ["/cgi-bin/afos/retrieve.py", "/moved"]
    assert len(issued(tmp_path)) == 62


def test_a_dead_server_loses_nothing(server, tmp_path):
    run(server, tmp_path / "smooth", "2024-01-01", "2024-03-01")
    folder = tmp_path / "rough"
    server.requests.clear()
    run(server, folder, "2024-01-01", "2024-02-01")
    server.faults = [Fault("status", 500)] * 3
    with pytest.raises(FetchFailed, match=r"it answers 500 \(3 tries"):
        run(server, folder, "2024-01-01", "2024-03-01", tries=3)
    assert len(issued(folder)) == 62
    run(server, folder, "2024-01-01", "2024-03-01")
    assert files(folder) == files(tmp_path / "smooth")
    january = ("PMDSPD", "2024-01-01T00:00Z", "2024-02-01T00:00Z")
    assert server.spans().count(january) == 1


def test_a_refusal_is_told_at_once(server, tmp_path):
    server.faults = [Fault("status", 422, text="pil: \x1b[31mInvalid PIL length")]
    with pytest.raises(ArchiveError, match=r"answers 422 to .*: pil: \[31mInvalid PIL length"):
        run(server, tmp_path)
    assert len(server.requests) == 1


def test_requests_keep_their_distance(server, tmp_path):
    server.faults = [Fault("status", 500)]
    run(server, tmp_path, "2023-11-01", "2024-02-01", interval=0.3)
    gaps = [b - a for a, b in pairwise(server.times)]
    assert len(gaps) == 3 and min(gaps) >= 0.3


def test_the_default_is_one_request_a_second():
    assert polite().interval >= 1.0


def test_an_unknown_product(server, tmp_path):
    with pytest.raises(ArchiveError, match="the archive has no PMDXYZ from 2024-01-01"):
        run(server, tmp_path, product="PMDXYZ")


def test_an_empty_month_is_no_error_beside_a_full_one(server, tmp_path):
    run(server, tmp_path, "2024-01-01", "2024-03-01")
    assert len(issued(tmp_path)) == 62
    assert [e.products for e in Manifest(tmp_path).entries()] == [62, 0]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("PMDSPD", "yesterday", "2024-02-01"), "--from 'yesterday' is no date"),
        (("PMDSPD", "2024-01-01", "2024-13-01"), "--to '2024-13-01' is no date"),
        (("PMDSPD", "2024-02-01", "2024-01-01"), "the range is empty"),
        (("PMDSPD", "2024-01-01", "2024-01-01"), "the range is empty"),
        (("PMDSPD", "2025-01-01", "2025-02-01"), "lies in the future"),
        (("PM", "2024-01-01", "2024-02-01"), "'PM' is no product"),
        (("PMD/../SPD", "2024-01-01", "2024-02-01"), "is no product"),
        (("", "2024-01-01", "2024-02-01"), "'' is no product"),
    ],
)
def test_what_a_user_gets_wrong(arguments, said):
    with pytest.raises(ArchiveError) as error:
        Query.of(*arguments, now=NOW)
    assert said in str(error.value)


@pytest.mark.parametrize(
    "url", ["example.org", "ftp://x", "http://", "http://x:99999", "http://[::1"]
)
def test_an_address_that_is_none(url):
    with pytest.raises(ArchiveError, match="is no address"):
        Query.of("PMDSPD", *JANUARY, base_url=url, now=NOW)


def test_a_range_is_kept_within_reason():
    with pytest.raises(ArchiveError, match="goes back before 1980"):
        Query.of("PMDSPD", "0001-01-01", now=NOW)
    with pytest.raises(ArchiveError, match="no date of the calendar"):
        Query.of("PMDSPD", "0001-01-01T00:00+14:00", now=NOW)
    assert Query.of("PMDSPD", "2024-01-01", "9999-12-31", now=NOW).span.end == NOW


def test_offices():
    query = Query.of("afd", *JANUARY, offices=["klox", "OKX", "LOX"], now=NOW)
    assert query.pils == ("AFDLOX", "AFDOKX")
    with pytest.raises(ArchiveError, match="PMDSPD names one office's product already"):
        Query.of("PMDSPD", *JANUARY, offices=["LOX"], now=NOW)
    with pytest.raises(ArchiveError, match="'L' is no office"):
        Query.of("AFD", *JANUARY, offices=["L"], now=NOW)


def test_times_with_an_offset():
    query = Query.of("PMDSPD", "2024-01-01T00:00-05:00", "2024-01-02", now=NOW)
    assert query.span == Span(at("2024-01-01T05:00"), at("2024-01-02"))


def test_a_prefix_is_asked_by_days(tmp_path):
    moment = at("2024-01-02T00:00")  # on the edge of two requests: comes twice, kept once
    held = [Held(moment, "AFDLOX", bulletin(moment, "AFDLOX", heading="FXUS66", office="KLOX"))]
    with ReportServer(held).running() as server:
        done = run(server, tmp_path, "2024-01-01", "2024-01-03", "AFD")
        assert [s[1:] for s in server.spans()] == [
            ("2024-01-01T00:00Z", "2024-01-02T00:00Z"),
            ("2024-01-02T00:00Z", "2024-01-03T00:00Z"),
        ]
        assert (done.index.reports, done.index.duplicates) == (1, 1)
        assert [r.office for r in ReportArchive(tmp_path)] == ["KLOX"]


def test_a_stub_is_refused_with_a_reason(tmp_path):
    moment = at("2024-01-05T08:00")
    held = [*month_of_bulletins(days=3), Held(moment, "PMDSPD", "This is short text.")]
    with ReportServer(held).running() as server:
        done = run(server, tmp_path)
    assert done.index.reports == 6 and done.index.refused.total() == 1
    line = json.loads((tmp_path / REFUSED).read_text())
    assert line["file"].startswith("raw/iem/PMDSPD/") and line["number"] == 6 and line["reason"]


def test_old_bytes_are_kept(tmp_path):
    moment = at("2024-01-05T08:00")
    text = bulletin(moment).replace("degrees", "degrés")
    with ReportServer([Held(moment, "PMDSPD", text)]).running() as server:
        run(server, tmp_path)
    raw = next((tmp_path / "raw").rglob("*.txt"))
    raw.write_bytes(raw.read_bytes().decode().encode("latin-1"))
    assert "degrés" in iem.split(raw.read_bytes())[0]


def test_a_manifest_from_elsewhere_leads_nowhere(server, tmp_path):
    folder = tmp_path / "archive"
    run(server, folder)
    victim = tmp_path / "victim.txt"
    victim.write_text("mine")
    entry = json.loads((folder / NAME).read_text())
    evil = {**entry, "file": "raw/../../victim.txt", "open": True}
    with (folder / NAME).open("a") as file:
        file.write(json.dumps(evil) + "\n" + json.dumps(entry)[:50])  # and half a line
    assert len(Manifest(folder).entries()) == 1
    run(server, folder, "2024-01-01", "2024-02-02")  # appends behind the half line
    assert victim.read_text() == "mine"
    assert len(Manifest(folder).entries()) == 2


def test_the_index_is_made_anew_when_it_must_be(server, tmp_path):
    stub = Held(at("2024-01-20T10:00"), "PMDSPD", "This is short text.")
    server.held = [*server.held, stub]
    first = run(server, tmp_path)
    assert first.index.refused.total() == 1
    before = files(tmp_path)
    made = (tmp_path / REPORTS).stat().st_ino
    done = run(server, tmp_path)
    assert (tmp_path / REPORTS).stat().st_ino == made and done.index == first.index
    (tmp_path / REPORTS).unlink()
    run(server, tmp_path)
    assert files(tmp_path) == before
    (tmp_path / INDEX).write_text("[]")
    (tmp_path / REPORTS).write_text("")
    run(server, tmp_path)
    assert files(tmp_path) == before and len(server.requests) == 1


def test_a_lost_file_is_fetched_again(server, tmp_path):
    run(server, tmp_path)
    before = files(tmp_path)
    next((tmp_path / "raw").rglob("*.txt")).unlink()
    run(server, tmp_path)
    assert len(server.requests) == 2 and files(tmp_path) == before
