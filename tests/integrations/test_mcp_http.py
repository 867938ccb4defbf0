"""`zephyrus tools serve --http` with the official client: a real server on this machine."""

import asyncio
import base64
import signal
import socket
import subprocess

import pytest

pytest.importorskip("mcp", reason="needs the extra mcp")

import httpx2
import mcp
from mcp.client.streamable_http import streamable_http_client
from mcp_servers import SERVE, TOOLS, http_server, post

from zephyrus import registry
from zephyrus.task import Task

TOKEN = "a-secret-of-many-characters"
MODES = ("auto", "legacy")  # the protocol without a handshake (2026-07-28), and that with one
MAP = {"variable": "2m_temperature", "hour": 24, "feature": "France"}

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def server():
    with http_server("--tools", str(TOOLS)) as running:
        yield running


@pytest.fixture(scope="module")
def guarded():
    with http_server(
        "--host", "0.0.0.0", "--allow-host", "weather.example", token=TOKEN
    ) as running:
        yield running


@pytest.fixture(params=MODES)
def connect(request, server):
    return lambda: mcp.Client(server.url, mode=request.param)


async def test_the_listing(connect):
    async with connect() as client:
        tools = {tool.name: tool for tool in (await client.list_tools()).tools}
        instructions = client.instructions
    assert {*registry.names("tools"), "forecasts", "add"} <= set(tools)
    assert "1959-07-16" in instructions
    parameters = registry.get("tools", "dataset").parameters
    schema = tools["dataset"].input_schema
    assert schema["properties"].pop("forecast")["type"] == "string"
    assert schema == parameters
    assert tools["dataset"].description == registry.get("tools", "dataset").description


async def test_a_map_is_the_picture_that_an_agent_gets(connect):
    env = registry.make("bench")
    world = env.world(Task("t", "", None, world={"forecast": "1959-07-16"}))
    expected = await env.tools["map"].call(MAP, world)
    async with connect() as client:
        result = await client.call_tool("map", {**MAP, "forecast": "1959-07-16"})
        two = await client.call_tool("two_pictures")
    assert not result.is_error
    text, picture = result.content
    assert text.text == expected.text
    assert picture.mime_type == "image/png"
    assert base64.b64decode(picture.data) == expected.images[0].png
    assert [part.type for part in two.content] == ["text", "image", "image"]


@pytest.mark.parametrize(
    ("tool", "arguments", "kind", "says"),
    [
        ("add", {"a": -1}, "tool_error", "Error: a must not be negative: send 0 or more."),
        ("add", {}, "invalid_arguments", "Error: add needs the argument 'a'."),
        (
            "add",
            {"a": 1, "c": 2},
            "invalid_arguments",
            "Error: add has no argument 'c'; it takes: a, b.",
        ),
        ("dataset", {**MAP, "day": 1}, "invalid_arguments", "Error: dataset has no argument 'day'"),
        (
            "dataset",
            {"variable": "2m_temperature", "feature": "Franc"},
            "tool_error",
            "Did you mean: France",
        ),
        (
            "subtract",
            {"a": 1},
            "unknown_tool",
            "Error: there is no tool 'subtract'. The tools are: ",
        ),
    ],
)
async def test_the_callers_mistakes_are_results(connect, tool, arguments, kind, says):
    async with connect() as client:
        result = await client.call_tool(tool, arguments)
    assert result.is_error
    assert says in result.content[0].text
    assert result.meta["zephyrus/error"] == kind


@pytest.mark.parametrize(
    ("tool", "says"),
    [
        ("broken", "the tool broken broke: FileNotFoundError: the file is gone"),
        ("leaving", "the tool leaving broke: SystemExit: 3"),
        ("confused", "the tool confused broke: CancelledError"),
    ],
)
async def test_a_broken_world_is_a_protocol_error_and_the_server_goes_on(
    connect, server, tool, says
):
    async with connect() as client:
        with pytest.raises(mcp.MCPError, match=says) as caught:
            await client.call_tool(tool)
        assert caught.value.code == -32603
        assert (await client.call_tool("add", {"a": 1})).content[0].text == "2"
    assert server.process.poll() is None


