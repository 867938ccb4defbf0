"""Every ``zephyrus`` command that a page names exists, with its options, run or not."""

import ast
import re

import click
import pytest
from blocks import PAGES, ROOT, blocks_of
from commands import calls_in, complaint, resolve

from zephyrus.cli.main import app

_FENCE = re.compile(r"^```.*?^```$", re.S | re.M)
_INLINE = re.compile(r"(?<!`)`([^`\n]+(?:\n[^`\n]+)?)`(?!`)")
_KINDS = {"console", "python", "yaml", "json", "toml", "text", ""}


def named(page):
    """The calls in the page's console blocks and in its sentences."""
    text = (ROOT / page).read_text(encoding="utf-8")
    lines = [command for block in blocks_of(page) for command, _ in block.commands]
    lines += [found.replace("\n", " ") for found in _INLINE.findall(_FENCE.sub("", text))]
    return [words for line in lines for words in calls_in(line)]


@pytest.mark.parametrize("page", PAGES)
def test_the_commands_of_a_page_exist(page):
    assert [wrong for words in named(page) if (wrong := complaint(words))] == []


@pytest.mark.parametrize("page", PAGES)
def test_no_block_hides_a_command(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    fences = re.findall(r"^( *)```+([^\n]*)\n(.*?)^ *```+$", text, re.S | re.M)
    assert {kind for _, kind, _ in fences} <= _KINDS
    assert not [body for indent, kind, body in fences if indent and kind in ("console", "python")]
    others = [body for _, kind, body in fences if kind not in ("console", "python")]
    assert not [body for body in others if re.search(r"^\s*\$ |^zephyrus ", body, re.M)]


@pytest.mark.parametrize("page", PAGES)
def test_blocks_are_well_formed(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    blocks = blocks_of(page)
    assert text.count("<!-- not run:") == sum(block.not_run is not None for block in blocks)
    assert text.count("<!-- sample:") == sum(block.sample is not None for block in blocks)
    for block in blocks:
        assert block.commands or block.kind == "python"
        if block.kind == "python":
            compile(block.text, page, "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)  # as a notebook


@pytest.mark.parametrize(
    "block", [b for p in PAGES for b in blocks_of(p) if b.by], ids=lambda b: f"{b.page}-{b.number}"
)
def test_what_another_test_runs_is_in_it(block):
    file, test = block.by
    source = (ROOT / file).read_text(encoding="utf-8")
    assert test is None or re.search(rf"^(async )?def {test}\(", source, re.M)
    for command, _ in block.commands:
        words = [word for call in calls_in(command) for word in resolve(call)[1]]
        program = re.sub(r"^python (\S+/)?", "", command).split()[0]
        if words or program not in ("pip", "export", "source"):
            assert not absent(words or [program], source), command
    if block.kind == "python":
        imported = re.findall(r"^(?:from [\w.]+ )?import ([\w.]+)", block.text, re.M)
        assert imported and not absent(imported, source)


def absent(words, source):
    return [
        word for word in words if not re.search(rf"(?<![\w-]){re.escape(word)}(?![\w-])", source)
    ]


def test_calls_are_found_in_a_line():
    assert calls_in("A=1 zephyrus env show runs/x --first | head") == [
        ["env", "show", "runs/x", "--first"]
    ]
    assert calls_in("for r in a b; do zephyrus env show $r; done; zephyrus data list") == [
        ["env", "show", "$r"],
        ["data", "list"],
    ]
    assert calls_in("python -m zephyrus env list") == [["env", "list"]]
    assert calls_in("pip install zephyrus && ls .venv/bin/zephyrus x") == []


@pytest.mark.parametrize(
    ("words", "wrong"),
    [
        (["env", "rollout", "--policy", "scripted", "-n", "16"], None),
        (["tools", "call", "dataset", '{"a": -1}'], None),
        (["--version"], None),
        (["env", "roll"], "zephyrus env has no command 'roll'"),
        (["env", "rollout", "--polcy=x"], "zephyrus env rollout has no option --polcy"),
        (["policy", "serve", "qwen3.5-4b", "--max-model-len", "4096"], None),
    ],
)
def test_what_is_wrong_with_a_call_is_found(words, wrong):
    assert complaint(words) == wrong


def test_every_command_is_told_of():
    """No command is left out: each occurs on some page, by name."""
    known = set()

    def walk(command, path):
        if isinstance(command, click.Group):
            context = click.Context(command)
            for name in command.list_commands(context):
                walk(command.get_command(context, name), (*path, name))
        else:
            known.add(path)

    walk(app, ())
    told = {tuple(resolve(words)[1]) for page in PAGES for words in named(page)}
    assert known - told == set()
