"""What a chart shows, against xarray and by hand."""

from pathlib import Path

import chart_worlds as worlds
import numpy as np
import pyproj
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus.errors import UserError
from zephyrus_chartqa.charts import draw
from zephyrus_chartqa.fields import Lacking, chart_data, chart_leads, lacking
from zephyrus_chartqa.modality import MODALITIES, RAIN_CLASSES, RAIN_EDGES, modality
from zephyrus_chartqa.region import REGIONS, Region, chart_region
from zephyrus_geodata import load_dataset
from zephyrus_geodata.cells import CellGrid, StationList
from zephyrus_geodata.cli import data as data_command

SAMPLE = Path(__file__).parents[3] / "shared" / "samples" / "grids" / "pl_regular_ll.grib"
WORLD = REGIONS["World"]
EAST_ASIA = REGIONS["East Asia"]
WINDS = {"u_component_of_wind_850": 3.0, "v_component_of_wind_850": -4.0}


@pytest.fixture(scope="module")
def demo():
    return load_dataset("demo")


@pytest.fixture(scope="module")
def opened(demo):
    return demo.forecast(demo.forecasts[0]).to_xarray()


def everywhere(grid, value):
    return np.full(grid.size, value)


def expected(opened, name, lead, region):
    """The forecast's own values at 24 h up to a lead time, or at it."""
    hours = opened.lead_time / np.timedelta64(1, "h")
    array = opened[name].astype(np.float64)
    if name in ("total_precipitation_6hr", "2m_temperature"):
        return array.where((hours > lead - 24) & (hours <= lead), drop=True)
    return array.isel(lead_time=int(np.flatnonzero(hours == lead)[0]))


ORACLES = {
    "rain": ("total_precipitation_6hr", lambda a: 1000.0 * a.sum("lead_time"), "mm"),
    "phenomena": ("total_cloud_cover", lambda a: 100.0 * a, "%"),
    "max_temp": ("2m_temperature", lambda a: a.max("lead_time") - 273.15, "°C"),
    "min_temp": ("2m_temperature", lambda a: a.min("lead_time") - 273.15, "°C"),
    "500hpa_situation": ("geopotential", lambda a: a.sel(level=500) / 9.80665, "gpm"),
    "land_situation": ("mean_sea_level_pressure", lambda a: a / 100.0, "hPa"),
}


@pytest.mark.parametrize("name", ORACLES)
@pytest.mark.parametrize("region", ["East Asia", "North Pacific", "World"])
def test_values_are_those_of_the_forecast(demo, opened, name, region):
    data = chart_data(demo, demo.forecasts[0], name, REGIONS[region], 72)
    source, take, units = ORACLES[name]
    whole = take(expected(opened, source, 72, data.region))
    wrapped = (data.longitude[0] + 180.0) % 360.0 - 180.0
    there = whole.sel(latitude=data.latitude[:, 0], longitude=wrapped, method="nearest")
    assert np.abs(there.longitude.values - wrapped).max() < 1e-9
    np.testing.assert_allclose(data.values, there.transpose("latitude", "longitude"), rtol=1e-9)
    assert data.units == units
    assert (data.u is not None) == (name == "500hpa_situation")


def test_wind_is_the_forecasts_and_its_speed_the_main_field(demo, opened):
    data = chart_data(demo, demo.forecasts[0], "850hpa_situation", EAST_ASIA, 48)
    at = {"latitude": data.latitude[:, 0], "longitude": data.longitude[0]}
    lead = opened.sel(level=850, lead_time=np.timedelta64(48, "h")).sel(at, method="nearest")
    u, v = (lead[f"{c}_component_of_wind"].values.astype(np.float64) for c in "uv")
    np.testing.assert_array_equal(data.u, u)
    np.testing.assert_array_equal(data.v, v)
    np.testing.assert_allclose(data.values, np.sqrt(u * u + v * v), rtol=1e-12)
    assert data.units == "m/s"


def test_times_and_origin_are_told(demo):
    data = chart_data(demo, demo.forecasts[0], "rain", EAST_ASIA, 72)
    assert data.init_time == np.datetime64("1959-01-02T00")
    assert (data.start, data.end) == (np.datetime64("1959-01-04"), np.datetime64("1959-01-05"))
    assert data.lead_hours == (48, 72)
    assert (data.dataset, data.forecast, data.members) == ("demo", "1959-01-02", 0)
    at_once = chart_data(demo, demo.forecasts[0], "land_situation", EAST_ASIA, 72)
    assert at_once.start == at_once.end
    assert at_once.lead_hours == (72,)
    with pytest.raises(ValueError, match="read-only"):
        data.values[0, 0] = 1.0


