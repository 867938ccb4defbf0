"""The share of a feature's area beyond what is usual in each cell."""

import math
from datetime import datetime
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from shapely.geometry import Point, box

from zephyrus_geodata import exceedance
from zephyrus_geodata.climate.recipe import DAYS
from zephyrus_geodata.climatology import Climatology, Days
from zephyrus_geodata.dataset import Dataset
from zephyrus_geodata.errors import OutsideGrid, UnknownVariable, UnsuitableData
from zephyrus_geodata.features import Feature, FeatureStore
from zephyrus_geodata.forecast import Forecast
from zephyrus_geodata.grid import Grid
from zephyrus_geodata.testing import analytic_dataset

GRID = Grid(np.arange(-75.0, 90.0, 30.0), np.arange(-165.0, 180.0, 30.0))
BOXES = {
    "Band": (-180.0, 30.0, 180.0, 90.0),
    "Part": (-20.0, -30.0, 75.0, 30.0),
    "Corner": (150.0, -90.0, 180.0, -60.0),
}
STORE = FeatureStore([Feature.of(name, "region", box(*edges)) for name, edges in BOXES.items()])
T2M = "2m_temperature"


def parts_of(name: str) -> dict[int, float]:
    """Cell -> covered part of the unit sphere; edges of boxes are those of rows."""
    west, south, east, north = BOXES[name]
    found = {}
    for cell in range(72):
        bottom, left = -90 + 30 * (cell // 12), -180 + 30 * (cell % 12)
        wide = max(0.0, min(left + 30, east) - max(left, west))
        if wide and south <= bottom < north:
            high = math.sin(math.radians(bottom + 30)) - math.sin(math.radians(bottom))
            found[cell] = math.radians(wide) * high
    return found


def by_hand(name: str, values: NDArray[Any], limits: NDArray[Any], above: bool) -> list[float]:
    """The share at each time, cell by cell, from the definition; both (cell, time)."""
    shares = []
    for now, usual in zip(values.T.tolist(), limits.T.tolist(), strict=True):
        beyond = total = 0.0
        for cell, part in parts_of(name).items():
            if not (math.isnan(now[cell]) or math.isnan(usual[cell])):
                total += part
                beyond += (
                    part if (now[cell] > usual[cell] if above else now[cell] < usual[cell]) else 0
                )
        shares.append(beyond / total if total else math.nan)
    return shares


def made(
    values: NDArray[np.float32],
    rows: NDArray[np.float32],
    *,
    start: str = "2001-01-25",
    days: Days | None = None,
    step: int = 24,
) -> Dataset:
    """A dataset of one forecast; rows (month, statistic, cell)."""
    hours = np.arange(values.shape[1]) * step
    forecast = Forecast("d", "f", np.datetime64(start, "s"), hours, GRID, {T2M: lambda: values})
    climatology = Climatology(GRID, {T2M: lambda: rows}, days=days)
    return Dataset(
        "d", {"f": lambda: forecast}, climatology=lambda: climatology, features=lambda: STORE
    )


def coarse(seed: int, *shape: int) -> NDArray[np.float32]:
    """Few different numbers, so that many are equal, with gaps."""
    rng = np.random.default_rng(seed)
    values = rng.integers(0, 4, shape).astype(np.float32)
    values[rng.random(shape) < 0.1] = np.nan
    return values


@settings(max_examples=25)
@given(seed=st.integers(0, 2**32 - 1), above=st.booleans())
def test_each_cell_is_held_against_its_own_month(seed: int, above: bool) -> None:
    values, rows = coarse(seed, 72, 12), coarse(seed + 1, 12, 9, 72)
    dataset = made(values, rows)
    months = [0] * 7 + [1] * 5  # 25 January to 5 February
    for statistic, index in (("p5", 0), ("p90", 5), ("mean", 7)):
        limits = np.stack([rows[month, index] for month in months], axis=1)
        table = dataset.exceedance("f", T2M, statistic, list(STORE), above=above)
        assert table.shape == (3, 12)
        for row, feature in zip(table, STORE, strict=True):
            wanted = by_hand(feature.name, values, limits, above)
            np.testing.assert_allclose(row, wanted, rtol=1e-12)
            one = made(values, rows).exceedance("f", T2M, statistic, feature, above=above)
            assert one.tobytes() == row.tobytes()  # computed for itself: the same numbers


@pytest.mark.parametrize("held", [1, 3 * 4 * 72, 10**9])
@pytest.mark.parametrize("hours", [(), (0, 12)])
def test_by_day_and_hour(
    monkeypatch: pytest.MonkeyPatch, held: int, hours: tuple[int, ...]
) -> None:
    monkeypatch.setattr(exceedance, "_HELD", held)
    values = coarse(1, 72, 20)
    by_day = coarse(2, 3, max(1, len(hours)), 9, 72)
    days = Days((20, 32, 40), hours, 15, {T2M: lambda day, hour: by_day[day, hour]})
    dataset = made(values, coarse(3, 12, 9, 72), days=days, step=6)
    limits = []
    for step in range(20):
        day = 25 + step * 6 // 24
        nearest = 0 if day <= 26 else 1 if day <= 36 else 2  # 26 is as near to 20 as to 32
        # 6 o'clock is as near to 0 as to 12, 18 as near to 12 as to 24.
        hour = {0: 0, 6: 0, 12: 1, 18: 1}[step * 6 % 24] if hours else 0
        limits.append(by_day[nearest, hour, 5])
    table = dataset.exceedance("f", T2M, "p90", list(STORE))
    for row, feature in zip(table, STORE, strict=True):
        np.testing.assert_allclose(
            row, by_hand(feature.name, values, np.stack(limits, axis=1), True), rtol=1e-12
        )


def test_a_percentile_between_two() -> None:
    values, rows = coarse(5, 72, 3), coarse(6, 12, 9, 72)
    table = made(values, rows).exceedance("f", T2M, "p60", list(STORE), above=False)
    limits = rows[0, 3].astype(np.float64) * 0.6 + rows[0, 4].astype(np.float64) * 0.4
    limits = np.repeat(limits.astype(np.float32)[:, None], 3, axis=1)
    for row, feature in zip(table, STORE, strict=True):
        np.testing.assert_allclose(row, by_hand(feature.name, values, limits, False), rtol=1e-12)


def test_it_is_not_what_the_means_say() -> None:
    rows = np.zeros((12, 9, 72), dtype=np.float32)
    values = np.full((72, 1), -1.0, dtype=np.float32)
    corner = next(iter(parts_of("Part")))
    values[corner] = 1000.0
    dataset = made(values, rows)
    place = STORE.get("Part")
    assert dataset.series("f", T2M, place)[0] > dataset.climate(T2M, "p90", 1, place)
    parts = parts_of("Part")
    share = dataset.exceedance("f", T2M, "p90", place)[0]
    assert share == pytest.approx(parts[corner] / sum(parts.values())) and share < 0.2


def test_what_is_equal_is_neither_above_nor_below() -> None:
    rows = np.zeros((12, 9, 72), dtype=np.float32)
    dataset = made(np.zeros((72, 2), dtype=np.float32), rows)
    for above in (True, False):
        assert not dataset.exceedance("f", T2M, "p50", list(STORE), above=above).any()


def test_it_is_computed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = made(coarse(1, 72, 5), coarse(2, 12, 9, 72))
    first = dataset.exceedance("f", T2M, "p90", list(STORE))
    below = dataset.exceedance("f", T2M, "p90", list(STORE), above=False)
    assert (first != below).any()
    monkeypatch.setattr(exceedance, "share_beyond", None)
    assert dataset.exceedance("d/f", T2M, "p90", list(STORE)).tobytes() == first.tobytes()
    one = dataset.exceedance(dataset.forecast("f"), T2M, "p90", STORE.get("Part"))
    assert one.tobytes() == first[1].tobytes()
    with pytest.raises(ValueError, match="read-only"):
        one[0] = 0.0


def test_what_can_be_wrong() -> None:
    dataset = made(coarse(1, 72, 5), coarse(2, 12, 9, 72))
    place = STORE.get("Part")
    for statistic in ("std", "p99", "p1", "max"):
        with pytest.raises(ValueError):
            dataset.exceedance("f", T2M, statistic, place)
    with pytest.raises(UnknownVariable, match="forecast d/f has no variable 'snow'"):
        dataset.exceedance("f", "snow", "p90", place)
    with pytest.raises(KeyError):
        dataset.exceedance("f", T2M, "p90", [Feature.of("x", "point", Point(0, 0))])
    plain = Dataset("d", {"f": lambda: dataset.forecast("f")}, features=lambda: STORE)
    with pytest.raises(UnsuitableData, match="has no climatology"):
        plain.exceedance("f", T2M, "p90", place)


def test_a_point_and_a_place_off_the_grid() -> None:
    world = analytic_dataset(step=10.0, features=STORE)
    whole, usual = world.forecast("2001-01-05"), world.climatology
    assert usual is not None
    point = Feature.of("9,48", "point", Point(9.0, 48.0))
    cell = world.grid.nearest(48.0, 9.0)
    above = world.exceedance(whole, T2M, "p90", point)
    limit = usual.cells(T2M, "p90", 1)[cell]
    assert above.tolist() == (whole.cells(T2M)[cell] > limit).astype(float).tolist()
    north = {"latitude": slice(0, 90)}
    regional = Dataset(
        "n",
        {"f": lambda: Forecast.from_xarray(whole.to_xarray().sel(north), dataset="n", name="f")},
        climatology=lambda: Climatology.from_xarray(usual.to_xarray().sel(north)),
        features=lambda: STORE,
    )
    table = regional.exceedance("f", T2M, "p90", list(STORE))
    assert np.isnan(table).all(axis=1).tolist() == [False, False, True]
    with pytest.raises(OutsideGrid):
        regional.exceedance("f", T2M, "p90", STORE.get("Corner"))


def around(first: int, second: int, turn: int) -> int:
    """Steps from one number on a dial to another, backward below zero; half a turn is forward."""
    ahead = (second - first) % turn
    return ahead if ahead <= turn - ahead else ahead - turn


@given(
    days=st.sets(st.integers(1, DAYS), min_size=1, max_size=20),
    hours=st.sets(st.integers(0, 23), max_size=5),
    start=st.datetimes(datetime(1950, 1, 1), datetime(2050, 1, 1)),
    leads=st.lists(st.integers(0, 10_000), min_size=1, max_size=10),
)
def test_the_nearest_day_and_hour(
    days: set[int], hours: set[int], start: datetime, leads: list[int]
) -> None:
    moments = np.datetime64(start, "s") + np.array(leads, "timedelta64[h]")
    kept = Days(tuple(sorted(days)), tuple(sorted(hours)), 1, {})
    climatology = Climatology(GRID, {}, days=kept)
    chosen = []
    for moment in moments:
        date = moment.item()
        number = date.replace(year=2000).timetuple().tm_yday  # of a leap year
        steps = [(abs(around(number, day, DAYS)), around(number, day, DAYS)) for day in kept.days]
        day = min(range(len(steps)), key=steps.__getitem__)
        steps = [(abs(around(date.hour, h, 24)), around(date.hour, h, 24)) for h in kept.hours]
        hour = min(range(len(steps)), key=steps.__getitem__, default=0)
        assert kept.nearest(moment) == (day, hour)
        chosen.append((day, hour))
    one, groups = climatology.groups(moments)
    assert [kept.nearest(one[group]) for group in groups] == chosen
    assert len(one) == len(set(chosen))
