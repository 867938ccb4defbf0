"""Zonal statistics with and without numba: against plain float64 loops, and bit for bit."""

import math
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from typing import Any

import numpy as np
import pytest
from exactextract import exact_extract
from exactextract.feature import JSONFeatureSource
from exactextract.raster import NumPyRasterSource
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from shapely.geometry import mapping

from zephyrus_geodata import acceleration
from zephyrus_geodata.features import FeatureStore
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.zonal import (
    STATS,
    Stat,
    ZonalIndex,
    Zone,
    Zones,
    zonal_share,
    zonal_statistic,
    zonal_table,
    zonal_tables,
)

kernels = pytest.importorskip("zephyrus_geodata.kernels", reason="numba is not installed")

Floats = NDArray[np.float64]
WGS84 = (
    'GEOGCS["WGS 84",DATUM["WGS_1984",SPHEROID["WGS 84",6378137,298.257223563]],'
    'PRIMEM["Greenwich",0],UNIT["degree",0.0174532925199433]]'
)


@contextmanager
def using(module: Any) -> Iterator[None]:
    """Compute with the kernels, or with NumPy (None)."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(acceleration, "_kernels", module)
        patch.setattr(acceleration, "_off", module is None)
        yield


def both(compute: Callable[[], Floats]) -> Floats:
    """Return what NumPy computes, once it is clear that the kernels give the same bits."""
    with using(None):
        plain = compute()
    with using(kernels):
        compiled = compute()
    assert compiled.dtype == plain.dtype == np.float64
    assert compiled.shape == plain.shape
    assert bits(compiled) == bits(plain)
    return plain


def bits(numbers: Floats) -> bytes:
    """Return all bits but those of NaN, which say nothing."""
    return np.where(np.isnan(numbers), np.nan, numbers).tobytes()


def there(zone: Zone, column: NDArray[Any]) -> list[tuple[float, float]]:
    """Value and weight of the cells that have data."""
    pairs = [(float(column[c]), float(w)) for c, w in zip(zone.cells, zone.weights, strict=True)]
    return [(v, w) for v, w in pairs if not math.isnan(v)]


def oracle(zone: Zone, column: NDArray[Any], stat: Stat) -> float:
    pairs = there(zone, column)
    if not pairs:
        return math.nan
    if stat == "mean":
        return math.fsum(v * w for v, w in pairs) / math.fsum(w for _, w in pairs)
    if stat != "median":
        return (min if stat == "min" else max)(v for v, _ in pairs)
    # By definition: sort (cells of the same value in their order), add up, stop at half.
    behind, masses = 0.0, []
    for value, weight in sorted(pairs, key=lambda pair: pair[0]):
        behind += weight
        masses.append((value, behind))
    return next(value for value, mass in masses if mass >= 0.5 * behind)


def share_oracle(zone: Zone, column: NDArray[Any], limits: NDArray[Any], above: bool) -> float:
    beyond, total = [], []
    for cell, weight in zip(zone.cells.tolist(), zone.weights.tolist(), strict=True):
        value, limit = float(column[cell]), float(limits[cell])
        if math.isnan(value) or math.isnan(limit):
            continue
        total.append(weight)
        if value > limit if above else value < limit:
            beyond.append(weight)
    return math.fsum(beyond) / math.fsum(total) if total else math.nan


@st.composite
def fields_and_zones(draw: st.DrawFn) -> tuple[NDArray[np.float32], Zones, np.random.Generator]:
    """A field with ties, zeros of both signs and NaN, and zones of all sizes, some empty."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    cells, times = draw(st.integers(1, 150)), draw(st.sampled_from([1, 2, 3, 7, 8, 16, 17, 41]))
    values = rng.normal(0.0, draw(st.sampled_from([1.0, 3.0, 1e4])), (cells, times))
    if draw(st.booleans()):
        values = np.round(values)  # ties, 0.0 and -0.0
    values[rng.random(values.shape) < draw(st.sampled_from([0.0, 0.0, 0.05, 0.6]))] = np.nan
    if draw(st.booleans()):
        values[:, draw(st.integers(0, times - 1))] = np.nan
    sizes = draw(st.lists(st.integers(0, cells), min_size=1, max_size=6))
    even = draw(st.booleans())
    zones = []
    for size in sizes:
        inside = np.sort(rng.choice(cells, size, replace=False))
        weights = np.full(size, 0.1) if even else rng.uniform(1e-3, 1e9, size)
        zones.append(Zone(inside, weights, False))
    return values.astype(np.float32), Zones.of(zones), rng


Drawn = tuple[NDArray[np.float32], Zones, np.random.Generator]


@settings(deadline=None, max_examples=80)
@given(fields_and_zones())
def test_every_statistic_against_the_oracle(drawn: Drawn) -> None:
    values, zones, _ = drawn
    scale = float(np.nanmax(np.abs(values), initial=1.0))
    for stat in STATS:
        table = both(lambda stat=stat: zonal_table(values, zones, stat))
        for row, zone in zip(table, zones, strict=True):
            expected = [oracle(zone, column, stat) for column in values.T]
            if stat == "mean":
                np.testing.assert_allclose(row, expected, rtol=0, atol=1e-13 * scale)
            else:
                np.testing.assert_array_equal(row, expected)
            if zone.cells.size:
                single = both(lambda zone=zone, stat=stat: zonal_statistic(values, zone, stat))
                assert bits(single) == bits(row)


