"""The cross-task protocol: the paper's own averages, falls counted by hand, gaps, files, commands."""

import csv
import io
import json
from statistics import fmean

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.consistency.crosstask import Scores, cross_task, named_runs, notes, read_scores
from zephyrus.errors import UserError
from zephyrus.limits import StopReason
from zephyrus.messages import Message
from zephyrus.run import Run
from zephyrus.trajectory import Key, Trajectory
from zephyrus.view.plots.crosstask import heat_map

TASKS = (
    "500hpa_situation",
    "850hpa_situation",
    "land_situation",
    "rain",
    "phenomena",
    "min_temp",
    "max_temp",
)
PAPER = {  # Weather-R1, Table 2: its tasks, and its column Overall
    "LLaVA-v1.6-7B": ((34.5, 26.5, 23.0, 37.0, 27.5, 25.0, 20.0), 27.6),
    "LLaVA-v1.6-13B": ((35.5, 35.0, 28.0, 22.0, 60.0, 23.5, 25.0), 32.7),
    "Qwen2.5-VL-3B": ((38.0, 45.5, 36.0, 23.5, 52.5, 60.0, 44.0), 42.8),
    "Qwen2.5-VL-7B": ((35.5, 39.5, 30.5, 35.0, 57.0, 56.5, 47.5), 43.1),
    "SFT-7B": ((43.8, 42.9, 49.9, 40.6, 62.0, 58.4, 50.8), 49.8),
    "RFT-7B": ((43.1, 48.4, 47.9, 41.5, 64.6, 62.9, 51.4), 51.4),
    "Weather-R1-7B": ((44.8, 47.5, 46.6, 41.9, 64.4, 67.7, 57.4), 52.9),
}


def scores(accuracies, questions=1000):
    """Scores of 0 and 1 that have these accuracies, a question as often right as they say."""
    return Scores(
        {
            task: {f"{task}-{i}": float(i < round(share * questions)) for i in range(questions)}
            for task, share in accuracies.items()
        }
    )


@pytest.mark.parametrize("model", PAPER)
def test_the_overall_of_table_2(model):
    accuracies, overall = PAPER[model]
    shares = {task: value / 100 for task, value in zip(TASKS, accuracies, strict=True)}
    base = {task: value / 100 for task, value in zip(TASKS, PAPER["Qwen2.5-VL-7B"][0], strict=True)}
    # Models that all score alike on a task have these means, whatever they were trained on.
    found = cross_task(scores(base), {task: scores(shares) for task in TASKS})
    assert 100 * found.overall == pytest.approx(overall, abs=0.05001)
    assert 100 * found.base_overall == pytest.approx(43.1, abs=0.05)
    assert found.averages() == pytest.approx(shares)
    falls = [task for task in TASKS if shares[task] < base[task]]
    assert len(found.fallen) == 7 * len(falls)
    assert not found.gaps


def test_a_matrix_by_hand():
    base = scores({"rain": 0.5, "wind": 0.4}, 10)
    found = cross_task(
        base,
        {
            "rain": scores({"rain": 0.8, "wind": 0.3}, 10),
            "wind": scores({"rain": 0.5, "wind": 0.6}, 10),
        },
    )
    cells = {
        place: (cell.points, cell.percent, cell.questions) for place, cell in found.cells.items()
    }
    assert cells["rain", "rain"] == (pytest.approx(30), pytest.approx(60), 10)
    assert cells["rain", "wind"] == (pytest.approx(-10), pytest.approx(-25), 10)
    assert cells["wind", "rain"] == (pytest.approx(0), pytest.approx(0), 10)
    assert cells["wind", "wind"] == (pytest.approx(20), pytest.approx(50), 10)
    assert found.fallen == (("rain", "wind"),)
    assert found.averages() == {"rain": pytest.approx(0.65), "wind": pytest.approx(0.45)}
    assert found.overall == pytest.approx(0.55)
    assert found.mean_change(in_task=True) == pytest.approx(25)
    assert found.mean_change(in_task=False) == pytest.approx(-5)
    assert notes(found) == []
    rows = list(csv.DictReader(io.StringIO(found.to_csv())))
    assert [(r["trained_on"], r["tested_on"]) for r in rows] == [
        ("rain", "rain"),
        ("rain", "wind"),
        ("wind", "rain"),
        ("wind", "wind"),
    ]
    assert float(rows[1]["percent"]) == pytest.approx(-25)


def test_a_base_of_zero_has_no_percentage():
    found = cross_task(scores({"rain": 0.0}, 10), {"rain": scores({"rain": 0.5}, 10)})
    (cell,) = found.cells.values()
    assert cell.percent is None
    assert cell.points == pytest.approx(50)
    assert not cell.fell


def test_gaps_are_gaps_and_are_said():
    base = scores({"rain": 0.5, "wind": 0.4, "cloud": 0.2}, 10)
    found = cross_task(base, {"rain": scores({"rain": 0.8, "wind": 0.3}, 10)})
    assert found.tested == ("rain", "cloud", "wind")
    assert set(found.cells) == {("rain", "rain"), ("rain", "wind")}
    assert len(found.gaps) == 9 - 2
    assert found.overall is None  # a mean over some tasks would be another number
    assert notes(found) == [
        "the matrix is incomplete: no model was trained on cloud, wind",
        "the matrix is incomplete: no scores of rain on cloud (trained, tested)",
    ]
    drawing = heat_map(found)
    assert "7 cells are missing" in drawing.caption
    assert len(drawing.rows) == 2


