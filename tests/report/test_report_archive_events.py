"""Events from real reports: paired without leakage, split in time with gaps."""

import json
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from bulletins import office_report, report, short_range
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.errors import UserError
from zephyrus.task import SPLITS, TaskSet
from zephyrus_geodata.reports.pairing import Pair
from zephyrus_geodata.reports.store import Report, ReportArchive
from zephyrus_geodata.testing import analytic_dataset
from zephyrus_report.archive_events import archive_events, split_by_time
from zephyrus_report.event import Event

SAMPLES = Path(__file__).parents[2] / ".." / "shared" / "samples" / "nws"
DAYS = [f"2024-01-{day:02d}" for day in range(1, 32)]


def at(day: int, hour: int, minute: int = 1) -> datetime:
    return datetime(2024, 1, day, hour, minute, tzinfo=UTC)


@pytest.fixture(scope="module")
def world():
    return analytic_dataset(step=10.0, initial_dates=DAYS, name="january")


@pytest.fixture(scope="module")
def month() -> ReportArchive:
    return ReportArchive([short_range(at(day, hour)) for day in range(1, 32) for hour in (8, 20)])


def spans(tasks: TaskSet) -> list[tuple[datetime, datetime]]:
    return [
        (
            datetime.fromisoformat(task.provenance["initial"]),
            datetime.fromisoformat(task.provenance["valid"][1]),
        )
        for task in tasks
    ]


def test_an_event(world):
    tasks = archive_events(world, ReportArchive([short_range(at(5, 8))]), {"test": 1})
    task = tasks[0]
    assert task.id == "report-january-202401050801-kwbc-fxus01-pmdspd"
    assert task.split == "test" and task.template == "short_range" and task.answer_type == "report"
    assert task.world == {"dataset": "january", "forecast": "2024-01-05"}
    assert task.required_tools == ("dataset",)
    assert task.prompt.splitlines() == [
        "Write the short range discussion for United States (country).",
        "Initial time: Fri 2024-01-05 00 UTC.",
        "Valid period: Fri 2024-01-05 12 UTC to Sun 2024-01-07 12 UTC (lead times 12 to 60 h).",
        "Cover what happens where and when, by day or by part of a day.",
        "Parts of the region: the 48 contiguous states.",
        "At most 500 words.",
    ]
    assert task.gold.startswith("A cold front over the Plains moves east with rain ahead of it,")
    assert "\n" not in task.gold and "KWBC" not in task.gold
    about = task.provenance
    assert about["reference"] == "nws"
    assert about["issued"] == "2024-01-05T08:01:00+00:00"
    assert about["initial"] == "2024-01-05T00:00:00+00:00"
    assert about["valid"] == ["2024-01-05T12:00:00+00:00", "2024-01-07T12:00:00+00:00"]
    assert about["valid_stated"] is True and about["age_hours"] == 8.02
    assert about["url"] == "https://example.org/x" and about["data"] == "analytic test world"
    event = Event.of(task, 500)
    assert (event.region, event.kind, event.start, event.end) == (
        "United States",
        "country",
        12,
        60,
    )


def test_an_office_report(world):
    texts = [
        office_report(at(5, 8)),
        office_report(at(5, 9), "AFDSJU", "TJSJ"),
        office_report(at(5, 10), "AFDPQ", "PGUM"),
        office_report(at(5, 11), "AFDXYZ", "KXYZ"),
    ]
    tasks = archive_events(world, ReportArchive(texts), {"test": 3})
    regions = [task.program["region"] for task in tasks]
    assert regions == ["Los Angeles / Oxnard (LOX)", "San Juan (SJU)", "Guam (GUM)"]
    first = tasks[0]
    assert first.program["kind"] == "nws_cwa" and first.program["parent"] == "United States"
    assert first.template == "extended" and "VFR" not in first.gold
    assert "contiguous" not in first.prompt
    assert first.provenance["valid_stated"] is False
    assert (first.program["start"], first.program["end"]) == (6, 180)  # 8 to 176 h, on 6 h steps
    with pytest.raises(UserError, match="no forecast area is known of the office KXYZ"):
        archive_events(world, ReportArchive(texts[3:]))


def test_no_leakage(world, month):
    tasks = archive_events(world, month)
    assert len(tasks) > 20
    for task in tasks:
        about = task.provenance
        initial, issued = (datetime.fromisoformat(about[name]) for name in ("initial", "issued"))
        assert initial + timedelta(hours=6) <= issued
        assert f"{initial:%Y-%m-%d}" == task.world["forecast"]
        later = [day for day in DAYS if datetime.fromisoformat(day).replace(tzinfo=UTC) > initial]
        if later:  # the next forecast came too late for the writers
            following = datetime.fromisoformat(later[0]).replace(tzinfo=UTC)
            assert following + timedelta(hours=6) > issued


def test_splits_follow_each_other_with_a_gap(world, month):
    tasks = archive_events(world, month, {"train": 8, "validation": 2, "test": 4}, seed=3)
    assert [len(tasks.split(name)) for name in SPLITS] == [8, 2, 4]
    for earlier, later in (("train", "validation"), ("validation", "test")):
        ends = [end for _, end in spans(tasks.split(earlier))]
        starts = [start for start, _ in spans(tasks.split(later))]
        assert max(ends) <= min(starts)
    again = archive_events(world, month, {"train": 8, "validation": 2, "test": 4}, seed=3)
    assert list(tasks) == list(again)
    other = archive_events(world, month, {"train": 8, "validation": 2, "test": 4}, seed=4)
    assert list(tasks) != list(other)


