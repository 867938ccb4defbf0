import csv
import io
import random
import re
from html.parser import HTMLParser

import pytest
from evaluation_parts import NoteEnv, WordJudge, make_run
from hypothesis import given
from hypothesis import strategies as st
from rich.console import Console

from zephyrus import registry
from zephyrus.errors import UserError
from zephyrus.evaluation import evaluate, formats
from zephyrus.evaluation.leaderboard import make_leaderboard

ENV = NoteEnv({f"e{i}": f"Rain {i}. Wind {i}. Snow {i}." for i in range(6)})


def run_of(folder, quality, policy, seed=0):
    """A run whose reports have each of the reference's sentences with this probability."""
    rng = random.Random(seed)
    reports = {}
    for task in ENV.tasks():
        sentences = [s.strip() for s in task.gold.split(".") if s.strip()]
        kept = [s if rng.random() < quality else f"Other {s}" for s in sentences]
        reports[task.id, 0] = ". ".join(kept)
    return make_run(folder, ENV, reports, policy)


@pytest.fixture
def runs(tmp_path):
    made = [run_of(tmp_path / f"r{i}", q, f"model-{q}") for i, q in enumerate((0.3, 0.9, 0.6))]
    for run in made:
        evaluate(run, ENV, [WordJudge("a"), WordJudge("b", deterministic=False)], progress=False)
    return made


def test_runs_are_ordered_by_the_mean_of_unrounded_scores(runs):
    board = make_leaderboard(runs)
    assert board.judges == ["a", "b"] and board.passes == {"a": 1, "b": 3}
    assert [row.policy for row in board.rows] == ["model-0.9", "model-0.6", "model-0.3"]
    for row in board.rows:
        parts = [row.judges[j].scores[s].mean for j in "ab" for s in ("rubric", "f1")]
        assert row.average.mean == pytest.approx(sum(parts) / 4, abs=1e-15)
    assert board.notes == ()
    assert board.best(None) == board.rows[0].average.mean


def test_a_base_run_comes_first_and_the_others_have_changes_against_it(runs):
    board = make_leaderboard(runs[1:], base=runs[0])
    assert [row.policy for row in board.rows] == ["model-0.3", "model-0.9", "model-0.6"]
    base, best = board.rows[0], board.rows[1]
    assert base.comparison is None
    assert [rank for rank, _ in board.ranked] == [None, 1, 2]
    change = best.change("a", "f1")
    scores = [row.judges["a"].scores["f1"].mean for row in (best, base)]
    assert change.relative == pytest.approx(scores[0] / scores[1] - 1, rel=1e-12)
    assert best.comparison.average.relative == pytest.approx(
        best.average.mean / base.average.mean - 1, rel=1e-12
    )
    text = formats.to_markdown(board)
    assert f"{100 * change.relative:+.0f}%" in text
    assert [r.policy for r in make_leaderboard(runs, base=runs[0]).rows] == [
        r.policy for r in board.rows
    ]


def test_some_judges_and_fewer_passes(runs):
    board = make_leaderboard(runs, ["b"], passes=2)
    assert board.judges == ["b"] and board.passes == {"b": 2}
    assert board.rows[0].judges["b"].wanted == 12
    with pytest.raises(UserError, match=r"not judged by 'b' in 5 scoring passes.*--passes 5"):
        make_leaderboard(runs, ["b"], passes=5)
    evaluate(runs[0], ENV, WordJudge("b", deterministic=False), passes=4, progress=False)
    assert make_leaderboard(runs).passes["b"] == 3, "what every run has"


def test_judges_asked_differently_do_not_share_a_table(runs, tmp_path):
    new = run_of(tmp_path / "new", 0.5, "new")
    evaluate(new, ENV, WordJudge("a", version=2), progress=False)
    with pytest.raises(UserError, match="not all judged by 'a' with the same settings"):
        make_leaderboard([*runs, new])
    with pytest.raises(UserError, match=r"new is not judged by 'b'; first: .*--judges b"):
        make_leaderboard([*runs, new], ["b"])
    evaluate(new, ENV, WordJudge("a"), progress=False)
    evaluate(new, ENV, WordJudge("a", version=2), progress=False)
    assert len(make_leaderboard([*runs, new]).rows) == 4, "the settings that all have in common"


def test_the_rules_judge_is_asked_here_where_it_is_missing(tmp_path, monkeypatch):
    monkeypatch.setitem(registry._registered["envs"], "note", lambda **options: ENV)
    monkeypatch.setitem(registry._registered["judges"], "rules", lambda: WordJudge("rules"))
    monkeypatch.setattr(registry, "make", lambda name, **options: ENV)
    fresh = [run_of(tmp_path / f"f{i}", q, f"m{i}") for i, q in enumerate((0.2, 0.8))]
    board = make_leaderboard(fresh)
    assert board.judges == ["rules"] and [r.run for r in board.rows] == ["f1", "f0"]
    assert not (fresh[0].path / "evaluation.json").exists()


