"""What `show` counts, against counting by hand; and what it says is missing."""

import io
import re

import pytest
from rich.console import Console

import zephyrus_curricula
from zephyrus.curriculum import needs as needs_module
from zephyrus.curriculum.needs import missing_environment, needs
from zephyrus.curriculum.plan import make_plan
from zephyrus.curriculum.preflight import check
from zephyrus.curriculum.read import read_recipe
from zephyrus.curriculum.show import render, render_findings

R1 = zephyrus_curricula.ZEPHYRUS_R1_4B
TINY = zephyrus_curricula.TINY
LOCO = zephyrus_curricula.LOCO


def text(renderable):
    written = io.StringIO()
    Console(width=400, file=written).print(renderable)
    return written.getvalue()


def state(recipe, what):
    return next(need for need in needs(recipe) if what in need.what)


def test_rollouts_are_counted():
    rsft, rl, report = make_plan(read_recipe(R1)).stages
    assert (rsft.tasks, rsft.rollouts, rsft.demonstrations) == (1000, 8000, 0)
    assert rsft.tokens == 8000 * 16384
    assert (rl.rollouts, rl.redrawn, rl.batch) == (60 * 16 * 8, 2 * 60 * 16 * 8, 128)
    assert (report.tasks, report.held_out) == (None, None)  # all there are
    assert report.rollouts == 163 * 128
    # every 4 of 60 steps, the last of which is the end
    assert (rl.evaluations, rl.asked, rl.held_out) == (14, 125, 125)


@pytest.mark.parametrize(
    ("changes", "shown", "sampled"),
    [
        (["stages.rsft.tasks.n=100"], 0, 800),
        (["stages.rsft.tasks.n=100", "stages.rsft.demonstrations={share: 0.25}"], 25, 600),
        (["stages.rsft.tasks.n=100", "stages.rsft.demonstrations={}"], 100, 0),
        (["stages.rsft.tasks.n=null"], 0, None),
        (["stages.rsft.tasks.n=null", "stages.rsft.demonstrations={}"], None, 0),
        (["stages.rsft.tasks.n=null", "stages.rsft.demonstrations={share: 0.5}"], None, None),
    ],
)
def test_demonstrations_take_the_place_of_rollouts(changes, shown, sampled):
    stage = make_plan(read_recipe(R1, changes)).stages[0]
    assert (stage.demonstrations, stage.rollouts) == (shown, sampled)


def test_the_rule_is_told_in_words():
    changes = ["stages.rl.until.accuracy=0.6"]
    assert make_plan(read_recipe(R1, changes)).stages[1].moves_on == (
        "after 60 steps, or when accuracy has not risen by 0.005 in 5 evaluations, or when "
        "accuracy reaches 0.6; whichever comes first"
    )
    assert make_plan(read_recipe(R1)).stages[0].moves_on == "after 600 steps"


def test_rewards_are_told_with_their_weights():
    changes = ["stages.report_rl.weights.base={rubric: 3, f1: 1}"]
    _, rl, report = make_plan(read_recipe(R1, changes)).stages
    assert report.rewards == "0.75 rubric + 0.25 f1 − 1 length_penalty, weights shifting by dvao"
    assert rl.rewards == "the environment's own"
    assert make_plan(read_recipe(LOCO)).stages[0].rewards == "0.1 format + 0.3 logic + 0.6 accuracy"


def test_an_environment_that_is_not_there_is_said_plainly():
    recipe = read_recipe(LOCO, ["stages.rl.tasks.env=nowhere"])
    assert missing_environment(recipe) == "nowhere"
    need = state(recipe, "the environment nowhere")
    assert need.state == "missing"
    shown = text(render(make_plan(recipe)))
    assert re.search(r"✗ the environment nowhere: not in this version or not installed", shown)
    assert missing_environment(read_recipe(R1)) is None


def test_judges_and_where_they_are(monkeypatch):
    def judge(*changes):
        return state(
            read_recipe(R1, [f"stages.report_rl.tasks.options={c}" for c in changes]), "the judge"
        )

    local = judge("{judge: gpt-oss-20b}")
    assert (local.state, "of this machine" in local.note) == ("unknown", True)
    far = judge("{judge: gpt-oss-20b, judge_url: 'https://judges.example/v1'}")
    assert "of another machine, https://judges.example/v1" in far.note
    assert judge("{judge: rules}").state == "there"
    assert judge("{judge: nobody}").state == "missing"
    assert "127.0.0.1:9" in judge("{judge: 'openai:m@http://127.0.0.1:9/v1'}").note
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    hosted = judge("{judge: gpt-5-mini}")
    assert (hosted.state, "$OPENAI_API_KEY is not set" in hosted.note) == ("missing", True)
    monkeypatch.setenv("OPENAI_API_KEY", "x")
    assert judge("{judge: gpt-5-mini}").state == "unknown"


