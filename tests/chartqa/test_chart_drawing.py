"""What charts look like: pixels, lines, barbs, words and bytes."""

import hashlib
import io
import os
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from itertools import pairwise

import chart_worlds as worlds
import numpy as np
import pyproj
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from zephyrus_chartqa.charts import barbs, draw, palettes, sampling
from zephyrus_chartqa.charts import view as views
from zephyrus_chartqa.charts.labels import around, meridian, parallel
from zephyrus_chartqa.charts.paper import MISSING, Legend, Paper
from zephyrus_chartqa.charts.projections import projections
from zephyrus_chartqa.charts.style import Style
from zephyrus_chartqa.charts.titles import lines
from zephyrus_chartqa.fields import chart_data
from zephyrus_chartqa.modality import MODALITIES, RAIN_EDGES
from zephyrus_chartqa.region import REGIONS, Region
from zephyrus_geodata import Grid, load_dataset
from zephyrus_geodata.cells import CellGrid

BOX = Region(0.0, 35.0, 40.0, 60.0, "a box")
ROOM = (400, 300)
CROSSING = Region(150.0, -50.0, 220.0, -10.0, "crossing 180")
DRAWN = [
    (region, which)
    for region in (*REGIONS.values(), CROSSING)
    for which in range(len(projections(region)))
]


@pytest.fixture(scope="module")
def demo():
    return load_dataset("demo")


def ids(case):
    return case.title if isinstance(case, Region) else None


def picture(png):
    image = Image.open(io.BytesIO(png))
    assert image.size == (640, 480)
    return np.asarray(image.convert("RGB"))


def rain(amounts, grid, region=BOX):
    fields = {"total_precipitation_24hr": np.asarray(amounts) / 1000.0}
    return chart_data(worlds.made(grid, fields), "2020-01-01", "rain", region, 24)


def pixel(data, seed, latitude, longitude, bar=True):
    paper = Paper(data, Style.of(seed), bar=bar)
    x, y = paper.view.pixels(np.array([longitude]), np.array([latitude]))[0]
    return int(paper.top + y), int(paper.left + x)


@pytest.mark.parametrize(("region", "which"), DRAWN, ids=ids)
def test_pixels_and_places_are_inverse(region, which):
    shown = views.view(region, which, ROOM)
    assert max(shown.width / ROOM[0], shown.height / ROOM[1]) == pytest.approx(1.0, abs=0.01)
    lon, lat = shown.places
    y, x = np.nonzero(shown.visible & (np.abs(lat) < 89.0))
    points = shown.pixels(lon[y, x], lat[y, x])
    assert np.abs(points - np.column_stack([x + 0.5, y + 0.5])).max() < 0.1
    share = shown.visible.mean()
    assert share > 0.45  # of the map is region: a fan or a disc leaves corners
    inside = (lat[y, x] >= region.south) & (lat[y, x] <= region.north)
    assert inside.all()


@pytest.mark.parametrize(("region", "which"), DRAWN, ids=ids)
def test_a_field_is_at_its_place_in_every_projection(region, which):
    grid = worlds.globe()
    latitude = worlds.made(grid, {"mean_sea_level_pressure": 1e5 + 100.0 * grid.cell_latitude})
    data = chart_data(latitude, "2020-01-01", "land_situation", region, 6)
    shown = views.view(region, which, ROOM)
    placed = sampling.sampler(data, shown)
    assert placed.known[shown.visible].all()
    for smooth in (False, True):
        found = placed.pixels(data.values, smooth=smooth) - 1000.0
        error = np.abs(found - shown.places[1])[shown.visible & (np.abs(shown.places[1]) < 80.0)]
        assert error.max() < 0.02
    y, x = np.nonzero(shown.visible)  # the poles, too, to which no cell belongs
    whole = placed.pixels(data.values, smooth=False)[y, x]
    assert np.abs(placed.at(data.values, x, y) - whole).max() < 1e-3
    # Longitude jumps somewhere; its sine and cosine don't, and are off by the bend between cells.
    turn = np.deg2rad(data.longitude)
    y, x = np.nonzero(shown.visible & (np.abs(shown.places[1]) < 85.0))  # at a pole is their mean
    lon = np.deg2rad(shown.places[0][y, x])
    for wave in (np.sin, np.cos):
        assert np.abs(placed.at(wave(turn), x, y) - wave(lon)).max() < 1.2e-3


