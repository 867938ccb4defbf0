import asyncio
import json
import subprocess
import sys
import warnings

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

from zephyrus.errors import UserError
from zephyrus.limits import Limits
from zephyrus.tools import Tool, tool

ID = "zephyrus-test/Sum-v0"
CALL = {"function": {"name": "multiply", "arguments": '{"a": 3, "b": 4}'}}


def message(*calls, content=""):
    return json.dumps({"content": content, "tool_calls": list(calls)})


def call(name, arguments):
    return {"function": {"name": name, "arguments": json.dumps(arguments)}}


@pytest.fixture
def sum_class(sum_env):
    return type(sum_env)


@pytest.fixture
def registered(sum_class):
    gymnasium.register(ID, entry_point=sum_class)
    yield ID
    del gymnasium.registry[ID]


@pytest.fixture
def env(sum_env):
    yield sum_env
    sum_env.close()


def test_gymnasiums_check_has_nothing_to_say(registered):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", ResourceWarning)  # the checker leaves its own copies open
        made = gymnasium.make(registered)
        check_env(made.unwrapped)
        made.close()


def test_the_same_seed_gives_the_same_tasks_and_other_seeds_others(registered):
    def drawn(seed):
        made = gymnasium.make(registered)
        tasks = [made.reset(seed=seed)[1]["task"], *(made.reset()[1]["task"] for _ in range(9))]
        made.close()
        return tasks

    assert drawn(5) == drawn(5)
    assert drawn(5) != drawn(6)
    assert len(set(drawn(5))) > 1


def test_reset_on_a_named_task(env):
    observation, info = env.reset(seed=0, options={"task": "t7"})
    assert info["task"] == "t7"
    assert observation["text"] == "What is 7 times 8, scaled?"
    assert observation["turn"] == 0
    assert observation["error"] == ""
    assert set(info) == {"task", "tools", "messages"}
    assert [m["role"] for m in info["messages"]] == ["system", "user"]
    assert [schema["function"]["name"] for schema in info["tools"]] == ["multiply", "explode"]
    with pytest.raises(UserError, match="t99"):
        env.reset(options={"task": "t99"})


def test_a_bank_without_tasks_is_one_sentence(sum_class):
    with pytest.raises(UserError, match="'test' of 'sum' has no tasks"):
        sum_class(n=0).reset(seed=0)


def test_an_episode_from_the_first_call_to_the_reward(env):
    env.reset(seed=0, options={"task": "t3"})
    observation, reward, terminated, truncated, info = env.step(message(CALL))
    assert observation["text"] == "24 units"
    assert observation["turn"] == 1
    assert observation["turn"].dtype == np.int64
    assert (observation["error"], reward, terminated, truncated) == ("", 0.0, False, False)
    assert set(info) == {"task", "messages"}
    assert info["messages"] == [
        {"role": "tool", "content": "24 units", "tool_call_id": "call-0-0", "name": "multiply"}
    ]
    assert env.observation_space.contains(observation)

    observation, reward, terminated, truncated, info = env.step("It is <answer>24</answer>")
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert info["rewards"] == {"score": 1.0, "required_tool": 1.0, "reward": 1.0}
    assert info["stop"] == "answered"
    assert set(info) == {"task", "messages", "rewards", "stop"}
    assert env.observation_space.contains(observation)


def test_the_right_answer_without_the_required_tool(env):
    env.reset(seed=0, options={"task": "t3"})
    _, reward, terminated, _, info = env.step("<answer>24</answer>")
    assert terminated
    assert reward == 0.0
    assert info["rewards"] == {"score": 1.0, "required_tool": 0.0, "reward": 0.0}


def test_a_used_up_budget_truncates_and_still_scores(sum_class):
    env = sum_class(limits=Limits(turns=2))
    env.reset(seed=0)
    assert env.step("hm")[2:4] == (False, False)
    _, reward, terminated, truncated, info = env.step("hm")
    assert (terminated, truncated) == (False, True)
    assert info["stop"] == "turns"
    assert info["rewards"]["reward"] == reward == 0.0
    env.close()


