import json
import math
import sys
from base64 import b64decode, b64encode
from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from run_maker import ATTACK, SYSTEM, Page, broken, make_run, png, rollout

from zephyrus.limits import StopReason
from zephyrus.messages import Message, ToolCall
from zephyrus.trajectory import CallRecord, Key, Trajectory
from zephyrus.view.run import write_run_view
from zephyrus.view.run.comparison import difference, pair
from zephyrus.view.run.page import PIECE, packed
from zephyrus.view.run.pictures import Pictures
from zephyrus.view.run.questions import split_lead
from zephyrus.view.run.rollout import limits_hit, row, trace

RED, BLUE = png(200, 0, 0), png(0, 0, 200)


def traced(trajectory, room=10**6):
    return trace(trajectory, Pictures(room), {})


# One rollout ----------------------------------------------------------------------------------


def test_a_row_has_what_the_table_shows():
    found = row(rollout("t1", 0.5, image=RED))
    assert found == {
        "task": "t1",
        "seed": 0,
        "repeat": 0,
        "template": "sum",
        "type": "numerical",
        "question": "What is 40 + 2, for t1?",
        "answer": "42",
        "gold": "42.0",
        "stop": "answered",
        "score": 0.5,
        "rewards": {"score": 0.5, "turn_penalty": 0.0, "reward": 0.5},
        "turns": 2,
        "calls": 2,
        "failed": 1,
        "kinds": ["malformed_json"],
        "tools": ["add"],
        "hit": [],
        "prompt": 100,
        "completion": 7,
        "seconds": 1.5,
        "images": 1,
        "why": "",
    }


def test_a_trace_has_every_call_with_its_observation():
    texts = {}
    found = trace(rollout("t1", image=RED), Pictures(10**6), texts)
    assert texts == {SYSTEM: 0}
    system, task, turn, image, answer = found["steps"]
    assert system == {"role": "system", "shared": 0}
    assert task == {"role": "user", "text": "What is 40 + 2, for t1?", "images": []}
    assert turn["turn"] == 1 and turn["reasoning"] == "I shall add."
    assert turn["calls"] == [
        {
            "name": "add",
            "arguments": '{"a": 40, "b": 2}',
            "error": None,
            "seconds": 0.25,
            "observed": "The sum for t1 is 42.",
        },
        {
            "name": "add",
            "arguments": '{"a": ',
            "error": "malformed_json",
            "seconds": 0.0,
            "observed": "Error: not JSON.",
        },
    ]
    assert image["images"] == [{"alt": "A square.", "at": 0}]
    assert answer == {
        "role": "assistant",
        "turn": 2,
        "text": "<answer>42</answer>",
        "reasoning": "",
        "calls": [],
    }
    assert found["gold"] == "42.0" and found["policy_seconds"] == 1.0


def test_ids_that_come_again_in_a_later_turn_are_told_apart():
    def turn(n):
        call = ToolCall("add", f'{{"a": {n}}}', "same")
        return [
            Message("assistant", tool_calls=(call,)),
            Message("tool", f"It is {n}.", tool_call_id="same", name="add"),
        ]

    messages = [Message("user", "Add."), *turn(1), *turn(2)]
    records = [CallRecord(n - 1, "add", f'{{"a": {n}}}') for n in (1, 2)]
    found = traced(Trajectory(Key("t", 0, 0), messages=messages, calls=records, turns=2))
    calls = [step["calls"][0] for step in found["steps"] if step["role"] == "assistant"]
    assert [call["observed"] for call in calls] == ["It is 1.", "It is 2."]
    assert len(found["steps"]) == 3, "no observation is shown a second time"


def test_a_call_that_broke_the_world_has_no_observation_and_a_stray_one_is_shown():
    call = ToolCall("add", "{}", "c0")
    messages = [
        Message("user", "Add."),
        Message("assistant", tool_calls=(call, replace(call, id="c1"))),
        Message("tool", "Stray.", tool_call_id="else", name="add"),
    ]
    record = CallRecord(0, "add", "{}", "infrastructure", 2.0)
    found = traced(Trajectory(Key("t", 0, 0), messages=messages, calls=[record], turns=1))
    _, turn, stray = found["steps"]
    assert [(c["error"], c["observed"]) for c in turn["calls"]] == [
        ("infrastructure", None),
        (None, None),
    ]
    assert stray == {"role": "tool", "text": "Stray.", "images": []}


