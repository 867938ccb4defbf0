import io
import json
import sys

import pytest
import yaml
from evaluation_parts import NoteEnv, WordJudge, make_run
from judge_server import answer
from openai_server import OpenAIServer
from rich.console import Console

from zephyrus import registry
from zephyrus.cli.main import main
from zephyrus.errors import JudgeError
from zephyrus.evaluation import evaluate
from zephyrus.evaluation.formats import to_terminal
from zephyrus.evaluation.leaderboard import make_leaderboard
from zephyrus.evaluation.tables import render
from zephyrus.run import Run

REPORTS = {("e1", 0): "Rain falls. Sun shines.", ("e2", 0): "Snow lies."}


@pytest.fixture
def judges(monkeypatch):
    """The environment and two judges under their names; the judges that were made."""
    made = []

    def factory(name, **options):
        def make():
            made.append(WordJudge(name, **options))
            return made[-1]

        return make

    monkeypatch.setitem(registry._registered["envs"], "note", NoteEnv)
    monkeypatch.setitem(registry._registered["judges"], "rules", factory("rules"))
    soft = factory("soft", deterministic=False)
    monkeypatch.setitem(registry._registered["judges"], "soft", soft)
    return made


@pytest.fixture
def zephyrus(monkeypatch, capsys, judges, tmp_path):
    """Runs the command line here, without the user's files; gives exit code, output and errors."""
    monkeypatch.setenv("ZEPHYRUS_JUDGE_CACHE", str(tmp_path / "cache.sqlite"))
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    monkeypatch.delenv("ZEPHYRUS_JUDGES", raising=False)

    def call(*arguments):
        monkeypatch.setattr(sys, "argv", ["zephyrus", *map(str, arguments)])
        monkeypatch.setenv("COLUMNS", "160")
        with pytest.raises(SystemExit) as stop:
            main()
        out = capsys.readouterr()
        return stop.value.code, out.out, out.err

    return call


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return make_run(tmp_path / "runs" / "r", NoteEnv(), REPORTS)


def shown(evaluation):
    out = io.StringIO()
    Console(file=out, width=160).print(render(evaluation))
    return out.getvalue()


def test_one_command_judges_prints_and_keeps(run, zephyrus):
    code, out, err = zephyrus("env", "evaluate", "r", "--judges", "rules,soft", "--passes", "2")
    assert code == 0, err
    for words in ("rubric", "f1", "Avg", "mean of 4", "clear", "Supported", "reward", "4 of 4"):
        assert words in out
    assert "evaluation.json" in out
    data = json.loads((run.path / "evaluation.json").read_text())
    assert data["judges"]["soft"]["passes"] == 2 and data["judges"]["rules"]["passes"] == 1
    code, out, _ = zephyrus(
        "env", "evaluate", "r", "--judges", "rules,soft", "--json", "--passes", 2
    )
    assert code == 0 and {"format": "0.1.0", **json.loads(out)} == data


def test_missing_judgements_are_exit_1_and_the_same_command_mends_it(run, zephyrus, monkeypatch):
    down = WordJudge("soft", deterministic=False)
    down.down_for = ("rubric",)
    monkeypatch.setitem(registry._registered["judges"], "soft", lambda: down)
    code, out, err = zephyrus("env", "evaluate", "r", "--judges", "soft")
    assert code == 1
    assert "6 judgements could not be had (6 of soft)" in err and "the same command" in err
    assert "0 of 6" in out and "Traceback" not in err
    down.down_for = ()
    code, out, err = zephyrus("env", "evaluate", "r", "--judges", "soft")
    assert code == 0 and "6 of 6" in out


def test_a_judge_that_is_down_is_exit_2_before_anything_is_written(run, zephyrus, monkeypatch):
    broken = WordJudge("soft")
    broken.broken = True
    monkeypatch.setitem(registry._registered["judges"], "soft", lambda: broken)
    code, _, err = zephyrus("env", "evaluate", "r", "--judges", "soft")
    assert code == 2 and "nothing answers for soft" in err
    assert broken.closed == 1
    code, _, err = zephyrus("env", "evaluate", "r", "--judges", "openai:m@http://127.0.0.1:9/v1")
    assert code == 2 and "127.0.0.1:9" in err


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["env", "evaluate", "nowhere"], "no run 'nowhere'"),
        (["env", "evaluate", "r", "--judges", "ruls"], "rules"),
        (["env", "evaluate", "r", "--judges", " , "], "zephyrus judge list"),
        (["env", "evaluate", "r", "--judges", "rules,rules"], "twice"),
        (["env", "evaluate", "r", "--neutral", "2"], "between 0 and 1"),
        (["env", "evaluate", "r", "--neutral", "maybe"], "exclude"),
        (["env", "evaluate", "r", "--passes", "0"], "--passes"),
        (["env", "evaluate", "r", "--base", "nowhere"], "no run 'nowhere'"),
        (["leaderboard", "nowhere"], "no run 'nowhere'"),
        (["leaderboard", "r", "r"], "each once"),
        (["leaderboard", "r", "--judges", "soft"], "first: zephyrus env evaluate"),
        (["leaderboard", "r", "--output", "x.txt"], "--format"),
        (["leaderboard"], "RUN"),
    ],
)
def test_wrong_commands_exit_2_with_one_sentence(run, zephyrus, arguments, says):
    code, out, err = zephyrus(*arguments)
    assert code == 2 and says in err
    assert "Traceback" not in err and out == ""


