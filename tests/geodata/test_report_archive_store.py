"""What an archive keeps: corrections, filters, damaged folders, real texts."""

import json
import sys
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from zephyrus_geodata.reports import iem
from zephyrus_geodata.reports.manifest import ArchiveError, alone
from zephyrus_geodata.reports.store import REPORTS, ReportArchive
from zephyrus_geodata.web.answer import Answer, Garbled

sys.path.insert(0, str(Path(__file__).parent))  # for the server beside the tests

from report_server import Held, ReportServer, at, bulletin, month_of_bulletins, run


@pytest.fixture
def server():
    with ReportServer(month_of_bulletins()).running() as running:
        yield running


def test_the_policy_for_corrections(tmp_path):
    first, second = at("2024-01-05T08:01"), at("2024-01-05T20:01")
    held = [
        Held(first, "PMDSPD", bulletin(first, word="rain")),
        Held(first + timedelta(minutes=20), "PMDSPD", bulletin(first, bbb="CCA", word="snow")),
        Held(first + timedelta(minutes=50), "PMDSPD", bulletin(first, bbb="CCB", word="sleet")),
        Held(second, "PMDSPD", bulletin(second)),
    ]
    with ReportServer(held).running() as server:
        run(server, tmp_path)
    archive = ReportArchive(tmp_path)
    assert [r.correction for r in archive] == ["", "CCA", "CCB", ""]
    assert [r.correction for r in archive.corrections("latest")] == ["CCB", ""]
    assert [r.correction for r in archive.corrections("first")] == ["", ""]
    assert len(archive.corrections("all")) == 4
    assert "snow" in archive.filter(keep=lambda r: r.correction == "CCA")._reports[0].text


def test_filters(tmp_path, server):
    run(server, tmp_path)
    archive = ReportArchive(tmp_path / REPORTS)
    assert len(archive.filter(product="pmd")) == 62 and not len(archive.filter(product="AFD"))
    assert len(archive.filter(office="WBC")) == 62 and not len(archive.filter(office="KLOX"))
    week = archive.filter(start=at("2024-01-08T08:01"), end=at("2024-01-09T08:01"))
    assert [r.issued for r in week] == [at("2024-01-08T08:01"), at("2024-01-08T20:01")]
    assert archive.counts() == {("PMDSPD", "KWBC"): 62}
    assert len(ReportArchive(list(archive)[:3])) == 3


def test_no_archive(tmp_path):
    with pytest.raises(ArchiveError, match="zephyrus data reports fetch"):
        ReportArchive(tmp_path)
    (tmp_path / REPORTS).write_text("{}\n")
    with pytest.raises(ArchiveError, match="line 1: not a report"):
        ReportArchive(tmp_path)


# --- real texts -------------------------------------------------------------------------------

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "nws"
real = pytest.mark.skipif(not SAMPLES.is_dir(), reason="the real texts are not there")


def real_discussions() -> list[Held]:
    """Area forecast discussions of August 2024 as api.weather.gov gave them."""
    held = {}
    for path in sorted(SAMPLES.glob("weather_gov_api__testing_products_*.json")):
        value = json.loads(path.read_text())
        pil = "AFD" + value["issuingOffice"][1:]
        moment = datetime.fromisoformat(value["issuanceTime"])
        held[value["id"]] = Held(moment, pil, value["productText"], value["issuingOffice"])
    return list(held.values())


@real
@pytest.mark.parametrize("source", ["iem", "nws"])
def test_real_discussions(tmp_path, source):
    held = real_discussions()
    assert len(held) >= 12
    days = {"start": "2024-07-01", "end": "2024-10-01", "product": "AFD"}
    with ReportServer(held).running() as server:
        now = at("2024-10-10T00:00")
        done = run(server, tmp_path, source=source, now=now, **days)
        offices = tuple(sorted({item.office for item in held}))
        run(server, tmp_path / "offices", source=source, now=now, offices=offices, **days)
    assert done.index.refused.total() == 0 and done.index.reports == len(held)
    expected = sorted((item.office, item.pil) for item in held)
    for folder in (tmp_path, tmp_path / "offices"):
        archive = ReportArchive(folder)
        assert sorted((r.office, r.product) for r in archive) == expected
        for report, item in zip(archive, sorted(held, key=lambda x: x.entered), strict=True):
            # The text's own time is that of writing: the heading's follows within minutes.
            assert abs(report.issued - item.entered) < timedelta(minutes=30)


@real
def test_a_real_answer_of_the_archive():
    yaml = pytest.importorskip("yaml")
    cassette = yaml.safe_load((SAMPLES / "accessiweather__afos_swody1.yaml").read_text())
    body = cassette["interactions"][0]["response"]["body"]["string"].encode()
    answer = Answer("https://x", "text/plain", body)
    assert iem.checked(answer) is answer
    (text,) = iem.split(body)
    assert text.startswith("175 \nACUS01 KWNS 080036\nSWODY1\n") and text.endswith("$$\n")
    with pytest.raises(Garbled):
        iem.checked(Answer("https://x", "text/plain", body.rstrip()[:-1]))


def test_two_at_once(server, tmp_path):
    run(server, tmp_path)
    with alone(tmp_path), pytest.raises(ArchiveError, match="another process fetches into"):
        run(server, tmp_path)
    run(server, tmp_path)
