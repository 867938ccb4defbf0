import asyncio
import json

import gymnasium
import numpy as np
import pytest
from gymnasium.utils.env_checker import check_env

import zephyrus
from zephyrus.errors import UserError
from zephyrus.messages import Reply
from zephyrus.trajectory import CallRecord, Key, Trajectory
from zephyrus_bench.env import BANKS, BenchEnv
from zephyrus_bench.script import READERS, UnreadableError
from zephyrus_bench.templates import TEMPLATES
from zephyrus_geodata import Dataset, Forecast


@pytest.fixture
def env(analytic, bank):
    made = BenchEnv(dataset=analytic, bank=bank)
    yield made
    made.close()


def solve(env, task):
    """The scripted policy without the rollout machinery."""

    async def drive():
        episode = env.begin(task)
        script = env.script(task)
        message = next(script)
        while True:
            observations = await episode.step(Reply(message))
            if episode.done:
                return episode.trajectory
            message = script.send(observations)

    return asyncio.run(drive())


def call(name, **arguments):
    function = {"name": name, "arguments": json.dumps(arguments)}
    return json.dumps(
        {"content": "", "tool_calls": [{"id": "a", "type": "function", "function": function}]}
    )


def test_every_question_is_solved_by_the_tools_alone(analytic, bank):
    for split in ("train", "validation", "test"):
        env = BenchEnv(split=split, dataset=analytic, bank=bank)
        for task in env.tasks():
            trajectory = solve(env, task)
            texts = [m.content for m in trajectory.messages if m.role == "tool"]
            assert trajectory.rewards == {
                "score": 1.0,
                "required_tool": 1.0,
                "turn_penalty": 0.0,
                "reward": 1.0,
            }, (task.prompt, task.gold, trajectory.answer, texts)


def test_check_env(env):
    check_env(env, skip_render_check=True)


def test_a_whole_episode(env):
    task = next(t for t in env.tasks() if t.template == "feature_statistic")
    observation, info = env.reset(seed=1, options={"task": task.id})
    assert observation["text"] == task.prompt
    assert {tool["function"]["name"] for tool in info["tools"]} == set(env.tool_names)
    step = task.program["calls"][0]
    observation, reward, terminated, truncated, _ = env.step(
        call(step["tool"], **step["arguments"])
    )
    assert (reward, terminated, truncated, observation["error"]) == (0.0, False, False, "")
    _, reward, terminated, truncated, info = env.step(f"<answer>{task.gold}</answer>")
    assert (reward, terminated, truncated) == (1.0, True, False)
    assert set(info["rewards"]) == {"score", "required_tool", "turn_penalty", "reward"}


def test_resets_are_seeded(env):
    first = [env.reset(seed=7)[1]["task"], env.reset()[1]["task"]]
    again = [env.reset(seed=7)[1]["task"], env.reset()[1]["task"]]
    assert first == again


def trajectory_of(task, turns, answer, *calls):
    records = [CallRecord(0, name, "{}", error) for name, error in calls]
    return Trajectory(Key(task.id, 0, 0), turns=turns, answer=answer, calls=records)


def test_equation_3(env):
    task = next(t for t in env.tasks() if t.answer_type == "time")
    gold, near, tool = str(task.gold), str(task.gold + 6), ("dataset", None)

    def reward(*args):
        return env.score(task, trajectory_of(task, *args))

    assert reward(2, gold, tool)["reward"] == 1.0
    assert reward(2, near, tool)["reward"] == 0.5
    assert reward(6, gold, tool)["turn_penalty"] == 0.0
    late = reward(9, gold, tool)
    assert late["turn_penalty"] == pytest.approx(0.06)
    assert late["reward"] == pytest.approx(0.94)
    # the answer is right, but the required tool was not used, or not successfully
    for calls in ([], [("climatology", None)], [("dataset", "tool_error")]):
        parts = reward(2, gold, *calls)
        assert (parts["score"], parts["required_tool"], parts["reward"]) == (1.0, 0.0, 0.0)
    # cut off without an answer
    parts = reward(10, None, tool)
    assert parts["score"] == 0.0
    assert parts["reward"] == pytest.approx(-0.08)


def test_the_turn_cost_is_an_option(analytic, bank):
    env = BenchEnv(dataset=analytic, bank=bank, turn_cost=0.1, free_turns=1)
    task = next(t for t in env.tasks() if t.answer_type == "time")
    parts = env.score(task, trajectory_of(task, 3, str(task.gold), ("dataset", None)))
    assert parts["reward"] == pytest.approx(0.8)
    with pytest.raises(UserError):
        BenchEnv(turn_cost=-0.1)


def test_random_answers_have_the_right_form_and_score_little(env):
    rng = np.random.default_rng(0)
    scores = {name: [] for name in TEMPLATES}
    for task in env.tasks():
        answer = env.read_answer(env.sample_answer(task, rng))
        json.loads(answer)
        scores[task.template].append(env.score(task, trajectory_of(task, 1, answer))["score"])
    assert max(np.mean(found) for found in scores.values()) < 0.45


def test_an_empty_answer_scores_nothing(env):
    for task in env.tasks():
        assert env.score(task, trajectory_of(task, 1, ""))["score"] == 0.0


