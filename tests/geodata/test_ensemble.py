"""Members of an ensemble: values of a feature in each, their mean, spread and probabilities."""

from collections import Counter
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from numpy.typing import NDArray
from shapely.geometry import Point, box

from zephyrus_geodata import ensemble
from zephyrus_geodata.dataset import Dataset
from zephyrus_geodata.errors import OutsideGrid, UnknownMember, UnknownVariable
from zephyrus_geodata.features import Feature, FeatureStore
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.loading import load_dataset
from zephyrus_geodata.store.names import DATA_VARIABLE
from zephyrus_geodata.testing import analytic_dataset

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "grids"
MEMBERS = ("control", "1", "2", "3", "5")
DAY = "2001-01-05"
T2M = "2m_temperature"

# On a 10 degree grid: six whole cells, a quarter of one cell and of its neighbour, one cell.
SIX = Feature.of("Six", "region", box(0, 20, 30, 40))
PARTS = Feature.of("Parts", "region", box(5, 0, 12.5, 10))
TOWN = Feature.of("Town", "city", Point(14.0, 47.0))
STORE = FeatureStore([SIX, PARTS, TOWN])


def cells_of(feature: Feature) -> tuple[NDArray[np.intp], NDArray[np.float64]]:
    """Cells on the 10 degree grid by hand (36 a row from -180), and their weights."""

    def cell(lat: float, lon: float) -> int:
        return int((lat + 90) // 10) * 36 + int((lon + 180) // 10)

    def area(south: float, north: float) -> float:
        return float(np.sin(np.deg2rad(north)) - np.sin(np.deg2rad(south)))

    if feature is TOWN:
        return np.array([cell(47, 14)]), np.ones(1)
    if feature is PARTS:
        return np.array([cell(5, 5), cell(5, 15)]), np.array([0.5, 0.25])
    rows = [(25.0, area(20, 30)), (35.0, area(30, 40))]
    return (
        np.array([cell(lat, lon) for lat, _ in rows for lon in (5, 15, 25)]),
        np.array([weight for _, weight in rows for _ in range(3)]),
    )


def by_hand(fields: NDArray[Any], feature: Feature, stat: str) -> NDArray[np.float64]:
    """(member, time) of (member, cell, time)."""
    cells, weights = cells_of(feature)
    values = fields[:, cells].astype(np.float64)
    if stat == "mean":
        return np.einsum("mct,c->mt", values, weights) / weights.sum()
    if stat == "median":
        order = np.argsort(values, axis=1)
        ranked = np.take_along_axis(values, order, axis=1)
        mass = weights[order].cumsum(axis=1)
        first = (mass >= 0.5 * weights.sum() - 1e-12).argmax(axis=1)
        return np.take_along_axis(ranked, first[:, None], axis=1)[:, 0]
    return values.min(axis=1) if stat == "min" else values.max(axis=1)


@pytest.fixture(scope="module")
def world() -> Dataset:
    return analytic_dataset(step=10.0, features=STORE, members=MEMBERS)


@pytest.fixture(scope="module")
def fields(world: Dataset) -> NDArray[np.float32]:
    forecast = world.forecast(DAY)
    return np.stack([forecast.cells(T2M, name) for name in MEMBERS])


# Numbers over members -------------------------------------------------------------------------


def test_mean_spread_and_probability_by_hand() -> None:
    values = np.array([[1.0, 5.0], [2.0, 5.0], [3.0, 5.0], [6.0, np.nan]])
    assert ensemble.average(values).tolist() == [3.0, 5.0]
    # Deviations -2, -1, 0, 3: squares add up to 14, over 4 - 1.
    np.testing.assert_allclose(ensemble.spread(values), [np.sqrt(14 / 3), 0.0], rtol=1e-15)
    assert ensemble.probability(values, above=2.0).tolist() == [0.5, 1.0]
    assert ensemble.probability(values, below=2.0).tolist() == [0.25, 0.0]
    assert ensemble.probability(values, above=5.0).tolist() == [0.25, 0.0]
    assert ensemble.average(values.T, axis=1).tolist() == [3.0, 5.0]


def test_without_enough_members_there_is_no_number() -> None:
    values = np.array([[1.0, np.nan], [np.nan, np.nan]])
    np.testing.assert_array_equal(ensemble.average(values), [1.0, np.nan])
    np.testing.assert_array_equal(ensemble.spread(values), [np.nan, np.nan])
    np.testing.assert_array_equal(ensemble.probability(values, above=0.0), [1.0, np.nan])


def test_a_probability_has_one_threshold() -> None:
    for thresholds in ({}, {"above": 1.0, "below": 2.0}):
        with pytest.raises(ValueError, match="just one"):
            ensemble.probability(np.zeros((2, 2)), **thresholds)


def test_equal_as_far_as_float32_can_tell_is_not_beyond() -> None:
    freezing = np.array([np.float64(np.float32(273.15))])  # 273.1499939
    assert freezing[0] < 273.15
    assert ensemble.exceeds(freezing, below=273.15).tolist() == [0.0]
    overcast = np.array([np.nextafter(1.0, 2.0), np.nextafter(1.0, 0.0), 1.0])
    assert ensemble.exceeds(overcast, above=1.0).tolist() == [0.0] * 3
    assert ensemble.exceeds(overcast, below=1.0).tolist() == [0.0] * 3
    assert ensemble.exceeds(np.array([273.151, 273.149]), above=273.15).tolist() == [1.0, 0.0]
    assert ensemble.exceeds(np.array([1e-9, 0.0]), above=0.0).tolist() == [1.0, 0.0]


STACKS = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=3, min_side=2, max_side=5),
    elements=st.floats(-1e4, 1e4, width=32) | st.just(np.nan),
)