def test_limits_that_were_hit():
    plain = rollout("t")
    assert limits_hit(plain) == []
    for stop in (StopReason.TURNS, StopReason.TOKENS, StopReason.TIME):
        assert limits_hit(replace(plain, stop=stop)) == [str(stop)]
    refused = [CallRecord(0, "add", "{}", kind) for kind in ("budget", "timeout", "tool_error")]
    assert limits_hit(replace(plain, calls=refused)) == ["calls", "tool time"]
    cut = "Error: your message was cut off at its length limit before any tool call or answer."
    assert limits_hit(replace(plain, messages=[Message("user", cut)])) == ["message length"]


async def test_the_limit_of_an_observation_is_found_where_the_episode_cut_it():
    from zephyrus.env import ToolEnv
    from zephyrus.limits import Limits
    from zephyrus.messages import Reply
    from zephyrus.task import Task, TaskSet
    from zephyrus.tools import Tool

    def talk(n: int) -> str:
        """Talk.

        Args:
            n: How much.
        """
        return "x" * n

    class Talking(ToolEnv):
        """Talk."""

        name = "talking"

        def tasks(self, split=None):
            return TaskSet([Task("t", "Talk.", gold=1)])

        def system_prompt(self):
            return "Talk."

    env = Talking(tools=[Tool(talk)], limits=Limits(observation_chars=50))
    for n, hit in ((50, []), (51, ["observation length"])):
        episode = env.begin(Task("t", "Talk.", gold=1), Key("t", 0, 0))
        call = ToolCall("talk", json.dumps({"n": n}), "c")
        await episode.step(Reply(Message("assistant", tool_calls=(call,))))
        assert limits_hit(episode.trajectory) == hit


def test_images_are_kept_once_and_as_long_as_there_is_room():
    size = 4 * math.ceil(len(RED) / 3)
    pictures = Pictures(size)
    assert [pictures.add(data) for data in (RED, BLUE, RED, b"<svg/>")] == [0, None, 0, None]
    assert [b64decode(image) for image in pictures] == [RED]
    assert len(pictures) == 1 and pictures.left_out == 2


# Questions and pairs --------------------------------------------------------------------------


def test_a_sentence_that_all_questions_begin_with_is_taken_out_but_for_its_numbers():
    rows = [{"question": f"Forecast of 1959-0{n}-01. What about {n}?"} for n in range(1, 10)]
    split_lead(rows)
    assert rows[2] == {"lead": "Forecast of 1959-03-01.", "question": "What about 3?"}


@given(st.lists(st.text(alphabet="Ab1. :", max_size=30), max_size=12))
def test_no_word_of_a_question_is_lost(questions):
    rows = [{"question": " ".join(text.split())} for text in questions]
    before = [row["question"] for row in rows]
    split_lead(rows)
    assert [f"{row['lead']} {row['question']}".strip() for row in rows] == before
    assert all(row["question"] or not text for row, text in zip(rows, before, strict=True))


KEYS = st.lists(
    st.tuples(st.sampled_from("abc"), st.integers(0, 2), st.integers(0, 2)), unique=True
)


@given(KEYS, KEYS)
def test_every_rollout_is_in_one_pair_of_its_task(first, second):
    ours, theirs = (
        [{"task": t, "seed": s, "repeat": r, "score": 0.0} for t, s, r in keys]
        for keys in (first, second)
    )
    pairs = pair(ours, theirs)
    assert sorted(i for i, _ in pairs if i is not None) == list(range(len(ours)))
    assert sorted(j for _, j in pairs if j is not None) == list(range(len(theirs)))
    for i, j in pairs:
        if i is not None and j is not None:
            mine = sorted(key[1:] for key in first if key[0] == ours[i]["task"])
            other = sorted(key[1:] for key in second if key[0] == theirs[j]["task"])
            assert ours[i]["task"] == theirs[j]["task"]
            assert mine.index(first[i][1:]) == other.index(second[j][1:])
    for task in "abc":
        alone = sum(
            1
            for i, j in pairs
            if None in (i, j) and (ours[i] if j is None else theirs[j])["task"] == task
        )
        count = [sum(1 for key in keys if key[0] == task) for keys in (first, second)]
        assert alone == abs(count[0] - count[1])


