"""Bent grids: held against pyproj's projections, geodesic areas and shapely's exact overlays."""

from pathlib import Path

import numpy as np
import pyproj
import pytest
import shapely
from hypothesis import example, given, settings
from hypothesis import strategies as st

from zephyrus_geodata.cells import CellGrid, StationList
from zephyrus_geodata.errors import OutsideGrid, UnsuitableData
from zephyrus_geodata.features import Feature
from zephyrus_geodata.grid import EARTH_RADIUS
from zephyrus_geodata.sphere import AzimuthalPlane
from zephyrus_geodata.zonal import ZonalIndex, build_zone

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "grids"
GEOD = pyproj.Geod(a=EARTH_RADIUS, b=EARTH_RADIUS)


class Projected:
    """A grid with equal spacing in a pyproj projection, and exact answers about its cells."""

    def __init__(self, projection, x, y):
        self.proj = pyproj.Proj(projection)
        self.x, self.y = np.asarray(x, float), np.asarray(y, float)
        lon, lat = self.proj(*np.meshgrid(self.x, self.y), inverse=True)
        self.grid = CellGrid(lat, lon).check()

    def box(self, cell):
        row, column = divmod(int(cell), self.x.size)
        dx, dy = self.x[1] - self.x[0], self.y[1] - self.y[0]
        x, y = self.x[column], self.y[row]
        return shapely.box(
            *sorted((x - dx / 2, x + dx / 2))[:1],
            *sorted((y - dy / 2, y + dy / 2))[:1],
            *sorted((x - dx / 2, x + dx / 2))[1:],
            *sorted((y - dy / 2, y + dy / 2))[1:],
        )

    def flat(self, polygon, step=0.01):
        dense = shapely.segmentize(polygon, step)
        return shapely.transform(dense, lambda p: np.stack(self.proj(p[:, 0], p[:, 1]), -1))

    def fraction(self, polygon, cell):
        box = self.box(cell)
        return self.flat(polygon).intersection(box).area / box.area

    def area(self, shape):
        """Area on the sphere of a shape in the projection, by geodesics."""
        dense = shapely.segmentize(shape, abs(self.x[1] - self.x[0]) / 20)
        round_ = shapely.transform(
            dense, lambda p: np.stack(self.proj(p[:, 0], p[:, 1], inverse=True), -1)
        )
        return sum(
            abs(GEOD.geometry_area_perimeter(part)[0])
            for part in shapely.get_parts(round_)
            if part.geom_type == "Polygon"
        )


LAMBERT = "+proj=lcc +lat_0=47.5 +lon_0=13.3 +lat_1=49 +lat_2=46 +R=6371229"
POLAR = "+proj=stere +lat_0=90 +lat_ts=60 +lon_0=-105 +R=6371229"
ROTATED = "+proj=ob_tran +o_proj=longlat +o_lon_p=0 +o_lat_p=39.25 +lon_0=18 +R=6371229"
PACIFIC = "+proj=lcc +lat_0=-20 +lon_0=179 +lat_1=-15 +lat_2=-25 +R=6371229"

GRIDS = {
    "lambert": lambda: Projected(LAMBERT, np.arange(-4e5, 4e5, 2e4), np.arange(-3e5, 3e5, 2e4)),
    "rows from the north": lambda: Projected(
        LAMBERT, np.arange(-4e5, 4e5, 2e4), np.arange(3e5, -3e5, -2e4)
    ),
    "columns from the east": lambda: Projected(
        LAMBERT, np.arange(4e5, -4e5, -2e4), np.arange(-3e5, 3e5, 2e4)
    ),
    "north pole": lambda: Projected(
        POLAR, np.arange(-3.9e6, 4e6, 1e5), np.arange(-3.9e6, 4e6, 1e5)
    ),
    "rotated pole": lambda: Projected(
        ROTATED, np.deg2rad(np.arange(-20, 20, 0.5)), np.deg2rad(np.arange(-15, 15, 0.5))
    ),
    "across 180": lambda: Projected(PACIFIC, np.arange(-1e6, 1e6, 5e4), np.arange(-1e6, 1e6, 5e4)),
}
POLYGONS = {
    "lambert": shapely.Polygon([(11, 46), (15.5, 46.4), (14.2, 48.9), (12.1, 48.2)]),
    "rows from the north": shapely.box(11, 46, 15, 48).difference(shapely.box(12, 46.5, 13, 47)),
    "columns from the east": shapely.box(11, 40, 40, 48),
    "north pole": shapely.box(-180, 80, 180, 90),
    "rotated pole": shapely.Polygon([(5, 50), (25, 52), (20, 60), (8, 57)]),
    "across 180": shapely.MultiPolygon(
        [shapely.box(176, -21, 180, -17), shapely.box(-180, -21, -177, -17)]
    ),
}