async def test_progress(connect):
    heard = []

    async def hear(done, total, message):
        heard.append((done, total, message))

    async with connect() as client:
        result = await client.call_tool("working", {"steps": 5}, progress_callback=hear)
    assert result.content[0].text == "worked"
    assert heard[0] == (0.0, None, "working: started")
    assert heard[-1] == (5.0, 5.0, "step 5")
    assert [done for done, *_ in heard] == sorted({done for done, *_ in heard})


async def test_calls_run_beside_each_other(connect):
    async with connect() as one, connect() as two:
        # Each waits for the other: one after the other they would never end.
        met = await asyncio.gather(one.call_tool("meeting"), two.call_tool("meeting"))
        assert [result.content[0].text for result in met] == ["met", "met"]
        # A plain tool that blocks holds no listing and no other client up.
        waited = asyncio.create_task(one.call_tool("waiting"))
        assert (await two.list_tools()).tools
        assert (await two.call_tool("releasing")).content[0].text == "done"
        assert (await waited).content[0].text == "released"


async def test_a_call_that_the_client_gives_up_is_cancelled(connect, server):
    async with connect() as client:
        with pytest.raises((mcp.MCPError, TimeoutError)):
            await client.call_tool("lasting", read_timeout_seconds=0.5)
        assert (await client.call_tool("given_up")).content[0].text == "given up"
    assert "lasting broke" not in "".join(server.lines)


def test_only_names_of_this_machine_are_served(server):
    port = server.port
    assert post(server.url) == 200
    assert post(server.url, Host=f"localhost:{port}") == 200
    assert post(server.url, Host=f"evil.example:{port}") == 421
    assert post(server.url, Host="127.0.0.1.evil.example") == 421
    assert post(server.url, Origin="http://evil.example") == 403
    assert post(server.url, Origin=f"http://localhost:{port}") == 200
    assert post(server.url, Origin="null") == 403


async def test_elsewhere_a_token_is_asked_for(guarded):
    assert post(guarded.url) == 401
    assert post(guarded.url, Authorization="Bearer wrong") == 401
    assert post(guarded.url, Authorization=f"Bearer {TOKEN}x") == 401
    assert post(guarded.url, Authorization="Bearer ä") == 401
    assert post(guarded.url, Authorization=f"Basic {TOKEN}") == 401
    assert post(f"{guarded.url}?token={TOKEN}") == 401
    right = {"Authorization": f"Bearer {TOKEN}"}
    assert post(guarded.url, **right) == 200
    assert post(guarded.url, **right, Host="weather.example") == 200
    assert post(guarded.url, **right, Host=f"{socket.gethostname()}:{guarded.port}") == 200
    assert post(guarded.url, **right, Host="evil.example") == 421
    async with (
        httpx2.AsyncClient(headers=right, timeout=60) as http,
        mcp.Client(streamable_http_client(guarded.url, http_client=http)) as client,
    ):
        assert (await client.call_tool("forecasts")).content[0].text.startswith("4 forecasts")
    assert TOKEN not in "".join(guarded.lines)


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_it_stops_when_asked_to_though_a_client_is_there(number):
    with http_server() as server:
        async with mcp.Client(server.url, mode="legacy") as client:  # keeps a stream open
            await client.call_tool("forecasts")
            server.process.send_signal(number)
            assert await asyncio.to_thread(server.process.wait, 60) == 0
        assert "Traceback" not in "".join(server.lines)
        assert server.process.stdout.read() == ""


def test_a_port_in_use_is_one_sentence(server):
    done = subprocess.run(
        [*SERVE, "--http", "--port", str(server.port)], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 2
    assert f"can't listen on port {server.port} of 127.0.0.1" in done.stderr
    assert "--port (0 takes a free one)" in done.stderr
    assert "Traceback" not in done.stderr
