"""Our sampling against transformers' own, and against arithmetic by hand."""

import math

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import torch
from hypothesis import given
from hypothesis import strategies as st

from zephyrus.local.generate import Generator, choose

RAGGED = [list(range(5, 5 + n)) for n in (3, 17, 40, 1)]
SHARED = [[*range(60, 100), 7, *range(n)] for n in (1, 9, 0, 20)]


def theirs(model, prompt, tokens):
    """Greedy, one at a time."""
    ids = model.generate(
        torch.tensor([prompt]),
        do_sample=False,
        max_new_tokens=tokens,
        attention_mask=torch.ones(1, len(prompt)),
    )
    return ids[0, len(prompt) :].tolist()


def ours(model, prompts, tokens=12, *, temperature=0.0, top_p=1.0, seeds=None, **options):
    generator = options.pop("generator", None) or Generator(model, [model.config.eos_token_id])
    return generator.generate(
        prompts,
        seeds or range(len(prompts)),
        temperature=temperature,
        top_p=top_p,
        max_tokens=tokens if isinstance(tokens, list) else [tokens] * len(prompts),
        **options,
    )


@pytest.mark.parametrize("prompts", [RAGGED, SHARED, SHARED[:1]], ids=["ragged", "shared", "one"])
def test_greedy_is_what_transformers_writes(model, prompts):
    found = ours(model, prompts)
    assert [c.ids for c in found] == [theirs(model, prompt, 12) for prompt in prompts]
    assert not any(c.ended for c in found)


def test_a_kept_prefix_serves_further_batches_and_not_other_weights(model):
    import copy

    changed = copy.deepcopy(model)
    generator = Generator(changed, [model.config.eos_token_id])
    first = ours(changed, SHARED, generator=generator)
    kept = generator._prefix
    assert ours(changed, SHARED[::-1], generator=generator) == first[::-1]
    assert generator._prefix is kept  # computed once, and not written over by what used it
    optimiser = torch.optim.SGD(changed.parameters(), lr=3.0)
    changed(torch.tensor([SHARED[3]]), labels=torch.tensor([SHARED[3]])).loss.backward()
    optimiser.step()
    found = ours(changed, SHARED, generator=generator)
    assert [c.ids for c in found] == [theirs(changed, prompt, 12) for prompt in SHARED]
    assert [c.ids for c in found] != [c.ids for c in first]


def test_sequences_that_end_leave_and_the_others_go_on(model):
    plain = ours(model, RAGGED)
    stop = plain[1].ids[2]
    found = ours(model, RAGGED, generator=Generator(model, [stop]))
    for one, whole in zip(found, plain, strict=True):
        length = whole.ids.index(stop) + 1 if stop in whole.ids else len(whole.ids)
        assert one.ids == whole.ids[:length]
        assert one.ended == (stop in whole.ids)
    assert len({len(c.ids) for c in found}) > 1


def test_each_has_its_own_most_and_can_be_given_up(model):
    plain = ours(model, RAGGED)
    found = ours(model, RAGGED, [1, 5, 12, 3])
    assert [c.ids for c in found] == [c.ids[:n] for c, n in zip(plain, (1, 5, 12, 3), strict=True)]
    asked = []

    def wanted(index):
        asked.append(index)
        return index != 2 or asked.count(2) < 4

    found = ours(model, RAGGED, wanted=wanted)
    assert [len(c.ids) for c in found] == [12, 12, 4, 12]
    assert not found[2].ended


def test_a_seed_gives_its_text_in_any_company(model):
    alone = [ours(model, [p], temperature=1.0, seeds=[s])[0].ids for s, p in enumerate(RAGGED)]
    together = ours(model, RAGGED, temperature=1.0)
    assert [c.ids for c in together] == alone
    again = ours(model, [RAGGED[1]] * 6, temperature=1.0, seeds=[1, 2, 3, 1, 2, 3])
    assert [c.ids for c in again[:3]] == [c.ids for c in again[3:]]
    assert again[0].ids == alone[1]
    assert len({tuple(c.ids) for c in again}) == 3


