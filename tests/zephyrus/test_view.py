import io
import unicodedata

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from zephyrus.limits import StopReason
from zephyrus.messages import Image, Message, ToolCall, Usage
from zephyrus.trajectory import CallRecord, Key, Trajectory
from zephyrus.view.plain import plain
from zephyrus.view.terminal import print_listing, print_trajectory

ESC, BEL, RLO, ZWSP = "\x1b", "\x07", "\u202e", "\u200b"
HOSTILE = [
    f"{ESC}[2J{ESC}[31mred",
    f"{ESC}]0;title{BEL}",
    f"{ESC}]8;;http://evil{ESC}\\link",
    f"{RLO}txt.exe",
    f"zero{ZWSP}width",
    "back\b\b\bspace and \r return",
    "bell\x07 null\x00 delete\x7f",
    "\x9b31m one-byte CSI",
    "lone \ud800 surrogate",
    "[red]markup[/red]",
    "[/red] closes nothing",
    "[link=http://evil]x[/link]",
    "[bold",
    ":warning: emoji",
]


def harmless(text):
    """No character that drives a terminal or turns the text around."""
    return not [c for c in text if c != "\n" and unicodedata.category(c) in ("Cc", "Cf", "Cs")]


def shown(draw, *things, width=100, terminal=False, **options):
    file = io.StringIO()
    console = Console(file=file, width=width, force_terminal=terminal, color_system=None)
    draw(*things, console=console, **options)
    return file.getvalue()


def trajectory(text="24", *, task="t3", score=1.0, repeat=0):
    return Trajectory(
        Key(task, 0, repeat),
        [
            Message("system", f"Use the tools. {text}"),
            Message("user", f"What? {text}"),
            Message("assistant", text, text, (ToolCall(text, text, "c1"),)),
            Message("tool", text, tool_call_id="c1", name=text),
            Message("user", "The image.", images=(Image(b"12345", text),)),
            Message("assistant", f"<answer>{text}</answer>"),
        ],
        [CallRecord(0, text, text), CallRecord(0, "dataset", "{}", "tool_error")],
        turns=2,
        answer=text,
        rewards={"score": score, "reward": score},
        stop=StopReason.ANSWERED,
        usage=Usage(1200, 34),
        task={"template": text, "answer_type": text, "gold": text},
    )


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [20, 100])
def test_a_hostile_trace_cannot_drive_the_terminal(text, width):
    record = trajectory(text, task=f"t{text}")
    record.error = text
    # A terminal without colours: rich itself then writes no escape sequence but for styles.
    out = shown(print_trajectory, record, width=width)
    assert harmless(out)
    assert max(map(len, out.splitlines())) <= width


@pytest.mark.parametrize("text", HOSTILE)
@pytest.mark.parametrize("width", [20, 100])
@pytest.mark.parametrize("terminal", [False, True])
def test_a_hostile_listing_cannot_drive_the_terminal(text, width, terminal):
    records = [trajectory(text, task=f"t{text}")]
    out = shown(print_listing, records, 5, width=width, terminal=terminal)
    assert harmless(out.replace("\t", ""))


@pytest.mark.parametrize(
    "text", ["[red]markup[/red]", "[/red]", "[link=http://x]", "[bold", ":bee:"]
)
def test_markup_is_shown_as_it_was_written(text):
    assert shown(print_trajectory, trajectory(text)).count(text) >= 8
    assert text in shown(print_listing, [trajectory(text)], 5)
    assert text in shown(print_listing, [trajectory(text)], 5, terminal=True)


def test_a_trace_says_everything_that_happened():
    out = shown(print_trajectory, trajectory('{"a": 3}'))
    for part in ("Use the tools.", "What?", '{"a": 3}', "(reasoning)", "[image", "verdict", "t3",
                 "1200 prompt", "34 completion", "score 1", "answered", "1 failed (tool_error)"):  # fmt: skip
        assert part in out, part
    assert "turn 1" in out
    assert "turn 2" in out


def test_an_unscored_and_broken_rollout():
    record = trajectory()
    record.rewards, record.answer, record.stop = None, None, StopReason.ERROR
    record.error = "FileNotFoundError in the tool explode"
    out = shown(print_trajectory, record)
    assert "not scored" in out
    assert "none given" in out
    assert "infrastructure" in out
    assert "FileNotFoundError in the tool explode" in out
    assert "0.00" not in shown(print_listing, [record], 1)


