import json
import sys
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))  # for the server and sources beside the tests

pytest.importorskip("eccodes")

import fetch_sources
from fetch_server import FetchServer, serving

from zephyrus_geodata import Dataset
from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.fetching.catalogue import source
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.fetching.fetch import Fetch
from zephyrus_geodata.fetching.grib_files import GribFiles
from zephyrus_geodata.fetching.grib_index import choose, parse_index
from zephyrus_geodata.fetching.request import make_request
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.web.errors import FetchFailed
from zephyrus_geodata.web.http import Http

GFS_NOW = datetime(2024, 1, 1, 14, 30, tzinfo=UTC)
ECMWF_NOW = datetime(2026, 6, 1, 14, 30, tzinfo=UTC)


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FetchServer]:
    (tmp_path / "www").mkdir()
    with serving(tmp_path / "www") as it:
        yield it


def prepared(server: FetchServer, name: str, now: datetime = GFS_NOW, **wanted: Any) -> Fetch:
    request = make_request(source(name), base_url=server.url, **wanted)
    cache = server.root.parent / "cache"
    return Fetch(request, cache=cache, http=lambda: Http(pause=0.01), now=now)


def finished(this: Fetch, server: FetchServer) -> Forecast:
    this.plan()
    this.download()
    this.store("it", root=server.root.parent / "data")
    dataset = Dataset.from_folder(server.root.parent / "data" / "it")
    return dataset.forecast(dataset.forecasts[0])


def error(forecast: Forecast, variable: str = "2m_temperature", offset: float = 0.0) -> float:
    grid = forecast.grid
    want = fetch_sources.temperature(
        np.array([forecast.init_time]), forecast.lead_hours, grid.latitude, grid.longitude
    )[0]
    cells = forecast.cells(variable).reshape(*grid.shape, -1)
    return float(np.abs(np.moveaxis(cells, -1, 0) - offset - want).max())


def test_gfs_by_byte_ranges(server: FetchServer) -> None:
    fetch_sources.gfs_run(server.root, "2024-01-01T00", (0, 6, 12))
    names = ("2m_temperature", "10m_wind_speed", "temperature_850", "total_precipitation_6hr")
    this = prepared(server, "gfs", init="2024-01-01T00", lead="0..12/6", variables=names)
    forecast = finished(this, server)
    assert forecast.lead_hours.tolist() == [0, 6, 12]
    assert error(forecast) < 1e-3
    assert error(forecast, "temperature_850", offset=-3.0) < 1e-3
    # 1 mm fell in each 6 h, whatever bucket the files have beside it.
    rain = forecast.cells("total_precipitation_6hr")
    assert rain[:, 1:] == pytest.approx(1e-3, rel=1e-4)
    # Only the messages asked for came: not the whole files, not the bucket, not TMP:surface.
    plan = this.plan()
    sent = sum(n for path, n in server.sent.items() if not path.endswith(".idx"))
    files = [p for p in server.root.rglob("gfs.t*") if p.suffix != ".idx"]
    assert sent == plan.size == sum(p.size or 0 for p in plan.pieces)
    assert sent < sum(p.stat().st_size for p in files)
    assert plan.arrays == (
        "TMP:2 m above ground", "UGRD:10 m above ground", "VGRD:10 m above ground", "TMP:850 mb",
        "APCP:surface",
    )  # fmt: skip
    assert plan.where == f"{server.url}/gfs.20240101/00/atmos"


def test_hourly_gfs_precipitation_does_not_cross_a_reset(server: FetchServer) -> None:
    fetch_sources.gfs_run(server.root, "2024-01-01T00", range(10))
    names = ("total_precipitation",)
    forecast = finished(
        prepared(server, "gfs", lead="1..9", variables=names, init="2024-01-01T00"), server
    )
    [rain] = [n for n in forecast.variables if n.startswith("total_precipitation")]
    assert forecast.cells(rain)[:, 1:] == pytest.approx(1e-3 / 6, rel=1e-3)


def test_a_bucket_before_version_16(server: FetchServer) -> None:
    files = GribFiles(make_request(source("gfs"), resolution="0.5"), Path())
    old, new = datetime(2021, 3, 22, 18, tzinfo=UTC), datetime(2021, 3, 23, tzinfo=UTC)
    base = "https://noaa-gfs-bdp-pds.s3.amazonaws.com"
    assert files.url(old, 6) == f"{base}/gfs.20210322/18/gfs.t18z.pgrb2.0p50.f006"
    assert files.index_url(new, 120) == f"{base}/gfs.20210323/00/atmos/gfs.t00z.pgrb2.0p50.f120.idx"