@pytest.mark.parametrize(
    ("action", "error", "says"),
    [
        ("I think so", "no_answer", "<answer>"),
        ("", "no_answer", "no tool call and no answer"),
        (message(call("divide", {})), "unknown_tool", "The tools are: multiply, explode."),
        (message(call("multiply", {"a": -1})), "tool_error", "send 0 or more"),
        (message(call("multiply", {"b": 1})), "invalid_arguments", "needs the argument 'a'"),
        (
            message({"function": {"name": "multiply", "arguments": '{"a": '}}),
            "malformed_json",
            'for example {"a": 1.0}',
        ),
        ('{"tool_calls": "x"}', "malformed_json", "could not be read"),
        ('{"tool_calls": [1]}', "malformed_json", "could not be read"),
        ('{"tool_calls": [{"function"', "malformed_json", "could not be read"),
        ('{"tool_calls": [], "image_alts": ["a"]}', "malformed_json", "could not be read"),
        ('{"tool_calls": ' + "[" * 100_000, "malformed_json", "could not be read"),
    ],
)
def test_the_agents_mistakes_are_observations(env, action, error, says):
    env.reset(seed=0)
    observation, reward, terminated, truncated, info = env.step(action)
    assert observation["error"] == error
    assert says in observation["text"]
    assert (reward, terminated, truncated) == (0.0, False, False)
    assert "rewards" not in info


def test_parallel_calls_are_answered_in_order_each_with_its_own_error(env):
    env.reset(seed=0)
    calls = [call("multiply", {"a": a}) for a in (1, -1, 3)] + [call("divide", {})]
    observation, *_, info = env.step(message(*calls))
    assert observation["error"] == "tool_error unknown_tool"
    ids = [m["tool_call_id"] for m in info["messages"]]
    assert ids == ["call-0-0", "call-0-1", "call-0-2", "call-0-3"]
    assert [info["messages"][i]["content"] for i in (0, 2)] == ["2 units", "6 units"]


@pytest.mark.parametrize(
    ("limits", "errors"),
    [
        ({"calls_per_turn": 2}, [None, None, "budget", None, None, "budget"]),
        ({"calls": 4}, [None, None, None, None, "budget", "budget"]),
        ({"calls_per_tool": 1}, [None, *["budget"] * 5]),
        ({"calls_per_tool": {"explode": 1}}, [None] * 6),
    ],
)
def test_budgets_of_calls(sum_class, limits, errors):
    env = sum_class(limits=Limits(**limits))
    env.reset(seed=0)
    for _ in range(2):
        *_, terminated, truncated, _ = env.step(message(CALL, CALL, CALL))
        assert not (terminated or truncated)
    assert [c.error for c in env.episode.trajectory.calls] == errors
    env.close()


def test_long_observations_are_cut_and_it_is_said(sum_class):
    def shout() -> str:
        """Shout."""
        return "x" * 100

    env = sum_class(tools=(Tool(shout),), limits=Limits(observation_chars=30))
    env.reset(seed=0)
    text = env.step(message(call("shout", {})))[0]["text"]
    assert text == "x" * 30 + "\n[cut: 70 more characters; ask for less]"
    env.close()


def test_a_slow_tool_times_out_and_the_episode_goes_on(sum_class):
    async def sleepy() -> str:
        """Sleep."""
        await asyncio.sleep(30)
        return "awake"

    env = sum_class(tools=(Tool(sleepy),), limits=Limits(tool_seconds=0.05))
    env.reset(seed=0)
    observation, _, terminated, truncated, _ = env.step(message(call("sleepy", {})))
    assert observation["error"] == "timeout"
    assert "longer than 0.05 s" in observation["text"]
    assert not (terminated or truncated)
    assert 0.04 < env.episode.trajectory.calls[0].seconds < 10
    env.close()


def test_step_before_reset_and_after_the_end(env):
    with pytest.raises(UserError, match="reset"):
        env.step("x")
    env.reset(seed=0)
    env.step("<answer>1</answer>")
    with pytest.raises(RuntimeError, match="the episode has ended"):
        env.step("x")
    env.reset(seed=0)
    assert env.step("x")[2:4] == (False, False)


def test_a_broken_tool_raises_and_is_never_a_zero(env):
    env.reset(seed=0)
    with pytest.raises(RuntimeError, match="FileNotFoundError in the tool explode"):
        env.step(message(call("explode", {})))
    assert env.episode.trajectory.rewards is None


def test_render(sum_class):
    env = sum_class(render_mode="ansi")
    assert env.render() is None
    env.reset(seed=0, options={"task": "t3"})
    env.step(message(CALL))
    assert env.render().splitlines() == [
        "[system] Use the tools.",
        "[user] What is 3 times 4, scaled?",
        "[assistant]",
        '-> multiply({"a": 3, "b": 4})',
        "[tool] 24 units",
    ]
    env.close()
    silent = sum_class()
    silent.reset(seed=0)
    assert silent.render() is None


