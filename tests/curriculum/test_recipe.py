"""The recipe's schema: what contradicts itself is told in one sentence, and every key is documented."""

import copy
import inspect
import re
from pathlib import Path

import pytest
import yaml
from pydantic import BaseModel

import zephyrus_curricula
from zephyrus.curriculum import recipe as recipe_module
from zephyrus.curriculum import settings
from zephyrus.curriculum.read import load, read_recipe, to_recipe, with_changes
from zephyrus.curriculum.recipe import RL, RSFT, Recipe, ReportRL
from zephyrus.errors import UserError

SHIPPED = {
    name: path for name, path in vars(zephyrus_curricula).items() if name.isupper() and path.suffix
}
BASE = """
name: base
model: {name: some/model, context: 2048, lora: {}}
stages:
  - {stage: rsft, until: {steps: 40}}
  - {stage: rl, group: 4, tasks_per_step: 3, until: {steps: 40}}
  - {stage: report_rl, until: {steps: 40}}
"""


def base():
    return copy.deepcopy(yaml.safe_load(BASE))


def changed(*changes):
    return to_recipe(with_changes(base(), changes), "base")


@pytest.mark.parametrize("name", SHIPPED)
def test_shipped_recipes_read_and_survive_being_written_out(name):
    made = read_recipe(SHIPPED[name])
    assert made.name == SHIPPED[name].stem
    assert made.description.strip()
    again = yaml.safe_load(yaml.safe_dump(made.model_dump(mode="json"), sort_keys=False))
    assert Recipe.model_validate(again) == made


def test_all_recipes_of_the_issue_are_shipped():
    names = {path.stem for path in SHIPPED.values()}
    assert names >= {"zephyrus-r1-4b", "zephyrus-r1-27b", "direct-rl-4b", "loco", "tiny"}
    assert {path.stem for path in SHIPPED["TINY"].parent.glob("*.yaml")} == names


@pytest.mark.parametrize("name", ["ZEPHYRUS_R1_4B", "ZEPHYRUS_R1_27B"])
def test_the_papers_settings(name):
    """Zephyrus-R1 (2026), Table C.1, Fig. B.1 and Fig. C.1."""
    rsft, rl, report = read_recipe(SHIPPED[name]).stages
    assert (rsft.repeats, rsft.sampling.temperature, rsft.keep.per_task) == (8, 0.8, 2)
    assert rsft.demonstrations is None
    for stage in (rl, report):
        assert (stage.sampling.temperature, stage.sampling.top_p) == (0.6, 1.0)
    for stage in (rsft, rl):
        held_out = stage.evaluation
        assert (held_out.tasks.env, held_out.tasks.split, held_out.tasks.n) == (
            "bench",
            "validation",
            125,
        )
        assert (held_out.metric, held_out.choose, held_out.subset) == ("accuracy", "best", None)
    assert set(report.weights.base) == {"rubric", "f1"}
    assert report.until.steps == 163


def test_weather_r1s_weights():
    (stage,) = read_recipe(SHIPPED["LOCO"]).stages
    assert stage.rewards == {"format": 0.1, "logic": 0.3, "accuracy": 0.6}
    assert (stage.group, stage.sampling.temperature) == (5, 1.0)


def test_direct_rl_has_the_same_report_stage_as_the_curriculum():
    (direct,) = read_recipe(SHIPPED["DIRECT_RL_4B"]).stages
    assert direct == read_recipe(SHIPPED["ZEPHYRUS_R1_4B"]).stages[-1]


@pytest.mark.parametrize("name", SHIPPED)
def test_every_line_says_whose_it_is(name):
    text = SHIPPED[name].read_text("utf-8")
    lines = text[text.index("\nmodel:") :].splitlines()
    sets_something = [line for line in lines if re.search(r"\w: +[^\s#]", line)]
    for line in sets_something:
        if re.fullmatch(r"\s*- stage: \w+", line) or line.strip().startswith("{"):
            continue  # the order of the stages; what goes on from a marked line
        assert re.search(r"#.*(ours|Table|Fig\.|Eq\.|Weather-R1)", line), line


def test_the_annotated_recipe_of_the_documentation_reads():
    page = Path(__file__).parents[2] / "docs" / "curriculum.md"
    (block,) = re.findall(r"```yaml\n(.*?)```", page.read_text("utf-8"), re.S)
    made = to_recipe({"name": "docs", **yaml.safe_load(block)}, "docs")
    assert [stage.stage for stage in made.stages] == ["rsft", "rl", "report_rl"]


def test_a_steps_batch_is_its_rollouts():
    assert changed().stages[1].optimiser.batch == 12
    assert changed("stages.rl.group=8").stages[1].optimiser.batch == 24
    assert changed("stages.rl.optimiser.batch=12").stages[1].optimiser.batch == 12


