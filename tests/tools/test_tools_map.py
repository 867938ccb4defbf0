import io
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import shapely
from PIL import Image

from zephyrus import ToolError
from zephyrus_geodata import Dataset, Forecast, Grid, OutsideGrid
from zephyrus_tools import regions
from zephyrus_tools.map import map_image
from zephyrus_tools.palettes import palette
from zephyrus_tools.pixels import pixels

SAY = {"variable": "2m_temperature", "hour": 24}


def picture(result):
    (image,) = result.images
    assert image.alt == result.text
    return Image.open(io.BytesIO(image.png))


@pytest.mark.parametrize(
    "where",
    [
        {"feature": "Kenya"},
        {"feature": "Fiji"},
        {"feature": "Russia"},
        {"feature": "Antarctica", "kind": "continent"},
        {"feature": "Paris"},
        {"feature": "world"},
        {"west": 170, "south": -60, "east": -120, "north": 10},
        {},
    ],
)
@pytest.mark.parametrize("variable", ["2m_temperature", "mean_sea_level_pressure"])
def test_a_map_is_a_small_png(call, variable, where):
    result = call("map", variable=variable, hour=24, **where)
    assert result.error is None, result.text
    (image,) = result.images
    assert len(image.png) < 150_000
    drawn = picture(result)
    assert drawn.format == "PNG"
    assert 400 <= drawn.width <= 900
    assert 300 <= drawn.height <= 900
    assert not drawn.info  # no date, no software
    assert len(drawn.convert("RGB").getcolors(100_000)) > 20
    assert call("map", variable=variable, hour=24, **where).images[0].png == image.png


def test_the_text_says_what_is_shown(call, forecast):
    answer = call("map", **SAY, west=20, south=-20, east=50, north=20).text
    lat, lon = forecast.grid.latitude, forecast.grid.longitude
    field = forecast.field("2m_temperature", 3)
    part = field[np.ix_((lat > -20) & (lat < 20), (lon > 20) & (lon < 50))].astype(float) - 273.15
    assert "Map of 2 m temperature (analytic test world), box, 20.0°S to 20.0°N, 20.0°E" in answer
    assert "at 24 h (valid 2001-01-06 00:00 UTC)" in answer
    low = float(re.search(r"minimum (\S+) °C near", answer)[1])
    high = float(re.search(r"maximum (\S+) °C near", answer)[1])
    assert (low, high) == pytest.approx((part.min(), part.max()), abs=6e-3)


def test_extremes_are_named_where_they_are(analytic, forecast):
    field = np.zeros(forecast.grid.shape, np.float32)
    row, column = 20, 71  # 12.5 N, 177.5 E
    field[row, column] = 5.0
    across = regions.box(170.0, 0.0, -170.0, 20.0)
    low, high = regions.extremes(forecast.grid, field, across)
    assert (high.value, high.latitude, high.longitude) == (5.0, 12.5, 177.5)
    assert low.value == 0.0
    elsewhere = regions.box(-170.0, 0.0, 170.0, 20.0)
    assert regions.extremes(forecast.grid, field, elsewhere)[1].value == 0.0


def test_a_feature_across_180_is_kept_in_one_piece(analytic):
    fiji = regions.around(analytic.features.get("Fiji").geometry, "Fiji")
    assert 165 < fiji.west < 180 < fiji.east < 195
    russia = regions.around(analytic.features.get("Russia").geometry, "Russia")
    assert 5 < russia.west < 25
    assert 185 < russia.east < 205
    kenya = regions.around(analytic.features.get("Kenya").geometry, "Kenya")
    assert kenya.east < 50
    whole = regions.around(analytic.features.get("Antarctica", "continent").geometry, "A")
    assert (whole.west, whole.east) == (-180.0, 180.0)


def test_two_far_parts_are_joined_the_short_way_round():
    parts = shapely.MultiPolygon([shapely.box(-179, 0, -170, 5), shapely.box(160, 0, 165, 5)])
    region = regions.around(parts, "x")
    assert region.west == pytest.approx(156.4)
    assert region.east == pytest.approx(193.6)


@pytest.mark.parametrize(
    ("edges", "same"),
    [
        ((200.0, 250.0), (-160.0, -110.0)),
        ((350.0, 10.0), (-10.0, 10.0)),
        ((170.0, 190.0), (170.0, -170.0)),
        ((300.0, -170.0), (-60.0, -170.0)),
    ],
)
def test_a_box_takes_longitudes_of_either_convention(edges, same):
    assert regions.box(edges[0], 0.0, edges[1], 30.0) == regions.box(same[0], 0.0, same[1], 30.0)


def test_a_box_may_go_all_round():
    assert regions.box(0.0, 0.0, 360.0, 30.0).text.endswith("all longitudes")


