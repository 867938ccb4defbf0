import subprocess
import sys
from pathlib import Path

import pytest

from zephyrus import registry
from zephyrus.cli.plugins import known_options, load_tools
from zephyrus.errors import UserError

EXAMPLE = Path(__file__).parents[2] / "examples" / "my_tools.py"

TWO_TOOLS = '''
import zephyrus
from zephyrus.tools import Tool


@zephyrus.tool
def plugins_test_double(a: float) -> str:
    """Double."""
    return f"{2 * a:g}"


def _half(a: float) -> str:
    """Half."""
    return f"{a / 2:g}"


half = Tool(_half, name="plugins_test_half")
not_a_tool = 3
'''


@pytest.fixture(autouse=True)
def nothing_is_left_behind(monkeypatch, tmp_path):
    monkeypatch.setitem(registry._registered, "tools", dict(registry._registered["tools"]))
    monkeypatch.setattr(sys, "path", list(sys.path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)
    monkeypatch.chdir(tmp_path)
    before = set(sys.modules)
    yield
    for name in set(sys.modules) - before:
        if name.startswith(("zephyrus_user_", "plugins_test_")):
            del sys.modules[name]


def write(name, text):
    path = Path(name)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text, encoding="utf-8")
    return name


def zephyrus(*arguments, cwd=None):
    return subprocess.run(
        [sys.executable, "-m", "zephyrus", *arguments],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=300,
        check=False,
    )


def test_tools_from_a_file(tmp_path):
    write("mine.py", TWO_TOOLS)
    for where in ("mine.py", str(tmp_path / "mine.py")):
        tools = load_tools(where)
        assert [tool.name for tool in tools] == ["plugins_test_double", "plugins_test_half"]
        assert registry.get("tools", "plugins_test_half") is tools[1]
        assert tools[0](4.0) == "8"


def test_tools_from_a_module_beside_us():
    write("plugins_test_module.py", TWO_TOOLS)
    write("plugins_test_package/inner.py", TWO_TOOLS)
    write("plugins_test_package/__init__.py", "")
    for where in ("plugins_test_module", "plugins_test_package.inner"):
        assert [tool.name for tool in load_tools(where)] == [
            "plugins_test_double",
            "plugins_test_half",
        ]


def test_a_file_may_hold_classes_and_imports_of_its_own():
    write(
        "mine.py",
        "from __future__ import annotations\n"
        "import dataclasses, zephyrus\n"
        "@dataclasses.dataclass\n"
        "class Pair:\n    a: int\n    b: int = 2\n"
        "@zephyrus.tool\n"
        "def plugins_test_pair(a: int) -> str:\n"
        "    '''Pair.'''\n"
        "    return str(Pair(a))\n",
    )
    assert load_tools("mine.py")[0](1) == "Pair(a=1, b=2)"


@pytest.mark.parametrize(
    ("where", "text", "says"),
    [
        ("nowhere.py", None, ["there is no file nowhere.py"]),
        ("plugins_test_nowhere", None, ["plugins_test_nowhere"]),
        ("plugins_test_no.where", None, ["plugins_test_no.where"]),
        ("empty.py", "a = 1\n", ["empty.py defines no tool", "@zephyrus.tool"]),
        ("plugins_test_empty", "a = 1\n", ["plugins_test_empty defines no tool"]),
        ("slip.py", "a = 1\ndef f(:\n", ["slip.py", "line 2", "SyntaxError"]),
        ("plugins_test_slip", "a = 1\ndef f(:\n", ["plugins_test_slip", "SyntaxError"]),
        ("boom.py", "a = 1\n\nb = a / 0\n", ["boom.py", "line 3", "ZeroDivisionError"]),
        ("plugins_test_boom", "a = 1 / 0\n", ["plugins_test_boom", "ZeroDivisionError"]),
        ("needs.py", "import plugins_test_gone\n", ["needs.py", "plugins_test_gone"]),
        ("null.py", "a = '\x00'\n", ["null.py"]),
        (
            "bad.py",
            "import zephyrus\n@zephyrus.tool\ndef f(a):\n    '''F.'''\n",
            ["needs a type for its argument 'a'"],
        ),
    ],
)
def test_what_is_wrong_with_them_is_one_sentence(where, text, says):
    if text is not None:
        write(where if where.endswith(".py") else f"{where}.py", text)
    with pytest.raises(UserError) as caught:
        load_tools(where)
    sentence = str(caught.value)
    for part in says:
        assert part in sentence
    assert len(sentence.splitlines()) == 1


