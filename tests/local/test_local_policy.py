"""A random model as a policy of Bench: what it may get wrong, and what the world may."""

import asyncio
import json

import pytest

pytest.importorskip("torch")
pytest.importorskip("transformers")

import tiny_model

import zephyrus
from zephyrus.errors import UserError, WorkError
from zephyrus.limits import Limits, StopReason
from zephyrus.local.generate import Completion
from zephyrus.local.policy import LocalPolicy
from zephyrus.rollouts import arollout


@pytest.fixture(scope="module")
def env():
    return zephyrus.make("bench", compact=True, limits=Limits(turns=3))


@pytest.fixture
def policy(model, tokenizer):
    def make(**options):
        known = {"temperature": 1.0, "max_tokens": 12, "keep_tokens": True}
        return LocalPolicy("tiny", loaded=(model, tokenizer), **known | options)

    return make


class Writer:
    """Stands in for a model that has learned: writes the given texts, turn after turn."""

    def __init__(self, tokenizer, *texts):
        self.tokenizer = tokenizer
        self.texts = texts
        self.asked = []

    def generate(self, prompts, seeds, *, temperature, top_p, max_tokens, wanted):
        found = []
        for prompt, most in zip(prompts, max_tokens, strict=True):
            self.asked.append((temperature, top_p, most, len(prompt)))
            heads = self.tokenizer.decode(prompt).count("<|im_start|>assistant") - 1
            text = self.texts[min(heads, len(self.texts) - 1)]
            if isinstance(text, Exception):
                raise text
            ids = [*self.tokenizer(text)["input_ids"], self.tokenizer.eos_token_id][:most]
            found.append(Completion(ids, [-0.5] * len(ids), ids[-1] == self.tokenizer.eos_token_id))
        return found


def test_rollouts_of_a_random_model(env, policy, tokenizer, tmp_path):
    made = policy()
    run = zephyrus.rollout(env, made, n=6, repeats=2, output=tmp_path / "run", progress=False)
    assert run.summary["scored"] == 12 and run.summary["infrastructure"]["errors"] == 0
    for trajectory in run:
        tokens = made.tokens[trajectory.key]
        assert trajectory.stop is StopReason.TURNS and trajectory.turns == 3
        assert len(tokens.ids) == len(tokens.written) == len(tokens.logprobs)
        assert sum(tokens.written) == trajectory.usage.completion_tokens
        assert all(
            (score < 0) == wrote
            for score, wrote in zip(tokens.logprobs, tokens.written, strict=True)
        )
        text = tokenizer.decode(tokens.ids)
        for message in trajectory.messages:
            if message.role == "user":
                assert message.content in text


def test_company_changes_nothing(env, policy, tmp_path):
    said = []
    for concurrency, batch in ((1, 1), (8, 4), (8, 16)):
        run = zephyrus.rollout(
            env,
            policy(batch=batch),
            n=8,
            concurrency=concurrency,
            output=tmp_path / f"{concurrency}-{batch}",
            progress=False,
        )
        said.append({t.key: [m.content for m in t.messages] for t in run})
    assert said[0] == said[1] == said[2]


def test_errors_of_the_model_are_observations(env, policy, tokenizer, tmp_path):
    call = {"name": "features", "arguments": {"kind": "planet"}}
    writer = Writer(
        tokenizer, "<tool_call>{</tool_call>", f"<tool_call>{json.dumps(call)}</tool_call>", "Well"
    )
    made = policy(generator=writer, max_tokens=200, temperature=0.7, top_p=0.9)
    (trajectory,) = zephyrus.rollout(env, made, n=1, output=tmp_path / "run", progress=False)
    assert [call.error is not None for call in trajectory.calls] == [True, True]
    assert trajectory.recovered_calls == 0
    assert trajectory.stop is StopReason.TURNS and trajectory.error is None
    assert [asked[:3] for asked in writer.asked] == [(0.7, 0.9, 200)] * 3
    text = tokenizer.decode(made.tokens[trajectory.key].ids)
    for message in trajectory.messages[2:-1]:
        assert message.role != "tool" or f"<tool_response>\n{message.content}" in text


