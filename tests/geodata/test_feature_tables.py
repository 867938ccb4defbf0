"""Rows of features, and the tables that are filled as they are asked for."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from shapely.geometry import Point, box

from zephyrus_geodata import feature_tables
from zephyrus_geodata.dataset import Dataset
from zephyrus_geodata.errors import OutsideGrid, UnsuitableData
from zephyrus_geodata.feature_tables import FeatureTable, Kept, Rows
from zephyrus_geodata.features import Feature, FeatureStore
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_geodata.zonal import ZonalIndex, Zones

PLACES = [
    Feature.of(f"Box {i}", "region", box(-170 + 30 * i, -40, -150 + 30 * i, 40)) for i in range(8)
]
STORE = FeatureStore(PLACES)
GRID = Grid(np.arange(-85.0, 90.0, 10.0), np.arange(-175.0, 180.0, 10.0))
T2M = "2m_temperature"


def copy(feature: Feature) -> Feature:
    return Feature(feature.name, feature.kind, feature.parent, feature.source, feature.wkb)


@given(st.lists(st.lists(st.integers(0, 7), max_size=10), max_size=10))
def test_rows_are_those_of_the_features(asked: list[list[int]]) -> None:
    rows = Rows(STORE)
    for wanted in asked:
        for places in ([PLACES[i] for i in wanted], tuple(copy(PLACES[i]) for i in wanted)):
            assert rows.of(places).tolist() == wanted
            changed = list(places)
            if len(changed) > 2:  # first, last and length are those of a list that is known
                changed[1] = PLACES[(wanted[1] + 1) % 8]
                assert rows.of(changed).tolist() == [
                    wanted[0],
                    (wanted[1] + 1) % 8,
                    *wanted[2:],
                ]
    assert len(rows) == 8


def test_a_list_that_is_changed_is_another_list() -> None:
    rows, places = Rows(STORE), PLACES[:4]
    assert rows.of(places).tolist() == [0, 1, 2, 3]
    places[1], places[2] = places[2], places[1]
    assert rows.of(places).tolist() == [0, 2, 1, 3]


def test_a_feature_of_the_same_name_is_another() -> None:
    rows = Rows(STORE)
    twin = Feature.of("Box 1", "region", box(0, 0, 10, 10))
    assert rows.get(twin) is None and rows.get(copy(PLACES[1])) == 1
    with pytest.raises(KeyError, match="region:Box 1"):
        rows.of([PLACES[0], twin])


def test_lists_are_forgotten_in_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(feature_tables, "_LISTS", 2)
    rows = Rows(STORE)
    for _ in range(2):
        for i in range(8):
            assert rows.of(PLACES[i:]).tolist() == list(range(i, 8))
    assert len(rows._lists) <= 2


class Counting:
    """Computes the number of cells of each zone, and remembers of how many zones at a time."""

    def __init__(self) -> None:
        self.calls: list[int] = []

    def __call__(self, zones: Zones) -> NDArray[np.float64]:
        self.calls.append(len(zones))
        return np.array([[zone.cells.size, -zone.cells[0]] for zone in zones], dtype=np.float64)


def test_each_row_is_computed_once() -> None:
    compute = Counting()
    table = FeatureTable(Rows(STORE), ZonalIndex(GRID, STORE), 2, compute)
    first = table.series(PLACES[3]).tolist()
    assert table.table([PLACES[i] for i in (3, 1, 1, 3, 0)]).shape == (5, 2)
    assert compute.calls == [1, 2]
    assert table.table(PLACES)[3].tolist() == first
    assert table.column(PLACES, 1).tolist() == table.table(PLACES)[:, 1].tolist()
    for place in PLACES:
        table.series(place)
    assert compute.calls == [1, 2, 5]
    away = Feature.of("9,48", "point", Point(9.0, 48.0))
    assert table.series(away)[0] == 1.0
    assert compute.calls == [1, 2, 5, 1]


def test_a_table_that_is_there_is_not_computed() -> None:
    ready = np.arange(16.0).reshape(8, 2)
    ready[2] = np.nan
    compute = Counting()
    table = FeatureTable(Rows(STORE), ZonalIndex(GRID, STORE), 2, compute, ready)
    assert table.table(PLACES[:2]).tolist() == [[0, 1], [2, 3]]
    assert table.series(PLACES[7]).tolist() == [14, 15]
    assert np.isnan(table.series(PLACES[2])).all()  # inside the grid: there are no data
    assert not compute.calls


def test_off_the_grid_is_an_error_before_and_after_the_table() -> None:
    world = analytic_dataset(step=10.0, features=STORE)
    north = world.forecast("2001-01-05").to_xarray().sel(longitude=slice(-100, 180))
    regional = Dataset(
        "n",
        {"f": lambda: Forecast.from_xarray(north, dataset="n", name="f")},
        features=lambda: STORE,
    )
    for _ in range(2):
        with pytest.raises(OutsideGrid):
            regional.series("f", T2M, PLACES[0])
        assert (
            np.isnan(regional.table("f", T2M, PLACES)).any(axis=1).tolist()
            == [True] * 2 + [False] * 6
        )


def test_the_climate_of_many_is_that_of_each(monkeypatch: pytest.MonkeyPatch) -> None:
    world = analytic_dataset(step=10.0, features=STORE)
    other = analytic_dataset(step=10.0, features=STORE)
    moment = np.datetime64("2001-07-15T06", "s")
    asked: list[tuple[str, int | np.datetime64]] = [("p90", 7), ("p80", moment), ("mean", moment)]
    for statistic, when in asked:
        table = world.climate_table(T2M, statistic, when, PLACES)
        each = [other.climate(T2M, statistic, when, place) for place in PLACES]
        assert table.tolist() == each
        table[:] = 0.0  # a copy
    # Another hour of July has the same climate; nothing is computed again.
    monkeypatch.setattr(feature_tables, "zonal_table", None)
    later = moment + np.timedelta64(30, "h")
    assert world.climate_table(T2M, "p80", later, PLACES).tolist() == [
        other.climate(T2M, "p80", moment, place) for place in PLACES
    ]
    with pytest.raises(ValueError, match="no statistic 'p80'"):
        world.climate_table(T2M, "p80", 7, PLACES)
    with pytest.raises(ValueError, match="no month 13"):
        world.climate(T2M, "p90", 13, PLACES[0])
    plain = Dataset("d", {"f": lambda: world.forecast("2001-01-05")}, features=lambda: STORE)
    with pytest.raises(UnsuitableData, match="'d' has no climatology"):
        plain.climate_table(T2M, "p90", 7, PLACES)


class Sized:
    def __init__(self, nbytes: int) -> None:
        self.nbytes = nbytes


@given(st.lists(st.tuples(st.integers(0, 5), st.integers(0, 60)), max_size=30))
def test_no_more_is_kept_than_may_be(puts: list[tuple[int, int]]) -> None:
    kept: Kept[int, Any] = Kept(100)
    order: dict[int, Sized] = {}
    for key, size in puts:
        made = Sized(size)
        there = kept.put(key, made)
        assert there is order.setdefault(key, made)
        while sum(table.nbytes for table in order.values()) > 100 and next(iter(order)) != key:
            del order[next(iter(order))]
        assert {k: kept.get(k) for k in range(6) if kept.get(k)} == order
