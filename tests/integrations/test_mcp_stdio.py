"""`zephyrus tools serve` with the official client over standard input and output."""

import json
import signal
import subprocess

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

import mcp
from mcp_servers import INITIALIZE, SERVE, TOOLS

pytestmark = pytest.mark.slow

READY = {"jsonrpc": "2.0", "method": "notifications/initialized"}


def call(number: int, tool: str, **arguments: object) -> dict:
    params = {"name": tool, "arguments": arguments}
    return {"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params}


def start(*arguments: str) -> subprocess.Popen:
    return subprocess.Popen(
        [*SERVE, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
    )


@pytest.mark.parametrize("mode", ["auto", "legacy"])
async def test_a_session(mode):
    parameters = mcp.StdioServerParameters(
        command=SERVE[0],
        args=[*SERVE[1:], "--tools", str(TOOLS), "--forecast", "1959-04-07"],
    )
    heard = []

    async def hear(done, total, message):
        heard.append((done, total, message))

    async with mcp.Client(mcp.stdio_client(parameters), mode=mode) as client:
        assert "without it a call is about 1959-04-07" in client.instructions
        names = [tool.name for tool in (await client.list_tools()).tools]
        assert names[0] == "forecasts"
        assert {"dataset", "map", "add", "noisy"} <= set(names)
        value = await client.call_tool(
            "dataset", {"variable": "2m_temperature", "feature": "France", "hour": 24}
        )
        assert "24 h (valid 1959-04-08 00:00 UTC)" in value.content[0].text
        picture = await client.call_tool("map", {"variable": "2m_temperature", "hour": 24})
        assert picture.content[1].data.startswith("iVBORw0KGgo")  # PNG, in base64
        wrong = await client.call_tool("add", {"a": -1})
        assert wrong.is_error
        assert wrong.content[0].text == "Error: a must not be negative: send 0 or more."
        with pytest.raises(mcp.MCPError, match="the file is gone"):
            await client.call_tool("broken")
        noisy = await client.call_tool("noisy", {"text": "out of order"})
        assert noisy.content[0].text == "read ''"
        await client.call_tool("working", {"steps": 3}, progress_callback=hear)
    assert heard[0] == (0.0, None, "working: started")
    assert heard[-1] == (3.0, 3.0, "step 3")


def test_standard_output_carries_the_protocol_and_nothing_else():
    server = start("--tools", str(TOOLS))
    asked = [INITIALIZE, READY, call(2, "noisy", text="out of order"), call(3, "surrogate")]
    written = "".join(json.dumps(message) + "\n" for message in asked)
    server.stdin.write("nonsense\n" + written)
    server.stdin.flush()
    answers = {}
    while set(answers) != {1, 2, 3}:
        message = json.loads(server.stdout.readline())
        assert message["jsonrpc"] == "2.0"
        if "id" in message:
            answers[message["id"]] = message
    server.stdin.close()
    assert server.wait(60) == 0
    assert server.stdout.read() == ""
    assert answers[2]["result"]["content"][0]["text"] == "read ''"
    assert answers[3]["result"]["content"][0]["text"] == "half \ufffd of a pair"
    errors = server.stderr.read()
    assert errors.count("out of order") == 3  # print, write, a child process
    assert "printed at import" in errors
    assert "zephyrus: serving " in errors
    assert "Traceback" not in errors


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_it_stops_when_asked_to_though_the_client_is_silent(number):
    server = start()
    server.stdin.write(json.dumps(INITIALIZE) + "\n")
    server.stdin.flush()
    assert json.loads(server.stdout.readline())["id"] == 1
    server.send_signal(number)
    assert server.wait(60) == 0
    assert "Traceback" not in server.stderr.read()
    server.stdin.close()


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--dataset", "moon"], "There is no dataset 'moon'"),
        (["--tools", "nowhere.py"], "no file nowhere.py"),
        (["--port", "80"], "are for --http"),
        (["--http", "--host", "0.0.0.0"], "ZEPHYRUS_MCP_TOKEN"),
        (["--http", "--host", "no.such.host.invalid"], "is no address of this machine"),
    ],
)
def test_wrong_commands_exit_2_with_one_sentence(arguments, says, monkeypatch):
    monkeypatch.delenv("ZEPHYRUS_MCP_TOKEN", raising=False)
    done = subprocess.run(
        [*SERVE, *arguments], capture_output=True, text=True, stdin=subprocess.DEVNULL, timeout=120
    )
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr


def test_a_weak_token_is_refused(monkeypatch):
    monkeypatch.setenv("ZEPHYRUS_MCP_TOKEN", "secret")
    done = subprocess.run(
        [*SERVE, "--http", "--port", "0"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert "at least 16 characters" in done.stderr
    assert "secret" not in done.stderr