@given(
    st.floats(-180.0, 179.0), st.floats(-90.0, 80.0), st.floats(6.0, 360.0), st.floats(6.0, 100.0)
)
@settings(max_examples=60)
def test_cells_are_in_one_piece_and_inside_where_their_centre_is(west, south, wide, tall):
    grid = worlds.globe()
    region = Region(west, south, west + wide, min(south + tall, 90.0), "a box")
    data = chart_data(
        worlds.made(grid, {"mean_sea_level_pressure": 1e5 + np.arange(grid.size)}),
        "2020-01-01",
        "land_situation",
        region,
        6,
    )
    inside = (grid.cell_latitude >= region.south) & (grid.cell_latitude <= region.north)
    inside &= (grid.cell_longitude - west) % 360.0 <= wide
    cells = np.rint(100.0 * data.values - 1e5).astype(int)
    assert sorted(cells[data.inside]) == np.flatnonzero(inside).tolist()
    assert np.unique(cells).size == cells.size
    np.testing.assert_allclose(np.diff(data.longitude, axis=1), 5.0)
    np.testing.assert_allclose(data.latitude, grid.cell_latitude[cells])
    turned = (data.longitude - grid.cell_longitude[cells]) / 360.0
    np.testing.assert_allclose(turned, np.rint(turned), atol=1e-9)
    np.testing.assert_allclose(data.area, grid.cell_area[cells])
    assert data.around == (cells.shape[1] == 72)


def test_the_rim_is_two_cells(demo):
    data = chart_data(demo, demo.forecasts[0], "rain", EAST_ASIA, 24)
    assert data.inside[2:-2, 2:-2].all()
    assert data.inside.sum() == data.inside[2:-2, 2:-2].size


@pytest.mark.parametrize(
    ("fields", "hours", "total"),
    [
        ({"total_precipitation_24hr": 0.007, "total_precipitation_6hr": 0.002}, (6, 12, 18, 24), 7),
        ({"total_precipitation_6hr": 0.002}, (6, 12, 18, 24), 8.0),
        ({"total_precipitation_12hr": 0.005}, (12, 24), 10.0),
        ({"total_precipitation_3hr": 0.001}, range(3, 25, 3), 8.0),
        ({"total_precipitation_1hr": 0.001}, range(0, 25), 24.0),
        ({"total_precipitation": 0.004}, (3, 9, 24), 12.0),
    ],
)
def test_a_days_precipitation_is_put_together_of_what_there_is(fields, hours, total):
    grid = worlds.globe()
    fields = {name: everywhere(grid, amount) for name, amount in fields.items()}
    data = chart_data(worlds.made(grid, fields, hours), "2020-01-01", "rain", WORLD, 24)
    np.testing.assert_allclose(data.values, total, rtol=1e-6)


@given(st.sets(st.integers(1, 16), min_size=1))
def test_a_day_needs_all_its_amounts(steps):
    grid = worlds.globe(30.0)
    hours = sorted(6 * step for step in steps)
    dataset = worlds.made(grid, {"total_precipitation_6hr": everywhere(grid, 0.0)}, hours)
    there = set(hours)
    wanted = [h for h in hours if h >= 24 and {h, h - 6, h - 12, h - 18} <= there]
    assert list(chart_leads(dataset.forecast("2020-01-01"), "rain")) == wanted


def test_amounts_since_the_step_before_need_the_days_first_step():
    grid = worlds.globe(30.0)
    dataset = worlds.made(grid, {"total_precipitation": everywhere(grid, 1e-3)}, (12, 24, 30, 48))
    assert chart_leads(dataset.forecast("2020-01-01"), "rain") == (24, 48)


def test_the_extremes_of_a_model_come_before_those_of_instants():
    grid = worlds.globe(30.0)
    fields = {
        "2m_temperature": everywhere(grid, 280.0),
        "2m_maximum_temperature": everywhere(grid, 285.0),
    }
    dataset = worlds.made(grid, fields)
    warm = chart_data(dataset, "2020-01-01", "max_temp", WORLD, 24)
    cold = chart_data(dataset, "2020-01-01", "min_temp", WORLD, 24)
    np.testing.assert_allclose(warm.values, 285.0 - 273.15, rtol=1e-6)
    np.testing.assert_allclose(cold.values, 280.0 - 273.15, rtol=1e-6)
    assert not warm.remark
    assert cold.remark.startswith("lowest of the values at its lead times")


