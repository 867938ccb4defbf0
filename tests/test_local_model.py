"""A real small language model through a real OpenAI-compatible server."""

import dataclasses
import importlib.util
import json
import re
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import zephyrus
from zephyrus.evaluation import evaluate
from zephyrus.evaluation.judgements import Judgements
from zephyrus.judge import make_judge
from zephyrus.limits import Limits
from zephyrus.policy.tool_prompt import describe_tools
from zephyrus_report.env import ReportEnv

pytestmark = pytest.mark.slow

ROOT = Path(__file__).parents[1]
SCRIPT = ROOT / "examples" / "local_model" / "local_model.py"


def load_script():
    spec = importlib.util.spec_from_file_location("local_model", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    module = load_script()
    folder = ROOT / ".models"
    if not all((folder / path).exists() for path in module.PACKAGES.values()):
        pytest.skip("the model is not here: make local-model")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    log = tmp_path_factory.mktemp("server") / "log"
    with log.open("w") as out:
        process = subprocess.Popen(
            module.server_command(folder, port, 2), stdout=out, stderr=subprocess.STDOUT
        )
    url = f"http://127.0.0.1:{port}"
    try:
        deadline = time.monotonic() + 240
        while not answers(url):
            if process.poll() is not None:
                if process.returncode == -signal.SIGILL:
                    pytest.skip("the prebuilt server needs a processor with AVX-512")
                pytest.fail(
                    f"the server ended with {process.returncode}:\n{log.read_text()[-2000:]}"
                )
            assert time.monotonic() < deadline, log.read_text()[-2000:]
            time.sleep(0.5)
        yield url
    finally:
        process.terminate()
        process.wait(20)


def answers(url):
    try:
        return urllib.request.urlopen(f"{url}/health", timeout=5).status == 200
    except (urllib.error.URLError, OSError):
        return False


def count_tokens(url, text):
    request = urllib.request.Request(
        f"{url}/tokenize",
        json.dumps({"content": text}).encode(),
        {"Content-Type": "application/json"},
    )
    return len(json.load(urllib.request.urlopen(request, timeout=30))["tokens"])


def test_prompt_and_schemas_fit_their_budgets(server):
    for compact, budget in ((False, 900), (True, 400)):
        env = zephyrus.make("bench", compact=compact)
        schemas = json.dumps(env.tool_schemas(), ensure_ascii=False)
        assert count_tokens(server, env.system_prompt()) + count_tokens(server, schemas) < budget
    listing = describe_tools(env.tool_schemas())
    assert count_tokens(server, env.system_prompt()) + count_tokens(server, listing) < 400


def test_rollout_of_a_real_model(server, tmp_path):
    env = zephyrus.make("bench", compact=True, limits=Limits(turns=2))
    policy = zephyrus.make_policy("smollm2-135m", base_url=f"{server}/v1", max_tokens=48)
    run = zephyrus.rollout(env, policy, n=3, concurrency=2, output=tmp_path / "run")
    summary = run.summary
    assert summary["scored"] == 3
    assert summary["infrastructure"]["errors"] == 0
    assert 0 <= summary["accuracy"] <= 1
    assert summary["tokens"]["prompt"] > 3 * 200
    for trajectory in run:
        said = [m for m in trajectory.messages if m.role == "assistant"]
        assert len(said) == trajectory.turns <= 2
        assert all(m.content or m.tool_calls for m in said)
        assert trajectory.usage.completion_tokens > 0


class ShortEnv(ReportEnv):
    """One sentence of each text is judged, on two criteria: the model is slow."""

    def brief(self, task, trajectory):
        whole = super().brief(task, trajectory)
        report, reference = (
            re.split(r"(?<=[a-z]\.)\s", text)[0] for text in (whole.report, whole.reference)
        )
        rubric = dataclasses.replace(whole.rubric, criteria=whole.rubric.criteria[:2])
        return dataclasses.replace(whole, report=report, reference=reference, rubric=rubric)


def test_a_real_model_as_reporter_and_as_judge(server, tmp_path, monkeypatch):
    """Bad at both, but the whole way holds, and what can't be had is said, never scored 0."""
    monkeypatch.setattr("zephyrus.judge.structured.TIGHT_LENGTH", 80)  # it fills what it is given
    monkeypatch.setattr("zephyrus.judge.structured.TIGHT_CLAIMS", 3)
    env = ShortEnv(compact=True, use_tools=False, limits=Limits(turns=2))
    policy = zephyrus.make_policy("smollm2-135m", base_url=f"{server}/v1", max_tokens=48)
    (trajectory,) = zephyrus.rollout(env, policy, n=1, output=tmp_path / "model")
    assert trajectory.usage.completion_tokens > 0
    assert 0 <= trajectory.rewards["reward"] <= 1

    run = zephyrus.rollout(env, "baseline:climatology", n=1, output=tmp_path / "climatology")
    judge = make_judge(
        "smollm2-135m", base_url=f"{server}/v1", cache=tmp_path / "c.sqlite", concurrency=2
    )
    found = evaluate(run, env, judge, passes=1, progress=False)
    result = found.judges["smollm2-135m"]
    assert (result.judged, result.missing) == (1, 0), result.reasons
    names = {"rubric", "f1", "precision", "recall", "neutral_rate"}
    assert names <= {name for name, score in result.scores.items() if score.mean is not None}
    assert all(0 <= score.mean <= 1 for score in result.scores.values() if score.events)
    (kept,) = Judgements.read(run.path).latest.values()
    assert len(kept.assessment.rubric.scores) == 2
    assert kept.assessment.report_verdicts and kept.assessment.reference_verdicts
    assert judge.usage.requests >= 5 and judge.usage.completion_tokens > 100
