"""The recipes loco and loco-tiny: the paper's settings, and what is refused before it is begun."""

import pytest
from chart_items import ITEMS, demo_item

import zephyrus_curricula
from zephyrus.consistency.rewards import LOCO
from zephyrus.curriculum.needs import missing_environment, needs
from zephyrus.curriculum.preflight import BLIND, UNSEEN, check
from zephyrus.curriculum.read import read_recipe
from zephyrus_chartqa.bank_file import save_items

STAGES = {zephyrus_curricula.LOCO: ["rl"], zephyrus_curricula.LOCO_TINY: ["rsft", "rl"]}
RECIPES = pytest.mark.parametrize("path", STAGES, ids=lambda path: path.stem)


@RECIPES
def test_the_papers_settings(path):
    """Weather-R1, sections 2.3 and 3."""
    stage = read_recipe(path).stages[-1]
    assert stage.rewards == LOCO._asdict()
    assert (stage.group, stage.sampling.temperature, stage.loss) == (5, 1.0, "grpo")
    assert (stage.normalise, stage.per_reward) == ("group", False)  # Eq. 1
    held_out = stage.evaluation
    assert (held_out.metric, held_out.choose) == ("accuracy", "best")
    assert held_out.tasks.options["judge"] == "none"  # validation by accuracy alone
    assert stage.tasks.env == "chartqa"


def test_what_they_need():
    loco, tiny = (read_recipe(path) for path in STAGES)
    assert missing_environment(loco) is None
    told = {need.what: need.state for need in needs(loco)}
    assert told["the environment chartqa"] == "there"
    assert told["the judge gpt-oss-20b"] == "unknown"  # only asking it would show
    assert not any("judge none" in what for what in told)
    assert {n.what: n.state for n in needs(tiny)}["the judge rules"] == "there"
    assert loco.model.name == "Qwen/Qwen2.5-VL-7B-Instruct"
    assert loco.backend == "vllm-colocate"


def found(path, file, *changes):
    options = [
        f"stages.{stage}.{tasks}.options.bank={file}"
        for stage in STAGES[path]
        for tasks in ("tasks", "evaluation.tasks")
    ]
    return check(read_recipe(path, [*options, *changes]))


def test_pictures_need_a_model_that_sees_and_words_do_not(tmp_path):
    items = [demo_item("train"), demo_item("validation")]
    file = tmp_path / "bank.jsonl"
    save_items(
        file, [type(item)(**{**_fields(item), "id": str(i)}) for i, item in enumerate(items)]
    )
    path = zephyrus_curricula.LOCO
    task = [f"stages.rl.{tasks}.options.task=max_temp" for tasks in ("tasks", "evaluation.tasks")]
    tasks = [f for f in found(path, file, *task) if "tasks of chartqa" in f.what]
    assert [f.ok for f in tasks] == [True] * 2, tasks
    blind = [f for f in found(path, file, *task, "model.name=Qwen/Qwen3.5-4B") if f.ok is False]
    assert [f.note for f in blind] == [BLIND] * 2
    doubt = found(path, file, *task, "model.name=somebody/a-model")
    assert all(f.note.endswith(UNSEEN) for f in doubt if "tasks of chartqa" in f.what)
    words = [f"stages.rl.{tasks}.options.view=text" for tasks in ("tasks", "evaluation.tasks")]
    read = found(path, file, *task, *words)
    assert all(f.ok for f in read if "tasks of chartqa" in f.what), read
    assert "logic" in read[0].note


def test_the_tiny_recipe_finds_its_rewards(tmp_path):
    file = tmp_path / "bank.jsonl"
    save_items(file, ITEMS)
    few = [
        f"stages.{stage}.{tasks}.n={n}"
        for stage in ("rsft", "rl")
        for tasks, n in (("tasks", 8), ("evaluation.tasks", 4))
    ]
    assert [f for f in found(zephyrus_curricula.LOCO_TINY, file, *few) if f.ok is False] == []


def _fields(item):
    return {name: getattr(item, name) for name in type(item).__slots__}
