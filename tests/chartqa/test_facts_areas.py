"""The named areas of charts."""

import numpy as np
import pytest

from zephyrus_chartqa.facts.areas import MOST, chart_areas
from zephyrus_chartqa.region import REGIONS, Region
from zephyrus_geodata import load_dataset
from zephyrus_geodata.cells import StationList


@pytest.fixture(scope="module")
def demo():
    return load_dataset("demo")


def named(dataset, region):
    return [area.name for area in chart_areas(dataset, REGIONS[region])]


def test_areas_are_countries_seas_and_compass_parts_of_large_ones(demo):
    europe, australia = named(demo, "Europe"), named(demo, "Australia and New Zealand")
    assert {"France", "Germany", "the North Sea", "Finland"} <= set(europe)
    assert {"northwestern Australia", "southeastern Australia"} <= set(australia)
    assert "Australia" not in australia  # a quarter of it has a value, the whole has many
    assert "the north of the South China Sea" in named(demo, "Maritime Continent")


@pytest.mark.parametrize("region", ["Europe", "Africa", "North America", "Arctic", "North Pacific"])
def test_areas_are_few_apart_from_each_other_and_within_the_region(demo, region):
    shown = REGIONS[region]
    areas = chart_areas(demo, shown)
    assert 4 <= len(areas) <= MOST
    assert [a.latitude for a in areas] == sorted((a.latitude for a in areas), reverse=True)
    grid = demo.grid
    used = np.zeros(grid.size)
    for area in areas:
        assert area.size > 0 and (area.weights > 0).all()
        latitude, longitude = grid.cell_latitude[area.cells], grid.cell_longitude[area.cells]
        assert ((latitude >= shown.south) & (latitude <= shown.north)).all()
        assert ((longitude - shown.west) % 360.0 <= shown.east - shown.west).all()
        assert latitude.min() <= area.latitude <= latitude.max()
        used[area.cells] += area.weights
    # Areas share rims of cells, no more.
    whole = sum(area.size for area in areas)
    assert np.minimum(used, grid.cell_area).sum() >= 0.9 * whole


def test_a_compass_part_lies_on_its_side_of_the_others(demo):
    by_key = {a.key: a for a in chart_areas(demo, REGIONS["Australia and New Zealand"])}
    west, east = (by_key[f"country:Australia/north{side}"] for side in ("west", "east"))
    south = by_key["country:Australia/southeast"]
    assert west.longitude < east.longitude
    assert south.latitude < east.latitude
    assert abs(west.latitude - east.latitude) < 5.0


def test_a_region_that_shows_little_has_no_areas(demo):
    assert chart_areas(demo, Region(-150.0, -50.0, -145.0, -45.0, "open ocean")) == ()


def test_a_list_of_stations_has_none():
    class Stations:
        grid = StationList.__new__(StationList)

    assert chart_areas(Stations(), REGIONS["Europe"]) == ()