def test_ecmwf_addresses_through_cycle_50r1() -> None:
    files = GribFiles(make_request(source("ecmwf-open"), base_url="aws"), Path())
    base = "https://ecmwf-forecasts.s3.eu-central-1.amazonaws.com"
    before, after = datetime(2026, 5, 11, 18, tzinfo=UTC), datetime(2026, 5, 12, 18, tzinfo=UTC)
    assert (
        files.url(before, 3) == f"{base}/20260511/18z/ifs/0p25/scda/20260511180000-3h-scda-fc.grib2"
    )
    assert (
        files.index_url(after, 3)
        == f"{base}/20260512/18z/ifs/0p25/oper/20260512180000-3h-oper-fc.index"
    )


def test_ecmwf_by_index(server: FetchServer) -> None:
    fetch_sources.ecmwf_run(server.root, "2026-06-01T00", (0, 6, 12))
    this = prepared(server, "ecmwf-open", ECMWF_NOW, lead="0..12/6", bbox="-20,30,40,70")
    forecast = finished(this, server)
    assert forecast.init_time == np.datetime64("2026-06-01T00")
    assert error(forecast) < 1e-3
    assert forecast.cells("total_precipitation_6hr")[:, 1:] == pytest.approx(1e-3, rel=1e-4)
    assert forecast.grid.latitude.tolist() == [30, 40, 50, 60, 70]
    pressure, height = (forecast.cells(n) for n in ("mean_sea_level_pressure", "geopotential_500"))
    assert height == pytest.approx(9.80665 * (5500 + (pressure - 101_000)), rel=1e-5)
    assert "a GRIB message is the whole grid" in this.plan().notes[-1]


def test_ecmwf_ensemble_with_its_control(server: FetchServer) -> None:
    fetch_sources.ecmwf_run(server.root, "2026-05-01T00", (0, 6), "enfo", members=4)
    wanted: dict[str, Any] = {"lead": "0,6", "variables": ("2m_temperature",)}
    now = datetime(2026, 5, 1, 12, tzinfo=UTC)
    this = prepared(server, "ecmwf-open:ens", now, members=("control", "2"), **wanted)
    forecast = finished(this, server)
    assert forecast.members == ("control", "2")
    assert forecast.cells("2m_temperature", member="2") == pytest.approx(
        forecast.cells("2m_temperature", member="control") + 2.0, abs=1e-3
    )
    assert server.bytes("6h-enfo-ef.grib2") == this.plan().pieces[1].size
    with pytest.raises(FetchError, match=r"--members 7: .* has 1, 2, 3, control"):
        prepared(server, "ecmwf-open:ens", now, members=("7",), **wanted).plan()


def test_several_runs_make_several_forecasts(server: FetchServer) -> None:
    for run in ("2024-01-01T00", "2024-01-01T06", "2024-01-01T12"):
        fetch_sources.gfs_run(server.root, run, (0, 6))
    wanted: dict[str, Any] = {"lead": "0,6", "variables": ("2m_temperature",)}
    this = prepared(server, "gfs", start="2024-01-01T06", end="2024-01-01T12", **wanted)
    finished(this, server)
    dataset = Dataset.from_folder(server.root.parent / "data" / "it")
    assert dataset.forecasts == ("2024-01-01T06", "2024-01-01T12")
    assert max(error(dataset.forecast(name)) for name in dataset.forecasts) < 1e-3
    with pytest.raises(FetchError, match="gfs has no members"):
        prepared(server, "gfs", members=("1",), **wanted).plan()


def test_without_eccodes_a_sentence(server: FetchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "eccodes", None)
    with pytest.raises(UnsuitableData, match=r"install zephyrus\[data\]"):
        prepared(server, "gfs").plan()
    assert server.asked.total() == 0