@pytest.mark.parametrize(
    ("terminal", "width"), [(False, 20), (False, 80), (True, 40), (True, 80), (True, 200)]
)
def test_a_listing_has_one_line_a_rollout_and_whole_task_ids(terminal, width):
    names = [f"bench-test-a-rather-long-id-{i}" for i in range(5)]
    records = [trajectory("line one\nline two " * 30, task=name) for name in names]
    out = shown(print_listing, records, 5, width=width, terminal=terminal)
    found = [[line for line in out.splitlines() if name in line] for name in names]
    assert [len(lines) for lines in found] == [1] * 5
    rows = [line for line in out.splitlines() if "line" in line and "id-" not in line]
    assert rows == []  # nothing wrapped onto a line of its own


def test_a_piped_listing_is_columns_between_tabs():
    records = [trajectory(task="t1"), trajectory("a\tb\nc", task="t2", score=0.5, repeat=1)]
    lines = shown(print_listing, records, 5, width=20).splitlines()
    cells = [line.split("\t") for line in lines if line.startswith("t")]
    assert [row[0] for row in cells] == ["t1", "t2"]
    assert len({len(row) for row in cells}) == 1
    assert "0.50" in cells[1]
    assert "a b c" in cells[1]


@pytest.mark.parametrize("terminal", [False, True])
def test_the_worst_first_and_no_more_than_asked(terminal):
    records = [trajectory(task=f"t{i}", score=s) for i, s in enumerate((1.0, 0.0, 0.5))]

    def order(**options):
        lines = shown(print_listing, records, terminal=terminal, **options).splitlines()
        return [word for line in lines for word in line.split()[:1] if word in ("t0", "t1", "t2")]

    assert order(n=3) == ["t0", "t1", "t2"]
    assert order(n=3, worst=True) == ["t1", "t2", "t0"]
    assert order(n=2, worst=True) == ["t1", "t2"]
    assert [record.key.task for record in records] == ["t0", "t1", "t2"]


def test_a_terminal_is_told_that_there_are_more():
    records = [trajectory(task=f"t{i}") for i in range(3)]
    assert "2 of 3" in shown(print_listing, records, 2, terminal=True)
    assert "of 3" not in shown(print_listing, records, 3, terminal=True)


def test_no_rollouts_at_all():
    shown(print_listing, [], 5)
    shown(print_listing, [], 5, terminal=True)


@pytest.mark.parametrize("text", ["12 °C", "−3 hPa", "São Tomé", "雪", "a\nb\tc", "🌀"])
def test_plain_keeps_what_is_text(text):
    assert plain(text) == text


@given(st.text(st.characters()))
def test_plain_is_harmless_and_keeps_the_length(text):
    out = plain(text)
    assert harmless(out.replace("\t", ""))
    assert len(out) == len(text)
    assert plain(out) == out


@settings(max_examples=50, deadline=None)
@given(st.text(st.characters(), max_size=60), st.integers(10, 120))
def test_any_text_at_any_width(text, width):
    record = trajectory(text)
    assert harmless(shown(print_trajectory, record, width=width))
    assert harmless(shown(print_listing, [record], 1, width=width).replace("\t", ""))


def test_a_rollout_without_a_judgement_says_why_and_a_gold_text_keeps_its_lines():
    record = trajectory()
    record.rewards, record.unscored = None, "the judge 'm': no answer"
    record.task["gold"] = "First line.\nSecond line."
    out = shown(print_trajectory, record)
    assert "not scored: the judge 'm': no answer" in out
    assert "\\n" not in out and '"First' not in out
    assert [line for line in out.splitlines() if "Second line." in line and "First" not in line]


@pytest.mark.parametrize("width", [80, 90, 100, 120, 200])
def test_a_narrow_terminal_takes_from_the_texts_and_not_from_the_score(width):
    name = "report-demo-1959-10-19-united-states-d3-5"
    record = trajectory("A high of 1035 hPa. " * 20, task=name, score=0.43)
    out = shown(print_listing, [record], 1, width=width, terminal=True)
    row = next(line for line in out.splitlines() if name in line)
    assert row.split()[:4] == [name, "0", "answered", "0.43"]
    assert ("A high" in row) == (width >= 90)
    assert max(map(len, out.splitlines()[:2])) <= width
