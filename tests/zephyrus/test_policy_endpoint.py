import asyncio
import email.utils
import json
import socket
import time

import pytest
from openai_server import Fault, OpenAIServer, say

from zephyrus.endpoint import LONGEST_RETRY_AFTER
from zephyrus.errors import PolicyError, UserError
from zephyrus.messages import Image, Message, ToolCall, Usage
from zephyrus.policy import ContextLengthError, make_policy
from zephyrus.policy.endpoint import EndpointPolicy

PNG = b"\x89PNG\r\n\x1a\n"


@pytest.fixture
def server():
    with OpenAIServer().running() as running:
        yield running


@pytest.fixture(autouse=True)
def no_key(monkeypatch):
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)


def policy(server, **options) -> EndpointPolicy:
    made = make_policy(f"openai:tiny@{server.url}", **options)
    assert isinstance(made, EndpointPolicy)
    made.endpoint.first_wait = 0.01
    return made


def conversation(*more):
    return [Message("system", "Use the tools."), Message("user", "What is 2 times 3?"), *more]


async def ask(server, env, messages=None, seed=0, repeat=0, **options):
    made = policy(server, **options)
    try:
        session = made.session(env, env.tasks()[2], seed, repeat)
        return await session.act(messages or conversation())
    finally:
        await made.close()


async def test_the_request_is_what_the_api_takes(server, sum_env):
    reply = await ask(server, sum_env, temperature=0.3, top_p=0.9, max_tokens=64)
    assert reply.message == Message("assistant", "<answer>0</answer>")
    assert reply.usage == Usage(11, 7)
    assert reply.finish_reason == "stop"
    assert reply.seconds > 0
    body = server.requests[0]
    assert body["model"] == "tiny"
    assert body["tools"] == sum_env.tool_schemas()
    assert (body["temperature"], body["top_p"], body["max_tokens"]) == (0.3, 0.9, 64)
    assert body["messages"][1] == {"role": "user", "content": "What is 2 times 3?"}
    assert 0 <= body["seed"] < 2**31
    assert "parallel_tool_calls" not in body
    assert server.headers[0]["Authorization"] == "Bearer EMPTY"


async def test_the_extra_body_is_merged_and_wins(server, sum_env):
    extra = {"top_k": 20, "max_completion_tokens": 9, "temperature": 0.5}
    await ask(server, sum_env, extra_body=extra, temperature=1.0, seeded=False)
    body = server.requests[0]
    assert (body["top_k"], body["max_completion_tokens"], body["temperature"]) == (20, 9, 0.5)
    assert "seed" not in body


async def test_the_seed_depends_on_seed_repeat_task_and_turn(server, sum_env):
    longer = conversation(Message("assistant", "hm"), Message("user", "go on"))
    for seed, repeat, messages in [(0, 0, None), (0, 0, None), (1, 0, None), (0, 1, None)]:
        await ask(server, sum_env, messages, seed, repeat)
    await ask(server, sum_env, longer)
    seeds = [body["seed"] for body in server.requests]
    assert seeds[0] == seeds[1]
    assert len(set(seeds)) == 4


async def test_native_tool_calls_and_reasoning_come_through(server, sum_env):
    server.answer = lambda body: say(
        None, ("multiply", '{"a": 2, "b": 3}'), ("multiply", "{oops"), reasoning_content="hm"
    )
    reply = await ask(server, sum_env)
    assert reply.message == Message(
        "assistant",
        "",
        "hm",
        (
            ToolCall("multiply", '{"a": 2, "b": 3}', "call_0"),
            ToolCall("multiply", "{oops", "call_1"),
        ),
    )
    assert reply.finish_reason == "tool_calls"
    assert reply.recovered_calls == 0


@pytest.mark.parametrize(
    ("message", "reasoning", "content"),
    [
        (say("<answer>1</answer>", reasoning="vLLM"), "vLLM", "<answer>1</answer>"),
        (say("<think>inside</think>\n<answer>1</answer>"), "inside", "<answer>1</answer>"),
        (say("from the template</think>x", reasoning="a"), "a\nfrom the template", "x"),
        (say("<think><answer>7</answer>"), "<answer>7</answer>", ""),
    ],
)
async def test_reasoning_is_never_part_of_the_content(server, sum_env, message, reasoning, content):
    server.answer = lambda body: message
    reply = await ask(server, sum_env)
    assert (reply.message.reasoning, reply.message.content) == (reasoning, content)


async def test_reasoning_goes_back_unless_that_is_switched_off(server, sum_env):
    earlier = conversation(Message("assistant", "x", reasoning="hm"), Message("user", "go on"))
    await ask(server, sum_env, earlier)
    await ask(server, sum_env, earlier, send_reasoning=False)
    first, second = (body["messages"][2] for body in server.requests)
    assert (first["reasoning_content"], first["reasoning"]) == ("hm", "hm")
    assert "reasoning_content" not in second
    assert "reasoning" not in second