@pytest.mark.parametrize(
    ("name", "low", "high"),
    [
        ("2m_temperature", -30.0, 20.0),
        ("2m_temperature", 20.0, 30.0),
        ("temperature_500", -40.0, -10.0),
        ("10m_u_component_of_wind", -3.0, 12.0),
        ("10m_wind_speed", 1.0, 17.0),
        ("total_precipitation_6hr", 0.0, 0.05),
        ("total_precipitation_6hr", 0.0, 180.0),
        ("total_cloud_cover", 0.0, 100.0),
        ("mean_sea_level_pressure", 970.0, 1040.0),
        ("geopotential_500", 5500.0, 5500.0),
    ],
)
def test_the_colours_cover_the_values(name, low, high):
    look = palette(name, low, high)
    assert look.rgb.shape == (look.levels.size - 1, 3)
    assert look.levels[0] <= low
    assert look.levels[-1] >= high
    assert (np.diff(look.levels) > 0).all()
    assert 3 <= look.levels.size <= 16


def test_temperature_turns_from_blue_to_warm_at_zero():
    look = palette("2m_temperature", -20.0, 20.0)
    below, above = look.rgb[look.classes(np.array([-1.0, 1.0], np.float32))].astype(int)
    assert below[2] > below[0]
    assert above[0] > above[2]


def test_missing_cells_are_grey_and_a_map_without_data_is_refused(analytic, forecast, inline):
    from zephyrus.tools import Tool

    values = np.array(forecast.cells("2m_temperature")[:, :2])
    values[:, 1] = np.nan
    lon = np.tile(forecast.grid.longitude, forecast.grid.shape[0])
    values[lon < 0.0, 0] = np.nan
    made = Forecast(
        "gappy", "a", forecast.init_time, forecast.lead_hours[:2], forecast.grid,
        {"2m_temperature": lambda: values},
    )  # fmt: skip
    world = {Dataset: analytic, Forecast: made}
    tool = Tool(map_image.function, name="map")
    drawn = picture(inline(tool, '{"variable": "2m_temperature", "hour": 6}', world))
    rgb = np.asarray(drawn.convert("RGB"))
    grey = (rgb == 0xC8).all(axis=-1).mean(axis=0)
    assert grey[150] > 0.3  # the west
    assert grey[500] < 0.05  # the east
    refused = inline(tool, '{"variable": "2m_temperature", "hour": 12}', world)
    assert refused.error == "tool_error"
    assert "no 2m_temperature data there at 12 h" in refused.text


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"hour": 25}, "nearest: 24 or 30"),
        ({"feature": "Narnia"}, "no feature named 'Narnia'"),
        ({"feature": "Kenya", "west": 3}, "either a feature or a box"),
        ({"kind": "country"}, "kind needs a feature"),
        ({"west": 3, "east": 5}, "missing: south, north"),
        ({"west": 3, "east": 3, "south": 1, "north": 5}, "at least 1 degree east of west"),
        ({"west": 3, "east": 9, "south": 5, "north": 1}, "north must be at least 1 degree"),
        ({"west": 3, "east": 400, "south": 1, "north": 5}, "east must be -180 to 360 degrees"),
        ({"west": -190, "east": 3, "south": 1, "north": 5}, "west must be -180 to 360 degrees"),
        ({"west": -180, "east": 360, "south": 1, "north": 5}, "at most 360 degrees east of west"),
        ({"west": 190, "east": -170, "south": 1, "north": 5}, "at least 1 degree east of west"),
        ({"west": 3, "east": 9, "south": -91, "north": 5}, "south must be -90 to 90 degrees"),
    ],
)
def test_a_wrong_call_is_refused_with_how_to_mend_it(refusal, arguments, message):
    assert message in refusal("map", **{**SAY, **arguments})


def test_a_regional_grid_is_shown_whole():
    grid = Grid(np.arange(30.0, 60.0, 2.0), np.arange(-10.0, 20.0, 2.0))
    region = regions.whole(grid)
    assert (region.west, region.south, region.east, region.north) == (-11.0, 29.0, 19.0, 59.0)
    assert region.title == "whole grid"
    shown = pixels(grid, np.zeros(grid.shape, np.float32), region, (30, 30))
    assert (shown == 0.0).all()
    with pytest.raises(OutsideGrid):
        regions.extremes(grid, np.zeros(grid.shape), regions.box(100.0, 30.0, 120.0, 50.0))


def test_the_whole_circle_is_a_box():
    assert regions.box(-180.0, -90.0, 180.0, 90.0).text == "90.0°S to 90.0°N, all longitudes"
    with pytest.raises(ToolError):
        regions.box(10.0, 0.0, 10.0, 5.0)


def test_threads_draw_the_same_maps(analytic, forecast):
    def draw(name):
        return map_image.function("mslp", 24, analytic, forecast, feature=name).png

    names = ["Kenya", "Brazil", "Fiji"] * 2
    alone = [draw(name) for name in names[:3]] * 2
    with ThreadPoolExecutor(6) as pool:
        assert list(pool.map(draw, names)) == alone


def test_a_map_needs_neither_pyplot_nor_cartopy():
    code = """
import sys
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_tools.map import map_image
data = analytic_dataset()
assert "matplotlib" not in sys.modules
image = map_image.function("t2m", 24, data, data.forecast("2001-01-05"), feature="Kenya")
assert image.png[1:4] == b"PNG"
assert not {"matplotlib.pyplot", "cartopy", "geopandas", "xarray"} & set(sys.modules)
"""
    subprocess.run([sys.executable, "-c", code], check=True, timeout=120)