@settings(deadline=None, max_examples=50)
@given(fields_and_zones(), st.lists(st.sampled_from(STATS), min_size=1, max_size=5))
def test_statistics_together_are_those_alone(drawn: Drawn, stats: list[Stat]) -> None:
    values, zones, _ = drawn
    for module in (None, kernels):
        with using(module):
            tables = zonal_tables(values, zones, stats)
            assert set(tables) == set(stats)
            for stat in stats:
                assert bits(tables[stat]) == bits(zonal_table(values, zones, stat))


@settings(deadline=None, max_examples=80)
@given(fields_and_zones(), st.sampled_from(["one", "straight", "several"]), st.booleans())
def test_the_share_beyond_thresholds_against_the_oracle(
    drawn: Drawn, kind: str, above: bool
) -> None:
    values, zones, rng = drawn
    cells, times = values.shape
    kinds = {"one": 1, "straight": times, "several": 3}
    limits = np.round(rng.normal(0.0, 2.0, (cells, kinds[kind]))).astype(np.float32)
    limits[rng.random(limits.shape) < rng.choice([0.0, 0.2])] = np.nan
    columns = rng.integers(0, 3, times) if kind == "several" else None
    asked = limits[:, 0] if kind == "one" else limits
    table = both(lambda: zonal_share(values, asked, zones, above=above, columns=columns))
    index = {"one": [0] * times, "straight": range(times), "several": columns}[kind]
    for row, zone in zip(table, zones, strict=True):
        expected = [
            share_oracle(zone, values[:, time], limits[:, column], above)
            for time, column in enumerate(index)
        ]
        np.testing.assert_allclose(row, expected, rtol=0, atol=1e-13)


def test_the_share_beyond_thresholds_by_hand() -> None:
    values = np.array([[1.0, 5.0], [2.0, 2.0], [3.0, np.nan]], dtype=np.float32)
    zones = [Zone(np.arange(3), np.array([1.0, 2.0, 5.0]), False)]
    limits = np.array([1.0, 1.0, 3.0], dtype=np.float32)
    # 1 is not above 1, nor 3 above 3; at the second time the last cell is left out.
    assert both(lambda: zonal_share(values, limits, zones, above=True)).tolist() == [[0.25, 1.0]]
    assert both(lambda: zonal_share(values, limits, zones, above=False)).tolist() == [[0.0, 0.0]]
    two = np.array([[0.0, 9.0]] * 3, dtype=np.float32)
    turned = both(lambda: zonal_share(values, two, zones, above=True, columns=np.array([1, 0])))
    assert turned.tolist() == [[0.0, 1.0]]


def test_thresholds_that_do_not_fit_are_refused() -> None:
    values, zones = np.zeros((4, 3), np.float32), [Zone(np.arange(4), np.ones(4), False)]
    for limits, columns in (
        (np.zeros(5), None),
        (np.zeros((4, 2)), None),
        (np.zeros((4, 2)), np.array([0, 1])),
        (np.zeros((4, 2)), np.array([0, 1, 2])),
        (np.zeros((4, 2)), np.array([0, 1, -1])),
    ):
        with pytest.raises(ValueError, match="hresholds"):
            zonal_share(values, limits, zones, above=True, columns=columns)


def test_infinities_meet_without_harm() -> None:
    values = np.array([[np.inf, np.inf], [-np.inf, np.inf], [1.0, np.nan]], dtype=np.float32)
    zones = [Zone(np.arange(3), np.array([1.0, 2.0, 4.0]), False)]
    assert np.isnan(both(lambda: zonal_table(values, zones, "mean"))[0, 0])
    assert both(lambda: zonal_table(values, zones, "min")).tolist() == [[-np.inf, np.inf]]
    assert both(lambda: zonal_table(values, zones, "max")).tolist() == [[np.inf, np.inf]]
    assert both(lambda: zonal_table(values, zones, "median")).tolist() == [[1.0, np.inf]]
    limits = np.array([0.0, -np.inf, np.inf], dtype=np.float32)
    share = both(lambda: zonal_share(values, limits, zones, above=True))
    assert share.tolist() == [[1 / 7, 1.0]]


@pytest.mark.parametrize("count", [2, 3, 8, 1000])
def test_half_reached_within_rounding_is_decided_by_sorting(count: int) -> None:
    # Ten weights of 0.1 add up to less than 1 in one order and to 1 in another; where that
    # decides, the median is that of the definition, and not of the order in which it was sought.
    rng = np.random.default_rng(count)
    values = rng.permuted(np.tile(np.arange(count), (40, 1)), axis=1).T.astype(np.float32)
    for weights in (np.full(count, 0.1), rng.choice([0.1, 0.2, 0.3], count)):
        zone = Zone(np.arange(count), weights, False)
        got = both(lambda zone=zone: zonal_statistic(values, zone, "median"))
        assert got.tolist() == [oracle(zone, column, "median") for column in values.T]