def test_a_full_context_truncates_and_is_scored(env, policy, tokenizer, tmp_path):
    writer = Writer(tokenizer, "I think about it. " * 30)
    start = len(tokenizer(env.system_prompt())["input_ids"])
    room = start + 3000
    made = policy(generator=writer, max_tokens=4000, context=room)
    run = zephyrus.rollout(limited(turns=20), made, n=2, output=tmp_path / "run", progress=False)
    assert {t.stop for t in run} == {StopReason.TOKENS}
    assert all(t.rewards is not None for t in run)
    assert all(most <= room - length for _, _, most, length in writer.asked)
    assert all(len(tokens.ids) <= room + 1000 for tokens in made.tokens.values())


def limited(**changes):
    return zephyrus.make("bench", compact=True, limits=Limits(**changes))


def test_the_models_own_limit_counts_too(env, tokenizer, one_thread, tmp_path):
    small = tiny_model.model(tokenizer, context=64)
    made = LocalPolicy("tiny", loaded=(small, tokenizer))
    (trajectory,) = zephyrus.rollout(env, made, n=1, output=tmp_path / "run", progress=False)
    assert (trajectory.stop, trajectory.turns) == (StopReason.TOKENS, 0)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ZeroDivisionError("ours"), "Traceback"),
        (RuntimeError("DefaultCPUAllocator: can't allocate memory"), "smaller batch"),
        (MemoryError(), "smaller batch"),
    ],
)
def test_a_failing_model_is_no_score_of_zero(env, policy, tokenizer, tmp_path, error, told):
    made = policy(generator=Writer(tokenizer, error))
    with pytest.raises(WorkError, match="all 3 rollouts failed"):
        zephyrus.rollout(env, made, n=3, output=tmp_path / "run", progress=False)
    run = zephyrus.Run.open(tmp_path / "run")
    assert [told in t.error for t in run.errors()] == [True] * 3
    assert len(run) == 0
    if told != "Traceback":
        assert not any("Traceback" in t.error for t in run.errors())
    made._generator = Writer(tokenizer, "<answer>1</answer>")
    again = zephyrus.rollout(env, made, n=3, output=tmp_path / "run", progress=False)
    assert again.summary["scored"] == 3


def test_closed_opened_and_in_one_loop_after_another(env, policy, tmp_path):
    made = policy()
    found = []
    for name in ("a", "b"):  # closed between them
        run = zephyrus.rollout(env, made, n=2, output=tmp_path / name, progress=False)
        found.append([m.content for t in run for m in t.messages])
    for name in ("c", "d"):  # not closed between them
        run = asyncio.run(arollout(env, made, n=2, output=tmp_path / name, progress=False))
        found.append([m.content for t in run for m in t.messages])
    assert found[1:] == found[:1] * 3
    asyncio.run(made.close())


def test_a_rollout_out_of_time_leaves_the_batch(policy, tmp_path):
    """A turn of 90,000 tokens would take minutes: closing the policy waits for one token."""
    made = policy(max_tokens=90_000, context=100_000)
    made._loaded[0].config.max_position_embeddings = 100_000
    slow = limited(seconds=0.5)
    try:
        run = zephyrus.rollout(slow, made, n=2, output=tmp_path / "run", progress=False)
    finally:
        made._loaded[0].config.max_position_embeddings = 4096
    assert {t.stop for t in run} == {StopReason.TIME}
    assert all(t.turns == 0 for t in run)


@pytest.fixture
def folder(model, tokenizer, tmp_path):
    where = tmp_path / "models" / "tiny"
    model.save_pretrained(where)
    tokenizer.save_pretrained(where)
    return where


def test_a_resume_shares_the_weights_not_the_spelling(
    env, folder, tokenizer, tmp_path, monkeypatch
):
    monkeypatch.chdir(tmp_path)
    options = {"max_tokens": 4, "dtype": "float32"}
    make = zephyrus.make_policy
    first = make("./models/tiny", **options)
    run = zephyrus.rollout(env, first, n=1, output="run", progress=False)
    assert run.config["policy"]["dtype"] == "float32" and run.config["policy"]["weights"]
    second = make("models//tiny/", **options)
    assert second.describe() == first.describe()
    zephyrus.rollout(env, second, n=2, output="run", progress=False)
    with pytest.raises(UserError, match=r"policy\.max_tokens"):
        zephyrus.rollout(
            env, make("./models/tiny", max_tokens=5), n=2, output="run", progress=False
        )
    tiny_model.model(tokenizer, seed=1).save_pretrained(folder)
    with pytest.raises(UserError, match=r"policy\.weights"):
        zephyrus.rollout(env, make("./models/tiny", **options), n=2, output="run", progress=False)