@pytest.mark.parametrize("name", GRIDS)
def test_fractions_and_areas_agree_with_exact_overlays(name):
    known, polygon = GRIDS[name](), POLYGONS[name]
    cells, fractions = known.grid.coverage(polygon)
    assert (np.diff(cells) > 0).all()
    assert fractions.min() > 0.0
    assert fractions.max() <= 1.0
    some = np.unique(np.linspace(0, cells.size - 1, 120).astype(int))
    if name not in ("north pole",):  # the map's seam through the pole is no polygon in the plane
        exact = [known.fraction(polygon, cell) for cell in cells[some]]
        # A rotated grid's cells narrow towards its poles, which is neglected inside a cell.
        np.testing.assert_allclose(fractions[some], exact, atol=2e-3)
    for cell in cells[some][::20]:
        exact_area = known.area(known.box(cell))
        assert known.grid.cell_area[cell] == pytest.approx(exact_area, rel=2e-3)


def test_a_cap_round_the_pole_has_its_area():
    known = GRIDS["north pole"]()
    cells, fractions = known.grid.coverage(POLYGONS["north pole"])
    cap = 2 * np.pi * EARTH_RADIUS**2 * (1 - np.sin(np.deg2rad(80)))
    assert (fractions * known.grid.cell_area[cells]).sum() == pytest.approx(cap, rel=1e-4)
    assert not known.grid.coverage(shapely.box(-180, -90, 180, -70))[0].size
    pole = known.grid.nearest(90.0, 0.0)
    assert pole in cells
    assert known.grid.nearest(90.0, 123.0) == pole


def test_cells_that_tile_a_box_are_covered_once():
    grid = GRIDS["rotated pole"]().grid
    whole = shapely.box(2, 48, 30, 62)
    tiles = [shapely.box(x, y, x + 7, y + 7) for x in (2, 9, 16, 23) for y in (48, 55)]
    total = np.zeros(grid.size)
    for tile in tiles:
        cells, fractions = grid.coverage(tile)
        total[cells] += fractions
    once = np.zeros(grid.size)
    cells, fractions = grid.coverage(whole)
    once[cells] = fractions
    # Curved edges are cut into chords at other places: 3e-5 of a cell.
    np.testing.assert_allclose(total, once, atol=1e-4)


def test_a_polygon_round_the_whole_grid_covers_every_cell():
    grid = GRIDS["lambert"]().grid
    cells, fractions = grid.coverage(shapely.box(-30, 20, 60, 75))
    assert cells.size == grid.size
    np.testing.assert_allclose(fractions, 1.0, atol=1e-9)


@pytest.mark.parametrize("shift", [-360.0, 0.0, 360.0])
def test_longitudes_in_any_convention_are_the_same(shift):
    grid = GRIDS["across 180"]().grid
    moved = shapely.transform(POLYGONS["across 180"], lambda p: p + np.array([shift, 0.0]))
    for found, expected in zip(
        grid.coverage(moved), grid.coverage(POLYGONS["across 180"]), strict=True
    ):
        np.testing.assert_allclose(found, expected, atol=1e-9)


@example(55.0, 0.0, 0.201171875, 3, 3.0)
@settings(max_examples=40, deadline=None)
@given(
    st.floats(-60, 60),
    st.floats(-180, 180),
    st.floats(0.2, 3.0),
    st.integers(3, 9),
    st.floats(0, 6.28),
)
def test_areas_are_kept_for_any_place_and_polygon(lat0, lon0, size, corners, turn):
    proj = pyproj.Proj(f"+proj=omerc +lat_0={lat0} +lonc={lon0} +alpha=30 +gamma=0 +R=6371008.8")
    x = np.arange(-6e5, 6e5, 4e4)
    lon, lat = proj(*np.meshgrid(x, x), inverse=True)
    grid = CellGrid(lat, lon).check()
    angle = turn + np.linspace(0, 2 * np.pi, corners, endpoint=False)
    stretch = 1 / np.cos(np.deg2rad(lat0))
    ring = np.stack([lon0 + size * stretch * np.cos(angle), lat0 + size * np.sin(angle)], -1)
    polygon = shapely.Polygon(ring)
    cells, fractions = grid.coverage(polygon)
    dense = shapely.segmentize(polygon, 0.02)
    exact = abs(GEOD.geometry_area_perimeter(dense)[0])
    # Within a cell the bending of the grid is neglected: what a polygon smaller than one cell is
    # off by goes by the size of the cell.
    off = 2e-4 * grid.cell_area[cells].max()
    assert (fractions * grid.cell_area[cells]).sum() == pytest.approx(exact, rel=2e-4, abs=off)