def test_temperatures_too_far_apart_make_no_extreme():
    grid = worlds.globe(30.0)
    dataset = worlds.made(grid, {"2m_temperature": everywhere(grid, 280.0)}, (0, 12, 24))
    with pytest.raises(Lacking, match="at most 6 h apart"):
        chart_data(dataset, "2020-01-01", "max_temp", WORLD, 24)


def test_surface_pressure_stands_in_and_says_so():
    grid = worlds.globe(30.0)
    fields = {"surface_pressure": everywhere(grid, 7e4)}
    data = chart_data(worlds.made(grid, fields), "2020-01-01", "land_situation", WORLD, 6)
    assert data.element == "Surface pressure, not reduced to sea level"
    assert "terrain" in data.remark
    fields["mean_sea_level_pressure"] = everywhere(grid, 1e5)
    data = chart_data(worlds.made(grid, fields), "2020-01-01", "land_situation", WORLD, 6)
    assert data.element == "Mean sea level pressure"
    assert not data.remark


def test_a_hole_in_one_step_is_a_hole_in_the_day():
    grid = worlds.globe(30.0)
    amounts = np.full((grid.size, 5), 0.001)
    amounts[7, 2] = np.nan
    dataset = worlds.made(grid, {"total_precipitation_6hr": amounts})
    data = chart_data(dataset, "2020-01-01", "rain", WORLD, 24)
    assert np.isnan(data.values).sum() == 1
    assert np.isnan(data.values.ravel()[7])


def test_of_an_ensemble_the_mean_or_a_member():
    grid = worlds.globe(30.0)
    fields = {"mean_sea_level_pressure": np.ones((2, grid.size, 5)) * [[[99e3]], [[101e3]]]}
    dataset = worlds.made(grid, fields, members=("a", "b"))
    mean = chart_data(dataset, "2020-01-01", "land_situation", WORLD, 6)
    one = chart_data(dataset, "2020-01-01", "land_situation", WORLD, 6, member="b")
    assert (mean.values[0, 0], mean.members) == (1000.0, 2)
    assert (one.values[0, 0], one.members) == (1010.0, 0)


def test_a_bent_grid_keeps_its_cells():
    proj = pyproj.Proj("+proj=lcc +lat_0=48 +lon_0=8 +lat_1=48 +lat_2=48 +R=6371229")
    lon, lat = proj(*np.meshgrid(*[np.arange(-8e5, 8.1e5, 4e4)] * 2), inverse=True)
    grid = CellGrid(lat, lon).check()
    dataset = worlds.made(grid, {"mean_sea_level_pressure": 1e5 + np.arange(grid.size)})
    region = Region(4.0, 45.0, 12.0, 51.0, "a box")
    data = chart_data(dataset, "2020-01-01", "land_situation", region, 6)
    inside = (lon >= 4.0) & (lon <= 12.0) & (lat >= 45.0) & (lat <= 51.0)
    cells = np.rint(100.0 * data.values - 1e5).astype(int)
    assert sorted(cells[data.inside]) == np.flatnonzero(inside).tolist()
    np.testing.assert_allclose(data.latitude, lat.ravel()[cells])
    np.testing.assert_allclose(data.longitude, lon.ravel()[cells])
    assert not data.around


def test_what_is_lacking_is_named():
    grid = worlds.globe(30.0)
    fields = {"geopotential_500": everywhere(grid, 5e4), "temperature_500": everywhere(grid, 250.0)}
    dataset = worlds.made(grid, fields)
    forecast = dataset.forecast("2020-01-01")
    for name in MODALITIES:
        reason = lacking(forecast, name)
        assert reason is not None
        assert name in reason
        assert all(variable in reason for variable in MODALITIES[name].ways[0].variables)
        assert "it has geopotential_500, temperature_500" in reason
        with pytest.raises(Lacking) as error:
            chart_data(dataset, forecast, name, WORLD, 24)
        assert str(error.value) == reason
        assert isinstance(error.value, UserError)