def test_a_straight_projection_has_even_degrees():
    shown = views.view(Region(-10.0, -20.0, 30.0, 10.0, "a box"), 0, ROOM)
    x, y = shown.pixels(np.array([-10.0, 0.0, 30.0]), np.array([10.0, 0.0, -20.0])).T
    np.testing.assert_allclose(x, [0.0, 100.0, 400.0], atol=1e-3)
    np.testing.assert_allclose(y, [0.0, 100.0, 300.0], atol=1e-3)


@given(st.integers(3, 12), st.integers(3, 12), st.integers(2, 8), st.booleans(), st.integers(0, 99))
@settings(max_examples=40)
def test_refining_keeps_the_values_at_the_centres(rows, columns, times, goes_round, seed):
    field = np.random.default_rng(seed).standard_normal((rows, columns)).astype(np.float32)
    fine = sampling._refined(field, times, goes_round)
    np.testing.assert_allclose(fine[::times, ::times][:, :columns], field, atol=1e-5)
    if goes_round:
        np.testing.assert_allclose(fine[:, -1], fine[:, 0], atol=1e-5)


@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("amount", [0.05, 0.11, 9.99, 10.01, 30.0, 60.0, 120.0, 300.0])
def test_a_cells_colour_is_that_of_its_class(amount, seed):
    grid = worlds.globe()
    data = rain(np.full(grid.size, amount), grid)
    wanted = sum(amount >= edge for edge in RAIN_EDGES)
    shown = picture(draw(data, worlds.NOTHING, seed))
    colour = palettes.rain(Style.of(seed).palette)[wanted]
    assert shown[pixel(data, seed, 47.3, 18.3)].tolist() == colour.tolist()


def test_one_wet_cell_is_where_it_rained():
    grid = worlds.globe()
    amounts = np.zeros(grid.size)
    amounts[grid.nearest(47.5, 22.5)] = 60.0
    data = rain(amounts, grid)
    shown = picture(draw(data, worlds.NOTHING, 1))
    colours = palettes.rain(Style.of(1).palette)
    assert shown[pixel(data, 1, 47.6, 22.6)].tolist() == colours[4].tolist()
    for lat, lon in ((47.5, 12.5), (52.6, 22.6), (42.4, 27.7)):
        assert shown[pixel(data, 1, lat, lon)].tolist() == [255, 255, 255]


def test_missing_cells_are_grey():
    grid = worlds.globe()
    amounts = np.full(grid.size, 20.0)
    amounts[grid.nearest(47.5, 22.5)] = np.nan
    data = rain(amounts, grid)
    shown = picture(draw(data, worlds.NOTHING, 0))
    assert shown[pixel(data, 0, 47.6, 22.6)].tolist() == list(MISSING)
    beside = palettes.rain(Style.of(0).palette)[2].tolist()
    assert shown[pixel(data, 0, 47.6, 27.6)].tolist() == beside


def test_cloud_is_brighter_where_there_is_more():
    grid = worlds.globe()
    cover = np.clip((grid.cell_longitude - 0.0) / 40.0, 0.0, 1.0)
    data = chart_data(
        worlds.made(grid, {"total_cloud_cover": cover}), "2020-01-01", "phenomena", BOX, 6
    )
    shown = picture(draw(data, worlds.NOTHING, 0))
    grey = [shown[pixel(data, 0, 47.6, lon)].astype(int) for lon in (3.0, 13.0, 23.0, 33.0)]
    assert all(one.max() == one.min() for one in grey)
    assert all(a[0] + 30 < b[0] for a, b in pairwise(grey))


def test_a_value_on_an_edge_is_in_the_class_above():
    legend = Legend(np.array([0.1, 10.0]), np.zeros((3, 3), dtype=np.uint8), "mm")
    values = np.array([0.0, 0.1, 9.999, 10.0], dtype=np.float32)
    assert legend.classes(values).tolist() == [0, 1, 1, 2]


