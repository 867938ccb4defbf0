import json
import re

import numpy as np
import pytest
import tools_oracle as oracle

from zephyrus_geodata import variable

PLACES = ("Kenya", "Brazil", "Sahara", "Lake Victoria")
VARIABLES = ("2m_temperature", "total_precipitation_6hr", "geopotential_500")
STATISTICS = ("mean", "min", "max", "median")
WINDOWS = {"all": (None, None), "window": (30, 90)}


@pytest.fixture(scope="module")
def zones(analytic):
    def of(name):
        kind = "desert" if name == "Sahara" else None
        return oracle.weights(analytic.features.get(name, kind).geometry, analytic.grid)

    return {name: of(name) for name in PLACES}


@pytest.fixture(scope="module")
def truth(forecast, zones):
    """(cells' values (cell, step) in display units, weights, lead hours of the window)."""

    def of(place, name, start, end):
        cells, masses = zones[place]
        hours = forecast.lead_hours
        inside = (hours >= (start or 0)) & (hours <= (end or 999))
        values = forecast.cells(name)[cells][:, inside].astype(float)
        v = variable(name)
        return values * v.scale + v.offset, masses, hours[inside].tolist()

    return of


def read(answer, units):
    """The number at the end of the first line, and half a unit of its last digit."""
    found = re.search(rf": (-?\d+\.(\d+)) {re.escape(units)}$", answer.splitlines()[0])
    assert found, answer
    return float(found[1]), 0.5001 * 10.0 ** -len(found[2])


@pytest.mark.parametrize("window", WINDOWS)
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("name", VARIABLES)
@pytest.mark.parametrize("place", PLACES)
def test_every_statistic_over_space_and_time(text, truth, place, name, statistic, window):
    start, end = WINDOWS[window]
    values, masses, hours = truth(place, name, start, end)
    units = variable(name).display_units
    ask = {"variable": name, "feature": place, "statistic": statistic}
    ask |= {"start": start, "end": end} if start else {}
    series = oracle.over_space(values, masses, statistic)
    expected = {
        "all": oracle.over_all(values, masses, statistic),
        "mean": series.mean(),
        "min": series.min(),
        "max": series.max(),
    }
    for time, number in expected.items():
        shown, half = read(text("dataset", **ask, time=time), units)
        assert shown == pytest.approx(number, abs=half + 2e-6 * abs(number)), time
    for time, at in (("time_of_max", series.argmax()), ("time_of_min", series.argmin())):
        answer = text("dataset", **ask, time=time).splitlines()[0]
        found = re.search(r": (maximum|minimum) (\S+) (\S+) at (\d+) h \(valid ", answer)
        assert found[1][:3] == time[-3:]
        assert int(found[4]) == hours[at]
        assert float(found[2]) == pytest.approx(series[at], rel=6e-4, abs=6e-3)
    lines = text("dataset", **ask, time="series").splitlines()[1 : len(hours) + 1]
    assert [int(line.split(" h ")[0]) for line in lines] == hours
    for line, number in zip(lines, series, strict=True):
        shown, half = read(line, units)
        assert shown == pytest.approx(number, abs=half + 2e-6 * abs(number))


@pytest.mark.parametrize("statistic", STATISTICS)
def test_one_hour(text, truth, statistic):
    values, masses, _ = truth("Kenya", "2m_temperature", 132, 132)
    answer = text(
        "dataset", variable="2m_temperature", feature="Kenya", statistic=statistic, hour=132
    )
    assert f"{statistic} over Kenya (country), at 132 h (valid 2001-01-10 12:00 UTC): " in answer
    shown, half = read(answer, "°C")
    expected = oracle.over_space(values, masses, statistic)[0]
    assert shown == pytest.approx(expected, abs=half + 1e-4)


def test_a_window_of_one_step_is_that_step(text):
    ask = {"variable": "2m_temperature", "feature": "Kenya"}
    assert text("dataset", **ask, start=24, end=24) == text("dataset", **ask, hour=24)


def test_extremes_say_when(text, truth):
    values, _, hours = truth("Kenya", "2m_temperature", None, None)
    answer = text("dataset", variable="2m_temperature", feature="Kenya", statistic="max")
    assert f"all steps 6-240 h, reached at {hours[int(values.max(axis=0).argmax())]} h: " in answer