def test_a_gpu_is_needed_by_vllm_alone(monkeypatch, tmp_path):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert not any("GPU" in need.what for need in needs(read_recipe(TINY)))
    gpu = state(read_recipe(R1), "a GPU")
    if gpu.state == "missing":  # unless these tests run where there is one
        assert "runs on a CPU" in gpu.note
    server = state(read_recipe(R1), "vLLM server")
    assert server.note.endswith("trl vllm-serve --model Qwen/Qwen3.5-4B")
    colocated = needs(read_recipe(R1, ["backend=vllm-colocate"]))
    assert not any("server" in need.what for need in colocated)


def test_missing_packages_and_how_to_get_them(monkeypatch):
    monkeypatch.setattr(
        needs_module.importlib.util, "find_spec", lambda name: None if name == "trl" else name
    )
    need = state(read_recipe(TINY), "extra train")
    assert (need.state, need.note) == ("missing", f"{needs_module.TRAIN} (trl)")


def test_models_and_where_they_come_from(tmp_path):
    assert "93 MB" in state(read_recipe(TINY), "the model").note
    assert "model hub" in state(read_recipe(R1), "the model").note
    (tmp_path / "config.json").write_text("{}")
    assert state(read_recipe(R1, [f"model.name={tmp_path}"]), "the model").state == "there"
    gone = read_recipe(R1, [f"model.name={tmp_path / 'gone'}"])
    assert state(gone, "the model").state == "missing"


def test_an_unknown_model_is_said_to_be_unknown():
    plan = make_plan(read_recipe(R1, ["model.name=some/model"]))
    assert (plan.parameters, plan.stages[0].memory, plan.stages[0].shards) == (None, None, None)
    shown = text(render(plan))
    assert "its size is not known here" in shown
    assert "Memory: not estimated" in shown


@pytest.mark.parametrize(
    ("changes", "stages"),
    [
        (["model.dtype=bfloat16"], ["rl"]),
        (["model.dtype=auto"], ["rl"]),
        ([], []),
        (["model.dtype=bfloat16", "model.lora={}"], []),
        (["model.dtype=bfloat16", "stages.rl.optimiser.learning_rate=1e-5"], []),
    ],
)
def test_weights_that_would_lose_their_steps_are_warned_of(changes, stages):
    plan = make_plan(read_recipe(LOCO, changes))
    assert [warning.split()[0] for warning in plan.warnings] == stages
    assert text(render(plan)).count("Beware: rl trains all weights in") == len(stages)


def test_the_plan_in_json_has_the_whole_recipe():
    plan = make_plan(read_recipe(TINY))
    assert plan.to_dict()["recipe"] == plan.recipe.model_dump(mode="json")


def test_checking_finds_the_environments_their_tasks_and_rewards():
    found = check(read_recipe(R1))
    assert not [finding for finding in found if finding.ok is False]
    tasks = [finding for finding in found if "tasks of" in finding.what]
    assert tasks[0].note.startswith("1,000; rewards score, ")
    assert len(tasks) == 6
    assert "✓ stages.rsft.tasks" in text(render_findings(found))


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("stages.rl.rewards={scores: 1}", "no reward 'scores'; there are score, required_tool"),
        ("stages.rl.tasks.n=1001", "there are 1,000, not 1,001"),
        ("stages.rl.tasks.options={turn_cots: 1}", "has no option 'turn_cots'"),
        ("stages.rl.tasks.env=nowhere", "there is no environment 'nowhere'"),
        ("stages.rl.evaluation.metric=rubric", "no reward 'rubric'"),
        ("stages.report_rl.weights.base={rubric: 1, f2: 1}", "no reward 'f2'"),
        ("stages.report_rl.evaluation.metric=accuracy", "no reward 'accuracy'"),
        ("stages.report_rl.tasks.options={judge: nobody}", "there is no judge 'nobody'"),
    ],
)
def test_checking_tells_what_would_fail_later(change, says):
    wrong = [finding for finding in check(read_recipe(R1, [change])) if finding.ok is False]
    assert says in wrong[0].note


@pytest.mark.parametrize("name", ["ZEPHYRUS_R1_4B", "ZEPHYRUS_R1_27B", "DIRECT_RL_4B", "TINY"])
def test_trls_arguments_are_built_and_accepted(name):
    pytest.importorskip("trl", reason="needs the extra train")
    found = check(read_recipe(getattr(zephyrus_curricula, name)))
    built = [finding for finding in found if "TRL's arguments" in finding.what]
    assert built
    assert all(finding.ok for finding in found)