def test_the_shipped_dataset_feeds_all_seven(demo):
    for name in demo.forecasts:
        for kind in MODALITIES.values():
            assert lacking(demo.forecast(name), kind) is None
            first = 24 if kind.daily else 6
            assert chart_leads(demo.forecast(name), kind) == tuple(range(first, 241, 6))


def test_other_wrong_requests_are_told_how_to_mend(demo):
    name = demo.forecasts[0]
    with pytest.raises(Lacking, match="no 24-hour precipitation at 18 h: it has it at 24, 30"):
        chart_data(demo, name, "rain", WORLD, 18)
    with pytest.raises(UserError, match="no modality 'snow': they are rain, phenomena"):
        chart_data(demo, name, "snow", WORLD, 24)
    with pytest.raises(UserError, match="choose a larger region"):
        chart_data(demo, name, "rain", Region(0.1, 0.1, 1.2, 1.2, "a speck"), 24)
    grid = worlds.globe(30.0)
    empty = worlds.made(grid, {"total_cloud_cover": everywhere(grid, np.nan)})
    with pytest.raises(UserError, match="no total cloud cover in World at 6 h"):
        chart_data(empty, "2020-01-01", "phenomena", WORLD, 6)
    places = StationList([48.9, 51.5], [2.4, -0.1], ("Paris", "London"))
    listed = worlds.made(places, {"total_cloud_cover": np.zeros(2)})
    with pytest.raises(UserError, match="list of stations"):
        chart_data(listed, "2020-01-01", "phenomena", WORLD, 6)


@pytest.mark.skipif(not SAMPLE.exists(), reason="the sample grids are not beside the project")
def test_a_real_forecast_feeds_what_it_has_and_is_told_what_it_lacks(tmp_path, monkeypatch):
    pytest.importorskip("eccodes")
    for name in ("ZEPHYRUS_DATA", "XDG_CACHE_HOME"):
        monkeypatch.setenv(name, str(tmp_path / name))
    added = CliRunner().invoke(data_command, ["add", "real", str(SAMPLE)])
    assert added.exit_code == 0, added.output
    real = load_dataset("real")
    forecast = real.forecast("2024-06-03")
    feeds = [name for name in MODALITIES if lacking(forecast, name) is None]
    assert feeds == ["500hpa_situation", "850hpa_situation"]
    assert "needs mean_sea_level_pressure, or surface_pressure; it has" in str(
        lacking(forecast, "land_situation")
    )
    data = chart_data(real, forecast, "500hpa_situation", chart_region("Europe", real), 6)
    # Rows are 10 degrees apart; two more on each side of 33 to 72 N.
    assert data.latitude[:, 0].tolist() == [20.0, 30.0, 40.0, 50.0, 60.0, 70.0, 80.0, 90.0]
    assert 500.0 < np.nanmedian(data.values) / 10.0 < 600.0
    assert draw(data, real.features).startswith(b"\x89PNG")


def test_regions_are_boxes_or_features(demo):
    assert chart_region("western europe", demo) is REGIONS["Western Europe"]
    box = chart_region("170,-50,-170,-30", demo)
    assert box.edges == (170.0, -50.0, 190.0, -30.0)
    kenya = chart_region("Kenya", demo)
    assert kenya.title == "Kenya"
    assert kenya.west < 34.0 < 42.0 < kenya.east
    assert (
        chart_region("country:Georgia", demo).west
        > 0.0
        > chart_region("us_state:Georgia", demo).west
    )
    assert chart_region("the world", demo).edges == WORLD.edges


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("Atlantis", "no chart of 'Atlantis': There is no feature"),
        ("Georgia", "country, us_state"),
        ("1,2,3,99", "north must be -90 to 90"),
        ("10,10,10.5,10.5", "at least 1 degree"),
    ],
)
def test_a_region_that_means_nothing_is_refused(demo, name, words):
    with pytest.raises(UserError, match=words):
        chart_region(name, demo)


def test_the_seven_have_weatherqas_names_and_themes():
    assert list(MODALITIES) == [
        "rain",
        "phenomena",
        "max_temp",
        "min_temp",
        "500hpa_situation",
        "850hpa_situation",
        "land_situation",
    ]
    themes = [kind.theme for kind in MODALITIES.values()]
    assert [themes.count(theme) for theme in dict.fromkeys(themes)] == [1, 1, 2, 3]
    assert len(RAIN_CLASSES) == len(RAIN_EDGES) + 1
    assert modality("rain").daily
    assert not modality("phenomena").daily
