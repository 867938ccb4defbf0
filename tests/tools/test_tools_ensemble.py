"""The tool `ensemble`: every number against shapely boxes and plain numpy over each member."""

import json
import math
import re
from pathlib import Path

import numpy as np
import pytest
import tools_oracle as oracle
from hypothesis import given, settings
from hypothesis import strategies as st

import zephyrus
from zephyrus.env import compact_schema
from zephyrus.registry import get
from zephyrus_geodata import Dataset, Forecast, Grid, variable
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_tools.climatology import climatology
from zephyrus_tools.dataset import dataset
from zephyrus_tools.ensemble import ensemble

MEMBERS = ("control", "1", "2", "3", "4", "6")
SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "grids"
COUNTRIES = ("Kenya", "Brazil", "Chad")
T2M = "2m_temperature"
STATISTICS = ("mean", "min", "max", "median")


@pytest.fixture(scope="module")
def many():
    return analytic_dataset(members=MEMBERS)


@pytest.fixture(scope="module")
def forecast_of(many):
    return many.forecast("2001-01-05")


@pytest.fixture(scope="module")
def ask(many, forecast_of, inline):
    """``ask(feature=…)`` calls the tool and gives its result."""

    def run(tool=ensemble, world=None, **arguments):
        inside = world or {Dataset: many, Forecast: forecast_of}
        return inline(tool, json.dumps({"variable": T2M} | arguments), inside)

    return run


@pytest.fixture(scope="module")
def say(ask):
    def run(**arguments):
        result = ask(**arguments)
        assert result.error is None, result.text
        return result.text

    return run


@pytest.fixture(scope="module")
def refuse(ask):
    def run(**arguments):
        result = ask(**arguments)
        assert result.error == "tool_error", result.text
        return result.text

    return run


@pytest.fixture(scope="module")
def fields(forecast_of):
    """(member, cell, step) of a variable in display units."""

    def of(name, first=0, last=None):
        every = [forecast_of.cells(name, member)[:, first:last] for member in MEMBERS]
        v = variable(name)
        return np.stack(every).astype(float) * v.scale + v.offset

    return of


@pytest.fixture(scope="module")
def zones(many):
    return {
        name: oracle.weights(many.features.get(name, "country").geometry, many.grid)
        for name in COUNTRIES
    }


def number(answer, units):
    """The number at the end of the first line, and half a unit of its last digit."""
    found = re.search(rf": (-?\d+\.(\d+)) {re.escape(units)}$", answer.splitlines()[0])
    assert found, answer
    return float(found[1]), 0.5001 * 10.0 ** -len(found[2])


def over_members(values, what):
    if what == "spread":
        middle = sum(values) / len(values)
        return math.sqrt(sum((x - middle) ** 2 for x in values) / (len(values) - 1))
    if what == "mean":
        return sum(values) / len(values)
    side, limit = what
    beyond = [x for x in values if (x > limit if side == "above" else x < limit)]
    return 100.0 * len(beyond) / len(values)


def arguments_of(what):
    return {"member": what} if isinstance(what, str) else {what[0]: what[1]}


