import json
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import xarray as xr
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

sys.path.insert(0, str(Path(__file__).parent))  # for the server and sources beside the tests

pytest.importorskip("zarr")

import fetch_sources
from fetch_server import FetchServer, serving

from zephyrus_geodata import Dataset
from zephyrus_geodata.errors import StoreError, UnsuitableData
from zephyrus_geodata.fetching.catalogue import source
from zephyrus_geodata.fetching.errors import FetchError
from zephyrus_geodata.fetching.fetch import Fetch, Fetched, fetch
from zephyrus_geodata.fetching.request import make_request
from zephyrus_geodata.fetching.zarr_layout import read_layout
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.store.opened import open_stored
from zephyrus_geodata.web.errors import FetchFailed
from zephyrus_geodata.web.http import Http

SCHEMA = Path(__file__).parents[3] / "shared/samples/grids/dynamical_noaa_gfs_forecast.zarr.json"


@pytest.fixture
def server(tmp_path: Path) -> Iterator[FetchServer]:
    (tmp_path / "www").mkdir()
    with serving(tmp_path / "www") as it:
        yield it


def weatherbench(server: FetchServer, name: str, resolution: str = "1.5", **more: Any) -> Path:
    return fetch_sources.weatherbench(server.root / source(name).paths[resolution], **more)


def prepared(server: FetchServer, name: str, path: str = "", **wanted: Any) -> Fetch:
    request = make_request(source(name), base_url=server.url + path, **wanted)
    return Fetch(request, cache=server.root.parent / "cache", http=lambda: Http(pause=0.01))


def fetched(server: FetchServer, name: str, path: str = "", **wanted: Any) -> Fetched:
    request = make_request(source(name), base_url=server.url + path, **wanted)
    folder = server.root.parent
    return fetch(request, "it", root=folder / "data", cache=folder / "cache")


def only(server: FetchServer) -> Forecast:
    dataset = Dataset.from_folder(server.root.parent / "data" / "it")
    [name] = dataset.forecasts
    return dataset.forecast(name)


def error(forecast: Forecast, variable: str = "2m_temperature", offset: float = 0.0) -> float:
    """The greatest difference to what was put into the source, in K."""
    grid = forecast.grid
    want = fetch_sources.temperature(
        np.array([forecast.init_time]), forecast.lead_hours, grid.latitude, grid.longitude
    )[0]
    cells = forecast.cells(variable).reshape(*grid.shape, -1)
    return float(np.abs(np.moveaxis(cells, -1, 0) - offset - want).max())


def test_hres_has_ascending_latitudes_and_longitude_first(server: FetchServer) -> None:
    weatherbench(server, "wb2:hres")
    done = fetched(server, "wb2:hres", init="2020-01-01T12", lead="0..12")
    forecast = only(server)
    assert forecast.init_time == np.datetime64("2020-01-01T12")
    assert forecast.lead_hours.tolist() == [0, 6, 12]
    assert error(forecast) < 1e-4
    assert error(forecast, "temperature_850", offset=-13.0) < 1e-4
    assert error(forecast, "temperature_500", offset=-20.0) < 1e-4
    u, v = (forecast.cells(f"10m_{c}_component_of_wind") for c in "uv")
    assert forecast.cells("10m_wind_speed") == pytest.approx(np.hypot(u, v), abs=1e-5)
    assert done.plan.notes == (
        "wb2:hres hasn't got total_cloud_cover, u_component_of_wind_500, u_component_of_wind_850, "
        "v_component_of_wind_500, v_component_of_wind_850",
    )
    assert not list((server.root.parent / "cache").glob("wb2*"))


def test_only_the_chunks_asked_for_are_fetched(server: FetchServer) -> None:
    weatherbench(server, "wb2:hres")
    fetched(server, "wb2:hres", init="2020-01-01T12", lead="6,18", variables=("2m_temperature",))
    assert server.gets("2m_temperature/") == 2
    assert server.gets("2m_temperature/1.1.0.0") == server.gets("2m_temperature/1.3.0.0") == 1
    for other in ("pressure", "precipitation", "temperature/", "land_sea_mask"):
        assert server.gets(other) == (2 if other == "temperature/" else 0)
    assert only(server).lead_hours.tolist() == [6, 18]


