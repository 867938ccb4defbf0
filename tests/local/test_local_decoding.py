"""The quicker ways of writing token by token give what transformers' own give."""

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from transformers import DynamicCache
from transformers.integrations.sdpa_attention import sdpa_attention_forward

from zephyrus.local.decoding import grouped, grouped_attention, roomy
from zephyrus.local.generate import Generator


class Layer(torch.nn.Module):
    num_key_value_groups = 3
    is_causal = True


@pytest.mark.parametrize("new", [1, 4])
@pytest.mark.parametrize("masked", [True, False])
def test_grouped_attention_is_attention(new, masked):
    torch.manual_seed(0)
    query = torch.randn(5, 6, new, 8)
    key, value = torch.randn(2, 5, 2, 30, 8)
    mask = torch.rand(5, 1, new, 30) > 0.4 if masked else None
    found, _ = grouped_attention(Layer(), query, key, value, mask, scaling=0.3)
    expected, _ = sdpa_attention_forward(Layer(), query, key, value, mask, scaling=0.3)
    assert found.shape == expected.shape == (5, new, 6, 8)
    assert torch.allclose(found, expected, atol=1e-5)


def test_a_cache_with_room_holds_what_a_plain_one_holds():
    torch.manual_seed(0)
    plain, room = DynamicCache(), DynamicCache()
    first = torch.randn(2, 4, 2, 7, 8)
    for cache in (plain, room):
        cache.update(first[0], first[1], 0)
    roomy(room)
    for step in range(150):
        if step in (20, 21, 90):  # rows leave
            rows = torch.arange(plain.layers[0].keys.shape[0] - 1)
            plain.batch_select_indices(rows)
            room.batch_select_indices(rows)
        new = torch.randn(2, plain.layers[0].keys.shape[0], 2, 1, 8)
        for one, other in zip(
            plain.update(new[0], new[1], 0), room.update(new[0], new[1], 0), strict=True
        ):
            assert torch.equal(one, other)
    assert room.get_seq_length() == 157


def test_a_long_text_whose_company_leaves_is_what_transformers_writes(model):
    prompts = [[1, 2, 3], list(range(40)), [9] * 11]
    found = Generator(model, [model.config.eos_token_id]).generate(
        prompts, [0, 0, 0], temperature=0.0, top_p=1.0, max_tokens=[150, 5, 80]
    )
    for prompt, one in zip(prompts, found, strict=True):
        ids = model.generate(
            torch.tensor([prompt]),
            do_sample=False,
            max_new_tokens=len(one.ids),
            attention_mask=torch.ones(1, len(prompt)),
        )
        assert one.ids == ids[0, len(prompt) :].tolist()
    assert [len(one.ids) for one in found] == [150, 5, 80]


def test_a_model_keeps_its_own_attention(model):
    assert model.config._attn_implementation == "sdpa"
    with grouped(model):
        assert model.config._attn_implementation != "sdpa"
    assert model.config._attn_implementation == "sdpa"
    model.config._attn_implementation = "eager"
    try:
        with grouped(model):
            assert model.config._attn_implementation == "eager"
    finally:
        model.config._attn_implementation = "sdpa"
