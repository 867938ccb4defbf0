"""The composed references that ship: each number recomputed, each place known, no word wasted."""

import math
import re
from collections import Counter
from pathlib import Path

import numpy as np
import pytest

from zephyrus.errors import UserError
from zephyrus.task import TaskSet
from zephyrus_geodata import Dataset, Forecast, load_dataset, variable
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_report.compose.calendar import WEEKDAYS
from zephyrus_report.compose.compose import LABEL, compose
from zephyrus_report.compose.findings import COMPASS
from zephyrus_report.prompts import WORDS
from zephyrus_tools.text import MONTHS

BANK = Path(__file__).parents[2] / "envs" / "zephyrus_report" / "data" / "demo.jsonl.gz"

NUMBER = re.compile(r"(?<![\d.°])(-?\d+(?:\.\d+)?)(?= (hPa|°C|mm|m/s|gpm|%|km/h|K)\b| (°C|%))")
LEVELS = re.compile(r"\b(?:500|850) hPa (?:temperature|heights|winds|ridge|trough)|\b(?:2|10) m ")
TIMES = re.compile(
    r"\b\d\d UTC\b|\bdays? \d+(?: (?:and|to) \d+)?|\b\d{1,2} (?:" + "|".join(MONTHS) + r")\b"
    r"|(?:" + "|".join(WEEKDAYS) + r") \d{1,2}\b|\d+th percentile|\bin (?:the )?6 h\b"
)
POINTS = re.compile(r"\d+°[NS], \d+°[EW]")

# Words that begin a sentence or name a kind of weather; every other capital must be a place's.
STARTS = {
    "A", "Along", "Around", "Behind", "Ahead", "Brought", "Hazards", "In", "Mean", "Near", "No", "North",
    "North-east", "North-west", "Of", "On", "Over", "Rain", "Skies", "Snow", "South", "South-east",
    "South-west", "The", "Under", "West", "East", "From", "UTC", "C", "Overview", "Precipitation",
    "Wind", "Temperature", "K",
}  # fmt: skip


@pytest.fixture(scope="module")
def demo() -> Dataset:
    return load_dataset("demo")


@pytest.fixture(scope="module")
def bank() -> TaskSet:
    return TaskSet.load(BANK)


def sentences(text: str) -> list[str]:
    body = "\n".join(line for line in text.splitlines() if not line.startswith("..."))
    return [s.strip() for s in re.split(r"(?<=[.])\s+", body) if s.strip()]


def shown(value: float, unit: str) -> set[str]:
    """How a value, of which a bank keeps six digits, may stand in a text."""
    return rounded(value * (1 - 1e-5), unit) | rounded(value * (1 + 1e-5), unit)


def rounded(value: float, unit: str) -> set[str]:
    if unit == "mm":
        return {f"{value:.0f}" if round(value, 1) >= 2 else f"{value:.1f}", "0.1"}
    if unit == "gpm":
        return {str(round(value / 10) * 10), str(abs(round(value / 10) * 10))}
    if unit == "km/h":
        return {str(round(value / 5) * 5)}
    return {str(round(value)), str(abs(round(value)))}


def oracle(dataset: Dataset, forecast: Forecast, place: dict, quantity: dict) -> float:
    """A quantity of a finding, by plain loops in double precision."""
    about = variable(quantity["variable"])
    cells = forecast.cells(about.name)
    hours = [h for h in forecast.lead_hours.tolist() if quantity["start"] <= h <= quantity["end"]]
    if quantity["space"] == "point":
        at, on = (place["latitude"], place["longitude"]), forecast.grid
        if hours[0] != place["start"]:
            return math.nan  # at another position than the first
        cell = on.nearest(*at)
        step = forecast.lead_hours.tolist().index(hours[0])
        return float(cells[cell, step]) * about.scale + about.offset
    zone = dataset.zones.weights(dataset.features[quantity["feature"]])

    def over_space(column: np.ndarray) -> float:
        values = [float(column[cell]) for cell in zone.cells]
        if quantity["space"] == "min":
            return min(values)
        if quantity["space"] == "max":
            return max(values)
        weights = [float(w) for w in zone.weights]
        return math.fsum(v * w for v, w in zip(values, weights, strict=True)) / math.fsum(weights)

    of_step = {
        h: over_space(cells[:, forecast.lead_hours.tolist().index(h)]) * about.scale + about.offset
        for h in hours
    }
    month = int(str(forecast.init_time + np.timedelta64(hours[0], "h"))[5:7])
    normal = math.nan
    if quantity["time"] in ("climate", "departure"):
        climate = dataset.climatology.cells(about.name, "mean", month)
        normal = over_space(climate) * about.scale + about.offset
    mean = math.fsum(of_step.values()) / len(of_step)
    return {
        "at": of_step[hours[0]],
        "mean": mean,
        "sum": math.fsum(of_step.values()),
        "min": min(of_step.values()),
        "max": max(of_step.values()),
        "change": of_step[hours[-1]] - of_step[hours[0]],
        "climate": normal,
        "departure": mean - normal,
    }[quantity["time"]]


