import json

import pytest

from zephyrus.limits import StopReason
from zephyrus.messages import Image, Message, ToolCall, Usage
from zephyrus.trajectory import CallRecord, Key, Trajectory

PICTURE = Image(b"\x89PNG not really", "a map of Kenya, 12 to 30 °C")
WHOLE = Trajectory(
    Key("t1", 3, 2),
    messages=[
        Message("system", "Use the tools."),
        Message("user", "How warm?"),
        Message("assistant", reasoning="hm", tool_calls=(ToolCall("map", '{"a": 1', "c1"),)),
        Message("tool", "Error: …", tool_call_id="c1", name="map"),
        Message("user", "The image.", images=(PICTURE, Image(b"\x89PNG two"))),
        Message("assistant", "<answer>12</answer>"),
    ],
    calls=[CallRecord(0, "map", '{"a": 1', "malformed_json", 0.25)],
    turns=2,
    answer="12",
    rewards={"score": 0.5, "reward": 0.48},
    stop=StopReason.ANSWERED,
    usage=Usage(100, 20),
    recovered_calls=1,
    seconds=1.5,
    policy_seconds=1.25,
    task={"template": "t", "gold": [1.5, "São Tomé"], "required_tools": ["map"]},
)


def test_a_trajectory_comes_back_whole():
    line = WHOLE.to_json()
    assert "\n" not in line
    assert Trajectory.from_json(line) == WHOLE
    assert Trajectory.from_json(line.encode()).messages[4].images == (
        PICTURE,
        Image(b"\x89PNG two"),
    )


def test_what_a_picture_shows_is_kept_in_the_run_and_not_sent():
    assert json.loads(WHOLE.to_json())["messages"][4]["image_alts"] == [PICTURE.alt, ""]
    assert "image_alts" not in WHOLE.messages[4].to_openai()


def test_an_unfinished_or_broken_one():
    broken = Trajectory(Key("t", 0, 0), stop=StopReason.ERROR, error="the disk is gone")
    assert Trajectory.from_json(broken.to_json()) == broken
    assert broken.failed
    assert not WHOLE.failed
    running = Trajectory(Key("t", 0, 0))
    assert Trajectory.from_json(running.to_json()).stop is None


def test_a_line_cut_off_anywhere_is_no_trajectory():
    line = WHOLE.to_json()
    for end in range(0, len(line), 37):
        with pytest.raises(ValueError):
            Trajectory.from_json(line[:end])
    with pytest.raises(ValueError, match="not a trajectory"):
        Trajectory.from_json('{"key": ["t", 0, 0]}')


def test_success_of_a_tool_needs_one_call_without_an_error():
    assert not WHOLE.succeeded("map")
    assert not WHOLE.used_required_tools()
    fine = Trajectory.from_json(WHOLE.to_json())
    fine.calls.append(CallRecord(1, "map", "{}"))
    assert fine.succeeded("map")
    assert fine.used_required_tools()
