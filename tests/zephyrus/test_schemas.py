"""Formats of files: what is written says its layout, fits its schema, and is read by the rule."""

import json
import shutil

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st
from sum_env import SumEnv

import zephyrus.schemas
from zephyrus.errors import UserError
from zephyrus.fileformat import FileFormat, LaterFormatError
from zephyrus.limits import StopReason
from zephyrus.messages import Image, Message, ToolCall
from zephyrus.rollouts import rollout
from zephyrus.run import Run
from zephyrus.schemas.make import every, formats, make, to_text
from zephyrus.task import Task, TaskSet
from zephyrus.trajectory import CallRecord, Key, Trajectory

RELEASES = st.lists(st.integers(0, 99), min_size=1, max_size=4).map(
    lambda numbers: ".".join(map(str, numbers))
)
FORM = FileFormat(
    "thing",
    "0.10.0",
    (("0.2.0", lambda d: {**d, "b": d["a"]}), ("0.10.0", lambda d: {**d, "c": d["b"] + 1})),
)


def check(name, value):
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema")
    jsonschema.Draft202012Validator(zephyrus.schemas.schema(name)).validate(value)


def lines(path):
    return [json.loads(line) for line in path.read_text("utf-8").splitlines()]


@pytest.mark.parametrize(
    ("data", "expected"),
    [
        ({"a": 1}, {"a": 1, "b": 1, "c": 2}),
        ({"format": "0.1.0", "a": 1}, {"a": 1, "b": 1, "c": 2}),
        ({"format": "0.2.0", "a": 1, "b": 5}, {"a": 1, "b": 5, "c": 6}),
        ({"format": "0.9", "a": 1, "b": 5}, {"a": 1, "b": 5, "c": 6}),
        ({"format": "0.10.0", "a": 1, "b": 5, "c": 7}, {"a": 1, "b": 5, "c": 7}),
        ({"format": "0.10", "a": 1}, {"a": 1}),
    ],
)
def test_an_earlier_layout_is_migrated_step_by_step(data, expected):
    before = dict(data)
    assert FORM.read(data, "x") == expected
    assert data == before


@given(RELEASES)
def test_a_later_layout_is_refused_and_no_other(release):
    form = FileFormat("thing", "3.1.4")
    numbers = [int(n) for n in release.split(".")]
    later = (numbers + [0] * 4)[:4] > [3, 1, 4, 0]
    if later:
        with pytest.raises(LaterFormatError) as error:
            form.read({"format": release}, "file.json")
        assert "file.json was written by a later zephyrus" in str(error.value)
        assert f"pip install 'zephyrus>={release}'" in str(error.value)
    else:
        assert form.read({"format": release, "x": 1}, "file.json") == {"x": 1}


@pytest.mark.parametrize(
    "data", [[], None, 3, {"format": "new"}, {"format": None}, {"format": "1."}]
)
def test_what_was_never_written_is_no_file(data):
    with pytest.raises(ValueError):
        FORM.read(data, "x")


def test_the_schemas_that_ship_are_those_of_the_types():
    shipped = {name: zephyrus.schemas.schema(name) for name in zephyrus.schemas.names()}
    assert shipped == every(), "run scripts/schemas.py"
    assert to_text({"a": "é"}) == '{\n "a": "é"\n}\n'
    with pytest.raises(UserError, match="trajectory"):
        zephyrus.schemas.schema("nothing")


def test_those_of_stored_datasets_too():
    geodata = pytest.importorskip("zephyrus_geodata.schemas")
    from zephyrus_geodata.schemas.stored import TYPES

    made = {name: make(name, kind) for name, kind in TYPES.items()}
    assert {name: geodata.schema(name) for name in geodata.names()} == made


def test_a_stored_rollout_has_the_fields_of_a_rollout():
    fields = set(Trajectory.__slots__)
    assert set(zephyrus.schemas.schema("trajectory")["properties"]) == {"format", *fields}
    assert set(zephyrus.schemas.schema("task")["properties"]) == {"format", *Task.__slots__}
    assert set(json.loads(Trajectory(Key("t", 0, 0)).to_json())) == {"format", *fields}


def test_every_file_of_a_run_says_its_format_and_fits_its_schema(tmp_path):
    run = rollout(SumEnv(6), "scripted", repeats=2, output=tmp_path / "r", progress=False)
    config = yaml.safe_load((run.path / "config.yaml").read_text())
    check("run-config", config)
    check("run-summary", json.loads((run.path / "summary.json").read_text()))
    kept = lines(run.path / "trajectories.jsonl")
    assert len(kept) == 12 and {line["format"] for line in kept} == {"0.1.0"}
    for line in kept:
        check("trajectory", line)
    assert next(iter(config)) == "format" and "format" not in run.config