def test_a_base_run_is_judged_offline_or_named(run, tmp_path, zephyrus):
    make_run(tmp_path / "runs" / "b", NoteEnv(), {("e1", 0): "Rain falls.", ("e2", 0): "Hot."})
    code, out, err = zephyrus("env", "evaluate", "r", "--base", "b")
    assert code == 0, err
    assert "against b" in out and "+150%" in out and "+200%" in out
    data = json.loads((run.path / "evaluation.json").read_text())
    assert data["base"]["run"] == "b"
    code, _, err = zephyrus("env", "evaluate", "r", "--judges", "soft", "--base", "b")
    assert code == 2 and "zephyrus env evaluate runs/b --judges soft --passes 3" in err
    zephyrus("env", "evaluate", "b", "--judges", "soft")
    code, _, err = zephyrus("env", "evaluate", "r", "--judges", "soft", "--base", "b")
    assert code == 0, err


def test_options_reach_the_judging(run, zephyrus, judges):
    options = ["--only", "claims", "--max-claims", "1", "--neutral", "0.5", "-n", "1", "--json"]
    code, out, err = zephyrus("env", "evaluate", "r", *options)
    assert code == 0, err
    data = json.loads(out)
    assert data["options"] == {"neutral": 0.5, "beta": 1.0, "max_claims": 1, "dedup": True}
    assert data["events"] == 1 and data["parts"] == ["claims"]
    assert data["judges"]["rules"]["settings"]["options"] == {"max_claims": 1, "dedup": True}
    assert {what for what, _, _ in judges[-1].asked} == {"claims", "verdicts"}


def test_the_cache_and_the_address_of_a_judge(run, zephyrus, tmp_path):
    server = OpenAIServer(answer)
    with server.running():
        command = ["env", "evaluate", "r", "--judges", "rules,openai:m", "--passes", "1"]
        command += ["--base-url", server.url, "--judge-cache", tmp_path / "mine.sqlite"]
        code, out, err = zephyrus(*command)
        assert code == 0, err
        asked = len(server.requests)
        assert asked > 0 and "openai:m" in out
        (run.path / "judgements.jsonl").unlink()  # the cache alone is enough
        code, out, err = zephyrus(*command)
        assert code == 0 and len(server.requests) == asked
    assert (tmp_path / "mine.sqlite").exists() and not (tmp_path / "cache.sqlite").exists()
    code, _, err = zephyrus("leaderboard", "r")
    assert code == 0, err


def test_the_page_of_claims_is_written(run, zephyrus, tmp_path):
    code, out, err = zephyrus("env", "evaluate", "r", "--html", tmp_path / "deep" / "c.html")
    assert code == 0, err
    assert "c.html" in out
    assert "Rain falls" in (tmp_path / "deep" / "c.html").read_text()


def test_leaderboard_by_the_command_line(run, tmp_path, zephyrus):
    make_run(tmp_path / "runs" / "b", NoteEnv(), {("e1", 0): "Rain falls.", ("e2", 0): "Hot."})
    code, out, err = zephyrus("leaderboard", "b", "r")
    assert code == 0, err
    assert out.index(" r ") < out.index(" b ") and "Rub." in out
    code, out, _ = zephyrus("leaderboard", "r", "b", "--base", "b", "--format", "markdown")
    assert code == 0 and out.startswith("| # | Model | Run | rules Rub. | rules F1 |")
    for form in ("csv", "html", "markdown"):
        code, out, _ = zephyrus("leaderboard", "r", "b", "--format", form, "--output", f"t.{form}")
        assert code == 0 and (tmp_path / f"t.{form}").stat().st_size > 100
    code, out, _ = zephyrus("leaderboard", "r", "b", "--json")
    assert [row["run"] for row in json.loads(out)["rows"]] == ["r", "b"]


