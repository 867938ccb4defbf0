from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.source import (
    NetCDFSource,
    XarraySource,
    locate,
    read_grid,
    read_hours,
    read_instant,
)


@pytest.mark.parametrize(
    ("values", "units"),
    [
        ([6, 12], None),
        ([6, 12], "hours"),
        ([0.25, 0.5], "days"),
        ([360, 720], "minutes"),
        ([21_600, 43_200], "s"),
        ([21_600_000_000_000, 43_200_000_000_000], "nanoseconds"),
    ],
)
def test_lead_times_in_any_unit(values: list[float], units: str | None, tmp_path: Path) -> None:
    attrs = {"units": units} if units else {}
    ds = xr.Dataset(coords={"lead_time": ("lead_time", values, attrs)})
    ds.to_netcdf(tmp_path / "x.nc")
    for source in (XarraySource(ds), NetCDFSource(tmp_path / "x.nc")):
        assert read_hours(source, "lead_time").tolist() == [6, 12]


@pytest.mark.parametrize("units", ["hours since 1959-01-01", "days since 1958-12-31T12:00:00Z"])
def test_an_encoded_moment(units: str, tmp_path: Path) -> None:
    number = 30.0 if units.startswith("hours") else 1.75
    ds = xr.Dataset(coords={"init_time": ((), number, {"units": units})})
    ds.to_netcdf(tmp_path / "x.nc")
    for source in (XarraySource(ds), NetCDFSource(tmp_path / "x.nc")):
        assert read_instant(source, "init_time") == np.datetime64("1959-01-02T06")


@pytest.mark.parametrize("units", ["", "hours", "fortnights since 1959-01-01", "hours since then"])
def test_a_moment_that_cannot_be_read(units: str) -> None:
    ds = xr.Dataset(coords={"init_time": ((), 30, {"units": units})})
    with pytest.raises(UnsuitableData):
        read_instant(XarraySource(ds), "init_time")


@pytest.mark.parametrize("calendar", ["noleap", "360_day"])
def test_a_calendar_that_is_not_ours_is_refused(calendar: str, tmp_path: Path) -> None:
    attrs = {"units": "days since 2001-01-01", "calendar": calendar}
    ds = xr.Dataset(coords={"init_time": ((), 400, attrs)})
    ds.to_netcdf(tmp_path / "x.nc")
    for source in (XarraySource(ds), NetCDFSource(tmp_path / "x.nc")):
        with pytest.raises(UnsuitableData, match=calendar):
            read_instant(source, "init_time")


def test_packed_unsigned_bytes_and_missing_values(tmp_path: Path) -> None:
    import netCDF4

    with netCDF4.Dataset(str(tmp_path / "x.nc"), "w") as file:
        file.createDimension("n", 4)
        packed = file.createVariable("packed", "i1", ("n",), fill_value=-1)
        packed.setncatts({"_Unsigned": "true", "scale_factor": 0.5, "add_offset": 10.0})
        packed.set_auto_maskandscale(False)
        packed[:] = np.array([0, 2, -56, -1], dtype="i1")
        plain = file.createVariable("plain", "f4", ("n",))
        plain.setncattr("missing_value", np.float32(-999))
        plain[:] = [1.0, -999.0, 3.0, np.nan]
        whole = file.createVariable("whole", "i4", ("n",), fill_value=-5)
        whole[:] = [1, 2, -5, 4]
        whole.set_auto_mask(False)
    source = NetCDFSource(tmp_path / "x.nc")
    np.testing.assert_array_equal(source.read("packed"), [10.0, 11.0, 110.0, np.nan])
    np.testing.assert_array_equal(source.read("plain"), [1.0, np.nan, 3.0, np.nan])
    np.testing.assert_array_equal(source.read("whole"), [1.0, 2.0, np.nan, 4.0])
    assert source.dims == {"packed": ("n",), "plain": ("n",), "whole": ("n",)}
    assert source.title == "x.nc"


def test_threads_may_read_at_once(tmp_path: Path) -> None:
    from concurrent.futures import ThreadPoolExecutor

    ds = xr.Dataset({f"v{i}": ("n", np.full(50_000, float(i))) for i in range(8)})
    ds.to_netcdf(tmp_path / "x.nc", encoding={name: {"zlib": True} for name in ds.data_vars})
    source = NetCDFSource(tmp_path / "x.nc")
    with ThreadPoolExecutor(8) as pool:
        for i, values in enumerate(pool.map(source.read, [f"v{i % 8}" for i in range(80)])):
            assert (values == i % 8).all()


