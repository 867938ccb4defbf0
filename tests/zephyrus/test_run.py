import json
import logging
import os
import subprocess
import sys

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from zephyrus.errors import UserError
from zephyrus.limits import StopReason
from zephyrus.messages import Image, Message, ToolCall, Usage
from zephyrus.run import Run, find
from zephyrus.trajectory import CallRecord, Key, Trajectory

CONFIG = {
    "env": {"name": "sum", "split": "test"},
    "policy": {"name": "p", "base_url": "http://a"},
    "seed": 0,
    "n": 5,
    "repeats": 1,
    "limits": {"turns": 10, "seconds": None},
    "bank": {"sha256": "abc"},
    "versions": {"zephyrus": "0.1.0"},
}


def made(name="t0", repeat=0, **more):
    values = {
        "messages": [Message("user", "Ça va?\u2028\n")],
        "stop": StopReason.ANSWERED,
        "rewards": {"score": 1.0, "reward": 0.5},
        **more,
    }
    return Trajectory(Key(name, 0, repeat), **values)


def broken(name, error="boom"):
    return made(name, stop=StopReason.ERROR, rewards=None, error=error)


def changed(**more):
    return {**CONFIG, **more}


@pytest.fixture
def run(tmp_path):
    with Run.create(tmp_path / "r", CONFIG) as run:
        yield run


def test_what_is_appended_comes_back(run):
    full = made(
        "é",
        2,
        messages=[
            Message("system", "s"),
            Message("assistant", "a", "thought", (ToolCall("f", '{"x": ', "id"),)),
            Message("user", "see", images=(Image(b"\x89PNG"),)),
        ],
        calls=[CallRecord(0, "f", '{"x": ', "malformed_json", 0.5)],
        turns=1,
        answer="7",
        usage=Usage(3, 4),
        recovered_calls=1,
        seconds=1.5,
        policy_seconds=0.25,
        task={"gold": [1, "b"], "template": "x"},
    )
    run.append(made("t0"), full)
    assert list(run) == [made("t0"), full] and len(run) == 2
    assert run.done_keys() == {Key("t0", 0, 0), Key("é", 0, 2)}
    assert Run.open(run.path).done_keys() == run.done_keys()
    assert Run.open(run.path).config == CONFIG


def test_a_key_is_never_kept_twice(run):
    run.append(made("t0"))
    for again in ((made("t0"),), (made("t1"), made("t1"))):
        with pytest.raises(RuntimeError, match="twice"):
            run.append(*again)
    assert len(run) == 1


def test_a_run_that_is_only_open_cannot_be_written(run):
    for method in (lambda r: r.append(made()), lambda r: r.replace(iter(()))):
        with pytest.raises(RuntimeError, match="not open for writing"):
            method(Run.open(run.path))


def test_errors_live_beside_and_are_superseded(run):
    run.append(broken("t0", "first"), broken("t1"), made("t2"))
    run.append(broken("t0", "second"))
    assert [(t.key.task, t.error) for t in run.errors()] == [("t0", "second"), ("t1", "boom")]
    assert run.done_keys() == {Key("t2", 0, 0)}
    run.append(made("t0"))
    assert [t.key.task for t in run.errors()] == ["t1"]
    assert run.summary["infrastructure"]["errors"] == 1 and run.summary["rollouts"] == 2


@pytest.mark.parametrize("name", ["trajectories.jsonl", "errors.jsonl"])
@settings(max_examples=40, deadline=None)
@given(data=st.data())
def test_a_torn_last_line_is_dropped(tmp_path_factory, name, data):
    folder = tmp_path_factory.mktemp("torn")
    make = broken if name == "errors.jsonl" else made
    with Run.create(folder, CONFIG) as run:
        run.append(make("t0"), make("t1"))
        whole = (folder / name).read_bytes()
        run.append(make("t2"))
    file = folder / name
    torn = file.read_bytes()
    cut = data.draw(st.integers(len(whole), len(torn) - 2))
    file.write_bytes(torn[:cut])
    reader = Run.open(folder)
    assert len(reader if make is made else reader.errors()) == 2, "a reader leaves it out"
    assert file.stat().st_size == cut, "and leaves the file alone"
    with Run.create(folder, CONFIG) as run:
        assert file.read_bytes() == whole
        run.append(make("t2"))
    assert file.read_bytes() == torn