class TestRunsThatAreNotThere:
    def test_the_latest_that_is_there_is_suggested(self, server: FetchServer) -> None:
        fetch_sources.gfs_run(server.root, "2024-01-01T00", (0, 6))
        fetch_sources.gfs_run(server.root, "2024-01-01T06", (0, 6))
        fetch_sources.gfs_run(server.root, "2024-01-01T12", (0,))  # still being published
        with pytest.raises(
            FetchFailed,
            match=r"gfs has no 2024-01-01T12 run with 6 h \(404 at .*f006\.idx\): the latest that "
            r"is there is --init 2024-01-01T06",
        ):
            prepared(server, "gfs", init="2024-01-01T12", lead="0,6").plan()

    def test_latest_is_the_last_with_all_lead_times(self, server: FetchServer) -> None:
        fetch_sources.gfs_run(server.root, "2024-01-01T06", (0, 6))
        fetch_sources.gfs_run(server.root, "2024-01-01T12", (0,))
        names = ("2m_temperature",)
        plan = prepared(server, "gfs", lead="0,6", variables=names).plan()
        assert plan.times == "1 initial time, 2024-01-01T06"
        plan = prepared(server, "gfs", lead="0", variables=names, init="latest").plan()
        assert plan.times == "1 initial time, 2024-01-01T12"

    def test_nothing_at_all(self, server: FetchServer) -> None:
        with pytest.raises(FetchFailed, match="no run of the last 5 days has lead times 0"):
            prepared(server, "gfs", lead="0").plan()
        with pytest.raises(FetchFailed, match="and none of the last days either"):
            prepared(server, "gfs", lead="0", init="2023-06-01T00").plan()

    def test_a_bucket_that_answers_403(self, server: FetchServer) -> None:
        server.refused = {"gfs.2024"}
        with pytest.raises(FetchFailed, match=r"\(403 at "):
            prepared(server, "gfs", lead="0", init="2024-01-01T00").plan()

    @pytest.mark.parametrize(
        ("wanted", "message"),
        [
            ({"init": "2024-01-02"}, "--init 2024-01-02 takes nothing"),
            ({"init": "2020-06-01"}, "--init 2020-06-01 takes nothing"),
            ({"init": "2024-01-01T00", "lead": "121"}, "--lead 121 takes nothing"),
            ({"init": "2024-01-01T00", "variables": ("sea_ice_cover",)}, "hasn't got sea_ice"),
        ],
    )
    def test_what_no_run_has(
        self, server: FetchServer, wanted: dict[str, Any], message: str
    ) -> None:
        fetch_sources.gfs_run(server.root, "2024-01-01T00", (0, 6))
        with pytest.raises(FetchError, match=message):
            prepared(server, "gfs", **{"lead": "0,6", **wanted}).plan()


class TestFaults:
    NAMES = ("2m_temperature", "temperature_850")

    def prepared(self, server: FetchServer) -> Fetch:
        wanted: dict[str, Any] = {"lead": "0..12/6", "variables": self.NAMES}
        return prepared(server, "gfs", init="2024-01-01T00", **wanted)

    def test_an_interrupted_fetch_goes_on_and_takes_nothing_twice(
        self, server: FetchServer
    ) -> None:
        fetch_sources.gfs_run(server.root, "2024-01-01T00", (0, 6, 12))
        last = "gfs.20240101/00/atmos/gfs.t00z.pgrb2.0p25.f012"
        server.cuts[last] = [700] + [0] * 20
        this = self.prepared(server)
        this.plan()
        with pytest.raises(FetchFailed, match="the same command goes on"):
            this.download()
        server.cuts.clear()
        this = self.prepared(server)
        plan = this.plan()
        this.download()
        for piece in plan.pieces:
            assert server.sent[piece.url.removeprefix(f"{server.url}/")] == piece.size
        this.store("it", root=server.root.parent / "data")
        forecast = Dataset.from_folder(server.root.parent / "data" / "it").forecast("2024-01-01")
        assert error(forecast) < 1e-3

    def test_connections_that_break(self, server: FetchServer) -> None:
        fetch_sources.gfs_run(server.root, "2024-01-01T00", (0, 6, 12))
        for path in server.root.rglob("gfs.t*"):
            server.cuts[path.relative_to(server.root).as_posix()] = [100, 900, 0, 5]
        forecast = finished(self.prepared(server), server)
        assert error(forecast) < 1e-3

    def test_a_file_that_is_truncated(self, server: FetchServer) -> None:
        fetch_sources.gfs_run(server.root, "2024-01-01T00", (0, 6, 12))
        path = server.root / "gfs.20240101/00/atmos/gfs.t00z.pgrb2.0p25.f012"
        whole = path.read_bytes()
        path.write_bytes(whole[:3000])
        this = self.prepared(server)
        this.plan()
        with pytest.raises(FetchFailed, match="shorter than expected"):
            this.download()
        path.write_bytes(whole)
        assert error(finished(self.prepared(server), server)) < 1e-3

    def test_an_index_of_another_file(self, server: FetchServer) -> None:
        fetch_sources.gfs_run(server.root, "2024-01-01T00", (0, 6, 12))
        path = server.root / "gfs.20240101/00/atmos/gfs.t00z.pgrb2.0p25.f012"
        path.write_bytes(b"x" + path.read_bytes())
        this = self.prepared(server)
        this.plan()
        with pytest.raises(FetchFailed, match="doesn't have its messages where its index says"):
            this.download()
        assert not list((server.root.parent / "cache").rglob("*f012*"))

    def test_an_index_that_is_none(self, server: FetchServer) -> None:
        fetch_sources.gfs_run(server.root, "2024-01-01T00", (0, 6, 12))
        path = server.root / "gfs.20240101/00/atmos/gfs.t00z.pgrb2.0p25.f012.idx"
        for text, message in (
            ("<html>hello</html>", "is no index of a GRIB file"),
            ("", "is empty"),
        ):
            path.write_text(text)
            with pytest.raises(FetchFailed, match=message):
                self.prepared(server).plan()

    def test_a_variable_that_some_lead_times_lack(self, server: FetchServer) -> None:
        fetch_sources.gfs_run(server.root, "2024-01-01T00", (0, 6, 12))
        path = server.root / "gfs.20240101/00/atmos/gfs.t00z.pgrb2.0p25.f012.idx"
        path.write_text(path.read_text().replace("TMP:850 mb", "TMP:851 mb"))
        with pytest.raises(FetchFailed, match="has no temperature_850 at 12 h of 2024-01-01T00"):
            self.prepared(server).plan()


