"""``zephyrus curriculum`` as a person uses it; training itself is tested elsewhere."""

import csv
import io
import json
import os
import subprocess
import sys
from importlib import metadata
from pathlib import Path

import pytest
import yaml

import zephyrus_curricula
from zephyrus.curriculum.read import read_recipe
from zephyrus.lock import FileLock

TINY = str(zephyrus_curricula.TINY)
R1 = str(zephyrus_curricula.ZEPHYRUS_R1_4B)
LOCO = str(zephyrus_curricula.LOCO)
HEAVY = ("numpy", "xarray", "openai", "torch", "transformers", "trl", "gymnasium", "pandas")


def zephyrus(*arguments, cwd=None, **options):
    return subprocess.run(
        [sys.executable, "-m", "zephyrus", *map(str, arguments)],
        capture_output=True,
        text=True,
        cwd=cwd,
        timeout=300,
        **options,
    )


@pytest.mark.parametrize(
    "arguments",
    [
        ["--help"],
        ["list"],
        ["list", "--json"],
        ["show", R1],
        ["show", LOCO, "--json"],
        ["show", TINY, "--yaml"],
        *([command, "--help"] for command in ("run", "show", "status", "table", "plot")),
    ],
    ids=lambda arguments: " ".join(Path(a).name for a in arguments),
)
def test_nothing_heavy_is_imported(arguments):
    code = (
        "import sys\n"
        f"sys.argv = ['zephyrus', 'curriculum', *{arguments!r}]\n"
        "from zephyrus.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert stop.code == 0, stop.code\n"
        f"print('HEAVY', [name for name in {HEAVY!r} if name in sys.modules])\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("HEAVY []")


def test_the_entry_points_are_the_shipped_recipes():
    points = {p.name: p for p in metadata.entry_points(group="zephyrus.curricula")}
    shipped = {path.stem for path in zephyrus_curricula.TINY.parent.glob("*.yaml")}
    assert set(points) >= shipped
    for name in shipped:
        assert points[name].load().stem == name
    rows = json.loads(zephyrus("curriculum", "list", "--json").stdout)
    assert {row["name"] for row in rows} >= shipped
    assert [row["name"] for row in rows if row["default"]] == ["tiny"]
    assert all(row["about"] and row["stages"] for row in rows)
    assert not [row for row in rows if "broken" in row["about"]]


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["show", "no-such"], "there is no recipe 'no-such'"),
        (["show", "no.yaml"], "there is no recipe at no.yaml"),
        (["show", TINY, "-s", "sed=1"], "unknown key 'sed'; did you mean 'seed'?"),
        (["show", TINY, "-s", "stages.rll.group=1"], "did you mean 'rl'?"),
        (["show", TINY, "--stages", "rsft,rlx"], "there is no stage 'rlx'"),
        (["run", TINY, "-s", "seed"], "write KEY=VALUE"),
        (["run", TINY, "--concurrency", "0"], "--concurrency"),
        (["status", "nowhere"], "there is no run of a curriculum 'nowhere'"),
        (["table", "nowhere"], "there is no run of a curriculum 'nowhere'"),
        (["plot", "nowhere"], "there is no run of a curriculum 'nowhere'"),
        (["table"], "RUN"),
    ],
)
def test_wrong_commands_exit_2_with_one_sentence(arguments, says, tmp_path):
    done = zephyrus("curriculum", *arguments, cwd=tmp_path)
    assert done.returncode == 2, done.stderr
    assert says in done.stderr
    assert "Traceback" not in done.stderr
    assert not list(tmp_path.iterdir())


def test_a_recipe_without_its_environment_is_not_begun(tmp_path):
    changes = ("-s", "stages.rl.tasks.env=nowhere")
    done = zephyrus("curriculum", "run", LOCO, *changes, cwd=tmp_path)
    assert done.returncode == 2
    assert "needs the environment 'nowhere'" in done.stderr
    assert not list(tmp_path.iterdir())