def test_every_number_of_a_finding_is_what_plain_loops_over_the_fields_give(demo, bank):
    checked: Counter[str] = Counter()
    for task in list(bank)[::5]:
        forecast = demo.forecast(task.world["forecast"])
        for finding in task.provenance["findings"]:
            for name, quantity in finding["values"].items():
                if "variable" not in quantity:
                    continue
                true = oracle(demo, forecast, finding, quantity)
                if math.isnan(true):
                    continue
                checked[f"{quantity['space']}/{quantity['time']}"] += 1
                close = pytest.approx(true, rel=2e-5, abs=2e-3)
                assert quantity["value"] == close, (task.id, finding["kind"], name)
    wanted = {"point/at", "mean/at", "mean/mean", "mean/sum", "max/max", "min/min"}
    wanted |= {"mean/climate", "mean/departure", "mean/change"}
    assert wanted <= set(checked)


def test_every_number_in_a_text_is_a_finding_s_and_has_a_unit(bank):
    for task in bank:
        values: dict[str, set[str]] = {}
        for finding in task.provenance["findings"]:
            for quantity in finding["values"].values():
                values.setdefault(quantity["unit"], set()).update(
                    shown(quantity["value"], quantity["unit"])
                )
        text = LEVELS.sub(" ", task.gold)
        for match in NUMBER.finditer(text):
            unit = match[2] or match[3]
            assert match[1] in values[unit], (task.id, match[0], unit, sorted(values[unit]))
        bare = POINTS.sub(" ", TIMES.sub(" ", text))
        bare = re.sub(r"-?\d+(?:\.\d+)? (?:hPa|°C|mm|m/s|gpm|%|km/h)", " ", bare)
        assert not re.search(r"\d", bare), (task.id, re.findall(r".{20}\d.{20}", bare))


def test_every_place_in_a_text_is_a_feature_or_a_part_of_one(demo, bank):
    for task in bank:
        names = {f["place"] for f in task.provenance["findings"]}
        names |= {f["target"] for f in task.provenance["findings"] if "target" in f}
        names.add(task.program["region"])
        known = {feature.name for feature in demo.features}
        assert names <= known, (task.id, names - known)
        rest = task.gold
        for name in sorted(names, key=len, reverse=True):
            rest = rest.replace(name, " ")
        capitals = set(re.findall(r"\b[A-Z][\w-]*", POINTS.sub(" ", rest)))
        assert capitals <= STARTS | set(MONTHS) | set(WEEKDAYS), (task.id, capitals - STARTS)
        parts = set(re.findall(r"\b([a-z]+(?:-[a-z]+)?)ern\b", rest))
        assert parts <= set(COMPASS), (task.id, parts)


def test_texts_keep_their_budget_and_repeat_nothing(bank):
    for task in bank:
        words = len(task.gold.split())
        assert 120 <= words <= WORDS[task.template], (task.id, words)
        told = sentences(task.gold)
        assert len(set(told)) == len(told), task.id
        assert all(s[0].isupper() or s[0].isdigit() for s in told), task.id
        assert all(s.endswith(".") for s in told), task.id
        assert "nan" not in task.gold.lower().split(), task.id


def test_no_two_references_are_the_same(bank):
    assert len({task.gold for task in bank}) == len(bank)


def test_a_forecaster_would_not_wince(demo, bank):
    kinds: Counter[str] = Counter()
    for task in bank:
        forecast = demo.forecast(task.world["forecast"])
        for finding in task.provenance["findings"]:
            kinds[finding["kind"]] += 1
            values = {name: q["value"] for name, q in finding["values"].items()}
            if finding["kind"].endswith("_front"):
                feature = values and finding["values"]["before"]["feature"]
                zone = demo.zones.weights(demo.features[feature])
                rows = zone.cells // forecast.grid.shape[1]
                middle = np.average(forecast.grid.latitude[rows], weights=zone.weights)
                assert abs(middle) > 25, "no fronts in the tropics"
            if "snow" in finding.get("detail", ""):
                area = demo.features[finding["values"]["total"]["feature"]]
                ground = demo.series(forecast, "2m_temperature", area)
                inside = (forecast.lead_hours >= finding["start"]) & (
                    forecast.lead_hours <= finding["end"]
                )
                assert ground[inside].min() < 273.15 + 2.0, "no snow in the warmth"
            if finding["kind"] in ("low", "high"):
                assert 20 <= abs(finding["latitude"]) <= 78
                assert values["speed"] < 110
                assert 930 < values["before"] < 1070
    # Every sort of finding has its place in the bank.
    assert {"low", "high", "cold_front", "warm_front", "wind", "precipitation", "dry"} <= set(kinds)
    assert {"trough", "ridge", "cold_anomaly", "warm_anomaly", "warming", "cooling"} <= set(kinds)