def test_a_stage_is_evaluated_on_its_own_environment_by_default():
    rsft, rl, report = changed("stages.rl.tasks={env: mine, options: {bank: b}}").stages
    assert (rsft.evaluation.tasks.env, rsft.evaluation.tasks.split) == ("bench", "validation")
    assert rl.evaluation.tasks.options == {"bank": "b"}
    assert (rl.evaluation.tasks.env, rl.evaluation.metric) == ("mine", "accuracy")
    assert (report.tasks.env, report.evaluation.tasks.env) == ("report", "report")
    assert report.evaluation.metric == "reward"


def test_stages_of_one_kind_are_numbered():
    raw = base()
    raw["stages"].append({"stage": "rl", "until": {"steps": 20}})
    assert [stage.name for stage in to_recipe(raw, "r").stages][-1] == "rl-2"


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ("stages.rl.optimiser.batch=16", "leave it out"),
        ("stages.rl.group=1", "greater than or equal to 2"),
        ("stages.rl.sampling.temperature=0", "all rollouts of a group would be the same"),
        ("stages.rsft.sampling.temperature=0", "the same rollout 8 times"),
        ("stages.rl.evaluation.every=41", "evaluation.every (41) is more than until.steps (40)"),
        ("stages.rl.until.plateau={evaluations: 3}", "until.plateau can't be seen in 40 steps"),
        ("stages.rl.optimiser.warmup=40", "optimiser.warmup (40) must be less"),
        ("stages.rl.sampling.max_tokens=2048", "leaves no room for the question"),
        ("stages.rl.evaluation.sampling.max_tokens=4096", "stages.rl.evaluation.sampling"),
        ("stages.rl.evaluation={subset: 9, tasks: {n: 8}}", "subset (9) is more than tasks.n (8)"),
        ("stages.rl.rewards={}", "at least one reward"),
        ("stages.rl.rewards={reward: 0}", "at least one reward"),
        ("stages.rl.name=rsft", "two stages are called 'rsft'"),
        ("stages.rl.name=../x", "the name of a folder"),
        ("stages.report_rl.weights.warmup=40", "the weights never shift"),
        ("stages.report_rl.weights.strategy=linear", "linear needs end"),
        ("stages.report_rl.weights.end={rubric: 1, f1: 1}", "end is for the strategy linear"),
        ("stages.report_rl.weights.least=0.6", "least is 0 to 0.5"),
        ("stages.rl.tasks.limits.turns=0", "turns must be at least 1"),
        ("stages.rl.tasks.options.compact=true", "it is a key of the recipe's model"),
        ("stages.rl.optimiser={batch: 12, micro_batch: 5}", "must be a multiple of micro_batch"),
    ],
)
def test_contradictions_are_told(change, says):
    with pytest.raises(UserError, match=re.escape(says)) as error:
        changed(change)
    assert "\n" not in str(error.value)


def test_what_only_looks_like_a_contradiction_is_allowed():
    changed("stages.rsft.sampling.temperature=0", "stages.rsft.repeats=1")
    changed("stages.rsft.sampling.temperature=0", "stages.rsft.demonstrations={}")
    changed("stages.rl.until.plateau={evaluations: 2}")
    changed("stages.report_rl.weights={strategy: fixed, warmup: 99}")
    changed("stages.report_rl.weights={strategy: linear, end: {rubric: 1, f1: 3}}")


def parts():
    for module in (settings, recipe_module):
        for _, thing in inspect.getmembers(module, inspect.isclass):
            if issubclass(thing, BaseModel) and thing.__module__ == module.__name__:
                yield thing


@pytest.mark.parametrize("part", list(parts()), ids=lambda part: part.__name__)
def test_every_key_is_documented(part):
    told = {
        name
        for cls in part.__mro__
        for name in re.findall(r"^    (\w+): ", inspect.getdoc(cls) or "", re.M)
    }
    assert set(part.model_fields) <= told, part


def test_nothing_can_be_changed_once_it_is_read():
    with pytest.raises(ValueError, match="frozen"):
        changed().seed = 3


def test_the_kinds_of_stage():
    assert [type(stage) for stage in changed().stages] == [RSFT, RL, ReportRL]
    assert load(SHIPPED["TINY"])["name"] == "tiny"


def test_only_the_scripted_policy_slips():
    changed("stages.rsft.demonstrations={slips: 0.4}")
    with pytest.raises(UserError, match=r"slips \(0.4\) needs the policy 'scripted', not 'random'"):
        changed("stages.rsft.demonstrations={slips: 0.4, policy: random}")
