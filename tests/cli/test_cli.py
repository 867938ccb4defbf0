import json
import subprocess
import sys

import pytest

HEAVY = ("numpy", "xarray", "openai", "torch", "gymnasium", "pandas", "pydantic", "aiohttp")


def zephyrus(*arguments: str, cwd=None, **options) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "zephyrus", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=300,
        **options,
    )


@pytest.mark.parametrize(
    "arguments", [["--help"], ["env", "--help"], ["data", "--help"], ["env", "rollout", "--help"]]
)
def test_help_imports_nothing_heavy(arguments):
    code = (
        "import sys\n"
        f"sys.argv = ['zephyrus', *{arguments!r}]\n"
        "from zephyrus.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert stop.code == 0, stop.code\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert "Usage: zephyrus" in done.stdout
    assert done.stdout.rstrip().endswith("HEAVY []")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["env", "rollout", "--policy", "scriptd"], "scripted"),
        (["env", "rollout", "--env", "benchh"], "bench"),
        (["env", "rollout", "--split", "training"], "train"),
        (["env", "rollout", "-n", "0"], "-n"),
        (["env", "rollout", "-n", "100000"], "repeats"),
        (["env", "rollout", "--tools", "nowhere.py"], "no file nowhere.py"),
        (["env", "rollout", "--tools", "."], ". is a folder; give a .py file or a module"),
        (["env", "rollout", "--dataset", "moon"], "There is no dataset 'moon'"),
        (["env", "build-bank", "--dataset", "moon", "--output", "b.jsonl"], "no dataset 'moon'"),
        (["env", "build-bank", "--output", "b.txt"], "a bank is a .jsonl or .jsonl.gz file"),
        (["env", "show", "nowhere"], "no run 'nowhere', here or in runs/"),
        (["env", "rescore", "nowhere"], "no run 'nowhere'"),
        (["tools", "call", "datset"], "dataset"),
        (["policy", "serve", "qwen"], "qwen"),
        (["nonsense"], "nonsense"),
    ],
)
def test_wrong_commands_exit_2_with_one_sentence(arguments, says, tmp_path):
    done = zephyrus(*arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert "building" not in done.stderr
    assert not (tmp_path / "runs").exists()


def test_a_dead_endpoint_is_one_sentence_before_any_work(tmp_path):
    done = zephyrus(
        "env", "rollout", "--policy", "openai:m@http://127.0.0.1:9/v1", "-n", "2", cwd=tmp_path
    )
    assert done.returncode == 2
    assert "http://127.0.0.1:9/v1" in done.stderr
    assert "Traceback" not in done.stderr
    assert len(done.stderr.strip().splitlines()) <= 3


def test_rollout_show_rescore_replay(tmp_path):
    done = zephyrus("env", "rollout", "-n", "16", "--output", "run", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    summary = json.loads(done.stdout)
    assert summary["accuracy"] == 1.0
    assert summary["rewards"]["reward"] == 1.0
    assert {p.name for p in (tmp_path / "run").iterdir()} >= {
        "config.yaml",
        "trajectories.jsonl",
        "summary.json",
    }
    lines = (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines()
    assert len(lines) == 16

    again = zephyrus("env", "rollout", "-n", "16", "--output", "run", "--json", cwd=tmp_path)
    assert again.returncode == 0, again.stderr
    assert (tmp_path / "run" / "trajectories.jsonl").read_text().splitlines() == lines

    other = zephyrus("env", "rollout", "-n", "16", "--seed", "1", "--output", "run", cwd=tmp_path)
    assert other.returncode == 2
    assert "seed" in other.stderr

    shown = zephyrus("env", "show", "run", cwd=tmp_path)
    assert shown.returncode == 0, shown.stderr
    task = json.loads(lines[0])["key"][0]
    one = zephyrus("env", "show", "run", "--task", task, cwd=tmp_path)
    assert one.returncode == 0, one.stderr
    assert "verdict" in one.stdout
    assert "<answer>" in one.stdout
    first = zephyrus("env", "show", "run", "--first", cwd=tmp_path)
    assert first.stdout == one.stdout
    zeroth = zephyrus("env", "show", "run", "--first", "--repeat", "0", cwd=tmp_path)
    assert zeroth.stdout == one.stdout
    fifth = zephyrus("env", "show", "run", "--first", "--repeat", "5", cwd=tmp_path)
    assert fifth.returncode == 2
    assert "has no repeat 5; it has 0" in fifth.stderr

    assert summary["wanted"] == 16
    assert "unfinished" not in shown.stdout
    (tmp_path / "cut").mkdir()
    for name in ("config.yaml", "trajectories.jsonl"):
        text = (tmp_path / "run" / name).read_text()
        kept = text if name == "config.yaml" else "".join(text.splitlines(True)[:3])
        (tmp_path / "cut" / name).write_text(kept)
    for command in ("show", "rescore"):
        cut = zephyrus("env", command, "cut", cwd=tmp_path)
        assert (
            "unfinished: 3 of 16; go on with the same rollout command and --output cut\n"
        ) in cut.stdout

    rescored = zephyrus("env", "rescore", "run", "--json", cwd=tmp_path)
    assert rescored.returncode == 0, rescored.stderr
    assert json.loads(rescored.stdout)["accuracy"] == 1.0

    replayed = zephyrus(
        "env", "rollout", "--policy", "replay:run", "-n", "16", "--output", "r2", "--json",
        cwd=tmp_path,
    )  # fmt: skip
    assert replayed.returncode == 0, replayed.stderr
    assert json.loads(replayed.stdout)["accuracy"] == 1.0


def test_reward_options_are_kept_with_the_run(tmp_path):
    def go(*arguments):
        done = zephyrus("env", *arguments, "--json", cwd=tmp_path)
        return done, json.loads(done.stdout)["rewards"] if done.returncode == 0 else None

    dear = ("-o", "turn_cost=0.5", "-o", "free_turns=0")
    _, rewards = go("rollout", "-n", "8", *dear, "--output", "run")
    assert rewards["turn_penalty"] == 1.0  # two turns
    assert rewards["reward"] == 0.0
    _, rewards = go("rescore", "run")
    assert rewards["reward"] == 0.0
    _, rewards = go("rescore", "run", "-o", "turn_cost=0.25")
    assert rewards["reward"] == 0.5
    refused, _ = go("rollout", "-n", "16", *dear, "--output", "run")
    assert refused.returncode == 2
    assert "turn_cost" in refused.stderr
    _, rewards = go(
        "rollout", "-n", "16", "-o", "turn_cost=0.25", "-o", "free_turns=0", "--output", "run"
    )
    assert rewards["reward"] == 0.5


@pytest.mark.parametrize(
    ("option", "says"),
    [
        ("turn_cost=abc", "turn_cost takes a float"),
        ("free_turns=1.5", "free_turns takes a int"),
        ("compact=maybe", "compact takes a bool"),
        ("turn_cost=-1", "must not be negative"),
        ("nonsense=1", "no option 'nonsense'"),
        ("turn_cost", "KEY=VALUE"),
    ],
)
def test_wrong_options_are_one_sentence(option, says, tmp_path):
    done = zephyrus("env", "rollout", "-n", "1", "-o", option, cwd=tmp_path)
    assert done.returncode == 2
    assert says in done.stderr
    assert "Traceback" not in done.stderr


BREAKING = '''
from typing import Any

import zephyrus

@zephyrus.tool
def dataset(
    variable: str, feature: Any = None, kind: Any = None, parent: Any = None, statistic: Any = None,
    time: Any = None, hour: Any = None, start: Any = None, end: Any = None, order: Any = None,
    limit: Any = None,
) -> str:
    """Break."""
    raise FileNotFoundError("the \\x1b[31mdisk is gone")
'''


def test_what_broke_is_shown_not_scored_and_exits_1(tmp_path):
    (tmp_path / "breaking.py").write_text(BREAKING)
    done = zephyrus(
        "env", "rollout", "--tools", "breaking.py", "-n", "16", "--output", "run", cwd=tmp_path
    )
    assert done.returncode == 1
    assert "replaces the tool 'dataset'" in done.stderr
    shown = zephyrus("env", "show", "run", "-n", "16", cwd=tmp_path)
    assert shown.returncode == 0
    assert "disk is gone" in shown.stdout
    assert "\x1b[31m" not in shown.stdout + done.stderr
    summary = json.loads(zephyrus("env", "show", "run", "--json", cwd=tmp_path).stdout)
    assert summary["infrastructure"]["errors"] > 0
    assert summary["scored"] + summary["infrastructure"]["errors"] <= 16


def test_a_reader_that_has_had_enough_is_no_failure(tmp_path):
    code = (
        "import subprocess, sys\n"
        "p = subprocess.Popen([sys.executable, '-m', 'zephyrus', 'env', 'describe', 'bench'],"
        " stdout=subprocess.PIPE, stderr=subprocess.PIPE)\n"
        "p.stdout.close()\n"
        "err = p.stderr.read().decode()\n"
        "print(p.wait(), err)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "0"


def test_random_scores_low(tmp_path):
    done = zephyrus("env", "rollout", "--policy", "random", "-n", "64", "--json", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["accuracy"] < 0.15


def test_tools_list_and_call(tmp_path):
    listed = zephyrus("tools", "list", "--json")
    names = [tool["function"]["name"] for tool in json.loads(listed.stdout)]
    assert {"features", "dataset", "climatology", "map"} <= set(names)
    called = zephyrus(
        "tools", "call", "dataset", '{"variable": "2m_temperature", "feature": "Kenya"}'
    )
    assert called.returncode == 0, called.stderr
    assert "°C" in called.stdout
    drawn = zephyrus(
        "tools", "call", "map", '{"variable": "10m_wind_speed", "hour": 48, "feature": "Japan"}',
        "--output", "map.png", cwd=tmp_path,
    )  # fmt: skip
    assert drawn.returncode == 0, drawn.stderr
    assert (tmp_path / "map.png").read_bytes().startswith(b"\x89PNG")
    refused = zephyrus(
        "tools", "call", "dataset", '{"variable": "2m_temperature", "feature": "Kenia"}'
    )
    assert refused.returncode == 1
    assert "Kenya" in refused.stdout
    unquoted = zephyrus("tools", "call", "dataset", "{variable: 2m_temperature}")
    assert unquoted.returncode == 1
    assert "not valid JSON" in unquoted.stdout
    assert "quote it: '{…}'" in unquoted.stderr


def test_describe_and_data_and_build_bank(tmp_path):
    described = zephyrus("env", "describe", "bench", "--json")
    assert described.returncode == 0, described.stderr
    assert json.loads(described.stdout)["splits"]["validation"] == 125
    listed = json.loads(zephyrus("data", "list", "--json").stdout)
    assert listed[0]["name"] == "demo"
    assert "simulated" in listed[0]["label"]
    assert len(listed[0]["forecasts"]) >= 3


def test_serve_says_how_to_get_vllm_or_prints_the_command():
    done = zephyrus("policy", "serve", "qwen3.5-4b", "--dry-run")
    assert done.returncode == 0, done.stderr
    assert "Qwen/Qwen3.5-4B" in done.stdout
    assert "--tool-call-parser" in done.stdout