@pytest.mark.parametrize("name", [T2M, "total_precipitation_6hr"])
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("place", ["Kenya", "Brazil"])
def test_mean_spread_and_probability(say, fields, zones, place, statistic, name):
    cells, masses = zones[place]
    values = fields(name, 4, 15)[:, cells]  # 30 to 90 h
    units = variable(name).display_units
    window = {"variable": name, "feature": place, "statistic": statistic, "start": 30, "end": 90}
    series = np.array([oracle.over_space(v, masses, statistic) for v in values])
    numbers = {
        "all": [oracle.over_all(v, masses, statistic) for v in values],
        "mean": series.mean(axis=1),
        "min": series.min(axis=1),
        "max": series.max(axis=1),
    }
    for time, each in numbers.items():
        ranked = np.sort(each)
        assert np.diff(ranked).min() > 1e-4  # so that a threshold between them is clear
        limits = [("above", round(ranked[1:3].mean(), 6)), ("below", round(ranked[3:5].mean(), 6))]
        for what in ("mean", "spread", *limits):
            expected = over_members(list(each), what)
            shown_in = units if isinstance(what, str) else "%"
            got, half = number(say(**window, **arguments_of(what), time=time), shown_in)
            assert got == pytest.approx(expected, abs=half + 1e-5), (time, what)
    # At one lead time, and as a series of what is taken over the members.
    lines = say(**window, member="spread", time="series").splitlines()
    assert "median" not in lines[0] or statistic == "median"
    for line, step in zip(lines[1:12], range(11), strict=True):
        got, half = number(line, units)
        assert got == pytest.approx(over_members(list(series[:, step]), "spread"), abs=half + 1e-5)
    one = {key: value for key, value in window.items() if key not in ("start", "end")}
    got, half = number(say(**one, hour=60, member="mean"), units)
    assert got == pytest.approx(series[:, 5].mean(), abs=half + 1e-5)


def test_the_mean_is_the_default(say):
    where = {"feature": "Kenya", "hour": 24}
    plain = say(**where)
    assert plain == say(**where, member="mean") == say(**where, member="ensemble mean")
    assert plain == say(**where, member=None, above="null", below="")
    assert plain.startswith("2 m temperature (analytic test world), mean of 6 members, mean over ")


def test_each_member_answers_as_the_forecast_it_is(say, many, forecast_of, inline):
    for index, name in enumerate(MEMBERS):
        alone = Forecast(
            "alone",
            "a",
            forecast_of.init_time,
            forecast_of.lead_hours,
            forecast_of.grid,
            {T2M: lambda index=index: forecast_of.cells(T2M, index)},
            label=forecast_of.label,
        )
        single = {Dataset: Dataset("alone", {"a": lambda alone=alone: alone}), Forecast: alone}
        for more in (
            {"feature": "Kenya", "time": "max"},
            {"feature": "Kenya", "statistic": "median"},
            {"feature": "Kenya", "time": "time_of_min", "statistic": "max"},
            {"kind": "country", "parent": "South America", "hour": 48},
            {"kind": "country", "parent": "South America", "time": "time_of_max"},
            {"kind": "country", "parent": "South America", "statistic": "median"},
            {"latitude": 1.3, "longitude": 36.8, "time": "series", "end": 24},
            {"feature": "world", "hour": 24},
        ):
            ours = say(**more, member=name)
            theirs = inline(dataset, json.dumps({"variable": T2M} | more), single).text
            assert ours.replace(f", member {name}", "", 1) == theirs


@pytest.mark.parametrize(
    ("written", "name"),
    [
        ("control", "control"),
        ("Control", "control"),
        ("control run", "control"),
        (0, "control"),
        ("0", "control"),
        (3, "3"),
        (3.0, "3"),
        ("03", "3"),
        ("member 6", "6"),
        ("Member #4", "4"),
    ],
)
def test_a_member_is_found_by_name_and_number(say, written, name):
    assert f", member {name}, mean over Kenya" in say(feature="Kenya", hour=24, member=written)


def test_members_with_padded_numbers(inline):
    padded = analytic_dataset(members=("c00", "01", "02"))
    world = {Dataset: padded, Forecast: padded.forecast("2001-01-05")}
    for written, name in ((2, "02"), ("02", "02"), ("member 1", "01"), ("C00", "c00")):
        asked = {"variable": T2M, "feature": "Kenya", "hour": 24, "member": written}
        assert f", member {name}, " in inline(ensemble, json.dumps(asked), world).text
    asked = {"variable": T2M, "feature": "Kenya", "hour": 24, "member": 0}
    assert inline(ensemble, json.dumps(asked), world).error == "tool_error"


