"""Judges of verifiers: plugged into our taskset, and into an environment of ours."""

import json

import pytest

pytest.importorskip("verifiers", reason="the extra verifiers is not installed")

import verifiers.v1 as vf
from openai_server import OpenAIServer, say
from verifiers_model import ScriptedModel

import zephyrus
from zephyrus.integrations.verifiers.judges import JudgedEnv

USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}
VERDICTS = {
    "verdicts": [
        {"name": "units", "reason": "so", "verdict": "yes"},
        {"name": "tools", "reason": "so", "verdict": "rarely"},
    ]
}


@pytest.fixture
def rubric(tmp_path):
    criteria = [
        {"name": "units", "text": "Values have units.", "weight": 3.0},
        {"name": "tools", "text": "It used tools.", "choices": ["never", "rarely", "always"]},
    ]
    file = tmp_path / "rubric.json"
    file.write_text(json.dumps({"criteria": criteria}))
    return file


@pytest.fixture
def judge():
    server = OpenAIServer(lambda body: say(json.dumps(VERDICTS)))
    server.usage = USAGE
    with server.running():
        yield server


def config(judge, rubric, **options):
    return vf.RubricJudgeConfig(
        path=rubric,
        name="style",
        weight=0.5,
        model="judge",
        base_url=judge.url,
        api_key_var="NO_KEY",
        **options,
    )


RUBRIC = (3.0 * 1.0 + 1.0 * 0.5) / 4.0  # "yes" is 1, "rarely" the middle of three


async def test_a_rubric_is_a_reward_of_our_environment(judge, rubric, tmp_path):
    env = JudgedEnv(zephyrus.make("bench"), [config(judge, rubric)])
    run = await zephyrus.arollout(env, "scripted", n=2, output=tmp_path / "run", progress=False)
    for trajectory in run:
        assert trajectory.rewards["style"] == RUBRIC
        assert trajectory.rewards["style/units"] == 1.0 and trajectory.rewards["style/tools"] == 0.5
        assert trajectory.rewards["score"] == 1.0
        assert trajectory.rewards["reward"] == 1.0 + 0.5 * RUBRIC
    assert run.config["env"]["name"] == "bench"
    assert run.config["env"]["verifiers_judges"][0]["name"] == "style"
    assert judge.url not in json.dumps(run.config)  # it may hold a password
    asked = judge.requests[0]["messages"][0]["content"]
    assert "Values have units." in asked and "<answer>" in asked  # it is shown the conversation


async def test_the_reference_judge_is_shown_the_gold_answer(judge, tmp_path):
    judge.answer = lambda body: say("FINAL ANSWER: yes")
    wanted = vf.ReferenceJudgeConfig(model="judge", base_url=judge.url, api_key_var="NO_KEY")
    env = JudgedEnv(zephyrus.make("bench"), [wanted])
    run = await zephyrus.arollout(env, "scripted", n=1, output=tmp_path / "run", progress=False)
    (trajectory,) = run
    assert trajectory.rewards["reference"] == 1.0 and trajectory.rewards["reward"] == 2.0
    gold = json.dumps(env.tasks()[trajectory.key.task].gold, ensure_ascii=False)
    assert gold in judge.requests[0]["messages"][0]["content"]


@pytest.mark.parametrize("reply", ["nothing", json.dumps({"verdicts": VERDICTS["verdicts"][:1]})])
async def test_a_judge_that_fails_leaves_the_rollout_unscored(judge, rubric, tmp_path, reply):
    judge.answer = lambda body: say(reply)
    env = JudgedEnv(zephyrus.make("bench"), [config(judge, rubric)])
    run = await zephyrus.arollout(env, "scripted", n=1, output=tmp_path / "run", progress=False)
    (trajectory,) = run
    assert trajectory.rewards is None and "the judge style" in trajectory.unscored


async def test_judges_of_verifiers_in_our_taskset(judge, rubric):
    """As anywhere in verifiers: ``task.judges`` of the taskset's configuration."""
    model = OpenAIServer(ScriptedModel(zephyrus.make("bench")))
    model.usage = USAGE
    with model.running():
        plugged = config(judge, rubric).model_dump(mode="json")
        taskset = {"id": "zephyrus-bench", "task": {"judges": [plugged]}}
        env = vf.load_environment(vf.resolve_env_config({"taskset": taskset}))
        client = vf.EvalClientConfig(base_url=model.url, api_key_var="NO_KEY")
        ctx = vf.ModelContext(client=client, model="fake", sampling=vf.SamplingConfig())
        async with env.serving():
            (slot,) = env.slots(next(iter(env.taskset)), 1)
            episode = await env.run_slot(slot, ctx)
    (trace,) = episode.traces
    assert {name: (r.score, r.weight) for name, r in trace.rewards.items()} == {
        "reward": (1.0, 1.0),
        "style": (RUBRIC, 0.5),
    }
    assert trace.reward == 1.0 + 0.5 * RUBRIC
    assert trace.extra_usage[0].completion_tokens == 7  # apart from the policy's own