def test_the_plane_is_lamberts_azimuthal_projection():
    lat = np.array([10.0, -35.0, 80.0, 52.0])
    lon = np.array([-170.0, 30.0, 100.0, 11.0])
    known = pyproj.Proj(f"+proj=laea +lat_0=52 +lon_0=11 +R={EARTH_RADIUS}")
    np.testing.assert_allclose(
        AzimuthalPlane(52.0, 11.0)(lat, lon), np.stack(known(lon, lat), -1), atol=1e-3
    )


@pytest.mark.parametrize("name", ["lambert", "north pole", "rotated pole", "across 180"])
def test_the_cell_of_a_point_is_the_one_whose_box_holds_it(name):
    known = GRIDS[name]()
    rng = np.random.default_rng(3)
    x = rng.uniform(known.x.min(), known.x.max(), 300)
    y = rng.uniform(known.y.min(), known.y.max(), 300)
    lon, lat = known.proj(x, y, inverse=True)
    column = np.rint((x - known.x[0]) / (known.x[1] - known.x[0])).astype(int)
    row = np.rint((y - known.y[0]) / (known.y[1] - known.y[0])).astype(int)
    found = known.grid.lookup(np.asarray(lat), np.asarray(lon))
    # A point within a thousandth of a cell of an edge may go either way.
    agree = found == row * known.x.size + column
    assert agree.mean() > 0.99
    near = np.abs((x - known.x[0]) / (known.x[1] - known.x[0]) % 1.0 - 0.5)
    near = np.minimum(near, np.abs((y - known.y[0]) / (known.y[1] - known.y[0]) % 1.0 - 0.5))
    assert (near[~agree] < 0.01).all()


def test_outside_is_refused():
    grid = GRIDS["lambert"]().grid
    for lat, lon in ((0.0, 13.0), (47.0, -100.0), (float("nan"), 13.0), (91.0, 13.0)):
        with pytest.raises(OutsideGrid, match="lies outside the grid: CellGrid"):
            grid.nearest(lat, lon)
    assert not grid.coverage(shapely.box(100, 0, 110, 10))[0].size
    assert not grid.coverage(shapely.box(8.0, 30, 8.5, 35))[0].size


def test_zones_of_points_and_small_features():
    grid = GRIDS["lambert"]().grid
    zone = build_zone(grid, shapely.Point(13.3, 47.5))
    assert zone.cells.size == 1
    assert not zone.fallback
    tiny = build_zone(grid, shapely.Point(13.3, 47.5).buffer(0.01))
    assert tiny.fallback
    inside = ZonalIndex(grid, [Feature.of("Square", "box", shapely.box(12, 46.5, 14, 48))])
    (only,) = inside.build()
    exact = abs(
        GEOD.geometry_area_perimeter(shapely.segmentize(shapely.box(12, 46.5, 14, 48), 0.01))[0]
    )
    assert only.weights.sum() == pytest.approx(exact, rel=1e-5)
    assert not only.fallback


def test_grids_that_are_none_are_refused():
    lat, lon = np.meshgrid(np.arange(5.0), np.arange(6.0), indexing="ij")
    with pytest.raises(UnsuitableData, match="two rows and columns"):
        CellGrid(lat[:1], lon[:1])
    with pytest.raises(UnsuitableData, match="missing in places"):
        CellGrid(np.where(lat == 2, np.nan, lat), lon)
    folded = lat.copy()
    folded[3:] = folded[2:0:-1]
    with pytest.raises(UnsuitableData, match=r"overlap or fold over.*cdo remap"):
        CellGrid(folded, lon).check()
    rows, columns = np.meshgrid(np.arange(-85, 86, 5.0), np.arange(0, 360, 5.0), indexing="ij")
    with pytest.raises(UnsuitableData, match=r"goes round the Earth.*cdo remap"):
        CellGrid(rows + np.sin(columns), columns).check()


def test_a_stored_grid_is_the_same_again():
    grid = GRIDS["rotated pole"]().grid
    again = CellGrid.from_arrays(grid.to_arrays())
    assert again == grid
    assert hash(again) == hash(grid)
    polygon = POLYGONS["rotated pole"]
    for one, other in zip(again.coverage(polygon), grid.coverage(polygon), strict=True):
        np.testing.assert_array_equal(one, other)
    assert CellGrid.from_arrays(grid.to_arrays()) != GRIDS["lambert"]().grid
    with pytest.raises(UnsuitableData, match="lacks its cell_latitude"):
        CellGrid.from_arrays({})


