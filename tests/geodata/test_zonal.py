"""Weights and statistics against oracles that share no code with them.

One intersects every cell with the shape and integrates cos(latitude) by hand; the other is
exactextract with spherical cell areas.
"""

import math
from typing import Any

import numpy as np
import pytest
from exactextract import exact_extract
from exactextract.feature import JSONFeatureSource
from exactextract.raster import NumPyRasterSource
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from shapely.affinity import translate
from shapely.geometry import LineString, MultiPolygon, Point, Polygon, box, mapping
from shapely.geometry.base import BaseGeometry

from zephyrus_geodata.errors import OutsideGrid
from zephyrus_geodata.features import Feature
from zephyrus_geodata.grid import EARTH_RADIUS, Grid
from zephyrus_geodata.zonal import ZonalIndex, Zone, build_zone, zonal_statistic, zonal_table

SPHERE = 4.0 * math.pi * EARTH_RADIUS**2
GAUSSIAN_LATITUDES = np.rad2deg(np.arcsin(np.polynomial.legendre.leggauss(48)[0]))
GAUSSIAN = Grid.from_coords(GAUSSIAN_LATITUDES, np.arange(96) * 3.75)[0]
REGULAR = Grid(np.arange(-88.75, 90, 2.5), np.arange(-178.75, 180, 2.5))
POLES = Grid(np.linspace(-90, 90, 37), np.arange(-180, 180, 5.0))

FIJI = MultiPolygon(
    [
        Polygon([(177, -19), (180, -18.6), (180, -16), (178, -17)]),
        Polygon([(-180, -18.6), (-178.5, -18), (-180, -16)]),
    ]
)
RUSSIA = MultiPolygon(
    [
        Polygon(
            [(28, 70), (60, 77), (105, 77.5), (180, 70), (180, 65), (135, 44), (87, 49), (40, 43)]
        ),
        Polygon([(-180, 65), (-169, 66), (-180, 70)]),
    ]
)
FRANCE = MultiPolygon(
    [
        Polygon([(-5, 48), (2, 51), (8, 48), (7, 43), (-1, 43)]),
        Polygon([(-54, 5), (-51.6, 4), (-52.5, 2), (-54.5, 2.3)]),
    ]
)
ANTARCTICA = Polygon([(-180, -90), (180, -90), (180, -78), (60, -66), (-60, -64), (-180, -78)])
ARCTIC = Polygon([(-180, 90), (-180, 72), (-90, 78), (10, 80), (120, 75), (180, 72), (180, 90)])
PACIFIC = MultiPolygon([box(150, -60, 180, 0), box(-180, -60, -75, 0)])
LAKE = Polygon([(31.7, -2.5), (33.9, -2.3), (34.1, 0.2), (31.8, -0.1)])
SHAPES = {
    "Fiji": FIJI,
    "Russia": RUSSIA,
    "France": FRANCE,
    "Antarctica": ANTARCTICA,
    "Arctic": ARCTIC,
    "South Pacific": PACIFIC,
    "Lake Victoria": LAKE,
}


def feature(name: str, shape: BaseGeometry, kind: str = "region") -> Feature:
    return Feature.of(name, kind, shape)


def field(grid: Grid, seed: int = 0) -> NDArray[np.float32]:
    """A smooth, wavy (cell, time) field of temperatures that joins at the antimeridian."""
    lat = np.deg2rad(np.repeat(grid.latitude, grid.shape[1]))[:, None]
    lon = np.deg2rad(np.tile(grid.longitude, grid.shape[0]))[:, None]
    time = np.arange(5.0) + seed
    wave = np.cos(lat) * np.sin(3 * lon + time) + 0.3 * np.sin(7 * lat + np.cos(lon) - time)
    values: NDArray[np.float32] = (280 + 30 * np.cos(2 * lat) + 8 * wave).astype(np.float32)
    return values


def oracle_weights(grid: Grid, shape: BaseGeometry) -> NDArray[np.float64]:
    """Every cell's covered area: shapely's intersection, and cos(latitude) summed by hand."""
    weights = np.zeros(grid.shape)
    middle = (np.arange(2000) + 0.5) / 2000
    for row in range(grid.shape[0]):
        south, north = grid.lat_edges[row : row + 2]
        height = math.radians(north - south)
        band = np.cos(math.radians(south) + height * middle).mean() * height
        for column in range(grid.shape[1]):
            west, east = grid.lon_edges[column : column + 2]
            covered = sum(
                shape.intersection(box(west + turn, south, east + turn, north)).area
                for turn in (-360, 0, 360)
            )
            area = EARTH_RADIUS**2 * band * math.radians(east - west)
            weights[row, column] = area * covered / ((east - west) * (north - south))
    return weights.ravel()