async def test_calls_left_in_the_text_are_recovered_and_counted(server, sum_env):
    written = '<tool_call>{"name": "multiply", "arguments": {"a": 2, "b": 3}}</tool_call>'
    server.answer = lambda body: say(f"Let me see. {written}{written}")
    reply = await ask(server, sum_env)
    assert reply.message.content == "Let me see."
    assert [c.name for c in reply.message.tool_calls] == ["multiply", "multiply"]
    assert reply.recovered_calls == 2


async def test_a_tagged_call_inside_unfinished_reasoning_is_recovered(server, sum_env):
    written = '<tool_call>{"name": "multiply", "arguments": {"a": 1}}</tool_call>'
    server.answer = lambda body: say("", reasoning=f"I should call it. {written}")
    reply = await ask(server, sum_env)
    assert reply.message.reasoning == "I should call it."
    assert reply.message.tool_calls == (ToolCall("multiply", '{"a": 1}'),)
    assert reply.recovered_calls == 1


async def test_xml_parameters_keep_their_types_with_compact_schemas(server, sum_env):
    server.answer = lambda body: say("<function=multiply><parameter=a>3</parameter></function>")
    sum_env.tools["multiply"].parameters["properties"]["a"] = {"type": "string"}
    sum_env.compact = True
    reply = await ask(server, sum_env)
    assert reply.message.tool_calls == (ToolCall("multiply", '{"a": "3"}'),)


async def test_native_calls_are_not_doubled_by_the_text(server, sum_env):
    written = '{"name": "multiply", "arguments": {"a": 1}}'
    server.answer = lambda body: say(written, ("multiply", '{"a": 1}'))
    reply = await ask(server, sum_env)
    assert len(reply.message.tool_calls) == 1
    assert reply.recovered_calls == 0


async def test_malformed_arguments_go_back_as_an_object(server, sum_env):
    """vLLM puts the arguments of earlier calls through json.loads and fails on any other text."""
    calls = tuple(
        ToolCall("multiply", a, f"c{i}") for i, a in enumerate(["{oops", "[1]", "", "{}"])
    )
    observed = [Message("tool", "Error", tool_call_id=c.id) for c in calls]
    await ask(server, sum_env, conversation(Message("assistant", "", "", calls), *observed))
    sent = [c["function"]["arguments"] for c in server.requests[0]["messages"][2]["tool_calls"]]
    assert [json.loads(text) for text in sent] == [
        {"malformed": "{oops"},
        {"malformed": "[1]"},
        {},
        {},
    ]


async def test_lone_surrogates_are_replaced(server, sum_env):
    server.faults = [
        Fault(raw=r'{"choices": [{"message": {"content": "a\ud800b", "role": "assistant"}}]}')
    ]
    reply = await ask(server, sum_env)
    assert reply.message.content.encode("utf-8")
    assert reply.message.content.startswith("a")
    assert reply.usage == Usage()


@pytest.mark.parametrize("vision", [True, False])
async def test_pictures_are_sent_only_to_models_that_see(server, sum_env, vision):
    seen = conversation(Message("user", "drawn", images=(Image(PNG, "a map of Kenya"),)))
    await ask(server, sum_env, seen, vision=vision)
    content = server.requests[0]["messages"][2]["content"]
    assert isinstance(content, list) is vision
    assert ("a map of Kenya" in content) is not vision


@pytest.mark.parametrize(
    "fault",
    [
        Fault(429),
        Fault(500),
        Fault(502),
        Fault(503),
        Fault(529),
        Fault(408),
        Fault(drop=True),
        Fault(cut=True),
        Fault(raw="this is no JSON"),
        Fault(raw="[]"),
        Fault(raw='{"choices": []}'),
    ],
    ids=str,
)
async def test_passing_trouble_is_retried(server, sum_env, fault):
    server.faults = [fault, fault]
    reply = await ask(server, sum_env)
    assert reply.message.content == "<answer>0</answer>"
    assert len(server.requests) == 3
    assert server.requests[0] == server.requests[2]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 422])
async def test_a_refusal_is_not_retried(server, sum_env, status):
    server.faults = [Fault(status, {"message": "bad tools"})]
    with pytest.raises(PolicyError, match=f"refuses.*{status}.*bad tools") as caught:
        await ask(server, sum_env)
    assert not isinstance(caught.value, ContextLengthError)
    assert len(server.requests) == 1


async def test_an_exhausted_quota_is_not_retried(server, sum_env):
    server.faults = [Fault(429, {"message": "pay first", "code": "insufficient_quota"})]
    with pytest.raises(PolicyError, match="pay first"):
        await ask(server, sum_env)
    assert len(server.requests) == 1


