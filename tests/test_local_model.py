"""A real small language model through a real OpenAI-compatible server."""

import importlib.util
import json
import signal
import socket
import subprocess
import time
import urllib.error
import urllib.request
from pathlib import Path

import pytest

import zephyrus
from zephyrus.limits import Limits
from zephyrus.policy.tool_prompt import describe_tools

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