@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
@given(STACKS, st.data())
def test_like_numpy_with_missing_members_left_out(
    values: NDArray[np.float64], data: st.DataObject
) -> None:
    axis = data.draw(st.integers(0, values.ndim - 1))
    np.testing.assert_allclose(
        ensemble.average(values, axis), np.nanmean(values, axis), rtol=1e-12, atol=1e-9
    )
    np.testing.assert_allclose(
        ensemble.spread(values, axis), np.nanstd(values, axis, ddof=1), rtol=1e-9, atol=1e-8
    )
    limit = data.draw(st.floats(-1e4, 1e4, width=32))
    above = ensemble.probability(values, above=limit, axis=axis)
    below = ensemble.probability(values, below=limit, axis=axis)
    with np.errstate(invalid="ignore"):
        near = np.abs(values - limit) <= np.spacing(np.float32(abs(limit)))
        equal = near.sum(axis) / (~np.isnan(values)).sum(axis)
    there = ~np.isnan(above)
    np.testing.assert_allclose((above + below + equal)[there], 1.0, rtol=1e-12)
    higher = ensemble.probability(values, above=limit + 1.0, axis=axis)
    assert (higher[there] <= above[there]).all()
    turned = np.flip(values, axis)
    np.testing.assert_array_equal(ensemble.probability(turned, above=limit, axis=axis), above)


# Features in each member ----------------------------------------------------------------------


@pytest.mark.parametrize("stat", ["mean", "min", "max", "median"])
@pytest.mark.parametrize("feature", [SIX, PARTS, TOWN], ids=lambda f: f.name)
def test_each_member_has_the_statistic_of_its_own_cells(
    world: Dataset, fields: NDArray[np.float32], feature: Feature, stat: Any
) -> None:
    expected = by_hand(fields, feature, stat)
    got = world.member_series(DAY, T2M, feature, stat)
    assert got.dtype == np.float64
    assert got.shape == (5, 40)
    np.testing.assert_allclose(got, expected, rtol=1e-12)
    for index, name in enumerate(MEMBERS):
        for member in (index, name):
            one = world.series(DAY, T2M, feature, stat, member)
            np.testing.assert_array_equal(one, got[index])
    # A number is an index and a text a name.
    np.testing.assert_array_equal(world.series(DAY, T2M, feature, stat, "3"), got[3])
    np.testing.assert_array_equal(world.series(DAY, T2M, feature, stat, "5"), got[4])


def test_the_members_differ_and_the_first_is_the_deterministic_forecast(world: Dataset) -> None:
    values = world.member_series(DAY, T2M, SIX)
    assert (np.abs(np.diff(values, axis=0)).max(axis=1) > 0.5).all()
    alone = analytic_dataset(step=10.0, features=STORE)
    np.testing.assert_array_equal(values[0], alone.series(DAY, T2M, SIX))


def test_the_mean_of_maxima_is_not_the_maximum_of_the_mean_field(world: Dataset) -> None:
    of_field = world.series(DAY, T2M, SIX, "mean")
    np.testing.assert_allclose(
        ensemble.average(world.member_series(DAY, T2M, SIX)), of_field, atol=1e-4
    )
    maxima = ensemble.average(world.member_series(DAY, T2M, SIX, "max"))
    assert (maxima >= world.series(DAY, T2M, SIX, "max") - 1e-4).all()
    assert (maxima > world.series(DAY, T2M, SIX, "max") + 0.1).any()


