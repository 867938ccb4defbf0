"""What is spared changes nothing: losses and gradients are those of the plain way."""

import contextlib

import pytest

pytest.importorskip("trl", reason="needs the extra train")

import torch
from tiny_training import RSFT, make_recipe

from zephyrus.training import engine
from zephyrus.training.savings import save_work
from zephyrus.training.trainee import Trainee

SHARED = list(range(5, 65))


def load(folder, **changes):
    lora = {"rank": 4, "alpha": 8, "dropout": 0.0}
    recipe = make_recipe(folder, RSFT)
    spec = recipe.model.model_copy(update={"lora": type(recipe.model.lora)(**lora), **changes})
    trainee = Trainee.load(spec, seed=1)
    trainee.model.train()
    for name, weight in trainee.model.named_parameters():  # an adapter begins as nothing
        if "lora_B" in name:
            torch.nn.init.normal_(weight, std=0.1, generator=torch.Generator().manual_seed(1))
    return trainee


def fused(model):
    from trl.trainer.utils import add_fused_lm_head

    add_fused_lm_head(model.get_base_model(), outputs=("log_probs", "entropy", "is_top1"))
    return model


@contextlib.contextmanager
def counted(model):
    """How many tokens go through the layers."""
    seen = []
    layer = model.get_base_model().model.layers[0]
    hook = layer.register_forward_pre_hook(lambda _, args: seen.append(args[0].shape[:2].numel()))
    yield seen
    hook.remove()


def batch(rows, written, *, left=0):
    """Rows padded as TRL pads them: on the right, or prompts on the left as well."""
    width = max(map(len, rows)) + left
    ids, mask, labels = (torch.full((len(rows), width), fill) for fill in (3, 0, -100))
    for n, row in enumerate(rows):
        begin = left and left - n
        ids[n, begin : begin + len(row)] = torch.tensor(row)
        mask[n, begin : begin + len(row)] = 1
        for at in range(len(row) - written, len(row)):
            labels[n, begin + at] = row[at]
    return {"input_ids": ids, "attention_mask": mask, "labels": labels}


def result(model, inputs):
    model.zero_grad()
    output = model(**inputs, use_cache=False, fused_lm_head=True)
    (output.log_probs.sum() + 0.1 * output.entropy.sum()).backward()
    gradients = {n: p.grad.clone() for n, p in model.named_parameters() if p.grad is not None}
    return output, gradients


ROWS = [SHARED + [70 + n] * (3 + 5 * n) for n in range(4)]


@pytest.mark.parametrize("left", [0, 9])
def test_losses_and_gradients_are_the_same(tiny_model, left):
    model = fused(load(tiny_model).model)
    inputs = batch(ROWS, 3, left=left)
    with counted(model) as plain:
        expected, gradients = result(model, inputs)
    save_work(model)
    with counted(model) as spared:
        found, others = result(model, inputs)
    for name in ("log_probs", "entropy"):
        torch.testing.assert_close(found[name], expected[name], atol=2e-5, rtol=1e-5)
    for name in ("is_top1", "label_mask"):
        assert torch.equal(found[name].bool(), expected[name].bool())
    assert gradients.keys() == others.keys()
    assert max(g.abs().max() for g in gradients.values()) > 0.1
    for name in gradients:
        torch.testing.assert_close(others[name], gradients[name], atol=2e-4, rtol=1e-3)
    width = inputs["input_ids"].shape[1]
    assert plain == [4 * width]
    assert spared == [60, 4 * max(len(row) - 60 for row in ROWS)]


@pytest.mark.parametrize(
    "rows",
    [
        [ROWS[3]],
        [[70 + n, *SHARED] for n in range(3)],
        [SHARED[:20] + [70 + n] * 50 for n in range(3)],
    ],
    ids=["one row", "nothing in common", "too little in common"],
)
def test_what_shares_nothing_is_computed_as_ever(tiny_model, rows):
    model = fused(load(tiny_model).model)
    inputs = batch(rows, 4)
    expected, gradients = result(model, inputs)
    save_work(model)
    with counted(model) as tokens:
        found, others = result(model, inputs)
    assert tokens == [inputs["input_ids"].numel()]
    torch.testing.assert_close(found.log_probs, expected.log_probs, atol=2e-5, rtol=1e-5)
    for name in gradients:
        torch.testing.assert_close(others[name], gradients[name], atol=2e-4, rtol=1e-3)


def test_a_row_that_is_all_beginning_keeps_a_token(tiny_model):
    model = fused(load(tiny_model).model)
    inputs = batch([SHARED, [*SHARED, 70, 71]], 2)
    expected, _ = result(model, inputs)
    save_work(model)
    with counted(model) as tokens:
        found, _ = result(model, inputs)
    assert tokens == [59, 2 * 3]
    torch.testing.assert_close(found.log_probs, expected.log_probs, atol=2e-5, rtol=1e-5)


def test_dropout_and_recomputed_layers_share_nothing(tiny_model):
    trainee = Trainee.load(make_recipe(tiny_model, RSFT).model, seed=1)  # dropout 0.1
    again = load(tiny_model)
    again.model.gradient_checkpointing_enable({"use_reentrant": False})
    again.model.enable_input_require_grads()
    for model in (trainee.model, again.model):
        model.train()
        save_work(fused(model))
        with counted(model) as tokens:
            result(model, batch(ROWS, 3))
        assert tokens[0] == 4 * max(map(len, ROWS))


def test_nothing_to_learn_is_no_gradient_and_no_error(tiny_model):
    model = fused(load(tiny_model).model)
    save_work(model)
    output, gradients = result(model, batch(ROWS, 0))
    assert output.log_probs.abs().sum() == 0
    assert all(g.abs().max() == 0 for g in gradients.values())


def test_generation_and_plain_logits_are_left_alone(tiny_model):
    model = fused(load(tiny_model).model).eval()
    inputs = batch(ROWS, 3)
    with torch.no_grad():
        expected = model(**inputs)
        written = model.generate(torch.tensor([SHARED]), max_new_tokens=5, do_sample=False)
        save_work(model)
        found = model(**inputs)
        torch.testing.assert_close(found.loss, expected.loss)
        torch.testing.assert_close(found.logits, expected.logits)
        again = model.generate(torch.tensor([SHARED]), max_new_tokens=5, do_sample=False)
    assert torch.equal(written, again)


@pytest.mark.parametrize("lora", [True, False])
def test_trl_trains_the_same(tiny_model, tmp_path, monkeypatch, lora):
    rows = [
        {"input_ids": row, "assistant_masks": [0] * (len(row) - 3) + [1] * 3} for row in ROWS * 2
    ]
    stage = {**RSFT, "optimiser": {"learning_rate": 1e-2, "batch": 4, "micro_batch": 4}}
    losses = []
    for folder, how in ((tmp_path / "a", save_work), (tmp_path / "b", lambda model: None)):
        monkeypatch.setattr(engine, "save_work", how)
        trainee = load(tiny_model, **({} if lora else {"lora": None}))
        recipe = make_recipe(tiny_model, stage)
        arguments = engine.arguments(recipe, recipe.stages[0], folder)
        trainer = engine.sft_trainer(trainee, rows, arguments, [])
        trainer.train()
        losses.append([log["loss"] for log in trainer.state.log_history if "loss" in log])
    assert len(losses[0]) == 5
    assert losses[0] == pytest.approx(losses[1], rel=1e-4)
    assert max(losses[0]) - min(losses[0]) > 0.1
