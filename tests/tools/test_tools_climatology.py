import json
import re

import numpy as np
import pytest
import tools_oracle as oracle

from zephyrus_geodata import Climatology, Dataset, Forecast, variable
from zephyrus_geodata.climatology import Days
from zephyrus_tools.climatology import climatology

SIDES = ("above", "below")
STATISTICS = ("p5", "p10", "p25", "p50", "p75", "p90", "p95", "mean", "std")


@pytest.fixture(scope="module")
def usual(analytic):
    """The area mean of a statistic over a country, in SI units, by the oracle's weights."""

    def of(name, quantity, statistic, month):
        cells, masses = oracle.weights(analytic.features.get(name).geometry, analytic.grid)
        values = analytic.climatology.cells(quantity, statistic, month)[cells].astype(float)
        return (values * masses).sum() / masses.sum()

    return of


def read(line, units):
    found = re.search(rf": (-?\d+\.(\d+)) {re.escape(units)}$", line)
    assert found, line
    return float(found[1]), 0.5001 * 10.0 ** -len(found[2])


@pytest.mark.parametrize("quantity", ["2m_temperature", "mean_sea_level_pressure"])
@pytest.mark.parametrize("statistic", STATISTICS)
@pytest.mark.parametrize("month", [1, 7])
def test_a_statistic_of_a_month(text, usual, quantity, statistic, month):
    v = variable(quantity)
    answer = text(
        "climatology", variable=quantity, feature="Brazil", statistic=statistic, month=month
    )
    assert (
        f"climatological {['January', 'July'][month > 1]} {statistic}, mean over Brazil" in answer
    )
    shown, half = read(answer, v.display_units)
    number = usual("Brazil", quantity, statistic, month)
    # A standard deviation is a difference: 4 K are 4 °C, not -269 °C.
    expected = number * v.scale + (0.0 if statistic == "std" else v.offset)
    assert shown == pytest.approx(expected, abs=half + 1e-4)


def test_the_month_is_that_of_the_valid_time_or_the_initial_time(text, analytic, inline):
    ask = {"variable": "2m_temperature", "feature": "Brazil"}
    assert "January mean" in text("climatology", **ask)
    assert text("climatology", **ask, hour=24, month=1) == text("climatology", **ask, hour=24)
    late = analytic.forecast("2001-07-15")
    made = Forecast(
        "late", "a", np.datetime64("2001-07-30"), late.lead_hours, late.grid,
        {"2m_temperature": lambda: late.cells("2m_temperature")},
    )  # fmt: skip
    world = {Dataset: analytic, Forecast: made}
    call = '{"variable": "2m_temperature", "feature": "Brazil", "hour": %d}'
    assert "July mean" in inline(climatology, call % 42, world).text
    assert "August mean" in inline(climatology, call % 48, world).text


@pytest.mark.parametrize("statistic", ["mean", "p90"])
def test_departure(text, analytic, forecast, usual, statistic):
    ask = {"variable": "2m_temperature", "statistic": statistic, "hour": 24}
    answer = text("climatology", **ask, feature="Brazil", compare="departure")
    assert f"forecast minus climatological January {statistic}, mean over Brazil" in answer
    cells, masses = oracle.weights(analytic.features.get("Brazil").geometry, analytic.grid)
    now = forecast.cells("2m_temperature")[cells, 3].astype(float)
    expected = (now * masses).sum() / masses.sum()
    expected -= usual("Brazil", "2m_temperature", statistic, 1)
    shown, half = read(answer, "°C")
    assert shown == pytest.approx(expected, abs=half + 1e-4)


def departures(analytic, forecast, statistic, step):
    """Forecast minus climatology of every African country, from the dataset's own zones."""
    table = {}
    for feature in analytic.features.of_kind("country", "Africa"):
        zone = analytic.zones.weights(feature)
        now = forecast.cells("2m_temperature")[zone.cells, step].astype(float)
        then = analytic.climatology.cells("2m_temperature", statistic, 1)[zone.cells].astype(float)
        table[feature.name] = ((now - then) * zone.weights).sum() / zone.weights.sum()
    return table


