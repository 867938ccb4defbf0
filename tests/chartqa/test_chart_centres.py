"""Highs and lows: at known places of made-up fields."""

import chart_worlds as worlds
import numpy as np
import pytest

from zephyrus_chartqa.centres import centres
from zephyrus_chartqa.fields import chart_data
from zephyrus_chartqa.levels import contour_levels, contour_step
from zephyrus_chartqa.region import REGIONS, Region
from zephyrus_geodata import Grid

WORLD = REGIONS["World"]


def pressure(grid, field, region=WORLD, name="mean_sea_level_pressure"):
    modality = "500hpa_situation" if name.startswith("geopotential") else "land_situation"
    fields = {name: field}
    if modality == "500hpa_situation":
        fields |= {f"{c}_component_of_wind_500": np.zeros(grid.size) for c in "uv"}
    return chart_data(worlds.made(grid, fields), "2020-01-01", modality, region, 6)


def found(data):
    return {(c.kind, c.latitude, (c.longitude + 180.0) % 360.0 - 180.0) for c in centres(data)}


def test_centres_are_where_they_were_put():
    grid = worlds.globe()
    places = [(52.5, -177.5, -30.0), (42.5, 147.5, 20.0), (-57.5, 2.5, -40.0), (32.5, -32.5, 18.0)]
    data = pressure(grid, worlds.bumps(grid, places))
    kinds = {("high" if depth > 0 else "low", lat, lon) for lat, lon, depth in places}
    assert found(data) == kinds
    deepest = centres(data)[0]
    assert (deepest.kind, deepest.latitude) == ("low", -57.5)  # the most extreme comes first
    assert deepest.value == data.values[deepest.row, deepest.column]
    assert deepest.value == pytest.approx(973.0, abs=0.1)
    assert data.latitude[deepest.row, deepest.column] == -57.5


def test_a_centre_on_the_antimeridian_is_found_in_a_region_that_crosses_it():
    grid = worlds.globe(2.5)
    region = Region(150.0, 30.0, 210.0, 70.0, "crossing 180")
    data = pressure(grid, worlds.bumps(grid, [(51.25, 178.75, -25.0)]), region)
    assert found(data) == {("low", 51.25, 178.75)}
    beyond = pressure(grid, worlds.bumps(grid, [(51.25, -178.75, -25.0)]), region)
    assert centres(beyond)[0].longitude == 181.25


def test_a_low_at_the_pole_is_found():
    grid = worlds.globe(2.5)
    data = pressure(grid, worlds.bumps(grid, [(88.0, 60.0, -30.0)]), REGIONS["Arctic"])
    (low,) = centres(data)
    assert low.kind == "low"
    assert low.latitude > 85.0


@pytest.mark.parametrize(
    ("base", "depth", "marked"),
    [
        (1013.0, -2.0, False),  # 1011 is inside no line, and less than half an interval deep
        (1013.0, -6.0, True),  # 1007 is inside that of 1008
        (1011.0, -6.0, True),  # 1005 has no line around but is more than half an interval deep
        (1008.2, -0.45, False),  # inside that of 1008, but hardly deep at all
    ],
)
def test_a_dip_needs_a_line_around_or_half_an_interval(base, depth, marked):
    grid = worlds.globe()
    places = [(47.5, 2.5, depth), (-47.5, 2.5, -60.0), (-47.5, 122.5, 40.0)]
    data = pressure(grid, worlds.bumps(grid, places, base))
    assert contour_step(data) == 8.0
    assert (("low", 47.5, 2.5) in found(data)) is marked


def test_what_is_open_to_the_edge_is_no_centre():
    grid = worlds.globe(2.5)
    region = Region(0.0, 30.0, 40.0, 60.0, "a box")
    outside = worlds.bumps(grid, [(46.25, -11.25, -40.0)])  # its flank is lowest on the edge
    assert not centres(pressure(grid, outside, region))
    slope = 100.0 * (1000.0 + grid.cell_longitude)
    assert not centres(pressure(grid, slope, region))


def test_a_fine_grid_is_smoothed_first():
    axis = np.arange(0.125, 20.0, 0.25)
    grid = Grid(40.0 + axis, axis)
    noise = 60.0 * np.random.default_rng(3).standard_normal(grid.size)
    region = Region(0.0, 40.0, 20.0, 60.0, "a box")
    data = pressure(grid, worlds.bumps(grid, [(50.0, 10.0, -20.0)], width=400.0) + noise, region)
    (low,) = centres(data)
    assert (low.kind, low.value) == ("low", data.values[low.row, low.column])
    assert np.hypot(low.latitude - 50.0, (low.longitude - 10.0) * np.cos(np.deg2rad(50))) < 1.5


def test_centres_too_near_to_be_marked_apart_are_one():
    grid = worlds.globe(2.5)
    places = [(51.25, 11.25, -30.0), (51.25, 21.25, -20.0), (-48.75, 100.0, 30.0)]
    whole = pressure(grid, worlds.bumps(grid, places, width=250.0))
    part = pressure(
        grid, worlds.bumps(grid, places, width=250.0), Region(0.0, 40.0, 35.0, 62.0, "a box")
    )
    assert ("low", 51.25, 11.25) in found(whole)
    assert ("low", 51.25, 21.25) not in found(whole)
    assert {("low", 51.25, 11.25), ("low", 51.25, 21.25)} <= found(part)


def test_a_hole_in_the_data_hides_what_is_beside_it():
    grid = worlds.globe(2.5)
    field = worlds.bumps(grid, [(51.25, 11.25, -30.0)])
    region = Region(-20.0, 30.0, 40.0, 70.0, "a box")
    assert centres(pressure(grid, field, region))
    field[grid.nearest(51.25, 13.75)] = np.nan
    assert not centres(pressure(grid, field, region))


def test_height_has_centres_and_surface_pressure_has_none():
    grid = worlds.globe()
    field = worlds.bumps(grid, [(52.5, 2.5, -30.0)])
    height = pressure(grid, 9.80665 * (5500.0 + (field - 101300.0) / 10.0), name="geopotential_500")
    assert found(height) == {("low", 52.5, 2.5)}
    assert centres(height)[0].value == pytest.approx(5200.0, abs=1.0)
    assert not centres(pressure(grid, field, name="surface_pressure"))


@pytest.mark.parametrize(
    ("region", "depth", "step"),
    [
        (WORLD, -60.0, 8.0),
        (Region(-25.0, 30.0, 30.0, 70.0, "a box"), -40.0, 4.0),
        (Region(-25.0, 30.0, 30.0, 70.0, "a box"), -10.0, 2.0),
        (Region(-25.0, 30.0, 30.0, 70.0, "a box"), -2.0, 1.0),
    ],
)
def test_contours_are_multiples_of_a_step_that_suits(region, depth, step):
    grid = worlds.globe(2.5)
    data = pressure(grid, worlds.bumps(grid, [(51.25, 1.25, depth)]), region)
    assert contour_step(data) == step
    levels = contour_levels(data, step)
    low, high = data.values.min(), data.values.max()
    assert levels.tolist() == [x for x in np.arange(600.0, 1200.0, step) if low <= x <= high]