def test_missing_judgements_and_other_events_are_said(runs, tmp_path):
    few = make_run(tmp_path / "few", ENV, {("e1", 0): "Rain 1.", ("e2", 0): "Rain 2."}, "few")
    ill = WordJudge("b", deterministic=False)
    ill.down_for = ("verdicts",)
    evaluate(few, ENV, [WordJudge("a"), ill], progress=False)
    board = make_leaderboard([*runs, few])
    assert board.rows[-1].run == "few", "without an average it comes last"
    notes = " ".join(board.notes)
    assert "not over the same events; 2 are common" in notes
    assert "few: 6 of 8 judgements are missing" in notes
    assert "–" in formats.to_markdown(board)
    row = list(csv.DictReader(io.StringIO(formats.to_csv(board))))[-1]
    assert row["b f1"] == "" and row["missing judgements"] == "6"


def test_csv_has_unrounded_scores_with_intervals(runs):
    board = make_leaderboard(runs, base=runs[2])
    rows = list(csv.DictReader(io.StringIO(formats.to_csv(board))))
    assert [row["run"] for row in rows] == ["r2", "r1", "r0"]
    first = board.rows[1]
    assert float(rows[1]["a rubric"]) == first.judges["a"].scores["rubric"].mean
    assert float(rows[1]["avg low"]) == first.average.ci95[0]
    assert float(rows[1]["a f1 change"]) == first.change("a", "f1").relative
    assert rows[0]["a f1 change"] == "" and rows[1]["avg events"] == "6"


def test_the_best_of_a_column_is_bold(runs):
    board = make_leaderboard(runs)
    lines = formats.to_markdown(board).splitlines()
    assert lines[0] == "| # | Model | Run | a Rub. | a F1 | b Rub. | b F1 | Avg | Avg 95 % |"
    cells = [[cell.strip() for cell in line.split("|")[4:9]] for line in lines[2:5]]
    for i, column in enumerate([*board.columns, None]):
        means = [board.score(row, column).mean for row in board.rows]
        wanted = [f"**{m:.3f}**" if m == max(means) else f"{m:.3f}" for m in means]
        assert [row[i] for row in cells] == wanted
    assert formats.to_html(board).count("<b>") == sum(line.count("**") for line in lines) // 2


class Reader(HTMLParser):
    """Elements and text of a page."""

    def __init__(self):
        super().__init__()
        self.tags, self.text, self.attributes = [], [], []

    def handle_starttag(self, tag, attrs):
        self.tags.append(tag)
        self.attributes += attrs

    def handle_data(self, data):
        self.text.append(data)


HOSTILE = "<script>alert(1)</script>|**x**[y](http://z)`q`=1+1\x1b[31m"


def test_no_format_lets_a_name_act(tmp_path):
    run = run_of(tmp_path / "r", 0.5, HOSTILE)
    evil = run_of(tmp_path / "e", 0.5, "=HYPERLINK(1)")
    for one in (run, evil):
        evaluate(one, ENV, WordJudge("<img src=x onerror=alert(2)>|"), progress=False)
    board = make_leaderboard([run, evil])
    page = formats.to_html(board)
    reader = Reader()
    reader.feed(page)
    assert "script" not in reader.tags and "img" not in reader.tags
    assert "".join(reader.text).count("<script>alert(1)</script>") == 1
    assert "default-src 'none'" in dict(reader.attributes)["content"] or "default-src" in page
    assert not any(name.startswith("on") for name, _ in reader.attributes)

    table = [line for line in formats.to_markdown(board).splitlines() if line.startswith("|")]
    for line in table:
        bare = re.sub(r"\\.", "", line)
        assert bare.count("|") == 8, "seven cells"
        assert not re.search(r"[<`]|\]\(|\*\*x", bare)

    rows = list(csv.reader(io.StringIO(formats.to_csv(board))))
    assert {len(row) for row in rows} == {len(rows[0])}
    assert not any(cell[:1] in "=+@" for row in rows for cell in row if cell)
    assert "'=HYPERLINK(1)" in {row[1] for row in rows}

    out = io.StringIO()
    Console(file=out, width=250, force_terminal=True, color_system=None).print(
        formats.to_terminal(board)
    )
    assert "\x1b[31m" not in out.getvalue() and "=HYPERLINK(1)" in out.getvalue()


@given(st.text(max_size=40))
def test_a_name_in_markdown_stays_in_its_cell(name):
    cell = formats._markdown(name)
    bare = re.sub(r"\\[!-/:-@\[-`{-~]", "", cell)  # what CommonMark takes for an escape
    assert not re.search(r"[|<>`*_\[\]~\n]", bare)
    assert not re.match(r"[#=+-]", cell)


@given(st.text(max_size=40))
def test_a_name_in_csv_is_no_formula(name):
    assert not formats._cell(name).startswith(("=", "+", "-", "@", "\t", "\r"))
