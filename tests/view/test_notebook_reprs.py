"""How objects look in a notebook and at a prompt."""

import json
import re
import sys
from html.parser import HTMLParser
from types import SimpleNamespace

import pytest
from browsing import CHROMIUM
from run_maker import ATTACK, SYSTEM, broken, make_run, png, rollout

import zephyrus
from zephyrus import Image, Message, Task, TaskSet, ToolCall
from zephyrus.messages import ToolResult
from zephyrus.progress import Silent, in_notebook, make_progress
from zephyrus.view.notebook import elements
from zephyrus.view.notebook import rollout as pages

RED, BLUE = png(200, 0, 0), png(0, 0, 200)
HARMLESS = ATTACK.replace("\u202e", "\N{REPLACEMENT CHARACTER}")


class Parsed(HTMLParser):
    """Tags, attributes and text, as a browser sees them."""

    def __init__(self, html):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.text, self._style = [], [], "", False
        self.feed(html)

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        self._style = tag == "style"

    def handle_endtag(self, tag):
        self._style = False

    def handle_data(self, data):
        if not self._style:
            self.text += data


def hostile():
    attack = rollout(ATTACK, 0.0, template=ATTACK, said=ATTACK, text=f"{ATTACK}\n" * 40, image=RED)
    attack.messages[2] = Message(
        "assistant", ATTACK, reasoning=ATTACK, tool_calls=attack.messages[2].tool_calls
    )
    attack.messages[5] = Message("user", ATTACK, images=(Image(RED, ATTACK),))
    attack.calls[0].name = attack.calls[1].arguments = ATTACK
    attack.calls[1].error = ATTACK
    attack.rewards[ATTACK] = 0.0
    attack.unscored = ATTACK
    attack.task["gold"] = {"constructor": ATTACK}
    return attack


@pytest.fixture
def shown(tmp_path, sums):
    """HTML of every kind of thing, all of which says `ATTACK` wherever it can."""
    attack = hostile()
    task = Task(ATTACK, ATTACK, ATTACK, ATTACK, ATTACK, provenance={ATTACK: ATTACK})
    tool = zephyrus.Tool(sums.tools["add"].function)
    tool.name, tool.description = ATTACK, ATTACK
    tool.parameters = {"properties": {ATTACK: {"enum": [ATTACK], "description": ATTACK}}}
    sums.reset()
    sums.step(ATTACK)
    sums.tools = {ATTACK: tool}
    run = make_run(tmp_path / "r<img src=x>", [attack, broken("b")], policy=ATTACK)
    things = {
        "run": run,
        "trajectory": attack,
        "broken": broken("b"),
        "task": task,
        "bank": TaskSet([task], ATTACK),
        "tool": tool,
        "env": sums,
        "episode": sums.episode,
        "message": attack.messages[2],
        "result": ToolResult(
            ATTACK, (Image(RED, ATTACK), Image(b"<svg onload=x>", ATTACK)), ATTACK
        ),
    }
    return {name: thing._repr_html_() for name, thing in things.items()}


@pytest.fixture
def sums():
    add = zephyrus.Tool(_add, name="add")

    class Sums(zephyrus.ToolEnv):
        """Sums."""

        name = "sums"

        def tasks(self, split=None):
            return TaskSet([Task("t0", f"1 + 1? {ATTACK}", 2)], "sums")

        def world(self, task):
            return {}

        def system_prompt(self):
            return ATTACK

        def read_answer(self, text):
            return None

        def score(self, task, trajectory):
            return {"score": 1.0, "reward": 1.0}

    env = Sums(tools=[add])
    yield env
    env.close()


def _add(a: float, b: float = 1.0) -> str:
    """Add numbers.

    Args:
        a: The first.
    """
    return str(a + b)


