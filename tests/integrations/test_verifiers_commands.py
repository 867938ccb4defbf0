"""The commands of verifiers on our tasksets, as a user types them, and the configs of prime-rl."""

import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

pytest.importorskip("verifiers", reason="the extra verifiers is not installed")

import verifiers.v1 as vf
from openai_server import OpenAIServer
from verifiers.v1.utils.loaders import default_harness_id, taskset_class
from verifiers_model import ScriptedModel

import zephyrus
from zephyrus.integrations.verifiers.traces import export_traces, import_traces

CONFIGS = Path(__file__).parents[2] / "configs" / "prime-rl"
BIN = Path(sys.executable).parent
USAGE = {"prompt_tokens": 11, "completion_tokens": 7, "total_tokens": 18}


def command(folder, *arguments):
    env = {**os.environ, "PRIME_RUNS_MODE": "disabled", "HOME": str(folder), "LOCAL_KEY": "x"}
    return subprocess.run(
        [BIN / arguments[0], *arguments[1:]],
        cwd=folder,
        env=env,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )


def rows(file):
    return [json.loads(line) for line in file.read_text().splitlines()]


@pytest.mark.slow
def test_vf_eval_rolls_out_and_vf_replay_scores_again(tmp_path):
    server = OpenAIServer(ScriptedModel(zephyrus.make("bench")))
    server.usage = USAGE
    with server.running():
        done = command(
            tmp_path, "vf-eval", "zephyrus-bench", "-n", "2", "-r", "2", "-m", "fake",
            "--client.base-url", server.url, "--client.api-key-var", "LOCAL_KEY",
            "--no-push", "--no-rich", "--run.name", "demo",
        )  # fmt: skip
    assert done.returncode == 0, done.stderr[-3000:]
    episodes = rows(tmp_path / "outputs" / "demo" / "traces.jsonl")
    assert [e["ok"] for e in episodes] == [True] * 4
    assert {e["traces"][0]["agent"]["config"]["runtime"]["type"] for e in episodes} == {
        "subprocess"
    }
    done = command(tmp_path, "vf-replay", "outputs/demo", "--no-rich", "--output-dir", "again")
    assert done.returncode == 0, done.stderr[-3000:]
    for before, after in zip(
        sorted(episodes, key=lambda e: e["traces"][0]["id"]),
        sorted(rows(tmp_path / "again" / "traces.jsonl"), key=lambda e: e["traces"][0]["id"]),
        strict=True,
    ):
        assert after["traces"][0]["rewards"] == before["traces"][0]["rewards"]
        assert after["traces"][0]["metrics"] == before["traces"][0]["metrics"]
    run = import_traces(tmp_path / "outputs" / "demo", tmp_path / "run")
    assert run.summary["accuracy"] == 1.0 and len(run) == 4
    assert {t.key.repeat for t in run} == {0, 1}


@pytest.mark.slow
def test_vf_replay_scores_a_run_of_ours(tmp_path):
    """An exported run is a run of verifiers: its own commands read it, and score it alike."""
    env = zephyrus.make("bench", turn_cost=0.25, free_turns=1)
    run = zephyrus.rollout(env, "scripted", n=8, output=tmp_path / "run", progress=False)
    export_traces(run, tmp_path / "exported")
    done = command(tmp_path, "vf-replay", "exported", "--no-rich", "--output-dir", "again")
    assert done.returncode == 0, done.stderr[-3000:]
    ours = {t.key.task: t.rewards for t in run}
    assert {rewards["reward"] for rewards in ours.values()} == {0.75}
    again = rows(tmp_path / "again" / "traces.jsonl")
    assert len(again) == 8
    for episode in again:
        (trace,) = episode["traces"]
        expected = ours[trace["task"]["key"]]
        assert trace["rewards"]["reward"]["score"] == expected["reward"]
        assert trace["metrics"]["score"] == expected["score"]


@pytest.mark.slow
def test_vf_validate_finds_every_question_solvable(tmp_path):
    done = command(
        tmp_path, "vf-validate", "zephyrus-bench", "--select.limit", "2",
        "--runtime.type", "subprocess", "--no-rich", "--output-dir", "checked", "--run.name", "v",
    )  # fmt: skip
    assert done.returncode == 0, done.stdout[-2000:] + done.stderr[-2000:]
    results = rows(tmp_path / "checked" / "v" / "results.jsonl")
    assert [row["reason"] for row in results] == ["valid", "valid"]


def test_exported_traces_are_of_verifiers_schema(tmp_path):
    run = zephyrus.rollout("bench", "random", n=3, output=tmp_path / "run", progress=False)
    file = export_traces(run, tmp_path / "vf")
    for line in file.read_text().splitlines():
        episode = vf.WireEpisode.model_validate_json(line)
        (trace,) = episode.traces
        assert trace.num_branches == 1 and trace.reward == trace.rewards["reward"].score
        typed = vf.task_type("zephyrus-bench").data_type()
        assert typed.model_validate(trace.task.data.model_dump()).to_task().id == trace.task.key


@pytest.mark.parametrize("package", ["zephyrus-bench", "zephyrus-report"])
def test_a_package_exports_one_of_each(package):
    assert taskset_class(package).__name__.endswith("Taskset")
    assert default_harness_id(package) == package
    config = vf.resolve_env_config({"taskset": {"id": package}})
    assert config.agent.runtime.type == "subprocess"  # nothing leaves this machine by default
    assert type(vf.load_environment(config)).__name__ == "LocalEnv"


@pytest.mark.parametrize("file", sorted(CONFIGS.glob("*.toml")), ids=lambda file: file.stem)
def test_configs_of_prime_rl_name_what_there_is(file):
    """prime-rl itself needs a GPU; every ``env`` block is read by the classes that it reads it with."""
    config = tomllib.loads(file.read_text())
    orchestrator = config["orchestrator"]
    sources = [*orchestrator["train"]["source"], *orchestrator["eval"]["source"]]
    assert len({source["name"] for source in sources}) == len(sources) == 2
    for source in sources:
        env = vf.load_environment(vf.resolve_env_config(source["env"]))
        task = next(iter(env.taskset))
        assert task.data.task["split"] == source["env"]["taskset"]["split"]
        with pytest.raises(ValueError, match="splitt"):
            vf.resolve_env_config({"taskset": {"id": env.config.taskset.id, "splitt": "train"}})
    assert config["seq_len"] > orchestrator["train"]["sampling"]["max_completion_tokens"]
    assert orchestrator["batch_size"] % orchestrator["group_size"] == 0
