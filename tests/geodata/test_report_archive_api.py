"""Fetching from a server that answers as api.weather.gov does."""

import sys
from pathlib import Path

import pytest

from zephyrus_geodata.reports.manifest import ArchiveError
from zephyrus_geodata.web.errors import FetchFailed

sys.path.insert(0, str(Path(__file__).parent))  # for the server beside the tests

from report_server import Fault, ReportServer, at, issued, month_of_bulletins, run


@pytest.fixture
def server():
    with ReportServer(month_of_bulletins()).running() as running:
        yield running


def test_api(tmp_path):
    held = month_of_bulletins(days=7)
    with ReportServer(held).running() as server:
        other = Fault("raw", text='{"id": "other", "productText": "x"}')
        # Twice for the list, then for the first product.
        server.faults = [Fault("html"), Fault("status", 503), Fault("ok"), other, Fault("html")]
        now = at("2024-01-07T23:00")
        done = run(server, tmp_path, "2024-01-03", None, source="nws", now=now)
        assert issued(tmp_path) == [x.entered for x in held if x.entered >= at("2024-01-03")]
        assert server.requests[0][0] == "/products/types/PMD/locations/SPD"
        assert (done.requested, done.notes) == (10, [])
        server.requests.clear()
        again = run(server, tmp_path, "2023-12-01", None, source="nws", now=now)
        asked = [path for path, _ in server.requests]
        assert len(asked) == 5 and again.requested == 4 and again.cached == 10
        assert len(again.notes) == 1 and "since 2024-01-01 08:01 UTC" in again.notes[0]
        assert len(issued(tmp_path)) == 14


def test_api_and_iem_agree(tmp_path):
    """A product that both gave is kept once, whatever was wrapped around it."""
    with ReportServer(month_of_bulletins(days=3)).running() as server:
        run(server, tmp_path)
        now = at("2024-01-04T00:00")
        done = run(server, tmp_path, source="nws", now=now, end=None)
    assert done.index.reports == 6 and done.index.duplicates == 6


def test_api_knows_no_such_product(server, tmp_path):
    with pytest.raises(ArchiveError, match="knows no product PMDXYZ"):
        run(server, tmp_path, product="PMDXYZ", source="nws")
    with pytest.raises(ArchiveError, match="lists no PMDSPD from 2024-03-01"):
        run(server, tmp_path, "2024-03-01", "2024-04-01", source="nws")


@pytest.mark.parametrize(
    "graph",
    [
        '[{"id": "../../etc/passwd", "issuanceTime": "2024-01-01T00:00Z", "issuingOffice": "K"}]',
        '"no"',
        "[1]",
    ],
)
def test_a_list_that_is_none(server, tmp_path, graph):
    server.faults = [Fault("raw", text=f'{{"@graph": {graph}}}')] * 2
    with pytest.raises(FetchFailed, match="can't be fetched"):
        run(server, tmp_path, source="nws", tries=2)
    assert not (tmp_path / "raw").exists()


def test_a_product_that_is_gone(tmp_path):
    with ReportServer(month_of_bulletins(days=2)).running() as server:
        server.faults = [Fault("ok"), Fault("status", 404)]
        done = run(server, tmp_path, source="nws", now=at("2024-01-03T00:00"), end=None)
    assert done.requested == 3
    assert done.notes[-1].endswith(" of 2024-01-01 08:01 UTC is gone")
