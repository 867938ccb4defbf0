"""Event banks: the one that ships, its splits, and banks of a user's own."""

import io
import json
from pathlib import Path

import pytest
from rich.console import Console

from zephyrus.errors import UserError
from zephyrus.task import SPLITS, TaskSet
from zephyrus_geodata import Dataset
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_report.bank import PERIODS, REGIONS, build_bank, window
from zephyrus_tools.splits import split_forecasts

BANK = Path(__file__).parents[2] / "envs" / "zephyrus_report" / "data" / "demo.jsonl.gz"


@pytest.fixture(scope="module")
def bank() -> TaskSet:
    return TaskSet.load(BANK)


@pytest.fixture(scope="module")
def analytic() -> Dataset:
    return analytic_dataset()


def test_the_shipped_bank_has_regions_and_periods_in_every_split(bank):
    assert len(bank) == len(REGIONS) * len(PERIODS) * 4 >= 60
    for split in SPLITS:
        members = bank.split(split)
        assert {task.template for task in members} == set(PERIODS)
        regions = {f"{t.program['kind']}:{t.program['region']}" for t in members}
        assert regions == set(REGIONS)
    assert BANK.stat().st_size < 300_000


def test_no_two_splits_share_a_forecast_and_they_follow_in_time(bank):
    times = {
        split: {task.provenance["initial_time"] for task in bank.split(split)} for split in SPLITS
    }
    assert max(times["train"]) < min(times["validation"])
    assert max(times["validation"]) < min(times["test"])
    assert {t[:10] for t in times["train"]} == {"1959-01-02", "1959-04-07"}
    assert {t[:10] for t in times["test"]} == {"1959-10-19"}


def test_the_prompt_tells_the_event_and_nothing_of_the_reference(bank):
    for task in bank:
        program = task.program
        assert program["region"] in task.prompt
        assert f"{program['start']} to {program['end']} h" in task.prompt
        assert task.provenance["initial_time"][:10] in task.prompt
        told = task.prompt.lower()
        assert not any(
            word in told for word in ("hpa", "°c", " mm", "m/s", "trough", "gale", "front", "snow")
        )


def test_every_event_says_that_it_is_composed_and_when_it_is_valid(bank):
    for task in bank:
        about = task.provenance
        assert about["reference"] == "composed"
        assert "not written by a forecaster" in about["label"]
        assert about["initial_time"] < about["valid_from"] < about["valid_to"]
        assert task.answer_type == "report"
        assert task.required_tools == ("dataset",)
        assert about["words"] == len(task.gold.split())
        assert about["findings"]


def test_the_id_names_dataset_forecast_region_and_days(bank):
    task = bank["report-demo-1959-10-19-western-europe-d1-2"]
    assert task.world == {"dataset": "demo", "forecast": "1959-10-19"}
    assert task.program == {
        "region": "Western Europe",
        "kind": "subregion",
        "parent": "Europe",
        "start": 6,
        "end": 48,
        "style": "short_range",
    }


@pytest.mark.slow
def test_the_shipped_bank_is_what_the_command_builds(tmp_path):
    built = tmp_path / "demo.jsonl.gz"
    report = build_bank("demo", None, 0, built)
    assert report.ok
    assert built.read_bytes() == BANK.read_bytes()


def test_the_same_seed_gives_the_same_bytes_and_sizes_are_kept(tmp_path):
    paths = [tmp_path / name for name in ("a.jsonl.gz", "b.jsonl.gz")]
    sizes = {"train": 4, "validation": 3, "test": 5}
    for path in paths:
        build_bank("demo", sizes, 7, path)
    assert paths[0].read_bytes() == paths[1].read_bytes()
    tasks = TaskSet.load(paths[0])
    assert {split: len(tasks.split(split)) for split in SPLITS} == sizes
    assert {task.template for task in tasks.split("validation")} == set(PERIODS)
    assert len({task.program["region"] for task in tasks.split("test")}) == 5


def test_another_seed_chooses_other_events():
    chosen = [
        {task.id for task in build_bank("demo", {"test": 4}, seed).tasks} for seed in range(4)
    ]
    assert len({frozenset(ids) for ids in chosen}) > 1


def test_the_report_is_a_table_and_json(tmp_path):
    report = build_bank("demo", {"test": 3}, 0, tmp_path / "x.jsonl")
    facts = json.loads(json.dumps(report.to_dict()))
    assert facts["events"] == 3
    assert facts["ok"]
    assert sum(row["count"] for row in facts["rows"]) == 3
    assert "no forecaster" in facts["references"]
    out = io.StringIO()
    Console(file=out, width=120).print(report)
    assert "composed" in out.getvalue()
    assert "1959-10-19" in out.getvalue()


def test_regions_and_periods_can_be_named(analytic):
    report = build_bank(analytic, None, regions="France, sea:Tasman Sea", periods="outlook")
    assert {task.program["region"] for task in report.tasks} == {"France", "Tasman Sea"}
    assert {task.template for task in report.tasks} == {"outlook"}
    assert len(report.tasks) == 2 * len(analytic.forecasts)


def test_a_dataset_of_one_s_own_gets_its_splits_in_order_of_time(analytic):
    splits = split_forecasts(analytic)
    assert splits == dict(zip(analytic.forecasts, SPLITS, strict=True))
    report = build_bank(analytic, {"train": 2, "validation": 1, "test": 1})
    assert {t.world["forecast"] for t in report.tasks.split("test")} == {"2001-07-15"}


@pytest.mark.parametrize("count", range(1, 13))
def test_splits_are_whole_and_chronological_for_any_number_of_forecasts(count):
    dates = [f"2001-{month:02d}-01" for month in range(1, count + 1)]
    splits = list(split_forecasts(analytic_dataset(step=30.0, initial_dates=dates)).values())
    assert splits == sorted(splits, key=SPLITS.index)
    assert splits[-1] == "test"
    assert ("train" in splits) == (count >= 2)
    assert ("validation" in splits) == (count >= 3)


def test_a_short_forecast_has_only_the_periods_that_it_covers():
    short = analytic_dataset(lead_hours=range(6, 49, 6))
    report = build_bank(short, None, regions=["Canada"])
    assert {task.template for task in report.tasks} == {"short_range"}
    assert window(short.forecast(short.forecasts[0]), "short_range") == (6, 48)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"sizes": {"dev": 3}}, "no split 'dev'"),
        ({"sizes": {"test": 0}}, "sizes above 0"),
        ({"sizes": {"test": -1}}, "sizes above 0"),
        ({"output": "bank.json"}, "a bank is a .jsonl"),
        ({"periods": "winter"}, "no period 'winter'"),
        ({"regions": "Atlantis"}, "Atlantis"),
        ({"dataset": "nowhere"}, "nowhere"),
        ({"reports": "/nonexistent", "regions": "France"}, "leave them out"),
    ],
)
def test_mistakes_are_told_in_a_sentence(arguments, message):
    with pytest.raises(UserError, match=message):
        build_bank(**arguments)