def test_a_torn_line_is_warned_of(run, caplog):
    run.append(made("t0"))
    run.close()
    with (run.path / "trajectories.jsonl").open("ab") as file:
        file.write(b'{"key": ["t1", 0')
    with caplog.at_level(logging.WARNING), run.lock():
        assert run.done_keys() == {Key("t0", 0, 0)}
    assert "half-written last line of 16 bytes" in caplog.text


def test_a_line_that_only_lacks_its_newline_is_kept(run):
    run.append(made("t0"), made("t1"))
    run.close()
    file = run.path / "trajectories.jsonl"
    whole = file.read_bytes()
    file.write_bytes(whole[:-1])
    with run.lock():
        assert file.read_bytes() == whole and len(run.done_keys()) == 2


def test_damage_that_no_kill_leaves_behind_is_not_hidden(run):
    run.append(made("t0"), made("t1"))
    run.close()
    file = run.path / "trajectories.jsonl"
    good = file.read_bytes().splitlines(keepends=True)
    for content, complaint in (
        (b"{}\n" + good[1], "damaged in line 1"),
        (b"\0\0\0\n" + good[1], "damaged in line 1"),
        (good[0] + good[1] + good[0], "twice"),
    ):
        file.write_bytes(content)
        with pytest.raises(UserError, match=complaint):
            run.lock()
        with pytest.raises(UserError, match=complaint):  # the lock was given back
            Run.create(run.path, CONFIG)
    file.write_bytes(b'{"key": ["t0", 0, 0]}\n')
    with pytest.raises(UserError, match="line 1: not a trajectory"):
        list(run)


@pytest.mark.parametrize("name", ["trajectories.jsonl", "errors.jsonl"])
@pytest.mark.parametrize("line", [b'{"a": 1}\n', b"{}\n", b"half a line\n", b"\n"])
def test_a_whole_last_line_is_never_thrown_away(run, name, line):
    run.append(made("t0"), broken("t1"))
    run.close()
    file = run.path / name
    content = file.read_bytes() + line
    file.write_bytes(content)
    with pytest.raises(UserError, match=f"{name} is damaged in line 2"):
        run.lock()
    assert file.read_bytes() == content


def test_how_often_each_rollout_broke(run):
    run.append(broken("t0"), broken("t1"))
    run.append(broken("t0"), made("t1"))
    expected = {Key("t0", 0, 0): 2, Key("t1", 0, 0): 1}
    assert run.failures() == expected == Run.open(run.path).failures()
    run.close()
    with run.lock():
        assert run.failures() == expected
    assert Run.create(run.path, CONFIG).failures() == expected


def test_a_run_is_found_by_its_folder_or_by_its_name(run, tmp_path, monkeypatch):
    run.append(made("t0"))
    monkeypatch.chdir(tmp_path)
    assert find(run.path).path == run.path and len(find("r")) == 1
    (tmp_path / "runs").mkdir()
    (tmp_path / "runs" / "other").symlink_to(run.path)
    assert len(find("other")) == 1 and find("r").path.resolve() == run.path
    (tmp_path / "other").mkdir()  # a folder that is no run does not hide it
    assert len(find("other")) == 1
    with pytest.raises(
        UserError, match=r"^there is no run 'no', here or in runs/; runs/ has other$"
    ):
        find("no")
    for number in range(9):
        Run.create(tmp_path / "runs" / f"x{number}", CONFIG).close()
    with pytest.raises(UserError, match=r"x[0-9],.* and 2 more$"):
        find("no")
    (tmp_path / "empty").mkdir()
    for there in ("empty", str(tmp_path / "no")):
        with pytest.raises(UserError, match=r"^there is no run at .*: it has no config"):
            find(there)
    monkeypatch.chdir(tmp_path / "empty")
    with pytest.raises(UserError, match=r"^there is no run 'no', here or in runs/$"):
        find("no")


def test_a_resume_with_other_rewards_says_what_the_run_has_now(run):
    run.reconfigure({"env": {**CONFIG["env"], "turn_cost": 0.05}})
    run.close()
    with pytest.raises(UserError) as caught:
        Run.create(run.path, changed(env={**CONFIG["env"], "turn_cost": 0.02}))
    assert str(caught.value) == (
        f"the run {run.path} has env.turn_cost = 0.05 (made so, or rescored), and 0.02 is asked "
        "for; give the same, or another output folder"
    )


