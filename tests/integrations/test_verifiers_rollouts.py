"""Rollouts under verifiers itself: its environment, its interception, a real model server."""

import asyncio
import json

import pytest

pytest.importorskip("verifiers", reason="the extra verifiers is not installed")

import verifiers.v1 as vf
from openai_server import Fault, OpenAIServer, say
from verifiers_model import ScriptedModel, wrong

import zephyrus
from zephyrus.integrations.verifiers.record import to_trajectory
from zephyrus.limits import StopReason
from zephyrus.tools import Tool
from zephyrus_bench.env import BenchEnv

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


@pytest.fixture(scope="module")
def bench():
    return zephyrus.make("bench")


@pytest.fixture
def server(bench):
    server = OpenAIServer(ScriptedModel(bench))
    server.usage = USAGE
    with server.running():
        yield server


async def roll_out(server, n=1, *, taskset="zephyrus-bench", agent=None, **options):
    """Episodes of the first tasks, as ``vf-eval`` rolls them out."""
    raw = {"taskset": {"id": taskset, **options}}
    if agent is not None:
        raw["agent"] = agent
    env = vf.load_environment(vf.resolve_env_config(raw))
    client = vf.EvalClientConfig(base_url=server.url, api_key_var="NO_KEY")
    ctx = vf.ModelContext(client=client, model="fake", sampling=vf.SamplingConfig(temperature=0.5))
    async with env.serving():
        slots = [slot for task in env.taskset.take(n) for slot in env.slots(task, 1)]
        return await asyncio.gather(*(env.run_slot(slot, ctx) for slot in slots))


async def one(server, **options):
    (episode,) = await roll_out(server, **options)
    (trace,) = episode.traces
    return trace


async def test_every_template_is_solved(server, bench):
    """Scores, parts, usage and tools land where users of verifiers look for them."""
    episodes = await roll_out(server, 8)
    assert {e.task.data.name for e in episodes} == {t.template for t in bench.tasks()}
    for episode in episodes:
        (trace,) = episode.traces
        assert episode.ok and trace.ok and trace.errors == []
        assert trace.reward == 1.0
        assert trace.rewards["reward"].weight == 1.0
        assert trace.metrics["score"] == trace.metrics["required_tool"] == 1.0
        assert trace.metrics["turn_penalty"] == 0.0
        turns = trace.num_turns
        assert trace.metrics["turns"] == turns == trace.metrics["tool_calls"] + 1
        assert trace.metrics["answered"] == 1.0 and trace.metrics["failed_tool_calls"] == 0.0
        assert trace.usage.prompt_tokens == 11 * turns
        assert trace.usage.completion_tokens == 7 * turns
        assert trace.stop_condition == "agent_completed"
        assert trace.num_branches == 1
        assert [tool.name for tool in trace.tools] == list(bench.tools)
        assert [m.role for m in trace.messages[:2]] == ["system", "user"]
    assert all(body["temperature"] == 0.5 for body in server.requests)  # verifiers' sampling rules
    assert all("max_tokens" not in body for body in server.requests)


async def test_the_rollout_is_that_of_our_own_loop(server, bench, tmp_path):
    """Same model, same tasks: the same conversations, calls, answers and rewards."""
    tasks = list(bench.tasks().take(3))
    run = await zephyrus.arollout(
        bench, f"openai:fake@{server.url}", tasks=tasks, output=tmp_path / "run", progress=False
    )
    ours = {t.key.task: t for t in run}
    for episode in await roll_out(server, 3):
        theirs = to_trajectory(episode.traces[0].model_dump(mode="json"))
        mine = ours[theirs.key.task]
        assert theirs.messages == mine.messages
        assert [(c.turn, c.name, c.arguments, c.error) for c in theirs.calls] == [
            (c.turn, c.name, c.arguments, c.error) for c in mine.calls
        ]
        for name in ("answer", "rewards", "stop", "turns", "usage", "task"):
            assert getattr(theirs, name) == getattr(mine, name), name


async def test_a_wrong_answer_scores_nothing(server):
    server.answer = wrong
    trace = await one(server)
    assert trace.ok and trace.reward == 0.0
    assert trace.metrics["answered"] == 1.0 and trace.metrics["required_tool"] == 0.0


async def test_mistakes_are_observations(server):
    """Unknown tool, malformed arguments, no call at all: answered, and the rollout goes on."""
    turns = iter(
        [
            say(None, ("dataset", '{"variable": ')),
            say(None, ("nosuch", "{}")),
            say("I wonder."),
            say("<answer>1</answer>"),
        ]
    )
    server.answer = lambda body: next(turns)
    trace = await one(server)
    assert trace.ok and trace.num_turns == 4
    assert trace.metrics["failed_tool_calls"] == 2.0
    found = to_trajectory(trace.model_dump(mode="json"))
    assert [call.error for call in found.calls] == ["malformed_json", "unknown_tool"]
    assert "no tool call and no answer" in found.messages[-2].content
    # Most servers refuse arguments that are no JSON, so these go back as a valid object.
    resent = server.requests[1]["messages"][2]["tool_calls"][0]["function"]["arguments"]
    assert json.loads(resent) == {"malformed": '{"variable": '}


