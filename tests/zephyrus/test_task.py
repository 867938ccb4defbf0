import gzip
import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus.errors import UserError
from zephyrus.task import Task, TaskSet

SEPARATORS = "one\u2028two\u2029three\u0085four\x0b\x0c\x1c\rfive\nsix"


def bank(*prompts, **more):
    return TaskSet([Task(f"t{i}", prompt, i, **more) for i, prompt in enumerate(prompts)], "bank")


@pytest.mark.parametrize("name", ["bank.jsonl", "bank.jsonl.gz"])
def test_a_bank_comes_back_from_its_file(tmp_path, name):
    tasks = TaskSet(
        [
            Task(
                "é",
                SEPARATORS,
                [1, "b"],
                "numerical",
                "product",
                "train",
                ("multiply", "add"),
                {"dataset": "demo"},
                {"tool": "multiply"},
                {"seed": 3},
            ),
            Task("plain", "What?", None),
        ]
    )
    path = tmp_path / "new" / name
    tasks.save(path)
    assert list(TaskSet.load(path)) == list(tasks)
    assert TaskSet.load(path).name == "bank"
    assert not list(path.parent.glob("*.part"))


def test_what_is_written_is_json_lines_and_gzip_for_gz(tmp_path):
    bank("a", SEPARATORS).save(tmp_path / "x.jsonl")
    bank("a", SEPARATORS).save(tmp_path / "x.jsonl.gz")
    plain = (tmp_path / "x.jsonl").read_bytes()
    zipped = (tmp_path / "x.jsonl.gz").read_bytes()
    assert zipped[:2] == b"\x1f\x8b" and zipped[4:8] == bytes(4), "gzip, without a time"
    assert gzip.decompress(zipped) == plain
    assert [json.loads(line)["prompt"] for line in plain.split(b"\n")[:-1]] == ["a", SEPARATORS]


@given(st.lists(st.text(st.characters(codec="utf-8")), max_size=4))
@settings(max_examples=60, deadline=None)
def test_any_prompt_survives(tmp_path_factory, prompts):
    path = tmp_path_factory.mktemp("bank") / "b.jsonl"
    bank(*prompts).save(path)
    assert [task.prompt for task in TaskSet.load(path)] == prompts


def test_a_lone_surrogate_is_replaced_in_the_file(tmp_path):
    bank("a\ud800b").save(tmp_path / "b.jsonl")
    assert TaskSet.load(tmp_path / "b.jsonl")[0].prompt == "a\ufffdb"


def test_blank_lines_do_no_harm(tmp_path):
    path = tmp_path / "b.jsonl"
    path.write_text(
        '{"id": "a", "prompt": "p", "gold": 1}\r\n\n{"id": "b", "prompt": "p", "gold": 2}'
    )
    assert [task.id for task in TaskSet.load(path)] == ["a", "b"]


GOOD = b'{"id": "a", "prompt": "p", "gold": 1}\n'


@pytest.mark.parametrize(
    ("name", "data", "complaint"),
    [
        ("b.jsonl.gz", GOOD, "can't be read: Not a gzipped file"),
        ("b.jsonl.gz", gzip.compress(GOOD)[:-9], "can't be read: Compressed file ended"),
        ("b.jsonl.gz", gzip.compress(GOOD)[:12] + b"\xff" * 20, "can't be read"),
        ("b.jsonl", gzip.compress(GOOD), "line 1: not a task"),
        ("b.jsonl", GOOD + b'{"id": "\xe9"}\n', "line 2: not a task .*utf-8"),
        ("b.jsonl", GOOD + b"{\n", "line 2: not a task"),
        ("b.jsonl", GOOD + b"7\n", "line 2: not a task"),
        ("b.jsonl", GOOD + b'{"id": "b"}\n', "line 2: not a task .*prompt"),
        ("b.jsonl", GOOD + b'{"id": "b", "question": "p"}\n', "line 2: .*unknown keys.*question"),
        ("b.jsonl", GOOD + GOOD, "two tasks with one id"),
    ],
)
def test_what_is_no_bank_is_said(tmp_path, name, data, complaint):
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UserError, match=complaint):
        TaskSet.load(tmp_path / name)


def test_a_missing_bank_says_how_to_make_one(tmp_path):
    with pytest.raises(UserError, match=r"no bank at .*nowhere\.jsonl; make one with"):
        TaskSet.load(tmp_path / "nowhere.jsonl")


def test_a_bank_that_cannot_be_written_is_said(tmp_path):
    (tmp_path / "b.jsonl.part").mkdir()  # stands in the way, also of root
    with pytest.raises(UserError, match=r"b\.jsonl can't be written: "):
        bank("a").save(tmp_path / "b.jsonl")
    assert not (tmp_path / "b.jsonl").exists()


def test_facts_are_what_a_trajectory_keeps():
    task = Task("a", "p", [1], "set", "t", "train", ("x", "y"), {"w": 1}, {"p": 1}, {"q": 1})
    assert task.facts() == {
        "template": "t",
        "answer_type": "set",
        "split": "train",
        "gold": [1],
        "required_tools": ["x", "y"],
    }


def test_take_goes_in_turn_through_the_templates():
    tasks = TaskSet(
        [Task(f"{name}{i}", "", 0, template=name) for name in "ab" for i in range(3)]
        + [Task("c0", "", 0, template="c")]
    )
    assert [task.id for task in tasks.take(5)] == ["a0", "b0", "c0", "a1", "b1"]
    assert [task.id for task in tasks.take(99)] == ["a0", "b0", "c0", "a1", "b1", "a2", "b2"]
    assert len(tasks.take(0)) == 0


def test_splits_filter_shuffle_and_look_up():
    tasks = TaskSet([Task(str(i), "", i, split="train" if i % 2 else "test") for i in range(20)])
    assert [t.gold for t in tasks.split("train")] == list(range(1, 20, 2))
    with pytest.raises(UserError, match="no split 'dev'; the splits are train, validation, test"):
        tasks.split("dev")
    assert [t.gold for t in tasks.filter(lambda task: task.gold > 17)] == [18, 19]
    shuffled = [t.id for t in tasks.shuffle(1)]
    assert shuffled == [t.id for t in tasks.shuffle(1)] != [t.id for t in tasks.shuffle(2)]
    assert sorted(shuffled) == sorted(t.id for t in tasks)
    assert tasks["7"].gold == 7 == tasks[7].gold
    with pytest.raises(UserError, match="no task '77' in the bank '' of 20 tasks"):
        tasks["77"]