def test_positions_are_those_of_the_rows_and_columns():
    grid = GRIDS["lambert"]().grid
    rows, columns = grid.shape
    centres = grid.positions(grid.cell_latitude, grid.cell_longitude).reshape(rows, columns, 2)
    row, column = np.mgrid[:rows, :columns] + 0.5
    inner = (slice(1, -1), slice(1, -1))
    np.testing.assert_allclose(centres[..., 0][inner], column[inner], atol=0.02)
    np.testing.assert_allclose(centres[..., 1][inner], row[inner], atol=0.02)
    south, north, west, east = grid.bounds
    lat, lon = np.random.default_rng(1).uniform((south, west), (north, east), (500, 2)).T
    found, cells = grid.positions(lat, lon), grid.lookup(lat, lon)
    np.testing.assert_array_equal(np.isnan(found).any(axis=1), cells < 0)
    inside = cells >= 0
    assert 0.5 < inside.mean() < 1.0
    column, row = np.floor(found[inside]).astype(int).T
    np.testing.assert_array_equal(
        np.minimum(row, rows - 1) * columns + np.minimum(column, columns - 1), cells[inside]
    )


def test_stations_have_points_and_no_areas():
    stations = StationList([51.5, 48.9, 10.0], [-0.1, 2.35, 179.9], ("London", "Paris", "Sea"))
    assert stations.nearest(51.4, 0.1) == 0
    assert stations.nearest(10.0, -179.9) == 2  # across 180
    with pytest.raises(OutsideGrid, match="No station is within 50 km of"):
        stations.nearest(45.0, 0.0)
    zone = build_zone(stations, shapely.box(-5, 45, 5, 55))
    assert not zone.cells.size
    assert build_zone(stations, shapely.Point(2.3, 48.8)).cells.tolist() == [1]
    index = ZonalIndex(stations, [])
    with pytest.raises(OutsideGrid, match="areas have no value"):
        index.weights(Feature.of("France", "country", shapely.box(-5, 45, 5, 50)))


def _lambert_sample(name):
    eccodes = pytest.importorskip("eccodes")
    path = SAMPLES / name
    if not path.exists():
        pytest.skip("the sample grids are not here")
    with path.open("rb") as file:
        message = eccodes.codes_grib_new_from_file(file)
        try:
            nx, ny = (eccodes.codes_get(message, key) for key in ("Nx", "Ny"))
            lat, lon = (
                eccodes.codes_get_array(message, f"{name}s").reshape(ny, nx)
                for name in ("latitude", "longitude")
            )
            keys = ("LaDInDegrees", "LoVInDegrees", "Latin1InDegrees", "Latin2InDegrees", "radius")
            lat0, lon0, lat1, lat2, radius = (eccodes.codes_get(message, key) for key in keys)
        finally:
            eccodes.codes_release(message)
    proj = f"+proj=lcc +lat_0={lat0} +lon_0={lon0} +lat_1={lat1} +lat_2={lat2} +R={radius}"
    x, y = pyproj.Proj(proj)(lon, lat)
    known = Projected(proj, x.mean(axis=0)[:3], y.mean(axis=1)[:3])
    known.x, known.y = x.mean(axis=0), y.mean(axis=1)
    known.grid = CellGrid(lat, lon).check()
    return known


@pytest.mark.parametrize(
    ("name", "polygon"),
    [
        ("lambert_grid.grib", shapely.Polygon([(3.4, 51.4), (7.2, 53.6), (5.9, 50.8)])),
        (
            "hrrr_subset.grib2",
            shapely.Polygon([(-109, 37), (-102, 37), (-102, 41), (-108.8, 41.2)]),
        ),
    ],
)
def test_real_lambert_grids(name, polygon):
    known = _lambert_sample(name)
    cells, fractions = known.grid.coverage(polygon)
    some = np.unique(np.linspace(0, cells.size - 1, 80).astype(int))
    partial = np.flatnonzero(fractions < 1.0 - 1e-9)[::20]
    for i in (*some, *partial):
        exact = known.fraction(polygon, cells[i])
        assert fractions[i] == pytest.approx(exact, abs=1e-4)
    exact = abs(GEOD.geometry_area_perimeter(shapely.segmentize(polygon, 0.01))[0])
    assert (fractions * known.grid.cell_area[cells]).sum() == pytest.approx(exact, rel=1e-5)
