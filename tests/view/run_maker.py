"""Rollouts and run folders for the tests of the page, and a reader of what lies in a page."""

import gzip
import json
import struct
import zlib
from base64 import b64decode
from html.parser import HTMLParser

from zephyrus.limits import StopReason
from zephyrus.messages import Image, Message, ToolCall, Usage
from zephyrus.run import Run
from zephyrus.trajectory import CallRecord, Key, Trajectory

SYSTEM = "You answer with tools."

ATTACK = (
    "</script><script>window.owned = 'script'</script>"
    "<img src=x onerror=\"window.owned = 'image'\"> <b>bold</b> {{SCRIPT}} ${h} &amp; "
    "<a href=\"javascript:window.owned='link'\">link</a> <!-- \u2028 \u202e evil"
)
"""What a model might write to take over the page that shows it."""


def png(red, green, blue, size=8):
    """A square of one colour."""

    def chunk(kind, data):
        whole = kind + data
        return struct.pack(">I", len(data)) + whole + struct.pack(">I", zlib.crc32(whole))

    lines = (b"\0" + bytes((red, green, blue)) * size) * size
    return (
        b"\x89PNG\r\n\x1a\n"
        + chunk(b"IHDR", struct.pack(">IIBBBBB", size, size, 8, 2, 0, 0, 0))
        + chunk(b"IDAT", zlib.compress(lines))
        + chunk(b"IEND", b"")
    )


def rollout(task, score=1.0, *, repeat=0, seed=0, template="sum", said="42", text=None, image=None):
    """A rollout of two turns: a call that goes through, one that fails, an answer.

    Args:
        task: Its id.
        score: None for one that was not scored.
        repeat: Of the key.
        seed: Of the key.
        template: Of the task.
        said: The answer.
        text: What the tool says [default: a sum].
        image: A PNG that the tool draws.
    """
    calls = (ToolCall("add", '{"a": 40, "b": 2}', "c0"), ToolCall("add", '{"a": ', "c1"))
    messages = [
        Message("system", SYSTEM),
        Message("user", f"What is 40 + 2, for {task}?"),
        Message("assistant", "", reasoning="I shall add.", tool_calls=calls),
        Message("tool", text or f"The sum for {task} is 42.", tool_call_id="c0", name="add"),
        Message("tool", "Error: not JSON.", tool_call_id="c1", name="add"),
    ]
    if image is not None:
        messages.append(Message("user", "The image drawn.", images=(Image(image, "A square."),)))
    messages.append(Message("assistant", f"<answer>{said}</answer>"))
    records = [
        CallRecord(0, "add", calls[0].arguments, None, 0.25),
        CallRecord(0, "add", calls[1].arguments, "malformed_json"),
    ]
    return Trajectory(
        Key(task, seed, repeat),
        messages=messages,
        calls=records,
        turns=2,
        answer=said,
        rewards=None if score is None else {"score": score, "turn_penalty": 0.0, "reward": score},
        stop=StopReason.ANSWERED,
        usage=Usage(100, 7),
        seconds=1.5,
        policy_seconds=1.0,
        task={"template": template, "answer_type": "numerical", "gold": 42.0000001},
    )


def broken(task):
    """A rollout whose endpoint broke."""
    return Trajectory(
        Key(task, 0, 0),
        messages=[Message("system", SYSTEM), Message("user", "What?")],
        stop=StopReason.ERROR,
        error=f"Traceback (most recent call last):\n{ATTACK}\nOSError: gone",
        task={"template": "sum"},
    )


def make_run(folder, rollouts, policy="tester"):
    """A run folder with these rollouts."""
    config = {
        "env": {"name": "sums"},
        "policy": {"name": policy},
        "n": len(rollouts),
        "repeats": 1,
        "limits": {"turns": 10, "calls": 24, "tokens": None},
    }
    with Run.create(folder, config) as run:
        run.append(*rollouts)
        run.write_summary()
    return Run.open(folder)


class Page(HTMLParser):
    """What a page is made of, as an HTML parser that runs no script sees it."""

    def __init__(self, file):
        super().__init__(convert_charrefs=True)
        self.tags, self.attributes, self.data, self.code = [], [], {}, {"script": [], "style": []}
        self._inside = None
        self.feed(file.read_text(encoding="utf-8"))

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += [(tag, *attribute) for attribute in attrs]
        if tag in ("script", "style"):
            self._inside = (tag, dict(attrs).get("id"))

    def handle_endtag(self, tag):
        self._inside = None

    def handle_data(self, data):
        if self._inside is None:
            return
        tag, name = self._inside
        if name is None:
            self.code[tag].append(data)
        else:
            self.data[name] = data

    def unpacked(self, name):
        """A packed element's JSON."""
        return json.loads(gzip.decompress(b64decode(self.data[name], validate=True)))

    @property
    def policy(self):
        """The content security policy, by directive."""
        (text,) = [v for _, name, v in self.attributes if name == "content" and "default-src" in v]
        return {part.split()[0]: part.split()[1:] for part in text.split(";")}