def test_graphcast_says_lat_and_lon(server: FetchServer) -> None:
    weatherbench(server, "wb2:graphcast", names=("lat", "lon"), leads=(6, 12, 18))
    fetched(server, "wb2:graphcast", init="2020-01-02", bbox="-60,-50,60,50")
    forecast = only(server)
    assert forecast.lead_hours.tolist() == [6, 12, 18]
    assert np.abs(forecast.grid.latitude).max() < 50
    assert error(forecast) < 1e-4


def test_pangu_starts_at_six_hours_without_precipitation(server: FetchServer) -> None:
    levels = (1000, 925, 850, 700, 600, 500, 50)
    weatherbench(
        server, "wb2:pangu", is_ascending=False, leads=(6, 12), precipitation=False, levels=levels
    )
    fetched(server, "wb2:pangu", init="2020-01-02")
    forecast = only(server)
    assert forecast.lead_hours.tolist() == [6, 12]
    assert "total_precipitation_6hr" not in forecast.variables
    assert {n for n in forecast.variables if n.startswith("temperature")} == {
        "temperature_500",
        "temperature_850",
    }
    assert error(forecast) < 1e-4
    assert error(forecast, "temperature_850", offset=-13.0) < 1e-4


def test_an_ensemble_and_some_of_its_members(server: FetchServer) -> None:
    weatherbench(server, "wb2:ifs_ens", members=4)
    names = ("2m_temperature",)
    fetched(server, "wb2:ifs_ens", init="2020-01-02", members=("2", "4"), variables=names)
    forecast = only(server)
    assert forecast.members == ("2", "4")
    assert forecast.cells("2m_temperature", member="4") == pytest.approx(
        forecast.cells("2m_temperature", member="2") + 2.0, abs=1e-4
    )
    assert error(forecast, offset=2.0) < 1e-3  # the mean of the members with +1 and +3
    with pytest.raises(FetchError, match="there are 1, 2, 3, 4"):
        prepared(server, "wb2:ifs_ens", init="2020-01-02", members=("control",)).plan()


def test_analyses_between_two_times(server: FetchServer) -> None:
    inits = [str(t) for t in np.arange("2020-01-01T00", "2020-01-03T00", 6, "datetime64[h]")]
    weatherbench(server, "wb2:era5", inits=inits, leads=None, is_ascending=False, with_poles=True)
    done = fetched(server, "wb2:era5", start="2020-01-01", end="2020-01-02T06", every=12)
    stored = open_stored(server.root.parent / "data" / "it")
    assert stored is not None
    [series] = stored.series
    assert series.kind == "analyses" == done.added.kind
    assert [str(t)[:13] for t in series.axis("times")] == [inits[0], inits[2], inits[4]]
    want = fetch_sources.temperature(
        series.axis("times"), np.array([0]), series.grid.latitude, series.grid.longitude
    )
    got = series.values("2m_temperature").reshape(3, *series.grid.shape)
    assert got == pytest.approx(want[:, 0], abs=1e-4)


def arco(server: FetchServer, hours: int = 12) -> None:
    lat, lon = np.linspace(90, -90, 7), np.arange(12) * 30.0
    time = np.datetime64("2020-01-01T00", "ns") + np.arange(hours) * np.timedelta64(1, "h")
    t = fetch_sources.temperature(time, np.array([0]), lat, lon)[:, 0].astype("f4")
    rain = np.arange(hours, dtype="f4")[:, None, None] * np.ones_like(t) * 1e-4
    dims = ("time", "latitude", "longitude")
    dataset = xr.Dataset(
        {
            "2m_temperature": (dims, t, {"units": "K"}),
            "total_precipitation": (dims, rain, {"units": "m"}),
            "temperature": (("time", "level", *dims[1:]), t[:, None] - 20, {"units": "K"}),
        },
        coords={"time": time, "latitude": lat, "longitude": lon, "level": [850]},
        attrs={"valid_time_start": "2020-01-01", "valid_time_stop": "2020-01-01"},
    )
    path = server.root / source("arco-era5").paths["0.25"]
    encoding: Any = {n: {"chunks": (1, *v.shape[1:])} for n, v in dataset.data_vars.items()}
    dataset.to_zarr(path, zarr_format=2, consolidated=True, encoding=encoding)