def test_no_text_becomes_markup(shown):
    ours = {"style", "div", "p", "strong", "span", "code", "details", "summary", "table", "thead"}
    ours |= {"tbody", "tr", "th", "td", "figure", "figcaption", "img"}
    for name, html in shown.items():
        page = Parsed(html)
        assert set(page.tags) <= ours, name
        assert "\u202e" not in html
        said = set(page.attributes)
        assert {a for _, a, _ in said} <= {"class", "src", "alt", "scope", "open"}, name
        sources = {value for _, attribute, value in said if attribute == "src"}
        assert all(value.startswith("data:image/png;base64,") for value in sources), name
        if name != "broken":
            assert HARMLESS in page.text, f"{name} says what was said"
        assert "mathjax_ignore" in page.attributes[0][2], "a $ is no mathematics"


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
def test_nothing_acts_in_a_browser(shown, watch, tmp_path):
    file = tmp_path / "cells.html"
    style = "<!doctype html><html lang=en><meta charset=utf-8><title>cells</title><main><h1>a</h1>"
    file.write_text(style + "<hr>".join(shown.values()), encoding="utf-8")
    watched = watch(file)
    tab = watched.open()
    tab.evaluate("document.querySelectorAll('details').forEach((one) => { one.open = true; })")
    tab.wait_for_function("[...document.images].every((image) => image.complete)")
    assert tab.evaluate("window.owned") is None
    assert tab.locator("main script, main a, main b").count() == 0
    assert tab.evaluate("[...document.images].every((image) => image.naturalWidth === 8)")
    assert tab.evaluate("getComputedStyle(document.querySelector('h1')).fontWeight") == "700"
    watched.quiet()


@pytest.mark.slow
@pytest.mark.skipif(CHROMIUM is None, reason="no Chromium on this machine")
@pytest.mark.parametrize(
    "colours", ["color:#1f2328;background:#fff", "color:#e6edf3;background:#111"]
)
def test_it_is_accessible_in_light_and_dark(watch, tmp_path, colours):
    axe = pytest.importorskip("axe_playwright_python.sync_playwright")
    good = rollout("t", 0.5, image=BLUE)
    parts = [good._repr_html_(), make_run(tmp_path / "r", [good, broken("b")])._repr_html_()]
    file = tmp_path / "cells.html"
    head = (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>t</title><body style='{colours}'>"
    )
    file.write_text(f"{head}<main><h1>cells</h1>{''.join(parts)}</main>", encoding="utf-8")
    tab = watch(file).open()
    found = axe.Axe().run(tab).response["violations"]
    assert [(v["id"], [n["html"] for n in v["nodes"]]) for v in found] == []


def test_a_rollout_shows_everything_in_order():
    page = Parsed(rollout("t7", 0.5, image=BLUE)._repr_html_())
    parts = (
        "t7#0.0",
        "stopped by answered · 2 turns · 2 tool calls, 1 failed · 100 + 7 tokens · 1.5 s",
        "score0.5",
        "answer42",
        "gold42.0",
        SYSTEM,
        "What is 40 + 2, for t7?",
        "assistant, turn 1",
        "I shall add.",
        'add {"a": 40, "b": 2}',
        "The sum for t7 is 42.",
        "malformed_json",
        "Error: not JSON.",
        "The image drawn.",
        "A square.",
        "assistant, turn 2",
        "<answer>42</answer>",
    )
    at = -1
    for part in parts:
        assert (at := page.text.find(part, at + 1)) >= 0, part
    assert ("img", "alt", "A square.") in page.attributes


def test_what_broke_and_what_was_not_scored_is_said():
    assert "OSError: gone" in Parsed(broken("b")._repr_html_()).text
    assert "infrastructure" in repr(broken("b"))
    waiting = rollout("t", None)
    waiting.unscored = "the judge is down"
    assert "not scored: the judge is down" in Parsed(waiting._repr_html_()).text


def test_images_have_a_budget(monkeypatch):
    monkeypatch.setattr(pages, "IMAGES_MB", 1e-5)
    html = rollout("t", image=RED)._repr_html_()
    assert "<img" not in html and "[image, left out: A square.]" in html


def test_long_texts_are_folded_and_whole():
    long = "word " * 500
    page = Parsed(ToolResult(long)._repr_html_())
    assert "details" in page.tags and long in page.text
    assert "details" not in Parsed(ToolResult("short")._repr_html_()).tags
    assert elements.first_line("a\n" * 3) == "a a a"
    assert len(elements.first_line("x" * 10_000)) <= 110