def test_wgrib2_index_with_submessages() -> None:
    text = (
        "1:0:d=2024010100:PRMSL:mean sea level:6 hour fcst:\n"
        "2.1:100:d=2024010100:UGRD:10 m above ground:6 hour fcst:\n"
        "2.2:100:d=2024010100:VGRD:10 m above ground:6 hour fcst:\n"
        "3:250:d=2024010100:TCDC:entire atmosphere:0-6 hour ave fcst:\n"
        "4:300:d=2024010100:TCDC:entire atmosphere:6 hour fcst:\n"
        "5:350:d=2024010100:APCP:surface:18-24 hour acc fcst:\n"
        "6:400:d=2024010100:APCP:surface:0-1 day acc fcst:\n"
    )
    messages = parse_index("wgrib2", text.encode(), "here")
    assert [(m.start, m.stop) for m in messages] == [
        (0, 100), (100, 250), (100, 250), (250, 300), (300, 350), (350, 400), (400, None),
    ]  # fmt: skip
    names = ("10m_wind_speed", "total_cloud_cover", "total_precipitation_6hr", "snow_depth")
    choice = choose(source("gfs"), messages, names)
    assert [m.start for m in choice.messages] == [100, 300, 400]
    assert choice.missing == ("snow_depth",)


def test_ecmwf_index_tells_levels_from_the_surface() -> None:
    common = {"domain": "g", "type": "fc", "stream": "oper", "step": "6"}
    rows: list[dict[str, Any]] = [
        {"levtype": "pl", "levelist": "850", "param": "t", "_offset": 0, "_length": 10},
        {"levtype": "pl", "levelist": "500", "param": "t", "_offset": 10, "_length": 10},
        {"levtype": "pl", "levelist": "500", "param": "gh", "_offset": 20, "_length": 10},
        {"levtype": "sfc", "param": "2t", "_offset": 30, "_length": 10},
        {"levtype": "sol", "levelist": "1", "param": "sot", "_offset": 40, "_length": 10},
    ]
    text = "\n".join(json.dumps({**common, **row}) for row in rows)
    messages = parse_index("ecmwf", text.encode(), "here")
    choice = choose(source("ecmwf-open"), messages, ("temperature_500", "geopotential_500"))
    assert [(m.start, m.stop) for m in choice.messages] == [(10, 20), (20, 30)]
    assert choose(source("ecmwf-open"), messages, ("2m_temperature",)).messages[0].start == 30


@given(st.binary(max_size=300), st.sampled_from(["wgrib2", "ecmwf"]))
def test_any_bytes_are_an_index_or_refused(data: bytes, kind: str) -> None:
    try:
        messages = parse_index(kind, data, "here")
    except FetchFailed as error:
        assert str(error).startswith("here is ")
    else:
        assert messages
