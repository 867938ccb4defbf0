"""Reading recipes: names, files, changes, and what is said when something is wrong."""

import re
from pathlib import Path

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

import zephyrus_curricula
from zephyrus import registry
from zephyrus.curriculum.read import load, read_recipe, recipe_path, to_recipe, with_changes
from zephyrus.errors import UserError

R1 = zephyrus_curricula.ZEPHYRUS_R1_4B
TINY = zephyrus_curricula.TINY


def changed(*changes):
    return to_recipe(with_changes(load(R1), changes), "r1")


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("sed=1", "unknown key 'sed'; did you mean 'seed'?"),
        ("model.lora.rnk=1", "unknown key 'model.lora.rnk'; did you mean 'rank'?"),
        ("model.q.rank=1", "unknown key 'model.q'; known: name, dtype"),
        (
            "stages.rl.optimiser.learnin_rate=1",
            "unknown key 'stages.rl.optimiser.learnin_rate'; did you mean 'learning_rate'?",
        ),
        ("stages.rsft.keep.pertask=1", "'stages.rsft.keep.pertask'; did you mean 'per_task'?"),
        (
            "stages.report_rl.weights.stategy=saw",
            "'stages.report_rl.weights.stategy'; did you mean 'strategy'?",
        ),
        ("stages.rl.repeats=8", "unknown key 'stages.rl.repeats'; "),
        (
            "stages.rl.evaluation.tasks.limits.turn=2",
            "stages.rl.evaluation.tasks.limits: there is no limit 'turn'; did you mean 'turns'?",
        ),
        ("stages.rll.seed=1", "there is no stage 'rll'; did you mean 'rl'?"),
        ("stages.rl=1", "name a key of the stage 'rl' as well"),
        ("backend=vllm-colocated", "(got 'vllm-colocated'); did you mean 'vllm-colocate'?"),
        ("stages.rl.optimiser.schedule=cosin", "did you mean 'cosine'?"),
        ("stages.report_rl.weights.strategy=dvoa", "did you mean 'dvao'?"),
        ("stages.rl.stage=rk", "stage is one of rsft, rl, report_rl, not 'rk'"),
        ("stages.rl.until.steps=many", "stages.rl.until.steps: input should be a valid integer"),
        ("stages.rl.until.steps=0", "stages.rl.until.steps: input should be greater than"),
        ("model.lora.targets=[1]", "model.lora.targets.0: input should be a valid string"),
        ("model.lora=4", "model.lora: it must have keys of its own"),
        ("model.name.x=4", "model.name has no keys of its own"),
        ("stages=7", "stages: it must be a list"),
        ("stages=[7]", "it must have keys of its own"),
        ("stages=[]", "stages: tuple should have at least 1 item"),
        ("seed", "write KEY=VALUE"),
        ("=1", "write KEY=VALUE"),
        ("a..b=1", "write KEY=VALUE"),
        ("seed={", "is not a YAML value"),
    ],
)
def test_what_is_wrong_is_told_in_a_sentence_with_the_nearest_right_name(change, says):
    with pytest.raises(UserError, match=re.escape(says)) as error:
        changed(change)
    assert "\n" not in str(error.value)
    assert "pydantic" not in str(error.value)


def test_changes_reach_into_stages_and_make_missing_parts():
    made = changed(
        "stages.rl.optimiser.learning_rate=1e-7",
        "stages.rsft.demonstrations.share=0.5",
        "stages.rl.tasks.options={turn_cost: 1e-3}",
        "model.lora=null",
        "seed=3",
    )
    assert made.stages[1].optimiser.learning_rate == 1e-7
    assert made.stages[0].demonstrations.share == 0.5
    assert made.stages[1].tasks.options == {"turn_cost": 0.001}
    assert (made.model.lora, made.seed) == (None, 3)


def test_changes_leave_what_they_were_made_over_alone():
    raw = load(R1)
    with_changes(raw, ["stages.rl.group=4", "model.lora.rank=2"])
    assert raw == load(R1)


@given(st.floats(1e-12, 1e3, allow_nan=False, exclude_min=True))
def test_any_way_python_writes_a_number_is_read_back(rate):
    made = with_changes({"x": 0}, [f"x={rate!r}"])
    assert made["x"] == pytest.approx(rate, rel=0, abs=0)


def test_stages_for_an_ablation_keep_their_names_and_order():
    assert [s.name for s in read_recipe(R1, stages=["rl", "rsft"]).stages] == ["rsft", "rl"]
    with pytest.raises(UserError, match="there is no stage 'rlx'; did you mean 'rl'"):
        read_recipe(R1, stages=["rlx"])


def test_a_change_of_a_stage_that_is_left_out_is_no_error():
    made = read_recipe(R1, ["stages.rsft.repeats=4"], ["rl"])
    assert [stage.name for stage in made.stages] == ["rl"]


def test_a_recipe_is_found_by_name_file_and_run(tmp_path, monkeypatch):
    monkeypatch.setitem(registry._registered["curricula"], "mine", TINY)
    monkeypatch.chdir(tmp_path)
    assert recipe_path("mine") == TINY
    Path("mine.yaml").write_text(TINY.read_text("utf-8"), "utf-8")
    assert read_recipe("mine.yaml").name == "mine"
    run = Path("run")
    run.mkdir()
    (run / "recipe.yaml").write_text(
        yaml.safe_dump(read_recipe(TINY).model_dump(mode="json")), "utf-8"
    )
    assert read_recipe("run") == read_recipe(TINY)


def test_a_recipe_that_is_not_there(tmp_path, monkeypatch):
    monkeypatch.setitem(registry._registered["curricula"], "my-own", TINY)
    monkeypatch.chdir(tmp_path)
    with pytest.raises(UserError, match="there is no recipe 'my-wn'; did you mean 'my-own'"):
        recipe_path("my-wn")
    with pytest.raises(UserError, match=r"there is no recipe at none\.yaml"):
        recipe_path("none.yaml")


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("- 1", "is no recipe: it must have the keys model and stages"),
        ("a: [", "is not valid YAML"),
        ("seed: 1\nseed: 2", "the key 'seed' comes twice"),
        ("model: {name: m}", "the key 'stages' is missing"),
        ("stages: [{stage: rl, until: {steps: 20}}]", "the key 'model' is missing"),
        ("model: {name: m}\nstages: [{stage: rl}]", "the key 'stages.rl.until' is missing"),
        ("model: {name: m}\nstages: [{until: {steps: 1}}]", "stage is one of rsft, rl, report_rl"),
    ],
)
def test_files_that_are_no_recipes(text, says, tmp_path):
    path = tmp_path / "r.yaml"
    path.write_text(text, "utf-8")
    with pytest.raises(UserError, match=re.escape(says)):
        read_recipe(path)


def test_a_file_that_is_no_text(tmp_path):
    path = tmp_path / "r.yaml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(UserError, match="can't be read"):
        read_recipe(path)