def test_a_tool_that_cannot_be_made_names_its_file():
    write("bad.py", "import zephyrus\n@zephyrus.tool\ndef f(a):\n    '''F.'''\n")
    with pytest.raises(UserError, match=r"bad\.py"):
        load_tools("bad.py")


def test_a_failed_import_registers_nothing():
    before = registry.names("tools")
    write("boom.py", "a = 1 / 0\n")
    with pytest.raises(UserError):
        load_tools("boom.py")
    assert registry.names("tools") == before


def test_the_example_from_the_command_line(tmp_path):
    done = zephyrus(
        "tools", "call", "--tools", str(EXAMPLE), "wind_chill", '{"place": "Antarctica", "hour": 24}'
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.startswith("wind chill over Antarctica at 24 h (")
    value = float(done.stdout.split(": ")[-1].removesuffix(" °C\n"))
    assert -90 < value < 0


def test_a_refusal_from_the_command_line():
    done = zephyrus(
        "tools", "call", "--tools", str(EXAMPLE), "wind_chill", '{"place": "Narnia", "hour": 24}'
    )  # fmt: skip
    assert done.returncode == 1
    assert "Narnia" in done.stdout
    assert "tool_error" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_users_tools_are_listed(tmp_path):
    write("mine.py", TWO_TOOLS)
    done = zephyrus("tools", "list", "--tools", "mine.py", cwd=tmp_path)
    assert done.returncode == 0, done.stderr
    assert "plugins_test_double(a)" in done.stdout
    assert "dataset(" in done.stdout


def test_a_broken_file_exits_2_without_a_traceback(tmp_path):
    write("boom.py", "a = 1 / 0\n")
    done = zephyrus("tools", "call", "--tools", "boom.py", "dataset", cwd=tmp_path)
    assert done.returncode == 2
    assert "boom.py" in done.stderr
    assert "ZeroDivisionError" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_folder_is_no_module():
    Path("plugins_test_folder").mkdir()
    for where in ("plugins_test_folder", "plugins_test_folder/"):
        with pytest.raises(UserError, match=f"^--tools: {where} is a folder; give a .py file or a"):
            load_tools(where)


class Configurable:
    def __init__(self, place="", *, weight: float = 0.5, judge: str = "rules", limits=None) -> None:
        """Made.

        Args:
            place: By position: not for -o.
            weight: What it weighs,
                in kilograms.
            judge: Who.
            limits: Has flags of its own.
        """


def test_known_options_are_those_of_the_signature_with_their_words():
    assert known_options(Configurable) == {
        "weight": ("0.5", "What it weighs, in kilograms."),
        "judge": ("rules", "Who."),
    }


@pytest.mark.parametrize(
    ("env", "option"), [("bench", "turn_cost=0.02"), ("report", "judge=rules")]
)
def test_describe_lists_what_o_can_set(env, option):
    done = zephyrus("env", "describe", env)
    assert done.returncode == 0, done.stderr
    assert option in done.stdout
    assert "render_mode" not in done.stdout


def test_a_builder_names_its_options(tmp_path):
    bank = tmp_path / "b.jsonl"
    for wrong in ("nosuch=1", "seed=3"):
        done = zephyrus("env", "build-bank", "--env", "report", "--output", bank, "-o", wrong)
        assert done.returncode == 2 and not bank.exists()
        assert "its options: regions, periods, reports" in done.stderr
        assert "Traceback" not in done.stderr