async def test_retries_end(server, sum_env):
    server.faults = [Fault(500) for _ in range(9)]
    with pytest.raises(PolicyError, match=r"scripted fault.*after 3 attempts"):
        await ask(server, sum_env, retries=2)
    assert len(server.requests) == 3
    server.requests.clear()
    with pytest.raises(PolicyError, match="after 1 attempts"):
        await ask(server, sum_env, retries=0)
    assert len(server.requests) == 1


async def test_the_waits_double(server, sum_env):
    server.faults = [Fault(500) for _ in range(3)]
    made = policy(server)
    made.endpoint.first_wait = 0.1
    await made.session(sum_env, sum_env.tasks()[0], 0).act(conversation())
    await made.close()
    waits = [b - a for a, b in zip(server.times, server.times[1:], strict=False)]
    for wait, least in zip(waits, (0.1, 0.2, 0.4), strict=True):
        assert least <= wait < 1.25 * least + 0.3


@pytest.mark.parametrize("form", ["seconds", "date"])
async def test_retry_after_is_honoured(server, sum_env, form):
    header = "1" if form == "seconds" else email.utils.formatdate(time.time() + 2, usegmt=True)
    server.faults = [Fault(429, headers={"Retry-After": header})]
    await ask(server, sum_env)
    assert server.times[1] - server.times[0] >= 0.99
    assert LONGEST_RETRY_AFTER > 60


async def test_a_slow_answer_times_out_and_is_retried(server, sum_env):
    server.faults = [Fault(delay=5.0)]
    began = time.monotonic()
    reply = await ask(server, sum_env, timeout=0.3)
    assert reply.message.content == "<answer>0</answer>"
    assert time.monotonic() - began < 3
    server.delay = 5.0
    with pytest.raises(PolicyError, match=r"no answer.*after 1 attempts"):
        await ask(server, sum_env, timeout=0.2, retries=0)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "anything", "code": "context_length_exceeded"}),
        (
            400,
            {
                "message": "This model's maximum context length is 2048 tokens. However, you "
                "requested 2500 tokens (2000 in the messages, 500 in the completion)."
            },
        ),
        (400, {"message": "The prompt (total length 25938) is too long to fit into the model"}),
        (400, {"message": "the request exceeds the available context size, try increasing it"}),
        (400, {"message": "max_tokens must be at least 1, got -186."}),
        (
            400,
            {"message": "The input (9000 tokens) is longer than the model's context length."},
        ),
        (413, {"message": "Payload too large"}),
        (422, {"message": "`inputs` tokens + `max_new_tokens` must be <= 4096."}),
        (500, {"message": "the request exceeds the available context size"}),
    ],
)
async def test_a_conversation_that_does_not_fit_is_told_apart(server, sum_env, status, error):
    server.faults = [Fault(status, error)]
    with pytest.raises(ContextLengthError):
        await ask(server, sum_env)
    assert len(server.requests) == 1


async def test_the_key_comes_from_the_environment_and_stays_there(server, sum_env, monkeypatch):
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret-1")
    monkeypatch.setenv("MY_KEY", "sk-secret-2")
    await ask(server, sum_env)
    await ask(server, sum_env, api_key_env="MY_KEY")
    sent = [headers["Authorization"] for headers in server.headers]
    assert sent == ["Bearer sk-secret-1", "Bearer sk-secret-2"]
    server.faults = [Fault(401, {"message": "Incorrect API key provided: sk-secret-1"})]
    with pytest.raises(PolicyError) as caught:
        await ask(server, sum_env)
    assert "sk-secret" not in str(caught.value)
    assert "***" in str(caught.value)
    made = make_policy("openai:m@http://user:sk-secret-1@127.0.0.1:1/v1", api_key_env="MY_KEY")
    assert "sk-secret" not in json.dumps(made.describe())
    assert made.describe()["base_url"] == "http://127.0.0.1:1/v1"
    assert made.describe()["api_key_env"] == "MY_KEY"


async def test_check_accepts_a_server_that_serves_the_model(server):
    server.models = ["other", "tiny"]
    made = policy(server)
    await made.check()
    await made.close()


@pytest.mark.parametrize("status", [404, 405])
async def test_check_accepts_a_server_without_a_list(server, status):
    server.models_status = status
    made = policy(server)
    await made.check()
    await made.close()


async def test_check_lists_what_is_served(server):
    server.models = ["Qwen/Qwen3.5-4B", "tinier"]
    with pytest.raises(UserError, match=r"serves no 'tiny'; it serves tinier, Qwen/Qwen3.5-4B"):
        await policy(server).check()
    server.models = [f"model-{i}" for i in range(40)]
    with pytest.raises(UserError, match="and 35 more"):
        await policy(server).check()