def oracle_median(values: list[float], weights: list[float]) -> float:
    """Walk up the sorted values until half of the weight is behind."""
    pairs = sorted((v, w) for v, w in zip(values, weights, strict=True) if not math.isnan(v))
    behind = 0.0
    for value, weight in pairs:
        behind += weight
        if behind >= 0.5 * sum(w for _, w in pairs):
            return value
    return math.nan


@pytest.mark.parametrize("grid", [GAUSSIAN, POLES], ids=["Gaussian", "poles"])
@pytest.mark.parametrize("name", SHAPES)
def test_weights_and_statistics_against_the_brute_force_oracle(grid: Grid, name: str) -> None:
    shape = SHAPES[name]
    zone = build_zone(grid, shape)
    expected = oracle_weights(grid, shape)
    got = np.zeros(grid.size)
    got[zone.cells] = zone.weights
    np.testing.assert_allclose(got, expected, rtol=1e-6, atol=1e-9 * grid.cell_area.max())

    values = field(grid)
    inside = expected > 1e-9 * grid.cell_area.max()
    assert zone.cells.tolist() == np.flatnonzero(inside).tolist()
    exact = values[inside].astype(np.float64)
    mean = (exact * expected[inside, None]).sum(axis=0) / expected[inside].sum()
    np.testing.assert_allclose(zonal_statistic(values, zone, "mean"), mean, rtol=0, atol=1e-5)
    assert zonal_statistic(values, zone, "min").tolist() == exact.min(axis=0).tolist()
    assert zonal_statistic(values, zone, "max").tolist() == exact.max(axis=0).tolist()
    median = [oracle_median(column, expected[inside].tolist()) for column in exact.T.tolist()]
    assert zonal_statistic(values, zone, "median").tolist() == median


@pytest.mark.parametrize("name", SHAPES)
def test_means_against_exactextract(name: str) -> None:
    # On this grid no cell straddles the antimeridian, so exactextract needs no wrapping; it
    # takes rows from the north.
    values = field(REGULAR)
    zone = build_zone(REGULAR, SHAPES[name])
    shape = {"type": "Feature", "geometry": mapping(SHAPES[name]), "properties": {}}
    for time, mean in enumerate(zonal_statistic(values, zone, "mean")):
        rows = values[:, time].reshape(REGULAR.shape)[::-1].astype(np.float64)
        raster = NumPyRasterSource(
            rows, xmin=-180, ymin=-90, xmax=180, ymax=90, srs_wkt=_WGS84, name="t"
        )
        (found,) = exact_extract(
            raster,
            JSONFeatureSource([shape], srs_wkt=_WGS84),
            [f"{stat}(coverage_weight=area_spherical_m2)" for stat in ("mean", "min", "max")],
        )
        result = found["properties"]
        assert mean == pytest.approx(_value(result, "mean"), abs=1e-4)
        assert zonal_statistic(values, zone, "min")[time] == pytest.approx(_value(result, "min"))
        assert zonal_statistic(values, zone, "max")[time] == pytest.approx(_value(result, "max"))


_WGS84 = 'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'


def _value(properties: dict[str, float], stat: str) -> float:
    (value,) = (number for key, number in properties.items() if key.startswith(stat))
    return value


def test_the_whole_earth_weighs_four_pi_r_squared() -> None:
    for grid in (GAUSSIAN, REGULAR, POLES):
        zone = build_zone(grid, box(-180, -90, 180, 90))
        assert zone.cells.size == grid.size
        assert zone.weights.sum() == pytest.approx(SPHERE, rel=1e-12)
        assert not zone.fallback


def test_the_mean_of_the_whole_earth_weighs_polar_rows_by_their_area() -> None:
    values = (np.repeat(np.abs(POLES.latitude), POLES.shape[1]) == 90.0)[:, None] * np.ones((1, 1))
    zone = build_zone(POLES, box(-180, -90, 180, 90))
    caps = 1 - math.sin(math.radians(87.5))
    assert zonal_statistic(values, zone)[0] == pytest.approx(caps, rel=1e-9)


@pytest.mark.parametrize("name", SHAPES)
def test_data_in_either_longitude_convention_give_the_same_answer(name: str) -> None:
    lat, lon = GAUSSIAN_LATITUDES[::-1], np.arange(96) * 3.75
    east = field(GAUSSIAN).reshape(*GAUSSIAN.shape, 5)[::-1][
        :, np.argsort(GAUSSIAN.longitude % 360)
    ]
    west = np.concatenate([east[:, 48:], east[:, :48]], axis=1)
    answers = []
    for longitudes, data in (
        (lon, east),
        (np.concatenate([lon[48:] - 360, lon[:48]]), west),
        (np.append(lon, 360.0), np.concatenate([east, east[:, :1]], axis=1)),
    ):
        grid, ilat, ilon = Grid.from_coords(lat, longitudes)
        values = data[ilat][:, ilon].reshape(grid.size, 5)
        answers.append(zonal_statistic(values, build_zone(grid, SHAPES[name])).tolist())
    assert answers[0] == answers[1] == answers[2]
    zone = build_zone(GAUSSIAN, SHAPES[name])
    assert answers[0] == zonal_statistic(field(GAUSSIAN), zone).tolist()