def test_names_in_the_tables_are_text(tmp_path):
    env = NoteEnv()
    run = make_run(tmp_path / "r", env, REPORTS)
    hostile = WordJudge("[red]a\x1b[31m[/red]")
    hostile.down_for = ("rubric",)
    with_name = evaluate(run, env, hostile, progress=False)
    out = io.StringIO()
    Console(file=out, width=140, force_terminal=True, color_system=None).print(render(with_name))
    text = out.getvalue()
    assert "\x1b[31m" not in text and "[red]a" in text


def test_better_is_green_worse_is_red_and_less_neutral_is_better(tmp_path):
    env = NoteEnv()
    good = make_run(tmp_path / "good", env, {("e1", 0): "Rain falls.", ("e2", 0): "Snow lies."})
    poor = make_run(tmp_path / "poor", env, {("e1", 0): "Sun.", ("e2", 0): "Snow lies. Ice."})
    both = [evaluate(r, env, WordJudge(), progress=False) for r in (good, poor)]

    def coloured(a, b):
        out = io.StringIO()
        console = Console(file=out, width=160, force_terminal=True, color_system="standard")
        console.print(render(a.against(b)))
        rows = [line for line in out.getvalue().splitlines() if "│" in line]
        return {
            name: "green" if "\x1b[32m" in row or "\x1b[1;32m" in row else "red"
            for name in ("f1", "neutral")
            for row in rows
            if f" {name} " in row
        }

    assert coloured(*both) == {"f1": "green", "neutral": "green"}
    assert coloured(*both[::-1]) == {"f1": "red", "neutral": "red"}


def test_an_unfinished_run_can_be_judged_as_far_as_it_goes(run):
    found = evaluate(Run.open(run.path), NoteEnv(), WordJudge(), progress=False)
    assert found.rollouts == 2 and found.broken == 0


def test_a_reason_is_said_in_full_and_a_cost_that_is_not_known_is_no_zero(run):
    judge = WordJudge("soft", deterministic=False)
    evaluate(run, NoteEnv(), judge, passes=1)
    assert "$" in shown(evaluate(run, NoteEnv(), judge, passes=1))
    broken = WordJudge("hard")

    async def refuse(*_, **__):
        broken.usage.prompt_tokens += 10
        raise JudgeError(f"the judge 'hard': {'why ' * 40}mend it so")

    broken._ask = refuse
    out = shown(evaluate(run, NoteEnv(), broken, passes=1))
    assert "missing: 4 parts of hard: why why" in " ".join(out.split())
    assert "mend it so" in " ".join(out.split())
    assert "$" not in out


def test_an_unfinished_run_is_said_to_be_one(run, tmp_path):
    assert not any("unfinished" in note for note in evaluate(run, NoteEnv(), WordJudge()).notes)
    config = {**run.config, "n": 5}
    (run.path / "config.yaml").write_text(yaml.safe_dump(config))
    found = evaluate(Run.open(run.path), NoteEnv(), WordJudge())
    assert found.notes == ("the run is unfinished: 2 of 5 rollouts are done",)


@pytest.mark.parametrize(
    ("name", "begins"), [("t.md", "| # |"), ("t.csv", "rank,"), ("t.HTML", "<!doctype html>")]
)
def test_a_leaderboard_goes_by_the_ending_of_its_file(run, tmp_path, zephyrus, name, begins):
    code, out, err = zephyrus("leaderboard", "r", "--output", tmp_path / name)
    assert code == 0, err
    assert name in out and (tmp_path / name).read_text().lower().startswith(begins)


def test_a_leaderboard_without_a_known_ending_is_refused_before_any_work(run, tmp_path, zephyrus):
    code, _, err = zephyrus("leaderboard", "r", "--output", tmp_path / "t.txt")
    assert code == 2 and ".md, .csv or .html" in err
    assert not (tmp_path / "t.txt").exists() and not (run.path / "judgements.jsonl").exists()


def test_a_name_in_a_narrow_leaderboard_is_not_cut(run, zephyrus, tmp_path):
    long = "a-rather-long-name-of-a-run-that-nobody-may-take-for-another"
    make_run(tmp_path / "runs" / long, NoteEnv(), REPORTS)
    boards = make_leaderboard([run, Run.open(tmp_path / "runs" / long)])
    out = io.StringIO()
    Console(file=out, width=70).print(to_terminal(boards))
    cells = (line.split("│") for line in out.getvalue().splitlines() if line.count("│") > 3)
    assert long in "".join(row[3].strip() for row in cells)
