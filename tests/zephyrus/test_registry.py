import subprocess
import sys

import pytest

from zephyrus import registry
from zephyrus.errors import UserError

KINDS = ("tools", "envs", "policies", "judges", "curricula")

PLUGIN = '''
from pathlib import Path

import zephyrus
from zephyrus.env import ToolEnv
from zephyrus.policy.base import Policy
from zephyrus.tools import Tool


def _dew_point(temperature: float) -> str:
    """Dew point."""
    return f"{temperature - 2:g} °C"


dew_point = Tool(_dew_point, name="dew_point")


class CoinEnv(ToolEnv):
    """Heads or tails."""

    name = "coin"

    def tasks(self, split=None):
        return zephyrus.TaskSet([zephyrus.Task("c1", "Heads?", "yes")])

    def world(self, task):
        return {}

    def system_prompt(self):
        return "Guess."

    def read_answer(self, text):
        return text

    def score(self, task, trajectory):
        return {"reward": float(trajectory.answer == task.gold)}


class YesSession:
    async def act(self, messages):
        from zephyrus.messages import Message, Reply

        return Reply(Message("assistant", "yes"))


class YesPolicy(Policy):
    name = "yes"

    def session(self, env, task, seed, repeat=0):
        return YesSession()
'''

ENTRY_POINTS = """
[zephyrus.tools]
dew_point = wetplug:dew_point
broken_tool = wetplug_broken:tool
gone_tool = wetplug_nowhere:tool
nameless_tool = wetplug:no_such_thing

[zephyrus.envs]
coin = wetplug:CoinEnv
broken_env = wetplug_broken:Env

[zephyrus.policies]
yes = wetplug:YesPolicy
broken_policy = wetplug_broken:Policy
"""


@pytest.fixture(autouse=True)
def nothing_is_left_behind(monkeypatch):
    kept = {kind: dict(things) for kind, things in registry._registered.items()}
    monkeypatch.setattr(registry, "_registered", kept)


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """A folder as pip would leave it: two modules and the dist-info of a package."""
    folder = tmp_path_factory.mktemp("site")
    (folder / "wetplug.py").write_text(PLUGIN, encoding="utf-8")
    (folder / "wetplug_broken.py").write_text("raise RuntimeError('no licence for wet data')\n")
    info = folder / "wetplug-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: wetplug\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(ENTRY_POINTS)
    return folder


@pytest.fixture
def python(installed, tmp_path, monkeypatch):
    monkeypatch.setenv("PYTHONPATH", str(installed))

    def run(*arguments):
        return subprocess.run(
            [sys.executable, *arguments],
            capture_output=True,
            text=True,
            cwd=tmp_path,
            timeout=300,
            check=False,
        )

    return run


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_registered_is_found(kind):
    thing = object()
    registry.register(kind, "registry_test_thing", thing)
    assert registry.get(kind, "registry_test_thing") is thing
    assert "registry_test_thing" in registry.names(kind)
    assert registry.names(kind) == sorted(registry.names(kind))
    for other in set(KINDS) - {kind}:
        assert "registry_test_thing" not in registry.names(other)


def test_the_last_registration_wins_also_over_an_entry_point():
    registry.register("tools", "dataset", "first")
    registry.register("tools", "dataset", "second")
    assert registry.get("tools", "dataset") == "second"
    assert registry.names("tools").count("dataset") == 1


@pytest.mark.parametrize(
    ("kind", "name", "says"),
    [
        ("tools", "datset", "there is no tool 'datset'; did you mean dataset"),
        ("envs", "bensh", "there is no environment 'bensh'; did you mean bench"),
        ("policies", "scriptd", "there is no policy 'scriptd'; did you mean scripted"),
        ("tools", "zzzzzz", "there is no tool 'zzzzzz'; known: .*dataset"),
        ("curricula", "x", "there is no curriculum 'x'"),
        ("judges", "x", "there is no judge 'x'"),
    ],
)
def test_an_unknown_name(kind, name, says):
    with pytest.raises(UserError, match=says):
        registry.get(kind, name)


def test_an_unknown_kind():
    for ask in (
        registry.names,
        lambda k: registry.get(k, "x"),
        lambda k: registry.register(k, "x", 1),
    ):
        with pytest.raises(UserError, match="'tool'; there are tools, envs, policies"):
            ask("tool")


