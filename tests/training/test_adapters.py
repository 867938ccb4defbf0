"""Slim adapters against PEFT's own: the same numbers, gradients and switches."""

import pytest

pytest.importorskip("peft", reason="needs the extra train")

import copy

import torch
from peft import LoraConfig, PeftModel, get_peft_model
from transformers import AutoModelForCausalLM, AutoTokenizer

from zephyrus.local import models
from zephyrus.local.adapters import Twin, slim
from zephyrus.local.generate import Generator

torch.manual_seed(0)
IDS = torch.arange(3, 33).reshape(2, 15)


def adapted(folder, dtype=torch.float32, **options):
    """Two PEFT models with the same weights, neither of whose matrices is zero."""
    torch.manual_seed(1)
    base = AutoModelForCausalLM.from_pretrained(folder, dtype=dtype)
    settings = {"r": 3, "lora_alpha": 7, "target_modules": "all-linear", **options}
    config = LoraConfig(**settings)
    model = get_peft_model(base, config)
    with torch.no_grad():
        for name, value in model.named_parameters():
            if "lora_" in name:
                value.normal_(std=0.2)
    return model, copy.deepcopy(model)


def outcome(model):
    """Logits, and the gradient of every trained weight."""
    model.train()
    output = model(input_ids=IDS, labels=IDS)
    model.zero_grad()
    output.loss.backward()
    return output.logits.detach(), {
        name: value.grad.clone() for name, value in model.named_parameters() if value.requires_grad
    }


def test_logits_and_gradients_are_those_of_peft(tiny_model):
    plain, ours = adapted(tiny_model)
    slim(ours)
    logits, gradients = outcome(plain)
    found, slimmed = outcome(ours)
    assert torch.allclose(found, logits, atol=1e-5)
    assert gradients.keys() == slimmed.keys() and len(gradients) > 4
    for name, gradient in gradients.items():
        assert torch.allclose(slimmed[name], gradient, atol=1e-5, rtol=1e-3), name


def test_in_bfloat16_it_is_about_as_exact_as_peft(tiny_model):
    plain, ours = adapted(tiny_model, torch.bfloat16)
    slim(ours)
    exact, gradients = outcome(copy.deepcopy(plain).float())
    (theirs, peft), (found, slimmed) = outcome(plain), outcome(ours)
    assert found.dtype == torch.bfloat16
    assert (found - exact).norm() < 1.5 * (theirs - exact).norm()
    for name, gradient in gradients.items():
        assert slimmed[name].dtype == torch.float32
        off = (slimmed[name] - gradient).norm()
        assert off < 2 * (peft[name] - gradient).norm() + 0.01 * gradient.norm(), name


def test_it_takes_effect_and_can_be_switched_off(tiny_model):
    plain, ours = adapted(tiny_model)
    slim(ours)
    with torch.no_grad():
        with ours.disable_adapter(), plain.disable_adapter():
            off = ours(input_ids=IDS).logits
            assert torch.equal(off, plain(input_ids=IDS).logits)
        assert not torch.allclose(ours(input_ids=IDS).logits, off, atol=1e-3)


def test_the_active_adapter_is_the_one_that_counts(tiny_model):
    plain, ours = adapted(tiny_model)
    slim(ours)
    for model in (plain, ours):
        torch.manual_seed(2)
        model.add_adapter("ref", model.peft_config["default"])
        model.set_adapter("ref")
    with torch.no_grad():
        assert torch.allclose(
            ours(input_ids=IDS).logits, plain(input_ids=IDS).logits, atol=1e-5, rtol=1e-4
        )


def test_merging_is_as_before(tiny_model):
    _, ours = adapted(tiny_model)
    slim(ours)
    with torch.no_grad():
        before = ours(input_ids=IDS).logits
        ours.merge_adapter()
        assert torch.allclose(ours(input_ids=IDS).logits, before, atol=1e-4)
        ours.unmerge_adapter()
        merged = ours.merge_and_unload()
        assert torch.allclose(merged(input_ids=IDS).logits, before, atol=1e-4)
    assert not isinstance(merged, PeftModel)


