from pathlib import Path

import numpy as np
import pytest
import xarray as xr

from zephyrus_geodata.errors import UnknownVariable, UnsuitableData
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_geodata.variables import VARIABLES

LAT = np.array([60.0, 20.0, -20.0, -60.0])  # north to south, as ERA5
LON = np.arange(0.0, 360.0, 60.0)  # 0 to 360
HOURS = np.array([6, 12, 18])


def raw(**more: object) -> xr.Dataset:
    """Two variables whose value says where and when it belongs: lat + lon / 1000 + hours * 1000."""
    where = LAT[:, None] + LON[None, :] / 1000
    surface = (HOURS[:, None, None] * 1000.0 + where).astype("float32")
    levels = np.stack([surface + 500_000, surface + 850_000], axis=1)
    dims = ("lead_time", "latitude", "longitude")
    return xr.Dataset(
        {
            "2m_temperature": (dims, surface),
            "temperature": (("lead_time", "level", *dims[1:]), levels),
            "10m_u_component_of_wind": (dims, np.full_like(surface, 3.0)),
            "10m_v_component_of_wind": (dims, np.full_like(surface, -4.0)),
            "something_else": (dims, surface),
        },
        {
            "lead_time": HOURS,
            "level": [500, 850],
            "latitude": LAT,
            "longitude": LON,
        },
        {"init_time": "2020-02-28T12", "label": "made up", "source": "a test", "limits": "none"},
    ).assign(more)


def check_values(forecast: Forecast) -> None:
    grid = forecast.grid
    assert grid.latitude.tolist() == [-60, -20, 20, 60]
    assert grid.longitude.tolist() == [-180, -120, -60, 0, 60, 120]
    cells = forecast.cells("2m_temperature")
    assert cells.shape == (24, 3)
    assert cells.dtype == np.float32
    for lat, lon, hours in [(60, 0, 6), (-20, 240, 12), (20, 180, 18), (-60, 60, 6)]:
        cell = grid.nearest(lat, lon)
        index = forecast.lead_hours.tolist().index(hours)
        expected = np.float32(hours * 1000 + lat + lon / 1000)
        assert cells[cell, index] == pytest.approx(expected, abs=2e-3)
        assert forecast.cells("temperature_850")[cell, index] == pytest.approx(
            850_000 + expected, abs=0.1
        )
        row, column = divmod(cell, 6)
        assert forecast.field("2m_temperature", index)[row, column] == cells[cell, index]


def test_from_xarray_sorts_wraps_and_flattens() -> None:
    forecast = Forecast.from_xarray(raw(), dataset="mine")
    check_values(forecast)
    assert forecast.variables == (
        "2m_temperature",
        "10m_u_component_of_wind",
        "10m_v_component_of_wind",
        "10m_wind_speed",
        "temperature_500",
        "temperature_850",
    )
    assert forecast.id == "mine/2020-02-28T12"
    assert forecast.label == "made up"
    assert forecast.provenance == {"source": "a test", "limits": "none"}


def test_times() -> None:
    forecast = Forecast.from_xarray(raw(), name="one")
    assert forecast.id == "local/one"
    assert forecast.init_time == np.datetime64("2020-02-28T12")
    assert forecast.lead_hours.tolist() == [6, 12, 18]
    assert forecast.valid_time(1) == np.datetime64("2020-02-29T00")
    assert forecast.valid_time(-1) == np.datetime64("2020-02-29T06")
    with pytest.raises(IndexError):
        forecast.valid_time(3)
    with pytest.raises(IndexError):
        forecast.field("2m_temperature", 3)


def test_wind_speed_is_derived_when_absent() -> None:
    forecast = Forecast.from_xarray(raw())
    np.testing.assert_array_equal(forecast.cells("10m_wind_speed"), np.float32(5.0))


def test_wind_speed_of_the_file_is_kept() -> None:
    stored = raw()["2m_temperature"] * 0 + 7
    forecast = Forecast.from_xarray(raw(**{"10m_wind_speed": stored}))
    np.testing.assert_array_equal(forecast.cells("10m_wind_speed"), np.float32(7.0))


def test_no_wind_speed_from_one_component() -> None:
    forecast = Forecast.from_xarray(raw().drop_vars("10m_v_component_of_wind"))
    assert "10m_wind_speed" not in forecast.variables