def test_a_bent_grid_is_at_its_place():
    proj = pyproj.Proj("+proj=lcc +lat_0=48 +lon_0=8 +lat_1=48 +lat_2=48 +R=6371229")
    lon, lat = proj(*np.meshgrid(*[np.arange(-8e5, 8.1e5, 4e4)] * 2), inverse=True)
    grid = CellGrid(lat, lon).check()
    region = Region(3.0, 44.0, 13.0, 52.0, "a box")
    field = worlds.made(grid, {"mean_sea_level_pressure": 1e5 + 100.0 * grid.cell_latitude})
    data = chart_data(field, "2020-01-01", "land_situation", region, 6)
    shown = views.view(region, 0, ROOM)
    found = sampling.sampler(data, shown).pixels(data.values, smooth=False) - 1000.0
    assert np.abs(found - shown.places[1])[shown.visible].max() < 0.02
    assert picture(draw(data, worlds.NOTHING, 0)).std() > 0.0


def test_beyond_a_regional_grid_all_is_grey():
    grid = worlds.globe()
    rows = np.flatnonzero(np.abs(grid.latitude - 47.5) < 8.0)
    small = Grid(grid.latitude[rows], np.arange(2.5, 20.0, 5.0))
    data = rain(np.full(small.size, 20.0), small)
    shown = picture(draw(data, worlds.NOTHING, 0))
    assert shown[pixel(data, 0, 47.6, 33.3)].tolist() == list(MISSING)
    assert shown[pixel(data, 0, 47.6, 13.3)].tolist() != list(MISSING)


@pytest.mark.parametrize(
    ("knots", "told", "parts", "pennants"),
    [
        (2.4, 0, 1, 0),  # calm: a circle
        (2.6, 5, 2, 0),
        (7.4, 5, 2, 0),
        (10.0, 10, 2, 0),
        (24.0, 25, 4, 0),
        (48.0, 50, 1, 1),
        (66.0, 65, 3, 1),
        (118.0, 120, 3, 2),
    ],
)
def test_feathers_tell_the_speed(knots, told, parts, pennants):
    made = barbs.barb(50.0, 50.0, np.array([1.0, 0.0]), knots * barbs.KNOT, southern=False)
    assert (made.knots, len(made.lines), len(made.pennants)) == (told, parts, pennants)
    if told:
        shaft = made.lines[0]
        np.testing.assert_allclose(shaft, [[50.0, 50.0], [50.0 - barbs.SHAFT, 50.0]], atol=1e-9)
    else:
        np.testing.assert_allclose(np.hypot(*(made.lines[0] - 50.0).T), 3.0)


@pytest.mark.parametrize("southern", [False, True])
def test_feathers_are_on_the_side_of_low_pressure(southern):
    west = barbs.barb(50.0, 50.0, np.array([1.0, 0.0]), 30 * barbs.KNOT, southern=southern)
    tips = np.array([feather[1] for feather in west.lines[1:]])
    poleward = tips[:, 1] - 50.0  # y runs down: north is negative
    assert ((poleward > 0) if southern else (poleward < 0)).all()
    assert (tips[:, 0] < np.array([feather[0][0] for feather in west.lines[1:]])).all()


@pytest.mark.parametrize(
    "region",
    [BOX, CROSSING, REGIONS["Arctic"], REGIONS["Southern Ocean and Antarctica"], REGIONS["World"]],
    ids=ids,
)
@pytest.mark.parametrize("which", [0, 1])
def test_barbs_point_where_the_wind_comes_from(region, which):
    grid = worlds.globe()
    speed = np.where(np.abs(grid.cell_latitude) < 85.0, 15.0, np.nan)
    fields = {"u_component_of_wind_850": speed, "v_component_of_wind_850": np.zeros(grid.size)}
    data = chart_data(worlds.made(grid, fields), "2020-01-01", "850hpa_situation", region, 6)
    shown = views.view(region, which, ROOM)
    made = barbs.barbs(data, shown, 40, shown.visible)
    assert len(made) > 15
    for one in made:
        assert one.knots == 30  # 15 m/s are 29.2 kt
        column, row = int(one.x), int(one.y)
        lon, lat = (axis[row, column] for axis in shown.places)
        place = np.array([lon, lon]), np.array([lat, lat + 0.01])
        here, north = shown.pixels(*place)
        north = (north - here) / np.hypot(*(north - here))
        shaft = (one.lines[0][1] - one.lines[0][0]) / barbs.SHAFT
        west = np.array([north[1], -north[0]])  # a quarter turn to the left of north
        assert shaft @ west > 0.99
        tip = one.lines[1][1] - one.lines[1][0]
        assert np.sign(tip @ north) == np.sign(lat)
        end = np.rint(one.lines[0][1]).astype(int)
        assert shown.visible[end[1], end[0]]  # no shaft is cut by the frame


