"""The train client: tokens in, tokens and logprobs out, through a server that speaks as vLLM's."""

import contextlib
import threading

import pytest

pytest.importorskip("verifiers", reason="the extra verifiers is not installed")

import asyncio

import verifiers.v1 as vf
from aiohttp import web
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import PreTrainedTokenizerFast

from zephyrus.integrations.verifiers.record import to_trajectory

SPECIAL = [
    "<|endoftext|>",
    "<|im_start|>",
    "<|im_end|>",
    "<tool_call>",
    "</tool_call>",
    "<tool_response>",
    "</tool_response>",
    "<think>",
    "</think>",
]
CALL = (
    "<think>\nI look it up.\n</think>\n\n<tool_call>\n"
    '{"name": "features", "arguments":   {"query":"Kenya"}}\n</tool_call><|im_end|>'
)
"""With spaces that no template would write: only the sampled tokens themselves have them."""
BROKEN = '<tool_call>\n{"name": "features", "arguments": {"query": \n</tool_call><|im_end|>'
ANSWER = "<think>\nSo.\n</think>\n\n<answer>1</answer><|im_end|>"


@pytest.fixture(scope="module")
def tokenizer(tmp_path_factory):
    """Each byte a token, and the special ones of Qwen3."""
    raw = Tokenizer(
        models.BPE({c: i for i, c in enumerate(sorted(pre_tokenizers.ByteLevel.alphabet()))}, [])
    )
    raw.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    raw.decoder = decoders.ByteLevel()
    raw.add_special_tokens(SPECIAL)
    made = PreTrainedTokenizerFast(
        tokenizer_object=raw,
        eos_token="<|im_end|>",
        pad_token="<|endoftext|>",
        additional_special_tokens=SPECIAL,
    )
    folder = tmp_path_factory.mktemp("tokenizer")
    made.save_pretrained(folder)
    return made, folder


class Engine:
    """``POST /inference/v1/generate``: says its replies in turn, token by token."""

    def __init__(self, tokenizer, replies):
        self.tokenizer = tokenizer
        self.replies = iter(replies)
        self.prompts = []
        self.said = []
        self.url = ""

    async def generate(self, request):
        body = await request.json()
        self.prompts.append(body["token_ids"])
        ids = self.tokenizer.encode(next(self.replies), add_special_tokens=False)
        logprobs = [-0.001 * (len(self.said) * 1000 + i + 1) for i in range(len(ids))]
        self.said.append((ids, logprobs))
        content = [
            {"token": f"token_id:{i}", "logprob": p} for i, p in zip(ids, logprobs, strict=True)
        ]
        choice = {"token_ids": ids, "finish_reason": "stop", "logprobs": {"content": content}}
        return web.json_response({"request_id": "r", "choices": [choice]})

    @contextlib.contextmanager
    def running(self):
        loop = asyncio.new_event_loop()
        thread = threading.Thread(target=loop.run_forever, daemon=True)
        thread.start()

        async def start():
            app = web.Application()
            app.router.add_post("/inference/v1/generate", self.generate)
            runner = web.AppRunner(app, access_log=None)
            await runner.setup()
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            self.url = "http://{}:{}/v1".format(*runner.addresses[0][:2])
            return runner

        runner = asyncio.run_coroutine_threadsafe(start(), loop).result(10)
        try:
            yield self
        finally:
            asyncio.run_coroutine_threadsafe(runner.cleanup(), loop).result(10)
            loop.call_soon_threadsafe(loop.stop)
            thread.join(10)
            loop.close()


async def train_rollout(engine, folder):
    config = vf.resolve_env_config({"taskset": {"id": "zephyrus-bench", "split": "train"}})
    env = vf.load_environment(config)
    client = vf.TrainClientConfig(
        base_url=engine.url,
        api_key_var="NO_KEY",
        renderer={"name": "qwen3"},
        renderer_model_name=str(folder),
    )
    ctx = vf.ModelContext(client=client, model="policy", sampling=vf.SamplingConfig())
    async with env.serving():
        (slot,) = env.slots(next(iter(env.taskset)), 1)
        episode = await env.run_slot(slot, ctx)
    return episode.traces[0]


async def test_the_trace_holds_the_sampled_tokens(tokenizer):
    """One branch, whose trainable tokens are those that the engine sampled, and its logprobs."""
    engine = Engine(tokenizer[0], [CALL, ANSWER])
    with engine.running():
        trace = await train_rollout(engine, tokenizer[1])
    assert trace.ok, trace.errors
    (branch,) = trace.branches
    sampled = [ids for ids, _ in engine.said]
    marked = [i for i, m in zip(branch.token_ids, branch.sampled_mask, strict=True) if m]
    assert marked == sampled[0] + sampled[1]
    told = [p for p, m in zip(branch.logprobs, branch.sampled_mask, strict=True) if m]
    assert told == engine.said[0][1] + engine.said[1][1]
    # The second prompt begins with the first one and its completion: nothing was tokenized anew.
    first = engine.prompts[0] + sampled[0]
    assert engine.prompts[1][: len(first)] == first
    assert branch.token_ids == engine.prompts[1] + sampled[1]
    assert trace.usage.prompt_tokens == sum(map(len, engine.prompts))
    found = to_trajectory(trace.model_dump(mode="json"))
    assert found.answer == "1" and found.messages[2].reasoning == "I look it up."
    assert [call.error for call in found.calls] == [None]


def sampled_tokens(trace):
    """The trainable tokens of every turn, as the nodes of the trace hold them."""
    return [
        [i for i, marked in zip(node.token_ids, node.mask, strict=True) if marked]
        for node in trace.nodes
        if node.sampled
    ]


async def test_a_mistake_stays_as_it_was_sampled(tokenizer):
    """Wrong arguments are answered with an error; no token of them changes on the way back."""
    engine = Engine(tokenizer[0], [CALL.replace("query", "quarry"), ANSWER])
    with engine.running():
        trace = await train_rollout(engine, tokenizer[1])
    assert trace.ok, trace.errors
    assert trace.metrics["failed_tool_calls"] == 1.0
    assert trace.num_branches == 1
    assert sampled_tokens(trace) == [ids for ids, _ in engine.said]


async def test_a_call_that_cannot_be_parsed_is_kept_as_tokens(tokenizer):
    """verifiers hands no such call on: we see an empty message, and the trainer what was sampled.

    The template of Qwen3 forgets reasoning when a user speaks, as our error does, so that the next
    prompt is a branch of its own; both are samples of the rollout.
    """
    engine = Engine(tokenizer[0], [BROKEN, ANSWER])
    with engine.running():
        trace = await train_rollout(engine, tokenizer[1])
    assert trace.ok, trace.errors
    assert trace.metrics["tool_calls"] == 0.0 and trace.num_turns == 2
    assert sampled_tokens(trace) == [ids for ids, _ in engine.said]
    assert all(branch.trainable for branch in trace.branches)