def test_make_by_either_name_and_with_options(sum_env):
    registry.register("envs", "sum", type(sum_env))
    for name in ("sum", "zephyrus/Sum-v0"):
        made = registry.make(name, n=3)
        assert type(made) is type(sum_env)
        assert len(made.tasks()) == 3
    with pytest.raises(UserError, match="no environment 'Sums'"):
        registry.make("Sums")


def test_an_unknown_option_names_the_known_ones():
    with pytest.raises(UserError, match=r"no option 'datset'; it has .*dataset"):
        registry.make("bench", datset="demo")


def test_plugins_come_in_by_entry_points(python):
    done = python(
        "-c",
        "import asyncio, gymnasium, zephyrus\n"
        "from zephyrus import registry\n"
        "import sys\n"
        "assert 'dew_point' in zephyrus.names('tools')\n"
        "assert {'coin', 'bench'} <= set(zephyrus.names('envs'))\n"
        "assert 'yes' in zephyrus.names('policies')\n"
        "assert 'wetplug' not in sys.modules, 'names must import nothing'\n"
        "tool = registry.get('tools', 'dew_point')\n"
        "print(asyncio.run(tool.call('{\"temperature\": 12}', {})).text)\n"
        "env = zephyrus.make('coin')\n"
        "print(env.name, gymnasium.make('zephyrus/Coin-v0').unwrapped.name)\n"
        "print(zephyrus.make_policy('yes').name)\n",
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["10 °C", "coin coin", "yes"]


def test_the_command_line_rolls_a_plugged_in_policy_out_in_a_plugged_in_environment(python):
    done = python(
        "-m", "zephyrus", "env", "rollout", "--env", "coin", "--policy", "yes", "--output", "run"
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    shown = python("-m", "zephyrus", "env", "show", "run", "--task", "c1")
    assert shown.returncode == 0, shown.stderr
    assert "Heads?" in shown.stdout


@pytest.mark.parametrize(
    ("kind", "name", "why"),
    [
        ("tools", "broken_tool", "no licence for wet data"),
        ("tools", "gone_tool", "wetplug_nowhere"),
        ("tools", "nameless_tool", "no_such_thing"),
        ("envs", "broken_env", "no licence for wet data"),
        ("policies", "broken_policy", "no licence for wet data"),
    ],
)
def test_a_broken_plugin_is_one_sentence_that_names_it(python, kind, name, why):
    done = python(
        "-c",
        "from zephyrus import registry\n"
        "from zephyrus.errors import UserError\n"
        "try:\n"
        f"    registry.get({kind!r}, {name!r})\n"
        "except UserError as error:\n"
        "    print(error)\n",
    )
    assert done.returncode == 0, done.stderr
    sentence = done.stdout.strip()
    assert len(sentence.splitlines()) == 1
    assert name in sentence
    assert "wetplug" in sentence
    assert why in sentence


@pytest.mark.parametrize(
    "arguments",
    [
        ("tools", "call", "broken_tool", "{}"),
        ("env", "rollout", "--env", "broken_env"),
        ("env", "rollout", "--policy", "broken_policy"),
    ],
)
def test_the_command_line_tells_of_a_broken_plugin_without_a_traceback(python, arguments):
    done = python("-m", "zephyrus", *arguments)
    assert done.returncode == 2, done.stderr
    assert "broken_" in done.stderr
    assert "no licence for wet data" in done.stderr
    assert "Traceback" not in done.stderr


def test_a_broken_plugin_does_not_take_the_others_along(python):
    listed = python("-m", "zephyrus", "tools", "list")
    assert listed.returncode == 0, listed.stderr
    assert "dew_point(temperature)" in listed.stdout
    assert "broken_tool" in listed.stderr
    envs = python("-m", "zephyrus", "env", "list")
    assert envs.returncode == 0, envs.stderr
    assert "Heads or tails." in envs.stdout
    assert "Traceback" not in listed.stderr + envs.stderr


def test_the_package_exports_rescore():
    import zephyrus
    from zephyrus.rollouts import rescore

    assert zephyrus.rescore is rescore
