from pathlib import Path

import numpy as np
import pytest

from zephyrus_geodata.cells import CellGrid, StationList
from zephyrus_geodata.errors import UnsuitableData
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.reading.extras import settle
from zephyrus_geodata.reading.grids import lay_out
from zephyrus_geodata.reading.reduced import ReducedGrid
from zephyrus_geodata.reading.understood import Horizontal

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "grids"


def straight(lat, lon, kind="regular_ll"):
    return Horizontal(
        "rectilinear", kind, ("lat", "lon"), np.asarray(lat, float), np.asarray(lon, float)
    )


@pytest.mark.parametrize("turn", [1, -1])
@pytest.mark.parametrize(
    "lon",
    [np.arange(0.0, 360.0, 10.0), np.arange(-180.0, 180.0, 10.0), np.arange(0.0, 361.0, 10.0)],
)
def test_every_order_comes_to_the_same_cells(turn, lon):
    lat = np.arange(-85.0, 90.0, 10.0)[::turn]
    laid = lay_out(straight(lat, lon))
    # A value that says where it is.
    wrapped = (lon + 180.0) % 360.0 - 180.0
    values = lat[:, None] * 1000.0 + wrapped
    cells = laid.gather(np.stack([values, values + 0.5]))
    assert isinstance(laid.grid, Grid)
    assert cells.shape == (2, laid.grid.size)
    expected = laid.grid.cell_latitude * 1000.0 + laid.grid.cell_longitude
    np.testing.assert_allclose(cells[0], expected)
    np.testing.assert_allclose(cells[1], expected + 0.5)
    assert laid.grid.periodic
    assert any("south to north" in str(note) for note in laid.notes) == (turn == -1)
    assert any("given twice" in str(note) for note in laid.notes) == (lon.size == 37)


def test_a_region_across_180_stays_in_one_piece():
    laid = lay_out(straight(np.arange(-20.0, 0.0, 5.0), np.arange(170.0, 200.0, 5.0)))
    assert laid.grid.longitude.tolist() == [170.0, 175.0, 180.0, 185.0, 190.0, 195.0]


@pytest.mark.parametrize("swap", [False, True])
def test_two_dimensional_coordinates_of_a_regular_grid(swap):
    lat, lon = np.meshgrid(np.arange(50.0, 30.0, -5.0), np.arange(0.0, 60.0, 10.0), indexing="ij")
    values = lat * 1000.0 + lon
    if swap:
        lat, lon, values = lat.T, lon.T, values.T
    laid = lay_out(Horizontal("curvilinear", "", ("y", "x"), lat, lon))
    assert isinstance(laid.grid, Grid)
    expected = laid.grid.cell_latitude * 1000.0 + laid.grid.cell_longitude
    np.testing.assert_allclose(laid.gather(values), expected)


def test_a_bent_grid_keeps_its_cells():
    y, x = np.meshgrid(np.arange(40.0, 50.0), np.arange(0.0, 12.0), indexing="ij")
    laid = lay_out(Horizontal("curvilinear", "lambert", ("y", "x"), y + 0.1 * x, x - 0.1 * y))
    assert isinstance(laid.grid, CellGrid)
    assert laid.grid.shape == (10, 12)
    values = np.arange(240.0).reshape(2, 10, 12)
    np.testing.assert_array_equal(laid.gather(values), values.reshape(2, 120))
    assert "keeps its own cells" in str(laid.notes[0])


@pytest.mark.parametrize("kind", ["healpix", "ugrid", "unstructured_grid", "sh", "space_view"])
def test_what_is_not_read_says_how_to_convert_it(kind):
    place = Horizontal("points", kind, ("values",), np.arange(5.0), np.arange(5.0))
    with pytest.raises(UnsuitableData, match=r"is on .*which is not read\. Convert it: "):
        lay_out(place)


