"""``zephyrus judge``, from an evaluated run to Table 1."""

import csv
import io
import json
import subprocess
import sys

import pytest
from evaluation_parts import NoteEnv, WordJudge, make_run

from zephyrus.evaluation import evaluate
from zephyrus.judge.annotate import read_judged

pytestmark = pytest.mark.usefixtures("in_a_folder_of_its_own")


@pytest.fixture
def run(tmp_path):
    env = NoteEnv()
    reports = {("e1", 0): "Rain falls. not Wind blows.", ("e2", 0): "Snow lies. Fog."}
    made = make_run(tmp_path / "runs" / "mine", env, reports)
    judges = [WordJudge("words"), WordJudge("letters")]
    evaluate(made, env, judges, passes=1, progress=False)
    return made


def read(path):
    return list(csv.DictReader(io.StringIO(path.read_text("utf-8-sig"), newline="")))


def fill(source, target, label):
    rows = read(source)
    with target.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, list(rows[0]))
        writer.writeheader()
        writer.writerows({**row, "label": label(row)} for row in rows)


def test_list(zephyrus):
    out = zephyrus("judge", "list")
    assert "openai:MODEL@URL" in out
    assert "gpt-oss-120b" in out
    assert "openai/gpt-oss-120b at http://127.0.0.1:8000/v1" in out
    rows = json.loads(zephyrus("judge", "list", "--json"))
    assert rows["gpt-oss-120b"]["model"] == "openai/gpt-oss-120b"
    assert "api_key" not in rows["gpt-oss-120b"]


def test_from_a_run_to_table_1(zephyrus, run, tmp_path):
    out = zephyrus("judge", "export", "mine", "--output", "claims.csv", "--seed", "4")
    assert "wrote claims.csv: 7 claims of 2 events" in out
    # Of the reports: Rain S, not Wind N, Snow S, Fog N; of the references: Rain S, Wind R, Snow S.
    rows = read(tmp_path / "claims.csv")
    truth = {"Rain falls": "S", "Snow lies": "S", "Wind blows": "R"}
    assert sorted(row["claim"] for row in rows) == [
        "Fog", "Rain falls", "Rain falls", "Snow lies", "Snow lies", "Wind blows", "not Wind blows",
    ]  # fmt: skip
    fill(tmp_path / "claims.csv", tmp_path / "Ann.csv", lambda row: truth.get(row["claim"], "N"))
    fill(tmp_path / "claims.csv", tmp_path / "Bob.csv", lambda row: "N" * (row["claim"] != "Fog"))
    out = zephyrus("judge", "import", "Ann.csv", "Bob.csv", "--run", "mine", "--output", "l.csv")
    assert "judge:words: 7 labelled" in out
    assert "Bob: 6 of 7 labelled" in out
    header = (tmp_path / "l.csv").read_text("utf-8-sig").splitlines()[0]
    assert header.split(",")[:2] == ["item", "report"]
    assert set(header.split(",")[2:]) == {"judge:words", "judge:letters", "Ann", "Bob"}
    found = json.loads(zephyrus("judge", "agreement", "l.csv", "--json", "--resamples", "100"))
    pairs = {(p["first"], p["second"]): p for p in found["pairs"]}
    ann = pairs["judge:words", "Ann"]
    assert (ann["items"], ann["accuracy"], ann["kappa"]) == (7, 1.0, 1.0)
    assert ann["reports"] == 2
    assert pairs["judge:words", "Bob"]["accuracy"] == pytest.approx(1 / 6)
    assert pairs["judge:words", "Bob"]["within_1"] == 1.0
    assert found["experts"] == ["Ann", "Bob"]
    assert found["distribution"]["Ann"] == {"SUPPORTED": 4, "NEUTRAL": 2, "REFUTED": 1}
    shown = zephyrus("judge", "agreement", "l.csv", "--confusion", "--resamples", "100")
    assert "judge:words – Ann" in shown
    assert "majority of Ann, Bob; * its own vote is part of it" in shown