@pytest.mark.parametrize(("temperature", "top_p"), [(0.0, 1.0), (0.7, 1.0), (1.3, 0.6)])
def test_logprobs_are_those_of_a_plain_forward_pass(model, temperature, top_p):
    prompts = [*RAGGED, *SHARED]
    for prompt, one in zip(
        prompts, ours(model, prompts, temperature=temperature, top_p=top_p), strict=True
    ):
        with torch.no_grad():
            logits = model(torch.tensor([prompt + one.ids])).logits[0, len(prompt) - 1 : -1]
        plain = torch.log_softmax(logits / (temperature or 1.0), dim=-1)
        expected = plain[torch.arange(len(one.ids)), torch.tensor(one.ids)]
        assert one.logprobs == pytest.approx(expected.tolist(), abs=1e-4)


def test_training_mode_is_given_back(model):
    model.train()
    try:
        ours(model, RAGGED[:1], 2)
        assert model.training
    finally:
        model.eval()


def by_hand(logits, point, temperature, top_p):
    """Tokens in falling order of probability, those before the nucleus is full, inverted."""
    weights = [math.exp((x - max(logits)) / temperature) for x in logits]
    total = sum(weights)
    ranked = sorted(((w / total, -i) for i, w in enumerate(weights)), reverse=True)
    nucleus, before = [], 0.0
    for weight, negative in ranked:
        if before >= top_p:
            break
        nucleus.append((weight, -negative))
        before += weight
    mark = point * sum(weight for weight, _ in nucleus)
    for weight, token in nucleus:
        if mark < weight:
            return token
        mark -= weight
    return nucleus[-1][1]


@given(
    st.lists(st.integers(-800, 800).map(lambda n: n / 100), min_size=2, max_size=12, unique=True),
    st.floats(0.01, 0.99),
    st.floats(0.2, 2.0),
    st.floats(0.05, 0.95),
)
def test_the_nucleus_is_drawn_from_as_by_hand(logits, point, temperature, top_p):
    expected = by_hand(logits, point, temperature, top_p)
    near = {
        by_hand(logits, point + d, temperature, top_p + e)
        for d in (-1e-4, 1e-4)
        for e in (-1e-4, 1e-4)
    }
    (token,), (score,) = choose(torch.tensor([logits]), [point], temperature, top_p)
    assert token in {expected, *near}  # on an edge, rounding decides
    total = sum(math.exp(x / temperature) for x in logits)
    assert score == pytest.approx(logits[token] / temperature - math.log(total), abs=1e-4)


@pytest.mark.parametrize("size", [300, 2000])
def test_a_nucleus_wider_than_what_is_looked_at_first(size):
    even = torch.zeros(1, size)
    points = [(i + 0.5) / 50 for i in range(50)]
    drawn, _ = choose(even.expand(50, size), points, 1.0, 0.9)
    assert len(set(drawn)) == 50  # spread over all of it, not the first few
    drawn, _ = choose(even, [0.999999], 1.0, 1.0)
    assert drawn == [size - 1]


def test_frequencies_are_the_softmax():
    logits = torch.tensor([[0.0, 1.0, 2.0, -30.0]])
    points = [(i + 0.5) / 1000 for i in range(1000)]
    drawn, _ = choose(logits.expand(1000, 4), points, 0.5, 1.0)
    weights = [1.0, math.e**2, math.e**4]
    for token, weight in enumerate(weights):
        assert drawn.count(token) == pytest.approx(1000 * weight / sum(weights), abs=1)
    assert 3 not in drawn


def test_the_last_point_of_all_never_draws_what_has_no_weight():
    torch.manual_seed(0)
    logits = torch.log(torch.rand(400, 412)) - 28 * torch.rand(400, 412)
    logits[:, -50:] = -torch.inf  # after them, in the same block, nothing can be drawn
    drawn, scores = choose(logits, [math.nextafter(1.0, 0.0)] * 400, 1.0, 1.0)
    assert max(drawn) == 361
    assert min(scores) > -torch.inf