def test_ranked_over_a_kind(say, fields, zones):
    cells_of = {name: zones[name] for name in COUNTRIES}
    values = fields(T2M, 0, 8)
    for what in ("mean", "spread", ("above", 26.0)):
        text = say(
            kind="country", end=48, time="max", statistic="max", limit=60, **arguments_of(what)
        )
        rows = dict(re.findall(r"^\d+\. (.+): (-?[\d.]+) (?:°C|%)$", text, re.MULTILINE))
        shown = [float(x) for x in rows.values()]
        assert len(shown) == 60
        assert shown == sorted(shown, reverse=True)
        assert "(Each member's own value is taken first, then this over the members.)" in text
        for name, (cells, masses) in cells_of.items():
            each = [oracle.over_space(v[cells], masses, "max").max() for v in values]
            one = say(feature=name, end=48, time="max", statistic="max", **arguments_of(what))
            got, half = number(one, "°C" if isinstance(what, str) else "%")
            assert got == pytest.approx(over_members(each, what), abs=half + 1e-5)
            if name in rows:
                assert float(rows[name]) == got
    assert any(name in rows for name in COUNTRIES)


def test_a_ranked_pooled_median_and_the_time_of_the_largest_spread(say, fields, zones):
    cells, masses = zones["Brazil"]
    values = fields(T2M)[:, cells]
    text = say(
        kind="country", parent="South America", statistic="median", member="spread", limit=60
    )
    row = re.search(r"^\d+\. Brazil: (\S+) °C$", text, re.MULTILINE)
    each = [oracle.over_all(v, masses, "median") for v in values]
    assert float(row[1]) == pytest.approx(over_members(each, "spread"), abs=1e-3)
    text = say(
        kind="country", parent="South America", member="spread", time="time_of_max", limit=60
    )
    row = re.search(r"^\d+\. Brazil: maximum (\S+) °C at (\d+) h ", text, re.MULTILINE)
    series = np.array([oracle.over_space(v, masses, "mean") for v in values])
    spreads = [over_members(list(column), "spread") for column in series.T]
    assert int(row[2]) == 6 * (1 + int(np.argmax(spreads)))
    assert float(row[1]) == pytest.approx(max(spreads), abs=1e-3)


def test_a_share_that_is_greatest_at_several_steps_says_so(say):
    text = say(feature="Kenya", above=-50, time="time_of_max")
    assert "maximum 100.00 % at 6 h (valid " in text
    assert text.endswith("(The first of 40 such steps of 40.)")
    assert "such steps" not in say(feature="Kenya", member="spread", time="time_of_max")


def test_points_and_the_world(say, forecast_of, fields):
    area = forecast_of.grid.cell_area
    each = [np.average(v, weights=area) for v in fields(T2M)[:, :, 3]]
    got, half = number(say(feature="world", hour=24, member="spread"), "°C")
    assert got == pytest.approx(over_members(each, "spread"), abs=half + 1e-5)
    cell = forecast_of.grid.nearest(52.5, 13.4)
    each = list(fields(T2M)[:, cell, 3])
    limit = round(float(np.sort(each)[1:3].mean()), 5)
    text = say(latitude=52.5, longitude=13.4, hour=24, below=limit)
    assert number(text, "%")[0] == pytest.approx(100 * 2 / 6, abs=0.006)
    assert "nearest grid cell" in text


def test_a_threshold_is_in_the_units_shown_and_may_be_written_with_them(say):
    rain = {"variable": "precipitation", "feature": "Brazil", "time": "max"}
    plain = say(**rain, above=2)
    assert "probability of being above 2.000 mm (share of 6 members)" in plain
    assert plain == say(**rain, above="2 mm") == say(**rain, above="2.0") == say(**rain, above=2.0)
    wind = {"variable": "wind speed", "feature": "Brazil", "hour": 24}
    assert say(**wind, above=6) == say(**wind, above="6 m s-1") == say(**wind, above="6 m/s")
    cold = {"feature": "Canada", "hour": 24}
    assert say(**cold, below=-5) == say(**cold, below="−5 °C") == say(**cold, below="-5C")
    # Six hectopascal are 600 Pa, and a kelvin of spread is not -272 °C.
    spread = say(variable="mslp", feature="Canada", hour=24, member="spread")
    assert re.search(r": \d\.\d+ hPa$", spread)


