"""Percentiles by the day of the year, against plain numpy, a cell and a day at a time."""

from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from zephyrus_geodata.climate import budget, build
from zephyrus_geodata.climate.recipe import Recipe, date_of, day_of, hour_of, month_of
from zephyrus_geodata.climate.series import Analyses, Piece, matching
from zephyrus_geodata.climate.summary import describe, summarise
from zephyrus_geodata.climatology import Climatology, Days, Window
from zephyrus_geodata.errors import StoreError, UnsuitableData
from zephyrus_geodata.grid import Grid

MOST = (5.0, 10.0, 25.0, 50.0, 75.0, 90.0, 95.0)


def every(start: str, stop: str, hours: int) -> NDArray[np.datetime64]:
    """Times from start up to stop."""
    return np.arange(start, stop, np.timedelta64(hours, "h"), dtype="datetime64[s]")


def oracle(
    values: NDArray[np.float32],
    times: NDArray[np.datetime64],
    day: int,
    window: int,
    hour: int | None,
    percentiles: Sequence[float],
) -> list[float]:
    """The statistics of one cell: dates of a leap year, a circle of 366 days, numpy."""
    centre = date.fromordinal(date(2000, 1, 1).toordinal() + day - 1)
    half = window // 2 if (centre.month, centre.day) != (2, 29) else max(1, window // 2)
    sample = []
    for value, time in zip(values.tolist(), times.tolist(), strict=True):
        away = abs((date(2000, time.month, time.day) - centre).days)
        if min(away, 366 - away) <= half and hour in (None, time.hour) and not np.isnan(value):
            sample.append(value)
    return numbers(np.array(sample), percentiles)


def numbers(sample: NDArray[np.float64], percentiles: Sequence[float]) -> list[float]:
    """Percentiles, mean and standard deviation by numpy."""
    if not sample.size:
        return [np.nan] * (len(percentiles) + 2)
    found = [float(np.percentile(sample, p, method="linear")) for p in percentiles]
    return [*found, float(sample.mean()), float(sample.std())]


def close(found: Any, wanted: Any) -> None:
    """Equal to a millionth, besides the rounding to float32 of what is stored."""
    np.testing.assert_allclose(found, np.float32(wanted), rtol=1e-6, atol=1e-6)


