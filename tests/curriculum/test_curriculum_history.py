import json
import math

import pytest
from curriculum_runs import WHERE, exam, stage, state, write_lines, write_run, write_state

from zephyrus.curriculum.history import read_histories, read_history, route_of
from zephyrus.errors import UserError


@pytest.fixture
def run(tmp_path):
    """RSFT of 4 steps, over; RL, of which 2 steps are done, with an evaluation on a subset."""
    subset = {**WHERE, "subset": 4}
    folder = write_run(tmp_path / "both", [stage("rsft", 4), stage("rl", 9, evaluation=subset)])
    rsft, rl = folder / "stages" / "rsft", folder / "stages" / "rl"
    exam(rsft / "evaluations" / "full-00000", right=3, failed=2)
    exam(rsft / "evaluations" / "step-00002", right=6)
    exam(rsft / "evaluations" / "full-00004", right=5, failed=1, calls=3)
    exam(rl / "evaluations" / "step-00001", right=1, asked=4)
    write_lines(rsft / "evaluations.jsonl", [{"step": 2, "value": 0.6, "full": True}])
    write_lines(rl / "evaluations.jsonl", [{"step": 1, "value": 0.25, "full": False}])
    write_lines(rsft / "steps.jsonl", [{"step": i, "loss": 4.0 - i} for i in (1, 2, 3, 4)])
    write_lines(
        rl / "steps.jsonl",
        [
            {"step": 1, "loss": None, "kl": 0.5, "rewards": {"reward": 0.25, "extra": None}},
            {"step": 2, "loss": 0.5, "rewards": {"reward": 0.75}, "accuracy": float("nan")},
        ],
    )
    (rsft / "kept.json").write_text(json.dumps({"kept": 7, "rollouts": 24}))
    write_state(
        folder,
        [
            state("rsft", "done", 0.3, [(4, 0.5)], 4, "4 steps are done"),
            state("rl", "train", 0.5),
        ],
    )
    return folder


def test_every_number_of_a_run_is_read(run):
    history = read_history(run)
    assert (history.name, history.model) == ("both", "Small-1B")
    rsft, rl = history.stages
    assert [(p.step, p.value, p.full) for p in rsft.points] == [
        (0, 0.3, True),
        (2, 0.6, True),
        (4, 0.5, True),
    ]
    assert rsft.start.summary["failure_rate"] == 0.2 and rsft.start.interval is not None
    assert rsft.points[1].summary["accuracy"] == 0.6, "in step-00002: there is no subset"
    assert rsft.result.step == 4 and rsft.result.summary["tools_per_turn"] == 3
    assert (rsft.chosen, rsft.reason, rsft.phase) == (4, "4 steps are done", "done")
    assert rsft.kept == {"kept": 7, "rollouts": 24}
    assert rsft.series("loss") == ([1, 2, 3, 4], [3.0, 2.0, 1.0, 0.0])
    assert [s.route for s in history.stages] == ["RSFT", "RSFT-RL"]

    assert [(p.step, p.value, p.full) for p in rl.points] == [(0, 0.5, True), (1, 0.25, False)]
    assert rl.start.summary == rsft.result.summary, "the same checkpoint, evaluated once"
    assert rl.chosen is None and rl.result is None
    assert rl.series("loss") == ([2], [0.5]), "None is no number"
    assert rl.series("accuracy") == ([], []), "neither is NaN"
    assert rl.series("rewards", "reward") == ([1, 2], [0.25, 0.75])
    assert rl.parts("rewards") == ["reward", "extra"]
    assert rl.series("rewards", "extra") == ([], [])


def test_the_start_of_a_stage_is_not_taken_from_another_checkpoint(run):
    states = json.loads((run / "state.json").read_text())["stages"]
    states[1]["before"]["value"] = 0.4  # evaluated otherwise than in the stage before
    write_state(run, states)
    assert read_history(run).stages[1].start.summary == {}


def test_a_candidate_that_waits_for_its_evaluation_is_no_point(run):
    states = json.loads((run / "state.json").read_text())["stages"]
    states[0]["after"] = [{"step": 4, "value": math.nan, "full": False}]
    states[0]["chosen"] = None
    write_state(run, states)
    assert [p.step for p in read_history(run).stages[0].points] == [0, 2]


def test_a_value_whose_folder_is_gone_stays(run):
    import shutil

    shutil.rmtree(run / "stages" / "rsft" / "evaluations")
    points = read_history(run).stages[0].points
    assert [p.value for p in points] == [0.3, 0.6, 0.5]
    assert all(p.summary == {} and p.interval is None for p in points)


def test_a_line_that_is_being_written_is_left_out_and_a_damaged_one_told(run):
    file = run / "stages" / "rl" / "steps.jsonl"
    with file.open("a") as lines:
        lines.write('{"step": 3, "lo')
    assert [line["step"] for line in read_history(run).stages[1].steps] == [1, 2]
    with file.open("a") as lines:
        lines.write("\n")
    with pytest.raises(UserError, match=r"steps\.jsonl is damaged in line 3"):
        read_history(run)


def test_what_is_no_run_is_said(tmp_path):
    with pytest.raises(UserError, match="no run of a curriculum"):
        read_history(tmp_path)
    folder = write_run(tmp_path / "r", [stage("rl")])
    (folder / "state.json").write_text("{}")
    with pytest.raises(UserError, match="is damaged"):
        read_history(folder)


def test_judges_scores_come_from_evaluation_json(tmp_path):
    folder = write_run(tmp_path / "r", [stage("report_rl")])
    where = folder / "stages" / "report_rl" / "evaluations" / "full-00000"
    said = {"a": {"f1": 0.25, "rubric": 0.5}, "b": {"f1": None, "rubric": 0.75}}
    exam(where, right=2, judges=said)
    write_state(folder, [state("report_rl", "train", 0.2)])
    assert read_history(folder).stages[0].start.judges == {
        "a": {"f1": 0.25, "rubric": 0.5},
        "b": {"rubric": 0.75},
    }


def test_runs_of_one_name_are_told_apart(tmp_path):
    folders = [write_run(tmp_path / seed / "rl", [stage("rl")]) for seed in ("s0", "s1")]
    assert [run.name for run in read_histories(folders)] == ["s0/rl", "s1/rl"]


@pytest.mark.parametrize(
    ("kinds", "route"),
    [
        (["rsft"], "RSFT"),
        (["rl"], "RL-only"),
        (["rsft", "rl"], "RSFT-RL"),
        (["rsft", "rl", "rl"], "RSFT-RL"),
        (["report_rl"], "Direct RL"),
        (["rsft", "rl", "report_rl"], "Curriculum RL"),
        (["rl", "rsft"], "RL-RSFT"),
        (["rl", "report_rl"], "RL-report RL"),
    ],
)
def test_routes_have_the_papers_names(kinds, route):
    assert route_of(kinds) == route