def test_arco_has_hourly_amounts(server: FetchServer) -> None:
    arco(server)
    names = ("2m_temperature", "total_precipitation_1hr", "temperature_850")
    wanted = {"start": "2020-01-01T03", "end": "2020-01-01T06"}
    fetched(server, "arco-era5", variables=names, **wanted)
    stored = open_stored(server.root.parent / "data" / "it")
    assert stored is not None
    [series] = stored.series
    assert set(series.variables) == set(names)
    assert series.values("total_precipitation_1hr")[:, 5] == pytest.approx(
        [3e-4, 4e-4, 5e-4, 6e-4], rel=1e-4
    )
    with pytest.raises(FetchError, match="total_precipitation_1hr is the amount of one step"):
        prepared(server, "arco-era5", every=3, variables=names, start="2020", end="2020").plan()


def test_arco_ends_where_its_data_end(server: FetchServer) -> None:
    arco(server, hours=30)  # the axis goes on beyond valid_time_stop
    names = ("2m_temperature",)
    plan = prepared(server, "arco-era5", init="latest", variables=names).plan()
    assert plan.times == "1 time, 2020-01-01T23"
    with pytest.raises(FetchError, match=r"--from/--to 2020-01-02..2020-01-02 takes nothing"):
        wanted = {"start": "2020-01-02", "end": "2020-01-02"}
        prepared(server, "arco-era5", variables=names, **wanted).plan()


def test_without_zarr_a_sentence(server: FetchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "zarr", None)
    with pytest.raises(UnsuitableData, match=r"install zephyrus\[data\]"):
        prepared(server, "wb2:hres", init="2020").plan()
    assert server.asked.total() == 0


def test_analyses_without_times_are_not_fetched_whole(server: FetchServer) -> None:
    arco(server)
    with pytest.raises(
        FetchError, match=r"has 12 times from 2020-01-01T00:00 to 2020-01-01T11:00: say which"
    ):
        prepared(server, "arco-era5").plan()


def test_dynamical_org_as_plain_zarr_3(server: FetchServer) -> None:
    if not SCHEMA.exists():
        pytest.skip("the real schema is not beside this checkout")
    fetch_sources.dynamical(server.root / "gfs.zarr", json.loads(SCHEMA.read_text()))
    name, path = "dynamical:noaa-gfs-forecast", "/gfs.zarr"
    done = fetched(server, name, path, lead="0..12/6", bbox="-40,-30,50,60")
    forecast = only(server)
    assert forecast.init_time == np.datetime64("2024-01-01T00")  # the later run is partly there
    assert forecast.lead_hours.tolist() == [0, 6, 12]
    assert error(forecast) < 1e-4
    assert forecast.grid.longitude.tolist() == list(range(-40, 60, 10))
    # In hour h fell h + 1 um: 2 + ... + 7, and 8 + ... + 13.
    rain = forecast.cells("total_precipitation")
    assert rain[:, 1] == pytest.approx(27e-6, rel=1e-3)
    assert rain[:, 2] == pytest.approx(63e-6, rel=1e-3)
    assert done.plan.leads == "0 to 12 h (3)"