def test_values_at_the_threshold_are_not_beyond_it(inline):
    grid = Grid(np.arange(-85.0, 90.0, 10.0), np.arange(-180.0, 180.0, 10.0))
    rows = np.array([1.0, 1.0, 0.5], np.float32)
    forecast = Forecast(
        "flat", "a", np.datetime64("2020-01-01"), np.array([6]), grid,
        {"total_cloud_cover": lambda: np.broadcast_to(rows[:, None, None], (3, 648, 1))},
        members=("a", "b", "c"),
    )  # fmt: skip
    data = Dataset("flat", {"a": lambda: forecast})
    world = {Dataset: data, Forecast: data.forecast("a")}
    for limits, share in (
        ({"above": 100}, "0.00"), ({"below": 100}, "33.33"), ({"above": 50}, "66.67"),
        ({"below": 50}, "0.00"), ({"above": 99.99}, "66.67"),
    ):  # fmt: skip
        asked = {"variable": "cloud", "feature": "Brazil"} | limits
        assert inline(ensemble, json.dumps(asked), world).text.endswith(f": {share} %"), limits


def test_members_without_data_are_told(inline):
    grid = Grid(np.arange(-85.0, 90.0, 10.0), np.arange(-180.0, 180.0, 10.0))
    values = np.full((3, 648, 2), 280.0, np.float32)
    values[1] += 2.0
    values[2, :, 1] = np.nan
    forecast = Forecast(
        "holes", "a", np.datetime64("2020-01-01"), np.array([6, 12]), grid,
        {T2M: lambda: values}, members=("a", "b", "c"),
    )  # fmt: skip
    data = Dataset("holes", {"a": lambda: forecast})
    world = {Dataset: data, Forecast: data.forecast("a")}

    def said(**asked):
        return inline(ensemble, json.dumps({"variable": T2M} | asked), world).text

    text = said(feature="Brazil", hour=12, above=7)
    assert ": 50.00 %\n" in text
    assert text.endswith("\n(1 of 3 members lack data somewhere in this, and are left out there.)")
    assert ": 33.33 %" in (text := said(feature="Brazil", hour=6, above=7))
    assert "lack data" not in text
    ranked = said(kind="country", parent="South America", hour=12, above=7, limit=3)
    assert "(1 of 3 members lack data" in ranked
    forecast = Forecast(
        "holes", "a", np.datetime64("2020-01-01"), np.array([6, 12]), grid,
        {T2M: lambda: np.full((3, 648, 2), np.nan, np.float32)}, members=("a", "b", "c"),
    )  # fmt: skip
    world = {Dataset: Dataset("holes", {"a": lambda: forecast}), Forecast: forecast}
    for asked in ({"above": 7}, {"member": "spread"}, {"member": "b"}, {}):
        assert said(feature="Brazil", hour=12, **asked).endswith(": no data")
        assert said(feature="Brazil", time="time_of_max", **asked).endswith(": no data")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        ({"above": 1, "below": 2}, "give either above or below"),
        ({"member": "7"}, "no member '7'; give mean, spread, or one of the 6 members: control, 1,"),
        ({"member": 5}, "no member '5'"),
        ({"member": "max"}, "no member 'max'"),
        ({"member": "mean", "above": 3}, "leave member='mean' out, or the threshold"),
        ({"member": "2", "below": 3}, "leave member='2' out, or the threshold"),
        ({"member": "probability"}, "a probability needs a threshold: give above or below, in °C"),
        ({"above": "300 K"}, "above is in °C for 2m_temperature, not in 'K': convert it"),
        ({"below": "5 m/s"}, "below is in °C for 2m_temperature, not in 'm/s'"),
        ({"above": "hot"}, "above is a number in °C, not 'hot'"),
        ({"above": "inf"}, "above is a number in °C, not 'inf'"),
        ({"above": "1e99"}, "above is a number in °C"),
        ({"feature": "Narnia"}, "Narnia"),
        ({"order": "highest"}, "order ranks the features of a kind"),
        ({"hour": 24, "time": "max"}, "time='max' needs several steps"),
        ({"variable": "humidity"}, "there is no variable 'humidity'"),
    ],
)
def test_refusals_say_how_to_mend_the_call(refuse, asked, words):
    assert words in refuse(**({"feature": "Kenya"} | asked))