def test_a_page_a_balance_and_one_direction(zephyrus, run, tmp_path):
    out = zephyrus(
        "judge", "export", run.path, "--output", "claims.html", "-n", 3, "--judge", "words",
        "--balanced", "--claims", "report",
    )  # fmt: skip
    assert "3 claims" in out
    text = (tmp_path / "claims.html").read_text("utf-8")
    data = json.loads(text.split('id="data">')[1].split("</script>")[0])
    assert {pair["claim"] for pair in data["pairs"]} >= {"Fog"} | {"not Wind blows"}


def test_changed_texts_are_left_out(run, tmp_path):
    lines = run.path.joinpath("trajectories.jsonl").read_text("utf-8")
    changed = lines.replace('"answer": "Snow lies. Fog."', '"answer": "Hail."')
    assert changed != lines
    run.path.joinpath("trajectories.jsonl").write_text(changed, "utf-8")
    assert {one.event for one in read_judged(run)} == {"e1"}


def test_a_file_is_agreed_on_by_majority(zephyrus, tmp_path):
    (tmp_path / "t.csv").write_text("item;GPT;A;B;C\n1;S;S;S;R\n2;r;n;s;r\n3;n;n;r;r\n", "utf-8")
    out = zephyrus("judge", "agreement", "t.csv", "--majority", "a,B", "--majority", "C", "--json")
    found = json.loads(out)
    assert found["experts"] == ["A", "B", "C"]
    assert found["distribution"]["majority"] == {"SUPPORTED": 1, "NEUTRAL": 1, "REFUTED": 1}


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["agreement", "t.csv"], "t.csv, line 3: 'x' in the column 'A' is no label"),
        (["agreement", "nowhere.csv"], "nowhere.csv"),
        (["agreement"], "FILE"),
        (["agreement", "one.csv"], "agreement needs two raters; there is A"),
        (["agreement", "two.csv", "--majority", "A,Z"], "there is no rater 'Z'; there are A, B"),
        (["export", "nowhere", "--output", "x.csv"], "no run 'nowhere'"),
        (["export", "mine", "--output", "x.doc"], "ends in .csv, .tsv, .jsonl, .html"),
        (["export", "mine", "--output", "x.csv", "--judge", "gpt"], "there are words, letters"),
        (["export", "mine", "--output", "x.csv", "--balanced"], "name it with --judge"),
        (["import", "two.csv", "--run", "mine", "--output", "x.csv"], "not among the judged claims"),
        (["import", "two.csv", "--run", "mine", "--output", "x.txt"], ".csv file, not x.txt"),
        (["label", "two.csv", "--judges", " , ", "--output", "x.csv"], "zephyrus judge list"),
        (["import", "two.csv", "--output", "x.csv"], "--run"),
    ],
)  # fmt: skip
def test_wrong_commands_exit_2_with_one_sentence(zephyrus, run, tmp_path, arguments, says):
    (tmp_path / "t.csv").write_text("item,A,B\n1,S,S\n2,x,S\n", "utf-8")
    (tmp_path / "one.csv").write_text("item,A\n1,S\n", "utf-8")
    (tmp_path / "two.csv").write_text("item,A,B\n1,S,S\n", "utf-8")
    said = " ".join(zephyrus("judge", *arguments, code=2).split())
    assert says in said
    assert "Traceback" not in said


def test_a_run_that_was_not_judged(zephyrus, tmp_path):
    make_run(tmp_path / "runs" / "fresh", NoteEnv(), {("e1", 0): "Rain falls."})
    said = zephyrus("judge", "export", "fresh", "--output", "x.csv", code=2)
    assert "was not judged yet: zephyrus env evaluate" in said


def test_help_imports_nothing_heavy():
    code = (
        "import sys\n"
        "sys.argv = ['zephyrus', 'judge', '--help']\n"
        "from zephyrus.cli.main import main\n"
        "try:\n    main()\nexcept SystemExit as stop:\n    assert not stop.code\n"
        "heavy = {'numpy', 'pandas', 'openai', 'gymnasium', 'pydantic', 'aiohttp', 'rich'}\n"
        "print('HEAVY', sorted(heavy & set(sys.modules)))\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.rstrip().endswith("HEAVY []")


@pytest.mark.parametrize("command", [[], ["list"], ["agreement"], ["export"], ["import"]])
def test_help(zephyrus, command):
    assert "Usage: zephyrus judge" in zephyrus("judge", *command, "--help")
