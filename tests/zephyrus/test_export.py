"""Runs and banks as data sets: columns, files, and what other trainers make of them."""

import json

import pyarrow.parquet as pq
import pytest
from sum_env import SumEnv

from zephyrus.errors import UserError
from zephyrus.export import bank_rows, export_bank, export_run, run_rows
from zephyrus.export.rows import message_row
from zephyrus.limits import StopReason
from zephyrus.messages import Image, Message, ToolCall
from zephyrus.rollouts import rollout
from zephyrus.task import SPLITS, Task, TaskSet
from zephyrus.trajectory import CallRecord, Key, Trajectory

TEMPLATE = (
    "{%- if tools %}TOOLS {{ tools | map(attribute='function.name') | join(',') }}\n{% endif %}"
    "{%- for m in messages %}<{{ m.role }}>{{ m.content }}"
    "{%- if 'tool_calls' in m %}{% for c in m.tool_calls %}[{{ c.function.name }}"
    "{%- for k, v in c.function.arguments | items %} {{ k }}={{ v }}{% endfor %}]{% endfor %}{% endif %}\n"
    "{%- endfor %}"
)
"""As strict as those of Llama 3.1, gpt-oss (a key that is there is used) and Qwen3.5 (``items``)."""


@pytest.fixture
def run(tmp_path):
    return rollout(SumEnv(4), "scripted", repeats=2, output=tmp_path / "r", progress=False)


def unpacked(path):
    """A Parquet file's rows, for readers that see JSON as text."""
    return [
        {
            key: [json.loads(m) for m in value]
            if key in ("messages", "prompt")
            else json.loads(value)
            if key in ("tools", "rewards", "gold", "world", "provenance")
            else value
            for key, value in row.items()
        }
        for row in pq.read_table(path).to_pylist()
    ]


def test_a_rollout_is_a_row(run, tmp_path):
    done = export_run(run, tmp_path / "r.parquet", env=SumEnv(4))
    assert done.rows == {"test": 8} and done.files == (tmp_path / "r.parquet",)
    rows = unpacked(done.files[0])
    assert rows == list(run_rows(run, SumEnv().tool_schemas(), run="r", policy="scripted"))
    for row, t in zip(rows, run, strict=True):
        assert (row["task"], row["seed"], row["repeat"]) == t.key
        assert (row["reward"], row["rewards"]) == (1.0, t.rewards)
        assert (row["gold"], row["answer"], row["stop"]) == (t.task["gold"], t.answer, "answered")
        assert (row["turns"], row["calls"], row["failed_calls"]) == (2, 1, 0)
        assert [m["role"] for m in row["messages"]] == [
            "system",
            "user",
            "assistant",
            "tool",
            "assistant",
        ]
        call = row["messages"][2]["tool_calls"][0]
        assert call["function"] == {
            "name": "multiply",
            "arguments": json.loads(t.calls[0].arguments),
        }
        assert row["messages"][3]["tool_call_id"] == call["id"]
        assert "tool_calls" not in row["messages"][1]
    about = json.loads(pq.read_schema(done.files[0]).metadata[b"zephyrus"])
    assert about == {"kind": "rollouts", "format": "0.1.0"}


def test_json_lines_hold_the_same(run, tmp_path):
    export_run(run, tmp_path / "r.jsonl", form="jsonl", env=SumEnv(4))
    export_run(run, tmp_path / "r.parquet", env=SumEnv(4))
    lines = (tmp_path / "r.jsonl").read_text("utf-8").splitlines()
    assert [json.loads(line) for line in lines] == unpacked(tmp_path / "r.parquet")


def test_what_is_left_out(tmp_path):
    def made(name, reward, stop=StopReason.ANSWERED):
        rewards = None if reward is None else {"reward": reward}
        return Trajectory(Key(name, 0, 0), rewards=rewards, stop=stop)

    rollouts = [made("a", 1.0), made("b", 0.25), made("c", None), made("d", None, StopReason.ERROR)]

    def tasks(least):
        return [row["task"] for row in run_rows(rollouts, None, at_least=least)]

    assert tasks(None) == ["a", "b", "c"]
    assert tasks(0.25) == ["a", "b"] and tasks(0.5) == ["a"] and tasks(2) == []


@pytest.mark.parametrize(
    ("written", "arguments"),
    [
        ('{"a": 1, "b": [null]}', {"a": 1, "b": [None]}),
        ('{"a": ', {"malformed": '{"a": '}),
        ("[1]", {"malformed": "[1]"}),
        (" ", {}),
    ],
)
def test_arguments_are_always_an_object(written, arguments):
    row = message_row(Message("assistant", "", "why", (ToolCall("f", written, "i"),)))
    assert row["tool_calls"][0]["function"] == {"name": "f", "arguments": arguments}
    assert row["reasoning_content"] == "why"


def test_a_picture_is_its_description_and_surrogates_are_replaced(tmp_path):
    t = Trajectory(
        Key("t", 0, 0),
        messages=[Message("user", "see", images=(Image(b"\x89PNG", "a map of Kenya"),))],
        calls=[CallRecord(1, "f", "{}", "bad_arguments")],
        answer="\ud800",
        stop=StopReason.ANSWERED,
    )
    from zephyrus.export.write import write

    write(run_rows([t], None), "rollouts", "parquet", tmp_path / "t.parquet")
    (row,) = pq.read_table(tmp_path / "t.parquet").to_pylist()
    assert "a map of Kenya" in row["messages"][0] and "PNG" not in row["messages"][0]
    assert row["answer"] == "�" and row["tools"] is None and row["failed_calls"] == 1