def test_a_dataset_of_dynamical_org_that_is_not_in_the_catalogue(server: FetchServer) -> None:
    lat, lon, t = curved()
    attrs = {"units": "degree_Celsius", "standard_name": "air_temperature", "step_type": "instant"}
    clock = {"units": "seconds since 1970-01-01"}
    dataset = xr.Dataset(
        {"temperature_2m": (("time", "y", "x"), t - 273.15, attrs)},
        coords={
            "time": ("time", np.arange(3) * 3600, clock),
            "latitude": (("y", "x"), lat, {"units": "degrees_north"}),
            "longitude": (("y", "x"), lon, {"units": "degrees_east"}),
        },
    )
    encoding: Any = {"temperature_2m": {"chunks": (1, 5, 5)}}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        dataset.to_zarr(server.root / "a.zarr", zarr_format=3, consolidated=True, encoding=encoding)
    wanted: dict[str, Any] = {"start": "1970-01-01T01", "end": "1970-01-01T02"}
    fetched(server, "dynamical:some-analysis", "/a.zarr", bbox="-100,36,-95,40", **wanted)
    assert 0 < server.gets("temperature_2m/") < 2 * 3 * 4  # of the chunks of two hours
    stored = open_stored(server.root.parent / "data" / "it")
    assert stored is not None
    [series] = stored.series
    assert series.kind == "analyses"
    inside = (lat >= 36) & (lat <= 40) & (lon >= -100) & (lon <= -95)
    block = t[1:][:, inside.any(axis=1)][:, :, inside.any(axis=0)]
    assert series.values("2m_temperature") == pytest.approx(block.reshape(2, -1), abs=1e-3)


def curved() -> tuple[Any, Any, Any]:
    """Latitudes, longitudes (y, x) of a grid that is none of latitudes, and K (time, y, x)."""
    y, x = np.mgrid[0:15, 0:20]
    lat, lon = 32.0 + y + 0.1 * x, -108.0 + x - 0.2 * y
    return lat, lon, 280.0 + 0.3 * y + 0.01 * x + np.arange(3)[:, None, None]


@settings(max_examples=15, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    west=st.integers(-360, 360),
    width=st.integers(25, 359),
    south=st.integers(-90, 60),
    height=st.integers(25, 180),
)
def test_any_box_holds_the_values_of_its_places(
    tmp_path_factory: pytest.TempPathFactory, west: int, width: int, south: int, height: int
) -> None:
    assume(west + width <= 360 and south + height <= 90)
    folder = tmp_path_factory.mktemp("box")
    (folder / "www").mkdir()
    with serving(folder / "www") as server:
        inits = ("2020-01-01T00",)
        more: dict[str, Any] = {"with_poles": True, "shape": (36, 19), "leads": (0, 6)}
        weatherbench(server, "wb2:hres", inits=inits, **more)
        box = f"{west},{south},{west + width},{south + height}"
        wanted: dict[str, Any] = {"bbox": box, "variables": ("2m_temperature",)}
        fetched(server, "wb2:hres", init="2020-01-01", **wanted)
        forecast = only(server)
    assert error(forecast) < 1e-4
    grid = forecast.grid
    rows = [y for y in range(-90, 91, 10) if south <= y <= south + height]
    assert set(rows) <= set(np.round(grid.latitude).astype(int).tolist())
    columns = {x for x in range(0, 360, 10) if (x - west) % 360 <= width}
    assert {int(x) % 360 for x in np.round(grid.longitude)} == columns


