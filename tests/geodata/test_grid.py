import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from zephyrus_geodata.errors import OutsideGrid, UnsuitableData
from zephyrus_geodata.grid import EARTH_RADIUS, Grid

SPHERE = 4.0 * math.pi * EARTH_RADIUS**2


def gaussian(n: int) -> NDArray[np.float64]:
    """Latitudes of an n-row Gaussian grid, south to north."""
    return np.rad2deg(np.arcsin(np.polynomial.legendre.leggauss(n)[0]))


def t63() -> Grid:
    return Grid.from_coords(gaussian(96), np.arange(192) * 1.875)[0]


GLOBAL = {
    "cell-centred 5 deg": Grid(np.arange(-87.5, 90, 5), np.arange(-177.5, 180, 5)),
    "with poles 2.5 deg": Grid(np.linspace(-90, 90, 73), np.arange(-180, 180, 2.5)),
    "Gaussian T63": t63(),
    "one pole missing": Grid(np.linspace(-90, 87.5, 72), np.arange(-180, 180, 2.5)),
    "two by three": Grid([-45, 45], [-120, 0, 120]),
}


@pytest.mark.parametrize("grid", GLOBAL.values(), ids=GLOBAL)
def test_cells_of_a_global_grid_tile_the_sphere(grid: Grid) -> None:
    assert grid.periodic
    assert grid.cell_area.shape == (grid.size,)
    assert (grid.cell_area > 0).all()
    assert grid.cell_area.sum() == pytest.approx(SPHERE, rel=1e-13)


def test_cell_area_is_the_integral_of_cos_latitude() -> None:
    grid = t63()
    middle = (np.arange(200_000) + 0.5) / 200_000
    for row in (0, 30, 95):
        south, north = np.deg2rad(grid.lat_edges[row : row + 2])
        integral = np.cos(south + (north - south) * middle).mean() * (north - south)
        expected = EARTH_RADIUS**2 * integral * math.radians(1.875)
        np.testing.assert_allclose(grid.cell_area[row * 192 : (row + 1) * 192], expected, rtol=1e-9)


def test_rows_on_the_pole_are_half_cells() -> None:
    grid = GLOBAL["with poles 2.5 deg"]
    assert grid.lat_edges[[0, 1, -2, -1]].tolist() == [-90.0, -88.75, 88.75, 90.0]
    cap = 2 * math.pi * EARTH_RADIUS**2 * (1 - math.sin(math.radians(88.75)))
    assert grid.cell_area[:144].sum() == pytest.approx(cap, rel=1e-10)


def test_gaussian_rows_reach_the_pole() -> None:
    grid = t63()
    assert grid.latitude[-1] == pytest.approx(88.57217, abs=1e-5)
    assert grid.lat_edges[0] == -90.0
    assert grid.lat_edges[-1] == 90.0
    assert grid.lat_edges[1] == pytest.approx((grid.latitude[0] + grid.latitude[1]) / 2)


def test_a_regional_grid_ends_half_a_spacing_outside() -> None:
    grid = Grid([40, 42, 44], [-10, -8, -6, -4])
    assert not grid.periodic
    assert grid.lat_edges.tolist() == [39, 41, 43, 45]
    assert grid.lon_edges.tolist() == [-11, -9, -7, -5, -3]


def test_from_coords_sorts_and_wraps_data() -> None:
    lat, lon = np.array([60.0, 0.0, -60.0]), np.array([0.0, 90.0, 180.0, 270.0])
    data = np.arange(12).reshape(3, 4)
    grid, ilat, ilon = Grid.from_coords(lat, lon)
    assert grid.latitude.tolist() == [-60, 0, 60]
    assert grid.longitude.tolist() == [-180, -90, 0, 90]
    assert data[ilat][:, ilon].tolist() == [[10, 11, 8, 9], [6, 7, 4, 5], [2, 3, 0, 1]]


def test_a_seam_given_twice_is_taken_once() -> None:
    grid, _, ilon = Grid.from_coords([-45, 45], [0.0, 90, 180, 270, 360])
    assert grid.longitude.tolist() == [-180, -90, 0, 90]
    assert ilon.tolist() == [2, 3, 0, 1]
    grid, _, _ = Grid.from_coords([-45, 45], [-180.0, -90, 0, 90, 180])
    assert grid.longitude.tolist() == [-180, -90, 0, 90]