@pytest.mark.parametrize("compare", ["above", "below"])
@pytest.mark.parametrize(("statistic", "hour"), [("p50", 24), ("p90", 216), ("p10", 120)])
def test_features_above_or_below(text, analytic, forecast, compare, statistic, hour):
    table = departures(analytic, forecast, statistic, hour // 6 - 1)
    sign = 1.0 if compare == "above" else -1.0
    expected = sorted((n for n in table if sign * table[n] > 0), key=lambda n: -sign * table[n])
    answer = text(
        "climatology",
        variable="2m_temperature",
        kind="country",
        parent="Africa",
        statistic=statistic,
        hour=hour,
        compare=compare,
    )
    line = answer.splitlines()[1]
    names = "; ".join(expected) or "none"
    assert line == f"{len(expected)} of {len(table)} {compare} {statistic}: {names}"


def test_names_are_cut_by_the_limit_and_it_is_said(text):
    ask = {"variable": "2m_temperature", "kind": "country", "parent": "Africa", "hour": 216}
    every = text("climatology", **ask, compare="above", statistic="p50").splitlines()[1]
    total = int(every.split()[0])
    assert total > 2
    cut = text("climatology", **ask, compare="above", statistic="p50", limit=2).splitlines()[1]
    assert f"{total} of 58 above p50 (2 of {total} shown; raise limit or give a parent): " in cut
    assert cut.split(": ")[1].split("; ") == every.split(": ")[1].split("; ")[:2]


def test_one_feature_shows_both_numbers(text):
    answer = text(
        "climatology",
        variable="2m_temperature",
        feature="Kenya",
        statistic="p95",
        hour=24,
        compare="below",
    ).splitlines()
    assert re.fullmatch(
        r"2 m temperature .*, mean over Kenya \(country\), at 24 h .*: \S+ °C", answer[0]
    )
    assert re.fullmatch(r"January p95: \S+ °C", answer[1])
    assert answer[2] == "1 of 1 below p95: Kenya"


def test_a_ranking_of_departures(text, analytic, forecast):
    table = departures(analytic, forecast, "mean", 3)
    lowest = sorted(table, key=table.get)[:3]
    answer = text(
        "climatology",
        variable="2m_temperature",
        kind="country",
        parent="Africa",
        hour=24,
        compare="departure",
        order="lowest",
        limit=3,
    )
    rows = re.findall(r"^\d\. (.*): (\S+) °C$", answer, re.MULTILINE)
    assert [name for name, _ in rows] == lowest
    for name, number in rows:
        assert float(number) == pytest.approx(table[name], abs=6e-3)


def beyond(dataset, forecast, name, statistic, step, side):
    """The share of a feature's area with cells beyond a January statistic, in per cent."""
    cells, masses = oracle.weights(dataset.features.get(name).geometry, dataset.grid)
    now = forecast.cells("2m_temperature")[cells, step]
    then = dataset.climatology.cells("2m_temperature", statistic, 1)[cells]
    return 100.0 * masses[now > then if side == "above" else now < then].sum() / masses.sum()


@pytest.mark.parametrize("side", ["above", "below"])
@pytest.mark.parametrize(("statistic", "hour"), [("p50", 24), ("p90", 216), ("mean", 120)])
def test_the_share_of_the_area_beyond(text, analytic, forecast, side, statistic, hour):
    ask = {"variable": "2m_temperature", "statistic": statistic, "hour": hour}
    answer = text("climatology", **ask, feature="Brazil", compare=f"area_{side}")
    assert f", share of the area {side} climatological January {statistic}, over Brazil (" in answer
    expected = beyond(analytic, forecast, "Brazil", statistic, hour // 6 - 1, side)
    assert 0.0 < expected < 100.0
    shown, half = read(answer, "%")
    assert shown == pytest.approx(expected, abs=half + 1e-4)


def test_a_point_is_beyond_or_not(text, analytic, forecast):
    cell = analytic.grid.nearest(-1.3, 36.8)
    usual = analytic.climatology.cells("2m_temperature", "p50", 1)[cell]
    above = forecast.cells("2m_temperature")[cell] > usual
    assert above.any() and not above.all()
    for step in (int(above.argmax()), int(above.argmin())):
        ask = {"variable": "2m_temperature", "statistic": "p50", "hour": 6 * step + 6}
        for where in ({"latitude": -1.3, "longitude": 36.8}, {"feature": "Nairobi"}):
            shares = [text("climatology", **ask, **where, compare=f"area_{s}") for s in SIDES]
            assert "nearest grid cell, at " in shares[0]
            expected = ["100.00 %", "0.00 %"] if above[step] else ["0.00 %", "100.00 %"]
            assert [share.rsplit(": ")[-1] for share in shares] == expected


def test_the_share_of_the_world(text, analytic, forecast):
    now = forecast.cells("2m_temperature")[:, 3]
    above = now > analytic.climatology.cells("2m_temperature", "p90", 1)
    area = analytic.grid.cell_area
    ask = {"variable": "2m_temperature", "statistic": "p90", "hour": 24, "compare": "area_above"}
    answer = text("climatology", **ask, feature="world")
    assert "over the world, at 24 h" in answer
    assert read(answer, "%")[0] == pytest.approx(100.0 * area[above].sum() / area.sum(), abs=5e-3)


def test_a_ranking_of_shares(text, analytic, forecast):
    names = [feature.name for feature in analytic.features.of_kind("desert", "Africa")]
    shares = {n: beyond(analytic, forecast, n, "p75", 19, "below") for n in names}
    answer = text(
        "climatology",
        variable="2m_temperature",
        kind="desert",
        parent="Africa",
        hour=120,
        statistic="p75",
        compare="area_below",
        order="lowest",
        limit=60,
    )
    assert "share of the area below climatological January p75, over each desert in Afr" in answer
    rows = re.findall(r"^\d+\. (.*): (\S+) %$", answer, re.MULTILINE)
    assert sorted(name for name, _ in rows) == sorted(names)
    assert [float(number) for _, number in rows] == sorted(float(number) for _, number in rows)
    for name, number in rows:
        assert float(number) == pytest.approx(shares[name], abs=6e-3)


def test_a_month_by_number_is_compared_where_there_are_days_too(analytic, forecast, inline):
    """By default it is the day's statistic; with month=1 that of the month."""
    usual = analytic.climatology
    table = usual.cells("2m_temperature", "p50", 1)
    high = np.repeat(np.full_like(table, 400.0)[None], len(usual.statistics), axis=0)
    days = Days(tuple(range(1, 367)), (), 31, {"2m_temperature": lambda day, hour: high})
    cells = np.stack([usual.cells("2m_temperature", s, 1) for s in usual.statistics])
    monthly = Climatology(usual.grid, {"2m_temperature": lambda: np.stack([cells] * 12)}, days=days)
    dataset = Dataset("analytic", {"2001-01-05": lambda: forecast}, climatology=lambda: monthly)
    world = {Dataset: dataset, Forecast: forecast}

    def ask(**more):
        call = {"variable": "2m_temperature", "hour": 24, "statistic": "p50", **more}
        return inline(climatology, json.dumps(call | {"compare": "area_above"}), world).text

    assert ask(feature="Brazil").endswith(": 0.00 %")
    assert "January 6 p50" not in ask(feature="Brazil") and "6 January" in ask(feature="Brazil")
    of_month = ask(feature="Brazil", month=1)
    expected = beyond(analytic, forecast, "Brazil", "p50", 3, "above")
    assert "climatological January p50" in of_month
    assert read(of_month, "%")[0] == pytest.approx(expected, abs=6e-3)
    ranked = ask(kind="country", parent="South America", month=1, limit=60)
    shown = float(re.search(r"\d+\. Brazil: (\S+) %", ranked)[1])
    assert shown == pytest.approx(expected, abs=6e-3)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"compare": "above"}, "compare needs hour"),
        ({"compare": "area_above"}, "compare needs hour"),
        ({"compare": "area_below", "hour": 24, "statistic": "std"}, "'std' is a spread"),
        ({"order": "lowest", "compare": "area_above", "hour": 24}, "order ranks the features"),
        ({"compare": "above", "hour": 24, "statistic": "std"}, "'std' is a spread"),
        ({"compare": "departure", "hour": 24, "statistic": "std"}, "'std' is a spread"),
        ({"hour": 25}, "nearest: 24 or 30"),
        ({"month": 13}, "month must be 1 (January) to 12 (December), not 13"),
        ({"month": 0}, "month must be 1"),
        ({"month": 3, "hour": 24}, "month=3 contradicts hour"),
        ({"order": "lowest"}, "order ranks the features of a kind"),
        ({"order": "lowest", "compare": "departure", "hour": 24}, "order ranks the features"),
        ({"order": "lowest", "compare": "above", "hour": 24}, "leave order out"),
        ({"limit": 0}, "limit must be 1 to 60"),
    ],
)
def test_a_wrong_call_is_refused_with_how_to_mend_it(refusal, arguments, message):
    ask = {"variable": "2m_temperature", "feature": "Kenya", **arguments}
    assert message in refusal("climatology", **ask)


