from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from shapely.geometry import Point, box

from zephyrus_geodata import loading
from zephyrus_geodata.climatology import STATISTICS
from zephyrus_geodata.dataset import Dataset
from zephyrus_geodata.errors import (
    OutsideGrid,
    UnknownDataset,
    UnknownForecast,
    UnknownVariable,
    UnsuitableData,
)
from zephyrus_geodata.features import Feature, FeatureStore
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.loading import list_datasets, load_dataset
from zephyrus_geodata.store.names import DATA_VARIABLE
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_geodata.variables import VARIABLES
from zephyrus_geodata.zonal import STATS, Stat, zonal_statistic

STORE = FeatureStore(
    [
        Feature.of("North", "region", box(-180, 30, 180, 90)),
        Feature.of("Tropics", "region", box(-180, -30, 180, 30)),
        Feature.of("Box", "region", box(3, 41, 17, 53)),
        Feature.of("Pond", "lake", box(10.1, 10.1, 10.2, 10.2)),
        Feature.of("Town", "city", Point(8.5, 47.4)),
        Feature.of("Date Line", "region", box(170, -20, 190, -5)),
    ]
)


@pytest.fixture(scope="module")
def world() -> Dataset:
    return analytic_dataset(features=STORE)


@pytest.fixture
def folder(tmp_path: Path, world: Dataset) -> Path:
    """A dataset on disk: two forecasts and a climatology on a 30 degree grid."""
    small = analytic_dataset(step=30.0, features=STORE, name="small")
    target = tmp_path / "store" / "small"
    target.mkdir(parents=True)
    for name in small.forecasts[:2]:
        small.forecast(name).to_xarray().to_netcdf(target / f"forecast-{name}.nc")
    assert small.climatology is not None
    small.climatology.to_xarray().to_netcdf(target / "climatology.nc")
    return target