async def test_it_works_where_a_loop_is_running_already(env):
    assert asyncio.get_running_loop().is_running()
    env.reset(seed=0, options={"task": "t3"})
    assert env.step(message(CALL))[0]["text"] == "24 units"
    assert env.step("<answer>24</answer>")[1] == 1.0
    env.close()
    env.reset(seed=0, options={"task": "t3"})  # and again after close
    assert env.step(message(CALL))[0]["text"] == "24 units"


def test_with_and_without_a_running_loop_by_turns(env):
    async def inside():
        return env.step("hm")

    env.reset(seed=0)
    turns = [env.step("hm"), asyncio.run(inside()), env.step("hm"), asyncio.run(inside())]
    assert [int(step[0]["turn"]) for step in turns] == [1, 2, 3, 4]


@pytest.mark.parametrize("mode", ["sync", "async"])
def test_vectors(registered, mode):
    options = {"shared_memory": False} if mode == "async" else {}
    envs = gymnasium.make_vec(
        registered, num_envs=3, vectorization_mode=mode, vector_kwargs=options
    )
    try:
        observation, info = envs.reset(seed=[1, 2, 1], options={"task": "t3"})
        assert observation["text"] == ("What is 3 times 4, scaled?",) * 3
        assert list(info["task"]) == ["t3"] * 3
        observation, reward, terminated, truncated, _ = envs.step(
            (message(CALL), "<answer>24</answer>", "hm")
        )
        assert observation["text"][0] == "24 units"
        assert observation["error"] == ("", "", "no_answer")
        assert observation["turn"].tolist() == [1, 1, 1]
        assert reward.tolist() == [0.0, 0.0, 0.0]
        assert terminated.tolist() == [False, True, False]
        assert truncated.tolist() == [False, False, False]
    finally:
        envs.close()


def test_the_scripted_solution_of_every_task_is_worth_1(env):
    for task in env.tasks():
        env.reset(options={"task": task.id})
        script = env.script(task)
        turn = next(script)
        step = env.step(json.dumps(turn.to_openai()))
        turn = script.send(env.episode.messages[-1:])
        step = env.step(turn.content)
        assert step[1] == 1.0


def test_tools_by_name_and_as_tools(sum_class):
    @tool(name="test_env_half")
    def half(a: float) -> str:
        """Half of a number."""
        return f"{a / 2:g}"

    env = sum_class(tools=("test_env_half",))
    assert env.tools == {"test_env_half": half}
    with pytest.raises(UserError, match="did you mean test_env_half"):
        sum_class(tools=("test_env_hal",))


def test_compact_schemas_are_short_and_name_the_arguments(sum_class):
    long, short = sum_class().tool_schemas(), sum_class(compact=True).tool_schemas()
    assert len(json.dumps(short)) < len(json.dumps(long))
    assert short[0] == {
        "type": "function",
        "function": {
            "name": "multiply",
            "description": "Multiply. Needs a. Optional: b.",
            "parameters": {"type": "object", "additionalProperties": True},
        },
    }
    assert "scale" not in json.dumps(long[0]["function"]["parameters"])
    assert short[1]["function"]["description"] == "Break the world."


def test_a_compact_environment_still_checks_arguments(sum_class):
    env = sum_class(compact=True)
    env.reset(seed=0)
    observation = env.step(message(call("multiply", {"x": 1})))[0]
    assert observation["error"] == "invalid_arguments"
    assert "it takes: a, b." in observation["text"]
    env.close()


@pytest.mark.parametrize(
    "code",
    [
        "import gymnasium, zephyrus\nenv = gymnasium.make('zephyrus/Bench-v0')",
        "import gymnasium\nenv = gymnasium.make('zephyrus:zephyrus/Bench-v0')",
        "import zephyrus, gymnasium\nenv = gymnasium.make('zephyrus.env:zephyrus/Bench-v0')",
        "import zephyrus.env, gymnasium\nenv = gymnasium.make('zephyrus/Bench-v0')",
    ],
)
def test_gymnasium_finds_the_installed_environment(code):
    code += "\nobservation, info = env.reset(seed=1)\nprint(info['task'], env.unwrapped.name)"
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=300, check=False
    )
    assert done.returncode == 0, done.stderr
    task, name = done.stdout.split()
    assert task
    assert name == "bench"