def test_unusual_rollouts_fit_it_too(tmp_path):
    full = Trajectory(
        Key("é", 1, 2),
        messages=[
            Message("system", "s"),
            Message("assistant", "", "thought", (ToolCall("f", '{"x": ', "id"),)),
            Message("tool", "Error", tool_call_id="id", name="f"),
            Message("user", "see", images=(Image(b"\x89PNG", "a map"),)),
        ],
        calls=[CallRecord(0, "f", '{"x": ', "malformed_json", 0.5)],
        stop=StopReason.TOKENS,
        unscored="the judge is away",
        task=Task("é", "?", gold=[1, {"b": None}]).facts(),
    )
    broken = Trajectory(Key("t", 0, 0), stop=StopReason.ERROR, error="boom")
    for one in (full, broken, Trajectory(Key("t", 0, 0))):
        check("trajectory", json.loads(one.to_json()))


def test_a_schema_says_no_to_what_is_not_written():
    jsonschema = pytest.importorskip("jsonschema", reason="needs jsonschema")
    whole = json.loads(Trajectory(Key("t", 0, 0)).to_json())
    for wrong in (
        {**whole, "more": 1},
        {**whole, "stop": "bored"},
        {**whole, "key": ["t", 0]},
        {**whole, "format": "0.0.9"},
        {k: v for k, v in whole.items() if k != "usage"},
    ):
        with pytest.raises(jsonschema.ValidationError):
            check("trajectory", wrong)


def test_a_bank_says_its_format(tmp_path):
    bank = TaskSet([Task("a", "?", 1, world={"x": 1}), Task("b", "?", ["é"])], "bank")
    for name in ("bank.jsonl", "bank.jsonl.gz"):
        bank.save(tmp_path / name)
        assert list(TaskSet.load(tmp_path / name)) == list(bank)
    for line in lines(tmp_path / "bank.jsonl"):
        check("task", line)
    before = tmp_path / "old.jsonl"
    before.write_text("".join(json.dumps(task.to_dict()) + "\n" for task in bank), "utf-8")
    assert list(TaskSet.load(before)) == list(bank), "banks of before there were formats"
    later = tmp_path / "later.jsonl"
    later.write_text(json.dumps({"format": "0.7.0", "id": "a", "question": "?"}) + "\n")
    with pytest.raises(LaterFormatError, match=r"later.jsonl, line 1, .*zephyrus>=0.7.0"):
        TaskSet.load(later)


def test_a_run_of_before_there_were_formats_opens_goes_on_and_is_rewritten(tmp_path):
    new, old = tmp_path / "new", tmp_path / "old"
    rollout(SumEnv(6), "scripted", n=4, output=new, progress=False)
    shutil.copytree(new, old)
    for name in ("config.yaml", "summary.json"):
        value = yaml.safe_load((old / name).read_text())
        del value["format"]
        text = yaml.safe_dump(value) if name == "config.yaml" else json.dumps(value)
        (old / name).write_text(text)
    stripped = []
    for line in lines(old / "trajectories.jsonl"):
        del line["format"], line["unscored"]
        stripped.append(json.dumps(line) + "\n")
    (old / "trajectories.jsonl").write_text("".join(stripped))
    opened = Run.open(old)
    assert opened.config == Run.open(new).config
    assert [t.to_json() for t in opened] == [t.to_json() for t in Run.open(new)]
    assert opened.summary == Run.open(new).summary
    before = (old / "trajectories.jsonl").read_bytes()
    again = rollout(SumEnv(6), "scripted", n=6, output=old, progress=False)
    assert len(again) == 6 and again.summary["accuracy"] == 1.0
    assert (old / "trajectories.jsonl").read_bytes().startswith(before), "old lines are let be"
    assert [line.get("format") for line in lines(old / "trajectories.jsonl")] == [
        *[None] * 4,
        *["0.1.0"] * 2,
    ]
    assert yaml.safe_load((old / "config.yaml").read_text())["format"] == "0.1.0"


@pytest.mark.parametrize("name", ["config.yaml", "trajectories.jsonl"])
def test_a_run_of_a_later_release_is_refused_and_not_touched(tmp_path, name):
    rollout(SumEnv(3), "scripted", output=tmp_path, progress=False)
    file = tmp_path / name
    file.write_text(file.read_text().replace("0.1.0", "0.4.0", 1))
    before = file.read_bytes()

    def read():
        return list(Run.open(tmp_path))

    def write():
        rollout(SumEnv(3), "scripted", output=tmp_path, progress=False)

    for work in (read, write):
        with pytest.raises(LaterFormatError, match=r"pip install 'zephyrus>=0\.4\.0'"):
            work()
    assert file.read_bytes() == before


def test_every_format_has_a_schema_and_a_release_that_is_out():
    from zephyrus import __version__

    def numbers(release):
        return tuple(map(int, release.split(".")))

    for name, (form, _) in formats().items():
        assert name in zephyrus.schemas.names()
        assert numbers(form.version) <= numbers(__version__)
        order = [numbers(release) for release, _ in form.migrations]
        assert order == sorted(order) and all(one <= numbers(form.version) for one in order)