@pytest.fixture(autouse=True)
def _private(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[None]:
    """Keep the user's cache and settings out of the tests."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path / "data"))
    monkeypatch.delenv(DATA_VARIABLE, raising=False)
    monkeypatch.setattr(loading, "_OPENED", {})
    yield


def test_the_analytic_world(world: Dataset) -> None:
    assert world.forecasts == ("2001-01-05", "2001-04-10", "2001-07-15")
    forecast = world.forecast("2001-04-10")
    assert forecast.lead_hours.tolist() == list(range(6, 241, 6))
    assert forecast.variables == tuple(VARIABLES)
    assert forecast.id == "analytic/2001-04-10"
    assert world.label == "analytic test world"
    again = analytic_dataset(features=STORE)
    for name in VARIABLES:
        values = forecast.cells(name)
        assert np.isfinite(values).all()
        assert values.tobytes() == again.forecast("2001-04-10").cells(name).tobytes()
        # One place and time each for the highest and the lowest value.
        assert (values == values.max()).sum() == (values == values.min()).sum() == 1
    assert forecast.cells("total_precipitation_6hr").min() >= 0
    cloud = forecast.cells("total_cloud_cover")
    assert cloud.min() >= 0 and cloud.max() <= 1


def test_the_analytic_climate_has_ascending_percentiles(world: Dataset) -> None:
    climatology = world.climatology
    assert climatology is not None
    for name in VARIABLES:
        for month in (1, 7):
            rows = np.stack([climatology.cells(name, p, month) for p in STATISTICS[:7]])
            assert (np.diff(rows, axis=0) > 0).all()
    # Weather sometimes lies outside the 10th to 90th percentile, and mostly inside.
    values = world.forecast("2001-01-05").cells("2m_temperature")
    low, high = (climatology.cells("2m_temperature", p, 1)[:, None] for p in ("p10", "p90"))
    outside = ((values < low) | (values > high)).mean()
    assert 0.005 < outside < 0.5


@pytest.mark.parametrize("stat", STATS)
@pytest.mark.parametrize("feature", STORE, ids=lambda f: f.name)
def test_series_is_the_zonal_statistic(world: Dataset, feature: Feature, stat: Stat) -> None:
    forecast = world.forecast("2001-01-05")
    values = forecast.cells("2m_temperature")
    expected = zonal_statistic(values, world.zones.weights(feature), stat)
    for key in ("2001-01-05", "analytic/2001-01-05", forecast):
        got = world.series(key, "2m_temperature", feature, stat)
        assert got.dtype == np.float64
        assert got.tobytes() == expected.tobytes()
    with pytest.raises(ValueError, match="read-only"):
        got[0] = 0.0


def test_the_mean_over_a_latitude_band_by_hand(world: Dataset) -> None:
    values = world.forecast("2001-01-05").cells("2m_temperature").astype(np.float64)
    grid = world.grid
    lat = np.repeat(grid.latitude, grid.shape[1])
    inside = lat > 30
    # The cells' exact areas in units that cancel: differences of sin(latitude).
    area = np.sin(np.deg2rad(lat + 2.5)) - np.sin(np.deg2rad(lat - 2.5))
    expected = (values * area[:, None])[inside].sum(axis=0) / area[inside].sum()
    got = world.series("2001-01-05", "2m_temperature", STORE.get("North"))
    np.testing.assert_allclose(got, expected, rtol=1e-12)


@pytest.mark.parametrize("stat", STATS)
def test_table_rows_are_the_series(stat: Stat) -> None:
    world = analytic_dataset(features=STORE)
    chosen = [STORE.get(name) for name in ("Box", "Town", "North", "Box")]
    first = world.series("2001-07-15", "10m_wind_speed", chosen[1], stat).copy()
    table = world.table("2001-07-15", "10m_wind_speed", chosen, stat)
    assert table.shape == (4, 40)
    assert table[1].tobytes() == first.tobytes()
    fresh = analytic_dataset(features=STORE)
    for row, feature in zip(table, chosen, strict=True):
        series = fresh.series("2001-07-15", "10m_wind_speed", feature, stat)
        assert row.tobytes() == series.tobytes()
    table[:] = 0.0  # a copy: the dataset's own numbers stay
    again = world.table("analytic/2001-07-15", "10m_wind_speed", chosen, stat)
    assert again[1].tobytes() == first.tobytes()
    assert world.table("2001-07-15", "10m_wind_speed", [], stat).shape == (0, 40)


def test_many_features_at_once_equal_one_by_one(tmp_path: Path) -> None:
    store = FeatureStore(
        [
            Feature.of(f"Cell {x + 180} {y + 90}", "region", box(x, y, x + 7, y + 3))
            for x in range(-180, 180, 30)
            for y in range(-90, 87, 15)
        ]
    )
    source = analytic_dataset(features=store)
    world = Dataset(
        "d",
        {"f": lambda: source.forecast("2001-01-05")},
        features=lambda: store,
        cache_dir=tmp_path / "zones",
    )
    table = world.table("f", "2m_temperature", list(store))
    assert len(list((tmp_path / "zones").iterdir())) == 1
    for row, feature in zip(table, store, strict=True):
        assert row.tobytes() == source.series("2001-01-05", "2m_temperature", feature).tobytes()


def test_a_feature_from_elsewhere_has_a_series_but_no_row(world: Dataset) -> None:
    point = Feature.of("9.0,48.0", "point", Point(9.0, 48.0))
    cell = world.grid.nearest(48.0, 9.0)
    values = world.forecast("2001-01-05").cells("2m_temperature")
    got = world.series("2001-01-05", "2m_temperature", point)
    assert got.tolist() == values[cell].astype(np.float64).tolist()
    with pytest.raises(KeyError):
        world.table("2001-01-05", "2m_temperature", [point])


def test_climate_is_the_mean_of_the_cells_statistic(world: Dataset) -> None:
    assert world.climatology is not None
    for feature in STORE:
        zone = world.zones.weights(feature)
        cells = world.climatology.cells("2m_temperature", "p90", 7)[zone.cells].astype(float)
        expected = float((cells * zone.weights).sum() / zone.weights.sum())
        assert world.climate("2m_temperature", "p90", 7, feature) == pytest.approx(expected)
    with pytest.raises(ValueError, match="no statistic 'p80'"):
        world.climate("2m_temperature", "p80", 7, feature)


def test_unknown_names(world: Dataset) -> None:
    town = STORE.get("Town")
    with pytest.raises(UnknownForecast) as caught:
        world.series("2002-01-01", "2m_temperature", town)
    assert str(caught.value) == (
        "The dataset 'analytic' has no forecast '2002-01-01'; it has 2001-01-05, 2001-04-10, "
        "2001-07-15."
    )
    with pytest.raises(UnknownForecast):
        world.forecast("other/2001-01-05")
    other = analytic_dataset(features=STORE, name="other").forecast("2001-01-05")
    with pytest.raises(UnknownForecast, match="no forecast 'other/2001-01-05'"):
        world.series(other, "2m_temperature", town)
    with pytest.raises(UnknownVariable, match="has no variable 'snow'; it has 2m_temperature"):
        world.table("2001-01-05", "snow", [town])
    mode: Any = "mode"
    with pytest.raises(ValueError, match="no statistic 'mode'"):
        world.series("2001-01-05", "2m_temperature", town, mode)


def test_a_regional_dataset(world: Dataset) -> None:
    whole = world.forecast("2001-01-05")
    europe = whole.to_xarray().sel(latitude=slice(30, 70), longitude=slice(-15, 40))
    regional = Dataset(
        "europe",
        {"f": lambda: Forecast.from_xarray(europe, dataset="europe", name="f")},
        features=lambda: STORE,
    )
    box_, away = STORE.get("Box"), STORE.get("Date Line")
    got = regional.series("f", "2m_temperature", box_)
    np.testing.assert_allclose(got, world.series("2001-01-05", "2m_temperature", box_), rtol=1e-12)
    with pytest.raises(OutsideGrid):
        regional.series("f", "2m_temperature", away)
    table = regional.table("f", "2m_temperature", [box_, away])
    assert np.isnan(table).tolist() == [[False] * 40, [True] * 40]
    assert regional.climatology is None
    with pytest.raises(UnsuitableData, match="'europe' has no climatology"):
        regional.climate("2m_temperature", "mean", 1, box_)


def test_all_of_a_dataset_must_be_on_one_grid(world: Dataset) -> None:
    coarse = analytic_dataset(step=10.0, features=STORE)
    mixed = Dataset(
        "mixed",
        {
            "a": lambda: world.forecast("2001-01-05"),
            "b": lambda: coarse.forecast("2001-04-10"),
        },
        climatology=lambda: coarse.climatology or pytest.fail(),
        features=lambda: STORE,
    )
    assert mixed.forecast("a").name == "2001-01-05"
    with pytest.raises(UnsuitableData, match="is on another grid"):
        mixed.forecast("b")
    with pytest.raises(UnsuitableData, match="The climatology is on another grid"):
        _ = mixed.climatology


def test_nothing_is_opened_until_asked() -> None:
    opened = []

    def note(what: str) -> Any:
        opened.append(what)
        raise RuntimeError(what)

    lazy = Dataset(
        "lazy",
        {"a": lambda: note("forecast")},
        climatology=lambda: note("climatology"),
        features=lambda: note("features"),
    )
    assert lazy.forecasts == ("a",)
    assert repr(lazy) == "Dataset('lazy', forecasts=('a',))"
    assert not opened


def test_a_folder_is_a_dataset(folder: Path) -> None:
    small = load_dataset(folder)
    assert load_dataset(str(folder)) is small
    assert small.name == "small"
    assert small.forecasts == ("2001-01-05", "2001-04-10")
    assert small.forecast("small/2001-04-10").id == "small/2001-04-10"
    assert small.label == "analytic test world"
    expected = analytic_dataset(step=30.0, features=STORE)
    feature = STORE.get("Box")
    for name in VARIABLES:
        got = small.series("2001-01-05", name, feature)
        assert got.tolist() == expected.series("2001-01-05", name, feature).tolist()
        assert small.climate(name, "p25", 3, feature) == expected.climate(name, "p25", 3, feature)


def test_a_folder_of_datasets_may_be_named(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "small" not in list_datasets()
    (folder.parent / "empty").mkdir()
    monkeypatch.setenv(DATA_VARIABLE, str(folder.parent))
    assert "small" in list_datasets()
    assert "empty" not in list_datasets()
    assert load_dataset("small") is load_dataset(folder)


def test_an_unknown_dataset_names_those_there_are(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(DATA_VARIABLE, str(folder.parent))
    with pytest.raises(UnknownDataset, match=r"no dataset 'smal', .* known are .*small\.$"):
        load_dataset("smal")
    (folder.parent / "empty").mkdir()
    with pytest.raises(UnknownDataset, match=r"holds no forecast-NAME\.nc file"):
        load_dataset(folder.parent / "empty")
    with pytest.raises(UnknownDataset, match="There is no folder"):
        Dataset.from_folder(folder / "nowhere")
    with pytest.raises(UnknownDataset, match="has no forecast"):
        Dataset("none", {})


@pytest.mark.skipif("demo" not in list_datasets(), reason="the demo dataset is not built")
def test_the_shipped_demo() -> None:
    demo = load_dataset()
    assert demo is load_dataset("demo")
    assert len(demo.forecasts) >= 3
    assert demo.climatology is not None
    for name in demo.forecasts:
        forecast = demo.forecast(name)
        assert forecast.lead_hours.tolist() == list(range(6, 241, 6))
        assert "simulated" in forecast.label
        assert len(forecast.variables) == 15
        upper_winds = {v for v in forecast.variables if "component_of_wind_" in v}
        assert len(upper_winds) == 4  # these have no climatology
        assert set(forecast.variables) - upper_winds == set(demo.climatology.variables)
        for variable in forecast.variables:
            assert np.isfinite(forecast.cells(variable)).all()