def test_single_precision_coordinates_make_the_same_grid() -> None:
    lon = np.arange(0, 360, 0.1)
    grid, _, _ = Grid.from_coords([-45, 45], lon)
    single, _, _ = Grid.from_coords([-45, 45], lon.astype(np.float32))
    assert single.shape == grid.shape == (2, 3600)
    np.testing.assert_allclose(single.longitude, grid.longitude, rtol=0, atol=2e-5)


def test_a_region_across_the_antimeridian_stays_in_one_piece() -> None:
    grid, _, ilon = Grid.from_coords([-20, -10], [160.0, 170, 180, -170, -160])
    assert grid.longitude.tolist() == [160, 170, 180, 190, 200]
    assert ilon.tolist() == [0, 1, 2, 3, 4]
    assert not grid.periodic
    assert grid.nearest(-11, -171) == 5 + 3
    same, _, _ = Grid.from_coords([-20, -10], [160.0, 170, 180, 190, 200])
    assert same == grid


def test_nearest_is_the_closest_centre() -> None:
    grid = t63()
    assert grid.nearest(grid.latitude[7], grid.longitude[11]) == 7 * 192 + 11
    assert grid.nearest(90, 0) // 192 == 95
    assert grid.nearest(-90, 0) // 192 == 0
    assert grid.nearest(0.1, 179.5) % 192 == 0  # nearer to -180 than to 178.125
    assert grid.nearest(0.1, 179.0) % 192 == 191


@given(lat=st.floats(-90, 90), lon=st.floats(-720, 720))
def test_nearest_agrees_with_a_search_of_all_cells(lat: float, lon: float) -> None:
    grid = GLOBAL["cell-centred 5 deg"]
    row, column = divmod(grid.nearest(lat, lon), grid.shape[1])
    away = np.abs((grid.longitude - lon + 180) % 360 - 180)
    assert away[column] <= away.min() + 1e-9
    assert abs(grid.latitude[row] - lat) <= np.abs(grid.latitude - lat).min() + 1e-9


@pytest.mark.parametrize(("lat", "lon"), [(38.9, -8), (50, -8), (42, 0), (math.nan, -8)])
def test_a_point_outside_is_refused(lat: float, lon: float) -> None:
    with pytest.raises(OutsideGrid, match=r"covers latitude 39 to 45 and longitude -11 to -3\.$"):
        Grid([40, 42, 44], [-10, -8, -6, -4]).nearest(lat, lon)


@pytest.mark.parametrize(("lat", "lon"), [(90.5, 0), (0, math.nan), (0, math.inf)])
def test_a_point_off_the_earth_is_refused(lat: float, lon: float) -> None:
    with pytest.raises(OutsideGrid, match="lies outside the grid"):
        t63().nearest(lat, lon)


def test_key_tells_grids_apart_and_forgives_rounding() -> None:
    grid = t63()
    assert grid.key == t63().key
    assert grid == t63() and hash(grid) == hash(t63())
    again = Grid(grid.latitude.astype(np.float32), grid.longitude)
    assert again == grid
    moved = Grid(grid.latitude, grid.longitude + 0.5)
    assert moved != grid
    assert len({g.key for g in GLOBAL.values()}) == len(GLOBAL)
    assert grid != "a grid"


@pytest.mark.parametrize(
    ("lat", "lon", "message"),
    [
        ([0.0], [0.0, 1.0], "at least two latitudes"),
        ([0.0, 1.0], [5.0], "at least two longitudes"),
        ([1.0, 0.0], [0.0, 1.0], "Every latitude must"),
        ([0.0, 1.0], [0.0, 0.0], "Every longitude must"),
        ([0.0, math.nan], [0.0, 1.0], "Every latitude must"),
        ([0.0, 91.0], [0.0, 1.0], "beyond the poles"),
        ([0.0, 1.0], [0.0, 180.0, 360.0], "more than once"),
    ],
)
def test_bad_coordinates_are_refused(lat: list[float], lon: list[float], message: str) -> None:
    with pytest.raises(UnsuitableData, match=message):
        Grid(lat, lon)


def test_two_dimensional_coordinates_are_refused() -> None:
    with pytest.raises(UnsuitableData, match="one dimension"):
        Grid.from_coords(np.zeros((2, 2)), np.zeros((2, 2)))