def test_an_unknown_statistic_is_answered_with_the_known(call):
    result = call("climatology", variable="2m_temperature", feature="Kenya", statistic="p99")
    assert result.error == "invalid_arguments"
    assert "'p90'" in result.text


def test_without_a_climatology(analytic, forecast, inline):
    world = {Dataset: Dataset("bare", {"a": lambda: forecast}), Forecast: forecast}
    result = inline(climatology, '{"variable": "2m_temperature", "feature": "Kenya"}', world)
    assert result.error == "tool_error"
    assert "this dataset has no climatology" in result.text


@pytest.mark.parametrize("month", ["September", "sep", "Sept.", "9", 9])
def test_a_month_may_be_a_name(text, month):
    answer = text("climatology", variable="2m_temperature", feature="Kenya", month=month)
    assert "climatological September mean" in answer


@pytest.mark.parametrize(
    ("asked", "meant"), [("median", "p50"), ("90th percentile", "p90"), ("P95", "p95"), ("5", "p5")]
)
def test_a_percentile_may_be_written_out(text, asked, meant):
    ask = {"variable": "2m_temperature", "feature": "Kenya"}
    expected = text("climatology", **ask, statistic=meant)
    assert f" {meant}, " in expected
    assert text("climatology", **ask, statistic=asked) == expected


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"month": "Januar"}, "month: a month is a number, 1 to 12, or its name"),
        ({"month": True}, "month: give a number, not true or false"),
        ({"statistic": "p80"}, "statistic: input should be 'p5', 'p10', "),
        ({"hour": "tomorrow"}, "hour: a lead time is a whole number of hours"),
    ],
)
def test_other_arguments_are_refused_with_how_to_mend_them(call, arguments, message):
    result = call("climatology", variable="2m_temperature", feature="Kenya", **arguments)
    assert result.error == "invalid_arguments"
    assert message in result.text