@pytest.mark.parametrize("stat", STATS)
def test_other_layouts_and_dtypes_give_the_same(stat: Stat) -> None:
    rng = np.random.default_rng(1)
    values = rng.normal(280.0, 10.0, (500, 12)).astype(np.float32)
    zone = Zone(np.flatnonzero(rng.random(500) < 0.4), np.linspace(1.0, 2.0, 500)[:200], False)
    zone = Zone(zone.cells[:150], zone.weights[:150], False)
    expected = zonal_statistic(values, zone, stat).tolist()
    wide = np.repeat(values, 2, axis=1)[:, ::2]
    for other in (np.asfortranarray(values), wide, values.astype(np.float64), values.astype(">f4")):
        assert both(lambda other=other: zonal_statistic(other, zone, stat)).tolist() == expected


def test_cells_beyond_the_field_are_an_error_with_and_without_numba() -> None:
    values, far = np.zeros((10, 3), np.float32), Zone(np.array([2, 10]), np.ones(2), False)
    for module in (None, kernels):
        with using(module):
            for stat in STATS:
                with pytest.raises(IndexError):
                    zonal_statistic(values, far, stat)
            with pytest.raises(IndexError):
                zonal_share(values, values, [far], above=True)


def test_sums_of_large_zones_are_within_a_ten_thousandth_of_a_kelvin() -> None:
    rng = np.random.default_rng(2)
    values = rng.normal(280.0, 15.0, (400_000, 3)).astype(np.float32)
    zone = Zone(np.arange(400_000), rng.uniform(1e7, 8e8, 400_000), False)
    expected = [oracle(zone, column, "mean") for column in values.T]
    got = both(lambda: zonal_statistic(values, zone))
    np.testing.assert_allclose(got, expected, rtol=0, atol=1e-8)


def test_two_threads_do_not_disturb_each_other() -> None:
    rng = np.random.default_rng(3)
    values = rng.normal(0.0, 1.0, (20_000, 24)).astype(np.float32)
    values[::97] = np.nan
    limits = rng.normal(0.0, 1.0, (20_000, 5)).astype(np.float32)
    columns = np.arange(24) % 5
    zones = Zones.of(
        Zone(np.sort(rng.choice(20_000, n, replace=False)), rng.uniform(1, 2, n), False)
        for n in rng.integers(1, 8000, 12)
    )

    def work(turn: int) -> list[bytes]:
        some = zones[turn % 2 :: 2]
        tables = [zonal_table(values, some, stat) for stat in STATS]
        tables.append(zonal_share(values, limits, some, above=True, columns=columns))
        return [bits(table) for table in tables]

    with using(kernels):
        alone = [work(0), work(1)]
        with ThreadPoolExecutor(2) as pool:
            for turn, told in enumerate(pool.map(work, range(12))):
                assert told == alone[turn % 2]


@pytest.fixture(scope="module")
def quarter() -> tuple[Grid, FeatureStore, NDArray[np.float32]]:
    """A grid of 0.25 degrees, half a cell off the seam, and a smooth field with noise."""
    grid = Grid(np.arange(-89.875, 90.0, 0.25), np.arange(-179.875, 180.0, 0.25))
    lat, lon = np.deg2rad(grid.latitude)[:, None], np.deg2rad(grid.longitude)
    noise = np.random.default_rng(4).normal(0.0, 0.8, grid.shape)
    field = 280.0 + 30.0 * np.cos(2.0 * lat) + 8.0 * np.cos(lat) * np.sin(3.0 * lon) + noise
    return grid, FeatureStore.load(), field.astype(np.float32)


@pytest.mark.parametrize(
    "key",
    [
        "country:Kenya",
        "country:France",
        "country:Russia",
        "country:Fiji",
        "continent:Antarctica",
        "continent:Africa",
        "lake:Lake Victoria",
        "us_state:Alaska",
    ],
)
def test_means_on_a_real_grid_against_exactextract(
    quarter: tuple[Grid, FeatureStore, NDArray[np.float32]], key: str
) -> None:
    grid, store, field = quarter
    if key not in store:
        pytest.skip(f"{key} is not among the shipped features")
    feature = store[key]
    raster = NumPyRasterSource(
        field[::-1].astype(np.float64), xmin=-180, xmax=180, ymin=-90, ymax=90, srs_wkt=WGS84
    )
    shape = {"type": "Feature", "geometry": mapping(feature.geometry), "properties": {}}
    (found,) = exact_extract(
        raster,
        JSONFeatureSource([shape], srs_wkt=WGS84),
        ["m=mean(coverage_weight=area_spherical_m2)"],
    )
    zone = ZonalIndex(grid, store).weights(feature)
    (got,) = both(lambda: zonal_statistic(field.reshape(-1, 1), zone))
    assert got == pytest.approx(found["properties"]["m"], abs=5e-3)