def test_the_table_of_a_run(tmp_path):
    scores = [1.0, 1.0, 0.0]
    run = make_run(
        tmp_path / "r", [*(rollout(f"t{i}", s) for i, s in enumerate(scores)), broken("b")]
    )
    text = Parsed(run._repr_html_()).text
    for part in ("environment sums", "policy tester", "all30.667", "failure rate", "50.0 %"):
        assert part in text
    assert "infrastructure errors (not scored)1" in text
    assert "unfinished: 3 of 4 rollouts" in text


def test_a_bank_and_a_task(sums):
    tasks = TaskSet(
        [
            Task(f"t{i}", f"On day {i}, at noon. What of {i}?", i, "number", f"k{i % 2}", split)
            for i, split in enumerate(("train", "test", "test", "test"))
        ],
        "mine",
    )
    text = Parsed(tasks._repr_html_()).text
    assert "mine · 4 tasks" in text and "templatetraintestk011k12" in text
    assert "t2What of 2?2" in text, "what all questions begin with is said in none"
    page = Parsed(
        Task("t", "Why?", {"place": "x", "value": 1.23456789}, world={"a": 1})._repr_html_()
    )
    assert 'gold{"place": "x", "value": 1.23457}' in page.text and '"a": 1' in page.text


def test_a_tool_and_an_environment(sums):
    text = Parsed(sums.tools["add"]._repr_html_()).text
    assert "Add numbers." in text and "anumberneededThe first." in text
    assert "bnumberdefault 1.0" in text
    page = Parsed(sums._repr_html_())
    assert "sums · Sums." in page.text and "split test: 1 tasks" in page.text
    assert "the episode" not in page.text
    sums.reset()
    assert "the episode" in Parsed(sums._repr_html_()).text
    assert "0 of 10 turns, still running" in repr(sums.episode)


def test_what_a_prompt_shows_is_short():
    long = "x" * 5000
    call = ToolCall("add", json.dumps({"a": long}), "c1")
    image = Image(RED, long)
    done = rollout("t", image=RED)
    things = [
        call,
        image,
        Message("assistant", long, long, (call,), images=(image,)),
        ToolResult(long, (image,), "timeout"),
        Task("t", long, long, provenance={"a": long}),
        done,
    ]
    assert all(len(repr(thing)) < 200 for thing in things)
    assert repr(ToolCall("add", "{}", "c1")) == "ToolCall('add', '{}', id='c1')"
    assert repr(Image(b"abc", "A map.")) == "Image(3 bytes, 'A map.')"
    assert repr(Message("user", "Hi")) == "Message('user', 'Hi')"
    assert repr(ToolResult("no", error="timeout")) == "ToolResult('no', error='timeout')"
    assert repr(Task("t", "Why?", 3)) == "Task('t', 'Why?', gold='3')"
    assert repr(done).startswith("<Trajectory t#0.0: 2 turns, 2 calls, answered, score 1")
    assert repr(zephyrus.make_policy("scripted")) == "<ScriptedPolicy 'scripted'>"


def test_an_image_shows_itself_with_what_it_shows_in_words():
    assert Image(RED, "A square.")._repr_png_() == (RED, {"alt": "A square."})


def test_in_a_kernel_a_bar_is_drawn_anew(monkeypatch, tmp_path):
    """What `IPython` gives a kernel; tests/view/test_notebook_examples.py has a real one."""
    drawn = []

    class Handle:
        def update(self, thing):
            drawn.append((repr(thing), Parsed(thing._repr_html_()).attributes))

    def display(thing, display_id):
        assert display_id is True
        Handle().update(thing)
        return Handle()

    assert not in_notebook()
    kernel = SimpleNamespace(kernel=None)
    monkeypatch.setitem(sys.modules, "IPython", SimpleNamespace(get_ipython=lambda: kernel))
    monkeypatch.setitem(sys.modules, "IPython.display", SimpleNamespace(display=display))
    assert isinstance(make_progress(False), Silent)
    bar = make_progress(None)
    bar.start(4, 1, tmp_path)
    for trajectory in (rollout("a", 1.0), rollout("b", 0.5), broken("c")):
        bar.update(trajectory)
    bar.stop()
    assert drawn[0][0] == "rollouts 1/4"
    text, attributes = drawn[-1]
    assert re.fullmatch(r"rollouts 3/4 · accuracy 0\.750 · 1 errors · \d+ tokens/s", text)
    assert {("progress", "max", "4"), ("progress", "value", "3")} <= set(attributes)
