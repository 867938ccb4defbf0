"""What is found out before a run begins, so that nothing fails hours later."""

import pytest

import zephyrus_curricula
from zephyrus.curriculum import start as start_module
from zephyrus.curriculum.read import read_recipe
from zephyrus.curriculum.start import check_possible, new_folder, start
from zephyrus.errors import UserError

TINY = zephyrus_curricula.TINY


def test_a_later_stages_mistake_is_told_before_anything_is_made(tmp_path):
    recipe = read_recipe(TINY, ["stages.rl.rewards={scor: 1}"])
    with pytest.raises(UserError, match=r"tiny: stages\.rl\.tasks: .*no reward 'scor'"):
        start(recipe, tmp_path / "run")
    assert not (tmp_path / "run").exists()


def test_what_training_needs_is_told_at_once(monkeypatch):
    there = {"torch", "transformers", "datasets", "accelerate", "peft"}
    monkeypatch.setattr(
        start_module.importlib.util, "find_spec", lambda name: name if name in there else None
    )
    with pytest.raises(UserError, match=r"training needs trl: install the extra, pip install"):
        check_possible(read_recipe(TINY))
    there.add("trl")
    check_possible(read_recipe(TINY))
    with pytest.raises(UserError, match="the backend vllm-colocate needs vllm"):
        check_possible(read_recipe(TINY, ["backend=vllm-colocate"]))


def test_a_new_folder_is_new(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    first = new_folder("tiny")
    assert first.parent.name == "runs"
    assert first.name.startswith("curriculum-tiny-")
    first.mkdir(parents=True)
    assert not new_folder("tiny").exists()