def test_what_is_no_number_is_refused(ask):
    for wrong in ({"above": True}, {"below": [1]}, {"member": {"a": 1}}, {"percentile": 3}):
        assert ask(feature="Kenya", **wrong).error == "invalid_arguments"


def test_a_single_forecast_has_no_probabilities(ask, world):
    for asked in ({"above": 3}, {"member": "spread"}, {"member": 2}, {}):
        result = ask(world=world, feature="Kenya", **asked)
        assert result.error == "tool_error"
        assert "a single one without members" in result.text
        assert "Use the tool dataset" in result.text


def test_one_member_has_no_spread(inline):
    lone = analytic_dataset(members=("a",))
    world = {Dataset: lone, Forecast: lone.forecast("2001-01-05")}
    result = inline(
        ensemble, json.dumps({"variable": T2M, "feature": "Kenya", "member": "spread"}), world
    )
    assert "of which there is no spread" in result.text


def test_the_other_tools_say_that_they_mean_the_mean_field(ask, text):
    mean = "2 m temperature (analytic test world, mean field of 6 members)"
    assert ask(dataset, feature="Kenya", hour=24).text.startswith(mean)
    for more in ({"compare": "departure"}, {"compare": "above", "statistic": "p90"}):
        assert ask(climatology, feature="Kenya", hour=24, **more).text.startswith(mean)
    assert "mean field" not in ask(climatology, feature="Kenya", month=3).text
    assert "mean field" not in text("dataset", variable=T2M, feature="Kenya", hour=24)


TIMES = ("all", "series", "mean", "min", "max", "time_of_max", "time_of_min", "sum")


@settings(max_examples=300, deadline=None)
@given(
    st.fixed_dictionaries(
        {"variable": st.sampled_from([T2M, "rain", "z500", "clouds", "wind", ""])},
        optional={
            "member": st.sampled_from(["mean", "spread", 0, "1", "control", "", 99, -1, "p90"]),
            "above": st.one_of(
                st.none(), st.floats(-1e5, 1e5), st.sampled_from(["5", "5 mm", "x"])
            ),
            "below": st.one_of(st.none(), st.none(), st.floats(-50, 50)),
            "feature": st.sampled_from(["Kenya", "Fiji", "world", "Nowhere", "Nairobi"]),
            "kind": st.sampled_from(["country", "lake", None]),
            "parent": st.sampled_from(["Africa", None, "Kenya"]),
            "statistic": st.sampled_from([*STATISTICS, None]),
            "time": st.sampled_from(TIMES),
            "hour": st.sampled_from([6, 24, 7, None, None]),
            "start": st.sampled_from([6, 30, None, None]),
            "end": st.sampled_from([6, 240, 48, None]),
            "order": st.sampled_from(["lowest", None, None]),
            "limit": st.sampled_from([1, 5, 0, None]),
        },
    )
)
def test_whatever_is_sent_is_answered(ask, asked):
    result = ask(**asked)
    assert result.error in (None, "tool_error", "invalid_arguments")
    assert not re.search(r"\b(nan|None|inf)\b", result.text), result.text
    assert len(result.text) < 6000
    if result.error is None:
        assert re.search(r"°C|mm|%|m/s|gpm|no data|hPa", result.text)
        # A threshold is told as it was given, also one of clouds that no share can reach.
        told = re.sub(r"probability of being (above|below) -?[\d.]+ %", "", result.text)
        for share in re.findall(r"(-?[\d.]+) %", told):
            assert -0.01 <= float(share) <= 100.01


# Who is offered it ----------------------------------------------------------------------------