def test_values_are_decoded_once_and_read_only() -> None:
    reads = []

    def read() -> np.ndarray[tuple[int, int], np.dtype[np.float32]]:
        reads.append(1)
        return np.zeros((24, 3), dtype=np.float32)

    grid = Forecast.from_xarray(raw()).grid
    forecast = Forecast(
        "d", "f", np.datetime64("2020-01-01"), HOURS, grid, {"2m_temperature": read}
    )
    assert not reads
    first = forecast.cells("2m_temperature")
    assert forecast.cells("2m_temperature") is first
    assert len(reads) == 1
    with pytest.raises(ValueError, match="read-only"):
        first[0, 0] = 1.0


def test_an_unknown_variable_names_those_there_are() -> None:
    with pytest.raises(UnknownVariable) as caught:
        Forecast.from_xarray(raw()).cells("total_cloud_cover")
    assert str(caught.value) == (
        "The forecast local/2020-02-28T12 has no variable 'total_cloud_cover'; it has "
        "2m_temperature, 10m_u_component_of_wind, 10m_v_component_of_wind, 10m_wind_speed, "
        "temperature_500, temperature_850."
    )


@pytest.mark.parametrize("dtype", ["timedelta64[ns]", "timedelta64[h]"])
def test_lead_times_may_be_timedeltas(dtype: str) -> None:
    ds = raw().assign_coords(lead_time=HOURS.astype("timedelta64[h]").astype(dtype))
    check_values(Forecast.from_xarray(ds))


@pytest.mark.parametrize("moment", ["2020-02-28T12", "2020-02-28T12:00:00Z", "2020-02-28 12:00"])
def test_initial_time_as_text(moment: str) -> None:
    forecast = Forecast.from_xarray(raw().assign_attrs(init_time=moment))
    assert forecast.init_time == np.datetime64("2020-02-28T12")


def test_initial_time_as_coordinate() -> None:
    ds = raw().drop_attrs().assign_coords(init_time=np.datetime64("2020-02-28", "ns"))
    forecast = Forecast.from_xarray(ds)
    assert forecast.init_time == np.datetime64("2020-02-28")
    assert forecast.name == "2020-02-28"


def packed() -> dict[str, dict[str, object]]:
    """The encoding of the demo files: int16 that uses every code but the fill value's."""
    return {
        name: {
            "dtype": "int16",
            "scale_factor": (high - low) / 65534,
            "add_offset": (high + low) / 2,
            "_FillValue": -32768,
            "zlib": True,
        }
        for name, low, high in [
            ("2m_temperature", 5940.0, 18060.5),
            ("temperature", 505_000.0, 869_000.0),
        ]
    }


@pytest.mark.parametrize("lead_time", ["hours", "timedelta"])
@pytest.mark.parametrize("init_time", ["attribute", "coordinate"])
def test_a_packed_file_is_read_as_xarray_reads_it(
    tmp_path: Path, lead_time: str, init_time: str
) -> None:
    ds = raw()
    if lead_time == "timedelta":
        ds = ds.assign_coords(lead_time=HOURS.astype("timedelta64[h]").astype("timedelta64[ns]"))
    if init_time == "coordinate":
        moment = np.datetime64("2020-02-28T12", "ns")
        ds = ds.drop_attrs().assign_coords(init_time=moment)
    path = tmp_path / "forecast-x.nc"
    ds["2m_temperature"][0, 0, 0] = np.nan
    ds.to_netcdf(path, encoding=packed())
    forecast = Forecast.open(path, dataset="mine", name="x")
    assert forecast.id == "mine/x"
    assert forecast.init_time == np.datetime64("2020-02-28T12")
    assert forecast.lead_hours.tolist() == [6, 12, 18]
    with xr.open_dataset(path, decode_timedelta=True) as opened:
        other = Forecast.from_xarray(opened)
        assert other.lead_hours.tolist() == [6, 12, 18]
        for name in forecast.variables:
            np.testing.assert_allclose(forecast.cells(name), other.cells(name), rtol=1e-6)
    missing = np.isnan(forecast.cells("2m_temperature"))
    assert missing.sum() == 1
    assert missing[forecast.grid.nearest(60, 0), 0]


