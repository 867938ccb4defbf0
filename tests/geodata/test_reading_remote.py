"""Sources over HTTP from a real server: the layouts of the archives, and every way to fail."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.reading import remote
from zephyrus_geodata.reading.opened import open_source
from zephyrus_geodata.reading.understand import raw_fields, understand
from zephyrus_geodata.web.download import Download

sys.path.insert(0, str(Path(__file__).parent))  # for the server and the messages

from fetch_server import FetchServer, serving
from grib_maker import FULL, accumulation, instant, message

zarr = pytest.importorskip("zarr")
pytest.importorskip("eccodes")

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "grids"
RNG = np.random.default_rng(3)


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(remote, "PAUSE", 0.01)
    with serving(tmp_path) as server:
        yield server


def weatherbench(root: Path, version: int = 2) -> xr.Dataset:
    """A forecast as WeatherBench 2 has them: longitude before latitude, time = initial time."""
    lat, lon = np.linspace(-87.5, 87.5, 8), np.arange(16) * 22.5
    dims = ("time", "prediction_timedelta", "longitude", "latitude")
    shape = (2, 3, 16, 8)
    data = xr.Dataset(
        {
            "2m_temperature": (dims, 250 + 50 * RNG.random(shape, np.float32)),
            "geopotential": (
                (*dims[:2], "level", *dims[2:]),
                55000 + 1000 * RNG.random((2, 3, 1, 16, 8), np.float32),
            ),
            "total_precipitation_6hr": (dims, 0.01 * RNG.random(shape, np.float32)),
        },
        coords={
            "time": np.array(["2020-01-01T00", "2020-01-01T12"], "datetime64[ns]"),
            "prediction_timedelta": np.array([6, 12, 18], "timedelta64[h]").astype("m8[ns]"),
            "level": np.array([500]),
            "longitude": lon,
            "latitude": lat,
        },
    )
    encoding = {name: {"chunks": (1, *data[name].shape[1:])} for name in data.data_vars}
    data.to_zarr(root / "hres.zarr", zarr_format=version, consolidated=True, encoding=encoding)
    return data


@pytest.mark.parametrize("version", [2, 3])
def test_weatherbench_over_http(files: FetchServer, version: int) -> None:
    data = weatherbench(files.root, version)
    source = understand(open_source(f"{files.url}/hres.zarr"))
    assert source.format == f"zarr{version}"
    assert source.kind == "forecast"
    assert source.lead_hours.tolist() == [6, 12, 18]
    assert [str(t)[:13] for t in source.init_times] == ["2020-01-01T00", "2020-01-01T12"]
    assert not source.questions
    assert set(source.variables) >= {
        "2m_temperature", "geopotential_500", "total_precipitation_6hr",
    }  # fmt: skip
    got = source.variables["2m_temperature"](1)
    raw = data["2m_temperature"].values[1]  # (lead, lon, lat)
    turned = np.roll(raw, 8, axis=1)  # -180 first
    np.testing.assert_array_equal(got, turned.transpose(2, 1, 0).reshape(128, 3))


def test_a_broken_connection_to_a_chunk_is_asked_again(files: FetchServer) -> None:
    data = weatherbench(files.root)
    chunk = "hres.zarr/2m_temperature/1.0.0.0"
    files.cuts[chunk] = [10] * 2
    files.answers["hres.zarr/2m_temperature/0.0.0.0"] = [(503, {})]
    source = understand(open_source(f"{files.url}/hres.zarr"))
    for run in (0, 1):
        got = source.variables["2m_temperature"](run)
        assert (
            np.sort(got.ravel()).tolist()
            == np.sort(data["2m_temperature"][run].values.ravel()).tolist()
        )
    assert files.asked["GET", chunk] >= 3


def test_a_connection_that_never_holds_is_an_error_and_no_missing_value(files: FetchServer) -> None:
    weatherbench(files.root)
    source = understand(open_source(f"{files.url}/hres.zarr"))
    chunk = "hres.zarr/2m_temperature/1.0.0.0"
    files.cuts[chunk] = [10] * 1000
    with pytest.raises(UnsuitableData, match="can't be read"):
        source.variables["2m_temperature"](1)
    files.cuts.clear()
    files.refused.add(chunk)
    with pytest.raises(UnsuitableData, match="403"):
        source.variables["2m_temperature"](1)


def test_a_chunk_that_was_never_written_is_missing(files: FetchServer) -> None:
    weatherbench(files.root)
    (files.root / "hres.zarr/2m_temperature/1.0.0.0").unlink()
    source = understand(open_source(f"{files.url}/hres.zarr"))
    assert np.isfinite(source.variables["2m_temperature"](0)).all()
    assert np.isnan(source.variables["2m_temperature"](1)).all()


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample grids are not here")
@pytest.mark.parametrize(
    ("name", "members"), [("dynamical_noaa_gfs_forecast", 0), ("dynamical_ifs_ens", 51)]
)
def test_dynamical_metadata_with_a_little_data(files: FetchServer, name: str, members: int) -> None:
    """The real metadata, with chunks for its axes and one field; the rest was never written."""
    store = files.root / "forecast.zarr"
    whole = json.loads((SAMPLES / f"{name}.zarr.json").read_text())
    arrays = whole["consolidated_metadata"]["metadata"]
    store.mkdir()
    (store / "zarr.json").write_text(json.dumps(whole))
    for array, meta in arrays.items():
        (store / array).mkdir()
        (store / array / "zarr.json").write_text(json.dumps(meta))
    group = zarr.open_group(store, mode="r+")
    leads = arrays["lead_time"]["shape"][0]
    hours = np.arange(leads) * 3
    group["init_time"][:] = [1_704_067_200]  # 2024-01-01
    group["lead_time"][:] = hours * 3600.0
    group["latitude"][:] = 90 - 0.25 * np.arange(721)
    group["longitude"][:] = -180 + 0.25 * np.arange(1440)
    for length, days in (("expected_forecast_length", 15), ("ingested_forecast_length", 10)):
        if length in group:
            group[length][:] = [days * 86400.0]
    if members:
        group["ensemble_member"][:] = np.arange(51)

    axes, fields, remarks = raw_fields(open_source(f"{files.url}/forecast.zarr"))
    assert axes.kind == "forecast"
    assert str(axes.init_times[0]) == "2024-01-01T00:00:00"
    assert axes.lead_hours.tolist() == hours.tolist()
    assert len(axes.members) == members
    by_name = {field.name: field for field in fields}
    temperature, rain = by_name["temperature_2m"], by_name["precipitation_surface"]
    assert temperature.attrs["units"] == "degree_Celsius"
    assert rain.step_type == "avg"
    assert rain.attrs["units"] == "kg m-2 s-1"
    assert temperature.has_members == bool(members)
    assert temperature.horizontal.kind == "rectilinear"
    assert temperature.horizontal.shape == (721, 1440)
    assert any("not complete yet" in str(note) for note in remarks.notes)
    assert "expected_forecast_length" in remarks.left_out


def ecmwf_open_data() -> bytes:
    """Fields as ECMWF's open data has them: tp in m since the start, 2t, 10u, 10v, gh, t."""
    parts = []
    for step in (0, 3, 6):
        grid = np.arange(12.0)
        parts += [
            message(instant("2t", step), 280 + step + grid),
            message(instant("10u", step), grid),
            message(instant("10v", step), -grid),
            message(instant("msl", step), 100_000 + grid),
            message(
                instant("gh", step, typeOfLevel="isobaricInhPa", level=500), 5500 + grid,
                sample="regular_ll_pl_grib2",
            ),
        ]  # fmt: skip
        if step:
            # The centre decides what ecCodes makes of the numbers: for ECMWF metres, paramId 228.
            keys = accumulation("tp", 0, step)
            parts.append(message({"centre": "ecmf", **keys}, 0.001 * step + 0 * grid))
    return b"".join(parts)


