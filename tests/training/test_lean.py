"""Rollouts that teach nothing are not computed, and the step is the same."""

import pytest

pytest.importorskip("trl", reason="needs the extra train")

import torch
from tiny_training import RL, ToyEnv, held_out, make_recipe
from trl import GRPOTrainer

from zephyrus.training import engine, lean
from zephyrus.training.trainee import Trainee

REWARDS = [0.5] * 3 + [0.0, 1.0, 1.0] + [1.0] * 3 + [0.0, 0.25, 0.0]
"""Of four groups of three: the first and the third are uniform."""
AND_NONE = REWARDS + [0.5] * 12
"""In the first of two steps, and in the second all are."""


class Given:
    """A rollout_func with rollouts of its own, of unlike lengths, partly read."""

    def __init__(self, rewards):
        self.parts = {"reward": 1.0}
        self.rewards = iter(rewards)

    def __call__(self, prompts, trainer):
        rows = range(len(prompts))
        return {
            "prompt_ids": [[7, 8, 9, 10 + row // 3] for row in rows],
            "completion_ids": [[20 + row] * (3 + row) for row in rows],
            "logprobs": [[-1.0] * (3 + row) for row in rows],
            "env_mask": [[1] * (2 + row) + [0] for row in rows],
            "parts": [{"reward": next(self.rewards)} for _ in rows],
        }


def trained(tiny_model, folder, rewards=REWARDS, **changes):
    """The weights after a step or two, and how many rows went through the layers."""
    steps = len(rewards) // 12
    stage = {**RL, "kl": 0.0, "tasks_per_step": 4, "drop_uniform": False, **changes}
    stage["optimiser"] = {"learning_rate": 1e-2, "batch": 12, "micro_batch": 3}
    stage |= {"until": {"steps": steps}, "evaluation": held_out(every=1)}
    recipe = make_recipe(tiny_model, stage)
    trainee = Trainee.load(recipe.model, seed=1)
    arguments = engine.arguments(recipe, recipe.stages[0], folder)
    tasks = list(ToyEnv(split="train").tasks())[:4] * steps
    trainer = engine.grpo_trainer(trainee, Given(rewards), tasks, arguments, [])
    rows = []
    layer = next(m for n, m in trainee.model.named_modules() if n.endswith("layers.1"))
    hook = layer.register_forward_pre_hook(lambda _, given: rows.append(given[0].shape[0]))
    trainer.train()
    hook.remove()
    return [p.detach().clone() for p in trainee.model.parameters() if p.requires_grad], rows


@pytest.fixture
def plain(monkeypatch):
    """Makes trainers TRL's own."""
    return lambda: monkeypatch.setattr(lean, "LeanTrainer", GRPOTrainer)


@pytest.mark.parametrize("rewards", [REWARDS, AND_NONE], ids=["half", "then none"])
def test_steps_are_the_same_and_rows_are_spared(tiny_model, tmp_path, plain, rewards):
    found, rows = trained(tiny_model, tmp_path / "lean", rewards)
    assert sum(rows) == 6
    plain()
    expected, every = trained(tiny_model, tmp_path / "plain", rewards)
    assert sum(every) == len(rewards)
    first = Trainee.load(make_recipe(tiny_model, RL).model, seed=1).model
    begun = [p for p in first.parameters() if p.requires_grad]
    assert any(not torch.equal(a, b) for a, b in zip(begun, expected, strict=True))
    for one, other in zip(found, expected, strict=True):
        torch.testing.assert_close(one, other, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("changes", [{"kl": 0.01}, {"loss": "grpo"}], ids=["kl", "grpo"])
def test_where_every_row_has_its_part_none_is_left_out(tiny_model, tmp_path, changes):
    _, rows = trained(tiny_model, tmp_path, **changes)
    assert sum(rows) >= 12


def test_nothing_is_lost_when_rows_come_together():
    batches = [
        {
            "advantages": torch.tensor(advantages),
            "completion_ids": torch.tensor([[row], [row + 1]]),
            "num_items_in_batch": torch.tensor(9),
            "told": "as it is",
        }
        for row, advantages in ((0, [0.0, 1.0]), (2, [-1.0, 0.0]), (4, [0.0, 0.5]))
    ]
    made = lean.together(batches)
    assert [batch["advantages"].tolist() for batch in made] == [[1.0, -1.0], [0.5, 0.0], [0.0, 0.0]]
    assert [batch["completion_ids"].tolist() for batch in made] == [
        [[1], [2]],
        [[5], [0]],
        [[3], [4]],
    ]
    assert {int(batch["num_items_in_batch"]) for batch in made} == {9}
    assert made[0]["told"] == "as it is"
