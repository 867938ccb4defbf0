"""TRL's arguments: built and checked by TRL itself, also for vLLM, which needn't be installed."""

from pathlib import Path

import pytest

pytest.importorskip("trl", reason="needs the extra train")

from tiny_training import REPORT_RL, RL, RSFT, make_recipe

from zephyrus.curriculum.read import read_recipe
from zephyrus.errors import UserError
from zephyrus.training.engine import Setting, arguments, rounds


def built(stage, *, setting=None, **recipe):
    made = make_recipe(Path("model"), stage, **recipe)
    return arguments(made, made.stages[0], Path("out"), setting)


def test_a_stage_says_what_trl_does(tmp_path):
    found = built({**RL, "clip": 0.2, "clip_high": 0.28, "updates": 2, "normalise": "batch"})
    assert (found.per_device_train_batch_size, found.gradient_accumulation_steps) == (3, 2)
    assert (found.num_generations, found.num_iterations) == (3, 2)
    assert (found.epsilon, found.epsilon_high, found.beta) == (0.2, 0.28, 0.01)
    assert (found.scale_rewards, found.loss_type) == ("batch", "dapo")
    assert found.multi_objective_aggregation == "sum_then_normalize"
    assert (found.temperature, found.shuffle_dataset, found.max_steps) == (1.0, False, 5)


def test_report_rl_normalises_each_reward_and_takes_the_length_penalty_off():
    found = built(REPORT_RL)
    assert found.multi_objective_aggregation == "normalize_then_sum"
    assert found.reward_weights == [0.5, 0.5, -0.5]


def test_sft_trains_as_many_steps_as_the_recipe_says():
    found = built(RSFT, setting=Setting(seed=3, world=2))
    assert (found.per_device_train_batch_size, found.gradient_accumulation_steps) == (1, 1)
    assert (found.max_steps, found.seed, found.data_seed, found.packing) == (5, 3, 3, False)


@pytest.mark.parametrize("mode", ["colocate", "server"])
def test_vllm_arguments_are_checked_without_vllm(mode):
    found = built(RL, backend=f"vllm-{mode}", setting=Setting(vllm_url="http://gpu:8000"))
    assert (found.use_vllm, found.vllm_mode, found.vllm_max_model_length) == (True, mode, 408)
    assert not found.vllm_enable_sleep_mode
    assert found.vllm_server_base_url == ("http://gpu:8000" if mode == "server" else None)


@pytest.mark.parametrize(
    ("changes", "setting", "why"),
    [
        (
            {"optimiser": {"batch": 6, "micro_batch": 6}},
            Setting(world=2),
            r"batch \(6\) must be a multiple of micro_batch \(6\) times the 2",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence(changes, setting, why):
    with pytest.raises(UserError, match=why):
        built({**RL, **changes}, setting=setting)


def test_groups_are_not_cut_in_two_by_processes():
    stage = {**RL, "group": 2, "tasks_per_step": 3, "optimiser": {"batch": 6, "micro_batch": 1}}
    with pytest.raises(UserError, match=r"tasks_per_step \(3\) must be a multiple of the 2"):
        built(stage, setting=Setting(world=2))


def test_several_passes_need_fewer_rounds():
    recipe = make_recipe(Path("model"), {**RL, "updates": 2})
    assert rounds(recipe.stages[0]) == 3  # of 5 steps


def test_the_papers_recipe_builds():
    recipe = read_recipe("zephyrus-r1-4b")
    for stage in recipe.stages:
        arguments(recipe, stage, Path("out"))