def test_a_cause_is_told_only_where_its_system_is(bank):
    for task in bank:
        text = task.gold
        if re.search(r"\b(?:of|near) the low\b", text, re.IGNORECASE):
            assert re.search(r"\bA (?:nearly stationary )?low\b", text), task.id
        if "Under the high" in text:
            assert re.search(r"\bA (?:nearly stationary )?high\b", text), task.id
        if re.search(r"(?:long|ehind) the (cold|warm) front", text):
            assert re.search(r"A (?:cold|warm) front", text), task.id


def test_composing_twice_gives_the_same_text_and_another_key_other_words(demo):
    region, forecast = demo.features["subregion:Western Europe"], demo.forecast("1959-10-19")
    first, again = (
        compose(demo, forecast, region, 6, 48, "short_range", key="a") for _ in range(2)
    )
    assert first == again
    assert first.label == LABEL
    others = {
        compose(demo, forecast, region, 6, 48, "short_range", key=key).text for key in "bcdefg"
    }
    assert others - {first.text}


def test_a_smaller_budget_keeps_what_matters_most(demo):
    region, forecast = demo.features["subregion:Western Europe"], demo.forecast("1959-10-19")
    long = compose(demo, forecast, region, 54, 120, "extended", key="a")
    short = compose(demo, forecast, region, 54, 120, "extended", words=150, key="a")
    assert short.words <= 150 < long.words
    assert set(map(id, short.findings)) != set(map(id, long.findings))
    assert "A 500 hPa trough deepens" in short.text
    assert "...Hazards..." in short.text


def only(dataset: Dataset, *names: str) -> Dataset:
    """The dataset with these variables alone, and no climatology."""
    whole = dataset.forecast(dataset.forecasts[0])
    part = Forecast(
        "part",
        whole.name,
        whole.init_time,
        whole.lead_hours,
        whole.grid,
        {name: lambda name=name: whole.cells(name) for name in names},
    )
    return Dataset("part", {whole.name: lambda: part})


@pytest.mark.parametrize(
    "names",
    [
        ("2m_temperature", "total_precipitation_6hr"),
        ("mean_sea_level_pressure", "2m_temperature", "10m_wind_speed"),
        ("mean_sea_level_pressure", "total_precipitation_6hr", "temperature_850"),
    ],
)
def test_missing_variables_are_passed_over(names):
    made = only(analytic_dataset(), *names)
    forecast = made.forecast(made.forecasts[0])
    text = compose(made, forecast, made.features["country:Canada"], 6, 48, "short_range").text
    assert ("...Temperature..." in text) == ("2m_temperature" in names)
    assert (" mm" in text) == ("total_precipitation_6hr" in names)
    assert "10 m winds" not in text or "10m_wind_speed" in names


def test_where_there_are_no_data_nothing_is_told():
    whole = analytic_dataset()
    source = whole.forecast(whole.forecasts[0])

    def land_only(name: str) -> np.ndarray:
        values = source.cells(name).copy()
        values[whole.zones.weights(whole.features["plain:Canadian Prairies"]).cells] = np.nan
        return values

    part = Forecast(
        "part",
        source.name,
        source.init_time,
        source.lead_hours,
        source.grid,
        {name: lambda name=name: land_only(name) for name in source.variables},
    )
    made = Dataset("part", {source.name: lambda: part}, climatology=lambda: whole.climatology)
    for style, window in {"short_range": (6, 48), "outlook": (126, 240)}.items():
        told = compose(made, part, made.features["country:Canada"], *window, style)
        assert "Canadian Prairies" not in told.text
        assert "Labrador Peninsula" in told.text
        assert "nan" not in told.text


def test_amounts_that_do_not_add_up_are_not_added():
    every = analytic_dataset(lead_hours=range(12, 49, 12))
    forecast = every.forecast(every.forecasts[0])
    told = compose(every, forecast, every.features["country:Canada"], 12, 48, "short_range")
    assert " mm" not in told.text


def test_too_few_variables_are_the_user_s_mistake():
    made = only(analytic_dataset(), "2m_temperature", "10m_wind_speed")
    with pytest.raises(UserError, match="at least two"):
        compose(
            made,
            made.forecast(made.forecasts[0]),
            made.features["country:Canada"],
            6,
            48,
            "short_range",
        )


def test_an_unknown_style_or_an_empty_window_is_the_user_s_mistake(demo):
    region, forecast = demo.features["country:Brazil"], demo.forecast("1959-10-19")
    with pytest.raises(UserError, match="no style"):
        compose(demo, forecast, region, 6, 48, "novel")
    with pytest.raises(UserError, match="no lead time"):
        compose(demo, forecast, region, 300, 400, "outlook")
