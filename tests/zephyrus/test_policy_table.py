"""The policy table, `make_policy`, serving, and tools in words."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Literal

import pytest

from zephyrus.env import compact_schema
from zephyrus.errors import UserError
from zephyrus.messages import Image, Message, ToolCall
from zephyrus.policy import Policy, make_policy, policy_names
from zephyrus.policy.endpoint import EndpointPolicy
from zephyrus.policy.serve import serve, serve_command
from zephyrus.policy.table import TABLE, PolicyEntry, policy_table, user_table_path
from zephyrus.policy.tool_prompt import describe_tools, to_text_messages
from zephyrus.registry import register
from zephyrus.tools import Tool


@pytest.fixture(autouse=True)
def no_user_table(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.delenv("ZEPHYRUS_POLICIES", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


@pytest.fixture
def write_table(tmp_path, monkeypatch):
    def write(text):
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        monkeypatch.setenv("ZEPHYRUS_POLICIES", str(path))
        return path

    return write


def test_the_built_in_table_has_the_papers_models():
    table = policy_table()
    assert table["qwen3.5-4b"].model == "Qwen/Qwen3.5-4B"
    assert table["qwen3.8-27b"].model == "Qwen/Qwen3.8-27B"
    for entry in (table["qwen3.5-4b"], table["qwen3.8-27b"]):
        assert (entry.tool_call_parser, entry.reasoning_parser) == ("qwen3_coder", "qwen3")
    for entry in table.values():
        if entry.local:  # no server, and so nothing of one
            assert (entry.tool_call_parser, entry.reasoning_parser) == (None, None)
            assert (entry.vllm_flags, entry.tool_prompt) == ([], "native")
            continue
        # A model without a parser at the server needs its tools in words.
        assert (entry.tool_call_parser is None) == (entry.tool_prompt == "text")
        assert entry.base_url == "http://127.0.0.1:8000/v1"
        assert entry.notes


def test_the_users_table_adds_and_changes(write_table):
    write_table(
        "mine: {model: a/b, base_url: 'http://gpu:8000/v1'}\n"
        "qwen3.5-4b: {base_url: 'http://gpu:9000/v1'}\n"
    )
    table = policy_table()
    assert table["mine"] == PolicyEntry(model="a/b", base_url="http://gpu:8000/v1")
    assert table["qwen3.5-4b"].base_url == "http://gpu:9000/v1"
    assert table["qwen3.5-4b"].tool_call_parser == "qwen3_coder"
    assert "mine" in policy_names()


@pytest.mark.skipif(sys.platform != "linux", reason="the configuration folder is Linux's")
def test_the_users_table_is_found_in_the_configuration_folder(tmp_path):
    (tmp_path / "zephyrus").mkdir()
    assert user_table_path() == tmp_path / "zephyrus" / "policies.yaml"
    user_table_path().write_text("mine: {model: a/b}")
    assert policy_table()["mine"].model == "a/b"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: {modle: x}", "the policy 'a': unknown key 'modle'; did you mean model?"),
        ("a: {model: x, visoin: true}", "unknown key 'visoin'; did you mean vision?"),
        ("a: {model: x, zzz: 1}", "unknown key 'zzz'; known: model, base_url"),
        ("a: {model: x, sampling: {temprature: 1}}", "did you mean temperature?"),
        ("a: {model: x, retries: -1}", r"retries: .*\(got -1\)"),
        ("a: {model: x, tool_prompt: xml}", "tool_prompt: .*'native' or 'text'"),
        ("a: 3", "must hold policy names"),
        ("- a", "must hold policy names"),
        ("a: {", "not valid YAML"),
    ],
)
def test_a_wrong_table_is_explained(write_table, text, complaint):
    write_table(text)
    with pytest.raises(UserError, match=complaint) as caught:
        policy_table()
    assert "\n" not in str(caught.value)


def test_a_table_in_another_encoding_is_said(tmp_path, monkeypatch):
    (tmp_path / "p.yaml").write_bytes("a: {model: x, notes: é}".encode("latin-1"))
    monkeypatch.setenv("ZEPHYRUS_POLICIES", str(tmp_path / "p.yaml"))
    with pytest.raises(UserError, match=r"p\.yaml can't be read: .*utf-8"):
        policy_table()


def test_a_named_table_that_is_missing_is_an_error(monkeypatch):
    monkeypatch.setenv("ZEPHYRUS_POLICIES", "/no/such/file.yaml")
    with pytest.raises(UserError, match=r"names /no/such/file\.yaml, which is no file"):
        policy_table()


def test_make_policy_knows_names_and_takes_overrides():
    made = make_policy("qwen3.5-4b", base_url="http://gpu:1/v1", temperature=0.0, retries=None)
    assert isinstance(made, EndpointPolicy)
    entry = made.entry
    assert (entry.model, entry.base_url) == ("Qwen/Qwen3.5-4B", "http://gpu:1/v1")
    assert (entry.sampling.temperature, entry.sampling.top_p) == (0.0, 0.95)
    assert entry.retries == 5
    more = make_policy("qwen3.5-4b", extra_body={"top_k": 1, "seed": 2})
    assert more.entry.sampling.extra_body["top_k"] == 1
    assert more.entry.sampling.extra_body["presence_penalty"] == 1.5
    assert make_policy(made) is made


def test_describe_is_plain_and_complete():
    described = make_policy("qwen3.5-4b").describe()
    assert json.loads(json.dumps(described)) == described
    assert described["name"] == "qwen3.5-4b"
    assert described["model"] == "Qwen/Qwen3.5-4B"
    assert described["sampling"]["top_p"] == 0.95


@pytest.mark.parametrize(
    ("spec", "model", "url"),
    [
        ("openai:gpt-5", "gpt-5", "https://api.openai.com/v1"),
        ("openai:a/b@http://h:1/v1", "a/b", "http://h:1/v1"),
        ("openai:@cf/qwen/x@https://h/v1", "@cf/qwen/x", "https://h/v1"),
        ("openai:m@http://me:word@h/v1", "m", "http://me:word@h/v1"),
    ],
)
def test_openai_specs(spec, model, url):
    entry = make_policy(spec).entry
    assert (entry.model, entry.base_url) == (model, url)


@pytest.mark.parametrize("base_url", [None, "http://127.0.0.1:2/v1", "http://u:secret@h/v1"])
@pytest.mark.parametrize(
    "spec", ["openai:m", "openai:m@http://h:1/v1", "openai:m@http://user:secret@h/v1"]
)
def test_the_name_is_the_models_at_whatever_address(spec, base_url, monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://user:secret@h/v1")
    described = make_policy(spec, base_url=base_url).describe()
    assert described["name"] == "openai:m"
    assert "secret" not in json.dumps(described)


def test_openai_base_url_is_the_default_address(monkeypatch):
    monkeypatch.setenv("OPENAI_BASE_URL", "http://gpu:1/v1")
    assert make_policy("openai:m").entry.base_url == "http://gpu:1/v1"
    assert make_policy("openai:m", base_url="http://x/v1").entry.base_url == "http://x/v1"


@pytest.mark.parametrize(
    ("spec", "options", "complaint"),
    [
        ("qwen3.5", {}, "there is no policy 'qwen3.5'; did you mean qwen3.5-4b"),
        ("zzzzzzzz", {}, "known: .*random.*scripted.*openai:MODEL@URL"),
        ("openai:", {}, "write openai:MODEL@URL"),
        ("openai:m@localhost:8000/v1", {}, "must begin with http:// or https://"),
        ("openai:m@localhost", {}, "must begin with http:// or https://"),
        ("openai:m@myhost/v1", {}, "must begin with http:// or https://"),
        ("openai:gpt@api.invalid", {}, "must begin with http:// or https://"),
        ("openai:gpt@api.invalid@home", {}, "must begin with http:// or https://"),
        ("openai:m@[::1]", {}, "must begin with http:// or https://"),
        ("openai:m", {"base_url": "localhost:8000"}, "'localhost:8000' is no address"),
        ("qwen3.5-4b", {"temprature": 1}, "takes no option 'temprature'; did you mean temperature"),
        ("qwen3.5-4b", {"temperature": "hot"}, "sampling.temperature: .*got 'hot'"),
        ("scripted", {"temperature": 1}, "the policy 'scripted' takes no option temperature"),
        ("random", {"base_url": "http://x"}, "the policy 'random' takes no option base_url"),
    ],
)
def test_what_make_policy_refuses(spec, options, complaint):
    with pytest.raises(UserError, match=complaint):
        make_policy(spec, **options)


def test_a_plug_in_is_made_with_its_options():
    class Mine(Policy):
        def __init__(self, level=0):
            self.level = level

        def session(self, env, task, seed, repeat=0):
            raise NotImplementedError

    register("policies", "mine-for-this-test", Mine)
    assert make_policy("mine-for-this-test", level=3).level == 3
    with pytest.raises(UserError, match="takes no such option"):
        make_policy("mine-for-this-test", depth=3)


def test_nothing_heavy_is_imported_before_it_is_needed():
    code = (
        "import sys, zephyrus, zephyrus.policy as p\n"
        "from zephyrus.policy.serve import serve_command\n"
        "serve_command('qwen3.5-4b'); p.policy_names(); p.make_policy('qwen3.5-4b')\n"
        "print([m for m in ('openai', 'aiohttp', 'numpy', 'gymnasium', 'httpx') if m in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert out.stdout.strip() == "[]"


def test_the_serve_command_has_the_models_flags():
    command = serve_command("qwen3.5-4b", ["--max-model-len", "4096"])
    assert command[:3] == [sys.executable, "-m", "vllm.entrypoints.openai.api_server"]
    text = shlex.join(command[3:])
    assert text == (
        "--model Qwen/Qwen3.5-4B --served-model-name Qwen/Qwen3.5-4B --host 127.0.0.1 --port 8000 "
        "--enable-auto-tool-choice --tool-call-parser qwen3_coder --reasoning-parser qwen3 "
        "--max-model-len 32768 --max-model-len 4096"
    )
    assert "--enable-auto-tool-choice" not in serve_command("smollm2-135m")


def test_a_dry_run_prints_a_command_for_the_shell(capsys):
    assert serve("qwen2.5-vl-7b", dry_run=True) == 0
    words = shlex.split(capsys.readouterr().out)
    assert words[:2] == ["python", "-m"]
    assert words[words.index("--limit-mm-per-prompt") + 1] == '{"image":8,"video":0}'


def test_serving_what_cannot_be_served(write_table):
    with pytest.raises(UserError, match=r"has no 'qwen3\.5'; did you mean qwen3\.5-4b"):
        serve("qwen3.5")
    write_table("far: {model: m, base_url: 'https://api.example.com/v1'}")
    with pytest.raises(UserError, match=r"'scripted' needs no server: .*--policy scripted"):
        serve("scripted")
    with pytest.raises(UserError, match="which is not this machine"):
        serve("far")


def test_serving_without_vllm_says_how_to_get_it(monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match=r'pip install "\.\[serve\]" in a clone \(Linux x86-64'):
        serve("qwen3.5-4b")


def test_serving_becomes_the_server_and_signals_reach_it(tmp_path):
    """A stand-in vLLM module tells its arguments, waits, and says which signal ended it."""
    package = tmp_path / "vllm" / "entrypoints" / "openai"
    package.mkdir(parents=True)
    for folder in (package, package.parent, package.parent.parent):
        (folder / "__init__.py").touch()
    (package / "api_server.py").write_text(
        "import os, signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda n, f: sys.exit(7))\n"
        "print(os.getpid(), *sys.argv[1:], flush=True)\n"
        "time.sleep(30)\n"
    )
    root = Path(__file__).parents[2]
    process = subprocess.Popen(
        [sys.executable, "-c", "from zephyrus.policy.serve import serve; serve('smollm2-135m')"],
        env={**os.environ, "PYTHONPATH": f"{tmp_path}{os.pathsep}{root}"},
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout is not None
        pid, *words = process.stdout.readline().split()
        assert int(pid) == process.pid
        assert words[:2] == ["--model", "HuggingFaceTB/SmolLM2-135M-Instruct"]
        time.sleep(0.1)
        process.send_signal(signal.SIGTERM)
        assert process.wait(10) == 7


# Tools in words -------------------------------------------------------------------------------


VARIABLES = Literal[
    "2m_temperature",
    "10m_u_component_of_wind",
    "10m_v_component_of_wind",
    "10m_wind_speed",
    "mean_sea_level_pressure",
    "total_precipitation_6hr",
    "total_cloud_cover",
    "geopotential_500",
    "geopotential_850",
    "temperature_500",
    "temperature_850",
    "u_component_of_wind_500",
    "v_component_of_wind_500",
    "u_component_of_wind_850",
    "v_component_of_wind_850",
]


def weather_tools(variables=VARIABLES):
    """Tools with the arguments of the weather tools."""
    order = Literal["highest", "lowest"] | None

    def features(
        query: str = "", kind: str | None = None, parent: str | None = None, limit: int = 20
    ):
        """Find the names, kinds and parents of places."""

    def dataset(
        variable: variables,
        feature: str | None = None,
        kind: str | None = None,
        parent: str | None = None,
        latitude: float | None = None,
        longitude: float | None = None,
        statistic: Literal["mean", "min", "max", "median"] = "mean",
        time: Literal["all", "series", "mean", "min", "max", "time_of_max", "time_of_min"] = "all",
        hour: int | None = None,
        start: int | None = None,
        end: int | None = None,
        order: order = None,
        limit: int = 10,
    ):
        """Read the forecast over a place."""

    def climatology(
        variable: variables,
        feature: str | None = None,
        kind: str | None = None,
        parent: str | None = None,
        latitude: float | None = None,
        longitude: float | None = None,
        statistic: Literal["p5", "p10", "p25", "p50", "p75", "p90", "p95", "mean", "std"] = "mean",
        month: int | None = None,
        hour: int | None = None,
        compare: Literal["above", "below", "departure"] | None = None,
        order: order = None,
        limit: int = 10,
    ):
        """Read what is usual over a place, or compare the forecast with it."""

    return [Tool(function).to_openai() for function in (features, dataset, climatology)]


def count_tokens(text):
    """Words, digits and runs of signs: what a byte-pair tokenizer makes of such text, or more."""
    return len(re.findall(r"[A-Za-z]+|\d|[^\sA-Za-z\d]+", text))


def test_a_listing_with_types_writes_a_shared_list_of_values_once():
    text = describe_tools(weather_tools())
    assert text.count("2m_temperature") == 1
    assert "\ndataset(variable: VARIABLE, feature?: string" in text
    assert "\nVARIABLE: 2m_temperature|10m_u" in text
    assert count_tokens(text) < 400


def test_compact_schemas_name_their_arguments_themselves():
    text = describe_tools([compact_schema(schema) for schema in weather_tools(str)])
    assert "\nfeatures: Find the names, kinds and parents of places. Optional: query," in text
    assert count_tokens(text) < 300


def test_a_listing_names_what_is_required_and_what_is_allowed(sum_env):
    text = describe_tools([*sum_env.tool_schemas()])
    assert "multiply(a: number, b?: number) Multiply. Two numbers and the scale.\n" in text
    assert '<tool_call>{"name": TOOL, "arguments": {ARGUMENT: VALUE}}</tool_call>' in text


def test_text_messages_alternate_and_keep_everything(sum_env):
    calls = (ToolCall("multiply", '{"a": 1}', "c0"), ToolCall("multiply", "{oops", "c1"))
    picture = Image(b"png", "a map")
    messages = [
        Message("system", "Be brief."),
        Message("user", "How much?"),
        Message("assistant", "I look.", "secret thought", calls),
        Message("tool", "2 units", tool_call_id="c0", name="multiply"),
        Message("tool", "Error: no JSON", tool_call_id="c1", name="multiply"),
        Message("user", "The image drawn.", images=(picture,)),
    ]
    schemas = sum_env.tool_schemas()
    system, user, assistant, results = to_text_messages(messages, schemas, vision=False)
    assert system == {"role": "system", "content": f"Be brief.\n\n{describe_tools(schemas)}"}
    assert user == {"role": "user", "content": "How much?"}
    assert assistant["content"] == (
        'I look.\n<tool_call>{"name": "multiply", "arguments": {"a": 1}}</tool_call>\n'
        '<tool_call>{"name": "multiply", "arguments": {oops}</tool_call>'
    )
    assert results == {
        "role": "user",
        "content": "<tool_response>\n2 units\n</tool_response>\n"
        "<tool_response>\nError: no JSON\n</tool_response>\n"
        "The image drawn.\n[image, not visible to this model: a map]",
    }
    seen = to_text_messages(messages, schemas, vision=True)[-1]["content"]
    assert [part["type"] for part in seen] == ["text", "text", "image_url"]


def test_a_conversation_without_a_system_prompt_gets_one(sum_env):
    schemas = sum_env.tool_schemas()
    sent = to_text_messages([Message("user", "q")], schemas, vision=False)
    assert [m["role"] for m in sent] == ["system", "user"]
    assert to_text_messages([Message("user", "q")], [], vision=False) == [
        {"role": "user", "content": "q"}
    ]


def test_read_entry_names_where():
    with pytest.raises(UserError, match=r"^here: the key 'model' is missing$"):
        TABLE.read_entry({}, "here")
