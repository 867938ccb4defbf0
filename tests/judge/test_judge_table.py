"""The judge table and `make_judge`."""

import subprocess
import sys

import pytest

from zephyrus.errors import UserError
from zephyrus.judge import judge_names, make_judge
from zephyrus.judge.base import Judge
from zephyrus.judge.llm import LLMJudge
from zephyrus.judge.table import JudgeEntry, judge_table, user_table_path
from zephyrus.registry import register


@pytest.fixture
def write_table(tmp_path, monkeypatch):
    def write(text):
        path = tmp_path / "mine.yaml"
        path.write_text(text)
        monkeypatch.setenv("ZEPHYRUS_JUDGES", str(path))
        return path

    return write


class ConstantJudge(Judge):
    name = "constant"
    deterministic = True

    def __init__(self, level: int = 5) -> None:
        self.level = level

    async def claims(self, text, *, scoring_pass=0):
        return ()

    async def verdicts(self, claims, text, *, scoring_pass=0):
        return ()

    async def rubric(self, brief, *, scoring_pass=0):
        raise NotImplementedError


def test_the_built_in_table_has_the_papers_judges():
    table = judge_table()
    models = {
        "gpt-oss-120b": "openai/gpt-oss-120b",
        "gemma-3-27b-it": "google/gemma-3-27b-it",
        "mistral-small-3.2-24b": "mistralai/Mistral-Small-3.2-24B-Instruct-2506",
        "gpt-oss-20b": "openai/gpt-oss-20b",
    }
    for name, model in models.items():
        assert table[name].model == model
        assert table[name].base_url == "http://127.0.0.1:8000/v1"
    for name, entry in table.items():
        assert entry.notes, name
        assert entry.price_prompt is None, "prices change; they are the user's to give"
        # A key is named wherever one is needed.
        assert (entry.api_key_env is None) == entry.base_url.startswith("http://127.0.0.1")


def test_the_example_judge_fits_its_window():
    """The longest prompt of a demo event has 2,850 of its 4,096 tokens."""
    entry = judge_table()["smollm2-135m"]
    assert entry.tight_schema and entry.sampling.max_tokens + 2850 < 4096


def test_a_judge_has_room_for_its_reasoning():
    for name, entry in judge_table().items():
        if name == "smollm2-135m":
            continue  # an example that doesn't reason; its whole window is 4096 tokens
        limit = entry.sampling.max_tokens or entry.sampling.extra_body["max_completion_tokens"]
        assert limit >= 8192
    assert JudgeEntry(model="m").sampling.max_tokens == 8192
    entry = make_judge("openai:m", cache=False, temperature=0.5).entry
    assert (entry.sampling.temperature, entry.sampling.max_tokens) == (0.5, 8192)


def test_the_users_table_adds_and_changes(write_table):
    write_table(
        "mine: {model: a/b, base_url: 'http://gpu:8000/v1', price_prompt: 0.1}\n"
        "gpt-oss-20b: {base_url: 'http://gpu:9000/v1'}\n"
    )
    table = judge_table()
    assert table["mine"] == JudgeEntry(model="a/b", base_url="http://gpu:8000/v1", price_prompt=0.1)
    assert table["gpt-oss-20b"].base_url == "http://gpu:9000/v1"
    assert table["gpt-oss-20b"].model == "openai/gpt-oss-20b"
    assert "mine" in judge_names()


@pytest.mark.skipif(sys.platform != "linux", reason="the configuration folder is Linux's")
def test_the_users_table_is_found_in_the_configuration_folder(tmp_path):
    assert user_table_path() == tmp_path / "config" / "zephyrus" / "judges.yaml"
    user_table_path().parent.mkdir(parents=True)
    user_table_path().write_text("mine: {model: a/b}")
    assert judge_table()["mine"].model == "a/b"


@pytest.mark.parametrize(
    ("text", "complaint"),
    [
        ("a: {modle: x}", "the judge 'a': unknown key 'modle'; did you mean model?"),
        ("a: {model: x, structred: none}", "unknown key 'structred'; did you mean structured?"),
        ("a: {model: x, structured: xml}", "structured: .*'auto', 'json_schema', 'json_object' or"),
        ("a: {model: x, price_prompt: -1}", r"price_prompt: .*\(got -1\)"),
        ("a: {model: x, sampling: {temprature: 1}}", "did you mean temperature?"),
        ("a: 3", "must hold judge names"),
        ("a: {", "not valid YAML"),
    ],
)
def test_a_wrong_table_is_explained(write_table, text, complaint):
    write_table(text)
    with pytest.raises(UserError, match=complaint):
        judge_table()


def test_a_named_table_that_is_missing_is_an_error(monkeypatch):
    monkeypatch.setenv("ZEPHYRUS_JUDGES", "/no/such/file.yaml")
    with pytest.raises(UserError, match=r"\$ZEPHYRUS_JUDGES names /no/such/file\.yaml"):
        judge_table()


def test_make_judge_knows_names_and_takes_overrides():
    judge = make_judge(
        "gemma-3-27b-it", base_url="http://gpu:1/v1", temperature=0.0, retries=None, asks=2
    )
    assert isinstance(judge, LLMJudge)
    assert judge.name == "gemma-3-27b-it"
    assert (judge.entry.base_url, judge.entry.asks) == ("http://gpu:1/v1", 2)
    assert (judge.entry.sampling.temperature, judge.entry.sampling.top_p) == (0.0, 0.95)
    assert judge.entry.sampling.extra_body == {"top_k": 64}
    assert judge.deterministic is False
    assert make_judge(judge) is judge


def test_the_cache_is_where_it_is_told(tmp_path):
    assert make_judge("openai:m").cache.path == tmp_path / "judgements.sqlite"
    assert make_judge("openai:m", cache=tmp_path / "x.sqlite").cache.path == tmp_path / "x.sqlite"
    assert make_judge("openai:m", cache=False).cache is None


def test_a_plug_in_is_a_judge_by_its_name():
    register("judges", "constant", ConstantJudge)
    assert "constant" in judge_names()
    assert make_judge("constant", level=7, other=None).level == 7
    assert make_judge("constant", concurrency=3, cache=False).level == 5
    with pytest.raises(UserError, match="the judge 'constant' takes no such option"):
        make_judge("constant", temperature=1.0)


@pytest.mark.parametrize(
    ("spec", "options", "complaint"),
    [
        ("gpt-oss-12b", {}, "there is no judge 'gpt-oss-12b'; did you mean gpt-oss-120b"),
        ("zzzzzzzz", {}, "known: .*gemma-3-27b-it.*openai:MODEL@URL"),
        ("openai:", {}, "write openai:MODEL@URL"),
        ("openai:m@localhost:8000/v1", {}, "must begin with http:// or https://"),
        ("openai:m", {"base_url": "localhost:8000"}, "'localhost:8000' is no address"),
        ("openai:m", {"temprature": 1}, "the judge 'openai:m' takes no option 'temprature'"),
        ("openai:m", {"asks": 0}, "asks: .*got 0"),
        ("openai:m", {"concurrency": 0}, "concurrency must be at least 1"),
    ],
)
def test_what_cannot_be_made_is_explained(spec, options, complaint):
    with pytest.raises(UserError, match=complaint):
        make_judge(spec, cache=False, **options)


def test_naming_judges_imports_nothing_heavy():
    code = (
        "import sys; from zephyrus.judge import make_judge; import zephyrus.judge.guard\n"
        "make_judge('openai:m', cache=False)\n"
        "print([m for m in ('numpy', 'openai', 'aiohttp', 'xarray', 'torch') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