def test_show_prints_a_recipe_that_reads_back_the_same(tmp_path):
    done = zephyrus("curriculum", "show", R1, "-s", "seed=7", "--yaml")
    (tmp_path / "mine.yaml").write_text(done.stdout, "utf-8")
    assert read_recipe(tmp_path / "mine.yaml") == read_recipe(R1, ["seed=7"])


def test_show_for_scripts():
    told = json.loads(zephyrus("curriculum", "show", R1, "--json").stdout)
    assert [stage["rollouts"] for stage in told["stages"]] == [8000, 7680, 20864]
    assert told["recipe"]["stages"][0]["repeats"] == 8
    assert "checks" not in told


def test_show_check_exits_1_when_something_would_fail():
    bad = zephyrus("curriculum", "show", TINY, "--check", "-s", "stages.rl.rewards={scor: 1}")
    assert bad.returncode == 1
    assert "no reward 'scor'" in bad.stderr
    good = zephyrus("curriculum", "show", TINY, "--check", "--json")
    assert good.returncode == 0, good.stderr
    checks = json.loads(good.stdout)["checks"]
    assert len(checks) == 6
    assert not [c for c in checks if c["ok"] is False]


def test_show_says_how_memory_is_estimated():
    assert "gradients    P × a" in zephyrus("curriculum", "show", R1, "--formula").stdout


def measured(step, value):
    return {"step": step, "value": value, "full": True}