def test_all_steps_are_said_to_be_meant(text):
    ask = {"variable": "2m_temperature", "feature": "Kenya"}
    assert "mean over Kenya (country), all steps 6-240 h: " in text("dataset", **ask)
    assert "mean over Kenya (country), all steps 30-90 h: " in text(
        "dataset", **ask, start=30, end=90
    )
    ask["variable"] = "total_precipitation_6hr"
    assert ", mean 6-h amount of all steps 6-240 h: " in text("dataset", **ask)
    assert ", max 6-h amount of the steps 6-240 h, reached" in text("dataset", **ask, time="max")


@pytest.mark.parametrize("arguments", [{"time": "sum"}, {"statistic": "total"}])
def test_a_sum_is_refused_with_how_to_get_it(call, arguments):
    result = call("dataset", variable="total_precipitation_6hr", feature="Kenya", **arguments)
    assert result.error == "invalid_arguments"
    assert "there is no sum; multiply the mean by the number of steps" in result.text


@pytest.mark.parametrize("hour", ["24", "24 h", "24h", "24 hours", "+24 h", "24.0", "24-hour"])
def test_an_hour_may_have_its_unit(text, hour):
    ask = {"variable": "2m_temperature", "feature": "Kenya"}
    assert text("dataset", **ask, hour=hour) == text("dataset", **ask, hour=24)
    assert text("dataset", **ask, start=hour, end=hour) == text("dataset", **ask, hour=24)


@pytest.mark.parametrize("hour", ["soon", "24-48 h", "1 day", "24 m"])
def test_another_hour_is_refused_with_how_to_mend_it(call, hour):
    result = call("dataset", variable="2m_temperature", feature="Kenya", hour=hour)
    assert "hour: a lead time is a whole number of hours, such as 24" in result.text


def test_booleans_are_no_numbers(call):
    for argument in ("hour", "limit", "start", "latitude"):
        result = call("dataset", variable="2m_temperature", feature="Kenya", **{argument: True})
        assert result.error == "invalid_arguments"
        assert f"{argument}: give a number, not true or false" in result.text


def test_the_origin_is_said_once(text):
    answer = text("dataset", variable="2m_temperature", feature="Kenya", time="series", end=24)
    assert answer.count("analytic test world") == 1


@pytest.mark.parametrize("order", ["highest", "lowest"])
@pytest.mark.parametrize("time", ["all", "mean", "max", "time_of_min"])
@pytest.mark.parametrize("statistic", ["mean", "min", "median"])
def test_a_ranking(text, analytic, forecast, statistic, time, order):
    features = analytic.features.of_kind("desert")
    numbers, hours = {}, {}
    for feature in features:
        zone = analytic.zones.weights(feature)  # the zones have their own oracle tests
        values = forecast.cells("2m_temperature")[zone.cells].astype(float) - 273.15
        series = oracle.over_space(values, zone.weights, statistic)
        hours[feature.name] = int(forecast.lead_hours[series.argmin()])
        numbers[feature.name] = {
            "all": oracle.over_all(values, zone.weights, statistic),
            "mean": series.mean(),
            "max": series.max(),
            "time_of_min": series.min(),
        }[time]
    expected = sorted(numbers, key=numbers.get, reverse=order == "highest")
    answer = text(
        "dataset",
        variable="2m_temperature",
        kind="desert",
        statistic=statistic,
        time=time,
        order=order,
        limit=7,
    )
    head, *lines = answer.splitlines()
    assert f"{order} first (7 of {len(features)} shown; raise limit or give a parent):" in head
    rows = [re.match(r"(\d+)\. (.*): (.*)$", line).groups() for line in lines[:7]]
    assert [int(rank) for rank, _, _ in rows] == list(range(1, 8))
    assert [name for _, name, _ in rows] == expected[:7]
    for _, name, shown in rows:
        number = float(re.search(r"-?\d+\.\d+", shown)[0])
        assert number == pytest.approx(numbers[name], rel=6e-4, abs=6e-3)
        if time == "time_of_min":
            assert f"minimum {shown.split()[1]} °C at {hours[name]} h (valid 2001-" in shown


