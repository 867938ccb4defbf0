"""When a stage is evaluated, saved and over, and what stays on the disk."""

import json
from types import SimpleNamespace

import pytest

pytest.importorskip("transformers", reason="needs the extra train")

from zephyrus.curriculum.recipe import Evaluation, Until
from zephyrus.curriculum.rules import Measured
from zephyrus.training.candidates import Candidates, path_of
from zephyrus.training.checkpoints import complete
from zephyrus.training.ranks import Ranks
from zephyrus.training.watch import OverError, Watch, read_measured


class Trainee:
    def save(self, folder):
        folder.mkdir(parents=True)
        (folder / "weights").write_text("w")


TRAINER = SimpleNamespace(
    args=SimpleNamespace(report_to=[]),
    accelerator=SimpleNamespace(
        state=SimpleNamespace(distributed_type=SimpleNamespace(value="NO"))
    ),
)


def watching(tmp_path, values, *, steps=10, every=2, keep=0, before=None, **options):
    candidates = Candidates(tmp_path / "candidates", Trainee(), keep, Ranks())
    until = Until(steps=steps, **options.pop("until", {}))
    subset = options.pop("subset", None)
    evaluation = Evaluation(every=every, subset=subset)
    asked = []

    def evaluate(step):
        asked.append(step)
        return Measured(step, values[step], full=subset is None)

    watch = Watch(tmp_path, until, evaluation, evaluate, candidates, before=before, **options)
    watch.trainer = TRAINER
    return watch, asked


def step_through(watch, tmp_path, first, last):
    """What TRL does of a step; returns the steps that were saved."""
    saved = []
    args = SimpleNamespace(output_dir=str(tmp_path / "checkpoints"), report_to=[])
    for step in range(first, last + 1):
        state, control = SimpleNamespace(global_step=step), SimpleNamespace(should_save=False)
        control.should_training_stop = False
        watch.on_step_begin(args, state, control)
        watch.on_step_end(args, state, control)
        watch.on_log(args, state, control, {"loss": step / 10})
        if control.should_save:
            (tmp_path / f"checkpoints/checkpoint-{step}").mkdir(parents=True)
            watch.on_save(args, state, control)
            saved.append(step)
        if control.should_training_stop:
            break
    return saved


def steps_logged(tmp_path):
    return [json.loads(line)["step"] for line in (tmp_path / "steps.jsonl").open()]


def test_evaluations_come_with_a_checkpoint_and_a_candidate(tmp_path):
    watch, asked = watching(tmp_path, {2: 0.1, 4: 0.3, 6: 0.2}, steps=7, save_every=3, keep=0)
    assert step_through(watch, tmp_path, 1, 9) == [2, 3, 4, 6, 7]
    assert asked == [2, 4, 6]  # the end of a stage is evaluated by the scheduler
    assert watch.reason == "7 steps are done"
    assert sorted(p.name for p in (tmp_path / "candidates").iterdir()) == [
        "step-00004",
        "step-00006",
        "step-00007",
    ]
    assert watch.candidates.steps(watch.measured, 7) == [4, 7]
    assert read_measured(tmp_path) == [
        Measured(2, 0.1, True),
        Measured(4, 0.3, True),
        Measured(6, 0.2, True),
    ]


def test_of_several_passes_over_rollouts_only_the_last_is_saved(tmp_path):
    watch, asked = watching(tmp_path, {4: 0.1, 6: 0.2}, steps=7, every=3, updates=2)
    assert step_through(watch, tmp_path, 1, 9) == [2, 4, 6, 7]
    assert asked == [4, 6]  # every 3 steps, when training can go on from there


@pytest.mark.parametrize(("keep", "stay"), [(0, [4, 8]), (1, [4, 6, 8]), (9, [2, 4, 6, 8])])
def test_the_best_the_last_and_some_more_stay(tmp_path, keep, stay):
    measured = [Measured(2, 0.1), Measured(4, 0.5), Measured(6, 0.4), Measured(8, 0.2)]
    candidates = Candidates(tmp_path, Trainee(), keep, Ranks())
    for m in measured:
        candidates.save(m.step, TRAINER)
    candidates.prune(measured, 8)
    assert [step for step in (2, 4, 6, 8) if path_of(tmp_path, step).is_dir()] == stay


def test_lines_after_the_checkpoint_are_dropped_and_an_evaluation_is_made_up_for(tmp_path):
    watch, _ = watching(tmp_path, {2: 0.1, 4: 0.2})
    step_through(watch, tmp_path, 1, 5)
    whole = tmp_path / "checkpoints/checkpoint-4"
    rows = (tmp_path / "evaluations.jsonl").read_text().splitlines(keepends=True)
    (tmp_path / "evaluations.jsonl").write_text(
        rows[0] + rows[1][:9]
    )  # killed while it was written

    again, asked = watching(tmp_path, {4: 0.2, 6: 0.3})
    assert again.go_on_from(whole) == 4
    assert steps_logged(tmp_path) == [1, 2, 3, 4]
    assert [m.step for m in again.measured] == [2]
    again.on_train_begin(None, SimpleNamespace(global_step=4), None)
    assert asked == [4]
    assert step_through(again, tmp_path / "b", 5, 5) == [5]
    assert [m.step for m in read_measured(tmp_path)] == [2, 4]


def test_an_evaluation_that_is_made_up_for_may_end_the_stage(tmp_path):
    watch, _ = watching(tmp_path, {2: 0.9}, until={"accuracy": 0.8})
    (tmp_path / "checkpoints/checkpoint-2").mkdir(parents=True)
    complete(tmp_path / "checkpoints/checkpoint-2", {"weights": None})
    watch.go_on_from(tmp_path / "checkpoints/checkpoint-2")
    assert watch.reason == ""
    with pytest.raises(OverError):
        watch.on_train_begin(None, SimpleNamespace(global_step=2), None)
    assert "reached 0.8" in watch.reason


def test_where_the_stage_began_counts_for_a_plateau_unless_it_is_another_measure(tmp_path):
    rule = {"plateau": {"evaluations": 2, "rise": 0.01}}
    before = Measured(0, 0.6, full=True)
    watch, asked = watching(tmp_path / "a", {2: 0.5, 4: 0.55}, before=before, until=rule)
    step_through(watch, tmp_path / "a", 1, 9)
    assert asked == [2, 4]
    values = {2: 0.5, 4: 0.55, 6: 0.54, 8: 0.5}
    watch, asked = watching(tmp_path / "b", values, before=before, until=rule, subset=3)
    step_through(watch, tmp_path / "b", 1, 9)
    assert asked == [2, 4, 6, 8]


def test_where_nothing_can_be_evaluated_the_end_of_the_stage_has_all_candidates(tmp_path):
    watch, asked = watching(tmp_path, {}, steps=5)
    watch.evaluate = None
    assert step_through(watch, tmp_path, 1, 9) == [1, 2, 3, 4, 5]
    assert asked == []
    assert watch.candidates.steps(watch.measured, 5) == [2, 4, 5]
    watch.on_train_begin(None, SimpleNamespace(global_step=4), None)
    assert watch.measured == []