async def test_check_says_which_key_is_missing(server, monkeypatch):
    server.models_status = 401
    with pytest.raises(UserError, match="refuses the API key: set OPENAI_API_KEY"):
        await policy(server).check()
    with pytest.raises(UserError, match="needs an API key: set NO_SUCH_KEY"):
        await policy(server, api_key_env="NO_SUCH_KEY").check()


async def test_check_reports_a_broken_server(server):
    server.models_status = 503
    with pytest.raises(UserError, match=r"answers with.*503"):
        await policy(server).check()


@pytest.fixture
def dead_url():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        yield f"http://127.0.0.1:{taken.getsockname()[1]}/v1"


async def test_check_says_what_to_start(dead_url, tmp_path, monkeypatch):
    table = tmp_path / "policies.yaml"
    table.write_text(f"qwen3.5-4b: {{base_url: '{dead_url}'}}\n")
    monkeypatch.setenv("ZEPHYRUS_POLICIES", str(table))
    with pytest.raises(UserError) as caught:
        await make_policy("qwen3.5-4b").check()
    assert str(caught.value) == (
        f"nothing answers at {dead_url}: start it with `zephyrus policy serve qwen3.5-4b`, "
        "or pass --base-url"
    )
    with pytest.raises(UserError, match=f"nothing answers at {dead_url}: start the server"):
        await make_policy(f"openai:m@{dead_url}").check()


async def test_a_dead_endpoint_is_a_policy_error_later(dead_url, sum_env):
    made = make_policy(f"openai:m@{dead_url}", retries=1)
    made.endpoint.first_wait = 0.01
    with pytest.raises(PolicyError, match=r"no answer.*after 2 attempts"):
        await made.session(sum_env, sum_env.tasks()[0], 0).act(conversation())


def test_one_policy_works_in_two_event_loops(server, sum_env):
    made = policy(server)

    async def once():
        reply = await made.session(sum_env, sum_env.tasks()[0], 0).act(conversation())
        return reply.message.content

    assert asyncio.run(once()) == asyncio.run(once()) == "<answer>0</answer>"


async def test_many_at_once(server, sum_env):
    server.delay = 0.2
    made = policy(server)
    began = time.monotonic()
    sessions = [made.session(sum_env, task, 0, r) for r in range(16) for task in sum_env.tasks()]
    replies = await asyncio.gather(*(s.act(conversation()) for s in sessions))
    await made.close()
    assert len(replies) == 192
    assert time.monotonic() - began < 20  # one after the other it would take 38 s
    assert len({body["seed"] for body in server.requests}) == 192


async def test_a_whole_episode_through_the_server(server, sum_env):
    def answer(body):
        last = body["messages"][-1]
        if last["role"] == "tool":
            return say(f"<answer>{last['content'].split()[0]}</answer>")
        a = int(last["content"].split()[2])
        return say("", ("multiply", json.dumps({"a": a, "b": a + 1})))

    server.answer = answer
    made = policy(server)
    task = sum_env.tasks()[3]
    episode = sum_env.begin(task)
    session = made.session(sum_env, task, 0)
    while not episode.done:
        await episode.step(await session.act(episode.messages))
    await made.close()
    assert episode.trajectory.answer == "24"
    assert episode.trajectory.rewards == {"score": 1.0, "required_tool": 1.0, "reward": 1.0}
    assert episode.trajectory.usage == Usage(22, 14)
    assert server.requests[1]["messages"][3]["tool_call_id"] == "call_0"


async def test_the_text_mode_sends_no_tools_and_reads_them_out_of_the_text(server, sum_env):
    def answer(body):
        assert {m["role"] for m in body["messages"]} <= {"system", "user", "assistant"}
        last = body["messages"][-1]["content"]
        if "<tool_response>" in last:
            return say(f"<answer>{last.split()[1]}</answer>")
        return say('<tool_call>{"name": "multiply", "arguments": {"a": 3, "b": 4}}</tool_call>')

    server.answer = answer
    made = policy(server, tool_prompt="text")
    task = sum_env.tasks()[3]
    episode = sum_env.begin(task)
    session = made.session(sum_env, task, 0)
    while not episode.done:
        await episode.step(await session.act(episode.messages))
    await made.close()
    assert episode.trajectory.rewards["reward"] == 1.0
    assert episode.trajectory.recovered_calls == 1
    assert all("tools" not in body for body in server.requests)
    assert server.requests[0]["messages"][0]["content"].startswith("Use the tools.\n\nCall a tool")
    assert [m["role"] for m in server.requests[1]["messages"]] == [
        "system",
        "user",
        "assistant",
        "user",
    ]