@settings(max_examples=60, deadline=None)
@given(
    first=st.integers(1995, 2004),
    years=st.integers(1, 5),
    hours=st.sampled_from([6, 12, 24, 9]),
    window=st.integers(0, 182).map(lambda half: 2 * half + 1),
    apart=st.booleans(),
    gaps=st.sampled_from([0.0, 0.02, 0.5, 0.99, 1.0]),
    percentiles=st.lists(st.integers(0, 1000).map(lambda p: p / 10), min_size=1, max_size=4,
                         unique=True).map(lambda p: tuple(sorted(p))),
    days=st.lists(st.integers(1, 366), min_size=1, max_size=4, unique=True).map(sorted),
    dropped=st.integers(0, 400),
    seed=st.integers(0, 2**32 - 1),
)  # fmt: skip
@example(2001, 1, 24, 1, False, 0.0, (50.0,), [59, 60, 61], 0, 0)
@example(1999, 3, 6, 61, True, 0.02, MOST, [1, 60, 366], 3, 1)
@example(1996, 1, 24, 365, False, 0.0, MOST, [1, 183, 366], 0, 2)
def test_every_statistic_is_numpys(
    first: int,
    years: int,
    hours: int,
    window: int,
    apart: bool,
    gaps: float,
    percentiles: tuple[float, ...],
    days: list[int],
    dropped: int,
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    times = rng.permutation(every(f"{first}-01-01", f"{first + years}-01-01", hours)[dropped:])
    if not times.size:
        return
    values = rng.normal(0.0, 30.0, (times.size, 3)).astype(np.float32)
    values[rng.random(values.shape) < gaps] = np.nan
    values[:, 0] = np.round(values[:, 0])  # ties
    there = tuple(np.unique(hour_of(times)).tolist()) if apart else ()
    recipe = Recipe(percentiles, tuple(days), window, there)
    found = summarise(values, times, recipe)
    assert found.day.shape == (len(days), max(1, len(there)), len(percentiles) + 2, 3)
    for cell in range(3):
        for d, day in enumerate(days):
            for h, hour in list(enumerate(there or (None,)))[:2]:
                wanted = oracle(values[:, cell], times, day, window, hour, percentiles)
                close(found.day[d, h, :, cell], wanted)
        for month in (1, 2, 12):
            sample = values[month_of(times) == month, cell].astype(np.float64)
            close(found.month[month - 1, :, cell], numbers(sample[~np.isnan(sample)], percentiles))


def test_thirty_days_to_either_side_by_hand() -> None:
    """A value a day that is the number of the day: what is in the window can be counted."""
    times = every("2000-01-01", "2001-01-01", 24)
    values = np.arange(1, 367, dtype=np.float32)[:, None]
    recipe = Recipe((0.0, 50.0, 100.0), (100, 1), 61)
    summer, new_year = summarise(values, times, recipe).day[:, 0, :, 0]
    np.testing.assert_allclose(summer[:4], [70, 100, 130, 100])
    # 337 … 366 and 1 … 31
    np.testing.assert_allclose(new_year[:3], [1, 31, 366])
    assert new_year[3] == pytest.approx((sum(range(337, 367)) + sum(range(1, 32))) / 61)


def test_the_leap_day_has_its_neighbours() -> None:
    times = every("2001-01-01", "2002-01-01", 24)  # no 29 February
    values = np.arange(1, 366, dtype=np.float32)[:, None]
    day = summarise(values, times, Recipe((50.0,), (59, 60, 61), 1)).day[:, 0, 0, 0]
    assert day.tolist() == [59.0, 59.5, 60.0]


def test_many_rows_at_once_are_each_their_own() -> None:
    """More cells than are worked on at a time, some with gaps and some without."""
    rng = np.random.default_rng(0)
    times = every("2001-01-01", "2005-01-01", 3)
    values = rng.gamma(2.0, 3.0, (times.size, 130)).astype(np.float32)
    values[::7, ::3] = np.nan
    found = summarise(values, times, Recipe(MOST, (200,), 5, (6,)))
    for cell in (0, 1, 44, 45, 90, 129):
        close(found.day[0, 0, :, cell], oracle(values[:, cell], times, 200, 5, 6, MOST))


def test_a_small_spread_on_a_large_mean() -> None:
    """Geopotential: 50,000 and a spread of a hundredth would drown in a sum of squares."""
    sample = (50_000.0 + np.array([[0.0, 0.0625, 0.125, 0.0625]])).astype(np.float32)
    found = describe(sample.copy(), (50.0,))
    assert found[1, 0] == 50_000.0625
    assert found[2, 0] == pytest.approx(np.std([0.0, 0.0625, 0.125, 0.0625]), rel=1e-9)


@given(st.integers(1, 366))
def test_days_are_dates_of_a_leap_year(day: int) -> None:
    month, of_month = date_of(day)
    assert date(2000, month, of_month).timetuple().tm_yday == day
    assert day_of(np.array([f"2000-{month:02}-{of_month:02}T23:59"], "datetime64[s]"))[0] == day
    if day != 60:
        assert day_of(np.array([f"1999-{month:02}-{of_month:02}"], "datetime64[s]"))[0] == day


def test_months_hours_before_1970() -> None:
    times = np.array(["1959-12-31T23:30", "1960-01-01T00", "1960-02-29T06"], "datetime64[s]")
    assert month_of(times).tolist() == [12, 1, 2]
    assert hour_of(times).tolist() == [23, 0, 6]
    assert day_of(times).tolist() == [366, 1, 60]


# Looking up


def by_day(days: tuple[int, ...], hours: tuple[int, ...], window: int = 61) -> Climatology:
    """A climatology whose numbers say where they were taken from: day.hour, + 1000 a statistic."""
    grid = Grid([-45, 45], [-90, 0, 90, 180])

    def read(day: int, hour: int) -> NDArray[np.float32]:
        base = days[day] + (hours[hour] / 100 if hours else 0.0)
        return np.repeat(1000.0 * np.arange(5)[:, None] + base, 8, axis=1).astype(np.float32)

    months = np.zeros((12, 5, 8), np.float32) + np.arange(1, 13)[:, None, None]
    return Climatology(
        grid,
        {"2m_temperature": lambda: months.copy()},
        percentiles=(10.0, 50.0, 90.0),
        days=Days(days, hours, window, {"2m_temperature": read}),
    )


@pytest.mark.parametrize(
    ("when", "day", "hour"),
    [
        ("2020-01-01T06", 1, 6),
        ("2020-12-31T23", 1, 0),
        ("2020-06-01T14:59", 151, 12),
        ("2020-06-01T09", 151, 6),  # the earlier of two as near
        ("2021-03-01T00", 61, 0),
        ("2020-02-29T18", 61, 18),
        ("2020-01-04T00", 1, 0),
        ("2019-12-29T03", 366, 0),
    ],
)
def test_a_time_takes_the_nearest_day_and_hour(when: str, day: int, hour: int) -> None:
    days = (1, 61, 151, 366) if when < "2020" else (1, 61, 151)
    usual = by_day(days, (0, 6, 12, 18))
    moment = np.datetime64(when, "s")
    found = usual.at("2m_temperature", "p10", moment)
    assert found.tolist() == pytest.approx([day + hour / 100] * 8)
    month, of_month = date_of(day)
    assert usual.window(moment) == Window(month, of_month, 30, hour)


def test_hours_together_and_months_alone() -> None:
    moment = np.datetime64("2020-07-02T15", "ns")
    together = by_day((183,), ())
    assert together.at("2m_temperature", "mean", moment).tolist() == [3184 - 1] * 8
    assert together.window(moment) == Window(7, 1, 30, None)
    alone = Climatology(together.grid, {"2m_temperature": lambda: np.ones((12, 9, 8), np.float32)})
    assert alone.days is None
    assert alone.window(moment) == Window(7)
    assert alone.at("2m_temperature", "p95", moment).tolist() == [1.0] * 8
    assert together.cells("2m_temperature", "p10", 7).tolist() == [7.0] * 8


def test_percentiles_between_those_built() -> None:
    usual, moment = by_day((1,), ()), np.datetime64("2020-01-01")
    for statistic, value in (("p10", 1), ("p50", 1001), ("p30", 501), ("p85", 1876), ("p90", 2001)):
        assert usual.at("2m_temperature", statistic, moment)[0] == pytest.approx(value)
    for statistic in ("p5", "p95", "p100", "median", "p-20", "p"):
        with pytest.raises(ValueError, match="use one of p10, p50, p90, mean, std"):
            usual.at("2m_temperature", statistic, moment)


# Cutting


def analyses(times: NDArray[np.datetime64], cells: Grid, **more: Any) -> Analyses:
    def read(variable: str, span: slice) -> NDArray[np.float32]:
        steps = np.arange(times.size)[span]
        return (steps[:, None] + np.arange(cells.size) / 1000).astype(np.float32)

    piece = Piece(times, np.arange(times.size), ("2m_temperature",), read, 8)
    return Analyses("made", "made", cells, ("2m_temperature",), (piece,), "made", **more)


GRID = Grid(np.arange(-85, 90, 10.0), np.arange(-180, 180, 10.0))


@given(
    chunk=st.integers(1, 40),
    most=st.integers(1, 100),
    years=st.sampled_from([(2000, 2002), (2001, 2001), (2002, 2002)]),
)
def test_stretches_give_every_time_once(chunk: int, most: int, years: tuple[int, int]) -> None:
    times = every("2000-01-01", "2003-01-01", 120)
    whole = analyses(times, GRID, chunks={"2m_temperature": (chunk, 1)}).within(*years)
    places, got = [], []
    for place, values in whole.spans("2m_temperature", most):
        assert 1 <= values.shape[0] <= most
        places += range(place, place + values.shape[0])
        got += values[:, 0].tolist()
    assert places == list(range(whole.times.size))
    assert (times[np.array(got, int)] == whole.times).all()


def test_a_period_that_is_not_there() -> None:
    some = analyses(every("2000-01-01", "2003-01-01", 240), GRID)
    with pytest.raises(
        UnsuitableData, match="made has 2000 to 2002, and nothing of 1998, 1999: gi"
    ):
        some.within(1998, 2001)


@given(memory=st.integers(30_000_000, 10**9), workers=st.integers(1, 16))
def test_a_budget_is_kept(memory: int, workers: int) -> None:
    times = every("1990-01-01", "2000-01-01", 24)
    recipe = Recipe(MOST, tuple(range(1, 367)), 61)
    cut = budget.plan(
        analyses(times, GRID), ("2m_temperature",), recipe, GRID.size, times.size, memory, workers
    )
    assert cut.memory <= memory
    assert 1 <= cut.workers <= workers
    assert 1 <= cut.cells <= GRID.size
    held = cut.workers * 4 * cut.cells * (times.size + recipe.numbers)
    assert held <= cut.memory


def test_too_little_memory_says_how_much() -> None:
    times = every("1990-01-01", "2000-01-01", 24)
    with pytest.raises(StoreError, match=r"--memory 1.0 MB is too little: this needs \d+.\d MB"):
        budget.plan(analyses(times, GRID), ("2m_temperature",), Recipe(MOST), 648, 3653, 10**6, 2)


def test_chunks_that_do_not_fit_are_told(tmp_path: Path) -> None:
    times, recipe = every("1990-01-01", "2000-01-01", 24), Recipe(MOST)
    plans = []
    for chunk in (10, 3000):
        source = analyses(times, GRID, chunks={"2m_temperature": (chunk, 100)})
        target = build.Target(tmp_path / "usual.nc")
        plans.append(
            build.make_plan(
                source, ("2m_temperature",), recipe, target, memory=30_000_000, workers=1
            )
        )
    short, long = map(str, plans)
    assert short.startswith("3,652 times of 1 variable in 648 cells: at most ")
    assert "chunks" not in short
    over = -(-3000 // plans[1].budget.steps)
    assert long.endswith(
        f"chunks of 3,000 times are read {over} times over: more --memory is quicker"
    )
    assert over > 1


@pytest.mark.parametrize(
    ("text", "size"),
    [
        ("2GB", 2 * 10**9),
        ("500 MB", 5 * 10**8),
        ("1.5GiB", 3 * 2**29),
        ("64m", 64 * 10**6),
        ("7", 7),
    ],
)
def test_sizes(text: str, size: int) -> None:
    assert budget.parse_size(text) == size


@pytest.mark.parametrize("text", ["", "GB", "2 parsecs", "-1GB", "1e9"])
def test_no_sizes(text: str) -> None:
    with pytest.raises(StoreError, match="give a size such as 2GB"):
        budget.parse_size(text)


def test_cells_of_a_part_of_the_grid() -> None:
    box = Grid(GRID.latitude[3:8], GRID.longitude[-4:])
    found = matching(GRID, box)
    assert found is not None
    np.testing.assert_allclose(GRID.cell_latitude[found], box.cell_latitude)
    np.testing.assert_allclose(GRID.cell_longitude[found], box.cell_longitude)
    assert matching(GRID, Grid(GRID.latitude, GRID.longitude)) is None
    with pytest.raises(StoreError, match="take analyses that have the dataset's cells"):
        matching(GRID, Grid(GRID.latitude + 0.01, GRID.longitude))