def test_the_difference_is_over_tasks_and_over_what_both_scored():
    def rows(*scores):
        return [
            {"task": task, "seed": 0, "repeat": n, "score": score}
            for n, (task, score) in enumerate(scores)
        ]

    ours = rows(("a", 0.0), ("a", 0.5), ("b", 1.0), ("c", 1.0), ("d", None))
    theirs = rows(("a", 1.0), ("a", 1.0), ("b", 0.5), ("d", 1.0))
    found = difference(ours, theirs, pair(ours, theirs))
    assert found["tasks"] == 2
    assert found["mean"] == pytest.approx(((1.0 + 0.5) / 2 - 0.5) / 2)
    low, high = found["ci95"]
    assert -0.5 <= low <= found["mean"] <= high <= 0.75
    one = difference(ours[:1], theirs[:1], [(0, 0)])
    assert one == {"mean": 1.0, "ci95": None, "tasks": 1}
    assert difference(ours[3:], theirs[2:], pair(ours[3:], theirs[2:])) is None


# The file -------------------------------------------------------------------------------------


@pytest.fixture
def hostile(tmp_path):
    """A run in which everything that can be a text is an attack."""
    attack = rollout(ATTACK, 0.0, template=ATTACK, said=ATTACK, text=ATTACK, image=RED)
    return make_run(tmp_path / "r<i>n", [attack, rollout("mild"), broken("b")], policy=ATTACK)


def test_one_file_that_loads_nothing_and_holds_no_markup_of_a_text(hostile, tmp_path):
    file = tmp_path / "page.html"
    written = write_run_view(file, [hostile])
    assert written.rollouts == 3 and written.images == 1 and written.bytes == file.stat().st_size
    page = Page(file)
    assert set(page.tags) == {
        *("html", "head", "meta", "title", "style", "body", "div", "p", "noscript", "script")
    }
    assert not any(name in ("src", "href", "style") for _, name, _ in page.attributes)
    assert not any(name.startswith("on") for _, name, _ in page.attributes)
    assert set(page.data) == {"index", "piece-0-0", "image-0"}
    for data in page.data.values():
        assert set(data) <= set(b64encode(bytes(range(256)) * 3).decode() + "+/=")
    text = file.read_text()
    for code in page.code["script"]:  # with templates of ours
        text = text.replace(code, "")
    assert not any(markup in text for markup in ("<i>", "<b>", "<img", "<a ", "<!--"))


def test_the_policy_lets_only_our_style_and_scripts_in(hostile, tmp_path):
    file = tmp_path / "page.html"
    write_run_view(file, [hostile])
    page = Page(file)

    def hashes(tag):
        return [
            f"'sha256-{b64encode(sha256(code.encode()).digest()).decode()}'"
            for code in page.code[tag]
        ]

    assert page.policy == {
        "default-src": ["'none'"],
        "style-src": hashes("style"),
        "script-src": hashes("script"),
        "img-src": ["data:"],
        "base-uri": ["'none'"],
        "form-action": ["'none'"],
        "require-trusted-types-for": ["'script'"],
        "trusted-types": ["'none'"],
    }
    assert len(hashes("script")) == 2 and len(hashes("style")) == 1


def test_our_scripts_never_make_markup_of_a_text():
    folder = Path(sys.modules["zephyrus.view.run"].__file__).parent
    sources = [file.read_text() for file in folder.glob("*.js")]
    assert len(sources) > 5
    for forbidden in ("innerHTML", "outerHTML", "insertAdjacentHTML", "dangerously", "eval("):
        assert not any(forbidden in source for source in sources), forbidden
    assert not any("document.write" in source or "http" in source for source in sources)