def test_packed_data_may_use_the_default_fill_value_as_a_number(tmp_path: Path) -> None:
    encoding = packed()
    lowest = float(raw()["2m_temperature"].min())
    encoding["2m_temperature"] |= {"scale_factor": 0.25, "add_offset": lowest + 0.25 * 32767}
    path = tmp_path / "forecast-x.nc"
    raw().to_netcdf(path, encoding=encoding)
    cells = Forecast.open(path, dataset="d").cells("2m_temperature")
    assert not np.isnan(cells).any()
    assert cells.min() == pytest.approx(lowest, abs=0.01)


def test_netcdf3_is_read_too(tmp_path: Path) -> None:
    path = tmp_path / "forecast-old.nc"
    raw().to_netcdf(path, format="NETCDF3_CLASSIC")
    check_values(Forecast.open(path, dataset="d"))


def test_round_trip_through_xarray_and_a_file(tmp_path: Path) -> None:
    forecast = analytic_dataset(step=30.0, features=None).forecast("2001-04-10")
    ds = forecast.to_xarray()
    assert ds["geopotential"].dims == ("lead_time", "level", "latitude", "longitude")
    assert ds["geopotential"].attrs["units"] == "m2 s-2"
    assert ds["level"].values.tolist() == [500, 850]
    path = tmp_path / "f.nc"
    ds.to_netcdf(path)
    for again in (
        Forecast.from_xarray(ds, dataset="analytic"),
        Forecast.open(path, dataset="analytic"),
    ):
        assert again.id == forecast.id
        assert again.grid == forecast.grid
        assert again.init_time == forecast.init_time
        assert again.label == forecast.label
        assert again.provenance == forecast.provenance
        assert again.lead_hours.tolist() == forecast.lead_hours.tolist()
        assert again.variables == forecast.variables == tuple(VARIABLES)
        for name in VARIABLES:
            np.testing.assert_array_equal(again.cells(name), forecast.cells(name))


def test_levels_that_differ_stay_apart_in_xarray() -> None:
    ds = raw()
    ds["geopotential_500"] = ds["2m_temperature"]
    forecast = Forecast.from_xarray(ds)
    assert "geopotential_500" in forecast.variables
    again = forecast.to_xarray()
    assert "level" not in again.dims
    assert {"geopotential_500", "temperature_500", "temperature_850"} <= set(again.data_vars)
    assert Forecast.from_xarray(again).variables == forecast.variables


def celsius(ds: xr.Dataset) -> xr.Dataset:
    ds["2m_temperature"].attrs["units"] = "degC"
    return ds


@pytest.mark.parametrize(
    ("spoil", "message"),
    [
        (lambda ds: ds.drop_vars("latitude"), "has no latitude coordinate"),
        (lambda ds: ds.drop_vars("lead_time"), "has no lead_time coordinate"),
        (lambda ds: ds.drop_attrs(), "does not say its init_time"),
        (lambda ds: ds.assign_attrs(init_time="soon"), "does not say its init_time"),
        (lambda ds: ds[["something_else"]], "has no known variable"),
        (lambda ds: ds.expand_dims(realm=[0, 1]), "has no known variable"),
        (celsius, "2m_temperature is in 'degC'; K is needed"),
        (lambda ds: ds.isel(lead_time=[1, 0]), "must rise in steps of whole hours"),
        (
            lambda ds: ds.assign_coords(lead_time=("lead_time", HOURS, {"units": "metres"})),
            "are not a time",
        ),
        (
            lambda ds: ds.assign_coords(lead_time=("lead_time", HOURS + 0.5)),
            "must rise in steps of whole hours",
        ),
    ],
)
def test_what_is_not_a_forecast_is_refused(spoil: object, message: str) -> None:
    assert callable(spoil)
    with pytest.raises(UnsuitableData, match=message):
        Forecast.from_xarray(spoil(raw()))


def test_a_file_that_is_not_netcdf_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "forecast-x.nc"
    path.write_text("not a grid")
    with pytest.raises(UnsuitableData, match=r"forecast-x\.nc can't be read as NetCDF"):
        Forecast.open(path, dataset="d")
    with pytest.raises(FileNotFoundError):
        Forecast.open(tmp_path / "forecast-y.nc", dataset="d")