def test_it_is_offered_where_the_forecasts_have_members(many, analytic):
    assert get("tools", "ensemble") is ensemble
    for name in ("bench", "report"):
        assert "ensemble" not in zephyrus.make(name).tools
        assert "ensemble" not in zephyrus.make(name, dataset=analytic).tools
        assert zephyrus.make(name, dataset=many).tools["ensemble"] is ensemble
        assert "ensemble" in zephyrus.make(name, dataset=many, compact=True).tools
        assert "ensemble" in zephyrus.make(name, dataset=analytic, tools=["ensemble"]).tools
        assert "ensemble" not in zephyrus.make(name, dataset="no such dataset").tools
    assert zephyrus.make("report", dataset=many, use_tools=False).tools == {}


def test_its_schema_is_short():
    whole = json.dumps(ensemble.to_openai(), ensure_ascii=False)
    assert len(whole) <= 880
    short = compact_schema(ensemble.to_openai())
    assert len(json.dumps(short, ensure_ascii=False)) <= 450
    words = short["function"]["description"].replace(",", " ").replace(".", " ").replace("=", " ")
    assert set(ensemble.parameters["properties"]) <= set(words.split())
    assert ensemble.parameters["required"] == ["variable"]


# Real files -----------------------------------------------------------------------------------


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the sample grids are not here")
def test_a_real_ensemble_from_the_file_to_the_answer(tmp_path, monkeypatch, inline):
    from click.testing import CliRunner

    from zephyrus_geodata import load_dataset
    from zephyrus_geodata.cli import data
    from zephyrus_geodata.reading.extras import settle

    settle()  # before ecCodes is imported
    eccodes = pytest.importorskip("eccodes")

    monkeypatch.setenv("ZEPHYRUS_DATA", str(tmp_path / "data"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    added = CliRunner().invoke(data, ["add", "ens", str(SAMPLES / "ens_50.grib")])
    assert added.exit_code == 0, added.output
    loaded = load_dataset("ens")
    forecast = loaded.forecast(loaded.forecasts[0])
    world = {Dataset: loaded, Forecast: forecast}

    raw = {}
    with (SAMPLES / "ens_50.grib").open("rb") as stream:
        while handle := eccodes.codes_grib_new_from_file(stream):
            name = str(eccodes.codes_get(handle, "number"))
            raw["control" if name == "0" else name] = eccodes.codes_get_values(handle)
            eccodes.codes_release(handle)
    assert len(raw) == 51
    # On the grid from south to north; the file begins in the north.
    turned = {n: v.astype(np.float32).reshape(2, 3)[::-1].ravel() for n, v in raw.items()}
    france = loaded.features.get("France", "country").geometry
    cells, masses = oracle.weights(france, forecast.grid)
    each = {
        n: float(v[cells].astype(float) @ masses / masses.sum()) / 9.80665
        for n, v in turned.items()
    }

    def said(**asked):
        asked = {"variable": "z850", "feature": "France", "kind": "country"} | asked
        result = inline(ensemble, json.dumps(asked), world)
        assert result.error is None, result.text
        return result.text

    values = list(each.values())
    assert number(said(), "gpm")[0] == pytest.approx(np.mean(values), abs=0.06)
    got, half = number(said(member="spread", hour=78), "gpm")
    assert got == pytest.approx(np.std(values, ddof=1), abs=half + 1e-3)
    for name in ("control", "17", "50"):
        assert number(said(member=name), "gpm")[0] == pytest.approx(each[name], abs=0.06)
    for share in (0.2, 0.5, 0.9):
        limit = round(float(np.quantile(values, share)), 2)
        assert min(abs(x - limit) for x in values) > 1e-3
        expected = 100.0 * sum(x > limit for x in values) / 51
        assert number(said(above=limit), "%")[0] == pytest.approx(expected, abs=0.006)
        assert number(said(below=limit), "%")[0] == pytest.approx(100.0 - expected, abs=0.006)
    tools = zephyrus.make("bench", dataset="ens").tools
    assert "ensemble" in tools
