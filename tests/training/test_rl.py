"""RL's rollouts: what is trained on, what is redrawn, and TRL's advantages against an oracle."""

import math
from types import SimpleNamespace

import numpy as np
import pytest

pytest.importorskip("trl", reason="needs the extra train")

from tiny_training import REPORT_RL, RL, ToyEnv, make_recipe

from zephyrus.errors import UserError
from zephyrus.limits import Limits
from zephyrus.local.policy import Tokens
from zephyrus.task import TaskSet
from zephyrus.training import engine
from zephyrus.training.rl import LENGTH, Rollouts, Step, _cut, parts_of, reward_functions
from zephyrus.training.trainee import Trainee
from zephyrus.training.weights import RewardWeights


def rollouts(tiny_model, tmp_path, stage, env=None, n=10):
    recipe = make_recipe(tiny_model, stage)
    trainee = Trainee.load(recipe.model)
    env = env or ToyEnv(split="train", limits=Limits(turns=2))
    tasks = TaskSet(list(env.tasks())[:n], "toy")
    return Rollouts(trainee, env, tasks, recipe.stages[0], tmp_path / "rollouts", concurrency=4)


def prompts(ids, group=3):
    return [[{"role": "user", "content": name}] for name in ids for _ in range(group)]


AT_START = SimpleNamespace(state=SimpleNamespace(global_step=0))


def test_exactly_what_the_policy_wrote_is_trained_on(tiny_model, tmp_path):
    sampled = rollouts(tiny_model, tmp_path, {**RL, "drop_uniform": False})
    found = sampled(prompts(["train-1", "train-2"]), AT_START)
    tokenizer = sampled.trainee.tokenizer
    every = [t for group in sampled.last.groups for t in group]
    assert [t.key.task for t in every] == ["train-1"] * 3 + ["train-2"] * 3
    turns = set()
    for row, trajectory in enumerate(every):
        ids, mask = found["completion_ids"][row], found["env_mask"][row]
        assert len(ids) == len(mask) == len(found["logprobs"][row])
        written = [token for token, kept in zip(ids, mask, strict=True) if kept]
        said = [m.content for m in trajectory.messages if m.role == "assistant"]
        assert tokenizer.decode(written).replace("<|im_end|>", "") == "".join(said)
        assert len(written) == trajectory.usage.completion_tokens
        read = tokenizer.decode([t for t, kept in zip(ids, mask, strict=True) if not kept])
        observed = [m.content for m in trajectory.messages[2:] if m.role != "assistant"]
        assert all(text in read for text in observed[: len(said) - 1])
        begin = tokenizer.decode(found["prompt_ids"][row])
        assert begin.endswith(f"Say {trajectory.key.task[-1]}.<|im_end|>\n<|im_start|>assistant\n")
        assert mask[0] == mask[-1] == 1
        turns.add(trajectory.turns)
    assert turns == {1, 2}  # conversations with an observation among them
    assert found["parts"] == [{"reward": t.rewards["reward"]} for t in every]


def test_the_same_step_is_sampled_the_same_and_another_is_not(tiny_model, tmp_path):
    sampled = rollouts(tiny_model, tmp_path, {**RL, "drop_uniform": False})
    one = sampled(prompts(["train-1", "train-2"]), AT_START)
    two = sampled(prompts(["train-1", "train-2"]), AT_START)
    later = SimpleNamespace(state=SimpleNamespace(global_step=1))
    assert one["completion_ids"] == two["completion_ids"]
    assert (
        one["completion_ids"] != sampled(prompts(["train-1", "train-2"]), later)["completion_ids"]
    )


class Uneven(ToyEnv):
    """Rewards differ for some tasks only."""

    def score(self, task, trajectory):
        found = super().score(task, trajectory)
        return found if task.id in ("train-7", "train-8") else dict.fromkeys(found, 0.25)


def test_uniform_groups_are_redrawn_with_their_own_tokens(tiny_model, tmp_path):
    stage = {**RL, "redraws": 12}
    env = Uneven(split="train", limits=Limits(turns=2))
    sampled = rollouts(tiny_model, tmp_path, stage, env)
    found = sampled(prompts(["train-1", "train-2"]), AT_START)
    groups = sampled.last.groups
    assert {group[0].key.task for group in groups} == {"train-7", "train-8"}
    assert sampled.last.redrawn >= 2
    every = [t for group in groups for t in group]
    for row, trajectory in enumerate(every):
        assert found["parts"][row]["reward"] == trajectory.rewards["reward"]
        ids, mask = found["completion_ids"][row], found["env_mask"][row]
        written = [token for token, kept in zip(ids, mask, strict=True) if kept]
        said = "".join(m.content for m in trajectory.messages if m.role == "assistant")
        assert sampled.trainee.tokenizer.decode(written).replace("<|im_end|>", "") == said


def test_without_other_tasks_a_uniform_group_stays(tiny_model, tmp_path):
    env = Uneven(split="train", limits=Limits(turns=2))
    sampled = rollouts(tiny_model, tmp_path, RL, env, n=2)
    found = sampled(prompts(["train-0", "train-1"]), AT_START)
    assert [group[0].key.task for group in sampled.last.groups] == ["train-0", "train-1"]
    assert found["parts"] == [{"reward": 0.25}] * 6
    assert sampled.last.redrawn == 0


def test_what_was_read_last_is_left_out_and_an_unwritten_conversation_is_a_stand_in():
    tokens = Tokens([5, 6], [False, False], [0.0, 0.0])
    assert _cut(tokens, 9) == ([5], [9], [0], [0.0])
    tokens = Tokens(
        [5, 6, 7, 8, 4, 3], [False, True, False, True, False, False], [0, -1, 0, -2, 0, 0]
    )
    assert _cut(tokens, 9) == ([5], [6, 7, 8], [1, 0, 1], [-1, 0, -2])