def test_lines_say_what_when_and_whence(demo):
    name = demo.forecasts[0]
    told = lines(chart_data(demo, name, "rain", BOX, 72))
    assert told == (
        "24-hour precipitation (mm): a box",
        "Valid 1959-01-04 00 to 1959-01-05 00 UTC; initial time 1959-01-02 00 UTC, +48 to +72 h",
        "Data: demo, simulated (jcm T42)",
    )
    told = lines(chart_data(demo, name, "500hpa_situation", REGIONS["East Asia"], 72))
    assert told[0] == "500 hPa geopotential height (dagpm) and wind (kt): East Asia"
    assert told[1] == "Valid 1959-01-05 00 UTC; initial time 1959-01-02 00 UTC, +72 h"
    assert told[2].endswith("isohypses every 6 dagpm")
    assert "proxy" in lines(chart_data(demo, name, "phenomena", BOX, 6))[0]
    grid = worlds.globe(30.0)
    world = worlds.made(grid, {"surface_pressure": np.full(grid.size, 9e4)})
    told = lines(chart_data(world, "2020-01-01", "land_situation", REGIONS["World"], 6))
    assert told[0] == "Surface pressure, not reduced to sea level (hPa): World"


def test_degrees_are_named_and_apart():
    assert [meridian(x) for x in (0.0, 180.0, -180.0, 190.0, -30.0)] == [
        "0°",
        "180°",
        "180°",
        "170°W",
        "30°W",
    ]
    assert [parallel(y) for y in (-30.0, 0.0, 2.5)] == ["30°S", "0°", "2.5°N"]
    for region, which in DRAWN:
        told = around(views.view(region, which, ROOM))
        assert len(told) >= 3
        assert len({(round(one.x), round(one.y)) for one in told}) == len(told)


@pytest.mark.parametrize("name", MODALITIES)
def test_the_seed_changes_the_look_alone(demo, name):
    data = chart_data(demo, demo.forecasts[1], name, REGIONS["East Asia"], 48)
    drawn = [draw(data, demo.features, seed) for seed in range(5)]
    assert len(set(drawn)) > 2
    assert drawn[3] == draw(data, demo.features, 3)
    for png in drawn:
        assert picture(png).std() > 10.0


CASES = (("500hpa_situation", "Southern Ocean and Antarctica", 2), ("max_temp", "Europe", 7))
SCRIPT = f"""
import hashlib
from zephyrus_chartqa.charts import draw
from zephyrus_chartqa.fields import chart_data
from zephyrus_chartqa.region import REGIONS
from zephyrus_geodata import load_dataset
demo = load_dataset("demo")
for modality, region, seed in {CASES!r}:
    data = chart_data(demo, demo.forecasts[2], modality, REGIONS[region], 96)
    print(hashlib.sha256(draw(data, demo.features, seed)).hexdigest())
"""


def test_another_process_draws_the_same_bytes(demo):
    ours = []
    for modality, region, seed in CASES:
        data = chart_data(demo, demo.forecasts[2], modality, REGIONS[region], 96)
        ours.append(hashlib.sha256(draw(data, demo.features, seed)).hexdigest())
    theirs = subprocess.run(
        [sys.executable, "-c", SCRIPT],
        env={**os.environ, "PYTHONHASHSEED": "12345", "MPLBACKEND": "svg"},
        capture_output=True,
        text=True,
        check=True,
    )
    assert theirs.stdout.split() == ours


def test_threads_draw_what_one_draws(demo):
    works = [
        (name, region, seed)
        for seed, region in enumerate(("Western Europe", "North Pacific"))
        for name in ("500hpa_situation", "land_situation", "min_temp", "850hpa_situation")
    ]

    def work(one):
        name, region, seed = one
        data = chart_data(demo, demo.forecasts[0], name, REGIONS[region], 120)
        return draw(data, demo.features, seed)

    views._view.cache_clear()
    with ThreadPoolExecutor(4) as pool:
        together = list(pool.map(work, works * 2))
    assert together == [work(one) for one in works] * 2