async def test_reasoning_goes_back_and_the_trace_stays_one_branch(server):
    turns = iter(
        [
            say("", ("features", '{"query": "Kenya"}'), reasoning="Let me see.", refusal=None),
            say("<think>So.</think><answer>1</answer>"),
        ]
    )
    server.answer = lambda body: next(turns)
    trace = await one(server)
    assert trace.num_branches == 1
    assert trace.nodes[2].message.reasoning_content == "Let me see."
    assert server.requests[1]["messages"][2]["reasoning"] == "Let me see."
    assert "refusal" not in server.requests[1]["messages"][2]
    found = to_trajectory(trace.model_dump(mode="json"))
    assert found.messages[-1].reasoning == "So." and found.answer == "1"


async def test_a_call_in_plain_text_is_found(server):
    text = '<tool_call>{"name": "features", "arguments": {"query": "Kenya"}}</tool_call>'
    turns = iter([say(text), say("<answer>1</answer>")])
    server.answer = lambda body: next(turns)
    trace = await one(server)
    assert trace.metrics["recovered_tool_calls"] == trace.metrics["tool_calls"] == 1.0
    assert to_trajectory(trace.model_dump(mode="json")).messages[3].role == "tool"


async def test_a_passing_outage_is_waited_for(server):
    server.faults = [Fault(503), Fault(429)]
    trace = await one(server)
    assert trace.ok and trace.reward == 1.0
    assert [call.error.status_code for call in trace.calls if call.error] == [503, 429]


async def test_a_provider_that_refuses_is_an_error_and_no_score(server):
    server.faults = [Fault(401, {"message": "no such key"})]
    trace = await one(server)
    assert not trace.ok and trace.rewards == {} and trace.metrics == {}
    assert trace.last_error.type == "ProviderError" and trace.last_error.status_code == 401
    found = to_trajectory(trace.model_dump(mode="json"))
    assert found.failed and found.rewards is None and "no such key" in found.error


async def test_a_broken_world_is_an_error_and_no_score(server):
    def explode() -> str:
        """Break."""
        raise FileNotFoundError("the file is gone")

    zephyrus.register("tools", "explode", Tool(explode))
    server.answer = lambda body: say(None, ("explode", "{}"))
    trace = await one(server, tools=["explode"])
    assert not trace.ok and trace.rewards == {}
    assert trace.last_error.type == "HarnessError"
    assert "the file is gone" in trace.last_error.message
    assert to_trajectory(trace.model_dump(mode="json")).failed


async def test_limits_of_verifiers_truncate_and_score(server):
    server.answer = lambda body: say(None, ("features", '{"query": "Kenya"}'))
    trace = await one(server, agent={"max_turns": 2})
    assert trace.ok and trace.num_turns == 2
    assert trace.stop_condition == "max_turns" and trace.is_truncated
    assert trace.reward == 0.0 and trace.metrics["answered"] == 0.0
    found = to_trajectory(trace.model_dump(mode="json"))
    assert found.stop is StopReason.TURNS
    assert found.messages[-1].role == "tool"  # what no turn followed is kept as well


async def test_limits_of_ours_truncate_in_their_words(server):
    server.answer = lambda body: say(None, ("features", '{"query": "Kenya"}'))
    trace = await one(server, limits={"turns": 3})
    assert trace.num_turns == 3 and trace.stop_condition == "max_turns" and trace.is_truncated
    assert trace.ok and trace.rewards["reward"].score == 0.0


async def test_a_full_context_truncates(server):
    message = "This model's maximum context length is 10 tokens."
    server.faults = [Fault(400, {"message": message, "code": "context_length_exceeded"})]
    trace = await one(server)
    assert trace.ok and trace.stop_condition == "max_total_tokens" and trace.is_truncated
    assert trace.reward == 0.0


async def test_deadlines_of_both_kinds(server):
    server.delay = 5.0
    theirs = await one(server, agent={"timeout": {"rollout": 0.5}})
    ours = await one(server, limits={"seconds": 0.5})
    for trace in (theirs, ours):
        assert trace.ok and trace.is_timeout and trace.stop_condition == "agent_timeout"
        assert trace.reward == 0.0
        assert to_trajectory(trace.model_dump(mode="json")).stop is StopReason.TIME