def test_a_table_has_the_series_of_each_feature(world: Dataset) -> None:
    fresh = analytic_dataset(step=10.0, features=STORE, members=MEMBERS)
    table = fresh.member_table(DAY, T2M, [TOWN, SIX], "max")
    assert table.shape == (2, 5, 40)
    for row, feature in zip(table, (TOWN, SIX), strict=True):
        np.testing.assert_array_equal(row, world.member_series(DAY, T2M, feature, "max"))
    one = fresh.member_table(DAY, T2M, [PARTS, SIX], "max", "5")
    assert one.shape == (2, 1, 40)
    np.testing.assert_array_equal(one[0, 0], world.series(DAY, T2M, PARTS, "max", "5"))


def test_a_feature_of_no_store(world: Dataset, fields: NDArray[np.float32]) -> None:
    twin = Feature.of("Elsewhere", "box", SIX.geometry)
    got = world.member_series(DAY, T2M, twin)
    np.testing.assert_allclose(got, by_hand(fields, SIX, "mean"), rtol=1e-12)
    np.testing.assert_array_equal(world.series(DAY, T2M, twin, "mean", 2), got[2])
    with pytest.raises(KeyError):
        world.member_table(DAY, T2M, [twin])


class Counting(Forecast):
    """Counts whose cells are asked for."""

    asked: Counter[object]

    def cells(self, variable: str, member: int | str | None = None) -> NDArray[np.float32]:
        self.asked[member] += 1
        return super().cells(variable, member)


def small(
    fields: NDArray[np.float32], members: tuple[str, ...], store: FeatureStore, lat: list[float]
) -> tuple[Dataset, Counting]:
    forecast = Counting(
        "small",
        "a",
        np.datetime64("2020-01-01"),
        np.arange(fields.shape[-1]) * 6,
        Grid(np.array(lat), np.array([0.0, 10.0, 20.0])),
        {T2M: lambda: fields},
        members=members,
    )
    forecast.asked = Counter()
    return Dataset("small", {"a": lambda: forecast}, features=lambda: store), forecast


def test_each_member_of_a_feature_is_computed_once() -> None:
    fields = np.arange(3 * 6 * 2, dtype=np.float32).reshape(3, 6, 2)
    dataset, forecast = small(fields, ("a", "b", "c"), FeatureStore([TOWN, PARTS]), [0.0, 10.0])
    dataset.series(forecast, T2M, PARTS, "mean", "b")
    forecast.asked.clear()
    one = dataset.series("a", T2M, PARTS, "mean", "b")
    assert not forecast.asked
    first = dataset.member_series(forecast, T2M, PARTS)
    assert forecast.asked == {0: 1, 1: 1, 2: 1}
    second = dataset.member_series("small/a", T2M, PARTS)
    assert forecast.asked.total() == 3
    assert np.shares_memory(first, second)
    np.testing.assert_array_equal(one, first[1])
    for values in (one, first):
        with pytest.raises(ValueError, match="read-only"):
            values[...] = 0.0


def test_outside_the_grid() -> None:
    fields = np.ones((2, 6, 2), np.float32)
    far = Feature.of("Far", "region", box(100, 0, 120, 10))
    dataset, _ = small(fields, ("a", "b"), FeatureStore([PARTS, far]), [0.0, 10.0])
    with pytest.raises(OutsideGrid, match="Far"):
        dataset.member_series("a", T2M, far)
    table = dataset.member_table("a", T2M, [far, PARTS])
    assert np.isnan(table[0]).all()
    np.testing.assert_allclose(table[1], 1.0, rtol=1e-15)


def test_a_member_without_data_is_left_out() -> None:
    fields = np.full((3, 6, 2), 280.0, np.float32)
    fields[1] += 4.0
    fields[2, :, 1] = np.nan
    dataset, _ = small(fields, ("a", "b", "c"), FeatureStore([PARTS]), [0.0, 10.0])
    values = dataset.member_series("a", T2M, PARTS)
    np.testing.assert_allclose(ensemble.average(values), [844 / 3, 282.0], rtol=1e-12)
    np.testing.assert_allclose(ensemble.spread(values), [np.sqrt(16 / 3), np.sqrt(8)], rtol=1e-9)
    np.testing.assert_allclose(ensemble.probability(values, above=281.0), [1 / 3, 1 / 2])


def test_refusals(world: Dataset) -> None:
    alone = analytic_dataset(step=10.0, features=STORE)
    asks = (
        partial(alone.member_series, DAY, T2M, SIX),
        partial(alone.member_table, DAY, T2M, [SIX]),
        partial(alone.series, DAY, T2M, SIX, "mean", 0),
    )
    for ask in asks:
        with pytest.raises(UnknownMember, match="is a single one: it has no members"):
            ask()
    for member in ("4", 5, -1, ""):
        with pytest.raises(UnknownMember, match="control, 1, 2, 3, 5"):
            world.series(DAY, T2M, SIX, "mean", member)
    with pytest.raises(UnknownVariable, match="snow"):
        world.member_series(DAY, "snow", SIX)