def test_points_without_a_name_are_no_grid_and_no_stations():
    place = Horizontal("points", "", ("values",), np.arange(5.0), np.arange(5.0))
    with pytest.raises(UnsuitableData, match="5 places in a list, on a grid that it doesn't name"):
        lay_out(place)
    named = Horizontal(
        "points", "stations", ("station",), np.array([51.5]), np.array([359.9]), labels=("London",)
    )
    laid = lay_out(named)
    assert isinstance(laid.grid, StationList)
    assert laid.grid.names == ("London",)
    values = np.arange(3.0)[:, None]
    assert laid.gather(values) is values


def test_one_row_is_no_grid():
    with pytest.raises(UnsuitableData, match="1 latitude and 3 longitudes; a grid needs two"):
        lay_out(straight([50.0], [0.0, 1.0, 2.0]))


def reduced(lengths, first=0.0):
    lat = np.linspace(80.0, -80.0, len(lengths))
    points = [
        (la, first + 360.0 * i / n) for la, n in zip(lat, lengths, strict=True) for i in range(n)
    ]
    return np.array(points).T


def brute(lengths, row_values, first=0.0):
    """Means over each new cell of a step function, on a fine ring of samples."""
    count = max(lengths)
    fine = (np.arange(count * 5040) + 0.5) / (count * 5040) * 360.0 - 180.0 / count
    rows = []
    for n, values in zip(lengths, row_values, strict=True):
        index = np.floor(((fine - first) % 360.0) / (360.0 / n) + 0.5).astype(int) % n
        rows.append(values[index].reshape(count, -1).mean(axis=1))
    return np.array(rows)


@pytest.mark.parametrize("first", [0.0, 2.5])
def test_a_reduced_grid_is_made_full_row_by_row(first):
    lengths = [4, 6, 9, 12, 9, 6, 4]
    lat, lon = reduced(lengths, first)
    rng = np.random.default_rng(0)
    values = rng.normal(size=lat.size)
    grid = ReducedGrid(lat, lon)
    full = grid.gather(values).reshape(grid.grid.shape)
    rows = np.split(values, np.cumsum(lengths)[:-1])
    expected = np.roll(brute(lengths, rows, first), 6, axis=1)[::-1]  # from -180, from the south
    np.testing.assert_allclose(full, expected, atol=2e-3)
    means = np.array([row.mean() for row in rows])[::-1]
    np.testing.assert_allclose(full.mean(axis=1), means, atol=1e-6)
    assert full.max() <= values.max() + 1e-6


def test_missing_points_of_a_reduced_grid_count_for_nothing():
    lat, lon = reduced([4, 8, 4])
    values = np.ones((2, lat.size))
    values[0, 0] = np.nan
    full = ReducedGrid(lat, lon).gather(values).reshape(2, 3, 8)
    assert np.isnan(full[0]).sum() in (1, 2)
    np.testing.assert_allclose(full[~np.isnan(full)], 1.0)


def test_a_part_of_a_reduced_grid_is_refused():
    lat, lon = reduced([4, 8, 4])
    with pytest.raises(UnsuitableData, match="cdo setgridtype,regular"):
        ReducedGrid(lat[:-1], lon[:-1])


def test_the_reduced_sample_keeps_every_rows_mean():
    settle()
    eccodes = pytest.importorskip("eccodes")
    path = SAMPLES / "reduced_gaussian.grib"
    if not path.exists():
        pytest.skip("the sample grids are not here")
    with path.open("rb") as file:
        message = eccodes.codes_grib_new_from_file(file)
        try:
            lat, lon, values = (
                eccodes.codes_get_array(message, key)
                for key in ("latitudes", "longitudes", "values")
            )
            lengths = eccodes.codes_get_array(message, "pl")
        finally:
            eccodes.codes_release(message)
    laid = lay_out(Horizontal("points", "reduced_gg", ("values",), lat, lon))
    assert laid.grid.shape == (len(lengths), int(max(lengths)))
    full = laid.gather(values).reshape(laid.grid.shape)
    means = np.array([row.mean() for row in np.split(values, np.cumsum(lengths)[:-1])])[::-1]
    np.testing.assert_allclose(full.mean(axis=1), means, atol=1e-4)
