"""A bank of a dataset that is not the demo: what can be asked of it, and what is said of the rest."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from zephyrus.errors import UserError
from zephyrus.policy import make_policy
from zephyrus.rollouts import rollout
from zephyrus_bench.bank import build_bank
from zephyrus_bench.env import BenchEnv
from zephyrus_bench.keys import keys, variables
from zephyrus_bench.needs import lacking
from zephyrus_bench.templates import TEMPLATES
from zephyrus_bench.values import is_narrow, is_often_zero, is_positive, is_share
from zephyrus_geodata import VARIABLES, Dataset, Forecast, variable
from zephyrus_geodata.cells import StationList
from zephyrus_geodata.grid import Grid

SIZES = {"train": 40, "validation": 16, "test": 40}
OF_CLIMATE = ["percentile_exceedance", "climate_value", "greatest_departure"]
SAMPLE = Path(__file__).parents[3] / "shared" / "samples" / "grids" / "pl_regular_ll.grib"
START = np.datetime64("2024-01-05T00", "s")


def made(grid, names=("2m_temperature", "temperature_700"), steps=12, forecasts=3, members=()):
    """A dataset of waves, without climatology."""
    rng = np.random.default_rng(5)
    hours = np.arange(steps) * 12

    def one(index):
        def read(name):
            shape = (len(members), grid.size, steps) if members else (grid.size, steps)
            wave = 12 * np.sin(np.arange(steps) + np.deg2rad(grid.cell_longitude)[:, None] + index)
            noise = 8 * rng.standard_normal(shape)
            base = variable(name).from_display(20.0)
            field = (wave - 0.6 * np.abs(grid.cell_latitude)[:, None] + noise) / variable(
                name
            ).scale
            return (base + field).astype(np.float32)

        start = START + np.timedelta64(index, "D")
        readers = {name: (lambda name=name: read(name)) for name in names}
        return Forecast("made", str(start)[:10], start, hours, grid, readers, members=members)

    opened = [one(index) for index in range(forecasts)]
    return Dataset("made", {f.name: (lambda f=f: f) for f in opened})


def globe(step=5.0):
    return Grid(np.arange(-90.0, 90.1, step), np.arange(-180.0, 180.0, step))


def scores(dataset, bank, policy, tmp_path):
    found = []
    for split in ("train", "validation", "test"):
        env = BenchEnv(dataset=dataset, bank=bank, split=split)
        if len(env.tasks()):
            run = rollout(env, make_policy(policy), output=tmp_path / f"{policy}-{split}")
            found += [trajectory.rewards["score"] for trajectory in run]
    return found


def test_without_a_climatology_the_other_templates_are_asked(tmp_path):
    dataset, bank = made(globe()), tmp_path / "bank.jsonl"
    with pytest.raises(
        UserError, match="no percentile_exceedance, climate_value, greatest_dep"
    ) as e:
        build_bank(dataset, SIZES, output=bank)
    assert "zephyrus data climatology ANALYSES --name made" in str(e.value)
    assert "-o strict=false" in str(e.value)
    assert not bank.exists()
    report = build_bank(dataset, SIZES, output=bank, strict=False)
    assert list(report.lacks) == OF_CLIMATE
    assert not report.ok
    rows = {(row.split, row.template): row for row in report.rows}
    assert {name for _, name in rows} == set(TEMPLATES) - set(OF_CLIMATE)
    assert sum(row.wanted for row in report.rows) == sum(SIZES.values())  # shared by five
    assert rows["train", "feature_statistic"].count == rows["train", "feature_statistic"].wanted
    told = json.loads(json.dumps(report.to_dict()))
    assert list(told["left_out"]) == OF_CLIMATE
    assert told["problems"][0].startswith("no percentile_exceedance, as there is no climatology")
    solved = scores(dataset, bank, "scripted", tmp_path)
    assert len(solved) == sum(row.count for row in report.rows) > 60
    assert set(solved) == {1.0}
    guessed = scores(dataset, bank, "random", tmp_path)
    assert np.mean(guessed) < 0.1


def test_one_lead_time_leaves_out_when():
    lacks = lacking(made(globe(), steps=1))
    assert "one lead time" in lacks["hours_to_extreme"]
    assert set(lacks) == {*OF_CLIMATE, "hours_to_extreme"}
    assert "hours_to_extreme" not in lacking(made(globe(), steps=2))


def test_two_lead_times_are_nearly_always_guessable(tmp_path):
    bank = tmp_path / "bank.jsonl"
    report = build_bank(made(globe(), steps=2), SIZES, output=bank, strict=False)
    hours = [row for row in report.rows if row.template == "hours_to_extreme"]
    assert all(row.count <= 2 for row in hours)  # 6 h is half right for both
    assert "hours_to_extreme" in report.short
    with pytest.raises(UserError, match="no percentile_exceedance"):
        build_bank(made(globe(), steps=2), SIZES)


def test_too_few_forecasts_say_how_many_questions_can_be_had(tmp_path, analytic):
    sizes = {"train": 0, "validation": 1600, "test": 0}
    with pytest.raises(UserError, match=r"[\d]+ of the 1600 questions asked for can be had") as e:
        build_bank(analytic, sizes, output=tmp_path / "bank.jsonl")
    assert "of sublocation_extreme validation " in str(e.value)
    assert "zephyrus data add analytic SOURCE --append" in str(e.value)
    assert "-o strict=false" in str(e.value)


def test_pressures_are_not_asked_for_by_value():
    names = ("mean_sea_level_pressure", "surface_pressure", "geopotential_1000", "temperature_700")
    dataset = made(globe(), names)
    assert variables(dataset, TEMPLATES["feature_statistic"]) == ["temperature_700"]
    assert set(variables(dataset, TEMPLATES["hours_to_extreme"])) == set(names)
    lacks = lacking(made(globe(), names[:3]))
    assert "there is no variable" in lacks["feature_statistic"]
    assert "hours_to_extreme" not in lacks


def test_a_dataset_of_nothing_to_ask_about_is_refused_either_way():
    corner = Grid(np.array([-55.0, -54.0]), np.array([-130.0, -129.0]))  # the empty Pacific
    for strict in (True, False):
        with pytest.raises(UserError, match="nothing can be asked about the dataset 'made'"):
            build_bank(made(corner), SIZES, strict=strict)


def test_a_region_is_asked_about_its_own_places(tmp_path):
    europe = Grid(np.arange(35.0, 62.1, 1.0), np.arange(-12.0, 32.1, 1.0))
    dataset, bank = made(europe), tmp_path / "bank.jsonl"
    build_bank(dataset, SIZES, output=bank, strict=False)
    places = {json.loads(line)["provenance"]["key"][1] for line in bank.open()}
    assert not {"country:Kenya", "country:Brazil", "ocean"} & places
    assert set(scores(dataset, bank, "scripted", tmp_path)) == {1.0}


def test_an_ensemble_is_asked_about_its_mean(tmp_path):
    dataset, bank = made(globe(10.0), members=("0", "1", "2")), tmp_path / "bank.jsonl"
    build_bank(dataset, SIZES, output=bank, strict=False)
    assert set(scores(dataset, bank, "scripted", tmp_path)) == {1.0}


def test_stations_are_asked_about_cities(tmp_path):
    rng = np.random.default_rng(1)
    stations = StationList(rng.uniform(-60, 70, 4000), rng.uniform(-180, 180, 4000))
    dataset, bank = made(stations), tmp_path / "bank.jsonl"
    build_bank(dataset, SIZES, output=bank, strict=False)
    kinds = {json.loads(line)["provenance"]["kind"] for line in bank.open()}
    assert kinds == {"city"}
    assert set(scores(dataset, bank, "scripted", tmp_path)) == {1.0}


def test_of_many_forecasts_each_subject_gets_some(monkeypatch):
    monkeypatch.setattr("zephyrus_bench.keys._ENOUGH", 4000)
    dataset = made(globe(10.0), ("temperature_700",), steps=2, forecasts=1)
    (only,) = dataset.forecasts
    many = Dataset("made", {f"f{i:04}": (lambda: dataset.forecast(only)) for i in range(1000)})
    found = keys(many, TEMPLATES["time_mean_extreme"], 0)
    every = [key for order in found.values() for key in order]
    forecasts = {}
    for key in every:
        forecasts.setdefault(key.subject.key, set()).add(key.forecast)
    assert {len(names) for names in forecasts.values()} == {4000 // len(forecasts)}
    assert len(set.union(*forecasts.values())) > 900
    assert len({key.parts for key in every}) == len(every)


def test_bounds_of_the_variables():
    of = {name: variable(name) for name in (*VARIABLES, "low_cloud_cover", "snow_depth")}
    assert {name for name in of if is_share(of[name])} == {"total_cloud_cover", "low_cloud_cover"}
    assert {n for n in of if is_often_zero(of[n])} == {"total_precipitation_6hr", "snow_depth"}
    positive = {"total_precipitation_6hr", "total_cloud_cover", "10m_wind_speed"}
    assert {n for n in VARIABLES if is_positive(of[n])} == positive
    assert is_positive(variable("relative_humidity_700"))
    assert is_positive(variable("wind_speed_300"))
    assert is_narrow("surface_pressure")
    assert not is_narrow("temperature_500")


@pytest.mark.slow
@pytest.mark.skipif(not SAMPLE.is_file(), reason="the sample grids are not there")
def test_a_real_forecast_end_to_end_on_the_command_line(tmp_path):
    """As docs/data.md shows it: added, given a climatology, asked about, and answered by tools."""

    def zephyrus(*arguments, status=0):
        done = subprocess.run(
            [sys.executable, "-m", "zephyrus", *map(str, arguments)],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            env={**os.environ, "ZEPHYRUS_DATA": str(tmp_path / "store"), "COLUMNS": "100"},
        )
        assert done.returncode == status, done.stdout + done.stderr
        return done.stdout if status == 0 else done.stderr

    zephyrus("data", "add", "real", SAMPLE)
    build = ("env", "build-bank", "--dataset", "real", "--output", "bank.jsonl")
    sizes = ("--train", 80, "--validation", 16, "--test", 80)
    refused = zephyrus(*build, *sizes, status=2)
    assert "zephyrus data climatology ANALYSES --name real" in refused
    zephyrus(
        *("data", "climatology", SAMPLE, "--kind", "analyses", "--by", "month", "--name", "real")
    )
    report = json.loads(zephyrus(*build, *sizes, "-o", "strict=false", "--json"))
    assert report["left_out"] == {}
    counts = {}
    for row in report["rows"]:
        counts[row["template"]] = counts.get(row["template"], 0) + row["count"]
    assert all(counts[name] > 0 for name in TEMPLATES)
    asked = {row["template"]: row["count"] for row in report["rows"] if row["split"] == "test"}
    run = ("env", "rollout", "--dataset", "real", "--bank", "bank.jsonl")
    zephyrus(*run, "--policy", "scripted", "--output", "scripted")
    solved = json.loads((tmp_path / "scripted" / "summary.json").read_text())
    assert solved["rollouts"] == sum(asked.values()) >= 40
    assert solved["accuracy"] == 1.0
    zephyrus(*run, "--policy", "random", "--output", "random")
    assert json.loads((tmp_path / "random" / "summary.json").read_text())["accuracy"] < 0.15
    assert "real" in zephyrus("env", "show", "scripted", "--first")