def test_too_few(world, month):
    few = ReportArchive([short_range(at(day, 8)) for day in (5, 6)])
    with pytest.raises(UserError, match="gives no train event for 'january'") as error:
        archive_events(world, few, {"train": 1, "validation": 1, "test": 1})
    assert "too near to a later split" in str(error.value)
    most = archive_events(world, month, {"train": 500, "test": 500})  # at most
    assert 10 < len(most) < 31 and not len(most.split("validation"))
    with pytest.raises(UserError, match="62 × no forecast is of its time"):
        archive_events(analytic_dataset(step=30.0), month)
    with pytest.raises(UserError, match="no split 'tset'"):
        archive_events(world, month, {"tset": 1})
    with pytest.raises(UserError, match="sizes above 0"):
        archive_events(world, month, {"test": 0})
    with pytest.raises(UserError, match="there are no reports at"):
        archive_events(world, "/nowhere")


def test_which_correction(world):
    texts = [short_range(at(5, 8)), short_range(at(5, 8), "snow", "CCA")]
    archive = ReportArchive(texts)
    latest = archive_events(world, archive, {"test": 1})[0]
    assert "with snow ahead" in latest.gold and latest.provenance["correction"] == "CCA"
    first = archive_events(world, archive, {"test": 1}, corrections="first")[0]
    assert "with rain ahead" in first.gold


def test_short_texts_and_other_products_are_left_out(world):
    stub = short_range(at(5, 8))
    stub = Report.from_dict(
        {
            **stub.to_dict(),
            "text": re.sub(r"Mississippi.*?mph", "Basin", stub.text, flags=re.DOTALL),
        }
    )
    other = Report.from_dict({**stub.to_dict(), "id": "x", "product": "TCDAT5"})
    with pytest.raises(UserError) as error:
        archive_events(world, ReportArchive([stub, other]))
    assert "its discussion has fewer than 40 words" in str(error.value)
    assert "TCDAT5 makes no events" in str(error.value)


def test_the_word_budget(world):
    task = archive_events(world, ReportArchive([short_range(at(5, 8))]), words=123)[0]
    assert "At most 123 words." in task.prompt


@pytest.mark.skipif(not SAMPLES.is_dir(), reason="the real texts are not there")
def test_real_discussions():
    """Real AFDs of August 2024 become events of forecasts of that time."""
    days = [f"2024-08-{day:02d}" for day in range(1, 32)]
    world = analytic_dataset(step=10.0, initial_dates=days, name="august")
    texts = [
        json.loads(path.read_text())["productText"]
        for path in sorted(SAMPLES.glob("weather_gov_api__testing_products_*.json"))
    ]
    reports = [report(text) for text in texts]
    unique = {item.id: item for item in reports}
    tasks = archive_events(world, ReportArchive(unique.values()), keep="all")
    assert len(tasks) >= 1
    for task in tasks:
        assert len(task.gold.split()) >= 40 and "AVIATION" not in task.gold
        issued = datetime.fromisoformat(task.provenance["issued"])
        assert issued - datetime.fromisoformat(task.provenance["initial"]) >= timedelta(hours=6)
        assert task.program["kind"] == "nws_cwa"


# --- split_by_time ----------------------------------------------------------------------------

START = datetime(2024, 1, 1, tzinfo=UTC)


def a_pair(number: int, initial: int, delay: int, length: int) -> Pair:
    first = START + timedelta(hours=initial)
    issued = first + timedelta(hours=delay)
    valid = (issued, issued + timedelta(hours=length))
    return Pair(f"r{number}", "AFD", "K", f"f{initial}", issued, first, valid, True, 6, 12)


@given(
    st.lists(st.tuples(st.integers(0, 2000), st.integers(0, 48), st.integers(1, 200)), max_size=40),
    st.tuples(*(st.integers(0, 5) for _ in SPLITS)),
)
def test_split_by_time_properties(rows, weights):
    pairs = [a_pair(number, *row) for number, row in enumerate(rows)]
    parts = split_by_time(pairs, dict(zip(SPLITS, weights, strict=True)))
    kept = [pair for split in SPLITS for pair in parts[split]]
    assert len({pair.report for pair in kept}) == len(kept) <= len(pairs)
    for split, weight in zip(SPLITS, weights, strict=True):
        assert weight or not parts[split]
    for number, earlier in enumerate(SPLITS):
        for later in SPLITS[number + 1 :]:
            for a in parts[earlier]:
                assert all(a.valid[1] <= b.initial for b in parts[later])


def test_the_builder_takes_the_options_of_pairing(world, tmp_path):
    from zephyrus_report.env import ReportEnv

    texts = [short_range(at(5, 8)), short_range(at(5, 8), "snow", "CCA")]
    lines = [json.dumps(text.to_dict()) + "\n" for text in texts]
    (tmp_path / "reports.jsonl").write_text("".join(lines))

    def build(**options):
        return ReportEnv.build_bank(world, {"test": 1}, reports=tmp_path, **options).tasks[0]

    assert "with snow ahead" in build().gold
    event = build(corrections="first", words=99)
    assert "with rain ahead" in event.gold
    assert "At most 99 words." in event.prompt
    with pytest.raises(UserError, match="no report of 2 goes with a forecast"):
        build(latency_hours=9, max_age_hours=10)
    with pytest.raises(UserError, match="corrections is one of latest, first, all, not 'newest'"):
        build(corrections="newest")