@pytest.mark.parametrize(
    ("blocked", "act"),
    [
        (".lock", lambda path: Run.create(path, CONFIG)),
        ("config.yaml.part", lambda path: Run.create(path, CONFIG)),
        ("errors.jsonl", lambda path: Run.create(path, CONFIG)),
        (".lock", lambda path: Run.open(path).lock()),
        ("trajectories.jsonl", lambda path: Run.open(path).lock()),
        ("trajectories.jsonl.part", lambda path: Run.open(path).lock().replace(iter([made()]))),
        ("summary.json.part", lambda path: Run.open(path).lock().write_summary()),
    ],
)
def test_a_folder_that_cannot_be_written_is_the_users_to_mend(run, blocked, act):
    run.close()
    (run.path / blocked).unlink(missing_ok=True)
    (run.path / blocked).mkdir()  # refuses, also to root
    with pytest.raises(UserError, match="can't be written: "):
        act(run.path)


def test_what_the_replacing_code_raises_is_not_the_disks(run):
    def gone():
        yield made("t0")
        raise FileNotFoundError("no forecast")

    with pytest.raises(FileNotFoundError, match="no forecast"):
        run.replace(gone())


@pytest.mark.parametrize("content", [b"{", b"{}", b"[]", b"\xff", b'{"accuracy": 1}'])
def test_a_damaged_summary_is_made_anew(run, content):
    run.append(made("t0"))
    (run.path / "summary.json").write_bytes(content)
    assert run.summary["accuracy"] == 1.0
    assert run.write_summary() == run.summary


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        (b"env: {name: caf\xe9}", "can't be read"),
        (b"seed: 1", "not the configuration"),
        (b"env: bench", "not the configuration"),
        (b"", "not the configuration"),
    ],
)
def test_a_damaged_configuration_is_said(run, content, complaint):
    run.close()
    (run.path / "config.yaml").write_bytes(content)
    for use in (Run.open, lambda path: Run.create(path, CONFIG)):
        with pytest.raises(UserError, match=rf"config\.yaml .*{complaint}"):
            use(run.path)


def test_lone_surrogates_are_replaced_in_the_file(run):
    run.append(made("t0", answer="a\ud800", messages=[Message("user", "\udfff \U0001f600")]))
    (kept,) = Run.open(run.path)
    assert kept.answer == "a\ufffd" and kept.messages[0].content == "\ufffd \U0001f600"


@pytest.mark.parametrize(
    ("config", "key"),
    [
        (changed(seed=1), "seed"),
        (changed(env={"name": "sum", "split": "train"}), r"env\.split"),
        (changed(env={"name": "sum", "split": "test", "extra": 1}), r"env\.extra"),
        (changed(policy={"name": "q", "base_url": "http://a"}), r"policy\.name"),
        (changed(limits={"turns": 11, "seconds": None}), r"limits\.turns"),
        (changed(limits={"turns": 10}), None),
        (changed(bank={"sha256": "abd"}), "^the bank has changed since the run"),
        (
            changed(env={"name": "sum", "split": "test", "prompt_sha256": "x"}),
            "^the system prompt or a tool's schema has changed since",
        ),
        (changed(n=4), "n = 5, which can grow but not shrink to 4"),
        (changed(n=6), None),
        (changed(repeats=3), None),
        (changed(versions={"zephyrus": "0.2.0"}), None),
        (changed(policy={"name": "p", "base_url": "http://b"}), None),
    ],
)
def test_a_resume_must_ask_for_the_same(run, config, key):
    run.close()
    if key is None:
        with Run.create(run.path, config) as again:
            assert Run.open(run.path).config == again.config == config
    else:
        with pytest.raises(UserError, match=key):
            Run.create(run.path, config)
        assert Run.open(run.path).config == CONFIG


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(
        st.text(min_size=1, max_size=5),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(),
            lambda inner: (
                st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3)
            ),
            max_leaves=5,
        ),
    )
)
def test_any_configuration_survives_yaml(tmp_path_factory, config):
    folder = tmp_path_factory.mktemp("config")
    for _ in range(2):
        Run.create(folder, {"env": config}).close()
    assert Run.open(folder).config == json.loads(json.dumps({"env": config}))