@pytest.mark.parametrize("name", SHAPES)
def test_a_feature_given_in_0_to_360_has_the_same_zone(name: str) -> None:
    zone = build_zone(GAUSSIAN, SHAPES[name])
    turned = build_zone(GAUSSIAN, translate(SHAPES[name], 360.0))
    assert turned.cells.tolist() == zone.cells.tolist()
    np.testing.assert_allclose(turned.weights, zone.weights, rtol=1e-6, atol=1.0)


def test_fiji_reaches_both_sides_of_the_seam() -> None:
    zone = build_zone(REGULAR, FIJI)
    longitudes = REGULAR.longitude[zone.cells % REGULAR.shape[1]]
    assert set(longitudes) == {176.25, 178.75, -178.75}


def test_france_has_cells_in_europe_and_in_south_america_only() -> None:
    zone = build_zone(REGULAR, FRANCE)
    longitudes = REGULAR.longitude[zone.cells % REGULAR.shape[1]]
    assert ((longitudes < -50) | (longitudes > -7)).all()
    assert (longitudes < -50).any() and (longitudes > -7).any()


def test_a_point_has_its_nearest_cell() -> None:
    zone = build_zone(REGULAR, Point(2.35, 48.86))
    assert zone.cells.tolist() == [REGULAR.nearest(48.86, 2.35)]
    assert not zone.fallback
    index = ZonalIndex(REGULAR, [])
    assert index.point(48.86, 2.35).cells.tolist() == zone.cells.tolist()
    assert zonal_statistic(field(REGULAR), zone, "median").tolist() == (
        field(REGULAR)[zone.cells[0]].astype(np.float64).tolist()
    )


def test_a_polygon_smaller_than_its_cell_is_flagged() -> None:
    # Lake Victoria, 67,000 km2, across cells of 77,000 km2: its own cells are used, and flagged.
    lake = build_zone(REGULAR, LAKE)
    assert lake.fallback
    assert lake.cells.size == 3
    assert not build_zone(REGULAR, FRANCE).fallback
    assert not build_zone(Grid(np.arange(-89.5, 90), np.arange(-179.5, 180)), LAKE).fallback


def test_a_shape_without_area_falls_back_to_the_nearest_cell() -> None:
    zone = build_zone(REGULAR, LineString([(10.0, 10.0), (10.5, 10.5)]))
    assert zone.fallback
    assert zone.cells.tolist() == [REGULAR.nearest(10.2, 10.2)]
    dot = build_zone(REGULAR, box(12.4, 41.9, 12.4 + 1e-6, 41.9 + 1e-6))
    assert dot.fallback
    assert dot.cells.tolist() == [REGULAR.nearest(41.9, 12.4)]


def test_a_feature_outside_a_region_is_refused() -> None:
    region = Grid(np.arange(30, 60, 2.0), np.arange(-20, 40, 2.0))
    away = feature("Fiji", FIJI)
    index = ZonalIndex(region, [away, feature("France", FRANCE)])
    with pytest.raises(OutsideGrid, match="region:Fiji lies outside the grid"):
        index.weights(away)
    assert index.build()[index.rows["region:Fiji"]].cells.size == 0
    assert np.isnan(zonal_table(field(region), [index.zone(away)])).all()
    # Only the European part of France is there.
    assert index.weights(feature("France", FRANCE)).weights.sum() == pytest.approx(
        build_zone(region, FRANCE.geoms[0]).weights.sum()
    )
    with pytest.raises(OutsideGrid):
        index.point(0.0, 0.0)


@st.composite
def zones_and_values(draw: st.DrawFn) -> tuple[Zone, NDArray[np.float64]]:
    """A made-up zone of up to 12 of 15 cells, and values with many ties."""
    cells = draw(st.lists(st.integers(0, 14), min_size=1, max_size=12, unique=True))
    weights = draw(st.lists(st.floats(1e-3, 1e3), min_size=len(cells), max_size=len(cells)))
    numbers = st.one_of(st.integers(-3, 3).map(float), st.floats(-1e4, 1e4, width=32))
    values = draw(st.lists(numbers, min_size=30, max_size=30))
    zone = Zone(np.array(sorted(cells)), np.array(weights), False)
    return zone, np.array(values).reshape(15, 2)