# Real files -----------------------------------------------------------------------------------


@pytest.fixture
def added(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Any:
    """``added(file, *options)``: the dataset that ``zephyrus data add`` makes of a sample."""
    pytest.importorskip("eccodes")
    if not SAMPLES.is_dir():
        pytest.skip("the sample grids are not here")
    monkeypatch.setenv(DATA_VARIABLE, str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))

    def add(file: str, *options: str) -> Dataset:
        from zephyrus_geodata.cli import data

        result = CliRunner().invoke(data, ["add", "real", str(SAMPLES / file), *options])
        assert result.exit_code == 0, result.output
        return load_dataset("real")

    return add


def messages(file: str, **wanted: Any) -> dict[str, NDArray[np.float64]]:
    """The values of a GRIB file's messages by member, read by ecCodes alone."""
    import eccodes

    found = {}
    with (SAMPLES / file).open("rb") as stream:
        while handle := eccodes.codes_grib_new_from_file(stream):
            if all(eccodes.codes_get(handle, key) == value for key, value in wanted.items()):
                control = eccodes.codes_get(handle, "dataType") == "cf"
                name = "control" if control else str(eccodes.codes_get(handle, "number"))
                found[name] = eccodes.codes_get_values(handle)
            eccodes.codes_release(handle)
    return found


def test_control_and_fifty_members_of_a_real_forecast(added: Any) -> None:
    dataset = added("ens_50.grib")
    raw = messages("ens_50.grib")
    forecast = dataset.forecast(dataset.forecasts[0])
    assert len(raw) == len(forecast.members) == 51
    # Two rows (60 and 50°N) of three cells of 10 degrees around -10, 0 and 10°E. The box covers
    # half of either row, by degrees, and half of the outer columns.
    feature = Feature.of("North Sea box", "box", box(-10, 50, 10, 60))
    rows = np.sin(np.deg2rad([65.0, 55.0, 45.0]))
    weights = np.array([0.5 * (rows[0] - rows[1]), 0.5 * (rows[1] - rows[2])])
    columns = np.array([0.5, 1.0, 0.5])
    mass = np.outer(weights, columns).ravel()
    values = np.array(
        [(raw[name].astype(np.float32) @ mass) / mass.sum() for name in forecast.members]
    )
    got = dataset.member_series(forecast, "geopotential_850", feature)
    np.testing.assert_allclose(got[:, 0], values, rtol=1e-6)
    assert ensemble.average(got)[0] == pytest.approx(values.mean(), rel=1e-6)
    assert ensemble.spread(got)[0] == pytest.approx(np.std(values, ddof=1), rel=1e-3)
    for limit in np.quantile(values, [0.0, 0.11, 0.52, 0.93]) + 0.05:
        assert ensemble.probability(got, above=limit)[0] == (values > limit).sum() / 51
    one = dataset.series(forecast, "geopotential_850", feature, "max", "37")
    assert one.tolist() == [float(raw["37"].astype(np.float32).max())]


def test_ten_members_of_a_real_reanalysis(added: Any) -> None:
    dataset = added("era5_levels_members.grib", "--kind", "forecast")
    raw = messages(
        "era5_levels_members.grib", shortName="t", level=850, dataDate=20170102, dataTime=1200
    )
    forecast = dataset.forecast("2017-01-02T12")
    assert forecast.members == tuple("0123456789") == tuple(raw)
    # 3 degree cells around 0, 3, ...: rows from 90°N down; two by two of them.
    feature = Feature.of("Four cells", "box", box(7.5, 1.5, 13.5, 7.5))
    rows, columns = [(90 - lat) // 3 for lat in (6, 3)], [9 // 3, 12 // 3]
    mass = [np.sin(np.deg2rad(lat + 1.5)) - np.sin(np.deg2rad(lat - 1.5)) for lat in (6, 3)]
    values = np.array(
        [
            np.average(raw[name].reshape(61, 120)[np.ix_(rows, columns)].mean(axis=1), weights=mass)
            for name in forecast.members
        ]
    )
    got = dataset.member_series(forecast, "temperature_850", feature)
    np.testing.assert_allclose(got[:, 0], values, atol=1e-4)
    assert ensemble.spread(got)[0] == pytest.approx(values.std(ddof=1), abs=1e-4)