def test_a_long_series_is_cut_by_the_limit(text):
    ask = {"variable": "2m_temperature", "feature": "Kenya", "time": "series"}
    lines = text("dataset", **ask, limit=3).splitlines()
    assert "(3 of 40 steps shown; give start and end)" in lines[0]
    assert len(lines) == 4
    assert len(text("dataset", **ask).splitlines()) == 41


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"feature": "Kenya", "hour": 25}, "hour=25 is not a lead time"),
        ({"feature": "Kenya", "hour": 25}, "6, 12, …, 240 h; nearest: 24 or 30."),
        ({"feature": "Kenya", "hour": 300}, "nearest: 240."),
        ({"feature": "Kenya", "hour": 10**300}, "hour=a number this large is not a lead time"),
        ({"feature": "Kenya", "hour": 0}, "nearest: 6."),
        ({"feature": "Kenya", "hour": -6}, "nearest: 6."),
        ({"feature": "Kenya", "start": 0, "end": 24}, "start=0 is not a lead time"),
        ({"feature": "Kenya", "end": 246}, "end=246 is not a lead time"),
        ({"feature": "Kenya", "start": 48, "end": 24}, "exchange them"),
        ({"feature": "Kenya", "hour": 24, "end": 48}, "either hour"),
        ({"feature": "Kenya", "hour": 24, "time": "series"}, "time='series' needs several steps"),
        ({"feature": "Kenya", "order": "lowest"}, "order ranks the features of a kind"),
        ({"feature": "Kenya", "limit": 0}, "limit must be 1 to 60, not 0"),
        ({"kind": "desert", "limit": 61}, "limit must be 1 to 60, not 61"),
        ({"kind": "desert", "time": "series"}, "takes one feature or point"),
    ],
)
def test_a_wrong_call_is_refused_with_how_to_mend_it(refusal, arguments, message):
    assert message in refusal("dataset", variable="2m_temperature", **arguments)


@pytest.mark.parametrize(
    "arguments", [{"statistic": "average"}, {"time": "now"}, {"hour": "soon"}, {"place": "Kenya"}]
)
def test_arguments_are_checked(call, arguments):
    result = call("dataset", variable="2m_temperature", feature="Kenya", **arguments)
    assert result.error == "invalid_arguments"
    assert next(iter(arguments)) in result.text


def test_null_is_the_default(text):
    ask = {"variable": "2m_temperature", "feature": "Kenya"}
    nulls = dict.fromkeys(("kind", "statistic", "time", "hour", "order", "limit"))
    assert text("dataset", **ask, **nulls) == text("dataset", **ask)


def test_missing_data_are_said(gappy):
    ask = {"variable": "2m_temperature", "feature": "Kenya"}
    answer = gappy("dataset", **ask)
    assert answer.splitlines()[0].endswith(" °C")
    assert "(1 of 3 steps have no data and are left out.)" in answer
    assert gappy("dataset", **ask, hour=12).endswith("(valid 2001-01-05 12:00 UTC): no data")
    assert "12 h (01-05 12 UTC): no data" in gappy("dataset", **ask, time="series")
    table = gappy("dataset", variable="2m_temperature", kind="country", parent="Africa", hour=6)
    assert "(No data for Chad.)" in table
    assert "nan" not in json.dumps([answer, table])


@pytest.fixture
def gappy(analytic, inline):
    """Calls on a forecast of three steps: no data at all at 12 h, and never any in Chad."""
    from zephyrus_geodata import Dataset, Forecast
    from zephyrus_tools.dataset import dataset

    whole = analytic.forecast("2001-01-05")
    values = np.array(whole.cells("2m_temperature")[:, :3])
    values[:, 1] = np.nan
    values[analytic.zones.weights(analytic.features.get("Chad")).cells] = np.nan
    made = Forecast(
        "gappy", "a", whole.init_time, whole.lead_hours[:3], whole.grid,
        {"2m_temperature": lambda: values},
    )  # fmt: skip
    world = {Dataset: Dataset("gappy", {"a": lambda: made}), Forecast: made}

    def run(name, **arguments):
        assert name == dataset.name
        result = inline(dataset, json.dumps(arguments), world)
        assert result.error is None, result.text
        return result.text

    return run