def test_prompts_fit_small_models(analytic, bank):
    def tokens(env):
        # Qwen's tokenizer gives JSON and English at least 3.3 characters a token on average
        schemas = json.dumps(env.tool_schemas(), ensure_ascii=False, separators=(",", ":"))
        return (len(env.system_prompt()) + len(schemas)) / 3.3

    full = BenchEnv(dataset=analytic, bank=bank)
    compact = BenchEnv(dataset=analytic, bank=bank, compact=True)
    assert len(compact.system_prompt()) < 0.5 * len(full.system_prompt())
    assert "map" not in compact.tools
    assert tokens(compact) < tokens(full)
    assert "countries in Africa" in full.system_prompt()  # a set is what the tools say it is
    for kind in ("24.3", '{"place"', '["Kenya"', "[]"):
        assert kind in full.system_prompt()
        assert kind in compact.system_prompt()


def test_the_world_is_the_tasks_forecast(env):
    task = env.tasks()[0]
    world = env.world(task)
    assert world[Forecast].name == task.world["forecast"]
    assert world[Dataset].name == "analytic"


def test_a_dataset_without_a_bank_is_the_users_mistake(analytic):
    with pytest.raises(UserError, match="build-bank"):
        BenchEnv(dataset=analytic).tasks()


def test_an_unknown_split_is_the_users_mistake(env):
    with pytest.raises(UserError, match="split"):
        env.tasks("dev")


@pytest.mark.parametrize(
    ("read", "text", "answer"),
    [
        ("value", "2 m temperature, mean over Kenya (country), 6-240 h: 24.31 °C", 24.31),
        ("value", "Geopotential, mean over X (sea), 6-240 h: -1234.5 gpm\n(a note.)", -1234.5),
        ("hour", "…, 6-240 h: maximum 27.42 °C at 132 h (valid 1959-01-07 12:00 UTC)", 132),
        (
            "first",
            "header\n1. Sahara: 34.12 °C\n2. Gobi: 1.00 °C",
            {"place": "Sahara", "value": 34.12},
        ),
        ("names", "header\n3 of 12 above January p90: Kenya; Chad\n(Smaller …)", ["Kenya", "Chad"]),
        ("names", "h\n2 of 9 below May p10: Birmingham, UK; Leeds", ["Birmingham, UK", "Leeds"]),
        ("names", "h\n1 of 9 below May p10: Birmingham, UK", ["Birmingham, UK"]),
        ("names", "h\n0 of 12 above January p90: none", []),
    ],
)
def test_tool_texts_are_read(read, text, answer):
    assert READERS[read](text) == answer


def test_an_unreadable_text_is_told(env):
    with pytest.raises(UnreadableError):
        READERS["value"]("Error: no such place")


SHIPPED = pytest.mark.skipif(
    not (BANKS / "demo.jsonl.gz").is_file(), reason="the demo bank has not been built"
)


@SHIPPED
@pytest.mark.parametrize("mode", ["sync", "async"])
def test_make_vec(mode):
    options = {"shared_memory": False} if mode == "async" else {}
    envs = gymnasium.make_vec(
        "zephyrus/Bench-v0", num_envs=2, vectorization_mode=mode, vector_kwargs=options
    )
    try:
        observation, _ = envs.reset(seed=3)
        assert len(observation["text"]) == 2
        _, rewards, terminated, _, _ = envs.step(("<answer>x</answer>", "hello"))
        assert terminated.tolist() == [True, False]
        assert rewards.tolist() == [0.0, 0.0]
    finally:
        envs.close()


@SHIPPED
def test_the_registered_environment_passes_gymnasiums_check():
    made = gymnasium.make("zephyrus/Bench-v0")
    check_env(made.unwrapped, skip_render_check=True)
    made.close()


@SHIPPED
def test_the_shipped_bank():
    from zephyrus_bench.report import measure

    env = zephyrus.make("bench")
    assert len(env.tasks()) == 500
    assert len(env.tasks("validation")) == 125
    assert (BANKS / "demo.jsonl.gz").stat().st_size < 1_000_000
    for split in ("train", "validation", "test"):
        for row in measure(env.tasks(split)):
            assert row.ok, (row.split, row.template, row.guess)
    sets = {t.provenance["key"][1] for t in env.tasks("train")}
    assert {"country in Africa", "country in Asia", "us_state in United States"} <= sets
    keys = [
        {tuple(t.provenance["key"]) for t in env.tasks(s)} for s in ("train", "validation", "test")
    ]
    assert len(set.union(*keys)) == sum(map(len, keys))


@SHIPPED
@pytest.mark.slow
def test_the_scripted_policy_solves_the_whole_shipped_bank():
    for split in ("train", "validation", "test"):
        env = zephyrus.make("bench", split=split)
        wrong = [t.id for t in env.tasks() if solve(env, t).rewards["reward"] != 1.0]
        assert wrong == []


def test_a_missing_bank_is_told_from_a_missing_dataset(analytic):
    with pytest.raises(UserError, match=r"^There is no dataset 'moon'"):
        BenchEnv(dataset="moon").tasks()
    with pytest.raises(
        UserError, match=r"^no bank ships .*, then pass --bank bank\.jsonl \(bank=…\)$"
    ):
        BenchEnv(dataset=analytic).tasks()