def evaluation(folder, policy, n):
    """A real evaluation: the accuracy of a built-in policy on held-out questions."""
    done = zephyrus(
        *("env", "rollout", "--policy", policy, "--split", "validation", "-n", n),
        *("--output", folder, "--json"),
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def finished(tmp_path_factory):
    """A run as the scheduler leaves it, with evaluations that were really made."""
    folder = tmp_path_factory.mktemp("runs") / "both"
    recipe = read_recipe(TINY)
    where = folder / "stages" / "rsft" / "evaluations"
    base = evaluation(where / "full-00000", "random", 12)
    rl = evaluation(folder / "stages" / "rl" / "evaluations" / "full-00010", "scripted", 12)
    (folder / "recipe.yaml").write_text(yaml.safe_dump(recipe.model_dump(mode="json")), "utf-8")
    states = [
        {
            "name": "rsft",
            "phase": "done",
            "before": measured(0, base["accuracy"]),
            "after": [],
            "chosen": 0,
            "reason": "60 steps are done",
        },
        {
            "name": "rl",
            "phase": "done",
            "before": measured(0, base["accuracy"]),
            "after": [measured(10, rl["accuracy"])],
            "chosen": 10,
            "reason": "10 steps are done",
        },
    ]
    (folder / "state.json").write_text(json.dumps({"stages": states}), "utf-8")
    chosen = folder / "stages" / "rl" / "chosen"
    chosen.mkdir()
    (chosen / "adapter_config.json").write_text("{}")
    return folder, base, rl


def test_status_tells_where_a_run_is(finished):
    folder, base, rl = finished
    told = json.loads(zephyrus("curriculum", "status", folder, "--json").stdout)
    assert (told["done"], told["runner"]) == (True, None)
    assert told["stages"][0]["before"]["value"] == base["accuracy"]
    assert told["stages"][1]["after"]["value"] == rl["accuracy"] == 1.0
    assert told["stages"][1]["chosen"] == 10
    shown = zephyrus("curriculum", "status", "both", cwd=folder.parent.parent)
    assert shown.returncode == 2  # only runs/ and the path itself are looked in
    shown = zephyrus("curriculum", "status", folder)
    assert "rl ended since 10 steps are done" in shown.stdout
    assert "Finished." in shown.stdout


def test_a_finished_run_says_so_and_where_the_policy_is(finished):
    folder = finished[0]
    done = zephyrus("curriculum", "run", "--output", folder)
    assert done.returncode == 0, done.stderr
    assert f"Finished. The policy: {folder / 'policy'}" in done.stdout
    assert f"zephyrus env rollout --policy {folder / 'policy'} -n 16" in done.stdout
    assert (folder / "policy" / "adapter_config.json").is_file()
    acts = json.loads((folder / "policy" / "acts.json").read_text("utf-8"))
    assert acts == {"compact": True, "context": 1024, "thinking": None}
    other = zephyrus("curriculum", "run", TINY, "-s", "seed=9", "--output", folder)
    assert (other.returncode, "other settings" in " ".join(other.stderr.split())) == (2, True)


def test_several_processes_need_a_folder_that_they_share(tmp_path):
    environment = {**os.environ, "WORLD_SIZE": "2"}
    done = zephyrus("curriculum", "run", TINY, cwd=tmp_path, env=environment)
    assert done.returncode == 2
    assert "name the folder of the run (--output)" in done.stderr


def test_status_of_a_run_that_is_going_on_or_was_stopped(finished, tmp_path):
    folder = tmp_path / "runs" / "mine"
    folder.mkdir(parents=True)
    for name in ("recipe.yaml", "state.json"):
        text = (finished[0] / name).read_text("utf-8")
        (folder / name).write_text(text.replace('"phase": "done"', '"phase": "train"'), "utf-8")
    stopped = zephyrus("curriculum", "status", "mine", cwd=tmp_path)
    assert f"to go on: zephyrus curriculum run --output {Path('runs', 'mine')}" in stopped.stdout
    lock = FileLock(folder / ".lock")
    try:
        going = json.loads(zephyrus("curriculum", "status", "mine", "--json", cwd=tmp_path).stdout)
    finally:
        lock.release()
    assert going["runner"].startswith("process ")
    assert going["done"] is False


def test_the_table_has_the_columns_and_numbers_of_table_b3(finished):
    folder, base, rl = finished
    rows = list(csv.DictReader(io.StringIO(table(folder, "--format", "csv"))))
    names = [row["checkpoint"] for row in rows]
    assert names == ["smollm2-135m", "RSFT (none was better)", "RSFT-RL (step 10)"]
    for row, summary in zip(rows, (base, base, rl), strict=True):
        assert float(row["accuracy"]) == summary["accuracy"]
        assert float(row["reward"]) == summary["rewards"]["reward"]
        assert float(row["tool"]) == summary["required_tool_rate"]
        assert int(row["tasks"]) == 12
        for name in ("numerical", "location", "time", "anomaly"):
            there = summary["answer_types"].get(name)
            assert row[name] == ("" if there is None else str(there["accuracy"]))


def test_the_table_in_markdown_marks_the_best(finished, tmp_path):
    lines = table(finished[0], "--format", "markdown").splitlines()
    assert lines[0].startswith("| Checkpoint | Acc. | Acc. reward | Tool | Num. | Loc. | Time |")
    assert lines[-1].startswith("| RSFT-RL (step 10) | **1.000** | **1.000** | **1.000** |")
    assert "**1.000**" not in lines[2]
    assert "RSFT-RL (step 10)" in table(finished[0])
    written = zephyrus("curriculum", "table", finished[0], "--output", tmp_path / "t.md")
    assert written.stdout.startswith("wrote ")
    assert (tmp_path / "t.md").read_text("utf-8").splitlines() == lines
    wrong = zephyrus("curriculum", "table", finished[0], "--output", tmp_path / "t.txt")
    assert (wrong.returncode, "end t.txt in .md or .csv" in wrong.stderr) == (2, True)


def test_the_base_policy_of_two_like_runs_has_one_row(finished, tmp_path):
    other = tmp_path / "again"
    subprocess.run(["cp", "-r", finished[0], other], check=True)
    rows = json.loads(table(finished[0], other, "--json"))
    assert [row["checkpoint"] for row in rows].count("smollm2-135m") == 1
    assert len(rows) == 5


def table(*arguments):
    done = zephyrus("curriculum", "table", *arguments)
    assert done.returncode == 0, done.stderr
    return done.stdout