def test_every_script_of_others_is_named_with_its_licence():
    folder = Path(sys.modules["zephyrus.view"].__file__).parent / "vendor"
    notice = (folder / "NOTICE.md").read_text()
    scripts = list(folder.glob("*.js"))
    assert len(scripts) == 3
    for script in scripts:
        assert f"`{script.name}`" in notice
        assert "sourceMappingURL" not in script.read_text(), "a browser would ask for it"
    assert "Permission is hereby granted" in notice and "Apache License" in notice


def test_the_page_holds_every_rollout_in_order_also_those_that_broke(tmp_path):
    many = [rollout(f"t{n}", n % 2) for n in range(PIECE + 3)]
    run = make_run(tmp_path / "run", [*many, broken("b")])
    file = tmp_path / "page.html"
    write_run_view(file, [run])
    page = Page(file)
    index = page.unpacked("index")
    (rows,) = index["rows"]
    assert [found["task"] for found in rows] == [*(f"t{n}" for n in range(PIECE + 3)), "b"]
    assert rows[-1]["stop"] == "infrastructure" and rows[-1]["why"] == "OSError: gone"
    traces = [*page.unpacked("piece-0-0"), *page.unpacked("piece-0-1")]
    assert len(page.unpacked("piece-0-0")) == PIECE and len(traces) == len(rows)
    assert traces[PIECE + 1]["steps"][1]["text"] == f"What is 40 + 2, for t{PIECE + 1}?"
    assert index["texts"] == [SYSTEM] and index["pairs"] is None
    (about,) = index["runs"]
    assert about["rollouts"] == PIECE + 4 and about["limits"]["calls"] == 24
    assert about["summary"]["accuracy"] == run.summary["accuracy"]


def test_the_same_run_makes_the_same_file(tmp_path):
    run = make_run(tmp_path / "run", [rollout("a", image=RED), rollout("b", image=BLUE)])
    for name in ("one", "two"):
        write_run_view(tmp_path / name, [run])
    assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()


def test_images_beyond_the_room_are_left_out_and_counted(tmp_path):
    run = make_run(tmp_path / "run", [rollout("a", image=RED), rollout("b", image=BLUE)])
    file = tmp_path / "page.html"
    written = write_run_view(file, [run], images_mb=len(RED) * 1.5 / 1e6)
    assert (written.images, written.left_out) == (1, 1)
    page = Page(file)
    assert b64decode(page.data["image-0"]) == RED and "image-1" not in page.data
    other = page.unpacked("piece-0-0")[1]["steps"][3]
    assert other["images"] == [{"alt": "A square.", "at": None}]


def test_two_runs_are_paired(tmp_path):
    first = make_run(tmp_path / "a", [rollout("x", 0.0), rollout("y", 0.5)])
    second = make_run(tmp_path / "b", [rollout("y", 1.0, seed=3), rollout("z", 1.0, seed=3)])
    file = tmp_path / "page.html"
    assert write_run_view(file, [first, second]).rollouts == 4
    page = Page(file)
    index = page.unpacked("index")
    assert index["pairs"] == [[0, None], [1, 0], [None, 1]]
    assert index["difference"] == {"mean": 0.5, "ci95": None, "tasks": 1}
    assert {"piece-0-0", "piece-1-0"} < set(page.data)
    with pytest.raises(ValueError, match="one run or two"):
        write_run_view(file, [first, second, first])


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53), 2**53) | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(alphabet="ab"), inner),
    max_leaves=8,
)


@given(VALUES)
def test_what_is_packed_is_json_that_any_browser_reads(value):
    import gzip

    text = gzip.decompress(b64decode(packed(value))).decode()
    found = json.loads(text, parse_constant=lambda name: pytest.fail(name))
    if isinstance(value, float):
        assert found == (value if math.isfinite(value) else None)
    if isinstance(value, str) and value.isprintable():
        assert found == value
    assert "\u202e" not in text and "\0" not in text