@pytest.mark.parametrize(
    "options", [{"lora_dropout": 0.5}, {"use_dora": True}, {"lora_bias": True}]
)
def test_layers_that_do_more_are_left_alone(tiny_model, options):
    _, ours = adapted(tiny_model, **options)
    slim(ours)
    assert not any("forward" in vars(part) for part in ours.modules())


def test_models_without_adapters_stay_as_they_are(tiny_model):
    base = AutoModelForCausalLM.from_pretrained(tiny_model)
    slim(base)
    assert not any("forward" in vars(part) for part in base.modules())


def logits_of(model):
    with torch.no_grad():
        return model(input_ids=IDS).logits


def test_a_twin_acts_as_the_model_and_follows_it(tiny_model):
    model, _ = adapted(tiny_model)
    slim(model)
    twin = Twin(model)
    first = twin.now()
    assert not hasattr(first, "peft_config") and not first.training
    assert torch.allclose(logits_of(first), logits_of(model), atol=1e-4)
    assert twin.now() is first
    optimiser = torch.optim.SGD([p for p in model.parameters() if p.requires_grad], lr=0.5)
    before = logits_of(first)
    outcome(model)
    optimiser.step()
    after = logits_of(twin.now())
    assert torch.allclose(after, logits_of(model), atol=1e-4)
    assert not torch.allclose(after, before, atol=1e-3)


def test_a_twin_is_what_is_loaded_from_the_models_folder(tiny_model, tmp_path):
    AutoModelForCausalLM.from_pretrained(tiny_model, dtype=torch.bfloat16).save_pretrained(tmp_path)
    AutoTokenizer.from_pretrained(tiny_model).save_pretrained(tmp_path)
    model, _ = adapted(tmp_path, torch.bfloat16)
    model.save_pretrained(tmp_path / "policy")
    loaded, _ = models.load(tmp_path / "policy", dtype="bfloat16")
    theirs = loaded.state_dict()
    for name, value in Twin(model).now().state_dict().items():
        assert value.dtype == torch.bfloat16
        # The order of adding up may turn a rounding.
        assert (value == theirs[name]).float().mean() > 0.999, name
        assert torch.allclose(value, theirs[name], rtol=2**-7), name


def test_only_what_is_adapted_is_copied(tiny_model):
    model, _ = adapted(tiny_model, r=2)
    made = Twin(model).now()
    base = model.get_base_model()
    assert made.get_input_embeddings().weight is base.get_input_embeddings().weight
    assert (
        made.model.layers[0].input_layernorm.weight is base.model.layers[0].input_layernorm.weight
    )
    assert not any(p.is_meta for p in [*made.parameters(), *made.buffers()])


@pytest.mark.parametrize("options", [{"lora_dropout": 0.5}, {"use_dora": True}])
def test_models_that_can_not_be_merged_act_themselves(tiny_model, options):
    model, _ = adapted(tiny_model, **options)
    assert Twin(model).now() is model
    base = model.get_base_model()
    assert Twin(base).now() is base


def test_the_first_model_acts_while_adapters_are_off(tiny_model):
    model, _ = adapted(tiny_model)
    twin = Twin(model)
    with model.disable_adapter():
        assert twin.now() is model
    assert twin.now() is not model


def test_what_is_sampled_is_the_adapted_models(tiny_model):
    model, _ = adapted(tiny_model)
    plain = Generator(model.merge_and_unload(), [0])
    again, _ = adapted(tiny_model)
    options = {"temperature": 1.0, "top_p": 1.0, "max_tokens": [12] * 3}
    prompts = [list(range(3, 40)), list(range(3, 30)), [*range(3, 25), 50, 51]]
    found = Generator(again, [0]).generate(prompts, [1, 2, 3], **options)
    wanted = plain.generate(prompts, [1, 2, 3], **options)
    assert [c.ids for c in found] == [c.ids for c in wanted]