class Banked(SumEnv):
    def tasks(self, split=None):
        every = [
            Task(f"{name}{i}", f"{name}?", gold=i, split=name) for name in SPLITS for i in range(2)
        ]
        return TaskSet(every, "sum").split(split or "test")


def test_a_bank_is_a_file_of_prompts_for_each_split(tmp_path):
    env = Banked()
    done = export_bank(env, tmp_path / "bank")
    assert {file.name for file in done.files} == {f"{split}.parquet" for split in SPLITS}
    (first, _) = unpacked(tmp_path / "bank" / "train.parquet")
    assert first["prompt"] == [
        {"role": "system", "content": "Use the tools."},
        {"role": "user", "content": "train?"},
    ]
    assert (first["task"], first["gold"], first["environment"]) == ("train0", 0, "sum")
    assert first["tools"] == env.tool_schemas()
    only = export_bank(env, tmp_path / "v.jsonl", form="jsonl", split="validation")
    assert only.rows == {"validation": 2}
    one = export_bank(env, tmp_path / "all.parquet")
    assert one.rows == dict.fromkeys(SPLITS, 2) and len(unpacked(tmp_path / "all.parquet")) == 6
    assert next(bank_rows(env.tasks(), "s", [], "e"))["required_tools"] == []


@pytest.mark.parametrize(
    ("output", "form", "says"),
    [
        ("r.csv", "parquet", "end it in .parquet"),
        ("r.parquet", "jsonl", "end it in .jsonl"),
        ("r.parquet", "hf", "give a folder"),
        ("r.xml", "xml", "there are parquet, jsonl, hf"),
        ("taken", "parquet", "is a file"),
    ],
)
def test_a_wrong_output_is_one_sentence(run, tmp_path, output, form, says):
    (tmp_path / "taken").write_text("mine")
    with pytest.raises(UserError, match=says):
        export_run(run, tmp_path / output, form=form, tools=False)
    assert (tmp_path / "taken").read_text() == "mine"


def test_nothing_left_writes_nothing(run, tmp_path):
    with pytest.raises(UserError, match="nothing to export"):
        export_run(run, tmp_path / "r.parquet", tools=False, at_least=2)
    assert not (tmp_path / "r.parquet").exists()


def test_tools_that_have_changed_are_not_written_as_if_they_had_been_offered(run, tmp_path):
    with pytest.raises(UserError, match="--no-tools"):
        export_run(run, tmp_path / "r.parquet", env=SumEnv(4, compact=True))


def test_without_datasets_the_format_hf_says_what_to_install(run, tmp_path, monkeypatch):
    monkeypatch.setattr("importlib.util.find_spec", lambda name: None)
    with pytest.raises(UserError, match="pip install datasets"):
        export_run(run, tmp_path / "hf", form="hf", tools=False)


def test_datasets_reads_it_and_a_chat_template_writes_it(run, tmp_path, monkeypatch):
    datasets = pytest.importorskip("datasets", reason="needs datasets (the extra train)")
    transformers = pytest.importorskip("transformers", reason="needs the extra train")
    tokenizers = pytest.importorskip("tokenizers", reason="needs the extra train")
    export_run(run, tmp_path / "r.parquet", env=SumEnv(4))
    export_run(run, tmp_path / "hf", form="hf", env=SumEnv(4))
    export_run(run, tmp_path / "hf", form="hf", env=SumEnv(4))  # over what was there
    read = datasets.load_dataset(
        "parquet",
        data_files=str(tmp_path / "r.parquet"),
        split="train",
        cache_dir=str(tmp_path / "cache"),
    )
    kept = datasets.load_from_disk(str(tmp_path / "hf"))["test"]
    assert kept.features == read.features and list(kept) == list(read)
    row = next(row for row in read if row["task"] == "t1")
    assert row["tools"] == SumEnv().tool_schemas() and row["gold"] == 4.0
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=model)
    text = tokenizer.apply_chat_template(
        row["messages"], tools=row["tools"], tokenize=False, chat_template=TEMPLATE
    )
    assert text == (
        "TOOLS multiply,explode\n<system>Use the tools.<user>What is 1 times 2, scaled?"
        "<assistant>[multiply a=1 b=2]<tool>4 units<assistant><answer>4</answer>"
    )


@pytest.mark.parametrize(
    "name", ["qwen3", "qwen3_5_think", "qwen3_8", "llama3_1", "gptoss", "glm4moe"]
)
def test_templates_that_trl_ships_write_it(run, tmp_path, name):
    trl = pytest.importorskip("trl", reason="needs the extra train")
    from pathlib import Path

    import datasets
    import tokenizers
    import transformers

    file = Path(trl.__file__).parent / "chat_templates" / f"{name}.jinja"
    if not file.is_file():
        pytest.skip(f"this TRL has no {file.name}")
    export_run(run, tmp_path / "r.parquet", env=SumEnv(4))
    read = datasets.Dataset.from_parquet(
        str(tmp_path / "r.parquet"), cache_dir=str(tmp_path / "cache")
    )
    row = next(row for row in read if row["task"] == "t1")
    model = tokenizers.Tokenizer(tokenizers.models.BPE())
    tokenizer = transformers.PreTrainedTokenizerFast(tokenizer_object=model)
    text = tokenizer.apply_chat_template(
        row["messages"], tools=row["tools"], tokenize=False, chat_template=file.read_text("utf-8")
    )
    for words in (
        "Use the tools.",
        "What is 1 times 2, scaled?",
        "multiply",
        "4 units",
        "<answer>4</answer>",
    ):
        assert words in text
    assert "None" not in text