class TestResuming:
    NAMES = ("2m_temperature", "mean_sea_level_pressure")

    def prepared(self, server: FetchServer) -> Fetch:
        return prepared(server, "wb2:hres", init="2020-01-01", variables=self.NAMES)

    def test_an_interrupted_fetch_goes_on_and_takes_nothing_twice(
        self, server: FetchServer
    ) -> None:
        weatherbench(server, "wb2:hres")
        bad = source("wb2:hres").paths["1.5"] + "/mean_sea_level_pressure/1.2.0.0"
        server.cuts[bad] = [40] + [0] * 30
        this = self.prepared(server)
        plan = this.plan()
        with pytest.raises(FetchFailed, match=r"mean_sea_level_pressure/1\.2\.0\.0 can't be"):
            this.download()
        # What was under way was given up, what was whole is there.
        there = this.plan().there
        assert 0 < there < len(plan.pieces) == 20
        assert not (server.root.parent / "data" / "it").exists()
        server.cuts.clear()
        this = self.prepared(server)
        this.plan()
        heard: list[int] = []
        this.download(heard.append)
        sizes = {p.stat().st_size for p in server.root.rglob("mean_sea*/1.2.0.0")}
        assert server.sent[bad] == sizes.pop()
        for piece in plan.pieces:
            name = piece.url.removeprefix(server.url + "/")
            assert server.sent[name] == (server.root / name).stat().st_size, name
        added = this.store("it", root=server.root.parent / "data")
        assert added.forecasts == ("2020-01-01", "2020-01-01T12")

    def test_a_damaged_chunk_is_fetched_anew(self, server: FetchServer) -> None:
        path = weatherbench(server, "wb2:hres")
        chunk = path / "mean_sea_level_pressure" / "1.2.0.0"
        whole = chunk.read_bytes()
        chunk.write_bytes(whole[: len(whole) // 2])  # as a truncated upload
        this = self.prepared(server)
        this.plan()
        this.download()
        with pytest.raises(FetchFailed, match=r"1 of the files that came from .* are damaged"):
            this.store("it", root=server.root.parent / "data")
        assert not (server.root.parent / "data" / "it").exists()
        chunk.write_bytes(whole)
        before = server.gets("/")
        this.plan()
        this.download()
        assert server.gets("/") == before + 2  # metadata, and the chunk
        this.store("it", root=server.root.parent / "data")
        assert (
            error(Dataset.from_folder(server.root.parent / "data/it").forecast("2020-01-01")) < 1e-4
        )

    def test_a_broken_connection_in_every_chunk(self, server: FetchServer) -> None:
        path = weatherbench(server, "wb2:hres")
        for file in path.rglob("*.0.0"):
            server.cuts[file.relative_to(server.root).as_posix()] = [50, 3]
        fetched(server, "wb2:hres", init="2020-01-02", variables=self.NAMES)
        assert error(only(server)) < 1e-4


class TestWhatIsNotThere:
    def test_a_chunk_that_is_missing_data(self, server: FetchServer) -> None:
        path = weatherbench(server, "wb2:hres")
        (path / "2m_temperature" / "2.1.0.0").unlink()  # fill value NaN
        done = fetched(server, "wb2:hres", init="2020-01-02", variables=("2m_temperature",))
        cells = only(server).cells("2m_temperature")
        assert np.isnan(cells[:, 1]).all() and np.isfinite(cells[:, [0, 2, 3, 4]]).all()
        assert any("1 chunks are not in the store" in note for note in done.added.notes)

    def test_a_chunk_that_would_read_as_a_number(self, server: FetchServer) -> None:
        path = weatherbench(server, "wb2:hres")
        for name in (".zmetadata", "2m_temperature/.zarray"):
            text = (path / name).read_text()
            (path / name).write_text(text.replace('"NaN"', "0.0"))
        (path / "2m_temperature" / "2.1.0.0").unlink()
        with pytest.raises(FetchFailed, match="would read as a number"):
            fetched(server, "wb2:hres", init="2020-01-02", variables=("2m_temperature",))

    def test_a_chunk_that_is_refused_is_not_missing_data(self, server: FetchServer) -> None:
        weatherbench(server, "wb2:hres")
        server.refused = {"2m_temperature/2.1.0.0"}
        with pytest.raises(FetchFailed, match=r"refuses .*2\.1\.0\.0 \(403\)"):
            fetched(server, "wb2:hres", init="2020-01-02", variables=("2m_temperature",))

    def test_no_store(self, server: FetchServer) -> None:
        with pytest.raises(FetchFailed, match="no Zarr store with consolidated metadata"):
            prepared(server, "wb2:hres", init="2020").plan()

    def test_a_page_instead_of_metadata(self, server: FetchServer) -> None:
        path = weatherbench(server, "wb2:hres")
        (path / ".zmetadata").write_text("<html>Please log in</html>")
        with pytest.raises(FetchFailed, match="is no Zarr metadata"):
            prepared(server, "wb2:hres", init="2020").plan()

    @pytest.mark.parametrize(
        ("wanted", "message"),
        [
            ({"init": "2021"}, r"--init 2021 takes nothing: the source has 3"),
            ({"init": "2020-01-01", "lead": "7"}, r"--lead 7 takes nothing: there are 0, 6"),
            ({"init": "2020-01-01", "every": 7}, None),
            ({"init": "2020-01-01T12", "every": 24}, r"--every 24: none of the times"),
            ({"init": "2020", "variables": ("snow_depth",)}, r"hasn't got snow_depth; its arrays"),
            ({"init": "2020", "variables": ("temperature_700",)}, r"hasn't got temperature_700"),
            ({"init": "2020", "members": ("1",)}, r"has no members"),
            ({}, r"wb2:hres has 3 times from .*: say which with --init"),
        ],
    )
    def test_a_request_for_what_is_not_there(
        self, server: FetchServer, wanted: dict[str, Any], message: str | None
    ) -> None:
        weatherbench(server, "wb2:hres")
        this = prepared(server, "wb2:hres", **wanted)
        if message is None:
            assert len(this.plan().pieces) > 0  # 00 UTC is a multiple of anything
            return
        with pytest.raises(FetchError, match=message):
            this.plan()


def test_a_key_that_leads_out_of_the_store_is_refused() -> None:
    for key in ("../evil/.zarray", "a/../../b/.zattrs", "/etc/.zgroup", "a\\b/.zarray"):
        entry = {"shape": [1], "chunks": [1], "dtype": "<f4", "fill_value": None}
        text = json.dumps({"metadata": {key: entry, "x/.zarray": entry}}).encode()
        with pytest.raises(FetchFailed, match="is no Zarr metadata"):
            read_layout(".zmetadata", text, "http://somewhere")


def test_plans_tell_sizes(server: FetchServer) -> None:
    path = weatherbench(server, "wb2:hres")
    plan = prepared(server, "wb2:hres", init="2020-01-01T00", variables=("2m_temperature",)).plan()
    files = [path / "2m_temperature" / f"0.{i}.0.0" for i in range(5)]
    assert plan.is_exact
    assert plan.size == sum(file.stat().st_size for file in files)
    assert plan.bound == 5 * 16 * 8 * 4
    assert server.gets("2m_temperature/") == 0


def test_terms_are_kept_with_the_data(server: FetchServer) -> None:
    weatherbench(server, "wb2:hres")
    fetched(server, "wb2:hres", init="2020-01-02", variables=("2m_temperature",))
    told = only(server).provenance
    assert told["fetched_from"] == "wb2:hres"
    assert "CC-BY-4.0" in told["license"] and "ECMWF" in told["attribution"]
    assert told["accessed"].startswith("20") and told["source"].startswith(server.url)


def test_more_initial_times_are_appended(server: FetchServer) -> None:
    weatherbench(server, "wb2:hres")
    fetched(server, "wb2:hres", init="2020-01-01T00", variables=("2m_temperature",))
    request = make_request(
        source("wb2:hres"), base_url=server.url, init="2020-01-01", variables=("2m_temperature",)
    )
    folder = server.root.parent
    where: dict[str, Any] = {"root": folder / "data", "cache": folder / "cache"}
    with pytest.raises(StoreError, match="already"):
        fetch(request, "it", **where)
    done = fetch(request, "it", mode="append", **where)
    assert done.added.forecasts == ("2020-01-01T12",) and done.added.present == ("2020-01-01",)
    assert Dataset.from_folder(folder / "data" / "it").forecasts == ("2020-01-01", "2020-01-01T12")


def test_what_is_out_of_range_is_asked_about(server: FetchServer) -> None:
    path = weatherbench(server, "wb2:hres")
    for name in (".zmetadata", "2m_temperature/.zattrs"):
        text = (path / name).read_text()
        (path / name).write_text(text.replace('"units": "K"', '"units": "degC"'))
    with pytest.raises(UnsuitableData, match="--units 2m_temperature=UNIT"):
        fetched(server, "wb2:hres", init="2020-01-02", variables=("2m_temperature",))