@settings(deadline=None)
@given(zones_and_values())
def test_statistics_keep_their_order(drawn: tuple[Zone, NDArray[np.float64]]) -> None:
    zone, values = drawn
    low, mean, median, high = (
        zonal_statistic(values, zone, stat) for stat in ("min", "mean", "median", "max")
    )
    slack = 1e-12 * np.abs(values).max()
    assert (low - slack <= mean).all() and (mean <= high + slack).all()
    for time in range(2):
        inside = values[zone.cells, time].tolist()
        assert median[time] in inside
        assert median[time] == oracle_median(inside, zone.weights.tolist())
        assert (low[time], high[time]) == (min(inside), max(inside))
        exact = math.fsum(v * w for v, w in zip(inside, zone.weights.tolist(), strict=True))
        assert mean[time] == pytest.approx(exact / math.fsum(zone.weights), rel=1e-12, abs=1e-9)


@settings(deadline=None)
@given(zones_and_values(), st.lists(st.booleans(), min_size=30, max_size=30))
def test_missing_cells_are_left_out(
    drawn: tuple[Zone, NDArray[np.float64]], missing: list[bool]
) -> None:
    zone, values = drawn
    values = np.where(np.array(missing).reshape(15, 2), np.nan, values)
    for time in range(2):
        there = ~np.isnan(values[zone.cells, time])
        for stat in ("mean", "min", "max", "median"):
            got = zonal_statistic(values, zone, stat)[time]
            if there.any():
                rest = Zone(zone.cells[there], zone.weights[there], False)
                expected = zonal_statistic(values[:, time : time + 1], rest, stat)[0]
                assert got == pytest.approx(expected, rel=1e-12)
            else:
                assert math.isnan(got)


@pytest.mark.parametrize(
    ("weights", "values", "median"),
    [
        ([1, 1], [5, 2], 2),  # exactly half is enough
        ([1, 1, 2], [1, 2, 3], 2),
        ([1, 1, 2.5], [1, 2, 3], 3),
        ([10, 1, 1], [7, 1, 2], 7),
        ([1, 1, 9], [4, 3, math.nan], 3),
    ],
)
def test_the_weighted_median_by_hand(
    weights: list[float], values: list[float], median: float
) -> None:
    zone = Zone(np.arange(len(weights)), np.array(weights, dtype=float), False)
    column = np.array(values, dtype=np.float32)[:, None]
    assert zonal_statistic(column, zone, "median").tolist() == [median]


def test_sums_are_in_double_precision() -> None:
    # In single precision the sum of so many values of 101,325 Pa would be off by pascals.
    values = np.full((2_000_000, 1), 101_325.3, dtype=np.float32)
    zone = Zone(np.arange(2_000_000), np.full(2_000_000, 0.1), False)
    assert zonal_statistic(values, zone)[0] == pytest.approx(float(values[0, 0]), abs=1e-5)


def test_a_table_equals_its_rows_bit_for_bit(monkeypatch: pytest.MonkeyPatch) -> None:
    zones = [build_zone(REGULAR, shape) for shape in SHAPES.values()]
    values = field(REGULAR)
    values[zones[3].cells[::7]] = np.nan
    for block in (65_536, 100):
        monkeypatch.setattr("zephyrus_geodata.zonal_numpy._BLOCK", block)
        for stat in ("mean", "min", "max", "median"):
            table = zonal_table(values, zones, stat)
            assert table.dtype == np.float64
            for row, zone in zip(table, zones, strict=True):
                assert row.tobytes() == zonal_statistic(values, zone, stat).tobytes()


def test_an_unknown_statistic_is_refused() -> None:
    mode: Any = "mode"
    with pytest.raises(ValueError, match="no statistic 'mode'; use one of mean, min, max, median"):
        zonal_statistic(field(REGULAR), build_zone(REGULAR, FIJI), mode)


@settings(max_examples=40, deadline=None)
@given(
    st.floats(-180, 180),
    st.floats(-90, 90),
    st.lists(st.floats(0.01, 50), min_size=3, max_size=12),
)
def test_weights_of_any_polygon_are_positive_and_fit_the_earth(
    x: float, y: float, radii: list[float]
) -> None:
    angles = np.linspace(0, 2 * np.pi, len(radii), endpoint=False)
    reach = np.array(radii)
    star = Polygon(np.column_stack([x + reach * np.cos(angles), y + reach * np.sin(angles)]))
    zone = build_zone(GAUSSIAN, star)
    assert zone.cells.size
    assert (np.diff(zone.cells) > 0).all()
    assert (zone.weights > 0).all()
    assert (zone.weights <= GAUSSIAN.cell_area[zone.cells] * (1 + 1e-12)).all()
    assert zone.weights.sum() <= SPHERE