def test_a_grib_file_over_http_goes_on_where_the_connection_broke(files: FetchServer) -> None:
    content = ecmwf_open_data()
    (files.root / "oper-fc.grib2").write_bytes(content)
    files.cuts["oper-fc.grib2"] = [len(content) // 4] * 3
    source = understand(open_source(f"{files.url}/oper-fc.grib2"))
    assert source.format == "grib2"
    assert source.kind == "forecast"
    assert source.lead_hours.tolist() == [0, 3, 6]
    assert files.asked["GET", "oper-fc.grib2"] == 4
    temperature = source.variables["2m_temperature"](0)
    assert temperature[:, 2].max() == pytest.approx(297.0)
    # North to south and 0 to 270 became south to north and -180 to 90.
    assert temperature[:4, 0].tolist() == pytest.approx([290.0, 291.0, 288.0, 289.0])
    assert source.grid.shape == (3, 4)
    assert not source.questions
    rain = source.variables["total_precipitation_3hr"](0)
    assert np.isnan(rain[:, 0]).all()
    np.testing.assert_allclose(rain[:, 1:], 0.003, rtol=1e-4)  # 0, 3 mm, 6 mm since the start
    grid = np.arange(12.0).reshape(3, 4)[::-1][:, [2, 3, 0, 1]].ravel()
    speed = source.variables["10m_wind_speed"](0)
    np.testing.assert_allclose(speed[:, 0], np.hypot(grid, grid), rtol=1e-4)
    height = source.variables["geopotential_500"](0)
    np.testing.assert_allclose(height[:, 0], (5500 + grid) * 9.80665, rtol=1e-6)


def test_a_server_without_ranges_is_asked_for_everything_again(files: FetchServer) -> None:
    content = message(instant("2t", 6), np.arange(12.0) + 280, grid=FULL)
    (files.root / "a.grib2").write_bytes(content)
    files.has_ranges = False
    files.cuts["a.grib2"] = [50] * 2
    _, (field,), _ = raw_fields(open_source(f"{files.url}/a.grib2"))
    np.testing.assert_allclose(field.read(0).ravel(), np.arange(12.0) + 280, atol=1e-3)


def test_a_file_that_is_cut_on_the_server_is_told(files: FetchServer) -> None:
    content = ecmwf_open_data()
    (files.root / "a.grib2").write_bytes(content[: len(content) - 100])
    with pytest.raises(UnsuitableData, match=r"a.grib2 .*not complete"):
        open_source(f"{files.url}/a.grib2")


def test_what_is_not_there_or_no_data_is_told(files: FetchServer) -> None:
    with pytest.raises(UnsuitableData, match="404"):
        open_source(f"{files.url}/nothing.nc")
    with pytest.raises(UnsuitableData, match="404"):
        open_source(f"{files.url}/nothing.zarr")
    files.pages |= {"login.nc", "store", "store/zarr.json", "store/.zmetadata", "store/.zgroup"}
    with pytest.raises(UnsuitableData, match="web page"):
        open_source(f"{files.url}/login.nc")
    with pytest.raises(UnsuitableData, match="web page"):
        open_source(f"{files.url}/store")
    files.refused.add("secret.nc")
    with pytest.raises(UnsuitableData, match="403"):
        open_source(f"{files.url}/secret.nc")
    with pytest.raises(UnsuitableData, match="can't be reached"):
        open_source("http://127.0.0.1:1/a.nc")


def test_a_server_that_never_sends_the_file_is_given_up(files: FetchServer) -> None:
    (files.root / "a.nc").write_bytes(b"CDF\x01" + bytes(1000))
    files.cuts["a.nc"] = [0] * 1000
    with pytest.raises(UnsuitableData, match="can't be fetched"):
        open_source(f"{files.url}/a.nc")
    assert files.asked["GET", "a.nc"] <= 10


def test_a_full_disk_is_told(files: FetchServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(download: Download) -> None:
        raise OSError(28, "No space left on device")

    (files.root / "a.nc").write_bytes(b"CDF\x01" + bytes(1000))
    monkeypatch.setattr(Download, "finish", full)
    with pytest.raises(UnsuitableData, match=r"a.nc can't be kept here: .*No space left"):
        open_source(f"{files.url}/a.nc?key=secret")


def test_public_buckets_are_read_over_https_where_their_packages_are_missing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(remote, "_importable", lambda package: False)
    assert remote._http_address("gs://weatherbench2/datasets/a.zarr", {}) == (
        "https://storage.googleapis.com/weatherbench2/datasets/a.zarr"
    )
    assert remote._http_address("s3://noaa-gfs-bdp-pds/gfs.grib2", {}) == (
        "https://noaa-gfs-bdp-pds.s3.amazonaws.com/gfs.grib2"
    )
