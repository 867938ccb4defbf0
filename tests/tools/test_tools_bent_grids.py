"""The tools on a grid that is not rectilinear, and on a list of stations."""

from functools import partial

import numpy as np
import pyproj
import pytest

from zephyrus import ToolError
from zephyrus_geodata import Dataset, Forecast
from zephyrus_geodata.cells import CellGrid, StationList
from zephyrus_tools import regions
from zephyrus_tools.dataset import dataset
from zephyrus_tools.map import map_image

HOURS = np.arange(6, 49, 6)


def world(grid):
    """Temperature falls with latitude and rises by 1 K a step; wind is the longitude."""

    def read(name):
        base = 300.0 - 0.5 * grid.cell_latitude if "temp" in name else grid.cell_longitude
        return (base[:, None] + np.arange(HOURS.size)).astype(np.float32)

    names = ("2m_temperature", "temperature_700", "10m_u_component_of_wind")
    forecast = Forecast(
        "bent",
        "2020-01-01",
        np.datetime64("2020-01-01T00"),
        HOURS,
        grid,
        {name: partial(read, name) for name in names},
        label="made up",
    )
    return Dataset("bent", {"2020-01-01": lambda: forecast}), forecast


@pytest.fixture(scope="module")
def bent():
    proj = pyproj.Proj("+proj=lcc +lat_0=48 +lon_0=8 +lat_1=48 +lat_2=48 +R=6371229")
    x = np.arange(-8e5, 8.1e5, 4e4)
    lon, lat = proj(*np.meshgrid(x, x), inverse=True)
    return world(CellGrid(lat, lon).check())


@pytest.fixture(scope="module")
def stations():
    return world(
        StationList([48.85, 51.5, 40.4], [2.35, -0.1, -3.7], ("Paris", "London", "Madrid"))
    )


def test_a_feature_has_the_mean_of_its_cells(bent, inline):
    result = inline(
        dataset,
        '{"variable": "temperature", "feature": "Switzerland", "hour": 6}',
        bent_world(bent),
    )
    assert "2 m temperature" in result.text
    # Switzerland lies around 46.8 N: 300 - 0.5 x 46.8 K.
    assert "3.4" in result.text or "3.5" in result.text
    assert "smaller than a grid cell" not in result.text


def bent_world(pair):
    return {Dataset: pair[0], Forecast: pair[1]}


def test_a_point_and_a_level(bent, inline):
    result = inline(
        dataset,
        '{"variable": "t700", "latitude": 48.0, "longitude": 8.0, "hour": 6}',
        bent_world(bent),
    )
    assert "700 hPa temperature" in result.text
    assert "2.8" in result.text or "2.9" in result.text  # 276 K
    far = inline(
        dataset,
        '{"variable": "t700", "latitude": -48.0, "longitude": 8.0, "hour": 6}',
        bent_world(bent),
    )
    assert "outside the grid" in far.text


def test_features_off_the_grid_are_refused(bent, inline):
    result = inline(
        dataset, '{"variable": "temperature", "feature": "Kenya", "hour": 6}', bent_world(bent)
    )
    assert result.error
    assert "outside the grid" in result.text


def test_a_map_shows_the_cells(bent):
    image = map_image.function(
        variable="temperature", hour=6, dataset=bent[0], forecast=bent[1], feature="Switzerland"
    )
    assert image.png.startswith(b"\x89PNG")
    whole = map_image.function(variable="temperature", hour=6, dataset=bent[0], forecast=bent[1])
    assert "whole grid" in whole.alt


def test_extremes_are_those_of_the_cells(bent):
    grid, field = bent[1].grid, bent[1].field("2m_temperature", 0)
    region = regions.box(0.0, 45.0, 15.0, 50.0)
    low, high = regions.extremes(grid, field, region)
    inside = (
        (grid.cell_latitude >= 45) & (grid.cell_latitude <= 50)
        & (grid.cell_longitude >= 0) & (grid.cell_longitude <= 15)
    )  # fmt: skip
    assert low.value == field.ravel()[inside].min()
    assert high.latitude == grid.cell_latitude[inside].min()


def test_stations_answer_for_points_only(stations, inline):
    here = inline(
        dataset, '{"variable": "temperature", "feature": "Paris", "hour": 6}', bent_world(stations)
    )
    assert "2.4" in here.text  # 300 - 0.5 x 48.85 K
    area = inline(
        dataset, '{"variable": "temperature", "feature": "France", "hour": 6}', bent_world(stations)
    )
    assert area.error
    assert "areas have no value" in area.text
    with pytest.raises(ToolError, match="list of stations"):
        map_image.function(
            variable="temperature", hour=6, dataset=stations[0], forecast=stations[1]
        )