def test_only_common_questions_are_held_against_each_other():
    base = Scores({"rain": {"a": 1.0, "b": 0.0, "c": 0.0}})
    found = cross_task(
        base, {"rain": Scores({"rain": {"b": 1.0, "c": 0.0, "d": 1.0}}, {"rain": 2})}
    )
    (cell,) = found.cells.values()
    assert (cell.questions, cell.accuracy, cell.base, cell.others, cell.unscored) == (
        2,
        0.5,
        0.0,
        2,
        2,
    )
    assert "2 questions" in notes(found)[0]
    assert "2 rollouts could not be scored" in notes(found)[1]


@given(
    st.dictionaries(
        st.sampled_from("abc"), st.lists(st.booleans(), min_size=1, max_size=8), min_size=1
    )
)
def test_against_itself_nothing_changes(answers):
    same = Scores(
        {task: {f"{task}{i}": float(x) for i, x in enumerate(row)} for task, row in answers.items()}
    )
    found = cross_task(same, dict.fromkeys(answers, same))
    assert all(cell.points == 0 for cell in found.cells.values())
    assert found.fallen == ()
    assert found.overall == pytest.approx(found.base_overall)
    assert found.overall == pytest.approx(fmean(fmean(row) for row in answers.values()))


def test_mistakes_are_told():
    base = scores({"rain": 0.5}, 10)
    for trained, why in (({}, "TASK=RUN"), ({"wind": base}, "not tested on 'wind'; it has rain")):
        with pytest.raises(UserError, match=why):
            cross_task(base, trained)
    with pytest.raises(UserError, match="no scores"):
        cross_task(Scores(), {"rain": base})
    assert named_runs(["rain=a", "wind=b", "rain=c=d"]) == {"rain": ["a", "c=d"], "wind": ["b"]}
    for wrong in ("rain", "=a", "rain="):
        with pytest.raises(UserError, match="TASK=RUN"):
            named_runs([wrong])


# From saved runs ------------------------------------------------------------------------------


def save_run(folder, accuracies, n=10, unscored=0):
    """A run whose rollouts score 1 as often as asked; an answer that can't be read scores 0."""
    config = {"env": {"name": "quiz"}, "policy": {"name": folder.name}}
    with Run.create(folder, config) as run:
        for task, share in accuracies.items():
            for i in range(n):
                right = i < round(share * n)
                run.append(
                    Trajectory(
                        Key(f"{task}-{i}", 0, 0),
                        [Message("system", ""), Message("user", "?"), Message("assistant", "!")],
                        turns=1,
                        answer="B" if right else "who knows",
                        rewards={"score": float(right), "answered": float(right), "reward": right},
                        stop=StopReason.ANSWERED,
                        task={"template": task},
                    )
                )
            for i in range(unscored):
                run.append(
                    Trajectory(
                        Key(f"{task}-{i}", 0, 1),
                        stop=StopReason.ANSWERED,
                        task={"template": task},
                        unscored="no judge",
                    )
                )
        run.write_summary()
    assert yaml
    return run


def test_what_cannot_be_read_is_in_the_denominator(tmp_path):
    found = read_scores([save_run(tmp_path / "a", {"rain": 0.3}, unscored=2)])
    assert fmean(found.tasks["rain"].values()) == pytest.approx(0.3)
    assert found.unscored == {"rain": 2}


@pytest.fixture
def zephyrus(zephyrus, monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "200")
    return zephyrus


def test_the_command(tmp_path, zephyrus):
    save_run(tmp_path / "runs/base", {"rain": 0.5, "wind": 0.4})
    save_run(tmp_path / "runs/rain", {"rain": 0.8, "wind": 0.3})
    save_run(tmp_path / "runs/wind-1", {"wind": 0.6})
    save_run(tmp_path / "runs/wind-2", {"rain": 0.5})
    command = ("env", "cross-task", "--base", "base", "rain=rain", "wind=wind-1", "wind=wind-2")
    shown = zephyrus(*command)
    assert "1 of 4 cells fell" in shown
    assert "+60.0" in shown
    told = json.loads(zephyrus(*command, "--json", "--output", "there"))
    assert told["overall"] == pytest.approx(0.55)
    assert json.loads((tmp_path / "there/cross-task.json").read_text("utf-8")) == told
    assert (tmp_path / "cross-task/cross-task.png").read_bytes().startswith(b"\x89PNG")
    page = (tmp_path / "cross-task/cross-task.html").read_text("utf-8")
    assert "Change in accuracy by training and test task" in page
    assert "+20.0" in zephyrus(*command, "--change", "points")
    assert "no run 'nowhere'" in zephyrus(
        "env", "cross-task", "--base", "nowhere", "rain=rain", code=2
    )
    zephyrus("env", "cross-task", "rain=rain", code=2)


def test_an_incomplete_matrix_is_drawn_and_said(tmp_path, zephyrus):
    save_run(tmp_path / "runs/base", {"rain": 0.5, "wind": 0.4})
    save_run(tmp_path / "runs/rain", {"rain": 0.8})
    shown = zephyrus("env", "cross-task", "--base", "base", "rain=rain")
    assert "note: the matrix is incomplete" in shown
    assert (tmp_path / "cross-task/cross-task.png").stat().st_size > 5_000