def test_an_unknown_part_is_the_users_mistake(tiny_model, tmp_path):
    sampled = rollouts(tiny_model, tmp_path, {**RL, "rewards": {"beauty": 1.0}})
    with pytest.raises(UserError, match="no part 'beauty'; they have score, rubric, f1"):
        sampled(prompts(["train-1"]), AT_START)


class Given:
    """A rollout_func whose rewards are given."""

    def __init__(self, parts, rows):
        self.parts, self.rows = parts, rows

    def __call__(self, prompts, trainer):
        many = len(prompts)
        return {
            "prompt_ids": [[1, 2]] * many,
            "completion_ids": [[3, 4, 5]] * many,
            "logprobs": [[-1.0, 0.0, -1.0]] * many,
            "env_mask": [[1, 0, 1]] * many,
            "parts": self.rows,
        }


def advantages(tiny_model, tmp_path, rows, **changes):
    """What TRL makes of two groups of three, with the recipe's settings."""
    parts = dict.fromkeys(rows[0])
    report = "rubric" in parts
    stage = {**(REPORT_RL if report else RL), "kl": 0.0, **changes}
    recipe = make_recipe(tiny_model, stage)
    stage = recipe.stages[0]
    trainee = Trainee.load(recipe.model)
    arguments = engine.arguments(recipe, stage, tmp_path / "out")
    order = list(ToyEnv(split="train").tasks())[:2]
    given = Given(parts_of(stage), rows)
    trainer = engine.grpo_trainer(trainee, given, order, arguments, [])
    inputs = [{"prompt": prompt} for prompt in prompts(["train-0", "train-1"])]
    made = trainer._generate_and_score_completions(inputs)
    assert made["tool_mask"].tolist() == [[1, 0, 1]] * 6
    return made["advantages"].numpy(), trainer


VALUES = [0.0, 0.5, 1.0, 0.2, 0.2, 0.8]


@pytest.mark.parametrize("normalise", ["group", "batch", "none"])
def test_advantages_compare_the_rollouts_of_a_task(tiny_model, tmp_path, normalise):
    rows = [{"reward": value} for value in VALUES]
    found, _ = advantages(tiny_model, tmp_path, rows, normalise=normalise)
    values = np.array(VALUES).reshape(2, 3)
    spread = {
        "group": values.std(axis=1, ddof=1, keepdims=True) + 1e-4,
        "batch": values.std(ddof=1) + 1e-4,
        "none": 1.0,
    }[normalise]
    expected = (values - values.mean(axis=1, keepdims=True)) / spread
    assert found == pytest.approx(expected.ravel(), abs=1e-6)


def test_each_reward_is_normalised_by_itself_and_then_weighed(tiny_model, tmp_path):
    rubric, f1 = np.array(VALUES), np.array([10.0, 30.0, 20.0, 0.0, 5.0, 1.0])
    penalty = np.array([0.0, 0.0, 1.0, 0.0, 0.3, 0.0])
    rows = [{"rubric": r, "f1": f, LENGTH: p} for r, f, p in zip(rubric, f1, penalty, strict=True)]
    found, trainer = advantages(tiny_model, tmp_path, rows)

    def scaled(values):
        groups = values.reshape(2, 3)
        spread = groups.std(axis=1, ddof=1, keepdims=True) + 1e-4
        return ((groups - groups.mean(axis=1, keepdims=True)) / spread).ravel()

    total = 0.5 * scaled(rubric) + 0.5 * scaled(f1) - 0.5 * scaled(penalty)
    expected = (total - total.mean()) / (total.std(ddof=1) + 1e-4)
    assert found == pytest.approx(expected, abs=1e-5)
    logged = trainer._metrics["train"]
    assert logged["rewards/f1/mean"] == [pytest.approx(11.0)]
    assert logged[f"rewards/{LENGTH}/mean"] == [pytest.approx(1.3 / 6)]


def test_a_rollout_without_a_score_is_not_a_zero(tiny_model, tmp_path):
    rows = [{"reward": value} for value in VALUES]
    rows[0] = {"reward": float("nan")}
    found, _ = advantages(tiny_model, tmp_path, rows, normalise="none")
    assert found == pytest.approx([0.0, -0.25, 0.25, -0.2, -0.2, 0.4], abs=1e-6)


def test_steps_tell_scored_rewards_only():
    def rollout(value):
        return SimpleNamespace(rewards=None if value is None else {"a": value})

    step = Step(3, [[rollout(1.0), rollout(None)], [rollout(None)]])
    assert step.rewards(["a"]) == {"a": [[1.0], []]}


def test_parts_and_their_functions(tiny_model):
    stage = make_recipe(tiny_model, REPORT_RL).stages[0]
    assert parts_of(stage) == {"rubric": 0.5, "f1": 0.5, LENGTH: -0.5}
    first, _, last = reward_functions(parts_of(stage))
    rows = [{"rubric": 0.25, "f1": 0.5, LENGTH: 0.125}, {"rubric": math.nan, "f1": 1, LENGTH: 0}]
    assert (first.__name__, first(parts=rows, prompts=[])) == ("rubric", [0.25, None])
    assert (last.__name__, last(parts=rows)) == (LENGTH, [0.125, 0])
    assert RewardWeights(stage.weights.rule(5)).weights == {"rubric": 0.5, "f1": 0.5}