async def test_pictures_land_on_the_trace(server):
    call = '{"variable": "2m_temperature", "feature": "Kenya", "hour": 24}'

    def answer(body):
        return say(
            "<answer>1</answer>" if len(body["messages"]) > 2 else None,
            *(() if len(body["messages"]) > 2 else (("map", call),)),
        )

    server.answer = answer
    seen = await one(server, agent={"harness": {"vision": True}})
    (shown,) = [m for m in seen.messages if m.role == "user" and isinstance(m.content, list)]
    assert shown.content[1].image_url.url.startswith("data:image/png;base64,iVBOR")
    found = to_trajectory(seen.model_dump(mode="json"))
    (image,) = found.messages[4].images
    assert image.png.startswith(b"\x89PNG") and image.alt
    blind = await one(server)
    assert all(isinstance(m.content, str) or m.content is None for m in blind.messages)
    assert image.alt in blind.messages[4].content


async def test_the_users_system_prompt_and_tools_that_are_off(server, tmp_path):
    server.answer = lambda body: say("<answer>1</answer>")
    (tmp_path / "prompt.txt").write_text("Be brief.")
    await one(
        server,
        system_prompt=str(tmp_path / "prompt.txt"),
        agent={"harness": {"id": "zephyrus-bench", "disabled_tools": ["map"]}},
    )
    assert server.requests[0]["messages"][0]["content"] == "Be brief."
    offered = [tool["function"]["name"] for tool in server.requests[0]["tools"]]
    assert offered == ["features", "dataset", "climatology"]


async def test_options_reach_the_environment(server):
    trace = await one(server, compact=True, turn_cost=0.5, free_turns=0, split="validation")
    assert server.requests[0]["messages"][0]["content"] == BenchEnv(compact=True).system_prompt()
    assert trace.task.data.task["split"] == "validation"
    assert trace.metrics["turn_penalty"] == 0.5 * trace.num_turns


async def test_an_unknown_dataset_is_said_before_any_rollout(server):
    with pytest.raises(zephyrus.UserError, match="nowhere"):
        await roll_out(server, dataset="nowhere")
    assert server.requests == []


async def test_a_report_is_scored_as_by_us():
    env = zephyrus.make("report")
    server = OpenAIServer(ScriptedModel(env))
    server.usage = USAGE
    with server.running():
        trace = await one(server, taskset="zephyrus-report")
    assert trace.ok
    found = to_trajectory(trace.model_dump(mode="json"))
    task = env.tasks()[found.key.task]
    expected = await env.ascore(task, found)
    assert trace.reward == pytest.approx(expected["reward"], abs=1e-12) and trace.reward > 0.3
    parts = ("rubric", "f1", "precision", "recall", "neutral_rate", "length_penalty")
    assert {p: trace.metrics[p] for p in parts} == pytest.approx({p: expected[p] for p in parts})


async def test_a_judge_that_fails_is_an_error_and_no_score():
    """It answers when asked whether it is there, and fails at its work."""

    def broken(body):
        return say("I can't.")

    env = zephyrus.make("report")
    server, judge = OpenAIServer(ScriptedModel(env)), OpenAIServer(broken, models=["judge"])
    server.usage = USAGE
    with server.running(), judge.running():
        where = f"openai:judge@{judge.url}"
        trace = await one(server, taskset="zephyrus-report", judge=where)
    assert not trace.ok and trace.rewards == {"reward": None}
    assert trace.last_error.type == "TaskError" and "JudgeError" in trace.last_error.message
    found = to_trajectory(trace.model_dump(mode="json"))
    assert found.stop is StopReason.ANSWERED  # the rollout is whole, its score is missing
    assert found.rewards is None and "JudgeError" in found.unscored


async def test_no_judge_is_said_before_any_rollout(server):
    with pytest.raises(zephyrus.UserError, match="nothing answers"):
        await roll_out(server, taskset="zephyrus-report", judge="openai:j@http://127.0.0.1:9/v1")
    assert server.requests == []


async def test_every_task_validates(bench):
    """The scripted policy solves it, and an untouched one scores nothing."""
    config = vf.taskset_config_type("zephyrus-bench")(id="zephyrus-bench")
    for task in vf.load_taskset(config).take(8):
        assert await task.validate(None) is True
        info = vf.AgentInfo(config=vf.AgentConfig())
        data = vf.TraceTask(type="EpisodeTask", data=task.data)
        trace = vf.Trace(task=data, agent=info)
        await task.score(trace)
        assert trace.reward == 0.0


def test_keys_and_names():
    config = vf.taskset_config_type("zephyrus-bench")(id="zephyrus-bench")
    tasks = list(vf.load_taskset(config).take(3))
    assert [task.key for task in tasks] == [task.data.id for task in tasks]
    assert [task.data.idx for task in tasks] == [0, 1, 2]
    assert json.loads(tasks[0].data.answer) == tasks[0].data.task["gold"]
