"""The shipped features on the demo's kind of grid, against oracles that share no code."""

import numpy as np
import pytest
import shapely
from exactextract import exact_extract
from exactextract.feature import JSONFeatureSource
from exactextract.raster import NumPyRasterSource
from shapely.geometry import mapping

from zephyrus_geodata.features import FeatureStore
from zephyrus_geodata.grid import EARTH_RADIUS, Grid
from zephyrus_geodata.zonal import ZonalIndex, build_zone, zonal_statistic

GAUSSIAN = Grid.from_coords(
    np.rad2deg(np.arcsin(np.polynomial.legendre.leggauss(96)[0])), np.arange(192) * 1.875
)[0]
REGULAR = Grid(np.arange(-88.75, 90, 2.5), np.arange(-178.75, 180, 2.5))
WGS84 = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],'
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
)
HARD = [  # across the antimeridian, at a pole, of several far parts, or small
    ("Russia", "country"),
    ("Fiji", "country"),
    ("New Zealand", "country"),
    ("France", "country"),
    ("United States", "country"),
    ("Alaska", "us_state"),
    ("Bering Sea", "sea"),
    ("South Pacific Ocean", "ocean"),
    ("Arctic Ocean", "ocean"),
    ("Antarctica", "continent"),
    ("Kenya", "country"),
    ("Vatican", "country"),
    ("Victoria", "lake"),
]


@pytest.fixture(scope="module")
def store() -> FeatureStore:
    return FeatureStore.load()


@pytest.fixture(scope="module")
def index(store: FeatureStore) -> ZonalIndex:
    return ZonalIndex(GAUSSIAN, store)


@pytest.mark.parametrize(("name", "kind"), HARD)
def test_weights_against_the_intersection_with_every_cell(
    store: FeatureStore, index: ZonalIndex, name: str, kind: str
) -> None:
    feature = store.get(name, kind)
    zone = index.weights(feature)
    west, east = np.tile(GAUSSIAN.lon_edges[:-1], 96), np.tile(GAUSSIAN.lon_edges[1:], 96)
    south, north = np.repeat(GAUSSIAN.lat_edges[:-1], 192), np.repeat(GAUSSIAN.lat_edges[1:], 192)
    shapely.prepare(feature.geometry)
    fraction = np.zeros(GAUSSIAN.size)
    for turn in (-360.0, 0.0, 360.0):
        cells = shapely.box(west + turn, south, east + turn, north)
        near = np.flatnonzero(shapely.intersects(feature.geometry, cells))
        whole = shapely.contains_properly(feature.geometry, cells[near])
        fraction[near[whole]] += 1.0
        part = shapely.intersection(feature.geometry, cells[near[~whole]])
        fraction[near[~whole]] += shapely.area(part) / shapely.area(cells[near[~whole]])
    assert zone.cells.tolist() == np.flatnonzero(fraction > 1e-9).tolist()
    band = np.sin(np.deg2rad(north)) - np.sin(np.deg2rad(south))
    area = EARTH_RADIUS**2 * band * np.deg2rad(1.875)
    np.testing.assert_allclose(zone.weights, (fraction * area)[zone.cells], rtol=1e-6, atol=10.0)


@pytest.mark.parametrize(("name", "kind"), HARD)
def test_means_against_exactextract(store: FeatureStore, name: str, kind: str) -> None:
    # On this grid no cell straddles the antimeridian, so exactextract needs no wrapping.
    lat = np.deg2rad(np.repeat(REGULAR.latitude, REGULAR.shape[1]))
    lon = np.deg2rad(np.tile(REGULAR.longitude, REGULAR.shape[0]))
    values = 280 + 30 * np.cos(2 * lat) + 8 * np.cos(lat) * np.sin(3 * lon)
    geometry = store.get(name, kind).geometry
    (found,) = exact_extract(
        NumPyRasterSource(
            values.reshape(REGULAR.shape)[::-1],
            xmin=-180,
            ymin=-90,
            xmax=180,
            ymax=90,
            srs_wkt=WGS84,
        ),
        JSONFeatureSource(
            [{"type": "Feature", "geometry": mapping(geometry), "properties": {}}],
            srs_wkt=WGS84,
        ),
        ["mean(coverage_weight=area_spherical_m2)"],
    )
    (expected,) = found["properties"].values()
    got = zonal_statistic(values[:, None], build_zone(REGULAR, geometry))[0]
    # exactextract keeps the covered fraction in single precision.
    assert got == pytest.approx(expected, abs=1e-4)


def test_every_feature_has_cells(store: FeatureStore, index: ZonalIndex) -> None:
    zones = index.build()
    assert len(zones) == len(store)
    for feature in store:
        zone = zones[index.rows[feature.key]]
        assert zone.cells.size
        assert (zone.weights > 0).all()
        if feature.kind == "city":
            assert zone.cells.size == 1
            assert not zone.fallback


def test_features_smaller_than_a_cell_are_flagged(index: ZonalIndex, store: FeatureStore) -> None:
    for name, kind in (("Vatican", "country"), ("Singapore", "country"), ("Delaware", "us_state")):
        assert index.weights(store.get(name, kind)).fallback
    for name, kind in (("France", "country"), ("Kenya", "country"), ("Texas", "us_state")):
        assert not index.weights(store.get(name, kind)).fallback
    for kind in ("continent", "ocean"):
        assert not any(index.weights(feature).fallback for feature in store.of_kind(kind))


@pytest.mark.parametrize(
    ("name", "kind", "area"),
    # 10^6 km2, The World Factbook; oceans differ by where the seas are counted.
    [
        ("Africa", "continent", 30.4),
        ("Australia", "country", 7.74),
        ("Brazil", "country", 8.51),
        ("Russia", "country", 17.1),
        ("France", "country", 0.64),
        ("Pacific Ocean", "ocean", 165.0),
    ],
)
def test_weights_add_up_to_published_areas(
    store: FeatureStore, index: ZonalIndex, name: str, kind: str, area: float
) -> None:
    weight = index.weights(store.get(name, kind)).weights.sum()
    assert weight / 1e12 == pytest.approx(area, rel=0.1 if kind == "ocean" else 0.02)