@pytest.mark.parametrize(
    ("name", "units"),
    [
        *(("2m_temperature", u) for u in ("K", "kelvin", "Kelvin", "", None)),
        *(("10m_wind_speed", u) for u in ("m s-1", "m/s", "m s**-1", "m s^-1")),
        *(("mean_sea_level_pressure", u) for u in ("Pa", "pascal")),
        *(("total_precipitation_6hr", u) for u in ("m", "metre", "meter")),
        *(("total_cloud_cover", u) for u in ("1", 1, "", "(0 - 1)", "0-1", "dimensionless")),
        *(("geopotential_500", u) for u in ("m2 s-2", "m**2 s**-2", "m2/s2", "m^2 s^-2")),
    ],
)
def test_units_may_be_spelt_in_several_ways(name: str, units: object) -> None:
    attrs = {} if units is None else {"units": units}
    ds = xr.Dataset({name: ("n", [1.0], attrs)})
    assert locate(XarraySource(ds), ("n",)) == {name: (name, None)}


@pytest.mark.parametrize(
    ("name", "units", "needed"),
    [
        ("2m_temperature", "degC", "K"),
        ("10m_u_component_of_wind", "knots", "m s-1"),
        ("mean_sea_level_pressure", "hPa", "Pa"),
        ("total_precipitation_6hr", "mm", "m"),
        ("total_cloud_cover", "%", "1"),
        ("geopotential", "m", "m2 s-2"),
    ],
)
def test_other_units_are_refused(name: str, units: str, needed: str, tmp_path: Path) -> None:
    dims = ("n", "level") if name == "geopotential" else ("n",)
    ds = xr.Dataset({name: (dims, np.ones((1,) * len(dims)), {"units": units})}, {"level": [500]})
    ds.to_netcdf(tmp_path / "x.nc")
    with pytest.raises(UnsuitableData) as caught:
        locate(NetCDFSource(tmp_path / "x.nc"), ("n",))
    assert str(caught.value) == f"x.nc: {name} is in {units!r}; {needed} is needed"


def test_a_file_without_a_coordinate_is_refused_with_what_it_has() -> None:
    ds = xr.Dataset(coords={"latitude": [0.0, 1.0], "x": [1, 2]})
    with pytest.raises(UnsuitableData, match=r"has no longitude coordinate; it has latitude, x\.$"):
        read_grid(XarraySource(ds))


def test_other_levels_and_further_variables_are_found() -> None:
    lat, lon, hours = np.arange(-60.0, 61.0, 30.0), np.arange(0.0, 360.0, 30.0), [3, 6]
    dims = ("lead_time", "latitude", "longitude")
    shape = (2, lat.size, lon.size)
    rng = np.random.default_rng(0)
    rain = rng.random(shape, dtype=np.float32) * 0.01
    humidity = rng.random((2, 3, *shape[1:]), dtype=np.float32) * 0.01
    ds = xr.Dataset(
        {
            "total_precipitation_3hr": (dims, rain, {"units": "m"}),
            "salinity": (dims, rain),
            "specific_humidity": (
                ("lead_time", "level", "latitude", "longitude"),
                humidity,
                {"units": "kg kg**-1"},
            ),
        },
        {"lead_time": hours, "latitude": lat, "longitude": lon, "level": [1000, 700, 0.5]},
        attrs={"init_time": "2020-01-01T00"},
    )
    forecast = Forecast.from_xarray(ds)
    assert forecast.variables == (
        "total_precipitation_3hr",
        "specific_humidity_0.5",
        "specific_humidity_700",
        "specific_humidity_1000",
    )
    south_west = forecast.grid.nearest(-60.0, 0.0)
    np.testing.assert_array_equal(
        forecast.cells("specific_humidity_700")[south_west], humidity[:, 1, 0, 0]
    )
    again = Forecast.from_xarray(forecast.to_xarray())
    assert again.variables == forecast.variables
    wrong = ds.assign(
        total_precipitation_3hr=ds["total_precipitation_3hr"].assign_attrs(units="mm")
    )
    with pytest.raises(UnsuitableData, match=r"total_precipitation_3hr is in 'mm'; m is needed"):
        Forecast.from_xarray(wrong)