def test_folders_that_are_no_runs(tmp_path):
    with pytest.raises(UserError, match="no run at"):
        Run.open(tmp_path / "none")
    (tmp_path / "thesis.tex").touch()
    with pytest.raises(UserError, match=r"holds thesis\.tex"):
        Run.create(tmp_path, CONFIG)
    with pytest.raises(UserError, match="can't be a run folder"):
        Run.create(tmp_path / "thesis.tex", CONFIG)
    (tmp_path / "bad").mkdir()
    (tmp_path / "bad" / "config.yaml").write_text("[1, 2]")
    with pytest.raises(UserError, match="not the configuration"):
        Run.open(tmp_path / "bad")
    (tmp_path / "bad" / "config.yaml").write_text("{a: [")
    with pytest.raises(UserError, match="not YAML"):
        Run.open(tmp_path / "bad")


def test_two_writers(run):
    with pytest.raises(UserError, match=f"being written by process {os.getpid()} on "):
        Run.create(run.path, CONFIG)
    code = "import sys; from zephyrus.run import Run; Run.open(sys.argv[1]).lock()"
    done = subprocess.run(
        [sys.executable, "-c", code, str(run.path)], capture_output=True, text=True, check=False
    )
    assert f"being written by process {os.getpid()} on " in done.stderr
    run.close()
    subprocess.run([sys.executable, "-c", code, str(run.path)], check=True)


def test_the_lock_of_a_killed_process_is_free(run):
    run.close()
    code = (
        "import os, signal, sys; from zephyrus.run import Run; run = Run.open(sys.argv[1]).lock();"
        "os.kill(os.getpid(), signal.SIGKILL)"
    )
    done = subprocess.run([sys.executable, "-c", code, str(run.path)], check=False)
    assert done.returncode == -9
    with run.lock():
        run.append(made())
    assert len(run) == 1


def test_a_file_system_without_locks_is_warned_of(tmp_path, monkeypatch, caplog):
    import errno

    from zephyrus import lock

    def refuse(handle):
        raise OSError(errno.ENOLCK, "No locks available")

    monkeypatch.setattr(lock, "_claim", refuse)
    with Run.create(tmp_path / "r", CONFIG) as run:
        run.append(made())
    assert len(run) == 1 and "has no locks" in caplog.text


def test_a_refusing_disk_leaves_no_half_line(run):
    resource = pytest.importorskip("resource")
    run.append(made("t0"))
    size = (run.path / "trajectories.jsonl").stat().st_size
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, hard))
    try:
        with pytest.raises(OSError, match="too large"):
            run.append(made("t1"))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert (run.path / "trajectories.jsonl").stat().st_size == size
    run.append(made("t1"))
    assert [t.key.task for t in run] == ["t0", "t1"]


def test_replace_is_all_or_nothing(run):
    run.append(made("t0"), made("t1"))

    def half():
        yield made("t0")
        raise ValueError("no")

    with pytest.raises(ValueError, match="no"):
        run.replace(half())
    assert len(run) == 2
    run.replace(iter([made("t0", answer="new"), made("t1")]))
    run.append(made("t2"))
    assert [t.answer for t in run] == ["new", None, None]


def test_the_summary_is_never_out_of_date(run):
    assert run.summary["accuracy"] is None and not (run.path / "summary.json").exists()
    run.append(made("t0"))
    assert run.write_summary()["accuracy"] == 1.0
    run.append(made("t1", rewards={"score": 0.0, "reward": 0.0}))
    os.utime(run.path / "summary.json", ns=(0, 0))
    assert run.summary["accuracy"] == 0.5


def test_dataframe(run):
    run.append(
        made("t0", calls=[CallRecord(0, "f", "{}", "timeout"), CallRecord(0, "f", "{}")], turns=2),
        made("t1", rewards={"score": 0.0, "reward": 0.0, "turns": 9.0}, task={"gold": 3}),
    )
    frame = run.to_dataframe()
    assert list(frame["task"]) == ["t0", "t1"] and list(frame["score"]) == [1.0, 0.0]
    assert list(frame["failed_calls"]) == [1, 0] and list(frame["turns"]) == [2, 0]
    assert frame["reward_turns"][1] == 9.0 and frame["stop"][0] == "answered"


def test_how_a_run_is_shown(run):
    assert repr(run) == f"Run({str(run.path)!r}, 0 rollouts)" and run and run.name == "r"
    run.append(made("t0"))
    assert "1 rollouts" in repr(run) and "environment sum" in run._repr_html_()


def test_heavy_modules_come_in_late():
    code = (
        "import sys, zephyrus.rollouts;"
        "print([m for m in ('pandas', 'numpy', 'rich', 'gymnasium', 'openai', 'yaml') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"
